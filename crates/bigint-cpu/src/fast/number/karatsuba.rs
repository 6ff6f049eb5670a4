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
//! **Scratch**: `S(n) = 2 h + S(h)` limbs: see [`scratch_len`].

use super::limbs::{abs_difference, add_assign, increment, sub_with_borrow};

/// Scratch limbs that [`mul`] and [`toom3::mul`](super::toom3::mul) need for
/// operands of `n` limbs, whichever of them splits at each level.
///
/// `S(n) = 4 n + 32 log2(2 n)` holds through both recursions: for Karatsuba
/// `2 h + S(h) <= (n + 1) + 2 (n + 1) + 32 log2(n + 1)`, for Toom and Cook with
/// `k + 1 <= (n + 5)/3 <= n/2`, `8 (k + 1) + S(k + 1) <= 12 (n + 5)/3 + 32 log2(n)`.
pub(super) const fn scratch_len(n: usize) -> usize {
    4 * n + 32 * (usize::BITS - n.leading_zeros()) as usize
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

    // middle <- a0 b0 + a1 b1 -+ |a0 - a1||b0 - b1|, the coefficient of B,
    // with one more limb of carry (0, 1 or 2 at most, as a0 b1 + a1 b0 < 2 B^2).
    let (low, high) = r.split_at(2 * h);
    let mut carry: i8;
    if negative {
        carry = i8::from(add_assign(middle, low));
    } else {
        // low - middle, as the two's complement of middle - low.
        let borrow = {
            let mut borrow = false;
            for (m, &l) in middle.iter_mut().zip(low) {
                (*m, borrow) = sub_with_borrow(l, *m, borrow);
            }
            borrow
        };
        carry = -i8::from(borrow);
    }
    carry += i8::from(add_assign(middle, high));
    debug_assert!((0..=1).contains(&carry));

    let upper = &mut r[h..];
    let overflow = add_assign(upper, middle);
    debug_assert!(!overflow);
    if carry > 0 {
        let overflow = increment(&mut r[3 * h..]);
        debug_assert!(!overflow);
    }
}
