//! Montgomery's product (Cios), computed by lanes that share the numbers. [`crate::montgomery`]
//! explains the maths.
//!
//! Each lane has 8, 12 or 16 limbs of each number, the fewest that the modulus fits; wider moduli
//! are not computed here. Products are divided by `B^n`, as at [thread
//! level](crate::thread::mont_mul).
//!
//! Cost: `2 ceil(n) X LANES + n` products of limbs, where `ceil(n)` is `n` rounded up to a
//! multiple of `X`, or of four where `X` is 12. No scratch. `r` overlaps no operand.

use super::{Batches, Work};
use crate::gpu::known::montgomery_digit;
use crate::gpu::memory::Stride;
use crate::gpu::window::{Slide, Window};
use crate::montgomery::{self, Modulus};
use bigint_core::Limb;

/// Computes the products that fall to the calling lane's group.
#[inline(always)]
pub fn cios<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        match montgomery_digit(work.c.width(), work.group.lanes()) {
            8 => number::<LANES, 8, S>(work),
            12 => number::<LANES, 12, S>(work),
            _ => number::<LANES, 16, S>(work),
        }
    }
}

#[inline(always)]
fn number<const LANES: u32, const X: usize, S: Stride>(work: Work<LANES, S>)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let Work { r, a, b, c, .. } = work;
    let modulus = Modulus::<LANES, X>::new(work.group, c);
    montgomery::number(modulus, r, a, b, c);
}
