//! Schoolbook in safe Rust: one row per limb of the shorter operand, each row
//! a fused multiply, add and carry.
//!
//! A row's step `x * y + z + c` with all four below `2^64` is at most
//! `(2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1`: it never overflows a `u128`.

/// `r = a b`; lengths as [`super::mul`] states, `a` not shorter than `b`.
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64]) {
    // Fixed lengths unroll into straight-line code with every limb of `a` in a
    // register.
    match (a.len(), b.len()) {
        (4, 4) => fixed::<4>(r, a, b),
        (8, 8) => fixed::<8>(r, a, b),
        _ => rows(r, a, b),
    }
}

fn rows(r: &mut [u64], a: &[u64], b: &[u64]) {
    r[..a.len()].fill(0);
    for (j, &y) in b.iter().enumerate() {
        r[j + a.len()] = add_row(&mut r[j..], a, y);
    }
}

/// `r[..a.len()] += a y`; returns the limb carried out.
#[inline(always)]
fn add_row(r: &mut [u64], a: &[u64], y: u64) -> u64 {
    let mut carry = 0;
    for (z, &x) in r.iter_mut().zip(a) {
        let t = u128::from(x) * u128::from(y) + u128::from(*z) + u128::from(carry);
        *z = t as u64;
        carry = (t >> 64) as u64;
    }
    carry
}

#[inline(always)]
fn fixed<const N: usize>(r: &mut [u64], a: &[u64], b: &[u64]) {
    let (Ok(a), Ok(b)): (Result<&[u64; N], _>, Result<&[u64; N], _>) = (a.try_into(), b.try_into())
    else {
        return rows(r, a, b);
    };
    let mut window = [0u64; N];
    for (j, &y) in b.iter().enumerate() {
        let carry = add_row(&mut window, a, y);
        r[j] = window[0];
        window.copy_within(1.., 0);
        window[N - 1] = carry;
    }
    r[N..2 * N].copy_from_slice(&window);
}
