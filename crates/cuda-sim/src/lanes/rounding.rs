//! Directed rounding, exactly. The processor gives the nearest value; the sign of
//! what it left out, computed without error, says whether the neighbour is the
//! one that was asked for.

use std::cmp::Ordering;

/// The directions of rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

impl Rounding {
    /// The mode of `.rn`, `.rz`, `.rm`, `.rp`.
    pub fn named(name: &str) -> Option<Rounding> {
        Some(match name {
            "rn" => Rounding::Nearest,
            "rz" => Rounding::Zero,
            "rm" => Rounding::Down,
            "rp" => Rounding::Up,
            _ => return None,
        })
    }
}

/// A binary floating-point format that Rust has.
pub(crate) trait Binary: Copy + Into<f64> + PartialOrd {
    const ZERO: Self;
    fn next_above(self) -> Self;
    fn next_below(self) -> Self;
    fn negative(self) -> bool;
    fn finite(self) -> bool;
    fn infinite(self) -> bool;
    fn minus_zero() -> Self;
}

macro_rules! binary {
    ($($float:ty),*) => {$(
        impl Binary for $float {
            const ZERO: Self = 0.0;
            fn next_above(self) -> Self {
                self.next_up()
            }
            fn next_below(self) -> Self {
                self.next_down()
            }
            fn negative(self) -> bool {
                self.is_sign_negative()
            }
            fn finite(self) -> bool {
                self.is_finite()
            }
            fn infinite(self) -> bool {
                self.is_infinite()
            }
            fn minus_zero() -> Self {
                -0.0
            }
        }
    )*};
}
binary!(f32, f64);

/// The value that `mode` asks for, from the nearest one and how the exact value
/// compares to it.
pub(crate) fn adjust<F: Binary>(nearest: F, exact_is: Ordering, mode: Rounding) -> F {
    // Towards zero is down for what is positive and up for what is negative.
    let up = match mode {
        Rounding::Nearest => return nearest,
        Rounding::Up => true,
        Rounding::Down => false,
        Rounding::Zero => nearest.negative(),
    };
    match (exact_is, up) {
        (Ordering::Greater, true) => nearest.next_above(),
        (Ordering::Less, false) => nearest.next_below(),
        _ => nearest,
    }
}

/// `a * b + c`, of which the processor says `nearest`.
pub(crate) fn fused<F: Binary>(a: F, b: F, c: F, nearest: F, mode: Rounding) -> F {
    if !(a.finite() && b.finite() && c.finite()) {
        return nearest;
    }
    let exact_is = if nearest.infinite() {
        overflow(nearest)
    } else {
        residual(a.into(), b.into(), c.into(), nearest.into())
    };
    let opposite = (a.negative() != b.negative()) != c.negative();
    if mode == Rounding::Down && opposite && nearest == F::ZERO && exact_is == Ordering::Equal {
        // A sum that cancels is -0 when rounding down.
        return F::minus_zero();
    }
    adjust(nearest, exact_is, mode)
}

/// A product has the sign of its factors even when it is zero.
pub(crate) fn product<F: Binary>(a: F, b: F, nearest: F, mode: Rounding) -> F {
    let c = if a.negative() == b.negative() {
        F::ZERO
    } else {
        F::minus_zero()
    };
    fused(a, b, c, nearest, mode)
}

pub(crate) fn quotient<F: Binary>(a: F, b: F, nearest: F, mode: Rounding) -> F {
    if !(a.finite() && b.finite()) || b == F::ZERO {
        return nearest;
    }
    let exact_is = if nearest.infinite() {
        overflow(nearest)
    } else {
        // a / b - q has the sign of a - q b, turned over where b is negative.
        let left = residual(-nearest.into(), b.into(), a.into(), 0.0);
        if b.negative() { left.reverse() } else { left }
    };
    adjust(nearest, exact_is, mode)
}

pub(crate) fn root<F: Binary>(a: F, nearest: F, mode: Rounding) -> F {
    if !nearest.finite() {
        return nearest;
    }
    let exact_is = residual(-nearest.into(), nearest.into(), a.into(), 0.0);
    adjust(nearest, exact_is, mode)
}

fn overflow<F: Binary>(infinite: F) -> Ordering {
    if infinite.negative() {
        Ordering::Greater
    } else {
        Ordering::Less
    }
}

/// How `a * b + c` compares to `r`, exactly: a fixed-point sum as wide as the
/// exponents reach (Kulisch).
fn residual(a: f64, b: f64, c: f64, r: f64) -> Ordering {
    let mut sum = Accumulator::default();
    let (x, y) = (Parts::of(a), Parts::of(b));
    sum.add(Parts {
        mantissa: x.mantissa * y.mantissa,
        exponent: x.exponent + y.exponent,
        negative: x.negative != y.negative,
    });
    sum.add(Parts::of(c));
    sum.add(Parts::of(-r));
    sum.sign()
}

/// `mantissa * 2^exponent` with a sign.
#[derive(Clone, Copy)]
struct Parts {
    mantissa: u128,
    exponent: i32,
    negative: bool,
}

impl Parts {
    fn of(x: f64) -> Parts {
        let bits = x.to_bits();
        let biased = (bits >> 52 & 0x7ff) as i32;
        let fraction = u128::from(bits & ((1 << 52) - 1));
        Parts {
            mantissa: if biased == 0 {
                fraction
            } else {
                fraction | 1 << 52
            },
            exponent: biased.max(1) - 1075,
            negative: bits >> 63 != 0,
        }
    }
}

/// Weight of the lowest bit, as a power of two: below twice the lowest exponent.
const LOWEST: i32 = -2176;
/// Words up to above twice the highest exponent.
const WORDS: usize = 68;

/// A number in fixed point, two's complement.
struct Accumulator([u64; WORDS]);

impl Default for Accumulator {
    fn default() -> Self {
        Accumulator([0; WORDS])
    }
}

impl Accumulator {
    fn add(&mut self, x: Parts) {
        let place = (x.exponent - LOWEST) as usize;
        let (first, shift) = (place / 64, place % 64);
        let low = x.mantissa << shift;
        let top = if shift == 0 {
            0
        } else {
            (x.mantissa >> (128 - shift)) as u64
        };
        let words = [low as u64, (low >> 64) as u64, top];
        let mut carry = false;
        for i in first..WORDS {
            let addend = words.get(i - first).copied().unwrap_or(0);
            let word = &mut self.0[i];
            let (value, one, two);
            if x.negative {
                (value, one) = word.overflowing_sub(addend);
                (*word, two) = value.overflowing_sub(u64::from(carry));
            } else {
                (value, one) = word.overflowing_add(addend);
                (*word, two) = value.overflowing_add(u64::from(carry));
            }
            carry = one || two;
        }
    }

    fn sign(&self) -> Ordering {
        if self.0[WORDS - 1] >> 63 != 0 {
            Ordering::Less
        } else if self.0.iter().all(|&word| word == 0) {
            Ordering::Equal
        } else {
            Ordering::Greater
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_lie_between_their_roundings() {
        let nearest = 1.0f64 / 3.0;
        let down = quotient(1.0, 3.0, nearest, Rounding::Down);
        let up = quotient(1.0, 3.0, nearest, Rounding::Up);
        assert_eq!(up, down.next_up());
        assert!(down == nearest || up == nearest);
        assert_eq!(quotient(1.0, 3.0, nearest, Rounding::Zero), down);
        assert_eq!(quotient(-1.0, 3.0, -nearest, Rounding::Zero), -down);
    }

    #[test]
    fn exact_results_are_the_same_in_every_mode() {
        for mode in [Rounding::Zero, Rounding::Down, Rounding::Up] {
            assert_eq!(fused(3.0f64, 5.0, 7.0, 22.0, mode), 22.0);
            assert_eq!(root(9.0f32, 3.0, mode), 3.0);
            assert_eq!(quotient(1.0f32, 4.0, 0.25, mode), 0.25);
        }
    }

    #[test]
    fn overflow_and_underflow_stop_at_the_edge() {
        let (max, tiny) = (f64::MAX, f64::from_bits(1));
        assert_eq!(product(max, 2.0, f64::INFINITY, Rounding::Zero), max);
        assert_eq!(
            product(max, -2.0, -f64::INFINITY, Rounding::Down),
            -f64::INFINITY
        );
        assert_eq!(product(tiny, 0.25, 0.0, Rounding::Up), tiny);
        assert_eq!(product(tiny, -0.25, -0.0, Rounding::Down), -tiny);
        assert_eq!(product(tiny, tiny, 0.0, Rounding::Up), tiny);
        assert_eq!(
            fused(1.0f32, f32::MAX, f32::MAX, f32::INFINITY, Rounding::Zero),
            f32::MAX
        );
    }

    #[test]
    fn cancelling_sums_are_minus_zero_only_downwards() {
        assert!(fused(1.0f64, 5.0, -5.0, 0.0, Rounding::Down).is_sign_negative());
        assert!(fused(1.0f64, 5.0, -5.0, 0.0, Rounding::Up).is_sign_positive());
        assert!(product(0.0f64, 5.0, 0.0, Rounding::Down).is_sign_positive());
    }

    #[test]
    fn sums_of_single_precision_agree_with_double() {
        // Two singles of close exponents sum exactly in double precision.
        let mut state = 1u64;
        for _ in 0..10_000 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let a = f32::from_bits((state >> 32) as u32 & 0x83ff_ffff | 0x3c00_0000);
            let b = f32::from_bits(state as u32 & 0x83ff_ffff | 0x3c00_0000);
            let exact = f64::from(a) + f64::from(b);
            let down = fused(1.0, a, b, a + b, Rounding::Down);
            let up = fused(1.0, a, b, a + b, Rounding::Up);
            assert!(f64::from(down) <= exact && exact <= f64::from(up));
            assert!(up == down || up == down.next_up());
            assert_eq!(up == down, f64::from(a + b) == exact);
        }
    }
}
