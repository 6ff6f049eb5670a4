//! Powers modulo odd numbers by windows of the exponent, computed by a thread by itself.
//! [`crate::power`] explains the maths.
//!
//! Registers hold 4, 8, 12, 16 or 32 limbs, the fewest that the modulus fits; wider moduli are
//! not computed here. The flag is 1 if the modulus is even; the result then has no meaning.

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

/// Computes the powers that fall to the calling thread. It takes constant time, unless it is
/// specialised to depend on the exponents.
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
