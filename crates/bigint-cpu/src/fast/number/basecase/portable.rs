//! Schoolbook in safe Rust, for any machine that multiplies 64-bit words.
//!
//! **Window.** Up to [`WIDEST`] limbs of one operand are multiplied by the limbs of the other in
//! turn. The running sum of the products is a window as wide as the first operand. It moves up by a
//! limb each time, and its lowest limb, which is finished, leaves it. The window stays in
//! registers, and the body of the loop is straight-line code. While one pass through the window
//! waits for its carries, the machine has already begun the next.
//!
//! **Step.** `x y + z + c` with all four below `2^64` is at most
//! `(2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1`, so it never overflows a `u128`. With `B = 2^64`, a
//! window of `N` limbs, `N` products and a limb of `r` are together at most
//! `(B^N - 1) + (B^N - 1)(B - 1) + (B - 1) = B^(N + 1) - 1`. That fits the limb that leaves and the
//! next window.
//!
//! **Squares** of up to [`WIDEST`] limbs are the products of different limbs, doubled, and the
//! squares of the limbs. Longer ones are split in two, `a^2 = a0^2 + 2 a0 a1 B + a1^2 B^2`, which
//! takes as many products of limbs as rows of a triangle would.

use super::super::limbs::{add_assign, double};

/// The limbs of the widest window. Together with the pointers they fill the registers that every
/// 64-bit machine has.
pub(super) const WIDEST: usize = 8;

/// The limbs of the longest square that is not split.
const LONGEST_SQUARE: usize = 64;

/// Returns the low and the high limb of `x y + z + c`.
#[inline(always)]
fn step(x: u64, y: u64, z: u64, c: u64) -> (u64, u64) {
    let t = u128::from(x) * u128::from(y) + u128::from(z) + u128::from(c);
    (t as u64, (t >> 64) as u64)
}

/// Calls `$f::<N>` with the value of `$n` as `N`, for `1 <= N <= WIDEST`.
macro_rules! with_width {
    ($n:expr, $f:ident($($arguments:tt)*)) => {
        match $n {
            1 => $f::<1>($($arguments)*),
            2 => $f::<2>($($arguments)*),
            3 => $f::<3>($($arguments)*),
            4 => $f::<4>($($arguments)*),
            5 => $f::<5>($($arguments)*),
            6 => $f::<6>($($arguments)*),
            7 => $f::<7>($($arguments)*),
            _ => $f::<8>($($arguments)*),
        }
    };
}

/// Computes `r = a b`, for lengths as [`super::mul`] states them and `a` not shorter than `b`.
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64]) {
    if a.len() == b.len() && b.len() <= WIDEST {
        return with_width!(b.len(), fixed(r, a, b));
    }
    r[..a.len()].fill(0);
    let mut done = 0;
    while done < b.len() {
        // The window is not narrow, because a narrow one would wait for its carries.
        let width = match b.len() - done {
            left @ ..=WIDEST => left,
            left if left < 2 * WIDEST => left / 2,
            _ => WIDEST,
        };
        let (r, b) = (&mut r[done..], &b[done..]);
        with_width!(width, window(r, a, b));
        done += width;
    }
}

/// Computes `r += a b` for the first `N` limbs of `b`. The `N` limbs of `r` above `a.len()` are
/// overwritten.
fn window<const N: usize>(r: &mut [u64], a: &[u64], b: &[u64]) {
    let (low, high) = r.split_at_mut(a.len());
    let (Some(b), Some(high)) = (b.first_chunk::<N>(), high.first_chunk_mut::<N>()) else {
        unreachable!("the caller counts the limbs");
    };
    let mut window = [0; N];
    for (z, &x) in low.iter_mut().zip(a) {
        let mut carry;
        (*z, carry) = step(x, b[0], window[0], *z);
        for i in 1..N {
            (window[i - 1], carry) = step(x, b[i], window[i], carry);
        }
        window[N - 1] = carry;
    }
    *high = window;
}

/// Computes `r = a b` for `N` limbs each, without a loop.
#[inline(always)]
fn fixed<const N: usize>(r: &mut [u64], a: &[u64], b: &[u64]) {
    let (Ok(a), Ok(b)) = (<&[u64; N]>::try_from(a), <&[u64; N]>::try_from(b)) else {
        unreachable!("the caller counts the limbs");
    };
    let (low, high) = r.split_at_mut(N);
    let mut window = [0; N];
    for j in 0..N {
        let mut carry;
        (low[j], carry) = step(a[0], b[j], window[0], 0);
        for i in 1..N {
            (window[i - 1], carry) = step(a[i], b[j], window[i], carry);
        }
        window[N - 1] = carry;
    }
    high.copy_from_slice(&window);
}

/// Computes `r = a^2`.
pub(super) fn square(r: &mut [u64], a: &[u64]) {
    let n = a.len();
    if n <= WIDEST {
        return with_width!(n, fixed_square(r, a));
    }
    if n > LONGEST_SQUARE {
        return mul(r, a, a);
    }
    let (a0, a1) = a.split_at(if n < 2 * WIDEST { n / 2 } else { WIDEST });
    let (low, high) = r.split_at_mut(2 * a0.len());
    square(low, a0);
    square(high, a1);
    let cross = &mut [0; LONGEST_SQUARE][..n];
    mul(cross, a1, a0);
    // This is r += 2 a0 a1 B.
    let (middle, top) = r[a0.len()..].split_at_mut(n);
    let above = double(cross) + u64::from(add_assign(middle, cross));
    let overflow = add_assign(top, &[above]);
    debug_assert!(!overflow);
}

/// Computes `r = a^2` for `N` limbs, without a loop.
#[inline(always)]
fn fixed_square<const N: usize>(r: &mut [u64], a: &[u64]) {
    let (Ok(a), Ok(r)) = (
        <&[u64; N]>::try_from(a),
        <&mut [[u64; N]; 2]>::try_from(r.as_chunks_mut().0),
    ) else {
        unreachable!("the caller counts the limbs");
    };
    let (mut cross, mut squares) = ([[0; N]; 2], [[0; N]; 2]);
    let (cross, squares) = (cross.as_flattened_mut(), squares.as_flattened_mut());
    for i in 0..N {
        let mut carry = 0;
        for j in i + 1..N {
            (cross[i + j], carry) = step(a[i], a[j], cross[i + j], carry);
        }
        cross[i + N] = carry;
        (squares[2 * i], squares[2 * i + 1]) = step(a[i], a[i], 0, 0);
    }
    let (mut shifted_out, mut carry) = (0, false);
    for (i, z) in r.as_flattened_mut().iter_mut().enumerate() {
        let doubled = cross[i] << 1 | shifted_out;
        shifted_out = cross[i] >> 63;
        (*z, carry) = doubled.carrying_add(squares[i], carry);
    }
}
