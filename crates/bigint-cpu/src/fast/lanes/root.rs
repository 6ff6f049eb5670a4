//! Square roots and their remainders, one number in each lane: digit by digit, in 52-bit digits.
//!
//! A number is shifted up by an even number of bits so that its root `s` of `n` digits is at least
//! `B^n / 4` and less than `B^n / 2`, and `2 s` has `n` digits. Let `S` be the upper `k` digits of
//! the root, and `R` the remainder: the upper `2 k` digits of the number less `S^2`. The next digit
//! `q` and the new remainder are
//!
//! ```text
//! q = floor or one less of R' / (2 S B + q),    R' - q (2 S B + q),    R' = R B^2 + two digits more
//! ```
//!
//! So a row is one of [`division`](super::division) by a divisor that grows. The digits of the
//! divisor are those of `2 S`, and below them `q` itself. A new digit of `2 S` carries into the
//! digit before it and no further, as that digit is even. The first digit of the root is computed
//! in doubles and corrected. The second one is computed twice, as the divisor depends on `q` in its
//! upper two digits. From then on the reciprocal of the upper two digits of `2 S` serves all rows.
//!
//! An example in decimal (1234 is not shifted there): the root of 12 is 3, and 3 is left. 33 / 6
//! gives the digit 5, and 334 - 5 * 65 = 9. So 1234 = 35^2 + 9.
//!
//! The shift by `2 c` bits is undone in the end. With `f` the lower `c` bits of `s`, the root of
//! the number itself is `(s - f) / 2^c`, and its remainder is `(R + f (2 s - f)) / 2^2c`.
//!
//! A lane is left to the functions for single numbers if a digit would be `B` or more, or if
//! carries that are not propagated yet change a digit. This happens once in `2^40` digits, if the
//! numbers were not chosen for it. They also compute roots that are shorter than the longest of a
//! group by a digit.
//!
//! Cost: `n^2` multiply-adds for eight numbers.

use core::arch::x86_64::__m512i;

use bigint_core::LIMB_BITS;

use super::avx512::Avx512;
use super::digits::{digits_of_bits, digits_of_blocks};
use super::reciprocal::{
    MASK, Reciprocal, lanes, lengths, move_down, move_up, released, shift_down, shift_up, take_off,
};
use super::transfer::{load, store};
use super::vector::{BLOCK, BLOCK_WORDS, DIGIT_BITS, Vector};
use crate::Numbers;
use crate::piece::Piece;

/// The most digits of a root. Columns stay within a signed word, as in
/// [`division`](super::division).
const MOST_DIGITS: usize = 500;

/// The bits of a number for each digit of its root.
const PAIR: usize = 2 * DIGIT_BITS as usize;

/// Computes the roots of the numbers from `first` on, and stores roots and remainders from `i` on.
/// Returns the lanes whose results are right.
pub(super) fn isqrt(
    isa: Avx512,
    [root, rest]: [&mut Piece<'_>; 2],
    i: usize,
    first: usize,
    a: Numbers<'_>,
) -> u8 {
    let width = a.shape().width;
    let most = (LIMB_BITS * width + 2).div_ceil(PAIR);
    if width == 0 || most > MOST_DIGITS {
        return 0;
    }
    let digits = digits_of_bits(LIMB_BITS * width);
    let blocks = width.max(root.width).max(rest.width).div_ceil(BLOCK);
    let of_blocks = |width: usize| digits_of_blocks(width.div_ceil(BLOCK));
    let of_u = (2 * most + 1).max(of_blocks(width.max(rest.width)));
    let of_root = most.max(of_blocks(root.width));
    let total = of_u + of_root + most + 1 + BLOCK_WORDS * blocks;
    isa.with_scratch(total, |memory| {
        let (u, memory) = memory.split_at_mut(of_u);
        let (s, memory) = memory.split_at_mut(of_root);
        let (c, words) = memory.split_at_mut(most + 1);
        isa.vectorize(
            #[inline(always)]
            || {
                load(isa, a, width, first, u, words);
                u[digits..].fill(isa.splat(0));
                s.fill(isa.splat(0));
                c.fill(isa.splat(0));
                let whole = take(isa, s, u, c, digits);
                if whole > 0 {
                    store(isa, s, root, i, words);
                    store(isa, u, rest, i, words);
                }
                whole
            },
        )
    })
}

/// Sets `s` to the root of `u`, which has `digits` digits, and `u` to its remainder. Returns the
/// lanes whose results are right.
#[inline(always)]
fn take(isa: Avx512, s: &mut [__m512i], u: &mut [__m512i], c: &mut [__m512i], digits: usize) -> u8 {
    let (zero, mask) = (isa.splat(0), isa.splat(MASK));
    let [length, top] = lengths(isa, &mut u[..digits]);
    let places = lanes(isa.exponent(top));
    let mut bits = lanes(length);
    for (bits, place) in bits.iter_mut().zip(places).filter(|(bits, _)| **bits > 0) {
        *bits = (*bits - 1) * u64::from(DIGIT_BITS) + place - 1022;
    }
    let longest = bits.into_iter().max().unwrap_or(0) as usize;
    let n = (longest + 2).div_ceil(PAIR);
    let mut whole = 0;
    let mut shifts = [0; Avx512::LANES];
    for (l, shift) in shifts.iter_mut().enumerate() {
        let spare = PAIR * n - 2 - bits[l] as usize;
        if bits[l] > 0 && spare < PAIR {
            *shift = spare as u64 & !1;
            whole |= 1 << l;
        }
    }
    let moved = shifts.map(|shift| shift / u64::from(DIGIT_BITS));
    let by: __m512i = bytemuck::cast(shifts.map(|shift| shift % u64::from(DIGIT_BITS)));
    shift_up(isa, &mut u[..2 * n], isa.shift_left_each(isa.splat(1), by));
    move_up(&mut u[..2 * n], &moved);

    let (first, rest) = of_pair(isa, u[2 * n - 1], u[2 * n - 2]);
    s[n - 1] = first;
    let twice = isa.add(first, first);
    c[n] = isa.sub(mask, twice);
    let mut top = [rest, zero];
    let mut reciprocal = Reciprocal::new(isa, twice, zero);
    for k in 1..n {
        let low = 2 * (n - k - 1);
        if k == 1 {
            top[1] = u[low + 1];
            let q = reciprocal.quotient(top[0], top[1]);
            let q = isa.select(isa.test(q, !MASK), mask, q);
            reciprocal = Reciprocal::new(isa, twice, q);
        }
        top = released(isa, top);
        let q = reciprocal.quotient(top[0], top[1]);
        whole &= !isa.test(isa.or(q, top[0]), !MASK);
        s[n - 1 - k] = q;
        // q and B^(k+1) - 1 less the divisor are the divisor's complement.
        c[n - k] = isa.sub(mask, isa.and(q, mask));
        u[low] = isa.add(u[low], q);
        top = take_off(isa, &mut u[low..=low + k], &c[n - k - 1..], q, top);
        let twice = isa.add(q, q);
        c[n - k] = isa.sub(mask, isa.and(twice, mask));
        c[n - k + 1] = isa.sub(c[n - k + 1], isa.shift_right(twice, DIGIT_BITS));
        if k == 1 {
            let digit = |c: __m512i| isa.sub(mask, c);
            reciprocal = Reciprocal::new(isa, digit(c[n]), digit(c[n - 1]));
        }
    }
    u[n - 1] = top[0];
    if n > 1 {
        u[n - 2] = top[1];
    }
    let by_half: __m512i = bytemuck::cast(shifts.map(|shift| shift / 2));
    whole &= own_rest(isa, &mut u[..=n], &mut c[1..=n], s[0], by_half);
    shift_down(isa, &mut s[..n], by_half);
    move_down(&mut u[..=n], &moved);
    shift_down(isa, &mut u[..=n], by);
    u[n + 1..].fill(zero);
    whole
}

/// The root of a pair of digits below `B^2 / 4`, and its remainder.
///
/// The root in doubles is off by less than 1/2 before it is rounded, so the rounded one may be too
/// large by 1.
#[inline(always)]
fn of_pair(isa: Avx512, high: __m512i, low: __m512i) -> (__m512i, __m512i) {
    let radix = isa.splat_double((MASK + 1) as f64);
    let value = isa.fused(isa.double(high), radix, isa.double(low));
    let root = isa.rounded(isa.root(value));
    let zero = isa.splat(0);
    let low = isa.sub(low, isa.add_low(zero, [root, root]));
    let high = isa.sub(high, isa.add_high(zero, [root, root]));
    let rest = isa.add(isa.shift_left(high, DIGIT_BITS), low);
    let is_negative = isa.test(rest, 1 << 63);
    let more = isa.sub(isa.add(root, root), isa.splat(1));
    (
        isa.sub(root, isa.select(is_negative, isa.splat(1), zero)),
        isa.add(rest, isa.select(is_negative, more, zero)),
    )
}

/// Turns the remainder `u` of the shifted number into that of the number itself, still shifted:
/// `u + f (2 s - f)`, where `f` is the lower `bits` bits of the root. `c` has `B - 1` minus each
/// digit of `2 s`. Returns the lanes in which the remainder `u` is at most `2 s`.
#[inline(always)]
fn own_rest(
    isa: Avx512,
    u: &mut [__m512i],
    c: &mut [__m512i],
    lowest: __m512i,
    bits: __m512i,
) -> u8 {
    let (zero, mask) = (isa.splat(0), isa.splat(MASK));
    let (mut carry, mut borrow) = (zero, zero);
    for (u, c) in u.iter_mut().zip(c.iter_mut()) {
        *c = isa.sub(mask, *c);
        let sum;
        (sum, carry) = isa.carry(*u, carry);
        *u = isa.and(sum, mask);
        borrow = isa.shift_right(isa.sub(isa.sub(*c, *u), borrow), 63);
    }
    let wrong = isa.test(isa.or(carry, borrow), !0);
    let power = isa.shift_left_each(isa.splat(1), bits);
    let f = isa.and(lowest, isa.sub(power, isa.splat(1)));
    let n = c.len();
    u[n] = zero;
    for (i, &digit) in c.iter().enumerate() {
        u[i] = isa.add_low(u[i], [f, digit]);
        u[i + 1] = isa.add_high(u[i + 1], [f, digit]);
    }
    u[0] = isa.sub(u[0], isa.add_low(zero, [f, f]));
    u[1] = isa.sub(u[1], isa.add_high(zero, [f, f]));
    carry = zero;
    for u in u {
        let sum;
        (sum, carry) = isa.carry(*u, carry);
        *u = isa.and(sum, mask);
    }
    !wrong
}
