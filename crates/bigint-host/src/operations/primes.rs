//! Which numbers of a batch are primes, and the primes that follow them, by the test of Baillie,
//! Pomerance, Selfridge and Wagstaff (*Lucas pseudoprimes*, 1980): trial division, a strong
//! test to base 2, which is one batch of powers, and a strong Lucas test of what passes it, a
//! number at a time on the CPU. No composite number is known that passes all, and none is
//! below 2^64.

use crate::operations::column::Column;
use crate::{Algorithm, Batch, BigUint, Engine, Error, Options, SignedBatch};

/// Primes that are divided by first.
const SMALL: [u32; 53] = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
    101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193,
    197, 199, 211, 223, 227, 229, 233, 239, 241, 251,
];

/// Candidates that are tested together, at least, where the next primes are looked for.
const TOGETHER: usize = 64;

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
    /// As [`Engine::pow_mod`].
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
    /// As [`Engine::is_prime`].
    pub fn next_prime<C: Column>(&self, numbers: &C) -> Result<C, Error> {
        C::next_prime(self, numbers)
    }

    /// [`Engine::next_prime`] of a batch.
    pub(crate) fn next_prime_of_batch(&self, numbers: &Batch) -> Result<Batch, Error> {
        let shape = numbers.shape();
        let mut next = numbers.to_biguints()?;
        for number in &mut next {
            *number += 1u8;
        }
        let mut open: Vec<usize> = (0..next.len()).collect();
        while !open.is_empty() {
            // The same number of candidates for each, of which the first prime counts.
            let each = TOGETHER.div_ceil(open.len());
            let mut candidates = Vec::new();
            for &i in &open {
                let mut candidate = next[i].clone();
                for _ in 0..each {
                    while by_trial(&candidate) == Some(false) {
                        candidate += 1u8;
                    }
                    candidates.push(candidate.clone());
                    candidate += 1u8;
                }
                next[i] = candidate;
            }
            let primes = self.are_primes(&candidates)?;
            let of_each = candidates.chunks(each).zip(primes.chunks(each));
            let found = of_each.map(|(candidates, primes)| {
                let first = primes.iter().position(|&is_prime| is_prime);
                first.map(|first| candidates[first].clone())
            });
            let found: Vec<_> = found.collect();
            let mut found = found.into_iter();
            open.retain(|&i| match found.next().flatten() {
                Some(prime) => {
                    next[i] = prime;
                    false
                }
                None => true,
            });
        }
        self.batch_from_biguints_in(&next, shape.width + 1, shape.layout)
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
    /// As [`Engine::pow_mod`].
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
    /// As [`Engine::iroot`].
    pub fn is_perfect_power<C: Column>(&self, numbers: &C) -> Result<Vec<bool>, Error> {
        C::is_perfect_power(self, numbers)
    }

    /// [`Engine::is_perfect_power`] of a batch.
    pub(crate) fn are_perfect_powers(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        let numbers = numbers.to_biguints()?;
        let mut verdicts: Vec<_> = numbers.iter().map(|n| n.bits() < 2).collect();
        let longest = numbers.iter().map(BigUint::bits).max().unwrap_or(0);
        for k in (2..longest).filter(|&k| is_small_prime(k)) {
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

    /// The numbers, and zeros for those that are negative.
    pub(crate) fn or_zero(&self, a: &SignedBatch) -> Result<Batch, Error> {
        match a.signs() {
            Some(signs) => self.select(&self.mask(&[false])?, a.magnitude(), signs),
            None => Ok(a.magnitude().clone()),
        }
    }

    pub(crate) fn are_primes(&self, numbers: &[BigUint]) -> Result<Vec<bool>, Error> {
        let mut verdicts: Vec<_> = numbers.iter().map(by_trial).collect();
        let open: Vec<usize> = (0..numbers.len())
            .filter(|&i| verdicts[i].is_none())
            .collect();
        let left: Vec<_> = open.iter().map(|&i| numbers[i].clone()).collect();
        for (&i, passes) in open.iter().zip(self.pass_base(&2u8.into(), &left)?) {
            verdicts[i] = Some(passes && is_strong_lucas(&numbers[i]));
        }
        Ok(verdicts
            .into_iter()
            .map(|verdict| verdict == Some(true))
            .collect())
    }

    /// Which of these odd numbers pass a strong test to a base `b`: with `n - 1 = 2^s d`, `d`
    /// odd, `b^d` is 1, or one of its first `s` squares, itself among them, is -1.
    fn pass_base(&self, base: &BigUint, numbers: &[BigUint]) -> Result<Vec<bool>, Error> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let one = BigUint::from(1u8);
        let zeros = |n: &BigUint| (n - &one).trailing_zeros().unwrap_or(0);
        let exponents: Vec<_> = numbers.iter().map(|n| (n - &one) >> zeros(n)).collect();
        // Everybody may know what is tested.
        let engine = self.using(Options {
            algorithm: Algorithm::WindowVartime,
            ..self.options
        });
        let base = engine.batch_from_biguints(std::slice::from_ref(base))?;
        let exponents = engine.batch_from_biguints(&exponents)?;
        let moduli = engine.batch_from_biguints(numbers)?;
        let powers = engine.pow_mod(&base, &exponents, &moduli)?.to_biguints()?;
        let passes = |(n, power): (&BigUint, &BigUint)| {
            let mut power = power.clone();
            power == one
                || (0..zeros(n)).any(|_| {
                    let is_minus_one = &power + &one == *n;
                    power = &power * &power % n;
                    is_minus_one
                })
        };
        Ok(numbers.iter().zip(&powers).map(passes).collect())
    }
}

/// Whether a number that fits a word is a prime.
fn is_small_prime(n: u64) -> bool {
    n > 1
        && (2..)
            .take_while(|p| p * p <= n)
            .all(|p| !n.is_multiple_of(p))
}

/// Whether a number can be a `k`-th power, `k` a prime, by what is left of it modulo the first
/// primes `p` that are 1 modulo `k`: 0, or a `k`-th power there, whose own power `(p - 1) / k` is
/// 1.
fn may_be_power(n: &BigUint, k: u64) -> bool {
    let moduli = (k + 1..).step_by(k as usize).filter(|&p| is_small_prime(p));
    moduli.take(4).all(|p| {
        let rest = n % p;
        rest == BigUint::ZERO || rest.modpow(&((p - 1) / k).into(), &p.into()) == 1u8.into()
    })
}

/// What trial division says, if it says anything.
fn by_trial(n: &BigUint) -> Option<bool> {
    if *n < BigUint::from(2u8) {
        return Some(false);
    }
    if !n.bit(0) {
        return Some(*n == BigUint::from(2u8));
    }
    if let Some(&p) = SMALL.iter().find(|&&p| n % p == BigUint::ZERO) {
        return Some(*n == BigUint::from(p));
    }
    (*n < BigUint::from(257u32 * 257)).then_some(true)
}

/// The Jacobi symbol of `d` over an odd `n`, `d` odd, from -2^31 to 2^31.
fn jacobi(d: i64, n: &BigUint) -> i32 {
    let magnitude = d.unsigned_abs();
    let low = n % 8u8;
    let n_mod_8 = low.iter_u32_digits().next().unwrap_or(0);
    let mut symbol = if d < 0 && n_mod_8 % 4 == 3 { -1 } else { 1 };
    if magnitude % 4 == 3 && n_mod_8 % 4 == 3 {
        symbol = -symbol;
    }
    // By reciprocity, that of n over |d|.
    let rest = (n % magnitude).iter_u64_digits().next().unwrap_or(0);
    let (mut a, mut m) = (rest, magnitude);
    while a != 0 {
        while a % 2 == 0 {
            a /= 2;
            if matches!(m % 8, 3 | 5) {
                symbol = -symbol;
            }
        }
        (a, m) = (m, a);
        if a % 4 == 3 && m % 4 == 3 {
            symbol = -symbol;
        }
        a %= m;
    }
    if m == 1 { symbol } else { 0 }
}

/// Whether an odd `n` passes the strong Lucas test with Selfridge's parameters: `D` is the
/// first of 5, -7, 9, -11, ... whose symbol over `n` is -1, `P` = 1, `Q` = (1 - D) / 4, and with
/// `n + 1 = 2^s d`, `d` odd, `U(d)` is 0, or `V(2^r d)` is for an `r < s`.
///
/// ```text
/// U(2k) = U(k) V(k)              V(2k) = V(k)^2 - 2 Q^k
/// U(k+1) = (U(k) + V(k)) / 2     V(k+1) = (D U(k) + V(k)) / 2
/// ```
fn is_strong_lucas(n: &BigUint) -> bool {
    // A square has no such D.
    let root = n.sqrt();
    if &root * &root == *n {
        return false;
    }
    let mut d = 5_i64;
    loop {
        match jacobi(d, n) {
            -1 => break,
            // A divisor: of the number itself, which is no small one.
            0 => return false,
            _ => d = if d > 0 { -d - 2 } else { 2 - d },
        }
    }
    let residue = |x: i64| {
        let magnitude = BigUint::from(x.unsigned_abs()) % n;
        if x < 0 {
            (n - magnitude) % n
        } else {
            magnitude
        }
    };
    let minus = |x: BigUint, y: BigUint| (x + n - y) % n;
    let half = |x: BigUint| if x.bit(0) { (x + n) >> 1 } else { x >> 1 };
    let (d, q) = (residue(d), residue((1 - d) / 4));
    let above = n + 1u8;
    let zeros = above.trailing_zeros().unwrap_or(0);
    let odd = &above >> zeros;
    let mut u = BigUint::from(1u8);
    let mut v = u.clone();
    let mut power = q.clone();
    for i in (0..odd.bits() - 1).rev() {
        u = &u * &v % n;
        v = minus(&v * &v % n, &power * 2u8 % n);
        power = &power * &power % n;
        if odd.bit(i) {
            (u, v) = (half((&u + &v) % n), half((&d * &u + &v) % n));
            power = &power * &q % n;
        }
    }
    if u == BigUint::ZERO {
        return true;
    }
    (0..zeros).any(|_| {
        let is_zero = v == BigUint::ZERO;
        v = minus(&v * &v % n, &power * 2u8 % n);
        power = &power * &power % n;
        is_zero
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big(x: u128) -> BigUint {
        BigUint::from(x)
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
        let strong = engine.pass_base(&big(2), &of_base_two.map(big)).unwrap();
        assert!(strong.iter().all(|&passes| passes));
        assert!(of_lucas.iter().all(|&n| is_strong_lucas(&big(n))));
        let carmichael = [561, 1105, 1729, 41_041, 825_265, 321_197_185];
        for numbers in [&of_base_two[..], &of_lucas, &carmichael] {
            let numbers: Vec<_> = numbers.iter().copied().map(big).collect();
            assert!(
                verdicts(&numbers).iter().all(|is_prime| !is_prime),
                "{numbers:?}"
            );
        }
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

    #[test]
    fn the_next_primes_are_those_of_the_tables() {
        let engine = Engine::cpu();
        let one = big(1);
        let powers = [(32, 15u32), (64, 13), (128, 51), (256, 297)];
        let mut numbers = vec![big(0), big(1), big(2), big(3), big(89), big(65_537)];
        let mut expected = vec![big(2), big(2), big(3), big(5), big(97), big(65_539)];
        for (exponent, gap) in powers {
            numbers.push(&one << exponent);
            expected.push((&one << exponent) + gap);
            // From just below the power.
            numbers.push((&one << exponent) - 1u8);
            expected.push((&one << exponent) + gap);
        }
        let batch = engine.batch_from_biguints(&numbers).unwrap();
        let next = engine.next_prime(&batch).unwrap();
        assert_eq!(next.width(), batch.width() + 1);
        assert_eq!(next.to_biguints().unwrap(), expected);
    }
}
