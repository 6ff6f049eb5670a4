//! Trial factoring of `2^p - 1` on all cores. [`bigint_core::trial`] has the maths.
//!
//! A core takes one segment at a time, whose sieve of 32 KB stays in the nearest cache. The
//! candidates that are left are tested four at a time, so that a core multiplies for one while it
//! waits for another. `R` has 64 bits for candidates below 2^60, and 128 bits above.
//!
//! **Cost** of a candidate that is tested: as many squares as `p` has bits, less six. A square
//! takes 3 multiplications below 2^60, and 9 above. **Scratch**: the sieve.

mod modular;
mod split;

pub use bigint_core::trial::{Candidates, MOST_BITS};
pub use split::divisor;

use bigint_core::trial::{Powers, SEGMENT, first_stroke};
use bigint_core::{LIMB_BITS, Limb};
use std::ops::Range;

/// The most bits of a `q` for which `R` has 64.
const NARROW: u32 = 60;

/// The bound of the primes of a sieve. On an H200 candidates are tested faster by 15 % than with
/// the primes below 2^16, and by 5 % than with those below 2^18.
const LIMIT: u32 = 1 << 19;

/// A range of candidates, with the primes that sieve them.
#[derive(Clone, Debug)]
pub struct Trial {
    candidates: Candidates,
    classes: Vec<u32>,
    strokes: Vec<[Limb; 4]>,
}

impl Trial {
    /// The trial division of the candidates, in segments. Longer sieves have more primes, because a
    /// prime above the number of a segment's candidates strikes few of them.
    ///
    /// ```
    /// use bigint_cpu::fast::trial::{Candidates, Trial};
    /// let trial = Trial::new(Candidates::new(67, 1, 28).unwrap());
    /// assert_eq!(trial.divisors(0..trial.segments()), [193_707_721]);
    /// ```
    pub fn new(candidates: Candidates) -> Self {
        let limit = candidates.each().clamp(64, LIMIT.into()) as u32;
        Trial {
            candidates,
            classes: candidates.classes().collect(),
            strokes: odd_primes(limit)
                .filter_map(|r| candidates.stroke(r))
                .collect(),
        }
    }

    /// The range of the candidates.
    pub fn candidates(&self) -> Candidates {
        self.candidates
    }

    /// The `k` modulo [`bigint_core::trial::MODULUS`] of each class.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// The places where each prime of the sieve strikes, as [`Candidates::stroke`] gives them.
    pub fn strokes(&self) -> &[[Limb; 4]] {
        &self.strokes
    }

    /// The number of segments of all classes.
    pub fn segments(&self) -> u64 {
        let each = self.candidates.each().div_ceil(SEGMENT.into()) as u64;
        each * self.classes.len() as u64
    }

    /// The number of candidates in the segments, before they are sieved.
    pub fn count(&self, segments: &Range<u64>) -> u128 {
        // The last segment of a class counts as a whole one, unless it is the only one.
        let each = self.candidates.each().min(SEGMENT.into());
        each * u128::from(segments.end - segments.start)
    }

    /// The candidate at `bit` of a segment.
    pub fn candidate(&self, segment: u64, bit: u32) -> u128 {
        let (first, _) = self.segment(segment);
        first + u128::from(bit) * self.candidates.step()
    }

    fn segment(&self, segment: u64) -> (u128, u32) {
        let classes = self.classes.len() as u64;
        let class = self.classes[(segment % classes) as usize];
        self.candidates.segment(class, segment / classes)
    }

    /// The candidates of the segments that divide `2^p - 1`, in ascending order, without `2^p - 1`
    /// itself, computed on all threads. They include every prime factor in the range, and those
    /// products of factors that no prime of the sieve divides.
    pub fn divisors(&self, segments: Range<u64>) -> Vec<u128> {
        let found = crate::map(segments, usize::MAX, |segment| self.of_segment(segment));
        let mut divisors: Vec<u128> = found.into_iter().flatten().collect();
        divisors.sort_unstable();
        divisors
    }

    fn of_segment(&self, segment: u64) -> Vec<u128> {
        let (first, count) = self.segment(segment);
        let limbs = [0, 1, 2].map(|i| (first >> (i * LIMB_BITS)) as Limb);
        let mut sieve = vec![0u64; count.div_ceil(64) as usize];
        for &stroke in &self.strokes {
            let r = stroke[0];
            let mut at = first_stroke(limbs, stroke);
            while at < count {
                sieve[at as usize / 64] |= 1 << (at % 64);
                at += r;
            }
        }
        let step = self.candidates.step();
        let left = sieve.iter().enumerate().flat_map(|(i, &struck)| {
            let mut left = !struck;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(64 * i as u32 + bit)
            })
        });
        let mut left = left
            .take_while(|&at| at < count)
            .map(|at| first + u128::from(at) * step)
            .filter(|&q| self.candidates.contains(q));
        let p = self.candidates.p();
        let [narrow, wide] = [64, 128].map(|bits| Powers::new(p, bits));
        let mut found = Vec::new();
        while let Some(q) = left.next() {
            // The last four are filled up with one of them.
            let mut four = [q; 4];
            for slot in &mut four[1..] {
                *slot = left.next().unwrap_or(q);
            }
            let divides = match four.iter().all(|q| q >> NARROW == 0) {
                true => modular::narrow(four.map(|q| q as u64), narrow),
                false => modular::wide(four, wide),
            };
            let divisors = four
                .into_iter()
                .zip(divides)
                .filter(|&(_, divides)| divides);
            found.extend(divisors.map(|(q, _)| q));
        }
        found.dedup();
        found
    }
}

/// The odd primes below a limit, by the sieve of Eratosthenes.
fn odd_primes(limit: u32) -> impl Iterator<Item = u32> {
    let mut is_composite = vec![false; limit as usize];
    for r in (3..).step_by(2).take_while(|r| r * r < limit as usize) {
        if !is_composite[r] {
            let multiples = is_composite.iter_mut().skip(r * r).step_by(r);
            multiples.for_each(|place| *place = true);
        }
    }
    let all = (0..).zip(is_composite).skip(3).step_by(2);
    all.filter(|&(_, is_composite)| !is_composite)
        .map(|(r, _)| r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn primes_are_those_that_nothing_divides() {
        let is_prime = |n: &u32| {
            (2..)
                .take_while(|d| d * d <= *n)
                .all(|d| !n.is_multiple_of(d))
        };
        for limit in [0, 3, 4, 9, 10, 2000] {
            let right: Vec<u32> = (3..limit).step_by(2).filter(is_prime).collect();
            assert_eq!(odd_primes(limit).collect::<Vec<_>>(), right);
        }
    }

    /// All divisors in the range, except the number itself.
    fn expected(p: u32, from: u32, to: u32) -> Vec<u128> {
        let number = (BigUint::from(1u8) << p) - 1u8;
        let all = (1..).map(|k| 2 * k * u128::from(p) + 1);
        let in_range = all.take_while(|q| q >> to == 0).filter(|q| q >> from > 0);
        let divides = |q: &u128| &number % BigUint::from(*q) == BigUint::ZERO;
        in_range
            .filter(divides)
            .filter(|&q| BigUint::from(q) != number)
            .collect()
    }

    fn found(p: u32, from: u32, to: u32) -> Vec<u128> {
        let trial = Trial::new(Candidates::new(p, from, to).unwrap());
        trial.divisors(0..trial.segments())
    }

    #[test]
    fn every_prime_factor_below_2_pow_22_is_found() {
        for p in odd_primes(2000) {
            let is_prime = |q: &u128| {
                (3..)
                    .step_by(2)
                    .take_while(|d| d * d <= *q)
                    .all(|d| !q.is_multiple_of(d))
            };
            let primes: Vec<u128> = expected(p, 1, 22).into_iter().filter(is_prime).collect();
            let ours: Vec<u128> = found(p, 1, 22).into_iter().filter(is_prime).collect();
            assert_eq!(ours, primes, "{p}");
        }
    }

    #[test]
    fn known_numbers_are_factored() {
        // Products of two factors are among them: 233 * 1103 is below 2^20.
        assert_eq!(
            found(29, 1, 28),
            [233, 1103, 2089, 256_999, 486_737, 2_304_167]
        );
        assert_eq!(found(11, 1, 20), [23, 89]);
        assert_eq!(found(23, 1, 20), [47, 178_481]);
        assert_eq!(found(37, 29, 30), [616_318_177]);
        assert_eq!(found(41, 27, 28), [164_511_353]);
        for p in [3, 5, 7, 13, 17, 19] {
            assert_eq!(found(p, 1, p + 1), [0; 0], "{p}");
        }
        // The divisor lies at the bounds of a range.
        assert_eq!(found(67, 27, 28), [193_707_721]);
        assert_eq!([found(67, 26, 27), found(67, 28, 29)], [[0; 0]; 2]);
    }

    #[test]
    fn long_factors_are_found_in_their_segments() {
        for (p, q) in [
            (67, 761_838_257_287u128),
            (101, 341_117_531_003_194_129),
            (137, 32_032_215_596_496_435_569),
            (163, 36_230_454_570_129_675_721),
            (83, 57_912_614_113_275_649_087_721),
            (109, 870_035_986_098_720_987_332_873),
        ] {
            let power = BigUint::from(2u8).modpow(&BigUint::from(p), &BigUint::from(q));
            assert_eq!(power, BigUint::from(1u8), "{q} divides 2^{p} - 1");
            let bits = q.ilog2();
            let trial = Trial::new(Candidates::new(p, bits, bits + 1).unwrap());
            let k = (q - 1) / (2 * u128::from(p)) % 4620;
            let class = trial
                .classes()
                .iter()
                .position(|&class| u128::from(class) == k);
            let of_class =
                (q - trial.candidate(class.unwrap() as u64, 0)) / trial.candidates().step();
            let segment = of_class / u128::from(SEGMENT) * trial.classes().len() as u128;
            let segment = segment as u64 + class.unwrap() as u64;
            assert!(segment < trial.segments());
            assert_eq!(trial.divisors(segment..segment + 1), [q]);
        }
    }

    #[test]
    fn powers_are_right_for_moduli_of_every_length() {
        let mut state = 1u128;
        for bits in 3..=95 {
            for p in [3, 89, 1277, 118_845_473, 4_294_967_291] {
                let four = [0, 1, 2, 3].map(|i| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d_1405_7b7e_f767_814f) + 1;
                    let top = 1u128 << (bits - 1);
                    // These are the least, the greatest, and two others.
                    let other = state >> 30 & (top - 1);
                    [top | 1, 2 * top - 1, top | other | 1, top | other | 1][i]
                });
                let right = four.map(|q| {
                    let power = BigUint::from(2u8).modpow(&p.into(), &q.into());
                    power == BigUint::from(1u8)
                });
                assert_eq!(
                    modular::wide(four, Powers::new(p, 128)),
                    right,
                    "{four:?} {p}"
                );
                if bits <= NARROW {
                    let narrow = modular::narrow(four.map(|q| q as u64), Powers::new(p, 64));
                    assert_eq!(narrow, right, "{four:?} {p}");
                }
            }
            // 2 has the order `bits` modulo the greatest, and an even order modulo the least.
            let greatest = (1u128 << bits) - 1;
            if bits % 2 == 1 {
                assert_eq!(
                    modular::wide([greatest; 4], Powers::new(bits, 128)),
                    [true; 4]
                );
            }
        }
    }
}
