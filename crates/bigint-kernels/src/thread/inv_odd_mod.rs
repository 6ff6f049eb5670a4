//! Inverses modulo an odd `m` in constant time, by division steps ([`divsteps`]; Bernstein and
//! Yang): `r a = 1` modulo `m`, `0 <= r < m`.
//!
//! Numbers are columns of digits of 30 bits, the top one signed. Rounds of 30 steps begin with
//! `f = m`, `g = a` and their cofactors `d = 0`, `e = 1`, so that `d a = f` and `e a = g` modulo
//! `m`, and a round's matrix goes over all four, cofactors modulo `m`:
//!
//! ```text
//! (f, g) <- (u f + v g, q f + r g) / 2^30          the lowest digit is 0
//! (d, e) <- (u d + v e + k m, q d + r e + l m) / 2^30,   k and l so that it is
//! ```
//!
//! Cofactors stay above `-2 m` and below `m`: `k` counts `m` for negative ones first, and takes
//! less than 2^30 times `m` away then. In the end `f` is the divisor, 1 or -1 where there is
//! an inverse, which then is `d` or `-d`.
//!
//! All digits are read and written in every round, and the rounds depend on widths alone: no
//! branch and no address on numbers.
//!
//! Cost: ten multiply-adds a digit and round, `2.9 n / 30` rounds for `n` bits. Scratch: five
//! numbers.

use super::{Batches, Work};
use crate::gpu::memory::{Any, Number, Stride};
use crate::montgomery::inverse;
use bigint_core::kernel::{DIGIT_BITS, divstep_digits, divstep_rounds, divsteps as steps};
use bigint_core::{LIMB_BITS, Limb};

/// Of a digit's bits all.
const MASK: u32 = (1 << DIGIT_BITS) - 1;

/// The inverses that fall to the calling thread.
#[inline(always)]
pub fn divsteps<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let Work {
            r,
            a,
            b: m,
            scratch,
            ..
        } = work;
        work.carry.set(number(r, a, m, scratch));
    }
}

/// `r` is the inverse of `a`, cut or extended to its width; answers 1, and zero, where there
/// is none, or `m` is even.
#[inline(always)]
fn number<S: Stride>(r: Number<S>, a: Number<S>, m: Number<S>, scratch: Number<Any>) -> Limb {
    let width = a.width().max(m.width());
    let digits = divstep_digits(width as usize) as u32;
    let at = |k: u32| scratch.part(digits * k, digits * (k + 1));
    let (f, g) = (at(0), at(1));
    let (d, e) = (at(2), at(3));
    let modulus = at(4);
    let (mut i, mut is_not_one) = (0, 0);
    while i < digits {
        let of_m = digit(m, i);
        is_not_one |= of_m ^ Limb::from(i == 0);
        modulus.set(i, of_m);
        f.set(i, of_m);
        g.set(i, digit(a, i));
        d.set(i, 0);
        e.set(i, 0);
        i += 1;
    }
    // 1 modulo `m`.
    e.set(0, Limb::from(is_not_one != 0));
    let inverse = inverse(m.limb(0));
    let (mut delta, mut round) = (1, divstep_rounds(width as usize));
    while round > 0 {
        let matrix;
        (delta, matrix) = steps(delta, lowest(f), lowest(g));
        apply([f, g], matrix, digits, None);
        apply([d, e], matrix, digits, Some((modulus, inverse)));
        round -= 1;
    }

    // 1, or -1, whose digits are all ones.
    let sign = f.limb(digits - 1) as i32 >> 31;
    let (mut i, mut other) = (0, !m.limb(0) & 1);
    while i < digits {
        let one = Limb::from(i == 0) & !sign as Limb;
        let ones = if i + 1 < digits { MASK } else { Limb::MAX };
        other |= f.limb(i) ^ (one | sign as Limb & ones);
        i += 1;
    }
    let has_none = (other | other.wrapping_neg()) >> 31;
    settle(d, modulus, digits, sign);
    settle(d, modulus, digits, 0);
    let mut i = 0;
    while i < r.width() {
        r.set(i, limb(d, i) & has_none.wrapping_sub(1));
        i += 1;
    }
    has_none
}

/// The lowest two digits, as far as they fit.
#[inline(always)]
fn lowest(x: Number<Any>) -> u32 {
    x.limb(0) | x.limb(1) << DIGIT_BITS
}

/// A round's matrix times a pair of numbers, divided by 2^30; modulo `m`, whose inverse modulo
/// 2^32 stands beside it, where it is given.
#[inline(always)]
fn apply(
    pair: [Number<Any>; 2],
    [first, second]: [[i32; 2]; 2],
    digits: u32,
    modulus: Option<(Number<Any>, Limb)>,
) {
    let at = |i: u32| pair.map(|number| i64::from(number.limb(i) as i32));
    let sum = |[u, v]: [i32; 2], [x, y]: [i64; 2]| i64::from(u) * x + i64::from(v) * y;
    let of_m = |i: u32| modulus.map_or(0, |(modulus, _)| i64::from(modulus.limb(i) as i32));
    let lowest = at(0);
    let (mut x, mut y) = (sum(first, lowest), sum(second, lowest));
    let (mut k, mut l) = (0, 0);
    if let Some((_, inverse)) = modulus {
        let [of_x, of_y] = at(digits - 1).map(|digit| (digit >> 63) as i32);
        // Those that make negative numbers positive, less what makes the lowest digit 0.
        let multiple = |[u, v]: [i32; 2], lowest: i64| {
            let own = (u & of_x) + (v & of_y);
            let product = (lowest as Limb).wrapping_mul(inverse);
            i64::from(own) - i64::from(product.wrapping_add(own as Limb) & MASK)
        };
        (k, l) = (multiple(first, x), multiple(second, y));
        (x, y) = (x + k * of_m(0), y + l * of_m(0));
    }
    let [to_x, to_y] = pair;
    let mut i = 1;
    while i < digits {
        let (digits_of_pair, of_m) = (at(i), of_m(i));
        x = (x >> DIGIT_BITS) + sum(first, digits_of_pair) + k * of_m;
        y = (y >> DIGIT_BITS) + sum(second, digits_of_pair) + l * of_m;
        to_x.set(i - 1, x as Limb & MASK);
        to_y.set(i - 1, y as Limb & MASK);
        i += 1;
    }
    to_x.set(digits - 1, (x >> DIGIT_BITS) as Limb);
    to_y.set(digits - 1, (y >> DIGIT_BITS) as Limb);
}

/// Adds the modulus to a negative number, and turns the sign then where `sign` is -1.
#[inline(always)]
fn settle(x: Number<Any>, modulus: Number<Any>, digits: u32, sign: i32) {
    let is_negative = x.limb(digits - 1) as i32 >> 31;
    let (mut i, mut carry) = (0, 0);
    while i < digits {
        let digit = x.limb(i) as i32 + (modulus.limb(i) as i32 & is_negative);
        carry += (digit ^ sign) - sign;
        let is_top = i + 1 == digits;
        x.set(
            i,
            if is_top {
                carry as Limb
            } else {
                carry as Limb & MASK
            },
        );
        carry >>= DIGIT_BITS;
        i += 1;
    }
}

/// Digit `i` of a number in limbs.
#[inline(always)]
fn digit<S: Stride>(x: Number<S>, i: u32) -> u32 {
    let bit = DIGIT_BITS as u32 * i;
    let at = bit / LIMB_BITS as u32;
    let pair = u64::from(x.limb(at + 1)) << LIMB_BITS | u64::from(x.limb(at));
    (pair >> (bit % LIMB_BITS as u32)) as u32 & MASK
}

/// Limb `i` of a number in digits, none of which is negative.
#[inline(always)]
fn limb(x: Number<Any>, i: u32) -> Limb {
    let bit = LIMB_BITS as u32 * i;
    let (at, bit) = (bit / DIGIT_BITS as u32, bit % DIGIT_BITS as u32);
    let pair = u64::from(x.limb(at + 1)) << DIGIT_BITS | u64::from(x.limb(at));
    (pair >> bit) as Limb | ((u64::from(x.limb(at + 2)) << (2 * DIGIT_BITS)) >> bit) as Limb
}
