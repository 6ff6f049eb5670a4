//! Products by transforms over the complex numbers on the whole device, in the form shared by host and
//! device. They serve numbers that are too wide for a block.
//!
//! As for a block, numbers are polynomials modulo `x^L - i`. Their `L = N m` digits are a matrix of `N`
//! rows of `m`. With `X = x^m` the columns are polynomials modulo `X^N - i`. They go down the tree of
//! [`super`] to its leaves: the first pass has radix `f`, which is 8, 9, 10 or 12, and `N = f 2^q`. Child `k`
//! of the root has `t = (1/4 + s) / f` with `s = k`, or `k` with its bits reversed where `f` is 8. Row `p`
//! of the result, below child `k` in place `b`, is a polynomial in `x` modulo `x^m - e(t)`, where
//!
//! ```text
//! t = (1 + 4 r) / 4 N,    r = s + f b',    b' is b with its q bits reversed.
//! ```
//!
//! Rows go on down the same tree, until polynomials modulo `x^4 - z` are multiplied. Node `b` at depth `d` of the row's own
//! tree has the root
//!
//! ```text
//! e((t + b') / 2^(d+1))  =  e(t / 2^(d+1))  e(b' / 2^(d+1)),
//! ```
//!
//! a root of the row times a root that all rows share, so that two short tables serve a long transform. The way
//! back undoes these steps.
//!
//! # The launches
//!
//! | kernel | a block has | reads | writes |
//! |---|---|---|---|
//! | [`FORTH`] | [`GridPlan::log_columns`] columns of one operand | limbs | points |
//! | [`ROWS`] | 16 points for each of [`GridPlan::row_threads`]: rows, of both operands | points | points of the product, in place of the first's |
//! | [`BACK`] | columns of the product | points | chunks, and carries |
//! | [`SUMS`] | a warp: a stretch of products | chunks, and carries | limbs |
//!
//! The coefficients of a block's columns in a row, or of 16 of them, are a chunk of digits. The sum of its coefficients may need
//! more bits; that is a carry. Chunks and carries are written in places of their own, in their order: a chunk has
//! 4 or 8 limbs, half a sector or a whole one, and a carry two. They are moved up to where they begin within a limb. [`SUMS`] cuts chunks and
//! carries into limbs, and adds both as sums are added.
//!
//! # Products that wrap
//!
//! With `b` bits to a digit and `n = 2 L b / 32`, a transform of `L` points also gives products of operands of up to `2 L`
//! digits modulo `2^(32 n) + 1`, which is half as long as that of a whole product: `x^L` is `i`, so that digit `k + L`
//! is the imaginary part of point `k`, and `x^2L` is -1. Chunks and carries are as above, but for what is carried above limb `n`:
//! it is subtracted from what stands in the carries' lowest place, where [`BACK`] leaves room for it. Chunks and carries
//! together are congruent to the product; they are below `2^(32 n + 1)`. For 23 times 67 to the base 10, with
//! `L` = 1: `(3 + 2 i)(7 + 6 i)` is `9 + 32 i`, and `9 + 320` is 1541 modulo 101.
//!
//! # Two products of the same points
//!
//! Trees multiply the same numbers `c` and `d` three times: up for `c d` and for `a d + b c`, and down for `f c` and `f d`
//! modulo `2^(32 n) + 1`. All of these are made of points modulo `x^L - i`. So those of `c` and `d` are computed once, by a launch of
//! [`FORTH`] for either, and kept: [`PAIRS`] leaves them as they are. In place of [`ROWS`] it takes the rows of `c`, `d` and of `a` and `b`, or of `f`:
//!
//! | operands | of these | first products | second ones |
//! |---|---|---|---|
//! | 2 | `a`, `b` | `a d + b c` | `c d` |
//! | 1 | `f` | `f d` | `f c` |
//!
//! The points of first products of all numbers take the places of those of `a` or of `f`, and those of second products follow them. So
//! [`FORTH`] is launched for one operand at a time, and [`BACK`] once, as for twice as many numbers of one operand.
//!
//! # Exactness
//!
//! Digits are balanced, and have as many bits as [`GridPlan::error_bound`] allows, or
//! [`GridPlan::wrapped_error_bound`], or both for twice the products.
//!
//! A [`daring`](GridPlan::daring) plan has digits of a bit more, which shortens transforms by up to an eighth. It is exact where the squares of the
//! digits of both operands have [sums](GridPlan::greatest_norms) that are not much above those of usual operands. [`FORTH`] sums them, [`BACK`] marks
//! the numbers whose sums are too great, and the kernels of [`AGAIN`] multiply those once more, by a plan that is exact for all operands. Where no number is marked they
//! end at once. The host waits for nothing.

mod bound;
mod chunks;
mod daring;
mod launches;

pub use chunks::{ChunkCut, Start, SumArguments};
pub use launches::Way;

use super::root_of;
use crate::kernel::{EntryPoint, MatrixArgument};

/// The threads of a block of [`FORTH`] and [`BACK`].
pub const THREADS: u32 = 256;

/// The PTX module that has the kernels.
pub const MODULE: &str = "mul_grid";

/// The kernel that cuts limbs into digits and goes down the tree by columns.
pub const FORTH: EntryPoint = entry("mul_fft_grid_forth");

/// The kernels that go down the tree by rows, multiply, and go up again, of 128 and of 256 threads.
pub const ROWS: [EntryPoint; 2] = [
    entry("mul_fft_grid_rows_128"),
    entry("mul_fft_grid_rows_256"),
];

/// The kernels that go down the tree by rows, and make [two products](self#two-products-of-the-same-points) of
/// several operands, of 256 and of 512 threads.
pub const PAIRS: [EntryPoint; 2] = [
    entry("mul_fft_grid_pairs_256"),
    entry("mul_fft_grid_pairs_512"),
];

/// The kernel that goes up the tree by columns, and turns coefficients into chunks and carries.
pub const BACK: EntryPoint = entry("mul_fft_grid_back");

/// The kernels that make products of chunks and carries, in contiguous and in interleaved batches. Their launches are those of
/// [`Add`](crate::Operation::Add) by lookahead.
pub const SUMS: [EntryPoint; 2] = [
    entry("mul_fft_grid_sums_contiguous"),
    entry("mul_fft_grid_sums_interleaved"),
];

/// The same where some numbers are marked.
pub const SUMS_AGAIN: [EntryPoint; 2] = [
    again("mul_fft_grid_sums_contiguous_again"),
    again("mul_fft_grid_sums_interleaved_again"),
];

/// The PTX module that has the kernels of [`AGAIN`] and of [`SUMS_AGAIN`].
pub const AGAIN_MODULE: &str = "mul_grid_again";

/// The kernels that do for marked numbers what [`FORTH`], both of [`ROWS`] and [`BACK`] do for all.
pub const AGAIN: [EntryPoint; 4] = [
    again("mul_fft_grid_forth_again"),
    again("mul_fft_grid_rows_128_again"),
    again("mul_fft_grid_rows_256_again"),
    again("mul_fft_grid_back_again"),
];

const fn again(name: &'static str) -> EntryPoint {
    EntryPoint {
        name,
        module: AGAIN_MODULE,
    }
}

/// The most blocks of a kernel of [`AGAIN`].
pub const AGAIN_BLOCKS: u32 = 512;

const fn entry(name: &'static str) -> EntryPoint {
    EntryPoint {
        name,
        module: MODULE,
    }
}

/// The blocks for which a multiprocessor should have enough registers, of [`FORTH`] and [`BACK`].
pub const COLUMN_BLOCKS: u32 = 4;

/// The threads of all blocks of [`ROWS`] for which it should have enough.
pub const ROW_THREADS: u32 = 512;

/// The threads of a block of [`SUMS`], and the blocks for which a multiprocessor should have enough registers.
pub const SUM_BOUNDS: [u32; 2] = [128, 6];

/// The binary logarithm of the most digits of a chunk.
const LOG_CHUNK: u32 = 4;

/// The binary logarithm of the points of the longest row.
const LONGEST_ROW: u32 = 11;

/// The levels of a row's first pass, of radix 16. Its last pass has one level, and ends in products.
pub const FIRST_LEVELS: u32 = 4;

/// The number of roots in the table that all rows share: those of a tree below `e(0)`, as far as the longest row's last
/// pass. The root of node `b` at depth `d` is in place `2^d + b`.
pub const TREE: usize = 1 << 9;

/// The roots of a row: eight for its first pass, then one for each level that follows.
pub const ROW_ROOTS: u32 = 13;

/// The place among a row's roots of those of the levels that follow its first pass.
pub const FURTHER: u32 = 8;

/// The length of a transform, its cut into rows, and the width of its digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct GridPlan {
    /// The radix of a column's first pass, `f`: 8, 9, 10 or 12.
    pub radix: u32,
    /// The levels of a column below the first pass, `q`.
    pub log_part: u32,
    /// The binary logarithm of a row's length.
    pub log_row: u32,
    /// The bits of a digit.
    pub digit_bits: u32,
}

/// The one parameter of the three kernels, passed by value. Addresses are in device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridArguments {
    /// The first operand. The launch begins with its first number.
    pub a: MatrixArgument,
    /// The second operand. It is not read if `operands` is 1.
    pub b: MatrixArgument,
    /// The chunks of the product, [`GridPlan::chunk_limbs`] limbs for each number.
    pub chunks: MatrixArgument,
    /// The carries, [`GridPlan::carry_limbs`] limbs for each number: first what is added to the lowest chunk, then what each chunk
    /// carries.
    pub carries: MatrixArgument,
    /// The address of the points, a pair of doubles for each: for each number, `L` points of each
    /// operand.
    pub points: u64,
    /// The addresses of the points of `c` and of `d` that [`PAIRS`] multiplies by, `L` for each number; else 0.
    pub kept: [u64; 2],
    /// The address of the table that rows share, of [`TREE`] roots.
    pub tree: u64,
    /// The address of the columns' roots. That of node `b` at depth `d` below child `k` of the first pass is in place
    /// `k 2^q + 2^d + b`.
    pub columns: u64,
    /// The address of the rows' roots, [`ROW_ROOTS`] for each.
    pub rows: u64,
    /// The factor `4 / L`, which turns the results of columns into coefficients.
    pub scale: f64,
    /// The length, its cut and its digits.
    pub plan: GridPlan,
    /// The number of numbers.
    pub count: u32,
    /// The number of operands: 2, or 1 if a number is multiplied by itself.
    pub operands: u32,
    /// The check of operands of a daring plan.
    pub norms: Norms,
    /// 1 where products are wanted modulo `2^(32 n) + 1`, `n` the limbs of sums, of a plan that
    /// [`wraps`](GridPlan::wraps); else 0.
    pub wraps: u32,
}

/// The check of operands by the sums of their squared digits, and the marks of those that are too great.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Norms {
    /// The address of doubles, [`GridPlan::norms`] for each operand of each number: a sum for each warp of [`FORTH`]. It is 0 where none are wanted.
    pub sums: u64,
    /// The address of words: whether any number is marked, and whether each one is. It is 0 where there are no marks.
    pub marks: u64,
    /// The greatest product of both operands' sums for which a number is not marked.
    pub greatest: f64,
}

impl GridArguments {
    /// The arguments in the order in which a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let matrices = [self.a, self.b, self.chunks, self.carries];
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let GridPlan {
            radix,
            log_part,
            log_row,
            digit_bits,
        } = self.plan;
        let [c, d] = self.kept;
        let rest = [
            self.points,
            c,
            d,
            self.tree,
            self.columns,
            self.rows,
            self.scale.to_bits(),
            pair(radix, log_part),
            pair(log_row, digit_bits),
            pair(self.count, self.operands),
            self.norms.sums,
            self.norms.marks,
            self.norms.greatest.to_bits(),
            pair(self.wraps, 0),
        ];
        matrices.into_iter().flat_map(matrix).chain(rest)
    }

    /// The stretches of device memory that the kernels touch beside the matrices: their addresses and
    /// their lengths in limbs.
    pub fn stretches(&self) -> [(u64, u64); 8] {
        let plan = self.plan;
        let of_operand = self.count as u64 * plan.length() as u64;
        let operands = u64::from(self.operands);
        let [c, d] = self.kept;
        let places = if c == 0 { operands } else { 2 };
        let Norms { sums, marks, .. } = self.norms;
        let if_any = |address: u64, limbs: u64| (address, if address == 0 { 0 } else { limbs });
        let norms = u64::from(self.count) * operands * u64::from(plan.norms());
        [
            (self.points, 4 * places * of_operand),
            if_any(c, 4 * of_operand),
            if_any(d, 4 * of_operand),
            if_any(sums, 2 * norms),
            if_any(marks, 1 + u64::from(self.count)),
            (self.tree, 4 * TREE as u64),
            (self.columns, 4 * plan.rows() as u64),
            (self.rows, 4 * plan.row_roots() as u64),
        ]
    }
}

impl GridPlan {
    /// Every plan of products, shortest first.
    pub fn all() -> impl Iterator<Item = GridPlan> {
        GridPlan::every(GridPlan::is_exact)
    }

    /// Every plan of products [modulo](self#products-that-wrap) `2^(32 n) + 1`, shortest first.
    pub fn all_that_wrap() -> impl Iterator<Item = GridPlan> {
        GridPlan::every(|plan| plan.wrapped_error_bound() < 0.5)
    }

    /// Every plan of [two products](self#two-products-of-the-same-points), shortest first.
    pub fn all_of_pairs() -> impl Iterator<Item = GridPlan> {
        // Four longer rows are a block of 512 threads, which has a multiprocessor to itself; where rows are no longer, there are
        // columns for it.
        GridPlan::every_in_rows(
            |plan| plan.pair_error_bound() < 0.5,
            |log| if log < 16 { 10 } else { LONGEST_ROW },
        )
    }

    fn every(is_exact: impl Fn(&GridPlan) -> bool + Copy) -> impl Iterator<Item = GridPlan> {
        GridPlan::every_in_rows(is_exact, |_| LONGEST_ROW)
    }

    fn every_in_rows(
        is_exact: impl Fn(&GridPlan) -> bool + Copy,
        longest_row: impl Fn(u32) -> u32,
    ) -> impl Iterator<Item = GridPlan> {
        (10..=17).flat_map(move |log| {
            let log_row = (log - 3).clamp(8, longest_row(log));
            [8, 9, 10, 12].map(|radix| GridPlan::new(radix, log, log_row, is_exact))
        })
    }

    /// The shortest plan for products modulo `2^(32 n) + 1`, where `n`, its [`product_limbs`](Self::product_limbs), is
    /// `limbs` or more. Operands have up to `n` limbs.
    ///
    /// ```
    /// use bigint_core::transform::grid::GridPlan;
    /// let plan = GridPlan::wraps(1 << 15).unwrap();
    /// assert_eq!((plan.length(), plan.digit_bits), (9 << 12, 15));
    /// ```
    pub fn wraps(limbs: usize) -> Option<GridPlan> {
        GridPlan::all_that_wrap().find(|plan| limbs <= plan.product_limbs())
    }

    /// The shortest plan for [two products](self#two-products-of-the-same-points) of operands of up to `limbs` limbs, and of
    /// fractions of up to `of_products`.
    ///
    /// ```
    /// use bigint_core::transform::grid::GridPlan;
    /// let plan = GridPlan::of_pairs(1 << 15, 1 << 16).unwrap();
    /// assert_eq!((plan.length(), plan.digit_bits), (10 << 13, 14));
    /// ```
    pub fn of_pairs(limbs: usize, of_products: usize) -> Option<GridPlan> {
        GridPlan::all_of_pairs()
            .find(|plan| limbs <= plan.limbs() && of_products <= plan.product_limbs())
    }

    /// The shortest plan for operands of up to `limbs` limbs. It is `None` above
    /// [`most_limbs`](Self::most_limbs).
    ///
    /// ```
    /// use bigint_core::transform::grid::GridPlan;
    /// let plan = GridPlan::of(1 << 15).unwrap();
    /// assert_eq!((plan.length(), plan.digit_bits), (9 << 13, 15));
    /// ```
    pub fn of(limbs: usize) -> Option<GridPlan> {
        GridPlan::all().find(|plan| limbs <= plan.limbs())
    }

    /// The widest operands, in limbs, for which there is a plan.
    pub fn most_limbs() -> usize {
        GridPlan::all().map(|plan| plan.limbs()).max().unwrap_or(0)
    }

    /// Makes the plan of `radix 2^log` digits in rows of `2^log_row`, which are as wide as is exact.
    fn new(radix: u32, log: u32, log_row: u32, is_exact: impl Fn(&GridPlan) -> bool) -> GridPlan {
        let mut plan = GridPlan {
            radix,
            log_part: log - log_row,
            log_row,
            digit_bits: 16,
        };
        while !is_exact(&plan) {
            plan.digit_bits -= 1;
        }
        plan
    }

    /// The digits of each operand, `L`.
    #[inline(always)]
    pub const fn length(&self) -> u32 {
        self.rows() << self.log_row
    }

    /// The most limbs of each operand.
    pub const fn limbs(&self) -> usize {
        (self.length() as u64 * self.digit_bits as u64 / 32) as usize
    }

    /// The limbs of a product.
    pub const fn product_limbs(&self) -> usize {
        (2 * self.length() as u64 * self.digit_bits as u64 / 32) as usize
    }

    /// The number of rows, `N`.
    #[inline(always)]
    pub const fn rows(&self) -> u32 {
        self.radix << self.log_part
    }

    /// The binary logarithm of the points that a block has of each child of a column's first pass: a butterfly
    /// of that pass for each thread, or two where fewer columns would be no whole chunk on the way back, or less than a line of each row.
    #[inline(always)]
    pub const fn log_points_of_part(&self, way: Way) -> u32 {
        match (way, self.log_part) {
            (_, 6) | (Way::Back, 5) => 9,
            _ => 8,
        }
    }

    /// The binary logarithm of the number of columns that a block has.
    #[inline(always)]
    pub const fn log_columns(&self, way: Way) -> u32 {
        self.log_points_of_part(way) - self.log_part
    }

    /// The binary logarithm of the digits of a chunk: 3 or 4.
    #[inline(always)]
    pub const fn log_chunk(&self) -> u32 {
        match self.log_columns(Way::Back) {
            columns @ 0..LOG_CHUNK => columns,
            _ => LOG_CHUNK,
        }
    }

    /// The chunks that a block of [`BACK`] has of either half of a product.
    #[inline(always)]
    pub const fn chunks(&self) -> u32 {
        self.rows() << (self.log_columns(Way::Back) - self.log_chunk())
    }

    /// The blocks that take one number's columns.
    #[inline(always)]
    pub const fn column_blocks(&self, way: Way) -> u32 {
        1 << (self.log_row - self.log_columns(way))
    }

    /// The number of roots of [`GridArguments::rows`].
    pub const fn row_roots(&self) -> u32 {
        ROW_ROOTS * self.rows()
    }

    /// The `s` of child `k` of the first pass.
    fn child(&self, k: u32) -> u32 {
        match self.radix.is_power_of_two() {
            true => reversed(k, self.radix.trailing_zeros()),
            false => k,
        }
    }

    /// Fills the table of [`GridArguments::columns`].
    pub fn fill_columns(&self, table: &mut [[f64; 2]]) {
        for (place, entry) in (0..self.rows()).zip(table) {
            let (k, node) = (place >> self.log_part, place & ((1 << self.log_part) - 1));
            // There is no node 0.
            let depth = node.max(1).ilog2();
            let s = self.child(k) + self.radix * reversed(node & ((1 << depth) - 1), depth);
            *entry = root_of(1 + 4 * u64::from(s), (8 * u64::from(self.radix)) << depth);
        }
    }

    /// Fills the table of [`GridArguments::rows`].
    pub fn fill_rows(&self, table: &mut [[f64; 2]]) {
        let quarter = 4 * u64::from(self.rows());
        for (p, roots) in (0..self.rows()).zip(table.chunks_mut(ROW_ROOTS as usize)) {
            let (k, b) = (p >> self.log_part, p & ((1 << self.log_part) - 1));
            let s = self.child(k) + self.radix * reversed(b, self.log_part);
            // `t` in units of `1 / quarter` turns, and a whole turn of `e(t / 2^levels)` in its units.
            let (t, turn) = (1 + 4 * u64::from(s), |levels: u32| quarter << levels);
            let on = |levels: u32, sixteenths: u64| {
                root_of(t + turn(levels) / 16 * sixteenths, turn(levels))
            };
            let first = [
                (1, 0),
                (2, 0),
                (3, 0),
                (3, 2),
                (4, 0),
                (4, 2),
                (4, 1),
                (4, 3),
            ];
            let first = first.map(|(levels, sixteenths)| on(levels, sixteenths));
            let further = (FIRST_LEVELS + 1..).map(|levels| on(levels, 0));
            let all = first.into_iter().chain(further);
            for (entry, root) in roots.iter_mut().zip(all) {
                *entry = root;
            }
        }
    }
}

/// Fills the table that rows share, which has [`TREE`] roots. Index 0 is not used.
pub fn fill_tree(table: &mut [[f64; 2]]) {
    for (place, entry) in (0..).zip(table).skip(1) {
        let depth = u32::ilog2(place);
        let r = reversed(place - (1 << depth), depth);
        *entry = root_of(u64::from(r), 2 << depth);
    }
}

/// The lowest `bits` bits of `b` in reverse order.
const fn reversed(b: u32, bits: u32) -> u32 {
    match bits {
        0 => 0,
        _ => b.reverse_bits() >> (u32::BITS - bits),
    }
}

/// The place in shared memory of point `i`. Behind every eight points one place is left free, so that
/// points a power of two apart meet in no bank.
#[inline(always)]
pub const fn padded(i: u32) -> u32 {
    i + (i >> 3)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn every_plan_is_exact_by_proof_and_fits() {
        let mut before = 0;
        for plan in GridPlan::all() {
            assert!(plan.error_bound() < 0.5, "{plan:?}");
            let norms = plan.greatest(1);
            // This is less than the number that `BACK` adds to a coefficient so that none is negative.
            assert!(norms < 0.99 * (1_u64 << 48) as f64, "{plan:?}");
            assert!(plan.length() > before && (2..=6).contains(&plan.log_part));
            assert!(1 << (plan.log_row - 2) <= TREE);
            assert!(plan.log_row - 2 - FIRST_LEVELS + FURTHER <= ROW_ROOTS);
            assert!(plan.column_bytes(Way::Back) <= 110 << 10 && plan.row_bytes(2) <= 80 << 10);
            before = plan.length();
        }
    }

    #[test]
    fn every_plan_of_pairs_is_exact_by_proof() {
        for plan in GridPlan::all_of_pairs() {
            assert!(2.0 * plan.error_bound() < 0.5, "{plan:?}");
            assert!(plan.wrapped_error_bound() < 0.5, "{plan:?}");
            let room = (1_u64 << (49 - plan.digit_bits)) as f64;
            assert!(2.0 * plan.greatest(1) + room < (1_u64 << 48) as f64);
            assert!(plan.greatest(2) + room < (1_u64 << 48) as f64);
            assert!(plan.pair_bytes() <= 147_456 && (8..=11).contains(&plan.log_row));
            assert!((12..=16).contains(&plan.digit_bits), "{plan:?}");
        }
        assert!(GridPlan::of_pairs(1 << 19, 1 << 20).is_some());
    }

    #[test]
    fn lengths_for_operands_of_powers_of_two() {
        let plan = |log: u32| GridPlan::of(1 << (log - 5)).unwrap();
        let of = |log| (plan(log).length(), plan(log).digit_bits);
        assert_eq!(of(19), (1 << 15, 16));
        assert_eq!(of(20), (9 << 13, 15));
        assert_eq!(of(21), (5 << 15, 14));
        assert_eq!(of(22), (5 << 16, 14));
        assert_eq!(of(23), (5 << 17, 13));
        assert_eq!(of(24), (5 << 18, 13));
    }

    #[test]
    fn a_daring_plan_is_shorter_and_exact_for_usual_operands() {
        let mut found = 0;
        for widest in GridPlan::every(GridPlan::is_usually_exact) {
            let limbs = widest.limbs();
            let Some(plan) = GridPlan::daring(limbs) else {
                continue;
            };
            let safe = GridPlan::of(limbs).unwrap();
            assert!(!plan.is_exact() && plan.length() < safe.length() && plan.limbs() >= limbs);
            assert!(plan.greatest_norms() >= plan.usual_norms(), "{plan:?}");
            // Where digits are the worst ones, they are marked.
            assert!(
                plan.greatest_norms() < plan.greatest(1) * plan.greatest(1),
                "{plan:?}"
            );
            // What is added to coefficients so that none is negative.
            assert!(plan.greatest(1) < 0.99 * (1_u64 << 48) as f64, "{plan:?}");
            found += 1;
        }
        assert!(found > 3);
        let of = |log: u32| {
            GridPlan::daring(1 << (log - 5)).map(|plan| (plan.length(), plan.digit_bits))
        };
        let all = [18, 19, 20, 21, 22, 23, 24].map(of);
        let some = [Some((1 << 16, 16)), Some((9 << 14, 15))];
        assert_eq!(all[..2], [None; 2]);
        assert_eq!(all[2..4], some);
        assert_eq!(all[4..], [None; 3]);
    }

    #[test]
    fn norms_prove_exact_what_is_exact_for_all_operands_if_they_are_a_little_less() {
        for plan in GridPlan::all() {
            // A half may have all digits: the bound is greater, by less than a half.
            let norms = plan.greatest_norms().sqrt() * plan.error_bound();
            let whole = 0.5 * plan.greatest(1);
            assert!(norms < whole && norms > whole / 1.5, "{plan:?}");
        }
    }

    #[test]
    fn every_plan_that_wraps_is_exact_by_proof() {
        for (plan, whole) in GridPlan::all_that_wrap().zip(GridPlan::all()) {
            assert!(plan.wrapped_error_bound() < 0.5, "{plan:?}");
            assert!(whole.digit_bits - plan.digit_bits <= 1);
            let norms = plan.greatest(2);
            // What `BACK` subtracts from the lowest coefficient so that it may add what wraps.
            let room = (1_u64 << (49 - plan.digit_bits)) as f64;
            assert!(norms + room < (1_u64 << 48) as f64, "{plan:?}");
        }
    }

    /// The bits of digits for lengths of 2^13, nine times 2^10, five times 2^11, three times 2^12, 2^14, and so on.
    #[test]
    fn digits_get_narrower_as_lengths_grow() {
        let mut runs: Vec<(u32, usize)> = Vec::new();
        for plan in GridPlan::all() {
            match runs.last_mut() {
                Some((last, count)) if *last == plan.digit_bits => *count += 1,
                _ => runs.push((plan.digit_bits, 1)),
            }
        }
        assert_eq!(runs, [(16, 9), (15, 7), (14, 7), (13, 8), (12, 1)]);
    }

    #[test]
    fn a_plan_is_the_shortest_that_holds_the_operands() {
        for limbs in [1, 100, 1 << 13, 1 << 15, 1 << 19, GridPlan::most_limbs()] {
            let plan = GridPlan::of(limbs).unwrap();
            assert!(plan.limbs() >= limbs);
            let longer = GridPlan::all().filter(|other| other.length() < plan.length());
            assert!(longer.into_iter().all(|other| other.limbs() < limbs));
        }
        assert_eq!(GridPlan::of(GridPlan::most_limbs() + 1), None);
    }

    /// A root of the tree of a row is a root of the row times one that all rows share.
    #[test]
    fn roots_are_square_roots_of_those_above() {
        let near = |x: [f64; 2], y: [f64; 2]| {
            assert!(
                (x[0] - y[0]).abs() + (x[1] - y[1]).abs() < 1e-14,
                "{x:?} {y:?}"
            );
        };
        let times = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a * c - b * d, a * d + b * c];
        let mut tree = [[0.0; 2]; TREE];
        fill_tree(&mut tree);
        for plan in GridPlan::all() {
            let mut columns = vec![[0.0; 2]; plan.rows() as usize];
            plan.fill_columns(&mut columns);
            let mut rows = vec![[0.0; 2]; plan.row_roots() as usize];
            plan.fill_rows(&mut rows);
            for p in 0..plan.rows() {
                let row = &rows[(p * ROW_ROOTS) as usize..];
                // The row's own `z` is the last column level's root, or its negative.
                let (k, b) = (p >> plan.log_part, p & ((1 << plan.log_part) - 1));
                let depth = plan.log_part - 1;
                let above = columns[((k << plan.log_part) + (1 << depth) + (b >> 1)) as usize];
                let z = if b & 1 == 0 { above } else { above.map(|x| -x) };
                near(times(row[0], row[0]), z);
                let squared = |i: usize| times(row[i], row[i]);
                near(squared(1), row[0]);
                near(squared(2), row[1]);
                near(squared(3), [-row[1][1], row[1][0]]);
                near(squared(4), row[2]);
                near(squared(5), [-row[2][1], row[2][0]]);
                near(squared(6), row[3]);
                near(squared(7), [-row[3][1], row[3][0]]);
                near(squared(8), row[4]);
                near(squared(9), row[8]);
                // Node 2 at depth 5, below node 1 at depth 4.
                let below = times(row[9], tree[34]);
                near(times(below, below), times(row[8], tree[17]));
            }
        }
    }
}
