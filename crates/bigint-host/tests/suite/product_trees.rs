//! Product and remainder trees beside num-bigint.

use std::cell::Cell;

use bigint_host::{BatchGcd, BigInt, BigUint, Engine, Error, Integers, ProductTree};
use num_integer::Integer;

/// Numbers from 1 to `2^(32 limbs)` less 1, of lengths as `shape` says, with ends among them.
fn leaves(count: usize, length: impl Fn(usize) -> usize) -> Vec<BigUint> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    let number = |i: usize| {
        let limbs = length(i);
        let ones = (BigUint::from(1u8) << (32 * limbs)) - 1u8;
        match i % 11 {
            3 => ones,
            5 => BigUint::from(1u8) << (32 * limbs - 1),
            7 => BigUint::from(1u8),
            9 => (BigUint::from(1u8) << (32 * limbs - 32)) + 1u8,
            _ => BigUint::new((0..limbs).map(|_| next() | 1).collect()),
        }
    };
    (0..count).map(number).collect()
}

fn to_biguints(numbers: &Integers) -> Vec<BigUint> {
    let numbers = numbers.to_bigints().unwrap().into_iter();
    numbers.map(|n| n.to_biguint().unwrap()).collect()
}

/// The length of each leaf.
type Lengths = fn(usize) -> usize;

const COUNTS: [usize; 13] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, 100];

/// Compares all that a tree of these leaves has with num-bigint.
fn check(engine: &Engine, numbers: &[BigUint]) {
    let leaves = Integers::from_biguints(numbers).unwrap();
    let tree = ProductTree::new(engine, &leaves).unwrap();
    let (count, product) = (numbers.len(), numbers.iter().product::<BigUint>());
    assert_eq!(
        tree.product().to_biguints().unwrap(),
        std::slice::from_ref(&product)
    );
    for x in [
        BigUint::ZERO,
        1u8.into(),
        &product - 1u8,
        product.clone(),
        &product + 1u8,
        &product * &product + 12345u32,
        &product >> 40,
    ] {
        let given = Integers::from_biguints(std::slice::from_ref(&x)).unwrap();
        let found = to_biguints(&tree.remainders(&given).unwrap());
        let expected: Vec<BigUint> = numbers.iter().map(|n| &x % n).collect();
        assert_eq!(found, expected, "{count} leaves");
    }
    let cofactors = to_biguints(&tree.cofactors().unwrap());
    let expected: Vec<BigUint> = numbers.iter().map(|n| (&product / n) % n).collect();
    assert_eq!(cofactors, expected, "{count} leaves");
    for more in [1u32, 0, u32::MAX] {
        let a: Vec<BigUint> = numbers.iter().map(|n| n * more + 7u8).collect();
        let sum = tree.sum(&Integers::from_biguints(&a).unwrap()).unwrap();
        let terms = a.iter().zip(numbers).map(|(a, n)| a * (&product / n));
        assert_eq!(
            to_biguints(&sum),
            [terms.sum::<BigUint>()],
            "{count} leaves"
        );
    }
}

#[test]
fn products_remainders_and_sums_are_those_of_num_bigint() {
    let engine = Engine::cpu();
    let shapes: [fn(usize) -> usize; 5] = [|_| 1, |_| 4, |_| 64, |i| 1 + i % 9, |i| 1 + i * i % 70];
    for count in COUNTS {
        for shape in shapes {
            check(&engine, &leaves(count, shape));
        }
    }
}

#[test]
fn trees_whose_nodes_transforms_multiply_are_those_of_num_bigint() {
    let engine = Engine::cpu();
    let shapes: [(usize, Lengths); 8] = [
        (1, |_| 5000),
        (2, |_| 4000),
        (3, |_| 4501),
        (8, |_| 1600),
        (7, |i| 900 + 701 * i),
        (2, |i| 1 + 9000 * i),
        (32, |i| 190 + i % 11),
        (45, |i| 160 + 3 * i),
    ];
    for (count, shape) in shapes {
        check(&engine, &leaves(count, shape));
    }
}

#[test]
fn a_number_is_reconstructed_from_its_residues() {
    let engine = Engine::cpu();
    // No two of these have a common divisor: 2^(2^i) + 1, and a power of 2.
    let mut moduli: Vec<BigUint> = (0..9)
        .map(|i| (BigUint::from(1u8) << (1 << i)) + 1u8)
        .collect();
    moduli.push(BigUint::from(1u8) << 77);
    moduli.push(1u8.into());
    let tree = ProductTree::new(&engine, &Integers::from_biguints(&moduli).unwrap()).unwrap();
    let product: BigUint = moduli.iter().product();
    for x in [
        BigUint::ZERO,
        1u8.into(),
        &product - 1u8,
        &product / 3u8,
        &product >> 9,
    ] {
        let residues: Vec<BigUint> = moduli.iter().map(|n| &x % n).collect();
        let residues = Integers::from_biguints(&residues).unwrap();
        assert_eq!(to_biguints(&tree.reconstruct(&residues).unwrap()), [x]);
    }
    let tree = ProductTree::new(&engine, &Integers::from([9, 5, 6])).unwrap();
    let refused = tree.reconstruct(&Integers::from([0, 0, 0])).unwrap_err();
    assert!(matches!(refused, Error::NotInvertible { index: 0 | 2 }));
}

/// By Horner's rule.
fn value(coefficients: &[BigInt], x: &BigInt) -> BigInt {
    let coefficients = coefficients.iter().rev();
    coefficients.fold(BigInt::ZERO, |value, c| value * x + c)
}

/// Polynomials of many degrees, of coefficients of one sign and of both, with zeros on top; with values that are zero, at and next to
/// their roots, at few points and at many.
#[test]
fn values_of_polynomials_are_those_of_horners_rule() {
    let engine = Engine::cpu();
    let one = BigInt::from(1);
    let number = |bits: u32, salt: u32| {
        let size = (BigInt::from(0x9e37_79b9_u32) * (salt + 1)).pow(bits / 32 + 1) % (&one << bits);
        if salt % 3 == 1 { -size } else { size }
    };
    let all_ones = |bits: u32| (&one << bits) - &one;
    // (x - 2) (x + 2^40) (x - 3^50) ..
    let roots: Vec<BigInt> = (0..9).map(|i| number(20 * i + 3, i)).collect();
    let mut of_roots = vec![one.clone()];
    for root in &roots {
        let mut times = vec![BigInt::ZERO; of_roots.len() + 1];
        for (i, c) in of_roots.iter().enumerate() {
            times[i] -= c * root;
            times[i + 1] += c;
        }
        of_roots = times;
    }
    let mut polynomials = vec![
        vec![],
        vec![BigInt::ZERO],
        vec![-all_ones(64)],
        vec![all_ones(31), -all_ones(31)],
        of_roots.iter().map(|c| -c).collect(),
        of_roots,
        [vec![number(500, 1)], vec![BigInt::ZERO; 5]].concat(),
    ];
    for (degree, bits) in [(1, 32), (2, 96), (17, 1), (64, 33), (130, 64)] {
        polynomials.push((0..=degree).map(|i| number(bits, i)).collect());
        polynomials.push(vec![all_ones(bits); degree as usize + 1]);
        polynomials.push(
            (0..=degree)
                .map(|i| all_ones(bits) * (1 - 2 * i64::from(i % 2)))
                .collect(),
        );
    }
    let near: Vec<BigInt> = roots
        .iter()
        .flat_map(|root| [root - 1, root.clone(), root + 1])
        .collect();
    let small: Vec<BigInt> = (-3..=3).map(BigInt::from).collect();
    let ones = [32, 64, 95].map(all_ones);
    let ones = ones
        .iter()
        .flat_map(|x| [x.clone(), -x, x + 1, -x - 1])
        .collect();
    for points in [near, small, ones, vec![BigInt::ZERO], vec![]] {
        for polynomial in &polynomials {
            let [p, x] = [polynomial, &points].map(|x| Integers::from_bigints(x).unwrap());
            let found = engine.evaluate_polynomial(&p, &x).unwrap();
            let expected: Vec<BigInt> = points.iter().map(|x| value(polynomial, x)).collect();
            assert_eq!(
                found.to_bigints().unwrap(),
                expected,
                "{polynomial:?} at {points:?}"
            );
        }
    }
    let wide = Integers::from_bigints(&[&one << (1 << 20)]).unwrap();
    let many = Integers::from_bigints(&vec![one; 1 << 15]).unwrap();
    let refused = engine.evaluate_polynomial(&many, &wide);
    assert!(matches!(refused, Err(Error::Width { .. })));
}

#[test]
fn zero_and_negative_leaves_are_refused_by_their_number() {
    let engine = Engine::cpu();
    let refused =
        |leaves: [i32; 3]| ProductTree::new(&engine, &Integers::from(leaves)).unwrap_err();
    assert!(matches!(
        refused([3, 0, 0]),
        Error::ZeroDivisor { index: 1 }
    ));
    assert!(matches!(
        refused([3, 5, -7]),
        Error::Negative { index: 2, .. }
    ));
}

/// The greatest common divisors of each with the product of all others, pair by pair: for numbers
/// whose factors are shared by one other at most, each.
fn pairwise(numbers: &[BigUint]) -> Vec<BigUint> {
    let common = |i: usize| {
        let others = (0..numbers.len()).filter(|&j| j != i);
        let divisors = others.map(|j| numbers[i].gcd(&numbers[j]));
        divisors.fold(BigUint::from(1u8), |all, divisor| all.lcm(&divisor))
    };
    (0..numbers.len()).map(common).collect()
}

/// Fermat and Mersenne primes and a few more, no two alike.
fn primes() -> Vec<BigUint> {
    let mersenne = [61u32, 89, 107, 127, 521, 607].map(|p| (BigUint::from(1u8) << p) - 1u8);
    let more = [65537u32, 2, 3, 4_294_967_291].map(BigUint::from);
    mersenne.into_iter().chain(more).collect()
}

#[test]
fn common_divisors_are_those_of_pairs_in_one_group_and_in_many() {
    let engine = Engine::cpu();
    let primes = primes();
    let rest = leaves(60, |i| 3 + i % 5);
    // Each factor is shared by at most two numbers, or by numbers that share nothing else.
    let mut numbers: Vec<BigUint> = (0..6).map(|i| &primes[i] * &primes[(i + 1) % 6]).collect();
    numbers.extend(rest.iter().enumerate().map(|(i, n)| match i % 3 {
        0 => n * &primes[6 + i % 4],
        _ => n.clone(),
    }));
    let column = Integers::from_biguints(&numbers).unwrap();
    let product: BigUint = numbers.iter().product();
    let by_product = |numbers: &[BigUint], product: &BigUint| -> Vec<BigUint> {
        numbers.iter().map(|n| (product / n).gcd(n)).collect()
    };
    let expected = by_product(&numbers, &product);
    assert_eq!(expected[..6], pairwise(&numbers)[..6]);
    for memory in [1 << 30, 20_000, 6000, 1] {
        let how = BatchGcd::new(&engine).within(memory).with_products();
        let told = Cell::new(None);
        let found = how
            .find(&column, &Integers::new(), &|progress| {
                told.set(Some(progress))
            })
            .unwrap();
        assert_eq!(to_biguints(&found.divisors), expected, "{memory} bytes");
        let all: BigUint = to_biguints(&found.products).iter().product();
        assert_eq!(all, product);
        let groups = found.products.len();
        assert!(groups == 1 || memory < 1 << 30);
        assert_eq!(
            told.get().map(|told| (told.groups, told.of_groups)),
            Some((groups, groups))
        );
        for (small, n) in to_biguints(&found.small).iter().zip(&numbers) {
            for prime in [2u32, 3, 5, 257, 65537] {
                let divides = (n % prime) == BigUint::ZERO && prime < 4096;
                assert_eq!((small % prime) == BigUint::ZERO, divides, "{prime} of {n}");
            }
        }
        // New ones against the product of the first.
        let (old, new) = numbers.split_at(30);
        let new_column = Integers::from_biguints(new).unwrap();
        let products =
            Integers::from_biguints(&[old[..10].iter().product(), old[10..].iter().product()])
                .unwrap();
        let found = how.find(&new_column, &products, &|_| ()).unwrap();
        assert_eq!(to_biguints(&found.divisors), expected[30..]);
    }
}

#[test]
fn what_a_folder_has_of_groups_is_not_computed_again() {
    let engine = Engine::cpu();
    let numbers = Integers::from_biguints(&leaves(300, |i| 2 + i % 7)).unwrap();
    let folder = std::env::temp_dir().join(format!("bigint-groups-{}", std::process::id()));
    let how = BatchGcd::new(&engine).within(20_000).in_folder(&folder);
    let how = how.with_products();
    let levels = |how: &BatchGcd| {
        let told = Cell::new(0);
        let found = how
            .find(&numbers, &Integers::new(), &|progress| {
                told.set(progress.levels)
            })
            .unwrap();
        (found, told.get())
    };
    let (first, all) = levels(&how);
    let (again, none) = levels(&how);
    assert_eq!((&again, none), (&first, 0));
    assert!(first.products.len() > 2);
    std::fs::remove_file(folder.join("group-00001.divisors")).unwrap();
    let (again, some) = levels(&how);
    assert!(
        again == first && 0 < some && some < all,
        "{some} of {all} levels"
    );
    // Another memory makes other groups, whose files are others.
    let (whole, _) = levels(&BatchGcd::new(&engine).in_folder(&folder));
    assert_eq!(whole.divisors, first.divisors);
    assert!(whole.products.is_empty());
    how.forget(&numbers, &Integers::new()).unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir(folder).unwrap();
}

#[test]
fn shared_factors_take_apart_what_shares_all_of_itself() {
    let engine = Engine::cpu();
    let p = primes();
    let of = |indices: &[usize]| -> BigUint { indices.iter().map(|&i| &p[i]).product() };
    // A ring of which each shares both of its primes, powers, multiples, small primes, a number by
    // itself, and the same again.
    let sets: Vec<Vec<usize>> = vec![
        vec![0, 1],
        vec![1, 2],
        vec![0, 2],
        vec![3, 3],
        vec![3, 4],
        vec![3, 3, 3, 5],
        vec![6, 8, 7, 7, 7],
        vec![4, 6, 6],
        vec![9],
        vec![0, 1],
        vec![],
    ];
    let numbers: Vec<BigUint> = sets.iter().map(|set| of(set)).collect();
    let column = Integers::from_biguints(&numbers).unwrap();
    let found = engine.shared_factors(&column).unwrap();
    for (set, parts) in sets.iter().zip(&found) {
        let mut expected: Vec<BigUint> = set.iter().map(|&i| p[i].clone()).collect();
        if expected.is_empty() {
            expected.push(1u8.into());
        }
        expected.sort();
        assert_eq!(parts, &expected, "{set:?}");
    }
    let zero = engine.shared_factors(&Integers::from([6, 0])).unwrap_err();
    assert!(matches!(zero, Error::ZeroDivisor { index: 1 }));
}
