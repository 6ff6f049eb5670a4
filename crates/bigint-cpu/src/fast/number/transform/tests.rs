//! Tests of every shape of transform on every ring, and of the rings' arithmetic at the ends of
//! their ranges.

use num_bigint::BigUint;

use super::super::isa::Isa;
use super::super::tests::{Random, big};
use super::engine::{Engine, PortableEngine};
use super::field::{self, PRIMES, Ring, Row};
use super::{Factor, Plan, Product};
use crate::fast::Path;

/// Runs a generic check on every engine that this machine has.
trait Check {
    fn on<E: Engine>(&self, engine: E);

    fn everywhere(&self) {
        self.on(PortableEngine);
        #[cfg(target_arch = "x86_64")]
        for path in [Path::Avx2, Path::Avx512Ifma] {
            match Isa::of(path) {
                Isa::Avx512(token, _) => self.on(super::engine::Avx512Engine(token)),
                Isa::Avx2(token) => self.on(super::engine::Avx2Engine(token)),
                Isa::Portable => {}
            }
        }
    }
}

/// `(2^(64 n) - 1)(2^(64 m) - 1)`, the largest product of these lengths.
fn product_of_all_ones(n: usize, m: usize) -> Vec<u64> {
    let (n, m) = (n.max(m), n.min(m));
    let mut r = vec![u64::MAX; n + m];
    r[..m].fill(0);
    r[0] = 1;
    r[n] = u64::MAX - 1;
    if n == m {
        r[n..].fill(u64::MAX);
        r[n] = u64::MAX - 1;
    }
    r
}

/// Two primes. A wrong product is right modulo both with a chance of `2^-122`.
const MODULI: [u64; 2] = [(1 << 61) - 1, (1 << 61) - 31];

fn residues(x: &[u64]) -> [u64; 2] {
    MODULI.map(|p| {
        let shift = field::mul_mod(1 << 32, 1 << 32, p);
        x.iter()
            .rev()
            .fold(0, |r, &limb| (field::mul_mod(r, shift, p) + limb % p) % p)
    })
}

fn product_of_residues(a: &[u64], b: &[u64]) -> [u64; 2] {
    let (a, b) = (residues(a), residues(b));
    std::array::from_fn(|i| field::mul_mod(a[i], b[i], MODULI[i]))
}

struct Lengths {
    h: u32,
    limbs: Vec<(usize, usize)>,
    parallel: bool,
}

impl Check for Lengths {
    fn on<E: Engine>(&self, engine: E) {
        let mut random = Random(self.h.into());
        for &(n, m) in &self.limbs {
            let plan = Plan::with_pieces(self.h, n, m);
            let product = Product {
                engine,
                plan,
                parallel: self.parallel,
            };
            let name = std::any::type_name::<E>();
            let mut r = vec![0x5555; n + m];
            product.whole(&mut r, &vec![u64::MAX; n], &vec![u64::MAX; m]);
            assert!(
                r == product_of_all_ones(n, m),
                "ones {n} x {m} by {plan:?} on {name}"
            );
            let (a, b) = (random.limbs(n), random.runs(m));
            product.whole(&mut r, &a, &b);
            assert!(
                residues(&r) == product_of_residues(&a, &b),
                "{n} x {m} by {plan:?} on {name}"
            );
            if n == m {
                product.whole(&mut r, &a, &a);
                assert!(
                    residues(&r) == product_of_residues(&a, &a),
                    "square of {n} by {plan:?} on {name}"
                );
            }
        }
    }
}

#[test]
fn the_largest_product_is_what_the_oracle_says() {
    for (n, m) in [(1, 1), (5, 5), (7, 3), (2, 9), (8, 7)] {
        let (a, b) = (vec![u64::MAX; n], vec![u64::MAX; m]);
        assert_eq!(big(&product_of_all_ones(n, m)), big(&a) * big(&b));
    }
}

#[test]
fn every_piece_length_and_every_shape_is_exact() {
    for h in 40..=44 {
        let mut limbs = Vec::new();
        for log_block in 2..=6 {
            for blocks in 5..=8 {
                // Both operands are as long as the shape allows, and one limb longer.
                let full = 8 * (blocks << log_block) * 2 * h as usize / 128;
                limbs.extend([
                    (full - 1, full - 1),
                    (full, full),
                    (full + 1, full + 1),
                    (full + 20, full - 20),
                ]);
            }
        }
        limbs.extend([(1, 1), (2, 1), (50, 1), (200, 3)]);
        Lengths {
            h,
            limbs,
            parallel: h % 2 == 0,
        }
        .everywhere();
    }
}

#[test]
fn blocks_larger_than_the_cache_are_exact() {
    // The blocks have 2^9 .. 2^12 rows of 704 bits. Above the cache they are quartered once and
    // twice, and below it both parities occur.
    let rows = [5 << 9, 7 << 10, 6 << 11, 5 << 12];
    let limbs = rows.map(|rows: usize| (rows * 704 / 128, rows * 704 / 128));
    Lengths {
        h: 44,
        limbs: limbs.to_vec(),
        parallel: true,
    }
    .everywhere();
}

#[test]
fn long_operands_use_the_transform_of_the_shorter_again() {
    let mut random = Random(9);
    for path in Path::ALL {
        for (n, m) in [(4000, 1000), (9000, 70), (3001, 9), (1000, 1), (2000, 499)] {
            let (a, b) = (random.limbs(n), random.runs(m));
            let mut r = vec![0x5555; n + m];
            super::mul(&mut r, &a, &b, Isa::of(path), false);
            assert!(
                residues(&r) == product_of_residues(&a, &b),
                "{n} x {m} on {path:?}"
            );
            super::mul(
                &mut r,
                &vec![u64::MAX; m],
                &vec![u64::MAX; n],
                Isa::of(path),
                true,
            );
            assert!(r == product_of_all_ones(n, m), "ones {n} x {m} on {path:?}");
        }
    }
}

#[test]
fn pieces_are_as_long_as_four_primes_allow() {
    // This is m 2^(4 h) < 2^194.7 with the m of the shorter operand.
    for limbs in [1, 1000, 1 << 19, 600_000, 1 << 23, 1 << 25, 1 << 28] {
        let plan = Plan::new(4 * limbs, limbs);
        let m = super::coefficients(limbs, plan.h) as f64;
        assert!(
            m.log2() + f64::from(4 * plan.h) < 194.7,
            "{limbs} limbs, {plan:?}"
        );
    }
    assert_eq!(Plan::new(1 << 19, 1 << 19).h, 44);
    assert_eq!(Plan::new(1 << 20, 1 << 20).h, 43);
    let product: f64 = PRIMES.iter().map(|&p| (p as f64).log2()).sum();
    assert!(product > 194.71);
    assert!(PRIMES.iter().all(|p| 10 * p < 1 << 52));
}

#[test]
fn roots_square_to_the_roots_before_them() {
    for (prime, &p) in PRIMES.iter().enumerate() {
        let roots = field::roots(prime, 64, |w, _| [w, 0]);
        assert_eq!(roots[0][0], 1);
        let i = roots[1][0];
        assert_eq!(field::mul_mod(i, i, p), p - 1);
        for j in 0..32 {
            let (even, odd) = (roots[2 * j][0], roots[2 * j + 1][0]);
            assert_eq!(field::mul_mod(even, even, p), roots[j][0]);
            assert_eq!(field::mul_mod(even, i, p), odd);
        }
        for j in 1..64usize {
            let inverse = p - roots[j ^ ((1 << j.ilog2()) - 1)][0];
            assert_eq!(field::mul_mod(roots[j][0], inverse, p), 1);
        }
    }
}

/// Checks products and reductions of integers at the ends of their ranges.
struct Arithmetic;

impl Check for Arithmetic {
    fn on<E: Engine>(&self, engine: E) {
        let mut random = Random(11);
        for (prime, &p) in PRIMES.iter().enumerate() {
            let ring = engine.ring(prime);
            let constants = engine.tables().constants();
            // The factors are roots: 1, i, and others.
            let values = field::roots(prime, 512, |w, _| [w, 0]);
            let stored = &engine.tables().roots(512)[prime];
            // Every ring represents these residues: 5.6 p is the least of the limits.
            let limit = 56 * p / 10;
            let ends = [0, 1, p - 1, p, p + 1, 2 * p - 1, 4 * p, limit];
            for round in 0..64 {
                let mut row = Row(ends);
                if round > 0 {
                    row.0 = std::array::from_fn(|_| random.next() % limit);
                }
                let j = (random.next() % 512) as usize;
                let w = ring.factor(&stored[j]);
                let mut got = Row::ZERO;
                for part in 0..E::Ring::PARTS {
                    let x = ring.residues(ring.integers(part, &row));
                    ring.store_integers(part, &mut got, ring.canonical(ring.mul(x, w)));
                }
                for (&a, &product) in row.0.iter().zip(&got.0) {
                    assert_eq!(product % p, field::mul_mod(a % p, values[j][0], p));
                }
                let minus = ring.factor(&constants.minus_one[prime]);
                for part in 0..E::Ring::PARTS {
                    let x = ring.residues(ring.integers(part, &row));
                    ring.store_integers(part, &mut got, ring.canonical(ring.mul(x, minus)));
                }
                for (&a, &product) in row.0.iter().zip(&got.0) {
                    assert_eq!((product + a) % p, 0);
                }
            }
        }
    }
}

#[test]
fn multiplication_is_exact_at_the_ends_of_the_range() {
    Arithmetic.everywhere();
}

/// Checks the middles of products of `n` limbs by `m`.
struct Middles(Vec<(usize, usize)>);

impl Check for Middles {
    fn on<E: Engine>(&self, engine: E) {
        let mut random = Random(12);
        for &(n, m) in &self.0 {
            let ones = (vec![u64::MAX; n], vec![u64::MAX; m]);
            for (a, b) in [(random.limbs(n), random.runs(m)), ones] {
                let plan = Plan::middle(n, m);
                let product = Product::new(engine, plan, n, m % 2 == 0);
                let mut values = vec![Row::ZERO; 4 * plan.stride()];
                product.values(&mut values, &b);
                for count in [1, (n - m) / 2 + 1, n - m] {
                    let middle = product.middle(&values, &a, count);
                    let unit = BigUint::from(1u32);
                    let modulus = &unit << (64 * count);
                    let expected = (big(&a) * big(&b)) >> (64 * (n - count));
                    let got = big(&middle[middle.len() - count..]);
                    let difference = (got + unit + &modulus - expected % &modulus) % modulus;
                    assert!(
                        difference <= BigUint::from(2u32),
                        "{count} limbs of {n} x {m} by {plan:?} on {}",
                        std::any::type_name::<E>()
                    );
                }
            }
        }
    }
}

#[test]
fn middles_are_right_to_a_unit_where_the_rest_wraps() {
    // 352 limbs are 256 coefficients of 88 bits. Transforms up to that length are cyclic, and
    // longer ones whole.
    let cyclic = Plan::middle(352, 140);
    assert_eq!((cyclic.rows(), Plan::middle(353, 140).blocks), (32, 6));
    Middles(vec![
        (352, 140),
        (351, 139),
        (353, 140),
        (100, 99),
        (1400, 570),
        (5600, 2300),
        (5700, 2300),
    ])
    .everywhere();
}

/// Checks products of `n` limbs by `m` that wrap above so many limbs, or have room.
#[test]
fn products_that_wrap_are_right_modulo_their_length() {
    let mut random = Random(13);
    for path in [Path::Portable, Path::Avx2, Path::Avx512Ifma] {
        for (n, m, limbs, wraps) in [
            (352, 140, 352, Some(352)),
            (350, 340, 352, Some(352)),
            (353, 140, 353, None),
            (300, 40, 345, Some(352)),
            (5600, 2300, 5602, Some(5632)),
            (5632, 5632, 5632, Some(5632)),
        ] {
            let ones = |n| vec![u64::MAX; n];
            let mut power = vec![0; n];
            power[n - 1] = 1 << 63;
            // 19 times it is 8 B^352 and 352 limbs of ones: what wraps carries out of them.
            let carries: BigUint = (BigUint::from(9u32) << (64 * 352)) - 1u32;
            let carries = (carries / 19u32).to_u64_digits()[..352.min(n)].to_vec();
            let mut nineteen = vec![0; m];
            nineteen[0] = 19;
            for (a, b) in [
                (carries, nineteen),
                (random.limbs(n), random.runs(m)),
                (ones(n), ones(m)),
                (power, vec![2; m]),
            ] {
                let factor = Factor::modulo(&b, n, limbs, path, m % 2 == 0);
                assert_eq!(factor.wraps(), wraps);
                let got = big(&factor.product(&a, m % 2 == 0));
                let product = big(&a) * big(&b);
                let is_right = match wraps {
                    None => got == product,
                    Some(wraps) => {
                        let modulus = (BigUint::from(1u32) << (64 * wraps)) - 1u32;
                        got <= modulus && got % &modulus == product % &modulus
                    }
                };
                assert!(is_right, "{n} x {m} limbs above {limbs} on {path:?}");
            }
        }
    }
}
