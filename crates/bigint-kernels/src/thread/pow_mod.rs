//! Powers modulo odd numbers by windows of the exponent, by the thread that has the numbers:
//! [`crate::power`] has the maths.
//!
//! Registers hold 4, 8, 12 or 16 limbs, whichever the modulus fits; no wider one comes here.
//! The flag says that a modulus is even, and the result then is none.

use super::{Batches, Work};
use crate::gpu::facts::montgomery_digit;
use crate::gpu::memory::Stride;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::power::power;
use bigint_core::Limb;

/// The powers that fall to the calling thread, in constant time.
#[inline(always)]
pub fn window<S: Stride>(batches: Batches<'_, S>) {
    powers::<true, S>(batches);
}

/// The powers that fall to the calling thread, in time that depends on the exponents.
#[inline(always)]
pub fn window_vartime<S: Stride>(batches: Batches<'_, S>) {
    powers::<false, S>(batches);
}

#[inline(always)]
fn powers<const SCAN: bool, S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        match montgomery_digit(work.c.width(), 1) {
            4 => number::<4, SCAN, S>(work),
            8 => number::<8, SCAN, S>(work),
            12 => number::<12, SCAN, S>(work),
            _ => number::<16, SCAN, S>(work),
        }
    }
}

#[inline(always)]
fn number<const X: usize, const SCAN: bool, S: Stride>(work: Work<S>)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let Work { r, a, b, c, .. } = work;
    let is_odd = power::<1, X, SCAN>(Group::thread(), r, [a, b, c], work.scratch);
    work.carry.set(Limb::from(!is_odd));
}
