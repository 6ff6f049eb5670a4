//! Products by transforms over the complex numbers on the whole device, in the form shared by host and
//! device. They serve numbers that are too wide for a block.
//!
//! As for a block, numbers are polynomials modulo `x^L - i`. Their `L = N m` digits are a matrix of `N`
//! rows of `m`. With `X = x^m` the columns are polynomials modulo `X^N - i`. They go down the tree of
//! [`super`] to its leaves. Row `b` of the result is then a polynomial in `x` modulo `x^m - e(t)`, where
//! `t = (1 + 4 r) / (4 N)` and `r` is `b` with its bits reversed. With `x = w y` and
//! `w = e((t - 1/4) / m)` it becomes a polynomial modulo `y^m - i`, whose coefficient `j` is that of
//! `x^j` times `w^j`. So rows are multiplied as a block multiplies numbers, by a tree with the same roots
//! as that of the columns. The way back undoes these steps.
//!
//! `N` is a power of two, or three times one. If it is three times one, columns begin with
//! `X^3n - i = (X^n - e(1/12)) (X^n - e(5/12)) (X^n - e(9/12))`, where `n = N / 3`. Part `k` of these
//! three becomes a polynomial modulo `Y^n - i` in the same manner, by powers of `e((2 k - 1) / (6 n))`.
//! Row `b` of part `k` then has `r = k + 3 b'`, where `b'` is `b` with its bits reversed.
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
//! A chunk of thirty-two digits of `w` bits is `w` limbs. The sum of its coefficients may need more
//! limbs; these are a carry, which is written at the place of the next chunk in a number of its own. One
//! more launch, of the kernel of sums, adds both numbers, which gives the product.
//!
//! # Exactness
//!
//! Digits are balanced, and have as many bits as [`GridPlan::error_bound`] allows.

use super::bound::{U, both, norms, power, stored};
use super::{root, root_of};
use crate::kernel::EntryPoint;
use crate::kernel::MatrixArgument;

/// The threads of a block of each kernel.
pub const THREADS: u32 = 256;

/// The PTX module that has the kernels.
pub const MODULE: &str = "mul_grid";

/// The kernel that cuts limbs into digits and goes down the tree by columns.
pub const FORTH: EntryPoint = entry("mul_fft_grid_forth");

/// The kernel that goes down the tree by rows, multiplies, and goes up again.
pub const ROWS: EntryPoint = entry("mul_fft_grid_rows");

/// The kernel that goes up the tree by columns and rounds to coefficients.
pub const BACK: EntryPoint = entry("mul_fft_grid_back");

/// The kernel that turns coefficients into limbs and carries.
pub const DIGITS: EntryPoint = entry("mul_fft_grid_digits");

const fn entry(name: &'static str) -> EntryPoint {
    EntryPoint {
        name,
        module: MODULE,
    }
}

/// The number of roots in the table of the tree's nodes, which serves the longest columns and rows.
pub const TREE: usize = 1 << 11;

/// The coefficients that a thread of [`DIGITS`] takes, of one half of the product.
pub const CHUNK: u32 = 32;

/// The chunks of each half that a block of [`DIGITS`] takes.
pub const CHUNKS: u32 = 64;

/// The words of shared memory that a half's coefficients take in a block of [`DIGITS`]. One word is left
/// free behind each chunk, so that threads a chunk apart meet in no bank.
pub const HALF_WORDS: u32 = (CHUNK + 1) * CHUNKS;

/// The offset of the chunks' limbs in shared memory, in limbs.
pub const LIMBS_AT: u32 = 4 * HALF_WORDS;
/// The distance between the limbs of neighbouring chunks. It is odd, and more than the `w` limbs of a
/// chunk.
pub const CHUNK_LIMBS: u32 = 17;

/// The offset in shared memory of the two limbs that each chunk carries, in limbs.
pub const CARRIES_AT: u32 = LIMBS_AT + 2 * CHUNKS * CHUNK_LIMBS;

/// The bytes of shared memory of a block of [`DIGITS`].
pub const DIGIT_BYTES: u32 = 4 * (CARRIES_AT + 4 * CHUNKS);

/// The length of a transform, its cut into rows, and the width of its digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct GridPlan {
    /// The odd factor of the length: 1 or 3.
    pub odd: u32,
    /// The binary logarithm of the number of rows over `odd`.
    pub log_part: u32,
    /// The binary logarithm of a row's length.
    pub log_row: u32,
    /// The bits of a digit.
    pub digit_bits: u32,
}

/// The one parameter of the four kernels, passed by value. Addresses are in device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GridArguments {
    /// The first operand. The launch begins with its first number.
    pub a: MatrixArgument,
    /// The second operand. It is not read if `operands` is 1.
    pub b: MatrixArgument,
    /// The product without carries, `2 L digit_bits / 32` limbs for each number.
    pub sums: MatrixArgument,
    /// The carries, as many limbs as there are sums.
    pub carries: MatrixArgument,
    /// The address of the points, a pair of doubles for each: for each number, `L` points of each
    /// operand.
    pub points: u64,
    /// The address of the roots `e(t / 2)` of the tree's nodes. Node `b` at depth `d` has index
    /// `2^d + b`.
    pub tree: u64,
    /// The address of the roots `e(k / 4 L)`, for `k` below `m / 8`.
    pub near: u64,
    /// The address of the roots `e(k / 32 N)`, for `k` below `32 N`.
    pub far: u64,
    /// The factor `4 / L`, which turns the results of columns into coefficients.
    pub scale: f64,
    /// The length, its cut and its digits.
    pub plan: GridPlan,
    /// The number of numbers.
    pub count: u32,
    /// The number of operands: 2, or 1 if a number is multiplied by itself.
    pub operands: u32,
}

impl GridArguments {
    /// The arguments in the order in which a launch copies them, 64 bits at a time.
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

    /// The stretches of device memory that the kernels touch beside the matrices: their addresses and
    /// their lengths in limbs.
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
    /// The binary logarithms of the shortest and the longest length that is a power of two. For each of
    /// these lengths there is one that is three quarters of it.
    pub const LOGS: [u32; 2] = [9, 23];

    /// The shortest plan for operands of up to `limbs` limbs. It is `None` above
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

    /// The widest operands, in limbs, for which there is a plan.
    pub fn most_limbs() -> usize {
        GridPlan::new(1, GridPlan::LOGS[1]).limbs()
    }

    /// Makes the plan of `odd 2^log` digits, which are as wide as [`error_bound`](Self::error_bound)
    /// proves exact.
    pub fn new(odd: u32, log: u32) -> GridPlan {
        // Rows are long, but neither rows nor columns are so long that few fit a multiprocessor.
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
        self.odd << self.log_part
    }

    /// The binary logarithm of the number of columns that a block has. They give all threads work, and
    /// shared memory has room for two blocks. There are at least four columns, whose points fill two
    /// sectors.
    #[inline(always)]
    pub const fn log_columns(&self) -> u32 {
        let rows = self.rows().next_power_of_two().trailing_zeros();
        let log = if rows < 9 { 11 - rows } else { 2 };
        if log > 5 { 5 } else { log }
    }

    /// The blocks that take one number's columns.
    #[inline(always)]
    pub const fn column_blocks(&self) -> u32 {
        1 << (self.log_row - self.log_columns())
    }

    /// The chunks of each half of a product's coefficients.
    #[inline(always)]
    pub const fn chunks(&self) -> u32 {
        self.length() / CHUNK
    }

    /// The blocks of [`DIGITS`] that take one number.
    #[inline(always)]
    pub const fn digit_blocks(&self) -> u32 {
        self.chunks().div_ceil(CHUNKS)
    }

    /// The bytes of shared memory of a block that has columns.
    pub const fn column_bytes(&self) -> u32 {
        16 * padded(self.rows() << self.log_columns())
    }

    /// The bytes of shared memory of a block that has a row of each of `operands` operands.
    pub const fn row_bytes(&self, operands: u32) -> u32 {
        16 * padded(operands << self.log_row)
    }

    /// Whether a device with so many bytes of shared memory for each block can run the plan.
    pub const fn fits(&self, shared_bytes: u32) -> bool {
        self.column_bytes() <= shared_bytes && self.row_bytes(2) <= shared_bytes
    }

    /// The number of roots of [`GridArguments::near`].
    pub const fn near_roots(&self) -> u32 {
        1 << (self.log_row - 3)
    }

    /// The number of roots of [`GridArguments::far`].
    pub const fn far_roots(&self) -> u32 {
        32 * self.rows()
    }

    /// A bound of the distance of a coefficient from its integer before it is rounded. It follows from
    /// the proof of [`error_bound`](super::error_bound) and the further steps of these transforms. In the
    /// terms of that proof:
    ///
    /// * A weight `w^j` is a product of three stored roots, so it is off by at most `W = 3 B + 4 u`.
    ///   Multiplying by it adds `2 u + W`, times the norm forward and times `s` back.
    /// * Where there are three parts, the way forward computes each as `x0 + e(t) x1 + e(2 t) x2` of real
    ///   values, by two operations in each component. With `S` the norm of the three values, the first
    ///   operation rounds a value of at most `sqrt(2) S`, the second one of at most `sqrt(3) S`, so a
    ///   part is off by at most `sqrt(2) (sqrt(2) + sqrt(3)) u S`. All three are off by `sqrt(3)` times
    ///   that, and their norm is `sqrt(3) S`. The roots' errors add `B (|x1| + |x2|)`. Together this is
    ///   at most `4.45 u + 1.42 B` times the norm. On the way back, a sum of three products is off by at
    ///   most `6 u + B` times `s`. The parts' weights are stored roots and add `2 u + B` both ways.
    /// * On the way back every level multiplies a difference by its root, which adds `3 u + B`. Passes
    ///   multiply by no further roots.
    /// * If `L` is no power of two, the factor of the last scaling is rounded, which adds `u`.
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
        // The slack covers terms of second order, and the roundings of this function.
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

    /// Fills a table with `e(k / (odd 2^log))` for each index `k`.
    fn fill(&self, table: &mut [[f64; 2]], log: u32) {
        for (k, entry) in table.iter_mut().enumerate() {
            *entry = root_of(k as u64, u64::from(self.odd) << log);
        }
    }
}

/// Fills the table of [`GridArguments::tree`], which has [`TREE`] roots. Index 0 is not used.
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
            // This is less than the number that `DIGITS` adds to a coefficient so that none is negative.
            assert!(norms < 0.99 * (1_u64 << 48) as f64, "{plan:?}");
            assert!(plan.log_part >= 1 && plan.log_row >= plan.log_columns());
            assert!(1 << plan.log_part <= TREE && 1 << (plan.log_row - 2) <= TREE);
            assert!(plan.column_bytes() <= 160 << 10 && plan.row_bytes(2) <= 160 << 10);
        }
    }

    /// The bits of digits for lengths of three times 2^7, 2^9, three times 2^8, and so on. The same table
    /// stands in docs/transforms.md.
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
