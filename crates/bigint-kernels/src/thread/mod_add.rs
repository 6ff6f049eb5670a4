//! Sums modulo `m` (Scan): `a + b`, minus `m` unless it is below `m`.
//!
//! A first pass finds out whether `a + b - m` is negative, a second one writes the result.
//! Neither branches on limbs. Both operands are below `m`.
//!
//! Cost: two passes, each of an addition and a subtraction for each limb, in chunks of four. No
//! scratch. `r` overlaps no operand.

use super::own::{self, Leaf, Numbers, Own};
use super::{Batches, CHUNK};
use crate::gpu::carry;
use crate::gpu::memory::Stride;
use bigint_core::{Limb, Operation};

struct ModAdd;

impl Leaf for ModAdd {
    const OPERATION: Operation = Operation::ModAdd;

    /// Computes the sum, cut or zero-extended to the width of `r`.
    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, a, b, c: m, .. }: Numbers<R, N>) {
        // Above `m` both operands are zero.
        let (mut carry, mut borrow) = (0, 0);
        let mut at = 0;
        while at < m.width() {
            let sum;
            (sum, carry) = carry::add(a.four(at), b.four(at), carry);
            (_, borrow) = carry::sub(sum, m.four(at), borrow);
            at += CHUNK;
        }
        let mask = (borrow & !carry & 1).wrapping_sub(1);
        (carry, borrow, at) = (0, 0, 0);
        while at < r.width() {
            let (sum, difference);
            (sum, carry) = carry::add(a.four(at), b.four(at), carry);
            let less: [Limb; 4] = m.four(at).map(|limb: Limb| limb & mask);
            (difference, borrow) = carry::sub(sum, less, borrow);
            r.set_four(at, if at < m.width() { difference } else { [0; 4] });
            at += CHUNK;
        }
    }
}

/// Computes the sums that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<ModAdd, S>(batches);
}
