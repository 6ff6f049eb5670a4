//! Kernels in which lanes of a warp share a number: `LANES` of them, 2, 4, 8, 16 or 32, or as
//! many as the specialization [knows](bigint_core::specialization). In most leaves limb `j`
//! belongs to lane `j mod LANES`, so that a chunk of `LANES` limbs stands in one register of
//! each lane. Addition, subtraction and limbwise operations have no such groups: there all 32
//! lanes compute one stretch of limbs, of several numbers or of a part of one.
//!
//! All lanes of a warp run the same instructions: loops and branches around a shuffle or a vote
//! depend only on widths and the batch.

pub mod abs_diff;
pub mod add;
pub mod add_segments;
pub mod add_signed;
pub mod and;
pub mod bit_length;
pub mod columns;
pub mod compare;
pub mod count_ones;
pub mod div_rem;
pub mod equal;
pub mod gather;
mod held;
pub mod inv_odd_mod;
pub mod isqrt;
pub mod limbwise;
pub mod lookahead;
pub mod max;
pub mod min;
pub mod min_max;
pub mod mod_add;
pub mod mod_sub;
pub mod mont_mul;
pub mod mul;
pub mod not;
pub mod or;
pub mod pow_mod;
pub mod program;
pub mod scan;
pub mod select;
pub mod set_bit;
mod shifts;
pub mod shl;
pub mod shr;
pub mod square;
pub mod steps;
mod stretches;
pub mod sub;
pub mod sums;
pub mod test_bit;
pub mod trailing_zeros;
pub mod xor;

use crate::gpu::block::Team;
use crate::gpu::fours::Fours;
use crate::gpu::memory::{CarryOut, Number, Stride, Unit};
use crate::gpu::shared;
use crate::gpu::warp::Group;
use crate::squares::digits::Tiles;
use bigint_core::Arguments;
use bigint_core::kernel::BLOCK;
use core::marker::PhantomData;

/// The lanes of a warp.
pub const LANES: u32 = 32;

/// The operands and the results of one number.
pub struct Work<const LANES: u32, S> {
    /// The lanes that share the number.
    pub group: Group<LANES>,
    /// The result.
    pub r: Number<S>,
    /// The second result.
    pub s: Number<S>,
    /// The first operand.
    pub a: Number<S>,
    /// The second operand.
    pub b: Number<S>,
    /// The third operand.
    pub c: Number<S>,
    /// The group's own scratch.
    pub scratch: Number<Unit>,
    /// The words for the number's flag, which one lane of the group has.
    pub carry: CarryOut,
}

/// The numbers of the calling lane's group, one after the other.
///
/// Groups past the end of the batch must stay with their warp. They compute the last number
/// again, with its results switched off, so every lane of the launch gets the same count of
/// numbers.
pub struct Numbers<'a, const LANES: u32, S> {
    arguments: &'a Arguments,
    group: Group<LANES>,
    worker: u64,
    /// The number of worker 0.
    first: u64,
    stride: PhantomData<S>,
}

/// The batches of a launch at warp level. Leaves rely on the contract under which they were
/// made.
#[derive(Clone, Copy)]
pub struct Batches<'a, const LANES: u32, S> {
    arguments: &'a Arguments,
    group: Group<LANES>,
    stride: PhantomData<S>,
}

impl<'a, const LANES: u32, S: Stride> Batches<'a, LANES, S> {
    /// The batches that a kernel was launched with.
    ///
    /// # Safety
    /// `arguments` are those of a launch of a kernel at warp level. The operands are allocated,
    /// and the results and carry words overlap nothing else. `workers` is the number of groups.
    /// Blocks are made of whole warps, which come here as a whole and stay together as
    /// [`Group::new`] demands. Each calls this once.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a Arguments) -> Self {
        Batches {
            arguments,
            // SAFETY: by this function's own contract.
            group: unsafe { Group::of_launch(arguments.workers) },
            stride: PhantomData,
        }
    }

    /// The threads of the calling lane's block, all of which get the same count of numbers.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn team(self) -> Team<BLOCK> {
        // SAFETY: by the contract of `new`.
        unsafe { Team::new() }
    }

    /// The lane's own column of `pairs` pairs in shared memory, for a launch that has it.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn column(self, pairs: u32) -> shared::Column {
        // SAFETY: by the contract of `new`.
        unsafe { shared::Column::new(pairs) }
    }

    /// The numbers that fall to the calling lane's warp. Each lane of a group has one digit of
    /// its number.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn digits(self) -> Tiles<'a, LANES> {
        // SAFETY: by the contract of `new`.
        unsafe { Tiles::new(self.arguments, self.group) }
    }

    /// The lane's own column of groups of four limbs in scratch, for a launch that has it.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn fours_in_scratch(self) -> Fours {
        // SAFETY: by the contract of `new`.
        unsafe { Fours::new(&self.arguments.scratch, self.group.lanes()) }
    }

    /// The numbers that fall to the calling lane's group.
    #[inline(always)]
    pub fn numbers(self) -> Numbers<'a, LANES, S> {
        Numbers {
            arguments: self.arguments,
            group: self.group,
            worker: self.group.index(),
            first: 0,
            stride: PhantomData,
        }
    }
}

impl<const LANES: u32, S: Stride> Iterator for Numbers<'_, LANES, S> {
    type Item = Work<LANES, S>;

    #[allow(unsafe_code)]
    #[inline(always)]
    fn next(&mut self) -> Option<Work<LANES, S>> {
        let Numbers {
            arguments,
            group,
            worker,
            first,
            ..
        } = *self;
        if first >= arguments.count {
            return None;
        }
        self.first += arguments.workers;
        let on = first + worker < arguments.count;
        let index = (first + worker).min(arguments.count - 1);
        // SAFETY: by the contract of `Batches::new`; `index` is in the batch, no other
        // group writes its result, which is switched off in those that repeat it,
        // and none has this worker's scratch.
        Some(unsafe {
            Work {
                group,
                r: Number::new(&arguments.r, index).switched(on),
                s: Number::new(&arguments.s, index).switched(on),
                a: Number::new(&arguments.a, index),
                b: Number::new(&arguments.b, index),
                c: Number::new(&arguments.c, index),
                scratch: Number::new(&arguments.scratch, worker),
                carry: CarryOut::new(arguments, index).switched(on && group.lane() == 0),
            }
        })
    }
}
