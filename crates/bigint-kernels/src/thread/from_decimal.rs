//! Numbers of their digits to base `10^9`, the highest first (School, Horner's rule; [Knuth 1997]).
//!
//! With `D = 10^9`, `x <- x D + (the next digit)`. A step goes up from the lowest limb, and what it carries begins as
//! the digit: `x[i] D + c = x[i]' + c' B`, `c' < B`. Its limbs are those that the next step wants, in the same order. So
//! a pass over a number takes eight digits, as one of [`to_decimal`](super::to_decimal) leaves eight:
//!
//! ```text
//! limb of x ---> D, + c0 ---> D, + c1 ---> ... ---> D, + c7 ---> limb of x D^8 + (eight digits)
//! ```
//!
//! By hand, to base 10 with `B` = 16, two digits a pass, from 2 with the digits 5 and 7: limb 0 is `2 10 + 5 = 9 + 1 16`,
//! and `9 10 + 7 = 1 + 6 16`; limb 1 is `0 10 + 1`, and `1 10 + 6 = 0 + 1 16`; limb 2 is 0 and 1: 1 0 1, which is 257.
//!
//! A number of `t` digits, each of them any limb, is below `B^t`: `(B - 1) (D^t - 1) / (D - 1)` is.
//!
//! **Cost**: `n^2 / 2` multiply-adds. Counted at 128 limbs: 2.4 instructions of PTX, moves aside, for each of the `n^2`, and
//! nine times the bytes of digits and number through memory, in scratch. **Floor**: `n` limbs in and out, as in
//! [`to_decimal`](super::to_decimal). **Scratch**: `n` limbs, what has been read. `r` overlaps no operand. No branch or
//! address depends on limbs.

use super::to_decimal::{BASE, PASS};
use super::{Batches, Work, own};
use crate::gpu::memory::{Any, Number, Stride};
use bigint_core::{LIMB_BITS, Limb};

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    for Work { r, a, scratch, .. } in batches.numbers() {
        number(r, a, scratch);
    }
}

/// Sets `r` to the number with the digits `a`, cut or extended to its width. `x` is as wide as `a`.
#[inline(always)]
fn number(r: Number<impl Stride>, a: Number<impl Stride>, x: Number<Any>) {
    let mut left = a.width().next_multiple_of(PASS as u32);
    let mut length = 0;
    while left > 0 {
        left -= PASS as u32;
        let mut carries: [Limb; PASS] = a.limbs(left);
        let above = a.width() - left;
        let mut at = 0;
        while at < above {
            let mut limb = if at < length { x.limb(at) } else { 0 };
            for carry in carries.iter_mut().rev() {
                let sum = u64::from(limb) * u64::from(BASE) + u64::from(*carry);
                (limb, *carry) = (sum as Limb, (sum >> LIMB_BITS) as Limb);
            }
            x.set(at, limb);
            at += 1;
        }
        length = above;
    }
    own::copy(r, x);
}
