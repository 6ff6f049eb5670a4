//! The step from residues to limbs with AVX-512, eight coefficients together.
//!
//! The steps are those of `recombine`, with these differences:
//!
//! **Columns.** The constants are scaled by `2^(52 - h)`. The high half of a 52-bit product is then
//! its part from `2^h` on. The low half is the scaled part below, which one shift of the sum makes
//! exact.
//!
//! **Carries.** Lane `i` holds the pieces `E_i` and `O_i`. One pass moves the bits from `h` on to
//! the next piece, and leaves `O_i < 2^h` and `E_i < 2^h + 2^12`. Afterwards only carries of one
//! ripple on, out of lanes with `O_i = 2^h - 1`. Such a lane generates a carry if `E_i >= 2^h`, and
//! hands one on if `E_i = 2^h - 1`. One addition of the two masks finds all lanes that receive a
//! carry.
//!
//! **Packing.** Lane `i` now holds `2 h` bits, which start at bit `2 h i` of the `2 h` bytes of the
//! result. Word `w` starts at bit `s` of lane `k`, `64 w = 2 h k + s`. If `low` and `high` are the
//! two words of a lane's bits, word `w` is
//!
//! ```text
//! low[k] >> s | high[k] << (64 - s) | high[k] >> (s - 64) | low[k + 1] << (2 h - s)
//! ```
//!
//! where a shift by a negative amount, or by 64 or more, gives zero, as the instructions for
//! variable shifts do.
//! variable shifts do.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::avx512::Avx512Ring;
use super::field::{MIN_H, Ring, Row, Stored};
use super::recombine::{self, Inverses, Overflow, mixed_radix, scaled_products};
use super::stages::Stages;

/// The five pieces of eight coefficients.
type Columns = [__m512i; 5];

/// Expands to instructions that the token of the rings proves to be there.
macro_rules! vector {
    ($e:expr) => {
        // SAFETY: an `Avx512Ring` in hand proves the instructions. No memory is touched but whole,
        // aligned rows.
        unsafe { $e }
    };
}

impl Stages for Avx512Ring {
    #[inline(always)]
    fn recombine(
        rings: [Self; 4],
        residues: [&[Row]; 4],
        inverses: &Inverses,
        h: u32,
        out: &mut [u64],
    ) -> Overflow {
        together(rings, residues, inverses, h, out)
    }

    #[inline(always)]
    fn pointwise(
        self,
        _prime: usize,
        a: &mut [Row],
        b: Option<&[Row]>,
        roots: &[Stored],
        scale: &Stored,
    ) {
        self.products_of_nodes(a, b, roots, scale);
    }
}

/// Computes [`Stages::recombine`] for eight coefficients at a time.
#[inline(always)]
fn together(
    rings: [Avx512Ring; 4],
    residues: [&[Row]; 4],
    inverses: &Inverses,
    h: u32,
    out: &mut [u64],
) -> Overflow {
    let constants = &CONSTANTS[(h - MIN_H) as usize];
    let zero = vector!(_mm512_setzero_si512());
    let mut before: Columns = [zero; 5];
    let mut carries_before = zero;
    let mut carry = 0u32;
    let bytes = 8 * out.len();
    let [r0, r1, r2, r3] = residues;
    for (i, (((r0, r1), r2), r3)) in r0.iter().zip(r1).zip(r2).zip(r3).enumerate() {
        let loaded = [
            rings[0].load(0, r0),
            rings[1].load(0, r1),
            rings[2].load(0, r2),
            rings[3].load(0, r3),
        ];
        let d = columns(mixed_radix(rings, loaded, inverses), h, &constants.products);
        let (low, high);
        vector!({
            let mask = _mm512_set1_epi64((1 << h) - 1);
            let one = _mm512_set1_epi64(1);
            let shift = _mm_cvtsi64_si128(i64::from(h));
            let even = _mm512_add_epi64(d[0], _mm512_alignr_epi64::<7>(d[2], before[2]));
            let even = _mm512_add_epi64(even, _mm512_alignr_epi64::<6>(d[4], before[4]));
            let odd = _mm512_add_epi64(d[1], _mm512_alignr_epi64::<7>(d[3], before[3]));
            before = d;
            let odd = _mm512_add_epi64(odd, _mm512_srl_epi64(even, shift));
            let carries = _mm512_srl_epi64(odd, shift);
            let odd = _mm512_and_si512(odd, mask);
            let even = _mm512_add_epi64(
                _mm512_and_si512(even, mask),
                _mm512_alignr_epi64::<7>(carries, carries_before),
            );
            carries_before = carries;
            let full = _mm512_cmpeq_epu64_mask(odd, mask);
            let generate = u32::from(_mm512_mask_cmpgt_epu64_mask(full, even, mask));
            let propagate = u32::from(_mm512_mask_cmpeq_epu64_mask(full, even, mask));
            let sum = propagate + 2 * generate + carry;
            let receive = (sum ^ propagate) as u8;
            carry = sum >> 8;
            let even = _mm512_mask_add_epi64(even, receive, even, one);
            let to_odd = _mm512_cmpgt_epu64_mask(even, mask);
            let even = _mm512_and_si512(even, mask);
            let odd = _mm512_and_si512(_mm512_mask_add_epi64(odd, to_odd, odd, one), mask);
            let left = _mm_cvtsi64_si128(64 - i64::from(h));
            low = _mm512_or_si512(even, _mm512_sll_epi64(odd, shift));
            high = _mm512_srl_epi64(odd, left);
        });
        let [first, last] = &constants.words;
        let (first, last) = (pack(low, high, first), pack(low, high, last));
        let offset = 2 * h as usize * i;
        if offset + 88 <= bytes {
            // SAFETY: 64 + 24 bytes from `offset` on are inside `out`. The bytes after the row's
            // own 2 h are written as zero. They belong to the next rows, which overwrite them, or
            // stay zero.
            unsafe {
                let at = out.as_mut_ptr().cast::<u8>().add(offset);
                _mm512_storeu_si512(at.cast(), first);
                _mm512_mask_storeu_epi64(at.add(64).cast(), 0b111, last);
            }
        } else {
            let mut both = [Row::ZERO; 2];
            rings[0].store(0, &mut both[0], first);
            rings[0].store(0, &mut both[1], last);
            for k in 0..(bytes - offset.min(bytes)).min(2 * h as usize) {
                let byte = both[k / 64].0[k % 64 / 8] >> (8 * (k % 8)) & 0xff;
                let at = offset + k;
                let keep = out[at / 8] & !(0xff << (8 * (at % 8)));
                out[at / 8] = keep | byte << (8 * (at % 8));
            }
        }
    }
    let mut last = [Row::ZERO; 5];
    for (row, d) in last.iter_mut().zip(before) {
        rings[0].store(0, row, d);
    }
    rings[0].store(0, &mut last[0], carries_before);
    let [carries, _, d2, d3, d4] = last;
    let e0 = d2.0[7] + d4.0[6] + carries.0[7] + u64::from(carry);
    recombine::overflow(h, e0, d3.0[7], d4.0[7])
}

/// The five pieces of eight coefficients, computed from their mixed-radix digits. Each piece is
/// below `2^53`.
#[inline(always)]
fn columns(x: [__m512i; 4], h: u32, products: &[[u64; 4]; 3]) -> Columns {
    let zero = vector!(_mm512_setzero_si512());
    let mut low = [zero; 5];
    let mut high = [x[0], zero, zero, zero, zero];
    for (k, digits) in products.iter().enumerate() {
        for (i, &digit) in digits.iter().enumerate().take(k + 2) {
            vector!({
                let digit = _mm512_set1_epi64(digit as i64);
                low[i] = _mm512_madd52lo_epu64(low[i], x[k + 1], digit);
                high[i + 1] = _mm512_madd52hi_epu64(high[i + 1], x[k + 1], digit);
            });
        }
    }
    for (high, low) in high.iter_mut().zip(low) {
        vector!({
            let count = _mm_cvtsi64_si128(52 - i64::from(h));
            *high = _mm512_add_epi64(*high, _mm512_srl_epi64(low, count));
        });
    }
    high
}

/// The lanes and shifts from which the words of a row of lanes of `2 h` bits are made.
struct Words {
    lane: Row,
    next: Row,
    /// The shifts by `s`, `64 - s`, `s - 64` and `2 h - s`.
    shifts: [Row; 4],
}

#[inline(always)]
fn pack(low: __m512i, high: __m512i, words: &Words) -> __m512i {
    vector!({
        let lane = _mm512_load_si512(words.lane.0.as_ptr().cast());
        let next = _mm512_load_si512(words.next.0.as_ptr().cast());
        let [s0, s1, s2, s3] = &words.shifts;
        let this_low = _mm512_permutexvar_epi64(lane, low);
        let this_high = _mm512_permutexvar_epi64(lane, high);
        let next_low = _mm512_permutexvar_epi64(next, low);
        let a = _mm512_srlv_epi64(this_low, _mm512_load_si512(s0.0.as_ptr().cast()));
        let b = _mm512_sllv_epi64(this_high, _mm512_load_si512(s1.0.as_ptr().cast()));
        let c = _mm512_srlv_epi64(this_high, _mm512_load_si512(s2.0.as_ptr().cast()));
        let d = _mm512_sllv_epi64(next_low, _mm512_load_si512(s3.0.as_ptr().cast()));
        _mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d))
    })
}

struct Constants {
    products: [[u64; 4]; 3],
    /// Words 0 to 7 of a row's bytes, and the words after them.
    words: [Words; 2],
}

static CONSTANTS: [Constants; 5] = [
    constants(40),
    constants(41),
    constants(42),
    constants(43),
    constants(44),
];

const fn constants(h: u32) -> Constants {
    Constants {
        products: scaled_products(h),
        words: [words(h, 0), words(h, 8)],
    }
}

const fn words(h: u32, first: i64) -> Words {
    let bits = 2 * h as i64;
    let mut words = Words {
        lane: Row::ZERO,
        next: Row::ZERO,
        shifts: [Row::ZERO; 4],
    };
    let mut i = 0;
    while i < 8 {
        let bit = 64 * (first + i as i64);
        let (lane, s) = (bit / bits, bit % bits);
        // Words and lanes that the row does not have become zero.
        let none = 64;
        words.lane.0[i] = (lane % 8) as u64;
        words.next.0[i] = ((lane + 1) % 8) as u64;
        words.shifts[0].0[i] = if lane < 8 { s } else { none } as u64;
        words.shifts[1].0[i] = if lane < 8 { 64 - s } else { none } as u64;
        words.shifts[2].0[i] = if lane < 8 { s - 64 } else { none } as u64;
        words.shifts[3].0[i] = if lane < 7 { bits - s } else { none } as u64;
        i += 1;
    }
    words
}
