//! A few curves on each of many numbers, as sieves want it for what is left of their candidates.
//!
//! Numbers of about one length are the rows of a chain, each with a modulus of its own; all rows walk the same
//! steps, on the curve of one sigma (GMP-ECM's parametrization 3). Nothing is inverted: after stage 1 the point
//! `(x : z)` goes on as it is, and the divisors that rows have in common with `z`, and with stage 2's product,
//! are computed in two batches.
//!
//! On the engine's devices a number is a thread's ([`crate::own`]).

use bigint_host::Engine;
use bigint_host::advanced::{Chain, Step};
use num_bigint::BigUint;

use crate::giants::Giants;
use crate::own::{Curves, own_width};
use crate::stage1::begin_ladder;
use crate::{Bounds, Error, ladder, scalar};

/// Rows that are computed together, at most: more would have no room in a cache.
const ROWS: usize = 4096;

/// Numbers that a device computes together.
const ROWS_OF_DEVICE: usize = 1 << 16;

/// From so many numbers of one length on devices compute them.
const WORTH_A_DEVICE: usize = 2048;

/// The bound of the constants of a ladder.
const LEAST: u32 = 65;

/// Curves on many numbers: bounds, and steps that are written down once.
#[derive(Clone, Debug)]
pub struct Ecm {
    engine: Engine,
    bounds: Bounds,
    scalar: BigUint,
    steps: Vec<Step>,
    worth_a_device: usize,
}

impl Ecm {
    /// Curves of these bounds: `b1` is 11 or more; where `b2` is not above it there is no stage 2.
    ///
    /// # Panics
    /// If `b1` is less than 11.
    pub fn new(engine: &Engine, bounds: Bounds) -> Self {
        assert!(bounds.b1 >= 11, "stage 1 goes up to 11 or more");
        let scalar = scalar(bounds.b1);
        let mut steps = Vec::new();
        // The first bit is the point itself.
        for i in (0..scalar.bits() - 1).rev() {
            ladder::bit(&mut steps, scalar.bit(i));
        }
        Ecm {
            engine: engine.clone(),
            bounds,
            scalar,
            steps,
            worth_a_device: WORTH_A_DEVICE,
        }
    }

    /// The engine's devices compute so many numbers of one length or more (122, 250, 378, 506 or 634 bits); 2048
    /// unless this is called. All cores compute the others.
    #[must_use]
    pub fn with_devices_from(self, count: usize) -> Self {
        Ecm {
            worth_a_device: count,
            ..self
        }
    }

    /// A divisor of each number, above 1 and less than the number, where the curves `sigma`, `sigma + 1`, ... find
    /// one: as many curves as the bounds have, or until there is a divisor. A divisor is a prime or a product
    /// of some. Curves run on the engine's devices where that is worth it, else on all cores, and find the same. The
    /// first `sigma` is 2 or more, and the last is less than 2^32 - 1.
    ///
    /// # Errors
    /// [`Error::Cpu`] where memory runs out; [`Error::Engine`].
    pub fn batch(&self, numbers: &[BigUint], sigma: u32) -> Result<Vec<Option<BigUint>>, Error> {
        let mut found: Vec<_> = numbers.iter().map(small).collect();
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.retain(|&i| found[i].is_none() && numbers[i] >= LEAST.into() && numbers[i].bit(0));
        order.sort_by_key(|&i| numbers[i].bits());
        let width = |i: usize| own_width(&numbers[i]);
        for group in order.chunk_by(|&i, &j| width(i) == width(j)) {
            let curves = match width(group[0]) {
                Some(width) if group.len() >= self.worth_a_device => {
                    Curves::new(&self.engine, width, self.bounds, &self.scalar)?
                }
                _ => None,
            };
            let together = if curves.is_some() {
                ROWS_OF_DEVICE
            } else {
                ROWS
            };
            for rows in group.chunks(together) {
                let mut left = rows.to_vec();
                for sigma in (sigma..).take(self.bounds.curves as usize) {
                    let of_left: Vec<_> = left.iter().map(|&i| &numbers[i]).collect();
                    let divisors = match &curves {
                        Some(curves) => curves.curve(&of_left, sigma)?,
                        None => self.curve(&of_left, sigma)?,
                    };
                    for (&i, divisor) in left.iter().zip(divisors) {
                        found[i] = divisor;
                    }
                    left.retain(|&i| found[i].is_none());
                    if left.is_empty() {
                        break;
                    }
                }
            }
        }
        Ok(found)
    }

    /// A curve on numbers, on all cores.
    fn curve(&self, numbers: &[&BigUint], sigma: u32) -> Result<Vec<Option<BigUint>>, Error> {
        let Bounds { b1, b2, .. } = self.bounds;
        let moduli: Vec<_> = numbers.iter().map(|n| n.to_u32_digits()).collect();
        let registers = Giants::registers(false, b1, b2).max(ladder::REGISTERS);
        let mut chain = Chain::with_moduli(&moduli, registers)?;
        begin_ladder(&mut chain, |number| vec![number], &[sigma])?;
        chain.run(&self.steps);
        let [x, z, ..] = ladder::Q;
        let of_z: Vec<_> = chain.get(z).into_iter().map(BigUint::new).collect();
        let mut found = self.divisors(numbers, &of_z)?;
        if b2 > b1 {
            let mut giants = Giants::after(chain, [x, z], b1, b2)?;
            while !giants.is_done() {
                giants.advance()?;
            }
            let later = self.divisors(numbers, &giants.products()?)?;
            for (found, later) in found.iter_mut().zip(later) {
                *found = found.take().or(later);
            }
        }
        Ok(found)
    }

    /// The divisor that each number has in common with a residue, where it is neither 1 nor the number.
    fn divisors(
        &self,
        numbers: &[&BigUint],
        residues: &[BigUint],
    ) -> Result<Vec<Option<BigUint>>, Error> {
        let numbers: Vec<_> = numbers.iter().map(|&n| n.clone()).collect();
        let a = self.engine.batch_from_biguints(&numbers)?;
        let b = self.engine.batch_from_biguints(residues)?;
        let divisors = self.engine.gcd(&a, &b)?.to_biguints()?;
        let pairs = divisors.into_iter().zip(numbers);
        Ok(pairs
            .map(|(divisor, n)| Some(divisor).filter(|divisor| divisor.bits() > 1 && *divisor != n))
            .collect())
    }
}

/// A prime up to 7 that divides a greater number.
fn small(n: &BigUint) -> Option<BigUint> {
    let primes = [2u8, 3, 5, 7].into_iter();
    let mut divisors = primes.filter(|p| *n > (*p).into() && n % *p == BigUint::ZERO);
    divisors.next().map(BigUint::from)
}
