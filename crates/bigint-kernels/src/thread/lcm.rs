//! Least common multiples by Lehmer's algorithm: `a / g * b`, where `g` is the greatest common
//! divisor; 0 if `a` or `b` is 0.
//!
//! All numbers stand in the column in which the divisor is found. The divisor is left in the
//! first places. `a` is put into the second places, where the quotient replaces it; then `b` is
//! put into the first places.
//!
//! Cost: that of a [divisor](super::gcd), an [exact quotient](super::exact) and a product.
//! Scratch: that of the divisor.

use super::column::{Above, Column, InColumn, Limbs, numbers};
use super::lehmer::{Doubles, Tops, Words};
use super::{Batches, exact, gcd, mul};
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;
use bigint_core::kernel::gcd_digits;
use core::marker::PhantomData;

/// Computes the multiples that fall to the calling thread, by steps in doubles.
#[inline(always)]
pub fn lehmer<S: Stride>(batches: Batches<'_, S>) {
    numbers::<Multiple<Doubles>, S>(batches);
}

/// Computes the multiples that fall to the calling thread, by steps in integers.
#[inline(always)]
pub fn lehmer_words<S: Stride>(batches: Batches<'_, S>) {
    numbers::<Multiple<Words>, S>(batches);
}

/// The operation: the least number that both operands divide.
struct Multiple<T>(PhantomData<T>);

impl<T: Tops> InColumn for Multiple<T> {
    const HAS_FLAG: bool = false;

    #[inline(always)]
    fn pairs(n: u32, m: u32) -> u32 {
        gcd_digits(n as usize, m as usize) as u32
    }

    #[inline(always)]
    fn number<S: Stride>([r, a, b]: [Number<S>; 3], column: impl Column, pairs: u32) -> Limb {
        let column = Above::zeros(column);
        let places = |second: bool, width: u32| Limbs {
            column,
            second,
            width,
        };
        let divisor = places(false, a.width().max(b.width()));
        gcd::divisor::<T>(a, b, column, pairs, divisor.width, |i, limb| {
            divisor.set(i, limb);
        });
        let quotient = places(true, a.width());
        quotient.put(a);
        exact::quotient(quotient, divisor);
        let other = places(false, b.width());
        other.put(b);
        let widths = [quotient.width, other.width];
        mul::comba::product_of(r, widths, |i| quotient.four(i), |i| other.four(i));
        0
    }
}
