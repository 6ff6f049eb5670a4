//! Kernels in which all threads of a block share a number. They exchange values in shared memory,
//! between barriers.
//!
//! All threads of a block run the same instructions: loops and branches around a barrier, a shuffle
//! or a vote depend only on widths, the batch and the block's place in the launch.

pub mod mul;

use crate::gpu::block::Team;
use crate::gpu::float::Roots;
use crate::gpu::known::Known;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::thread;
use bigint_core::Arguments;
use bigint_core::specialization::{self, BlockTransform};
use bigint_core::transform::Plan;
use core::marker::PhantomData;

/// The operands and the result of one number.
pub struct Work<const THREADS: u32, S> {
    /// The threads that share the number.
    pub team: Team<THREADS>,
    /// The result.
    pub r: Number<S>,
    /// The first operand.
    pub a: Number<S>,
    /// The second operand.
    pub b: Number<S>,
    /// Whether the operands are the same number, which is one piece.
    pub is_square: bool,
    /// Whether each operand is one piece, of at most [`Plan::limbs`] limbs.
    pub is_one_piece: bool,
    /// The table of roots of unity.
    pub roots: Roots,
}

/// The batches of a launch at block level. Leaves rely on the contract under which they were made.
#[derive(Clone, Copy)]
pub struct Batches<'a, const LANES: u32, S> {
    arguments: &'a Arguments,
    stride: PhantomData<S>,
}

impl<'a, const LANES: u32, S: Stride> Batches<'a, LANES, S> {
    /// The batches that a kernel was launched with.
    ///
    /// # Safety
    /// `arguments` are those of a launch of a kernel at block level. The operands and the table of
    /// roots are allocated, and the results overlap nothing else. `workers` is the number of
    /// blocks. Each block has the threads of the plan for `LANES`, which come here together and
    /// stay together as [`Team::new`] demands, and the shared memory of `Kernel::launch`. Each
    /// block calls this once.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a Arguments) -> Self {
        Batches {
            arguments,
            stride: PhantomData,
        }
    }

    /// Calls `compute` for the numbers of the calling block, with a barrier in between, so that each may use the
    /// shared memory of the one before.
    #[inline(always)]
    pub fn for_each<const THREADS: u32>(self, compute: impl Fn(Work<THREADS, S>)) {
        // The compiler decides this. (As a `const` it would be checked even in code that is never
        // reached.)
        assert!(THREADS == const { Plan::of(LANES).threads() });
        let arguments = self.arguments;
        let Arguments { a, b, .. } = arguments;
        let limbs = const { Plan::of(LANES).limbs() };
        let is_square = BlockTransform::SQUARE.or(specialization::is_square(a, b, limbs));
        let is_one_piece = BlockTransform::ONE_PIECE.or(specialization::is_one_piece(a, b, limbs));
        // SAFETY: by the contract of `new`.
        #[allow(unsafe_code)]
        let team = unsafe { Team::new() };
        let mut index = u64::from(thread::block_index());
        while index < arguments.count {
            // SAFETY: by the contract of `new`; `index` is in the batch, and no other block has this number.
            #[allow(unsafe_code)]
            let work = unsafe {
                Work {
                    team,
                    r: Number::new(&arguments.r, index),
                    a: Number::new(&arguments.a, index),
                    b: Number::new(&arguments.b, index),
                    is_square,
                    is_one_piece,
                    roots: Roots::new(arguments.roots),
                }
            };
            compute(work);
            team.sync();
            index += arguments.workers;
        }
    }
}
