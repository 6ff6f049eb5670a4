//! Squares modulo `2^p - 1` by a weighted transform on the whole device, as host and device
//! agree on them. The maths is that of `fast::number::weighted` in `bigint-cpu`.
//!
//! `n` words are `n / 2` complex points, a matrix of `slow` rows of `fast` points: word
//! `2 (s fast + c)` and the next are point `c` of row `s`. `fast` is a power of two, `slow`
//! one, or one times 3, 5 or 7. One iteration is three launches of blocks of [`THREADS`]
//! threads:
//!
//! | kernel | a block has | reads | writes |
//! |---|---|---|---|
//! | [`ROWS`] | a row of frequencies and its mirror: `slow / 2 + 1` blocks | points | points, squared |
//! | [`BACK`] | two columns: `fast / 2` blocks | points | digits, carries, errors |
//! | [`FORTH`] | two columns | digits, carries | points: frequencies of the columns |
//!
//! Transforms of `m 2^20` words take two launches: [`long`].
//!
//! Frequencies of a transform lie in the order of [`frequency`] and [`place`].

pub mod long;

use crate::kernel::EntryPoint;

/// Threads in a block.
pub const THREADS: u32 = 256;

/// The module that has the three kernels.
pub const MODULE: &str = "weighted";

/// Twiddles, transforms of rows, squares, and back.
pub const ROWS: EntryPoint = EntryPoint {
    name: "weighted_rows",
    module: MODULE,
};

/// Columns back to points, without weights, rounded, and carried through four words.
pub const BACK: EntryPoint = EntryPoint {
    name: "weighted_back",
    module: MODULE,
};

/// What other blocks carried in, weights, and columns to frequencies.
pub const FORTH: EntryPoint = EntryPoint {
    name: "weighted_forth",
    module: MODULE,
};

/// A twiddle is a product of two roots whose exponents are this far apart.
pub const NEAR: u32 = 1 << 10;

/// The one parameter of the three kernels, by value. Addresses are of device memory; pairs
/// are two doubles.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WeightedArguments {
    /// Pairs, one for each point.
    pub points: u64,
    /// Pairs of digits, one for each point; may be the points.
    pub digits: u64,
    /// Doubles, one for each row and two columns: `row fast / 2 + block`.
    pub carries: u64,
    /// Doubles, one for each thread of [`BACK`]: the greatest rounding errors so far.
    pub errors: u64,
    /// `exp(-2 pi i k / slow)`.
    pub slow_roots: u64,
    /// `exp(-2 pi i k / fast)`.
    pub fast_roots: u64,
    /// `exp(-2 pi i k / (n / 2))` for `k` below [`NEAR`], and for its multiples.
    pub near_roots: u64,
    /// The multiples.
    pub far_roots: u64,
    /// Two pairs for each row's first word: its weight `2^(g / n)` and the inverse; `g`, and 0.
    pub row_weights: u64,
    /// Two pairs for each word of the first row: its weight and the inverse, as for rows.
    pub column_weights: u64,
    /// The factor that the weights' inverses lack.
    pub scale: f64,
    /// The factor of the square.
    pub by: f64,
    /// Words, `n`.
    pub words: f64,
    /// `p mod n`: words with `g` below it are one bit longer.
    pub long: f64,
    /// Bits of the others, `p / n`.
    pub short: u32,
    /// The number that is subtracted after that.
    pub minus: u32,
    /// Rows.
    pub slow: u32,
    /// Points of a row.
    pub fast: u32,
}

impl WeightedArguments {
    /// The device memory that the kernels touch: addresses and limbs.
    pub const fn stretches(&self) -> [(u64, u64); 10] {
        let (slow, fast) = (self.slow as u64, self.fast as u64);
        let points = slow * fast;
        [
            (self.points, 4 * points),
            (self.digits, 4 * points),
            (self.carries, points),
            (self.errors, fast * THREADS as u64),
            (self.slow_roots, 4 * slow),
            (self.fast_roots, 4 * fast),
            (self.near_roots, 4 * NEAR as u64),
            (self.far_roots, 4 * points.div_ceil(NEAR as u64)),
            (self.row_weights, 8 * slow),
            (self.column_weights, 16 * fast),
        ]
    }
}

/// Bits of the first step of a transform of `2^log` points; the others have three.
#[inline(always)]
pub const fn first_bits(log: u32) -> u32 {
    match log % 3 {
        0 => 3,
        bits => bits,
    }
}

/// The frequency at a place of a transform of `2^log` points: its digits, one for each
/// step, the other way round.
#[inline(always)]
pub const fn frequency(place: u32, log: u32) -> u32 {
    let (mut left, mut bits, mut done, mut k) = (log, first_bits(log), 0, 0);
    while left > 0 {
        left -= bits;
        k |= (place >> left & ((1 << bits) - 1)) << done;
        done += bits;
        bits = 3;
    }
    k
}

/// The place of a frequency of a transform of `n` points. An odd factor's step comes first.
#[inline(always)]
pub const fn place(k: u32, n: u32) -> u32 {
    let log = n.trailing_zeros();
    let odd = n >> log;
    let (first, k) = if odd <= 1 { (0, k) } else { (k % odd, k / odd) };
    let (mut left, mut bits, mut done, mut place) = (log, first_bits(log), 0, 0);
    while left > 0 {
        left -= bits;
        place |= (k >> done & ((1 << bits) - 1)) << left;
        done += bits;
        bits = 3;
    }
    (first << log) + place
}

/// The place in shared memory of point `i` of two transforms: behind every eight one is
/// left free, so that points eight apart are in different banks.
#[inline(always)]
pub const fn padded(i: u32) -> u32 {
    i + (i >> 3)
}

/// Shared memory of a block that transforms twice `n` points, in bytes.
pub const fn shared_bytes(n: u32) -> u32 {
    16 * padded(2 * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frequency_has_one_place() {
        for log in 3..=11 {
            for i in 0..1 << log {
                assert_eq!(place(frequency(i, log), 1 << log), i);
                assert!(frequency(i, log) < 1 << log);
            }
        }
        for n in [24, 40, 56, 1536] {
            let mut places: [u32; 1536] = core::array::from_fn(|k| place(k as u32, n));
            let places = &mut places[..n as usize];
            places.sort_unstable();
            assert!(places.iter().zip(0..).all(|(&place, i)| place == i));
        }
        // 16 = 2 8: place 1 holds the second of the eight frequencies that are even.
        assert_eq!([0, 1, 8].map(|i| frequency(i, 4)), [0, 2, 1]);
    }
}
