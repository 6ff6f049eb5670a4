//! Inverses modulo a number that the compiler knows, one for each thread of a block.
//!
//! A warp inverts them all, each lane those of four threads by one inverse ([Montgomery 1987]), which it computes by division steps
//! ([`divsteps`]; [Bernstein and Yang 2019]) as `bigint_kernels::thread::inv_odd_mod` does, with all numbers in registers: in digits
//! of 30 bits, of which the top one is signed. At first `f = m`, `g = x`, and their cofactors are `d = 0` and `e = 1`, so that
//! `d x = f` and `e x = g` modulo `m`. A round of 30 steps is a matrix for all four, divided by `2^30`; in the end `f` is 1 or -1.
//!
//! Cost of a thread: nine products for four threads, and a fourth of 25 rounds, each of 90 multiply-adds and 30 steps.

use crate::shared::field::Limbs;
use bigint_core::LIMB_BITS;
use bigint_core::kernel::{BLOCK, DIGIT_BITS, divstep_digits, divstep_rounds, divsteps};
use bigint_kernels::field::powers;
use bigint_kernels::gpu::block::Team;
use bigint_kernels::gpu::registers::afresh;
use bigint_kernels::gpu::shared::OfThreads;
use bigint_kernels::montgomery;
use bigint_kernels::squares::each;
use core::marker::PhantomData;

/// Digits of a number.
const DIGITS: usize = divstep_digits(8);

/// The digits of a number.
type Digits = [u32; DIGITS];

/// The mask of all bits of a digit.
const MASK: u32 = (1 << DIGIT_BITS) - 1;

/// What inverses ask of numbers modulo an odd one.
pub trait Modulo {
    /// That number.
    const MODULUS: Limbs;

    /// `a b`, or `a b / c` with a number `c` that is always the same.
    fn product(a: Limbs, b: Limbs) -> Limbs;
}

/// The numbers modulo that one, as a block's threads invert them.
struct Numbers<M>(PhantomData<M>);

impl<M: Modulo> powers::Limbs<8> for Numbers<M> {
    #[inline(always)]
    fn product(&self, a: Limbs, b: Limbs) -> Limbs {
        M::product(a, b)
    }

    #[inline(always)]
    fn inverse(&self, a: Limbs) -> Limbs {
        of::<M>(a)
    }
}

/// The inverse of each thread's number, by one of the block's warps, `turn` modulo 4. Where a number has none, others get wrong ones.
///
/// With the `c` of products, `a b c d` has become `abcd / c^3`, whose inverse is `c^3 / abcd`, which takes all of it off again.
#[inline(always)]
pub fn of_block<M: Modulo>(team: Team<BLOCK>, room: OfThreads<8>, turn: u32, x: Limbs) -> Limbs {
    powers::inverses_of_block(&Numbers::<M>(PhantomData), (team, room, turn), x)
}

/// Digit `i` of a number.
#[inline(always)]
const fn digit(x: Limbs, i: usize) -> u32 {
    let (at, bit) = (DIGIT_BITS * i / LIMB_BITS, DIGIT_BITS * i % LIMB_BITS);
    let above = if at + 1 < 8 { x[at + 1] } else { 0 };
    (((above as u64) << LIMB_BITS | x[at] as u64) >> bit) as u32 & MASK
}

/// The modulus.
const fn modulus<M: Modulo>() -> Digits {
    let (mut digits, mut i) = ([0; DIGITS], 0);
    while i < DIGITS {
        digits[i] = digit(M::MODULUS, i);
        i += 1;
    }
    digits
}

/// `1 / x`, below the modulus.
#[inline(always)]
fn of<M: Modulo>(x: Limbs) -> Limbs {
    let m = const { modulus::<M>() };
    // The inverse modulo 2^32.
    let inverse = const { montgomery::inverse(M::MODULUS[0]) };
    let (mut f, mut g): (Digits, Digits) = (m, each(|i| digit(x, i)));
    let (mut d, mut e): (Digits, Digits) = ([0; DIGITS], each(|i| u32::from(i == 0)));
    let (mut delta, mut round) = (1, divstep_rounds(8));
    while round > 0 {
        let lowest = |x: Digits| x[0] | x[1] << DIGIT_BITS;
        let matrix;
        (delta, matrix) = divsteps(delta, lowest(f), lowest(g), afresh);
        let [of_f, of_g] = matrix;
        (f, g) = (row(of_f, f, g, 0, m), row(of_g, f, g, 0, m));
        let [of_d, of_e] = matrix.map(|of| multiple(of, d, e, inverse));
        (d, e) = (row(matrix[0], d, e, of_d, m), row(matrix[1], d, e, of_e, m));
        round -= 1;
    }
    // From -2 m and m to between -m and m, with the sign of `f`, and to below m.
    let sign = top(f) >> 31;
    limbs(settled(settled(d, m, sign), m, 0))
}

/// The top digit, with its sign.
#[inline(always)]
fn top(x: Digits) -> i32 {
    x[DIGITS - 1] as i32
}

/// The multiple of the modulus that is added to a row of a matrix times cofactors: one for each negative cofactor, less what makes
/// the lowest digit 0.
#[inline(always)]
fn multiple([u, v]: [i32; 2], d: Digits, e: Digits, inverse: u32) -> i32 {
    let own = (u & top(d) >> 31) + (v & top(e) >> 31);
    let lowest = (u as u32)
        .wrapping_mul(d[0])
        .wrapping_add((v as u32).wrapping_mul(e[0]));
    own - (lowest.wrapping_mul(inverse).wrapping_add(own as u32) & MASK) as i32
}

/// `(u x + v y + k m) / 2^30`.
#[inline(always)]
fn row([u, v]: [i32; 2], x: Digits, y: Digits, k: i32, m: Digits) -> Digits {
    let mut sum = 0;
    let mut next = |i: usize| {
        let wide = |digit: u32| i64::from(digit as i32);
        sum >>= DIGIT_BITS;
        sum += i64::from(u) * wide(x[i]) + i64::from(v) * wide(y[i]) + i64::from(k) * wide(m[i]);
        sum as u32 & MASK
    };
    next(0);
    let digits: Digits = each(|i| if i + 1 < DIGITS { next(i + 1) } else { 0 });
    let above = (sum >> DIGIT_BITS) as u32;
    each(|i| if i + 1 < DIGITS { digits[i] } else { above })
}

/// A number, and the modulus if it is negative; its negative if `sign` is -1.
#[inline(always)]
fn settled(x: Digits, m: Digits, sign: i32) -> Digits {
    let is_negative = top(x) >> 31;
    let mut carry = 0;
    each(|i| {
        carry += (x[i] as i32 + (m[i] as i32 & is_negative) ^ sign) - sign;
        let digit = if i + 1 < DIGITS {
            carry as u32 & MASK
        } else {
            carry as u32
        };
        carry >>= DIGIT_BITS;
        digit
    })
}

/// The limbs of a number that is not negative.
#[inline(always)]
fn limbs(x: Digits) -> Limbs {
    each(|i| {
        let (at, bit) = (LIMB_BITS * i / DIGIT_BITS, LIMB_BITS * i % DIGIT_BITS);
        let digit = |at: usize| if at < DIGITS { u64::from(x[at]) } else { 0 };
        let pair = digit(at + 1) << DIGIT_BITS | digit(at);
        (pair >> bit) as u32 | (digit(at + 2) << (2 * DIGIT_BITS) >> bit) as u32
    })
}
