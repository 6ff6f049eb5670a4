//! Greatest common divisors by Lehmer's algorithm, which [`lehmer`](super::lehmer) explains.
//!
//! Cost: passes over about `8 n^2 / 13` pairs of digits in all, with 4 multiply-adds for each, for
//! `n` limbs. Scratch: a column of digits for both operands, or none if the launch has shared
//! memory for it.

use super::Batches;
use super::column::{Above, Column, InColumn, numbers};
use super::lehmer::{Doubles, Pair, Tops, Words};
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;
use bigint_core::kernel::gcd_digits;
use core::marker::PhantomData;

/// Computes the divisors that fall to the calling thread, by steps in doubles.
#[inline(always)]
pub fn lehmer<S: Stride>(batches: Batches<'_, S>) {
    numbers::<Divisor<Doubles>, S>(batches);
}

/// Computes the divisors that fall to the calling thread, by steps in integers.
#[inline(always)]
pub fn lehmer_words<S: Stride>(batches: Batches<'_, S>) {
    numbers::<Divisor<Words>, S>(batches);
}

/// The operation: the greatest number that divides both operands, cut or extended to the width of
/// the result.
struct Divisor<T>(PhantomData<T>);

impl<T: Tops> InColumn for Divisor<T> {
    const HAS_FLAG: bool = false;

    #[inline(always)]
    fn pairs(n: u32, m: u32) -> u32 {
        gcd_digits(n as usize, m as usize) as u32
    }

    #[inline(always)]
    fn number<S: Stride>([r, a, b]: [Number<S>; 3], column: impl Column, pairs: u32) -> Limb {
        let column = Above::zeros(column);
        divisor::<T>(a, b, column, pairs, r.width(), |i, limb| r.set(i, limb));
        0
    }
}

/// Computes the greatest number that divides `a` and `b`, which is 0 if both are 0, and calls
/// `store` with each of its lowest `limbs` limbs. The column has `pairs` pairs, including the zeros
/// below it.
#[inline(always)]
pub fn divisor<T: Tops>(
    a: Number<impl Stride>,
    b: Number<impl Stride>,
    column: Above<impl Column>,
    pairs: u32,
    limbs: u32,
    store: impl FnMut(u32, Limb),
) {
    let mut pair = Pair::new(column, pairs - column.from, a, b);
    while let Some(step) = pair.step::<T>() {
        match step.is_shifted_here() {
            true => pair.transform_shifted(step, pair.length()),
            false => pair.transform(step, pair.length()),
        }
    }
    let (second, top) = pair.rest();
    let sign = if top < 0 { -1 } else { 1 };
    pair.each_limb(second, sign, limbs, store);
}
