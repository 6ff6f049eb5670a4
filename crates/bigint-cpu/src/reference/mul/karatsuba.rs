//! Multiplication by three products of half the width [Honda 2015], [Carlessi and Kashani 2013].
//!
//! Both operands are cut at `h = ceil(n / 2)` limbs, `a = a1 X + a0`, `b = b1 X + b0`,
//! `X = 2^(32 h)`. Then
//!
//! ```text
//! a b = z2 X^2 + (z0 + z2 - (a0 - a1)(b0 - b1)) X + z0,   z0 = a0 b0, z2 = a1 b1
//! ```
//!
//! Differences, unlike sums, need no more than `h` limbs. Their absolute values are multiplied, and
//! their signs decide whether the product is added or subtracted. If the shorter operand does not
//! reach `X`, two products are left.
//!
//! [`bigint_core::karatsuba::split`] decides how often and where operands are cut, as on the
//! device. **Cost**: with `k` splits, `3^k` products of `n / 2^k` limbs. **Scratch**:
//! [`bigint_core::karatsuba::scratch`] limbs, and the whole product.

use bigint_core::Limb;
use bigint_core::karatsuba::{DEPTH, Split, scratch, split};

use super::comba;
use crate::memory::grow;
use crate::reference::sub;

/// Computes `r = (a * b) mod 2^(32 w)`. `buffer` keeps the scratch from call to call. If there is
/// no memory for it, the function unwinds without a message.
///
/// ```
/// let (mut r, mut scratch) = ([0; 2], Vec::new());
/// bigint_cpu::reference::mul::karatsuba(&mut r, &[u32::MAX], &[u32::MAX], &mut scratch);
/// assert_eq!(r, [1, u32::MAX - 1]);
/// ```
pub fn karatsuba(r: &mut [Limb], a: &[Limb], b: &[Limb], buffer: &mut Vec<Limb>) {
    let whole = a.len() + b.len();
    grow(buffer, whole + scratch(a.len().max(b.len())));
    let (product, scratch) = buffer.split_at_mut(whole);
    recurse(product, a, b, scratch, DEPTH);
    let kept = r.len().min(whole);
    r[..kept].copy_from_slice(&product[..kept]);
    r[kept..].fill(0);
}

/// Computes `p = a * b`, where `p` is as wide as both together, with at most `depth` more splits.
fn recurse(p: &mut [Limb], a: &[Limb], b: &[Limb], s: &mut [Limb], depth: usize) {
    let (a, b) = if a.len() < b.len() { (b, a) } else { (a, b) };
    match split(a.len(), b.len(), depth) {
        Split::Base => comba(p, a, b),
        Split::Two { half } => two(p, a, b, s, half, depth - 1),
        Split::Three { half } => three(p, a, b, s, half, depth - 1),
    }
}

/// Computes `a b = (a1 b) X + a0 b`, for `b < X`.
fn two(p: &mut [Limb], a: &[Limb], b: &[Limb], s: &mut [Limb], h: usize, depth: usize) {
    let (a0, a1) = a.split_at(h);
    let (high, s) = s.split_at_mut(2 * h + 1);
    let high = &mut high[..a1.len() + b.len()];
    recurse(high, a1, b, s, depth);
    let (low, above) = p.split_at_mut(h + b.len());
    recurse(low, a0, b, s, depth);
    above.fill(0);
    add_to(&mut p[h..], high);
}

fn three(p: &mut [Limb], a: &[Limb], b: &[Limb], s: &mut [Limb], h: usize, depth: usize) {
    let (a0, a1) = a.split_at(h);
    let (b0, b1) = b.split_at(h);
    let (middle, s) = s.split_at_mut(2 * h + 1);

    // The differences stand in the place of z0, which is computed after they have been used.
    let (difference_a, rest) = p.split_at_mut(h);
    let difference_b = &mut rest[..h];
    let negative =
        absolute_difference(difference_a, a0, a1) ^ absolute_difference(difference_b, b0, b1);
    recurse(&mut middle[..2 * h], difference_a, difference_b, s, depth);
    middle[2 * h] = 0;

    let (z0, z2) = p.split_at_mut(2 * h);
    recurse(z0, a0, b0, s, depth);
    recurse(z2, a1, b1, s, depth);

    // middle = z0 + z2 - (a0 - a1)(b0 - b1) = a0 b1 + a1 b0 >= 0, below 2 X^2. On the way it may
    // become negative, which is undone as the 2 h + 1 limbs wrap.
    if !negative {
        negate(middle);
    }
    add_to(middle, z0);
    add_to(middle, z2);
    // middle X <= a b, which fits p, so the limbs of it beyond p are zero.
    add_to(&mut p[h..], middle);
}

/// Computes `d = |x - y|`. Returns whether `x < y`. `y` may be shorter than `x`.
fn absolute_difference(d: &mut [Limb], x: &[Limb], y: &[Limb]) -> bool {
    let negative = sub::ripple(d, x, y) == 1;
    if negative {
        sub::ripple(d, y, x);
    }
    negative
}

/// Computes `x = -x mod 2^(32 n)`.
fn negate(x: &mut [Limb]) {
    let mut carry = true;
    for x in x {
        (*x, carry) = (!*x).overflowing_add(Limb::from(carry));
    }
}

/// Computes `x = (x + y) mod 2^(32 n)`, `n = x.len()`, for `y` below `2^(32 n)`.
fn add_to(x: &mut [Limb], y: &[Limb]) {
    let mut carry = false;
    for (i, x) in x.iter_mut().enumerate() {
        let y = y.get(i).copied().unwrap_or(0);
        (*x, carry) = x.carrying_add(y, carry);
    }
}
