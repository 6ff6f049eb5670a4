//! Fermat's test to the base 3, Proth's for `k 2^n + 1` and Pocklington's for `k b^n + 1`, with Gerbicz'
//! check.
//!
//! `x = 3^(2^p)` by `p` squarings. `M = 2^p - 1` is a probable prime where `x = 9`, and
//! `x / 9 = 3^(M - 1)` is the residue that hunters compare (type 1).
//!
//! `N = k 2^n + 1`, odd `k < 2^n`, is prime exactly where `a^((N - 1) / 2) = -1` for an `a` with
//! `(a / N) = -1` (Proth): `n - 1` squarings of `a^k`. Example, `3 2^2 + 1 = 13`: 13 is 3 modulo 5,
//! so no square; 5^3 = 8, 8^2 = -1 modulo 13.
//!
//! Any other `N = k b^n + c` is a probable prime where `3^(N - 1) = 1`, and the power is its residue. With
//! `c = 1` and `k < b^n` it is prime where, for each prime `q` that divides `b`, there is an `a` with
//! `a^(N - 1) = 1` and no divisor common to `a^((N - 1) / q) - 1` and `N` (Pocklington). Both are powers of
//! `a^(k b^(n - 1))`. [`ladder`](crate::ladder) has their steps and their check.
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
//! A device squares on while the CPU fetches `x[t b]` and multiplies, so `d` is a block behind until
//! the test is to be saved.
//!
//! **Cost**: a product for each block and a block for each check: with blocks of 10,000
//! and a check every 200, less than a hundredth of the time.

use std::time::Duration;

use sha3::{Digest, Sha3_256};

use crate::ladder::Ladder;
use crate::{Cofactor, Error, Number, Outcome, Residue, Runner, Step};

/// The check of a proof, which its server gives to others: squarings of a residue. The result is
/// [`Prp::hash`] of the last residue, which only the server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certification {
    /// The residue that is squared.
    pub start: Residue,
    /// The number of squarings, at least 1.
    pub squarings: u32,
}

/// The power that a test raises to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A power of two: squarings alone.
    Squares,
    /// `N - 1`, of 3.
    Fermat(Ladder),
    /// `k b^(n - 1)`.
    Pocklington(Ladder, Witness),
}

/// A base for Pocklington's test, or Morrison's, and the primes for which none has been found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Witness {
    pub(crate) a: u32,
    pub(crate) left: Vec<u32>,
    /// The bases to which the number seemed to be composite.
    #[serde(default)]
    pub(crate) failures: u32,
}

impl Goal {
    /// The ladder, and the base.
    fn ladder(&self) -> Option<(&Ladder, u32)> {
        match self {
            Goal::Squares => None,
            Goal::Fermat(ladder) => Some((ladder, 3)),
            Goal::Pocklington(ladder, witness) => Some((ladder, witness.a)),
        }
    }
}

/// A PRP test at some iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prp {
    pub(crate) goal: Goal,
    /// The certification, if it is one and not the test of a number.
    pub(crate) certification: Option<Box<Certification>>,
    /// The squarings in a block.
    pub(crate) block: u32,
    pub(crate) now: Point,
    /// The point where the check last held.
    pub(crate) verified: Point,
    /// The last residue, once it is known; it counts when the check after it has held.
    pub(crate) last: Option<Residue>,
    /// The checks that failed.
    pub(crate) errors: u32,
    /// The checks that failed since one held.
    failures: u32,
    /// The blocks from one check to the next.
    blocks: u32,
    /// The power of two by which a machine multiplies each residue that it begins with.
    pub(crate) shift: u32,
}

/// The squarings that are done, their residue, and the product of the residues at all blocks' ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) iteration: u32,
    pub(crate) x: Residue,
    pub(crate) d: Residue,
}

impl Prp {
    /// What each squaring subtracts.
    pub const MINUS: u32 = 0;

    /// The most blocks of [`Self::MOST_BLOCK`] squarings from one check to the next, and the fewest: a
    /// check costs one.
    const BLOCKS: [u32; 2] = [200, 20];

    /// The most squarings in a block.
    pub(crate) const MOST_BLOCK: u32 = 10_000;

    /// Failures of the same blocks after which the test is given up, and those after which a longer
    /// transform is tried.
    const FAILURES: [u32; 2] = [6, 2];

    /// The test at its beginning, with blocks of about the root of the number of squarings, up to
    /// 10,000.
    ///
    /// # Panics
    /// If the number is not `2^p - 1`, `p` odd (3 divides it for even `p`), nor `k 2^n + 1` with `n`
    /// of 3 at least and `k < 2^n`.
    pub fn new(number: impl Into<Number>) -> Self {
        let base = base(number.into());
        let squarings = squarings(base.number());
        Prp::of(base, squarings, None)
    }

    /// The test of a number of which there are [proofs](crate::Proof), at its beginning: [`Prp::new`] of
    /// `2^p - 1` and `k 2^n + 1` with `k < 2^n`, else [`Prp::fermat`].
    pub(crate) fn proved(number: Number) -> Self {
        match number.is_binary() && number.has_proof() {
            true if number.c() > 0 || number.exponent().is_some() => Prp::new(number),
            _ => Prp::fermat(number),
        }
    }

    /// The bits of its exponent, if it is not a power of two.
    pub(crate) fn ladder(&self) -> Option<&Ladder> {
        self.goal.ladder().map(|(ladder, _)| ladder)
    }

    /// Fermat's test to the base 3, of any number, at its beginning.
    pub fn fermat(number: impl Into<Number>) -> Self {
        let number = number.into();
        Prp::with_goal(number, Goal::Fermat(Ladder::fermat(number)))
    }

    /// Pocklington's test of `k b^n + 1` at its beginning. It is for probable primes: it takes as long as
    /// [`Prp::fermat`], and a new base where one proves nothing.
    ///
    /// # Panics
    /// If the number is another, or `k` is not below `b^n`.
    pub fn pocklington(number: Number) -> Self {
        assert!(number.c() == 1 && number.has_proof(), "k b^n + 1, k < b^n");
        let left = number.primes();
        let witness = Witness {
            a: witness(number, 2, &left),
            left,
            failures: 0,
        };
        let ladder = Ladder::last_but_one(number);
        Prp::with_goal(number, Goal::Pocklington(ladder, witness))
    }

    pub(crate) fn with_goal(number: Number, goal: Goal) -> Self {
        let (ladder, a) = goal.ladder().expect("a power with a ladder");
        let test = Prp::of(Residue::from_u64(number, a.into()), ladder.steps(), None);
        Prp { goal, ..test }
    }

    /// A certification at its beginning.
    ///
    /// # Panics
    /// If it has no squarings.
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
            goal: Goal::Squares,
            certification,
            block,
            now,
            verified,
            last,
            errors,
            failures: 0,
            blocks: Self::BLOCKS[0].min(block),
            shift: 0,
        }
    }

    /// Has a test at its beginning take blocks of at most so many squarings.
    ///
    /// # Panics
    /// If they are none.
    pub fn begin_with_block(&mut self, most: u32) {
        assert!(most > 0, "a block has squarings");
        let fits = self.squarings().checked_next_multiple_of(most).is_some();
        if self.now.iteration == 0 && most < self.block && fits {
            self.block = most;
            self.blocks = Self::BLOCKS[0].min(most);
        }
    }

    /// Sets the blocks from one check to the next, for squarings that take so long `each`, so that an error
    /// costs no more than the time `every`, where checks are not too frequent for that.
    pub fn check_every(&mut self, every: Duration, each: Duration) {
        let [most, least] = Self::BLOCKS;
        let most = most * (Self::MOST_BLOCK / self.block).max(1);
        let fitting = every.as_nanos() / (each.as_nanos() * u128::from(self.block)).max(1);
        let fitting = u32::try_from(fitting)
            .unwrap_or(u32::MAX)
            .clamp(least, most);
        self.blocks = fitting.min(self.block);
    }

    /// The squarings that are done. The test ends with the block in which the last one is.
    pub fn iteration(&self) -> u32 {
        self.now.iteration
    }

    /// The squarings of the whole test.
    pub fn iterations(&self) -> u32 {
        self.squarings().next_multiple_of(self.block)
    }

    /// The squarings to the last residue.
    pub(crate) fn squarings(&self) -> u32 {
        match (&self.certification, self.goal.ladder()) {
            (Some(certification), _) => certification.squarings,
            (None, Some((ladder, _))) => ladder.steps(),
            (None, None) => squarings(self.now.x.number()),
        }
    }

    /// The residue that the squarings start from.
    fn base(&self) -> Residue {
        match (&self.certification, self.goal.ladder()) {
            (Some(certification), _) => certification.start.clone(),
            (None, Some((_, a))) => Residue::from_u64(self.now.x.number(), a.into()),
            (None, None) => base(self.now.x.number()),
        }
    }

    /// The certification, if it is one.
    pub fn certification(&self) -> Option<&Certification> {
        self.certification.as_deref()
    }

    /// The SHA3-256 of the last residue's bytes, once that is known, in hexadecimal digits from the
    /// hash's last byte to its first, as mprime and PRPLL write it.
    pub fn hash(&self) -> Option<String> {
        Some(digits(&self.last.as_ref()?.to_bytes()))
    }

    /// The residue when it was last read.
    pub fn residue(&self) -> &Residue {
        &self.now.x
    }

    /// The last squaring that a check has covered.
    pub fn verified(&self) -> u32 {
        self.verified.iteration
    }

    /// The checks that failed, and whose squarings were repeated.
    pub fn errors(&self) -> u32 {
        self.errors
    }

    /// Runs up to `times` squarings, at most to the end of a block. `runner` is where the test is.
    ///
    /// # Errors
    /// [`Error::Unstable`] where the same blocks fail their check again and again; as
    /// [`Runner::square`].
    pub fn advance(&mut self, runner: &mut Runner<'_>, times: u32) -> Result<Step, Error> {
        // A test that was saved at its end.
        if let Some(step) = self.conclude(runner)? {
            return Ok(step);
        }
        let (squarings, end) = (self.squarings(), self.iterations());
        let mut until = (self.now.iteration / self.block + 1) * self.block;
        if self.now.iteration < squarings {
            until = until.min(squarings);
        }
        let times = times.min(until - self.now.iteration);
        match self.goal.ladder() {
            Some((ladder, a)) => {
                runner.square_by(ladder.stretches(self.now.iteration, times, a))?;
            }
            None => runner.square(times)?,
        }
        self.now.iteration += times;
        if self.now.iteration == squarings {
            self.last = Some(runner.residue()?);
        }
        if !self.now.iteration.is_multiple_of(self.block) {
            return Ok(Step::Going);
        }
        self.settle(runner)?;
        let blocks = (self.now.iteration - self.verified.iteration) / self.block;
        let is_due = blocks >= self.blocks || self.now.iteration == end;
        let before = self.now.d.clone();
        if !runner.begin_product(&before)? {
            self.now.x = runner.residue()?;
            self.now.d = before.mul(&self.now.x);
        }
        if !is_due {
            return Ok(Step::Going);
        }
        self.check(runner, &before)?;
        Ok(self.conclude(runner)?.unwrap_or(Step::Going))
    }

    /// What follows from the last residue, once the check at the end has held.
    fn conclude(&mut self, runner: &mut Runner<'_>) -> Result<Option<Step>, Error> {
        let Goal::Pocklington(_, witness) = &self.goal else {
            return Ok(self.outcome().map(Step::Done));
        };
        let Some(last) = self.result() else {
            return Ok(None);
        };
        let (number, mut left) = (last.number(), witness.left.clone());
        let (b, one) = (number.base(), Residue::from_u64(number, 1));
        let power = last.pow(b.into());
        let mut is_composite = power != one;
        if !is_composite {
            let mut kept = Vec::new();
            for q in left {
                let part = last.pow((b / q).into());
                match part == one {
                    true => kept.push(q),
                    false => is_composite |= part.minus(&one).divisor()? != 1u32.into(),
                }
            }
            left = kept;
            if !left.is_empty() && !is_composite {
                self.begin_anew(number, left);
                runner.set(&self.now.x)?;
                return Ok(Some(Step::Going));
            }
        }
        Ok(Some(Step::Done(Outcome {
            is_prime: !is_composite,
            res64: power.res64(),
            errors: self.errors,
        })))
    }

    /// Begins with another base, for the primes that are left.
    fn begin_anew(&mut self, number: Number, left: Vec<u32>) {
        let (errors, block) = (self.errors, self.block);
        if let Goal::Pocklington(ladder, old) = &self.goal {
            let witness = Witness {
                a: witness(number, old.a, &left),
                left,
                failures: 0,
            };
            *self = Prp::with_goal(number, Goal::Pocklington(ladder.clone(), witness));
            self.begin_with_block(block);
            self.errors = errors;
        }
    }

    /// The outcome, once the check at the end has held.
    fn outcome(&self) -> Option<Outcome> {
        let (residue, number) = (self.result()?, self.now.x.number());
        let [zero, one] = [0, 1].map(|x| Residue::from_u64(number, x));
        let of_primes = match (&self.goal, number.exponent()) {
            (Goal::Squares, None) => zero.minus(&one),
            _ => one,
        };
        Some(Outcome {
            is_prime: self.certification.is_none() && residue == of_primes,
            res64: residue.res64(),
            errors: self.errors,
        })
    }

    /// The residue that is reported, once the check at the end has held: of type 1 for `2^p - 1`.
    fn result(&self) -> Option<Residue> {
        let is_done = self.verified.iteration == self.iterations();
        let last = self.last.as_ref().filter(|_| is_done)?;
        Some(match (last.number().exponent(), &self.certification) {
            (Some(_), None) if self.goal == Goal::Squares => last.divided_by_9(),
            _ => last.clone(),
        })
    }

    /// The low 64 bits of `3^N - 3`, once a test of [`Prp::fermat`] is done, which older programs print as
    /// the residue.
    pub fn old64(&self) -> Option<u64> {
        matches!(self.goal, Goal::Fermat(_)).then_some(())?;
        let power = self.result()?;
        let three = Residue::from_u64(power.number(), 3);
        Some(power.mul(&three).minus(&three).res64())
    }

    /// Whether what is left of `2^p - 1` without known factors is a probable prime, once the test is done.
    ///
    /// # Panics
    /// If it is the test of another number.
    pub fn says_of(&self, cofactor: &Cofactor) -> Option<bool> {
        Some(cofactor.is_probable_prime(&self.result()?))
    }

    /// The low 2048 bits of the residue of a test of `2^p - 1`, once it is done, in 512 hexadecimal
    /// digits.
    pub fn res2048(&self) -> Option<String> {
        let residue = self.result().filter(|_| self.certification.is_none())?;
        residue.number().exponent()?;
        let limb = |i| residue.limbs().get(i).copied().unwrap_or(0);
        Some((0..32).rev().map(|i| format!("{:016x}", limb(i))).collect())
    }

    /// Gerbicz' check, where `before` is `d` of a block ago; the product for `d` may go on meanwhile. Where it fails, the
    /// test goes back to where it last held.
    fn check(&mut self, runner: &mut Runner<'_>, before: &Residue) -> Result<(), Error> {
        match self.goal.ladder() {
            Some((ladder, a)) => {
                let blocks = self.now.iteration / self.block;
                let (above, stretches) = ladder.sum(self.block, blocks, a);
                let a = Residue::from_u64(before.number(), a.into());
                runner.set(&if above > 0 {
                    before.mul(&a.pow(above))
                } else {
                    before.clone()
                })?;
                runner.square_by(stretches)?;
            }
            None => {
                runner.set(before)?;
                runner.square(self.block)?;
            }
        }
        let power = runner.residue()?;
        self.settle(runner)?;
        if power.mul(&self.base()) == self.now.d {
            self.verified = self.now.clone();
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
            self.now = self.verified.clone();
            if self.now.iteration < self.squarings() {
                self.last = None;
            }
            if self.failures >= longer_from && runner.words().is_some() {
                runner.lengthen()?;
            }
        }
        runner.set(&self.now.x)
    }

    /// Reads the residue, so that the test can be saved.
    ///
    /// # Errors
    /// As for [`Runner::residue`].
    pub fn rest(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        self.settle(runner)?;
        self.now.x = runner.residue()?;
        Ok(())
    }

    /// Waits for the product that was begun at the last block's end.
    fn settle(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        if let Some((x, d)) = runner.product()? {
            (self.now.x, self.now.d) = (x, d);
        }
        Ok(())
    }
}

/// The SHA3-256 of bytes, in the digits of [`Prp::hash`].
fn digits(bytes: &[u8]) -> String {
    let hash = Sha3_256::digest(bytes);
    hash.iter()
        .rev()
        .map(|byte| format!("{byte:02X}"))
        .collect()
}

/// The residue that a test squares: 3, or Proth's `a^k`.
fn base(number: Number) -> Residue {
    if number.exponent().is_some_and(|p| p % 2 == 1) {
        return Residue::from_u64(number, 3);
    }
    let (k, n) = (number.k(), number.n());
    assert!(
        n >= 3 && number.c() > 0 && u64::from(k) >> n.min(32) == 0,
        "{number} is neither 2^p - 1 with odd p nor k 2^n + 1 with k < 2^n"
    );
    Residue::from_u64(number, proth_base(number).into()).pow(k.into())
}

/// The `a` of Proth's test.
pub(crate) fn proth_base(number: Number) -> u32 {
    // A square has no such a; any a shows that it is composite, as only primes have
    // a^((N - 1) / 2) = -1.
    (3..1 << 16).find(|&a| number.jacobi(a) == -1).unwrap_or(3)
}

/// The next prime after `a` that can be a witness for these primes: it is no square where 2 is among them.
pub(crate) fn witness(number: Number, a: u32, left: &[u32]) -> u32 {
    let primes = || (a + 1..1 << 16).filter(|&a| crate::is_prime(a));
    let suits = |&a: &u32| !left.contains(&2) || number.jacobi(a) == -1;
    primes().find(suits).unwrap_or(a + 1)
}

/// The squarings of a test to its last residue.
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
    fn an_error_costs_no_more_than_some_minutes() {
        let minutes = |n: u64| Duration::from_secs(60 * n);
        let mut test = Prp::new(118_845_473);
        // Of a device's blocks of 10,000 squarings 200 take 208 s; of a CPU's 1000, at 5 ms, 240 twenty
        // minutes; and no check is made for fewer than 20 blocks.
        test.check_every(minutes(20), Duration::from_micros(104));
        assert_eq!((test.block, test.blocks), (10_000, 200));
        test.begin_with_block(1000);
        test.check_every(minutes(20), Duration::from_millis(5));
        assert_eq!((test.block, test.blocks), (1000, 240));
        test.check_every(minutes(20), Duration::from_micros(104));
        assert_eq!(test.blocks, 1000);
        test.check_every(minutes(20), Duration::from_secs(5));
        assert_eq!(test.blocks, 20);
        test.check_every(minutes(20), Duration::ZERO);
        assert_eq!(test.blocks, 1000);
        assert_eq!(test.iterations() % 1000, 0);
        // Blocks do not change on the way, nor become longer, nor too long for the exponent.
        test.now.iteration = 1000;
        test.begin_with_block(100);
        assert_eq!(test.block, 1000);
        let mut short = Prp::new(1279);
        short.begin_with_block(1000);
        assert_eq!(short.block, 35);
        let mut long = Prp::of(Residue::from_u64(7, 3), 4_294_967_291, None);
        long.begin_with_block(1000);
        assert!(
            long.squarings()
                .checked_next_multiple_of(long.block)
                .is_some()
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
