//! Random primes with given properties.

use crate::operations::primes::search::{self, Scan};
use crate::{Batch, BigUint, Engine, Error, Layout, Limb};

/// Progressions of at most so many numbers are looked through whole.
const FEW: u64 = 1 << 12;

/// Draws, and rounds of draws for all that are missing, without a prime after which there is none.
const DRAWS: usize = 1 << 23;
const ROUNDS: usize = 64;

/// Which primes [`Engine::random_primes`] draws: odd ones of a range, with as many of these
/// properties as are named.
///
/// ```
/// use bigint_host::RandomPrimes;
/// // For RSA with the exponent 65537: two of them have a product of 2048 bits.
/// let of_rsa = RandomPrimes::of_bits(1024).with_two_top_bits().one_less_coprime_to(65537);
/// // A safe prime that is 7 modulo 8.
/// let of_dh = RandomPrimes::of_bits(256).safe().congruent(&7u32.into(), &8u32.into());
/// ```
#[derive(Clone, Debug)]
pub struct RandomPrimes {
    from: BigUint,
    to: BigUint,
    residue: BigUint,
    modulus: BigUint,
    coprime: u64,
    safe: bool,
}

impl RandomPrimes {
    /// Random primes of `bits` bits, whose top bit is 1.
    pub fn of_bits(bits: u64) -> Self {
        let one = BigUint::from(1u8);
        RandomPrimes::between(&(&one << bits.saturating_sub(1)), &(one << bits))
    }

    /// Random primes from `from` on and below `to`. Primes with given top bits are those of a range: primes of
    /// 1024 bits that begin with the 16 bits `0xc0de` lie between `0xc0de << 1008` and `0xc0df << 1008`.
    pub fn between(from: &BigUint, to: &BigUint) -> Self {
        RandomPrimes {
            from: from.clone(),
            to: to.clone(),
            residue: BigUint::ZERO,
            modulus: 1u8.into(),
            coprime: 1,
            safe: false,
        }
    }

    /// Only primes of the upper quarter below the range's end. Primes of `n` bits then have two top bits of 1,
    /// so the product of two of them has `2 n` bits.
    #[must_use]
    pub fn with_two_top_bits(mut self) -> Self {
        let quarters = (&self.to * 3u8 + 3u8) >> 2;
        self.from = self.from.max(quarters);
        self
    }

    /// Only primes that are `residue` modulo `modulus`. Primes with given low bits have a residue modulo a
    /// power of 2.
    #[must_use]
    pub fn congruent(mut self, residue: &BigUint, modulus: &BigUint) -> Self {
        (self.residue, self.modulus) = (residue.clone(), modulus.clone());
        self
    }

    /// Only primes `p` whose `p - 1` has no divisor in common with an odd `e`, as RSA's public exponent
    /// requires.
    #[must_use]
    pub fn one_less_coprime_to(mut self, e: u64) -> Self {
        self.coprime = e;
        self
    }

    /// Only primes `p` for which `(p - 1) / 2` is a prime too, without 5.
    #[must_use]
    pub fn safe(mut self) -> Self {
        self.safe = true;
        self
    }

    /// The first number of the range that is odd, and 3 modulo 4 of safe primes, and in the class;
    /// the step to the next; and how many there are.
    fn progression(&self) -> Option<(BigUint, BigUint, BigUint)> {
        let (residue, modulus) = match self.safe {
            false => (1u8, 2u8),
            true => (3, 4),
        };
        if self.modulus == BigUint::ZERO || self.coprime.is_multiple_of(2) {
            return None;
        }
        let own = &self.residue % &self.modulus;
        let mut steps = (0..modulus).map(|t| &own + &self.modulus * t);
        let in_both = steps.find(|x| x % modulus == residue.into())?;
        let mut step = self.modulus.clone();
        while &step % modulus != BigUint::ZERO {
            step *= 2u8;
        }
        let behind = (&self.from + &step - &in_both % &step) % &step;
        let first = match behind == BigUint::ZERO {
            true => self.from.clone(),
            false => &self.from + &step - behind,
        };
        let length = self.to.clone().max(first.clone()) - &first;
        let count = (length + &step - 1u8) / &step;
        (count > BigUint::ZERO).then_some((first, step, count))
    }
}

impl Engine {
    /// `count` random primes, as wide as the end of their range. `fill` fills bytes with random
    /// ones: `|bytes| rng.fill_bytes(bytes)`.
    ///
    /// Up to 64 bits, and of few numbers, each prime is as likely as any other. Otherwise a random
    /// start is drawn and the next prime taken that is as asked, as by OpenSSL: one after a long gap
    /// is likelier, which takes less than a bit from the entropy (Brandt and Damgård, *On
    /// generation of probable primes by incremental search*, 1992).
    ///
    /// # Secrets
    /// **No part of this takes constant time.** What is sieved, how many candidates are tested, and
    /// the powers depend on the candidates, and numbers are not overwritten. Make keys where
    /// nobody else runs, and compute with them as [`Residues`](crate::Residues) of an engine
    /// [for secrets](Engine::for_secrets).
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine, RandomPrimes};
    /// # let mut state = 1u8;
    /// # let mut fill = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| {
    /// #     state = state.wrapping_mul(141).wrapping_add(3);
    /// #     *byte = state;
    /// # });
    /// let engine = Engine::auto();
    /// let wanted = RandomPrimes::of_bits(128).with_two_top_bits().one_less_coprime_to(3);
    /// // With the crate rand: |bytes| rand::rng().fill_bytes(bytes).
    /// for p in engine.random_primes(&wanted, 5, &mut fill)?.to_biguints()? {
    ///     assert!(p.bits() == 128 && p.bit(126) && p % 3u32 == BigUint::from(2u32));
    /// }
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchPrime`] where there is none, or none was found; otherwise as
    /// [`Engine::is_prime`].
    pub fn random_primes(
        &self,
        wanted: &RandomPrimes,
        count: usize,
        mut fill: impl FnMut(&mut [u8]),
    ) -> Result<Batch, Error> {
        let (first, step, terms) = wanted.progression().ok_or(Error::NoSuchPrime)?;
        let number = |place: &BigUint| &first + &step * place;
        let primes = if terms <= FEW.into() {
            let all = (0..u64::try_from(&terms).unwrap_or(FEW)).map(|i| number(&i.into()));
            let all = self.those_wanted(wanted, all.collect())?;
            if all.is_empty() && count > 0 {
                return Err(Error::NoSuchPrime);
            }
            let of_all = all.len().into();
            let mut draw = || u64::try_from(below(&of_all, &mut fill)).unwrap_or(0);
            (0..count).map(|_| all[draw() as usize].clone()).collect()
        } else if wanted.to.bits() <= 64 {
            self.draw_words(wanted, count, || number(&below(&terms, &mut fill)))?
        } else {
            self.draw_long(wanted, &step, count, || number(&below(&terms, &mut fill)))?
        };
        let width = wanted.to.bits().div_ceil(u64::from(Limb::BITS)).max(1) as usize;
        self.batch_from_biguints_in(&primes, width, Layout::Contiguous)
    }

    /// The numbers among these that are primes as wanted.
    fn those_wanted(
        &self,
        wanted: &RandomPrimes,
        mut of: Vec<BigUint>,
    ) -> Result<Vec<BigUint>, Error> {
        of.retain(|n| *n > BigUint::ZERO && search::is_coprime(n, wanted.coprime));
        let batch = self.batch_from_biguints(&of)?;
        let mut told = self
            .pass_all(&batch, wanted.safe, Engine::are_primes)?
            .into_iter();
        of.retain(|_| told.next() == Some(true));
        Ok(of)
    }

    /// Numbers are drawn until there are primes enough.
    fn draw_words(
        &self,
        wanted: &RandomPrimes,
        count: usize,
        mut draw: impl FnMut() -> BigUint,
    ) -> Result<Vec<BigUint>, Error> {
        let mut primes = Vec::with_capacity(count);
        let mut draws_left = DRAWS;
        while primes.len() < count {
            // One odd number in 22 is a prime, at least.
            let missing = (32 * (count - primes.len())).clamp(64, 1 << 16);
            draws_left = draws_left.checked_sub(missing).ok_or(Error::NoSuchPrime)?;
            let drawn = (0..missing).map(|_| draw()).collect();
            let found = self.those_wanted(wanted, drawn)?;
            if !found.is_empty() {
                draws_left = DRAWS;
            }
            let missing = count - primes.len();
            primes.extend(found.into_iter().take(missing));
        }
        Ok(primes)
    }

    /// Starts are drawn, each of which is looked from for the next prime; those that are followed by
    /// none in the range are drawn again.
    fn draw_long(
        &self,
        wanted: &RandomPrimes,
        step: &BigUint,
        count: usize,
        mut draw: impl FnMut() -> BigUint,
    ) -> Result<Vec<BigUint>, Error> {
        let bits = wanted.to.bits();
        // A safe prime is one in 0.18 bits^2 numbers of its progression.
        let length = if wanted.safe {
            bits.saturating_mul(bits)
        } else {
            4 * bits
        };
        let scan = Scan {
            step: step.clone(),
            descends: false,
            safe: wanted.safe,
            coprime: wanted.coprime,
            length: search::length(length),
        };
        let mut primes = Vec::with_capacity(count);
        let mut rounds_left = ROUNDS;
        while primes.len() < count {
            let starts: Vec<BigUint> = (primes.len()..count).map(|_| draw()).collect();
            let before = primes.len();
            let found = self.first_primes(&scan, &starts)?;
            primes.extend(found.into_iter().flatten().filter(|p| *p < wanted.to));
            rounds_left = match primes.len() == before {
                true => rounds_left.checked_sub(1).ok_or(Error::NoSuchPrime)?,
                false => ROUNDS,
            };
        }
        Ok(primes)
    }
}

/// A random number below `bound`, which is not 0: of so many bits, until it is below.
fn below(bound: &BigUint, fill: &mut impl FnMut(&mut [u8])) -> BigUint {
    let bits = (bound - 1u8).bits();
    let mut bytes = vec![0; bits.div_ceil(8) as usize];
    loop {
        fill(&mut bytes);
        if let Some(top) = bytes.last_mut().filter(|_| !bits.is_multiple_of(8)) {
            *top &= (1 << (bits % 8)) - 1;
        }
        let number = BigUint::from_bytes_le(&bytes);
        if number < *bound {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Steele, Lea and Flood's splitmix64.
    fn random(mut state: u64) -> impl FnMut(&mut [u8]) {
        move |bytes| {
            for part in bytes.chunks_mut(8) {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                part.copy_from_slice(&(z ^ z >> 31).to_le_bytes()[..part.len()]);
            }
        }
    }

    fn draw(wanted: &RandomPrimes, count: usize) -> Vec<BigUint> {
        let engine = Engine::cpu();
        let primes = engine.random_primes(wanted, count, random(7)).unwrap();
        let primes_are = engine.is_prime(&primes).unwrap();
        assert!(
            primes_are.into_iter().all(|is_prime| is_prime),
            "{wanted:?}"
        );
        primes.to_biguints().unwrap()
    }

    #[test]
    fn primes_have_what_was_asked_for() {
        let big = |n: u64| BigUint::from(n);
        for bits in [2, 3, 8, 16, 31, 32, 33, 63, 64, 65, 96, 128, 256] {
            let wanted = RandomPrimes::of_bits(bits);
            assert!(draw(&wanted, 9).iter().all(|p| p.bits() == bits), "{bits}");
            let wanted = wanted.with_two_top_bits();
            assert!(
                draw(&wanted, 9)
                    .iter()
                    .all(|p| p.bits() == bits && p.bit(bits - 2)),
                "{bits}"
            );
        }
        for bits in [16, 40, 80, 160] {
            let wanted = RandomPrimes::of_bits(bits);
            let of_three = draw(&wanted.clone().one_less_coprime_to(3 * 5 * 65_537), 12);
            for p in of_three {
                assert!(
                    [3u32, 5, 65_537].into_iter().all(|e| &p % e != big(1)),
                    "{p}"
                );
            }
            for (residue, modulus) in [(7, 8), (5, 27), (4, 9), (0x1235, 1 << 13)] {
                let wanted = wanted.clone().congruent(&big(residue), &big(modulus));
                assert!(draw(&wanted, 5).iter().all(|p| p % modulus == big(residue)));
            }
            let safe = draw(&wanted.clone().safe().congruent(&big(2), &big(3)), 3);
            let engine = Engine::cpu();
            let batch = engine.batch_from_biguints(&safe).unwrap();
            assert_eq!(engine.is_safe_prime(&batch).unwrap(), [true; 3], "{bits}");
        }
        // A residue longer than a word, and a range with few numbers of its class.
        let modulus: BigUint = BigUint::from(1u8) << 190u32;
        let residue: BigUint = (&modulus / 3u8) | big(1);
        let wanted = RandomPrimes::of_bits(200).congruent(&residue, &modulus);
        assert!(draw(&wanted, 20).iter().all(|p| p % &modulus == residue));
    }

    /// Every prime of a short range is drawn, each about as often.
    #[test]
    fn primes_of_few_are_drawn_alike() {
        let mut seen: HashMap<BigUint, usize> = HashMap::new();
        let wanted = RandomPrimes::between(&90u8.into(), &150u8.into());
        for p in draw(&wanted, 1200) {
            *seen.entry(p).or_default() += 1;
        }
        assert_eq!(seen.len(), 11);
        assert!(
            seen.values().all(|&times| (70..150).contains(&times)),
            "{seen:?}"
        );
    }

    #[test]
    fn what_no_prime_is_like_is_refused() {
        let big = |n: u64| BigUint::from(n);
        let of_bits = RandomPrimes::of_bits;
        let long = (
            BigUint::from(1u8) << 300u32,
            (BigUint::from(1u8) << 300u32) + 100u8,
        );
        let refused = [
            RandomPrimes::between(&big(24), &big(29)),
            RandomPrimes::between(&big(29), &big(29)),
            RandomPrimes::between(&big(30), &big(29)),
            RandomPrimes::between(&long.0, &long.1),
            of_bits(0),
            of_bits(1),
            of_bits(100).congruent(&big(3), &big(9)),
            of_bits(100).congruent(&big(4), &big(8)),
            of_bits(100).congruent(&big(1), &BigUint::ZERO),
            of_bits(100).one_less_coprime_to(4),
            of_bits(100).one_less_coprime_to(0),
            of_bits(100)
                .congruent(&big(1), &big(3))
                .one_less_coprime_to(3),
            of_bits(40).congruent(&big(1), &big(3)).safe(),
        ];
        for wanted in refused {
            let found = Engine::cpu().random_primes(&wanted, 2, random(1));
            assert!(matches!(found, Err(Error::NoSuchPrime)), "{wanted:?}");
        }
    }
}
