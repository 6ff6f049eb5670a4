//! The 16-bit formats `.f16` and `.bf16`, to and from singles.

use super::float::{bits, s};
use super::lanes;
use super::rounding::Rounding;
use crate::ir::W1;

/// Bits of the fraction and the least exponent of a normal number.
struct Format {
    fraction: u32,
    least: i32,
    infinity: u32,
}

const F16: Format = Format {
    fraction: 10,
    least: -14,
    infinity: 0x7c00,
};
const BF16: Format = Format {
    fraction: 7,
    least: -126,
    infinity: 0x7f80,
};

/// A single in a narrower format, to the nearest value (ties to even) or towards zero.
#[inline(always)]
fn narrow(a: u32, format: &Format, nearest: bool) -> u32 {
    let x = f64::from(s(a));
    if x.is_nan() {
        return 0x7fff;
    }
    let sign = a >> 16 & 0x8000;
    if x.is_infinite() {
        return sign | format.infinity;
    }
    // Every single, its subnormals too, is a normal double.
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(format.least);
    let ulp = exponent - format.fraction as i32;
    let in_ulps = x.abs() * f64::from_bits(((1023 - ulp) as u64) << 52);
    let whole = if nearest {
        in_ulps.round_ties_even()
    } else {
        in_ulps.trunc()
    };
    // The leading one of a normal number counts the exponent up from subnormal.
    let magnitude = (((exponent - format.least) as u32) << format.fraction) + whole as u32;
    let largest = format.infinity - u32::from(!nearest);
    sign | magnitude.min(largest)
}

/// `cvt.f32.f16`
const FROM_F16: W1 = lanes!(|a| {
    let (exponent, fraction) = (a >> 10 & 0x1f, a & 0x3ff);
    let magnitude = match exponent {
        0 => fraction as f32 / 2f32.powi(24),
        0x1f if fraction == 0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    bits(if a & 0x8000 != 0 {
        -magnitude
    } else {
        magnitude
    })
});

/// `cvt.f32.bf16`
const FROM_BF16: W1 = lanes!(|a| bits(s(a << 16)));

/// From `.f16` or `.bf16` to a single.
pub(crate) fn widen(name: &str) -> W1 {
    if name.starts_with('b') {
        FROM_BF16
    } else {
        FROM_F16
    }
}

/// From a single to `.f16` or `.bf16`; nothing for roundings they do not have.
pub(crate) fn narrowing(name: &str, mode: Rounding) -> Option<W1> {
    Some(match (name.starts_with('b'), mode) {
        (false, Rounding::Nearest) => lanes!(|a| narrow(a, &F16, true)),
        (false, Rounding::Zero) => lanes!(|a| narrow(a, &F16, false)),
        (true, Rounding::Nearest) => lanes!(|a| narrow(a, &BF16, true)),
        (true, Rounding::Zero) => lanes!(|a| narrow(a, &BF16, false)),
        _ => return None,
    })
}
