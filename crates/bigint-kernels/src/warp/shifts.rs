//! Shifts by less than a limb of numbers that lanes share, and the digits of a shifted dividend or
//! radicand that come into the lanes from below, two limbs at a time.

use crate::gpu::memory::{Number, Stride};
use crate::gpu::row::Row;
use crate::gpu::warp::Group;
use crate::thread::division::{left, right, shifted};
use bigint_core::Limb;

/// The lanes' limbs shifted to the left, with bits of `lowest` coming into lane 0.
#[inline(always)]
pub fn raised<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    limbs: [Limb; X],
    lowest: Limb,
    bits: u32,
) -> [Limb; X]
where
    [Limb; X]: Row,
{
    let below = group.rotate_up(limbs[X - 1], 1);
    let below = if group.lane() == 0 { lowest } else { below };
    shifted(limbs, below, bits)
}

/// The lanes' limbs shifted to the right, with bits of `highest` coming into the top lane.
#[inline(always)]
pub fn lowered<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    limbs: [Limb; X],
    highest: Limb,
    bits: u32,
) -> [Limb; X]
where
    [Limb; X]: Row,
{
    let above = group.rotate_down(limbs[0]);
    let is_top = group.lane() == group.lanes() - 1;
    let above = if is_top { highest } else { above };
    Row::of(|i| {
        let i = i as usize;
        let high = if i + 1 < X { limbs[i + 1] } else { above };
        right(high, limbs[i], bits)
    })
}

/// The digits of a number shifted to the left, from the top down. The limbs of the next digit are
/// loaded one digit ahead.
pub struct Digits<S> {
    of: Number<S>,
    bits: u32,
    /// The limb with the lowest bits of the last digit that came.
    above: Limb,
    come: [Limb; 2],
    /// The index of the lower one of the two limbs in `come`.
    below: u32,
}

impl<S: Stride> Digits<S> {
    /// The digits below limb `at` of a number.
    #[inline(always)]
    pub fn below(of: Number<S>, at: u32, bits: u32) -> Self {
        let below = at.wrapping_sub(3);
        Digits {
            of,
            bits,
            above: of.limb(at.wrapping_sub(1)),
            come: of.two(below),
            below,
        }
    }

    /// The limb whose highest bits follow below the last digit that came.
    #[inline(always)]
    pub fn above(&self) -> Limb {
        self.above
    }

    /// The limbs of the next digit.
    #[inline(always)]
    pub fn next(&mut self) -> [Limb; 2] {
        let Digits {
            above, come, bits, ..
        } = *self;
        self.above = come[0];
        self.below = self.below.wrapping_sub(2);
        self.come = self.of.two(self.below);
        [left(come[1], come[0], bits), left(above, come[1], bits)]
    }
}
