//! Lehmer's form of Euclid's algorithm, for the greatest common divisor, the least common multiple and the
//! modular inverse.
//!
//! A round takes the top three digits of `a` and `b` as doubles `x` and `y`, and makes steps of Euclid's
//! algorithm with these, each with the integer nearest to `x / y` as its quotient:
//!
//! ```text
//! (x, y) <- (y, x - t y),    t = round(x / y)
//! ```
//!
//! The steps together are a matrix of integers whose determinant is 1 or -1. So `(a, b)` times the matrix
//! has the same common divisors as `(a, b)`, whatever the quotients are: a wrong quotient costs progress and
//! nothing else. A quotient comes from an approximate reciprocal and two operations on doubles, which leave
//! it both as a double, for `x - t y`, and as an integer, for the matrix. The steps end when `y` is less
//! than `2^-29` of the first `x`. Then entries are at most `2^30`: with rows `(u, v)` of `x` and `(p, q)` of
//! `y`, the first `x` is `q x - v y` or its negative, and after a step `|x| <= |y| / 2` and `|q| <= |v|`, so
//! that `|v y|` is at most twice the first `|x|`. (A quotient `t` that is off by `2^-18 t` leaves a longer
//! `x`, but a `q` that is shorter by `t`.) Doubles are exact enough for the first 26 bits or so, and most
//! quotients after these are still right. A round of twelve steps takes 26 bits from both numbers on
//! average, by one pass over them; it would take 24 if it ended at `2^-26`.
//!
//! A quotient of 29 to 31 bits is a matrix by itself. If `b` is so much shorter than `a` that no entry can
//! hold the quotient, a round subtracts `t b B^k` from `a`, where `B` = 2^32. This is also a matrix, applied
//! to digits of `a` and digits of `b` that are `k` places lower. What is left of the quotient is at most
//! `B^k / 2` if an entry can hold the part that is taken, so two rounds take some 32 bits. Threads of a warp
//! would wait for those that make a different pass, so all of them make the same one, in which `k` is 0 for
//! most.
//!
//! Digits are signed, `-2^31 <= d < 2^31`, so products need no case for signs. By hand, with `B` = 10 and
//! digits from -5 to 4, `(34, 21)` is `3 4 | 2 1`. The steps `34 - 2 * 21 = -8` and `21 + 3 * (-8) = -3` are
//! the matrix `(1 -2; 3 -5)`, and `3 * 34 - 5 * 21 = -3`.
//!
//! `2^63` is added to a sum of products, so that it is not negative, and `2^31` to its carry to the next
//! digit. Then the digit is the lower half with its top bit inverted, and the upper half is added to the
//! next digit's sum.
//!
//! For devices on which doubles are slow, [`Words`] makes the same steps in integers of 64 bits. The longer
//! top is shifted to 62 bits, the shorter one by as much. Only the quotient is found in floats of 32 bits,
//! within `2^-21` of itself. The shift cuts off less than `2^-61` of the longer number, which entries of
//! `2^30` turn into `2^-31`: less than doubles lose.
//!
//! Cost: 4 multiply-adds for each pair of digits in each round, and a round for each 26 bits; the time
//! depends on the numbers. The digits of both numbers stand in a column of each thread, with the columns of
//! neighbours side by side, in shared memory or scratch. A pass takes sixteen pairs at a time as long as it
//! can, then eight and four. It computes with the first pairs while the others are on their way, as there
//! are too few warps to hide one another's waiting.

use super::column::{Column, digit_of, with_digit};
use crate::gpu::float::{self, ROUNDING};
use crate::gpu::memory::{Number, Stride, multiply_add};
use crate::gpu::warp;
use bigint_core::kernel::ZEROS_BELOW;
use bigint_core::{LIMB_BITS, Limb};

/// The steps of a round.
const STEPS: usize = 12;

/// The radix `B`.
const RADIX: f64 = 4_294_967_296.0;

/// The largest quotient that is a matrix by itself. Products stay below `2^31 * 2^31 + 2^31`.
const MOST: f64 = (i32::MAX - (1 << 12)) as f64;

/// Two numbers of `length` digits in a column, with at least three zeros above and three below.
#[derive(Clone, Copy)]
pub struct Pair<C> {
    column: C,
    length: u32,
}

/// The step of a round: `(a, b) <- (u a + v b, p a + q b)`, where one of the numbers may be taken some
/// digits higher.
#[derive(Clone, Copy)]
pub struct Step {
    rows: [[i32; 2]; 2],
    /// The digits by which the shorter number is taken higher. If it is not zero, the shorter number stays
    /// as it is.
    pub up: u32,
    /// Whether the second number is then the longer one.
    pub second: bool,
    /// The digits of the shorter number then.
    pub shorter: u32,
}

impl Step {
    /// The step of a matrix that is applied to the numbers as they stand.
    #[inline(always)]
    fn of(rows: [[i32; 2]; 2]) -> Self {
        Step {
            rows,
            up: 0,
            second: false,
            shorter: 0,
        }
    }

    /// Whether the step of one of the warp's threads takes a number higher.
    #[inline(always)]
    pub fn is_shifted_here(&self) -> bool {
        warp::any_here(self.up > 0)
    }

    /// The multiple of the shorter number that is added to the longer one.
    #[inline(always)]
    pub fn multiple(&self) -> i32 {
        let [[_, of_second], [of_first, _]] = self.rows;
        if self.second { of_first } else { of_second }
    }
}

impl<C: Column> Pair<C> {
    /// Puts `a` and `b` into a column of `pairs` pairs, which are at least four more than the wider number
    /// has limbs, with three more below.
    #[inline(always)]
    pub fn new(column: C, pairs: u32, a: Number<impl Stride>, b: Number<impl Stride>) -> Self {
        let digit = |limb: Limb, carry: &mut Limb| {
            let digit = limb.wrapping_add(*carry);
            *carry = Limb::from(digit < *carry) | digit >> 31;
            digit as i32
        };
        let (mut i, mut over_a, mut over_b) = (0, 0, 0);
        while i < pairs {
            // A sector of each number is loaded at a time, if limbs are neighbours.
            let (of_a, of_b): ([Limb; 8], [Limb; 8]) = (a.limbs(i), b.limbs(i));
            let mut pair = |k: usize| [digit(of_a[k], &mut over_a), digit(of_b[k], &mut over_b)];
            let (low, high) = (
                [pair(0), pair(1), pair(2), pair(3)],
                [pair(4), pair(5), pair(6), pair(7)],
            );
            column.set_four(i, low);
            if i + 4 < pairs {
                column.set_four(i + 4, high);
            }
            i += 8;
        }
        for by in 1..=ZEROS_BELOW as u32 {
            column.set_pair(by.wrapping_neg(), [0, 0]);
        }
        let length = a.width().max(b.width()) + 1;
        Pair { column, length }
    }

    /// The numbers 0 and 1, in a column of zeros.
    #[inline(always)]
    pub fn zero_and_one(column: C) -> Self {
        column.set_pair(0, [0, 1]);
        Pair { column, length: 1 }
    }

    /// The digits of the longer number, which [`step`](Self::step) determines.
    #[inline(always)]
    pub fn length(self) -> u32 {
        self.length
    }

    /// The same numbers, with a length of `length` digits. They have no more.
    #[inline(always)]
    pub fn of_length(self, length: u32) -> Self {
        Pair { length, ..self }
    }

    /// The digits of one of the numbers, which has at most `length`.
    #[inline(always)]
    pub fn digits(self, second: bool, mut length: u32) -> u32 {
        while length > 0 && digit_of(self.column.pair(length - 1), second) == 0 {
            length -= 1;
        }
        length
    }

    /// The pair `by` places below `length`. `by` is at most 4, and `length` is not 0.
    #[inline(always)]
    fn below(self, length: u32, by: u32) -> [i32; 2] {
        self.column.pair(length.wrapping_sub(by))
    }

    /// The step of the next round, or `None` if one of the numbers is zero.
    #[inline(always)]
    pub fn step<T: Tops>(&mut self) -> Option<Step> {
        // After a round the numbers are mostly as long as before, or a digit shorter.
        let four = [1, 2, 3, 4].map(|by| self.below(self.length, by));
        let is_shorter = four[0] == [0, 0];
        let mut top = [0, 1, 2].map(|k| {
            let [here, below] = [four[k], four[k + 1]];
            [0, 1].map(|i| if is_shorter { below[i] } else { here[i] })
        });
        self.length -= u32::from(is_shorter);
        while top[0] == [0, 0] {
            if self.length == 0 {
                return None;
            }
            self.length -= 1;
            top = [1, 2, 3].map(|by| self.below(self.length, by));
        }
        let tops = [0, 1].map(|i| [0, 1, 2].map(|k| top[k][i]));
        T::step(*self, tops)
    }

    /// The step of a round in which the top of one number is less than `2^-29` of the other's. `x` and `y`
    /// are the tops.
    #[inline(always)]
    fn far(self, [x, y]: [f64; 2]) -> Option<Step> {
        let swap = float::upper(x) < float::upper(y);
        let (large, small) = if swap { (y, x) } else { (x, y) };
        // An entry can hold the whole quotient, even if it is off by 2^-20 of itself.
        if float::upper(large) <= float::upper(small * MOST) {
            return Some(Step::of(single(ratio(large, small), swap)));
        }
        match self.digits(!swap, self.length) {
            0 => None,
            shorter => Some(self.quotient(swap, self.length, shorter)),
        }
    }

    /// The step of a round that subtracts a multiple of the shorter number, of `shorter` digits, from the
    /// other one, of `longer` digits, which is the second one if `second`.
    #[inline(always)]
    pub fn quotient(self, second: bool, longer: u32, shorter: u32) -> Step {
        let top = |length: u32, second: bool| {
            value([1, 2, 3].map(|by| digit_of(self.below(length, by), second)))
        };
        // The ratio is from about 2^-32 to 2^32, as a top digit of 1 may be followed by -2^31.
        let (mut ratio, mut up) = (
            ratio(top(longer, second), top(shorter, !second)),
            longer - shorter,
        );
        if up > 0 && float::upper(ratio) <= float::upper(0.5) {
            ratio *= RADIX;
            up -= 1;
        }
        Step {
            rows: single(ratio.clamp(-MOST, MOST), second),
            up,
            second,
            shorter,
        }
    }

    /// Applies a step that takes no number [higher](Step::is_shifted_here). The numbers become no longer
    /// than `length` digits.
    #[inline(always)]
    pub fn transform(self, step: Step, length: u32) {
        let mut sums = Sums::new(step.rows);
        let mut new = |pair: [i32; 2]| sums.pair(pair);
        let mut i = 0;
        while i + 12 < length {
            let fours = [0, 4, 8, 12].map(|above| self.column.four(i + above));
            self.column.set_four(i, fours[0].map(&mut new));
            self.column.set_four(i + 4, fours[1].map(&mut new));
            self.column.set_four(i + 8, fours[2].map(&mut new));
            self.column.set_four(i + 12, fours[3].map(&mut new));
            i += 16;
        }
        while i + 4 < length {
            let (low, high) = (self.column.four(i), self.column.four(i + 4));
            self.column.set_four(i, low.map(&mut new));
            self.column.set_four(i + 4, high.map(&mut new));
            i += 8;
        }
        if i < length {
            self.column.set_four(i, self.column.four(i).map(&mut new));
        }
    }

    /// Applies a step that may take one of the numbers higher. They become no longer than `length` digits.
    #[inline(always)]
    pub fn transform_shifted(self, step: Step, length: u32) {
        let Step {
            rows, up, second, ..
        } = step;
        let stays = [up > 0 && second, up > 0 && !second];
        let mut sums = Sums::new(rows);
        let mut new = |pair: [i32; 2], lower: [i32; 2]| {
            let from = |which: usize| if stays[which] { lower } else { pair }[which];
            let new = sums.pair([from(0), from(1)]);
            let to = |which: usize| if stays[which] { pair } else { new }[which];
            [to(0), to(1)]
        };
        let mut i = up;
        while i + 4 <= length {
            let ([a, b, c, d], [e, f, g, h]) = (self.column.four(i), self.column.four(i - up));
            self.column
                .set_four(i, [new(a, e), new(b, f), new(c, g), new(d, h)]);
            i += 4;
        }
        // The pass goes no further, as cofactors may end where the numbers do.
        while i < length {
            let pair = new(self.column.pair(i), self.column.pair(i - up));
            self.column.set_pair(i, pair);
            i += 1;
        }
    }

    /// Adds `multiple` times one number, `up` digits higher, to the other one, which is the second one if
    /// `second`. That one becomes no longer than `length` digits.
    #[inline(always)]
    pub fn add(self, second: bool, multiple: i32, up: u32, length: u32) {
        let mut sum = Sum::new();
        let mut new = |pair: [i32; 2], other: [i32; 2]| {
            let digits = [digit_of(other, !second), digit_of(pair, second)];
            with_digit(pair, second, sum.digit([multiple, 1], digits))
        };
        let mut i = up;
        while i < length {
            let ([a, b, c, d], [e, f, g, h]) = (self.column.four(i), self.column.four(i - up));
            self.column
                .set_four(i, [new(a, e), new(b, f), new(c, g), new(d, h)]);
            i += 4;
        }
    }

    /// The numbers after a step that has made them longer by up to `by` digits.
    #[inline(always)]
    pub fn grown(self, by: u32) -> Self {
        let mut length = self.length + by;
        while length > self.length && self.column.pair(length - 1) == [0, 0] {
            length -= 1;
        }
        Pair { length, ..self }
    }

    /// Whether the second number is the one that is left when the other one is zero, and its top digit.
    #[inline(always)]
    pub fn rest(self) -> (bool, i32) {
        let [x, y] = self.below(self.length, 1);
        if x == 0 { (true, y) } else { (false, x) }
    }

    /// Calls `store` with each of the lowest `limbs` limbs, in two's complement, of the first or second
    /// number times `sign`, which is 1 or -1. Returns what is above them.
    #[inline(always)]
    pub fn each_limb(
        self,
        second: bool,
        sign: i32,
        limbs: u32,
        mut store: impl FnMut(u32, Limb),
    ) -> i64 {
        let digit = |i: u32| {
            let [x, y] = if i < self.length {
                self.column.pair(i)
            } else {
                [0, 0]
            };
            i64::from(digit_of([x, y], second)) * i64::from(sign)
        };
        let (mut i, mut sum) = (0, 0_i64);
        while i < limbs {
            sum += digit(i);
            store(i, sum as Limb);
            (sum, i) = (sum >> LIMB_BITS, i + 1);
        }
        sum + digit(limbs)
    }

    /// The column itself, when the numbers are no longer needed.
    #[inline(always)]
    pub fn into_column(self) -> C {
        self.column
    }
}

/// The carry of a sum of products from digit to digit, plus `2^31`.
#[derive(Clone, Copy)]
pub struct Sum(u32);

impl Sum {
    const TOP: u32 = 1 << 31;

    /// The carry into the lowest digit, which is zero.
    #[inline(always)]
    pub fn new() -> Self {
        Sum(Self::TOP)
    }

    /// Whether the carry is zero.
    #[inline(always)]
    pub fn is_nothing(&self) -> bool {
        self.0 == Self::TOP
    }

    /// The next digit of `u x + v y`, whose sum of products is below `2^63 - 2^33` in size.
    #[inline(always)]
    pub fn digit(&mut self, [u, v]: [i32; 2], [x, y]: [i32; 2]) -> i32 {
        let below = u64::from(Self::TOP) << LIMB_BITS | u64::from(self.0);
        let sum = multiply_add(v, y, multiply_add(u, x, below));
        self.0 = (sum >> LIMB_BITS) as u32;
        (sum as u32 ^ Self::TOP) as i32
    }
}

/// The sums of both rows of a matrix, digit by digit.
struct Sums {
    rows: [[i32; 2]; 2],
    sums: [Sum; 2],
}

impl Sums {
    #[inline(always)]
    fn new(rows: [[i32; 2]; 2]) -> Self {
        let sums = [Sum::new(); 2];
        Sums { rows, sums }
    }

    /// The next digits of both rows. Sums are below `2 * 2^30 * 2^31 + 2^31`.
    #[inline(always)]
    fn pair(&mut self, pair: [i32; 2]) -> [i32; 2] {
        let ([first, second], [of_first, of_second]) = (&mut self.sums, self.rows);
        [first.digit(of_first, pair), second.digit(of_second, pair)]
    }
}

/// The way in which the steps of a round are computed from the top digits of both numbers.
pub trait Tops {
    /// The step of a round, computed from the top three digits of both numbers, highest first.
    fn step<C: Column>(pair: Pair<C>, tops: [[i32; 3]; 2]) -> Option<Step>;
}

/// Steps in doubles.
pub struct Doubles;

impl Tops for Doubles {
    #[inline(always)]
    fn step<C: Column>(pair: Pair<C>, tops: [[i32; 3]; 2]) -> Option<Step> {
        let [x, y] = tops.map(value);
        let swap = float::upper(x) < float::upper(y);
        let (large, small) = if swap { (y, x) } else { (x, y) };
        // The bound is 2^-29 of the larger top, but at least a half of the unit, so that zero is below it.
        // The unit is B or B^2 if zeros below the numbers are among their top digits.
        let zeros = 3_u32.saturating_sub(pair.length);
        let half = float::upper(0.5) + (zeros << 25);
        let least = (float::upper(large) - (29 << 20)).max(half);
        if float::upper(small) >= least {
            return Some(Step::of(matrix(large, small, least, swap)));
        }
        pair.far([x, y])
    }
}

/// Steps in integers.
pub struct Words;

impl Words {
    /// The bits to which the longer top is shifted.
    const BITS: u32 = 62;

    /// A step of Euclid's algorithm, as [`float::euclid`] makes it. `of_y` is `y` as a float.
    #[inline(always)]
    fn euclid(
        x: &mut (i64, f32),
        [u, v]: &mut [i32; 2],
        (y, of_y): (i64, f32),
        [p, q]: [i32; 2],
        least: u64,
    ) {
        if y.unsigned_abs() >= least {
            let t = float::nearest_integer(-x.1 * float::short_reciprocal(of_y));
            x.0 = x.0.wrapping_add(y.wrapping_mul(i64::from(t)));
            *u = u.wrapping_add(t.wrapping_mul(p));
            *v = v.wrapping_add(t.wrapping_mul(q));
            x.1 = float::short(x.0);
        }
    }
}

impl Tops for Words {
    #[inline(always)]
    fn step<C: Column>(pair: Pair<C>, tops: [[i32; 3]; 2]) -> Option<Step> {
        let [x, y] = tops.map(
            #[inline(always)]
            |[high, middle, low]| {
                (i128::from(high) << 64) + (i128::from(middle) << 32) + i128::from(low)
            },
        );
        let swap = x.unsigned_abs() < y.unsigned_abs();
        let (large, small) = if swap { (y, x) } else { (x, y) };
        // A top digit is not zero, so the longer number is at least 2^63.
        let bits = u128::BITS - large.unsigned_abs().leading_zeros();
        let shift = bits.saturating_sub(Self::BITS);
        let [x, y] = [(large >> shift) as i64, (small >> shift) as i64];
        let least = x.unsigned_abs() >> 29;
        if y.unsigned_abs() < least {
            return pair.far(tops.map(value));
        }
        let unit = if swap { [0, 1] } else { [1, 0] };
        let (mut of_x, mut of_y) = (unit, [unit[1], unit[0]]);
        let (mut x, mut y) = ((x, float::short(x)), (y, float::short(y)));
        for _ in 0..STEPS / 2 {
            Self::euclid(&mut x, &mut of_x, y, of_y, least);
            Self::euclid(&mut y, &mut of_y, x, of_x, least);
        }
        Some(Step::of([of_x, of_y]))
    }
}

/// The number of three digits, highest first.
#[inline(always)]
fn value(digits: [i32; 3]) -> f64 {
    let [high, middle, low] = digits.map(f64::from);
    let upper = float::multiply_add(high, RADIX, middle);
    float::multiply_add(upper, RADIX, low)
}

/// The matrix of `STEPS` steps with `|x| >= |y|`. `x` is the first number, or the second one if `swap`. A
/// step does nothing if it would divide by a number less than `least`.
#[inline(always)]
fn matrix(x: f64, y: f64, least: u32, swap: bool) -> [[i32; 2]; 2] {
    let unit = if swap { [0, 1] } else { [1, 0] };
    let (mut of_x, mut of_y) = (unit, [unit[1], unit[0]]);
    let (mut x, mut y) = (x, y);
    for _ in 0..STEPS / 2 {
        (x, of_x) = float::euclid(x, of_x, y, of_y, least);
        (y, of_y) = float::euclid(y, of_y, x, of_x, least);
    }
    [of_x, of_y]
}

/// The matrix of one step, which subtracts `ratio`, rounded, times the shorter number from the other one,
/// which is the second one if `second`.
#[inline(always)]
fn single(ratio: f64, second: bool) -> [[i32; 2]; 2] {
    let t = (ROUNDING - ratio).to_bits() as i32;
    if second {
        [[1, 0], [t, 1]]
    } else {
        [[1, t], [0, 1]]
    }
}

/// `x / y`, within a relative error of `2^-37`.
#[inline(always)]
fn ratio(x: f64, y: f64) -> f64 {
    // The reciprocal is improved by a step of Newton's method.
    let reciprocal = float::reciprocal(y);
    let off = float::multiply_add(-y, reciprocal, 1.0);
    x * float::multiply_add(reciprocal, off, reciprocal)
}
