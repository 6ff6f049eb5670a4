//! Least common multiples (Lehmer): `a / g * b`, `g` the greatest common divisor, and 0
//! where one of them is 0.
//!
//! Cost: of a [divisor](super::gcd), a [division](super::division) and a product. Scratch:
//! of these, and the divisor and the quotient.

use super::{Batches, Work, division, gcd, mul};
use crate::gpu::memory::Stride;
use bigint_core::kernel::gcd_digits;

/// The multiples that fall to the calling thread.
#[inline(always)]
pub fn lehmer<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let Work {
            r, a, b, scratch, ..
        } = work;
        let (n, widest) = (a.width(), a.width().max(b.width()));
        let divisor = scratch.part(0, widest);
        let quotient = scratch.part(widest, widest + n);
        let rest = scratch.part(widest + n, 2 * (widest + n) + 1);
        let pairs = gcd_digits(n as usize, b.width() as usize) as u32;
        if scratch.width() <= 2 * (widest + n) + 1 {
            gcd::number(divisor, a, b, batches.column(pairs), pairs);
        } else {
            let column = batches.column_in_scratch(2 * (widest + n) + 1);
            gcd::number(divisor, a, b, column, pairs);
        }
        division::number(quotient, rest.switched(false), a, divisor, rest);
        mul::comba::product(r, quotient, b);
    }
}
