//! Squares modulo `2^p - 1` and other `k b^n + c` by long transforms, in the two launches of
//! [`bigint_core::weighted::long`].
//!
//! **Who holds what.** A thread has 16 points. With its block it goes through a row in three passes, of radix 16, 16,
//! and 8 or 16, and through a column in three passes, of radix `f`, 16 and `m`. The way down is the tree of
//! [`bigint_core::transform`], whose butterflies contain the roots. The way back is sums with constant roots.
//!
//! **Preconditions**: those of [`bigint_core::weighted::long`]; digits have at most 20 bits. **Cost**: two passes
//! over memory. **Scratch**: shared memory, [`long_rows_bytes`](bigint_core::weighted::long::long_rows_bytes) and
//! [`long_columns_bytes`](bigint_core::weighted::long::long_columns_bytes).

mod columns;
mod rows;
mod words;

use crate::gpu::block::Team;
use crate::gpu::float::{Pairs, Roots};
use crate::gpu::known::Known;
use crate::gpu::stretch::Stretch;
use crate::transform::complex::{Complex, complex};
use bigint_core::specialization::LongTransform;
use bigint_core::weighted::long::{LongArguments, Nodes, WARPS};

/// A launch's arguments, and the block's threads.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    team: Team<{ 32 * WARPS }>,
    arguments: &'a LongArguments,
    x: Stretch,
}

/// Repeats a block for `k` from 0 to 15, written out. A loop would not always be unrolled, and arrays indexed by `k`
/// would be in memory.
macro_rules! sixteen {
    ($k:ident => $body:block) => {
        $crate::grid::weighted::copies!(
            $k => $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    };
}
pub(in crate::grid) use sixteen;

impl<'a> Block<'a> {
    /// The calling thread's block.
    ///
    /// # Safety
    /// `arguments` are those of a launch that [`bigint_core::weighted::long`] describes, with the memory that it
    /// states, and the blocks and shared memory of the kernel that calls this once.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a LongArguments) -> Self {
        // SAFETY: by this function's own contract.
        let team = unsafe { Team::new() };
        Block {
            team,
            arguments,
            x: Stretch::new(team, 0),
        }
    }

    /// The points of a row, in units of [`POINTS`](bigint_core::weighted::long::POINTS).
    #[inline(always)]
    fn row(self) -> u32 {
        LongTransform::ROW.or(self.arguments.row).clamp(1, 2)
    }

    /// The radix of a column's first pass.
    #[inline(always)]
    fn radix(self) -> u32 {
        (1 + LongTransform::RADIX_BELOW.or(self.arguments.radix.wrapping_sub(1))).clamp(9, 16)
    }

    #[inline(always)]
    fn nodes(self) -> Nodes {
        Nodes {
            radix: self.radix(),
            is_negacyclic: LongTransform::NEGACYCLIC.or(self.arguments.is_negacyclic()),
            reciprocal: self.arguments.reciprocals[0],
        }
    }

    #[inline(always)]
    fn get(self, at: u32) -> Complex {
        complex(self.x.pair(at))
    }

    #[inline(always)]
    fn set(self, at: u32, z: Complex) {
        self.x.set_pair(at, [z.re, z.im]);
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn roots(self, address: u64) -> Roots {
        // SAFETY: `new`'s caller vouches for the tables.
        unsafe { Roots::new(address) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn pairs(self, address: u64) -> Pairs {
        // SAFETY: `new`'s caller vouches for the memory, and that blocks do not meet in it except where they wait for
        // each other.
        unsafe { Pairs::new(address) }
    }
}

/// The place in the order of the tree of value `k` in the order of angles, among `R` values.
#[inline(always)]
const fn turned<const R: usize>(k: usize) -> usize {
    match R {
        1 => 0,
        _ => k.reverse_bits() >> (usize::BITS - R.trailing_zeros()),
    }
}

/// `e(t / 8 + 1 / 8)`, from `e(t / 8)`.
#[inline(always)]
fn eighth_on(w: Complex) -> Complex {
    use crate::transform::butterflies::HALF_SQRT_2;
    Complex::new(HALF_SQRT_2 * (w.re - w.im), HALF_SQRT_2 * (w.re + w.im))
}
