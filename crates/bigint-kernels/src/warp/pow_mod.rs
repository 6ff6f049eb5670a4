//! Powers modulo odd numbers by windows of the exponent, by the lanes that share the
//! numbers: [`crate::power`] has the maths.
//!
//! Each lane has 8 or 16 limbs, whichever the modulus fits; no wider one comes here. The flag
//! says that a modulus is even, and the result then is none.

use super::{Batches, Work};
use crate::gpu::facts::montgomery_digit;
use crate::gpu::memory::Stride;
use crate::gpu::window::{Slide, Window};
use crate::power::power;
use bigint_core::Limb;

/// The powers that fall to the calling lane's group, in constant time.
#[inline(always)]
pub fn window<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    powers::<LANES, true, S>(batches);
}

/// The powers that fall to the calling lane's group, in time that depends on the exponents.
#[inline(always)]
pub fn window_vartime<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    powers::<LANES, false, S>(batches);
}

#[inline(always)]
fn powers<const LANES: u32, const SCAN: bool, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        match montgomery_digit(work.c.width(), work.group.lanes()) {
            8 => number::<LANES, 8, SCAN, S>(work),
            _ => number::<LANES, 16, SCAN, S>(work),
        }
    }
}

#[inline(always)]
fn number<const LANES: u32, const X: usize, const SCAN: bool, S: Stride>(work: Work<LANES, S>)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let Work { r, a, b, c, .. } = work;
    let is_odd = power::<LANES, X, SCAN>(work.group, r, [a, b, c], work.scratch);
    work.carry.set(Limb::from(!is_odd));
}
