//! Carries that reach over more than a point: modulo `k b^n + c` where `k` is greater, a carry has up to 2^50, and words
//! are shorter.
//!
//! A carry is added to the next column's point at once, and what that has beyond its two words to the point after it:
//! four words take a carry. So the last column of a block hands on its own carry and what it has beyond itself of the
//! carry into it, before it knows what comes from the block before; that reaches the block's second column at most, of
//! two or four.

use super::super::words::{ROUND, Words, f64_upper};
use super::super::{Block, sixteen};
use super::ThreadPlace;
use crate::gpu::float::{multiply_add, signed};
use crate::gpu::registers::computed;
use crate::transform::complex::Complex;
use bigint_core::weighted::long::NO_CARRY;

/// The weight of a carry's upper half. The lower half is at most half of that in size.
const UPPER: f64 = 16_777_216.0;

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
        let (mut error, mut end) = (0, 0.0);
        let mut halves = [[0; 4]; 2];
        self.twist(place, v, true);
        sixteen!(k => {
            if (k as u32) < place.radix {
                let steps = words.steps::<false>(self, k);
                let (sum, distance) = self.to_words::<false>(&mut v[k], words, steps);
                error = error.max(distance);
                let carry = sum - ROUND;
                let before = self.from_lane_before(place, carry);
                let beyond = self.add::<false>(&mut v[k], before, steps, false);
                let before = self.from_lane_before(place, beyond);
                self.add::<false>(&mut v[k], before, steps, true);
                end = computed(carry + beyond);
                let sum = multiply_add(end, 1.0 / UPPER, ROUND);
                let lower = multiply_add(sum - ROUND, -UPPER, end) + ROUND;
                [halves[0][k % 4], halves[1][k % 4]] = [lower, sum].map(|half| half.to_bits() as u32);
            }
            if k % 4 == 3 {
                self.hand_far(place, block, k as u32 / 4, halves);
            }
        });
        if self.has_read(block) {
            self.note(block, error);
            return false;
        }
        let mut arrived = self.may_write(place, block);
        // Of the block's last column, and for the one before it.
        let next = self.of_lane(end, self.team.warp().lane() + 1 & 31);
        let [_, high] = self.around(if place.is_last { end } else { next });
        let word = self.arguments.word;
        let has_word = place.has_end(block) && place.lanes_behind() == 1 - word / 2;
        let words = words.afresh();
        let mut carries = [0.0; 4];
        sixteen!(k => {
            if k % 4 == 0 {
                let came;
                (carries, came) = self.take_far(place, block, k as u32 / 4);
                arrived &= came;
            }
            if (k as u32) < place.radix {
                let steps = words.steps::<false>(self, k);
                let mut from = carries[k % 4];
                if has_word && k as u32 + 1 == place.radix {
                    match word % 2 {
                        0 => from += high,
                        _ => v[k].im += high,
                    }
                }
                let beyond = self.add::<false>(&mut v[k], from, steps, place.is_last);
                let before = self.from_lane_before(place, beyond);
                self.add::<false>(&mut v[k], before, steps, true);
                if !ends {
                    words.weigh(&mut v[k], steps);
                }
            }
        });
        if !arrived {
            error = f64_upper(f64::INFINITY);
        }
        self.note(block, error);
        if !ends {
            self.twist(place, v, false);
        }
        true
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

    /// Hands the halves of four carries of the last column on. Those of block 0 go to the next row: that of the last of the
    /// first `16 m` rows goes to the first of the next `16 m`, and so on. They are turned here, as who takes them has four at
    /// a time.
    #[inline(always)]
    fn hand_far(self, place: ThreadPlace, block: u32, i: u32, halves: [[u32; 4]; 2]) {
        if !place.is_last {
            return;
        }
        let handed = self.handed(self.arguments.carries);
        let row = place.row + u32::from(block == 0);
        if row < 16 * place.factor {
            handed.set_four(place.of_four(block, [0, i], row), halves[0]);
            handed.set_four(place.of_four(block, [1, i], row), halves[1]);
            return;
        }
        sixteen!(j => {
            if j < 4 {
                let k = 4 * i + j as u32;
                let to = match k + 1 {
                    next if next == place.radix => 0,
                    next if next < place.radix => next,
                    // There is no such row, but its place is read.
                    _ => k,
                };
                let [lower, upper] =
                    [0, 1].map(|region| 4 * place.of_four(block, [region, to / 4], 0) + to % 4);
                handed.set(lower, halves[0][j]);
                handed.set(upper, halves[1][j]);
            }
        });
    }

    /// The carries that go into four of the thread's points, which are those of the block before, for its first column.
    /// Returns whether they arrived in time.
    #[inline(always)]
    fn take_far(self, place: ThreadPlace, block: u32, i: u32) -> ([f64; 4], bool) {
        if place.lane != 0 {
            return ([0.0; 4], true);
        }
        let handed = self.handed(self.arguments.carries);
        let at = place.of_four(block - 1, [0, i], place.row);
        let ([lower, upper], arrived) = handed.take(at, place.region(), NO_CARRY);
        let mut carries = [0.0; 4];
        sixteen!(j => {
            if j < 4 {
                carries[j] = multiply_add(signed(upper[j] as i32), UPPER, signed(lower[j] as i32));
            }
        });
        if i == 0 && place.is_first(block) {
            [carries[0], _] = self.around(carries[0]);
        }
        (carries, arrived)
    }
}
