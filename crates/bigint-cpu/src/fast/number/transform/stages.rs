//! The two stages that a ring may compute faster than one coefficient or one residue at a time:
//! pointwise products, and the step from residues to limbs.

use super::field::{Ring, Row, Stored};
use super::portable::PortableRing;
use super::recombine::{Inverses, Overflow};
use super::{pointwise, recombine};

/// A ring with these stages. The functions that are given here work on any ring.
pub(super) trait Stages: Ring {
    /// Writes the limbs of the coefficients with these residues in `[0, 2p)`, as if no coefficients
    /// preceded them. The rows are a whole number of [`recombine::GROUP`]s. Limbs beyond `out` are
    /// left out. Returns the carry into the limbs after the last.
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

    /// Computes `a <- a b scale / R` modulo the nodes `x^8 - roots[u]` (row `2 u`) and
    /// `x^8 + roots[u]` (row `2 u + 1`). `a` is in `[0, 8p)`, and the result in `[0, 2p)`. Without
    /// a `b`, the result is the square of `a`.
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
