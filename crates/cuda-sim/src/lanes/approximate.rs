//! Approximate functions. PTX gives each a bound on its error and leaves the bits
//! open; here they are what double precision gives, rounded to the nearest single:
//! within every bound, and correct to half a unit in the last place but for what
//! double precision's own error moves across a midpoint. Another GPU's bits differ.

use super::float::{reciprocal, root};
use super::lanes;
use super::rounding::Rounding;
use super::words::{bits, s};
use crate::ir::{L1, W1, W2};

/// Applies a function of doubles to a single.
#[inline(always)]
fn by_double(a: u32, f: impl Fn(f64) -> f64) -> u32 {
    bits(f(f64::from(s(a))) as f32)
}

/// `NAME.approx.f32`
pub(crate) fn unary(name: &str) -> Option<W1> {
    Some(match name {
        "rcp" => reciprocal(Rounding::Nearest),
        "sqrt" => root(Rounding::Nearest),
        "rsqrt" => lanes!(|a| by_double(a, |x| 1.0 / x.sqrt())),
        "ex2" => lanes!(|a| by_double(a, f64::exp2)),
        "lg2" => lanes!(|a| by_double(a, f64::log2)),
        "sin" => lanes!(|a| by_double(a, f64::sin)),
        "cos" => lanes!(|a| by_double(a, f64::cos)),
        "tanh" => lanes!(|a| by_double(a, f64::tanh)),
        _ => return None,
    })
}

/// `div.approx.f32`: a product with the reciprocal, which is a subnormal that
/// hardware takes for zero where the divisor is beyond 2^126.
pub(crate) const QUOTIENT: W2 = lanes!(|a, b| {
    let (x, y) = (s(a), s(b));
    let large = y.abs() > 2f32.powi(126) && y.is_finite();
    bits(if large { x * (0.0 * y.signum()) } else { x / y })
});

/// The upper half of a double, its subnormals flushed: what the functions below read
/// and write.
#[inline(always)]
fn upper(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    let sign = x.to_bits() & 1 << 63;
    let high = x.to_bits() & 0xffff_ffff_0000_0000;
    f64::from_bits(if x.is_subnormal() { sign } else { high })
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx[.ftz].f64`
pub(crate) fn long_unary(name: &str, flush: bool) -> Option<L1> {
    Some(match (name, flush) {
        ("rcp", true) => lanes!(|a| upper(1.0 / upper(f64::from_bits(a))).to_bits()),
        ("rsqrt", true) => lanes!(|a| upper(1.0 / upper(f64::from_bits(a)).sqrt()).to_bits()),
        ("rsqrt", false) => lanes!(|a| (1.0 / f64::from_bits(a).sqrt()).to_bits()),
        _ => return None,
    })
}
