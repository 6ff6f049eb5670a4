//! Powers modulo odd numbers by windows of the exponent, by the lanes that share the
//! numbers: [`crate::power`] has the maths.
//!
//! Each lane has 8, 16 or 32 limbs, whichever the modulus fits; no wider one comes here. The flag
//! says that a modulus is even, and the result then is none.

use super::{Batches, Work};
use crate::gpu::block::Team;
use crate::gpu::fours::Fours;
use crate::gpu::known::{power_digit, scans};
use crate::gpu::memory::Stride;
use crate::gpu::window::{Slide, Window};
use crate::power::power;
use bigint_core::Limb;
use bigint_core::kernel::BLOCK;

/// The powers that fall to the calling lane's group: in constant time, or, where the host says
/// so, in time that depends on the exponents.
#[inline(always)]
pub fn window<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    let (team, scratch) = (batches.team(), batches.fours_in_scratch());
    for work in batches.numbers() {
        match power_digit(work.c.width(), work.group.lanes()) {
            8 => number::<LANES, 8, S>(work, team, scratch),
            16 => number::<LANES, 16, S>(work, team, scratch),
            _ => number::<LANES, 32, S>(work, team, scratch),
        }
    }
}

#[inline(always)]
fn number<const LANES: u32, const X: usize, S: Stride>(
    work: Work<LANES, S>,
    team: Team<BLOCK>,
    scratch: Fours,
) where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let Work { r, a, b, c, .. } = work;
    let is_odd = power::<LANES, X, S>(work.group, team, scans(), r, [a, b, c], scratch);
    work.carry.set(Limb::from(!is_odd));
}
