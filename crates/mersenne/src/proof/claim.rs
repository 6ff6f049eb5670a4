//! What a proof is of: a power that takes a square for each bit of its exponent.
//!
//! **Maths.** The test of `2^p - 1`, and Proth's, square a residue again and again. Fermat's test of another
//! number raises 3 to the power `N - 1`, whose bits `e[1]` to `e[s]` behind the first say where a square is
//! multiplied by 3. So the claim is, with `E` those bits as a number,
//!
//! ```text
//! A^(2^s) 3^E = B
//! ```
//!
//! and `E` is 0 for the first two. It is halved as the [proof](super) of squares alone is: with the first `m`
//! bits `E1` and the others `E2` (and a bit 0 behind them where `s` is odd, which squares `B`),
//!
//! ```text
//! A^(2^m) 3^E1 = M   and   M^(2^m) 3^E2 = B   become   (A^h M)^(2^m) 3^(h E1 + E2) = M^h B
//! ```
//!
//! A middle `M` of a later halving is the same product of powers of residues as without the 3, if the new
//! exponent is split as it was made: so the bits are cut into `2^k` spans at first, and spans are added. At the
//! end one is left, of some `64 k` bits more than squarings. Those above them go into `A`.
//!
//! Example: `3^13` with bits 1 101, and one halving, `m = 2`: `A = 3`, `E1 = 10`, `E2 = 1` with a 0 behind it,
//! `10` too, in binary; `M = 3^6`, and `B^2 = 3^26` is `M^4 3^2`. With `h = 5` they become
//! `(3^5 3^6)^4 3^(5 2 + 2) = 3^56 = (3^6)^5 3^26`.

use bigint_host::BigUint;

use crate::ladder::Ladder;
use crate::{Number, Prp, Residue};

/// The claim of a test: its first residue, its squarings, and the bits of an exponent of 3, if it has one.
pub(super) struct Claim {
    pub(super) start: Residue,
    pub(super) squarings: u32,
    ladder: Option<Ladder>,
}

impl Claim {
    /// The claim of the test of a number of which there are proofs.
    pub(super) fn of(number: Number) -> Self {
        let test = Prp::proved(number);
        Claim {
            start: test.residue().clone(),
            squarings: test.squarings(),
            ladder: test.ladder().cloned(),
        }
    }

    /// The factors of the squares, in their order.
    pub(super) fn factors(&self) -> impl Iterator<Item = u32> {
        let bit = |i| self.ladder.as_ref().is_some_and(|ladder| ladder.bit(i));
        (0..self.squarings).map(move |i| factor(bit(i)))
    }

    /// The exponent of 3 of the squares between two; 0 where there is no 3.
    pub(super) fn exponent(&self, from: u32, to: u32) -> BigUint {
        let of = |ladder| block(ladder, from, to - from);
        self.ladder.as_ref().map_or(BigUint::ZERO, of)
    }

    /// The exponents of 3 of `2^power` spans; none where there is no 3.
    pub(super) fn exponents(&self, power: u32) -> Vec<BigUint> {
        let Some(ladder) = &self.ladder else {
            return Vec::new();
        };
        // Where each span begins, and how many of its bits are there: the others are zeros behind them.
        let (mut spans, mut length) = (vec![(0, self.squarings)], self.squarings);
        for _ in 0..power {
            length = length.div_ceil(2);
            let halves = spans.iter().flat_map(|&(from, bits)| {
                let first = bits.min(length);
                [(from, first), (from + first, bits - first)]
            });
            spans = halves.collect();
        }
        let exponent = |(from, bits)| block(ladder, from, bits) << (length - bits);
        spans.into_iter().map(exponent).collect()
    }
}

/// The number whose bits are those of so many steps.
fn block(ladder: &Ladder, from: u32, bits: u32) -> BigUint {
    let limbs = ladder.block(from, bits).into_iter();
    let halves = limbs.flat_map(|limb| [limb as u32, (limb >> 32) as u32]);
    BigUint::new(halves.collect())
}

/// The factor of a square by its bit.
pub(super) fn factor(bit: bool) -> u32 {
    if bit { 3 } else { 1 }
}

/// The power of 3 that one exponent is above so many bits of it.
pub(super) fn above(number: Number, exponent: &BigUint, squarings: u32) -> Residue {
    let top = exponent >> squarings;
    let bits = (0..top.bits()).rev().map(|i| top.bit(i));
    let one = Residue::from_u64(number, 1);
    bits.fold(one, |x, bit| x.square_minus(factor(bit), 0))
}
