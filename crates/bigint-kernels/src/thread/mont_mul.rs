//! Montgomery's product (Cios), by the thread that has the numbers: [`crate::montgomery`]
//! has the maths.
//!
//! Registers hold 4, 8, 12 or 16 limbs of each number, whichever the modulus fits; no wider
//! one comes here. With `X` of them `R` would be `B^X`: so that it is `B^n` for a modulus
//! of `n` limbs, `a` is moved up by the limbs that are missing.
//!
//! Cost: `2 X^2 + X` products. No scratch. `r` is not an operand.

use super::{Batches, Work};
use crate::gpu::known::montgomery_digit;
use crate::gpu::memory::Stride;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::montgomery::{self, Modulus};
use bigint_core::Limb;

/// The products that fall to the calling thread.
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
