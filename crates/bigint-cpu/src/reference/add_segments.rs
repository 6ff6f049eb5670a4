//! Sums and differences of segments of `a` and `b`, modulo `2^(32 w)`, `w = r.len()`.
//!
//! Operands have any widths, and are zero above them. **Scratch**: none.

use bigint_core::kernel::MARKS;
use bigint_core::{LIMB_BITS, Limb};

use super::limb;

/// Adds limb after limb. If `marks` says that a segment begins, the carry begins anew. It begins as
/// 1 if `marks` says that `b` is subtracted, and the complement of `b` is added there:
/// `x - y = x + y' + 1`. If `marks` says that `b` has ended, its limb is 0.
///
/// ```
/// // 7 + 9 in one limb, and 5 - 2 + 2^32 (1 - 0) in two.
/// let mut r = [0; 3];
/// bigint_cpu::reference::add_segments::ripple(&mut r, &[7, 5, 1], &[9, 2, 8], &[0b011, 0b110, 0b100]);
/// assert_eq!(r, [16, 3, 1]);
/// ```
pub fn ripple(r: &mut [Limb], a: &[Limb], b: &[Limb], marks: &[Limb]) {
    let mut carry = 0;
    for (i, r) in r.iter_mut().enumerate() {
        let mark = |which| limb(marks, i / LIMB_BITS * MARKS + which) >> (i % LIMB_BITS) & 1;
        let (begins, subtracts) = (mark(0) == 1 || i == 0, mark(1));
        if begins {
            carry = u64::from(subtracts);
        }
        let y = if mark(2) == 1 { 0 } else { limb(b, i) };
        let y = y ^ subtracts.wrapping_neg();
        let sum = u64::from(limb(a, i)) + u64::from(y) + carry;
        *r = sum as Limb;
        carry = sum >> LIMB_BITS;
    }
}
