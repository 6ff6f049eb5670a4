//! Schoolbook within one number with AVX-512 IFMA, by columns, with eight digits of 52 bits in a
//! vector.
//!
//! Let `a = sum x_i D^i` and `b = sum y_i D^i` with `D = 2^52`. For every `i`, the result's digits
//! `8c .. 8c + 8` receive the low halves of `x_i y_(k - i)`, and one digit higher the high halves:
//!
//! ```text
//! low[8c..]  += lo52(x_i * y[8c - i ..])      high[8c..] += hi52(x_i * y[8c - i ..])
//! t[k] = low[k] + high[k - 1]
//! ```
//!
//! `x_i` is broadcast, `y[8c - i ..]` is one unaligned load from a copy of `y` with zeros on both
//! sides, and the accumulators never leave their registers. The halves are shifted against each
//! other by one digit once for each block of columns, not once for each product.
//!
//! **Bounds.** A column adds at most `m = min(digits)` halves below `2^52` to each accumulator, so
//! `t < 2 m 2^52 <= 2^64` for `m <= 2048`. [`mul`] cuts operands so that `m <= MAX_DIGITS = 160`.
//! The carry `t >> 52` is then at most `2 m < 2^12`. One vector pass leaves digits of at most
//! `2^52 - 1 + 2^12`, and afterwards only carries of one ripple on. They are found for all eight
//! digits by one addition of bit masks: a digit of exactly `D - 1` propagates a carry, and one of
//! at least `D` generates it.
//!
//! **Cost**: `m (n + 15) / 8` pairs of multiply-adds for `m x n` digits.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::super::isa::Avx512;
use super::super::limbs::add_assign;

/// The limbs of the shorter operand below which the conversions cost more than they save.
pub(super) const fn min_limbs(is_square: bool) -> usize {
    if is_square { 22 } else { 13 }
}

/// The limbs of either operand in one pass.
const MAX_LIMBS: usize = 128;
/// The digits of `MAX_LIMBS` limbs, rounded up to whole vectors.
const MAX_DIGITS: usize = (MAX_LIMBS * 64).div_ceil(52).next_multiple_of(8);
/// The zeros on both sides of the digits that are loaded unaligned.
const PAD: usize = 16;

/// Aligned words, which are written through pointers.
#[repr(align(64))]
struct Digits {
    _words: [u64; MAX_DIGITS + 2 * PAD],
}

/// Computes `r = a b`, for lengths as [`super::mul`] states them.
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64], token: Avx512) {
    if a.len() <= MAX_LIMBS && b.len() <= MAX_LIMBS {
        return mul_pass(r, a, b, token);
    }
    r.fill(0);
    let mut part = [0; 2 * MAX_LIMBS];
    for (i, a) in a.chunks(MAX_LIMBS).enumerate() {
        for (j, b) in b.chunks(MAX_LIMBS).enumerate() {
            let part = &mut part[..a.len() + b.len()];
            mul_pass(part, a, b, token);
            add_assign(&mut r[(i + j) * MAX_LIMBS..], part);
        }
    }
}

/// Whether [`mul_low`] takes operands of these lengths and is worth it.
pub(super) fn takes_low(a: &[u64], b: &[u64]) -> bool {
    a.len().min(b.len()) >= 20 && a.len().max(b.len()) <= MAX_LIMBS
}

/// Sets `r` to the low limbs of `a b`, for operands that [`takes_low`] accepts. The columns above
/// `r` are left out.
pub(super) fn mul_low(r: &mut [u64], a: &[u64], b: &[u64], token: Avx512) {
    mul_pass(r, a, b, token);
}

fn mul_pass(r: &mut [u64], a: &[u64], b: &[u64], _token: Avx512) {
    // SAFETY: the token proves every feature that the function enables.
    unsafe { mul_avx512(r, a, b) }
}

#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma,bmi2")]
fn mul_avx512(r: &mut [u64], a: &[u64], b: &[u64]) {
    assert!(r.len() <= a.len() + b.len() && a.len() <= MAX_LIMBS && b.len() <= MAX_LIMBS);
    let mut x = std::mem::MaybeUninit::<Digits>::uninit();
    let mut y = std::mem::MaybeUninit::<Digits>::uninit();
    let (x, y) = (x.as_mut_ptr().cast::<u64>(), y.as_mut_ptr().cast::<u64>());
    let (nx, ny) = ((a.len() * 64).div_ceil(52), (b.len() * 64).div_ceil(52));
    // SAFETY: `to_digits` writes `PAD + round_up(n, 8) + PAD` words, which are within `Digits`, as
    // `n <= MAX_DIGITS`. Both buffers are aligned to 64 bytes.
    unsafe {
        to_digits(x, a);
        to_digits(y, b);
    }
    let square = std::ptr::eq(a, b);
    let blocks = (nx + ny).div_ceil(8).min((r.len() * 64).div_ceil(8 * 52));
    let mut out = Output::new(r);
    let mut block = 0;
    while block < blocks {
        // SAFETY: the digits of both operands are in place, with their padding.
        let [low, high] = unsafe {
            if square {
                square_columns(y.add(PAD), ny, block)
            } else {
                columns(x.add(PAD), nx, y.add(PAD), ny, block)
            }
        };
        out.push(low[0], high[0]);
        if block + 1 < blocks {
            out.push(low[1], high[1]);
        }
        block += 2;
    }
}

/// Writes the 52-bit digits of `limbs` at `digits + PAD`, with zeros around them.
///
/// # Safety `digits` is aligned to 64 bytes and valid for writes of
/// `PAD + ceil(64 limbs.len() / 52)` words, rounded up to a vector, and `PAD` words more.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma")]
unsafe fn to_digits(digits: *mut u64, limbs: &[u64]) {
    // Digit j starts at bit 52 j, which is bit 52 j % 16 of the 16-bit word 52 j / 16. Four words
    // from there hold 64 bits, of which at least 12 + 52 are needed.
    const fn words() -> [u16; 32] {
        let mut index = [0; 32];
        let mut i = 0;
        while i < 32 {
            index[i] = (52 * (i / 4) / 16 + i % 4) as u16;
            i += 1;
        }
        index
    }
    const WORDS: [u16; 32] = words();
    let bytes = limbs.len() * 8;
    let zero = _mm512_setzero_si512();
    // SAFETY: the vectors of zeros before and after the digits are inside the memory that the
    // caller vouches for. Loads are masked to the limbs.
    unsafe {
        let index = _mm512_loadu_si512(WORDS.as_ptr().cast());
        let shift = _mm512_setr_epi64(0, 4, 8, 12, 0, 4, 8, 12);
        let mask = _mm512_set1_epi64((1 << 52) - 1);
        for i in 0..PAD / 8 {
            _mm512_store_si512(digits.add(8 * i).cast(), zero);
        }
        let mut to = digits.add(PAD);
        let mut offset = 0;
        while offset < bytes {
            let from = limbs.as_ptr().cast::<u8>().add(offset);
            let v = if bytes - offset >= 64 {
                _mm512_loadu_si512(from.cast())
            } else {
                _mm512_maskz_loadu_epi8((1 << (bytes - offset)) - 1, from.cast())
            };
            let v = _mm512_permutexvar_epi16(index, v);
            let v = _mm512_and_si512(_mm512_srlv_epi64(v, shift), mask);
            _mm512_store_si512(to.cast(), v);
            to = to.add(8);
            offset += 52;
        }
        for i in 0..PAD / 8 {
            _mm512_store_si512(to.add(8 * i).cast(), zero);
        }
    }
}

/// The low and high accumulators of the column blocks `block` and `block + 1`.
///
/// # Safety `x` points at `nx` digits, `y` points at `ny` digits with `PAD` zeros on both sides,
/// and `8 block < nx + ny`.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma")]
#[inline]
unsafe fn columns(
    x: *const u64,
    nx: usize,
    y: *const u64,
    ny: usize,
    block: usize,
) -> [[__m512i; 2]; 2] {
    let zero = _mm512_setzero_si512();
    let mut low = [[zero; 2]; 2];
    let mut high = [[zero; 2]; 2];
    // y[8 block - i .. 8 block - i + 16] meets [0, ny) only for these i.
    let first = (8 * block + 1).saturating_sub(ny);
    let last = nx.min(8 * block + 16);
    let mut i = first;
    // SAFETY: 8 block - i >= 8 block - last + 1 >= -15 and 8 block + 16 - i <= 8 block + 16 - first
    // <= ny + 15, so the loads are inside the padding.
    unsafe {
        let step =
            |i: usize, chain: usize, low: &mut [[__m512i; 2]; 2], high: &mut [[__m512i; 2]; 2]| {
                let xi = _mm512_set1_epi64(*x.add(i) as i64);
                let at = y.offset(8 * block as isize - i as isize);
                let y0 = _mm512_loadu_si512(at.cast());
                let y1 = _mm512_loadu_si512(at.add(8).cast());
                low[chain][0] = _mm512_madd52lo_epu64(low[chain][0], xi, y0);
                high[chain][0] = _mm512_madd52hi_epu64(high[chain][0], xi, y0);
                low[chain][1] = _mm512_madd52lo_epu64(low[chain][1], xi, y1);
                high[chain][1] = _mm512_madd52hi_epu64(high[chain][1], xi, y1);
            };
        while i + 1 < last {
            step(i, 0, &mut low, &mut high);
            step(i + 1, 1, &mut low, &mut high);
            i += 2;
        }
        if i < last {
            step(i, 0, &mut low, &mut high);
        }
    }
    [
        [
            _mm512_add_epi64(low[0][0], low[1][0]),
            _mm512_add_epi64(low[0][1], low[1][1]),
        ],
        [
            _mm512_add_epi64(high[0][0], high[1][0]),
            _mm512_add_epi64(high[0][1], high[1][1]),
        ],
    ]
}

/// The [`columns`] of a square: `x_i x_j` for `i < j` twice, and `x_i^2` once.
///
/// # Safety As for [`columns`], with `x` in both places.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma")]
#[inline]
unsafe fn square_columns(x: *const u64, n: usize, block: usize) -> [[__m512i; 2]; 2] {
    let zero = _mm512_setzero_si512();
    let mut low = [[zero; 2]; 2];
    let mut high = [[zero; 2]; 2];
    let first = (8 * block + 1).saturating_sub(n);
    let middle = n.min(4 * block);
    let last = n.min(4 * block + 8);
    // SAFETY: the loads are those of `columns`, for fewer `i`. The digits that are squared are
    // `x[4 block .. 4 block + 8]`. The first of them exists, as 8 block < 2 n, and the padding
    // follows the last.
    unsafe {
        let step = |i: usize,
                    masks: [u8; 2],
                    chain: usize,
                    low: &mut [[__m512i; 2]; 2],
                    high: &mut [[__m512i; 2]; 2]| {
            let xi = _mm512_set1_epi64(*x.add(i) as i64);
            let at = x.offset(8 * block as isize - i as isize);
            let y0 = _mm512_maskz_loadu_epi64(masks[0], at.cast());
            let y1 = _mm512_maskz_loadu_epi64(masks[1], at.add(8).cast());
            low[chain][0] = _mm512_madd52lo_epu64(low[chain][0], xi, y0);
            high[chain][0] = _mm512_madd52hi_epu64(high[chain][0], xi, y0);
            low[chain][1] = _mm512_madd52lo_epu64(low[chain][1], xi, y1);
            high[chain][1] = _mm512_madd52hi_epu64(high[chain][1], xi, y1);
        };
        let whole = [0xff; 2];
        let mut i = first;
        while i + 1 < middle {
            step(i, whole, 0, &mut low, &mut high);
            step(i + 1, whole, 1, &mut low, &mut high);
            i += 2;
        }
        if i < middle {
            step(i, whole, 0, &mut low, &mut high);
        }
        // Column 8 block + l takes x_i x_(k - i) only for 2 i < k.
        let lanes = |i: usize| {
            let lanes = 0xffff_u32 << (2 * (i - 4 * block) + 1);
            [lanes as u8, (lanes >> 8) as u8]
        };
        let mut i = middle.max(first);
        while i + 1 < last {
            step(i, lanes(i), 0, &mut low, &mut high);
            step(i + 1, lanes(i + 1), 1, &mut low, &mut high);
            i += 2;
        }
        if i < last {
            step(i, lanes(i), 0, &mut low, &mut high);
        }
        let mut result = [[zero; 2]; 2];
        for b in 0..2 {
            let digits = _mm512_loadu_si512(x.add(4 * block + 4 * b).cast());
            let digits = _mm512_maskz_expand_epi64(0x55, digits);
            let l = _mm512_add_epi64(low[0][b], low[1][b]);
            let h = _mm512_add_epi64(high[0][b], high[1][b]);
            result[0][b] = _mm512_madd52lo_epu64(_mm512_add_epi64(l, l), digits, digits);
            result[1][b] = _mm512_madd52hi_epu64(_mm512_add_epi64(h, h), digits, digits);
        }
        result
    }
}

/// The output, which carries finished columns upwards and packs them into limbs.
struct Output<'a> {
    bytes: &'a mut [u64],
    offset: usize,
    high: __m512i,
    carries: __m512i,
    carry: u32,
}

impl<'a> Output<'a> {
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma")]
    #[inline]
    fn new(limbs: &'a mut [u64]) -> Self {
        let zero = _mm512_setzero_si512();
        Output {
            bytes: limbs,
            offset: 0,
            high: zero,
            carries: zero,
            carry: 0,
        }
    }

    /// Takes the next eight columns.
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512ifma")]
    #[inline]
    fn push(&mut self, low: __m512i, high: __m512i) {
        let mask = _mm512_set1_epi64((1 << 52) - 1);
        let t = _mm512_add_epi64(low, _mm512_alignr_epi64::<7>(high, self.high));
        let carries = _mm512_srli_epi64::<52>(t);
        let d = _mm512_add_epi64(
            _mm512_and_si512(t, mask),
            _mm512_alignr_epi64::<7>(carries, self.carries),
        );
        let generate = u32::from(_mm512_cmpgt_epu64_mask(d, mask));
        let propagate = u32::from(_mm512_cmpeq_epu64_mask(d, mask));
        let sum = propagate + 2 * generate + self.carry;
        let receive = (sum ^ propagate) as u8;
        let one = _mm512_set1_epi64(1);
        let d = _mm512_and_si512(_mm512_mask_add_epi64(d, receive, d, one), mask);
        self.high = high;
        self.carries = carries;
        self.carry = sum >> 8;

        // Limb m of the seven that 8 x 52 bits touch starts at bit 64 m - 52 j of digit j, and
        // reaches into digit j + 1 and sometimes into j + 2.
        let part = |j: [i64; 7], d| {
            let index = _mm512_setr_epi64(j[0], j[1], j[2], j[3], j[4], j[5], j[6], 0);
            _mm512_permutexvar_epi64(index, d)
        };
        let a = _mm512_srlv_epi64(
            part([0, 1, 2, 3, 4, 6, 7], d),
            _mm512_setr_epi64(0, 12, 24, 36, 48, 8, 20, 64),
        );
        let b = _mm512_sllv_epi64(
            part([1, 2, 3, 4, 5, 7, 0], d),
            _mm512_setr_epi64(52, 40, 28, 16, 4, 44, 64, 64),
        );
        let c = _mm512_sllv_epi64(
            part([0, 0, 0, 0, 6, 0, 0], d),
            _mm512_setr_epi64(64, 64, 64, 64, 56, 64, 64, 64),
        );
        let limbs = _mm512_or_si512(_mm512_or_si512(a, b), c);
        let left = self.bytes.len() * 8 - self.offset.min(self.bytes.len() * 8);
        // SAFETY: the mask keeps the store within the `left` bytes of the slice from `offset` on.
        // The half limb after these 52 bytes is written as zero, and the next block overwrites it.
        unsafe {
            let at = self.bytes.as_mut_ptr().cast::<u8>().add(self.offset);
            if left >= 56 {
                _mm512_mask_storeu_epi64(at.cast(), 0x7f, limbs);
            } else {
                _mm512_mask_storeu_epi8(at.cast(), (1 << left) - 1, limbs);
            }
        }
        self.offset = (self.offset + 52).min(self.bytes.len() * 8);
    }
}
