//! Words modulo `k 2^n + 1` and `k 2^n - 1`, as integers, where a carry reaches over two points or four.
//!
//! Carries go from column to column as in [`far`](super::far): into the next point, what that has beyond its two words into the
//! point after it, and so on. A carry has up to 2^50, and what is beyond two words less than 2^31.
//!
//! Digits are kept half a base greater, from 0 to the base. Then shifts and masks split sums: with words of 4 places, 90 is
//! kept as 98 = 6 16 + 2, which is the digit 2 - 8 = -6 and the carry 6.

use super::super::words::{ROUND, f64_upper};
use super::super::{Block, sixteen};
use super::binary::BinaryWords;
use super::{ThreadPlace, Words};
use crate::gpu::float::{multiply_add, signed, upper};
use crate::gpu::halves::{shifted, without_lower};
use crate::gpu::known::Known;
use crate::transform::complex::Complex;
use bigint_core::specialization::LongTransform;
use bigint_core::weighted::long::log_width;

/// The places of a carry's lower half.
const LOWER: u32 = 24;

#[derive(Clone, Copy)]
pub(super) struct ReachingWords(BinaryWords);

/// The places of a word.
#[derive(Clone, Copy)]
struct Places {
    places: u32,
    /// Half of the base.
    half: u32,
}

impl Places {
    /// The digit as it is kept, and what is carried.
    #[inline(always)]
    fn split(self, x: i64) -> (i32, i64) {
        (self.digit(x as i32), shifted(x, self.places))
    }

    /// The same of a short number.
    #[inline(always)]
    fn split_short(self, x: i32) -> (i32, i32) {
        (self.digit(x), without_lower(x, self.places))
    }

    #[inline(always)]
    fn digit(self, x: i32) -> i32 {
        x & (2 * self.half - 1) as i32
    }
}

/// The digits of a point, as they are kept, and their places.
#[derive(Clone, Copy)]
struct Point {
    digits: [i32; 2],
    places: [Places; 2],
}

impl Point {
    /// Adds to the digits. Returns what is beyond them, unless the odd digit `takes` that.
    #[inline(always)]
    fn add(&mut self, x: i64, takes: bool) -> i64 {
        let [even, odd] = self.places;
        let (digit, carry) = even.split(i64::from(self.digits[0]) + x);
        let of_odd = i64::from(self.digits[1]) + carry;
        self.digits[0] = digit;
        if takes {
            self.digits[1] = of_odd as i32;
            return 0;
        }
        let beyond;
        (self.digits[1], beyond) = odd.split(of_odd);
        beyond
    }

    /// The same of a short number.
    #[inline(always)]
    fn add_short(&mut self, x: i32, takes: bool) -> i32 {
        let [even, odd] = self.places;
        let (digit, carry) = even.split_short(self.digits[0] + x);
        let of_odd = self.digits[1] + carry;
        self.digits[0] = digit;
        if takes {
            self.digits[1] = of_odd;
            return 0;
        }
        let beyond;
        (self.digits[1], beyond) = odd.split_short(of_odd);
        beyond
    }
}

impl ReachingWords {
    /// The places of the thread's point `k`.
    #[inline(always)]
    fn places(self, block: Block<'_>, k: usize) -> [Places; 2] {
        let short = block.arguments.short;
        self.0.bits.map(|bits| {
            let is_long = bits >> (16 + k) & 1;
            Places {
                places: short + is_long,
                half: 1 << (short - 1 + is_long),
            }
        })
    }
}

impl Words for ReachingWords {
    const IS_CYCLIC: bool = false;

    #[inline(always)]
    fn of(block: Block<'_>, place: ThreadPlace) -> Self {
        ReachingWords(BinaryWords::of(block, place))
    }

    #[inline(always)]
    fn weigh(self, block: Block<'_>, z: &mut Complex, k: usize) {
        self.0.weigh(block, z, k);
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
        let by = block.arguments.by;
        let (mut error, mut excess, mut outside, mut end) = (0, 0, 0, 0);
        let mut digits = [[0; 2]; 16];
        let mut halves = [[0; 4]; 2];
        block.twist(place, v, true);
        sixteen!(k => {
            if (k as u32) < place.radix {
                let places = self.places(block, k);
                let mut split = |x: f64, side: usize, carry: i64| {
                    let inverse = self.0.inverse(block, side, k);
                    let whole = multiply_add(x, inverse, ROUND) - ROUND;
                    error = error.max(upper(multiply_add(x, inverse, -whole)));
                    let carry = carry + i64::from(places[side].half);
                    let sum = multiply_add(whole, by, plus_round(carry));
                    outside |= f64_upper(sum) ^ f64_upper(ROUND);
                    places[side].split(integer(sum))
                };
                let (even, carry) = split(v[k].re, 0, 0);
                let (odd, carry) = split(v[k].im, 1, carry);
                let mut point = Point { digits: [even, odd], places };
                let beyond = point.add(block.long_from_lane_before(place, carry), false);
                excess |= beyond_short(beyond);
                let (beyond, mut sum) = (beyond as i32, carry + beyond);
                let beyond = block.pass_on(place, &mut point, beyond, false, |beyond| sum += i64::from(beyond));
                point.add_short(block.short_from_lane_before(place, beyond), true);
                digits[k] = point.digits;
                end = sum;
                [halves[0][k % 4], halves[1][k % 4]] = [sum as u32 & ((1 << LOWER) - 1), (sum >> LOWER) as u32];
            }
            if k % 4 == 3 {
                block.hand_far(place, number, k as u32 / 4, halves);
            }
        });
        // The exponent shows that a sum is not below 2^51.
        excess |= outside >> 20;
        if excess != 0 {
            error = f64_upper(f64::INFINITY);
        }
        if block.has_read(number) {
            block.note(number, error);
            return false;
        }
        let mut arrived = block.may_write(place, number);
        // What the block's last column hands on.
        let last = block.team.warp().lane() | ((1 << log_width(place.factor)) - 1);
        let high = around(block, block.long_of_lane(end, last), 1);
        let behind = block.arguments.behind;
        let has_word = place.has_end(number) && place.lanes_behind() == behind / 2;
        let words = ReachingWords(self.0.afresh());
        sixteen!(k => {
            if k % 4 == 0 {
                let came;
                (halves, came) = block.take_far(place, number, k as u32 / 4);
                arrived &= came;
            }
            if (k as u32) < place.radix {
                let mut carry = (i64::from(halves[1][k % 4] as i32) << LOWER) + i64::from(halves[0][k % 4]);
                if k == 0 && place.lane == 0 && place.is_first(number) {
                    carry = around(block, carry, 0);
                }
                let mut point = Point { digits: digits[k], places: words.places(block, k) };
                let mut more = 0;
                if has_word && k as u32 + 1 == place.radix {
                    if behind % 2 == 1 {
                        carry += high;
                    } else if place.is_last {
                        point.digits[1] += high as i32;
                    } else {
                        let (digit, beyond) = point.places[1].split(i64::from(point.digits[1]) + high);
                        (point.digits[1], more) = (digit, beyond as i32);
                    }
                }
                let beyond = point.add(carry, place.is_last);
                excess |= beyond_short(beyond);
                let beyond = block.pass_on(place, &mut point, beyond as i32 + more, place.is_last, |_| {});
                point.add_short(block.short_from_lane_before(place, beyond), true);
                let [even, odd] = [0, 1].map(|side| signed(point.digits[side] - point.places[side].half as i32));
                v[k] = Complex::new(even, odd);
                if !ends {
                    words.weigh(block, &mut v[k], k);
                }
            }
        });
        if !arrived || excess != 0 {
            error = f64_upper(f64::INFINITY);
        }
        block.note(number, error);
        if !ends {
            block.twist(place, v, false);
        }
        true
    }
}

/// What a carry out of the last word adds to the first word (0), or to a word of the last point (1).
#[inline(always)]
fn around(block: Block<'_>, sum: i64, which: usize) -> i64 {
    integer(block.around(plus_round(sum) - ROUND)[which] + ROUND)
}

/// Not 0 where a number has more than 32 bits.
#[inline(always)]
fn beyond_short(x: i64) -> u32 {
    (x >> 32) as u32 ^ (x as i32 >> 31) as u32
}

/// An integer below 2^51 in size, and [`ROUND`].
#[inline(always)]
fn plus_round(x: i64) -> f64 {
    f64::from_bits(ROUND.to_bits().wrapping_add(x as u64))
}

/// The integer of which this is [`plus_round`].
#[inline(always)]
fn integer(x: f64) -> i64 {
    x.to_bits().wrapping_sub(ROUND.to_bits()) as i64
}

impl Block<'_> {
    /// The points that a carry reaches over.
    #[inline(always)]
    fn reach(self) -> u32 {
        LongTransform::REACH.or(self.arguments.reach).clamp(2, 4)
    }

    /// Adds to each column what is beyond the one before, as often as a carry that reaches over more than two points needs; `note`
    /// is told what is beyond each time. Returns what is beyond at last.
    #[inline(always)]
    fn pass_on(
        self,
        place: ThreadPlace,
        point: &mut Point,
        beyond: i32,
        takes: bool,
        mut note: impl FnMut(i32),
    ) -> i32 {
        let (mut beyond, mut i) = (beyond, 2);
        while i < self.reach() {
            beyond = point.add_short(self.short_from_lane_before(place, beyond), takes);
            note(beyond);
            i += 1;
        }
        beyond
    }

    /// The value of the column before; 0 for a block's first column.
    #[inline(always)]
    fn long_from_lane_before(self, place: ThreadPlace, x: i64) -> i64 {
        let x = self.long_of_lane(x, self.team.warp().lane().wrapping_sub(1));
        if place.lane == 0 { 0 } else { x }
    }

    #[inline(always)]
    fn short_from_lane_before(self, place: ThreadPlace, x: i32) -> i32 {
        let warp = self.team.warp();
        let x = warp.shuffle(x as u32, warp.lane().wrapping_sub(1)) as i32;
        if place.lane == 0 { 0 } else { x }
    }

    #[inline(always)]
    fn long_of_lane(self, x: i64, lane: u32) -> i64 {
        let warp = self.team.warp();
        let [low, high] = [x as u32, (x >> 32) as u32].map(|half| warp.shuffle(half, lane));
        (u64::from(high) << 32 | u64::from(low)) as i64
    }
}
