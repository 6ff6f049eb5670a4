//! Products by a transform over integers modulo primes, on the whole device, in the form shared by
//! host and device. They serve the widest numbers, on every chip.
//!
//! A number's limbs are the coefficients of a polynomial, to the base `2^32`. Two polynomials are
//! multiplied modulo `x^N - 1`, where `N` is at least the sum of their limbs, once modulo each of
//! three [`PRIMES`] below `2^31`. A coefficient of the product is a sum of at most `2^25` products
//! below `2^64`, and so below `2^89`. This is less than the three primes' product, so the Chinese
//! remainder theorem gives the coefficient. For 12 times 34 to the base 10, modulo 5 and 7:
//! `(2 + x)(4 + 3 x)` is `3 + 0 x + 3 x^2` and `1 + 3 x + 3 x^2`, so it is `8 + 10 x + 3 x^2`.
//!
//! Why three primes: counted in instructions of 32 bits, a butterfly costs for each level and bit of an operand .47 modulo
//! them, .54 to .68 modulo `2^64 - 2^32 + 1`, and .70 to .86 in `(Z/(2^61 - 1))[i]`.
//!
//! # The tree
//!
//! Modulo each prime there are roots of unity of order `2^26`; `e(t)` is the one at `t` turns. As
//! in [`super`], `x^2m - z = (x^m - w)(x^m + w)` with `w w = z`; here the tree goes from `x^N - 1`
//! down to `x - z`. Let `v(b)` be the bits of `b` in reverse order behind the binary point
//! (`v(1) = 1/2`, `v(2) = 1/4`, `v(3) = 3/4`, ...). Node `b` of any depth is a polynomial modulo
//! `x^m - e(v(b))`, and its `w` is `e(v(b) / 2)`. As `w` does not depend on the depth, one table
//! serves all lengths and levels.
//!
//! `N` is `odd M`, where `M` is a power of two. If `odd` is 3, the product is computed modulo
//! `(x^2M - 1)(x^M - i)`, which are nodes 0, 1 and 2 at depth 2; if it is 5, modulo
//! `(x^4M - 1)(x^M - e(1/8))`, which are nodes 0 to 4 at depth 3. Let `r` be the product modulo the
//! first factor `x^(2^d M) - 1`, and `s` the product modulo the second, `x^M - z`. As
//! `z^(2^d) = -1`, the product's highest `M` coefficients are `(r(z) - s) / 2`, where `r(z)` is `r`
//! modulo `x^M - z`; its lowest `M` coefficients are those of `r` less the highest.
//!
//! # The launches
//!
//! The limbs are a matrix of rows of `m`. The first levels of the tree are computed by columns. Row
//! `b` is then a polynomial modulo `x^m - e(v(b))`. Multiplying its coefficient `j` by
//! `e(v(b) j / m)` makes it a polynomial modulo `y^m - 1`, whose tree is the same again.
//!
//! | kernel | a block has | reads | writes |
//! |---|---|---|---|
//! | [`FORTH`] | [`NttPlan::log_columns`] columns of an operand, modulo a prime | limbs | residues |
//! | [`ROWS`] | a row of both operands, modulo a prime | residues | residues of the product |
//! | [`BACK`] | columns of the product | residues | coefficients modulo the prime |
//! | [`LIMBS`] | [`CHUNKS`] chunks, each a thread's | these of three primes | limbs, and carries |
//!
//! The eight coefficients of a chunk make eight limbs and a carry of two limbs. The carries stand
//! in a number of their own, each at the place of the next chunk. The kernel of sums adds both
//! numbers, which gives the product.

use crate::kernel::EntryPoint;
use crate::kernel::MatrixArgument;

/// The threads of a block of each of [`FORTH`], [`ROWS`] and [`BACK`]. Small blocks wait for one another less at their barriers.
pub const THREADS: [u32; 3] = [256, 512, 1024];

/// Those of a block of [`LIMBS`].
pub const LIMB_THREADS: u32 = 512;

/// The threads of [`FORTH`] that a multiprocessor should have enough registers for, but for a block of 1024.
pub const FORTH_THREADS: u32 = 1536;

/// Those of [`ROWS`] and [`BACK`].
pub const ROW_THREADS: u32 = 1024;

/// The PTX module that has the kernels.
pub const MODULE: &str = "mul_ntt";

/// The kernels that reduce limbs to residues and go down the tree by columns.
pub const FORTH: [EntryPoint; 3] = [
    entry("mul_ntt_grid_forth_256"),
    entry("mul_ntt_grid_forth_512"),
    entry("mul_ntt_grid_forth_1024"),
];

/// The kernels that go down the tree by rows, multiply, and go up again.
pub const ROWS: [EntryPoint; 3] = [
    entry("mul_ntt_grid_rows_256"),
    entry("mul_ntt_grid_rows_512"),
    entry("mul_ntt_grid_rows_1024"),
];

/// The kernels that go up the tree by columns.
pub const BACK: [EntryPoint; 3] = [
    entry("mul_ntt_grid_back_256"),
    entry("mul_ntt_grid_back_512"),
    entry("mul_ntt_grid_back_1024"),
];

/// The kernel that turns residues into coefficients, and these into limbs and carries.
pub const LIMBS: EntryPoint = entry("mul_ntt_grid_limbs");

const fn entry(name: &'static str) -> EntryPoint {
    EntryPoint {
        name,
        module: MODULE,
    }
}

/// The binary logarithm of the order of [`Prime::root`] and of the greatest length.
pub const LOG_ORDER: u32 = 26;

/// The limbs of the longest transform. Longer products are made of several.
pub const LONGEST: usize = 1 << LOG_ORDER;

/// All primes below `2^31` that have roots of unity of order `2^26`.
pub const PRIMES: [Prime; 3] = [
    Prime::new((15 << 27) + 1, 31),
    Prime::new((27 << 26) + 1, 13),
    Prime::new((7 << 26) + 1, 3),
];

/// A prime, and the constants of arithmetic modulo it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prime {
    /// The prime, below `2^31`.
    pub p: u32,
    /// The prime's inverse modulo `2^32`.
    pub inverse: u32,
    /// The root of unity `e(2^-26)`.
    pub root: u32,
}

impl Prime {
    const fn new(p: u32, generator: u32) -> Prime {
        // Newton's method begins with `p`, as `p p = 1` modulo 8. Each step doubles the number of
        // correct bits.
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

    /// Makes the [`Factor`] of `w`, which is below the prime.
    #[inline]
    pub const fn factor(&self, w: u32) -> Factor {
        Factor {
            w,
            quotient: (((w as u64) << 32) / self.p as u64) as u32,
        }
    }

    /// `e(v(b) / 2)`, the `w` of node `b`.
    pub const fn node(&self, b: u32) -> u32 {
        // `v(b)` is `b` with its 32 bits reversed, over 2^32.
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

/// A constant factor `w` modulo a prime `p`, with a quotient by which a product with it takes three
/// products of words (Shoup's method). For every `y` below `2^32`,
/// `y w - floor(y quotient / 2^32) p` is `y w` modulo `p`, and below `2 p`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Factor {
    /// The factor, below the prime.
    pub w: u32,
    /// The quotient `floor(2^32 w / p)`.
    pub quotient: u32,
}

impl Factor {
    /// The factor as a word, with `w` in the lower half.
    pub const fn word(self) -> u64 {
        (self.quotient as u64) << 32 | self.w as u64
    }
}

/// The binary logarithm of the length of each table.
pub const LOG_TABLE: u32 = LOG_ORDER / 2;

/// The number of tables of a prime, each of `2^LOG_TABLE` factors. In this order they are: `w` of
/// the nodes, `1 / w` of the nodes, `e(k / 2^26)`, and `e(k / 2^13)`.
pub const TABLES: u32 = 4;

/// The number of factors in the tables of all primes.
pub const FACTORS: usize = (PRIMES.len() * TABLES as usize) << LOG_TABLE;

/// Fills the tables of all primes, which have [`FACTORS`] words.
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

/// The coefficients that a thread of [`LIMBS`] takes.
pub const CHUNK: u32 = 8;

/// The chunks that a block of [`LIMBS`] takes.
pub const CHUNKS: u32 = LIMB_THREADS;

/// The limbs of shared memory that one word of each coefficient takes in a block of [`LIMBS`].
pub const COEFFICIENTS: u32 = padded(CHUNK * CHUNKS);

/// The bytes of shared memory of a block of [`LIMBS`], which has three words of each coefficient.
pub const LIMB_BYTES: u32 = 12 * COEFFICIENTS;

/// The second factor, by which [`ROWS`] multiplies a row of the first operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Second {
    /// The row itself: a square.
    #[default]
    Same = 0,
    /// A row of the second operand.
    Other = 1,
    /// A row of the second operand that was transformed and kept before.
    Kept = 2,
    /// No factor: the row is only transformed, to be kept.
    Nothing = 3,
    /// Two rows that were kept before are multiplied, and none is transformed; where there are four, the sum of both products.
    Both = 4,
    /// A row of each operand times one that was kept before: the sum of both products.
    Sum = 5,
}

/// The length of a transform, and its cut into rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct NttPlan {
    /// The odd factor of the length: 1, 3 or 5.
    pub odd: u32,
    /// The binary logarithm of the number of rows over `odd`.
    pub log_part: u32,
    /// The binary logarithm of a row's length.
    pub log_row: u32,
}

/// The one parameter of the four kernels, passed by value. Addresses are in device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NttArguments {
    /// The first operand. The launch begins with its first number.
    pub a: MatrixArgument,
    /// The second operand. It is not read if `operands` is 1.
    pub b: MatrixArgument,
    /// The product without carries, `N` limbs for each number.
    pub sums: MatrixArgument,
    /// The carries, as many limbs as there are sums.
    pub carries: MatrixArgument,
    /// The address of the points: for each number, `N` residues of each operand modulo each prime, or of the product
    /// where no operand is transformed.
    pub points: u64,
    /// The addresses of the points that are kept, as [`Second::Nothing`] leaves them: those of second operands, of
    /// either operand's factors, or of one pair of factors or two.
    pub kept: [u64; 4],
    /// The address of the tables that [`fill_tables`] makes.
    pub tables: u64,
    /// The factors that [`NttPlan::scales`] gives.
    pub scales: [u64; 3],
    /// The length, and its cut into rows.
    pub plan: NttPlan,
    /// The number of numbers.
    pub count: u32,
    /// The number of operands that are transformed: 0 of [`Second::Both`].
    pub operands: u32,
    /// The second factor of rows: a [`Second`], as a number.
    pub second: u32,
    /// The numbers of numbers whose points are kept: one for all, or `count`, and 0 where there are none.
    pub kept_counts: [u32; 4],
    /// 1 where the product is wanted modulo `2^(32 N) - 1`, of a plan that
    /// [`wraps`](NttPlan::wraps); else 0.
    pub wraps: u32,
}

impl NttArguments {
    /// The arguments in the order in which a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let matrices = [self.a, self.b, self.sums, self.carries];
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [first, second, third] = self.scales;
        let (kept, counts) = (self.kept, self.kept_counts);
        let rest = [
            self.points,
            kept[0],
            kept[1],
            kept[2],
            kept[3],
            self.tables,
            first,
            second,
            third,
            pair(self.plan.odd, self.plan.log_part),
            pair(self.plan.log_row, self.count),
            pair(self.operands, self.second),
            pair(counts[0], counts[1]),
            pair(counts[2], counts[3]),
            u64::from(self.wraps),
        ];
        matrices.into_iter().flat_map(matrix).chain(rest)
    }

    /// The stretches of device memory that the kernels touch beside the matrices: their addresses
    /// and their lengths in limbs.
    pub const fn stretches(&self) -> [(u64, u64); 6] {
        let one = self.plan.point_limbs() as u64;
        let points = self.count as u64 * self.rows_of_number() as u64;
        let (kept, counts) = (self.kept, self.kept_counts);
        [
            (self.points, points * one),
            (kept[0], counts[0] as u64 * one),
            (kept[1], counts[1] as u64 * one),
            (kept[2], counts[2] as u64 * one),
            (kept[3], counts[3] as u64 * one),
            (self.tables, 2 * FACTORS as u64),
        ]
    }

    /// How many rows of points a block of [`ROWS`] has: one for each operand, and one of the product where there is none.
    #[inline(always)]
    pub const fn rows_of_number(&self) -> u32 {
        if self.operands > 1 { self.operands } else { 1 }
    }
}

impl NttPlan {
    /// The plan for operands of `n` and `m` limbs: the shortest length that holds their product. It
    /// is `None` if the product is longer than the longest transform.
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

    /// The plan for products modulo `2^(32 n) - 1`, if there is one. A transform whose `N` is a
    /// power of two computes a product modulo `x^N - 1` anyway. Coefficients are then sums of `N`
    /// products.
    pub fn wraps(n: usize) -> Option<NttPlan> {
        let mut plans = NttPlan::all().filter(|plan| plan.odd == 1);
        plans.find(|plan| plan.length() as usize == n && n <= LONGEST / 2)
    }

    /// Every plan.
    pub fn all() -> impl Iterator<Item = NttPlan> {
        let of = |odd: u32| {
            // The levels above the parts: three parts are nodes at depth 2, five are nodes at depth
            // 3.
            let above = NttPlan::levels_above(odd);
            (9..=LOG_ORDER - above).map(move |log| NttPlan::new(odd, log))
        };
        [1, 3, 5].into_iter().flat_map(of)
    }

    /// Makes the plan of `odd 2^log` limbs, where `log` is at least 9.
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

    /// The length in limbs, `N`.
    #[inline(always)]
    pub const fn length(&self) -> u32 {
        self.rows() << self.log_row
    }

    /// The number of rows.
    #[inline(always)]
    pub const fn rows(&self) -> u32 {
        self.odd << self.log_part
    }

    /// The limbs that the points of one operand of a number take.
    #[inline(always)]
    pub const fn point_limbs(&self) -> usize {
        PRIMES.len() * self.length() as usize
    }

    /// The binary logarithm of the number of columns that a block has: eight, whose limbs fill a sector, or more.
    #[inline(always)]
    pub const fn log_columns(&self) -> u32 {
        match self.rows().next_power_of_two().trailing_zeros() {
            rows @ 0..10 => {
                let log = 13 - rows;
                if log > 5 { 5 } else { log }
            }
            _ => 3,
        }
    }

    /// The blocks that take one number's columns, modulo one prime.
    #[inline(always)]
    pub const fn column_blocks(&self) -> u32 {
        1 << (self.log_row - self.log_columns())
    }

    /// The blocks of [`LIMBS`] that take one number.
    #[inline(always)]
    pub const fn limb_blocks(&self) -> u32 {
        self.length().div_ceil(CHUNK * CHUNKS)
    }

    /// The bytes of shared memory of a block that has columns.
    pub const fn column_bytes(&self) -> u32 {
        4 * padded(self.rows() << self.log_columns())
    }

    /// The bytes of shared memory of a block that has so many rows: the rows, and sixteen factors.
    pub const fn row_bytes(&self, rows: u32) -> u32 {
        4 * padded(rows << self.log_row) + 16 * 8
    }

    /// Which of the kernels of [`FORTH`] and [`BACK`] there is for the plan.
    pub const fn column_kernel(&self) -> usize {
        kernel_of(self.column_bytes())
    }

    /// Which of the kernels of [`ROWS`] there is for so many rows.
    pub const fn row_kernel(&self, rows: u32) -> usize {
        kernel_of(self.row_bytes(rows))
    }

    /// Whether a device with so many bytes of shared memory for each block can run the plan.
    pub const fn fits(&self, shared_bytes: u32) -> bool {
        self.column_bytes() <= shared_bytes
            && self.row_bytes(2) <= shared_bytes
            && LIMB_BYTES <= shared_bytes
    }

    /// The factor `2^32 / M` modulo each prime, by which residues are multiplied on the way back to
    /// become coefficients. The `2^32` makes up for the Montgomery products of residues.
    pub fn scales(&self) -> [u64; 3] {
        PRIMES.map(|prime| {
            let half = prime.p.div_ceil(2);
            let all = prime.power(half, self.log_part + self.log_row);
            let scale = prime.times(all, prime.power(2, 32));
            prime.factor(scale).word()
        })
    }
}

/// The kernel with the fewest threads of which a multiprocessor has 1024, where a block takes so many bytes of its shared memory.
const fn kernel_of(bytes: u32) -> usize {
    match bytes >> 10 {
        0..56 => 0,
        56..112 => 1,
        _ => 2,
    }
}

/// The place in shared memory of residue `i`. Behind every eight residues one place is left free,
/// so that residues a power of two apart meet in no bank.
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
            kept_counts: [7, 0, 0, 0],
            ..NttArguments::default()
        };
        let words: std::vec::Vec<u64> = arguments.words().collect();
        assert_eq!(words.len() * size_of::<u64>(), size_of::<NttArguments>());
        let tables = core::mem::offset_of!(NttArguments, tables) / size_of::<u64>();
        let kept = core::mem::offset_of!(NttArguments, kept_counts) / size_of::<u64>();
        assert_eq!((words[tables], words[kept]), (5, 7));
    }
}
