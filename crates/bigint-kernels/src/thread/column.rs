//! Columns of pairs of digits, in shared memory or scratch, in which Euclid's algorithm and
//! division steps keep two numbers side by side.

use super::{Batches, Work};
use crate::gpu::known::column_is_shared;
use crate::gpu::memory::{self, Number, Stride};
use crate::gpu::shared;
use bigint_core::Limb;
use bigint_core::kernel::ZEROS_BELOW;

/// A column of pairs of digits of one thread.
pub trait Column: Copy {
    /// Pair `i`.
    fn pair(self, i: u32) -> [i32; 2];

    /// Sets pair `i`.
    fn set_pair(self, i: u32, pair: [i32; 2]);

    /// Pairs `i .. i + 4`.
    #[inline(always)]
    fn four(self, i: u32) -> [[i32; 2]; 4] {
        [
            self.pair(i),
            self.pair(i + 1),
            self.pair(i + 2),
            self.pair(i + 3),
        ]
    }

    /// Sets pairs `i .. i + 4`.
    #[inline(always)]
    fn set_four(self, i: u32, [a, b, c, d]: [[i32; 2]; 4]) {
        self.set_pair(i, a);
        self.set_pair(i + 1, b);
        self.set_pair(i + 2, c);
        self.set_pair(i + 3, d);
    }
}

/// An operation on two numbers that is computed in a column.
pub trait InColumn {
    /// The pairs of a column for operands of `n` and `m` limbs.
    fn pairs(n: u32, m: u32) -> u32;

    /// Whether the operation has a flag.
    const HAS_FLAG: bool;

    /// Computes the first of `numbers` from the two others, in a column of `pairs` pairs. Returns
    /// the number's flag.
    fn number<S: Stride>(numbers: [Number<S>; 3], column: impl Column, pairs: u32) -> Limb;
}

/// Computes the results that fall to the calling thread, in columns in shared memory; or in
/// scratch, if the launch has that.
#[inline(always)]
pub fn numbers<O: InColumn, S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let Work {
            r, a, b, scratch, ..
        } = work;
        let pairs = O::pairs(a.width(), b.width());
        let flag = match column_is_shared(scratch.width()) {
            true => O::number([r, a, b], batches.column(pairs), pairs),
            false => O::number([r, a, b], batches.column_in_scratch(), pairs),
        };
        if O::HAS_FLAG {
            work.carry.set(flag);
        }
    }
}

/// The first or second digit of a pair. (Indexing would put the digits in memory.)
#[inline(always)]
pub fn digit_of([x, y]: [i32; 2], second: bool) -> i32 {
    if second { y } else { x }
}

/// A pair with its first or second digit set.
#[inline(always)]
pub fn with_digit([x, y]: [i32; 2], second: bool, digit: i32) -> [i32; 2] {
    [
        if second { x } else { digit },
        if second { digit } else { y },
    ]
}

impl Column for memory::Column {
    #[inline(always)]
    fn pair(self, i: u32) -> [i32; 2] {
        self.two(i).map(|limb| limb as i32)
    }

    #[inline(always)]
    fn set_pair(self, i: u32, pair: [i32; 2]) {
        self.set_two(i, pair.map(|digit| digit as Limb));
    }
}

impl Column for shared::Column {
    #[inline(always)]
    fn pair(self, i: u32) -> [i32; 2] {
        self.two(i).map(|limb| limb as i32)
    }

    #[inline(always)]
    fn set_pair(self, i: u32, pair: [i32; 2]) {
        self.set_two(i, pair.map(|digit| digit as Limb));
    }

    #[inline(always)]
    fn four(self, i: u32) -> [[i32; 2]; 4] {
        self.four_twos(i).map(|two| two.map(|limb| limb as i32))
    }

    #[inline(always)]
    fn set_four(self, i: u32, four: [[i32; 2]; 4]) {
        self.set_four_twos(i, four.map(|two| two.map(|digit| digit as Limb)));
    }
}

/// A column in reverse order, from its last pair down.
#[derive(Clone, Copy)]
pub struct Reversed<C> {
    /// The column.
    pub column: C,
    /// The last pair of the column.
    pub last: u32,
}

impl<C: Column> Column for Reversed<C> {
    #[inline(always)]
    fn pair(self, i: u32) -> [i32; 2] {
        self.column.pair(self.last - i)
    }

    #[inline(always)]
    fn set_pair(self, i: u32, pair: [i32; 2]) {
        self.column.set_pair(self.last - i, pair);
    }

    #[inline(always)]
    fn four(self, i: u32) -> [[i32; 2]; 4] {
        let [d, c, b, a] = self.column.four(self.last - 3 - i);
        [a, b, c, d]
    }

    #[inline(always)]
    fn set_four(self, i: u32, [a, b, c, d]: [[i32; 2]; 4]) {
        self.column.set_four(self.last - 3 - i, [d, c, b, a]);
    }
}

/// The pairs of a column from some pair on. (Pairs below it have indices below zero, which wrap
/// around.)
#[derive(Clone, Copy)]
pub struct Above<C> {
    /// The column.
    pub column: C,
    /// The first of the pairs.
    pub from: u32,
}

impl<C: Column> Column for Above<C> {
    #[inline(always)]
    fn pair(self, i: u32) -> [i32; 2] {
        self.column.pair(self.from.wrapping_add(i))
    }

    #[inline(always)]
    fn set_pair(self, i: u32, pair: [i32; 2]) {
        self.column.set_pair(self.from.wrapping_add(i), pair);
    }

    #[inline(always)]
    fn four(self, i: u32) -> [[i32; 2]; 4] {
        self.column.four(self.from.wrapping_add(i))
    }

    #[inline(always)]
    fn set_four(self, i: u32, four: [[i32; 2]; 4]) {
        self.column.set_four(self.from.wrapping_add(i), four);
    }
}

impl<C> Above<C> {
    /// The pairs above the zeros that Lehmer's algorithm has below its numbers.
    #[inline(always)]
    pub fn zeros(column: C) -> Self {
        let from = ZEROS_BELOW as u32;
        Above { column, from }
    }
}

/// A number in the first places of a column's pairs, or in their second places.
#[derive(Clone, Copy)]
pub struct Limbs<C> {
    /// The column.
    pub column: C,
    /// Whether the number is in the second places.
    pub second: bool,
    /// The limbs of the number.
    pub width: u32,
}

impl<C: Column> Limbs<C> {
    /// Limb `i`; zero above the number's width.
    #[inline(always)]
    pub fn limb(self, i: u32) -> Limb {
        match i < self.width {
            true => digit_of(self.column.pair(i), self.second) as Limb,
            false => 0,
        }
    }

    /// Sets limb `i`, for which the column must have a place.
    #[inline(always)]
    pub fn set(self, i: u32, limb: Limb) {
        let pair = with_digit(self.column.pair(i), self.second, limb as i32);
        self.column.set_pair(i, pair);
    }

    /// Limbs `i .. i + 4`, whatever stands there above the number's width.
    #[inline(always)]
    pub fn four(self, i: u32) -> [Limb; 4] {
        (self.column.four(i)).map(|pair| digit_of(pair, self.second) as Limb)
    }

    /// Stores a number of the same width here, with zeros above it up to a multiple of four limbs.
    #[inline(always)]
    pub fn put(self, number: Number<impl Stride>) {
        let mut i = 0;
        while i < self.width {
            let limbs: [Limb; 4] = number.limbs(i);
            let pairs = self.column.four(i);
            let pair = |k: usize| with_digit(pairs[k], self.second, limbs[k] as i32);
            self.column
                .set_four(i, [pair(0), pair(1), pair(2), pair(3)]);
            i += 4;
        }
    }
}
