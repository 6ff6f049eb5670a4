//! Differences modulo `m` (Scan): `a - b`, plus `m` if that is negative.
//!
//! A first pass finds out whether it is negative, a second one writes the result. Neither
//! branches on limbs. Both operands are below `m`.
//!
//! Cost: a pass of a subtraction for each limb, and one of a subtraction and an addition, in
//! chunks of four. No scratch. `r` overlaps no operand.

use super::own::{self, Leaf, Numbers, Own};
use super::{Batches, CHUNK};
use crate::gpu::carry;
use crate::gpu::memory::Stride;
use bigint_core::{Limb, Operation};

struct ModSub;

impl Leaf for ModSub {
    const OPERATION: Operation = Operation::ModSub;

    /// Computes the difference, cut or zero-extended to the width of `r`.
    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, a, b, c: m, .. }: Numbers<R, N>) {
        // Above `m` both operands are zero.
        let (mut carry, mut borrow) = (0, 0);
        let mut at = 0;
        while at < m.width() {
            (_, borrow) = carry::sub(a.four(at), b.four(at), borrow);
            at += CHUNK;
        }
        let mask = borrow.wrapping_neg();
        (borrow, at) = (0, 0);
        while at < r.width() {
            let (difference, sum);
            (difference, borrow) = carry::sub(a.four(at), b.four(at), borrow);
            let more: [Limb; 4] = m.four(at).map(|limb: Limb| limb & mask);
            (sum, carry) = carry::add(difference, more, carry);
            r.set_four(at, if at < m.width() { sum } else { [0; 4] });
            at += CHUNK;
        }
    }
}

/// Computes the differences that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<ModSub, S>(batches);
}
