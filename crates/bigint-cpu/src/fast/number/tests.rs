//! Products against num-bigint, on every path.

use num_bigint::BigUint;

use super::{Thresholds, mul, mul_with};
use crate::fast::Path;

/// A small generator with full period; the values only need to look random.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn limbs(&mut self, n: usize) -> Vec<u64> {
        (0..n).map(|_| self.next()).collect()
    }

    /// Numbers with long runs of ones and zeros, which make long chains of carries.
    pub(super) fn runs(&mut self, n: usize) -> Vec<u64> {
        let mut limbs = vec![0u64; n];
        let mut bit = 0;
        let mut value = self.next() & 1;
        while bit < 64 * n {
            let run = 1 + (self.next() % 200) as usize;
            for k in bit..(bit + run).min(64 * n) {
                limbs[k / 64] |= value << (k % 64);
            }
            bit += run;
            value ^= 1;
        }
        limbs
    }
}

pub(super) fn big(limbs: &[u64]) -> BigUint {
    let words = limbs.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]);
    BigUint::new(words.collect())
}

/// Numbers of `n` limbs that arithmetic gets wrong first.
pub(super) fn adversaries(n: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let mut one = vec![0; n];
    one[0] = 1;
    let mut power = vec![0; n];
    power[n - 1] = 1 << 63;
    let mut power_plus = power.clone();
    power_plus[0] += 1;
    let mut power_minus = vec![u64::MAX; n];
    power_minus[n - 1] >>= 1;
    vec![
        vec![u64::MAX; n],
        vec![0; n],
        one,
        power,
        power_plus,
        power_minus,
        random.runs(n),
        random.limbs(n),
    ]
}

#[track_caller]
pub(super) fn check(a: &[u64], b: &[u64], path: Path) {
    let mut r = vec![0x5555_5555_5555_5555; a.len() + b.len()];
    mul(&mut r, a, b, path, false);
    assert!(
        big(&r) == big(a) * big(b),
        "{} x {} limbs on {path:?}",
        a.len(),
        b.len()
    );
}

#[test]
fn products_of_every_short_length_are_exact() {
    let mut random = Random(1);
    for path in Path::ALL {
        for n in 1..=40 {
            for m in 1..=n {
                check(&random.limbs(n), &random.runs(m), path);
                check(&vec![u64::MAX; n], &vec![u64::MAX; m], path);
            }
        }
    }
}

/// Checks `a b` to `w` limbs, and that nothing is written beside them.
#[track_caller]
fn check_low(a: &[u64], b: &[u64], w: usize, path: Path, thresholds: Option<Thresholds>) {
    let mut r = vec![0x5555; w + 8];
    let (product, beside) = r.split_at_mut(w);
    match thresholds {
        Some(thresholds) => mul_with(product, a, b, path, thresholds, false),
        None => mul(product, a, b, path, false),
    }
    let expected = (big(a) * big(b)) % (BigUint::from(1u32) << (64 * w));
    let (n, m) = (a.len(), b.len());
    assert!(
        big(product) == expected,
        "{n} x {m} limbs to {w}, {thresholds:?} on {path:?}"
    );
    assert!(beside.iter().all(|&limb| limb == 0x5555));
}

#[test]
fn low_products_of_every_short_length_are_exact() {
    let mut random = Random(9);
    for path in Path::ALL {
        for n in 1..=40 {
            for m in 1..=n {
                let (a, b) = (random.runs(n), random.limbs(m));
                let (ones, others) = (vec![u64::MAX; n], vec![u64::MAX; m]);
                for w in [0, 1, m - 1, m, m + 1, n - 1, n, n + 1, n + m / 2, n + m - 1] {
                    check_low(&a, &b, w, path, None);
                    check_low(&b, &a, w, path, None);
                    check_low(&ones, &others, w, path, None);
                }
            }
            let (a, ones) = (random.runs(n), vec![u64::MAX; n]);
            for w in 0..2 * n {
                check_low(&a, &a, w, path, None);
                check_low(&ones, &ones, w, path, None);
            }
        }
    }
}

#[test]
fn low_products_are_exact_around_every_threshold() {
    let mut random = Random(10);
    for path in Path::ALL {
        let low = Thresholds {
            karatsuba: 12,
            toom3: 40,
            toom4: 70,
            transform: 90,
        };
        let school = Thresholds {
            karatsuba: usize::MAX,
            toom3: usize::MAX,
            toom4: usize::MAX,
            transform: usize::MAX,
        };
        let own = Thresholds::of(path);
        let edges = [own.karatsuba, 2 * own.karatsuba, own.transform].into_iter();
        let near = |n: usize| [n - 1, n, n + 1, n + n / 2];
        let own_lengths: Vec<usize> = edges.filter(|&n| n < 700).flat_map(near).collect();
        let lengths = [8, 12, 24, 32, 40, 64, 90, 127, 180]
            .into_iter()
            .flat_map(near);
        for (thresholds, lengths) in [
            (None, own_lengths),
            (Some(low), lengths.clone().collect()),
            (Some(school), lengths.collect()),
        ] {
            for n in lengths {
                let ones = vec![u64::MAX; n];
                let (a, b) = (random.limbs(n), random.runs(n));
                for w in [n, n + 1, n + n / 2, 2 * n - 1, n - 1] {
                    check_low(&a, &b, w, path, thresholds);
                    check_low(&ones, &ones.clone(), w, path, thresholds);
                    check_low(&ones, &ones, w, path, thresholds);
                    check_low(&b, &b, w, path, thresholds);
                }
                for m in [1, n / 3, n / 2, n - 1] {
                    for w in [m, n, n + m / 4, n + m / 2] {
                        check_low(&a, &b[..m], w, path, thresholds);
                        check_low(&ones[..m], &ones, w, path, thresholds);
                    }
                }
            }
        }
    }
}

/// Schoolbook is checked alone, far above the lengths at which Karatsuba's method would split, and
/// around the limbs that one pass of a row takes. Nothing is written beside the product.
#[test]
fn schoolbook_is_exact_at_every_length() {
    let mut random = Random(8);
    let thresholds = Thresholds {
        karatsuba: usize::MAX,
        toom3: usize::MAX,
        toom4: usize::MAX,
        transform: usize::MAX,
    };
    for path in Path::ALL {
        for n in 1..=140 {
            let (a, ones) = (random.runs(n), vec![u64::MAX; n]);
            let mut pairs = vec![(a.clone(), a.clone(), true), (ones.clone(), ones, true)];
            for m in [1, 2, n / 2, n - n.min(1), n]
                .into_iter()
                .filter(|&m| m > 0)
            {
                pairs.push((a.clone(), random.limbs(m), false));
                pairs.push((vec![u64::MAX; n], vec![u64::MAX; m], false));
            }
            for (a, b, is_square) in pairs {
                let b = if is_square { &a } else { &b };
                let mut r = vec![0x5555; a.len() + b.len() + 8];
                let (product, beside) = r.split_at_mut(a.len() + b.len());
                mul_with(product, &a, b, path, thresholds, false);
                assert!(big(product) == big(&a) * big(b), "{n} limbs on {path:?}");
                assert!(beside.iter().all(|&limb| limb == 0x5555));
            }
        }
    }
}

#[test]
fn squares_of_every_length_below_the_transform_are_exact() {
    let mut random = Random(5);
    for path in Path::ALL {
        for n in 1..=300 {
            let (a, ones) = (random.runs(n), vec![u64::MAX; n]);
            check(&a, &a, path);
            check(&ones, &ones, path);
        }
    }
}

#[test]
fn products_of_adversaries_are_exact() {
    let mut random = Random(2);
    for path in Path::ALL {
        for n in [
            1, 2, 4, 5, 6, 8, 13, 16, 31, 32, 33, 63, 64, 65, 96, 97, 128, 129, 200, 257,
        ] {
            let numbers = adversaries(n, &mut random);
            for a in &numbers {
                check(a, a, path);
                for b in &numbers {
                    check(a, b, path);
                }
            }
        }
    }
}

#[test]
fn unbalanced_products_are_exact() {
    let mut random = Random(3);
    for path in Path::ALL {
        for (n, m) in [
            (1000, 1),
            (1000, 7),
            (999, 33),
            (1000, 100),
            (700, 333),
            (500, 499),
            (1300, 129),
        ] {
            check(&random.limbs(n), &random.runs(m), path);
            check(&random.runs(m), &random.limbs(n), path);
            check(&vec![u64::MAX; n], &vec![u64::MAX; m], path);
        }
    }
}

#[track_caller]
fn check_transform(a: &[u64], b: &[u64], path: Path, parallel: bool) {
    let mut r = vec![0x5555_5555_5555_5555; a.len() + b.len()];
    super::transform::mul(&mut r, a, b, super::isa::Isa::of(path), parallel);
    assert!(
        big(&r) == big(a) * big(b),
        "{} x {} limbs by transform on {path:?}",
        a.len(),
        b.len()
    );
}

#[test]
fn transforms_of_short_lengths_are_exact() {
    let mut random = Random(4);
    for path in Path::ALL {
        for n in 1..=150 {
            check_transform(&random.limbs(n), &random.runs(n), path, false);
            check_transform(&vec![u64::MAX; n], &vec![u64::MAX; n], path, false);
        }
        for n in [1, 5, 44, 64, 127, 250] {
            let numbers = adversaries(n, &mut random);
            for a in &numbers {
                check_transform(a, a, path, false);
                for b in &numbers {
                    check_transform(a, b, path, true);
                }
            }
        }
    }
}

#[test]
fn thresholds_change_no_product() {
    let mut random = Random(6);
    let (a, b) = (random.limbs(170), random.runs(150));
    for path in Path::ALL {
        for karatsuba in [0, 2, 3, 10, 1000] {
            for (toom3, toom4, transform) in [
                (0, 1000, 1000),
                (0, 0, 1000),
                (40, 100, 1000),
                (1000, 50, 1000),
                (1000, 1000, 1000),
                (100, 0, 80),
                (0, 0, 0),
            ] {
                let thresholds = Thresholds {
                    karatsuba,
                    toom3,
                    toom4,
                    transform,
                };
                let mut r = vec![0x5555; 320];
                mul_with(&mut r, &a, &b, path, thresholds, false);
                assert!(big(&r) == big(&a) * big(&b), "{thresholds:?} on {path:?}");
            }
        }
    }
}

/// Checks operands of every length from 5 limbs on, by Karatsuba's method from 5 limbs on, and by
/// more parts from the shortest lengths that have them.
fn check_splitting(toom3: usize, toom4: usize, longest: usize) {
    let mut random = Random(7);
    let thresholds = Thresholds {
        karatsuba: 5,
        toom3,
        toom4,
        transform: usize::MAX,
    };
    for n in 5..=longest {
        let numbers = match n % 10 {
            0 => adversaries(n, &mut random),
            _ => vec![random.limbs(n), random.runs(n), vec![u64::MAX; n]],
        };
        for a in &numbers {
            for b in &numbers {
                let mut r = vec![0x5555; 2 * n];
                mul_with(&mut r, a, b, Path::Portable, thresholds, false);
                assert!(big(&r) == big(a) * big(b), "{n} limbs");
            }
        }
    }
}

#[test]
fn splitting_in_three_is_exact_at_every_length() {
    check_splitting(0, usize::MAX, 160);
}

#[test]
fn splitting_in_four_is_exact_at_every_length() {
    check_splitting(usize::MAX, 0, 280);
    check_splitting(0, 60, 260);
}
