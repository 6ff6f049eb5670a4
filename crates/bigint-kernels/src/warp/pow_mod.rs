//! Powers modulo odd numbers by windows of the exponent, computed by lanes that share the
//! numbers. [`crate::power`] explains the maths.
//!
//! Each lane has 8, 16, 24 or 32 limbs, the fewest that the modulus fits; wider moduli are not
//! computed here. The flag is 1 if the modulus is even; the result then has no meaning.

use super::{Batches, Work};
use crate::gpu::block::Team;
use crate::gpu::fours::Fours;
use crate::gpu::known::{power_digit, scans};
use crate::gpu::memory::Stride;
use crate::gpu::window::{Slide, Window};
use crate::power::power;
use bigint_core::Limb;
use bigint_core::kernel::BLOCK;

/// Computes the powers that fall to the calling lane's group. It takes constant time, unless it
/// is specialised to depend on the exponents.
#[inline(always)]
pub fn window<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    let (team, scratch) = (batches.team(), batches.fours_in_scratch());
    // A loop of its own: in one, the driver's compiler finds a sixth more instructions for lanes with 32 limbs.
    for work in batches.numbers() {
        if power_digit(work.c.width(), work.group.lanes()) == 24 {
            number::<LANES, 24, S>(work, team, scratch);
        }
    }
    for work in batches.numbers() {
        match power_digit(work.c.width(), work.group.lanes()) {
            8 => number::<LANES, 8, S>(work, team, scratch),
            16 => number::<LANES, 16, S>(work, team, scratch),
            24 => {}
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
