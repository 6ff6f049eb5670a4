//! High halves of products by columns (Comba; [Honda 2015]).
//!
//! The columns below the half are summed for their carry, and not stored.
//! [`columns`](crate::columns) explains the maths and the bounds.
//!
//! Cost: `ceil4(n) ceil4(m)` products, with an addition for each. No scratch. `r` overlaps no
//! operand.

use super::Batches;
use crate::columns::{Columns, STEP};
use crate::gpu::memory::{Number, Stride};

/// Computes the high halves that fall to the calling thread.
#[inline(always)]
pub fn comba<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        number(work.r, work.a, work.b);
    }
}

/// Sets `r` to `a b` without as many of its lowest limbs as the wider operand has, cut or
/// zero-extended to the width of `r`.
#[inline(always)]
fn number(r: Number<impl Stride>, a: Number<impl Stride>, b: Number<impl Stride>) {
    const FOUR: u32 = STEP as u32;
    let half = a.width().max(b.width());
    let mut columns = Columns::default();
    let mut k = 0;
    while FOUR * k < half + r.width() {
        columns.add_products(k, a, b);
        let limbs = columns.next();
        for t in 0..STEP {
            // The index of a limb below the half wraps around, past every width, so it is not
            // stored.
            r.set((FOUR * k + t as u32).wrapping_sub(half), limbs[t]);
        }
        k += 1;
    }
}
