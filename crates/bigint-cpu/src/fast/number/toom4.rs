//! The product of two numbers of the same length in four parts, by Toom's and Cook's method.
//!
//! With `B = 2^(64 k)`, `k = ceil(n/4)`, operands are polynomials of degree three at `x = B`. Their
//! product `c0 + c1 x + .. + c6 x^6` is interpolated from seven values: at 0, 1, -1, 2, -2, at
//! infinity, and `h = 2^6 p(1/2)`. By their even and odd parts,
//!
//! ```text
//! e1 = (v1 + w1) / 2 = c0 +   c2 +    c4 +    c6      o1 = (v1 - w1) / 2 = c1 +   c3 +    c5
//! e2 = (v2 + w2) / 2 = c0 + 4 c2 + 16 c4 + 64 c6      o2 = (v2 - w2) / 4 = c1 + 4 c3 + 16 c5
//!
//! c4 = ((e2 - c0 - 64 c6) / 4 - (e1 - c0 - c6)) / 3     c2 = e1 - c0 - c6 - c4
//! o3 = (h - 64 c0 - 16 c2 - 4 c4 - c6) / 2 = 16 c1 + 4 c3 + c5
//! c3 = (17 o1 - o2 - o3) / 9     c5 = (o2 - o1 - 3 c3) / 15     c1 = o1 - c3 - c5
//! ```
//!
//! Only the values at -1 and -2 can be negative. Every difference is a sum of coefficients. For
//! `17 o1 - o2 - o3` only the whole difference is, and it is computed modulo its length. All
//! divisions are exact.
//!
//! **Preconditions**: `a.len() == b.len() == n >= 16`, `r.len() == 2 n`. **Bounds**:
//! `a(2), 8 a(1/2) <= 15 (B - 1)`, so factors have `k + 1` limbs and values `2 k + 2`. Every
//! coefficient is below `4 B^2`, and `c5 < 2 B 2^(64 (n - 3 k))`. **Cost**: `7 M(n/4) + O(n)`.
//! **Scratch**: `14 (k + 1)` limbs, and the scratch of products of `k + 1` limbs.

use super::limbs::{
    abs_difference, add_assign, add_product, divide_exactly, double, parts, reverse_sub_assign,
    shift_right, sub_assign, sub_product,
};

/// The limbs of the shortest operands that can be cut into four.
pub(super) const MIN_LIMBS: usize = 16;

/// The lengths of scratch and parts, as for
/// [`karatsuba::scratch_len`](super::karatsuba::scratch_len).
pub(super) const fn scratch_len(n: usize) -> (usize, usize) {
    let k = n.div_ceil(4);
    (14 * (k + 1), k + 1)
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
    let k = n.div_ceil(4);
    let square = std::ptr::eq(a, b);
    let ([v1, w1, v2, w2, h], scratch) = parts(scratch, 2 * k + 2);
    let ([plus_a, minus_a, plus_b, minus_b], deeper) = parts(scratch, k + 1);

    // The odd parts are kept in h until it is needed.
    let mut at = |x, v: &mut [u64], w: &mut [u64], deeper: &mut [u64]| {
        let odd = &mut h[..k + 1];
        let less_a = at_both(x, plus_a, minus_a, odd, a, k);
        if square {
            product(v, plus_a, plus_a, deeper);
            product(w, minus_a, minus_a, deeper);
            return false;
        }
        let less_b = at_both(x, plus_b, minus_b, odd, b, k);
        product(v, plus_a, plus_b, deeper);
        product(w, minus_a, minus_b, deeper);
        less_a != less_b
    };
    let negative_1 = at(1, v1, w1, deeper);
    let negative_2 = at(2, v2, w2, deeper);
    at_half(plus_a, a, k);
    if square {
        product(h, plus_a, plus_a, deeper);
    } else {
        at_half(plus_b, b, k);
        product(h, plus_a, plus_b, deeper);
    }
    let (low_b, high_b) = if square { (a, a) } else { (b, b) };
    product(&mut r[..2 * k], &a[..k], &low_b[..k], deeper);
    product(&mut r[6 * k..], &a[3 * k..], &high_b[3 * k..], deeper);

    let (e1, o1) = even_and_odd(v1, w1, negative_1);
    let (e2, o2) = even_and_odd(v2, w2, negative_2);
    shift_right(o2, 1);
    let (c0, c6) = (&r[..2 * k], &r[6 * k..]);
    sub_assign(e1, c0);
    sub_assign(e1, c6);
    sub_assign(e2, c0);
    sub_product(e2, c6, 64);
    shift_right(e2, 2);
    sub_assign(e2, e1);
    divide_exactly::<3>(e2);
    let c4 = e2;
    sub_assign(e1, c4);
    let c2 = e1;
    sub_product(h, c0, 64);
    sub_product(h, c2, 16);
    sub_product(h, c4, 4);
    sub_assign(h, c6);
    shift_right(h, 1); // o3
    reverse_sub_assign(h, o1);
    add_product(h, o1, 16);
    sub_assign(h, o2);
    divide_exactly::<3>(h);
    divide_exactly::<3>(h);
    let c3 = h;
    sub_assign(o2, o1);
    sub_product(o2, c3, 3);
    divide_exactly::<15>(o2);
    let c5 = o2;
    sub_assign(o1, c3);
    sub_assign(o1, c5);
    let c1 = o1;

    r[2 * k..4 * k].copy_from_slice(&c2[..2 * k]);
    r[4 * k..6 * k].copy_from_slice(&c4[..2 * k]);
    add_assign(&mut r[4 * k..], &c2[2 * k..2 * k + 1]);
    add_assign(&mut r[6 * k..], &c4[2 * k..2 * k + 1]);
    for (i, c) in [(1, c1), (3, c3), (5, c5)] {
        let r = &mut r[i * k..];
        let (c, above) = c.split_at((2 * k + 1).min(r.len()));
        debug_assert!(above.iter().all(|&limb| limb == 0));
        let overflow = add_assign(r, c);
        debug_assert!(!overflow);
    }
}

/// Computes `plus = a(x)` and `minus = |a(-x)|` for `x = 1` or 2, from the even and the odd part.
/// Returns whether `a(-x) < 0`.
fn at_both(
    x: u64,
    plus: &mut [u64],
    minus: &mut [u64],
    odd: &mut [u64],
    a: &[u64],
    k: usize,
) -> bool {
    for (part, low, high) in [
        (&mut *plus, &a[..k], &a[2 * k..3 * k]),
        (&mut *odd, &a[k..2 * k], &a[3 * k..]),
    ] {
        part[..k].copy_from_slice(low);
        part[k] = 0;
        if x == 1 {
            add_assign(part, high);
        } else {
            add_product(part, high, x * x);
        }
    }
    if x == 2 {
        double(odd);
    }
    let less = abs_difference(minus, plus, odd);
    add_assign(plus, odd);
    less
}

/// Computes `value = 8 a(1/2) = 8 a0 + 4 a1 + 2 a2 + a3`.
fn at_half(value: &mut [u64], a: &[u64], k: usize) {
    value[..k].copy_from_slice(&a[..k]);
    value[k] = 0;
    for part in [&a[k..2 * k], &a[2 * k..3 * k], &a[3 * k..]] {
        double(value);
        add_assign(value, part);
    }
}

/// Returns half the sum and half the difference of `v = p(x)` and `w = |p(-x)|`, the even part
/// first.
fn even_and_odd<'a>(
    v: &'a mut [u64],
    w: &'a mut [u64],
    negative: bool,
) -> (&'a mut [u64], &'a mut [u64]) {
    add_assign(v, w);
    shift_right(v, 1);
    reverse_sub_assign(w, v);
    if negative { (w, v) } else { (v, w) }
}
