//! Long transforms, with two launches for each square or product. Blocks of the second launch hand carries on to one another.
//!
//! The `n = 2 f 16 m r` words are a matrix of `f 16 m` rows of `r` complex points: words `2 (s r + c)` and
//! `2 (s r + c) + 1` are point `c` of row `s`. [`Radices::of`] chooses `f`, `m` and `r`.
//!
//! | kernel | a block has | reads and writes |
//! |---|---|---|
//! | [`LONG_ROWS`] | rows of a frequency and its mirror ([`Nodes`]): `f 8 m` blocks of `r / 8` threads, one more if cyclic | points |
//! | [`LONG_COLUMNS`], [`LONG_COLUMNS_MODULO`], [`LONG_COLUMNS_FAR`], [`LONG_COLUMNS_REACH`] | two or four neighbouring columns, `16 m` threads to each | points, what is handed on |
//!
//! A row has `16 16 8` or `16 16 16` points, and a column `f 16 m`: a pass for each factor. A thread has up to 16
//! points in registers, and threads exchange points in shared memory between passes. [`Nodes`] says which row
//! has frequency `k` of the columns. If `f` is less than 16, some warps have nothing to do in the passes after the
//! first.
//!
//! Block `b` of the columns takes group `b - 1` of them. Block 0 takes the last group, only to hand its carries on,
//! and the last block takes that group again; so there is one block more than groups. A thread waits for the carry of
//! its row from the block before, which was started earlier, and leaves [`NO_CARRY`] in its place. That needs neither
//! a flag nor a fence. The last block waits, by a flag, until block 0 has read the points that the last block writes.

use super::Around;
use crate::kernel::EntryPoint;

/// The PTX module that has these kernels.
pub const LONG_MODULE: &str = "weighted_long";

const fn entry(name: &'static str) -> EntryPoint {
    EntryPoint {
        name,
        module: LONG_MODULE,
    }
}

/// The kernel that transforms rows, multiplies by a factor, or by what it is above another, and transforms back.
pub const LONG_MULTIPLY: EntryPoint = entry("weighted_long_multiply");

/// The kernel that multiplies two factors, or sums or differences of factors, and transforms rows back. It does not read
/// the points.
pub const LONG_PRODUCT: EntryPoint = entry("weighted_long_product");

/// The kernel that transforms rows, and writes them as a factor.
pub const LONG_KEEP: EntryPoint = entry("weighted_long_keep");

/// The kernel that transforms rows, squares, and transforms back.
pub const LONG_ROWS: EntryPoint = entry("weighted_long_rows");

/// The kernel that transforms columns back to words, carries, and transforms columns to frequencies, modulo `2^p - 1`.
pub const LONG_COLUMNS: EntryPoint = entry("weighted_long_columns");

/// The kernel that does so modulo other numbers, where a carry dies out in the two words of a point.
pub const LONG_COLUMNS_MODULO: EntryPoint = entry("weighted_long_columns_modulo");

/// The kernel that does so where a carry may need four words. It hands carries on in two halves.
pub const LONG_COLUMNS_FAR: EntryPoint = entry("weighted_long_columns_far");

/// The kernel that does so in the base 2, where a carry needs four words or [eight](LongArguments::reach). It hands carries on
/// in two halves.
pub const LONG_COLUMNS_REACH: EntryPoint = entry("weighted_long_columns_reach");

/// The radices of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Radices {
    /// The radix of a column's first pass, `f`.
    pub radix: u32,
    /// The radix of a column's last pass, `m`.
    pub factor: u32,
    /// The points of a row, in units of [`POINTS`].
    pub row: u32,
}

impl Radices {
    /// The radices of a transform of `words` words, if there is one. Up to `m` of 8, `f` is 9 to 16. Rows are twice as long
    /// in some transforms with `m` of 8, and in all with `m` of 9 or 10, for which `f` is 16.
    pub fn of(words: usize) -> Option<Radices> {
        let unit = 32 * POINTS as usize;
        let units = u32::try_from(words / unit)
            .ok()
            .filter(|_| words.is_multiple_of(unit))?;
        let shapes = [1, 2].into_iter().flat_map(|row| {
            [1, 2, 4, 8, 9, 10].map(|factor| Radices {
                radix: units / (factor * row),
                factor,
                row,
            })
        });
        shapes.into_iter().find(|&Radices { radix, factor, row }| {
            let are_radices = match factor {
                1 | 2 | 4 | 8 => (9..=16).contains(&radix) && (row == 1 || factor == 8),
                _ => radix == 16 && row == 2,
            };
            are_radices && radix * factor * row == units
        })
    }
}

/// The points of a row, or half of them where rows are twice as long.
pub const POINTS: u32 = 2048;

/// The points of a thread of the rows' blocks: eight, each with its mirror.
pub const KEPT_POINTS: u32 = 16;

/// The most threads of a block for which the PTX leaves registers. A specialization may state
/// [more](crate::specialization::LongTransform::WARPS), which leaves each thread fewer.
pub const THREADS: u32 = 512;

/// The most warps of a block.
pub const WARPS: u32 = THREADS / 32;

/// The oldest compute capability whose launches may [begin early](WAITS).
pub const EARLY_CAPABILITY: (u32, u32) = (9, 0);

/// The PTX of a kernel whose launch begins before the one before has ended, which saves the time that a launch takes
/// to begin: the version of the language, the target, the kernel's first instruction, and the one that waits until the
/// launch before has ended, which takes the place of [`WAITS_HERE`].
pub const WAITS: [&str; 4] = [
    ".version 7.8",
    ".target sm_90",
    "griddepcontrol.launch_dependents;\n",
    "griddepcontrol.wait;",
];

/// The comment in a kernel's PTX before it touches what launches write.
pub const WAITS_HERE: &str = "/*waits here*/";

/// The instructions that load and store points, and those by which the host replaces them if a launch begins [early](WAITS):
/// they bring 128 bytes to the second-level cache, and keep points out of the first, where roots stay. (They need PTX 7.4.)
pub const UNCACHED: [[&str; 2]; 2] = [
    [
        "ld.global.v2.f64",
        "ld.global.L1::no_allocate.L2::128B.v2.f64",
    ],
    ["st.global.v2.f64", "st.global.L1::no_allocate.v2.f64"],
];

/// The same for columns of rows that are longer than [`POINTS`], which take more time past the first-level cache.
pub const BY_LINES: [&str; 2] = ["ld.global.v2.f64", "ld.global.L2::128B.v2.f64"];

/// The word that stands in place of a carry that has not been handed on. No carry of 32 bits has this value, unless
/// the reported rounding error is infinite, as it also is if a carry has more bits.
pub const NO_CARRY: u32 = 1 << 31;

/// The part of an iteration that a launch of [`LONG_COLUMNS`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The whole iteration.
    Whole = 1,
    /// The part from digits to frequencies.
    Begin = 2,
    /// The part from frequencies to digits.
    End = 3,
}

/// The one parameter of the two kernels, passed by value. Addresses are in device memory. A pair is two doubles.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LongArguments {
    /// The address of the points, a pair for each.
    pub points: u64,
    /// The addresses of the two sides of a [`LONG_PRODUCT`]: of each a factor ([`factor_limbs`](Self::factor_limbs)), and
    /// one that is added to it, `signs` times; 0 for nothing. [`LONG_MULTIPLY`] multiplies by the second side, and
    /// [`LONG_KEEP`] writes its first factor.
    pub sides: [[u64; 2]; 2],
    /// 1 or -1 for each side.
    pub signs: [f64; 2],
    /// The address of the digits, a pair for each point, which [`Stage::Begin`] reads and [`Stage::End`] writes.
    pub digits: u64,
    /// The address of the carries, a limb for each row and block of columns, in groups of four; behind them, of
    /// [`LONG_COLUMNS_FAR`] and [`LONG_COLUMNS_REACH`], those of their upper halves. A limb is a carry
    /// from when it is handed on until it is taken, and [`NO_CARRY`] at all other times.
    pub carries: u64,
    /// The address of a limb: the last launch in which block 0 of the columns had read its points, so that the last
    /// block may write them.
    pub flag: u64,
    /// The address of [`WARPS`] limbs for each block of columns: the greatest rounding error of each warp, as the
    /// upper half of a double.
    pub errors: u64,
    /// The address of [`ROW_ROOTS`] pairs for each pair of rows: its own roots.
    pub row_roots: u64,
    /// The address of the roots that all rows and all columns share, as [`Tables`] lays them out.
    pub roots: u64,
    /// The address of two pairs for each of the first `16 m` rows, which describe its first word: the weight
    /// `b^(g / unit)` and its inverse, then `g` as an integer and a free place.
    pub row_weights: u64,
    /// The address of two pairs for each word of the first row, as for rows.
    pub column_weights: u64,
    /// The weight of each of `f` rows that are `16 m` apart, and its inverse times the factor that makes up for the
    /// transforms' scaling.
    pub steps: [[f64; 2]; 16],
    /// The number by which the square is multiplied.
    pub by: f64,
    /// What is subtracted from the multiplied square, and from which word, modulo `2^p - 1`.
    pub less: Less,
    /// How a carry out of the last word goes around modulo other numbers, where `c` is 1 or -1.
    pub around: Around,
    /// The number that is subtracted from the multiplied square, `k` times; 0 modulo `2^p - 1`.
    pub minus: f64,
    /// How many words are behind the one that takes what does not go into the first: fewer than a carry needs.
    pub behind: u32,
    /// Over how many points a carry reaches: 1, or 2 for [`LONG_COLUMNS_FAR`], 2 or 4 for [`LONG_COLUMNS_REACH`], and no
    /// more than a block has columns.
    pub reach: u32,
    /// The address of the factors of the points of the first `16 m` rows in a negacyclic transform, `e(s / 2 rows)` for
    /// row `s`, which [roots](Tables) have but on the way back where `f` is 16; 0 in a cyclic one.
    pub twists: u64,
    /// The factors of the points of `f` rows that are `16 m` apart, likewise.
    pub step_twists: [[f64; 2]; 16],
    /// The base `b`, and its inverse.
    pub base: [f64; 2],
    /// `b` to the places of the shorter words and of the longer ones, each with its inverse.
    pub powers: [[f64; 2]; 2],
    /// The `g` of each of the rows of `steps`.
    pub step_g: [u32; 16],
    /// The unit of the exponents `g`, below 2^31; the number of words, `n`, for `2^p - 1`.
    pub unit: u32,
    /// A word whose `g` is below this is one place longer than the others; `p mod n` for `2^p - 1`.
    pub long: u32,
    /// The places of the other words, `p / n` for `2^p - 1`.
    pub short: u32,
    /// The number of the launch. It differs from launch to launch.
    pub launch: u32,
    /// The radix of a column's first pass, `f`.
    pub radix: u32,
    /// The radix of a column's last pass, `m`.
    pub factor: u32,
    /// The [`Stage`], as a number.
    pub stage: u32,
    /// The points of a row, in units of [`POINTS`].
    pub row: u32,
    /// What [`reciprocal`] is of `f`, and of `m`.
    pub reciprocals: [u32; 2],
    /// The address of two limbs for each thread of the columns' blocks, from group to group, which describe its even
    /// and its odd words modulo `2^p - 1` and for [`LONG_COLUMNS_REACH`]: see [`WordBits`]. Else 0.
    pub word_bits: u64,
}

/// A subtraction from one word: word `part` of point `column` of row `first + 16 m k`, where `first` is below `16 m`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Less {
    /// What is subtracted, which is at most twice what the word holds.
    pub amount: f64,
    /// The `column`.
    pub column: u32,
    /// The `first`.
    pub first: u32,
    /// `2 k + part`.
    pub word: u32,
}

impl Less {
    /// No subtraction: there is no such column.
    pub const NOTHING: Less = Less {
        amount: 0.0,
        column: u32::MAX,
        first: 0,
        word: 0,
    };
}

impl LongArguments {
    /// Whether the transform is negacyclic.
    pub const fn is_negacyclic(&self) -> bool {
        self.twists != 0
    }

    /// The limbs of a factor: two pairs for each pair of points that a thread of the rows' blocks has.
    pub const fn factor_limbs(&self) -> u64 {
        let blocks = 8 * self.radix as u64 * self.factor as u64 + 1;
        4 * blocks * KEPT_POINTS as u64 * (self.row * POINTS / 8) as u64
    }

    /// The stretch of a factor that some launches lack: then its address is 0, and it has no limbs.
    const fn of_factor(&self, address: u64) -> (u64, u64) {
        match address {
            0 => (self.points, 0),
            _ => (address, self.factor_limbs()),
        }
    }

    /// The stretches of device memory that the kernels touch: their addresses and their lengths in limbs.
    pub const fn stretches(&self) -> [(u64, u64); 15] {
        let m = self.factor as u64;
        let row = self.row as u64 * POINTS as u64;
        let rows = 16 * self.radix as u64 * m;
        let points = rows * row;
        let blocks = (row >> log_width(self.factor)) + 1;
        [
            (self.points, 4 * points),
            self.of_factor(self.sides[0][0]),
            self.of_factor(self.sides[0][1]),
            self.of_factor(self.sides[1][0]),
            self.of_factor(self.sides[1][1]),
            (self.digits, 4 * points),
            (
                self.carries,
                256 * m * blocks * if self.reach > 1 { 2 } else { 1 },
            ),
            (self.flag, 1),
            (self.errors, WARPS as u64 * blocks),
            (self.row_roots, (rows / 2 + 1) * 4 * ROW_ROOTS as u64),
            (
                self.roots,
                4 * Tables::of(self.radix, self.factor).end as u64,
            ),
            (self.row_weights, 16 * m * 8),
            (self.column_weights, 2 * row * 8),
            match self.twists {
                0 => (self.points, 0),
                twists => (twists, 16 * m * 4),
            },
            match self.word_bits {
                0 => (self.points, 0),
                bits => (bits, 2 * 16 * m * row),
            },
        ]
    }
}

/// The binary logarithm of the number of columns of a block. A multiprocessor has room for two blocks of so many
/// columns.
#[inline(always)]
pub const fn log_width(m: u32) -> u32 {
    if m > 4 { 1 } else { 2 }
}

/// By what [`quotient`] multiplies to divide by `n`, which is at most 16.
pub const fn reciprocal(n: u32) -> u32 {
    (1 << 20) / n + 1
}

/// The quotient of `k`, below 2^12, by the number of which this is the [`reciprocal`]. (The driver's compiler divides by a
/// number that it has been told as by any other.)
#[inline(always)]
pub const fn quotient(k: u32, reciprocal: u32) -> u32 {
    (k * reciprocal) >> 20
}

/// The bits of a limb that describe the words of a thread of columns, all even or all odd ones. The weight of the word
/// in row `k` of `f` rows that are `16 m` apart is a product of those of a row, a column and a step, less a base if the
/// sum of exponents is a unit too many.
pub struct WordBits;

impl WordBits {
    /// Whether the sum of the exponents of row and column is a unit too many.
    pub const FIRST: u32 = 1;

    /// Whether that exponent, reduced, and the step's are together. Step 0 adds nothing.
    #[inline(always)]
    pub const fn wraps(k: usize) -> u32 {
        (1 << k) & !1
    }

    /// Whether the word is one place longer than others.
    #[inline(always)]
    pub const fn is_long(k: usize) -> u32 {
        1 << 16 << k
    }
}

/// The nodes of a column's last pass, and how the rows of their frequencies are paired.
///
/// Frequency `h + f i + 16 f j` of the columns belongs to node `h + f i`. The rows of a frequency and its mirror are a
/// pair. Their points alternate, in groups of as many as a block has columns, so that the points of a pair that a block
/// of columns needs are neighbours. Frequency `j` of a node is the mirror of frequency `m - 1 - j` of the node's mirror;
/// if these nodes are pair `p` of nodes, the two rows are pair `p m + j`.
///
/// The mirror of `k` is `-k` in a cyclic transform. Nodes 0 and `8 f` are their own mirrors there. They form a pair of
/// nodes, so a row of theirs is not paired with its mirror. In a negacyclic transform frequency `k` is that of `k + 1/2`,
/// and its mirror is `-1 - k`: no node is its own.
#[derive(Clone, Copy, Debug)]
pub struct Nodes {
    /// The radix of a column's first pass, `f`.
    pub radix: u32,
    /// Whether the transform is negacyclic.
    pub is_negacyclic: bool,
    /// The [`reciprocal`] of the radix.
    pub reciprocal: u32,
}

impl Nodes {
    /// The nodes of columns whose first pass has this radix.
    pub const fn new(radix: u32, is_negacyclic: bool) -> Self {
        Nodes {
            radix,
            is_negacyclic,
            reciprocal: reciprocal(radix),
        }
    }

    /// The row of the mirror of the frequency of row `k`, of `rows`.
    #[inline(always)]
    pub const fn mirror(self, k: u32, rows: u32) -> u32 {
        match (self.is_negacyclic, k) {
            (true, _) => rows - 1 - k,
            (false, 0) => 0,
            (false, _) => rows - k,
        }
    }

    /// The place of the points of frequency `k` of the columns: the index of a pair of rows, and which row of the pair
    /// it is.
    #[inline(always)]
    pub const fn row(self, k: u32, m: u32) -> (u32, u32) {
        let radix = self.radix;
        let q = quotient(k, self.reciprocal);
        let (h, i, j) = (k - radix * q, q % 16, q / 16);
        let (pair, side) = if self.is_negacyclic {
            match i {
                ..8 if 2 * h + 1 == radix => (16 * h + i, 0),
                _ if 2 * h + 1 == radix => (16 * h + 15 - i, 1),
                _ if 2 * h + 1 < radix => (16 * h + i, 0),
                _ => (16 * (radix - 1 - h) + 15 - i, 1),
            }
        } else {
            match (h, i) {
                (0, 0) => (0, 0),
                (0, 8) => (0, 1),
                (0, ..8) => (i, 0),
                (0, _) => (16 - i, 1),
                (_, ..8) if 2 * h == radix => (8 + i, 0),
                _ if 2 * h == radix => (23 - i, 1),
                _ if 2 * h < radix => (16 * h + i, 0),
                _ => (16 * (radix - h) + 15 - i, 1),
            }
        };
        let of_node = if side == 0 { j } else { m - 1 - j };
        (self.in_order(pair) * m + of_node, side)
    }

    /// The index of a pair of nodes among those that exist. Pairs are counted as if there were eight more if `f` is odd:
    /// with `h` half of `f`, behind the first eight, in a cyclic transform, and at the end in a negacyclic one.
    #[inline(always)]
    pub const fn in_order(self, pair: u32) -> u32 {
        let behind = if self.is_negacyclic {
            8 * self.radix
        } else {
            16
        };
        if self.radix & 1 == 1 && pair >= behind {
            pair - 8
        } else {
            pair
        }
    }

    /// Whether the pair of nodes that is counted as `pair` exists.
    #[inline(always)]
    pub const fn has_pair(self, pair: u32) -> bool {
        if self.is_negacyclic {
            pair < 8 * self.radix
        } else {
            pair < 8 * (self.radix + (self.radix & 1)) && (self.radix & 1 == 0 || pair >> 3 != 1)
        }
    }

    /// The node `h + f i` on one side of a pair, as the place of `h` in the order of [`at`](Self::at), and `i`. A pair
    /// that does not exist has the place that is free.
    #[inline(always)]
    pub const fn of_pair(self, pair: u32, side: u32) -> (u32, u32) {
        let (g, u) = (pair >> 4, pair & 15);
        if self.is_negacyclic {
            // The middle node is its own mirror, and has half as many pairs.
            let is_middle = 2 * g + 1 == self.radix;
            let at = if is_middle { u >> 3 } else { side };
            return (2 * g + at, if side == 0 { u } else { 15 - u });
        }
        // The `i` of side 0, and the `i` of side 1, computed without branches.
        let (there, back) = match g {
            0 => (u & 7, if u < 8 { 16 - u } else { 23 - u }),
            _ => (u, 15 - u),
        };
        let back = if pair == 0 { 8 } else { back };
        let place = if g == 0 { u >> 3 } else { 2 * g + side };
        (place, if side == 0 { there } else { back })
    }

    /// The node of the middle pass at a place of an order in which mirrors are side by side. For 16 nodes the order is
    /// 0, 8, 1, 15, 2, 14 and so on, or 0, 15, 1, 14 and so on in a negacyclic transform. If the number of nodes is odd,
    /// the second place is free in a cyclic one, and the last in a negacyclic one.
    #[inline(always)]
    pub const fn at(self, place: u32) -> u32 {
        match (place, place & 1) {
            (_, 0) => place / 2,
            _ if self.is_negacyclic => self.radix.wrapping_sub(1 + place / 2),
            (1, _) => self.radix / 2,
            _ => self.radix.wrapping_sub(place / 2),
        }
    }

    /// The place of a node in the order of [`at`](Self::at).
    #[inline(always)]
    pub const fn place(self, node: u32) -> u32 {
        let radix = self.radix;
        if self.is_negacyclic {
            return if 2 * node < radix {
                2 * node
            } else {
                2 * radix.wrapping_sub(1 + node) + 1
            };
        }
        if 2 * node == radix {
            1
        } else if 2 * node < radix {
            2 * node
        } else {
            2 * radix.wrapping_sub(node) + 1
        }
    }

    /// Whether there is a node at this place.
    #[inline(always)]
    pub const fn has(self, place: u32) -> bool {
        self.has_pair(8 * place)
    }
}

/// The number of a pair of rows' own roots, each a pair of doubles. With `f = k / rows` they are: the 8 node roots of
/// `f` (see [`Tables`]); `e(-j f / 16)` for `j` from 1 to 15; `e(f / 2^j)` for `j` from 5 to 12; `e(-j f / 256)` for
/// `j` from 1 to 15; and two free places.
pub const ROW_ROOTS: u32 = 48;

/// The index at which the second kind of a pair of rows' own roots begins,
pub const ROW_BACK: u32 = 8;
/// at which the third kind begins,
pub const ROW_HALVES: u32 = 23;
/// and at which the fourth kind begins.
pub const ROW_MIDDLE_BACK: u32 = 31;

/// The index in the table of shared roots, in pairs, at which each kind of root begins. `e(t)` is `exp(2 pi i t)`.
/// The node roots of `t` are `e(t / 2)`, `e(t / 4)`, `e(t / 8)`, `e(t / 8 + 1 / 8)`, `e(t / 16)` and so on: see
/// `transform::roots`.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// For rows: node root `j` of `h / 16` at `16 j + h`, for `j` from 0 to 7.
    pub row_middle: u32,
    /// For rows: `e(-h k / 256)` at `16 (k - 1) + h`.
    pub row_middle_back: u32,
    /// For rows: node root `j` of `(h + 16 i) / 256` at `256 j + 16 h + i`, for `j` from 0 to 2.
    pub row_last: u32,
    /// For rows that are twice as long: the node roots 0, 1, 2 and 4 of `(h + 16 i + 256 side) / 256`, the `j`-th of
    /// these at `512 j + 2 (16 h + i) + side`.
    pub longer_row_last: u32,
    /// For columns: node root `j` of `h / f` at `16 j + h`, for `j` from 0 to 7. In a negacyclic transform `h + 1/2` takes the
    /// place of `h`, here and in `last` and the second kind of `first_back`.
    pub middle: u32,
    /// For columns: the first [`last_roots`] node roots of `(h + f i) / 16 f`; or `e(j (h + f i) / 16 f m)`, for `j`
    /// from 1 on, if `m` is no power of two.
    pub last: u32,
    /// For columns: node root `j` of `i / m` at `m j + i`, for `j` from 0 to 7.
    pub middle_back: u32,
    /// For columns: node root `j` of `i / 16 m` at `16 m j + i`, for `j` from 0 to 7; or `e(-h i / 16 f m)` at
    /// `16 m h + i` if `f` is not 16.
    pub first_back: u32,
    /// The length of the table.
    pub end: u32,
}

impl Tables {
    /// The layout of the table for the radices `f` and `m`.
    #[inline(always)]
    pub const fn of(radix: u32, m: u32) -> Tables {
        let row_middle_back = 8 * 16;
        let row_last = row_middle_back + 15 * 16;
        let longer_row_last = row_last + 3 * 256;
        let middle = longer_row_last + 4 * 512;
        let last = middle + 8 * 16;
        let middle_back = last + last_roots(m) * 256;
        let first_back = middle_back + 8 * m;
        let of_first_back = if radix == 16 { 8 } else { radix };
        Tables {
            row_middle: 0,
            row_middle_back,
            row_last,
            longer_row_last,
            middle,
            last,
            middle_back,
            first_back,
            end: first_back + of_first_back * 16 * m,
        }
    }
}

/// The number of roots of each butterfly of radix `m` in a column's last pass.
#[inline(always)]
pub const fn last_roots(m: u32) -> u32 {
    match m.is_power_of_two() {
        true => m.trailing_zeros(),
        false => m - 1,
    }
}

/// The places of points in shared memory for a block of columns. Point `(16 h + i) m + j` of column `c`, where `h` is
/// a node's place, is at `h` [`outer`](Self::outer) `+ i` [`inner`](Self::inner) `+ j` `columns` `+ c`. There are
/// gaps between them, so that eight threads that move 16 bytes each at once mostly use different banks.
#[derive(Clone, Copy, Debug)]
pub struct ColumnPlaces {
    /// The distance from one `h` to the next.
    pub outer: u32,
    /// The distance from one `i` to the next.
    pub inner: u32,
}

impl ColumnPlaces {
    /// The places for the radix `m`.
    #[inline(always)]
    pub const fn of(m: u32) -> ColumnPlaces {
        let inner = (m | 1) << log_width(m);
        let gap = (m << log_width(m)) % 8;
        ColumnPlaces {
            outer: 16 * inner + gap,
            inner,
        }
    }
}

/// The distance in shared memory between the two rows of a block, which have `256 radix` points each. Behind every
/// `radix` points one place is free, and four more places separate the rows, so that they are in different banks.
#[inline(always)]
pub const fn row_places(radix: u32) -> u32 {
    256 * (radix + 1) + 4
}

/// The shared memory of a block of [`LONG_ROWS`], in bytes: two rows, and roots.
pub const fn long_rows_bytes(row: u32) -> u32 {
    16 * (2 * row_places(8 * row) + 8 * 16 + 15 * 16 + ROW_ROOTS)
}

/// The shared memory of a block of [`LONG_COLUMNS`], in bytes.
pub const fn long_columns_bytes(m: u32) -> u32 {
    16 * 16 * ColumnPlaces::of(m).outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frequency_has_a_row_and_every_point_of_a_block_a_place() {
        let shapes =
            (1..=1 << 10).filter_map(|units| Some((units << 16, Radices::of(units << 16)?)));
        assert_eq!(shapes.clone().count(), 42);
        let both = shapes.flat_map(|shape| [false, true].map(|negacyclic| (shape, negacyclic)));
        for (
            (
                words,
                Radices {
                    radix,
                    factor: m,
                    row,
                },
            ),
            is_negacyclic,
        ) in both
        {
            let nodes = Nodes::new(radix, is_negacyclic);
            assert_eq!(32 * (radix * m * row * POINTS) as usize, words);
            let mut rows = [false; 2560];
            let mut places = [false; 12_000];
            let ColumnPlaces { outer, inner } = ColumnPlaces::of(m);
            let count = 16 * radix * m;
            for pair in (0..8 * (radix + (radix & 1))).filter(|&pair| !nodes.has_pair(pair)) {
                assert!(nodes.in_order(pair) < 8 * radix);
                assert!(
                    [0, 1]
                        .iter()
                        .all(|&side| !nodes.has(nodes.of_pair(pair, side).0))
                );
            }
            for k in 0..count {
                let (pair, side) = nodes.row(k, m);
                let row = 2 * pair + side;
                assert!(row < count && !core::mem::replace(&mut rows[row as usize], true));
                let mirror = nodes.row(nodes.mirror(k, count), m);
                let is_alone = !is_negacyclic && k % (8 * radix) == 0;
                assert!(is_alone || mirror == (pair, 1 - side));
                let counted = |&p: &u32| nodes.has_pair(p) && nodes.in_order(p) == pair / m;
                let (place, i) = nodes.of_pair((0..128).find(counted).expect("a pair"), side);
                let (h, j) = (nodes.at(place), k / (16 * radix));
                assert!(nodes.has(place) && nodes.place(h) == place);
                assert_eq!((k % radix, k / radix % 16), (h, i));
                assert_eq!(pair % m, if side == 0 { j } else { m - 1 - j });
                for column in 0..1 << log_width(m) {
                    let place = place * outer + i * inner + (j << log_width(m)) + column;
                    assert!(16 * place < long_columns_bytes(m));
                    assert!(!core::mem::replace(&mut places[place as usize], true));
                }
            }
        }
    }
}
