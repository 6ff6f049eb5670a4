//! Products with an addend, `a b + c`, by columns (Comba; [Honda 2015]).
//!
//! A limb of `c` is one more term of its column. [`columns`](crate::columns) explains the maths
//! and the bounds.
//!
//! Cost: `ceil4(n) ceil4(m)` products, with an addition for each. Each limb of the result is
//! written once, and none is read. No scratch. `r` overlaps no operand.

use super::Batches;
use crate::columns::{Columns, STEP};
use crate::gpu::memory::{Number, Stride};

/// Computes the values that fall to the calling thread.
#[inline(always)]
pub fn comba<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        number(work.r, work.a, work.b, work.c);
    }
}

/// `r = a b + c`, cut or zero-extended to the width of `r`.
#[inline(always)]
fn number<S: Stride>(r: Number<S>, a: Number<S>, b: Number<S>, c: Number<S>) {
    const FOUR: u32 = STEP as u32;
    let mut columns = Columns::default();
    let mut k = 0;
    while FOUR * k < r.width() {
        columns.add_products(k, a, b);
        columns.add_limbs(c.limbs(FOUR * k));
        r.set_limbs(FOUR * k, columns.next());
        k += 1;
    }
}
