//! ECM: curves whose groups' orders are counted, GMP-ECM's curves, results, kills, and rounding errors.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::Short;
use crate::common::killed::run_and_kill;
use crate::common::program::{mersenne, run};
use bigint_testing::sweep;
use mersenne::{Arithmetic, Backend, Cpu, Curves, Ecm, Found, Save};
use num_bigint::BigUint;

fn curves(first: u32, second: Option<u64>, count: u32, sigma: u64) -> Curves {
    Curves {
        first,
        second,
        count,
        sigma: Some(sigma),
        left: None,
    }
}

fn ecm(p: u32, curves: Curves) -> Ecm {
    Ecm::new(p, curves, 6).unwrap()
}

/// Runs the present stage to its end.
fn run_stage(ecm: &mut Ecm, backend: &dyn Backend) {
    let mut steps = ecm.steps(backend, None, &|| true).unwrap().unwrap();
    while !ecm.advance(&mut steps, 100, &|| true).unwrap() {}
}

/// A curve after its first stage and, with a `B2`, after its second.
fn stages(p: u32, curves: Curves, memory: u64, backend: &dyn Backend) -> Vec<Ecm> {
    let mut ecm = ecm(p, curves);
    let mut all = Vec::new();
    loop {
        run_stage(&mut ecm, backend);
        all.push(ecm.clone());
        ecm.go_on(memory);
        if ecm.is_done() {
            return all;
        }
    }
}

fn with(arithmetic: Arithmetic) -> Cpu {
    Cpu {
        arithmetic,
        ..Cpu::default()
    }
}

/// Numbers modulo a prime below 2^31.
struct Field(u64);

impl Field {
    fn power(&self, x: u64, n: u64) -> u64 {
        let square = |y: u64| y * y % self.0;
        match n {
            0 => 1,
            _ if n.is_multiple_of(2) => square(self.power(x, n / 2)),
            _ => x * self.power(x, n - 1) % self.0,
        }
    }

    fn over(&self, a: u64, b: u64) -> u64 {
        a % self.0 * self.power(b % self.0, self.0 - 2) % self.0
    }

    fn minus(&self, a: u64, b: u64) -> u64 {
        (a % self.0 + self.0 - b % self.0) % self.0
    }
}

/// The order of the point of curve `sigma` modulo a prime, as textbooks have it: all points of
/// `b y^2 = x^3 + A x^2 + x` are counted, where `b` puts the point at `y = 1`.
fn order(q: u64, sigma: u64) -> u64 {
    let field = Field(q);
    let cube = |x: u64| field.power(x, 3);
    let (u, v) = (field.minus(sigma * sigma, 5), 4 * sigma % q);
    let x = field.over(cube(u), cube(v));
    let above = cube(field.minus(v, u)) * ((3 * u + v) % q) % q;
    let a = field.minus(field.over(above, 4 * cube(u) % q * v), 2);
    let f = |x: u64| ((x * x % q + a * x % q + 1) % q) * x % q;
    let b = f(x);
    let mut is_square = vec![false; q as usize];
    (1..q).for_each(|x| is_square[(x * x % q) as usize] = true);
    let points = (0..q).map(f).map(|value| match value {
        0 => 1,
        _ if is_square[value as usize] == is_square[b as usize] => 2,
        _ => 0,
    });
    let count = 1 + points.sum::<u64>();
    assert_eq!(count % 12, 0, "curve {sigma} modulo {q}");

    let sum = |p: Option<[u64; 2]>, s: Option<[u64; 2]>| {
        let (Some([x1, y1]), Some([x2, y2])) = (p, s) else {
            return p.or(s);
        };
        let slope = match (x1 == x2, y1 == y2) {
            (true, true) if y1 != 0 => {
                field.over(3 * x1 % q * x1 + 2 * a % q * x1 + 1, 2 * b % q * y1)
            }
            (true, _) => return None,
            _ => field.over(field.minus(y2, y1), field.minus(x2, x1)),
        };
        let x3 = field.minus(b * (slope * slope % q) % q, a + x1 + x2);
        Some([x3, field.minus(slope * field.minus(x1, x3) % q, y1)])
    };
    let times = |n: u64| {
        (0..64 - n.leading_zeros()).rev().fold(None, |p, bit| {
            let twice = sum(p, p);
            match n >> bit & 1 {
                0 => twice,
                _ => sum(twice, Some([x, 1])),
            }
        })
    };
    assert_eq!(times(count), None, "Lagrange");
    let mut order = count;
    for (r, _) in powers(count) {
        while order % r == 0 && times(order / r).is_none() {
            order /= r;
        }
    }
    order
}

/// The primes of a number, and their exponents.
fn powers(n: u64) -> Vec<(u64, u32)> {
    let (mut n, mut all, mut r) = (n, Vec::new(), 2);
    while n > 1 {
        let mut k = 0;
        while n % r == 0 {
            (n, k) = (n / r, k + 1);
        }
        if k > 0 {
            all.push((r, k));
        }
        r = if r * r > n { n.max(r + 1) } else { r + 1 };
    }
    all
}

/// Factors of `2^p - 1`, by Python: `pow(2, p, q) == 1`.
const FACTORS: [(u32, u64); 4] = [
    (173, 730_753),
    (5179, 248_593),
    (5189, 155_671),
    (5227, 1_129_033),
];

#[test]
fn a_curve_finds_a_factor_where_its_points_order_is_smooth() {
    let (b1, b2) = (60, 2000);
    let (mut by_first, mut by_second) = (0, 0);
    for (p, q) in FACTORS {
        for sigma in 6..sweep(16, 26) {
            let order = powers(order(q, sigma));
            let is_smooth = |of: &[(u64, u32)]| of.iter().all(|(r, k)| r.pow(*k) <= b1.into());
            let [.., (greatest, once)] = order[..] else {
                panic!("12 divides it");
            };
            let rest = &order[..order.len() - 1];
            let one_more = once == 1 && greatest <= b2 && is_smooth(rest);
            let found = stages(p, curves(b1, Some(b2), 1, sigma), 1 << 30, &Cpu::default());
            let found = found
                .iter()
                .map(|ecm| ecm.divisor().unwrap() % q == BigUint::ZERO);
            let [first, second] = found.collect::<Vec<_>>()[..] else {
                panic!("two stages");
            };
            // Where two points of a chain are the same, what is left of the order divides their difference, below B1.
            let is_short = order.iter().all(|(r, _)| *r <= b1.into());
            assert!(
                first == is_smooth(&order) || first && is_short,
                "M{p} {sigma} {order:?}"
            );
            // The second may find what shares a difference with a prime.
            assert!(second || !one_more, "M{p} {sigma} {order:?}");
            by_first += u32::from(first);
            by_second += u32::from(one_more && !first);
        }
    }
    let [first, second] = sweep([1, 4], [3, 10]);
    assert!(
        by_first >= first && by_second >= second,
        "{by_first} {by_second}"
    );
}

/// With little memory strides are short, and every prime is met all the same.
#[test]
fn both_arithmetics_compute_the_same_and_any_stride_finds_the_factor() {
    // A curve whose order has one prime above 30.
    let (p, q) = FACTORS[1];
    let with_large = (6..).find_map(|sigma| {
        let order = powers(order(q, sigma));
        let [.., (greatest, 1)] = order[..] else {
            return None;
        };
        let is_smooth = order[..order.len() - 1]
            .iter()
            .all(|(r, k)| r.pow(*k) <= 30);
        (is_smooth && (500..5000).contains(&greatest)).then_some((sigma, greatest))
    });
    let (sigma, greatest) = with_large.unwrap();
    for memory in [0, 10_000, 60_000, 1 << 30] {
        let curves = curves(30, Some(greatest), 1, sigma);
        let [found, exact] = [Arithmetic::Fp64, Arithmetic::Exact]
            .map(|arithmetic| stages(p, curves.clone(), memory, &with(arithmetic)));
        assert_eq!(found, exact);
        assert_eq!(found[1].divisor().unwrap(), q.into(), "{memory} bytes");
    }
    let small = [233, 1103, 2089].map(|q| order(q, 13));
    let found = stages(
        29,
        self::curves(4, Some(19), 1, 13),
        1 << 30,
        &Cpu::default(),
    );
    assert!(
        [228, 1140, 2124]
            .iter()
            .zip(small)
            .all(|(count, order)| count % order == 0)
    );
    assert_eq!(found[1].divisor().unwrap(), 233u32.into());
    // A prime far below shares no difference where the stride is 2.
    let less = curves(30, Some(greatest * 2 / 3), 1, sigma);
    let found = stages(p, less, 0, &Cpu::default());
    assert_eq!(found[1].divisor().unwrap(), 1u32.into());
}

/// The factor that GMP-ECM finds by a curve, if it is installed; 1 where there is none.
fn gmp_ecm(p: u32, sigma: u64, first: u32, second: u64) -> Option<BigUint> {
    let mut child = Command::new("ecm")
        .args(["-q", "-sigma", &format!("0:{sigma}")])
        .args([first.to_string(), second.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    writeln!(child.stdin.take().unwrap(), "2^{p}-1").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let factor = text
        .split_once(' ')
        .map(|(factor, _)| factor.parse().unwrap());
    Some(factor.unwrap_or(BigUint::from(1u32)))
}

/// Its chains of additions meet the point at infinity on the way, by which it finds some more.
#[test]
fn gmp_ecm_finds_what_is_found_by_the_same_curves() {
    let one = BigUint::from(1u32);
    let mut found = [0; 2];
    for p in [173, 211, 263, 5227] {
        for sigma in (20..sweep(25, 30)).chain([1 << 40, (1 << 53) - 1]) {
            // B2 = 1 is its way to say that there is no second stage.
            let Some(theirs) = gmp_ecm(p, sigma, 150, 1) else {
                println!("not run: GMP-ECM's `ecm` is not installed");
                return;
            };
            let ours = curves(150, Some(4000), 1, sigma);
            let ours = stages(p, ours, 1 << 30, &Cpu::default());
            let [first, second] = [0, 1].map(|stage| ours[stage].divisor().unwrap());
            assert_eq!(&theirs % &first, BigUint::ZERO, "M{p} {sigma}");
            // The last giant step may meet what is beyond B2.
            let theirs = gmp_ecm(p, sigma, 150, 10_000).unwrap();
            assert!(second == one || theirs > one, "M{p} {sigma}");
            found[0] += u32::from(first > one);
            found[1] += u32::from(second > one);
        }
    }
    assert!(found[0] >= sweep(3, 5) && found[1] > found[0], "{found:?}");
}

#[test]
fn what_is_known_is_not_found_again_and_all_factors_at_once_are_none() {
    let left = |known: &[u64]| {
        let known = known.iter().map(|&known| known.into()).collect();
        Some(mersenne::Cofactor::new(29, known).unwrap())
    };
    // 2^29 - 1 = 233 1103 2089.
    let says = |known: &[u64], divisor: u64| {
        let mut curves = curves(10, None, 1, 6);
        if !known.is_empty() {
            curves.left = left(known);
        }
        ecm(29, curves).found(&divisor.into())
    };
    assert_eq!(says(&[], 1), Found::Nothing);
    assert_eq!(says(&[], 233), Found::Factor(233u32.into()));
    assert_eq!(says(&[], 233 * 1103), Found::Factor((233u32 * 1103).into()));
    assert_eq!(says(&[], 233 * 1103 * 2089), Found::Everything);
    assert_eq!(says(&[233], 233), Found::Nothing);
    assert_eq!(says(&[233], 233 * 2089), Found::Factor(2089u32.into()));
    assert_eq!(says(&[233], 1103 * 2089), Found::Everything);
    assert_eq!(says(&[233, 1103], 2089), Found::Everything);
    // A curve that there is not tells its divisor: 46 is a multiple of 23.
    let all = stages(11, curves(10, Some(100), 1, 46), 1 << 30, &Cpu::default());
    assert_eq!(all.len(), 1);
    assert_eq!(
        all[0].found(&all[0].divisor().unwrap()),
        Found::Factor(23u32.into())
    );
}

fn last_json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last();
    serde_json::from_str(line.unwrap_or_else(|| panic!("{output:?}"))).unwrap()
}

#[test]
fn results_say_what_curves_found() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        // As GMP-ECM says of 2^173 - 1.
        ("ECM2=N/A,1,2,173,-1,100,0,1,9", "F", "730753", 9, 1, 100),
        ("ECM2=N/A,1,2,173,-1,100,0,5,8", "F", "730753", 9, 2, 100),
        ("ECM2=N/A,1,2,173,-1,100,0,2,10", "NF", "", 10, 2, 100),
        (
            "ECM2=N/A,1,2,173,-1,300,10000,1,10",
            "F",
            "1505447",
            10,
            1,
            10_000,
        ),
        (
            "ECM2=N/A,1,2,173,-1,100,0,1,9,\"730753\"",
            "NF",
            "",
            9,
            1,
            100,
        ),
        (
            "ECM2=,1,2,173,-1,100,100,2,10,\"730753,1505447\"",
            "NF",
            "",
            10,
            2,
            100,
        ),
    ];
    for (line, status, factor, sigma, count, b2) in cases {
        fs::write(folder.path().join("worktodo.txt"), line).unwrap();
        let output = run(folder.path(), &["work"]);
        assert!(output.status.success(), "{output:?}");
        let found = last_json(&output);
        assert_eq!(
            (&found["worktype"], &found["status"]),
            (&"ECM".into(), &status.into()),
            "{line}"
        );
        assert_eq!(found["factors"][0].as_str().unwrap_or(""), factor, "{line}");
        assert_eq!(
            (&found["sigma"], &found["curves"]),
            (&sigma.into(), &count.into()),
            "{line}"
        );
        assert_eq!(found["b2"], b2, "{line}");
        let stage = (status == "F").then_some(if b2 > 100 { 2 } else { 1 });
        assert_eq!(found["stage"].as_u64(), stage, "{line}");
        assert_eq!(
            found.get("known-factors").is_some(),
            line.contains('"'),
            "{line}"
        );
    }
    let text = fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    assert_eq!(text.lines().count(), cases.len());
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 3, "results, worktodo.txt and the log");
    // Curves that are not chosen are others each time, and count each time.
    let arguments = ["ecm", "1277", "--b1", "10", "--curves", "2", "--json"];
    let [one, other] = [0, 1].map(|_| last_json(&run(folder.path(), &arguments)));
    assert_eq!((&one["curves"], &one["status"]), (&2.into(), &"NF".into()));
    assert_ne!(one["sigma"], other["sigma"]);
    let text = fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    assert_eq!(text.lines().count(), cases.len() + 2);
    for bad in [
        &["ecm", "173"][..],
        &["ecm", "173", "--b1", "1"],
        &["ecm", "173", "--b1", "100", "--b2", "99"],
        &["ecm", "173", "--b1", "100", "--sigma", "5"],
        &["ecm", "173", "--b1", "100", "--curves", "0"],
        &["ecm", "173", "--b1", "100", "--known-factors", "7"],
        &["ecm", "2", "--b1", "100"],
        &["ecm", "174", "--b1", "100"],
    ] {
        let output = run(folder.path(), bad);
        assert_eq!(output.status.code(), Some(2), "{bad:?}");
    }
}

#[test]
fn curves_that_are_killed_again_and_again_go_on_and_each_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    // As GMP-ECM says, curves 102 and 105 find 99121783, and 106 the other one.
    let line = "ECM2=N/A,1,2,7499,-1,200,20000,12,100,\"99121783\"\n";
    fs::write(folder.path().join("worktodo.txt"), line).unwrap();
    let arguments = ["work", "--save-every", "1ms"];
    let save = folder.path().join("m7499.200.20000.ecm");
    let start = ecm(7499, curves(200, Some(20_000), 12, 100));
    let mut last = 0;
    for _ in 0..4 {
        let mut child = mersenne(folder.path(), &arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // As soon as it has saved a step that was not there.
        loop {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            let saved = fs::read(&save).ok();
            let saved = saved.and_then(|bytes| Ecm::from_bytes(&bytes, &start).ok()?);
            if let Some(ecm) = saved.filter(|ecm| ecm.done() > last + 300) {
                last = ecm.done();
                break;
            }
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    for milliseconds in [1, 30] {
        run_and_kill(folder.path(), &arguments, milliseconds);
    }
    let output = run(folder.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("taken up at step"), "{said}");
    let found = last_json(&output);
    assert_eq!(found["factors"], serde_json::json!(["284222298641"]));
    assert_eq!(
        (&found["sigma"], &found["curves"]),
        (&106.into(), &7.into())
    );
    let text = fs::read_to_string(folder.path().join("results.json.txt")).unwrap();
    assert_eq!(text.lines().count(), 1);
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 3, "results, worktodo.txt and the log");
}

#[test]
fn saves_are_of_one_kind_of_curves_and_whole() {
    let backend = Cpu::default();
    let start = ecm(7499, curves(200, Some(20_000), 2, 105));
    let mut at = start.clone();
    let mut states = vec![at.clone()];
    while !at.is_done() {
        let mut steps = at.steps(&backend, None, &|| true).unwrap().unwrap();
        loop {
            let is_done = at.advance(&mut steps, 3, &|| true).unwrap();
            states.push(at.clone());
            if is_done {
                break;
            }
        }
        at.go_on(1 << 20);
    }
    assert!(states.is_sorted_by(|a, b| a.done() <= b.done()));
    let last = states.last().unwrap().clone();
    let mut in_chains = 0;
    for state in &states {
        let bytes = state.to_bytes();
        let header = String::from_utf8_lossy(&bytes);
        in_chains += u32::from(header.contains(r#""chain":"#));
        let read = Ecm::from_bytes(&bytes, &start).unwrap().unwrap();
        assert_eq!(&read, state);
        for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
            assert!(Ecm::from_bytes(&bytes[..cut], &start).is_err());
        }
    }
    assert!(in_chains > 20, "{in_chains}");
    // As GMP-ECM says; and from any of them a run ends with that.
    assert_eq!(last.divisor().unwrap(), 284_222_298_641_u64.into());
    for state in states.iter().step_by(sweep(9, 3)) {
        let mut again = state.clone();
        loop {
            run_stage(&mut again, &backend);
            let end = again.clone();
            again.go_on(1 << 20);
            if again.is_done() {
                assert_eq!(end.divisor().unwrap(), last.divisor().unwrap());
                break;
            }
        }
    }
    let bytes = states[1].to_bytes();
    let of = |p, curves| Ecm::from_bytes(&bytes, &ecm(p, curves));
    assert!(of(7499, curves(201, Some(20_000), 2, 105)).is_err());
    assert!(of(7499, curves(200, Some(20_001), 2, 105)).is_err());
    assert!(of(7507, curves(200, Some(20_000), 2, 105)).is_err());
    // Another parameter is another test, and where none is asked for the file's is taken.
    assert_eq!(of(7499, curves(200, Some(20_000), 2, 106)), Ok(None));
    let any = Curves {
        sigma: None,
        ..curves(200, Some(20_000), 2, 105)
    };
    assert_eq!(of(7499, any).unwrap().unwrap().sigmas(), [105, 105]);
    let second = states
        .iter()
        .find(|state| state.sigmas()[1] == 106)
        .unwrap();
    let fewer = ecm(7499, curves(200, Some(20_000), 1, 105));
    assert_eq!(Ecm::from_bytes(&second.to_bytes(), &fewer), Ok(None));
    // Whoever says no before the babies are there gets no machine.
    let in_second = states.iter().find(|state| state.is_second()).unwrap();
    assert!(
        in_second
            .steps(&backend, None, &|| false)
            .unwrap()
            .is_none()
    );
}

#[test]
fn too_short_a_transform_is_seen_and_a_longer_one_taken() {
    let curves = curves(50, Some(1000), 1, 7);
    let found = stages(7499, curves.clone(), 1 << 20, &Short);
    assert_eq!(found, stages(7499, curves, 1 << 20, &Cpu::default()));
}
