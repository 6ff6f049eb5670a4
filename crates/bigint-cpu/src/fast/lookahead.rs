//! Carry-lookahead addition and subtraction of one number, 16 limbs at a time.
//!
//! As `reference::add::carry_lookahead` (Langer, Bringgaard) does it with the lanes
//! of a warp, here with those of an AVX-512 vector: a mask says which limbs generate a
//! carry, another which propagate one, and one scalar addition decides all of them.

#![allow(unsafe_code)] // AVX-512 intrinsics

use core::arch::x86_64::*;

use bigint_core::Limb;

use super::lanes::Avx512;

/// Limbs in a vector.
const LANES: usize = 16;

/// `r = a + b`, or `a - b` if `is_sub`, modulo `2^(32 n)` for `n = r.len()`; the carry or
/// borrow out. Operands of any lengths.
#[inline(always)]
pub(super) fn number(isa: Avx512, is_sub: bool, r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    let mut carry = 0;
    let whole = r.len().min(a.len()).min(b.len()) / LANES * LANES;
    let (r, r_rest) = r.split_at_mut(whole);
    let (a, a_rest) = a.split_at(whole);
    let (b, b_rest) = b.split_at(whole);
    let (r, _) = r.as_chunks_mut::<LANES>();
    let (a, _) = a.as_chunks::<LANES>();
    let (b, _) = b.as_chunks::<LANES>();
    for ((r, a), b) in r.iter_mut().zip(a).zip(b) {
        let result;
        (result, carry) = step(isa, is_sub, load(isa, a), load(isa, b), carry, LANES);
        store(isa, r, result);
    }
    for (i, r) in r_rest.chunks_mut(LANES).enumerate() {
        let a = load(isa, after(a_rest, i * LANES));
        let b = load(isa, after(b_rest, i * LANES));
        let result;
        (result, carry) = step(isa, is_sub, a, b, carry, r.len());
        store(isa, r, result);
    }
    carry
}

/// What is left of `x` from `at` on.
#[inline(always)]
fn after(x: &[Limb], at: usize) -> &[Limb] {
    &x[at.min(x.len())..]
}

/// The first limbs of `x`, zero beyond its end.
#[inline(always)]
fn load(_: Avx512, x: &[Limb]) -> __m512i {
    // SAFETY: the token proves that the machine has AVX-512 F; no more limbs are read
    // than `x` has.
    unsafe {
        if x.len() >= LANES {
            _mm512_loadu_epi32(x.as_ptr().cast())
        } else {
            _mm512_maskz_loadu_epi32(first(x.len()), x.as_ptr().cast())
        }
    }
}

/// As many lanes as `r` has limbs, 16 at most.
#[inline(always)]
fn store(_: Avx512, r: &mut [Limb], x: __m512i) {
    // SAFETY: the token proves that the machine has AVX-512 F; no more limbs are
    // written than `r` has.
    unsafe {
        if r.len() >= LANES {
            _mm512_storeu_epi32(r.as_mut_ptr().cast(), x);
        } else {
            _mm512_mask_storeu_epi32(r.as_mut_ptr().cast(), first(r.len()), x);
        }
    }
}

/// The mask of the first `count` lanes, fewer than 16.
#[inline(always)]
fn first(count: usize) -> __mmask16 {
    (1 << count) - 1
}

/// 16 limbs and the carry out of limb `count - 1`.
#[inline(always)]
fn step(
    _: Avx512,
    is_sub: bool,
    a: __m512i,
    b: __m512i,
    carry: Limb,
    count: usize,
) -> (__m512i, Limb) {
    // SAFETY: the token proves that the machine has AVX-512 F; no memory is touched.
    unsafe {
        let one = _mm512_set1_epi32(1);
        let (sum, generate, propagate) = if is_sub {
            let difference = _mm512_sub_epi32(a, b);
            let equal = _mm512_cmpeq_epi32_mask(a, b);
            (difference, _mm512_cmplt_epu32_mask(a, b), equal)
        } else {
            let sum = _mm512_add_epi32(a, b);
            let full = _mm512_cmpeq_epi32_mask(sum, _mm512_set1_epi32(-1));
            (sum, _mm512_cmplt_epu32_mask(sum, a), full)
        };
        let (generate, propagate) = (u32::from(generate), u32::from(propagate));
        let entering = ((generate << 1 | carry) + propagate) ^ propagate;
        let lanes = entering as __mmask16;
        let result = if is_sub {
            _mm512_mask_sub_epi32(sum, lanes, sum, one)
        } else {
            _mm512_mask_add_epi32(sum, lanes, sum, one)
        };
        (result, entering >> count & 1)
    }
}
