//! Trial factoring of `2^p - 1`: the numbers that are tried, the sieve and the test, in the form
//! shared by host and device.
//!
//! **Maths.** Let `p` be an odd prime. A prime factor `q` of `2^p - 1` is `2 k p + 1`, as 2 has the
//! order `p` modulo `q`. It is 1 or 7 modulo 8, as `2^(p+1)` is a square and equals 2 modulo `q`.
//! Whether `q` is 1 or 7 modulo 8 and no multiple of 3, 5, 7 or 11 depends on `k` modulo
//! [`MODULUS`] = `4 3 5 7 11`. It holds for 960 residues of `k`, the classes. A class is cut into
//! segments of [`SEGMENT`] candidates. Segment `g` of the range is segment `g / classes` of class
//! `g % classes`, so that factors are found nearly in the order of their size.
//!
//! **Sieve.** The candidates of a segment are `q + j d` with `d = 2 p MODULUS`. A prime `r` divides
//! the one with `j = -q / d mod r` and every `r`-th after it. The sieve has a bit for each
//! candidate. The primes below 2^19 leave a fifth of the candidates.
//!
//! **Test.** `q` divides `2^p - 1` if `2^p mod q` is 1. Montgomery's square `x x / R mod q` with
//! `R = 2^w` takes `x = 2^a` to `2^(2a - w)`: it doubles `b = w - a`. The first `x` is `2^a` with
//! `a` between 0 and `w`, for which no division is needed. Each step doubles `b`, and subtracts 1
//! from it if it also doubles `x` ([`Powers`]). When `b` is `p + w`, `x` is `2^-p`. If
//! `q < R / 16`, no step subtracts `q`: `x < 4 q` leads to `x x / R + q < 2 q`, and twice that is
//! below `4 q` again.
//!
//! By hand, with `p = 11` and `w = 5`: `a` is 1 at first, and `b` goes from 4 to 8 to 16 = `p + w`.
//! Modulo 23, `R = 32` is 9. The squares take `2^1` to `4 / 9 = 3`, as `3 9 = 27 = 4`, and 3 to
//! `9 / 9 = 1`. So 23 divides 2047.

use crate::Limb;
use crate::kernel::EntryPoint;

/// The modulus of the classes of `k`, `4 3 5 7 11`.
pub const MODULUS: u32 = 4620;

/// The candidates of a segment. The last segment of a class may have fewer.
pub const SEGMENT: u32 = 1 << 18;

/// The greatest exponent of a range's upper bound `2^to`.
pub const MOST_BITS: u32 = 95;

/// The PTX module that has the kernel.
pub const TRIAL_MODULE: &str = "trial";

/// The kernel of trial factoring. A block has a segment, sieves it in its shared memory, and tests
/// the candidates that are left.
pub const TRIAL: EntryPoint = EntryPoint {
    name: "trial_factors",
    module: TRIAL_MODULE,
};

/// The threads of a block.
pub const THREADS: u32 = 128;

/// The shared memory of a block, in bytes: a bit for each candidate, and the index of the next word
/// to be tested.
pub const SHARED_BYTES: u32 = SEGMENT / 8 + 4;

/// The bound below which the strokes of a prime are shared by a warp. A greater prime has at most
/// 32 strokes in a segment, and is left to a thread.
pub const WIDE: u32 = SEGMENT / 32;

/// The bits of `R` on a device.
pub const DEVICE_BITS: u32 = 96;

/// The greatest exponent of a range's upper bound for which a device's squares need no
/// subtractions.
pub const LAZY_BITS: u32 = DEVICE_BITS - 4;

/// The most segments of one launch, so that their indices, and the part of `k` within a launch, are
/// short numbers.
pub const MOST_SEGMENTS: u32 = 1 << 20;

/// The one parameter of the kernel, passed by value. Addresses are in device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialArguments {
    /// The address of four limbs for each prime of the sieve, in ascending order: those of
    /// [`Candidates::stroke`].
    pub primes: u64,
    /// The address of a limb for each class: `k` modulo [`MODULUS`].
    pub classes: u64,
    /// The address of the findings: two limbs, the first of which is zero at launch and counts the
    /// factors found; then a pair of limbs for each of them, its segment of the launch and its bit
    /// there.
    pub found: u64,
    /// `2 k p + 1` in 96 bits, where `k + c` is the least multiplier of the launch's first segment
    /// and `c` is that segment's class.
    pub base: [Limb; 4],
    /// The number `2 p`.
    pub twice: u64,
    /// The candidates of each class from `base` on.
    pub candidates: u64,
    /// The class of the first segment.
    pub first: u32,
    /// The number of classes.
    pub class_count: u32,
    /// The number of primes.
    pub prime_count: u32,
    /// The number of primes that are below [`WIDE`].
    pub wide_count: u32,
    /// The squares and doublings of the test.
    pub powers: Powers,
    /// Whether `q` may have more than [`LAZY_BITS`] bits.
    pub is_strict: u32,
    /// The number of findings for which there is room.
    pub room: u32,
    /// The segments of the launch.
    pub segments: u32,
}

impl TrialArguments {
    /// The stretches of device memory that the kernel touches: their addresses and their lengths in
    /// limbs.
    pub const fn stretches(&self) -> [(u64, u64); 3] {
        [
            (self.primes, 4 * self.prime_count as u64),
            (self.classes, self.class_count as u64),
            (self.found, 2 + 2 * self.room as u64),
        ]
    }
}

/// The chain of squares and doublings that leads to `2^-p`, with `R` of `w` bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Powers {
    /// The exponent of the power of two with which the chain begins, from 1 to `w / 2`.
    pub start: u32,
    /// The number of squares.
    pub squares: u32,
    /// The doublings. Bit `i` is zero if `x` is doubled after the square that `i` more follow.
    pub pattern: u32,
}

impl Powers {
    /// The squares and doublings that lead to `2^-p`, for an odd prime `p` and an `R` of `bits`
    /// bits, at least 64.
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

    /// Whether `x` is doubled after the square that `left` more follow.
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
    /// The candidates for an odd prime `p`. It is `None` if the range is empty, contains 1, goes
    /// above [`MOST_BITS`], or may have `2^64` segments.
    pub const fn new(p: u32, from: u32, to: u32) -> Option<Self> {
        let candidates = Candidates { p, from, to };
        let is_right = from > 0 && from < to && to <= MOST_BITS && p % 2 == 1 && p > 1;
        // There are at most 1440 classes, as many as for `p = 3`.
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

    /// Whether the range contains `q`, and `q` is not `2^p - 1` itself.
    pub const fn contains(&self, q: u128) -> bool {
        q >> self.from > 0 && q >> self.to == 0 && (self.p > 127 || q + 1 != 1 << self.p)
    }

    const fn twice(&self) -> u128 {
        2 * self.p as u128
    }

    /// The least `k` of the range, and the least one above the range.
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

    /// The number of candidates of each class.
    pub const fn each(&self) -> u128 {
        let [least, end] = self.ends();
        match least < end {
            true => (end - self.first()).div_ceil(MODULUS as u128),
            false => 0,
        }
    }

    /// Whether the class of `k` modulo [`MODULUS`] can contain factors.
    pub const fn is_class(&self, k: u32) -> bool {
        let q = (self.twice() * k as u128 + 1) as u64;
        let is_square = q % 8 == 1 || q % 8 == 7;
        let [three, five] = [q.is_multiple_of(3), q.is_multiple_of(5)];
        is_square && !three && !five && !q.is_multiple_of(7) && !q.is_multiple_of(11)
    }

    /// The classes that can contain factors, in ascending order.
    pub fn classes(&self) -> impl Iterator<Item = u32> {
        let this = *self;
        (0..MODULUS).filter(move |&k| this.is_class(k))
    }

    /// The first candidate of a segment of a class, and the number of its candidates.
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

    /// The difference `d` between a candidate and the next one of its class.
    pub const fn step(&self) -> u128 {
        self.twice() * MODULUS as u128
    }

    /// The constants of the sieve for a prime `r` below `2^31`, which [`first_stroke`] takes: `r`,
    /// `-1 / r mod B`, and `-B^4 / d mod r`, where `B = 2^32`. It is `None` if no candidate is a
    /// multiple of `r`, or if one may be `r` itself.
    pub const fn stroke(&self, r: u32) -> Option<[Limb; 4]> {
        if self.step().is_multiple_of(r as u128) || (r as u128) >> self.from > 0 {
            return None;
        }
        let r = r as u64;
        let fourth = {
            let square = (1 << 32) % r * ((1 << 32) % r) % r;
            square * square % r
        };
        // `1 / d` is `d^(r - 2)` by Fermat.
        let (mut power, mut square, mut left) = (1, (self.step() % r as u128) as u64, r - 2);
        while left > 0 {
            if left % 2 == 1 {
                power = power * square % r;
            }
            (square, left) = (square * square % r, left / 2);
        }
        let negative = (r - power) * fourth % r;
        // Newton's method. It begins with `r`, as an odd number is its own inverse modulo 8.
        let (low, mut inverse, mut bits) = (r as Limb, r as Limb, 3);
        while bits < Limb::BITS {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(low.wrapping_mul(inverse)));
            bits *= 2;
        }
        Some([low, inverse.wrapping_neg(), negative as Limb, 0])
    }
}

/// The least `j` for which `q + j d` is a multiple of `r`, from the limbs of `q` and the
/// [constants](Candidates::stroke) of `r`.
///
/// `(v + (v (-1/r) mod B) r) / B` is `v / B` modulo `r`, and below `r + 1` if `v < r B`. Three such
/// steps, each of which first adds a limb of `q`, lead to `q / B^3`, below `r + 2`. Its product
/// with the constant, divided by `B` once more, is `j`.
#[inline(always)]
pub const fn first_stroke(q: [Limb; 3], [r, inverse, factor, _]: [Limb; 4]) -> Limb {
    let mut t = reduced(q[0] as u64, r, inverse);
    t = reduced(t + q[1] as u64, r, inverse);
    t = reduced(t + q[2] as u64, r, inverse);
    let j = reduced(t * factor as u64, r, inverse) as Limb;
    if j < r { j } else { j - r }
}

/// A number that is `v / B` modulo `r`. It may be up to `r` greater than the residue.
#[inline(always)]
const fn reduced(v: u64, r: Limb, inverse: Limb) -> u64 {
    let multiple = (v as Limb).wrapping_mul(inverse) as u64 * r as u64;
    // The low limbs are the negatives of each other, so they carry unless they are zero.
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
