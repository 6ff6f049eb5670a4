//! Fermat's test to the base 3, and Proth's for `k 2^n + 1`, with Gerbicz' check.
//!
//! `x = 3^(2^p)` by `p` squarings. `M = 2^p - 1` is a probable prime where `x = 9`, and
//! `x / 9 = 3^(M - 1)` is the residue that hunters compare (type 1).
//!
//! `N = k 2^n + 1`, odd `k < 2^n`, is prime exactly where `a^((N - 1) / 2) = -1` for an `a` with
//! `(a / N) = -1` (Proth): `n - 1` squarings of `a^k`. Example, `3 2^2 + 1 = 13`: 13 is 3 modulo 5,
//! so no square; 5^3 = 8, 8^2 = -1 modulo 13.
//!
//! **Check** (Gerbicz). With a block of `b` squarings, `x[i] = 3^(2^i)` (or of `a^k`),
//!
//! ```text
//! d[t] = x[0] x[b] x[2 b] ... x[t b]   satisfies   d[t + 1] = 3 d[t]^(2^b)
//! ```
//!
//! and also `d[t + 1] = d[t] x[(t + 1) b]`. So `b` squarings, once in a while, show
//! whether all since the last time were right; an error anywhere slips through with a
//! chance of about `1 / M`. Where it fails, the test goes back to where it last held.
//! Products for `d` are exact integers, not transforms in doubles.
//!
//! Example, `b = 2`: `d[0] = 3`, `d[1] = 3 3^4 = 3^5`, and `3 d[0]^(2^2) = 3 3^4`.
//!
//! A [`Certification`], which is squarings of any residue, is checked in the same way.
//!
//! A device goes on with its squarings while the CPU fetches `x[t b]` and multiplies, so `d` is a
//! block behind until the test rests.
//!
//! **Cost**: a product for each block and a block for each check: with blocks of 10,000
//! and a check every 200, less than a hundredth of the time.

use sha3::{Digest, Sha3_256};

use crate::{Error, Number, Outcome, Residue, Runner, Step};

/// What a server asks for that has been sent a proof: a residue, squared so many times. The
/// answer is [`Prp::hash`] of the last residue, which the server knows and does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certification {
    /// The residue that is squared.
    pub start: Residue,
    /// How often, at least once.
    pub squarings: u32,
}

/// A PRP test at some iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prp {
    /// What is squared, and how often, where that is not the test of a number.
    pub(crate) certification: Option<Box<Certification>>,
    /// Squarings in a block.
    pub(crate) block: u32,
    pub(crate) now: Point,
    /// Where the check last held.
    pub(crate) verified: Point,
    /// The last residue, once it is there; it counts when the check after it has held.
    pub(crate) last: Option<Residue>,
    /// Checks that failed.
    pub(crate) errors: u32,
    /// Failures since the check last held.
    failures: u32,
}

/// Squarings done, their residue, and the product of the residues at all blocks' ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) iteration: u32,
    pub(crate) x: Residue,
    pub(crate) d: Residue,
}

impl Prp {
    /// What each squaring takes off.
    pub const MINUS: u32 = 0;

    /// Blocks from one check to the next, at most.
    const BLOCKS: u32 = 200;

    /// Squarings in a block, at most.
    pub(crate) const MOST_BLOCK: u32 = 10_000;

    /// Failures of one stretch before the test is given up, and from which on a longer
    /// transform is tried.
    const FAILURES: [u32; 2] = [6, 2];

    /// At the beginning, with blocks of about the root of the number of squarings, up to 10,000.
    ///
    /// # Panics
    /// If the number is not `2^p - 1`, `p` odd (3 divides it for even `p`), nor `k 2^n + 1` with `n`
    /// of 3 at least and `k < 2^n`.
    pub fn new(number: impl Into<Number>) -> Self {
        let base = base(number.into());
        let squarings = squarings(base.number());
        Prp::of(base, squarings, None)
    }

    /// The squarings of a certification, at the beginning.
    ///
    /// # Panics
    /// If there are none.
    pub fn certifying(certification: Certification) -> Self {
        let Certification { start, squarings } = &certification;
        assert!(*squarings > 0, "nothing is squared");
        Prp::of(start.clone(), *squarings, Some(Box::new(certification)))
    }

    fn of(base: Residue, squarings: u32, certification: Option<Box<Certification>>) -> Self {
        let start = Point {
            iteration: 0,
            x: base.clone(),
            d: base,
        };
        let fits = |block: &u32| squarings.checked_next_multiple_of(*block).is_some();
        let block = squarings.isqrt().clamp(2, Self::MOST_BLOCK);
        let block = (2..=block).rev().find(fits).unwrap_or(1);
        Prp::at(certification, block, start.clone(), start, None, 0)
    }

    pub(crate) fn at(
        certification: Option<Box<Certification>>,
        block: u32,
        now: Point,
        verified: Point,
        last: Option<Residue>,
        errors: u32,
    ) -> Self {
        Prp {
            certification,
            block,
            now,
            verified,
            last,
            errors,
            failures: 0,
        }
    }

    /// Squarings done. The test ends with the block that the last of them lies in.
    pub fn iteration(&self) -> u32 {
        self.now.iteration
    }

    /// Squarings of the whole test.
    pub fn iterations(&self) -> u32 {
        self.squarings().next_multiple_of(self.block)
    }

    /// Squarings to the last residue.
    pub(crate) fn squarings(&self) -> u32 {
        match &self.certification {
            Some(certification) => certification.squarings,
            None => squarings(self.now.x.number()),
        }
    }

    /// What is squared.
    fn base(&self) -> Residue {
        match &self.certification {
            Some(certification) => certification.start.clone(),
            None => base(self.now.x.number()),
        }
    }

    /// The certification, where this is one.
    pub fn certification(&self) -> Option<&Certification> {
        self.certification.as_deref()
    }

    /// SHA3-256 of the last residue's bytes, in hexadecimal digits, once it is there: as a number
    /// whose lowest byte is the hash's first, so from the last byte to the first. So do mprime and
    /// PRPLL write it, and the server compares it.
    pub fn hash(&self) -> Option<String> {
        Some(digits(&self.last.as_ref()?.to_bytes()))
    }

    /// The residue as it was when the test last rested.
    pub fn residue(&self) -> &Residue {
        &self.now.x
    }

    /// The last squaring that the check vouches for.
    pub fn verified(&self) -> u32 {
        self.verified.iteration
    }

    /// Checks that failed, and whose stretch was done again.
    pub fn errors(&self) -> u32 {
        self.errors
    }

    /// Up to so many squarings from where the test is, which `runner` has been set to;
    /// at most to the end of a block.
    ///
    /// # Errors
    /// [`Error::Unstable`] where a stretch fails its check again and again; as
    /// [`Runner::square`].
    pub fn advance(&mut self, runner: &mut Runner<'_>, times: u32) -> Result<Step, Error> {
        // It was saved when it was done.
        if let Some(outcome) = self.outcome() {
            return Ok(Step::Done(outcome));
        }
        let (squarings, end) = (self.squarings(), self.iterations());
        let mut until = (self.now.iteration / self.block + 1) * self.block;
        if self.now.iteration < squarings {
            until = until.min(squarings);
        }
        let times = times.min(until - self.now.iteration);
        runner.square(times)?;
        self.now.iteration += times;
        if self.now.iteration == squarings {
            self.last = Some(runner.residue()?);
        }
        if !self.now.iteration.is_multiple_of(self.block) {
            return Ok(Step::Going);
        }
        self.settle(runner)?;
        let blocks = (self.now.iteration - self.verified.iteration) / self.block;
        let is_due = blocks >= Self::BLOCKS.min(self.block) || self.now.iteration == end;
        if !is_due && runner.begin_product(&self.now.d)? {
            return Ok(Step::Going);
        }
        self.now.x = runner.residue()?;
        let product = self.now.d.mul(&self.now.x);
        let before = std::mem::replace(&mut self.now.d, product);
        if !is_due {
            return Ok(Step::Going);
        }
        self.check(runner, &before)?;
        Ok(self.outcome().map_or(Step::Going, Step::Done))
    }

    /// What was found, once the check at the end has held.
    fn outcome(&self) -> Option<Outcome> {
        let is_done = self.verified.iteration == self.iterations();
        let last = self.last.as_ref().filter(|_| is_done)?;
        let number = last.number();
        let [zero, one] = [0, 1].map(|x| Residue::from_u64(number, x));
        let (residue, of_primes) = match (number.exponent(), &self.certification) {
            (Some(_), None) => (last.divided_by_9(), one),
            _ => (last.clone(), zero.minus(&one)),
        };
        Some(Outcome {
            is_prime: self.certification.is_none() && residue == of_primes,
            res64: residue.res64(),
            errors: self.errors,
        })
    }

    /// Gerbicz' check of what `d` was a block ago; back to the last time it held where it
    /// fails.
    fn check(&mut self, runner: &mut Runner<'_>, before: &Residue) -> Result<(), Error> {
        runner.set(before)?;
        runner.square(self.block)?;
        if runner.residue()?.mul(&self.base()) == self.now.d {
            self.verified.clone_from(&self.now);
            self.failures = 0;
        } else {
            self.errors += 1;
            self.failures += 1;
            let [most, longer_from] = Self::FAILURES;
            if self.failures == most {
                return Err(Error::Unstable {
                    times: most,
                    from: self.verified.iteration,
                    to: self.now.iteration,
                });
            }
            self.now.clone_from(&self.verified);
            if self.now.iteration < self.squarings() {
                self.last = None;
            }
            if self.failures >= longer_from && runner.words().is_some() {
                runner.lengthen()?;
            }
        }
        runner.set(&self.now.x)
    }

    /// Has the residue brought here, to be saved.
    ///
    /// # Errors
    /// As [`Runner::residue`].
    pub fn rest(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        self.settle(runner)?;
        self.now.x = runner.residue()?;
        Ok(())
    }

    /// Waits for what was begun at the last block's end.
    fn settle(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        if let Some((x, d)) = runner.product()? {
            (self.now.x, self.now.d) = (x, d);
        }
        Ok(())
    }
}

/// SHA3-256 as [`Prp::hash`] has it.
fn digits(bytes: &[u8]) -> String {
    let hash = Sha3_256::digest(bytes);
    hash.iter()
        .rev()
        .map(|byte| format!("{byte:02X}"))
        .collect()
}

/// What is squared: 3, or Proth's `a^k`.
fn base(number: Number) -> Residue {
    if number.exponent().is_some_and(|p| p % 2 == 1) {
        return Residue::from_u64(number, 3);
    }
    let (k, n) = (number.k(), number.n());
    assert!(
        n >= 3 && number.c() > 0 && u64::from(k) >> n.min(32) == 0,
        "{number} is neither 2^p - 1 with odd p nor k 2^n + 1 with k < 2^n"
    );
    // A square has none; any a finds that it is composite, as a^((N - 1) / 2) = -1 proves primes.
    let a = (3..1 << 16).find(|&a| number.jacobi(a) == -1).unwrap_or(3);
    Residue::from_u64(number, a.into()).pow(k.into())
}

/// Squarings to the last residue.
fn squarings(number: Number) -> u32 {
    match number.exponent() {
        Some(p) => p,
        None => number.n() - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_written_from_the_last_byte_to_the_first() {
        // FIPS 202's SHA3-256 of nothing is a7ffc6f8 ... 434a, and of "abc" 3a985da7 ... 1532.
        assert_eq!(
            digits(b""),
            "4A43F8804B0AD882FA493BE44DFF80F562D661A05647C15166D71EBFF8C6FFA7"
        );
        assert_eq!(
            digits(b"abc"),
            "3215431145E2BF465B529D3E6E085F85BD90D36B2D175C04B225E24FA75D983A"
        );
    }

    #[test]
    fn blocks_fit_every_exponent() {
        for p in [3, 5, 1277, 118_845_473, 4_294_967_291] {
            let start = Residue::from_u64(7, 3);
            let test = Prp::of(start, p, None);
            assert!(p.checked_next_multiple_of(test.block).is_some(), "{p}");
        }
    }
}
