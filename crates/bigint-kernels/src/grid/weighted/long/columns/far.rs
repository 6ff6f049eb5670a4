//! Carries that reach over more than a point: modulo `k b^n + c` where `k` is greater, a carry has up to 2^50, and words
//! are shorter.
//!
//! A carry is added to the next column's point at once, and what that has beyond its two words to the point after it:
//! four words take a carry. So the last column of a block hands on its own carry and what it has beyond itself of the
//! carry into it, before it knows what comes from the block before; that reaches the block's second column at most, of
//! two or four.

use super::super::words::{BaseWords, ROUND, f64_upper};
use super::super::{Block, sixteen};
use super::{ThreadPlace, Words};
use crate::gpu::float::{multiply_add, signed};
use crate::gpu::registers::computed;
use crate::transform::complex::Complex;
use bigint_core::weighted::long::NO_CARRY;

/// The weight of a carry's upper half. The lower half is at most half of that in size.
const UPPER: f64 = 16_777_216.0;

#[derive(Clone, Copy)]
pub(super) struct FarWords(BaseWords);

impl Words for FarWords {
    const IS_CYCLIC: bool = false;

    #[inline(always)]
    fn of(block: Block<'_>, place: ThreadPlace) -> Self {
        FarWords(block.base_words(place.row, place.column))
    }

    #[inline(always)]
    fn weigh(self, block: Block<'_>, z: &mut Complex, k: usize) {
        self.0.weigh(z, self.0.steps(block, k));
    }

    #[inline(always)]
    fn carry(
        self,
        block: Block<'_>,
        place: ThreadPlace,
        number: u32,
        ends: bool,
        v: &mut [Complex; 16],
    ) -> bool {
        let words = self.0;
        let (mut error, mut end) = (0, 0.0);
        let mut halves = [[0; 4]; 2];
        block.twist(place, v, true);
        sixteen!(k => {
            if (k as u32) < place.radix {
                let steps = words.steps(block, k);
                let (sum, distance) = block.to_words(&mut v[k], words, steps);
                error = error.max(distance);
                let carry = sum - ROUND;
                let before = block.from_lane_before(place, carry);
                let beyond = block.add(&mut v[k], before, steps, false);
                let before = block.from_lane_before(place, beyond);
                block.add(&mut v[k], before, steps, true);
                end = computed(carry + beyond);
                let sum = multiply_add(end, 1.0 / UPPER, ROUND);
                let lower = multiply_add(sum - ROUND, -UPPER, end) + ROUND;
                [halves[0][k % 4], halves[1][k % 4]] = [lower, sum].map(|half| half.to_bits() as u32);
            }
            if k % 4 == 3 {
                block.hand_far(place, number, k as u32 / 4, halves);
            }
        });
        if block.has_read(number) {
            block.note(number, error);
            return false;
        }
        let mut arrived = block.may_write(place, number);
        // Of the block's last column, and for the one before it.
        let next = block.of_lane(end, block.team.warp().lane() + 1 & 31);
        let [_, high] = block.around(if place.is_last { end } else { next });
        let behind = block.arguments.behind;
        let has_word = place.has_end(number) && place.lanes_behind() == behind / 2;
        let words = words.afresh();
        let mut carries = [0.0; 4];
        sixteen!(k => {
            if k % 4 == 0 {
                let (halves, came) = block.take_far(place, number, k as u32 / 4);
                arrived &= came;
                sixteen!(j => {
                    if j < 4 {
                        let [lower, upper] = [halves[0][j], halves[1][j]];
                        carries[j] = multiply_add(signed(upper as i32), UPPER, signed(lower as i32));
                    }
                });
                if k == 0 && place.lane == 0 && place.is_first(number) {
                    [carries[0], _] = block.around(carries[0]);
                }
            }
            if (k as u32) < place.radix {
                let steps = words.steps(block, k);
                let mut from = carries[k % 4];
                if has_word && k as u32 + 1 == place.radix {
                    match behind % 2 {
                        1 => from += high,
                        _ => v[k].im += high,
                    }
                }
                let beyond = block.add(&mut v[k], from, steps, place.is_last);
                let before = block.from_lane_before(place, beyond);
                block.add(&mut v[k], before, steps, true);
                if !ends {
                    words.weigh(&mut v[k], steps);
                }
            }
        });
        if !arrived {
            error = f64_upper(f64::INFINITY);
        }
        block.note(number, error);
        if !ends {
            block.twist(place, v, false);
        }
        true
    }
}

impl Block<'_> {
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
    pub(super) fn hand_far(self, place: ThreadPlace, block: u32, i: u32, halves: [[u32; 4]; 2]) {
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

    /// The halves of the carries that go into four of the thread's points, which are those of the block before, for its first
    /// column. Returns whether they arrived in time.
    #[inline(always)]
    pub(super) fn take_far(self, place: ThreadPlace, block: u32, i: u32) -> ([[u32; 4]; 2], bool) {
        if place.lane != 0 {
            return ([[0; 4]; 2], true);
        }
        let handed = self.handed(self.arguments.carries);
        let at = place.of_four(block - 1, [0, i], place.row);
        handed.take(at, place.region(), NO_CARRY)
    }
}
