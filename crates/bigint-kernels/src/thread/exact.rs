//! Quotients of divisions without a remainder, from the lowest limb up [Jebelean 1993].
//!
//! If `b` is odd, `q b = a` has one solution modulo every power of `B` = 2^32. Limb `i` of `q` is
//! chosen so that column `i` of `q b`, with the carry from the columns below, ends with limb `i` of
//! `a`:
//!
//! ```text
//! q[i] = (a[i] - column) / b[0]  mod B
//! ```
//!
//! and the rest of the column is carried to the next. For 8418 by 23 and `B` = 10, 1 / 3 is 7 mod 10.
//! The first digit is 8 * 7 = 6 mod 10, and 3 * 6 = 18 carries 1. The next is (1 - 1 - 2 * 6) * 7 = 6 mod
//! 10, and so on: the quotient is 366. If `b` is even, `a` and `b` are first shifted to the right by the
//! zero bits at the end of `b`.
//!
//! Cost: for each limb `q[i]`, a multiply-add for each of the limbs `b[0]` to `b[i]`. Nothing is
//! estimated and nothing corrected. Limbs of `a` above the width of `q` are not read.

use super::column::{Column, Limbs};
use super::division::right;
use crate::gpu::carry::Accumulator;
use crate::montgomery::inverse;
use bigint_core::Limb;

/// Replaces the number `a` in `q` by `a / b`. `b` divides it, or `a` is zero. `b` is overwritten by
/// its shifted form.
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
    // If `b` is zero, it has no lowest 1, and nothing is shifted.
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
