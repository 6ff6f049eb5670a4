//! Karatsuba's product of two numbers of the same length.
//!
//! With `B = 2^(64 h)`, `h = ceil(n/2)`, `a = a0 + a1 B` and `b = b0 + b1 B`,
//!
//! ```text
//! a b = a0 b0 (1 + B) + a1 b1 (B + B^2) - (a0 - a1)(b0 - b1) B
//! ```
//!
//! The form with differences keeps every factor at `h` limbs. There is no carry limb, so the
//! recursion never meets a length of `h + 1`.
//!
//! **Preconditions**: `a.len() == b.len() == n >= 2`, `r.len() == 2 n`. **Cost**:
//! `3 M(n/2) + O(n)`. A square takes three squares. **Scratch**: `2 h` limbs, and the scratch of
//! products of `h` limbs.

use super::limbs::{abs_difference, add_carry, add_with_carry, sub_with_borrow};

/// The limbs that [`combine`] takes at once. It has five chains of carries, more than the machine
/// has flags for, so carries are saved and restored between chunks. A longer chunk does so less
/// often.
const CHUNK: usize = 8;

/// The limbs of the shortest operands that can be cut into two.
pub(super) const MIN_LIMBS: usize = 2;

/// The scratch limbs for operands of `n` limbs, without those for their parts, and the length of
/// the parts.
pub(super) const fn scratch_len(n: usize) -> (usize, usize) {
    let h = n.div_ceil(2);
    (2 * h, h)
}

/// Computes `r = a b`. `product` multiplies two numbers of the same, smaller length, and is given
/// the rest of the scratch.
pub(super) fn mul(
    r: &mut [u64],
    a: &[u64],
    b: &[u64],
    scratch: &mut [u64],
    product: &impl Fn(&mut [u64], &[u64], &[u64], &mut [u64]),
) {
    let n = a.len();
    debug_assert!(n >= MIN_LIMBS && b.len() == n && r.len() == 2 * n);
    let h = n.div_ceil(2);
    let square = std::ptr::eq(a, b);
    let (a0, a1) = a.split_at(h);
    let (b0, b1) = b.split_at(h);
    let (middle, deeper) = scratch.split_at_mut(2 * h);

    // The differences are kept in `r` until the middle product has used them.
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

    let (low, high) = r.split_at_mut(2 * h);
    let (l0, l1) = low.split_at_mut(h);
    let (h0, h1) = high.split_at_mut(h);
    let carries = if negative {
        combine::<true>(l1, h0, l0, h1, middle)
    } else {
        combine::<false>(l1, h0, l0, h1, middle)
    };
    // The sum is computed modulo the length of `r`, and the whole sum is below that.
    add_carry(&mut r[2 * h..], carries[0]);
    add_carry(&mut r[3 * h..], carries[1]);
}

/// Computes `l1 = l1 + h0 + l0 -+ m0` and `h0 = l1 + h0 + h1 -+ m1` in one pass, where
/// `a0 b0 = l0 + l1 B`, `a1 b1 = h0 + h1 B`, and `m0 + m1 B` is the middle product, which is added
/// if `ADDS`. `h1` may be shorter than `h` limbs. Returns the carries out of both sums, from -1 to
/// 3.
fn combine<const ADDS: bool>(
    l1: &mut [u64],
    h0: &mut [u64],
    l0: &[u64],
    h1: &[u64],
    middle: &[u64],
) -> [i8; 2] {
    let h = l0.len();
    let (m0, m1) = middle.split_at(h);
    let mut carries = Carries::<ADDS>::default();
    let blocks = (l1.as_chunks_mut().0.iter_mut())
        .zip(h0.as_chunks_mut().0)
        .zip(l0.as_chunks().0)
        .zip(h1.as_chunks().0)
        .zip(m0.as_chunks().0)
        .zip(m1.as_chunks().0);
    for (((((l1, h0), l0), h1), m0), m1) in blocks {
        (*l1, *h0) = carries.step::<CHUNK>(*l1, h0, l0, h1, m0, m1);
    }
    for i in h1.len() / CHUNK * CHUNK..h {
        let h1 = h1.get(i).copied().unwrap_or(0);
        ([l1[i]], [h0[i]]) = carries.step([l1[i]], &[h0[i]], &[l0[i]], &[h1], &[m0[i]], &[m1[i]]);
    }
    carries.out()
}

/// The carries and the borrows between the limbs of [`combine`].
#[derive(Default)]
struct Carries<const ADDS: bool> {
    shared: bool,
    low: bool,
    high: bool,
    middle_low: bool,
    middle_high: bool,
}

impl<const ADDS: bool> Carries<ADDS> {
    #[inline(always)]
    fn step<const N: usize>(
        &mut self,
        l1: [u64; N],
        h0: &[u64; N],
        l0: &[u64; N],
        h1: &[u64; N],
        m0: &[u64; N],
        m1: &[u64; N],
    ) -> ([u64; N], [u64; N]) {
        let shared = chain(l1, h0, &mut self.shared, add_with_carry);
        let low = chain(shared, l0, &mut self.low, add_with_carry);
        let high = chain(shared, h1, &mut self.high, add_with_carry);
        let step = if ADDS {
            add_with_carry
        } else {
            sub_with_borrow
        };
        (
            chain(low, m0, &mut self.middle_low, step),
            chain(high, m1, &mut self.middle_high, step),
        )
    }

    fn out(self) -> [i8; 2] {
        [(self.low, self.middle_low), (self.high, self.middle_high)].map(|(carry, middle)| {
            let middle = i8::from(middle);
            i8::from(self.shared) + i8::from(carry) + if ADDS { middle } else { -middle }
        })
    }
}

/// Applies `step(x, y)` limb by limb, with the carry in `carry`.
#[inline(always)]
fn chain<const N: usize>(
    mut x: [u64; N],
    y: &[u64; N],
    carry: &mut bool,
    step: impl Fn(u64, u64, bool) -> (u64, bool),
) -> [u64; N] {
    for i in 0..N {
        (x[i], *carry) = step(x[i], y[i], *carry);
    }
    x
}
