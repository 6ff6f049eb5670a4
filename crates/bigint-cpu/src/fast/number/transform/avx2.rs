//! The ring for AVX2 and FMA. Its residues are doubles on both sides of zero, four in a vector, and
//! a row is two vectors.
//!
//! A constant `w` is stored as the pair `(w, w / p)` with `|w| <= p/2`. For an integer
//! `|a| <= 6.4 p` the ring computes
//!
//! ```text
//! h = rn(a w)        l = fma(a, w, -h) = a w - h exactly
//! n = round(rn(a rn(w/p)))             T = fma(-n, p, h) + l
//! ```
//!
//! **Exactness.** `|a w / p| <= 3.2 p < 2^50.4`, and the two roundings change it by at most
//! `2^50.4 2^-52 < 0.33`, so `|a w - n p| < 0.83 p`. As `|h| < 2^99.1`, `|l| <= 2^46` and
//! `|h - n p| < 2^49`. So `h - n p` is an integer that a double holds, and the fused operation
//! returns it exactly. The last sum, `a w - n p`, is such an integer too. With `|a| <= 3.7 p`,
//! which holds everywhere but where noted, `|T| < 0.7 p` by the same argument.
//!
//! **Bounds.** These replace the bounds of `passes` and `top`, in units of `p`. `lift` and `fold8`
//! reduce to `[-0.51, 0.51]`. `fold4` and `raise` do nothing. On the way forward coefficients are
//! below 0.75, the first three levels leave values up to 3, and the other levels leave values up to
//! `0.51 + 2 * 0.7`. Factors stay below `3 + 0.7`. On the way back passes take and leave values up
//! to 1.4. The factors of the second level are below `4 * 1.4 = 5.6`, with `|T| < 0.8`. In the
//! first three levels factors are below `2 * 1.4 + 0.7 + 2 * 1.4 = 6.3`, with `|T| < 0.83`, and no
//! value that is reduced exceeds 7.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::super::isa::Avx2;
use super::field::{PRIMES, Ring, Row, Stored};
use super::portable::coefficient;
use super::stages::Stages;

/// Arithmetic on residues modulo one prime, half a row at a time, in vectors of four doubles.
#[derive(Clone, Copy)]
pub(super) struct Avx2Ring {
    p: __m256d,
    p_inverse: __m256d,
}

/// The pair `(w, w / p)` for the balanced `w`, as the bits of two doubles.
pub(super) fn stored(w: u64, prime: usize) -> Stored {
    let p = PRIMES[prime];
    let w = if w > p / 2 {
        -((p - w) as f64)
    } else {
        w as f64
    };
    [w.to_bits(), (w / p as f64).to_bits()]
}

/// Expands to instructions that the ring's token proves to be there.
macro_rules! vector {
    ($e:expr) => {
        // SAFETY: an `Avx2Ring` is only made from an `Avx2` token, which proves that the machine
        // has AVX2 and FMA. No memory is touched.
        unsafe { $e }
    };
}

const TWO_52: f64 = 4_503_599_627_370_496.0;

type Pair = [__m256d; 2];

const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

impl Avx2Ring {
    #[inline(always)]
    pub(super) fn new(prime: usize, _token: Avx2) -> Self {
        let p = PRIMES[prime] as f64;
        vector!(Avx2Ring {
            p: _mm256_set1_pd(p),
            p_inverse: _mm256_set1_pd(1.0 / p)
        })
    }

    #[inline(always)]
    fn reduce_four(self, x: __m256d) -> __m256d {
        vector!({
            let n = _mm256_round_pd::<NEAREST>(_mm256_mul_pd(x, self.p_inverse));
            _mm256_fnmadd_pd(n, self.p, x)
        })
    }

    #[inline(always)]
    fn reduce(self, x: Pair) -> Pair {
        [self.reduce_four(x[0]), self.reduce_four(x[1])]
    }

    #[inline(always)]
    fn mul_four(self, a: __m256d, w: (__m256d, __m256d)) -> __m256d {
        vector!({
            let h = _mm256_mul_pd(a, w.0);
            let n = _mm256_round_pd::<NEAREST>(_mm256_mul_pd(a, w.1));
            let l = _mm256_fmsub_pd(a, w.0, h);
            _mm256_add_pd(_mm256_fnmadd_pd(n, self.p, h), l)
        })
    }

    /// The integers in `[0, p]` that four residues stand for.
    #[inline(always)]
    fn canonical_four(self, x: __m256d) -> __m256i {
        let x = self.reduce_four(x);
        vector!({
            let base = _mm256_set1_pd(TWO_52);
            let negative = _mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd());
            let x = _mm256_add_pd(x, _mm256_and_pd(negative, self.p));
            let x = _mm256_castpd_si256(_mm256_add_pd(x, base));
            _mm256_xor_si256(x, _mm256_castpd_si256(base))
        })
    }

    /// The residues of four integers. An integer below `2^52` is the mantissa of a double in
    /// `[2^52, 2^53)`.
    #[inline(always)]
    fn residues_four(x: __m256i) -> __m256d {
        vector!({
            let base = _mm256_set1_pd(TWO_52);
            let x = _mm256_or_si256(x, _mm256_castpd_si256(base));
            _mm256_sub_pd(_mm256_castsi256_pd(x), base)
        })
    }
}

impl Stages for Avx2Ring {}

impl Ring for Avx2Ring {
    const PARTS: usize = 1;
    type Residues = Pair;
    type Integers = [__m256i; 2];
    type Factor = (__m256d, __m256d);

    #[inline(always)]
    fn load(self, _part: usize, row: &Row) -> Pair {
        // SAFETY: a row is 64 bytes, aligned to 64, and the token proves the instructions.
        unsafe {
            let at = row.0.as_ptr().cast::<f64>();
            [_mm256_load_pd(at), _mm256_load_pd(at.add(4))]
        }
    }
    #[inline(always)]
    fn store(self, _part: usize, row: &mut Row, x: Pair) {
        // SAFETY: a row is 64 bytes, aligned to 64, and the token proves the instructions.
        unsafe {
            let at = row.0.as_mut_ptr().cast::<f64>();
            _mm256_store_pd(at, x[0]);
            _mm256_store_pd(at.add(4), x[1]);
        }
    }
    #[inline(always)]
    fn factor(self, stored: &Stored) -> Self::Factor {
        let (w, quotient) = (f64::from_bits(stored[0]), f64::from_bits(stored[1]));
        vector!((_mm256_set1_pd(w), _mm256_set1_pd(quotient)))
    }
    #[inline(always)]
    fn butterfly(self, x: Pair, a: Pair, w: Self::Factor) -> [Pair; 2] {
        let t = self.mul(a, w);
        vector!([
            [_mm256_add_pd(x[0], t[0]), _mm256_add_pd(x[1], t[1])],
            [_mm256_sub_pd(x[0], t[0]), _mm256_sub_pd(x[1], t[1])],
        ])
    }
    #[inline(always)]
    fn mul(self, a: Pair, w: Self::Factor) -> Pair {
        [self.mul_four(a[0], w), self.mul_four(a[1], w)]
    }
    #[inline(always)]
    fn add(self, a: Pair, b: Pair) -> Pair {
        vector!([_mm256_add_pd(a[0], b[0]), _mm256_add_pd(a[1], b[1])])
    }
    #[inline(always)]
    fn sub2(self, a: Pair, b: Pair) -> Pair {
        vector!([_mm256_sub_pd(a[0], b[0]), _mm256_sub_pd(a[1], b[1])])
    }
    #[inline(always)]
    fn sub4(self, a: Pair, b: Pair) -> Pair {
        self.sub2(a, b)
    }
    #[inline(always)]
    fn raise(self, x: Pair) -> Pair {
        x
    }
    #[inline(always)]
    fn lift(self, x: Pair) -> Pair {
        self.reduce(x)
    }
    #[inline(always)]
    fn fold8(self, x: Pair) -> Pair {
        self.reduce(x)
    }
    #[inline(always)]
    fn fold4(self, x: Pair) -> Pair {
        x
    }
    #[inline(always)]
    fn residues(self, x: [__m256i; 2]) -> Pair {
        [Self::residues_four(x[0]), Self::residues_four(x[1])]
    }
    #[inline(always)]
    fn canonical(self, x: Pair) -> [__m256i; 2] {
        [self.canonical_four(x[0]), self.canonical_four(x[1])]
    }
    #[inline(always)]
    fn pieces(self, _part: usize, limbs: &[u64], row: usize, h: u32) -> [[__m256i; 2]; 2] {
        let (mut low, mut high) = (Row::ZERO, Row::ZERO);
        for i in 0..8 {
            [low.0[i], high.0[i]] = coefficient(limbs, 8 * row + i, h);
        }
        [self.integers(0, &low), self.integers(0, &high)]
    }
    #[inline(always)]
    fn integers(self, _part: usize, row: &Row) -> [__m256i; 2] {
        // SAFETY: a row is 64 bytes, aligned to 64, and the token proves the instructions.
        unsafe {
            let at = row.0.as_ptr().cast::<__m256i>();
            [_mm256_load_si256(at), _mm256_load_si256(at.add(1))]
        }
    }
    #[inline(always)]
    fn store_integers(self, _part: usize, row: &mut Row, x: [__m256i; 2]) {
        // SAFETY: a row is 64 bytes, aligned to 64, and the token proves the instructions.
        unsafe {
            let at = row.0.as_mut_ptr().cast::<__m256i>();
            _mm256_store_si256(at, x[0]);
            _mm256_store_si256(at.add(1), x[1]);
        }
    }
}
