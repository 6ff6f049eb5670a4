//! Modular inverses by Lehmer's algorithm: `r a = 1` modulo `m` and `0 <= r < m`.
//! [`lehmer`](super::lehmer) explains how the greatest common divisor is found. Each number of the
//! algorithm is a multiple of `a` plus a multiple of `m`. The multiplier of `a`, its cofactor, goes
//! through the same rounds. If the divisor is 1 or -1, the inverse is its cofactor or the negative
//! of that.
//!
//! Cofactors grow as the numbers shrink, up to a small multiple of `m`. A few additions or
//! subtractions of `m` reduce the last one. They stand in the same column, from its other end:
//!
//! ```text
//! pair      0        ...                            last
//! first     a0 a1 a2 a3 a4 a5 a6  .  .  .  .  s2 s1 s0
//! second    b0 b1 b2 b3 b4  .  .  .  .  .  .  t2 t1 t0
//! ```
//!
//! A quotient of many digits makes `s` longer by as many digits, while `a` gets shorter from the
//! top. Up to about 2^95 there is room in between. If a quotient is greater, digits of `s` that
//! would stand where `a` still is stand in the second row meanwhile, above `b`. There is room for
//! them, as `t` is no longer than before.
//!
//! Cost: twice that of a divisor. Scratch: a column of digits, or none if the launch has shared
//! memory for it.

use super::column::{Above, Column, Limbs, Reversed, digit_of, with_digit};
use super::lehmer::{Doubles, Pair, Step, Sum, Tops, Words};
use super::{Batches, Work, division};
use crate::gpu::known::column_is_shared;
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;
use bigint_core::kernel::inverse_digits;

/// The most digits by which a multiple of the shorter number may be taken higher while cofactors
/// stand in their own place.
const MOST_UP: u32 = 2;

/// Computes the inverses that fall to the calling thread, by steps in doubles.
#[inline(always)]
pub fn lehmer<S: Stride>(batches: Batches<'_, S>) {
    inverses::<Doubles, S>(batches);
}

/// Computes the inverses that fall to the calling thread, by steps in integers.
#[inline(always)]
pub fn lehmer_words<S: Stride>(batches: Batches<'_, S>) {
    inverses::<Words, S>(batches);
}

#[inline(always)]
fn inverses<T: Tops, S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let Work {
            r,
            a,
            b: m,
            scratch,
            ..
        } = work;
        let pairs = inverse_digits(a.width() as usize, m.width() as usize) as u32;
        let flag = match column_is_shared(scratch.width()) {
            true => number::<T, _>(r, a, m, batches.column(pairs), pairs),
            false => number::<T, _>(r, a, m, batches.column_in_scratch(), pairs),
        };
        work.carry.set(flag);
    }
}

/// Sets `r` to the inverse of `a` modulo `m`, cut or extended to the width of `r`, and returns 0.
/// If there is none, sets `r` to zero and returns 1. The column has `pairs` pairs.
#[inline(always)]
fn number<T: Tops, C: Column>(
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    m: Number<impl Stride>,
    column: C,
    pairs: u32,
) -> Limb {
    let column = Above::zeros(column);
    let pairs = pairs - column.from;
    let mut pair = Pair::new(column, pairs, m, a);
    let last = pairs - 1;
    let mut cofactors = Pair::zero_and_one(Reversed { column, last });
    while let Some(step) = pair.step::<T>() {
        if !step.is_shifted_here() {
            pair.transform(step, pair.length());
            cofactors.transform(step, cofactors.length() + 1);
            cofactors = cofactors.grown(1);
        } else if step.up <= MOST_UP {
            let more = step.up + 1;
            pair.transform_shifted(step, pair.length());
            cofactors.transform_shifted(step, cofactors.length() + more);
            cofactors = cofactors.grown(more);
        } else {
            let folded = Folded::new(cofactors, step.second, pair.length());
            (pair, cofactors) = folded.quotient(pair, step);
        }
    }
    let (second, top) = pair.rest();
    if pair.length() != 1 || (top != 1 && top != -1) || division::significant(m) == 0 {
        division::clear(r, 0);
        return 1;
    }
    let (column, width) = (cofactors.into_column(), m.width());
    let limbs = Limbs {
        column,
        second: false,
        width,
    };
    let mut above = cofactors.each_limb(second, top, width, |i, limb| limbs.set(i, limb));
    let inverse = Residue(limbs);
    while above < 0 {
        above += i64::from(inverse.add(m));
    }
    while above > 0 || !inverse.is_less(m) {
        above -= i64::from(inverse.sub(m));
    }
    let mut i = 0;
    while i < r.width() {
        r.set(i, limbs.limb(i));
        i += 1;
    }
    0
}

/// The cofactors while a quotient of many digits is being taken.
struct Folded<C> {
    cofactors: Pair<Reversed<C>>,
    /// Whether the second number, and the second cofactor, change.
    second: bool,
    /// The end of the changing number's part of the column, with zeros behind it. Cofactors stand
    /// here and above. Digits of the cofactor that changes that would stand below are in the places
    /// of the other number.
    end: u32,
    /// The digits of the cofactors before the quotient.
    length: u32,
}

impl<C: Column> Folded<C> {
    /// The cofactors of numbers whose longer one has `longer` digits, and is the second one if
    /// `second`.
    #[inline(always)]
    fn new(cofactors: Pair<Reversed<C>>, second: bool, longer: u32) -> Self {
        Folded {
            cofactors,
            second,
            end: longer + 3,
            length: cofactors.length(),
        }
    }

    /// Subtracts multiples of the shorter number from the longer one, and the same multiples of
    /// cofactors, until what is left of the quotient is short. `first` is the first of these steps.
    #[inline(always)]
    fn quotient(mut self, pair: Pair<C>, first: Step) -> (Pair<C>, Pair<Reversed<C>>) {
        let (most, shorter) = (self.length + first.up + 1, first.shorter);
        let (mut step, mut longer) = (first, pair.length());
        loop {
            pair.add(self.second, step.multiple(), step.up, longer);
            self.add(step.multiple(), step.up);
            longer = pair.digits(self.second, longer);
            if longer <= shorter + MOST_UP {
                return (pair.of_length(longer.max(shorter)), self.unfolded(most));
            }
            step = pair.quotient(self.second, longer, shorter);
        }
    }

    /// Whether digit `j` of the cofactor that changes stands in the second place of its pair.
    #[inline(always)]
    fn is_beside_second(&self, Reversed { last, .. }: Reversed<C>, j: u32) -> bool {
        self.second != (last - j < self.end)
    }

    #[inline(always)]
    fn add(&mut self, multiple: i32, up: u32) {
        let column = self.cofactors.into_column();
        let (mut sum, mut j) = (Sum::new(), up);
        // Above the product are digits that larger multiples gave, to which the carry is added.
        while j < self.length + up + 1 || !sum.is_nothing() {
            let (pairs, others) = (column.four(j), column.four(j - up));
            let mut new = |k: u32| {
                let (pair, other) = (pairs[k as usize], others[k as usize]);
                let is_there = j - up + k < self.length;
                let other = if is_there {
                    digit_of(other, !self.second)
                } else {
                    0
                };
                let second = self.is_beside_second(column, j + k);
                let digits = [other, digit_of(pair, second)];
                with_digit(pair, second, sum.digit([multiple, 1], digits))
            };
            let pairs = [new(0), new(1), new(2), new(3)];
            column.set_four(j, pairs);
            j += 4;
        }
    }

    /// The cofactors, of up to `most` digits, with each digit in its own place again.
    #[inline(always)]
    fn unfolded(self, most: u32) -> Pair<Reversed<C>> {
        let column = self.cofactors.into_column();
        let is_set = |j: u32| digit_of(column.pair(j), self.is_beside_second(column, j)) != 0;
        let mut length = most;
        while length > self.length && !is_set(length - 1) {
            length -= 1;
        }
        let mut j = length;
        while j > 0 && column.last - (j - 1) < self.end {
            j -= 1;
            let [x, y] = column.pair(j);
            column.set_pair(j, if self.second { [0, x] } else { [y, 0] });
        }
        self.cofactors.of_length(length)
    }
}

/// An inverse, or a number that differs from it by a multiple of `m`.
#[derive(Clone, Copy)]
struct Residue<C>(Limbs<C>);

impl<C: Column> Residue<C> {
    /// Adds `m`, and returns the carry out.
    #[inline(always)]
    fn add(self, m: Number<impl Stride>) -> bool {
        let (mut i, mut carry) = (0, false);
        while i < m.width() {
            let sum;
            (sum, carry) = self.0.limb(i).carrying_add(m.limb(i), carry);
            self.0.set(i, sum);
            i += 1;
        }
        carry
    }

    /// Subtracts `m`, and returns the borrow.
    #[inline(always)]
    fn sub(self, m: Number<impl Stride>) -> bool {
        let (mut i, mut borrow) = (0, false);
        while i < m.width() {
            let difference;
            (difference, borrow) = self.0.limb(i).borrowing_sub(m.limb(i), borrow);
            self.0.set(i, difference);
            i += 1;
        }
        borrow
    }

    #[inline(always)]
    fn is_less(self, m: Number<impl Stride>) -> bool {
        let mut i = m.width();
        while i > 0 {
            i -= 1;
            let (x, y) = (self.0.limb(i), m.limb(i));
            if x != y {
                return x < y;
            }
        }
        false
    }
}
