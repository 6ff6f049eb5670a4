//! Least common multiples (Lehmer): `a / g * b`, `g` the greatest common divisor, and 0
//! where one of them is 0.
//!
//! Cost: of a [divisor](super::gcd), an [exact quotient](super::exact) and a product. Scratch:
//! that of the first, the divisor and the quotient.

use super::{Batches, Work, exact, gcd, mul};
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
        let pairs = gcd_digits(n as usize, b.width() as usize) as u32;
        if scratch.width() <= widest + n {
            gcd::number(divisor, a, b, batches.column(pairs), pairs);
        } else {
            let column = batches.column_in_scratch(widest + n);
            gcd::number(divisor, a, b, column, pairs);
        }
        exact::quotient(quotient, a, divisor);
        mul::comba::product(r, quotient, b);
    }
}
