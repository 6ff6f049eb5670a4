//! Squares against exact ones, on every path and at lengths of every factor.

use num_bigint::BigUint;

use super::Operand::{Difference, One, Sum};
use super::{Length, Modulus, Weighted};
use crate::Path;

/// The value `by x^2 - minus` modulo `2^p - 1`, by num-bigint.
fn exact(x: &[u64], p: u32, by: u32, minus: u64) -> Vec<u64> {
    let modulus = (BigUint::from(1u32) << p) - 1u32;
    let halves = x
        .iter()
        .flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
    let x_value = BigUint::new(halves.collect());
    let mut limbs = ((&x_value * &x_value * by + &modulus - minus) % modulus).to_u64_digits();
    limbs.resize(x.len(), 0);
    limbs
}

fn random(p: u32, seed: &mut u64) -> Vec<u64> {
    let mut limbs: Vec<u64> = (0..p.div_ceil(64))
        .map(|_| {
            *seed ^= *seed << 13;
            *seed ^= *seed >> 7;
            *seed ^= *seed << 17;
            *seed
        })
        .collect();
    if !p.is_multiple_of(64) {
        *limbs.last_mut().unwrap() &= (1 << (p % 64)) - 1;
    }
    limbs
}

#[test]
fn squares_are_exact_ones_at_every_length_and_on_every_path() {
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    for words in [64, 128, 192, 320, 448, 512, 576, 1024, 1920, 4096, 2688 * 2] {
        let length = Length::of_words(words).unwrap();
        for bits in [9.3, 14.0, 18.9] {
            let p = ((words as f64 * bits) as u32) | 1;
            let ones = vec![u64::MAX; 4];
            for x in [random(p, &mut seed), random(p, &mut seed), ones] {
                let mut expected = x.clone();
                expected.resize(p.div_ceil(64) as usize, 0);
                let mut all: Vec<_> = Path::ALL
                    .into_iter()
                    .map(|path| Weighted::new(p, length, path))
                    .collect();
                all.iter_mut().for_each(|weighted| weighted.set(&x));
                for step in 0..3 {
                    let by = [1, 3, 2][step as usize];
                    expected = exact(&expected, p, by, 2 * step);
                    for weighted in &mut all {
                        assert!(weighted.square(by, 2 * step as u32) < 0.3);
                        assert!(weighted.residue() == expected, "p {p}, {length:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn residues_come_out_as_they_were_set() {
    let mut seed = 7;
    for p in [607, 1279, 8191, 86_243] {
        let length = Length::for_exponent(p).unwrap();
        let mut weighted = Weighted::new(p, length, Path::best());
        let mut ends = [vec![0; p.div_ceil(64) as usize], random(p, &mut 0)];
        // 2^p - 2.
        ends[1] = ends[0].iter().map(|_| u64::MAX).collect();
        *ends[1].last_mut().unwrap() >>= 64 - p % 64;
        ends[1][0] -= 1;
        for x in [random(p, &mut seed), random(p, &mut seed)]
            .iter()
            .chain(&ends)
        {
            weighted.set(x);
            assert_eq!(&weighted.residue(), x, "p {p}");
        }
        // 2^p - 1 is zero.
        ends[1][0] += 1;
        weighted.set(&ends[1]);
        assert_eq!(weighted.residue(), ends[0]);
    }
}

#[test]
fn threads_share_a_square() {
    let p = 400_009;
    let mut seed = 99;
    let x = random(p, &mut seed);
    let [one, four] = [1, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let length = Length::of_words(1 << 15).unwrap();
            let mut weighted = Weighted::new(p, length, Path::best());
            weighted.set(&x);
            (0..20).for_each(|_| assert!(weighted.square(1, 2) < 0.4));
            weighted.residue()
        })
    });
    assert_eq!(one, four);
}

/// The number `k b^n + c`.
fn number(k: u64, base: u32, n: u32, c: i64) -> BigUint {
    let power = BigUint::from(base).pow(n) * k;
    match c < 0 {
        true => power - c.unsigned_abs(),
        false => power + c.unsigned_abs(),
    }
}

/// The number with these limbs.
fn value(limbs: &[u64]) -> BigUint {
    let halves = limbs
        .iter()
        .flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
    BigUint::new(halves.collect())
}

#[test]
fn products_are_exact_ones_at_every_length_and_on_every_path() {
    let mut seed = 0x1234_5678_9abc_def1;
    for words in [64, 128, 192, 320, 448, 512, 576, 1024, 1920, 4096, 2688 * 2] {
        let length = Length::of_words(words).unwrap();
        for bits in [9.3, 14.0, 18.5] {
            let p = ((words as f64 * bits) as u32) | 1;
            let modulus = (BigUint::from(1u32) << p) - 1u32;
            let [x, a, b] = [(); 3].map(|()| random(p, &mut seed));
            for (a, b) in [(&a, &b), (&b, &a), (&vec![0], &vec![1]), (&a, &a)] {
                let product = value(&x) * value(a) % &modulus;
                let difference = (value(a) + &modulus - value(b)) * &product % &modulus;
                let (v, w) = (value(a), value(b));
                for path in Path::ALL {
                    let mut weighted = Weighted::new(p, length, path);
                    let [a, b] = [a, b].map(|factor| {
                        weighted.set(factor);
                        let kept = weighted.keep();
                        // The residue has not changed.
                        assert!(value(&weighted.residue()) == value(factor));
                        kept
                    });
                    weighted.set(&x);
                    assert!(weighted.multiply(&a, None, 0) < 0.3);
                    assert!(value(&weighted.residue()) == product, "p {p}, {length:?}");
                    assert!(weighted.multiply(&a, Some(&b), 0) < 0.4);
                    assert!(
                        value(&weighted.residue()) == difference,
                        "p {p}, {length:?}"
                    );
                    for (sides, product) in [
                        ([One(&a), One(&b)], &v * &w),
                        ([Sum(&a, &b), One(&b)], (&v + &w) * &w),
                        ([One(&a), Difference(&a, &b)], &v * (&v + &modulus - &w)),
                        (
                            [Difference(&b, &a), Sum(&a, &b)],
                            (&w + &modulus - &v) * (&v + &w),
                        ),
                    ] {
                        assert!(weighted.product(sides) < 0.4);
                        let product = product % &modulus;
                        assert!(value(&weighted.residue()) == product, "p {p}, {length:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_taken_off_may_be_at_any_bit() {
    let mut seed = 0xfeed_5eed_0000_0001;
    for words in [64, 192, 640, 1024] {
        let length = Length::of_words(words).unwrap();
        let p = ((words as f64 * 17.3) as u32) | 1;
        let modulus = (BigUint::from(1u32) << p) - 1u32;
        let x = random(p, &mut seed);
        let bits = (0..80).chain((p - 80)..p).chain((80..p - 80).step_by(29));
        for path in Path::ALL {
            let mut weighted = Weighted::new(p, length, path);
            for bit in bits.clone() {
                weighted.set(&x);
                let mut expected = value(&x);
                for _ in 0..2 {
                    assert!(weighted.square_shifted(3, 2, bit) < 0.3);
                    let less = (BigUint::from(2u32) << bit) % &modulus;
                    expected = (&expected * &expected * 3u32 + &modulus - less) % &modulus;
                    assert!(value(&weighted.residue()) == expected, "p {p}, bit {bit}");
                }
            }
        }
    }
}

#[test]
fn squares_and_products_modulo_other_numbers_are_exact_ones() {
    let mut seed = 0x0123_4567_89ab_cdef;
    let mut tested = 0;
    for words in [64, 128, 192, 576, 1024, 4096] {
        let length = Length::of_words(words).unwrap();
        let moduli = [
            (1, 2, 1),
            (1, 3, 1),
            (2, 3, 1),
            (3, 2, 1),
            (9, 2, 1),
            (81, 2, 1),
            (1_000_001, 2, 1),
            (4_294_836_225, 2, 1),
            (4, 5, 1),
            (16, 5, 9),
            (1, 10, 3),
            (6, 10, 7),
            (12_345, 7, 16),
            (1, 22, 19),
        ];
        let both_signs = moduli
            .iter()
            .flat_map(|&(k, base, c)| [(k, base, -c), (k, base, c)]);
        for (k, base, c) in both_signs {
            let less = (k as f64).log2() / 2.0 + if base > 7 { 2.5 } else { 0.5 };
            for bits in [7.0, 12.0, 17.5 - less] {
                let digits = words as f64 * f64::min(bits, 17.5 - less) / f64::from(base).log2();
                let n = (digits - (k as f64).log2() / f64::from(base).log2()) as u32;
                let Some(modulus) = Modulus::new(k, base, n, c) else {
                    continue;
                };
                let number = number(k, base, n, c);
                let (k, n) = (modulus.k, modulus.n);
                let full = |seed: &mut u64| random(number.bits() as u32 - 1, seed);
                let mut all = vec![
                    full(&mut seed),
                    full(&mut seed),
                    (&number - 1u32).to_u64_digits(),
                ];
                // All digits as great as digits are, where there is room for their squares.
                if k < 100 && bits < 13.0 {
                    all.push((&number >> 1u32).to_u64_digits());
                }
                let name = format!("{modulus:?}, {length:?}");
                let power = BigUint::from(base).pow(n) % &number;
                // minus / k is -c b^n minus where c is 1 or -1.
                let minus = |by: u32| if c.abs() == 1 { by } else { 0 };
                let less = |by: u32| {
                    let less = &power * minus(by) % &number;
                    if c < 0 { &number - less } else { less }
                };
                for x in &all {
                    let mut expected = vec![value(x)];
                    for by in [1, 3, 47, 1] {
                        let x = &expected[expected.len() - 1];
                        expected.push((x * x * k * by + less(by)) % &number);
                    }
                    let product = (value(x) * value(&all[0]) * k + less(5)) % &number;
                    for path in Path::ALL {
                        let Some(mut weighted) = Weighted::modulo(modulus, length, path) else {
                            continue;
                        };
                        let is = |weighted: &Weighted, expected: &BigUint| {
                            let (limbs, is_negative) = weighted.signed_residue();
                            let limbs = value(&limbs) % &number;
                            let zero = if is_negative {
                                limbs + expected
                            } else {
                                limbs + &number - expected
                            };
                            zero % &number == BigUint::ZERO
                        };
                        weighted.set(x);
                        assert!(is(&weighted, &expected[0]), "{name}");
                        for (by, expected) in [1, 3, 47, 1].into_iter().zip(&expected[1..]) {
                            let error = weighted.square(by, minus(by));
                            assert!(error < 0.35, "{name}: {error}");
                            assert!(is(&weighted, expected), "{name}");
                        }
                        weighted.set(&all[0]);
                        let factor = weighted.keep();
                        weighted.set(x);
                        let error = weighted.multiply(&factor, None, minus(5));
                        assert!(error < 0.35, "{name}: {error}");
                        assert!(is(&weighted, &product), "{name}");
                        tested += 1;
                    }
                }
            }
        }
    }
    assert!(tested > 2500, "{tested}");
}

#[test]
fn lengths_that_are_chosen_have_small_errors_and_others_are_refused() {
    let mut seed = 42;
    for (k, base, digits, c) in [
        (1, 2, 60_000, -1),
        (3, 2, 60_000, -1),
        (3, 2, 60_000, 1),
        (9, 2, 60_001, -1),
        (10_003, 2, 60_000, -1),
        (10_003, 2, 60_000, 1),
        (2, 3, 60_000, -1),
        (4, 3, 60_000, 1),
        (25, 10, 60_000, -1),
        (1, 100, 60_000, -63),
        (8, 5, 60_000, 3),
    ] {
        let n = (f64::from(digits) / f64::from(base).log2()) as u32;
        let modulus = Modulus::new(k, base, n, c).unwrap();
        let length = modulus.length(None).unwrap();
        let number = number(k, base, n, c);
        let mut weighted = Weighted::modulo(modulus, length, Path::best()).unwrap();
        weighted.set(&random(number.bits() as u32 - 1, &mut seed));
        let worst = (0..100).fold(0.0, |worst: f64, _| worst.max(weighted.square(1, 0)));
        assert!(
            (0.01..0.35).contains(&worst),
            "{modulus:?} {length:?}: {worst}"
        );
        let longer = modulus.length(Some(length)).unwrap();
        assert!(longer.words() > length.words());
    }
    for (k, base, n, c) in [
        (1, 2, 100, -1),
        (1 << 60, 3, 60_000, -1),
        (1, 65_521, 4000, -1),
    ] {
        let modulus = Modulus::new(k, base, n, c).unwrap();
        assert_eq!(modulus.length(None), None, "{modulus:?}");
    }
}

#[test]
fn words_of_one_digit_may_be_longer_as_their_weights_are_one() {
    let mut seed = 77;
    // Generalised Fermat numbers, and 1000^8192 - 1.
    for (base, n, c, words) in [
        (4_000_001, 1024, 1, 1024),
        (2_500_000, 4096, 1, 4096),
        (1000, 8192, -1, 4096),
    ] {
        let modulus = Modulus::new(1, base, n, c).unwrap();
        let length = modulus.length(None).unwrap();
        assert_eq!(length.words(), words, "{modulus:?}");
        let number = number(1, base, n, c);
        let mut weighted = Weighted::modulo(modulus, length, Path::best()).unwrap();
        let limbs = random(number.bits() as u32 - 1, &mut seed);
        weighted.set(&limbs);
        let mut x = value(&limbs);
        for _ in 0..20 {
            assert!(
                (0.001..0.35).contains(&weighted.square(1, 0)),
                "{modulus:?}"
            );
            x = &x * &x % &number;
        }
        let (limbs, is_negative) = weighted.signed_residue();
        let found = value(&limbs) % &number;
        assert!(
            x == if is_negative { number - found } else { found },
            "{modulus:?}"
        );
    }
}
