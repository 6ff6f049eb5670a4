//! Numbers that share factors, taken apart.
//!
//! Every number begins as its primes below 2^12, with the rest as one part. A batch gcd of all different parts
//! gives the divisor that each has in common with the others. If that is a proper divisor `g` of a part, the
//! part becomes `g` and the rest. If it is the whole part, which happens if a part of two primes shares one
//! with each of two others, the part is split by the first part with which it has a proper divisor in common,
//! or it splits the first part that it divides. This goes on until no two parts have a common divisor. Then
//! every number is a product of parts, and shares exactly those parts that another number has too.
//!
//! An example, if 3, 5 and 7 did not count as small: 15, 21 and 35 are shared as a whole. 15 and 21 have 3 in
//! common, so 15 = 3 * 5 and 21 = 3 * 7, and 5 splits 35 into 5 * 7.
//!
//! A part need not be prime: of two numbers `p q r` and `p q s` it is `p q`.

use crate::trees::batch_gcd::{BatchGcd, small_primes};
use crate::{BigUint, Engine, Error, Integers};
use num_bigint::BigInt;
use std::collections::{BTreeMap, BTreeSet};

impl Engine {
    /// The parts of which each number is the product, in order of size. No two different parts have a common
    /// divisor, whichever numbers they belong to. Primes below 4096 are parts of their own, as often as they
    /// divide the number.
    ///
    /// ```
    /// use bigint_host::{Engine, Integers};
    /// let parts = Engine::auto().shared_factors(&Integers::from([15, 21, 35, 121, 13]))?;
    /// let expected = [vec![3u32, 5], vec![3, 7], vec![5, 7], vec![11, 11], vec![13]];
    /// assert_eq!(parts, expected.map(|parts| parts.into_iter().map(Into::into).collect::<Vec<_>>()));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// Cost: a few runs of [`BatchGcd`](crate::BatchGcd); and for each number that shares all of
    /// itself, a common divisor with every other.
    ///
    /// # Errors
    /// As for [`BatchGcd::find`](crate::BatchGcd::find).
    pub fn shared_factors(&self, numbers: &Integers) -> Result<Vec<Vec<BigUint>>, Error> {
        let numbers = numbers.to_bigints()?.into_iter();
        let numbers: Vec<BigUint> = numbers.map(BigInt::into_parts).map(|(_, n)| n).collect();
        if let Some(index) = numbers.iter().position(|number| *number == BigUint::ZERO) {
            return Err(Error::ZeroDivisor { index });
        }
        // What each part became.
        let mut became: BTreeMap<BigUint, [BigUint; 2]> = BTreeMap::new();
        let one = BigUint::from(1u8);
        let (small, rests) = self.without_small(&numbers)?;
        let mut parts: BTreeSet<BigUint> = rests.iter().filter(|n| **n != one).cloned().collect();
        loop {
            let list: Vec<BigUint> = parts.iter().cloned().collect();
            let column = Integers::from_biguints(&list)?;
            let found = BatchGcd::new(self).find(&column, &Integers::new(), &|_| ())?;
            let mut split = Vec::new();
            for (index, part) in list.iter().enumerate() {
                let divisor = natural(&found.divisors, index);
                if divisor != one && divisor != *part {
                    split.push((part.clone(), divisor));
                } else if divisor == *part {
                    split.extend(self.first_proper(&list, &column, index)?);
                }
            }
            if split.is_empty() {
                break;
            }
            for (part, divisor) in split {
                if parts.remove(&part) {
                    let pair = [&part / &divisor, divisor];
                    parts.extend(pair.iter().filter(|part| **part != one).cloned());
                    became.insert(part, pair);
                }
            }
        }
        let taken_apart = |(mut small, rest): (Vec<BigUint>, BigUint)| {
            let mut left = vec![rest];
            while let Some(part) = left.pop() {
                match became.get(&part) {
                    Some(pair) => left.extend(pair.iter().cloned()),
                    None if part == one && !small.is_empty() => {}
                    None => small.push(part),
                }
            }
            small.sort();
            small
        };
        Ok(small.into_iter().zip(rests).map(taken_apart).collect())
    }

    /// The small primes of each number, as often as they divide it, and the rest.
    fn without_small(
        &self,
        numbers: &[BigUint],
    ) -> Result<(Vec<Vec<BigUint>>, Vec<BigUint>), Error> {
        let primes = small_primes();
        let product = self.product(&primes)?;
        let common = self.gcd(&Integers::from_biguints(numbers)?, &product)?;
        let one = BigUint::from(1u8);
        let split = |(index, number): (usize, &BigUint)| {
            let (mut common, mut rest) = (natural(&common, index), number.clone());
            let mut small = Vec::new();
            for &prime in primes.limbs() {
                if common == one {
                    break;
                }
                if (&common % prime) == BigUint::ZERO {
                    common /= prime;
                    while (&rest % prime) == BigUint::ZERO {
                        rest /= prime;
                        small.push(prime.into());
                    }
                }
            }
            (small, rest)
        };
        Ok(numbers.iter().enumerate().map(split).unzip())
    }

    /// A part and a proper divisor of it, where part `index` divides the product of all others: of
    /// itself, or of the first that it divides.
    fn first_proper(
        &self,
        list: &[BigUint],
        column: &Integers,
        index: usize,
    ) -> Result<Option<(BigUint, BigUint)>, Error> {
        let part = &list[index];
        let divisors = self.gcd(
            column,
            &Integers::from_biguints(std::slice::from_ref(part))?,
        )?;
        let mut others = (0..list.len()).filter(|&other| other != index);
        Ok(others.find_map(|other| {
            let divisor = natural(&divisors, other);
            match divisor == *part {
                true => Some((list[other].clone(), divisor)),
                false => (divisor != BigUint::from(1u8)).then(|| (part.clone(), divisor)),
            }
        }))
    }
}

/// Number `index`, which is not negative.
fn natural(numbers: &Integers, index: usize) -> BigUint {
    BigUint::from_slice(numbers.magnitude(index))
}
