//! Long transforms, in two launches a squaring: carries are handed on inside the second.
//!
//! `n = 2 256 m r` words, `m` from 1 to 10 and `r` [`POINTS`] or twice that, are a matrix of
//! `256 m` rows of `r` complex points: word `2 (s r + c)` and the next are point `c` of row `s`.
//!
//! | kernel | a block has | reads and writes |
//! |---|---|---|
//! | [`LONG_ROWS`] | rows of frequencies `k` and `-k`: `128 m + 1` blocks of `r / 8` threads | points |
//! | [`LONG_COLUMNS`] | two or four neighbouring columns, `16 m` threads to each | points, what is handed on |
//!
//! A row is `16 16 8` points or `16 16 16`, and a column `16 16 m`; a thread has 16 of them in
//! registers, and between passes they change hands in shared memory. Row [`long_place`]`(k, m)`
//! has frequency `k` of the columns.
//!
//! Column block `b` takes the columns before its own `b`-th: block 0 takes the last ones, only
//! to hand their carries on, and one block more than there are columns' blocks takes them
//! again. Each warp waits for the same warp of the block before, which was started
//! earlier.

use crate::facts::Field;
use crate::kernel::EntryPoint;

/// The module that has the two kernels.
pub const LONG_MODULE: &str = "weighted_long";

/// Transforms of rows, squares, and back.
pub const LONG_ROWS: EntryPoint = EntryPoint {
    name: "weighted_long_rows",
    module: LONG_MODULE,
};

/// Columns back to words, carries, and columns to frequencies.
pub const LONG_COLUMNS: EntryPoint = EntryPoint {
    name: "weighted_long_columns",
    module: LONG_MODULE,
};

/// Words for each unit of the factor `m`, where rows have [`POINTS`] points.
pub const LONG_UNIT: usize = 1 << 20;

/// The greatest factor `m`.
pub const LONGEST: u32 = 10;

/// Points of a row, or half of them.
pub const POINTS: u32 = 2048;

/// Threads of a block, at most, where more are not [told](crate::facts::WARPS): each has
/// more registers then.
pub const THREADS: u32 = 512;

/// Warps of a block, at most.
pub const WARPS: u32 = THREADS / 32;

/// Of what is told of a launch of [`LONG_COLUMNS`]: the factor `m`.
pub const FACTOR: Field = Field { at: 13, bits: 4 };

/// Its [`Stage`].
pub const STAGE: Field = Field { at: 17, bits: 2 };

/// And of either kernel: a row's points, in [`POINTS`].
pub const ROW: Field = Field { at: 19, bits: 2 };

/// Whether a launch of either begins before the last kernel has ended, which it waits for at once:
/// what it takes to begin is saved. The host then writes [`WAITS`] into the PTX.
pub const EARLY: Field = Field { at: 31, bits: 1 };

/// The oldest compute capability that can do that,
pub const EARLY_CAPABILITY: (u32, u32) = (9, 0);

/// and what the PTX says of it: its version, its target, and what a kernel begins with.
pub const WAITS: [&str; 3] = [
    ".version 7.8",
    ".target sm_90",
    "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\n",
];

/// Which part of an iteration a launch of [`LONG_COLUMNS`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// All of it.
    Whole = 1,
    /// From digits to frequencies.
    Begin = 2,
    /// From frequencies to digits.
    End = 3,
}

/// The one parameter of the two kernels, by value. Addresses are of device memory; pairs
/// are two doubles.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LongArguments {
    /// Pairs, one for each point.
    pub points: u64,
    /// Pairs of digits, one for each point, read by [`Stage::Begin`] and written by
    /// [`Stage::End`].
    pub digits: u64,
    /// Limbs, one for each row and block of columns: carries, in fours.
    pub carries: u64,
    /// Limbs, [`WARPS`] for each block of columns: the launch in which the warp handed its
    /// carries on.
    pub flags: u64,
    /// Limbs, [`WARPS`] for each block of columns: the greatest rounding error of the warp, the
    /// upper half of a double.
    pub errors: u64,
    /// [`ROW_ROOTS`] pairs for each pair of rows: see [`row_roots`](Self::row_roots).
    pub row_roots: u64,
    /// Roots that all rows and all columns share: see [`Tables`].
    pub roots: u64,
    /// Two pairs for each row in the first sixteenth, of its first word: its weight
    /// `2^(g / n)` and the inverse; `g` as an integer, and nothing.
    pub row_weights: u64,
    /// The same for each word of the first row.
    pub column_weights: u64,
    /// Of rows a sixteenth of all apart: the weight, and its inverse times what a squaring
    /// leaves too great.
    pub steps: [[f64; 2]; 16],
    /// What multiplies the square.
    pub by: f64,
    /// Their `g`.
    pub step_g: [u32; 16],
    /// Words, `n`.
    pub words: u32,
    /// `p mod n`: words with `g` below it are one bit longer.
    pub long: u32,
    /// Bits of the others, `p / n`.
    pub short: u32,
    /// What is taken off after that.
    pub minus: u32,
    /// Differs from launch to launch.
    pub launch: u32,
    /// `m`.
    pub factor: u32,
    /// A [`Stage`].
    pub stage: u32,
    /// Points of a row, in [`POINTS`].
    pub row: u32,
}

impl LongArguments {
    /// The device memory that the kernels touch: addresses and limbs.
    pub const fn stretches(&self) -> [(u64, u64); 9] {
        let m = self.factor as u64;
        let row = self.row as u64 * POINTS as u64;
        let (rows, points) = (256 * m, 256 * m * row);
        let blocks = (row >> log_width(self.factor)) + 1;
        [
            (self.points, 4 * points),
            (self.digits, 4 * points),
            (self.carries, rows * blocks),
            (self.flags, WARPS as u64 * blocks),
            (self.errors, WARPS as u64 * blocks),
            (self.row_roots, (rows / 2 + 1) * 4 * ROW_ROOTS as u64),
            (self.roots, 4 * Tables::of(self.factor).end as u64),
            (self.row_weights, rows / 16 * 8),
            (self.column_weights, 2 * row * 8),
        ]
    }
}

/// The binary logarithm of a block's columns: as many as leave a multiprocessor room for two
/// blocks.
#[inline(always)]
pub const fn log_width(m: u32) -> u32 {
    if m > 4 { 1 } else { 2 }
}

/// Where the points of frequency `k` of the columns are: which pair of rows, and which of the two.
///
/// Rows `k` and `-k` are a pair, in turns as many points of either as a block has columns: the
/// points that a block of columns has of a pair are neighbours. Frequency `h + 16 i + 256 j`
/// belongs to node `h + 16 i`, and with node `a` goes node `-a`, whose `m - 1 - j`-th frequency
/// is the mirror of the `j`-th: pair `p m + j` has both of them, for `p` pairs of nodes.
/// Nodes 0 and 128 are their own mirrors; they are put together, and their rows are not with
/// their mirrors.
#[inline(always)]
pub const fn long_place(k: u32, m: u32) -> (u32, u32) {
    let (h, i, j) = (k & 15, k >> 4 & 15, k >> 8);
    let (pair, side) = match (h, i) {
        (0, 0) => (0, 0),
        (0, 8) => (0, 1),
        (0, ..8) => (i, 0),
        (0, _) => (16 - i, 1),
        (8, ..8) => (8 + i, 0),
        (8, _) => (23 - i, 1),
        (..8, _) => (16 * h + i, 0),
        _ => (16 * (16 - h) + 15 - i, 1),
    };
    (pair * m + if side == 0 { j } else { m - 1 - j }, side)
}

/// Node `h + 16 i` of a [pair](long_place), by the place of `h` among those of
/// [`node_at`] and `i`.
#[inline(always)]
pub const fn node_of_pair(pair: u32, side: u32) -> (u32, u32) {
    let (g, u) = (pair >> 4, pair & 15);
    // Of nodes 0 to 15 in the one order and in the other; without branches.
    let (there, back) = match g {
        0 => (u & 7, if u < 8 { 16 - u } else { 23 - u }),
        _ => (u, 15 - u),
    };
    let back = if pair == 0 { 8 } else { back };
    let place = if g == 0 { u >> 3 } else { 2 * g + side };
    (place, if side == 0 { there } else { back })
}

/// Nodes of the middle pass in an order that has mirrors side by side: 0, 8, 1, 15, 2, 14 and so
/// on.
#[inline(always)]
pub const fn node_at(place: u32) -> u32 {
    match (place, place & 1) {
        (1, _) => 8,
        (_, 0) => place / 2,
        _ => 16 - place / 2,
    }
}

/// The place of a node in that order.
#[inline(always)]
pub const fn place_of_node(node: u32) -> u32 {
    match node {
        8 => 1,
        ..8 => 2 * node,
        _ => 2 * (16 - node) + 1,
    }
}

/// Pairs of a pair of rows' own roots, with `f = k / rows`: `node` roots of `f`, 8; the
/// roots `e(-j f / 16)`, `j` from 1 to 15; `e(f / 2^j)`, `j` from 5 to 12; `e(-j f / 256)`,
/// `j` from 1 to 15; two are free.
pub const ROW_ROOTS: u32 = 48;

/// Where in a pair of rows' own roots the second kind begins,
pub const ROW_BACK: u32 = 8;
/// the third,
pub const ROW_HALVES: u32 = 23;
/// and the fourth.
pub const ROW_MIDDLE_BACK: u32 = 31;

/// Where in the table of shared roots, in pairs, each kind begins. `e(t)` is
/// `exp(2 pi i t)`; node roots of `t` are `e(t / 2)`, `e(t / 4)`, `e(t / 8)`,
/// `e(t / 8 + 1 / 8)`, `e(t / 16)` and so on: see `transform::roots`.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// Node root `j` of `h / 16` at `16 j + h`, 8 of each.
    pub middle: u32,
    /// `e(-h k / 256)` at `16 (k - 1) + h`.
    pub row_middle_back: u32,
    /// Node root `j` of `(h + 16 i) / 256` at `256 j + 16 h + i`, 3 of each.
    pub row_last: u32,
    /// Where rows are twice as long: node root 0, 1, 2 or 4 of `(h + 16 i + 256 side) / 256` at
    /// `512 j + 2 (16 h + i) + side`.
    pub longer_row_last: u32,
    /// For columns the same, [`last_roots`] of each; or `e(j (h + 16 i) / 256 m)`, `j` from 1
    /// on, where `m` is no power of two.
    pub last: u32,
    /// Node root `j` of `i / m` at `m j + i`, 8 of each.
    pub middle_back: u32,
    /// Node root `j` of `i / 16 m` at `16 m j + i`, 8 of each.
    pub first_back: u32,
    /// Pairs in all.
    pub end: u32,
}

impl Tables {
    /// The table for a factor.
    #[inline(always)]
    pub const fn of(m: u32) -> Tables {
        let row_middle_back = 8 * 16;
        let row_last = row_middle_back + 15 * 16;
        let longer_row_last = row_last + 3 * 256;
        let last = longer_row_last + 4 * 512;
        let middle_back = last + last_roots(m) * 256;
        let first_back = middle_back + 8 * m;
        Tables {
            middle: 0,
            row_middle_back,
            row_last,
            longer_row_last,
            last,
            middle_back,
            first_back,
            end: first_back + 8 * 16 * m,
        }
    }
}

/// Roots of each of a column's last butterflies, of radix `m`.
#[inline(always)]
pub const fn last_roots(m: u32) -> u32 {
    match m.is_power_of_two() {
        true => m.trailing_zeros(),
        false => m - 1,
    }
}

/// Places in shared memory of a block of columns: point `(16 h + i) m + j` of column `c` is at
/// `h` [`outer`](Self::outer) `+ i` [`inner`](Self::inner) `+ j` `columns` `+ c`.
/// Gaps see to it that whichever eight threads move 16 bytes at once mostly find them in
/// different banks.
#[derive(Clone, Copy, Debug)]
pub struct ColumnPlaces {
    /// From one `h` to the next.
    pub outer: u32,
    /// From one `i` to the next.
    pub inner: u32,
}

impl ColumnPlaces {
    /// The places for a factor.
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

/// Places in shared memory between the two rows of a block, which have `256 radix` points: behind
/// every `radix` of them one is free, and the rows are in different banks.
#[inline(always)]
pub const fn row_places(radix: u32) -> u32 {
    256 * (radix + 1) + 4
}

/// Shared memory of a block of [`LONG_ROWS`], in bytes: two rows, and roots.
pub const fn long_rows_bytes(row: u32) -> u32 {
    16 * (2 * row_places(8 * row) + 8 * 16 + 15 * 16 + ROW_ROOTS)
}

/// Shared memory of a block of [`LONG_COLUMNS`], in bytes.
pub const fn long_columns_bytes(m: u32) -> u32 {
    16 * 16 * ColumnPlaces::of(m).outer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frequency_has_a_row_and_every_point_of_a_block_a_place() {
        for m in 1..=LONGEST {
            let mut rows = [false; 256 * LONGEST as usize];
            let mut places = [false; 12_000];
            let ColumnPlaces { outer, inner } = ColumnPlaces::of(m);
            for k in 0..256 * m {
                let (pair, side) = long_place(k, m);
                let row = 2 * pair + side;
                assert!(row < 256 * m && !core::mem::replace(&mut rows[row as usize], true));
                let mirror = long_place((256 * m - k) % (256 * m), m);
                assert!(k % 128 == 0 || mirror == (pair, 1 - side));
                let (place, i) = node_of_pair(pair / m, side);
                let h = node_at(place);
                assert_eq!((k & 15, k >> 4 & 15, place_of_node(h)), (h, i, place));
                let j = pair % m;
                for column in 0..1 << log_width(m) {
                    let place = place * outer + i * inner + (j << log_width(m)) + column;
                    assert!(16 * place < long_columns_bytes(m));
                    assert!(!core::mem::replace(&mut places[place as usize], true));
                }
            }
        }
    }
}
