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
        (2, 2) => fixed::<2>(r, a, b),
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
fn add_row(r: &mut [u64], a: &[u64], y: u64) -> u64 {
    let mut carry = 0;
    for (z, &x) in r.iter_mut().zip(a) {
        let t = u128::from(x) * u128::from(y) + u128::from(*z) + u128::from(carry);
        *z = t as u64;
        carry = (t >> 64) as u64;
    }
    carry
}

/// `r = a b` for `N` limbs each: the running sum stays in registers.
#[inline(always)]
pub(super) fn fixed<const N: usize>(r: &mut [u64], a: &[u64], b: &[u64]) {
    let (Ok(a), Ok(b)) = (<&[u64; N]>::try_from(a), <&[u64; N]>::try_from(b)) else {
        return rows(r, a, b);
    };
    let mut window = [0u64; N];
    for j in 0..N {
        let mut carry = 0;
        for i in 0..N {
            let t = u128::from(a[i]) * u128::from(b[j]) + u128::from(window[i]) + carry;
            // One limb is finished; the others move down.
            if i == 0 {
                r[j] = t as u64;
            } else {
                window[i - 1] = t as u64;
            }
            carry = t >> 64;
        }
        window[N - 1] = carry as u64;
    }
    r[N..2 * N].copy_from_slice(&window);
}
