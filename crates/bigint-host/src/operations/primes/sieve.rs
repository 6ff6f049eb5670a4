//! The sieve that finds the numbers of an arithmetic progression without small divisors.
//!
//! A prime `p` that does not divide `step` divides those of the numbers `x_i = start + step i`, `i` below some
//! length, with
//!
//! ```text
//! i = -start / step  (mod p)
//! ```
//!
//! If safe primes are wanted, those for which `p` divides `(x_i - 1) / 2` are struck too:
//! `i = (1 - start) / step`. An example: of 101, 103, 105, ... the prime 7 divides the number at
//! `i = -101 / 2 = -3 / 2 = 2` (mod 7), which is 105, and every seventh from there on.
//!
//! The place is a sum of products of the limbs of `start` and `-2^(32 k) / step mod p`, and one division. It is computed
//! for all primes at once, in vectors that the compiler makes.
//!
//! A sieve with the primes up to a bound `B` leaves `2 e^-gamma / ln B` of the odd numbers (Mertens), so a
//! prime `n` is found after `e^-gamma ln n / ln B` powers on average: 36 for 1024 bits and `B` = 2^16. A
//! larger bound pays as long as its greatest prime saves more time of powers than it takes. So `B` grows with
//! the cube of the width, as the time of a power does.

use bigint_core::Limb;
use std::sync::OnceLock;

/// Odd primes below this are known.
const MOST: usize = 1 << 20;

/// Primes whose residues are computed together.
const TOGETHER: usize = 512;

/// Limbs whose products with residues below `MOST` have a sum of 64 bits.
const SUMMED: usize = 1 << 11;

/// Entries that a table may have, and numbers from which on it is worth making.
const TABLE: usize = 1 << 22;
const WORTH_A_TABLE: usize = 4;

/// The odd primes up to a bound, at most all that are known.
pub(super) fn small_primes(bound: usize) -> &'static [u32] {
    static PRIMES: OnceLock<Vec<u32>> = OnceLock::new();
    let primes = PRIMES.get_or_init(|| {
        let odd = odd_primes(MOST);
        odd.collect()
    });
    &primes[..primes.partition_point(|&p| p as usize <= bound)]
}

/// The odd primes below a bound (Eratosthenes).
pub(super) fn odd_primes(bound: usize) -> impl Iterator<Item = u32> {
    // Number i stands for 2 i + 1.
    let mut is_prime = vec![true; bound / 2];
    let mut p = 3;
    while p * p < bound {
        if is_prime[p / 2] {
            is_prime[p * p / 2..]
                .iter_mut()
                .step_by(p)
                .for_each(|x| *x = false);
        }
        p += 2;
    }
    let numbers = is_prime.into_iter().enumerate().skip(1);
    numbers.filter_map(|(i, is_prime)| is_prime.then_some(2 * i as u32 + 1))
}

/// Small primes, and what is left of numbers of a width modulo each, times a factor.
pub(super) struct SmallPrimes {
    pub primes: &'static [u32],
    /// One for each prime, or none where all are 1.
    factors: Vec<u32>,
    /// `2^(32 k)` times the factor, modulo `p`: a row for each limb `k`. Empty where it would be too large, or is not
    /// worth it.
    table: Vec<u32>,
}

impl SmallPrimes {
    /// The primes up to `bound`, for `count` numbers of `width` limbs. Factors are one for each prime, or none.
    pub fn new(bound: usize, width: usize, count: usize, factors: Vec<u32>) -> Self {
        let primes = small_primes(bound);
        let mut table = Vec::new();
        if count >= WORTH_A_TABLE && primes.len() * width <= TABLE {
            let mut row = match factors.is_empty() {
                true => vec![1; primes.len()],
                false => factors.clone(),
            };
            for _ in 0..width {
                table.extend_from_slice(&row);
                for (power, &p) in row.iter_mut().zip(primes) {
                    *power = ((u64::from(*power) << Limb::BITS) % u64::from(p)) as u32;
                }
            }
        }
        SmallPrimes {
            primes,
            factors,
            table,
        }
    }

    /// Gives `take` primes and what is left of a number times the factor modulo each, until it has enough.
    pub fn residues(&self, number: &[Limb], mut take: impl FnMut(usize, &[u64]) -> bool) {
        let count = self.primes.len();
        for (block, primes) in self.primes.chunks(TOGETHER).enumerate() {
            let start = block * TOGETHER;
            let sums = &mut [0_u64; TOGETHER][..primes.len()];
            if self.table.is_empty() {
                for (rest, &p) in sums.iter_mut().zip(primes) {
                    for &limb in number.iter().rev() {
                        *rest = (*rest << Limb::BITS | u64::from(limb)) % u64::from(p);
                    }
                }
                for (rest, &factor) in sums.iter_mut().zip(self.factors.iter().skip(start)) {
                    *rest *= u64::from(factor);
                }
            } else {
                for (k, &limb) in number.iter().enumerate() {
                    let row = &self.table[k * count + start..][..primes.len()];
                    for (sum, &power) in sums.iter_mut().zip(row) {
                        *sum += u64::from(limb) * u64::from(power);
                    }
                    if k % SUMMED == SUMMED - 1 {
                        reduce(sums, primes);
                    }
                }
            }
            reduce(sums, primes);
            if !take(start, sums) {
                return;
            }
        }
    }

    /// Whether one of them divides a number.
    pub fn divide(&self, number: &[Limb]) -> bool {
        let mut divides = false;
        self.residues(number, |_, rests| {
            divides = rests.contains(&0);
            !divides
        });
        divides
    }
}

fn reduce(sums: &mut [u64], primes: &[u32]) {
    for (sum, &p) in sums.iter_mut().zip(primes) {
        *sum %= u64::from(p);
    }
}

/// The primes up to which a progression of numbers of `width` limbs is sieved.
pub(super) fn bound(width: usize) -> usize {
    (2 * width.pow(3)).clamp(1 << 10, MOST)
}

/// The primes that a number by itself is divided by, which strike no other.
pub(super) fn bound_of_one(width: usize) -> usize {
    (4 * width.pow(2)).clamp(1 << 8, 1 << 16)
}

/// Sieves progressions of one step.
pub(super) struct Sieve {
    /// With `-1 / step mod p`, or 1 where `p` divides the step.
    small: SmallPrimes,
    /// `1 / step mod p`, 0 where `p` divides the step.
    inverses: Vec<u32>,
    /// Whether of `x` also `(x - 1) / 2` has no small divisor.
    is_of_safe_primes: bool,
    length: usize,
}

impl Sieve {
    /// For `count` progressions of `length` numbers of at most `width` limbs, above all primes of
    /// the bound, whose step is `step`, or `-step`.
    pub fn new(
        (width, count, length): (usize, usize, usize),
        step: &[Limb],
        descends: bool,
        is_of_safe_primes: bool,
    ) -> Self {
        let mut inverses = Vec::new();
        let small = SmallPrimes::new(bound(width), step.len(), 0, Vec::new());
        small.residues(step, |start, rests| {
            let primes = small.primes[start..].iter();
            inverses.extend(primes.zip(rests).map(|(&p, &rest)| {
                let inverse = inverse(rest as u32, p);
                match descends && inverse > 0 {
                    true => p - inverse,
                    false => inverse,
                }
            }));
            true
        });
        let negative = |(&p, &inverse): (&u32, &u32)| match inverse {
            0 => 1,
            _ => p - inverse,
        };
        let factors = small.primes.iter().zip(&inverses).map(negative).collect();
        Sieve {
            small: SmallPrimes::new(bound(width), width, count, factors),
            inverses,
            is_of_safe_primes,
            length,
        }
    }

    /// The places `i` of a progression whose numbers no prime strikes.
    pub fn survivors(&self, start: &[Limb]) -> Vec<u32> {
        let mut is_left = vec![true; self.length];
        let mut strike = |first: u64, p: u32| {
            let places = is_left.iter_mut().skip(first as usize);
            places.step_by(p as usize).for_each(|place| *place = false);
        };
        let mut none_is_left = false;
        self.small.residues(start, |at, rests| {
            let primes = self.small.primes[at..].iter().zip(&self.inverses[at..]);
            for ((&p, &inverse), &rest) in primes.zip(rests) {
                if inverse == 0 {
                    none_is_left |= rest == 0 || self.is_of_safe_primes && rest == 1;
                    continue;
                }
                strike(rest, p);
                if self.is_of_safe_primes {
                    // (1 - start) / step mod p.
                    let above = rest + u64::from(inverse);
                    strike(above.min(above.wrapping_sub(u64::from(p))), p);
                }
            }
            !none_is_left
        });
        if none_is_left {
            return Vec::new();
        }
        let places = (0..).zip(is_left);
        places
            .filter_map(|(i, is_left)| is_left.then_some(i))
            .collect()
    }
}

/// `1 / a mod p`, 0 of a multiple.
fn inverse(a: u32, p: u32) -> u32 {
    let (mut r, mut s) = ((i64::from(p), i64::from(a % p)), (0, 1));
    if r.1 == 0 {
        return 0;
    }
    while r.1 != 0 {
        let quotient = r.0 / r.1;
        r = (r.1, r.0 - quotient * r.1);
        s = (s.1, s.0 - quotient * s.1);
    }
    s.0.rem_euclid(i64::from(p)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn survivors_are_what_no_small_prime_divides() {
        let one = BigUint::from(1u8);
        let power = |k: u32| BigUint::from(1u8) << k;
        let third: BigUint = (power(200) / 7u8) | &one;
        let starts: [BigUint; 3] = [power(64) + 1u8, power(96) - 1u8, third];
        for step in [2u32, 6, 30, 254, 1 << 20] {
            for start in &starts {
                for (descends, safe, count) in
                    [(false, false, 9), (true, false, 1), (false, true, 9)]
                {
                    let digits = start.to_u32_digits();
                    let sieve = Sieve::new((7, count, 300), &[step], descends, safe);
                    let found = sieve.survivors(&digits);
                    let expected = (0..300u32).filter(|&i| {
                        let x = match descends {
                            false => start + step * i,
                            true => start - step * i,
                        };
                        let small = small_primes(bound(7)).iter();
                        small.copied().all(|p| {
                            let rest = &x % p;
                            rest != BigUint::ZERO && !(safe && rest == one)
                        })
                    });
                    assert!(
                        found.into_iter().eq(expected),
                        "{start} {step} {descends} {safe}"
                    );
                }
            }
        }
    }

    #[test]
    fn residues_are_those_of_num_bigint_with_a_table_and_without() {
        let ones: BigUint = (BigUint::from(1u8) << 70_000u32) - 1u8;
        let number: BigUint = ones / 3u8;
        let digits = number.to_u32_digits();
        for count in [1, 100] {
            for seed in 0..2 {
                // The greatest factors first, then others.
                let factors = small_primes(1500).iter();
                let factors: Vec<u32> = factors.map(|p| p - 1 - seed * 5 % p).collect();
                let small = SmallPrimes::new(1500, digits.len(), count, factors.clone());
                assert_eq!(small.table.is_empty(), count == 1);
                let mut seen = 0;
                small.residues(&digits, |start, rests| {
                    let primes = small.primes[start..].iter().zip(&factors[start..]);
                    for ((p, factor), rest) in primes.zip(rests) {
                        assert_eq!(&number * factor % p, BigUint::from(*rest), "{p}");
                        seen += 1;
                    }
                    true
                });
                assert_eq!(seen, small.primes.len());
            }
            let plain = SmallPrimes::new(1500, digits.len(), count, Vec::new());
            assert_eq!(plain.divide(&digits), {
                let mut small = plain.primes.iter();
                small.any(|p| &number % p == BigUint::ZERO)
            });
        }
    }
}
