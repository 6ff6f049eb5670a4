//! Reciprocals of two digits, and digits of quotients by them, in lanes.
//!
//! With `B` = 2^52 and a divisor `v` = `v_1 B + v_0` of two digits, `v_1 >= B / 2`, the reciprocal
//! is `V <= B^4 / v - B^2`, less by a few units. Of `h B + m` the quotient by `v / B` is
//!
//! ```text
//! h + (m + h V_1 + (h V_0 + m V_1) / B + ...) / B
//! ```
//!
//! Products are cut before they are added, so that the sum in brackets is short by less than
//! 64: the quotient's digit is the right one, or where the quotient is within `2^-46` above an
//! integer one less. It is never more.
//!
//! In tens, for `v` = 62: 10000 / 62 is 161, so `V` = 61. Of 43 by 6.2 the quotient is 4 + (3 +
//! 24 + (4 + 18) / 10) / 10 = 6.9.

use core::arch::x86_64::__m512i;

use super::avx512::Avx512;
use super::vector::{DIGIT_BITS, Vector};

/// The bits of a digit.
pub(super) const MASK: u64 = (1 << DIGIT_BITS) - 1;

/// `B` as a double.
const RADIX: f64 = (1_u64 << DIGIT_BITS) as f64;

/// More than the lower digit of a reciprocal can be too large by: doubles make a digit from a
/// rest of up to three divisors, right to `2^-50`.
const SLACK: u64 = 48;

/// The digits `V_1`, `V_0`.
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
        // v / B and its reciprocal, relatively right to 2^-51.
        let divisor = isa.fused(isa.double(low), scale, isa.double(high));
        let inverse = isa.over(isa.splat_double(1.0), divisor);
        // The upper digit, less than B where v is a power of two.
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
        // Next to a power of two nothing is left of it.
        let is_negative = isa.test(x, !MASK);
        Reciprocal {
            isa,
            high: isa.select(is_negative, zero, x),
            low: isa.select(is_negative, zero, isa.and(y, mask)),
        }
    }

    /// The quotient's digit of `h B + m`, `h` and `m` digits.
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

/// Takes `q t` off the columns `u`, as many as `t` has digits, and the top above them. `c` is a
/// zero and the digits of `B^d - t`, so that `q c` is added and `q` taken off the top: columns
/// but the top never fall, and gain less than `2 B`. `h` and `m` are the top and the
/// uppermost column, which is not read from `u`; returns the two that follow, of which the
/// first is not in `u` either. At least two digits.
///
/// From above: the next digit can be found while the lower columns are still computed.
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
    // What the top and the column are together fits a digit.
    let h = isa.add(isa.shift_left(top, DIGIT_BITS), column);
    let m = isa.add_high(isa.add_low(u[d - 2], [q, c[d - 1]]), [q, c[d - 2]]);
    for i in (0..d - 2).rev() {
        let column = isa.add_low(u[i], [q, c[i + 1]]);
        u[i] = isa.add_high(column, [q, c[i]]);
    }
    [h, m]
}

/// The top with what the column below carries, and that column's digit.
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

/// The number that all lanes have in common, if they do.
fn same(by: &[u64; Avx512::LANES]) -> Option<usize> {
    let first = by[0];
    by.iter().all(|by| *by == first).then_some(first as usize)
}

/// Shifts digits up by fewer bits than a digit has, in each lane by its own; `powers` are
/// `2^bits`. What goes beyond the last digit is lost; what stands above a digit's bits is
/// left out.
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

/// The length of each lane's number in digits, and its top digit, which is zero for zero. What
/// stands above a digit's bits is cleared.
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
