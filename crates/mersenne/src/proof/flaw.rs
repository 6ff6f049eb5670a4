//! The flaws that make a proof worthless, even if its claim is true.
//!
//! A proof comes from somebody else, who may want a composite to look prime. With
//! `N = 2^p - 1`, its soundness is that of Pietrzak's protocol in the group of units modulo `N`,
//! and that of its challenges, of 64 bits; so
//!
//! * **every residue must be a unit.** Where a middle `M` is 0, both sides of every later claim
//!   are 0. Where `M` is a multiple of a factor `q`, both sides are 0 modulo `q`, and one such middle
//!   for each factor proves anything. No test meets such a residue, as 3 is a unit. The gcd of `N` and
//!   the product of all residues finds them.
//! * **elements of small order** make a false claim fit a challenge, in as many attempts as their
//!   order. With 9 for `3^(2^p)`, that works only if their quotient, `3^(N - 1)`, is a product of such
//!   elements modulo every factor of `N`, and all factors are known. Short numbers can have this
//!   property: for them the whole test is run, which takes no time.
//! * **-1 and the powers of 2** have the orders 2 and `p`, whatever is known of `N`. As `p` is odd,
//!   the first claim is of `B^2`, so `-B` passes for `B`, and a prime's test, which ends with 9, could
//!   be shown with `-9`. No honest test ends with 9 times such an element but 9 itself.
//!
//! Of another number `k b^n + c` the last residue `B` of a prime is 1, or -1 by Proth's test. There -1 is known,
//! and, where `k` and `c` are 1 in size, the powers of `b`, whose order divides `2 n`; and who has found
//! `k 2^n + 1` to be prime has elements whose order is a power of two. So a residue whose order divides
//! `2^20 n` is refused, but that of a prime.
//!
//! So a proof that holds shows that a probable prime is one (`B = 9`, and so on), and that no error happened. It
//! does not stop somebody who has found a prime from hiding it: modulo a prime, elements of order 3
//! and others are known [Hoffmann 2023]. Of a composite's residue it shows the class up to `±2^j`.

use bigint_host::BigUint;

use super::Proof;
use super::claim::Claim;
use crate::error::or_out_of_memory;
use crate::{Error, Number, Residue};

/// The greatest bits of a number for which the whole test is run in place of trusting a proof: it takes a
/// tenth of a second.
pub(super) const SHORT: u64 = 1 << 13;

/// Why a proof proves nothing, though its claim may be true.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// A residue is no unit: it shares this factor with the number.
    #[error(
        "its residues have the factor {0} in common with the number, modulo which it proves nothing"
    )]
    SharedFactor(BigUint),
    /// The test, which is a short one, ends with another residue.
    #[error("its last residue is wrong: the test, which is a short one, ends with another")]
    Wrong,
    /// The last residue may be a prime's in disguise.
    #[error(
        "its last residue is a prime's times an element of small order: no test ends so, and a prime may be hidden"
    )]
    Disguised,
}

impl Proof {
    /// The flaw of the proof, if it has one, whatever its claim. Finding it takes as long as some
    /// thousands of squarings, on the CPU.
    ///
    /// # Errors
    /// If the host lacks memory.
    pub fn flaw(&self) -> Result<Option<Flaw>, Error> {
        or_out_of_memory(|| {
            if let Some(factor) = self.shared_factor()? {
                return Ok(Some(Flaw::SharedFactor(factor)));
            }
            Ok(if self.number().bits() <= SHORT {
                (self.last != tested(self.number())).then_some(Flaw::Wrong)
            } else {
                self.is_disguised().then_some(Flaw::Disguised)
            })
        })
    }

    /// The factor that a residue shares with the number, if one does.
    pub(super) fn shared_factor(&self) -> Result<Option<BigUint>, Error> {
        let product = |product: Residue, middle| product.mul(middle);
        let product = self.middles.iter().fold(self.last.clone(), product);
        let divisor = product.divisor()?;
        Ok((divisor != BigUint::from(1u32)).then_some(divisor))
    }

    /// Whether the last residue is a prime's times an element that has a small order, and not a prime's: of
    /// `2^p - 1` it is `±9 2^j`. In a circle of `p` bits, that is a number with
    /// two ones, or two zeros, that are three apart.
    pub(super) fn is_disguised(&self) -> bool {
        let number = self.number();
        let Some(p) = number.exponent() else {
            let power = self.last.pow(u64::from(number.n()) << 20);
            return power == Residue::from_u64(number, 1) && !self.is_prime();
        };
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

/// The last residue, by the whole test.
pub(super) fn tested(number: Number) -> Residue {
    let claim = Claim::of(number);
    let factors = claim.factors();
    factors.fold(claim.start.clone(), |x, by| x.square_minus(by, 0))
}
