//! Passes over long numbers on all threads, beside [copies](share::copy): sums, differences and shifts.
//!
//! A pass is cut into pieces. A carry out of a piece is added to the next one afterwards, and seldom goes
//! further than a limb of it. Short numbers are passed over by the caller's thread alone.

use super::limbs;
use crate::share;

/// The limbs of a piece.
const PIECE: usize = 1 << 15;

/// Runs `f` on each piece of `a` and of `b`, which are as long as one another, and returns its answers.
fn pieces<R: Send>(a: &mut [u64], b: &[u64], f: impl Fn(&mut [u64], &[u64]) -> R + Sync) -> Vec<R> {
    debug_assert!(a.len() == b.len());
    let threads = if a.len() > 2 * PIECE { usize::MAX } else { 1 };
    let pieces = a.chunks_mut(PIECE).zip(b.chunks(PIECE));
    share::map(pieces, threads, |(a, b)| f(a, b))
}

/// `r = B^n - 1 - x`, for `n` limbs of both.
pub(super) fn complement(r: &mut [u64], x: &[u64]) {
    pieces(r, x, |r, x| {
        r.iter_mut().zip(x).for_each(|(r, x)| *r = !x);
    });
}

/// `a += b`, for `a.len() >= b.len()`. Returns the carry out of `a`.
pub(super) fn add_assign(a: &mut [u64], b: &[u64]) -> bool {
    chain(a, b, limbs::add_assign, limbs::increment)
}

/// `a -= b`, for `a.len() >= b.len()`. Returns the borrow out of `a`.
pub(super) fn sub_assign(a: &mut [u64], b: &[u64]) -> bool {
    chain(a, b, limbs::sub_assign, limbs::decrement)
}

fn chain(
    a: &mut [u64],
    b: &[u64],
    f: impl Fn(&mut [u64], &[u64]) -> bool + Sync,
    carry: impl Fn(&mut [u64]) -> bool,
) -> bool {
    let carries = pieces(&mut a[..b.len()], b, f);
    let mut out = false;
    for (i, _) in carries.iter().enumerate().filter(|(_, is_out)| **is_out) {
        // Of a number and less than a power of two that is added to it, at most one carry leaves it.
        out |= carry(&mut a[((i + 1) * PIECE).min(b.len())..]);
    }
    out
}

/// The upper limbs of `x 2^shift`, one less than `x` has, for `shift < 64` and an `x` with as many zeros on top.
pub(super) fn shifted(r: &mut [u64], x: &[u64], shift: u32) {
    debug_assert!(x.len() == r.len() + 1);
    let threads = if r.len() > 2 * PIECE { usize::MAX } else { 1 };
    let pieces = r.chunks_mut(PIECE).enumerate();
    share::share(pieces, threads, |(i, r)| {
        let x = &x[i * PIECE..][..=r.len()];
        for (r, x) in r.iter_mut().zip(x.windows(2)) {
            *r = x[1] << shift | x[0] >> 1 >> (63 - shift);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Random, adversaries, big};
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn passes_in_pieces_are_exact() {
        let mut random = Random(31);
        for n in [0, 1, 5, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 7] {
            let numbers = if n == 0 {
                vec![Vec::new()]
            } else {
                adversaries(n, &mut random)
            };
            let power = BigUint::from(1u8) << (64 * n);
            for (a, b) in numbers.iter().zip(numbers.iter().rev()) {
                for m in [0, n / 2, n] {
                    let b = &b[..m];
                    let mut r = a.clone();
                    let carry = add_assign(&mut r, b);
                    assert_eq!(big(&r) + &power * u8::from(carry), big(a) + big(b));
                    let mut r = a.clone();
                    let borrow = sub_assign(&mut r, b);
                    assert_eq!(big(&r) + big(b), big(a) + &power * u8::from(borrow));
                }
                let mut r = vec![7; n];
                share::copy(&mut r, b);
                assert_eq!(&r, b);
                complement(&mut r, a);
                assert_eq!(big(&r) + big(a) + 1u8, power);
            }
        }
        // Carries go through whole pieces.
        let ones = vec![u64::MAX; 3 * PIECE + 7];
        let mut a = ones.clone();
        assert!(add_assign(&mut a, &[1]) && a.iter().all(|&limb| limb == 0));
        assert!(sub_assign(&mut a, &[1]) && a == ones);
        for shift in [0, 1, 63] {
            let mut x = ones.clone();
            x[ones.len() - 1] >>= shift;
            let mut r = vec![0; ones.len() - 1];
            shifted(&mut r, &x, shift);
            assert_eq!(big(&r), (big(&x) << shift) >> 64);
        }
    }
}
