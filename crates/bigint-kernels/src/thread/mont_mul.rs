//! Montgomery's product (Cios), computed by a thread by itself. [`crate::montgomery`] explains
//! the maths.
//!
//! Registers hold 4, 8, 12 or 16 limbs of each number, the fewest that the modulus fits; wider
//! moduli are not computed here. With `X` limbs, products are divided by `B^X`. For a modulus
//! of `n` limbs they must be divided by `B^n`, so `a` is moved up by `X - n` limbs.
//!
//! Cost: `2 X^2 + X` products of limbs. No scratch. `r` overlaps no operand.

use super::{Batches, Work};
use crate::gpu::known::montgomery_digit;
use crate::gpu::memory::Stride;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::montgomery::{self, Modulus};
use bigint_core::Limb;

/// Computes the products that fall to the calling thread.
#[inline(always)]
pub fn cios<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        match montgomery_digit(work.c.width(), 1) {
            4 => number::<4, S>(work),
            8 => number::<8, S>(work),
            12 => number::<12, S>(work),
            _ => number::<16, S>(work),
        }
    }
}

#[inline(always)]
fn number<const X: usize, S: Stride>(work: Work<S>)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let Work { r, a, b, c, .. } = work;
    let modulus = Modulus::<1, X>::new(Group::thread(), c);
    montgomery::number(modulus, r, a, b, c);
}
