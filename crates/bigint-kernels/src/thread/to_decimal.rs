//! Numbers to base `10^9` by repeated short division (School; [Knuth 1997]).
//!
//! With `B` = 2^32 and `D = 10^9`, a number is divided by `D` again and again, and each remainder is the next digit.
//! A division goes down from the highest limb: of the remainder `c < D` and the next limb `x` it makes a limb `q` of the
//! quotient and the next remainder, `c B + x = q D + c'`. The quotient's limbs are those that the next division wants, in
//! the same order. So a pass over a number does eight divisions, each a limb behind the one before it:
//!
//! ```text
//! limb x ---> c0 ---> q ---> c1 ---> ... ---> c7 ---> limb of the quotient by D^8
//! ```
//!
//! and at its end `c0 .. c7` are the next eight digits. By hand, with `B = D = 10`, two divisions a pass, and 37 written
//! with a limb too many, 0 3 7: they leave 7 and 3, and the quotient 0.
//!
//! **A division of words** is a product with a reciprocal. As `B^2 / D = 4 B + v + .71` with `v` = 1266874889,
//!
//! ```text
//! q' = 4 c + floor((v c + 4 x) / B),     c B + x - q' D < 2 D < B.
//! ```
//!
//! For `(c B + x) / D = 4 c + (v c + 4 x + .71 c + .295 x) / B`, of which `q'` loses less than `(.71 D + .295 B) / B < .47`,
//! and less than 1 for the floor: `q'` is the quotient or one less, and `q' D` is no more than the number.
//!
//! `D^15 > B^14`: when `t` digits have gone, so have `floor(14 t / 15)` limbs, and passes leave them out.
//!
//! **Cost**: `1.07 n^2 / 2` divisions of words. Counted at 128 limbs: 6.4 instructions of PTX, moves aside, for each of the
//! `n^2`, and nine times the bytes of number and digits through memory, as scratch of more than 16 limbs leaves a warp's
//! share of the caches. **Floor**: no limb need move more than once, `n` limbs in and `1.07 n` out. On the way to a host, at
//! 40 GB/s, the digits alone take as long as the divisions should on an H200 at some 500 limbs: shorter numbers wait for
//! the link, whatever the kernel does. **Scratch**: `n` limbs, what is left to divide. `r` overlaps no operand. No branch or
//! address depends on limbs.

use super::{Batches, Work, own};
use crate::gpu::memory::{Any, Number, Stride};
use bigint_core::{LIMB_BITS, Limb};

/// The base.
pub(super) const BASE: Limb = 1_000_000_000;

/// The divisions of a pass, and its digits.
pub(super) const PASS: usize = 8;

/// `v`: the low limb of `floor(B^2 / BASE)`, whose high limb is 4.
const RECIPROCAL: Limb = (u128::pow(2, 64) / BASE as u128) as Limb;

/// Computes the digits that fall to the calling thread.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    for Work { r, a, scratch, .. } in batches.numbers() {
        number(r, a, scratch);
    }
}

/// Sets `r` to the digits of `a`, as many as it has limbs. `rest` is as wide as `a`.
#[inline(always)]
fn number(r: Number<impl Stride>, a: Number<impl Stride>, rest: Number<Any>) {
    own::copy(rest, a);
    let mut done = 0;
    while done < r.width() {
        let mut digits: [Limb; PASS] = [0; PASS];
        let mut at = a.width().saturating_sub(14 * done / 15);
        while at > 0 {
            at -= 1;
            let mut limb = rest.limb(at);
            for digit in &mut digits {
                (limb, *digit) = divided(*digit, limb);
            }
            rest.set(at, limb);
        }
        r.set_limbs(done, digits);
        done += PASS as u32;
    }
}

/// Quotient and remainder of `above B + limb` by the base, which is greater than `above`.
#[inline(always)]
fn divided(above: Limb, limb: Limb) -> (Limb, Limb) {
    let sum = u64::from(above) * u64::from(RECIPROCAL) + (u64::from(limb) << 2);
    let quotient = (above << 2).wrapping_add((sum >> LIMB_BITS) as Limb);
    let left = limb.wrapping_sub(quotient.wrapping_mul(BASE));
    if left >= BASE {
        (quotient.wrapping_add(1), left - BASE)
    } else {
        (quotient, left)
    }
}
