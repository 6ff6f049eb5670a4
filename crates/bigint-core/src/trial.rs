//! Trial factoring of `2^p - 1`: which numbers are tried, how they are sieved and tested, as host
//! and device agree on it.
//!
//! **Maths.** A prime factor `q` of `2^p - 1`, `p` an odd prime, is `2 k p + 1`, as 2 has the order
//! `p` modulo `q`; and 1 or 7 modulo 8, as `2^(p+1)` is a square, so 2 is one. Of each [`MODULUS`]
//! = `4 3 5 7 11` neighbouring `k` that leaves 960, the same ones: classes, in which `q` is 1 or 7
//! modulo 8 and no multiple of 3, 5, 7 or 11. A class is cut into segments of [`SEGMENT`]
//! candidates; segment `g` is number `g / classes` of class `g % classes`, so that factors come
//! nearly by their size.
//!
//! **Sieve.** The candidates of a segment are `q + j d`, `d = 2 p MODULUS`: a prime `r` divides
//! those with `j = -q / d mod r` and every `r`-th after it. A bit for each candidate; a fifth is
//! left over by the primes below 2^19.
//!
//! **Test.** Whether `2^p mod q` is 1. Montgomery's square `x x / R mod q`, `R = 2^w`, takes `2^a` to
//! `2^(2a - w)`: with `b = w - a`, `b` to `2 b`. From `a` between 0 and `w`, a power that needs no
//! division, `b` grows to `p + w`, doubled at each step, less 1 where `x` is doubled ([`Powers`]):
//! then `x` is `2^-p`. Where `q < R / 16` nothing is subtracted: `x < 4 q` leads to
//! `x x / R + q < 2 q`, and twice that is below `4 q` again.
//!
//! Example, `p = 11`, `w = 5`: `b` goes from 4 to 8 to 16, `a` from 1. Modulo 23, where `R = 32 = 9`,
//! `2^1` becomes `4 / 9 = 3`, as `3 9 = 27 = 4`, and that `9 / 9 = 1`: 23 divides 2047.

use crate::Limb;
use crate::kernel::EntryPoint;

/// `k` goes by classes modulo this, `4 3 5 7 11`.
pub const MODULUS: u32 = 4620;

/// Candidates in a segment, but for the last one of a class.
pub const SEGMENT: u32 = 1 << 18;

/// The greatest exponent of the bound of a range.
pub const MOST_BITS: u32 = 95;

/// The module that has the kernel.
pub const TRIAL_MODULE: &str = "trial";

/// A block has a segment: sieves it in its shared memory, and tests what is left.
pub const TRIAL: EntryPoint = EntryPoint {
    name: "trial_factors",
    module: TRIAL_MODULE,
};

/// Threads in a block.
pub const THREADS: u32 = 128;

/// Shared memory of a block, in bytes: a bit for each candidate, and the next word to be tested.
pub const SHARED_BYTES: u32 = SEGMENT / 8 + 4;

/// Primes below this are a warp's each, others a thread's: 32 strokes or fewer.
pub const WIDE: u32 = SEGMENT / 32;

/// Bits of `R` on a device.
pub const DEVICE_BITS: u32 = 96;

/// Ranges to this many bits need no subtractions there.
pub const LAZY_BITS: u32 = DEVICE_BITS - 4;

/// Segments that one launch has at most: their indices, and `k` in it, are short numbers.
pub const MOST_SEGMENTS: u32 = 1 << 20;

/// The one parameter of the kernel, by value. Addresses are of device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialArguments {
    /// Fours of limbs, one for each prime of the sieve, ascending: [`Candidates::stroke`].
    pub primes: u64,
    /// A limb for each class: `k` modulo [`MODULUS`].
    pub classes: u64,
    /// Two limbs, of which the first counts what was found, zero before; then pairs of a segment of
    /// the launch and a bit of it.
    pub found: u64,
    /// `2 k p + 1` for the least `k` of the first class's first segment of the launch, less the
    /// class: 96 bits.
    pub base: [Limb; 4],
    /// `2 p`.
    pub twice: u64,
    /// Candidates of each class from `base` on.
    pub candidates: u64,
    /// The class of the first segment.
    pub first: u32,
    /// The number of classes.
    pub class_count: u32,
    /// The number of primes.
    pub prime_count: u32,
    /// Primes among them that are below [`WIDE`].
    pub wide_count: u32,
    /// [`Powers`].
    pub powers: Powers,
    /// Whether `q` may have more than [`LAZY_BITS`] bits.
    pub is_strict: u32,
    /// Pairs that there is room for.
    pub room: u32,
    /// Segments of the launch.
    pub segments: u32,
}

impl TrialArguments {
    /// The device memory that the kernel touches: addresses and limbs.
    pub const fn stretches(&self) -> [(u64, u64); 3] {
        [
            (self.primes, 4 * self.prime_count as u64),
            (self.classes, self.class_count as u64),
            (self.found, 2 + 2 * self.room as u64),
        ]
    }
}

/// How `2^-p` comes by squares, with `R` of `w` bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Powers {
    /// The exponent of the power of two to begin with, from 1 to `w / 2`.
    pub start: u32,
    /// Squares.
    pub squares: u32,
    /// Bit `i` is zero where `x` is doubled after the square before the last `i`.
    pub pattern: u32,
}

impl Powers {
    /// The squares and doublings that lead to `2^p`, `p` an odd prime, with `R` of so many bits, 64
    /// or more.
    pub const fn new(p: u32, bits: u32) -> Self {
        // `ceil((p + w) / 2^i)` is `(p + w - 1) / 2^i + 1`, odd where bit 0 of the quotient is 0.
        let less = p as u64 + bits as u64 - 1;
        let mut squares = 0;
        while less >> squares >= bits as u64 - 1 {
            squares += 1;
        }
        Powers {
            start: bits - 1 - (less >> squares) as u32,
            squares,
            pattern: less as u32,
        }
    }

    /// Whether `x` is doubled after a square that so many follow.
    #[inline(always)]
    pub const fn is_doubled(self, left: u32) -> bool {
        self.pattern >> left & 1 == 0
    }
}

/// The candidates for factors `q` of `2^p - 1` in a range, `2^from <= q < 2^to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidates {
    p: u32,
    from: u32,
    to: u32,
}

impl Candidates {
    /// The candidates for an odd prime `p`; `None` where the range is empty, has 1, goes above
    /// [`MOST_BITS`], or has `2^64` segments.
    pub const fn new(p: u32, from: u32, to: u32) -> Option<Self> {
        let candidates = Candidates { p, from, to };
        let is_right = from > 0 && from < to && to <= MOST_BITS && p % 2 == 1 && p > 1;
        // There are 1440 classes at most, of `p = 3`.
        match is_right && candidates.each() / (SEGMENT as u128) < 1 << 53 {
            true => Some(candidates),
            false => None,
        }
    }

    /// The exponent of `2^p - 1`.
    pub const fn p(&self) -> u32 {
        self.p
    }

    /// The exponents of the range's bounds.
    pub const fn bits(&self) -> [u32; 2] {
        [self.from, self.to]
    }

    /// Whether the range has `q`, and `q` is no more than a part of `2^p - 1`.
    pub const fn contains(&self, q: u128) -> bool {
        q >> self.from > 0 && q >> self.to == 0 && (self.p > 127 || q + 1 != 1 << self.p)
    }

    const fn twice(&self) -> u128 {
        2 * self.p as u128
    }

    /// The least `k`, and the first that is not one.
    const fn ends(&self) -> [u128; 2] {
        let least = ((1u128 << self.from) - 1).div_ceil(self.twice());
        let end = ((1u128 << self.to) - 2) / self.twice() + 1;
        [if least == 0 { 1 } else { least }, end]
    }

    /// The least `k` of class 0.
    const fn first(&self) -> u128 {
        let [least, _] = self.ends();
        least - least % MODULUS as u128
    }

    /// Candidates of each class.
    pub const fn each(&self) -> u128 {
        let [least, end] = self.ends();
        match least < end {
            true => (end - self.first()).div_ceil(MODULUS as u128),
            false => 0,
        }
    }

    /// Whether the class with this `k` modulo [`MODULUS`] can have factors.
    pub const fn is_class(&self, k: u32) -> bool {
        let q = (self.twice() * k as u128 + 1) as u64;
        let is_square = q % 8 == 1 || q % 8 == 7;
        let [three, five] = [q.is_multiple_of(3), q.is_multiple_of(5)];
        is_square && !three && !five && !q.is_multiple_of(7) && !q.is_multiple_of(11)
    }

    /// Classes, ascending.
    pub fn classes(&self) -> impl Iterator<Item = u32> {
        let this = *self;
        (0..MODULUS).filter(move |&k| this.is_class(k))
    }

    /// Candidate 0 of a segment of the class of this `k`, and how many it has.
    pub const fn segment(&self, class: u32, segment: u64) -> (u128, u32) {
        let before = segment as u128 * SEGMENT as u128;
        let left = self.each().saturating_sub(before);
        let count = if left < SEGMENT as u128 {
            left as u32
        } else {
            SEGMENT
        };
        let k = self.first() + class as u128 + MODULUS as u128 * before;
        (self.twice() * k + 1, count)
    }

    /// From a candidate to the next one of its class, `d`.
    pub const fn step(&self) -> u128 {
        self.twice() * MODULUS as u128
    }

    /// What the sieve has of a prime `r` below `2^31`: `r`, `-1 / r mod B`, and `-B^4 / d mod r`,
    /// `B = 2^32`, which [`first_stroke`] takes. `None` where no candidate is a multiple of `r`, or
    /// one may be `r` itself.
    pub const fn stroke(&self, r: u32) -> Option<[Limb; 4]> {
        if self.step().is_multiple_of(r as u128) || (r as u128) >> self.from > 0 {
            return None;
        }
        let r = r as u64;
        let fourth = {
            let square = (1 << 32) % r * ((1 << 32) % r) % r;
            square * square % r
        };
        // 1 / d by Fermat.
        let (mut power, mut square, mut left) = (1, (self.step() % r as u128) as u64, r - 2);
        while left > 0 {
            if left % 2 == 1 {
                power = power * square % r;
            }
            (square, left) = (square * square % r, left / 2);
        }
        let negative = (r - power) * fourth % r;
        // Newton; an odd number is its own inverse modulo 8.
        let (low, mut inverse, mut bits) = (r as Limb, r as Limb, 3);
        while bits < Limb::BITS {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(low.wrapping_mul(inverse)));
            bits *= 2;
        }
        Some([low, inverse.wrapping_neg(), negative as Limb, 0])
    }
}

/// The first `j` for which `q + j d` is a multiple of `r`, from the three lower limbs of `q` and
/// [`Candidates::stroke`] of `r`.
///
/// `(v + (v (-1/r) mod B) r) / B` is `v / B` modulo `r`, and below `r + 1` where `v < r B`: with
/// each limb of `q` added once, `q / B^3` comes out, below `r + 2`, and its product with the
/// constant, divided once more, is `j`.
#[inline(always)]
pub const fn first_stroke(q: [Limb; 3], [r, inverse, factor, _]: [Limb; 4]) -> Limb {
    let mut t = reduced(q[0] as u64, r, inverse);
    t = reduced(t + q[1] as u64, r, inverse);
    t = reduced(t + q[2] as u64, r, inverse);
    let j = reduced(t * factor as u64, r, inverse) as Limb;
    if j < r { j } else { j - r }
}

/// `v / B mod r`, up to `r` more.
#[inline(always)]
const fn reduced(v: u64, r: Limb, inverse: Limb) -> u64 {
    let multiple = (v as Limb).wrapping_mul(inverse) as u64 * r as u64;
    // The low limbs are each other's negative.
    (v >> 32) + (multiple >> 32) + (v as Limb != 0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_end_at_minus_p() {
        for bits in [64, 96, 128] {
            for p in [3, 5, 7, 31, 1277, 118_845_473, 332_192_831, 4_294_967_291] {
                let powers = Powers::new(p, bits);
                assert!(powers.start >= 1 && powers.start <= bits / 2 && powers.squares >= 1);
                let mut a = i64::from(powers.start);
                for left in (0..powers.squares).rev() {
                    a = 2 * a - i64::from(bits) + i64::from(powers.is_doubled(left));
                }
                assert_eq!(a, -i64::from(p), "{p} {bits}");
            }
        }
    }

    #[test]
    fn segments_have_every_candidate_once() {
        for (p, from, to) in [
            (11, 1, 12),
            (29, 1, 20),
            (1009, 3, 35),
            (1009, 20, 34),
            (67, 27, 28),
        ] {
            let candidates = Candidates::new(p, from, to).unwrap();
            let mut ours: [u64; 2] = [0; 2];
            for class in candidates.classes() {
                for segment in 0.. {
                    let (mut q, count) = candidates.segment(class, segment);
                    for _ in 0..count {
                        if q >> from > 0 && q >> to == 0 {
                            ours[0] += 1;
                            ours[1] = ours[1].wrapping_add((q * q) as u64);
                        }
                        q += candidates.step();
                    }
                    if count < SEGMENT {
                        break;
                    }
                }
            }
            let mut all: [u64; 2] = [0; 2];
            let mut q = 1 + 2 * u128::from(p);
            while q >> to == 0 {
                let is_left = [3, 5, 7, 11].iter().all(|r| q % r != 0);
                if q >> from > 0 && [1, 7].contains(&(q % 8)) && is_left {
                    all[0] += 1;
                    all[1] = all[1].wrapping_add((q * q) as u64);
                }
                q += 2 * u128::from(p);
            }
            assert_eq!(ours, all, "{p} {from} {to}");
        }
        assert_eq!(
            Candidates::new(1277, 60, 61).unwrap().classes().count(),
            960
        );
    }

    #[test]
    fn strokes_meet_the_multiples_of_their_prime() {
        for p in [13, 1277, 118_845_473, 4_294_967_291] {
            for from in [17, 64] {
                let candidates = Candidates::new(p, from, from + 1).unwrap();
                let (q, _) = candidates.segment(1234, 3);
                let limbs = [q as Limb, (q >> 32) as Limb, (q >> 64) as Limb];
                for r in [13, 17, 101, 65_521, 2_147_483_647] {
                    let Some(stroke) = candidates.stroke(r) else {
                        assert!(r == p || r >> from > 0);
                        continue;
                    };
                    let j = first_stroke(limbs, stroke);
                    assert!(j < r);
                    assert_eq!((q + u128::from(j) * candidates.step()) % u128::from(r), 0);
                }
            }
        }
        let candidates = Candidates::new(1277, 60, 61).unwrap();
        assert_eq!(candidates.stroke(11), None);
        assert_eq!(candidates.stroke(1277), None);
    }

    #[test]
    fn ranges_are_bounded() {
        for (p, from, to) in [
            (1277, 0, 60),
            (1277, 60, 60),
            (1277, 60, 96),
            (4, 1, 2),
            (1, 1, 2),
            (3, 94, 95),
        ] {
            assert_eq!(Candidates::new(p, from, to), None);
        }
        assert!(Candidates::new(118_845_473, 94, 95).is_some());
        let of_31 = Candidates::new(31, 30, 31).unwrap();
        assert!(!of_31.contains((1 << 31) - 1) && of_31.contains((1 << 31) - 3));
    }
}
