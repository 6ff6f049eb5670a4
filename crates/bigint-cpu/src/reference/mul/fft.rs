//! Multiplication by a transform over the complex numbers in FP64 [Thall 2011], exact by proof.
//!
//! The ring, the tree and the proof are those of [`bigint_core::transform`]. Digits are
//! coefficients of polynomials modulo `x^L - i`. The low half of the product is the real part of
//! the result, and the high half its imaginary part. The way down the tree consists of butterflies,
//!
//! ```text
//! x^2m - z = (x^m - w)(x^m + w):    a + b x^m  ->  a + w b,  a - w b
//! ```
//!
//! until polynomials are modulo `x^4 - z`. These are multiplied as polynomials are defined to be,
//! and the way up follows. Here every node multiplies by its own root, a level at a time.
//!
//! Digits are balanced, so that their magnitudes are half as large: if the top bit of a digit is
//! set, the digit counts a power of two less, and the digit above it 1 more. They have 16 bits as
//! long as the bound of the error allows, and 8 beyond. Beyond 2^31 bits they have 4, which the
//! bound allows up to the widest number there is.
//!
//! **Cost**: `3/2 L log2(L/4)` butterflies, where `L` is the next power of two from the digits of
//! the wider operand. **Scratch**: `32 L` bytes.

use bigint_core::transform::{error_bound, root};
use bigint_core::{LIMB_BITS, Limb};

/// The complex number `re + i im`.
#[derive(Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    /// Returns `self + x y`.
    fn plus_product(self, x: Self, y: Self) -> Self {
        Complex {
            re: (-x.im).mul_add(y.im, x.re.mul_add(y.re, self.re)),
            im: x.im.mul_add(y.re, x.re.mul_add(y.im, self.im)),
        }
    }
}

const ZERO: Complex = Complex { re: 0.0, im: 0.0 };

/// An angle of `numerator / 2^log` turns.
#[derive(Clone, Copy)]
struct Turns {
    numerator: u64,
    log: u32,
}

impl Turns {
    /// The point `e(t)` of the unit circle.
    fn point(self) -> Complex {
        let [re, im] = root(self.numerator, self.log);
        Complex { re, im }
    }

    /// The angles `t / 2`, and half a turn more.
    fn halves(self) -> [Self; 2] {
        let Turns { numerator, log } = self;
        [numerator, numerator + (1 << log)].map(|numerator| Turns {
            numerator,
            log: log + 1,
        })
    }
}

/// Computes `r = (a * b) mod 2^(32 w)`.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::mul::fft(&mut r, &[u32::MAX], &[u32::MAX]);
/// assert_eq!(r, [1, u32::MAX - 1]);
/// ```
pub fn fft(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    let limbs = a.len().max(b.len()).max(1);
    let length = |bits: u32| {
        (limbs * (LIMB_BITS / bits as usize))
            .next_power_of_two()
            .max(4)
    };
    let is_exact = |bits: &u32| {
        let length = length(*bits) as u64;
        // Every level on the way up multiplies by roots.
        error_bound(length, *bits, true, length.trailing_zeros()) < 0.5
    };
    let bits = [16, 8, 4].into_iter().find(is_exact);
    let bits = bits.expect("digits of 4 bits are exact for the widest numbers");
    let length = length(bits);
    let quarter = Turns {
        numerator: 1,
        log: 2,
    };
    let (mut x, mut y) = (digits(a, bits, length), digits(b, bits, length));
    down(&mut x, quarter);
    down(&mut y, quarter);
    multiply(&mut x, &y, quarter);
    up(&mut x, quarter);
    let scale = 4.0 / length as f64;
    let coefficients = x
        .iter()
        .map(|value| value.re)
        .chain(x.iter().map(|value| value.im));
    let per_limb = LIMB_BITS / bits as usize;
    let mut carry = 0_i64;
    r.fill(0);
    for (k, coefficient) in coefficients.enumerate().take(r.len() * per_limb) {
        carry += (coefficient * scale).round_ties_even() as i64;
        let digit = carry & ((1 << bits) - 1);
        r[k / per_limb] |= (digit as Limb) << (k % per_limb * bits as usize);
        carry >>= bits;
    }
}

/// The balanced digits of `bits` bits. Only the top one keeps its sign.
fn digits(a: &[Limb], bits: u32, length: usize) -> Vec<Complex> {
    let per_limb = LIMB_BITS / bits as usize;
    let mut values = vec![ZERO; length];
    let (mut carry, digits) = (0, a.len() * per_limb);
    for (k, value) in values.iter_mut().enumerate().take(digits + 1) {
        let limb = a.get(k / per_limb).copied().unwrap_or(0);
        let digit = i64::from(limb >> (k % per_limb * bits as usize)) & ((1 << bits) - 1);
        let above = k + 1 < length && digit >> (bits - 1) == 1;
        let borrowed = if above { 1 << bits } else { 0 };
        value.re = (digit + carry - borrowed) as f64;
        carry = i64::from(above);
    }
    values
}

/// Takes a polynomial modulo `x^m - e(t)` to those modulo `x^4 - z`.
fn down(v: &mut [Complex], turns: Turns) {
    if v.len() <= 4 {
        return;
    }
    let halves = turns.halves();
    let w = halves[0].point();
    let (low, high) = v.split_at_mut(v.len() / 2);
    for (a, b) in low.iter_mut().zip(high.iter_mut()) {
        let sum = a.plus_product(*b, w);
        *b = Complex {
            re: 2.0_f64.mul_add(a.re, -sum.re),
            im: 2.0_f64.mul_add(a.im, -sum.im),
        };
        *a = sum;
    }
    down(low, halves[0]);
    down(high, halves[1]);
}

/// Computes `x = x y` modulo every `x^4 - z`.
fn multiply(x: &mut [Complex], y: &[Complex], turns: Turns) {
    if let Ok(b) = <[Complex; 4]>::try_from(y) {
        let a = [x[0], x[1], x[2], x[3]];
        for (k, c) in x.iter_mut().enumerate() {
            // These are the terms of degree `k`, and of degree `k + 4`.
            let sum = |from: usize, degree: usize| {
                let terms = (from..4).filter(|i| (0..4).contains(&(degree.wrapping_sub(*i))));
                terms.fold(ZERO, |sum, i| sum.plus_product(a[i], b[degree - i]))
            };
            *c = sum(0, k).plus_product(turns.point(), sum(k + 1, k + 4));
        }
        return;
    }
    let (halves, middle) = (turns.halves(), x.len() / 2);
    multiply(&mut x[..middle], &y[..middle], halves[0]);
    multiply(&mut x[middle..], &y[middle..], halves[1]);
}

/// Goes the way of [`down`] back, which gives `m / 4` times the polynomial.
fn up(v: &mut [Complex], turns: Turns) {
    if v.len() <= 4 {
        return;
    }
    let halves = turns.halves();
    let (low, high) = v.split_at_mut(v.len() / 2);
    up(low, halves[0]);
    up(high, halves[1]);
    let w = halves[0].point();
    let back = Complex {
        re: w.re,
        im: -w.im,
    };
    for (p, q) in low.iter_mut().zip(high) {
        let difference = Complex {
            re: p.re - q.re,
            im: p.im - q.im,
        };
        p.re += q.re;
        p.im += q.im;
        *q = ZERO.plus_product(difference, back);
    }
}

#[cfg(test)]
mod tests {
    use super::super::school;
    use super::*;

    #[test]
    fn products_of_the_greatest_digits_agree_with_rows() {
        for n in [1, 2, 3, 5, 16, 33, 256, 700] {
            for limb in [Limb::MAX, 0x8000_8000, 0x7fff_7fff, 0x8080_8080, 1 << 31] {
                let (a, b) = (vec![limb; n], vec![limb; n / 2 + 1]);
                for width in [2 * n, n, 2 * n + 3] {
                    let (mut found, mut expected) = (vec![1; width], vec![0; width]);
                    fft(&mut found, &a, &b);
                    school(&mut expected, &a, &b);
                    assert_eq!(found, expected, "{n} {limb:x} {width}");
                }
            }
        }
    }

    #[test]
    fn digits_of_four_bits_are_exact_for_the_widest_numbers() {
        let length = 8 * bigint_core::MAX_WIDTH as u64;
        assert!(error_bound(length, 4, true, length.trailing_zeros()) < 0.5);
    }
}
