//! Sums modulo `m` (Scan): `a + b`, less `m` where it is not below `m`.
//!
//! A first pass finds whether `a + b - m` is negative, a second one writes. Neither branches
//! on limbs. Both operands are below `m`.
//!
//! Cost: two passes of one addition and one subtraction a limb, in chunks of four. No
//! scratch. `r` is not an operand.

use super::{Batches, CHUNK};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;

/// The sums that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        number(work.r, work.a, work.b, work.c);
    }
}

/// `r = a + b` modulo `m`, cut or zero-extended to the width of `r`.
#[inline(always)]
fn number<S: Stride>(r: Number<S>, a: Number<S>, b: Number<S>, m: Number<S>) {
    // Above `m` both operands are zero.
    let (mut carry, mut borrow) = (0, 0);
    let mut at = 0;
    while at < m.width() {
        let sum;
        (sum, carry) = carry::add(a.limbs(at), b.limbs(at), carry);
        (_, borrow) = carry::sub(sum, m.limbs(at), borrow);
        at += CHUNK;
    }
    let mask = (borrow & !carry & 1).wrapping_sub(1);
    (carry, borrow, at) = (0, 0, 0);
    while at < r.width() {
        let (sum, difference);
        (sum, carry) = carry::add(a.limbs(at), b.limbs(at), carry);
        let less: [Limb; 4] = m.limbs(at).map(|limb: Limb| limb & mask);
        (difference, borrow) = carry::sub(sum, less, borrow);
        r.set_limbs(at, if at < m.width() { difference } else { [0; 4] });
        at += CHUNK;
    }
}
