//! The low limbs of a product: `a b mod B^w`, `B = 2^64`, for `w < n + m` limbs of
//! operands of `n >= m`.
//!
//! Arithmetic modulo a power of two needs a result as wide as the longer operand, `w = n`. With `a = a_l + a_h B^(n - m)`
//!
//! ```text
//! a b = a_l b  +  a_h b B^(n - m)
//! ```
//!
//! the first product fits, and of the second the low `m` limbs remain: the product of
//! two numbers of `m` limbs to as many ([`balanced`]). For that one, [Mulders 2000]:
//! with `a = a_0 + a_1 B^k`, `b` alike and `2 k >= m`
//!
//! ```text
//! a b = a_0 b_0  +  (a_0 b_1 + a_1 b_0) B^k     (mod B^m)
//! ```
//!
//! where of `a_0 b_1` and `a_1 b_0` again the low `m - k` limbs are enough, to which
//! only as many limbs of `a_0` and `b_0` contribute.
//!
//! Between `n` and `n + m` limbs too little would be left out: the columns of IFMA's
//! schoolbook end where the result does, everything else computes the whole.
//!
//! **Preconditions**: `n <= w < n + m`.
//! **Cost**: for `n = m = w` half the products of limbs with schoolbook; with Karatsuba
//! `k = 7 m / 10` leaves about four fifths of `M(m)`. From the transform's threshold on
//! the whole product.
//! **Scratch**: taken inside, at most as long as the product.

use super::isa::Isa;
use super::limbs::add_assign;
use super::{Thresholds, basecase, dispatch, with_scratch};

/// `r = a b mod B^w`, `w = r.len()`.
pub(super) fn mul(
    r: &mut [u64],
    a: &[u64],
    b: &[u64],
    isa: Isa,
    thresholds: &Thresholds,
    parallel: bool,
) {
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let (n, m, w) = (a.len(), b.len(), r.len());
    debug_assert!(n <= w && w < n + m);
    if basecase::mul_low(r, a, b, isa) {
        return;
    }
    if n < w || m >= thresholds.transform {
        whole(r, a, b, isa, thresholds, parallel);
    } else if n == m {
        balanced(r, a, b, isa, thresholds);
    } else {
        let (a_low, a_high) = a.split_at(n - m);
        dispatch(r, a_low, b, isa, thresholds, parallel);
        with_scratch(m, |part| {
            balanced(part, a_high, b, isa, thresholds);
            add_assign(&mut r[n - m..], part);
        });
    }
}

/// `r = a b mod B^m` for operands of `m` limbs.
fn balanced(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa, thresholds: &Thresholds) {
    let m = r.len();
    if basecase::mul_low(r, a, b, isa) {
        return;
    }
    let is_schoolbook = m / 2 < thresholds.karatsuba();
    // Halves of what safe Rust multiplies in one window leave it little to save.
    if m >= thresholds.transform || (is_schoolbook && matches!(isa, Isa::Portable)) {
        return whole(r, a, b, isa, thresholds, false);
    }
    // Schoolbook gains nothing by a longer whole product.
    let k = if is_schoolbook {
        m.div_ceil(2)
    } else {
        m * 7 / 10
    };
    if 2 * k == m {
        dispatch(r, &a[..k], &b[..k], isa, thresholds, false);
    } else {
        whole(r, &a[..k], &b[..k], isa, thresholds, false);
    }
    let rest = m - k;
    with_scratch(rest, |part| {
        balanced(part, &a[k..], &b[..rest], isa, thresholds);
        add_assign(&mut r[k..], part);
        if !std::ptr::eq(a, b) {
            balanced(part, &a[..rest], &b[k..], isa, thresholds);
        }
        add_assign(&mut r[k..], part);
    });
}

/// `r` = the low limbs of `a b`, computed as a whole.
fn whole(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa, thresholds: &Thresholds, parallel: bool) {
    with_scratch(a.len() + b.len(), |product| {
        dispatch(product, a, b, isa, thresholds, parallel);
        r.copy_from_slice(&product[..r.len()]);
    });
}
