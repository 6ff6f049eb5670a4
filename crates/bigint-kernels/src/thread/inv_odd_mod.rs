//! Inverses modulo an odd `m` in constant time, by division steps ([`divsteps`]; [Bernstein and
//! Yang 2019]): `r a = 1` modulo `m` and `0 <= r < m`.
//!
//! Numbers are columns of digits of 30 bits, of which the top one is signed. At first `f = m`,
//! `g = a`, and their cofactors are `d = 0` and `e = 1`, so that `d a = f` and `e a = g` modulo
//! `m`. A round of 30 steps is a matrix, which is applied to all four numbers, to cofactors modulo
//! `m`:
//!
//! ```text
//! (f, g) <- (u f + v g, q f + r g) / 2^30          the lowest digit is 0
//! (d, e) <- (u d + v e + k m, q d + r e + l m) / 2^30,   k and l so that it is
//! ```
//!
//! Cofactors stay above `-2 m` and below `m`: `k` first adds `m` for each negative cofactor, and
//! then subtracts less than 2^30 times `m`. In the end `f` is the greatest common divisor or its
//! negative. If it is 1 or -1, the inverse is `d` or `-d`.
//!
//! All digits are read and written in every round, and the number of rounds depends on widths
//! alone. No branch and no address depends on numbers.
//!
//! Cost: ten multiply-adds for each digit in each round, and `2.9 n / 30` rounds for `n` bits.
//! Scratch: a column of pairs, of `f` beside `g`, then `d` beside `e`, then two digits of `m` to a
//! pair; none if the launch has shared memory for the column.

use super::Batches;
use super::column::{Above, Column, InColumn, digit_of, numbers};
use crate::gpu::memory::{Number, Stride, multiply_add};
use crate::gpu::registers::afresh;
use crate::montgomery::inverse;
use bigint_core::kernel::{
    DIGIT_BITS, divstep_digits, divstep_pairs, divstep_rounds, divsteps as steps,
};
use bigint_core::{LIMB_BITS, Limb};

/// The mask of all bits of a digit.
pub(crate) const MASK: u32 = (1 << DIGIT_BITS) - 1;

/// Computes the inverses that fall to the calling thread.
#[inline(always)]
pub fn divsteps<S: Stride>(batches: Batches<'_, S>) {
    numbers::<Inverse, S>(batches);
}

/// The inverse of the first number modulo the second, cut or extended to the width of the result.
/// If there is none, or the modulus is even, the flag is 1 and the result is zero.
struct Inverse;

impl InColumn for Inverse {
    const HAS_FLAG: bool = true;

    #[inline(always)]
    fn pairs(n: u32, m: u32) -> u32 {
        divstep_pairs(n.max(m) as usize) as u32
    }

    #[inline(always)]
    fn number<S: Stride>([r, a, m]: [Number<S>; 3], column: impl Column, _: u32) -> Limb {
        let width = a.width().max(m.width()) as usize;
        let digits = divstep_digits(width).next_multiple_of(2) as u32;
        let [both, cofactors, modulus] = [0, 1, 2].map(|k| Above {
            column,
            from: k * digits,
        });
        let (mut i, mut is_not_one) = (0, 0);
        while i < digits {
            let of_m = [digit(m, i), digit(m, i + 1)];
            is_not_one |= of_m[0] ^ Limb::from(i == 0) | of_m[1];
            modulus.set_pair(i / 2, of_m.map(|digit| digit as i32));
            for k in 0..2 {
                both.set_pair(i + k, [of_m[k as usize] as i32, digit(a, i + k) as i32]);
                cofactors.set_pair(i + k, [0, 0]);
            }
            i += 2;
        }
        // The cofactor of `g` is 1 modulo `m`, which is 0 if `m` is 1.
        cofactors.set_pair(0, [0, i32::from(is_not_one != 0)]);
        let inverse = inverse(m.limb(0));
        let (mut delta, mut round) = (1, divstep_rounds(width));
        while round > 0 {
            // The lowest 32 bits, from the lowest two digits.
            let (low, high) = (both.pair(0), both.pair(1));
            let lowest = |i: usize| low[i] as u32 | (high[i] as u32) << DIGIT_BITS;
            let matrix;
            (delta, matrix) = steps(delta, lowest(0), lowest(1), afresh);
            apply(both, matrix, digits, [0, 0], None);
            let multiples = multiples(cofactors, matrix, digits, inverse);
            apply(cofactors, matrix, digits, multiples, Some(modulus));
            round -= 1;
        }

        // `f` is compared with 1, and with -1, whose digits are all ones.
        let sign = both.pair(digits - 1)[0] >> 31;
        let (mut i, mut other) = (0, !m.limb(0) & 1);
        while i < digits {
            let one = Limb::from(i == 0) & !sign as Limb;
            let ones = if i + 1 < digits { MASK } else { Limb::MAX };
            other |= both.pair(i)[0] as Limb ^ (one | sign as Limb & ones);
            i += 1;
        }
        let has_none = (other | other.wrapping_neg()) >> 31;
        settle(cofactors, modulus, digits, sign);
        settle(cofactors, modulus, digits, 0);
        let mut i = 0;
        while i < r.width() {
            r.set(i, limb(cofactors, digits, i) & has_none.wrapping_sub(1));
            i += 1;
        }
        has_none
    }
}

/// The multiple of `m` that is added to each row of a round's matrix times the cofactors: `m` for
/// negative cofactors, minus the multiple that makes the lowest digit 0. `inverse` is the inverse
/// of `m` modulo 2^32.
#[inline(always)]
fn multiples(
    cofactors: impl Column,
    matrix: [[i32; 2]; 2],
    digits: u32,
    inverse: Limb,
) -> [i32; 2] {
    let [x, y] = cofactors.pair(0);
    let [of_x, of_y] = cofactors.pair(digits - 1).map(|digit| digit >> 31);
    matrix.map(|[u, v]| {
        let own = (u & of_x) + (v & of_y);
        let lowest = u.wrapping_mul(x).wrapping_add(v.wrapping_mul(y)) as Limb;
        let product = lowest.wrapping_mul(inverse);
        own - (product.wrapping_add(own as Limb) & MASK) as i32
    })
}

/// Replaces a pair of numbers by a round's matrix times the pair, plus `multiples` of the modulus
/// if it is given, divided by 2^30. Two digits are loaded before the two below them are set.
#[inline(always)]
fn apply<C: Column>(
    pair: Above<C>,
    matrix: [[i32; 2]; 2],
    digits: u32,
    multiples: [i32; 2],
    modulus: Option<Above<C>>,
) {
    let two = |i: u32| {
        let of_m = modulus.map_or([0; 2], |modulus| modulus.pair(i / 2));
        ([pair.pair(i), pair.pair(i + 1)], of_m)
    };
    let next = |sums: [i64; 2], [x, y]: [i32; 2], of_m: i32| {
        let row = |sum: i64, [u, v]: [i32; 2], multiple: i32| {
            let above = (sum >> DIGIT_BITS) as u64;
            let sum = multiply_add(u, x, multiply_add(v, y, above));
            match modulus {
                Some(_) => multiply_add(multiple, of_m, sum) as i64,
                None => sum as i64,
            }
        };
        [
            row(sums[0], matrix[0], multiples[0]),
            row(sums[1], matrix[1], multiples[1]),
        ]
    };
    let set =
        |i: u32, sums: [i64; 2]| pair.set_pair(i, sums.map(|sum| (sum as Limb & MASK) as i32));
    let ([low, high], of_m) = two(0);
    let mut sums = next(next([0, 0], low, of_m[0]), high, of_m[1]);
    set(0, sums);
    let mut i = 2;
    let mut loaded = two(if i < digits { i } else { 0 });
    while i < digits {
        let ([low, high], of_m) = loaded;
        loaded = two(if i + 2 < digits { i + 2 } else { i });
        sums = next(sums, low, of_m[0]);
        set(i - 1, sums);
        sums = next(sums, high, of_m[1]);
        set(i, sums);
        i += 2;
    }
    pair.set_pair(digits - 1, sums.map(|sum| (sum >> DIGIT_BITS) as i32));
}

/// Adds the modulus to the first cofactor if that is negative, and then negates it if `sign` is -1.
#[inline(always)]
fn settle<C: Column>(cofactors: Above<C>, modulus: Above<C>, digits: u32, sign: i32) {
    let is_negative = cofactors.pair(digits - 1)[0] >> 31;
    let (mut i, mut carry) = (0, 0);
    while i < digits {
        let [x, y] = cofactors.pair(i);
        let of_m = digit_of(modulus.pair(i / 2), i % 2 == 1);
        carry += (x + (of_m & is_negative) ^ sign) - sign;
        let is_top = i + 1 == digits;
        let digit = if is_top {
            carry
        } else {
            (carry as Limb & MASK) as i32
        };
        cofactors.set_pair(i, [digit, y]);
        carry >>= DIGIT_BITS;
        i += 1;
    }
}

/// Digit `i`, of 30 bits, of a number in limbs.
#[inline(always)]
pub(crate) fn digit<S: Stride>(x: Number<S>, i: u32) -> u32 {
    let bit = DIGIT_BITS as u32 * i;
    let at = bit / LIMB_BITS as u32;
    let pair = u64::from(x.limb(at + 1)) << LIMB_BITS | u64::from(x.limb(at));
    (pair >> (bit % LIMB_BITS as u32)) as u32 & MASK
}

/// Limb `i` of the first cofactor, which is not negative.
#[inline(always)]
fn limb(cofactors: impl Column, digits: u32, i: u32) -> Limb {
    let bit = LIMB_BITS as u32 * i;
    let (at, bit) = (bit / DIGIT_BITS as u32, bit % DIGIT_BITS as u32);
    let digit = |i: u32| match i < digits {
        true => cofactors.pair(i)[0] as u64,
        false => 0,
    };
    let pair = digit(at + 1) << DIGIT_BITS | digit(at);
    (pair >> bit) as Limb | ((digit(at + 2) << (2 * DIGIT_BITS)) >> bit) as Limb
}
