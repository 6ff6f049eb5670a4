//! Products by a transform over integers modulo primes, on the whole device, as host and
//! device agree on them: for the widest numbers, on every chip.
//!
//! A number's limbs are the coefficients of a polynomial, base `2^32`. Two of them are
//! multiplied modulo `x^N - 1`, `N` at least as many as their limbs together, once modulo each
//! of three [`PRIMES`] below `2^31`. A coefficient of the product is a sum of at most
//! `2^25` products below `2^64`, and so below `2^89`: less than the three primes' product, so
//! that the Chinese remainder theorem gives it. For 12 times 34 to the base 10 modulo 5 and 7:
//! `(2 + x)(4 + 3 x)` is `3 + 0 x + 3 x^2` and `1 + 3 x + 3 x^2`, that is `8 + 10 x + 3 x^2`.
//!
//! # The tree
//!
//! Modulo each prime there are roots of unity of order `2^26`; `e(t)` is the one at `t` turns.
//! As in [`super`], `x^2m - z = (x^m - w)(x^m + w)`, `w w = z`, down from `x^N - 1` to `x - z`.
//! With `v(b)` = the bits of `b` behind the binary point in reverse order (`v(1) = 1/2`,
//! `v(2) = 1/4`, `v(3) = 3/4`, ...), node `b` of any depth is a polynomial modulo
//! `x^m - e(v(b))`, and its `w` is `e(v(b) / 2)`, whatever the depth: one table serves all
//! lengths and levels.
//!
//! `N` is `odd M`, `M` a power of two. Three times `M`: a polynomial modulo
//! `(x^2M - 1)(x^M - i)`, the nodes 0, 1 and 2 at depth 2; five times: modulo
//! `(x^4M - 1)(x^M - e(1/8))`, those at depth 3. What comes back modulo `x^2^d M - 1` is `r`,
//! modulo `x^M - z` it is `s`; `z^2^d = -1`, so that the highest `M` coefficients are
//! `(r(z) - s) / 2`, and the lowest that much less than those of `r`.
//!
//! # The launches
//!
//! The digits are a matrix of rows of `m`: by columns, the first levels of the tree; row `b`
//! then is a polynomial modulo `x^m - e(v(b))`, of which coefficient `j` is multiplied by
//! `e(v(b) j / m)` to make it one modulo `y^m - 1`, whose tree is the same again.
//!
//! | kernel | a block has | reads | writes |
//! |---|---|---|---|
//! | [`FORTH`] | [`NttPlan::log_columns`] columns of an operand, modulo a prime | limbs | residues |
//! | [`ROWS`] | a row of both operands, modulo a prime | residues | residues of the product |
//! | [`BACK`] | columns of the product | residues | coefficients modulo the prime |
//! | [`LIMBS`] | [`CHUNKS`] chunks, each a thread's | these of three primes | limbs, and carries |
//!
//! The eight coefficients of a chunk are eight limbs and two more, which stand in a number of
//! their own at the place of the next chunk; the product is the sum of both, by the kernel of
//! sums.

use crate::kernel::EntryPoint;
use crate::kernel::MatrixArgument;

/// Threads in a block of each kernel.
pub const THREADS: u32 = 512;

/// The module that has the kernels.
pub const MODULE: &str = "mul_ntt";

/// Limbs to residues, and columns down.
pub const FORTH: EntryPoint = entry("mul_ntt_grid_forth");

/// Rows down, products, and up.
pub const ROWS: EntryPoint = entry("mul_ntt_grid_rows");

/// Columns up.
pub const BACK: EntryPoint = entry("mul_ntt_grid_back");

/// Residues to coefficients, limbs and carries.
pub const LIMBS: EntryPoint = entry("mul_ntt_grid_limbs");

const fn entry(name: &'static str) -> EntryPoint {
    EntryPoint {
        name,
        module: MODULE,
    }
}

/// The binary logarithm of the order of [`Prime::root`], and of the greatest length.
pub const LOG_ORDER: u32 = 26;

/// Limbs of the longest transform: longer products are made of several.
pub const LONGEST: usize = 1 << LOG_ORDER;

/// The primes below `2^31` that have roots of order `2^26`: all there are.
pub const PRIMES: [Prime; 3] = [
    Prime::new((15 << 27) + 1, 31),
    Prime::new((27 << 26) + 1, 13),
    Prime::new((7 << 26) + 1, 3),
];

/// A prime, and what arithmetic modulo it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prime {
    /// The prime, below `2^31`.
    pub p: u32,
    /// The prime's inverse modulo `2^32`.
    pub inverse: u32,
    /// `e(2^-26)`.
    pub root: u32,
}

impl Prime {
    const fn new(p: u32, generator: u32) -> Prime {
        // Each step doubles the bits that are right: `p p = 1` modulo 8.
        let (mut inverse, mut step) = (p, 0_u32);
        while step < 4 {
            inverse = inverse.wrapping_mul(2_u32.wrapping_sub(p.wrapping_mul(inverse)));
            step += 1;
        }
        Prime {
            p,
            inverse,
            root: power(generator, (p - 1) >> LOG_ORDER, p),
        }
    }

    /// `a b` modulo the prime.
    #[inline]
    pub const fn times(&self, a: u32, b: u32) -> u32 {
        (a as u64 * b as u64 % self.p as u64) as u32
    }

    /// `a^k` modulo the prime.
    pub const fn power(&self, a: u32, k: u32) -> u32 {
        power(a, k, self.p)
    }

    /// `1 / a` modulo the prime.
    pub const fn invert(&self, a: u32) -> u32 {
        power(a, self.p - 2, self.p)
    }

    /// `w`, below the prime, as a [`Factor`].
    #[inline]
    pub const fn factor(&self, w: u32) -> Factor {
        Factor {
            w,
            quotient: (((w as u64) << 32) / self.p as u64) as u32,
        }
    }

    /// `e(v(b) / 2)`, the `w` of node `b`.
    pub const fn node(&self, b: u32) -> u32 {
        // `v(b)` = `b` reversed over 2^32.
        self.power(self.root, b.reverse_bits() >> (33 - LOG_ORDER))
    }
}

const fn power(a: u32, mut k: u32, p: u32) -> u32 {
    let (mut square, mut result) = (a as u64, 1_u64);
    while k > 0 {
        if k & 1 == 1 {
            result = result * square % p as u64;
        }
        square = square * square % p as u64;
        k >>= 1;
    }
    result as u32
}

/// A number that others are multiplied by, modulo a prime `p`, with what makes that three
/// products of words (Shoup): `y w - floor(y quotient / 2^32) p` is `y w` modulo `p`, and
/// below `2 p`, for every `y` below `2^32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Factor {
    /// The number, below the prime.
    pub w: u32,
    /// `floor(2^32 w / p)`.
    pub quotient: u32,
}

impl Factor {
    /// As a word: `w` the lower half.
    pub const fn word(self) -> u64 {
        (self.quotient as u64) << 32 | self.w as u64
    }
}

/// The binary logarithm of the length of each table.
pub const LOG_TABLE: u32 = LOG_ORDER / 2;

/// The tables of a prime, in this order, each of `2^LOG_TABLE` factors: `w` of the nodes,
/// `1 / w` of the nodes, `e(k / 2^26)`, and `e(k / 2^13)`.
pub const TABLES: u32 = 4;

/// Factors in the tables of all primes.
pub const FACTORS: usize = (PRIMES.len() * TABLES as usize) << LOG_TABLE;

/// Fills the tables of all primes, of [`FACTORS`] words.
pub fn fill_tables(words: &mut [u64]) {
    let tables = words.chunks_exact_mut((TABLES as usize) << LOG_TABLE);
    for (prime, words) in PRIMES.iter().zip(tables) {
        let mut tables = words.chunks_exact_mut(1 << LOG_TABLE);
        let mut fill = |of: &dyn Fn(u32) -> u32| {
            let table = tables.next().into_iter().flatten();
            for (k, word) in table.enumerate() {
                *word = prime.factor(of(k as u32)).word();
            }
        };
        fill(&|b| prime.node(b));
        fill(&|b| prime.invert(prime.node(b)));
        fill(&|k| prime.power(prime.root, k));
        fill(&|k| prime.power(prime.root, k << LOG_TABLE));
    }
}

/// Coefficients that a thread of [`LIMBS`] takes.
pub const CHUNK: u32 = 8;

/// Chunks that a block of [`LIMBS`] takes.
pub const CHUNKS: u32 = THREADS;

/// Limbs of shared memory that a word of each coefficient takes there.
pub const COEFFICIENTS: u32 = padded(CHUNK * CHUNKS);

/// Bytes of shared memory of a block of [`LIMBS`]: three words of each coefficient.
pub const LIMB_BYTES: u32 = 12 * COEFFICIENTS;

/// What [`ROWS`] multiplies a row of the first operand by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Second {
    /// Itself.
    #[default]
    Same = 0,
    /// A row of the second operand.
    Other = 1,
    /// The transform that was kept of the second operand.
    Kept = 2,
    /// Nothing: it stays as it is, transformed, to be kept.
    Nothing = 3,
}

/// A length, and how it is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct NttPlan {
    /// 1, 3 or 5.
    pub odd: u32,
    /// Rows are `odd` times this power of two.
    pub log_part: u32,
    /// A row is this power of two.
    pub log_row: u32,
}

/// The one parameter of the four kernels, by value. Addresses are of device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NttArguments {
    /// The first operand, of which the launch begins with the first number.
    pub a: MatrixArgument,
    /// The second; not read where there is one operand.
    pub b: MatrixArgument,
    /// Limbs of the product but for carries: `N` of each number.
    pub sums: MatrixArgument,
    /// The carries, as many limbs as there are sums.
    pub carries: MatrixArgument,
    /// For each number `N` residues of each operand modulo each prime.
    pub points: u64,
    /// The second operands' points that are kept, as [`Second::Nothing`] leaves them.
    pub kept: u64,
    /// The address of the tables that [`fill_tables`] makes.
    pub tables: u64,
    /// The factors that [`NttPlan::scales`] gives.
    pub scales: [u64; 3],
    /// The length.
    pub plan: NttPlan,
    /// Numbers.
    pub count: u32,
    /// Operands that are transformed.
    pub operands: u32,
    /// The second factor of rows: a [`Second`].
    pub second: u32,
    /// Numbers whose points are kept: one for all, or `count`.
    pub kept_count: u32,
    /// 1 where the product is wanted modulo `2^(32 N) - 1`, of a plan that
    /// [`wraps`](NttPlan::wraps); else 0.
    pub wraps: u32,
}

impl NttArguments {
    /// The arguments as a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let matrices = [self.a, self.b, self.sums, self.carries];
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [first, second, third] = self.scales;
        let rest = [
            self.points,
            self.kept,
            self.tables,
            first,
            second,
            third,
            pair(self.plan.odd, self.plan.log_part),
            pair(self.plan.log_row, self.count),
            pair(self.operands, self.second),
            pair(self.kept_count, self.wraps),
        ];
        matrices.into_iter().flat_map(matrix).chain(rest)
    }

    /// The device memory that is touched but for the matrices: addresses and limbs.
    pub const fn stretches(&self) -> [(u64, u64); 3] {
        let one = self.plan.point_limbs() as u64;
        [
            (self.points, self.count as u64 * self.operands as u64 * one),
            (self.kept, self.kept_count as u64 * one),
            (self.tables, 2 * FACTORS as u64),
        ]
    }
}

impl NttPlan {
    /// The plan for operands of `n` and `m` limbs: the shortest length that holds their
    /// product. `None` where no number does, or the shorter has more limbs than three primes
    /// have room for sums of.
    ///
    /// ```
    /// use bigint_core::transform::ntt::NttPlan;
    /// assert_eq!(NttPlan::of(1 << 20, 1 << 20).unwrap().length(), 1 << 21);
    /// assert_eq!(NttPlan::of(1 << 20, 1 << 18).unwrap().length(), 5 << 18);
    /// ```
    pub fn of(n: usize, m: usize) -> Option<NttPlan> {
        let limbs = n.checked_add(m).filter(|limbs| *limbs <= LONGEST)?;
        let plans = NttPlan::all().filter(|plan| limbs <= plan.length() as usize);
        plans.min_by_key(NttPlan::length)
    }

    /// The plan for products modulo `2^(32 n) - 1`, if there is one: those whose `N` is a power
    /// of two are products modulo `x^N - 1` by themselves. Coefficients then are sums of `N`
    /// products.
    pub fn wraps(n: usize) -> Option<NttPlan> {
        let mut plans = NttPlan::all().filter(|plan| plan.odd == 1);
        plans.find(|plan| plan.length() as usize == n && n <= LONGEST / 2)
    }

    /// Every plan there is.
    pub fn all() -> impl Iterator<Item = NttPlan> {
        let of = |odd: u32| {
            // Levels above the parts: three are nodes at depth 2, five at depth 3.
            let above = NttPlan::levels_above(odd);
            (9..=LOG_ORDER - above).map(move |log| NttPlan::new(odd, log))
        };
        [1, 3, 5].into_iter().flat_map(of)
    }

    /// The plan of `odd 2^log` limbs, `log` at least 9.
    pub const fn new(odd: u32, log: u32) -> NttPlan {
        let length = log + odd.next_power_of_two().trailing_zeros();
        let row = length.div_ceil(2) + 1;
        let most = if log - 3 < 14 { log - 3 } else { 14 };
        let log_row = if row > most { most } else { row };
        NttPlan {
            odd,
            log_part: log - log_row,
            log_row,
        }
    }

    /// The depth at which the parts are nodes 0 to `odd - 1`.
    #[inline(always)]
    pub const fn levels_above(odd: u32) -> u32 {
        match odd {
            1 => 0,
            3 => 2,
            _ => 3,
        }
    }

    /// `N`.
    #[inline(always)]
    pub const fn length(&self) -> u32 {
        self.rows() << self.log_row
    }

    /// Rows.
    #[inline(always)]
    pub const fn rows(&self) -> u32 {
        self.odd << self.log_part
    }

    /// Limbs that one number's points take.
    #[inline(always)]
    pub const fn point_limbs(&self) -> usize {
        PRIMES.len() * self.length() as usize
    }

    /// The binary logarithm of the number of columns that a block has: at least eight columns,
    /// which are a sector.
    #[inline(always)]
    pub const fn log_columns(&self) -> u32 {
        let rows = self.rows().next_power_of_two().trailing_zeros();
        let log = if rows < 10 { 13 - rows } else { 3 };
        if log > 5 { 5 } else { log }
    }

    /// Blocks that one number's columns take, modulo one prime.
    #[inline(always)]
    pub const fn column_blocks(&self) -> u32 {
        1 << (self.log_row - self.log_columns())
    }

    /// Blocks of [`LIMBS`] that one number takes.
    #[inline(always)]
    pub const fn limb_blocks(&self) -> u32 {
        self.length().div_ceil(CHUNK * CHUNKS)
    }

    /// Bytes of shared memory of a block that has columns.
    pub const fn column_bytes(&self) -> u32 {
        4 * padded(self.rows() << self.log_columns())
    }

    /// The bytes of shared memory of a block that has a row of so many operands: the rows, and
    /// sixteen factors.
    pub const fn row_bytes(&self, operands: u32) -> u32 {
        4 * padded(operands << self.log_row) + 16 * 8
    }

    /// Whether blocks fit a device that has so many bytes of shared memory for each.
    pub const fn fits(&self, shared_bytes: u32) -> bool {
        self.column_bytes() <= shared_bytes
            && self.row_bytes(2) <= shared_bytes
            && LIMB_BYTES <= shared_bytes
    }

    /// The factor that makes coefficients of what comes back, for each prime: `2^32 / M`, of which
    /// `2^32` is what products of residues by Montgomery's method lack.
    pub fn scales(&self) -> [u64; 3] {
        PRIMES.map(|prime| {
            let half = prime.p.div_ceil(2);
            let all = prime.power(half, self.log_part + self.log_row);
            let scale = prime.times(all, prime.power(2, 32));
            prime.factor(scale).word()
        })
    }
}

/// The place in shared memory of residue `i`: behind every eight one is left free, so that
/// those a power of two apart meet in no bank.
#[inline(always)]
pub const fn padded(i: u32) -> u32 {
    i + (i >> 3)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn roots_have_their_order_and_primes_room_for_every_coefficient() {
        for prime in PRIMES {
            assert_eq!(prime.p.wrapping_mul(prime.inverse), 1);
            assert_eq!(prime.power(prime.root, 1 << (LOG_ORDER - 1)), prime.p - 1);
            assert!((2..1 << 16).all(|k| !prime.p.is_multiple_of(k)));
            // Node 1 is modulo x^m + 1, node 2 modulo x^m - i.
            assert_eq!(prime.node(0), 1);
            assert_eq!(prime.times(prime.node(1), prime.node(1)), prime.p - 1);
            assert_eq!(prime.times(prime.node(2), prime.node(2)), prime.node(1));
        }
        let room: u128 = PRIMES.iter().map(|prime| u128::from(prime.p)).product();
        let limb = u128::from(u32::MAX);
        assert!((LONGEST as u128 / 2) * limb * limb < room);
    }

    #[test]
    fn every_length_holds_a_block_and_tables_hold_every_node() {
        let mut lengths: std::vec::Vec<_> = NttPlan::all().map(|plan| plan.length()).collect();
        for plan in NttPlan::all() {
            assert!(plan.log_part >= 3 && plan.log_row >= 6, "{plan:?}");
            assert!(plan.log_columns() <= plan.log_row);
            assert!(plan.fits(160 << 10), "{plan:?}");
            assert!(plan.rows() <= 2 << LOG_TABLE && plan.log_row - 1 <= LOG_TABLE);
            let depth = NttPlan::levels_above(plan.odd) + plan.log_part;
            assert!(depth + plan.log_row <= LOG_ORDER);
        }
        lengths.sort_unstable();
        assert_eq!(lengths.last(), Some(&(LONGEST as u32)));
        assert!(
            lengths[2..]
                .windows(2)
                .all(|pair| pair[1] <= pair[0] / 2 * 3)
        );
        assert_eq!(NttPlan::of(1, LONGEST), None);
        assert!(NttPlan::of(LONGEST / 2, LONGEST / 2).is_some());
    }

    #[test]
    fn words_are_all_there_is_in_the_order_of_the_fields() {
        let arguments = NttArguments {
            tables: 5,
            kept_count: 7,
            ..NttArguments::default()
        };
        let words: std::vec::Vec<u64> = arguments.words().collect();
        assert_eq!(words.len() * size_of::<u64>(), size_of::<NttArguments>());
        let tables = core::mem::offset_of!(NttArguments, tables) / size_of::<u64>();
        let kept = core::mem::offset_of!(NttArguments, kept_count) / size_of::<u64>();
        assert_eq!((words[tables], words[kept]), (5, 7));
    }
}
