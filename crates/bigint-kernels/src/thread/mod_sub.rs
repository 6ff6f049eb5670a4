//! Differences modulo `m` (Scan): `a - b`, and `m` where that is negative.
//!
//! A first pass finds whether it is, a second one writes. Neither branches on limbs. Both
//! operands are below `m`.
//!
//! Cost: two passes, the second of a subtraction and an addition a limb, in chunks of four.
//! No scratch. `r` is not an operand.

use super::{Batches, CHUNK};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// The differences that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        number(work.r, work.a, work.b, work.c);
    }
}

/// `r = a - b` modulo `m`, cut or zero-extended to the width of `r`.
#[inline(always)]
fn number<S: Stride>(r: Number<S>, a: Number<S>, b: Number<S>, m: Number<S>) {
    // Above `m` both operands are zero.
    let (mut carry, mut borrow) = (0, 0);
    let mut at = 0;
    while at < m.width() {
        (_, borrow) = carry::sub(a.limbs(at), b.limbs(at), borrow);
        at += CHUNK;
    }
    let mask = borrow.wrapping_neg();
    (borrow, at) = (0, 0);
    while at < r.width() {
        let (difference, sum);
        (difference, borrow) = carry::sub(a.limbs(at), b.limbs(at), borrow);
        let more: [Limb; 4] = m.limbs(at).map(|limb: Limb| limb & mask);
        (sum, carry) = carry::add(difference, more, carry);
        r.set_limbs(at, if at < m.width() { sum } else { [0; 4] });
        at += CHUNK;
    }
}
