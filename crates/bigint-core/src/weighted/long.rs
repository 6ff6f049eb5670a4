//! Long transforms, in two launches a squaring: carries are handed on inside the second.
//!
//! `n = 2 f 16 m r` words are a matrix of `f 16 m` rows of `r` complex points: word `2 (s r + c)` and
//! the next are point `c` of row `s`. Which `f`, `m` and `r` there are, [`Radices::of`] says.
//!
//! | kernel | a block has | reads and writes |
//! |---|---|---|
//! | [`LONG_ROWS`] | rows of frequencies `k` and `-k`: `f 8 m + 1` blocks of `r / 8` threads | points |
//! | [`LONG_COLUMNS`] | two or four neighbouring columns, `16 m` threads to each | points, what is handed on |
//!
//! A row is `16 16 8` points or `16 16 16`, and a column `f 16 m`; a thread has up to 16 of them in
//! registers, and between passes they change hands in shared memory. [`long_place`] says which row
//! has frequency `k` of the columns. Where `f` is less than 16, warps have nothing to do in the
//! passes after the first.
//!
//! Column block `b` takes the columns before its own `b`-th: block 0 takes the last ones, only
//! to hand their carries on, and one block more than there are columns' blocks takes them
//! again. A thread waits for the carries of its row from the block before, which was started
//! earlier, and leaves [`NO_CARRY`] where they were: it needs no flag, nor a fence. The last block
//! waits, by a flag, for block 0 to have read the points that it writes.

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

/// The radices of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Radices {
    /// `f`, of a column's first pass.
    pub radix: u32,
    /// `m`, of its last.
    pub factor: u32,
    /// A row's points, in [`POINTS`].
    pub row: u32,
}

impl Radices {
    /// How so many words are transformed. `m` is 1, 2, 4 or 8, and `f` 16, or 9 to 16 for the latter
    /// two; with `m` 8, and 9 and 10 and `f` 16, rows may be twice as long.
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
                1 | 2 => radix == 16 && row == 1,
                4 | 8 => (9..=16).contains(&radix) && (row == 1 || factor == 8),
                _ => radix == 16 && row == 2,
            };
            are_radices && radix * factor * row == units
        })
    }
}

/// Points of a row, or half of them.
pub const POINTS: u32 = 2048;

/// Threads of a block, at most, where more are not [known](crate::specialization::LongTransform::WARPS): each has
/// more registers then.
pub const THREADS: u32 = 512;

/// Warps of a block, at most.
pub const WARPS: u32 = THREADS / 32;

/// The oldest compute capability whose launches may [begin early](WAITS).
pub const EARLY_CAPABILITY: (u32, u32) = (9, 0);

/// What the PTX of a launch says that begins before the last kernel has ended, so that what it takes to
/// begin is saved: its version, its target, and the kernel's first instructions, which wait at once.
pub const WAITS: [&str; 3] = [
    ".version 7.8",
    ".target sm_90",
    "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\n",
];

/// How the PTX loads and stores points, and what the host writes there where a launch begins
/// [early](WAITS) and rows have [`POINTS`] points: the first cache keeps no room for them, as no block finds its points there again, and
/// roots stay in it. (PTX 7.4. Where rows are longer it takes more time.)
pub const UNCACHED: [[&str; 2]; 2] = [
    ["ld.global.v2.f64", "ld.global.L1::no_allocate.v2.f64"],
    ["st.global.v2.f64", "st.global.L1::no_allocate.v2.f64"],
];

/// The word that stands where no carry has been handed on: the one number of 32 bits that no carry
/// is, unless the error is infinite, as it is with a carry of more bits.
pub const NO_CARRY: u32 = 1 << 31;

/// The part of an iteration that a launch of [`LONG_COLUMNS`] does.
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
    /// Limbs, one for each row and block of columns, in fours: a carry from when it is handed on until
    /// it is taken, and [`NO_CARRY`] else.
    pub carries: u64,
    /// A limb: the launch in which block 0 of columns had read its points, which the last block
    /// writes.
    pub flag: u64,
    /// Limbs, [`WARPS`] for each block of columns: the greatest rounding error of the warp, the
    /// upper half of a double.
    pub errors: u64,
    /// [`ROW_ROOTS`] pairs for each pair of rows: see [`row_roots`](Self::row_roots).
    pub row_roots: u64,
    /// Roots that all rows and all columns share: see [`Tables`].
    pub roots: u64,
    /// Two pairs for each row of the first `16 m`, of its first word: its weight
    /// `2^(g / n)` and the inverse; `g` as an integer, and nothing.
    pub row_weights: u64,
    /// Two pairs for each word of the first row: its weight and the inverse, as for rows.
    pub column_weights: u64,
    /// Of `f` rows `16 m` apart: the weight, and its inverse times what a squaring
    /// leaves too great.
    pub steps: [[f64; 2]; 16],
    /// The factor of the square.
    pub by: f64,
    /// Their `g`.
    pub step_g: [u32; 16],
    /// Words, `n`.
    pub words: u32,
    /// `p mod n`: words with `g` below it are one bit longer.
    pub long: u32,
    /// Bits of the others, `p / n`.
    pub short: u32,
    /// The number that is subtracted after that.
    pub minus: u32,
    /// Differs from launch to launch.
    pub launch: u32,
    /// `f`.
    pub radix: u32,
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
        let rows = 16 * self.radix as u64 * m;
        let points = rows * row;
        let blocks = (row >> log_width(self.factor)) + 1;
        [
            (self.points, 4 * points),
            (self.digits, 4 * points),
            (self.carries, 256 * m * blocks),
            (self.flag, 1),
            (self.errors, WARPS as u64 * blocks),
            (self.row_roots, (rows / 2 + 1) * 4 * ROW_ROOTS as u64),
            (
                self.roots,
                4 * Tables::of(self.radix, self.factor).end as u64,
            ),
            (self.row_weights, 16 * m * 8),
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

/// The place of the points of frequency `k` of the columns: the pair of rows, and the row of the
/// pair.
///
/// Rows `k` and `-k` are a pair, in turns as many points of either as a block has columns: the
/// points that a block of columns has of a pair are neighbours. Frequency `h + f i + 16 f j`
/// belongs to node `h + f i`, and with node `a` goes node `-a`, whose `m - 1 - j`-th frequency
/// is the mirror of the `j`-th: pair `p m + j` has both of them, for `p` pairs of nodes.
/// Nodes 0 and `8 f` are their own mirrors; they are put together, and their rows are not with
/// their mirrors.
#[inline(always)]
pub const fn long_place(k: u32, radix: u32, m: u32) -> (u32, u32) {
    let (h, i, j) = (k % radix, k / radix % 16, k / (16 * radix));
    let (pair, side) = match (h, i) {
        (0, 0) => (0, 0),
        (0, 8) => (0, 1),
        (0, ..8) => (i, 0),
        (0, _) => (16 - i, 1),
        (_, ..8) if 2 * h == radix => (8 + i, 0),
        _ if 2 * h == radix => (23 - i, 1),
        _ if 2 * h < radix => (16 * h + i, 0),
        _ => (16 * (radix - h) + 15 - i, 1),
    };
    let of_node = if side == 0 { j } else { m - 1 - j };
    (pair_in_order(pair, radix) * m + of_node, side)
}

/// Pairs of nodes are counted as if there were the eight with `h` half of `f`, where that is
/// odd: without them.
#[inline(always)]
pub const fn pair_in_order(pair: u32, radix: u32) -> u32 {
    if radix & 1 == 1 && pair >= 16 {
        pair - 8
    } else {
        pair
    }
}

/// Whether there is this pair of nodes.
#[inline(always)]
pub const fn is_pair(pair: u32, radix: u32) -> bool {
    pair < 8 * places_of_nodes(radix) && (radix & 1 == 0 || pair >> 3 != 1)
}

/// Node `h + f i` of a [pair](long_place), by the place of `h` among those of
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

/// Places of nodes of the middle pass: the second is free where there is an odd number.
#[inline(always)]
const fn places_of_nodes(radix: u32) -> u32 {
    radix + (radix & 1)
}

/// Nodes of the middle pass in an order that has mirrors side by side: 0, 8, 1, 15, 2, 14 and so
/// on, where there are 16.
#[inline(always)]
pub const fn node_at(place: u32, radix: u32) -> u32 {
    match (place, place & 1) {
        (1, _) => radix / 2,
        (_, 0) => place / 2,
        _ => radix.wrapping_sub(place / 2),
    }
}

/// The place of a node in that order.
#[inline(always)]
pub const fn place_of_node(node: u32, radix: u32) -> u32 {
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
pub const fn is_node(place: u32, radix: u32) -> bool {
    is_pair(8 * place, radix)
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
    /// Of rows: node root `j` of `h / 16` at `16 j + h`, 8 of each.
    pub row_middle: u32,
    /// `e(-h k / 256)` at `16 (k - 1) + h`.
    pub row_middle_back: u32,
    /// Node root `j` of `(h + 16 i) / 256` at `256 j + 16 h + i`, 3 of each.
    pub row_last: u32,
    /// Where rows are twice as long: node root 0, 1, 2 or 4 of `(h + 16 i + 256 side) / 256` at
    /// `512 j + 2 (16 h + i) + side`.
    pub longer_row_last: u32,
    /// Of columns: node root `j` of `h / f` at `16 j + h`, 8 of each.
    pub middle: u32,
    /// Node roots of `(h + f i) / 16 f`, [`last_roots`] of each; or
    /// `e(j (h + f i) / 16 f m)`, `j` from 1 on, where `m` is no power of two.
    pub last: u32,
    /// Node root `j` of `i / m` at `m j + i`, 8 of each.
    pub middle_back: u32,
    /// Node root `j` of `i / 16 m` at `16 m j + i`, 8 of each; or `e(-h i / 16 f m)` at
    /// `16 m (h - 1) + i`, where `f` is not 16.
    pub first_back: u32,
    /// Pairs in all.
    pub end: u32,
}

impl Tables {
    /// The table for a factor.
    #[inline(always)]
    pub const fn of(radix: u32, m: u32) -> Tables {
        let row_middle_back = 8 * 16;
        let row_last = row_middle_back + 15 * 16;
        let longer_row_last = row_last + 3 * 256;
        let middle = longer_row_last + 4 * 512;
        let last = middle + 8 * 16;
        let middle_back = last + last_roots(m) * 256;
        let first_back = middle_back + 8 * m;
        let of_first_back = if radix == 16 { 8 } else { radix - 1 };
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

/// Roots of each of a column's last butterflies, of radix `m`.
#[inline(always)]
pub const fn last_roots(m: u32) -> u32 {
    match m.is_power_of_two() {
        true => m.trailing_zeros(),
        false => m - 1,
    }
}

/// Places in shared memory of a block of columns: point `(16 h + i) m + j` of column `c`, `h` a node's
/// place, is at `h` [`outer`](Self::outer) `+ i` [`inner`](Self::inner) `+ j` `columns` `+ c`.
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
        let shapes =
            (1..=1 << 10).filter_map(|units| Some((units << 16, Radices::of(units << 16)?)));
        assert_eq!(shapes.clone().count(), 28);
        for (
            words,
            Radices {
                radix,
                factor: m,
                row,
            },
        ) in shapes
        {
            assert_eq!(32 * (radix * m * row * POINTS) as usize, words);
            let mut rows = [false; 2560];
            let mut places = [false; 12_000];
            let ColumnPlaces { outer, inner } = ColumnPlaces::of(m);
            let count = 16 * radix * m;
            for k in 0..count {
                let (pair, side) = long_place(k, radix, m);
                let row = 2 * pair + side;
                assert!(row < count && !core::mem::replace(&mut rows[row as usize], true));
                let mirror = long_place((count - k) % count, radix, m);
                assert!(k % (8 * radix) == 0 || mirror == (pair, 1 - side));
                let counted = |&p: &u32| is_pair(p, radix) && pair_in_order(p, radix) == pair / m;
                let (place, i) = node_of_pair((0..128).find(counted).expect("a pair"), side);
                let (h, j) = (node_at(place, radix), k / (16 * radix));
                assert!(is_node(place, radix) && place_of_node(h, radix) == place);
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
