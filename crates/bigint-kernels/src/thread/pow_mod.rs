//! Powers modulo odd numbers by windows of the exponent, by the thread that has the numbers:
//! [`crate::power`] has the maths.
//!
//! Registers hold 4, 8, 12, 16 or 32 limbs, whichever the modulus fits; no wider one comes here.
//! The flag says that a modulus is even, and the result then is none.

use super::{Batches, Work};
use crate::gpu::block::Team;
use crate::gpu::fours::Fours;
use crate::gpu::known::{power_digit, scans};
use crate::gpu::memory::Stride;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::power::power;
use bigint_core::Limb;
use bigint_core::kernel::BLOCK;

/// The powers that fall to the calling thread: in constant time, or, where the host knows so, in
/// time that depends on the exponents.
#[inline(always)]
pub fn window<S: Stride>(batches: Batches<'_, S>) {
    let (team, scratch) = (batches.team(), batches.fours_in_scratch());
    for work in batches.numbers_in_step() {
        match power_digit(work.c.width(), 1) {
            4 => number::<4, S>(work, team, scratch),
            8 => number::<8, S>(work, team, scratch),
            12 => number::<12, S>(work, team, scratch),
            16 => number::<16, S>(work, team, scratch),
            _ => number::<32, S>(work, team, scratch),
        }
    }
}

#[inline(always)]
fn number<const X: usize, S: Stride>(work: Work<S>, team: Team<BLOCK>, scratch: Fours)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let Work { r, a, b, c, .. } = work;
    let is_odd = power::<1, X, S>(Group::thread(), team, scans(), r, [a, b, c], scratch);
    work.carry.set(Limb::from(!is_odd));
}
