//! The 16-bit formats `.f16` and `.bf16`, one in the low half of a word or two to a word.
//!
//! A product of two such numbers is exact in double precision. A sum is not, but what
//! it loses is folded into its last bit (rounding to odd: Boldo and Melquiond 2008), so
//! that rounding it once more, to 11 or 8 bits, rounds the exact value. One that is not
//! a number is always `0x7fff`.

use super::lanes;
use super::rounding::Rounding;
use super::words::{bits, d, s};
use crate::ir::{L1, Narrow1, W1, W2, W3};

/// A format, and whether two of it lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half {
    /// `.bf16`: a single without its lower half.
    pub brain: bool,
    /// `.f16x2` or `.bf16x2`.
    pub packed: bool,
}

impl Half {
    /// The type with this name, without its dot.
    pub fn named(name: &str) -> Option<Half> {
        let (brain, packed) = match name {
            "f16" => (false, false),
            "f16x2" => (false, true),
            "bf16" => (true, false),
            "bf16x2" => (true, true),
            _ => return None,
        };
        Some(Half { brain, packed })
    }

    /// The bits of 1.0, twice if packed.
    pub fn one(self) -> u32 {
        let one = if self.brain { 0x3f80 } else { 0x3c00 };
        if self.packed { one << 16 | one } else { one }
    }
}

const NAN: u32 = 0x7fff;
const SIGN: u32 = 0x8000;

const fn infinity(brain: bool) -> u32 {
    if brain { 0x7f80 } else { 0x7c00 }
}

fn is_nan<const BRAIN: bool>(a: u32) -> bool {
    a & !SIGN > infinity(BRAIN)
}

/// What the bits stand for.
#[inline(always)]
fn value<const BRAIN: bool>(a: u32) -> f64 {
    if BRAIN {
        return f64::from(s(a << 16));
    }
    let (exponent, fraction) = (u64::from(a >> 10 & 0x1f), u64::from(a & 0x3ff));
    let magnitude = match exponent {
        0 => fraction as f64 / 2f64.powi(24),
        0x1f if fraction == 0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => f64::from_bits((exponent + 1008) << 52 | fraction << 42),
    };
    if a & SIGN != 0 { -magnitude } else { magnitude }
}

/// The bits of a value, rounded.
#[inline(always)]
fn narrow<const BRAIN: bool>(x: f64, mode: Rounding) -> u32 {
    let (fraction, least) = if BRAIN { (7, -126) } else { (10, -14) };
    if x.is_nan() {
        return NAN;
    }
    let sign = if x.is_sign_negative() { SIGN } else { 0 };
    if x.is_infinite() {
        return sign | infinity(BRAIN);
    }
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    let ulp = exponent - fraction;
    // 2^-ulp has a normal exponent itself, but for values far above the largest.
    let in_ulps = x.abs() * f64::from_bits(((1023 - ulp.min(1000)) as u64) << 52);
    let away = match mode {
        Rounding::Up => sign == 0,
        Rounding::Down => sign != 0,
        Rounding::Nearest | Rounding::Zero => false,
    };
    let whole = match mode {
        Rounding::Nearest => in_ulps.round_ties_even(),
        _ if away => in_ulps.ceil(),
        _ => in_ulps.trunc(),
    };
    // The leading one of a normal number counts the exponent up from subnormal.
    let magnitude = (((exponent - least) as u32) << fraction) + whole as u32;
    let truncates = mode != Rounding::Nearest && !away;
    sign | magnitude.min(infinity(BRAIN) - u32::from(truncates))
}

/// `x + y` with what is lost in the last bit. Neither overflows nor underflows for
/// numbers and products of numbers of 16 bits.
#[inline(always)]
fn odd_sum(x: f64, y: f64) -> f64 {
    let sum = x + y;
    if !sum.is_finite() {
        return sum;
    }
    // What is lost, exactly (Knuth's TwoSum).
    let part = sum - x;
    let lost = (x - (sum - part)) + (y - part);
    let bits = sum.to_bits();
    if lost == 0.0 || bits & 1 != 0 {
        sum
    } else if (lost > 0.0) == (sum > 0.0) {
        d(bits + 1)
    } else {
        d(bits - 1)
    }
}

fn sum<const B: bool>(a: u32, b: u32) -> u32 {
    narrow::<B>(odd_sum(value::<B>(a), value::<B>(b)), Rounding::Nearest)
}

fn difference<const B: bool>(a: u32, b: u32) -> u32 {
    narrow::<B>(odd_sum(value::<B>(a), -value::<B>(b)), Rounding::Nearest)
}

fn product<const B: bool>(a: u32, b: u32) -> u32 {
    narrow::<B>(value::<B>(a) * value::<B>(b), Rounding::Nearest)
}

fn fused<const B: bool>(a: u32, b: u32, c: u32) -> u32 {
    let exact = value::<B>(a) * value::<B>(b);
    narrow::<B>(odd_sum(exact, value::<B>(c)), Rounding::Nearest)
}

/// The lesser, where -0 is less than +0; of one number and one that is none, the number.
fn least<const B: bool>(a: u32, b: u32) -> u32 {
    match (is_nan::<B>(a), is_nan::<B>(b)) {
        (true, true) => NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let (x, y) = (value::<B>(a), value::<B>(b));
            if x < y || x == y && a & SIGN != 0 {
                a
            } else {
                b
            }
        }
    }
}

fn greatest<const B: bool>(a: u32, b: u32) -> u32 {
    // The negative of the least of the negatives.
    match least::<B>(a ^ SIGN, b ^ SIGN) {
        NAN => NAN,
        negative => negative ^ SIGN,
    }
}

fn least_or_nan<const B: bool>(a: u32, b: u32) -> u32 {
    if is_nan::<B>(a) || is_nan::<B>(b) {
        NAN
    } else {
        least::<B>(a, b)
    }
}

fn greatest_or_nan<const B: bool>(a: u32, b: u32) -> u32 {
    if is_nan::<B>(a) || is_nan::<B>(b) {
        NAN
    } else {
        greatest::<B>(a, b)
    }
}

fn negative<const B: bool>(a: u32) -> u32 {
    a ^ SIGN
}

fn magnitude<const B: bool>(a: u32) -> u32 {
    a & !SIGN
}

/// Subnormal numbers become zeros of the same sign.
fn flushed<const B: bool>(a: u32) -> u32 {
    let least_normal = if B { 0x80 } else { 0x400 };
    if a & !SIGN < least_normal {
        a & SIGN
    } else {
        a
    }
}

/// Clamps to 0..=1; what is not a number becomes 0.
fn saturated<const B: bool>(a: u32) -> u32 {
    let x = value::<B>(a);
    if x > 1.0 {
        narrow::<B>(1.0, Rounding::Nearest)
    } else if x > 0.0 {
        a
    } else {
        0
    }
}

/// A number with 0 in place of what is negative.
fn rectified<const B: bool>(a: u32) -> u32 {
    if is_nan::<B>(a) {
        NAN
    } else if a & SIGN != 0 {
        0
    } else {
        a
    }
}

/// `halves!(half, f(a, b))`: `f` of the low halves, or of both.
macro_rules! halves {
    ($half:expr, $f:ident($($x:ident),+)) => {
        match ($half.brain, $half.packed) {
            (false, false) => lanes!(|$($x),+| $f::<false>($($x & 0xffff),+)),
            (true, false) => lanes!(|$($x),+| $f::<true>($($x & 0xffff),+)),
            (false, true) => lanes!(|$($x),+| {
                $f::<false>($($x & 0xffff),+) | $f::<false>($($x >> 16),+) << 16
            }),
            (true, true) => lanes!(|$($x),+| {
                $f::<true>($($x & 0xffff),+) | $f::<true>($($x >> 16),+) << 16
            }),
        }
    };
}

/// `neg`, `abs`, and what `.ftz`, `.sat` and `.relu` ask for.
pub(crate) fn unary(name: &str, half: Half) -> Option<W1> {
    Some(match name {
        "neg" => halves!(half, negative(a)),
        "abs" => halves!(half, magnitude(a)),
        "ftz" => halves!(half, flushed(a)),
        "sat" => halves!(half, saturated(a)),
        "relu" => halves!(half, rectified(a)),
        _ => return None,
    })
}

pub(crate) fn binary(name: &str, half: Half) -> Option<W2> {
    Some(match name {
        "add" => halves!(half, sum(a, b)),
        "sub" => halves!(half, difference(a, b)),
        "mul" => halves!(half, product(a, b)),
        "min" => halves!(half, least(a, b)),
        "max" => halves!(half, greatest(a, b)),
        "min.NaN" => halves!(half, least_or_nan(a, b)),
        "max.NaN" => halves!(half, greatest_or_nan(a, b)),
        _ => return None,
    })
}

pub(crate) fn fma(half: Half) -> W3 {
    halves!(half, fused(a, b, c))
}

/// To a single, exactly.
pub(crate) fn widen(brain: bool) -> W1 {
    if brain {
        lanes!(|a| bits(s(a << 16)))
    } else {
        lanes!(|a| bits(value::<false>(a & 0xffff) as f32))
    }
}

/// The conversion from a double.
pub(crate) fn narrowing(brain: bool, mode: Rounding) -> Narrow1 {
    macro_rules! f {
        ($mode:expr) => {
            if brain {
                lanes!(|a| narrow::<true>(d(a), $mode))
            } else {
                lanes!(|a| narrow::<false>(d(a), $mode))
            }
        };
    }
    match mode {
        Rounding::Nearest => f!(Rounding::Nearest),
        Rounding::Zero => f!(Rounding::Zero),
        Rounding::Down => f!(Rounding::Down),
        Rounding::Up => f!(Rounding::Up),
    }
}

/// A 64-bit integer to a double with what is lost in the last bit.
pub(crate) fn integer_to_odd(signed: bool) -> L1 {
    fn odd(a: u64) -> f64 {
        // Eleven bits more than a double has.
        let lost = a & 0x7ff != 0 && a >> 53 != 0;
        let kept = if a >> 53 == 0 { a } else { a & !0x7ff };
        (kept | u64::from(lost) << 11) as f64
    }
    if signed {
        lanes!(|a| {
            let x = odd((a as i64).unsigned_abs());
            (if (a as i64) < 0 { -x } else { x }).to_bits()
        })
    } else {
        lanes!(|a| odd(a).to_bits())
    }
}
