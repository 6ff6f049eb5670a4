//! Points after stage 1, and what stage 2 finds, against plain arithmetic of num-bigint.

use ecm::{Continuation, Curve, Family, Outcome, Point, Stage1, Stage2, primes, scalar};
use num_bigint::BigUint;

fn number(text: &str) -> BigUint {
    ecm::evaluate(text).unwrap()
}

/// An odd number of so many bits that has no small factor that curves could find.
fn modulus(bits: u64) -> BigUint {
    // The product of primes 2^k - c, then ones.
    let n = number("(2^61-1)*(2^31-1)");
    if bits <= n.bits() {
        return (BigUint::from(1u8) << bits) - 1u8;
    }
    let rest = (BigUint::from(1u8) << (bits - n.bits())) + 1u8;
    n * rest
}

fn sub(a: &BigUint, b: &BigUint, n: &BigUint) -> BigUint {
    (a + n - b % n) % n
}

/// `x(k P)` of the curve of `a24` by the ladder with general sums, or the divisor.
fn multiple(k: &BigUint, x: &BigUint, a24: &BigUint, n: &BigUint) -> [BigUint; 2] {
    let double = |[x, z]: &[BigUint; 2]| {
        let (s, d) = ((x + z) * (x + z) % n, sub(x, z, n).pow(2) % n);
        let e = sub(&s, &d, n);
        [s * &d % n, &e * (d + a24 * &e) % n]
    };
    let add = |[x, z]: &[BigUint; 2], [u, w]: &[BigUint; 2]| {
        let (a, b) = (sub(x, z, n) * (u + w) % n, (x + z) * sub(u, w, n) % n);
        [(&a + &b).pow(2) % n, sub(&a, &b, n).pow(2) % n]
    };
    let start = [x.clone(), BigUint::from(1u8)];
    let with = |[s, d]: [BigUint; 2]| [s, d * x % n];
    let (mut low, mut high) = (start.clone(), double(&start));
    for i in (0..k.bits() - 1).rev() {
        if k.bit(i) {
            low = with(add(&low, &high));
            high = double(&high);
        } else {
            high = with(add(&low, &high));
            low = double(&low);
        }
    }
    low
}

fn run(n: &BigUint, family: Family, first: u64, count: usize, b1: u64) -> Vec<Outcome> {
    let mut stage = Stage1::new(n, family, first, count, &scalar(b1)).unwrap();
    // In uneven pieces.
    let mut times = 1;
    while !stage.is_done() {
        stage.advance(times).unwrap();
        times = times * 3 + 1;
    }
    stage.finish().unwrap()
}

#[test]
fn points_are_those_of_a_plain_ladder_at_every_width() {
    let scalar = scalar(60);
    for bits in [
        40, 62, 63, 64, 92, 120, 127, 128, 200, 256, 378, 500, 512, 777, 1018, 1024, 2000,
    ] {
        let n = modulus(bits);
        for (first, count) in [(2, 19), (4_294_967_200, 5)] {
            let found = run(&n, Family::Param3, first, count, 60);
            assert_eq!(found.len(), count);
            for (i, outcome) in found.iter().enumerate() {
                let curve = Curve::Sigma {
                    param: 3,
                    sigma: (first + i as u64).into(),
                };
                let a24 = curve.a24(&n).unwrap();
                let [x, z] = multiple(&scalar, &2u8.into(), &a24, &n);
                match outcome {
                    Outcome::Point(point) => {
                        assert_eq!(point.curve, curve);
                        assert_eq!(&point.x * z % &n, x, "{bits} {i}");
                    }
                    Outcome::Factor(divisor) => {
                        assert_eq!(&n % divisor, BigUint::ZERO);
                        assert!(*divisor > 1u8.into());
                        assert!(
                            z % divisor == BigUint::ZERO || x % divisor == BigUint::ZERO,
                            "{bits} {i}"
                        );
                    }
                }
            }
        }
    }
}

/// `k` times a point of `-x^2 + y^2 = 1 + d x^2 y^2`, by sums alone: `(X : Y : Z : T)`.
fn on_edwards(k: &BigUint, [x, y]: [&BigUint; 2], d: &BigUint, n: &BigUint) -> [BigUint; 4] {
    let add = |p: &[BigUint; 4], q: &[BigUint; 4]| {
        let a = sub(&p[1], &p[0], n) * sub(&q[1], &q[0], n) % n;
        let b = (&p[1] + &p[0]) * (&q[1] + &q[0]) % n;
        let c = d * 2u8 * &p[3] % n * &q[3] % n;
        let e = &p[2] * &q[2] * 2u8 % n;
        let (f, g) = (sub(&e, &c, n), (e + c) % n);
        let (h, e) = ((&b + &a) % n, sub(&b, &a, n));
        [&e * &f % n, &g * &h % n, f * g % n, e * h % n]
    };
    let one = BigUint::from(1u8);
    let point = [x.clone(), y.clone(), one.clone(), x * y % n];
    let mut sum = [BigUint::ZERO, one.clone(), one, BigUint::ZERO];
    for i in (0..k.bits()).rev() {
        sum = add(&sum, &sum);
        if k.bit(i) {
            sum = add(&sum, &point);
        }
    }
    sum
}

#[test]
fn points_of_edwards_curves_are_those_of_sums_alone() {
    let scalar = scalar(100);
    for bits in [62, 127, 250, 506, 1020] {
        let n = modulus(bits);
        let found = run(&n, Family::Edwards, 2, 11, 100);
        for (i, outcome) in found.iter().enumerate() {
            let Outcome::Point(Point {
                curve: Curve::A(a),
                x,
            }) = outcome
            else {
                let Outcome::Factor(divisor) = outcome else {
                    panic!("{outcome:?}")
                };
                assert_eq!(&n % divisor, BigUint::ZERO);
                continue;
            };
            let start = ecm::edwards_start(2 + i as u64, &n).unwrap();
            let [_, y, z, _] = on_edwards(&scalar, [&start.x, &start.y], &start.d, &n);
            // x = (1 + y) / (1 - y), d = -(A - 2) / (A + 2).
            assert_eq!(x * sub(&z, &y, &n) % &n, (z + y) % &n, "{bits} {i}");
            assert_eq!(&start.d * (a + 2u8) % &n, sub(&2u8.into(), a, &n));
        }
    }
}

#[test]
fn a_stage_that_is_taken_up_leaves_the_same_points() {
    let n = modulus(200);
    for family in [Family::Param3, Family::Edwards] {
        let expected = run(&n, family, 7, 5, 300);
        let mut stage = Stage1::new(&n, family, 7, 5, &scalar(300)).unwrap();
        stage.advance(40).unwrap();
        let (done, state) = (stage.progress().0, stage.state().unwrap());
        let mut stage = Stage1::new(&n, family, 7, 5, &scalar(300)).unwrap();
        stage.resume(done, &state).unwrap();
        while !stage.is_done() {
            stage.advance(17).unwrap();
        }
        assert_eq!(stage.finish().unwrap(), expected);
    }
}

/// Whether `k` times a point is nothing modulo a small prime.
fn is_nothing(k: u64, x: &BigUint, a24: &BigUint, p: &BigUint) -> bool {
    multiple(&k.into(), x, a24, p)[1] == BigUint::ZERO
}

#[test]
fn stage_2_finds_a_prime_where_one_more_prime_is_the_points_order() {
    let mut found = [0; 2];
    let cases = [
        (1_000_003u32, 30, 11, 400),
        (1_000_003, 30, 31, 1000),
        (1_000_003, 30, 211, 3000),
        (1_000_003, 30, 2311, 9000),
        (1_000_003, 30, 40, 41),
        // Most orders of so few points have such a prime: every giant of the first blocks is some curve's.
        (20_011, 200, 11, 1200),
    ];
    for (p, count, b1, b2) in cases {
        let p = BigUint::from(p);
        let n = &p * number("2^89-1");
        let points: Vec<_> = run(&n, Family::Param3, 100, count, b1)
            .into_iter()
            .filter_map(|outcome| match outcome {
                Outcome::Point(point) => Some(point),
                Outcome::Factor(_) => None,
            })
            .collect();
        for by in [Continuation::Giants, Continuation::Polynomials] {
            let mut stage = Stage2::new_by(by, &n, &points, b1, b2).unwrap();
            while !stage.is_done() {
                let (done, of) = stage.progress();
                assert!(done < of);
                stage.advance().unwrap();
            }
            for (point, divisor) in points.iter().zip(stage.finish()) {
                let a24 = point.curve.a24(&n).unwrap();
                let (x, a24) = (&point.x % &p, a24 % &p);
                let is_found = divisor.is_some_and(|d| d % &p == BigUint::ZERO);
                let mut is_expected = false;
                primes(b1 + 1, b2, |q| is_expected |= is_nothing(q, &x, &a24, &p));
                // A prime m D + j has m D - j looked at as well, be it a prime or not; of polynomials all pairs
                // are, and giants of a whole block.
                let to = match by {
                    Continuation::Giants => b2 + 2310,
                    Continuation::Polynomials => 30 * (b2 + 1000),
                };
                let by_chance = || (1..to).any(|k| is_nothing(k, &x, &a24, &p));
                assert!(is_found || !is_expected, "{by:?} {b1} {b2}");
                assert!(!is_found || is_expected || by_chance(), "{by:?} {b1} {b2}");
                found[usize::from(is_expected)] += 1;
            }
        }
    }
    assert!(found[0] > 10 && found[1] > 10, "{found:?}");
}
