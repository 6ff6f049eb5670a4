//! Square roots by rows (School): the root limb by limb from the top, as division by rows
//! gives a quotient.
//!
//! With `B` = 2^32, the number is shifted to the left by an even number of bits until it has
//! an even number of limbs, `2 k`, and one of its two top bits is set: so the root has `k`
//! limbs and its top bit set. Of the root `s` of the upper limbs and what they leave, `u`
//! (at most `2 s`), the next limb `q` and what is left follow from two more limbs `x`:
//!
//! ```text
//! q = floor(floor(u B / 2) / s) or less,     u' = (u B^2 + x) - q (2 s B + q),     s' = s B + q.
//! ```
//!
//! What is subtracted is `q` times one number, `2 s B` with `q` in its lowest limb. `q` is
//! estimated by the top limbs (see [`division`]) and lessened while `u'` is negative: each
//! unit gives `2 s B + 2 q + 1` back, which is that number again.
//!
//! For 1234 in tens: `s` = 3 of 12 and `u` = 3; `u B^2 + x` = 334, 33 / 6 gives `q` = 5,
//! 334 - 5 * 65 = 9, and the root is 35.
//!
//! The remainder is the number less the root's square.
//!
//! Cost: `n^2 / 8` multiply-adds for the root of `n` limbs, and as many for the square.
//! Scratch: `2 n + 4` limbs. Results are no operands.

use super::division;
use super::place::word;
use super::reciprocal::{Top, root_of_word};
use super::{Batches, Work, mul, own, sub};
use crate::gpu::memory::{Any, Number, Stride};
use bigint_core::{LIMB_BITS, Limb};

/// The roots that fall to the calling thread.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let Work {
            r, s, a, scratch, ..
        } = work;
        let half = a.width().div_ceil(2);
        let root = scratch.part(0, half);
        let rest = scratch.part(half, scratch.width());
        number(root, a, rest);
        own::copy(r, root);
        let square = rest.part(0, 2 * half);
        mul::comba::product(square, root, root);
        sub::number(s, a, square);
    }
}

/// The root of `a`, as wide as `root`.
#[inline(always)]
fn number(root: Number<Any>, a: Number<impl Stride>, scratch: Number<Any>) {
    let n = division::significant(a);
    division::clear(root, n.div_ceil(2));
    if n == 0 {
        return;
    }
    let k = n.div_ceil(2);
    let (odd, bits) = (2 * k - n, a.limb(n - 1).leading_zeros() & !1);
    let u = scratch.part(0, 2 * k);
    // Twice the root: its upper limbs are there from limb `at` on.
    let twice = scratch.part(2 * k, 3 * k + 1);
    let mut i = 0;
    while i < 2 * k {
        let limb = |i: u32| a.limb(i.wrapping_sub(odd));
        let both = word(limb(i), limb(i.wrapping_sub(1)));
        u.set(i, (both << bits >> LIMB_BITS) as Limb);
        i += 1;
    }
    division::clear(twice, 0);

    let top = word(u.limb(2 * k - 1), u.limb(2 * k - 2));
    let first = root_of_word(top);
    let rest = top - first * first;
    u.set(2 * k - 1, (rest >> LIMB_BITS) as Limb);
    u.set(2 * k - 2, rest as Limb);
    twice.set(k - 1, (2 * first) as Limb);
    twice.set(k, (2 * first >> LIMB_BITS) as Limb);
    let mut at = k - 1;
    let half = |number: Number<Any>, i: u32| {
        (word(number.limb(i), number.limb(i.wrapping_sub(1))) >> 1) as Limb
    };
    let divisor = || Top::new(half(twice, k), half(twice, k - 1));
    let mut reciprocal = divisor();
    while at > 0 {
        // The limb of `u` that must become zero.
        let high = k + at;
        let mut q = reciprocal.quotient([half(u, high - 1), half(u, high)]);
        at -= 1;
        twice.set(at, q);
        let mut negative = subtract(u.part(2 * at, 2 * k), twice.part(at, k + 1), q);
        while negative {
            q -= 1;
            // 2 s B + 2 q + 1, of the lessened q.
            let limb = u64::from(q) * 2 + 1;
            let carried = limb >> LIMB_BITS != 0;
            twice.set(at, limb as Limb);
            negative = !add(u.part(2 * at, 2 * k), twice.part(at, k + 1), carried);
        }
        twice.set(at, q << 1);
        if q >> (LIMB_BITS - 1) != 0 {
            // Twice the upper limbs is even.
            twice.set(at + 1, twice.limb(at + 1) | 1);
        }
        if at == k - 2 {
            reciprocal = divisor();
        }
    }
    let back = (odd * LIMB_BITS as u32 + bits) / 2 + 1;
    let mut i = 0;
    while i < k {
        let both = word(twice.limb(i + 1), twice.limb(i));
        root.set(i, (both >> back) as Limb);
        i += 1;
    }
}

/// `u -= q d`, with one limb of `u` above those of `d`; answers whether that is negative.
#[inline(always)]
fn subtract(u: Number<Any>, d: Number<Any>, q: Limb) -> bool {
    let (mut i, mut carry) = (0, 0);
    while i < d.width() {
        let product = u64::from(q) * u64::from(d.limb(i)) + u64::from(carry);
        let (limb, borrow) = u.limb(i).overflowing_sub(product as Limb);
        u.set(i, limb);
        // A high half of B - 1 comes with a low half of 0, which borrows nothing.
        carry = (product >> LIMB_BITS) as Limb + Limb::from(borrow);
        i += 1;
    }
    let (limb, borrow) = u.limb(i).overflowing_sub(carry);
    u.set(i, limb);
    borrow
}

/// `u += d`, and `B` where `carried`; answers whether that carries out of the limb above.
#[inline(always)]
fn add(u: Number<Any>, d: Number<Any>, carried: bool) -> bool {
    let (mut i, mut carry) = (0, false);
    while i <= d.width() {
        let limb = if i < d.width() { d.limb(i) } else { 0 };
        let more = if i == 1 { Limb::from(carried) } else { 0 };
        // Above the lowest, limbs of `d` are even numbers' or 0 and 1: one more fits.
        let sum;
        (sum, carry) = u.limb(i).carrying_add(limb | more, carry);
        u.set(i, sum);
        i += 1;
    }
    carry
}
