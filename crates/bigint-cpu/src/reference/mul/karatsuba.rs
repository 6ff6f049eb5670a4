//! Multiplication by three products of half the width (Honda, Carlessi-Kashani).
//!
//! Cut both operands at `h = ceil(n / 2)` limbs, `a = a1 X + a0`, `b = b1 X + b0`,
//! `X = 2^(32 h)`. Then
//!
//! ```text
//! a b = z2 X^2 + (z0 + z2 - (a0 - a1)(b0 - b1)) X + z0,   z0 = a0 b0, z2 = a1 b1
//! ```
//!
//! Differences, unlike sums, need no more than `h` limbs: their absolute values
//! are multiplied and the sign decides between adding and subtracting.
//!
//! Precondition of the recursion: both operands have `n` limbs; unequal operands
//! are extended by zeros. Cost: `3^k` products of `n / 2^k` limbs, about `n^1.585`
//! in all. Scratch: [`bigint_core::scratch::karatsuba`] limbs, and the operands
//! and the whole product where the result is cut or an operand is short.

use bigint_core::{Limb, scratch};

use super::comba;
use crate::reference::sub;

/// Below this width, in limbs, halving costs more than it saves: Comba takes over.
/// At least 5, so that the middle product fits above limb `h` of the result.
pub const KARATSUBA_LIMBS: usize = 32;

/// `r = (a * b) mod 2^(32 w)`; `buffer` keeps the scratch from call to call.
///
/// ```
/// let (mut r, mut scratch) = ([0; 2], Vec::new());
/// bigint_cpu::reference::mul::karatsuba(&mut r, &[u32::MAX], &[u32::MAX], &mut scratch);
/// assert_eq!(r, [1, u32::MAX - 1]);
/// ```
pub fn karatsuba(r: &mut [Limb], a: &[Limb], b: &[Limb], buffer: &mut Vec<Limb>) {
    let n = a.len().max(b.len());
    buffer.clear();
    buffer.resize(4 * n + scratch::karatsuba(n), 0);
    let (long_a, rest) = buffer.split_at_mut(n);
    let (long_b, rest) = rest.split_at_mut(n);
    let (product, scratch) = rest.split_at_mut(2 * n);
    long_a[..a.len()].copy_from_slice(a);
    long_b[..b.len()].copy_from_slice(b);
    recurse(product, long_a, long_b, scratch);
    let kept = r.len().min(2 * n);
    r[..kept].copy_from_slice(&product[..kept]);
    r[kept..].fill(0);
}

/// `r = a * b` for operands of `n` limbs each and a result of `2 n`.
fn recurse(r: &mut [Limb], a: &[Limb], b: &[Limb], scratch: &mut [Limb]) {
    let n = a.len();
    if n < KARATSUBA_LIMBS {
        return comba(r, a, b);
    }
    let h = n.div_ceil(2);
    let (a0, a1) = a.split_at(h);
    let (b0, b1) = b.split_at(h);
    let (middle, scratch) = scratch.split_at_mut(2 * h + 1);

    // The differences stand where z0 will: it is computed after they are used up.
    let (difference_a, rest) = r.split_at_mut(h);
    let difference_b = &mut rest[..h];
    let negative =
        absolute_difference(difference_a, a0, a1) ^ absolute_difference(difference_b, b0, b1);
    recurse(&mut middle[..2 * h], difference_a, difference_b, scratch);
    middle[2 * h] = 0;

    let (z0, z2) = r.split_at_mut(2 * h);
    recurse(z0, a0, b0, scratch);
    recurse(z2, a1, b1, scratch);

    // middle = z0 + z2 - (a0 - a1)(b0 - b1) = a0 b1 + a1 b0 >= 0, below 2 X^2. On
    // the way it may pass below zero, which the 2 h + 1 limbs undo by wrapping.
    if !negative {
        negate(middle);
    }
    add_to(middle, z0);
    add_to(middle, z2);
    // The product has 2 n limbs, so no carry leaves them.
    add_to(&mut r[h..], middle);
}

/// `d = |x - y|`; whether `x < y`. `y` may be shorter than `x`.
fn absolute_difference(d: &mut [Limb], x: &[Limb], y: &[Limb]) -> bool {
    let negative = sub::ripple(d, x, y) == 1;
    if negative {
        sub::ripple(d, y, x);
    }
    negative
}

/// `x = -x mod 2^(32 n)`.
fn negate(x: &mut [Limb]) {
    let mut carry = true;
    for x in x {
        (*x, carry) = (!*x).overflowing_add(Limb::from(carry));
    }
}

/// `x = (x + y) mod 2^(32 n)`; `y` is not longer than `x`.
fn add_to(x: &mut [Limb], y: &[Limb]) {
    let (low, high) = x.split_at_mut(y.len());
    let mut carry = false;
    for (x, y) in low.iter_mut().zip(y) {
        (*x, carry) = x.carrying_add(*y, carry);
    }
    for x in high {
        (*x, carry) = x.overflowing_add(Limb::from(carry));
    }
}
