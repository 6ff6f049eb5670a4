//! Products by a daring plan: which operands have too great norms, and once more the products of those.
//!
//! Each warp of `forth` leaves the sum of the squares of the digits that it cuts, which is exact: a number's squares sum to less than
//! `2^53`. The block of `back` that has a number's lowest columns adds a number's sums, and marks the number where the product of both operands' is
//! too great for a proof. The kernels that follow have a few blocks each, which take the marked numbers in turns.
//!
//! **Cost**: one operation in FP64 for each digit, and where nothing is marked three launches that end at once.

use super::Block;
use crate::gpu::flat::Row;
use crate::gpu::float::Pairs;
use crate::gpu::handed::Handed;
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::transform::grid::{Norms, Way};
use bigint_core::{LIMB_BITS, Limb, MatrixArgument};

impl<const THREADS: u32> Block<'_, THREADS> {
    /// Leaves the warp's sum of squares, of which the calling thread has so much; and clears the mark that says whether there are any.
    #[inline(always)]
    pub(super) fn keep_norm(self, squares: f64) {
        let Norms { sums, .. } = self.arguments.norms;
        if sums == 0 {
            return;
        }
        let (sum, thread) = (sum_of_lanes(self.team.warp(), squares), self.team.thread());
        if thread % 32 == 0 {
            let place = self.index * (THREADS / 32) + thread / 32;
            self.norms().set_double(place, sum);
        }
        if self.index == 0 && thread == 0 {
            self.marks().set(0, 1, 0);
        }
    }

    /// Marks a number whose operands' norms are too great, or takes away its mark.
    #[inline(always)]
    pub(super) fn mark(self, number: u32) {
        let Norms { sums, greatest, .. } = self.arguments.norms;
        if sums == 0 || self.team.thread() >= 32 {
            return;
        }
        let (operands, each) = (self.arguments.operands, self.arguments.plan.norms());
        let of = |operand: u32| {
            let first = (number * operands + operand) * each;
            let (mut sum, mut k) = (0.0, self.team.thread());
            while k < each {
                sum += self.norms().double(first + k);
                k += 32;
            }
            sum_of_lanes(self.team.warp(), sum)
        };
        let is_marked = of(0) * of(operands - 1) > greatest;
        if self.team.thread() == 0 {
            self.marks()
                .set(1 + number, u32::MAX, Limb::from(is_marked));
            if is_marked {
                self.first_mark().raise_to(0, 1);
            }
        }
    }

    /// [`forth`](Self::forth) for marked numbers.
    #[inline(always)]
    pub fn forth_again(self) {
        let plan = self.arguments.plan;
        self.again(
            plan.column_blocks(Way::Forth) * self.arguments.operands,
            #[inline(always)]
            |block| block.forth(),
        );
    }

    /// [`rows`](Self::rows) for marked numbers.
    #[inline(always)]
    pub fn rows_again(self) {
        let plan = self.arguments.plan;
        self.again(
            plan.row_blocks(self.arguments.operands),
            #[inline(always)]
            |block| block.rows(),
        );
    }

    /// [`back`](Self::back) for marked numbers.
    #[inline(always)]
    pub fn back_again(self) {
        self.again(
            self.arguments.plan.column_blocks(Way::Back),
            #[inline(always)]
            |block| block.back(),
        );
    }

    /// Does the work of those blocks, of so many for each number, that marked numbers have.
    #[inline(always)]
    fn again(self, each: u32, work: impl Fn(Self)) {
        let is_marked = |at: u32| self.marks().limb(at, u32::MAX) != 0;
        let (each, mut index) = (each.max(1), self.index);
        let end = match is_marked(0) {
            true => each * self.arguments.count,
            false => 0,
        };
        while index < end {
            if is_marked(1 + index / each) {
                work(Block { index, ..self });
                self.team.sync();
            }
            index += thread::blocks();
        }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn norms(self) -> Pairs {
        // SAFETY: `new`'s caller vouches for the memory. Each double is set by one thread of a launch, and read by another one.
        unsafe { Pairs::new(self.arguments.norms.sums) }
    }

    /// The word that says whether there are marks, which several blocks may set.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn first_mark(self) -> Handed {
        // SAFETY: `new`'s caller vouches for the memory.
        unsafe { Handed::new(self.arguments.norms.marks) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    fn marks(self) -> Row {
        let limbs = self.arguments.norms.marks;
        let words = MatrixArgument {
            limbs,
            ..MatrixArgument::default()
        };
        // SAFETY: `new`'s caller vouches for the memory. A word that a thread sets is read in another launch.
        unsafe { Row::new(&words, 0) }
    }
}

/// The sum of what the lanes of a warp have.
#[inline(always)]
fn sum_of_lanes(warp: Group<32>, mut x: f64) -> f64 {
    let mut by = 16;
    while by > 0 {
        let bits = x.to_bits();
        let of = |word: u64| u64::from(warp.shuffle(word as Limb, warp.lane() + by));
        x += f64::from_bits(of(bits) | of(bits >> LIMB_BITS) << LIMB_BITS);
        by /= 2;
    }
    x
}
