//! `THREADS` threads of a block per number, all that the block has: values change hands in
//! shared memory, between barriers.
//!
//! All threads of a block run the same instructions: loops and branches around a barrier, a
//! shuffle or a vote depend on widths, the batch and the block's place in the launch only.

pub mod mul;

use crate::gpu::block::Team;
use crate::gpu::facts::told_or;
use crate::gpu::float::Roots;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::thread;
use bigint_core::Arguments;
use bigint_core::facts::{self, SAME};
use bigint_core::transform::Plan;
use core::marker::PhantomData;

/// One number's operands and where its result goes.
pub struct Work<const THREADS: u32, S> {
    /// The threads that share the number.
    pub team: Team<THREADS>,
    /// The result.
    pub r: Number<S>,
    /// The first operand.
    pub a: Number<S>,
    /// The second operand.
    pub b: Number<S>,
    /// Whether the operands are the same number, of at most `8 THREADS` limbs.
    pub is_square: bool,
    /// The table of roots of unity.
    pub roots: Roots,
}

/// The batches of a launch at this level, on whose word the leaves rely.
#[derive(Clone, Copy)]
pub struct Batches<'a, const THREADS: u32, S> {
    arguments: &'a Arguments,
    team: Team<THREADS>,
    stride: PhantomData<S>,
}

impl<'a, const THREADS: u32, S: Stride> Batches<'a, THREADS, S> {
    /// The batches that a kernel was launched with.
    ///
    /// # Safety
    /// `arguments` are those of a launch of a block-level kernel: its operands and its table
    /// of roots allocated, its results apart from everything else, its `workers` as many
    /// as its blocks, each of `THREADS` threads, which come here together and stay
    /// together, as [`Team::new`] asks, and of the shared memory of `Kernel::launch`. Each
    /// calls this once.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a Arguments) -> Self {
        Batches {
            arguments,
            // SAFETY: by this function's own contract.
            team: unsafe { Team::new() },
            stride: PhantomData,
        }
    }

    /// The numbers that fall to the calling block, one after the other, with a barrier in
    /// between: the shared memory of the last one is free for the next.
    #[inline(always)]
    pub fn for_each(self, compute: impl Fn(Work<THREADS, S>)) {
        let arguments = self.arguments;
        let limbs = const { Plan::of(THREADS).limbs() };
        let found = match facts::is_square(&arguments.a, &arguments.b, limbs) {
            true => 1,
            false => 2,
        };
        let is_square = told_or(SAME, found) == 1;
        let mut index = u64::from(thread::block_index());
        while index < arguments.count {
            // SAFETY: by the contract of `new`; `index` is in the batch, and no other block
            // has this number.
            #[allow(unsafe_code)]
            let work = unsafe {
                Work {
                    team: self.team,
                    r: Number::new(&arguments.r, index),
                    a: Number::new(&arguments.a, index),
                    b: Number::new(&arguments.b, index),
                    is_square,
                    roots: Roots::new(arguments.roots),
                }
            };
            compute(work);
            self.team.sync();
            index += arguments.workers;
        }
    }
}
