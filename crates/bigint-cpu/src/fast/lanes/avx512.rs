//! Eight lanes with digits of 52 bits, by AVX-512 with IFMA.

#![allow(unsafe_code)] // the intrinsics of this instruction set

use core::arch::x86_64::*;

use bigint_core::Limb;

use super::vector::{BLOCK, BLOCK_WORDS, DIGIT_BITS, Vector, instructions};
use crate::fast::Path;

/// The proof that this machine has the instructions of [`Path::Avx512Ifma`].
#[derive(Clone, Copy, Debug)]
pub(in crate::fast) struct Avx512(());

impl Avx512 {
    /// The proof, if the machine has the instructions.
    pub(in crate::fast) fn detect() -> Option<Self> {
        Path::Avx512Ifma.is_supported().then_some(Avx512(()))
    }
}

/// Runs `f` in a function in which the compiler may use the instructions of [`Path::Avx512Ifma`].
#[target_feature(
    enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma,avx512vbmi2,avx2,bmi2,adx"
)]
fn compiled<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// The mask of the first `count` of 8 limbs.
fn mask(count: usize) -> __mmask8 {
    debug_assert!(count <= BLOCK);
    ((1_u32 << count) - 1) as __mmask8
}

// The indices of words 0 and 1 of four numbers in two vectors, each of which holds words 0 to 3 of
// two numbers, and then of words 2 and 3. Applied to four words of four numbers, the same indices
// give the numbers again, because a 4 x 4 transposition is its own inverse.
const EVEN: [u64; 8] = [0, 4, 8, 12, 1, 5, 9, 13];
const ODD: [u64; 8] = [2, 6, 10, 14, 3, 7, 11, 15];

#[inline(always)]
fn pattern(indices: &[u64; 8]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read. Only methods of an `Avx512` call this,
    // which exists only if AVX-512 F was detected.
    unsafe { _mm512_loadu_si512(indices.as_ptr().cast()) }
}

impl Avx512 {
    /// The places where the numbers of the lanes begin.
    #[inline(always)]
    fn lanes(limbs: *const Limb, stride: usize) -> [*const Limb; 8] {
        [0, 1, 2, 3, 4, 5, 6, 7].map(|l| limbs.wrapping_add(l * stride))
    }

    /// Transposes four words of eight numbers to eight numbers of each word.
    #[inline(always)]
    fn transpose(self, numbers: [__m256i; 8]) -> [__m512i; BLOCK_WORDS] {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe {
            let pair = |i: usize| {
                let low = _mm512_castsi256_si512(numbers[i]);
                _mm512_inserti64x4::<1>(low, numbers[i + 1])
            };
            let (v0, v1, v2, v3) = (pair(0), pair(2), pair(4), pair(6));
            let even = pattern(&EVEN);
            let odd = pattern(&ODD);
            let t0 = _mm512_permutex2var_epi64(v0, even, v1);
            let t1 = _mm512_permutex2var_epi64(v0, odd, v1);
            let t2 = _mm512_permutex2var_epi64(v2, even, v3);
            let t3 = _mm512_permutex2var_epi64(v2, odd, v3);
            [
                _mm512_shuffle_i64x2::<0x44>(t0, t2),
                _mm512_shuffle_i64x2::<0xee>(t0, t2),
                _mm512_shuffle_i64x2::<0x44>(t1, t3),
                _mm512_shuffle_i64x2::<0xee>(t1, t3),
            ]
        }
    }

    /// Does the reverse of [`Avx512::transpose`].
    #[inline(always)]
    fn transpose_back(self, words: [__m512i; BLOCK_WORDS]) -> [__m256i; 8] {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe {
            let even = pattern(&EVEN);
            let odd = pattern(&ODD);
            let t0 = _mm512_shuffle_i64x2::<0x44>(words[0], words[1]);
            let t1 = _mm512_shuffle_i64x2::<0x44>(words[2], words[3]);
            let t2 = _mm512_shuffle_i64x2::<0xee>(words[0], words[1]);
            let t3 = _mm512_shuffle_i64x2::<0xee>(words[2], words[3]);
            let v0 = _mm512_permutex2var_epi64(t0, even, t1);
            let v1 = _mm512_permutex2var_epi64(t0, odd, t1);
            let v2 = _mm512_permutex2var_epi64(t2, even, t3);
            let v3 = _mm512_permutex2var_epi64(t2, odd, t3);
            [
                _mm512_castsi512_si256(v0),
                _mm512_extracti64x4_epi64::<1>(v0),
                _mm512_castsi512_si256(v1),
                _mm512_extracti64x4_epi64::<1>(v1),
                _mm512_castsi512_si256(v2),
                _mm512_extracti64x4_epi64::<1>(v2),
                _mm512_castsi512_si256(v3),
                _mm512_extracti64x4_epi64::<1>(v3),
            ]
        }
    }
}

/// The instructions that division, roots and divisors need beside those of [`Vector`]: shifts that
/// differ from lane to lane, masks of lanes, and doubles.
// SAFETY (of every intrinsic below): `self` proves that the machine has the instructions, as
// `Avx512::detect` is the only function that makes it.
impl Avx512 {
    instructions! {
        /// Shifts `x << s` in each lane, which gives 0 for 64 and more.
        pub(super) fn shift_left_each(x: __m512i, s: __m512i) -> __m512i = _mm512_sllv_epi64;
        /// Shifts `x >> s` in each lane without sign, which gives 0 for 64 and more.
        pub(super) fn shift_right_each(x: __m512i, s: __m512i) -> __m512i = _mm512_srlv_epi64;
        /// The lanes in which `x < y`, without sign.
        pub(super) fn less(x: __m512i, y: __m512i) -> u8 = _mm512_cmplt_epu64_mask;
        /// Converts signed words to doubles.
        pub(super) fn double(x: __m512i) -> __m512d = _mm512_cvtepi64_pd;
        /// Rounds doubles to signed words.
        pub(super) fn rounded(x: __m512d) -> __m512i = _mm512_cvtpd_epi64;
        /// Computes `x y + z`, rounded once.
        pub(super) fn fused(x: __m512d, y: __m512d, z: __m512d) -> __m512d = _mm512_fmadd_pd;
        /// Multiplies doubles, `x y`.
        pub(super) fn times(x: __m512d, y: __m512d) -> __m512d = _mm512_mul_pd;
        /// Divides doubles, `x / y`.
        pub(super) fn over(x: __m512d, y: __m512d) -> __m512d = _mm512_div_pd;
        /// The square roots of doubles.
        pub(super) fn root(x: __m512d) -> __m512d = _mm512_sqrt_pd;
        /// The same double in every lane.
        pub(super) fn splat_double(x: f64) -> __m512d = _mm512_set1_pd;
    }

    /// The lanes in which `x` has one of these bits.
    #[inline(always)]
    pub(super) fn test(self, x: __m512i, bits: u64) -> u8 {
        // SAFETY: see above.
        unsafe { _mm512_test_epi64_mask(x, self.splat(bits)) }
    }

    /// Selects `x` in the lanes of the mask, and `y` in the others.
    #[inline(always)]
    pub(super) fn select(self, mask: u8, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_mask_blend_epi64(mask, y, x) }
    }

    /// Shifts `x >> N` with sign.
    #[inline(always)]
    pub(super) fn shift_arithmetic<const N: u32>(self, x: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_srai_epi64::<N>(x) }
    }

    /// Subtracts `y` from `x` in the lanes of the mask, and keeps `x` in the others.
    #[inline(always)]
    pub(super) fn sub_in(self, mask: u8, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_mask_sub_epi64(x, mask, x, y) }
    }

    /// The lanes in which a double is more than 0.
    #[inline(always)]
    pub(super) fn positive(self, x: __m512d) -> u8 {
        // SAFETY: see above.
        unsafe { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(x, self.splat_double(0.0)) }
    }

    /// The word at each lane's index, which is below 64. No address depends on the index.
    #[inline(always)]
    pub(super) fn chosen(self, words: &[__m512i; 8], index: __m512i) -> __m512i {
        let of_16 = |k: usize| {
            // SAFETY: see above.
            unsafe { _mm512_permutex2var_epi64(words[2 * k], index, words[2 * k + 1]) }
        };
        let upper = self.test(index, 16);
        let of_32 = |k: usize| self.select(upper, of_16(2 * k + 1), of_16(2 * k));
        self.select(self.test(index, 32), of_32(1), of_32(0))
    }

    /// The place of the highest bit of words below `2^53`, with 1023 added, or 0 for a word of
    /// zero.
    #[inline(always)]
    pub(super) fn exponent(self, x: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_srli_epi64::<52>(_mm512_castpd_si512(self.double(x))) }
    }
}

// SAFETY (of every intrinsic without a pointer below): `self` proves that the machine has the
// instructions, as `Avx512::detect` is the only function that makes it.
impl Vector for Avx512 {
    type V = __m512i;
    type Product = [__m512i; 2];
    const LANES: usize = 8;
    const BIAS: [u64; 2] = [0; 2];
    const LOW_IS_SIGNED: bool = false;
    const HALVES_TOGETHER: bool = false;
    const ROWS: usize = 14;

    #[inline(always)]
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
        // SAFETY: `self` proves that the machine has the features of `compiled`.
        unsafe { compiled(f) }
    }

    #[inline(always)]
    fn splat(self, word: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_set1_epi64(word.cast_signed()) }
    }

    instructions! {
        fn add(x: __m512i, y: __m512i) -> __m512i = _mm512_add_epi64;
        fn sub(x: __m512i, y: __m512i) -> __m512i = _mm512_sub_epi64;
        fn and(x: __m512i, y: __m512i) -> __m512i = _mm512_and_si512;
        fn or(x: __m512i, y: __m512i) -> __m512i = _mm512_or_si512;
    }

    #[inline(always)]
    fn shift_left(self, x: __m512i, s: u32) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_sllv_epi64(x, self.splat(s.into())) }
    }

    #[inline(always)]
    fn shift_right(self, x: __m512i, s: u32) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_srlv_epi64(x, self.splat(s.into())) }
    }

    #[inline(always)]
    fn no_carry(self) -> __m512i {
        self.splat(0)
    }

    #[inline(always)]
    fn raise(self, column: __m512i) -> __m512i {
        column
    }

    #[inline(always)]
    fn carry(self, raised: __m512i, carry: __m512i) -> (__m512i, __m512i) {
        let sum = self.add(raised, carry);
        // SAFETY: see above.
        (sum, unsafe { _mm512_srai_epi64::<52>(sum) })
    }

    // The top of the last digit falls off. The word gets the high half of the product of the first
    // digit and `2^(52 - s)`: the multiplier cuts, shifts and adds.
    #[inline(always)]
    fn word(self, s: u32, _: &[__m512i], sums: &[__m512i]) -> __m512i {
        let last = sums.len() - 1;
        let word = self.shift_left(sums[last], last as u32 * DIGIT_BITS - s);
        let word = if s == 0 {
            self.or(word, self.digit(sums[0]))
        } else {
            self.add_high(word, [sums[0], self.splat(1 << (DIGIT_BITS - s))])
        };
        if last == 1 {
            return word;
        }
        self.or(word, self.shift_left(self.digit(sums[1]), DIGIT_BITS - s))
    }

    #[inline(always)]
    fn funnel(self, high: __m512i, low: __m512i, s: u32) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_shrdv_epi64(low, high, self.splat(s.into())) }
    }

    // The multiplier ignores the bits above a factor's digit.
    #[inline(always)]
    fn factor(self, x: __m512i) -> __m512i {
        x
    }

    #[inline(always)]
    fn digit(self, factor: __m512i) -> __m512i {
        self.and(factor, self.splat((1 << DIGIT_BITS) - 1))
    }

    // For either half, multiplying and adding are one instruction.
    #[inline(always)]
    fn product(self, x: __m512i, y: __m512i) -> [__m512i; 2] {
        [x, y]
    }

    #[inline(always)]
    fn add_low(self, column: __m512i, [x, y]: [__m512i; 2]) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_madd52lo_epu64(column, x, y) }
    }

    #[inline(always)]
    fn add_high(self, column: __m512i, [x, y]: [__m512i; 2]) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_madd52hi_epu64(column, x, y) }
    }

    #[inline(always)]
    fn load_numbers(self, limbs: &[Limb], stride: usize, width: usize, words: &mut [__m512i]) {
        assert!(limbs.len() >= 7 * stride + width);
        let (blocks, _) = words.as_chunks_mut::<BLOCK_WORDS>();
        let (whole, rest) = (width / BLOCK, width % BLOCK);
        let lanes = Self::lanes(limbs.as_ptr(), stride);
        for (q, block) in blocks.iter_mut().enumerate().take(whole) {
            // SAFETY: lane `l` has the 8 limbs from `l * stride + 8 q` on. They end at
            // `7 * stride + width` or before, which the assertion keeps in `limbs`.
            *block = self
                .transpose(lanes.map(|lane| unsafe {
                    _mm256_loadu_si256(lane.wrapping_add(q * BLOCK).cast())
                }));
        }
        if let (true, Some(block)) = (rest > 0, blocks.get_mut(whole)) {
            let mask = mask(rest);
            // SAFETY: as above, for the `rest` limbs of the mask. Masked limbs are not touched.
            *block = self.transpose(lanes.map(|lane| unsafe {
                _mm256_maskz_loadu_epi32(mask, lane.wrapping_add(whole * BLOCK).cast())
            }));
        }
    }

    #[inline(always)]
    fn store_numbers(self, words: &[__m512i], limbs: &mut [Limb], stride: usize, width: usize) {
        assert!(limbs.len() >= 7 * stride + width);
        let (blocks, _) = words.as_chunks::<BLOCK_WORDS>();
        let (whole, rest) = (width / BLOCK, width % BLOCK);
        let lanes = Self::lanes(limbs.as_mut_ptr(), stride);
        for (q, block) in blocks.iter().enumerate().take(whole) {
            for (lane, number) in lanes.iter().zip(self.transpose_back(*block)) {
                // SAFETY: lane `l` has the 8 limbs from `l * stride + 8 q` on. They end at
                // `7 * stride + width` or before, which the assertion keeps in `limbs`.
                unsafe {
                    _mm256_storeu_si256(lane.wrapping_add(q * BLOCK).cast_mut().cast(), number);
                }
            }
        }
        if let (true, Some(block)) = (rest > 0, blocks.get(whole)) {
            let mask = mask(rest);
            for (lane, number) in lanes.iter().zip(self.transpose_back(*block)) {
                // SAFETY: as above, for the `rest` limbs of the mask.
                unsafe {
                    let at = lane.wrapping_add(whole * BLOCK).cast_mut();
                    _mm256_mask_storeu_epi32(at.cast(), mask, number);
                }
            }
        }
    }

    #[inline(always)]
    fn load_rows(self, even: &[Limb], odd: &[Limb]) -> __m512i {
        assert!(even.len() >= 8 && odd.len() >= 8);
        // SAFETY: both slices have the 8 limbs that are read.
        unsafe {
            let low = _mm256_loadu_si256(even.as_ptr().cast());
            let high = _mm256_loadu_si256(odd.as_ptr().cast());
            _mm512_or_si512(
                _mm512_cvtepu32_epi64(low),
                _mm512_slli_epi64::<32>(_mm512_cvtepu32_epi64(high)),
            )
        }
    }

    #[inline(always)]
    fn store_row(self, words: __m512i, row: &mut [Limb]) {
        assert!(row.len() >= 8);
        // SAFETY: the slice has the 8 limbs that are written.
        unsafe {
            _mm256_storeu_si256(row.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(words));
        }
    }
}
