//! Quotients and remainders, one division in each lane: Knuth's algorithm D in 52-bit digits.
//!
//! Each divisor is shifted up until the top bit of its `d` digits is set, and its dividend by as many digits and
//! bits. A row computes a digit of the quotient in all lanes by a [`Reciprocal`]. It subtracts the digit's product
//! with the divisor from the columns, and does not propagate their carries:
//!
//! ```text
//! q = floor or one less of (h B + m) / v,    u[j..] += q (B^d - v) B^j,    u[j+d] -= q
//! ```
//!
//! The digit is never too large, so the remainder is never negative. A digit is too small once in `2^40` rows, if the
//! numbers were not chosen for it. Then the next digit is `B` or more, or the top is negative if carries that are not
//! propagated yet matter. In both cases [`settle`] propagates the carries and subtracts `v` once more. It does the
//! same after the last row.
//!
//! Bound: a column gains less than `2 B` in each of at most `d` rows, which is less than `2^63` for `d` up to
//! [`MOST_DIGITS`].
//!
//! Cost: `2 d` multiply-adds in a row for eight numbers, and a row for each digit of the longest quotient. Scratch:
//! the operands and the quotient.

use core::arch::x86_64::__m512i;

use bigint_core::LIMB_BITS;

use super::avx512::Avx512;
use super::digits::{digits_of_bits, digits_of_blocks};
use super::reciprocal::{
    MASK, Reciprocal, lanes, lengths, move_down, move_up, released, shift_down, shift_up, take_off,
};
use super::transfer::{load, store};
use super::vector::{BLOCK, BLOCK_WORDS, Vector};
use crate::Numbers;
use crate::piece::Piece;

/// The most digits of a divisor whose columns stay within a signed word.
const MOST_DIGITS: usize = 500;

/// The most digits of a dividend. Eight dividends of this length together stay in a core's cache.
const LONGEST: usize = 2000;

/// Divides the numbers from `first` on, and stores quotients and remainders from `i` on. Returns the lanes whose
/// results are right. Those of divisors that are zero are not.
pub(super) fn div_rem(
    isa: Avx512,
    [q, r]: [Option<&mut Piece<'_>>; 2],
    i: usize,
    first: usize,
    [a, b]: [Numbers<'_>; 2],
) -> u8 {
    let widths = [a, b].map(|x| x.shape().width);
    let digits = widths.map(|width| digits_of_bits(LIMB_BITS * width));
    if widths.contains(&0) || digits[0] > LONGEST || digits[1] > MOST_DIGITS {
        return 0;
    }
    let width = |piece: &Option<&mut Piece<'_>>| piece.as_ref().map_or(0, |piece| piece.width);
    let widest = widths.into_iter().chain([width(&q), width(&r)]).max();
    let blocks = widest.unwrap_or(0).div_ceil(BLOCK);
    let of_blocks = |width: usize| digits_of_blocks(width.div_ceil(BLOCK));
    let d = digits[1].max(2);
    // The dividend moves up by fewer digits than the divisor has, and has one more.
    let most = (digits[0] + d + 2)
        .max(of_blocks(widths[0]))
        .max(of_blocks(width(&r)));
    let of_quotient = (digits[0] + 2).max(of_blocks(width(&q)));
    let of_divisor = d.max(of_blocks(widths[1]));
    let total = most + of_quotient + 2 * of_divisor + 1 + BLOCK_WORDS * blocks;
    isa.with_scratch(total, |memory| {
        let (u, memory) = memory.split_at_mut(most);
        let (quotient, memory) = memory.split_at_mut(of_quotient);
        let (v, memory) = memory.split_at_mut(of_divisor);
        let (c, words) = memory.split_at_mut(of_divisor + 1);
        isa.vectorize(
            #[inline(always)]
            || {
                load(isa, b, widths[1], first, v, words);
                load(isa, a, widths[0], first, u, words);
                u[digits[0]..].fill(isa.splat(0));
                v[digits[1]..].fill(isa.splat(0));
                quotient.fill(isa.splat(0));
                let whole = divide(isa, quotient, u, v, c, digits);
                if let Some(q) = q {
                    store(isa, quotient, q, i, words);
                }
                if let Some(r) = r {
                    store(isa, u, r, i, words);
                }
                whole
            },
        )
    })
}

/// Divides `u` by `v`, which have `digits` digits. Leaves the remainder in `u`, and zeros above it. Returns the lanes
/// whose divisors are not zero.
#[inline(always)]
fn divide(
    isa: Avx512,
    quotient: &mut [__m512i],
    u: &mut [__m512i],
    v: &mut [__m512i],
    c: &mut [__m512i],
    digits: [usize; 2],
) -> u8 {
    let zero = isa.splat(0);
    let [of_u, _] = lengths(isa, &mut u[..digits[0]]);
    let [of_v, top] = lengths(isa, &mut v[..digits[1]]);
    let whole = isa.test(of_v, !0);
    let longest = |lengths: __m512i| lanes(lengths).into_iter().max().unwrap_or(0) as usize;
    // A divisor of one digit gets a second one, so that this case needs no code of its own.
    let d = longest(of_v).max(2);
    // A divisor of zero is replaced by one whose top bit is set.
    let of_v = isa.select(whole, of_v, isa.splat(d as u64));
    let top = isa.select(whole, top, isa.splat(MASK));
    let n = longest(of_u);
    let moved = lanes(isa.sub(isa.splat(d as u64), of_v));
    let most = moved.into_iter().max().unwrap_or(0) as usize;
    let rows = (n + 1 + most).saturating_sub(d);
    let bits = isa.sub(isa.splat(1023 + 51), isa.exponent(top));
    let powers = isa.shift_left_each(isa.splat(1), bits);
    let (v, u_all) = (&mut v[..d], u);
    let u = &mut u_all[..rows + d];
    shift_up(isa, v, powers);
    shift_up(isa, u, powers);
    if most > 0 {
        move_up(v, &moved);
        move_up(u, &moved);
    }
    v[d - 1] = isa.select(whole, v[d - 1], isa.splat(MASK));
    // B^d - v.
    let mut borrow = zero;
    c[0] = zero;
    for (c, v) in c[1..].iter_mut().zip(&*v) {
        let difference = isa.sub(isa.sub(zero, *v), borrow);
        borrow = isa.shift_right(difference, 63);
        *c = isa.and(difference, isa.splat(MASK));
    }
    let c = &c[..d + 1];
    let reciprocal = Reciprocal::new(isa, v[d - 1], v[d - 2]);
    if rows > 0 {
        let mut top = [u[rows + d - 1], u[rows + d - 2]];
        for j in (0..rows).rev() {
            top = released(isa, top);
            let mut q = reciprocal.quotient(top[0], top[1]);
            if isa.test(isa.or(q, top[0]), !MASK) != 0 {
                [u[j + d], u[j + d - 1]] = top;
                settle(isa, &mut u[j + 1..][..d], v, &mut quotient[j + 1]);
                top = [u[j + d], u[j + d - 1]];
                q = reciprocal.quotient(top[0], top[1]);
            }
            quotient[j] = q;
            top = take_off(isa, &mut u[j..][..d], c, q, top);
        }
        [u[d - 1], u[d - 2]] = top;
    }
    settle(isa, &mut u[..d], v, &mut quotient[0]);
    u[d..].fill(zero);
    if most > 0 {
        move_down(&mut u[..d], &moved);
    }
    shift_down(isa, &mut u[..d], bits);
    u_all[rows + d..].fill(zero);
    whole
}

/// Propagates the carries of the remainder. If it is `v` or more (it is less than `2 v`), subtracts `v` from it and
/// adds 1 to the quotient's digit.
fn settle(isa: Avx512, u: &mut [__m512i], v: &[__m512i], q: &mut __m512i) {
    isa.vectorize(
        #[inline(always)]
        || {
            let mask = isa.splat(MASK);
            let (top, lower) = u.split_last_mut().expect("two digits at least");
            let (mut carry, mut borrow) = (isa.splat(0), isa.splat(0));
            for (u, v) in lower.iter_mut().zip(v) {
                let sum;
                (sum, carry) = isa.carry(*u, carry);
                *u = isa.and(sum, mask);
                borrow = isa.shift_right(isa.sub(isa.sub(*u, *v), borrow), 63);
            }
            *top = isa.add(*top, carry);
            let rest = isa.sub(isa.sub(*top, v[v.len() - 1]), borrow);
            let is_less = isa.test(rest, 1 << 63);
            if is_less == u8::MAX {
                return;
            }
            let zero = isa.splat(0);
            borrow = zero;
            for (u, v) in u.iter_mut().zip(v) {
                let v = isa.select(is_less, zero, *v);
                let difference = isa.sub(isa.sub(*u, v), borrow);
                borrow = isa.shift_right(difference, 63);
                *u = isa.and(difference, mask);
            }
            *q = isa.add(*q, isa.select(is_less, zero, isa.splat(1)));
        },
    );
}
