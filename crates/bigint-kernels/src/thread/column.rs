//! Columns of pairs of digits, in shared memory or scratch: what Euclid's algorithm and division
//! steps keep their numbers in, two side by side.

use crate::gpu::{memory, shared};
use bigint_core::Limb;

/// Where a thread keeps pairs of digits.
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

/// The first or second digit of a pair. (Told apart by an index, they would be put in memory.)
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

/// A column from its last pair down.
#[derive(Clone, Copy)]
pub struct Reversed<C> {
    /// The column.
    pub column: C,
    /// Its last pair.
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

/// The pairs of a column from some pair on. (Those below it have numbers below zero, which wrap
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
