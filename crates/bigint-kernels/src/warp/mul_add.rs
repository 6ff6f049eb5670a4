//! `a b + c` by columns (Comba; Honda), four columns to a lane.
//!
//! A limb of `c` is one more term of its column. The maths is in
//! [`columns`](crate::columns), how lanes share it in [`each_four`].
//!
//! Cost: `ceil4(n) ceil4(m)` products. No scratch. `r` is not an operand.

use super::Batches;
use super::columns::each_four;
use crate::columns::Columns;
use crate::gpu::memory::Stride;

/// The values that fall to the calling lane's group.
#[inline(always)]
pub fn comba<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        let (r, a, b, c) = (work.r, work.a, work.b, work.c);
        let sum = |k| {
            let mut columns = Columns::default();
            columns.add_products(k, a, b);
            columns.add_limbs(c.limbs(4 * k));
            columns.sum()
        };
        each_four(work.group, r.width(), sum, |at, limbs| {
            r.set_limbs(at, limbs);
        });
    }
}
