//! The low limbs of a product, `a b mod B^w` with `B = 2^64`, for operands of `n >= m` limbs and
//! `w < n + m`.
//!
//! Arithmetic modulo a power of two needs a result as wide as the longer operand, `w = n`. Let
//! `a_l` be the low `n - m` limbs of `a`, and `a_h` its other `m` limbs:
//!
//! ```text
//! a b = a_l b  +  a_h b B^(n - m)
//! ```
//!
//! The first product fits the result. Only the low `m` limbs of the second are needed, which is a
//! product of two numbers of `m` limbs to as many limbs ([`balanced`]). That one is computed as in
//! [Mulders 2000]: with `a = a_0 + a_1 B^k`, `b = b_0 + b_1 B^k` and `2 k >= m`,
//!
//! ```text
//! a b = a_0 b_0  +  (a_0 b_1 + a_1 b_0) B^k     (mod B^m)
//! ```
//!
//! Again the low `m - k` limbs of `a_0 b_1` and `a_1 b_0` are enough, to which only as many limbs
//! of `a_0` and `b_0` contribute.
//!
//! For `w` between `n` and `n + m` too little would be left out. The columns of IFMA's schoolbook
//! end where the result does, and all other methods compute the whole product.
//!
//! **Preconditions**: `n <= w < n + m`. **Cost**: for `n = m = w`, half the products of limbs with
//! schoolbook. With Karatsuba's method `k = 7 m / 10` leaves about four fifths of `M(m)`. From the
//! transform's threshold on, the whole product is computed. **Scratch**: at most as long as the
//! product, which the functions allocate.

use super::isa::Isa;
use super::limbs::add_assign;
use super::{Thresholds, basecase, dispatch, with_scratch};

/// Computes `r = a b mod B^w`, `w = r.len()`.
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

/// Computes `r = a b mod B^m` for operands of `m` limbs.
fn balanced(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa, thresholds: &Thresholds) {
    let m = r.len();
    if basecase::mul_low(r, a, b, isa) {
        return;
    }
    let is_schoolbook = m / 2 < thresholds.karatsuba();
    // Safe Rust multiplies halves of this length in one window, so there is little to save.
    if m >= thresholds.transform || (is_schoolbook && matches!(isa, Isa::Portable)) {
        return whole(r, a, b, isa, thresholds, false);
    }
    // With schoolbook a longer whole product gains nothing.
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

/// Sets `r` to the low limbs of `a b`, which is computed as a whole.
fn whole(r: &mut [u64], a: &[u64], b: &[u64], isa: Isa, thresholds: &Thresholds, parallel: bool) {
    with_scratch(a.len() + b.len(), |product| {
        dispatch(product, a, b, isa, thresholds, parallel);
        r.copy_from_slice(&product[..r.len()]);
    });
}
