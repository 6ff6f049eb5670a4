//! Shifts of one number, in vectors.

use bigint_core::{LIMB_BITS, Limb};

use crate::reference::place;

/// The higher of two limbs that are shifted to the left by fewer than 32 bits.
#[inline(always)]
fn left_of(high: Limb, low: Limb, bits: u32) -> Limb {
    // The shift has two steps, as no step may be 32 bits.
    high << bits | low >> 1 >> (LIMB_BITS as u32 - 1 - bits)
}

/// The lower of two limbs that are shifted to the right by fewer than 32 bits.
#[inline(always)]
fn right_of(high: Limb, low: Limb, bits: u32) -> Limb {
    low >> bits | high << 1 << (LIMB_BITS as u32 - 1 - bits)
}

/// Computes `r = a 2^k mod 2^(32 w)`, where `k` is the number `bits` and `w = r.len()`.
#[inline(always)]
pub(super) fn left(r: &mut [Limb], a: &[Limb], bits: &[Limb]) {
    let (limbs, bits) = place(bits);
    let (zeros, r) = r.split_at_mut(limbs.min(r.len()));
    zeros.fill(0);
    let a = &a[..a.len().min(r.len())];
    let (inside, above) = r.split_at_mut(a.len());
    above.fill(0);
    let (Some((first, rest)), Some(&lowest)) = (inside.split_first_mut(), a.first()) else {
        return;
    };
    *first = left_of(lowest, 0, bits);
    for (r, pair) in rest.iter_mut().zip(a.windows(2)) {
        *r = left_of(pair[1], pair[0], bits);
    }
    if let Some(over) = above.first_mut() {
        *over = left_of(0, a[a.len() - 1], bits);
    }
}

/// Computes `r = floor(a / 2^k) mod 2^(32 w)`, where `k` is the number `bits` and `w = r.len()`.
#[inline(always)]
pub(super) fn right(r: &mut [Limb], a: &[Limb], bits: &[Limb]) {
    let (limbs, bits) = place(bits);
    let a = &a[limbs.min(a.len())..];
    let pairs = r.len().min(a.len().saturating_sub(1));
    let (below, top) = r.split_at_mut(pairs);
    for (r, pair) in below.iter_mut().zip(a.windows(2)) {
        *r = right_of(pair[1], pair[0], bits);
    }
    top.fill(0);
    if let (Some(top), Some(&highest)) = (top.first_mut(), a.get(pairs)) {
        *top = right_of(0, highest, bits);
    }
}
