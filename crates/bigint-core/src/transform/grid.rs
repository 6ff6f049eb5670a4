//! Products by transforms on the whole device, as host and device agree on them: for numbers
//! that no block holds.
//!
//! The ring is `x^L - i`, as for a block, with `L = N m` digits, a matrix of `N` rows of `m`.
//! With `X = x^m` the columns are polynomials modulo `X^N - i`. Their tree is the one of
//! [`super`], down to its leaves: so row `b` of the result is a polynomial in `x` modulo
//! `x^m - e(t)`, `t = (1 + 4 r) / (4 N)`, `r` = `b` with its bits reversed. With `x = w y`,
//! `w = e((t - 1/4) / m)`, that is a polynomial modulo `y^m - i`: its coefficient `j` is
//! multiplied by `w^j`, and then every row is a product of the block's kind, of which the tree
//! has the same roots as that of the columns. Back the same way.
//!
//! `N` is a power of two or three times one. Then columns begin with
//! `X^3n - i = (X^n - e(1/12)) (X^n - e(5/12)) (X^n - e(9/12))`, `n = N / 3`, and part `k` of
//! these becomes a polynomial modulo `Y^n - i` in the same manner, by powers of
//! `e((2 k - 1) / (6 n))`. Row `b` of part `k` then has `r` = `k + 3` (`b` reversed).
//!
//! # The launches
//!
//! | kernel | a block has | reads | writes |
//! |---|---|---|---|
//! | [`FORTH`] | [`GridPlan::log_columns`] columns of one operand | limbs | points |
//! | [`ROWS`] | a row of both operands | points | points of the product, in place of the first's |
//! | [`BACK`] | columns of the product | points | coefficients, in their place |
//! | [`DIGITS`] | [`CHUNKS`] chunks of either half, each a thread's | coefficients | limbs, and carries |
//!
//! Thirty-two digits of `w` bits are `w` limbs: what those coefficients come to beyond them
//! is written at the place of the next ones in a number of its own, and the product is the
//! sum of both numbers, by one more launch: of the kernel of sums.
//!
//! # Exactness
//!
//! Digits are balanced, of as many bits as [`GridPlan::error_bound`] allows.

use super::bound::{U, both, norms, power, stored};
use super::root;
use crate::kernel::EntryPoint;
use crate::kernel::MatrixArgument;

/// Threads in a block of each kernel.
pub const THREADS: u32 = 256;

/// The module that has the kernels.
pub const MODULE: &str = "mul_grid";

/// Digits, and columns down.
pub const FORTH: EntryPoint = entry("mul_fft_grid_forth");

/// Rows down, products, and up.
pub const ROWS: EntryPoint = entry("mul_fft_grid_rows");

/// Columns up, and coefficients.
pub const BACK: EntryPoint = entry("mul_fft_grid_back");

/// Coefficients to limbs and carries.
pub const DIGITS: EntryPoint = entry("mul_fft_grid_digits");

const fn entry(name: &'static str) -> EntryPoint {
    EntryPoint {
        name,
        module: MODULE,
    }
}

/// Nodes of the tree that the table of roots has: those of the longest column and row.
pub const TREE: usize = 1 << 11;

/// Coefficients that a thread of [`DIGITS`] takes, of either half.
pub const CHUNK: u32 = 32;

/// Chunks of each half that a block of [`DIGITS`] takes.
pub const CHUNKS: u32 = 64;

/// Words of shared memory that a half's coefficients take there: one behind each chunk is
/// left free, so that threads a chunk apart meet in no bank.
pub const HALF_WORDS: u32 = (CHUNK + 1) * CHUNKS;

/// The place of the limbs of chunks, in limbs, and how far they are from each other.
pub const LIMBS_AT: u32 = 4 * HALF_WORDS;
/// See [`LIMBS_AT`]: more than a digit has bits, and odd.
pub const CHUNK_LIMBS: u32 = 17;

/// The place of the two limbs that each chunk carries.
pub const CARRIES_AT: u32 = LIMBS_AT + 2 * CHUNKS * CHUNK_LIMBS;

/// Bytes of shared memory of a block of [`DIGITS`].
pub const DIGIT_BYTES: u32 = 4 * (CARRIES_AT + 4 * CHUNKS);

/// A length, and how it is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct GridPlan {
    /// 1, or 3.
    pub odd: u32,
    /// Rows are `odd` times this power of two.
    pub log_part: u32,
    /// A row is this power of two.
    pub log_row: u32,
    /// Bits of a digit.
    pub digit_bits: u32,
}

/// The one parameter of the four kernels, by value. Addresses are of device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridArguments {
    /// The first operand, of which the launch begins with the first number.
    pub a: MatrixArgument,
    /// The second; not read where there is one operand.
    pub b: MatrixArgument,
    /// Limbs of the product but for carries: `2 L digit_bits / 32` of each number.
    pub sums: MatrixArgument,
    /// The carries, as many limbs as there are sums.
    pub carries: MatrixArgument,
    /// Pairs of doubles: for each number `L` points of each operand.
    pub points: u64,
    /// `e(t / 2)` of the tree's nodes: node `b` at depth `d` has place `2^d + b`.
    pub tree: u64,
    /// `e(k / 4 L)`, for `k` below `m / 8`.
    pub near: u64,
    /// `e(k / 32 N)`, for `k` below `32 N`.
    pub far: u64,
    /// The factor that makes coefficients of the columns' results: `4 / L`.
    pub scale: f64,
    /// The length.
    pub plan: GridPlan,
    /// Numbers.
    pub count: u32,
    /// 2, or 1 where a number is multiplied by itself.
    pub operands: u32,
}

impl GridArguments {
    /// The arguments as a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let matrices = [self.a, self.b, self.sums, self.carries];
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let GridPlan {
            odd,
            log_part,
            log_row,
            digit_bits,
        } = self.plan;
        let rest = [
            self.points,
            self.tree,
            self.near,
            self.far,
            self.scale.to_bits(),
            pair(odd, log_part),
            pair(log_row, digit_bits),
            pair(self.count, self.operands),
        ];
        matrices.into_iter().flat_map(matrix).chain(rest)
    }

    /// The device memory that is touched but for the matrices: addresses and limbs.
    pub const fn stretches(&self) -> [(u64, u64); 4] {
        let plan = self.plan;
        let points = self.count as u64 * self.operands as u64 * plan.length() as u64;
        [
            (self.points, 4 * points),
            (self.tree, 4 * TREE as u64),
            (self.near, 4 * plan.near_roots() as u64),
            (self.far, 4 * plan.far_roots() as u64),
        ]
    }
}

impl GridPlan {
    /// The shortest length there is, in powers of two, and the longest; both also three
    /// times a quarter of that.
    pub const LOGS: [u32; 2] = [9, 23];

    /// The fastest plan for operands of up to so many limbs; `None` above
    /// [`most_limbs`](Self::most_limbs).
    ///
    /// ```
    /// use bigint_core::transform::grid::GridPlan;
    /// let plan = GridPlan::of(1 << 15).unwrap();
    /// assert_eq!((plan.length(), plan.digit_bits), (3 << 15, 14));
    /// ```
    pub fn of(limbs: usize) -> Option<GridPlan> {
        let [first, last] = GridPlan::LOGS;
        let mut logs = first..=last;
        logs.find_map(|log| {
            let lengths = [GridPlan::new(3, log - 2), GridPlan::new(1, log)];
            lengths.into_iter().find(|plan| limbs <= plan.limbs())
        })
    }

    /// Limbs of the widest operands there is a plan for.
    pub fn most_limbs() -> usize {
        GridPlan::new(1, GridPlan::LOGS[1]).limbs()
    }

    /// The plan of `odd 2^log` digits, each as wide as is proved.
    pub fn new(odd: u32, log: u32) -> GridPlan {
        // Long rows, but not so long that few fit a multiprocessor, nor columns either.
        let longest_columns = if odd == 1 { 11 } else { 9 };
        let log_row = (log.div_ceil(2) + 2).clamp(6, 11);
        let log_row = log_row.max(log.saturating_sub(longest_columns));
        let mut plan = GridPlan {
            odd,
            log_part: log - log_row,
            log_row,
            digit_bits: 16,
        };
        while plan.error_bound() >= 0.5 {
            plan.digit_bits -= 1;
        }
        plan
    }

    /// Digits of each operand: `L`.
    #[inline(always)]
    pub const fn length(&self) -> u32 {
        self.rows() << self.log_row
    }

    /// Limbs of each operand, at most.
    pub const fn limbs(&self) -> usize {
        (self.length() as u64 * self.digit_bits as u64 / 32) as usize
    }

    /// Limbs of a product.
    pub const fn product_limbs(&self) -> usize {
        (2 * self.length() as u64 * self.digit_bits as u64 / 32) as usize
    }

    /// Rows: `N`.
    #[inline(always)]
    pub const fn rows(&self) -> u32 {
        self.odd << self.log_part
    }

    /// The binary logarithm of the number of columns that a block has: as many as give all threads
    /// work, and of which shared memory holds two blocks; at least four, which are two sectors.
    #[inline(always)]
    pub const fn log_columns(&self) -> u32 {
        let rows = self.rows().next_power_of_two().trailing_zeros();
        let log = if rows < 9 { 11 - rows } else { 2 };
        if log > 5 { 5 } else { log }
    }

    /// Blocks that one number's columns take.
    #[inline(always)]
    pub const fn column_blocks(&self) -> u32 {
        1 << (self.log_row - self.log_columns())
    }

    /// Chunks of each half of a product's coefficients.
    #[inline(always)]
    pub const fn chunks(&self) -> u32 {
        self.length() / CHUNK
    }

    /// Blocks of [`DIGITS`] that one number takes.
    #[inline(always)]
    pub const fn digit_blocks(&self) -> u32 {
        self.chunks().div_ceil(CHUNKS)
    }

    /// Bytes of shared memory of a block that has columns.
    pub const fn column_bytes(&self) -> u32 {
        16 * padded(self.rows() << self.log_columns())
    }

    /// The bytes of shared memory of a block that has a row of so many operands.
    pub const fn row_bytes(&self, operands: u32) -> u32 {
        16 * padded(operands << self.log_row)
    }

    /// Whether blocks fit a device that has so many bytes of shared memory for each.
    pub const fn fits(&self, shared_bytes: u32) -> bool {
        self.column_bytes() <= shared_bytes && self.row_bytes(2) <= shared_bytes
    }

    /// Roots of [`GridArguments::near`].
    pub const fn near_roots(&self) -> u32 {
        1 << (self.log_row - 3)
    }

    /// Roots of [`GridArguments::far`].
    pub const fn far_roots(&self) -> u32 {
        32 * self.rows()
    }

    /// The greatest distance of a coefficient from its integer before it is rounded, by the
    /// proof of [`error_bound`](super::error_bound) with what is done here besides. In its
    /// terms:
    ///
    /// * A weight `w^j` is a product of three stored roots, so that it is off by at most
    ///   `W = 3 B + 4 u`, and multiplying by it adds `2 u + W`: of the norm forward, and of
    ///   `s` back.
    /// * Three parts forward are sums `x0 + e(t) x1 + e(2 t) x2` of real values, by two
    ///   operations in each component: with `S` the norm of the three, what the first rounds
    ///   is at most `sqrt(2) S`, the second `sqrt(3) S`, so that a part is off by at most
    ///   `sqrt(2) (sqrt(2) + sqrt(3)) u S`, and all three by `sqrt(3)` times that, where the
    ///   norm has become `sqrt(3) S`; roots add `B (|x1| + |x2|)`: together at most
    ///   `4.45 u + 1.42 B` of the norm. Back, a sum of three products is off by at most
    ///   `6 u + B` of `s`. Their weights are stored roots: `2 u + B`, both ways.
    /// * Back every level multiplies by its root, behind a difference: `3 u + B`, and no
    ///   pass multiplies besides.
    /// * Scaling is by a rounded number where `L` is no power of two: `u`.
    pub fn error_bound(&self) -> f64 {
        let levels = self.log_part + self.log_row - 2;
        let weight = 2.0 * U + (3.0 * stored() + 4.0 * U);
        let (odd_forth, odd_back) = match self.odd {
            1 => (0.0, 0.0),
            _ => {
                let weights = 2.0 * U + stored();
                (
                    both(4.45 * U + 1.42 * stored(), weights),
                    both(both(6.0 * U + stored(), weights), U),
                )
            }
        };
        let forth = both(both(super::bound::forward(levels), weight), odd_forth);
        let back = both(power(3.0 * U + stored(), levels), both(weight, odd_back));
        let all = both(both(power(forth, 2), super::bound::products()), back);
        // Second orders of the constants above, and the roundings of this function.
        const SLACK: f64 = 1.0 + 1.0 / (1_u64 << 30) as f64;
        all * norms(u64::from(self.length()), self.digit_bits, true) * SLACK
    }

    /// Fills the table of [`GridArguments::near`].
    pub fn fill_near(&self, table: &mut [[f64; 2]]) {
        self.fill(table, self.log_part + self.log_row + 2);
    }

    /// Fills the table of [`GridArguments::far`].
    pub fn fill_far(&self, table: &mut [[f64; 2]]) {
        self.fill(table, self.log_part + 5);
    }

    /// `e(k / (odd 2^log))`.
    fn fill(&self, table: &mut [[f64; 2]], log: u32) {
        for (k, entry) in table.iter_mut().enumerate() {
            *entry = match self.odd {
                1 => root(k as u64, log),
                _ => super::roots::root_of_thirds(k as u64, log),
            };
        }
    }
}

/// Fills the table of [`GridArguments::tree`], of [`TREE`] roots; place 0 is nobody's.
pub fn fill_tree(table: &mut [[f64; 2]]) {
    for (place, entry) in table.iter_mut().enumerate().skip(1) {
        let depth = place.ilog2();
        let b = place - (1 << depth);
        let r = match depth {
            0 => 0,
            _ => b.reverse_bits() >> (usize::BITS - depth),
        };
        *entry = root(1 + 4 * r as u64, depth + 3);
    }
}

/// The place in shared memory of point `i`: behind every eight one is left free, so that
/// points a power of two apart meet in no bank.
#[inline(always)]
pub const fn padded(i: u32) -> u32 {
    i + (i >> 3)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn plans() -> impl Iterator<Item = GridPlan> {
        let [first, last] = GridPlan::LOGS;
        (first..=last).flat_map(|log| [GridPlan::new(3, log - 2), GridPlan::new(1, log)])
    }

    #[test]
    fn every_plan_is_exact_by_proof_and_fits() {
        for plan in plans() {
            assert!(plan.error_bound() < 0.5, "{plan:?}");
            let norms = norms(u64::from(plan.length()), plan.digit_bits, true);
            // Less than what `DIGITS` adds to a coefficient, so that none is negative.
            assert!(norms < 0.99 * (1_u64 << 48) as f64, "{plan:?}");
            assert!(plan.log_part >= 1 && plan.log_row >= plan.log_columns());
            assert!(1 << plan.log_part <= TREE && 1 << (plan.log_row - 2) <= TREE);
            assert!(plan.column_bytes() <= 160 << 10 && plan.row_bytes(2) <= 160 << 10);
        }
    }

    /// Three times 2^7, 2^9, three times 2^8, and so on: the same table stands in
    /// docs/transforms.md.
    #[test]
    fn digits_get_narrower_as_lengths_grow() {
        let bits: Vec<u32> = plans().map(|plan| plan.digit_bits).collect();
        let mut runs: Vec<(u32, usize)> = Vec::new();
        for bits in bits {
            match runs.last_mut() {
                Some((last, count)) if *last == bits => *count += 1,
                _ => runs.push((bits, 1)),
            }
        }
        assert_eq!(
            runs,
            [(16, 12), (15, 4), (14, 4), (13, 4), (12, 3), (11, 3)]
        );
    }

    #[test]
    fn a_plan_is_the_shortest_that_holds_the_operands() {
        for limbs in [1, 100, 1 << 13, 1 << 15, 1 << 19, GridPlan::most_limbs()] {
            let plan = GridPlan::of(limbs).unwrap();
            assert!(plan.limbs() >= limbs);
            let longer = plans().filter(|other| other.length() < plan.length());
            assert!(longer.into_iter().all(|other| other.limbs() < limbs));
        }
        assert_eq!(GridPlan::of(GridPlan::most_limbs() + 1), None);
    }
}
