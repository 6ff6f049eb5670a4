//! Products by number-theoretic transforms modulo four primes.
//!
//! Operands are cut into coefficients of `2 h` bits. The polynomials are multiplied modulo
//! `x^n - 1`, or modulo the truncation that [`top`] describes, in four prime fields. The
//! coefficients of the product are put together from their residues.
//!
//! **Exactness.** A coefficient of the product is a sum of at most `m` terms below `2^(4 h)`, where
//! `m` is the number of coefficients of the shorter operand. Its residues determine it if it is
//! below `M = p0 p1 p2 p3 > 2^194.7`, so if `m 2^(4 h) <= 2^194.7`. That gives `h = 44` for
//! `m <= 2^18.7`, `h = 43` for `m <= 2^22.7`, `h = 42` for `m <= 2^26.7`, and `h = 40` beyond. All
//! arithmetic is exact in integers, or in doubles that hold integers (see `avx2`). Nothing is
//! rounded, so there is no error term, and operands whose bits are all ones are as exact as any
//! others.
//!
//! **Order of work.** There are five stages, each on several threads if the caller wants them:
//! 1. The operands are split, and the first three levels computed, by tiles of columns.
//! 2. For each prime and block, the other levels of both operands, the pointwise product and the
//!    same levels back are computed while the block is in the second-level cache.
//! 3. The first three levels back are computed by columns.
//! 4. Residues become limbs, by ranges of coefficients.
//! 5. The carry of each range, which is a few limbs, is added to the next range, one after the
//!    other.
//!
//! **Cost**: three transforms of `n >= (bits of the product) / 2 h` points for each prime (two for
//! a square), which is `O(n log n)`. **Scratch**: 64 bytes for each 16 h bits of the product, four
//! times for each operand: about 5.9 times the size of the product, and 2.9 times for a square.
//! [`buffer`] says how long it is kept.
//!

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_recombine;
mod buffer;
mod engine;
mod field;
mod jobs;
mod middle;
mod pairs;
mod passes;
mod pointwise;
mod portable;
mod recombine;
mod stages;
#[cfg(test)]
mod tests;
mod top;

use self::buffer::with_rows;
use self::engine::{Engine, PortableEngine};
use self::field::{Row, Stored};
use self::jobs::{Blocks, InverseTop, Recombine, SplitTop, Times, Values};
pub(crate) use self::middle::Factor;
pub(crate) use self::pairs::{Fractions, middles, sum_of_fractions};
use self::recombine::Overflow;
use super::isa::Isa;
use super::limbs::add_assign;
use crate::fast::crew::together;
use crate::memory::scratch;
use crate::share;
use crate::threads;

/// Computes `r = a b`, as a square if both are the same slice. The operands have any lengths from
/// one limb on, and `r.len() == a.len() + b.len()`.
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa, parallel: bool) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512(token, _) => mul_on(engine::Avx512Engine(token), r, a, b, parallel),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2(token) => mul_on(engine::Avx2Engine(token), r, a, b, parallel),
        _ => mul_on(PortableEngine, r, a, b, parallel),
    }
}

/// The shape of a transform: `blocks` blocks of `2^log_block` rows of eight coefficients of `2 h`
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    h: u32,
    blocks: usize,
    log_block: u32,
}

impl Plan {
    /// The smallest shape for operands of these lengths in limbs.
    fn new(a: usize, b: usize) -> Self {
        Self::with_pieces(Self::pieces(1, a.min(b)), a, b)
    }

    /// The bits of pieces for sums of so many products, whose shorter factors have so many limbs.
    fn pieces(products: usize, limbs: usize) -> u32 {
        // The bounds use that 2^0.7 > 1.6.
        [(44, 18), (43, 22), (42, 26)]
            .into_iter()
            .find(|&(h, log)| 10 * products * coefficients(limbs, h) <= 16 << log)
            .map_or(field::MIN_H, |(h, _)| h)
    }

    /// The smallest shape for pieces of `h` bits.
    fn with_pieces(h: u32, a: usize, b: usize) -> Self {
        let rows = (coefficients(a, h) + coefficients(b, h)).div_ceil(8);
        // A block has at least four rows, as there are groups of four rows and pairs of nodes.
        let log_block = rows.div_ceil(8).next_power_of_two().ilog2().max(2);
        let blocks = rows.div_ceil(1 << log_block).max(5);
        Plan {
            h,
            blocks,
            log_block,
        }
    }

    const fn block(&self) -> usize {
        1 << self.log_block
    }

    const fn rows(&self) -> usize {
        self.blocks << self.log_block
    }

    /// The rows from the first row of one prime to the first row of the next. Blocks lie a power of
    /// two apart, and so share the sets of the first-level cache. Without a gap between the primes
    /// the blocks of all four would share them, and a tile of columns would not fit.
    const fn stride(&self) -> usize {
        self.rows() + jobs::TILE
    }
}

/// The number of coefficients of `2 h` bits in so many limbs.
fn coefficients(limbs: usize, h: u32) -> usize {
    (64 * limbs).div_ceil(2 * h as usize)
}

/// The limbs of a product below which it takes longer to wake other threads than they save.
const PARALLEL_LIMBS: usize = 1 << 12;

fn mul_on<E: Engine>(engine: E, r: &mut [u64], a: &[u64], b: &[u64], parallel: bool) {
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if a.len() < 4 * b.len() {
        let plan = Plan::new(a.len(), b.len());
        return Product::new(engine, plan, r.len(), parallel).whole(r, a, b);
    }
    // With pieces of a of L limbs, a piece costs 2 L + b, and there are a / L pieces, beside the
    // transforms of b at that length. The total is least near L^2 = 2 a b.
    let length = (2 * a.len() * b.len()).isqrt();
    let length = a.len().div_ceil(a.len().div_ceil(length));
    let plan = Plan::new(length, b.len());
    Product::new(engine, plan, r.len(), parallel).by_pieces(r, a, b, length);
}

/// A product that is being computed.
#[derive(Clone, Copy)]
struct Product<E> {
    engine: E,
    plan: Plan,
    parallel: bool,
}

impl<E: Engine> Product<E> {
    /// A product on several threads, if `parallel` and if the `limbs` of the operands or of the
    /// result are worth it.
    fn new(engine: E, plan: Plan, limbs: usize, parallel: bool) -> Self {
        Product {
            engine,
            plan,
            parallel: parallel && limbs >= PARALLEL_LIMBS && threads() > 1,
        }
    }

    /// Computes `r = a b`, with each operand transformed once.
    fn whole(&self, r: &mut [u64], a: &[u64], b: &[u64]) {
        let square = std::ptr::eq(a, b);
        let length = 4 * self.plan.stride();
        with_rows(if square { length } else { 2 * length }, |buffer| {
            let (x, y) = buffer.split_at_mut(length);
            self.together(|| {
                if square {
                    self.split([(x, a)]);
                    self.finish(r, x, std::iter::repeat_with(|| Times::Itself), 0);
                } else {
                    self.split([(x, a), (y, b)]);
                    let factors = self.blocks(y).map(Times::Coefficients);
                    self.finish(r, x, factors, 0);
                }
            });
        });
    }

    /// Computes `r = a b`, with one transform of `b` for all pieces of `a`, which have `length`
    /// limbs.
    fn by_pieces(&self, r: &mut [u64], a: &[u64], b: &[u64], length: usize) {
        r.fill(0);
        with_rows(8 * self.plan.stride(), |buffer| {
            let (x, y) = buffer.split_at_mut(4 * self.plan.stride());
            self.together(|| {
                self.values(y, b);
                let mut part = scratch(length + b.len());
                for (i, piece) in a.chunks(length).enumerate() {
                    let factors = self.shared_blocks(y).map(Times::Values);
                    let part = &mut part[..piece.len() + b.len()];
                    self.split([(&mut *x, piece)]);
                    self.finish(part, x, factors, 0);
                    let overflow = add_assign(&mut r[i * length..], part);
                    debug_assert!(!overflow);
                }
            });
        });
    }

    /// Runs all stages, for which the threads stay awake if there are to be several.
    fn together<R>(&self, stages: impl FnOnce() -> R) -> R {
        together(if self.parallel { threads() } else { 1 }, stages)
    }

    /// The number of tasks into which a stage is cut.
    fn tasks(&self) -> usize {
        if self.parallel { 8 * threads() } else { 1 }
    }

    fn for_each<T: Send>(&self, tasks: impl Iterator<Item = T>, f: impl Fn(T) + Sync + Send) {
        if self.parallel {
            share(tasks, threads(), f);
        } else {
            tasks.for_each(f);
        }
    }

    /// The blocks of all primes, prime by prime.
    fn blocks<'a>(&self, rows: &'a mut [Row]) -> impl Iterator<Item = &'a mut [Row]> {
        let plan = self.plan;
        rows.chunks_exact_mut(plan.stride())
            .flat_map(move |rows| rows[..plan.rows()].chunks_exact_mut(plan.block()))
    }

    /// The same as [`Product::blocks`], for reading.
    fn shared_blocks<'a>(&self, rows: &'a [Row]) -> impl Iterator<Item = &'a [Row]> {
        let plan = self.plan;
        rows.chunks_exact(plan.stride())
            .flat_map(move |rows| rows[..plan.rows()].chunks_exact(plan.block()))
    }

    /// The columns of all blocks of all primes in ranges, one for each task. A range is its first
    /// column, and its part of each block.
    fn column_ranges<'a>(&self, rows: &'a mut [Row]) -> Vec<(usize, Vec<&'a mut [Row]>)> {
        let width = self
            .plan
            .block()
            .div_ceil(self.tasks())
            .next_multiple_of(jobs::TILE);
        let ranges = self.plan.block().div_ceil(width);
        let mut tasks: Vec<_> = (0..ranges)
            .map(|i| (i * width, Vec::with_capacity(4 * self.plan.blocks)))
            .collect();
        for block in self.blocks(rows) {
            for (task, part) in tasks.iter_mut().zip(block.chunks_mut(width)) {
                task.1.push(part);
            }
        }
        tasks
    }

    /// Splits operands into coefficients modulo the four primes, and computes the first three
    /// levels.
    fn split<const N: usize>(&self, operands: [(&mut [Row], &[u64]); N]) {
        let Product { engine, plan, .. } = *self;
        let tasks = operands.into_iter().flat_map(|(rows, limbs)| {
            let ranges = self.column_ranges(rows).into_iter();
            ranges.map(move |(first, blocks)| (limbs, first, blocks))
        });
        self.for_each(tasks, |(limbs, first, blocks)| {
            engine.enter(SplitTop {
                limbs,
                plan,
                first,
                blocks,
            });
        });
    }

    /// Computes the whole transform of an operand.
    fn values(&self, rows: &mut [Row], limbs: &[u64]) {
        self.split([(&mut *rows, limbs)]);
        let Product { engine, plan, .. } = *self;
        let roots = self.roots();
        self.for_each(self.blocks(rows).enumerate(), |(i, x)| {
            let (prime, index) = (i / plan.blocks, i % plan.blocks);
            engine.enter(Values {
                prime,
                index,
                x,
                roots: &roots[prime],
            });
        });
    }

    fn roots(&self) -> &'static [Vec<Stored>; 4] {
        let length = self.plan.rows().next_power_of_two() / 2;
        self.engine.tables().roots(length)
    }

    /// Computes everything after the splitting: `r` from the columns of `x` and the factor of each
    /// block. `r` begins with the coefficients of row `first`. Returns what is above `r`.
    fn finish<'a>(
        &self,
        r: &mut [u64],
        x: &mut [Row],
        factors: impl Iterator<Item = Times<'a>>,
        first: usize,
    ) -> Overflow {
        let Product { engine, plan, .. } = *self;
        let roots = self.roots();
        let blocks = self.blocks(x).zip(factors);
        self.for_each(blocks.enumerate(), |(i, (x, y))| {
            let (prime, index) = (i / plan.blocks, i % plan.blocks);
            engine.enter(Blocks {
                plan,
                prime,
                index,
                x,
                y,
                roots: &roots[prime],
            });
        });
        self.back(r, x, first)
    }

    /// Computes everything after the blocks: `r`, from row `first` on. Returns what is above `r`.
    fn back(&self, r: &mut [u64], x: &mut [Row], first: usize) -> Overflow {
        let Product { engine, plan, .. } = *self;
        self.for_each(self.column_ranges(x).into_iter(), |(_, blocks)| {
            engine.enter(InverseTop { plan, blocks });
        });
        self.recombine(r, x, first)
    }

    /// Makes limbs of residues, from row `first` on. Returns what is above them, where they end with a group of rows.
    fn recombine(&self, r: &mut [u64], x: &[Row], first: usize) -> Overflow {
        let Product { engine, plan, .. } = *self;
        let h = plan.h as usize;
        // Four rows are h limbs, so ranges are whole groups of four.
        let groups = r.len().div_ceil(h);
        let width = groups.div_ceil(self.tasks());
        let mut overflows = vec![[0; 3]; groups.div_ceil(width)];
        let tasks = r.chunks_mut(width * h).zip(&mut overflows).enumerate();
        self.for_each(tasks, |(i, (out, overflow))| {
            let first = first + recombine::GROUP * i * width;
            let rows = recombine::GROUP * out.len().div_ceil(h);
            let residues = std::array::from_fn(|prime| &x[prime * plan.stride() + first..][..rows]);
            *overflow = engine.enter(Recombine {
                plan,
                residues,
                out,
            });
        });
        let (mut above, mut carries) = ([0; 3], 0);
        for (i, overflow) in overflows.into_iter().enumerate() {
            let start = ((i + 1) * width * h).min(r.len());
            let rest = &mut r[start..];
            let reached = rest.len().min(overflow.len());
            carries += u64::from(add_assign(rest, &overflow[..reached]));
            above = overflow;
        }
        add_assign(&mut above, &[carries]);
        above
    }
}
