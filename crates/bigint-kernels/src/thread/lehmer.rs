//! Euclid's algorithm by Lehmer's steps: what the greatest common divisor, the least common
//! multiple and the modular inverse share.
//!
//! A round looks at the top three digits of `a` and `b` as doubles `x` and `y`, and makes
//! steps of Euclid's algorithm with these, each with the quotient next to `x / y`:
//!
//! ```text
//! (x, y) <- (y, x - t y),    t = round(x / y)
//! ```
//!
//! The steps together are a matrix of integers whose determinant is 1 or -1, so that
//! `(a, b)` times the matrix has the divisors that `(a, b)` has, whatever the quotients
//! are: one that is off costs progress and nothing else. A quotient comes from an
//! approximate reciprocal and five operations on doubles. The steps end where `y` is less
//! than `2^-26` of what the first `x` was, so that entries stay below `2^29`; twelve of them
//! mostly get there, and then a round takes 26 bits from both numbers by one pass over them.
//!
//! Where `b` is so much shorter than `a` that no entry holds the quotient, a round takes
//! `t b B^k` from `a`, `B` = 2^32 and `t` of 31 bits, and so no fewer bits.
//!
//! Digits are signed, `-2^31 <= d < 2^31`: products need no case for signs. As `(34, 21)`
//! in tens with digits from -5 to 4 is `3 4 | 2 1`, the steps `34 - 2 * 21 = -8`,
//! `21 + 3 * (-8) = -3` are the matrix `(1 -2; 3 -5)`, and `3 * 34 - 5 * 21 = -3`.
//!
//! Cost: 4 multiply-adds a digit and round, `n / 26` rounds of 32-bit digits; time depends
//! on the numbers. The digits of both stand in columns: a thread's own, neighbours side by
//! side, in shared memory or scratch.

use crate::gpu::float;
use crate::gpu::memory::{Any, Number, Stride};
use crate::gpu::shared;
use bigint_core::{LIMB_BITS, Limb};

/// Steps of a round.
const STEPS: usize = 12;

/// `B`.
const RADIX: f64 = 4_294_967_296.0;

/// Added to a double and taken off again, it rounds to an integer, which then stands in
/// the lower 32 bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// Where a thread keeps pairs of digits.
pub trait Column: Copy {
    /// Pair `i`.
    fn pair(self, i: u32) -> [i32; 2];

    /// Sets pair `i`.
    fn set_pair(self, i: u32, pair: [i32; 2]);
}

impl Column for Number<Any> {
    #[inline(always)]
    fn pair(self, i: u32) -> [i32; 2] {
        [self.limb(2 * i) as i32, self.limb(2 * i + 1) as i32]
    }

    #[inline(always)]
    fn set_pair(self, i: u32, [x, y]: [i32; 2]) {
        self.set(2 * i, x as Limb);
        self.set(2 * i + 1, y as Limb);
    }
}

impl Column for shared::Column {
    #[inline(always)]
    fn pair(self, i: u32) -> [i32; 2] {
        self.two(i).map(|limb| limb as i32)
    }

    #[inline(always)]
    fn set_pair(self, i: u32, pair: [i32; 2]) {
        self.set_two(i, pair.map(|digit| digit as Limb));
    }
}

/// Two numbers of so many digits.
#[derive(Clone, Copy)]
pub struct Pair<C> {
    column: C,
    length: u32,
}

/// What a round does.
#[derive(Clone, Copy)]
pub enum Step {
    /// `(a, b) <- (u a + v b, p a + q b)`.
    Matrix([[i32; 2]; 2]),
    /// `t` times a number, so many digits higher, is added to the other one: to the second
    /// where the flag says so.
    Multiple(bool, i32, u32),
}

impl<C: Column> Pair<C> {
    /// `a` and `b`, in a column with room for a digit more than the wider has limbs.
    #[inline(always)]
    pub fn new(column: C, a: Number<impl Stride>, b: Number<impl Stride>) -> Self {
        let length = a.width().max(b.width()) + 1;
        let digit = |limb: Limb, carry: Limb| {
            let digit = limb.wrapping_add(carry);
            (digit as i32, Limb::from(digit < carry) | digit >> 31)
        };
        let (mut i, mut carries) = (0, [0, 0]);
        while i < length {
            let (x, over_x) = digit(a.limb(i), carries[0]);
            let (y, over_y) = digit(b.limb(i), carries[1]);
            column.set_pair(i, [x, y]);
            (carries, i) = ([over_x, over_y], i + 1);
        }
        let mut pair = Pair { column, length };
        pair.trim();
        pair
    }

    /// 0 and 1.
    #[inline(always)]
    pub fn zero_and_one(column: C) -> Self {
        column.set_pair(0, [0, 1]);
        Pair { column, length: 1 }
    }

    /// Digits of the longer number.
    #[inline(always)]
    pub fn length(self) -> u32 {
        self.length
    }

    #[inline(always)]
    fn at(self, i: u32) -> [i32; 2] {
        if i < self.length {
            self.column.pair(i)
        } else {
            [0, 0]
        }
    }

    #[inline(always)]
    fn trim(&mut self) {
        while self.length > 0 && self.column.pair(self.length - 1) == [0, 0] {
            self.length -= 1;
        }
    }

    /// Three digits of both numbers, the highest of them digit `top - 1`, as integers;
    /// those below digit 0 are zeros.
    #[inline(always)]
    fn window(self, top: u32) -> [f64; 2] {
        let digits = [1, 2, 3].map(|below| self.at(top.wrapping_sub(below)).map(f64::from));
        let [high, middle, low] = digits;
        let value = |i: usize| {
            let upper = float::multiply_add(high[i], RADIX, middle[i]);
            float::multiply_add(upper, RADIX, low[i])
        };
        [value(0), value(1)]
    }

    /// What the next round does; nothing where one of the numbers is zero.
    #[inline(always)]
    pub fn step(self) -> Option<Step> {
        // Numbers of fewer digits are taken as they are, so that 1 is 1.
        let scale = match self.length {
            0 => return None,
            1 => 1.0 / (RADIX * RADIX),
            2 => 1.0 / RADIX,
            _ => 1.0,
        };
        let window = self.window(self.length);
        let [x, y] = window.map(|value| value * scale);
        let swap = float::upper(x) < float::upper(y);
        let (large, small) = if swap { (y, x) } else { (x, y) };
        // 2^-26 of the larger, and at least a half, so that zero is below it.
        let least = float::upper(large)
            .saturating_sub(26 << 20)
            .max(float::upper(0.5));
        if float::upper(small) >= least {
            return Some(Step::Matrix(matrix(large, small, least, swap)));
        }
        self.multiple(window[usize::from(swap)], swap)
    }

    /// A multiple of the shorter number that brings the other one down, whose top three
    /// digits are `large`: the second where `second` says so.
    #[inline(always)]
    fn multiple(self, large: f64, second: bool) -> Option<Step> {
        let shorter = usize::from(!second);
        let mut length = self.length;
        while length > 0 && self.at(length - 1)[shorter] == 0 {
            length -= 1;
        }
        if length == 0 {
            return None;
        }
        let mut up = self.length - length;
        let mut ratio = large / self.window(length)[shorter];
        let most = 2_147_483_647.0;
        let size = |ratio: f64| if ratio < 0.0 { -ratio } else { ratio };
        if size(ratio) > most {
            ratio *= 1.0 / RADIX;
            up += 1;
        }
        if size(ratio) < 1.0 && up > 0 {
            ratio *= RADIX;
            up -= 1;
        }
        let ratio = if ratio > most { most } else { ratio };
        let ratio = if ratio < -most { -most } else { ratio };
        Some(Step::Multiple(second, -integer(ratio), up))
    }

    /// Does a round's work; what is carried out of the top digits is nothing where values
    /// become no larger.
    #[inline(always)]
    pub fn apply(&mut self, step: Step) -> [i32; 2] {
        let mut carries = [0, 0];
        match step {
            Step::Matrix(rows) => {
                let mut i = 0;
                while i < self.length {
                    let [x, y] = self.column.pair(i);
                    let (x, y) = (i64::from(x), i64::from(y));
                    // Below 2 * 2^29 * 2^31 + 2^31.
                    let sum = |row: usize| {
                        i64::from(rows[row][0]) * x
                            + (i64::from(rows[row][1]) * y + i64::from(carries[row]))
                    };
                    let (first, second) = (sum(0), sum(1));
                    carries = [carry(first), carry(second)];
                    self.column.set_pair(i, [first as i32, second as i32]);
                    i += 1;
                }
            }
            Step::Multiple(second, by, up) => {
                let (to, of) = (usize::from(second), usize::from(!second));
                let mut i = up;
                while i < self.length {
                    let mut pair = self.column.pair(i);
                    let other = self.column.pair(i - up)[of];
                    let sum = i64::from(by) * i64::from(other)
                        + (i64::from(pair[to]) + i64::from(carries[0]));
                    carries[0] = carry(sum);
                    pair[to] = sum as i32;
                    self.column.set_pair(i, pair);
                    i += 1;
                }
                if second {
                    carries = [0, carries[0]];
                }
            }
        }
        carries
    }

    /// A round on the numbers whose divisor is looked for.
    #[inline(always)]
    pub fn reduce(&mut self, step: Step) {
        self.apply(step);
        self.trim();
    }

    /// The same round on cofactors, which become longer.
    #[inline(always)]
    pub fn grow(&mut self, step: Step) {
        if let Step::Multiple(_, _, up) = step {
            let length = self.length + up;
            while self.length < length {
                self.column.set_pair(self.length, [0, 0]);
                self.length += 1;
            }
        }
        let carries = self.apply(step);
        if carries != [0, 0] {
            self.column.set_pair(self.length, carries);
            self.length += 1;
        }
        self.trim();
    }

    /// Which of the numbers is left where the other one is zero, and its top digit.
    #[inline(always)]
    pub fn rest(self) -> (bool, i32) {
        let [x, y] = self.at(self.length.wrapping_sub(1));
        if x == 0 { (true, y) } else { (false, x) }
    }

    /// Limb by limb, the first or second number times `sign`, 1 or -1, in two's complement:
    /// `limbs` of them for `store`; answers what is above.
    #[inline(always)]
    pub fn each_limb(
        self,
        second: bool,
        sign: i32,
        limbs: u32,
        mut store: impl FnMut(u32, Limb),
    ) -> i64 {
        let (mut i, mut sum) = (0, 0_i64);
        while i < limbs {
            sum += i64::from(self.at(i)[usize::from(second)]) * i64::from(sign);
            store(i, sum as Limb);
            (sum, i) = (sum >> LIMB_BITS, i + 1);
        }
        sum + i64::from(self.at(limbs)[usize::from(second)]) * i64::from(sign)
    }

    /// The column itself, for who needs the numbers no more.
    #[inline(always)]
    pub fn into_column(self) -> C {
        self.column
    }
}

/// What a sum sends to the next digit.
#[inline(always)]
fn carry(sum: i64) -> i32 {
    ((sum >> LIMB_BITS) as i32).wrapping_add((sum as Limb >> 31) as i32)
}

/// The integer next to a double of at most 31 bits.
#[inline(always)]
fn integer(x: f64) -> i32 {
    (x + ROUNDING).to_bits() as i32
}

/// The matrix of [`STEPS`] steps with `|x| >= |y|`, of the numbers as they stand, or the
/// other way round where `swap` says so. A step by what is less than `least` does nothing.
#[inline(always)]
fn matrix(x: f64, y: f64, least: u32, swap: bool) -> [[i32; 2]; 2] {
    let unit = if swap { [0.0, 1.0] } else { [1.0, 0.0] };
    let (mut of_x, mut of_y) = (unit, [unit[1], unit[0]]);
    let (mut x, mut y) = (x, y);
    for _ in 0..STEPS / 2 {
        (x, of_x) = euclid(x, of_x, y, of_y, least);
        (y, of_y) = euclid(y, of_y, x, of_x, least);
    }
    [of_x.map(integer), of_y.map(integer)]
}

/// `x - t y` and its row, `t` the integer next to `x / y`, about.
#[inline(always)]
fn euclid(x: f64, of_x: [f64; 2], y: f64, of_y: [f64; 2], least: u32) -> (f64, [f64; 2]) {
    let reciprocal = float::reciprocal(y).to_bits() & 0xffff_ffff_0000_0000;
    let is_enough = float::upper(y) >= least;
    let reciprocal = f64::from_bits(if is_enough { reciprocal } else { 0 });
    let t = float::multiply_add(x, reciprocal, ROUNDING) - ROUNDING;
    let less = |x: f64, y: f64| float::multiply_add(-t, y, x);
    (less(x, y), [less(of_x[0], of_y[0]), less(of_x[1], of_y[1])])
}
