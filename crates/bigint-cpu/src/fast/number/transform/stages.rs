//! The two stages that a ring may do faster than one coefficient or one residue at a
//! time: pointwise products, and residues to limbs.

use super::field::{Ring, Row, Stored};
use super::portable::PortableRing;
use super::recombine::{Inverses, Overflow};
use super::{pointwise, recombine};

/// A ring with these stages; as they stand here they serve any.
pub(super) trait Stages: Ring {
    /// Writes the limbs of the coefficients with these residues, a whole
    /// number of [`recombine::GROUP`]s of rows in `[0, 2p)`, as if there were
    /// none before them; returns what is carried into the limbs after. Limbs
    /// beyond `out` are left out.
    #[inline(always)]
    fn recombine(
        rings: [Self; 4],
        residues: [&[Row]; 4],
        inverses: &Inverses,
        h: u32,
        out: &mut [u64],
    ) -> Overflow {
        recombine::one_by_one(rings, residues, inverses, h, out)
    }

    /// `a <- a b scale / R` modulo the nodes `x^8 - roots[u]` (row `2 u`)
    /// and `x^8 + roots[u]` (row `2 u + 1`); `a` in `[0, 8p)`, the result in
    /// `[0, 2p)`. Without `b`, the square of `a`.
    #[inline(always)]
    fn pointwise(
        self,
        prime: usize,
        a: &mut [Row],
        b: Option<&[Row]>,
        roots: &[Stored],
        scale: &Stored,
    ) {
        pointwise::multiply(self, PortableRing::new(prime), a, b, roots, scale);
    }
}

impl Stages for PortableRing {}
