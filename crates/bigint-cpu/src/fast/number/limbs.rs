//! Carry chains over 64-bit limbs, least significant limb first.
//!
//! Everything above the base case is built from these few loops: they are
//! linear, and the compiler turns them into `adc`/`sbb` chains.

/// Adds with carry: `a + b + carry` as (low limb, carry out).
#[inline(always)]
pub(crate) const fn add_with_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (s, c0) = a.overflowing_add(b);
    let (s, c1) = s.overflowing_add(carry as u64);
    (s, c0 | c1)
}

/// Subtracts with borrow: `a - b - borrow` as (low limb, borrow out).
#[inline(always)]
pub(crate) const fn sub_with_borrow(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (d, b0) = a.overflowing_sub(b);
    let (d, b1) = d.overflowing_sub(borrow as u64);
    (d, b0 | b1)
}

/// `a += b`, for `a.len() >= b.len()`; returns the carry out of `a`.
#[inline]
pub(crate) fn add_assign(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = false;
    for (x, &y) in low.iter_mut().zip(b) {
        (*x, carry) = add_with_carry(*x, y, carry);
    }
    carry && increment(high)
}

/// `a -= b`, for `a.len() >= b.len()`; returns the borrow out of `a`.
#[inline]
pub(crate) fn sub_assign(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = false;
    for (x, &y) in low.iter_mut().zip(b) {
        (*x, borrow) = sub_with_borrow(*x, y, borrow);
    }
    borrow && decrement(high)
}

/// `a += 1`; returns the carry out.
#[inline]
pub(crate) fn increment(a: &mut [u64]) -> bool {
    for x in a {
        *x = x.wrapping_add(1);
        if *x != 0 {
            return false;
        }
    }
    true
}

/// `a -= 1`; returns the borrow out.
#[inline]
pub(crate) fn decrement(a: &mut [u64]) -> bool {
    for x in a {
        *x = x.wrapping_sub(1);
        if *x != u64::MAX {
            return false;
        }
    }
    true
}

/// `r = |a - b|`, for `r.len() == a.len() >= b.len()`; returns whether
/// `a < b`.
#[inline]
pub(crate) fn abs_difference(r: &mut [u64], a: &[u64], b: &[u64]) -> bool {
    debug_assert!(r.len() == a.len() && a.len() >= b.len());
    let (a_low, a_high) = a.split_at(b.len());
    let less = a_high.iter().all(|&x| x == 0) && a_low.iter().rev().lt(b.iter().rev());
    if less {
        let mut borrow = false;
        for ((z, &x), &y) in r.iter_mut().zip(a_low).zip(b) {
            (*z, borrow) = sub_with_borrow(y, x, borrow);
        }
        r[b.len()..].fill(0);
    } else {
        r.copy_from_slice(a);
        sub_assign(r, b);
    }
    less
}

/// `x` without the zeros at its end.
pub(crate) fn trim(mut x: Vec<u64>) -> Vec<u64> {
    let length = x
        .iter()
        .rposition(|&limb| limb != 0)
        .map_or(0, |top| top + 1);
    x.truncate(length);
    x
}
