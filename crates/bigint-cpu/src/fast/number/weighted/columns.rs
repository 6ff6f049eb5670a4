//! The pass over columns: transforms along the slow index, and carries.
//!
//! A block has two columns for each lane, `slow` points long. It begins as frequencies of the slow
//! index. It is transformed back to points, rounded, carried through, weighted and transformed
//! again, all while it is in the cache.
//!
//! Words follow one another along a row: lane `l` of block `b` holds the points
//! `l fast / LANES + 2 b` and the next, of two words each. So a pass through the blocks in order,
//! with one carry for each row and lane, carries every word into the next one exactly. Where a
//! range of blocks begins, with the first block of a lane or of a thread, the carry is not known
//! yet. That block waits with its digits until the others are done ([`finish`]). A carry into it
//! normally dies out within its four words. If it does not, the last of them takes it, and is a
//! little larger than a digit.

use super::fft::{Pair, Plan, product};
use super::machine::{Job, Machine};

/// The number that rounds doubles below `2^51` to integers if it is added and subtracted.
const ROUND: f64 = 6755399441055744.0;

/// The weight of a word, as two factors: one of its row and one of its column.
///
/// Word `j` has the weight `b^(g / n)` with `g = -p j mod n`, where `n` is the unit and `p` the number
/// of places in it, `n` words and `p` bits for `2^p - 1`. If `j = a + b` and `g(a) + g(b)` reaches `n`,
/// `n` is subtracted from it, and the weight divided by `b`.
#[derive(Clone, Copy)]
pub(super) struct Weight<T> {
    pub(super) weight: T,
    pub(super) inverse: T,
    pub(super) g: T,
}

/// The weights of the columns of a block: of both columns, and of the real and the imaginary part
/// of each.
pub(super) type ColumnWeights<V> = [[Weight<V>; 2]; 2];

/// The lengths of the digits.
#[derive(Clone, Copy)]
pub(super) struct Digits {
    /// The unit of the exponents, `n`.
    pub(super) unit: f64,
    /// The remainder `p mod n`. Words whose `g` is below it are one place longer.
    pub(super) long: f64,
    /// The base, 2 for `2^p - 1`, and its inverse.
    pub(super) base: [f64; 2],
    /// The base to the places of the shorter words, and of the longer ones.
    pub(super) powers: [f64; 2],
    /// The inverses of both.
    pub(super) inverses: [f64; 2],
}

/// The constants that all blocks have in common.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a, M: Machine> {
    pub(super) m: M,
    pub(super) plan: &'a Plan,
    pub(super) rows: &'a [Weight<f64>],
    /// The factor of the points of each row; none for a cyclic convolution.
    pub(super) twists: &'a [[f64; 2]],
    pub(super) digits: Digits,
}

/// The constants of a word, put together from those of its row and column.
#[derive(Clone, Copy)]
struct Word<V> {
    weight: V,
    inverse: V,
    base: V,
    base_inverse: V,
}

impl<M: Machine> Columns<'_, M> {
    /// Transforms points into frequencies.
    #[inline(always)]
    fn forward(&self, x: &mut [Pair<M::V>]) {
        for (point, &[re, im]) in x.iter_mut().zip(self.twists) {
            self.twist(point, re, im);
        }
        self.plan.forward(self.m, x);
    }

    /// Transforms frequencies into points.
    #[inline(always)]
    fn inverse(&self, x: &mut [Pair<M::V>]) {
        self.plan.inverse(self.m, x);
        for (point, &[re, im]) in x.iter_mut().zip(self.twists) {
            self.twist(point, re, -im);
        }
    }

    #[inline(always)]
    fn twist(&self, point: &mut Pair<M::V>, re: f64, im: f64) {
        let twist = [self.m.splat(re), self.m.splat(im)];
        for h in 0..2 {
            let z = product(self.m, [point.re[h], point.im[h]], twist);
            (point.re[h], point.im[h]) = (z[0], z[1]);
        }
    }

    #[inline(always)]
    fn word(&self, row: &Weight<f64>, column: &Weight<M::V>) -> Word<M::V> {
        let Columns { m, digits, .. } = *self;
        let n = m.splat(digits.unit);
        let [b, inverse] = digits.base;
        let [short, long_power] = digits.powers;
        let [short_inverse, long_inverse] = digits.inverses;
        let sum = m.add(m.splat(row.g), column.g);
        let g = m.select_below(sum, n, sum, m.sub(sum, n));
        let long = m.splat(digits.long);
        Word {
            weight: m.mul(
                column.weight,
                pick(m, sum, n, row.weight, inverse * row.weight),
            ),
            inverse: m.mul(
                column.inverse,
                pick(m, sum, n, row.inverse, b * row.inverse),
            ),
            base: pick(m, g, long, long_power, short),
            base_inverse: pick(m, g, long, long_inverse, short_inverse),
        }
    }

    #[inline(always)]
    fn round(&self, x: M::V) -> M::V {
        let round = self.m.splat(ROUND);
        self.m.sub(self.m.add(x, round), round)
    }

    /// The digit of `x`, and its carry.
    #[inline(always)]
    fn split(&self, x: M::V, word: &Word<M::V>) -> (M::V, M::V) {
        let m = self.m;
        let carry = self.round(m.mul(x, word.base_inverse));
        (m.neg_mul_add(carry, word.base, x), carry)
    }
}

/// Selects `below` in the lanes where `x < y`, and `above` in the others.
#[inline(always)]
fn pick<M: Machine>(m: M, x: M::V, y: M::V, below: f64, above: f64) -> M::V {
    m.select_below(x, y, m.splat(below), m.splat(above))
}

/// The job that takes a block from squared frequencies to the frequencies of the next iteration.
pub(super) struct Carry<'a, M: Machine> {
    pub(super) columns: Columns<'a, M>,
    pub(super) weights: &'a ColumnWeights<M::V>,
    pub(super) x: &'a mut [Pair<M::V>],
    /// The carries into each row, and then out of it.
    pub(super) carry: &'a mut [M::V],
    /// The greatest distance from an integer so far.
    pub(super) error: M::V,
    /// The factor of the square.
    pub(super) by: M::V,
    /// Whether the block stays as digits, without weights, as [`finish`] expects it.
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
        columns.inverse(x);
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
            columns.forward(x);
        }
        error
    }
}

/// The job that takes a block that waited from digits and the carries into it to frequencies. Words
/// that were set begin in the same way.
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
        columns.forward(x);
    }
}

/// The job that takes a block from frequencies that are not squared to digits. It returns the
/// greatest distance from an integer.
pub(super) struct Read<'a, M: Machine> {
    pub(super) columns: Columns<'a, M>,
    pub(super) weights: &'a ColumnWeights<M::V>,
    pub(super) x: &'a mut [Pair<M::V>],
    /// The scale that the inverses of the weights lack.
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
        columns.inverse(x);
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
