//! The first stage of Pollard's P-1, which finds factors of `2^p - 1`.
//!
//! **Maths** [Pollard 1974]. A prime factor
//! `q` of `2^p - 1`, `p` an odd prime, is `2 k p + 1`. Where no prime power that divides `k` is
//! above a bound `B1`, `q - 1` divides `E`, `2 p` times the greatest power up to `B1` of each
//! prime; then `q` divides `3^E - 1`, by Fermat, and so `gcd(3^E - 1, 2^p - 1)`.
//!
//! Example, `p = 67`: `193,707,721 = 2 k 67 + 1` with `k = 2^2 3^3 5 2677`, which `B1 = 2677` finds.
//!
//! The power is computed by squares, from the exponent's highest bit down. Where a bit is set, the
//! square is multiplied by 3 in the pass that rounds and carries it, which takes no time.
//! **Cost**: `1.44 B1` squarings and one gcd, on the CPU.
//!
//! Nothing but the rounding error is checked: an error may hide a factor. A factor that is found
//! divides.

use std::sync::Arc;

use bigint_host::{BigUint, Engine, Layout, Limb, Shape};

use crate::{Error, Number, Outcome, Residue, Runner, Step};

/// The first stage of P-1 at some squaring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PMinus1 {
    bound: u32,
    /// The exponent `E`.
    exponent: Arc<[Limb]>,
    /// The squarings that are done.
    pub(crate) iteration: u32,
    /// The residue after them.
    pub(crate) residue: Residue,
}

impl PMinus1 {
    /// The greatest bound `B1`: its exponent has `1.44 10^9` bits.
    pub const GREATEST_BOUND: u32 = 1_000_000_000;

    /// The stage at its beginning, with the bound `B1`.
    ///
    /// # Errors
    /// If the host lacks memory for the exponent.
    ///
    /// # Panics
    /// If `p` is even, or the bound below 2 or above [`Self::GREATEST_BOUND`].
    pub fn new(p: u32, bound: u32) -> Result<Self, Error> {
        assert!(p % 2 == 1, "the number is 2^p - 1 with odd p");
        assert!(
            (2..=Self::GREATEST_BOUND).contains(&bound),
            "the bound is from 2 to {}",
            Self::GREATEST_BOUND
        );
        Ok(PMinus1 {
            bound,
            exponent: powers_of_primes(bound, &[2, p])?,
            iteration: 0,
            residue: Residue::from_u64(p, 3),
        })
    }

    /// The bound `B1`.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// The squarings that are done.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// The squarings of the whole stage: one for each bit of the exponent but its highest.
    pub fn iterations(&self) -> u32 {
        top_bit(&self.exponent)
    }

    /// Runs up to `times` squarings. `runner` is where the stage is.
    ///
    /// # Errors
    /// As for [`Runner::square`].
    pub fn advance(&mut self, runner: &mut Runner<'_>, times: u32) -> Result<Step, Error> {
        let left = self.iterations() - self.iteration;
        let times = times.min(left);
        let by = |i: u32| 1 + 2 * u32::from(bit(&self.exponent, i));
        let by: Vec<u32> = (left - times..left).rev().map(by).collect();
        let stretches = by.chunk_by(|a, b| a == b);
        runner.square_by(stretches.map(|stretch| (stretch.len() as u32, stretch[0])))?;
        self.iteration += times;
        if times < left {
            return Ok(Step::Going);
        }
        self.rest(runner)?;
        Ok(Step::Done(Outcome {
            is_prime: false,
            res64: self.residue.res64(),
            errors: runner.lengthened(),
        }))
    }

    /// Reads the residue, so that the stage can be saved.
    ///
    /// # Errors
    /// As for [`Runner::residue`].
    pub fn rest(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        self.residue = runner.residue()?;
        Ok(())
    }

    /// The greatest common divisor of `2^p - 1` and the residue less 1, once the stage is done:
    /// 1 where no factor was found, `2^p - 1` itself where all of them were. It takes as long as
    /// some thousands of squarings, on the CPU.
    ///
    /// # Errors
    /// If the host lacks memory.
    pub fn divisor(&self) -> Result<BigUint, Error> {
        let one = Residue::from_u64(self.residue.number(), 1);
        self.residue.clone().minus(&one).divisor()
    }

    /// The number whose factors it finds.
    pub fn number(&self) -> Number {
        self.residue.number()
    }
}

/// The product of the greatest power up to the bound of each prime, and of some more factors.
fn powers_of_primes(bound: u32, more: &[Limb]) -> Result<Arc<[Limb]>, Error> {
    let mut factors: Vec<Limb> = primes(bound)?;
    for prime in &mut factors {
        *prime = prime.pow(bound.ilog(*prime));
    }
    bigint_cpu::reserve(&mut factors, more.len())?;
    factors.extend(more);
    let shape = Shape {
        count: factors.len(),
        width: 1,
        layout: Layout::Contiguous,
    };
    let engine = Engine::cpu();
    let factors = engine.batch_from_limbs(factors, shape)?;
    Ok(engine.product(&factors)?.to_limbs()?.into())
}

/// The highest bit of a number that is not 0.
fn top_bit(number: &[Limb]) -> u32 {
    let top = number.iter().rposition(|&limb| limb != 0);
    let top = top.expect("the number is not 0");
    top as u32 * Limb::BITS + number[top].ilog2()
}

/// Bit `i` of a number.
fn bit(number: &[Limb], i: u32) -> bool {
    number[(i / Limb::BITS) as usize] >> (i % Limb::BITS) & 1 == 1
}

/// The primes up to a bound, by the sieve of Eratosthenes over the odd numbers.
pub(crate) fn primes(bound: u32) -> Result<Vec<u32>, Error> {
    let bound = bound as usize;
    // Entry i is for 2 i + 1.
    let mut is_composite: Vec<bool> = bigint_cpu::zeroed(bound.div_ceil(2))?;
    for r in (3..).step_by(2).take_while(|&r| r * r <= bound) {
        if !is_composite[r / 2] {
            let multiples = is_composite.iter_mut().skip(r * r / 2).step_by(r);
            multiples.for_each(|is_composite| *is_composite = true);
        }
    }
    // Entry 0, for 1, stands for 2.
    let count = is_composite.iter().filter(|&&is_composite| !is_composite);
    let mut primes = bigint_cpu::with_capacity(count.count())?;
    let entries = is_composite.iter().enumerate().skip(1);
    let odd = entries.filter(|&(_, &is_composite)| !is_composite);
    primes.extend(std::iter::once(2).chain(odd.map(|(i, _)| 2 * i as u32 + 1)));
    Ok(primes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::is_prime;

    #[test]
    fn exponents_are_two_p_times_the_powers_of_primes() {
        for (bound, expected) in [
            (2, 2u64),
            (3, 6),
            (10, 2520),
            (16, 720_720),
            (25, 26_771_144_400),
        ] {
            let test = PMinus1::new(89, bound).unwrap();
            let exponent = BigUint::new(test.exponent.to_vec());
            assert_eq!(exponent, BigUint::from(2 * 89 * expected));
            assert_eq!(u64::from(test.iterations()) + 1, exponent.bits());
        }
        for bound in [2, 3, 4, 100, 7919, 7920] {
            let all: Vec<u32> = (0..=bound).filter(|&n| is_prime(n)).collect();
            assert_eq!(primes(bound).unwrap(), all, "{bound}");
        }
    }
}
