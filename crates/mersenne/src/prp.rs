//! Fermat's test to the base 3 with Gerbicz' check.
//!
//! `x = 3^(2^p)` by `p` squarings. `M = 2^p - 1` is a probable prime where `x = 9`, and
//! `x / 9 = 3^(M - 1)` is the residue that hunters compare (type 1).
//!
//! **Check** (Gerbicz). With a block of `b` squarings, `x[i] = 3^(2^i)`,
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
//! **Cost**: a product for each block and a block for each check: with blocks of 1000
//! and a check every 200, less than a hundredth of the time.

use crate::{Error, Outcome, Residue, Runner, Step};

/// A PRP test at some iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prp {
    /// Squarings in a block.
    pub(crate) block: u32,
    pub(crate) now: Point,
    /// Where the check last held.
    pub(crate) verified: Point,
    /// `x[p]`, once it is there; it counts when the check after it has held.
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

    /// Failures of one stretch before the test is given up, and from which on a longer
    /// transform is tried.
    const FAILURES: [u32; 2] = [6, 2];

    /// At the beginning, with blocks of about the root of `p`, up to 1000.
    ///
    /// # Panics
    /// If `p` is even: 3 divides `2^p - 1` then.
    pub fn new(p: u32) -> Self {
        assert!(p % 2 == 1, "the test is for odd exponents");
        let three = Residue::from_u64(p, 3);
        let start = Point {
            iteration: 0,
            x: three.clone(),
            d: three,
        };
        Prp::at(p.isqrt().clamp(2, 1000), start.clone(), start, None, 0)
    }

    pub(crate) fn at(
        block: u32,
        now: Point,
        verified: Point,
        last: Option<Residue>,
        errors: u32,
    ) -> Self {
        Prp {
            block,
            now,
            verified,
            last,
            errors,
            failures: 0,
        }
    }

    /// Squarings done. The test ends with the block that `p` lies in.
    pub fn iteration(&self) -> u32 {
        self.now.iteration
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
        let p = runner.p();
        let end = p.next_multiple_of(self.block);
        let mut until = (self.now.iteration / self.block + 1) * self.block;
        if self.now.iteration < p {
            until = until.min(p);
        }
        let times = times.min(until - self.now.iteration);
        runner.square(times)?;
        self.now.iteration += times;
        if self.now.iteration == p {
            self.last = Some(runner.residue()?);
        }
        if !self.now.iteration.is_multiple_of(self.block) {
            return Ok(Step::Going);
        }
        self.now.x = runner.residue()?;
        let before = std::mem::replace(&mut self.now.d, self.now.x.clone());
        self.now.d = self.now.d.mul(&before);
        let blocks = (self.now.iteration - self.verified.iteration) / self.block;
        if blocks < Self::BLOCKS.min(self.block) && self.now.iteration < end {
            return Ok(Step::Going);
        }
        self.check(runner, &before)?;
        match &self.last {
            Some(last) if self.now.iteration == end => {
                let residue = last.divided_by_9();
                Ok(Step::Done(Outcome {
                    is_prime: residue == Residue::from_u64(p, 1),
                    res64: residue.res64(),
                    errors: self.errors,
                }))
            }
            _ => Ok(Step::Going),
        }
    }

    /// Gerbicz' check of what `d` was a block ago; back to the last time it held where it
    /// fails.
    fn check(&mut self, runner: &mut Runner<'_>, before: &Residue) -> Result<(), Error> {
        runner.set(before)?;
        runner.square(self.block)?;
        let three = Residue::from_u64(runner.p(), 3);
        if runner.residue()?.mul(&three) == self.now.d {
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
            if self.now.iteration < runner.p() {
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
        self.now.x = runner.residue()?;
        Ok(())
    }
}
