//! Complex numbers in FP64, and butterflies.

use crate::gpu::float::multiply_add;

/// The complex number `re + i im`.
#[derive(Clone, Copy)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    /// The number 0.
    pub const ZERO: Complex = Complex::new(0.0, 0.0);

    /// The complex number `re + i im`.
    #[inline(always)]
    pub const fn new(re: f64, im: f64) -> Self {
        Complex { re, im }
    }

    /// The number times `i`.
    #[inline(always)]
    pub fn turned(self) -> Self {
        Complex::new(-self.im, self.re)
    }

    /// The number times -1.
    #[inline(always)]
    pub fn negated(self) -> Self {
        Complex::new(-self.re, -self.im)
    }

    /// The complex conjugate.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Complex::new(self.re, -self.im)
    }

    /// The number with its real and imaginary part exchanged.
    #[inline(always)]
    pub const fn swapped(self) -> Self {
        Complex::new(self.im, self.re)
    }

    /// The difference `self - less`.
    #[inline(always)]
    pub fn minus(self, less: Self) -> Self {
        Complex::new(self.re - less.re, self.im - less.im)
    }

    /// The sum `self + more`.
    #[inline(always)]
    pub const fn plus(self, more: Self) -> Self {
        Complex::new(self.re + more.re, self.im + more.im)
    }

    /// The product with `by`, by two multiplications and two fused operations.
    #[inline(always)]
    pub fn times(self, by: Self) -> Self {
        Complex {
            re: multiply_add(-self.im, by.im, self.re * by.re),
            im: multiply_add(self.im, by.re, self.re * by.im),
        }
    }

    /// `self + x y`, by four fused operations.
    #[inline(always)]
    pub fn plus_product(self, x: Self, y: Self) -> Self {
        Complex {
            re: multiply_add(-x.im, y.im, multiply_add(x.re, y.re, self.re)),
            im: multiply_add(x.im, y.re, multiply_add(x.re, y.im, self.im)),
        }
    }
}

/// The number with this real and this imaginary part.
#[inline(always)]
pub fn complex([re, im]: [f64; 2]) -> Complex {
    Complex::new(re, im)
}

/// Squares a transform of numbers in pairs, `E + i O`, at a frequency and at its mirror: `E`
/// becomes `E^2 + y O^2`, and `O` becomes `2 E O`. `z` is the value at the frequency, and `w` the
/// conjugate of that at the mirror. The results, in the same form, are four times too great.
#[inline(always)]
pub fn square_mirrored(z: Complex, w: Complex, y: Complex) -> (Complex, Complex) {
    let s = Complex::new(z.re + w.re, z.im + w.im);
    let d = Complex::new(z.re - w.re, z.im - w.im);
    let p = s.times(s).plus_product(y.negated(), d.times(d));
    let g = Complex::new(s.re + s.re, s.im + s.im).times(d);
    (
        Complex::new(p.re + g.re, p.im + g.im),
        Complex::new(p.re - g.re, p.im - g.im),
    )
}

/// Multiplies two such transforms, as [`square_mirrored`] squares one: `E` becomes `E F + y O P`, and `O`
/// becomes `E P + O F`, where the factor is `F + i P`. `f` and `g` are its `z` and `w`.
#[inline(always)]
pub fn multiply_mirrored(
    [z, w]: [Complex; 2],
    [f, g]: [Complex; 2],
    y: Complex,
) -> (Complex, Complex) {
    let ([s, d], [t, e]) = ([z.plus(w), z.minus(w)], [f.plus(g), f.minus(g)]);
    let p = s.times(t).plus_product(y.negated(), d.times(e));
    let q = s.times(e).plus_product(d, t);
    (p.plus(q), p.minus(q))
}

/// Sets place `i` to `a + w b` and place `j` to `a - w b`, by six fused operations, where `a` and
/// `b` are their values.
#[inline(always)]
pub fn butterfly<const N: usize>(v: &mut [Complex; N], i: usize, j: usize, w: Complex) {
    let (a, b) = (v[i], v[j]);
    let sum = a.plus_product(b, w);
    v[i] = sum;
    v[j] = Complex {
        re: multiply_add(2.0, a.re, -sum.re),
        im: multiply_add(2.0, a.im, -sum.im),
    };
}

/// Sets place `i` to `a + b` and place `j` to `a - b`.
#[inline(always)]
pub fn sum_and_difference<const N: usize>(v: &mut [Complex; N], i: usize, j: usize) {
    let (a, b) = (v[i], v[j]);
    v[i] = Complex::new(a.re + b.re, a.im + b.im);
    v[j] = Complex::new(a.re - b.re, a.im - b.im);
}

/// Sets place `i` to `a - i b` and place `j` to `a + i b`.
#[inline(always)]
pub fn sum_and_difference_turned<const N: usize>(v: &mut [Complex; N], i: usize, j: usize) {
    let (a, b) = (v[i], v[j]);
    v[i] = Complex::new(a.re + b.im, a.im - b.re);
    v[j] = Complex::new(a.re - b.im, a.im + b.re);
}
