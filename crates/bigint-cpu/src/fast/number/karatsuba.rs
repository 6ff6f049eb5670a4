//! Karatsuba's product of two numbers of the same length.
//!
//! With `B = 2^(64 h)`, `h = ceil(n/2)`, `a = a0 + a1 B`, `b = b0 + b1 B`:
//!
//! ```text
//! a b = a0 b0 (1 + B) + a1 b1 (B + B^2) - (a0 - a1)(b0 - b1) B
//! ```
//!
//! The subtractive form keeps every factor at `h` limbs: no carry limb, so the
//! recursion never meets a length of `h + 1`.
//!
//! **Preconditions**: `a.len() == b.len() == n >= 2`, `r.len() == 2 n`.
//! **Cost**: `3 M(n/2) + O(n)`; a square costs three squares.
//! **Scratch**: `2 h` limbs, and what products of `h` limbs need.

use super::limbs::{abs_difference, add, add_assign, add_carry, sub_assign};

/// Scratch limbs for operands of `n` limbs, besides those for their parts; and the
/// length of their parts.
pub(super) const fn scratch_len(n: usize) -> (usize, usize) {
    let h = n.div_ceil(2);
    (2 * h, h)
}

/// `r = a b`; `product` multiplies two numbers of the same, smaller length
/// and is given what is left of the scratch.
pub(super) fn mul(
    r: &mut [u64],
    a: &[u64],
    b: &[u64],
    scratch: &mut [u64],
    product: &impl Fn(&mut [u64], &[u64], &[u64], &mut [u64]),
) {
    let n = a.len();
    debug_assert!(n >= 2 && b.len() == n && r.len() == 2 * n);
    let h = n.div_ceil(2);
    let square = std::ptr::eq(a, b);
    let (a0, a1) = a.split_at(h);
    let (b0, b1) = b.split_at(h);
    let (middle, deeper) = scratch.split_at_mut(2 * h);

    // The differences wait in `r` until the middle product has used them.
    let negative = {
        let (da, rest) = r.split_at_mut(h);
        let less_a = abs_difference(da, a0, a1);
        if square {
            product(middle, da, da, deeper);
            false
        } else {
            let db = &mut rest[..h];
            let less_b = abs_difference(db, b0, b1);
            product(middle, da, db, deeper);
            less_a != less_b
        }
    };
    {
        let (low, high) = r.split_at_mut(2 * h);
        product(low, a0, b0, deeper);
        product(high, a1, if square { a1 } else { b1 }, deeper);
    }

    // r <- a0 b0 (1 + B) + a1 b1 (B + B^2), by halves of the two products: with
    // T = high(a0 b0) + low(a1 b1), the second quarter of the sum is
    // T + low(a0 b0), the third T + high(a1 b1).
    let (low, high) = r.split_at_mut(2 * h);
    let (low_0, low_1) = low.split_at_mut(h);
    let (high_0, high_1) = high.split_at_mut(h);
    let both = i8::from(add_assign(high_0, low_1));
    let second = i8::from(add(low_1, high_0, low_0));
    let third = i8::from(add_assign(high_0, high_1));
    // The carries into the third and the fourth quarter.
    let (into_third, into_fourth) = (both + second, both + third);

    // Less the middle product, or plus it.
    let upper = &mut r[h..3 * h];
    let taken = if negative {
        i8::from(add_assign(upper, middle))
    } else {
        -i8::from(sub_assign(upper, middle))
    };
    add_carry(&mut r[2 * h..], into_third);
    add_carry(&mut r[3 * h..], into_fourth + taken);
}
