//! Addition: `r = (a + b) mod 2^(32 w)`, `w = r.len()`, and the carry out.
//!
//! With `c[0] = 0`, `r[i] = (a[i] + b[i] + c[i]) mod 2^32`, and `c[i + 1] = 1` if that sum reaches
//! `2^32`. Operands have any widths. **Scratch**: none.

use bigint_core::{LIMB_BITS, Limb};

use super::limb;

/// Adds limb after limb, and hands the carry on. **Cost**: `w` dependent steps.
///
/// ```
/// let mut r = [0; 2];
/// assert_eq!(bigint_cpu::reference::add::ripple(&mut r, &[u32::MAX, u32::MAX], &[1]), 1);
/// assert_eq!(r, [0, 0]);
/// ```
pub fn ripple(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    let mut carry = false;
    for (i, r) in r.iter_mut().enumerate() {
        (*r, carry) = limb(a, i).carrying_add(limb(b, i), carry);
    }
    Limb::from(carry)
}

/// Adds 32 limbs at once, as a warp does [Langer 2015], [Bringgaard 2024].
///
/// Limb `i` *generates* a carry if `a[i] + b[i] >= 2^32`, and *propagates* the one it receives if
/// `a[i] + b[i] = 2^32 - 1`. It never does both. Bit `i` of the words `g` and `p` says whether limb
/// `i` generates and whether it propagates. If `p` is added to the carries that enter from below,
/// `(g << 1) + c`, each carry runs through its unbroken run of propagating limbs as a binary carry
/// does. `xor p` then leaves a one exactly where a carry enters a limb.
pub fn carry_lookahead(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    let mut carry = 0;
    for (chunk, r) in r.chunks_mut(LIMB_BITS).enumerate() {
        let (mut generate, mut propagate) = (0_u64, 0_u64);
        for (i, r) in r.iter_mut().enumerate() {
            let at = chunk * LIMB_BITS + i;
            let (sum, over) = limb(a, at).overflowing_add(limb(b, at));
            generate |= u64::from(over) << i;
            propagate |= u64::from(sum == Limb::MAX) << i;
            *r = sum;
        }
        let entering = (((generate << 1) | carry) + propagate) ^ propagate;
        for (i, r) in r.iter_mut().enumerate() {
            *r = r.wrapping_add(Limb::from((entering >> i) & 1 == 1));
        }
        carry = (entering >> r.len()) & 1;
    }
    Limb::from(carry == 1)
}
