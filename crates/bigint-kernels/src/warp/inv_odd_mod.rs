//! Inverses modulo an odd `m` in constant time, by division steps, computed by lanes that share the numbers. Numbers,
//! cofactors and rounds are [those of a thread](crate::thread::inv_odd_mod), but all of them stand in registers: a
//! lane has 18 neighbouring digits of each.
//!
//! # A round
//!
//! All lanes take the same 30 steps from the lowest digits, which lane 0 hands out. Each then adds up its digits times
//! the matrix. The sum of lane `l` is a carry `s` above its digits; its lowest digit `x` goes to the lane below, as
//! dividing by 2^30 moves all digits down by one place:
//!
//! ```text
//! lane l + 1            lane l
//! ... | 17 .. 1 0 | 17 ......... 1 0 |     sums of digits times the matrix
//!               x   s -> s + x is lane l's digit 17
//! ```
//!
//! What `s + x` has above 30 bits is -3 to 3. It is added to the lowest digit of the lane above, where it stays until
//! the next round: digits 1 to 17 are between 0 and 2^30, a lowest digit a little outside. Only the highest digit of
//! all has a sign. No carry goes further than a lane.
//!
//! # Cofactors
//!
//! Without carries the sign of a number is not known. So the multiple of `m` that makes the lowest digit 0 is balanced,
//! between `-2^29 m` and `2^29 m`. A round adds at most `m / 2` to the size of the cofactors, which is then below `2^10 m`
//! or so. At the end a division of `d` by 2^30 modulo `m` brings it to less than `m`: to `m / 2 + 1`, and a little, which
//! suffices as `m` is odd and not 1. To make up for it, the cofactor of `g` is 2^30 at the beginning.
//!
//! Cost: ten multiply-adds for each digit in each round, and in every lane some 450 instructions for the steps and 14
//! shuffles. No scratch.

use super::{Batches, Work};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::registers::afresh;
use crate::gpu::warp::Group;
use crate::gpu::wide::multiply_add_signed as multiply_add;
use crate::montgomery::inverse;
use crate::thread::inv_odd_mod::{MASK, digit};
use bigint_core::kernel::{DIGIT_BITS, DIVSTEP_LANE, divstep_rounds, divsteps as steps};
use bigint_core::{LIMB_BITS, Limb};

/// The digits of a lane.
const DIGITS: usize = DIVSTEP_LANE;

/// The bits of a lane's digits.
const LANE_BITS: u32 = (DIGIT_BITS * DIGITS) as u32;

/// A lane's digits of `N` numbers.
type Digits<const N: usize> = [[i32; N]; DIGITS];

/// The array of `value(0)`, `value(1)` and so on. (A loop, and so `array::from_fn`, would put it into memory.)
#[inline(always)]
fn each<T>(mut value: impl FnMut(usize) -> T) -> [T; DIGITS] {
    macro_rules! all {
        ($($i:literal)*) => { [$(value($i)),*] };
    }
    all!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17)
}

/// Computes the inverses that fall to the calling lane's group.
#[inline(always)]
pub fn divsteps<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        number(work);
    }
}

/// The inverse of the first number modulo the second, cut or extended to the width of the result. If there is none, or
/// the modulus is even, the flag is 1 and the result is zero.
#[inline(always)]
fn number<const LANES: u32, S: Stride>(work: Work<LANES, S>) {
    let Work {
        group,
        r,
        a,
        b: m,
        carry,
        ..
    } = work;
    let lanes = Lanes::of(group);
    let width = a.width().max(m.width()) as usize;
    let place = |j: usize| DIGITS as u32 * group.lane() + j as u32;
    let modulus = each(|j| digit(m, place(j)) as i32);
    let mut both = each(|j| [modulus[j], digit(a, place(j)) as i32]);
    // The cofactor of `g` is 0 if `m` is 1.
    let is_not_one = lanes.differ(modulus, 0);
    let mut cofactors = each(|j| [0, i32::from(is_not_one & (place(j) == 1))]);
    let inverse = inverse(m.limb(0));
    let (mut delta, mut round) = (1, divstep_rounds(width));
    while round > 0 {
        // The lowest 32 bits, from the lowest two digits.
        let [f, g] = [0, 1].map(|i| {
            let lowest = both[0][i] as u32 | (both[1][i] as u32) << DIGIT_BITS;
            group.shuffle(lowest, 0)
        });
        let matrix;
        (delta, matrix) = steps(delta, f, g, afresh);
        let product = |i: usize, [x, y]: [i32; 2], sum: u64| {
            let [u, v] = matrix[i];
            multiply_add(u, x, multiply_add(v, y, sum))
        };
        both = lanes.divided(|j, [f, g]| [product(0, both[j], f), product(1, both[j], g)]);
        let [x, y] = cofactors[0].map(|digit| group.shuffle(digit as Limb, 0) as i32);
        let [k, l] = matrix
            .map(|[u, v]| multiple(u.wrapping_mul(x).wrapping_add(v.wrapping_mul(y)), inverse));
        cofactors = lanes.divided(|j, [d, e]| {
            [
                multiply_add(k, modulus[j], product(0, cofactors[j], d)),
                multiply_add(l, modulus[j], product(1, cofactors[j], e)),
            ]
        });
        round -= 1;
    }

    // `f` is 1 or -1, or there is no inverse.
    let f = lanes.carried(each(|j| both[j][0]));
    let sign = lanes.sign(f);
    let has_none = Limb::from(lanes.differ(f, sign)) | !m.limb(0) & 1;
    let lowest = group.shuffle(cofactors[0][0] as Limb, 0) as i32;
    let k = multiple(lowest, inverse);
    let d = lanes.divided(|j, [sum]: [u64; 1]| {
        let sum = sum.wrapping_add(i64::from(cofactors[j][0]) as u64);
        [multiply_add(k, modulus[j], sum)]
    });
    let d = lanes.carried(each(|j| (d[j][0] ^ sign) - sign));
    let is_negative = lanes.sign(d);
    let d = lanes.carried(each(|j| d[j] + (modulus[j] & is_negative)));
    lanes.store(r, each(|j| d[j] & has_none as i32 - 1));
    carry.set(has_none);
}

/// The multiple of `m`, between `-2^29` and `2^29`, that makes the lowest digit of a sum 0. `inverse` is the inverse of
/// `m` modulo 2^32.
#[inline(always)]
fn multiple(lowest: i32, inverse: Limb) -> i32 {
    let product = (lowest as Limb).wrapping_mul(inverse).wrapping_neg();
    const ABOVE: usize = LIMB_BITS - DIGIT_BITS;
    (product << ABOVE) as i32 >> ABOVE
}

/// The lanes of a number, seen from one of them.
#[derive(Clone, Copy)]
struct Lanes<const LANES: u32> {
    group: Group<LANES>,
    is_top: bool,
}

impl<const LANES: u32> Lanes<LANES> {
    #[inline(always)]
    fn of(group: Group<LANES>) -> Self {
        Lanes {
            group,
            is_top: group.lane() + 1 == group.lanes(),
        }
    }

    /// The value of the lane above, or 0.
    #[inline(always)]
    fn above(self, value: i32) -> i32 {
        let above = self.group.rotate_down(value as Limb) as i32;
        if self.is_top { 0 } else { above }
    }

    /// The value of the lane below, or 0.
    #[inline(always)]
    fn below(self, value: i32) -> i32 {
        let below = self.group.rotate_up(value as Limb, 1) as i32;
        if self.group.lane() == 0 { 0 } else { below }
    }

    /// What a digit keeps of a sum: 30 bits, or all of it if it is the highest digit of all.
    #[inline(always)]
    fn kept(self, j: usize, sum: i64) -> i32 {
        let all = sum as i32;
        if j + 1 == DIGITS && self.is_top {
            all
        } else {
            all & MASK as i32
        }
    }

    /// The numbers that are sums, divided by 2^30. `add` adds the terms at a digit to what comes from the digits below;
    /// in all, the lowest digit is 0.
    #[inline(always)]
    fn divided<const N: usize>(
        self,
        mut add: impl FnMut(usize, [u64; N]) -> [u64; N],
    ) -> Digits<N> {
        let mut sums = [0; N];
        let digits = each(|j| {
            let all = add(j, sums);
            sums = all.map(|sum| (sum as i64 >> DIGIT_BITS) as u64);
            all.map(|sum| (sum as Limb & MASK) as i32)
        });
        let (mut highest, mut over) = (digits[0].map(|lowest| self.above(lowest)), [0; N]);
        for i in 0..N {
            let sum = sums[i] as i64 + i64::from(highest[i]);
            highest[i] = self.kept(DIGITS - 1, sum);
            over[i] = self.below((sum >> DIGIT_BITS) as i32);
        }
        each(|j| match j {
            0 => core::array::from_fn(|i| digits[1][i] + over[i]),
            _ if j + 1 < DIGITS => digits[j + 1],
            _ => highest,
        })
    }

    /// The number with all its carries: every digit but the highest is between 0 and 2^30.
    #[inline(always)]
    fn carried(self, mut digits: [i32; DIGITS]) -> [i32; DIGITS] {
        // A carry passes one lane at a time.
        let mut left = self.group.lanes();
        while left > 0 {
            let mut sum = 0;
            let carried = each(|j| {
                sum = (sum >> DIGIT_BITS) + i64::from(digits[j]);
                self.kept(j, sum)
            });
            let over = self.below((sum >> DIGIT_BITS) as i32);
            digits = each(|j| {
                if j == 0 {
                    carried[0] + over
                } else {
                    carried[j]
                }
            });
            left -= 1;
        }
        digits
    }

    /// -1 if a number with all its carries is negative, else 0.
    #[inline(always)]
    fn sign(self, digits: [i32; DIGITS]) -> i32 {
        let highest = digits[DIGITS - 1] as Limb;
        self.group.shuffle(highest, self.group.lanes() - 1) as i32 >> 31
    }

    /// Whether a number with all its carries differs from 1, or from -1 if `sign` is -1.
    #[inline(always)]
    fn differ(self, digits: [i32; DIGITS], sign: i32) -> bool {
        let mut other = 0;
        each(|j| {
            let is_lowest = j == 0 && self.group.lane() == 0;
            let one = self.kept(j, sign.into()) | i32::from(is_lowest);
            other |= digits[j] ^ one;
        });
        self.group.ballot(other != 0) != 0
    }

    /// Stores a number with all its carries, which is not negative.
    #[inline(always)]
    fn store<S: Stride>(self, r: Number<S>, digits: [i32; DIGITS]) {
        let [next, after] = [0, 1].map(|j| self.above(digits[j]));
        // The digits as limbs, from the lane's lowest bit up; two digits of the lane above fill the highest.
        let limbs = each(|i| {
            let digit = |j: usize| match j {
                _ if j < DIGITS => digits[j],
                DIGITS => next,
                _ => after,
            };
            let (at, bit) = (LIMB_BITS * i / DIGIT_BITS, LIMB_BITS * i % DIGIT_BITS);
            let pair = digit(at) as u64 | (digit(at + 1) as u64) << DIGIT_BITS;
            (pair >> bit) as Limb
        });
        // The limbs of the result that begin among the lane's bits.
        let bits = LIMB_BITS as u32;
        let begin = LANE_BITS * self.group.lane();
        let (first, end) = (begin.div_ceil(bits), (begin + LANE_BITS).div_ceil(bits));
        let shift = bits * first - begin;
        each(|i| {
            let pair = u64::from(limbs[i]) | u64::from(limbs[(i + 1) % DIGITS]) << LIMB_BITS;
            let at = first + i as u32;
            if at < end && at < r.width() {
                r.set(at, (pair >> shift) as Limb);
            }
        });
        // And those above all digits.
        let mut at = (LANE_BITS * self.group.lanes()).div_ceil(bits) + self.group.lane();
        while at < r.width() {
            r.set(at, 0);
            at += self.group.lanes();
        }
    }
}
