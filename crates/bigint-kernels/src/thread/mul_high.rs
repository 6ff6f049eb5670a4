//! High halves of products by columns (Comba; [Honda 2015]).
//!
//! The columns below the half are summed for what they send up, and not stored. The maths
//! and the bounds are in [`columns`](crate::columns).
//!
//! Cost: `ceil4(n) ceil4(m)` products, an add for each. No scratch. `r` is not an operand.

use super::Batches;
use crate::columns::{Columns, STEP};
use crate::gpu::memory::{Number, Stride};

/// The high halves that fall to the calling thread.
#[inline(always)]
pub fn comba<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        number(work.r, work.a, work.b);
    }
}

/// `r` is `a b` without its lowest limbs, as many as the wider operand has, cut or
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
            // What lies below the half is past every width then.
            r.set((FOUR * k + t as u32).wrapping_sub(half), limbs[t]);
        }
        k += 1;
    }
}
