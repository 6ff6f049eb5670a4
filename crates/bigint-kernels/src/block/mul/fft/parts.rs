//! Transforms in `P` parts, which are computed one after the other in the same shared memory.
//!
//! There are `T` threads, and a part has `m = 16 T` values. Thread `t` has these in each pass:
//!
//! ```text
//! first      coefficients 2t + k m/8 and 2t+1 + k m/8 of the part, each made of P digits m apart:
//!            limbs t + k T + j 8 T, j < P
//! ...        as of one part
//! first up   coefficients 2t + k m/8 and 2t+1 + k m/8 of the part, which stay with the thread
//! ```
//!
//! The values of the last part stay in shared memory, those of the others in the thread's local
//! memory. When all parts are done, a thread can compute, for each of its places, `P` coefficients
//! of either half of the product. They become limbs in `P` rounds, `m` limbs in each.
//!
//! Cost: that of one part for each part, and `4 P` operations in FP64 for each digit; `P` passes
//! over both operands.

use super::{Transform, sum_at};
use crate::gpu::local::Places;
use crate::gpu::memory::{Number, Stride};
use crate::transform::butterflies::{
    HALF_SQRT_2, SIXTEENTH, THIRTY_SECOND, THREE_THIRTY_SECONDS, down, join,
};
use crate::transform::complex::Complex;
use crate::transform::digits;
use crate::transform::exchange::Exchange;
use bigint_core::Limb;

impl<const THREADS: u32, const PARTS: usize> Transform<THREADS, PARTS> {
    /// Computes a product. `release` turns the sums of a round into limbs.
    #[inline(always)]
    pub(super) fn by_parts<S: Stride>(self, a: Number<S>, b: Number<S>, release: impl Fn(u32)) {
        let Transform { team, x, y, .. } = self;
        let mut kept = [const { Places::<16>::new() }; PARTS];
        let mut part = 0;
        while part < PARTS {
            let mut is_first = true;
            // One text serves both operands.
            loop {
                let (number, to) = if is_first { (a, x) } else { (b, y) };
                self.spread_part(part as u32, number, to);
                if self.is_square || !is_first {
                    break;
                }
                is_first = false;
            }
            team.sync();
            self.multiply(part as u32);
            let mut column = 0;
            while column < 2 {
                let at = 2 * team.thread() + column;
                let mut values = x.get::<8>(at, 2 * THREADS);
                self.up_from(0, part as u32, &mut values);
                if part == PARTS - 1 {
                    x.set(at, 2 * THREADS, &values);
                } else {
                    let mut k = 0;
                    while k < 8 {
                        let pair = [values[k].re, values[k].im];
                        kept[part].set_pair(2 * k as u32 + column, pair);
                        k += 1;
                    }
                }
                column += 1;
            }
            team.sync();
            part += 1;
        }
        if PARTS == 2 {
            // (There is no loop, so that loads need not wait for sums.)
            let kept = &mut kept;
            self.add_up(kept, 0);
            self.add_up(kept, 1);
            self.add_up(kept, 2);
            self.add_up(kept, 3);
            self.add_up(kept, 4);
            self.add_up(kept, 5);
            self.add_up(kept, 6);
            self.add_up(kept, 7);
        } else {
            let mut k = 0;
            while k < 8 {
                self.add_up(&mut kept, k);
                k += 1;
            }
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
            let mut k = 0;
            while k < 8 {
                self.set_sums(k, kept[round - 1].pair(k).map(f64::to_bits));
                k += 1;
            }
        }
    }

    /// Sets sum `k` of the thread in each half of a round, that of the lower half first.
    #[inline(always)]
    fn set_sums(self, k: u32, [lower, upper]: [u64; 2]) {
        let sums = self.y.memory();
        let first = sum_at(self.team.thread());
        sums.set_word(first + sum_at(k * THREADS), lower);
        sums.set_word(first + sum_at((8 + k) * THREADS), upper);
    }

    /// Turns values `k` of all parts into sums for limbs, two for each round. The sums of the first
    /// round are set; those of the others are kept.
    #[inline(always)]
    fn add_up(self, kept: &mut [Places<16>; PARTS], k: u32) {
        // 2^-l, for the l levels down to `x^4 - z`.
        let scale = const { 4.0 / Self::LENGTH as f64 };
        let joined = |column| {
            let mut values = [Complex::ZERO; PARTS];
            let mut part = 0;
            while part < PARTS - 1 {
                let [re, im] = kept[part].pair(2 * k + column);
                values[part] = Complex::new(re, im);
                part += 1;
            }
            let at = 2 * self.team.thread() + column + 2 * THREADS * k;
            [values[part]] = self.x.get(at, 2 * THREADS);
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
            kept[round - 1].set_pair(k, sums.map(f64::from_bits));
            round += 1;
        }
    }

    /// The first pass down of a part: cuts limbs into digits, and leaves values in shared memory.
    #[inline(always)]
    fn spread_part(self, part: u32, a: Number<impl Stride>, to: Exchange) {
        let thread = self.team.thread();
        let below = a.limb(thread.wrapping_sub(1));
        let own = a.part(thread, u32::MAX).settled();
        let two = |k| self.two_coefficients(part, own, below, k);
        // (There is no loop, as one that is not unrolled would keep values in memory.)
        let [c0, c1, c2, c3] = [two(0), two(1), two(2), two(3)];
        let [c4, c5, c6, c7] = [two(4), two(5), two(6), two(7)];
        let roots = self.roots_down::<8>(0, part);
        let column = |i: usize| {
            let mut values = [c0[i], c1[i], c2[i], c3[i], c4[i], c5[i], c6[i], c7[i]];
            down(&mut values, &roots);
            to.set(2 * thread + i as u32, 2 * THREADS, &values);
        };
        column(0);
        column(1);
    }

    /// Coefficients `2t + k m/8` and `2t+1 + k m/8` of a part. `own` begins at limb `t` of the
    /// operand, and `below` is the limb below that.
    #[inline(always)]
    fn two_coefficients(
        self,
        part: u32,
        own: Number<impl Stride>,
        below: Limb,
        k: u32,
    ) -> [Complex; 2] {
        let d = |j: u32| self.digits(own, below, k + 8 * j);
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

    /// The two digits of the operand's limb `t + k T`.
    #[inline(always)]
    fn digits(self, own: Number<impl Stride>, below: Limb, k: u32) -> [f64; 2] {
        let limb = own.limb(k * THREADS);
        if !Self::PLAN.is_balanced {
            return digits::plain(limb);
        }
        let below = match k {
            0 => below,
            _ => own.limb(k * THREADS - 1),
        };
        let is_top = k == 8 * PARTS as u32 - 1 && self.team.thread() == THREADS - 1;
        digits::balanced(limb, below, is_top)
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
