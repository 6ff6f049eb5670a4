//! Searches on the processor.

use discrete_logarithm::checkpoint::{self, Checkpoint};
use discrete_logarithm::field::{Field, Montgomery, Secp256k1};
use discrete_logarithm::{Cores, Error, Machine, Method, Problem, Search, Shape, Told, Walkers};
use num_bigint::BigUint;

use super::problems::{ANSWER, eccp_79};
use super::{Begun, multiple, round};

/// Searches on all cores, at most for so many times as many steps as are expected.
fn found<F: Field<LIMBS>, const LIMBS: usize>(
    problem: &Problem,
    method: &Method,
    field: &F,
    shape: Shape,
    seed: u64,
) -> BigUint {
    let mut search =
        Search::new(problem, method, field, shape, seed, Machine::Cores, None).unwrap();
    let most = 20.0 * method.expected(problem) + 20.0 * (shape.count() << shape.bits) as f64;
    while (search.count().all as f64) < most {
        if let Some(k) = search.round(shape.steps(64)).unwrap() {
            return k;
        }
    }
    panic!("nothing after {:?}", search.count());
}

const SHAPE: Shape = Shape {
    groups: 4,
    walks: 16,
    bits: 5,
    records: 8,
};

#[test]
fn rho_finds_logarithms_that_were_planted() {
    let order = multiple("toy-32", &1u8.into()).order().clone();
    let last = &order - 1u8;
    for (seed, k) in [1u32, 2, 0xfffe, 0x1234_5678, 0x8000_0000]
        .map(BigUint::from)
        .into_iter()
        .chain([last])
        .enumerate()
    {
        let problem = multiple("toy-32", &k);
        let field = Montgomery::<4>::new(&problem.curve().p);
        assert_eq!(found(&problem, &Method::Rho, &field, SHAPE, seed as u64), k);
    }
    let k = BigUint::from(0x98_7654_3210u64);
    let problem = multiple("toy-40", &k);
    let field = Montgomery::<4>::new(&problem.curve().p);
    assert_eq!(found(&problem, &Method::Rho, &field, SHAPE, 1), k);
}

/// The steps of searches for some logarithms, less those from the meeting to a distinguished point, over what theory
/// expects, on the mean.
fn steps(name: &str, count: u32, method: impl Fn(&BigUint) -> Method + Sync) -> f64 {
    let shape = Shape { groups: 1, ..SHAPE };
    let of_one = |seed: u32| {
        let k =
            BigUint::from(0x5234_5678u32) + BigUint::from(0x9e37_79b9u32) * seed % 0x1000_0000u32;
        let problem = multiple(name, &k);
        let (field, method) = (Montgomery::<4>::new(&problem.curve().p), method(&k));
        let mut search = Search::new(
            &problem,
            &method,
            &field,
            shape,
            seed.into(),
            Machine::Cores,
            None,
        )
        .unwrap();
        while search.round(8).unwrap().is_none() {}
        let beyond = (shape.count() << shape.bits) as f64;
        (search.count().all as f64 - beyond) / method.expected(&problem)
    };
    let all = bigint_cpu::map(0..count, usize::MAX, of_one);
    all.iter().sum::<f64>() / f64::from(count)
}

#[test]
fn searches_take_as_many_steps_as_theory_says() {
    let count = bigint_testing::sweep(32, 160) as u32;
    // The standard deviation of one is .52 of the mean.
    let spread = 3.0 * 0.52 / f64::from(count).sqrt();
    let rho = steps("toy-32", count, |_| Method::Rho);
    assert!((rho - 1.0).abs() < spread, "rho {rho}");
    let width = BigUint::from(1u32 << 29);
    let kangaroos = steps("toy-48", count, |k| {
        // Logarithms are anywhere in the interval.
        let lowest = k - k * 0x9e37_79b1u32 % &width;
        let highest = &lowest + &width - 1u8;
        Method::Kangaroo { lowest, highest }
    });
    assert!((kangaroos - 1.0).abs() < spread, "kangaroos {kangaroos}");
}

#[test]
fn rho_finds_them_in_fields_of_eight_limbs() {
    let k = BigUint::from(0xabcd_ef01u32);
    let problem = multiple("toy-32", &k);
    let field = Montgomery::<8>::new(&problem.curve().p);
    assert_eq!(found(&problem, &Method::Rho, &field, SHAPE, 3), k);
}

/// Kangaroos for `k` in an interval of `2^bits` numbers with `k` at a share of it.
fn kangaroos<F: Field<LIMBS>, const LIMBS: usize>(
    problem: &Problem,
    field: &F,
    (k, bits, share): (&BigUint, u32, f64),
) {
    let before = ((1u64 << bits) as f64 * share) as u64;
    let lowest = k - before.min(k.iter_u64_digits().next().unwrap_or(0));
    let highest = &lowest + (1u64 << bits) - 1u8;
    let method = Method::Kangaroo { lowest, highest };
    assert_eq!(found(problem, &method, field, SHAPE, 7), *k, "{share}");
}

#[test]
fn kangaroos_find_logarithms_wherever_they_are_in_the_interval() {
    let k = BigUint::from(0x98_7654_3210u64);
    let problem = multiple("toy-48", &k);
    let field = Montgomery::<4>::new(&problem.curve().p);
    for share in [0.0, 0.1, 0.5, 0.9, 0.999_999] {
        kangaroos(&problem, &field, (&k, 24, share));
    }
}

#[test]
fn kangaroos_find_the_answer_of_eccp_79_near_to_where_it_is() {
    let (problem, k) = (eccp_79(), ANSWER.parse().unwrap());
    let field = Montgomery::<4>::new(&problem.curve().p);
    kangaroos(&problem, &field, (&k, 30, 0.3));
}

#[test]
fn kangaroos_find_logarithms_on_curves_of_192_and_256_bits() {
    let k = BigUint::from(0x1234_5678_9abc_def0u64) << 100;
    for name in ["p-192", "p-256", "secp256k1"] {
        let problem = multiple(name, &k);
        let p = &problem.curve().p;
        match Secp256k1::new(p) {
            Some(field) => kangaroos(&problem, &field, (&k, 20, 0.7)),
            None => kangaroos(&problem, &Montgomery::<8>::new(p), (&k, 20, 0.7)),
        }
    }
}

/// Checks walks against plain arithmetic, on a curve.
fn check<F: Field<LIMBS>, const LIMBS: usize>(name: &str, field: impl Fn(&BigUint) -> F) {
    let shape = Shape {
        groups: 3,
        walks: 5,
        bits: 26,
        records: 1,
    };
    let mut begun = Begun::new(name, field, shape);
    let extremes = begun.extremes(60);
    let ample = Shape {
        groups: 12,
        records: 5,
        ..shape
    };
    let points = extremes.points.clone();
    let mut walks = Cores::new(&begun.field, extremes.table.clone(), ample, points);
    round(&mut walks, 1);
    for (from, to) in extremes.points.iter().zip(walks.points().unwrap()) {
        assert_eq!(extremes.point(to), extremes.after(*from, 1), "{name}");
    }
    // A walk at a jump, which cannot take that jump, and one at a jump's negative.
    begun.points[1] = begun.table.0[7];
    let negative = begun
        .problem
        .curve()
        .negated(&Some(begun.point(begun.table.0[9])));
    begun.points[8] = discrete_logarithm::forms(&begun.field, &negative.unwrap());
    let mut walks = Cores::new(
        &begun.field,
        begun.table.clone(),
        shape,
        begun.points.clone(),
    );
    assert_eq!(round(&mut walks, 6), []);
    for (from, to) in begun.points.iter().zip(walks.points().unwrap()) {
        assert_eq!(begun.point(to), begun.after(*from, 6), "{name}");
    }
}

#[test]
fn steps_are_sums_of_points_by_plain_arithmetic() {
    check("toy-32", Montgomery::<4>::new);
    check("eccp-79", Montgomery::<4>::new);
    check("eccp-79", Montgomery::<8>::new);
    check("p-192", Montgomery::<8>::new);
    check("p-256", Montgomery::<8>::new);
    check("secp256k1", Montgomery::<8>::new);
    check("secp256k1", |p| Secp256k1::new(p).unwrap());
}

/// A walk stays at a distinguished point until there is room to tell it.
#[test]
fn no_distinguished_point_is_lost_where_room_is_scarce() {
    let shape = |records| Shape {
        groups: 2,
        walks: 8,
        bits: 2,
        records,
    };
    let told = |records, rounds| {
        let begun = Begun::new("toy-48", Montgomery::<4>::new, shape(records));
        let Begun {
            field,
            table,
            points,
            ..
        } = begun;
        let mut walks = Cores::new(&field, table, shape(records), points);
        let mut all: Vec<Told<4>> = Vec::new();
        for _ in 0..rounds {
            let told = round(&mut walks, 4);
            let of_group = |group| told.iter().filter(|told| told.walk / 8 == group).count();
            assert!((0..2).all(|group| of_group(group) <= records));
            all.extend(told);
        }
        all
    };
    let (scarce, ample) = (told(1, 60), told(64, 30));
    assert_eq!(scarce.len(), 120);
    let mut compared = 0;
    for walk in 0..16 {
        let of = |told: &[Told<4>]| {
            let told = told.iter().filter(|told| told.walk == walk);
            told.map(|told| told.x).collect::<Vec<_>>()
        };
        let (scarce, ample) = (of(&scarce), of(&ample));
        let both = scarce.len().min(ample.len());
        assert_eq!(scarce[..both], ample[..both]);
        compared += both;
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn a_search_goes_on_from_its_checkpoint_as_if_nothing_had_been() {
    let problem = multiple("toy-48", &BigUint::from(0x1234_5678_9abcu64));
    let field = Montgomery::<4>::new(&problem.curve().p);
    let search = |seed, state| {
        let machine = Machine::Cores;
        Search::new(&problem, &Method::Rho, &field, SHAPE, seed, machine, state).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let mut one = search(9, None);
    for _ in 0..20 {
        assert_eq!(one.round(16).unwrap(), None);
    }
    assert_eq!(one.settle().unwrap(), None);
    checkpoint::write(&path, "a job", 9, SHAPE, &one).unwrap();
    let read = Checkpoint::read(&path, "a job").unwrap().unwrap();
    assert_eq!((read.header.shape(), read.header.seed), (SHAPE, 9));
    let mut other = search(9, Some(read.state().unwrap()));
    for _ in 0..20 {
        assert_eq!(one.round(16).unwrap(), None);
        assert_eq!(other.round(16).unwrap(), None);
    }
    for search in [&mut one, &mut other] {
        assert_eq!(search.settle().unwrap(), None);
    }
    assert_eq!(one.points().unwrap(), other.points().unwrap());
    assert_eq!(one.known(), other.known());
    assert_eq!((one.count(), one.starts()), (other.count(), other.starts()));
    assert!(one.known().len() > 100);

    assert!(
        Checkpoint::read(&folder.path().join("none"), "a job")
            .unwrap()
            .is_none()
    );
    let said = |path: &std::path::Path, job| match Checkpoint::read(path, job) {
        Err(error @ Error::Checkpoint { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(said(&path, "another").contains("it is of another search, a job"));
    let bytes = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged");
    for at in [bytes.len() - 1, bytes.len() - 40, bytes.len() / 2] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 4;
        std::fs::write(&damaged, bytes).unwrap();
        assert!(said(&damaged, "a job").contains("it is damaged"));
    }
    for length in [0, 1, 100, bytes.len() - 1] {
        std::fs::write(&damaged, &bytes[..length]).unwrap();
        let said = said(&damaged, "a job");
        assert!(
            said.contains("it is damaged") || said.contains("it is no checkpoint"),
            "{said}"
        );
    }
}

/// Walks that were put where others are meet them, and begin anew where that tells nothing.
#[test]
fn walks_that_cannot_tell_the_logarithm_begin_anew() {
    let problem = multiple("toy-48", &BigUint::from(0x1234_5678_9abcu64));
    let field = Montgomery::<4>::new(&problem.curve().p);
    let method = Method::Kangaroo {
        lowest: 1u8.into(),
        highest: BigUint::from(1u64 << 47),
    };
    let shape = Shape { bits: 3, ..SHAPE };
    let search =
        |state| Search::new(&problem, &method, &field, shape, 1, Machine::Cores, state).unwrap();
    let begun = search(None);
    let (starts, mut points) = (begun.starts().to_vec(), begun.points().unwrap());
    // Two tame kangaroos.
    points[2] = points[0];
    let count = begun.count();
    let mut search = search(Some((starts, points, Default::default(), count)));
    let mut rounds = 0;
    while search.count().useless == 0 {
        assert_eq!(search.round(8).unwrap(), None);
        rounds += 1;
        assert!(rounds < 100);
    }
    assert_eq!(search.settle().unwrap(), None);
    let points = search.points().unwrap();
    assert_ne!(points[0], points[2]);
    assert!(search.starts().contains(&count.next));
}
