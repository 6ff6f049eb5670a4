//! Greatest common divisors (Lehmer): [`lehmer`](super::lehmer) says how.
//!
//! Cost: about `n^2 / 13` passes of a digit, 4 multiply-adds each, for `n` limbs.
//! Scratch: a column of digits for both operands, or none where the launch has shared
//! memory for it.

use super::lehmer::{Column, Pair};
use super::{Batches, Work};
use crate::gpu::memory::{Number, Stride};
use crate::gpu::shared;
use bigint_core::kernel::{digit_columns_in_shared, gcd_digits};

/// The divisors that fall to the calling thread.
#[inline(always)]
pub fn lehmer<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let Work {
            r, a, b, scratch, ..
        } = work;
        let digits = gcd_digits(a.width() as usize, b.width() as usize);
        if digit_columns_in_shared(digits) {
            number(r, a, b, batches.column());
        } else {
            number(r, a, b, scratch);
        }
    }
}

/// `r` is the greatest number that divides both, cut or extended to its width; 0 of zeros.
#[inline(always)]
pub fn number(
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
    column: impl Column,
) {
    let mut pair = Pair::new(column, a, b);
    while let Some(step) = pair.step() {
        pair.reduce(step);
    }
    let (second, top) = pair.rest();
    let sign = if top < 0 { -1 } else { 1 };
    pair.each_limb(second, sign, r.width(), |i, limb| r.set(i, limb));
}
