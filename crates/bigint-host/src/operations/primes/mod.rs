//! Which numbers of a batch are primes, and the primes beside them, by the test of Baillie,
//! Pomerance, Selfridge and Wagstaff [Baillie and Wagstaff 1980]: trial division, a strong
//! test to base 2, and a strong Lucas test of what passes it, each of all numbers at once. No
//! composite number is known that passes all, and none is below 2^64, where other bases decide.
//!
//! [`word`] is of 64 bits; [`strong`] and [`lucas`] have the tests of longer numbers; [`sieve`] says
//! which numbers of a progression are worth one, and [`search`] tests them until a prime is found.
//! [`random`] looks for primes with given properties, [`count`] counts those of a range.
//!
//! The time of everything here depends on the numbers.

mod count;
mod lucas;
pub(crate) mod random;
mod search;
mod sieve;
mod strong;
mod word;

use crate::operations::column::Column;
use crate::operations::primes::search::Scan;
use crate::{Batch, BigUint, Engine, Error, Limb, Shape, SignedBatch};
use bigint_cpu::{map, threads};

/// Rows that a thread takes at a time.
const ROWS: usize = 64;

/// Parts of a test for each thread, of whole lanes of numbers.
const PARTS_OF_THREAD: usize = 4;
const LANES: usize = 8;

impl Engine {
    /// Whether each number is a prime: one that is a composite in truth and passes is not
    /// known (Baillie-PSW). The time depends on the numbers.
    ///
    /// Cost: a power modulo each number that has no small factor, and for those that are
    /// primes some five squares modulo the number for each of its bits, on the CPU.
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::auto();
    /// let numbers = [2u32, 561, 3_215_031_751, 4_294_967_291].map(Into::into);
    /// let numbers = engine.batch_from_biguints(&numbers)?;
    /// assert_eq!(engine.is_prime(&numbers)?, [true, false, false, true]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::pow_mod`].
    pub fn is_prime<C: Column>(&self, numbers: &C) -> Result<Vec<bool>, Error> {
        C::is_prime(self, numbers)
    }

    /// The least prime above each number, a limb wider than they are. As in
    /// [`Engine::is_prime`], no composite is known that passes for one.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let engine = Engine::auto();
    /// let numbers = engine.batch_from_biguints(&[0u32.into(), 13u32.into()])?;
    /// assert_eq!(engine.next_prime(&numbers)?.to_biguints()?, [2u32, 17].map(BigUint::from));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::is_prime`].
    pub fn next_prime<C: Column>(&self, numbers: &C) -> Result<C, Error> {
        C::next_prime(self, numbers)
    }

    /// The greatest prime below each number, as wide as they are. As in [`Engine::is_prime`], no
    /// composite is known that passes for one.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let engine = Engine::auto();
    /// let numbers = engine.batch_from_biguints(&[3u32.into(), 100u32.into()])?;
    /// assert_eq!(engine.prev_prime(&numbers)?.to_biguints()?, [2u32, 97].map(BigUint::from));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoPrimeBelow`] names the first number that is 2 or less; otherwise as
    /// [`Engine::is_prime`].
    pub fn prev_prime<C: Column>(&self, numbers: &C) -> Result<C, Error> {
        C::prev_prime(self, numbers)
    }

    /// Whether each number `p` is a prime, and `(p - 1) / 2` too.
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::auto();
    /// let numbers = engine.batch([5u32, 7, 11, 13, 15, 23])?;
    /// assert_eq!(engine.is_safe_prime(&numbers)?, [true, true, true, false, false, true]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::is_prime`].
    pub fn is_safe_prime<C: Column>(&self, numbers: &C) -> Result<Vec<bool>, Error> {
        C::is_safe_prime(self, numbers)
    }

    /// [`Engine::is_prime`] of a batch.
    pub(crate) fn are_primes(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        let width = numbers.width();
        let rows = numbers.rows()?;
        let are_words = rows.chunks(width).all(|row| word(row).is_some());
        let divisors = (!are_words).then(|| search::divisors(width, numbers.len()));
        let has_divisor = |row: &[Limb]| divisors.as_ref().is_some_and(|all| all.divide(row));
        let told = of_rows(&rows, width, |row| match word(row) {
            Some(n) => Some(word::is_prime(n)),
            None => (row[0].is_multiple_of(2) || has_divisor(row)).then_some(false),
        });
        let open: Vec<usize> = (0..told.len()).filter(|&i| told[i].is_none()).collect();
        let mut primes: Vec<bool> = told.into_iter().map(|told| told == Some(true)).collect();
        if !open.is_empty() {
            let passes = self.pass_both(&self.plain().gather(numbers, &open)?)?;
            for (i, passes) in open.into_iter().zip(passes) {
                primes[i] = passes;
            }
        }
        Ok(primes)
    }

    /// [`Engine::is_safe_prime`] of a batch.
    pub(crate) fn are_safe_primes(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        self.pass_all(numbers, true, Engine::are_primes)
    }

    /// [`Engine::next_prime`] of a batch.
    pub(crate) fn next_prime_of_batch(&self, numbers: &Batch) -> Result<Batch, Error> {
        let Shape { width, layout, .. } = numbers.shape();
        self.batch_from_biguints_in(&self.neighbours(numbers, false)?, width + 1, layout)
    }

    /// [`Engine::prev_prime`] of a batch.
    pub(crate) fn prev_prime_of_batch(&self, numbers: &Batch) -> Result<Batch, Error> {
        let Shape { width, layout, .. } = numbers.shape();
        self.batch_from_biguints_in(&self.neighbours(numbers, true)?, width, layout)
    }

    /// The prime next to each number, above or below it.
    fn neighbours(&self, numbers: &Batch, below: bool) -> Result<Vec<BigUint>, Error> {
        let (width, rows) = (numbers.width(), numbers.rows()?);
        let of_words = of_rows(&rows, width, |row| {
            word(row).map(|n| match below {
                true => word::previous(n),
                false => word::next(n),
            })
        });
        let mut primes = vec![BigUint::ZERO; numbers.len()];
        let mut open = Vec::new();
        for (index, (row, of_word)) in rows.chunks(width).zip(of_words).enumerate() {
            match of_word {
                Some(Some(prime)) => primes[index] = prime.into(),
                Some(None) if below => return Err(Error::NoPrimeBelow { index }),
                // Of more than 64 bits, or the least prime above 2^64. The next odd number:
                _ => {
                    let number = BigUint::from_slice(row);
                    let by = 1 + u8::from(number.bit(0));
                    open.push((index, if below { number - by } else { number + by }));
                }
            }
        }
        let bits = open.iter().map(|(_, number)| number.bits()).max();
        let scan = Scan::of_odd(bits.unwrap_or(0), below);
        while !open.is_empty() {
            let (indices, starts): (Vec<usize>, Vec<BigUint>) = open.drain(..).unzip();
            let found = self.first_primes(&scan, &starts)?;
            for ((index, start), prime) in indices.into_iter().zip(&starts).zip(found) {
                match prime {
                    Some(prime) => primes[index] = prime,
                    None => open.push((index, scan.number(start, scan.length as u32))),
                }
            }
        }
        Ok(primes)
    }

    /// Whether each number passes strong tests to all of these bases (Miller-Rabin): a prime
    /// does, of the others at most one in four to a base taken at random. A base that is a
    /// multiple of the number tells nothing.
    ///
    /// Cost: a power modulo each odd number for each base that those before it leave.
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::auto();
    /// let numbers = [2047u32, 3_215_031_751, 4_294_967_291].map(Into::into);
    /// let numbers = engine.batch_from_biguints(&numbers)?;
    /// let passes = |bases: &[u32]| {
    ///     let bases: Vec<_> = bases.iter().map(|&base| base.into()).collect();
    ///     engine.is_strong_probable_prime(&numbers, &bases)
    /// };
    /// assert_eq!(passes(&[2])?, [true, true, true]);
    /// assert_eq!(passes(&[2, 3, 5, 7])?, [false, true, true]);
    /// assert_eq!(passes(&[2, 3, 5, 7, 11])?, [false, false, true]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::pow_mod`].
    pub fn is_strong_probable_prime<C: Column>(
        &self,
        numbers: &C,
        bases: &[BigUint],
    ) -> Result<Vec<bool>, Error> {
        C::is_strong_probable_prime(self, numbers, bases)
    }

    /// [`Engine::is_strong_probable_prime`] of a batch.
    pub(crate) fn are_strong_probable_primes(
        &self,
        numbers: &Batch,
        bases: &[BigUint],
    ) -> Result<Vec<bool>, Error> {
        let numbers = numbers.to_biguints()?;
        let two = BigUint::from(2u8);
        let may_be = |n: &BigUint| *n == two || *n > two && n.bit(0);
        let mut verdicts: Vec<_> = numbers.iter().map(may_be).collect();
        for base in bases {
            let is_told = |&i: &usize| verdicts[i] && numbers[i] != two;
            let says = |&i: &usize| base % &numbers[i] != BigUint::ZERO;
            let open: Vec<usize> = (0..numbers.len()).filter(is_told).filter(says).collect();
            let left: Vec<_> = open.iter().map(|&i| numbers[i].clone()).collect();
            for (&i, passes) in open.iter().zip(self.pass_base(base, &left)?) {
                verdicts[i] = passes;
            }
        }
        Ok(verdicts)
    }

    /// Whether each number is `b^k` for some `k` of at least 2, as 0 and 1 are.
    ///
    /// Cost: for each prime `k` below a number's length in bits a few remainders by small
    /// primes, and a root of those numbers that these let pass.
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::auto();
    /// let numbers = [1u32, 2, 27, 72, 1 << 20].map(Into::into);
    /// let numbers = engine.batch_from_biguints(&numbers)?;
    /// assert_eq!(engine.is_perfect_power(&numbers)?, [true, false, true, false, true]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::iroot`].
    pub fn is_perfect_power<C: Column>(&self, numbers: &C) -> Result<Vec<bool>, Error> {
        C::is_perfect_power(self, numbers)
    }

    /// [`Engine::is_perfect_power`] of a batch.
    pub(crate) fn are_perfect_powers(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        let numbers = numbers.to_biguints()?;
        let mut verdicts: Vec<_> = numbers.iter().map(|n| n.bits() < 2).collect();
        let longest = numbers.iter().map(BigUint::bits).max().unwrap_or(0);
        for k in (2..longest).filter(|&k| word::is_prime(k)) {
            let may_be =
                |&i: &usize| !verdicts[i] && numbers[i].bits() > k && may_be_power(&numbers[i], k);
            let open: Vec<usize> = (0..numbers.len()).filter(may_be).collect();
            if open.is_empty() {
                continue;
            }
            let left: Vec<_> = open.iter().map(|&i| numbers[i].clone()).collect();
            let degree = self.batch_from_biguints(&[k.into()])?;
            let (_, rest) = self.iroot(&self.batch_from_biguints(&left)?, &degree)?;
            for (&i, rest) in open.iter().zip(rest.iter()?) {
                verdicts[i] = rest == BigUint::ZERO;
            }
        }
        Ok(verdicts)
    }

    /// 1 where a number is a prime, else 0.
    pub(crate) fn signed_is_prime(&self, a: &SignedBatch) -> Result<SignedBatch, Error> {
        let verdicts = self.is_prime(&self.or_zero(a)?)?;
        Ok(SignedBatch::natural(self.mask(&verdicts)?))
    }

    /// The least prime above each number.
    pub(crate) fn signed_next_prime(&self, a: &SignedBatch) -> Result<SignedBatch, Error> {
        Ok(SignedBatch::natural(self.next_prime(&self.or_zero(a)?)?))
    }

    /// The greatest prime below each number.
    pub(crate) fn signed_prev_prime(&self, a: &SignedBatch) -> Result<SignedBatch, Error> {
        Ok(SignedBatch::natural(self.prev_prime(&self.or_zero(a)?)?))
    }

    /// The numbers, and zeros for those that are negative.
    pub(crate) fn or_zero(&self, a: &SignedBatch) -> Result<Batch, Error> {
        match a.signs() {
            Some(signs) => self.select(&self.mask(&[false])?, a.magnitude(), signs),
            None => Ok(a.magnitude().clone()),
        }
    }

    /// The engine without what is named of the powers alone.
    fn plain(&self) -> Engine {
        self.using(crate::Options::default())
    }
}

/// The results of `tell` for each row, computed on all cores.
fn of_rows<T: Send>(rows: &[Limb], width: usize, tell: impl Fn(&[Limb]) -> T + Sync) -> Vec<T> {
    let parts = map(rows.chunks(ROWS * width), threads(), |part| {
        part.chunks(width).map(&tell).collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}

/// What the test `tell` says of each number, computed on all cores: a few numbers take all steps together on one.
fn in_parts(
    numbers: &Batch,
    tell: impl Fn(&[Vec<Limb>]) -> Result<Vec<bool>, Error> + Sync,
) -> Result<Vec<bool>, Error> {
    let rows = numbers.rows()?;
    let rows: Vec<Vec<Limb>> = rows.chunks(numbers.width()).map(<[Limb]>::to_vec).collect();
    let part = rows.len().div_ceil(PARTS_OF_THREAD * threads());
    let part = part.next_multiple_of(LANES).min(ROWS);
    let told = map(rows.chunks(part), threads(), tell);
    Ok(told.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

/// A number of at most 64 bits.
fn word(row: &[Limb]) -> Option<u64> {
    let (lowest, others) = row.split_at(row.len().min(2));
    let is_short = others.iter().all(|&limb| limb == 0);
    let limbs = lowest.iter().rev().map(|&limb| u64::from(limb));
    is_short.then(|| limbs.fold(0, |n, limb| n << Limb::BITS | limb))
}

/// Whether a number can be a `k`-th power, `k` a prime, by what is left of it modulo the first
/// primes `p` that are 1 modulo `k`: 0, or a `k`-th power there, whose own power `(p - 1) / k` is
/// 1.
fn may_be_power(n: &BigUint, k: u64) -> bool {
    let moduli = (k + 1..).step_by(k as usize).filter(|&p| word::is_prime(p));
    moduli.take(4).all(|p| {
        let rest = n % p;
        rest == BigUint::ZERO || rest.modpow(&((p - 1) / k).into(), &p.into()) == 1u8.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big(x: u128) -> BigUint {
        BigUint::from(x)
    }

    fn word(n: &BigUint) -> u64 {
        n.try_into().unwrap()
    }

    fn is_small_prime(n: u64) -> bool {
        n > 1
            && (2..)
                .take_while(|p| p * p <= n)
                .all(|p| !n.is_multiple_of(p))
    }

    fn verdicts(numbers: &[BigUint]) -> Vec<bool> {
        let engine = Engine::cpu();
        engine
            .is_prime(&engine.batch_from_biguints(numbers).unwrap())
            .unwrap()
    }

    #[test]
    fn primes_are_those_that_no_number_divides() {
        let numbers = || (0..20_000).chain(399_990_000..400_010_000u64);
        let found = verdicts(&numbers().map(BigUint::from).collect::<Vec<_>>());
        for (n, found) in numbers().zip(found) {
            assert_eq!(found, is_small_prime(n), "{n}");
        }
    }

    /// The least composites that pass to the first bases (Jaeschke; OEIS A014233), and primes.
    #[test]
    fn strong_pseudoprimes_pass_to_the_bases_that_they_are_known_for() {
        let engine = Engine::cpu();
        let least = [
            2047u64,
            1_373_653,
            25_326_001,
            3_215_031_751,
            2_152_302_898_747,
            3_474_749_660_383,
            341_550_071_728_321,
        ];
        let bases: Vec<_> = [2u32, 3, 5, 7, 11, 13, 17].map(BigUint::from).into();
        for (i, &n) in least.iter().enumerate() {
            let numbers = engine.batch_from_biguints(&[n.into()]).unwrap();
            for count in 1..=bases.len() {
                let passes = engine.is_strong_probable_prime(&numbers, &bases[..count]);
                assert_eq!(passes.unwrap(), [count <= i + 1], "{n} to {count} bases");
            }
        }
        // All that are small, those among the bases too.
        let small: Vec<_> = (0..3000u64).map(BigUint::from).collect();
        let numbers = engine.batch_from_biguints(&small).unwrap();
        let passes = engine.is_strong_probable_prime(&numbers, &bases).unwrap();
        for (n, passes) in passes.into_iter().enumerate() {
            assert_eq!(passes, is_small_prime(n as u64), "{n}");
        }
    }

    #[test]
    fn perfect_powers_are_those_that_are_made_of_their_roots() {
        let engine = Engine::cpu();
        let mut powers = std::collections::HashSet::from([0u64, 1]);
        for b in 2..100u64 {
            powers.extend(
                (2..14)
                    .filter_map(|k| b.checked_pow(k))
                    .filter(|&n| n < 10_000),
            );
        }
        let verdicts = |numbers: &[BigUint]| {
            let numbers = engine.batch_from_biguints(numbers).unwrap();
            engine.is_perfect_power(&numbers).unwrap()
        };
        let found = verdicts(&(0..10_000u64).map(BigUint::from).collect::<Vec<_>>());
        for (n, found) in found.into_iter().enumerate() {
            assert_eq!(found, powers.contains(&(n as u64)), "{n}");
        }
        // Long ones, and their neighbours, none of which are (Mihailescu).
        for (b, k) in [
            (3u64, 401),
            (1 << 61, 31),
            (10_007, 64),
            (u64::MAX, 2),
            (2, 1009),
        ] {
            let power = BigUint::from(b).pow(k);
            let near = [&power - 1u8, power.clone(), &power + 1u8];
            assert_eq!(verdicts(&near), [false, true, false], "{b}^{k}");
        }
    }

    /// Composites that pass one of the two tests: strong pseudoprimes to base 2, the squares of
    /// Wieferich's primes among them, strong Lucas pseudoprimes, and Carmichael numbers, some
    /// strong to the first bases (Jaeschke; OEIS A001262, A217255).
    #[test]
    fn pseudoprimes_of_each_test_are_caught_by_the_other() {
        let of_base_two = [
            2047,
            3277,
            4033,
            4681,
            8321,
            1_194_649,
            12_327_121,
            3_215_031_751,
            3_474_749_660_383,
            341_550_071_728_321,
            3_825_123_056_546_413_051,
            318_665_857_834_031_151_167_461,
        ];
        let of_lucas = [
            5459, 5777, 10_877, 16_109, 18_971, 22_499, 24_569, 25_199, 40_309, 58_519,
        ];
        let engine = Engine::cpu();
        let batch = |numbers: &[u128]| {
            let numbers: Vec<_> = numbers.iter().copied().map(big).collect();
            engine.batch_from_biguints(&numbers).unwrap()
        };
        let strong = engine.pass_two(&batch(&of_base_two)).unwrap();
        assert!(strong.iter().all(|&passes| passes));
        let lucas = engine.pass_lucas(&batch(&of_lucas)).unwrap();
        assert!(lucas.iter().all(|&passes| passes));
        let both = [&of_base_two[..], &of_lucas].concat();
        let passes = engine.pass_both(&batch(&both)).unwrap();
        assert!(passes.iter().all(|&passes| !passes));
        let carmichael = [561, 1105, 1729, 41_041, 825_265, 321_197_185];
        for numbers in [&both[..], &carmichael] {
            let numbers: Vec<_> = numbers.iter().copied().map(big).collect();
            assert!(
                verdicts(&numbers).iter().all(|is_prime| !is_prime),
                "{numbers:?}"
            );
        }
    }

    /// One that is strong to the primes up to 31, and a Carmichael number of 397 digits that is to
    /// those below 307 (Arnault, *Constructing Carmichael numbers which
    /// are strong pseudoprimes to several bases*, 1995).
    #[test]
    fn composites_made_to_pass_strong_tests_do_not_pass_that_of_lucas() {
        let engine = Engine::cpu();
        let number = |text: &str| text.parse::<BigUint>().unwrap();
        let of_46_digits = number("1195068768795265792518361315725116351898245581");
        let p = number(
            "296744956686855105501541746429053327307719917998530433509950755312768387531717701995942\
             38596428121188033664754218345562493168782883",
        );
        let carmichael = &p * ((&p - 1u8) * 313u32 + 1u8) * ((&p - 1u8) * 353u32 + 1u8);
        assert_eq!(carmichael.to_string().len(), 397);
        let bases: Vec<_> = (2..31u64)
            .filter(|&p| word::is_prime(p))
            .map(BigUint::from)
            .collect();
        let numbers = [of_46_digits, carmichael, p];
        let batch = engine.batch_from_biguints(&numbers).unwrap();
        assert_eq!(
            engine.is_strong_probable_prime(&batch, &bases).unwrap(),
            [true; 3]
        );
        assert_eq!(engine.pass_two(&batch).unwrap(), [true; 3]);
        assert_eq!(engine.pass_lucas(&batch).unwrap(), [false, false, true]);
        assert_eq!(verdicts(&numbers), [false, false, true]);
    }

    /// All odd numbers of a stretch are tested, by their residues modulo 8.
    #[test]
    fn one_power_to_base_two_tells_what_the_definition_does() {
        let engine = Engine::cpu();
        let odd: Vec<_> = (3..20_001u64).step_by(2).map(BigUint::from).collect();
        let batch = engine.batch_from_biguints(&odd).unwrap();
        let by_definition = engine.pass_base(&2u8.into(), &odd).unwrap();
        assert_eq!(engine.pass_two(&batch).unwrap(), by_definition);
        let liars = odd.iter().zip(by_definition);
        let liars = liars.filter(|(n, passes)| *passes && !is_small_prime(word(n)));
        let liars: Vec<u64> = liars.map(|(n, _)| word(n)).collect();
        assert_eq!(liars, [2047, 3277, 4033, 4681, 8321, 15_841]);
    }

    #[test]
    fn mersenne_numbers_are_primes_where_they_are_known_to_be() {
        let one = big(1);
        let exponents = [61u32, 67, 89, 101, 107, 127, 257, 521, 523, 607];
        let numbers = exponents.map(|p| (&one << p) - &one);
        let primes = exponents.map(|p| [61, 89, 107, 127, 521, 607].contains(&p));
        assert_eq!(verdicts(&numbers), primes);
        // Products of two primes, and squares of one.
        let pairs = [(0, 2), (2, 4), (5, 5), (7, 7)].map(|(i, j)| &numbers[i] * &numbers[j]);
        assert_eq!(verdicts(&pairs), [false; 4]);
    }

    /// Powers of two and the gaps above them (OEIS A013597), and the longest gaps below 2^64.
    #[test]
    fn primes_beside_numbers_are_those_of_the_tables() {
        let engine = Engine::cpu();
        let one = big(1);
        let powers: [(u32, u32); 7] = [
            (32, 15),
            (64, 13),
            (65, 131),
            (128, 51),
            (160, 7),
            (192, 133),
            (256, 297),
        ];
        let mut numbers = vec![big(0), big(1), big(2), big(3), big(89), big(65_537)];
        let mut expected = vec![big(2), big(2), big(3), big(5), big(97), big(65_539)];
        for (p, gap) in [
            (18_361_375_334_787_046_697, 1550),
            (1_693_182_318_746_371, 1132),
        ] {
            numbers.push(big(p));
            expected.push(big(p + gap));
        }
        for (exponent, gap) in powers {
            let power: BigUint = &one << exponent;
            for below in 0..3u8 {
                numbers.push(&power - below);
                expected.push(&power + gap);
            }
        }
        // 2^127 - 1 is a prime itself.
        numbers.extend([(&one << 127u32) - 2u8, (&one << 127u32) - 1u8]);
        expected.extend([(&one << 127u32) - 1u8, (&one << 127u32) + 29u8]);
        let batch = engine.batch_from_biguints(&numbers).unwrap();
        let next = engine.next_prime(&batch).unwrap();
        assert_eq!(next.width(), batch.width() + 1);
        assert_eq!(next.to_biguints().unwrap(), expected);
        // What is below these is not above the numbers, and has none between.
        let below = engine
            .prev_prime(&engine.slice(&next, 2..numbers.len()).unwrap())
            .unwrap()
            .to_biguints()
            .unwrap();
        let again = engine.batch_from_biguints(&below).unwrap();
        assert!(
            engine
                .is_prime(&again)
                .unwrap()
                .into_iter()
                .all(|is_prime| is_prime)
        );
        let above = engine.next_prime(&again).unwrap().to_biguints().unwrap();
        assert!(
            below
                .iter()
                .zip(&numbers[2..])
                .all(|(below, number)| below <= number)
        );
        assert_eq!(above, expected[2..]);
        // As wide as the number where the greatest prime is one of 2^k - 1.
        let ones = engine
            .batch_from_biguints(&[&one << 127u32, &one << 128u32])
            .unwrap();
        let below = engine.prev_prime(&ones).unwrap().to_biguints().unwrap();
        assert_eq!(below, [(&one << 127u32) - 1u8, (&one << 128u32) - 159u8]);
        let none = engine.batch_from_biguints(&[big(9), big(2)]).unwrap();
        let refused = engine.prev_prime(&none).unwrap_err();
        assert!(
            matches!(refused, Error::NoPrimeBelow { index: 1 }),
            "{refused}"
        );
    }

    /// Every number between 2^66 and the third prime above it, of both directions.
    #[test]
    fn primes_beside_every_number_of_a_stretch_have_no_prime_between() {
        let engine = Engine::cpu();
        let start = 1_u128 << 66;
        let numbers: Vec<_> = (start..start + 300).map(big).collect();
        let primes = verdicts(&numbers);
        let batch = engine.batch_from_biguints(&numbers).unwrap();
        let next = engine.next_prime(&batch).unwrap().to_biguints().unwrap();
        let previous = engine.prev_prime(&batch).unwrap().to_biguints().unwrap();
        for (i, pair) in numbers.windows(2).enumerate() {
            let expected = if primes[i + 1] {
                &pair[1]
            } else {
                &next[i + 1]
            };
            assert_eq!(&next[i], expected, "{}", pair[0]);
            let expected = if primes[i] { &pair[0] } else { &previous[i] };
            assert_eq!(&previous[i + 1], expected, "{}", pair[1]);
        }
        assert!(primes.iter().any(|&is_prime| is_prime));
    }

    #[test]
    fn safe_primes_are_those_of_the_table() {
        // OEIS A005385.
        let safe = [
            5u64, 7, 11, 23, 47, 59, 83, 107, 167, 179, 227, 263, 347, 359, 383, 467, 479,
        ];
        let engine = Engine::cpu();
        let numbers = engine.batch(0..500u64).unwrap();
        let found = engine.is_safe_prime(&numbers).unwrap();
        let found = (0..500).filter(|&n| found[n as usize]);
        assert!(found.eq(safe));
        // That of Oakley's first group (RFC 2409), and its half, which is none.
        let text = "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74\
                    020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437\
                    4fe1356d6d51c245e485b576625e7ec6f44c42e9a63a3620ffffffffffffffff";
        let p = BigUint::parse_bytes(text.as_bytes(), 16).unwrap();
        let numbers = [p.clone(), &p >> 1, &p - 2u8];
        let numbers = engine.batch_from_biguints(&numbers).unwrap();
        assert_eq!(
            engine.is_safe_prime(&numbers).unwrap(),
            [true, false, false]
        );
    }
}
