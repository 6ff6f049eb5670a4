//! Four lanes with digits of 52 bits, by AVX2 with the doubles of FMA.
//!
//! AVX2 multiplies only integers of 32 bits, but a fused multiply-add computes the product of two
//! 53-bit mantissas exactly and rounds it once. Two of them give both halves of a product of
//! digits. The idea is Emmart's and Weems'. Theirs rounds toward zero, and this one to nearest, as
//! Rust expects a processor to be set. A digit is a double, and a factor is `0 <= x < 2^52`:
//!
//! ```text
//! H = rn(x y + 2^104)            = 2^104 + h 2^52,            h = x y / 2^52, rounded
//! S = (2^104 - 3 2^51) - H       = -h 2^52 - 3 2^51
//! L = rn(x y + S)                = l - 3 2^51,                l = x y - h 2^52
//! ```
//!
//! **Exactness.** `x y <= (2^52 - 1)^2 < 2^104 - 2^52`, so the first sum lies in `[2^104, 2^105)`,
//! where doubles are `2^52` apart. So `H` is as stated, with `0 <= h <= 2^52 - 2` and
//! `|l| <= 2^51`. `S` is a multiple of `2^51` of a magnitude of at most
//! `(2^52 - 2) 2^52 + 3 2^51 = 2^104 - 2^51`, which is a double, so the difference is not rounded.
//! The last sum is an integer in `[-2^53, -2^52]`, which is a double too.
//!
//! **Columns.** The distance of doubles of one sign and binade, including the next power of two, is
//! proportional to that of their bits, read as integers. So `h` is the bits of `H` minus those of
//! `2^104`. As `L` is negative, `l` is the bits of `-3 2^51` minus those of `L`. The constants are
//! not subtracted from each product: columns begin with as many of them as they will get products
//! ([`Vector::BIAS`]), modulo `2^64`.
//!
//! **Cost** of a product of digits: two multiply-adds, a subtraction and two integer additions,
//! which three vector ports do in 5/3 cycles. That is `4 52^2 / (5/3) = 6490` bit products a cycle,
//! where `mulx` does at most 4096, and integer digits of 28 bits (a product and a sum) 4700.

#![allow(unsafe_code)] // the intrinsics of this instruction set

use core::arch::x86_64::*;

use bigint_core::Limb;

use super::vector::{BLOCK, BLOCK_WORDS, DIGIT_BITS, Vector, instructions};
use crate::fast::Path;

/// The proof that this machine has the instructions of [`Path::Avx2`].
#[derive(Clone, Copy, Debug)]
pub(in crate::fast) struct Avx2(());

impl Avx2 {
    /// The proof, if the machine has the instructions.
    pub(in crate::fast) fn detect() -> Option<Self> {
        Path::Avx2.is_supported().then_some(Avx2(()))
    }
}

/// Runs `f` in a function in which the compiler may use the instructions of [`Path::Avx2`].
#[target_feature(enable = "avx2,fma,bmi2,adx")]
fn compiled<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// The constants `2^52`, `2^104`, and the multiple of the first that centres low halves.
const TWO_52: f64 = (1_u64 << 52) as f64;
const TWO_104: f64 = TWO_52 * TWO_52;
const CENTRE: f64 = 1.5 * TWO_52;

/// The limbs of half a vector.
const HALF: usize = BLOCK / 2;

/// The first `count` of the 4 limbs at `at`, with zero for the others.
///
/// Masked accesses would do the same, but take tens of cycles on some machines.
///
/// # Safety
///
/// `count` limbs can be read there.
#[inline(always)]
unsafe fn load_some(at: *const Limb, count: usize) -> __m128i {
    // SAFETY: SSE2 is part of every x86-64. As many limbs are read as the caller promises.
    unsafe {
        match count {
            0 => _mm_setzero_si128(),
            1 => _mm_loadu_si32(at.cast()),
            2 => _mm_loadl_epi64(at.cast()),
            3 => {
                let third = _mm_loadu_si32(at.wrapping_add(2).cast());
                _mm_unpacklo_epi64(_mm_loadl_epi64(at.cast()), third)
            }
            _ => _mm_loadu_si128(at.cast()),
        }
    }
}

/// Stores what [`load_some`] loads.
///
/// # Safety
///
/// `count` limbs can be written there.
#[inline(always)]
unsafe fn store_some(at: *mut Limb, limbs: __m128i, count: usize) {
    // SAFETY: SSE2 is part of every x86-64. As many limbs are written as the caller promises.
    unsafe {
        match count {
            0 => {}
            1 => _mm_storeu_si32(at.cast(), limbs),
            2 => _mm_storel_epi64(at.cast(), limbs),
            3 => {
                _mm_storel_epi64(at.cast(), limbs);
                let third = _mm_unpackhi_epi64(limbs, limbs);
                _mm_storeu_si32(at.wrapping_add(2).cast(), third);
            }
            _ => _mm_storeu_si128(at.cast(), limbs),
        }
    }
}

// SAFETY (of every intrinsic without a pointer below): `self` proves that the machine has the
// instructions, as `Avx2::detect` is the only function that makes it.
impl Avx2 {
    /// The places where the numbers of the lanes begin.
    #[inline(always)]
    fn lanes(limbs: *const Limb, stride: usize) -> [*const Limb; 4] {
        [0, 1, 2, 3].map(|l| limbs.wrapping_add(l * stride))
    }

    #[inline(always)]
    fn zero(self) -> __m128i {
        // SAFETY: see above.
        unsafe { _mm_setzero_si128() }
    }

    /// Transposes four words of four numbers, each number in two halves, to four numbers of each
    /// word.
    ///
    /// Numbers come in halves, so that loads move what crosses the middle of a vector. The machine
    /// has only one port for that.
    #[inline(always)]
    fn transpose(self, v: [[__m128i; 2]; 4]) -> [__m256i; 4] {
        // SAFETY: see above.
        unsafe {
            let pair = |half: usize, i: usize| _mm256_set_m128i(v[i + 2][half], v[i][half]);
            let (t0, t1) = (pair(0, 0), pair(0, 1));
            let (t2, t3) = (pair(1, 0), pair(1, 1));
            [
                _mm256_unpacklo_epi64(t0, t1),
                _mm256_unpackhi_epi64(t0, t1),
                _mm256_unpacklo_epi64(t2, t3),
                _mm256_unpackhi_epi64(t2, t3),
            ]
        }
    }

    /// Does the reverse of [`Avx2::transpose`].
    #[inline(always)]
    fn transpose_back(self, v: [__m256i; 4]) -> [[__m128i; 2]; 4] {
        // SAFETY: see above.
        unsafe {
            let t0 = _mm256_unpacklo_epi64(v[0], v[1]);
            let t1 = _mm256_unpackhi_epi64(v[0], v[1]);
            let t2 = _mm256_unpacklo_epi64(v[2], v[3]);
            let t3 = _mm256_unpackhi_epi64(v[2], v[3]);
            let low = |t: __m256i| _mm256_castsi256_si128(t);
            let high = |t: __m256i| _mm256_extracti128_si256::<1>(t);
            [
                [low(t0), low(t2)],
                [low(t1), low(t3)],
                [high(t0), high(t2)],
                [high(t1), high(t3)],
            ]
        }
    }
}

impl Vector for Avx2 {
    type V = __m256i;
    type Product = [__m256i; 2];
    const LANES: usize = 4;
    const BIAS: [u64; 2] = [(-CENTRE).to_bits(), 0_u64.wrapping_sub(TWO_104.to_bits())];
    const LOW_IS_SIGNED: bool = true;
    const HALVES_TOGETHER: bool = true;
    const ROWS: usize = 5;

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

    instructions! {
        fn add(x: __m256i, y: __m256i) -> __m256i = _mm256_add_epi64;
        fn sub(x: __m256i, y: __m256i) -> __m256i = _mm256_sub_epi64;
        fn and(x: __m256i, y: __m256i) -> __m256i = _mm256_and_si256;
        fn or(x: __m256i, y: __m256i) -> __m256i = _mm256_or_si256;
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

    // AVX2 has no arithmetic shift of 64-bit words. So sums are kept 2^63 too large, which makes
    // them not negative, and carries 2^63 / 2^52 too large.
    #[inline(always)]
    fn no_carry(self) -> __m256i {
        self.splat(1 << (63 - DIGIT_BITS))
    }

    #[inline(always)]
    fn raise(self, column: __m256i) -> __m256i {
        self.add(column, self.splat((1 << 63) - (1 << (63 - DIGIT_BITS))))
    }

    #[inline(always)]
    fn carry(self, raised: __m256i, carry: __m256i) -> (__m256i, __m256i) {
        let sum = self.add(raised, carry);
        (sum, self.shift_right(sum, DIGIT_BITS))
    }

    // Above its digit the first sum holds the carry to the next column. The next sum is computed
    // with that carry, and its own carry is added to the sum after it.
    #[inline(always)]
    fn word(self, s: u32, raised: &[__m256i], sums: &[__m256i]) -> __m256i {
        let mut word = self.shift_right(sums[0], s);
        let mut at = DIGIT_BITS - s;
        for &column in &raised[1..] {
            word = self.add(word, self.shift_left(column, at));
            at += DIGIT_BITS;
        }
        word
    }

    #[inline(always)]
    fn funnel(self, high: __m256i, low: __m256i, s: u32) -> __m256i {
        self.or(self.shift_right(low, s), self.shift_left(high, 64 - s))
    }

    // An integer below 2^52 is the mantissa of a double in [2^52, 2^53).
    #[inline(always)]
    fn factor(self, x: __m256i) -> __m256i {
        let digit = self.and(x, self.splat((1 << DIGIT_BITS) - 1));
        let raised = self.or(digit, self.splat(TWO_52.to_bits()));
        // SAFETY: see above.
        unsafe {
            let raised = _mm256_castsi256_pd(raised);
            _mm256_castpd_si256(_mm256_sub_pd(raised, _mm256_set1_pd(TWO_52)))
        }
    }

    #[inline(always)]
    fn digit(self, factor: __m256i) -> __m256i {
        // SAFETY: see above.
        let raised = unsafe {
            let factor = _mm256_castsi256_pd(factor);
            _mm256_castpd_si256(_mm256_add_pd(factor, _mm256_set1_pd(TWO_52)))
        };
        self.and(raised, self.splat((1 << DIGIT_BITS) - 1))
    }

    #[inline(always)]
    fn product(self, x: __m256i, y: __m256i) -> [__m256i; 2] {
        // SAFETY: see above.
        unsafe {
            let (x, y) = (_mm256_castsi256_pd(x), _mm256_castsi256_pd(y));
            let h = _mm256_fmadd_pd(x, y, _mm256_set1_pd(TWO_104));
            let s = _mm256_sub_pd(_mm256_set1_pd(TWO_104 - CENTRE), h);
            let l = _mm256_fmadd_pd(x, y, s);
            [_mm256_castpd_si256(l), _mm256_castpd_si256(h)]
        }
    }

    #[inline(always)]
    fn add_low(self, column: __m256i, [l, _]: [__m256i; 2]) -> __m256i {
        self.sub(column, l)
    }

    #[inline(always)]
    fn add_high(self, column: __m256i, [_, h]: [__m256i; 2]) -> __m256i {
        self.add(column, h)
    }

    #[inline(always)]
    fn load_numbers(self, limbs: &[Limb], stride: usize, width: usize, words: &mut [__m256i]) {
        assert!(limbs.len() >= 3 * stride + width);
        let (blocks, _) = words.as_chunks_mut::<BLOCK_WORDS>();
        let (whole, rest) = (width / BLOCK, width % BLOCK);
        let lanes = Self::lanes(limbs.as_ptr(), stride);
        for (q, block) in blocks.iter_mut().enumerate().take(whole) {
            *block = self.transpose(lanes.map(|lane| {
                let at: *const __m128i = lane.wrapping_add(q * BLOCK).cast();
                // SAFETY: lane `l` has the 8 limbs from `l * stride + 8 q` on. They end at
                // `3 * stride + width` or before, which the assertion keeps in `limbs`.
                unsafe { [_mm_loadu_si128(at), _mm_loadu_si128(at.wrapping_add(1))] }
            }));
        }
        if let (true, Some(block)) = (rest > 0, blocks.get_mut(whole)) {
            // This is a loop, because a closure of this length would not be inlined.
            let mut numbers = [[self.zero(); 2]; 4];
            for (number, lane) in numbers.iter_mut().zip(lanes) {
                let at = lane.wrapping_add(whole * BLOCK);
                // SAFETY: as above, with `rest` limbs.
                *number = unsafe {
                    [
                        load_some(at, rest.min(HALF)),
                        load_some(at.wrapping_add(HALF), rest.saturating_sub(HALF)),
                    ]
                };
            }
            *block = self.transpose(numbers);
        }
    }

    #[inline(always)]
    fn store_numbers(self, words: &[__m256i], limbs: &mut [Limb], stride: usize, width: usize) {
        assert!(limbs.len() >= 3 * stride + width);
        let (blocks, _) = words.as_chunks::<BLOCK_WORDS>();
        let (whole, rest) = (width / BLOCK, width % BLOCK);
        let lanes = Self::lanes(limbs.as_mut_ptr(), stride);
        for (q, block) in blocks.iter().enumerate().take(whole) {
            for (lane, [low, high]) in lanes.iter().zip(self.transpose_back(*block)) {
                let at: *mut __m128i = lane.wrapping_add(q * BLOCK).cast_mut().cast();
                // SAFETY: lane `l` has the 8 limbs from `l * stride + 8 q` on. They end at
                // `3 * stride + width` or before, which the assertion keeps in `limbs`.
                unsafe {
                    _mm_storeu_si128(at, low);
                    _mm_storeu_si128(at.wrapping_add(1), high);
                }
            }
        }
        if let (true, Some(block)) = (rest > 0, blocks.get(whole)) {
            for (lane, [low, high]) in lanes.iter().zip(self.transpose_back(*block)) {
                let at = lane.wrapping_add(whole * BLOCK).cast_mut();
                // SAFETY: as above, with `rest` limbs.
                unsafe {
                    store_some(at, low, rest.min(HALF));
                    store_some(at.wrapping_add(HALF), high, rest.saturating_sub(HALF));
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

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: u64 = (1 << DIGIT_BITS) - 1;

    fn lanes(words: [u64; 4]) -> __m256i {
        bytemuck::cast(words)
    }

    /// Digits at the ends of every range, and digits whose products lie halfway between two
    /// multiples of `2^52`.
    fn digits() -> Vec<u64> {
        let mut digits = vec![0, 3, 5, LARGEST, LARGEST - 1];
        for s in 0..DIGIT_BITS {
            let power = 1 << s;
            digits.extend([power, power - 1, LARGEST - power, LARGEST ^ (power - 1)]);
            digits.push((3 * power) & LARGEST);
        }
        let mut random = 88_172_645_463_325_252_u64;
        for _ in 0..40 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            digits.push(random & LARGEST);
        }
        digits
    }

    #[test]
    fn a_digit_comes_back_from_its_factor() {
        let Some(isa) = Avx2::detect() else { return };
        for x in digits() {
            let above = lanes([x, x | 1 << DIGIT_BITS, x | u64::MAX << DIGIT_BITS, x]);
            let found = isa.vectorize(|| isa.digit(isa.factor(above)));
            assert_eq!(bytemuck::cast::<_, [u64; 4]>(found), [x; 4]);
        }
    }

    #[test]
    fn both_halves_of_every_product_are_exact() {
        let Some(isa) = Avx2::detect() else { return };
        let digits = digits();
        for &x in &digits {
            for four in digits.chunks_exact(4) {
                let y = [four[0], four[1], four[2], four[3]];
                let (low, high) = isa.vectorize(|| {
                    let product = isa.product(isa.factor(lanes([x; 4])), isa.factor(lanes(y)));
                    let [low, high] = Avx2::BIAS.map(|bias| isa.splat(bias));
                    (isa.add_low(low, product), isa.add_high(high, product))
                });
                let low: [i64; 4] = bytemuck::cast(low);
                let high: [i64; 4] = bytemuck::cast(high);
                for lane in 0..4 {
                    let found = i128::from(high[lane]) << DIGIT_BITS;
                    let found = found + i128::from(low[lane]);
                    assert_eq!(
                        found,
                        i128::from(x) * i128::from(y[lane]),
                        "{x} {}",
                        y[lane]
                    );
                    assert!((0..1 << DIGIT_BITS).contains(&high[lane]));
                    assert!(low[lane].unsigned_abs() <= 1 << (DIGIT_BITS - 1));
                }
            }
        }
    }

    #[test]
    fn negative_columns_borrow_from_those_above() {
        let Some(isa) = Avx2::detect() else { return };
        let most = i64::MAX - (1 << 12);
        for column in [0, 1, -1, 1 << 52, -(1 << 52), (1 << 52) - 1, most, -most] {
            for carry in [0, 1, -1, 1 << 11, -(1 << 11)] {
                let (sum, above) = isa.vectorize(|| {
                    let biased = isa.add(isa.no_carry(), isa.splat(carry as u64));
                    let raised = isa.raise(isa.splat(column as u64));
                    let (sum, above) = isa.carry(raised, biased);
                    (sum, isa.sub(above, isa.no_carry()))
                });
                let sum = bytemuck::cast::<_, [u64; 4]>(sum)[0] & LARGEST;
                let above = bytemuck::cast::<_, [i64; 4]>(above)[0];
                let total = i128::from(column) + i128::from(carry);
                assert_eq!((i128::from(above) << DIGIT_BITS) + i128::from(sum), total);
            }
        }
    }
}
