//! A thread's elements in shared memory, where registers end.
//!
//! Beyond some 16 limbs a formula of a curve has more limbs than a thread has registers, and what is spilled goes to
//! device memory. Here elements wait in shared memory, and a product fetches its two factors. One body of code in a loop
//! over slots' numbers serves many products, which otherwise would not fit the memory of instructions.
//!
//! ```text
//! let slots = Slots::<32>::new(batches.column(Slots::<32>::pairs(6)));       // six slots
//! slots.set(0, field.mul(x, y).limbs());
//! let z: Element<32, 2> = Element::of_limbs(slots.get(0));
//! ```
//!
//! Shared memory: `4 LIMBS` bytes for each slot and thread, in the launch's bytes. No two threads of a warp meet in a
//! bank. Cost: `LIMBS / 2` loads or stores for an element.

use crate::gpu::shared::Column;
use crate::squares::each;
use bigint_core::Limb;

/// The calling thread's slots, of `LIMBS` limbs each, an even number.
#[derive(Clone, Copy)]
pub struct Slots<const LIMBS: usize>(Column);

impl<const LIMBS: usize> Slots<LIMBS> {
    /// The pairs of limbs that a column of so many slots has.
    pub const fn pairs(slots: u32) -> u32 {
        slots * (LIMBS as u32 / 2)
    }

    /// The slots that a column has room for.
    #[inline(always)]
    pub fn new(column: Column) -> Self {
        Slots(column)
    }

    /// What the slot holds.
    #[inline(always)]
    pub fn get(self, slot: u32) -> [Limb; LIMBS] {
        let mut upper = 0;
        each(|i| {
            if i % 2 == 1 {
                return upper;
            }
            let lower;
            [lower, upper] = self.0.two(Self::pairs(slot) + i as u32 / 2);
            lower
        })
    }

    /// Sets the slot.
    #[inline(always)]
    pub fn set(self, slot: u32, limbs: [Limb; LIMBS]) {
        let _: [Limb; LIMBS] = each(|i| {
            if i % 2 == 0 {
                let pair = [limbs[i], limbs[i + 1]];
                self.0.set_two(Self::pairs(slot) + i as u32 / 2, pair);
            }
            0
        });
    }
}
