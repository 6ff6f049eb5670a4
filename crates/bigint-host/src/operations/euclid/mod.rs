//! Greatest common divisors, least common multiples, inverses and Jacobi symbols of numbers wider than kernels hold, by
//! [halves] whose products a device makes.
//!
//! * Numbers of which one is much longer are divided first.
//! * **Inverse** of `a` modulo `m`: in `m = -x a`, `a = y a` modulo `m` the factors are `x = 0` and `y = 1`. The rows of each
//!   step make the next of these as they do of the numbers, but with sums, since all signs are alike. In the end the number that is 1 has
//!   the factor `-x` or `y`.
//! * **Jacobi symbol**: a few bits of each pair's numbers and of all quotients tell it. The host finds all quotients, so these
//!   bits stay there.
//!
//! One device computes the whole batch. If it fails, an engine that has another back end goes there.

mod halves;
#[cfg(test)]
mod tests;

use crate::common::job::{Job, Wanted};
use crate::engine::inner::Resort;
use crate::operations::forms::{Outcome, no_value};
use crate::plan::choose;
use crate::{Batch, Engine, Error, Options};
use bigint_core::operation::{Flag, Width};
use bigint_core::{LIMB_BITS, Shape};
use bigint_cpu::Symbol;
use halves::{Cofactors, Ended, Halving, Pairs, both_halves};
use std::sync::Arc;

/// The bits by which two numbers may differ in length that are not divided first. The first quotient then is one that a
/// part of the numbers has room for.
const SHORT_QUOTIENT: u64 = 128;

/// Results, and which numbers have none.
struct Found {
    results: Batch,
    have_none: Vec<bool>,
}

impl Engine {
    /// The outcome of Euclid's algorithm by halves, where that is [how it is computed](choose::by_half_gcd).
    pub(crate) fn by_half_gcd(
        &self,
        job: Job,
        operands: &[&Batch],
    ) -> Result<Option<Outcome>, Error> {
        let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape()).collect();
        let may_use_cpu = self.inner.resort == Resort::Always;
        let why = choose::by_half_gcd(self.tuning(), may_use_cpu, job, &shapes);
        // The lengths of secrets are secret, too.
        if !why.holds() || self.inner.device().is_none() || self.is_for_secrets() {
            return Ok(None);
        }
        let engine = self.on_one_device();
        let choices = &self.inner.choices;
        let found = match choices.as_steps(|| engine.euclid(job, operands)) {
            Ok(found) => found,
            Err(error @ Error::Device(_)) => {
                self.inner.hand_over(error)?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let widths: Vec<usize> = shapes.iter().map(|shape| shape.width).collect();
        let how =
            format_args!("Euclid's algorithm by halves, with products on a device\n    who: {why}");
        self.inner.note_composed(job, &widths, how);
        let first = found.have_none.iter().position(|&has_none| has_none);
        if let (Some(index), Wanted::First) = (first, job.wanted) {
            return Err(no_value(job.operation, operands, index)?);
        }
        let flags = (job.wanted == Wanted::Flags).then(|| self.mask(&found.have_none));
        let result = self.limbs_from(&self.adopt(&found.results)?, 0, job.shapes()[0].width)?;
        Ok(Some(Outcome {
            results: vec![result],
            flags: flags.transpose()?,
        }))
    }

    /// This engine where it is bound to a device, or one that is bound to its first one.
    fn on_one_device(&self) -> Engine {
        let is_bound = self.inner.resort == Resort::None && self.inner.devices().count() == 1;
        Engine {
            inner: match is_bound {
                true => Arc::clone(&self.inner),
                false => Arc::new(self.inner.on_first_device()),
            },
            options: Options::default(),
        }
    }

    /// The results of an operation that Euclid's algorithm computes.
    fn euclid(&self, job: Job, operands: &[&Batch]) -> Result<Found, Error> {
        let count = job.count();
        let each = |operand: &Batch| {
            let operand = self.adopt(operand)?;
            match operand.len() == count {
                true => Ok(operand),
                false => self.gather(&operand, &vec![0; count]),
            }
        };
        let (a, b) = (each(operands[0])?, each(operands[1])?);
        let declared = job.operation.declaration();
        match (declared.flag, declared.exact) {
            (Flag::NotInvertible, _) => self.inverses(&a, &b),
            (Flag::EvenModulus, _) => self.symbols(&a, &b),
            (_, [Width::Total(_)]) => self.multiples(&a, &b),
            _ => Ok(Found {
                results: self.divisors(&a, &b)?,
                have_none: vec![false; count],
            }),
        }
    }

    /// Greatest common divisors.
    fn divisors(&self, a: &Batch, b: &Batch) -> Result<Batch, Error> {
        let count = a.len();
        let bits: Vec<[u64; 2]> = (self.lengths(a)?.into_iter())
            .zip(self.lengths(b)?)
            .map(|(a, b)| [a, b])
            .collect();
        let are_alike = bits.iter().all(|[a, b]| a.abs_diff(*b) <= SHORT_QUOTIENT);
        let longest = |[a, b]: &[u64; 2]| *a.max(b);
        let (pairs, longest): (_, Vec<u64>) = match are_alike {
            true => ([a.clone(), b.clone()], bits.iter().map(longest).collect()),
            false => {
                let (mut lesser, greater) = self.min_max(a, b)?;
                let has_zero = |[a, b]: &[u64; 2]| *a.min(b) == 0;
                let have_zero: Vec<bool> = bits.iter().map(has_zero).collect();
                if have_zero.contains(&true) {
                    // The greater one is the divisor, or the least number that can divide.
                    lesser = self.select(&greater, &lesser, &self.mask(&have_zero)?)?;
                    let are_zero: Vec<bool> = bits.iter().map(|of| longest(of) == 0).collect();
                    lesser = self.or_in(lesser.width(), &lesser, &self.mask(&are_zero)?)?;
                }
                let rest = self.rem(&greater, &lesser)?;
                let of_divisor = |of: &[u64; 2]| match has_zero(of) {
                    true => longest(of).max(1),
                    false => of[0].min(of[1]),
                };
                ([lesser, rest], bits.iter().map(of_divisor).collect())
            }
        };
        let [a, b] = pairs;
        let width = a.width().max(b.width());
        let pairs = Pairs::new(self.beside(&a, &b, &longest)?, longest);
        let mut limbs = vec![0; count * width];
        for group in Halving::new(self, count, None).run(pairs, None)? {
            for (i, [x, y]) in group.indices.into_iter().zip(group.numbers) {
                let is_zero = bits[i] == [0; 2];
                let words = if x.is_empty() { y } else { x };
                if !is_zero {
                    halves::fill(&mut limbs[i * width..][..width], &words);
                }
            }
        }
        self.batch_from_limbs(limbs, Shape { width, ..a.shape() })
    }

    /// Least common multiples.
    fn multiples(&self, a: &Batch, b: &Batch) -> Result<Found, Error> {
        let divisors = self.divisors(a, b)?;
        let bits = self.lengths(&divisors)?;
        let are_zero: Vec<bool> = bits.iter().map(|&bits| bits == 0).collect();
        let divisors = match are_zero.contains(&true) {
            true => self.or_in(divisors.width(), &divisors, &self.mask(&are_zero)?)?,
            false => divisors,
        };
        let quotients = self.div(a, &divisors)?;
        Ok(Found {
            results: self.mul_in(a.width() + b.width(), &quotients, b)?,
            have_none: vec![false; a.len()],
        })
    }

    /// Inverses of `a` modulo `m`.
    fn inverses(&self, a: &Batch, m: &Batch) -> Result<Found, Error> {
        let (count, width) = (m.len(), m.width());
        let mut bits = self.lengths(m)?;
        let mut have_none: Vec<bool> = bits.iter().map(|&bits| bits == 0).collect();
        let m = match have_none.contains(&true) {
            true => &self.or_in(width, m, &self.mask(&have_none)?)?,
            false => m,
        };
        bits.iter_mut().for_each(|bits| *bits = (*bits).max(1));
        // Modulo 1 any factors will do, and with 1 the inverse is 0.
        let of_modulus = bits.iter().map(|&bits| u64::from(bits == 1));
        let factors: Vec<u64> = of_modulus.chain(vec![1; count]).collect();
        let cofactors = Cofactors {
            numbers: self.of_limbs(&factors)?,
            widest: width,
        };
        let rest = self.rem(a, m)?;
        let pairs = Pairs::new(self.beside(m, &rest, &bits)?, bits);
        let groups = Halving::new(self, count, None).run(pairs, Some(cofactors))?;
        let (mut found, mut places) = (Vec::new(), vec![0; count]);
        let mut next = 0;
        for group in groups {
            for &i in &group.indices {
                places[i] = next;
                next += 1;
            }
            found.push(self.inverses_of(m, &group, &mut have_none)?);
        }
        let found: Vec<&Batch> = found.iter().collect();
        let results = match found[..] {
            [one] => one.clone(),
            _ => self.gather(&self.concatenate(&found)?, &places)?,
        };
        Ok(Found { results, have_none })
    }

    /// The inverses of a group, and which of these there are not.
    fn inverses_of(
        &self,
        m: &Batch,
        group: &Ended,
        have_none: &mut [bool],
    ) -> Result<Batch, Error> {
        let width = m.width();
        let cofactors = group.cofactors.as_ref().expect("they were given");
        let [x, y] = both_halves(self, cofactors)?;
        let m = match group.indices.len() == m.len() {
            true => m.clone(),
            false => self.gather(m, &group.indices)?,
        };
        let are_first: Vec<bool> = group.numbers.iter().map(|[a, _]| a == &[1]).collect();
        let of_first = self.sub_in(width, &m, &x)?;
        let found = self.select(&of_first, &y, &self.mask(&are_first)?)?;
        let found = self.limbs_from(&found, 0, width)?;
        for (i, [a, b]) in group.indices.iter().zip(&group.numbers) {
            have_none[*i] |= a != &[1] && b != &[1];
        }
        let are_there: Vec<bool> = group.indices.iter().map(|&i| !have_none[i]).collect();
        if are_there.contains(&false) {
            let zero = self.of_limbs(&[0])?;
            return self.select(&found, &zero, &self.mask(&are_there)?);
        }
        Ok(found)
    }

    /// Jacobi symbols of `a` over `n`, and 1 more.
    fn symbols(&self, a: &Batch, n: &Batch) -> Result<Found, Error> {
        let lowest = |x: &Batch| {
            let lowest = self.limbs_from(x, 0, 1)?;
            let rows = lowest.rows()?;
            Ok::<Vec<u64>, Error>(rows.iter().map(|&limb| limb.into()).collect())
        };
        let count = n.len();
        let of_n = lowest(n)?;
        let have_none: Vec<bool> = of_n.iter().map(|limb| limb % 2 == 0).collect();
        let n = match have_none.contains(&true) {
            true => &self.or_in(n.width(), n, &self.of_limbs(&[1])?)?,
            false => n,
        };
        let rest = self.rem(a, n)?;
        let lowest = lowest(&rest)?;
        let symbols = lowest.iter().zip(&of_n);
        let symbols = symbols.map(|(&a, &n)| Symbol::of(a, n | 1)).collect();
        let bits = self.lengths(n)?;
        let pairs = Pairs::new(self.beside(n, &rest, &bits)?, bits);
        let mut found = vec![0; count];
        for group in Halving::new(self, count, Some(symbols)).run(pairs, None)? {
            let ended = group.numbers.iter().zip(&group.symbols);
            for (&i, (numbers, symbol)) in group.indices.iter().zip(ended) {
                let is_prime_to_it = numbers.iter().any(|x| x == &[1]);
                found[i] = match (have_none[i], is_prime_to_it) {
                    (true, _) => 0,
                    (_, true) => (symbol.sign() + 1) as u64,
                    (_, false) => 1,
                };
            }
        }
        Ok(Found {
            results: self.of_limbs(&found)?,
            have_none,
        })
    }

    /// The numbers of two batches, one batch behind the other, in as many limbs as these bits take.
    fn beside(&self, a: &Batch, b: &Batch, bits: &[u64]) -> Result<Batch, Error> {
        let longest = bits.iter().max().copied().unwrap_or(0);
        let width = longest.div_ceil(LIMB_BITS as u64).max(1) as usize;
        let [a, b] = [a, b].map(|x| self.limbs_from(x, 0, width));
        self.concatenate(&[&a?, &b?])
    }
}
