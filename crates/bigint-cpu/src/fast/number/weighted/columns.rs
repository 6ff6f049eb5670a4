//! The pass over columns: transforms along the slow index, and carries.
//!
//! A block is two columns for each lane, `slow` points long. It comes as frequencies of
//! the slow index, goes back to points, is rounded, carried through, weighted and
//! transformed again, all while it is in the cache.
//!
//! Words follow one another along a row: lane `l` of block `b` holds the points `l fast /
//! LANES + 2 b` and the next, two words each. So going through the blocks in order, with
//! one carry for each row and lane, carries every word into the next one exactly. Where
//! a range of blocks begins (a lane's first block, or a thread's), the carry is not
//! known yet: that block waits with its digits until the others are done
//! ([`finish`]). A carry that comes in there dies out within the block's four words; if
//! it does not, the last of them takes it, and is a little larger than a digit.

use super::fft::{Pair, Plan};
use super::machine::{Job, Machine};

/// Adding and subtracting it rounds doubles below `2^51` to integers.
const ROUND: f64 = 6755399441055744.0;

/// A word's weight, as two factors: one of its row and one of its column.
///
/// Word `j` has the weight `2^(g / n)` with `g = -p j mod n`. Of `g(a) + g(b)` for `j = a
/// + b`, `n` is taken off where it is reached, and the weight is halved.
#[derive(Clone, Copy)]
pub(super) struct Weight<T> {
    pub(super) weight: T,
    pub(super) inverse: T,
    pub(super) g: T,
}

/// What a block's columns are multiplied by, for both columns, and the real and the
/// imaginary part of each.
pub(super) type ColumnWeights<V> = [[Weight<V>; 2]; 2];

/// The digits' lengths.
#[derive(Clone, Copy)]
pub(super) struct Digits {
    /// Words.
    pub(super) n: f64,
    /// `p mod n`: words with `g` below it are one bit longer.
    pub(super) long: f64,
    /// Two to the length of the shorter words.
    pub(super) base: f64,
}

/// What all blocks have in common.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a, M: Machine> {
    pub(super) m: M,
    pub(super) plan: &'a Plan,
    pub(super) rows: &'a [Weight<f64>],
    pub(super) digits: Digits,
}

/// A word's constants, put together from those of its row and column.
#[derive(Clone, Copy)]
struct Word<V> {
    weight: V,
    inverse: V,
    base: V,
    base_inverse: V,
}

impl<M: Machine> Columns<'_, M> {
    #[inline(always)]
    fn word(&self, row: &Weight<f64>, column: &Weight<M::V>) -> Word<M::V> {
        let Columns { m, digits, .. } = *self;
        let n = m.splat(digits.n);
        let sum = m.add(m.splat(row.g), column.g);
        let g = m.select_below(sum, n, sum, m.sub(sum, n));
        let long = m.splat(digits.long);
        Word {
            weight: m.mul(column.weight, pick(m, sum, n, row.weight, 0.5 * row.weight)),
            inverse: m.mul(
                column.inverse,
                pick(m, sum, n, row.inverse, 2.0 * row.inverse),
            ),
            base: pick(m, g, long, 2.0 * digits.base, digits.base),
            base_inverse: pick(m, g, long, 0.5 / digits.base, 1.0 / digits.base),
        }
    }

    #[inline(always)]
    fn round(&self, x: M::V) -> M::V {
        let round = self.m.splat(ROUND);
        self.m.sub(self.m.add(x, round), round)
    }

    /// The digit of `x`, and what it carries.
    #[inline(always)]
    fn split(&self, x: M::V, word: &Word<M::V>) -> (M::V, M::V) {
        let m = self.m;
        let carry = self.round(m.mul(x, word.base_inverse));
        (m.neg_mul_add(carry, word.base, x), carry)
    }
}

/// `below` in the lanes where `x < y`, `above` in the others.
#[inline(always)]
fn pick<M: Machine>(m: M, x: M::V, y: M::V, below: f64, above: f64) -> M::V {
    m.select_below(x, y, m.splat(below), m.splat(above))
}

/// A block from squared frequencies to the frequencies of the next iteration.
pub(super) struct Carry<'a, M: Machine> {
    pub(super) columns: Columns<'a, M>,
    pub(super) weights: &'a ColumnWeights<M::V>,
    pub(super) x: &'a mut [Pair<M::V>],
    /// Into each row, and out of it.
    pub(super) carry: &'a mut [M::V],
    /// The greatest distance from an integer so far.
    pub(super) error: M::V,
    /// What multiplies the square.
    pub(super) by: M::V,
    /// Whether the block stays as digits, without weights: see [`finish`].
    pub(super) waits: bool,
}

impl<M: Machine> Job<M> for Carry<'_, M> {
    type Output = M::V;

    #[inline(always)]
    fn run(self, m: M) -> M::V {
        let Carry {
            columns,
            weights,
            x,
            carry,
            mut error,
            by,
            waits,
        } = self;
        columns.plan.inverse(m, x);
        for ((point, row), carry) in x.iter_mut().zip(columns.rows).zip(carry) {
            for (h, weights) in weights.iter().enumerate() {
                for (part, weight) in weights.iter().enumerate() {
                    let word = columns.word(row, weight);
                    let place = if part == 0 {
                        &mut point.re[h]
                    } else {
                        &mut point.im[h]
                    };
                    let exact = m.mul(*place, word.inverse);
                    let integer = columns.round(exact);
                    error = m.max(error, m.abs(m.sub(exact, integer)));
                    let (digit, out) = columns.split(m.mul_add(integer, by, *carry), &word);
                    *carry = out;
                    *place = if waits {
                        digit
                    } else {
                        m.mul(digit, word.weight)
                    };
                }
            }
        }
        if !waits {
            columns.plan.forward(m, x);
        }
        error
    }
}

/// A block that waited: digits, with what is carried in, to frequencies. Also how words
/// that were set begin.
pub(super) struct Finish<'a, M: Machine> {
    pub(super) columns: Columns<'a, M>,
    pub(super) weights: &'a ColumnWeights<M::V>,
    pub(super) x: &'a mut [Pair<M::V>],
    pub(super) carry: &'a [M::V],
}

impl<M: Machine> Job<M> for Finish<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self, m: M) {
        let Finish {
            columns,
            weights,
            x,
            carry,
        } = self;
        for ((point, row), &carry) in x.iter_mut().zip(columns.rows).zip(carry) {
            let mut carry = carry;
            for (h, weights) in weights.iter().enumerate() {
                for (part, weight) in weights.iter().enumerate() {
                    let word = columns.word(row, weight);
                    let place = if part == 0 {
                        &mut point.re[h]
                    } else {
                        &mut point.im[h]
                    };
                    let sum = m.add(*place, carry);
                    let digit = if (h, part) == (1, 1) {
                        sum
                    } else {
                        let (digit, out) = columns.split(sum, &word);
                        carry = out;
                        digit
                    };
                    *place = m.mul(digit, word.weight);
                }
            }
        }
        columns.plan.forward(m, x);
    }
}

/// A block from frequencies that are not squared to digits; the greatest distance from
/// an integer.
pub(super) struct Read<'a, M: Machine> {
    pub(super) columns: Columns<'a, M>,
    pub(super) weights: &'a ColumnWeights<M::V>,
    pub(super) x: &'a mut [Pair<M::V>],
    /// What the weights' inverses lack.
    pub(super) scale: f64,
}

impl<M: Machine> Job<M> for Read<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self, m: M) {
        let Read {
            columns,
            weights,
            x,
            scale,
        } = self;
        columns.plan.inverse(m, x);
        for (point, row) in x.iter_mut().zip(columns.rows) {
            for (h, weights) in weights.iter().enumerate() {
                for (part, weight) in weights.iter().enumerate() {
                    let word = columns.word(row, weight);
                    let inverse = m.mul(word.inverse, m.splat(scale));
                    let place = if part == 0 {
                        &mut point.re[h]
                    } else {
                        &mut point.im[h]
                    };
                    *place = columns.round(m.mul(*place, inverse));
                }
            }
        }
    }
}
