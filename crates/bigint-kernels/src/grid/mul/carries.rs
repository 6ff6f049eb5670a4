//! Coefficients of a product become chunks and carries, and these the limbs of the product.
//!
//! A thread adds the 8 or 16 coefficients of a chunk of digits up, lowest first, each with what is
//! left of those below; what is left in the end is the chunk's carry, of less than 38 bits. So a chunk of two digits to the base 10
//! with coefficients 57 and 34 is 97, and its carry 3: `57 = 7 + 10 5`, `34 + 5 = 9 + 10 3`.
//!
//! The chunk goes to a place of its own, moved up to where it begins within a limb, and so does the carry. With chunks of 8 digits of 13 bits, 104 bits, limb 3
//! has the end of chunk 0, the begin of chunk 1, which is moved up by 8 bits, and the lowest bits of what is carried between them:
//!
//! ```text
//! limb      0     |     1     |     2     |     3     |     4     |
//! chunks    0                                | 1
//! carries                                    | of 0       |
//! ```
//!
//! As a carry has fewer bits than a chunk less a limb, no limb has bits of two carries. Chunks without carries, and carries, are
//! two numbers, which are added as all sums are.

use super::super::Columns;
use super::super::weighted::long::sixteen;
use super::Block;
use crate::gpu::flat::Row;
use crate::gpu::float::NEAREST_OFFSET;
use crate::gpu::memory::{Batch, Stride, Unit};
use crate::warp::Batches;
use crate::warp::add::Sum;
use crate::warp::lookahead::{Terms, batch_of};
use bigint_core::transform::grid::{ChunkCut, Start, SumArguments, padded};
use bigint_core::{LIMB_BITS, Limb, MatrixArgument};

impl<const THREADS: u32> Block<'_, THREADS> {
    /// Turns coefficients into chunks and carries.
    #[inline(always)]
    pub(super) fn carry(self, columns: Columns) {
        let plan = self.arguments.plan;
        match (plan.digit_bits, plan.log_chunk()) {
            (12, 3) => self.carry_of::<12, 8>(columns),
            (12, _) => self.carry_of::<12, 16>(columns),
            (13, 3) => self.carry_of::<13, 8>(columns),
            (13, _) => self.carry_of::<13, 16>(columns),
            (14, 3) => self.carry_of::<14, 8>(columns),
            (14, _) => self.carry_of::<14, 16>(columns),
            (15, _) => self.carry_of::<15, 16>(columns),
            _ => self.carry_of::<16, 16>(columns),
        }
    }

    /// The same for digits of so many bits, so many in a chunk. A thread has those of the low half of the product or of the
    /// high one.
    #[inline(always)]
    fn carry_of<const BITS: usize, const DIGITS: usize>(self, columns: Columns) {
        let plan = self.arguments.plan;
        // `2^48 - 2^(48 - BITS)` is added to every coefficient, so that none is negative. These
        // sums telescope: together they add `2^48` above the last coefficient, and subtract
        // `2^(48 - BITS)` from the first one.
        let telescoped = 1_u64 << (48 - BITS);
        let more = ((1_u64 << 48) - telescoped).wrapping_sub(NEAREST_OFFSET);
        let [chunks, carries] = [self.arguments.chunks, self.arguments.carries];
        let [chunks, carries] = [chunks, carries].map(|matrix| self.row(&matrix, columns.number));
        let last = plan.product_chunks() - 1;
        let mut task = self.team.thread();
        while task < 2 * plan.chunks() {
            let (first, half) = ((task >> 1) * DIGITS as u32, task & 1);
            let words = self.x.from_pair(padded(first));
            let chunk = (half * plan.length() + columns.place(first)) / DIGITS as u32;
            let mut left = match (chunk, self.wraps()) {
                (0, false) => telescoped,
                // What is above, modulo `2^(32 n) + 1`, and room for what is carried out.
                (0, true) => telescoped.wrapping_neg(),
                _ => 0,
            };
            let mut limbs = [0; 8];
            sixteen!(i => {
                if i < DIGITS {
                    left += words.word(2 * padded(i as u32) + half).wrapping_add(more);
                    let digit = left as Limb & ((1 << BITS) - 1);
                    left >>= BITS;
                    let (limb, bit) = (i * BITS / LIMB_BITS, i * BITS % LIMB_BITS);
                    limbs[limb] |= digit << bit;
                    if bit + BITS > LIMB_BITS {
                        limbs[limb + 1] = digit >> (LIMB_BITS - bit);
                    }
                }
            });
            // A chunk of a whole number of limbs begins with one.
            let shift = match BITS * DIGITS % LIMB_BITS {
                0 => 0,
                _ => chunk * (BITS * DIGITS) as u32 % LIMB_BITS as u32,
            };
            let mut below = 0;
            for limb in &mut limbs {
                let both = u64::from(*limb) << LIMB_BITS | below;
                below = u64::from(*limb);
                *limb = (both << shift >> LIMB_BITS) as Limb;
            }
            let [a, b, c, d, e, f, g, h] = limbs;
            chunks.set_four_below(chunk * (DIGITS as u32 / 8), u32::MAX, [a, b, c, d]);
            if DIGITS == 16 {
                chunks.set_four_below(2 * chunk + 1, u32::MAX, [e, f, g, h]);
            }
            let two = |x: u64| [x as Limb, (x >> LIMB_BITS) as Limb];
            // It begins where the next chunk does.
            let next = (shift + (BITS * DIGITS) as u32) % LIMB_BITS as u32;
            carries.set_two(chunk + 1, two(left << next));
            // What stands below the lowest chunk.
            match self.wraps() {
                false if chunk == 0 => carries.set_two(0, [0; 2]),
                // `2^(48 - BITS)` for each of what was added to coefficients above and below and what was left for this,
                // less what is carried out, which is less than two of them.
                true if chunk == last => carries.set_two(0, two(3 * telescoped - left)),
                _ => {}
            }
            task += THREADS;
        }
    }

    /// A number's limbs in a matrix of chunks or of carries.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn row(self, matrix: &MatrixArgument, number: u32) -> Row {
        // SAFETY: `new`'s caller vouches for the memory; no two threads have the same chunk.
        unsafe { Row::new(matrix, u64::from(number) * matrix.number_stride) }
    }
}

/// Chunks and carries of several numbers, cut into limbs. If `MARKED`, some numbers are marked, and those are cut in the second way.
#[derive(Clone, Copy)]
struct Chunks<const MARKED: bool> {
    chunks: Batch<Unit>,
    carries: Batch<Unit>,
    marks: Batch<Unit>,
    cuts: [ChunkCut; 2],
    from: u32,
}

impl<const MARKED: bool> Terms for Chunks<MARKED> {
    /// There is no branch, so that all limbs of a tile are on their way at once.
    #[inline(always)]
    fn limbs(self, number: i32, limb: u32, at: u32, end: u32) -> (Limb, Limb) {
        let is_marked = MARKED && self.marks.row(number).first_below(at, end) != 0;
        let cut = self.cuts[usize::from(is_marked)];
        let Start { chunk, limb, ends } = cut.start(limb + self.from);
        // All ones where something is not asked for.
        let unless = |is_it: bool| u32::from(is_it).wrapping_sub(1);
        let chunks = self.chunks.row(number);
        let own = chunks.up(chunk * cut.limbs() + limb).first_below(at, end);
        let next = chunks.up((chunk + 1) * cut.limbs());
        let next = next.first_below(at | unless(ends), end);
        // What is carried into the next chunk begins with it.
        let (of_next, of_own) = (2 * (chunk + 1), 2 * chunk + limb);
        let carry = self
            .carries
            .row(number)
            .up(if ends { of_next } else { of_own });
        (
            own | next,
            carry.first_below(at | unless(ends | (limb < 2)), end),
        )
    }
}

/// The limbs of products of which there are chunks and carries; if `MARKED`, by two plans.
///
/// # Safety
/// `arguments` are those of a launch that [`bigint_core::transform::grid`] describes, as
/// [`Batches::new`] demands.
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn sums<S: Stride, const MARKED: bool>(arguments: &SumArguments) {
    let SumArguments {
        sum,
        cuts,
        marks,
        from,
    } = arguments;
    let marks = MatrixArgument {
        // Behind the word that says whether there are any.
        limbs: marks + size_of::<Limb>() as u64,
        number_stride: 1,
        ..MatrixArgument::default()
    };
    // SAFETY: by this function's own contract.
    let batches = unsafe { Batches::<32, S>::new(sum) };
    batch_of::<Sum, S, _>(batches, |first| {
        // SAFETY: as above; the numbers are those of the launch.
        let of = |matrix| unsafe { Batch::new(matrix, first) };
        Chunks::<MARKED> {
            chunks: of(&sum.a),
            carries: of(&sum.b),
            marks: of(&marks),
            cuts: *cuts,
            from: *from,
        }
    });
}
