//! Squares modulo `2^p - 1`, and modulo other `k b^n + c`, by a weighted transform on the whole device, in the
//! form shared by host and device. `fast::number::weighted` in `bigint-cpu` explains the maths.
//!
//! The `n` words of a number are `n / 2` complex points in a matrix of `slow` rows of `fast`
//! points: words `2 (s fast + c)` and `2 (s fast + c) + 1` are point `c` of row `s`. `fast` is a
//! power of two; `slow` is a power of two, or 3, 5 or 7 times one. One iteration is three launches
//! of blocks of [`THREADS`] threads:
//!
//! | kernel | a block has | reads | writes |
//! |---|---|---|---|
//! | [`ROWS`] | a row of frequencies and its mirror: see [`pairs`](WeightedArguments::pairs) | points | points, squared |
//! | [`BACK`] | two columns: `fast / 2` blocks | points | digits, carries, errors |
//! | [`FORTH`] | two columns | digits, carries | points: frequencies of the columns |
//!
//! For a product [`MULTIPLY`] takes the place of [`ROWS`]; [`KEEP`] makes what it multiplies by. [`PRODUCT`] does
//! so where both sides of the product were kept.
//!
//! Convolutions are cyclic, or, for positive `c`, negacyclic: points have a twist, and frequencies are half-odd.
//!
//! Transforms of 589,824 words and more take two launches modulo `2^p - 1` and some others: see [`long`].
//!
//! The frequencies of a transform lie in the order that [`frequency`] and [`place`] define.

pub mod long;

use crate::kernel::EntryPoint;

/// The threads of a block.
pub const THREADS: u32 = 256;

/// The PTX module that has the kernels.
pub const MODULE: &str = "weighted";

/// The kernel of rows: it multiplies by twiddles, transforms rows, squares, and goes the same way
/// back.
pub const ROWS: EntryPoint = EntryPoint {
    name: "weighted_rows",
    module: MODULE,
};

/// The kernel of rows that multiplies by a factor, or by what it is above another.
pub const MULTIPLY: EntryPoint = EntryPoint {
    name: "weighted_multiply",
    module: MODULE,
};

/// The kernel of rows that multiplies two factors, or sums or differences of factors. It does not read the points.
pub const PRODUCT: EntryPoint = EntryPoint {
    name: "weighted_product",
    module: MODULE,
};

/// The kernel of rows that writes them as a factor.
pub const KEEP: EntryPoint = EntryPoint {
    name: "weighted_keep",
    module: MODULE,
};

/// The kernel that transforms columns back, removes the weights, rounds, and carries through four
/// words.
pub const BACK: EntryPoint = EntryPoint {
    name: "weighted_back",
    module: MODULE,
};

/// The kernel that adds the carries of other blocks, applies the weights, and transforms columns to
/// frequencies.
pub const FORTH: EntryPoint = EntryPoint {
    name: "weighted_forth",
    module: MODULE,
};

/// The distance of the far roots' exponents. A twiddle is the product of a near root, whose
/// exponent is below this, and a far root, whose exponent is a multiple of it.
pub const NEAR: u32 = 1 << 10;

/// The one parameter of the kernels, passed by value. Addresses are in device memory. A pair
/// is two doubles.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WeightedArguments {
    /// The address of the points, a pair for each.
    pub points: u64,
    /// The address of the digits, a pair for each point. It may be that of the points.
    pub digits: u64,
    /// The address of the carries, a double for each row and block of two columns, at
    /// `row fast / 2 + block`.
    pub carries: u64,
    /// The address of a double for each thread of [`BACK`]: the greatest rounding error so far.
    pub errors: u64,
    /// The address of the roots `exp(-2 pi i k / slow)`.
    pub slow_roots: u64,
    /// The address of the roots `exp(-2 pi i k / fast)`.
    pub fast_roots: u64,
    /// The address of the roots `exp(-2 pi i k / m)` for `k` below [`NEAR`]. `m` is the number of points, and twice
    /// that in a negacyclic transform.
    pub near_roots: u64,
    /// The address of the roots `exp(-2 pi i k / m)` for multiples `k` of [`NEAR`].
    pub far_roots: u64,
    /// The address of the factors `exp(-i pi s / slow)` of the points of row `s` in a negacyclic transform; 0 in a
    /// cyclic one.
    pub twists: u64,
    /// The address of two pairs for each row, which describe its first word: the weight `b^(g / unit)`
    /// and its inverse, then `g` and 0.
    pub row_weights: u64,
    /// The address of two pairs for each word of the first row, as for rows.
    pub column_weights: u64,
    /// The address of the factor that [`KEEP`] writes and [`MULTIPLY`] reads: two pairs for each point of
    /// a row, at [`kept_place`].
    pub factor: u64,
    /// The address of what is subtracted from the factor, likewise; 0 for nothing. [`PRODUCT`] adds `signs[1]`
    /// times it.
    pub less: u64,
    /// The address of the other side of a [`PRODUCT`], a factor, and that of a factor of which `signs[0]` times is
    /// added to it; 0 for nothing.
    pub other: [u64; 2],
    /// 1 or -1 for each side of a [`PRODUCT`].
    pub signs: [f64; 2],
    /// The factor by which the weights' inverses must still be multiplied.
    pub scale: f64,
    /// The number by which the square is multiplied.
    pub by: f64,
    /// The unit of the exponents `g`; the number of words, `n`, for `2^p - 1`.
    pub unit: f64,
    /// A word whose `g` is below this is one place longer than the others.
    pub long: f64,
    /// The base `b`, and its inverse.
    pub base: [f64; 2],
    /// `b` to the places of the shorter words, and the inverse.
    pub short: [f64; 2],
    /// How a carry out of the last word goes around.
    pub around: Around,
    /// What is added besides to the second word that takes it.
    pub more: f64,
    /// The group of four words that this word is in, counted as the [carries](Self::carries) are.
    pub group: u32,
    /// Which of the four it is, from 0 to 3.
    pub word: u32,
    /// The number that is subtracted from the multiplied square, `k` times. Modulo `2^p - 1` it is 0, and
    /// [`more`](Self::more) has what is subtracted.
    pub minus: f64,
    /// The number of rows.
    pub slow: u32,
    /// The points of a row.
    pub fast: u32,
}

/// How a carry `t` out of the last word goes around modulo `k b^n + c`, from which `minus` is subtracted `k` times: with
/// `t b^s + c minus = k q + r` it is `-c q` in the first word, and `r b^n`, which is `r power` in one of the last four
/// words. Modulo `2^p - 1` `r` is 0, and another word may take that one's place.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Around {
    /// `k`, and its inverse.
    pub k: [f64; 2],
    /// `b^s`.
    pub over: f64,
    /// `c`.
    pub c: f64,
    /// `b` to the distance from the place at which the word begins to `n`.
    pub power: f64,
}

impl WeightedArguments {
    /// Whether the transform is negacyclic.
    #[inline(always)]
    pub const fn is_negacyclic(&self) -> bool {
        self.twists != 0
    }

    /// The pairs of a row and its mirror. Row `s` of a cyclic transform has the mirror `-s`, and rows 0 and
    /// `slow / 2` are their own; row `s` of a negacyclic one has the mirror `-1 - s`.
    pub const fn pairs(&self) -> u32 {
        self.slow / 2 + if self.is_negacyclic() { 0 } else { 1 }
    }

    /// The limbs of a factor.
    pub const fn factor_limbs(&self) -> u64 {
        8 * self.pairs() as u64 * self.fast as u64
    }

    /// A stretch that some launches lack: then its address is 0, and it has no limbs.
    const fn if_there(&self, address: u64, limbs: u64) -> (u64, u64) {
        match address {
            0 => (self.points, 0),
            _ => (address, limbs),
        }
    }

    /// The stretches of device memory that the kernels touch: their addresses and their lengths in
    /// limbs.
    pub const fn stretches(&self) -> [(u64, u64); 15] {
        let (slow, fast) = (self.slow as u64, self.fast as u64);
        let points = slow * fast;
        let half = if self.is_negacyclic() { 1 } else { 0 };
        [
            (self.points, 4 * points),
            self.if_there(self.twists, 4 * slow),
            self.if_there(self.factor, self.factor_limbs()),
            self.if_there(self.less, self.factor_limbs()),
            self.if_there(self.other[0], self.factor_limbs()),
            self.if_there(self.other[1], self.factor_limbs()),
            (self.digits, 4 * points),
            (self.carries, points),
            (self.errors, fast * THREADS as u64),
            (self.slow_roots, 4 * slow),
            (self.fast_roots, 4 * fast),
            (self.near_roots, 4 * NEAR as u64),
            (self.far_roots, 4 * (points << half).div_ceil(NEAR as u64)),
            (self.row_weights, 8 * slow),
            (self.column_weights, 16 * fast),
        ]
    }
}

/// The place, in pairs, of the two points that a factor has for place `i` of a row: the point there, and the
/// conjugate of the point at its mirror.
#[inline(always)]
pub const fn kept_place(row: u32, i: u32, fast: u32) -> u32 {
    2 * (row * fast + i)
}

/// The bits of the first step of a transform of `2^log` points. Each other step has three.
#[inline(always)]
pub const fn first_bits(log: u32) -> u32 {
    match log % 3 {
        0 => 3,
        bits => bits,
    }
}

/// The frequency at a place of a transform of `2^log` points: the digits of the place, one for each
/// step, in the opposite order.
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

/// The place of frequency `k` of a transform of `n` points. If `n` has an odd factor, its step
/// comes first.
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

/// The place in shared memory of point `i` of two transforms. One place is left free behind every
/// eight points, so that points eight apart are in different banks.
#[inline(always)]
pub const fn padded(i: u32) -> u32 {
    i + (i >> 3)
}

/// The shared memory, in bytes, of a block that makes two transforms of `n` points.
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
        // With 16 = 2 8, place 1 holds the second of the eight even frequencies.
        assert_eq!([0, 1, 8].map(|i| frequency(i, 4)), [0, 2, 1]);
    }
}
