//! The second stage of P-1, which finds a factor where one prime that divides `k` is above `B1`, and no
//! other.
//!
//! **Maths** [Montgomery 1987]. After the first stage [`PMinus1`] with `H = 3^E`, the order of `H` modulo
//! such a factor `q = 2 k p + 1` is a prime `r` with `B1 < r <= B2`. With `D` a stride and
//! `r = m D + j` or `m D - j`, `0 < j <= D / 2`, it divides `(m D)^2 - j^2`, so
//!
//! ```text
//! q  divides  H^((m D)^2) - H^(j^2)
//! ```
//!
//! `H^(j^2)` are the *baby steps*, for all `j` without a divisor in common with `D`, whose transforms are
//! kept; `H^((m D)^2)` are the *giant steps*. The product of all differences that primes need has the
//! factor. Two primes `m D + j` and `m D - j` share a difference. Each step comes from the one before:
//! `H^((j + 2)^2) = H^(j^2) H^(4 j + 4)`, and `H^(4 j + 4)` grows by `H^8`.
//!
//! Example, `D = 6`: of the primes between 7 and 31, 11 and 13 are `12 - 1` and `12 + 1`, one difference.
//!
//! **Cost**: `D / 2` products for the babies, two for each giant, and one for each difference: less than
//! one for each prime. **Memory**: a transform for each baby, of which there are 24 with `D = 210` and
//! 240 with `D = 2310`.
//!
//! Nothing but the rounding error is checked, as in the first stage.

use std::ops::{Range, RangeInclusive};

use bigint_host::BigUint;
use serde::{Deserialize, Serialize};

use crate::save::{NO_SAVE, opened, sealed};
use crate::steps::{Stepping, Steps};
use crate::{Backend, Error, Factor, Multiplying, Number, PMinus1, Residue, Save};

/// The second stage of P-1 after some giant steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage2 {
    /// `H`.
    base: Residue,
    bounds: [u64; 2],
    /// `D`.
    stride: u64,
    /// The giant steps that are done.
    done: u64,
    /// The product of the differences so far.
    product: Residue,
}

/// Strides, and the greatest prime that divides each.
pub(crate) const STRIDES: [(u64, u64); 12] = [
    (2, 2),
    (6, 3),
    (30, 5),
    (90, 5),
    (210, 7),
    (420, 7),
    (630, 7),
    (840, 7),
    (1050, 7),
    (1680, 7),
    (2310, 11),
    (4620, 11),
];

/// The giant steps that meet the primes between two bounds.
pub(crate) fn giants(bounds: [u64; 2], stride: u64) -> RangeInclusive<u64> {
    let [from, to] = bounds.map(|bound| bound + stride / 2);
    (from + 1) / stride..=to / stride
}

/// How many giant steps there are.
pub(crate) fn giants_count(bounds: [u64; 2], stride: u64) -> u64 {
    let giants = giants(bounds, stride);
    giants.end() - giants.start() + 1
}

/// The babies that giant step `m` meets a prime between the bounds with; `primes` are those up to the root of
/// the second.
pub(crate) fn met(m: u64, bounds: [u64; 2], stride: u64, primes: &[u64]) -> Vec<u64> {
    let (at, half) = (m * stride, stride / 2);
    let from = at.saturating_sub(half);
    let is_prime = are_prime(from, at + half, primes);
    let [above, most] = bounds;
    let is_wanted = |n: u64| above < n && n <= most && is_prime[(n - from) as usize];
    let is_met = |&j: &u64| is_wanted(at + j) || at.checked_sub(j).is_some_and(is_wanted);
    babies(stride).filter(is_met).collect()
}

/// The babies of a stride.
pub(crate) fn babies(stride: u64) -> impl Iterator<Item = u64> {
    (1..=stride / 2)
        .step_by(2)
        .filter(move |&j| gcd(j, stride) == 1)
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Stage2 {
    /// The greatest bound `B2`.
    pub const GREATEST_BOUND: u64 = 1_000_000_000_000;

    /// The stage at its beginning, after a first stage that is done. Of the strides whose babies fit
    /// `memory` bytes it takes the one with the fewest products.
    ///
    /// # Panics
    /// If `B2` is not above `B1`, or is above [`Self::GREATEST_BOUND`].
    pub fn new(first: &PMinus1, bound: u64, memory: u64) -> Self {
        let bounds = [first.bound().into(), bound];
        assert!(
            bounds[0] < bound && bound <= Self::GREATEST_BOUND,
            "B2 is above B1"
        );
        // A transform has a double for some 17 bits.
        let size = first.residue.limbs().len() as u64 * 32;
        let fits = |&(stride, greatest): &(u64, u64)| {
            greatest <= bounds[0] && (stride == 2 || babies(stride).count() as u64 * size <= memory)
        };
        let products = |&(stride, _): &(u64, u64)| {
            // Of the differences, those that two primes share are few.
            stride / 2 + 2 * (bound - bounds[0]) / stride
        };
        let stride = STRIDES.into_iter().filter(fits).min_by_key(products);
        Stage2 {
            stride: stride.expect("2 divides no prime above B1").0,
            bounds,
            done: 0,
            product: Residue::from_u64(first.number(), 1),
            base: first.residue.clone(),
        }
    }

    /// The number whose factors it finds.
    pub fn number(&self) -> Number {
        self.base.number()
    }

    /// The bounds `B1` and `B2`.
    pub fn bounds(&self) -> [u64; 2] {
        self.bounds
    }

    /// The giant steps.
    fn giants(&self) -> RangeInclusive<u64> {
        giants(self.bounds, self.stride)
    }

    /// The giant steps that are done, and those of the whole stage.
    pub fn progress(&self) -> (u64, u64) {
        (self.done, giants_count(self.bounds, self.stride))
    }

    /// The machine that goes on from here. `None` where `goes_on` says no before its babies are there:
    /// they take as long as thousands of squarings.
    ///
    /// # Errors
    /// As for [`Backend::multiplying`].
    pub fn steps<'a>(
        &self,
        backend: &'a dyn Backend,
        longer_than: Option<usize>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Steps<'a, Self>>, Error> {
        Steps::new(self, backend, longer_than, goes_on)
    }

    /// Does so many giant steps, at most to the end, and returns whether that is reached. `steps` is where
    /// the stage is. Where its rounding errors are too great, it is made anew, with a longer transform, and
    /// where its machine fails, on another one, if there is one; `goes_on` is asked meanwhile, and where it
    /// says no nothing is done.
    ///
    /// # Errors
    /// As for [`Stage2::steps`].
    pub fn advance(
        &mut self,
        steps: &mut Steps<'_, Self>,
        times: u32,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<bool, Error> {
        let (done, total) = self.progress();
        let next = total.min(done + u64::from(times));
        let giants = done..next;
        let step = |machine: &mut Machine| self.giant_steps(machine, giants.clone());
        let Some(product) = steps.take(self, goes_on, step)? else {
            return Ok(false);
        };
        (self.product, self.done) = (product, next);
        Ok(next == total)
    }

    /// Does these giant steps, and returns the product.
    fn giant_steps(&self, machine: &mut Machine, giants: Range<u64>) -> Result<Residue, Error> {
        for giant in giants {
            self.giant(machine, self.giants().start() + giant)?;
        }
        machine.product.residue()
    }

    /// Giant step `m`: its differences, and the next giant.
    fn giant(&self, machine: &mut Machine, m: u64) -> Result<(), Error> {
        let giant = machine.giant.keep()?;
        for j in met(m, self.bounds, self.stride, &machine.primes) {
            let baby = machine.kept[j as usize].expect("a baby");
            let baby = &machine.factors[baby];
            machine.product.multiply(&giant, Some(baby), 0)?;
        }
        let by = machine.step.keep()?;
        machine.giant.multiply(&by, None, 0)?;
        machine.step.multiply(&machine.twice, None, 0)
    }

    /// The greatest common divisor of `2^p - 1` and the product, once the stage is done: as
    /// [`PMinus1::divisor`].
    ///
    /// # Errors
    /// If the host lacks memory.
    pub fn divisor(&self) -> Result<BigUint, Error> {
        self.product.divisor()
    }
}

/// A machine for [`Stage2`].
pub struct Machine {
    /// The place of each baby `H^(j^2)` among the factors, by `j`.
    kept: Vec<Option<usize>>,
    factors: Vec<Factor>,
    /// `H^((m D)^2)` of the next giant step.
    giant: Box<dyn Multiplying>,
    /// `H^((2 m + 1) D^2)`, by which it grows, and `H^(2 D^2)`, by which that grows.
    step: Box<dyn Multiplying>,
    twice: Factor,
    product: Box<dyn Multiplying>,
    /// The primes up to the root of `B2`.
    primes: Vec<u64>,
}

impl Stepping for Stage2 {
    type Machine = Machine;

    fn machine(
        &self,
        backend: &dyn Backend,
        longer_than: Option<usize>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Machine>, Error> {
        let machine = || backend.multiplying(self.number(), longer_than);
        let (mut x, mut step, mut product) = (machine()?, machine()?, machine()?);
        // H^8, and H^(j^2) and H^(4 j + 4) from j = 1 on.
        step.set(&self.base)?;
        step.square(3, 1, 0)?;
        let twice = step.keep()?;
        x.set(&self.base)?;
        let mut kept = vec![None; self.stride as usize / 2 + 1];
        let mut factors = Vec::new();
        for j in (1..=self.stride / 2).step_by(2) {
            if !goes_on() {
                return Ok(None);
            }
            if gcd(j, self.stride) == 1 {
                kept[j as usize] = Some(factors.len());
                factors.push(x.keep()?);
            }
            let by = step.keep()?;
            x.multiply(&by, None, 0)?;
            step.multiply(&twice, None, 0)?;
        }
        // H^((m D)^2), H^((2 m + 1) D^2) and H^(2 D^2).
        let m = self.giants().start() + self.done;
        x.set(&self.base)?;
        power(&mut *x, m * self.stride)?;
        power(&mut *x, m * self.stride)?;
        step.set(&self.base)?;
        power(&mut *step, self.stride * self.stride)?;
        let once = step.keep()?;
        step.square(1, 1, 0)?;
        let twice = step.keep()?;
        power(&mut *step, m)?;
        step.multiply(&once, None, 0)?;
        product.set(&self.product)?;
        let primes = primes_up_to(self.bounds[1].isqrt() + 1);
        Ok(Some(Machine {
            kept,
            factors,
            giant: x,
            step,
            twice,
            product,
            primes,
        }))
    }

    fn error(machine: &Machine) -> Result<f64, Error> {
        let machines = [&machine.giant, &machine.step, &machine.product];
        let mut greatest = 0.0;
        for machine in machines {
            greatest = f64::max(greatest, machine.error()?);
        }
        Ok(greatest)
    }

    fn words(machine: &Machine) -> Option<usize> {
        machine.product.words()
    }
}

/// Replaces the residue by its power.
pub(crate) fn power(x: &mut dyn Multiplying, exponent: u64) -> Result<(), Error> {
    let Some(top) = exponent.checked_ilog2() else {
        let number = x.residue()?.number();
        return x.set(&Residue::from_u64(number, 1));
    };
    let base = x.keep()?;
    for bit in (0..top).rev() {
        x.square(1, 1, 0)?;
        if exponent >> bit & 1 == 1 {
            x.multiply(&base, None, 0)?;
        }
    }
    Ok(())
}

/// The primes up to a bound.
pub(crate) fn primes_up_to(bound: u64) -> Vec<u64> {
    let is_prime = are_prime(0, bound, &[]);
    (0..)
        .zip(is_prime)
        .filter(|&(_, is)| is)
        .map(|(n, _)| n)
        .collect()
}

/// Which numbers from `from` to `to` are prime, by the sieve of Eratosthenes; `primes` are those up to
/// the root of `to`, or none, to sieve by all numbers.
fn are_prime(from: u64, to: u64, primes: &[u64]) -> Vec<bool> {
    let mut is_prime: Vec<bool> = (from..=to).map(|n| n > 1).collect();
    let cross_out = |prime: u64| {
        let first = from.next_multiple_of(prime).max(prime * prime);
        for n in (first..=to).step_by(prime as usize) {
            is_prime[(n - from) as usize] = false;
        }
    };
    match primes {
        [] => (2..=to.isqrt()).for_each(cross_out),
        _ => primes
            .iter()
            .take_while(|&&prime| prime * prime <= to)
            .copied()
            .for_each(cross_out),
    }
    is_prime
}

/// The second line of a save file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    exponent: u32,
    worktype: String,
    bounds: [u64; 2],
    stride: u64,
    done: u64,
}

const WORKTYPE: &str = "P-1 stage 2";

impl Save for Stage2 {
    const UNIT: &'static str = "giant step";

    fn name(&self) -> String {
        let [first, second] = self.bounds;
        format!("m{}.{first}.{second}.pm1", self.number().n())
    }

    fn done(&self) -> u64 {
        self.done
    }

    fn res64(&self) -> Option<u64> {
        Some(self.product.res64())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let header = Header {
            exponent: self.number().n(),
            worktype: WORKTYPE.to_owned(),
            bounds: self.bounds,
            stride: self.stride,
            done: self.done,
        };
        sealed(&header, self.product.to_bytes())
    }

    fn from_bytes(bytes: &[u8], start: &Self) -> Result<Option<Self>, String> {
        let (header, rest): (Header, _) = opened(bytes)?;
        let number = start.number();
        if (header.exponent, header.bounds) != (number.n(), start.bounds)
            || header.worktype != WORKTYPE
        {
            return Err(format!("it is of another test: M{}", header.exponent));
        }
        let mut stage = start.clone();
        (stage.stride, stage.done) = (header.stride, header.done);
        let fits = |&(stride, greatest): &(u64, u64)| {
            stride == header.stride && greatest <= header.bounds[0]
        };
        let is_whole = rest.len() == number.bytes() && STRIDES.iter().any(fits);
        if !is_whole || header.done > stage.progress().1 {
            return Err(NO_SAVE.to_owned());
        }
        stage.product = Residue::from_bytes(number, rest);
        Ok(Some(stage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::is_prime;

    #[test]
    fn the_sieve_finds_the_primes_of_every_window() {
        let primes = primes_up_to(60);
        let all: Vec<u64> = (0..=60).filter(|&n| is_prime(n as u32)).collect();
        assert_eq!(primes, all);
        for from in [0, 1, 2, 3, 24, 25, 100, 1000, 3400] {
            for length in [0, 1, 2, 30, 150] {
                let found = are_prime(from, from + length, &primes);
                for (n, found) in (from..).zip(found) {
                    assert_eq!(found, is_prime(n as u32), "{n}");
                }
            }
        }
    }

    /// Every prime between the bounds is `m D + j` or `m D - j` of a giant step and a baby.
    #[test]
    fn steps_meet_every_prime() {
        for (stride, greatest) in STRIDES {
            let j: Vec<u64> = babies(stride).collect();
            for bounds in [[greatest, 10_000], [97, 101], [1000, 1009], [4999, 5003]] {
                let base = Residue::from_u64(89, 3);
                let product = base.clone();
                let stage = Stage2 {
                    base,
                    bounds,
                    stride,
                    done: 0,
                    product,
                };
                let primes = primes_up_to(bounds[1]);
                for r in primes.into_iter().filter(|&r| r > bounds[0].max(greatest)) {
                    let met = |m: u64| j.iter().any(|j| r.abs_diff(m * stride) == *j);
                    assert!(stage.giants().any(met), "{r} with {stride}, {bounds:?}");
                }
            }
        }
    }
}
