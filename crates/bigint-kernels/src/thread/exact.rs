//! Quotients that leave nothing, from the lowest limb up [Jebelean 1993].
//!
//! Where `b` is odd, `q b = a` has one solution modulo every power of `B` = 2^32. Limb `i` of `q`
//! makes column `i` of `q b`, with what comes from the columns below, end with limb `i` of `a`:
//!
//! ```text
//! q[i] = (a[i] - column) / b[0]  mod B
//! ```
//!
//! and the rest of the column goes to the next. For 8418 by 23 and `B` = 10, 1 / 3 is 7: the first
//! digit is 8 * 7 = 6 mod 10, and 3 * 6 = 18 leaves 1; the next (1 - 1 - 2 * 6) * 7 = 6, and so on to
//! 366. An even `b` loses the zero bits that it ends with, and `a` as many.
//!
//! Cost: a multiply-add for each limb of `q` and each of `b` up to its own place; nothing is estimated
//! and nothing corrected. What `a` has above the width of `q` is not looked at.

use super::column::{Column, Limbs};
use super::division::right;
use crate::gpu::carry::Accumulator;
use crate::montgomery::inverse;
use bigint_core::Limb;

/// `q = a / b`, where `a` is what stands where `q` is to be, and `b` divides it, or `a` is zero; `b`
/// is shifted to its place.
#[inline(always)]
pub fn quotient(q: Limbs<impl Column>, b: Limbs<impl Column>) {
    let mut m = b.width;
    while m > 0 && b.limb(m - 1) == 0 {
        m -= 1;
    }
    let mut zeros = 0;
    while zeros + 1 < m && b.limb(zeros) == 0 {
        zeros += 1;
    }
    // Of zero, which has no bit to find, nothing is shifted.
    let bits = b.limb(zeros).trailing_zeros() % Limb::BITS;
    let m = m.saturating_sub(zeros);
    let mut j = 0;
    while j < m {
        b.set(j, right(b.limb(zeros + j + 1), b.limb(zeros + j), bits));
        j += 1;
    }
    let odd = b.limb(0);
    let inverse = inverse(odd);
    let mut column = Accumulator::default();
    let mut i = 0;
    while i < q.width {
        let mut j = 1;
        while j < m && j <= i {
            column.add_product(b.limb(j), q.limb(i - j));
            j += 1;
        }
        let [low, ..] = column.limbs();
        let limb = right(q.limb(zeros + i + 1), q.limb(zeros + i), bits);
        let digit = limb.wrapping_sub(low).wrapping_mul(inverse);
        column.add_product(odd, digit);
        column.shift();
        q.set(i, digit);
        i += 1;
    }
}
