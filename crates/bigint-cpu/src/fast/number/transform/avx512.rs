//! The ring for AVX-512 IFMA, in which a row is one vector.
//!
//! A multiplication consists of the three half-products that `field` describes. The last two are
//! accumulated onto the value that their sum is added to, so a butterfly takes six instructions.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::super::isa::Avx512;
use super::field::{MIN_H, PRIMES, Ring, Row, Stored, inverse_mod_radix};

/// Arithmetic on residues modulo one prime, a row in one vector.
#[derive(Clone, Copy)]
pub(super) struct Avx512Ring {
    p: __m512i,
    p2: __m512i,
    p4: __m512i,
    minus_p: __m512i,
    p_inverse: __m512i,
}

// SAFETY, for every block in this file: an `Avx512Ring` is only made from an `Avx512` token, which
// proves that the machine has the instructions. Loads and stores go through references to whole
// rows, which are aligned to 64 bytes.

/// Expands to one instruction, which is safe by the note above.
macro_rules! vector {
    ($e:expr) => {
        // SAFETY: the ring's token proves the instruction, as the note of this file says.
        unsafe { $e }
    };
}

impl Avx512Ring {
    #[inline(always)]
    pub(super) fn new(prime: usize, _token: Avx512) -> Self {
        let p = PRIMES[prime] as i64;
        vector!(Avx512Ring {
            p: _mm512_set1_epi64(p),
            p2: _mm512_set1_epi64(2 * p),
            p4: _mm512_set1_epi64(4 * p),
            minus_p: _mm512_set1_epi64(-p),
            p_inverse: _mm512_set1_epi64(inverse_mod_radix(p as u64) as i64),
        })
    }

    /// Brings a value from `[0, 2 bound)` to `[0, bound)`.
    #[inline(always)]
    fn fold(x: __m512i, bound: __m512i) -> __m512i {
        vector!(_mm512_min_epu64(x, _mm512_sub_epi64(x, bound)))
    }
}

impl Ring for Avx512Ring {
    const PARTS: usize = 1;
    const LOG_RADIX: u32 = 52;
    type Residues = __m512i;
    type Integers = __m512i;
    type Factor = (__m512i, __m512i);

    #[inline(always)]
    fn load(self, _part: usize, row: &Row) -> __m512i {
        vector!(_mm512_load_si512(row.0.as_ptr().cast()))
    }
    #[inline(always)]
    fn store(self, _part: usize, row: &mut Row, x: __m512i) {
        vector!(_mm512_store_si512(row.0.as_mut_ptr().cast(), x))
    }
    #[inline(always)]
    fn factor(self, stored: &Stored) -> Self::Factor {
        vector!((
            _mm512_set1_epi64(stored[0] as i64),
            _mm512_set1_epi64(stored[1] as i64)
        ))
    }
    #[inline(always)]
    fn butterfly(self, x: __m512i, a: __m512i, w: Self::Factor) -> [__m512i; 2] {
        vector!({
            let zero = _mm512_setzero_si512();
            let u = _mm512_madd52lo_epu64(zero, a, w.1);
            let t = _mm512_madd52hi_epu64(x, a, w.0);
            let s = _mm512_madd52hi_epu64(zero, u, self.p);
            let plus = _mm512_sub_epi64(t, s);
            [plus, _mm512_sub_epi64(_mm512_add_epi64(x, x), plus)]
        })
    }
    #[inline(always)]
    fn mul(self, a: __m512i, w: Self::Factor) -> __m512i {
        vector!({
            let zero = _mm512_setzero_si512();
            let u = _mm512_madd52lo_epu64(zero, a, w.1);
            let t = _mm512_madd52hi_epu64(zero, a, w.0);
            let s = _mm512_madd52hi_epu64(self.minus_p, u, self.p);
            _mm512_sub_epi64(t, s)
        })
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_add_epi64(a, b))
    }
    #[inline(always)]
    fn sub2(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_sub_epi64(_mm512_add_epi64(a, self.p2), b))
    }
    #[inline(always)]
    fn sub4(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_sub_epi64(_mm512_add_epi64(a, self.p4), b))
    }
    #[inline(always)]
    fn raise(self, x: __m512i) -> __m512i {
        vector!(_mm512_add_epi64(x, self.p))
    }
    #[inline(always)]
    fn lift(self, x: __m512i) -> __m512i {
        vector!(_mm512_add_epi64(Self::fold(x, self.p4), self.p2))
    }
    #[inline(always)]
    fn fold8(self, x: __m512i) -> __m512i {
        Self::fold(x, self.p4)
    }
    #[inline(always)]
    fn fold4(self, x: __m512i) -> __m512i {
        Self::fold(x, self.p2)
    }
    #[inline(always)]
    fn residues(self, x: __m512i) -> __m512i {
        x
    }
    #[inline(always)]
    fn canonical(self, x: __m512i) -> __m512i {
        Self::fold(x, self.p)
    }
    #[inline(always)]
    fn pieces(self, _part: usize, limbs: &[u64], row: usize, h: u32) -> [__m512i; 2] {
        // Four coefficients take h bytes. Each piece lies within four 16-bit words from the word in
        // which it starts, as 15 + h <= 64.
        let h = h as usize;
        let mut tail = [0u64; 32];
        let bytes = limbs.len() * 8;
        let start = 2 * h * row;
        let from = if start + h + 64 <= bytes {
            // SAFETY: the bytes that are read are inside `limbs`, by the condition above.
            unsafe { limbs.as_ptr().cast::<u8>().add(start) }
        } else {
            // This is the end of the number, continued by zeros.
            let first = (start / 8).min(limbs.len());
            let rest = &limbs[first..];
            let rest = &rest[..rest.len().min(24)];
            tail[..rest.len()].copy_from_slice(rest);
            // SAFETY: the start % 8 + h + 64 <= 7 + 44 + 64 bytes that are read are in `tail`.
            unsafe { tail.as_ptr().cast::<u8>().add(start % 8) }
        };
        let constants = &PIECES[h - MIN_H as usize];
        // SAFETY: both loads are inside the 64 + h bytes shown above, the constants are rows, and
        // the token proves the instructions.
        unsafe {
            let low = _mm512_loadu_si512(from.cast());
            let high = _mm512_loadu_si512(from.add(h).cast());
            let mask = _mm512_set1_epi64((1 << h) - 1);
            let mut pieces = [mask; 2];
            for ((piece, words), shifts) in pieces
                .iter_mut()
                .zip(&constants.words)
                .zip(&constants.shifts)
            {
                let words = _mm512_load_si512(words.0.as_ptr().cast());
                let shifts = _mm512_load_si512(shifts.0.as_ptr().cast());
                let x = _mm512_permutexvar_epi16(words, low);
                let x = _mm512_mask_permutexvar_epi16(x, 0xffff_0000, words, high);
                *piece = _mm512_and_si512(_mm512_srlv_epi64(x, shifts), mask);
            }
            pieces
        }
    }
    #[inline(always)]
    fn integers(self, part: usize, row: &Row) -> __m512i {
        self.load(part, row)
    }
    #[inline(always)]
    fn store_integers(self, part: usize, row: &mut Row, x: __m512i) {
        self.store(part, row, x);
    }
}

impl Avx512Ring {
    /// Multiplies `a` by `b` and `scale`, node by node, and stores the products in `a`. Rows `2 u`
    /// and `2 u + 1` are the nodes modulo `x^8 - w` and `x^8 + w` with `w = roots[u]`.
    ///
    /// With `b' = b scale` and `b'' = b' w`, coefficient `k` of a product is `sum a_i b'_(k - i)`,
    /// where `b''` takes the place of `b'` for indices below 0. So each `i` takes one broadcast of
    /// `a_i` and one unaligned load from `b''` and `b'`, which lie one after the other.
    ///
    /// **Bounds**: `a < 8p` and `b', b'' < p`, so the high halves of a column add up to less than
    /// `8 * 8p * p / 2^52 < 6.4 p`, and the reduction leaves values in `(0, 7.5 p)`.
    #[inline(always)]
    pub(super) fn products_of_nodes(
        self,
        a: &mut [Row],
        b: Option<&[Row]>,
        roots: &[Stored],
        scale: &Stored,
    ) {
        /// The nodes that are prepared together. There are several, so that their stores have
        /// reached the cache before unaligned loads read parts of two of them.
        const GROUP: usize = 8;
        let mut wrapped = [[Row::ZERO; 2]; GROUP];
        let mut factors = [Row::ZERO; GROUP];
        let scale = self.factor(scale);
        for (g, a) in a.chunks_mut(GROUP).enumerate() {
            let b = b.map_or(&*a, |b| &b[g * GROUP..][..a.len()]);
            for (t, b) in b.iter().enumerate() {
                let w = self.factor(&roots[(g * GROUP + t) / 2]);
                let b1 = Self::fold(self.mul(self.load(0, b), scale), self.p);
                let b2 = self.mul(b1, w);
                let b2 = if t % 2 == 0 {
                    b2
                } else {
                    vector!(_mm512_sub_epi64(self.p2, b2))
                };
                let b2 = Self::fold(b2, self.p);
                self.store(0, &mut wrapped[t][0], b2);
                self.store(0, &mut wrapped[t][1], b1);
            }
            factors[..a.len()].copy_from_slice(a);
            for ((a, factor), wrapped) in a.iter_mut().zip(&factors).zip(&wrapped) {
                let zero = vector!(_mm512_setzero_si512());
                let (mut low, mut high) = ([zero; 2], [zero; 2]);
                for i in 0..8 {
                    // SAFETY: eight words are read from word 8 - i >= 1 of the sixteen words of two
                    // rows that lie one after the other, and the token proves the instructions.
                    unsafe {
                        let x = _mm512_set1_epi64(factor.0[i] as i64);
                        let y = wrapped.as_ptr().cast::<u64>().add(8 - i);
                        let y = _mm512_loadu_si512(y.cast());
                        low[i % 2] = _mm512_madd52lo_epu64(low[i % 2], x, y);
                        high[i % 2] = _mm512_madd52hi_epu64(high[i % 2], x, y);
                    }
                }
                let reduced = vector!({
                    let low = _mm512_add_epi64(low[0], low[1]);
                    let high = _mm512_add_epi64(high[0], high[1]);
                    // The column is (high 2^52 + low - u p) / 2^52, where the low halves cancel.
                    let u = _mm512_madd52lo_epu64(zero, low, self.p_inverse);
                    let s = _mm512_madd52hi_epu64(self.minus_p, u, self.p);
                    let high = _mm512_add_epi64(high, _mm512_srli_epi64::<52>(low));
                    _mm512_sub_epi64(high, s)
                });
                self.store(0, a, self.fold4(self.fold8(reduced)));
            }
        }
    }
}

/// The places at which the pieces of `h` bits of four coefficients start.
struct Pieces {
    words: [Row; 2],
    shifts: [Row; 2],
}

const fn pieces(h: u64) -> Pieces {
    let mut words = [Row::ZERO; 2];
    let mut shifts = [Row::ZERO; 2];
    let mut odd = 0;
    while odd < 2 {
        let mut lane = 0;
        while lane < 8 {
            let bit = h * (2 * (lane as u64 % 4) + odd as u64);
            let word = bit / 16;
            words[odd].0[lane] = word | (word + 1) << 16 | (word + 2) << 32 | (word + 3) << 48;
            shifts[odd].0[lane] = bit % 16;
            lane += 1;
        }
        odd += 1;
    }
    Pieces { words, shifts }
}

static PIECES: [Pieces; 5] = [pieces(40), pieces(41), pieces(42), pieces(43), pieces(44)];
