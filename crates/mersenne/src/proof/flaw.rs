//! What makes a proof worthless, whatever claim it leaves.
//!
//! A proof comes from somebody else, who may want a composite to look prime. With
//! `N = 2^p - 1`, its soundness is that of Pietrzak's protocol in the group of units modulo `N`,
//! and that of its challenges, of 64 bits; so
//!
//! * **every residue must be a unit.** Where a middle `M` is 0, both sides of every later claim
//!   are; where it is a multiple of a factor `q`, they are modulo `q`, and middles for all factors
//!   prove anything. No test meets such a residue: 3 is a unit. One gcd, of `N` and the product
//!   of all residues, finds them.
//! * **elements of small order** fit a false claim to a challenge in as many attempts as their
//!   order. That leads from 9 to `3^(2^p)` only if their quotient, `3^(N - 1)`, is made of such
//!   elements modulo every factor of `N`, and if all of these are known. Short numbers may be so:
//!   theirs is the whole test, which takes no time.
//! * **-1 and the powers of 2**, of order 2 and `p`, are there whatever is known of `N`; as `p` is
//!   odd, the first claim is of `B^2`, and `-B` passes for `B`. So a test that ended with 9, as a
//!   prime's does, could be shown with `-9`; and no honest test ends with 9 times one of them.
//!
//! What is left: a proof that holds shows a probable prime to be one (`B = 9`), and shows that no
//! error happened. It does not bind somebody who has found a prime and wants to hide it: modulo a
//! prime he knows elements of order 3, and others [Hoffmann 2023]. A composite's residue is shown
//! up to `±2^j`.

use bigint_host::BigUint;

use super::Proof;
use crate::error::or_out_of_memory;
use crate::{Error, Residue};

/// Exponents up to which the whole test is run in place of trusting a proof's odds: it takes a
/// tenth of a second.
const SHORT: u32 = 1 << 13;

/// Why a proof proves nothing, though its claim may be true.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// A residue that is no unit.
    #[error(
        "its residues have the factor {0} in common with the number, modulo which it proves nothing"
    )]
    SharedFactor(BigUint),
    /// A short test ends with another residue.
    #[error("its last residue is wrong: the test, which is a short one, ends with another")]
    Wrong,
    /// A last residue that disguises a prime's.
    #[error(
        "its last residue is 9 times a power of 2 or -1: no test ends so, and a prime may be hidden"
    )]
    Disguised,
}

impl Proof {
    /// What is wrong with the proof, before its claim is looked at. Takes as long as some
    /// thousands of squarings, on the CPU.
    ///
    /// # Errors
    /// Where the host has not the memory.
    pub fn flaw(&self) -> Result<Option<Flaw>, Error> {
        or_out_of_memory(|| {
            if let Some(factor) = self.shared_factor()? {
                return Ok(Some(Flaw::SharedFactor(factor)));
            }
            Ok(if self.p() <= SHORT {
                (self.last != tested(self.p())).then_some(Flaw::Wrong)
            } else {
                self.is_disguised().then_some(Flaw::Disguised)
            })
        })
    }

    /// What the residues have in common with the number.
    pub(super) fn shared_factor(&self) -> Result<Option<BigUint>, Error> {
        let product = |product: Residue, middle| product.mul(middle);
        let product = self.middles.iter().fold(self.last.clone(), product);
        let divisor = product.divisor()?;
        Ok((divisor != BigUint::from(1u32)).then_some(divisor))
    }

    /// Whether the last residue is `±9 2^j`, and not 9: two bits that are three apart in a circle
    /// of `p`, or all others.
    pub(super) fn is_disguised(&self) -> bool {
        let p = self.p();
        let bit = |i: u32| self.last.limbs()[i as usize / 64] >> (i % 64) & 1;
        let ones: u32 = self.last.limbs().iter().map(|limb| limb.count_ones()).sum();
        let odd = match ones {
            2 => 1,
            ones if ones + 2 == p => 0,
            _ => return false,
        };
        let mut pair = (0..p).filter(|&i| bit(i) == odd);
        let apart = match (pair.next(), pair.next()) {
            (Some(low), Some(high)) => high - low,
            _ => return false,
        };
        (apart == 3 || apart == p - 3) && !self.is_prime()
    }
}

/// `3^(2^p)`, by the whole test.
fn tested(p: u32) -> Residue {
    let mut x = Residue::from_u64(p, 3);
    for _ in 0..p {
        x = x.square_minus(1, 0);
    }
    x
}
