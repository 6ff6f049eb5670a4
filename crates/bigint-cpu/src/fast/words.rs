//! Addition and subtraction in 64-bit words, carry by carry.
//!
//! What a machine without AVX-512 does, in safe Rust. Numbers of common widths are
//! added without a loop: their carries are independent, and the machine works at
//! several at once.

use bigint_core::{LIMB_BITS, Limb};

use super::linear::{Linear, Stretch, TILE_LIMBS};
use super::{prefetch, stream};

/// `r = a op b` for every number of a stretch, and the carries. Past the caches if
/// `is_streamed`.
#[inline(always)]
pub(super) fn stretch<O: Linear>(stretch: Stretch<'_>, is_streamed: bool) {
    if !is_streamed {
        return numbers::<O>(stretch);
    }
    let (width, operands) = (stretch.width, stretch.operands);
    let in_tile = (TILE_LIMBS / width).max(1);
    let mut buffer = vec![0; in_tile * width];
    let mut carries = stretch.carries;
    for (t, tile) in stretch.r.chunks_mut(in_tile * width).enumerate() {
        let buffer = &mut buffer[..tile.len()];
        let count = tile.len() / width;
        let operands = operands.map(|x| {
            let x = x.numbers(t * in_tile, count);
            x.limbs
                .chunks(prefetch::LINE)
                .for_each(prefetch::ahead::<true>);
            x
        });
        numbers::<O>(Stretch {
            r: buffer,
            width,
            operands,
            carries: carries
                .as_deref_mut()
                .map(|words| &mut words[t * in_tile..][..count]),
        });
        stream::copy(tile, buffer);
    }
    stream::fence();
}

#[inline(always)]
fn numbers<O: Linear>(stretch: Stretch<'_>) {
    let [a, b] = stretch.operands;
    if a.width == b.width {
        match (stretch.width, a.width) {
            (1, 1) => return fixed::<O, 1, 1>(stretch),
            (2, 1) => return fixed::<O, 2, 1>(stretch),
            (2, 2) => return fixed::<O, 2, 2>(stretch),
            (3, 2) => return fixed::<O, 3, 2>(stretch),
            (4, 4) => return fixed::<O, 4, 4>(stretch),
            (5, 4) => return fixed::<O, 5, 4>(stretch),
            (8, 8) => return fixed::<O, 8, 8>(stretch),
            (9, 8) => return fixed::<O, 9, 8>(stretch),
            (16, 16) => return fixed::<O, 16, 16>(stretch),
            (17, 16) => return fixed::<O, 17, 16>(stretch),
            _ => {}
        }
    }
    let mut carries = stretch.carries;
    for (i, r) in stretch.r.chunks_exact_mut(stretch.width).enumerate() {
        let carry = number::<O>(r, a.number(i), b.number(i));
        if let Some(carries) = &mut carries {
            carries[i] = carry.into();
        }
    }
}

/// Numbers of `R` limbs from operands of `N`.
#[inline(always)]
fn fixed<O: Linear, const R: usize, const N: usize>(stretch: Stretch<'_>) {
    let [(a, _), (b, _)] = stretch.operands.map(|x| x.limbs.as_chunks::<N>());
    let (r, _) = stretch.r.as_chunks_mut::<R>();
    let mut carries = stretch.carries;
    for (i, ((r, a), b)) in r.iter_mut().zip(a).zip(b).enumerate() {
        let mut carry = both::<O, N>(r, a, b, false);
        for r in &mut r[N..] {
            (*r, carry) = O::limbs(0, 0, carry);
        }
        if let Some(carries) = &mut carries {
            carries[i] = carry.into();
        }
    }
}

/// One number: `r = a op b`, and the carry out.
#[inline(always)]
fn number<O: Linear>(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> bool {
    let (a, a_rest) = a.split_at(a.len().min(b.len()));
    let (b, b_rest) = b.split_at(a.len());
    let (r, r_rest) = r.split_at_mut(a.len());
    let (r, r_tail) = r.as_chunks_mut::<16>();
    let (a, a_tail) = a.as_chunks::<16>();
    let (b, b_tail) = b.as_chunks::<16>();
    let mut carry = false;
    for ((r, a), b) in r.iter_mut().zip(a).zip(b) {
        carry = both::<O, 16>(r, a, b, carry);
    }
    for ((r, a), b) in r_tail.iter_mut().zip(a_tail).zip(b_tail) {
        (*r, carry) = O::limbs(*a, *b, carry);
    }
    for (i, r) in r_rest.iter_mut().enumerate() {
        let limb = |rest: &[Limb]| rest.get(i).copied().unwrap_or(0);
        (*r, carry) = O::limbs(limb(a_rest), limb(b_rest), carry);
    }
    carry
}

/// The first `N` limbs of `r` from as many of `a` and `b`, two at a time.
#[inline(always)]
fn both<O: Linear, const N: usize>(
    r: &mut [Limb],
    a: &[Limb; N],
    b: &[Limb; N],
    mut carry: bool,
) -> bool {
    let r = &mut r[..N];
    for k in (0..N / 2 * 2).step_by(2) {
        let word = |x: &[Limb; N]| u64::from(x[k]) | u64::from(x[k + 1]) << LIMB_BITS;
        let sum;
        (sum, carry) = O::words(word(a), word(b), carry);
        r[k] = sum as Limb;
        r[k + 1] = (sum >> LIMB_BITS) as Limb;
    }
    if N % 2 == 1 {
        (r[N - 1], carry) = O::limbs(a[N - 1], b[N - 1], carry);
    }
    carry
}
