//! Four lanes and 28-bit digits: AVX2.

#![allow(unsafe_code)] // the intrinsics of this instruction set

use core::arch::x86_64::*;

use bigint_core::Limb;

use super::vector::{BLOCK, BLOCK_WORDS, Vector};
use crate::fast::Path;

/// The proof that this machine has the instructions of [`Path::Avx2`].
#[derive(Clone, Copy, Debug)]
pub(in crate::fast) struct Avx2(());

impl Avx2 {
    /// The proof, if there is one.
    pub(in crate::fast) fn detect() -> Option<Self> {
        Path::Avx2.is_supported().then_some(Avx2(()))
    }
}

/// Runs `f` where the compiler may use the instructions of [`Path::Avx2`].
#[target_feature(enable = "avx2,bmi2,adx")]
fn compiled<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// All bits of the first `count` of 8 limbs.
#[inline(always)]
fn mask(count: usize) -> __m256i {
    const ONES: [u32; 2 * BLOCK] = {
        let mut ones = [0; 2 * BLOCK];
        let mut i = 0;
        while i < BLOCK {
            ones[i] = u32::MAX;
            i += 1;
        }
        ones
    };
    let window = &ONES[BLOCK - count..][..BLOCK];
    // SAFETY: the window has the 8 words that are read; this is only called by the
    // methods of an `Avx2`, which exists only where AVX2 was detected.
    unsafe { _mm256_loadu_si256(window.as_ptr().cast()) }
}

// SAFETY (of every intrinsic without a pointer below): `self` proves that the
// machine has the instructions; see `Avx2::detect`.
impl Avx2 {
    /// Where the number of each lane begins.
    #[inline(always)]
    fn lanes(limbs: *const Limb, stride: usize) -> [*const Limb; 4] {
        [0, 1, 2, 3].map(|l| limbs.wrapping_add(l * stride))
    }

    /// Four words of four numbers to four numbers of each word, or back.
    #[inline(always)]
    fn transpose(self, v: [__m256i; 4]) -> [__m256i; 4] {
        // SAFETY: see above.
        unsafe {
            let t0 = _mm256_unpacklo_epi64(v[0], v[1]);
            let t1 = _mm256_unpackhi_epi64(v[0], v[1]);
            let t2 = _mm256_unpacklo_epi64(v[2], v[3]);
            let t3 = _mm256_unpackhi_epi64(v[2], v[3]);
            [
                _mm256_permute2x128_si256::<0x20>(t0, t2),
                _mm256_permute2x128_si256::<0x20>(t1, t3),
                _mm256_permute2x128_si256::<0x31>(t0, t2),
                _mm256_permute2x128_si256::<0x31>(t1, t3),
            ]
        }
    }
}

impl Vector for Avx2 {
    type V = __m256i;
    const LANES: usize = 4;
    const DIGIT_BITS: u32 = 28;
    const HALVES: bool = false;
    const CUTS_FACTORS: bool = false;
    const HEADROOM: u64 = 1 << (63 - 56);
    const ROWS: usize = 6;

    #[inline(always)]
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
        // SAFETY: `self` proves that the machine has the features of `compiled`.
        unsafe { compiled(f) }
    }

    #[inline(always)]
    fn splat(self, word: u64) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_set1_epi64x(word.cast_signed()) }
    }

    #[inline(always)]
    fn add(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_add_epi64(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_sub_epi64(x, y) }
    }

    #[inline(always)]
    fn and(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_and_si256(x, y) }
    }

    #[inline(always)]
    fn or(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_or_si256(x, y) }
    }

    #[inline(always)]
    fn shift_left(self, x: __m256i, s: u32) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_sllv_epi64(x, self.splat(s.into())) }
    }

    #[inline(always)]
    fn shift_right(self, x: __m256i, s: u32) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_srlv_epi64(x, self.splat(s.into())) }
    }

    // AVX2 has no arithmetic shift of 64-bit words. Sums are therefore kept 2^63 too
    // large, so that they are not negative, and carries 2^63 / 2^28 = 2^35 too large.
    #[inline(always)]
    fn no_carry(self) -> __m256i {
        self.splat(1 << 35)
    }

    #[inline(always)]
    fn carry(self, column: __m256i, carry: __m256i) -> (__m256i, __m256i) {
        let sum = self.add(self.add(column, self.splat((1 << 63) - (1 << 35))), carry);
        (sum, self.shift_right(sum, 28))
    }

    #[inline(always)]
    fn funnel(self, high: __m256i, low: __m256i, s: u32) -> __m256i {
        self.or(self.shift_right(low, s), self.shift_left(high, 64 - s))
    }

    #[inline(always)]
    fn multiply_low(self, c: __m256i, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: see above.
        unsafe { _mm256_add_epi64(c, _mm256_mul_epu32(x, y)) }
    }

    #[inline(always)]
    fn multiply_high(self, c: __m256i, _: __m256i, _: __m256i) -> __m256i {
        c
    }

    #[inline(always)]
    fn load_numbers(self, limbs: &[Limb], stride: usize, width: usize, words: &mut [__m256i]) {
        assert!(limbs.len() >= 3 * stride + width);
        let (blocks, _) = words.as_chunks_mut::<BLOCK_WORDS>();
        let (whole, rest) = (width / BLOCK, width % BLOCK);
        let lanes = Self::lanes(limbs.as_ptr(), stride);
        for (q, block) in blocks.iter_mut().enumerate().take(whole) {
            // SAFETY: lane `l` has the 8 limbs from `l * stride + 8 q` on: they end at
            // `3 * stride + width` or before, which the assertion keeps in `limbs`.
            *block = self
                .transpose(lanes.map(|lane| unsafe {
                    _mm256_loadu_si256(lane.wrapping_add(q * BLOCK).cast())
                }));
        }
        if let (true, Some(block)) = (rest > 0, blocks.get_mut(whole)) {
            let mask = mask(rest);
            // SAFETY: as above for the `rest` limbs of the mask; masked limbs are not
            // touched.
            *block = self.transpose(lanes.map(|lane| unsafe {
                _mm256_maskload_epi32(lane.wrapping_add(whole * BLOCK).cast(), mask)
            }));
        }
    }

    #[inline(always)]
    fn store_numbers(self, words: &[__m256i], limbs: &mut [Limb], stride: usize, width: usize) {
        assert!(limbs.len() >= 3 * stride + width);
        let (blocks, _) = words.as_chunks::<BLOCK_WORDS>();
        let (whole, rest) = (width / BLOCK, width % BLOCK);
        let lanes = Self::lanes(limbs.as_mut_ptr(), stride);
        for (q, block) in blocks.iter().enumerate().take(whole) {
            for (lane, number) in lanes.iter().zip(self.transpose(*block)) {
                // SAFETY: lane `l` has the 8 limbs from `l * stride + 8 q` on: they end
                // at `3 * stride + width` or before, which the assertion keeps in
                // `limbs`.
                unsafe {
                    _mm256_storeu_si256(lane.wrapping_add(q * BLOCK).cast_mut().cast(), number);
                }
            }
        }
        if let (true, Some(block)) = (rest > 0, blocks.get(whole)) {
            let mask = mask(rest);
            for (lane, number) in lanes.iter().zip(self.transpose(*block)) {
                // SAFETY: as above for the `rest` limbs of the mask.
                unsafe {
                    let at = lane.wrapping_add(whole * BLOCK).cast_mut();
                    _mm256_maskstore_epi32(at.cast(), mask, number);
                }
            }
        }
    }

    #[inline(always)]
    fn load_rows(self, even: &[Limb], odd: &[Limb]) -> __m256i {
        assert!(even.len() >= 4 && odd.len() >= 4);
        // SAFETY: both slices have the 4 limbs that are read.
        unsafe {
            let low = _mm_loadu_si128(even.as_ptr().cast());
            let high = _mm_loadu_si128(odd.as_ptr().cast());
            _mm256_or_si256(
                _mm256_cvtepu32_epi64(low),
                _mm256_slli_epi64::<32>(_mm256_cvtepu32_epi64(high)),
            )
        }
    }

    #[inline(always)]
    fn store_row(self, words: __m256i, row: &mut [Limb]) {
        assert!(row.len() >= 4);
        // SAFETY: the slice has the 4 limbs that are written.
        unsafe {
            let low = _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
            _mm_storeu_si128(row.as_mut_ptr().cast(), _mm256_castsi256_si128(low));
        }
    }
}
