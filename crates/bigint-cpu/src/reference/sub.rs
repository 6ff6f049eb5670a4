//! Subtraction: `r = (a - b) mod 2^(32 w)`, `w = r.len()`, and the borrow out.
//!
//! With `c[0] = 0`, `r[i] = (a[i] - b[i] - c[i]) mod 2^32`, and `c[i + 1] = 1` if that difference
//! is negative. Operands have any widths. **Scratch**: none.

use bigint_core::{LIMB_BITS, Limb};

use super::limb;

/// Subtracts limb after limb, and hands the borrow on. **Cost**: `w` dependent steps.
///
/// ```
/// let mut r = [0; 2];
/// assert_eq!(bigint_cpu::reference::sub::ripple(&mut r, &[0], &[1]), 1);
/// assert_eq!(r, [u32::MAX, u32::MAX]);
/// ```
pub fn ripple(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    let mut borrow = false;
    for (i, r) in r.iter_mut().enumerate() {
        (*r, borrow) = limb(a, i).borrowing_sub(limb(b, i), borrow);
    }
    Limb::from(borrow)
}

/// Subtracts 32 limbs at once, as a warp does [Langer 2015].
///
/// It works as [addition](super::add::carry_lookahead) does: limb `i` generates a borrow if
/// `a[i] < b[i]`, and propagates the one it receives if `a[i] = b[i]`.
pub fn carry_lookahead(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    let mut borrow = 0;
    for (chunk, r) in r.chunks_mut(LIMB_BITS).enumerate() {
        let (mut generate, mut propagate) = (0_u64, 0_u64);
        for (i, r) in r.iter_mut().enumerate() {
            let at = chunk * LIMB_BITS + i;
            let (difference, under) = limb(a, at).overflowing_sub(limb(b, at));
            generate |= u64::from(under) << i;
            propagate |= u64::from(difference == 0) << i;
            *r = difference;
        }
        let entering = (((generate << 1) | borrow) + propagate) ^ propagate;
        for (i, r) in r.iter_mut().enumerate() {
            *r = r.wrapping_sub(Limb::from((entering >> i) & 1 == 1));
        }
        borrow = (entering >> r.len()) & 1;
    }
    Limb::from(borrow == 1)
}
