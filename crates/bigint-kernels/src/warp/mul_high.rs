//! High halves of products by columns (Comba; Honda), four columns to a lane.
//!
//! The columns below the half are summed for what they send up, and not stored. The maths
//! is in [`columns`](crate::columns), how lanes share it in [`each_four`].
//!
//! Cost: `ceil4(n) ceil4(m)` products. No scratch. `r` is not an operand.

use super::Batches;
use super::columns::each_four;
use crate::columns::{Columns, STEP};
use crate::gpu::memory::Stride;

/// The high halves that fall to the calling lane's group.
#[inline(always)]
pub fn comba<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        let (r, a, b) = (work.r, work.a, work.b);
        let half = a.width().max(b.width());
        let sum = |k| {
            let mut columns = Columns::default();
            columns.add_products(k, a, b);
            columns.sum()
        };
        each_four(work.group, half + r.width(), sum, |at, limbs| {
            for t in 0..STEP {
                // What lies below the half is past every width then.
                r.set((at + t as u32).wrapping_sub(half), limbs[t]);
            }
        });
    }
}
