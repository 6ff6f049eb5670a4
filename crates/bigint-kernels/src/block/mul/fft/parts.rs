//! Transforms in `P` parts, which are computed one after the other in the same shared memory.
//!
//! There are `T` threads, and a part has `m = 16 T` values. With a first pass of radix `R`, thread `t` has
//! these in each pass:
//!
//! ```text
//! first      coefficients 2t + k m/R and 2t+1 + k m/R of the part, each made of P digits m apart:
//!            limbs t + k m/2R + j m/2, j < P
//! ...        as of one part
//! first up   coefficients 2t + k m/R and 2t+1 + k m/R of the part, which stay with the thread
//! ```
//!
//! The values of the last part stay in shared memory, those of the others in the thread's local
//! memory. When all parts are done, a thread can compute, for each of its places, `P` coefficients
//! of either half of the product. They become limbs in `P` rounds, `m` limbs in each.
//!
//! Cost: that of one part for each part, and `4 P` operations in FP64 for each digit; `P` passes
//! over both operands.

use super::Transform;
use crate::gpu::local::Places;
use crate::gpu::memory::{Number, Stride};
use crate::transform::butterflies::{
    HALF_SQRT_2, SIXTEENTH, THIRTY_SECOND, THREE_THIRTY_SECONDS, down, join,
};
use crate::transform::complex::Complex;
use crate::transform::digits;
use crate::transform::exchange::Exchange;
use crate::transform::odd;
use bigint_core::Limb;

impl<const LANES: u32, const THREADS: u32, const PARTS: usize, const FIRST: usize>
    Transform<LANES, THREADS, PARTS, FIRST>
{
    /// Computes a product. `release` turns the sums of a round into limbs.
    #[inline(always)]
    pub(super) fn by_parts<S: Stride>(self, a: Number<S>, b: Number<S>, release: impl Fn(u32)) {
        let Transform { team, x, y, .. } = self;
        let mut kept = [const { [const { Places::<FIRST>::new() }; 2] }; PARTS];
        let mut part = 0;
        while part < PARTS {
            let mut is_first = true;
            // One text serves both operands.
            loop {
                let (number, to) = if is_first { (a, x) } else { (b, y) };
                if self.has_columns() {
                    self.spread_part(part as u32, number, to);
                }
                if self.is_square || !is_first {
                    break;
                }
                is_first = false;
            }
            team.sync();
            self.multiply(part as u32);
            if self.has_columns() {
                self.keep(part, &mut kept[part]);
            }
            team.sync();
            part += 1;
        }
        if self.has_columns() {
            self.add_up_all(&mut kept);
        }
        let mut round = 0;
        loop {
            team.sync();
            release(round as u32);
            round += 1;
            if round == PARTS {
                break;
            }
            team.sync();
            if self.has_columns() {
                let mut k = 0;
                while k < FIRST as u32 {
                    self.set_sums(k, kept[round - 1][0].pair(k).map(f64::to_bits));
                    k += 1;
                }
            }
        }
    }

    /// The first pass up of a part, which leaves values in shared memory if the part is the last one, else
    /// in memory of the thread's own.
    #[inline(always)]
    fn keep(self, part: usize, kept: &mut [Places<FIRST>; 2]) {
        let mut column = 0;
        while column < 2 {
            let at = 2 * self.team.thread() + column as u32;
            let mut values = self.x.get::<FIRST>(at, Self::APART);
            self.up_from(0, part as u32, &mut values);
            if part == PARTS - 1 {
                self.x.set(at, Self::APART, &values);
            } else {
                let mut k = 0;
                while k < FIRST {
                    kept[column].set_pair(k as u32, [values[k].re, values[k].im]);
                    k += 1;
                }
            }
            column += 1;
        }
    }

    /// Turns the values of all parts into sums.
    #[inline(always)]
    fn add_up_all(self, kept: &mut [[Places<FIRST>; 2]; PARTS]) {
        if PARTS == 2 {
            // Loads need not wait for sums.
            each_value::<FIRST>(
                #[inline(always)]
                |k| self.add_up(kept, k),
            );
        } else {
            let mut k = 0;
            while k < FIRST as u32 {
                self.add_up(kept, k);
                k += 1;
            }
        }
    }

    /// Turns values `k` of all parts into sums for limbs, two for each round. The sums of the first
    /// round are set; those of the others are kept.
    #[inline(always)]
    fn add_up(self, kept: &mut [[Places<FIRST>; 2]; PARTS], k: u32) {
        // All passes up are sums over the `L/4` leaves.
        let scale = const { 4.0 / Self::LENGTH as f64 };
        let joined = |column: usize| {
            let mut values = [Complex::ZERO; PARTS];
            let mut part = 0;
            while part < PARTS - 1 {
                let [re, im] = kept[part][column].pair(k);
                values[part] = Complex::new(re, im);
                part += 1;
            }
            let at = 2 * self.team.thread() + column as u32 + Self::APART * k;
            [values[part]] = self.x.get(at, Self::APART);
            join(&mut values);
            values
        };
        let (lower, upper) = (joined(0), joined(1));
        // Coefficients are all real parts, then all imaginary parts.
        let sum = |i: usize| {
            let (lower, upper) = (lower[i % PARTS], upper[i % PARTS]);
            let (lower, upper) = match i < PARTS {
                true => (lower.re, upper.re),
                false => (lower.im, upper.im),
            };
            digits::lower(lower, scale).wrapping_add(digits::upper(upper, scale))
        };
        let mut lowest = sum(0);
        if k == 0 && self.team.thread() == 0 {
            lowest += digits::TELESCOPED;
        }
        self.set_sums(k, [lowest, sum(1)]);
        let mut round = 1;
        while round < PARTS {
            // The sums take the place of values that are no longer needed.
            let sums = [sum(2 * round), sum(2 * round + 1)];
            kept[round - 1][0].set_pair(k, sums.map(f64::from_bits));
            round += 1;
        }
    }

    /// The first pass down of a part: cuts limbs into digits, and leaves values in shared memory.
    #[inline(always)]
    fn spread_part(self, part: u32, a: Number<impl Stride>, to: Exchange) {
        let thread = self.team.thread();
        let below = a.limb(thread.wrapping_sub(1));
        let own = a.part(thread, u32::MAX).settled();
        let (mut lower, mut upper) = ([Complex::ZERO; FIRST], [Complex::ZERO; FIRST]);
        each_value::<FIRST>(
            #[inline(always)]
            |k| {
                let at = k as usize;
                [lower[at], upper[at]] = self.two_coefficients(part, own, below, k);
            },
        );
        self.down_from(part, &mut lower);
        to.set(2 * thread, Self::APART, &lower);
        self.down_from(part, &mut upper);
        to.set(2 * thread + 1, Self::APART, &upper);
    }

    /// The first pass down, of values of a part.
    #[inline(always)]
    fn down_from(self, part: u32, v: &mut [Complex; FIRST]) {
        if FIRST == 8 {
            return down(v, &self.roots_down::<8>(0, part));
        }
        let mut k = 1;
        while k < FIRST {
            v[k] = v[k].times(self.root_up(0, part, k as u32).conjugate());
            k += 1;
        }
        *v = odd::transform(*v, false);
    }

    /// Coefficients `2t + k m/R` and `2t+1 + k m/R` of a part. `own` begins at limb `t` of the
    /// operand, and `below` is the limb below that.
    #[inline(always)]
    fn two_coefficients(
        self,
        part: u32,
        own: Number<impl Stride>,
        below: Limb,
        k: u32,
    ) -> [Complex; 2] {
        let d = |j: u32| self.digits(own, below, k + FIRST as u32 * j);
        match PARTS {
            2 => each_half(d(0), d(1), part == 1),
            4 => {
                let e = |j| each_half(d(j), d(j + 2), part >= 2);
                let (low, high) = (e(0), e(1));
                let root = turned(SIXTEENTH, part >= 2, part % 2 == 1);
                [0, 1].map(|i| low[i].plus_product(high[i], root))
            }
            _ => {
                let e = |j| each_half(d(j), d(j + 4), part >= 4);
                let root = turned(SIXTEENTH, part >= 4, part / 2 % 2 == 1);
                let f = |j| {
                    let (low, high) = (e(j), e(j + 2));
                    [0, 1].map(|i| low[i].plus_product(high[i], root))
                };
                let (low, high) = (f(0), f(1));
                let root = match part >= 4 {
                    false => THIRTY_SECOND,
                    // This is 5/32 of a turn.
                    true => (THREE_THIRTY_SECONDS.1, THREE_THIRTY_SECONDS.0),
                };
                let root = turned(root, part / 2 % 2 == 1, part % 2 == 1);
                [0, 1].map(|i| low[i].plus_product(high[i], root))
            }
        }
    }

    /// The two digits of the operand's limb `t + k m/2R`.
    #[inline(always)]
    fn digits(self, own: Number<impl Stride>, below: Limb, k: u32) -> [f64; 2] {
        let limb = own.limb(k * Self::COLUMNS);
        if !Self::PLAN.is_balanced {
            return digits::plain(limb);
        }
        let below = match k {
            0 => below,
            _ => own.limb(k * Self::COLUMNS - 1),
        };
        let is_top = k == (FIRST * PARTS) as u32 - 1 && self.team.thread() == Self::COLUMNS - 1;
        digits::balanced(limb, below, is_top)
    }
}

/// Calls `work` for each of the `R` values, 8, 10 or 12, of a column. (There is no loop, as one that is
/// not unrolled would keep values in memory.)
#[inline(always)]
pub(super) fn each_value<const R: usize>(mut work: impl FnMut(u32)) {
    work(0);
    work(1);
    work(2);
    work(3);
    work(4);
    work(5);
    work(6);
    work(7);
    if R > 8 {
        work(8);
        work(9);
    }
    if R > 10 {
        work(10);
        work(11);
    }
}

/// The values that the first level of the tree computes from digits, for one of the two halves.
#[inline(always)]
fn each_half(a: [f64; 2], b: [f64; 2], is_second: bool) -> [Complex; 2] {
    let root = if is_second { -HALF_SQRT_2 } else { HALF_SQRT_2 };
    let half = |a: f64, b: f64| Complex::new(a + root * b, root * b);
    [half(a[0], b[0]), half(a[1], b[1])]
}

/// A point of the unit circle, turned on by a quarter of a turn, by a half, or by both.
#[inline(always)]
fn turned((re, im): (f64, f64), by_a_quarter: bool, by_a_half: bool) -> Complex {
    let root = Complex::new(re, im);
    let root = if by_a_quarter { root.turned() } else { root };
    if by_a_half { root.negated() } else { root }
}
