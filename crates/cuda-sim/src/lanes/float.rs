//! Floating-point arithmetic, single in words and double in longs, and the
//! conversions between numbers.
//!
//! Nearest rounding is the processor's own. Single-precision results that are
//! not a number are the canonical one, `0x7fffffff`, as PTX defines; double
//! precision keeps what the processor gives.

use super::rounding::{self, Rounding, adjust};
use super::words::{bits, d, s};
use super::{fused, lanes, test};
use crate::ir::{L1, L2, L3, LongTest2, Longs, Narrow1, Test2, W1, W2, W3, Widen1, Words};
use crate::syntax::types::{Kind, Type};

pub(crate) fn unary(name: &str) -> Option<W1> {
    Some(match name {
        "neg" => lanes!(|a| a ^ 1 << 31),
        "abs" => lanes!(|a| a & !(1 << 31)),
        _ => return None,
    })
}

pub(crate) fn long_unary(name: &str) -> Option<L1> {
    Some(match name {
        "neg" => lanes!(|a| a ^ 1 << 63),
        "abs" => lanes!(|a| a & !(1 << 63)),
        _ => return None,
    })
}

/// Subnormal singles become zeros of the same sign.
pub(crate) const FLUSH: W1 = lanes!(|a| if s(a).is_subnormal() { a & 1 << 31 } else { a });

/// Clamps to 0..=1; what is not a number becomes 0.
pub(crate) const SATURATE: W1 = lanes!(|a| {
    let x = s(a);
    if x > 1.0 {
        1f32.to_bits()
    } else if x > 0.0 {
        a
    } else {
        0
    }
});
pub(crate) const LONG_SATURATE: L1 = lanes!(|a| {
    let x = d(a);
    if x > 1.0 {
        1f64.to_bits()
    } else if x > 0.0 {
        a
    } else {
        0
    }
});

/// One function per rounding mode: `$f!(mode)` is the function of that mode.
macro_rules! by_mode {
    ($mode:expr, $f:ident) => {
        match $mode {
            Rounding::Nearest => $f!(Rounding::Nearest),
            Rounding::Zero => $f!(Rounding::Zero),
            Rounding::Down => $f!(Rounding::Down),
            Rounding::Up => $f!(Rounding::Up),
        }
    };
}

pub(crate) fn root(mode: Rounding) -> W1 {
    macro_rules! f {
        ($m:expr) => {
            lanes!(|a| bits(rounding::root(s(a), s(a).sqrt(), $m)))
        };
    }
    by_mode!(mode, f)
}

pub(crate) fn long_root(mode: Rounding) -> L1 {
    macro_rules! f {
        ($m:expr) => {
            lanes!(|a| rounding::root(d(a), d(a).sqrt(), $m).to_bits())
        };
    }
    by_mode!(mode, f)
}

pub(crate) fn reciprocal(mode: Rounding) -> W1 {
    macro_rules! f {
        ($m:expr) => {
            lanes!(|a| bits(rounding::quotient(1.0, s(a), 1.0 / s(a), $m)))
        };
    }
    by_mode!(mode, f)
}

pub(crate) fn long_reciprocal(mode: Rounding) -> L1 {
    macro_rules! f {
        ($m:expr) => {
            lanes!(|a| rounding::quotient(1.0, d(a), 1.0 / d(a), $m).to_bits())
        };
    }
    by_mode!(mode, f)
}

pub(crate) fn binary(name: &str, mode: Rounding) -> Option<W2> {
    macro_rules! add {
        ($m:expr) => {
            lanes!(|a, b| bits(rounding::fused(1.0, s(a), s(b), s(a) + s(b), $m)))
        };
    }
    macro_rules! sub {
        ($m:expr) => {
            lanes!(|a, b| bits(rounding::fused(1.0, s(a), -s(b), s(a) - s(b), $m)))
        };
    }
    macro_rules! mul {
        ($m:expr) => {
            lanes!(|a, b| bits(rounding::product(s(a), s(b), s(a) * s(b), $m)))
        };
    }
    macro_rules! div {
        ($m:expr) => {
            lanes!(|a, b| bits(rounding::quotient(s(a), s(b), s(a) / s(b), $m)))
        };
    }
    Some(match (name, mode) {
        // The common mode stands apart, free of the exact arithmetic.
        ("add", Rounding::Nearest) => lanes!(|a, b| bits(s(a) + s(b))),
        ("sub", Rounding::Nearest) => lanes!(|a, b| bits(s(a) - s(b))),
        ("mul", Rounding::Nearest) => lanes!(|a, b| bits(s(a) * s(b))),
        ("div", Rounding::Nearest) => lanes!(|a, b| bits(s(a) / s(b))),
        ("add", _) => by_mode!(mode, add),
        ("sub", _) => by_mode!(mode, sub),
        ("mul", _) => by_mode!(mode, mul),
        ("div", _) => by_mode!(mode, div),
        ("min", _) => lanes!(|a, b| least(a, b, false)),
        ("max", _) => lanes!(|a, b| greatest(a, b, false)),
        ("min.NaN", _) => lanes!(|a, b| least(a, b, true)),
        ("max.NaN", _) => lanes!(|a, b| greatest(a, b, true)),
        ("copysign", _) => lanes!(|a, b| b & !(1 << 31) | a & 1 << 31),
        _ => return None,
    })
}

pub(crate) fn long_binary(name: &str, mode: Rounding) -> Option<L2> {
    macro_rules! add {
        ($m:expr) => {
            lanes!(|a, b| rounding::fused(1.0, d(a), d(b), d(a) + d(b), $m).to_bits())
        };
    }
    macro_rules! sub {
        ($m:expr) => {
            lanes!(|a, b| rounding::fused(1.0, d(a), -d(b), d(a) - d(b), $m).to_bits())
        };
    }
    macro_rules! mul {
        ($m:expr) => {
            lanes!(|a, b| rounding::product(d(a), d(b), d(a) * d(b), $m).to_bits())
        };
    }
    macro_rules! div {
        ($m:expr) => {
            lanes!(|a, b| rounding::quotient(d(a), d(b), d(a) / d(b), $m).to_bits())
        };
    }
    Some(match (name, mode) {
        ("add", Rounding::Nearest) => lanes!(|a, b| (d(a) + d(b)).to_bits()),
        ("sub", Rounding::Nearest) => lanes!(|a, b| (d(a) - d(b)).to_bits()),
        ("mul", Rounding::Nearest) => lanes!(|a, b| (d(a) * d(b)).to_bits()),
        ("div", Rounding::Nearest) => lanes!(|a, b| (d(a) / d(b)).to_bits()),
        ("add", _) => by_mode!(mode, add),
        ("sub", _) => by_mode!(mode, sub),
        ("mul", _) => by_mode!(mode, mul),
        ("div", _) => by_mode!(mode, div),
        ("min", _) => lanes!(|a, b| long_least(a, b)),
        // The greatest is the negative of the least of the negatives.
        ("max", _) => lanes!(|a, b| match (d(a).is_nan(), d(b).is_nan()) {
            (false, false) => long_least(a ^ 1 << 63, b ^ 1 << 63) ^ 1 << 63,
            _ => long_least(a, b),
        }),
        ("copysign", _) => lanes!(|a, b| b & !(1 << 63) | a & 1 << 63),
        _ => return None,
    })
}

fn least(a: u32, b: u32, keep_nan: bool) -> u32 {
    let (x, y) = (s(a), s(b));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => 0x7fff_ffff,
        (true, false) | (false, true) if keep_nan => 0x7fff_ffff,
        (true, false) => b,
        (false, true) => a,
        // -0 is less than +0.
        (false, false) if x == y => a | b & 1 << 31,
        (false, false) => {
            if x < y {
                a
            } else {
                b
            }
        }
    }
}

fn greatest(a: u32, b: u32, keep_nan: bool) -> u32 {
    match (s(a).is_nan(), s(b).is_nan()) {
        (false, false) => least(a ^ 1 << 31, b ^ 1 << 31, keep_nan) ^ 1 << 31,
        _ => least(a, b, keep_nan),
    }
}

fn long_least(a: u64, b: u64) -> u64 {
    let (x, y) = (d(a), d(b));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => 0x7fff_ffff_ffff_ffff,
        (true, false) => b,
        (false, true) => a,
        (false, false) if x == y => a | b & 1 << 63,
        (false, false) => {
            if x < y {
                a
            } else {
                b
            }
        }
    }
}

/// `fma`: one rounding.
pub(crate) fn fused(mode: Rounding) -> W3 {
    macro_rules! f {
        ($m:expr) => {
            lanes!(|a, b, c| {
                let (a, b, c) = (s(a), s(b), s(c));
                bits(rounding::fused(a, b, c, a.mul_add(b, c), $m))
            })
        };
    }
    match mode {
        Rounding::Nearest => fused::nearest(),
        _ => by_mode!(mode, f),
    }
}

pub(crate) fn long_fused(mode: Rounding) -> L3 {
    macro_rules! f {
        ($m:expr) => {
            lanes!(|a, b, c| {
                let (a, b, c) = (d(a), d(b), d(c));
                rounding::fused(a, b, c, a.mul_add(b, c), $m).to_bits()
            })
        };
    }
    match mode {
        Rounding::Nearest => fused::long_nearest(),
        _ => by_mode!(mode, f),
    }
}

macro_rules! comparisons {
    ($name:expr, $f:ident) => {
        Some(match $name {
            "eq" => test!(|a, b| $f(a) == $f(b)),
            "ne" => test!(|a, b| $f(a) < $f(b) || $f(a) > $f(b)),
            "lt" => test!(|a, b| $f(a) < $f(b)),
            "le" => test!(|a, b| $f(a) <= $f(b)),
            "gt" => test!(|a, b| $f(a) > $f(b)),
            "ge" => test!(|a, b| $f(a) >= $f(b)),
            // Unordered forms hold where either is not a number.
            "equ" => test!(|a, b| !($f(a) < $f(b) || $f(a) > $f(b))),
            "neu" => test!(|a, b| $f(a) != $f(b)),
            "ltu" => test!(|a, b| $f(a) < $f(b) || $f(a).is_nan() || $f(b).is_nan()),
            "leu" => test!(|a, b| $f(a) <= $f(b) || $f(a).is_nan() || $f(b).is_nan()),
            "gtu" => test!(|a, b| $f(a) > $f(b) || $f(a).is_nan() || $f(b).is_nan()),
            "geu" => test!(|a, b| $f(a) >= $f(b) || $f(a).is_nan() || $f(b).is_nan()),
            "num" => test!(|a, b| !$f(a).is_nan() && !$f(b).is_nan()),
            "nan" => test!(|a, b| $f(a).is_nan() || $f(b).is_nan()),
            // `testp` looks at its first operand only.
            "finite" => test!(|a, _b| $f(a).is_finite()),
            "infinite" => test!(|a, _b| $f(a).is_infinite()),
            "number" => test!(|a, _b| !$f(a).is_nan()),
            "notanumber" => test!(|a, _b| $f(a).is_nan()),
            "normal" => test!(|a, _b| $f(a).is_normal()),
            "subnormal" => test!(|a, _b| $f(a).is_subnormal()),
            _ => return None,
        })
    };
}

pub(crate) fn compare(name: &str) -> Option<Test2> {
    comparisons!(name, s)
}

pub(crate) fn long_compare(name: &str) -> Option<LongTest2> {
    comparisons!(name, d)
}

/// Single to double is exact.
pub(crate) const TO_DOUBLE: Widen1 = lanes!(|a| f64::from(s(a)).to_bits());

pub(crate) fn to_single(mode: Rounding) -> Narrow1 {
    fn convert(a: u64, mode: Rounding) -> u32 {
        let nearest = d(a) as f32;
        match d(a).partial_cmp(&f64::from(nearest)) {
            Some(exact_is) => bits(adjust(nearest, exact_is, mode)),
            None => 0x7fff_ffff,
        }
    }
    macro_rules! f {
        ($m:expr) => {
            lanes!(|a| convert(a, $m))
        };
    }
    by_mode!(mode, f)
}

/// `integral!(x, f64, mode)`: an integral value of the same format. The obvious
/// functions are calls for each lane where a processor may lack the instruction.
macro_rules! integral {
    ($x:expr, $float:ty, $mode:expr) => {{
        let x: $float = $x;
        // What is as large has no fraction, and a sum with it has no room for one.
        let large = 1.0 / <$float>::EPSILON;
        let size = x.abs();
        let nearest = (size + large - large).copysign(x);
        let whole = match $mode {
            Rounding::Nearest => nearest,
            Rounding::Zero => (nearest.abs() - one_if!(nearest.abs() > size, $float)),
            Rounding::Down => nearest - one_if!(nearest > x, $float),
            Rounding::Up => nearest + one_if!(nearest < x, $float),
        };
        if size < large { whole.copysign(x) } else { x }
    }};
}

macro_rules! one_if {
    ($condition:expr, $float:ty) => {
        if $condition { 1.0 as $float } else { 0.0 }
    };
}

/// Rounds to an integral value of the same format.
pub(crate) fn integral(mode: Rounding) -> W1 {
    macro_rules! f {
        ($m:expr) => {
            lanes!(|a| bits(integral!(s(a), f32, $m)))
        };
    }
    by_mode!(mode, f)
}

pub(crate) fn long_integral(mode: Rounding) -> L1 {
    macro_rules! f {
        ($m:expr) => {
            lanes!(|a| integral!(d(a), f64, $m).to_bits())
        };
    }
    by_mode!(mode, f)
}

/// An integral double to an integer, clamped to its range. What is not a number
/// becomes `not_a_number`, which PTX makes 0 between narrow formats and the top
/// bit elsewhere.
fn to_integer(x: f64, ty: Type, wide: bool) -> u64 {
    if x.is_nan() {
        return if wide { 1 << (ty.bits - 1) } else { 0 };
    }
    match (ty.bits, ty.kind == Kind::Signed) {
        (8, true) => u64::from(x as i8 as u8),
        (8, false) => u64::from(x as u8),
        (16, true) => u64::from(x as i16 as u16),
        (16, false) => u64::from(x as u16),
        (32, true) => u64::from(x as i32 as u32),
        (32, false) => u64::from(x as u32),
        (_, true) => x as i64 as u64,
        (_, false) => x as u64,
    }
}

macro_rules! by_integer {
    ($ty:expr, $f:ident) => {
        match ($ty.bits, $ty.kind == Kind::Signed) {
            (8, true) => $f!(Kind::Signed, 8),
            (8, false) => $f!(Kind::Unsigned, 8),
            (16, true) => $f!(Kind::Signed, 16),
            (16, false) => $f!(Kind::Unsigned, 16),
            (32, true) => $f!(Kind::Signed, 32),
            (32, false) => $f!(Kind::Unsigned, 32),
            (_, true) => $f!(Kind::Signed, 64),
            (_, false) => $f!(Kind::Unsigned, 64),
        }
    };
}

/// An integral single to an integer of up to 64 bits.
pub(crate) fn single_to_integer(ty: Type) -> fn(&Words) -> Longs {
    macro_rules! f {
        ($kind:expr, $bits:literal) => {
            lanes!(|a| {
                let ty = Type {
                    kind: $kind,
                    bits: $bits,
                };
                to_integer(f64::from(s(a)), ty, $bits == 64)
            })
        };
    }
    by_integer!(ty, f)
}

/// An integral double to an integer of up to 64 bits.
pub(crate) fn double_to_integer(ty: Type) -> fn(&Longs) -> Longs {
    macro_rules! f {
        ($kind:expr, $bits:literal) => {
            |xs| {
                let ty = Type {
                    kind: $kind,
                    bits: $bits,
                };
                small_integers(xs, ty).unwrap_or_else(|| xs.map(|x| to_integer(d(x), ty, true)))
            }
        };
    }
    by_integer!(ty, f)
}

/// The integers that `to_integer` gives, by vector instructions, where all are below 2^51: the sum
/// with 1.5 2^52 then has the integer for its lowest bits.
#[inline(always)]
fn small_integers(xs: &Longs, ty: Type) -> Option<Longs> {
    const ONE_AND_A_HALF: f64 = 6_755_399_441_055_744.0;
    let mut small = true;
    for x in xs {
        small &= d(*x).abs() < 2_251_799_813_685_248.0;
    }
    if !small {
        return None;
    }
    // Rounding to a double moves no bound of a type of up to 32 bits, and no
    // value here reaches those of 64 bits but zero.
    let signed = ty.kind == Kind::Signed;
    let least = if signed {
        -((1u64 << (ty.bits - 1)) as f64)
    } else {
        0.0
    };
    let most = (u64::MAX >> (64 - ty.bits + u32::from(signed))) as f64;
    let mut out = [0; 32];
    for i in 0..32 {
        let x = d(xs[i]);
        let x = if x < least { least } else { x };
        let x = if x > most { most } else { x };
        let long = (x + ONE_AND_A_HALF)
            .to_bits()
            .wrapping_sub(ONE_AND_A_HALF.to_bits());
        out[i] = long & u64::MAX >> (64 - ty.bits);
    }
    Some(out)
}

/// The integer that a long holds.
fn integer(a: u64, signed: bool) -> i128 {
    if signed {
        i128::from(a as i64)
    } else {
        i128::from(a)
    }
}

/// A 64-bit integer, signed or not, to the precision of `$float`.
macro_rules! from_integer {
    ($signed:expr, $mode:expr, $float:ty) => {{
        macro_rules! unsigned {
            ($m:expr) => {
                lanes!(|a| {
                    let nearest = a as $float;
                    let exact_is = integer(a, false).cmp(&(nearest as i128));
                    adjust(nearest, exact_is, $m).to_bits()
                })
            };
        }
        macro_rules! signed {
            ($m:expr) => {
                lanes!(|a| {
                    let nearest = a as i64 as $float;
                    let exact_is = integer(a, true).cmp(&(nearest as i128));
                    adjust(nearest, exact_is, $m).to_bits()
                })
            };
        }
        if $signed {
            by_mode!($mode, signed)
        } else {
            by_mode!($mode, unsigned)
        }
    }};
}

/// A 64-bit integer to single precision.
pub(crate) fn integer_to_single(signed: bool, mode: Rounding) -> Narrow1 {
    from_integer!(signed, mode, f32)
}

/// A 64-bit integer to double precision.
pub(crate) fn integer_to_double(signed: bool, mode: Rounding) -> L1 {
    from_integer!(signed, mode, f64)
}

/// Clamps a 64-bit integer to the range of a type.
pub(crate) fn clamp(from_signed: bool, ty: Type) -> L1 {
    fn clamped(a: u64, from_signed: bool, kind: Kind, bits: u32) -> u64 {
        let (least, most) = if kind == Kind::Signed {
            (-1i128 << (bits - 1), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        integer(a, from_signed).clamp(least, most) as u64
    }
    macro_rules! signed {
        ($kind:expr, $bits:literal) => {
            lanes!(|a| clamped(a, true, $kind, $bits))
        };
    }
    macro_rules! unsigned {
        ($kind:expr, $bits:literal) => {
            lanes!(|a| clamped(a, false, $kind, $bits))
        };
    }
    if from_signed {
        by_integer!(ty, signed)
    } else {
        by_integer!(ty, unsigned)
    }
}
