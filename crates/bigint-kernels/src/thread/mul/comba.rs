//! Multiplication by columns (Comba; Honda).
//!
//! Column `k` of `a b` is the sum of `a[i] b[k-i]` over all `i`: it is summed in
//! 96 bits, then its low limb is the result's and the rest goes to column `k+1`.
//!
//! Columns are taken four at a time, so that four limbs of `a` and four of `b`
//! are loaded for sixteen products: a pair of fours `I`, `J` has products in the
//! columns `4(I+J) .. 4(I+J) + 7`. When all pairs with `I + J = K` are summed,
//! columns `4K .. 4K+3` are complete and columns `4K+4 .. 4K+6` are begun.
//!
//! Bound: a column has at most 2^26 products below 2^64, and takes at most
//! 2^64 - 1 from the one below: less than 2^91.
//!
//! Cost: `ceil4(n) ceil4(m)` products, an add for each; each limb of the result
//! is written once and none is read. No scratch. `r` is not an operand.

use crate::gpu::carry::Accumulator;
use crate::gpu::memory::{Number, Stride};
use bigint_core::LIMB_BITS;

/// Limbs of each operand that are loaded together.
const STEP: usize = 4;

/// `r = a * b`, cut or zero-extended to the width of `r`.
#[inline(always)]
pub fn product(r: Number<impl Stride>, a: Number<impl Stride>, b: Number<impl Stride>) {
    const FOUR: u32 = STEP as u32;
    let (n, m) = (a.width().div_ceil(FOUR), b.width().div_ceil(FOUR));
    let mut columns = [Accumulator::default(); 2 * STEP - 1];
    let mut k = 0;
    while FOUR * k < r.width() {
        let mut i = (k + 1).saturating_sub(m);
        while i <= k && i < n {
            let x = a.limbs::<STEP>(FOUR * i);
            let y = b.limbs::<STEP>(FOUR * (k - i));
            for s in 0..STEP {
                for t in 0..STEP {
                    columns[s + t].add_product(x[s], y[t]);
                }
            }
            i += 1;
        }
        let mut limbs = [0; STEP];
        for (t, limb) in limbs.iter_mut().enumerate() {
            let [low, middle, high] = columns[t].limbs();
            *limb = low;
            let carry = u64::from(high) << LIMB_BITS | u64::from(middle);
            columns[t + 1].add(carry);
        }
        r.set_limbs(FOUR * k, limbs);
        columns.copy_within(STEP.., 0);
        columns[STEP - 1..].fill(Accumulator::default());
        k += 1;
    }
}
