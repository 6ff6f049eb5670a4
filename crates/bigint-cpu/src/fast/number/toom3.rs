//! The product of two numbers of the same length in three parts, by Toom's and Cook's method.
//!
//! With `B = 2^(64 k)`, `k = ceil(n/3)`, operands are polynomials of degree two at `x = B`. Their
//! product `c0 + c1 x + .. + c4 x^4` is interpolated from five values:
//!
//! ```text
//! v0 = a(0) b(0)    v1 = a(1) b(1)    w = a(-1) b(-1)    v2 = a(2) b(2)    c4 = a2 b2
//!
//! t  = (v1 - w) / 2      = c1 + c3
//! s  = v1 - v0           = c1 + c2 + c3 + c4
//! c3 = ((v2 - w) / 3 - s) / 2 - 2 c4
//! c2 = s - t - c4        c1 = t - c3
//! ```
//!
//! Only `w` can be negative. Every difference is a sum of coefficients, so all other values are
//! stored without a sign. Both divisions are exact.
//!
//! **Preconditions**: `a.len() == b.len() == n >= 16`, `r.len() == 2 n`. **Bounds**:
//! `a(2) <= 7 (B - 1)`, so factors have `k + 1` limbs and values `2 k + 2`. `c1, c3 < 2 B^2` and
//! `c2 < 3 B^2` fit above `r[3k]`, as `2 n - 3 k >= 3 k - 4 >= 2 k + 1`. **Cost**:
//! `5 M(n/3) + O(n)`. **Scratch**: `8 (k + 1)` limbs, and the scratch of products of `k + 1` limbs.

use super::limbs::{
    abs_difference, add_assign, divide_exactly, double, parts, reverse_sub_assign, shift_right,
    sub_assign,
};

/// The limbs of the shortest operands that can be cut into three.
pub(super) const MIN_LIMBS: usize = 16;

/// The lengths of scratch and parts, as for
/// [`karatsuba::scratch_len`](super::karatsuba::scratch_len).
pub(super) const fn scratch_len(n: usize) -> (usize, usize) {
    let k = n.div_ceil(3);
    (8 * (k + 1), k + 1)
}

/// Computes `r = a b`, with a `product` as for [`karatsuba::mul`](super::karatsuba::mul).
pub(super) fn mul(
    r: &mut [u64],
    a: &[u64],
    b: &[u64],
    scratch: &mut [u64],
    product: &impl Fn(&mut [u64], &[u64], &[u64], &mut [u64]),
) {
    let n = a.len();
    debug_assert!(n >= MIN_LIMBS && b.len() == n && r.len() == 2 * n);
    let k = n.div_ceil(3);
    let square = std::ptr::eq(a, b);
    let ([v1, w, v2], scratch) = parts(scratch, 2 * k + 2);
    let ([sum_a, sum_b], deeper) = parts(scratch, k + 1);

    // The differences are kept in v1 until the value at -1 has used them.
    let (difference_a, difference_b) = v1.split_at_mut(k + 1);
    let less_a = at_one(sum_a, difference_a, a, k);
    let negative = if square {
        product(w, difference_a, difference_a, deeper);
        false
    } else {
        let less_b = at_one(sum_b, difference_b, b, k);
        product(w, difference_a, difference_b, deeper);
        less_a != less_b
    };
    product(v1, sum_a, if square { sum_a } else { sum_b }, deeper);
    at_two(sum_a, a, k);
    if square {
        product(v2, sum_a, sum_a, deeper);
    } else {
        at_two(sum_b, b, k);
        product(v2, sum_a, sum_b, deeper);
    }
    let (a2, b2) = (&a[2 * k..], if square { &a[2 * k..] } else { &b[2 * k..] });
    product(
        &mut r[..2 * k],
        &a[..k],
        if square { &a[..k] } else { &b[..k] },
        deeper,
    );
    product(&mut r[4 * k..], a2, b2, deeper);

    let (v0, c4) = (&r[..2 * k], &r[4 * k..]);
    if negative {
        add_assign(v2, w);
        add_assign(w, v1);
    } else {
        sub_assign(v2, w);
        reverse_sub_assign(w, v1);
    }
    shift_right(w, 1); // t
    sub_assign(v1, v0); // s
    divide_exactly::<3>(v2);
    sub_assign(v2, v1);
    shift_right(v2, 1);
    sub_assign(v2, c4);
    sub_assign(v2, c4); // c3
    sub_assign(v1, w);
    sub_assign(v1, c4); // c2
    sub_assign(w, v2); // c1

    r[2 * k..4 * k].fill(0);
    for (i, c) in [(1, w), (2, v1), (3, v2)] {
        let c = &c[..2 * k + 1];
        let overflow = add_assign(&mut r[i * k..], c);
        debug_assert!(!overflow);
    }
}

/// Computes `sum = a(1)` and `difference = |a(-1)|`. Returns whether `a(-1) < 0`.
fn at_one(sum: &mut [u64], difference: &mut [u64], a: &[u64], k: usize) -> bool {
    let (a0, a1, a2) = (&a[..k], &a[k..2 * k], &a[2 * k..]);
    sum[..k].copy_from_slice(a0);
    sum[k] = 0;
    add_assign(sum, a2);
    let less = abs_difference(difference, sum, a1);
    add_assign(sum, a1);
    less
}

/// Makes `a(2) = 2 (a(1) + a2) - a0` of `a(1)`.
fn at_two(sum: &mut [u64], a: &[u64], k: usize) {
    add_assign(sum, &a[2 * k..]);
    double(sum);
    sub_assign(sum, &a[..k]);
}
