//! The factors into which a number has been split.

use bigint_host::Engine;
use num_bigint::BigUint;

use crate::Error;
use crate::modular::gcd;
use crate::primes::primes;

/// Primes up to here are divided by first.
const SMALL: u64 = 1 << 16;

/// The parts of a number, whose product it is: primes, and composites that have not come apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    primes: Vec<BigUint>,
    composites: Vec<BigUint>,
}

impl Parts {
    /// The parts of a number from 1 on that need no curve: primes below 2^16, and roots of powers.
    /// A part counts as a prime by the test of Baillie, Pomerance, Selfridge and Wagstaff.
    ///
    /// # Errors
    /// The engine's.
    pub fn new(engine: &Engine, n: &BigUint) -> Result<Self, Error> {
        let mut parts = Parts::default();
        let mut rest = n.clone();
        // Thirty-two bits of the small primes' product at a time.
        let mut product = BigUint::from(1u8);
        primes(2, SMALL, |p| product *= p);
        let mut small = gcd(&(product % &rest), &rest);
        if small == BigUint::ZERO {
            small = rest.clone();
        }
        primes(2, SMALL, |p| {
            if small.bits() > 1 && (&small % p).bits() == 0 {
                while (&rest % p).bits() == 0 {
                    rest /= p;
                    parts.primes.push(p.into());
                }
            }
        });
        parts.take(engine, rest)?;
        Ok(parts)
    }

    /// The parts that were told by [`Parts::all`].
    ///
    /// # Errors
    /// The engine's.
    pub fn of(engine: &Engine, all: &[BigUint]) -> Result<Self, Error> {
        let mut parts = Parts::default();
        for part in all {
            parts.take(engine, part.clone())?;
        }
        Ok(parts)
    }

    /// Each part, a prime as often as it divides the number.
    pub fn all(&self) -> Vec<BigUint> {
        self.primes
            .iter()
            .chain(&self.composites)
            .cloned()
            .collect()
    }

    /// The primes, in the order in which they were found.
    pub fn primes(&self) -> &[BigUint] {
        &self.primes
    }

    /// The parts that are composite.
    pub fn composites(&self) -> &[BigUint] {
        &self.composites
    }

    /// The composites that curves found, in order, and the one that is left of the number, if it is not
    /// factored: the greatest composite counts as that.
    pub fn found_and_left(&self) -> (Vec<BigUint>, Option<BigUint>) {
        let mut found = self.composites.clone();
        found.sort();
        let left = found.pop();
        (found, left)
    }

    /// Makes use of a divisor of the number, or of a part; returns whether something came apart.
    ///
    /// # Errors
    /// The engine's.
    pub fn split(&mut self, engine: &Engine, divisor: &BigUint) -> Result<bool, Error> {
        let mut is_new = false;
        for composite in std::mem::take(&mut self.composites) {
            let mut pieces = vec![composite];
            while let Some(last) = pieces.pop() {
                let common = gcd(&last, divisor);
                if common.bits() <= 1 || common == last {
                    pieces.push(last);
                    break;
                }
                // What is left may have the divisor once more.
                let rest = last / &common;
                pieces.extend([common, rest]);
            }
            is_new |= pieces.len() > 1;
            match &pieces[..] {
                [_] => self.composites.append(&mut pieces),
                _ => pieces
                    .into_iter()
                    .try_for_each(|piece| self.take(engine, piece))?,
            }
        }
        Ok(is_new)
    }

    /// Takes a part in, a power as its roots.
    fn take(&mut self, engine: &Engine, part: BigUint) -> Result<(), Error> {
        if part.bits() <= 1 {
            return Ok(());
        }
        let (root, times) = root(&part);
        let batch = engine.batch_from_biguints(std::slice::from_ref(&root))?;
        let kind = match engine.is_prime(&batch)?[0] {
            true => &mut self.primes,
            false => &mut self.composites,
        };
        kind.extend(std::iter::repeat_n(root, times));
        Ok(())
    }
}

/// The number of which `n` is the greatest power, and the exponent.
fn root(n: &BigUint) -> (BigUint, usize) {
    let (mut root, mut times) = (n.clone(), 1);
    let mut exponents = Vec::new();
    // Nothing below 2^16 divides a part, but for roots of small numbers, which are primes.
    primes(2, n.bits(), |k| exponents.push(k as u32));
    for k in exponents {
        while u64::from(k) <= root.bits() {
            let candidate = root.nth_root(k);
            if candidate.bits() <= 1 || candidate.pow(k) != root {
                break;
            }
            (root, times) = (candidate, times * k as usize);
        }
    }
    (root, times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> BigUint {
        crate::evaluate(text).unwrap()
    }

    fn check(parts: &Parts, n: &BigUint) {
        assert_eq!(parts.all().iter().product::<BigUint>(), *n);
    }

    #[test]
    fn small_primes_and_powers_need_no_curve() {
        let engine = Engine::cpu();
        for text in [
            "1",
            "2",
            "65536",
            "360",
            "97^5*(2^61-1)",
            "(2^61-1)^6",
            "65537^2",
            "65521#",
        ] {
            let n = number(text);
            let parts = Parts::new(&engine, &n).unwrap();
            check(&parts, &n);
            assert!(parts.composites().is_empty(), "{text}: {parts:?}");
        }
        let n = number("12*((2^61-1)*(2^89-1))^3");
        let parts = Parts::new(&engine, &n).unwrap();
        check(&parts, &n);
        assert_eq!((parts.primes().len(), parts.composites().len()), (3, 3));
    }

    #[test]
    fn a_divisor_takes_every_part_apart() {
        let engine = Engine::cpu();
        let (p, q, r) = (number("2^61-1"), number("2^89-1"), number("2^107-1"));
        let n = &p * &p * &q * &r;
        for divisor in [p.clone(), &p * &q, &p * &p, &q * &r, r.clone()] {
            let mut parts = Parts::new(&engine, &n).unwrap();
            assert!(parts.split(&engine, &divisor).unwrap(), "{divisor}");
            check(&parts, &n);
            assert!(!parts.split(&engine, &divisor).unwrap());
            for other in [&p, &q, &r] {
                parts.split(&engine, other).unwrap();
                check(&parts, &n);
            }
            assert_eq!(parts.composites(), []);
        }
        let mut parts = Parts::new(&engine, &n).unwrap();
        assert!(!parts.split(&engine, &n).unwrap());
        assert!(!parts.split(&engine, &1u8.into()).unwrap());
    }

    #[test]
    fn the_greatest_composite_is_what_is_left() {
        let engine = Engine::cpu();
        let primes = ["2^61-1", "2^89-1", "2^107-1", "2^127-1"].map(number);
        let n = primes.iter().product::<BigUint>();
        let mut parts = Parts::new(&engine, &n).unwrap();
        assert_eq!(parts.found_and_left(), (vec![], Some(n.clone())));
        let (lesser, greater) = (&primes[0] * &primes[3], &primes[1] * &primes[2]);
        parts.split(&engine, &greater).unwrap();
        assert_eq!(parts.found_and_left(), (vec![lesser], Some(greater)));
        let parts = Parts::of(&engine, &primes).unwrap();
        assert_eq!(parts.found_and_left(), (vec![], None));
    }
}
