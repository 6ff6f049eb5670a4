//! Carries that reach over more than a point: modulo `k b^n + c` where `k` is greater, a carry has up to 2^50, and words
//! are shorter.
//!
//! A carry is added to the next column's point at once, and what that has beyond its two words to the point after it:
//! four words take a carry. So the last column of a block hands on its own carry and what it has beyond itself of the
//! carry into it, before it knows what comes from the block before; that reaches the block's second column at most, of
//! two or four.

use super::super::words::{ROUND, Step, Words, f64_upper, rounded};
use super::super::{Block, sixteen};
use super::ThreadPlace;
use crate::gpu::float::{multiply_add, signed};
use crate::gpu::registers::computed;
use crate::transform::complex::Complex;

/// Half of a carry has so many bits.
const HALF: f64 = 16_777_216.0;

impl Block<'_> {
    /// What `carry` is where it does not reach far. Returns the same.
    #[inline(always)]
    pub(super) fn carry_far(
        self,
        place: ThreadPlace,
        words: Words,
        block: u32,
        ends: bool,
        v: &mut [Complex; 16],
    ) -> bool {
        let by = self.arguments.by;
        let (mut error, mut end) = (0, 0.0);
        let mut halves = [[0; 4]; 2];
        self.twist(place, v, true);
        sixteen!(k => {
            if (k as u32) < place.radix {
                let steps = [0, 1].map(|part| words.step::<false>(self, k, part));
                let (x, distance) = rounded(v[k].re * words.inverse[0], steps[0].inverse);
                error = error.max(distance);
                let (re, carry) = self.split(steps[0], x * by);
                let (x, distance) = rounded(v[k].im * words.inverse[1], steps[1].inverse);
                error = error.max(distance);
                let (im, carry) = self.split(steps[1], multiply_add(x, by, carry));
                v[k] = Complex::new(computed(re), computed(im));
                let before = self.from_lane_before(place, carry);
                let beyond = self.add(&mut v[k], before, steps, false);
                let before = self.from_lane_before(place, beyond);
                self.add(&mut v[k], before, steps, true);
                end = computed(carry + beyond);
                let upper = multiply_add(end, 1.0 / HALF, ROUND) - ROUND;
                let lower = multiply_add(upper, -HALF, end);
                [halves[0][k % 4], halves[1][k % 4]] = [lower, upper].map(|half| half as i32 as u32);
            }
            if k % 4 == 3 {
                self.hand(place, block, [0, k as u32 / 4], halves[0]);
                self.hand(place, block, [1, k as u32 / 4], halves[1]);
            }
        });
        let (carries, arrived) = match self.has_read(block) {
            true => ([0.0; 16], true),
            false => self.take_far(place, block),
        };
        if !arrived {
            error = f64_upper(f64::INFINITY);
        }
        self.note(block, error);
        if block == 0 {
            return false;
        }
        // Of the block's last column, and for the one before it.
        let next = self.of_lane(end, self.team.warp().lane() + 1 & 31);
        let [_, high] = self.around(if place.is_last { end } else { next });
        let word = self.arguments.around.word;
        let has_word = place.has_end(block) && place.lanes_behind() == 1 - word / 2;
        sixteen!(k => {
            if (k as u32) < place.radix {
                let steps = [0, 1].map(|part| words.step::<false>(self, k, part));
                let mut from = carries[k];
                if has_word && k as u32 + 1 == place.radix {
                    match word % 2 {
                        0 => from += high,
                        _ => v[k].im += high,
                    }
                }
                let beyond = self.add(&mut v[k], from, steps, place.is_last);
                let before = self.from_lane_before(place, beyond);
                self.add(&mut v[k], before, steps, true);
                if !ends {
                    v[k].re *= words.weight[0] * steps[0].weight;
                    v[k].im *= words.weight[1] * steps[1].weight;
                }
            }
        });
        if !ends {
            self.twist(place, v, false);
        }
        true
    }

    /// A word's digit and its carry.
    #[inline(always)]
    fn split(self, step: Step, x: f64) -> (f64, f64) {
        let carry = multiply_add(x, step.base_inverse::<false>(self), ROUND) - ROUND;
        (multiply_add(carry, -step.base::<false>(self), x), carry)
    }

    /// Adds to a point. Returns what is beyond its words, unless the odd word `takes` that.
    #[inline(always)]
    fn add(self, z: &mut Complex, x: f64, [even, odd]: [Step; 2], takes: bool) -> f64 {
        let (re, carry) = self.split(even, z.re + x);
        let sum = z.im + carry;
        let (im, beyond) = self.split(odd, sum);
        let (im, beyond) = if takes { (sum, 0.0) } else { (im, beyond) };
        *z = Complex::new(re, im);
        beyond
    }

    /// The value of the column before; 0 for a block's first column.
    #[inline(always)]
    fn from_lane_before(self, place: ThreadPlace, x: f64) -> f64 {
        let warp = self.team.warp();
        let x = self.of_lane(x, warp.lane().wrapping_sub(1));
        if place.lane == 0 { 0.0 } else { x }
    }

    #[inline(always)]
    fn of_lane(self, x: f64, lane: u32) -> f64 {
        let warp = self.team.warp();
        let [low, high] =
            [x.to_bits() as u32, (x.to_bits() >> 32) as u32].map(|half| warp.shuffle(half, lane));
        f64::from_bits(u64::from(high) << 32 | u64::from(low))
    }

    /// The carries that go into the thread's points, which are those of the block before, for its first column. Returns
    /// whether they arrived in time.
    #[inline(always)]
    fn take_far(self, place: ThreadPlace, block: u32) -> ([f64; 16], bool) {
        let (mut carries, mut arrived) = ([0.0; 16], true);
        if place.lane == 0 {
            let (lower, came) = self.take(place, block, 0);
            let (upper, also) = self.take(place, block, 1);
            arrived = came & also;
            sixteen!(k => {
                carries[k] = multiply_add(signed(upper[k] as i32), HALF, signed(lower[k] as i32));
            });
            if place.is_first(block) {
                [carries[0], _] = self.around(carries[0]);
            }
        }
        (carries, arrived & self.may_write(place, block))
    }
}
