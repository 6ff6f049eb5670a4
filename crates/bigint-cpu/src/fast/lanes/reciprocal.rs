//! Reciprocals of two digits in each lane, and the digits of quotients that they give.
//!
//! Let `B` = 2^52, and let `v` = `v_1 B + v_0` be a divisor of two digits with `v_1 >= B / 2`. The
//! reciprocal `V` is at most `B^4 / v - B^2`, and less than that by a few units only. The quotient
//! of `h B + m` by `v / B` is
//!
//! ```text
//! h + (m + h V_1 + (h V_0 + m V_1) / B + ...) / B
//! ```
//!
//! Products are cut to integers before they are added, so the sum in brackets is too small by less
//! than 64. So the quotient's digit is right, or, if the quotient is less than `2^-46` above an
//! integer, may be too small by 1. It is never too large.
//!
//! An example in decimal: for `v` = 62, 10000 / 62 is 161, so `V` = 61. The quotient of 43 by 6.2
//! is 4 + (3 + 24 + (4 + 18) / 10) / 10 = 6.9, which gives the digit 6.

use core::arch::x86_64::__m512i;

use super::avx512::Avx512;
use super::vector::{DIGIT_BITS, Vector};

/// The mask of a digit's bits.
pub(super) const MASK: u64 = (1 << DIGIT_BITS) - 1;

/// `B` as a double.
const RADIX: f64 = (1_u64 << DIGIT_BITS) as f64;

/// An upper bound of the error of a reciprocal's lower digit. Doubles compute the digit, with a
/// relative error of `2^-50`, from a remainder of up to three divisors.
const SLACK: u64 = 48;

/// The digits `V_1` and `V_0` of a reciprocal.
#[derive(Clone, Copy)]
pub(super) struct Reciprocal {
    isa: Avx512,
    high: __m512i,
    low: __m512i,
}

impl Reciprocal {
    /// The reciprocal of `high B + low`, where the top bit of the digit `high` is set.
    #[inline(always)]
    pub fn new(isa: Avx512, high: __m512i, low: __m512i) -> Self {
        let zero = isa.splat(0);
        let mask = isa.splat(MASK);
        let radix = isa.splat(MASK + 1);
        let scale = isa.splat_double(1.0 / RADIX);
        // v / B and its reciprocal, with a relative error of at most 2^-51.
        let divisor = isa.fused(isa.double(low), scale, isa.double(high));
        let inverse = isa.over(isa.splat_double(1.0), divisor);
        // The upper digit. It is cut to B - 1 if v is a power of two.
        let quotient = isa.rounded(isa.times(inverse, isa.splat_double(RADIX * RADIX)));
        let x = isa.sub(quotient, radix);
        let x = isa.select(isa.test(x, !MASK), mask, x);
        // B^3 - (B + x) v in units of B, which is a few times v / B, and in units.
        let lowest = isa.add_low(zero, [x, low]);
        let middle = isa.add_low(isa.add_high(low, [x, low]), [x, high]);
        let top = isa.add_high(high, [x, high]);
        let rest = isa.shift_left(isa.sub(radix, top), DIGIT_BITS);
        let rest = isa.double(isa.sub(rest, middle));
        let rest = isa.fused(isa.double(lowest), isa.splat_double(-1.0 / RADIX), rest);
        let y = isa.rounded(isa.times(isa.times(rest, inverse), isa.splat_double(RADIX)));
        let (y, carry) = isa.carry(isa.sub(y, isa.splat(SLACK)), zero);
        let x = isa.add(x, carry);
        // If v is next to a power of two, the slack may make the reciprocal negative.
        let is_negative = isa.test(x, !MASK);
        Reciprocal {
            isa,
            high: isa.select(is_negative, zero, x),
            low: isa.select(is_negative, zero, isa.and(y, mask)),
        }
    }

    /// The digit of the quotient of `h B + m`, where `h` and `m` are digits.
    #[inline(always)]
    pub fn quotient(self, h: __m512i, m: __m512i) -> __m512i {
        let isa = self.isa;
        let zero = isa.splat(0);
        let first = isa.add_low(m, [h, self.high]);
        let second = isa.add_high(zero, [h, self.low]);
        let third = isa.add_high(zero, [m, self.high]);
        let fraction = isa.add(first, isa.add(second, third));
        let whole = isa.add_high(h, [h, self.high]);
        isa.add(whole, isa.shift_right(fraction, DIGIT_BITS))
    }
}

/// Subtracts `q t` from the columns `u`, which are as many as `t` has digits, and from the top
/// above them. `c` is a zero and the digits of `B^d - t`, so `q c` is added to the columns and `q`
/// subtracted from the top. So no column but the top decreases, and each gains less than `2 B`.
/// `h` is the top, and `m` the uppermost column, which is not read from `u`. Returns the next
/// row's top and uppermost column, which are not written to `u`. There are at least two digits.
///
/// Columns are computed from the top down, so that the next digit can be computed while the lower
/// columns still are.
#[inline(always)]
pub(super) fn take_off(
    isa: Avx512,
    u: &mut [__m512i],
    c: &[__m512i],
    q: __m512i,
    [h, m]: [__m512i; 2],
) -> [__m512i; 2] {
    let d = u.len();
    let c = &c[..d + 1];
    let top = isa.add_high(isa.sub(h, q), [q, c[d]]);
    let lower = isa.add_high(isa.splat(0), [q, c[d - 1]]);
    let column = isa.add(isa.add_low(m, [q, c[d]]), lower);
    // The top and the column together fit a digit.
    let h = isa.add(isa.shift_left(top, DIGIT_BITS), column);
    let m = isa.add_high(isa.add_low(u[d - 2], [q, c[d - 1]]), [q, c[d - 2]]);
    for i in (0..d - 2).rev() {
        let column = isa.add_low(u[i], [q, c[i + 1]]);
        u[i] = isa.add_high(column, [q, c[i]]);
    }
    [h, m]
}

/// Moves the carry of the uppermost column to the top. Returns both.
#[inline(always)]
pub(super) fn released(isa: Avx512, [h, m]: [__m512i; 2]) -> [__m512i; 2] {
    let h = isa.add(h, isa.shift_right(m, DIGIT_BITS));
    [h, isa.and(m, isa.splat(MASK))]
}

/// Moves the digits of lane `l` up by `by[l]` places and fills in zeros below.
pub(super) fn move_up(digits: &mut [__m512i], by: &[u64; Avx512::LANES]) {
    let n = digits.len();
    if let Some(all) = same(by) {
        digits.copy_within(..n - all, all);
        return bytemuck::fill_zeroes(&mut digits[..all]);
    }
    let words: &mut [u64] = bytemuck::cast_slice_mut(digits);
    let at = |i: usize, l: usize| i * Avx512::LANES + l;
    for (l, by) in by.map(|by| by as usize).into_iter().enumerate() {
        for i in (by..n).rev() {
            words[at(i, l)] = words[at(i - by, l)];
        }
        (0..by).for_each(|i| words[at(i, l)] = 0);
    }
}

/// The reverse of [`move_up`].
pub(super) fn move_down(digits: &mut [__m512i], by: &[u64; Avx512::LANES]) {
    let n = digits.len();
    if let Some(all) = same(by) {
        digits.copy_within(all.., 0);
        return bytemuck::fill_zeroes(&mut digits[n - all..]);
    }
    let words: &mut [u64] = bytemuck::cast_slice_mut(digits);
    let at = |i: usize, l: usize| i * Avx512::LANES + l;
    for (l, by) in by.map(|by| by as usize).into_iter().enumerate() {
        for i in by..n {
            words[at(i - by, l)] = words[at(i, l)];
        }
        (n - by..n).for_each(|i| words[at(i, l)] = 0);
    }
}

/// The number of all lanes, if it is the same.
fn same(by: &[u64; Avx512::LANES]) -> Option<usize> {
    let first = by[0];
    by.iter().all(|by| *by == first).then_some(first as usize)
}

/// Shifts digits up by fewer bits than a digit has, in each lane by its own count. `powers` are
/// `2^bits`. Bits beyond the last digit are lost, and bits above the 52 of a digit are ignored.
#[inline(always)]
pub(super) fn shift_up(isa: Avx512, digits: &mut [__m512i], powers: __m512i) {
    let zero = isa.splat(0);
    for i in (1..digits.len()).rev() {
        let low = isa.add_low(zero, [digits[i], powers]);
        digits[i] = isa.add_high(low, [digits[i - 1], powers]);
    }
    digits[0] = isa.add_low(zero, [digits[0], powers]);
}

/// Shifts digits down by fewer bits than a digit has.
#[inline(always)]
pub(super) fn shift_down(isa: Avx512, digits: &mut [__m512i], bits: __m512i) {
    let up = isa.sub(isa.splat(DIGIT_BITS.into()), bits);
    let mask = isa.splat(MASK);
    for i in 0..digits.len() {
        let above = digits.get(i + 1).copied().unwrap_or(isa.splat(0));
        let above = isa.and(isa.shift_left_each(above, up), mask);
        digits[i] = isa.or(isa.shift_right_each(digits[i], bits), above);
    }
}

/// The length of each lane's number in digits, and its top digit, which is zero if the number is
/// zero. Clears the bits above the 52 of each digit.
#[inline(always)]
pub(super) fn lengths(isa: Avx512, digits: &mut [__m512i]) -> [__m512i; 2] {
    let (mut length, mut top) = (isa.splat(0), isa.splat(0));
    for (i, digit) in digits.iter_mut().enumerate() {
        *digit = isa.digit(*digit);
        let is_there = isa.test(*digit, MASK);
        length = isa.select(is_there, isa.splat(i as u64 + 1), length);
        top = isa.select(is_there, *digit, top);
    }
    [length, top]
}

/// The words of the lanes.
#[inline(always)]
pub(super) fn lanes(x: __m512i) -> [u64; Avx512::LANES] {
    bytemuck::cast(x)
}
