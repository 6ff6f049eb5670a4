//! Least common multiples (Lehmer): `a / g * b`, `g` the greatest common divisor, and 0
//! where one of them is 0.
//!
//! All of it stands in the column in which the divisor is found: that comes to be in the first
//! places, and `a` is put in the second ones, where the quotient takes its place; then `b` in the
//! first ones.
//!
//! Cost: of a [divisor](super::gcd), an [exact quotient](super::exact) and a product. Scratch:
//! that of the first.

use super::column::{Above, Column, Limbs};
use super::{Batches, Work, exact, gcd, mul};
use crate::gpu::known::column_is_shared;
use crate::gpu::memory::{Number, Stride};
use bigint_core::kernel::gcd_digits;

/// The multiples that fall to the calling thread.
#[inline(always)]
pub fn lehmer<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let Work {
            r, a, b, scratch, ..
        } = work;
        let pairs = gcd_digits(a.width() as usize, b.width() as usize) as u32;
        match column_is_shared(scratch.width()) {
            true => number(r, a, b, batches.column(pairs), pairs),
            false => number(r, a, b, batches.column_in_scratch(), pairs),
        }
    }
}

/// `r` is the least number that both divide. The column has so many pairs.
#[inline(always)]
fn number(
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
    column: impl Column,
    pairs: u32,
) {
    let column = Above::zeros(column);
    let places = |second: bool, width: u32| Limbs {
        column,
        second,
        width,
    };
    let divisor = places(false, a.width().max(b.width()));
    gcd::divisor(a, b, column, pairs, divisor.width, |i, limb| {
        divisor.set(i, limb);
    });
    let quotient = places(true, a.width());
    quotient.put(a);
    exact::quotient(quotient, divisor);
    let other = places(false, b.width());
    other.put(b);
    let widths = [quotient.width, other.width];
    mul::comba::product_of(r, widths, |i| quotient.four(i), |i| other.four(i));
}
