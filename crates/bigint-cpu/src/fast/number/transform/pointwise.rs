//! Products of nodes, one row by one row modulo `x^8 -+ w`, in 64-bit integers, for rings that have
//! no multiply-adds of 52 bits.

use super::field::{Ring, Row, Stored};
use super::portable::PortableRing;

/// Computes `a <- a b scale / 2^64`, node by node. The nodes are rows `2 u` and `2 u + 1`, modulo
/// `x^8 - roots[u]` and `x^8 + roots[u]`. Without a `b`, the result is the square of `a`.
///
/// Coefficient `k` is `sum a_i b_(k - i)`, where `b_j` for `j < 0` is `w b_(j + 8)`. Its eight
/// products, each below `p^2`, are reduced together by Montgomery's method, to `(0, 2p)`.
#[inline(always)]
pub(super) fn multiply<R: Ring>(
    ring: R,
    integers: PortableRing,
    a: &mut [Row],
    b: Option<&[Row]>,
    roots: &[Stored],
    scale: &Stored,
) {
    let p = integers.p;
    let scale = ring.factor(scale);
    for (t, a) in a.iter_mut().enumerate() {
        let b = b.map_or(*a, |b| b[t]);
        let (mut x, mut direct, mut wrapped) = (Row::ZERO, Row::ZERO, Row::ZERO);
        for part in 0..R::PARTS {
            let scaled = ring.canonical(ring.mul(ring.load(part, &b), scale));
            let turned = ring.mul(ring.residues(scaled), ring.factor(&roots[t / 2]));
            let folded = ring.fold4(ring.fold8(ring.load(part, a)));
            ring.store_integers(part, &mut x, ring.canonical(folded));
            ring.store_integers(part, &mut direct, scaled);
            ring.store_integers(part, &mut wrapped, ring.canonical(turned));
        }
        if t % 2 == 1 {
            for w in &mut wrapped.0 {
                *w = p - *w;
            }
        }
        let mut product = Row::ZERO;
        for k in 0..8 {
            let mut sum = 0u128;
            for i in 0..8 {
                let y = if i <= k {
                    direct.0[k - i]
                } else {
                    wrapped.0[k + 8 - i]
                };
                sum += u128::from(x.0[i]) * u128::from(y);
            }
            let u = (sum as u64).wrapping_mul(integers.p_inverse);
            let carried = (u128::from(u) * u128::from(p)) >> 64;
            product.0[k] = (sum >> 64) as u64 + p - carried as u64;
        }
        // The values are below 2p already. `fold8` is for rings whose residues lie around zero.
        for part in 0..R::PARTS {
            let residues = ring.residues(ring.integers(part, &product));
            ring.store(part, a, ring.fold8(residues));
        }
    }
}
