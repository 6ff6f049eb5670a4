//! How many primes a range has.
//!
//! Below 2^64 by the sieve of Eratosthenes, a segment that fits the cache at a time, on all cores: by
//! primes up to the root where the range is long enough for so many, else what is left is tested.
//! Above 2^64 stretches are sieved as for [`Engine::next_prime`], and all that is left is tested.
//!
//! Cost: some nanosecond for each number of the range over the cores while the root is below 2^26. A
//! count from 2 on to a great number is a matter of other methods (Meissel, Lehmer), which this is none
//! of.

use crate::operations::primes::search::Scan;
use crate::operations::primes::{sieve, word};
use crate::{BigUint, Engine, Error};
use bigint_cpu::{map, threads};

/// Numbers in a segment, of which half are odd, and segments in a round.
const SEGMENT: u64 = 1 << 19;
const SEGMENTS: usize = 1 << 10;

/// Bounds of the primes that a segment is sieved by, between which the range's length chooses.
const LEAST_BOUND: u64 = 1 << 16;
const MOST_BOUND: u64 = 1 << 26;

/// Stretches above 2^64 whose survivors are one batch, and odd numbers in each.
const STRETCHES: usize = 32;
const STRETCH: usize = 1 << 13;

impl Engine {
    /// How many primes there are from `from` on and below `to`. Waits until all are counted: a
    /// long range is counted in parts by those who want to see how far it is.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let engine = Engine::auto();
    /// assert_eq!(engine.count_primes(&0u32.into(), &1_000_000u32.into())?, 78_498);
    /// let googol = BigUint::from(10u32).pow(100);
    /// assert_eq!(engine.count_primes(&googol, &(&googol + 1000u32))?, 2);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::is_prime`].
    pub fn count_primes(&self, from: &BigUint, to: &BigUint) -> Result<u64, Error> {
        let Some(last) = to.bits().checked_sub(1).map(|_| to - 1u8) else {
            return Ok(0);
        };
        let above = BigUint::from(1u8) << 64;
        let mut count = 0;
        if let Ok(from) = u64::try_from(from) {
            count += count_words(from, u64::try_from(&last).unwrap_or(u64::MAX));
        }
        if last >= above {
            count += self.count_long(from.max(&above), to)?;
        }
        Ok(count)
    }

    /// Of numbers above 2^64.
    fn count_long(&self, from: &BigUint, to: &BigUint) -> Result<u64, Error> {
        let mut count = 0;
        let mut start = from | BigUint::from(1u8);
        let scan = Scan {
            length: STRETCH,
            ..Scan::of_odd(to.bits(), false)
        };
        while start < *to {
            let starts = (0..STRETCHES).map(|i| &start + 2 * i * STRETCH);
            let starts: Vec<BigUint> = starts.take_while(|start| start < to).collect();
            for (start, places) in starts.iter().zip(self.all_primes(&scan, &starts)?) {
                // Odd numbers below the end.
                let end = (to - start + 1u8) >> 1;
                let end = u32::try_from(end).unwrap_or(u32::MAX);
                count += places.partition_point(|&place| place < end) as u64;
            }
            start += 2 * STRETCHES * STRETCH;
        }
        Ok(count)
    }
}

/// Primes from `from` to `last`.
fn count_words(from: u64, last: u64) -> u64 {
    let two = u64::from(from <= 2 && last >= 2);
    let from = from.max(3) | 1;
    if from > last {
        return two;
    }
    let bound = last
        .isqrt()
        .min((last - from).clamp(LEAST_BOUND, MOST_BOUND));
    let primes: Vec<u32> = sieve::odd_primes(bound as usize + 1).collect();
    let segment = |start: u64| {
        let end = start.saturating_add(SEGMENT - 2).min(last);
        let is_left = segment(start, end, &primes);
        let left = (start..=end)
            .step_by(2)
            .zip(is_left)
            .filter(|&(_, is_left)| is_left);
        match bound >= end.isqrt() {
            true => left.count(),
            false => left.filter(|&(n, _)| word::is_prime(n)).count(),
        }
    };
    let mut starts = (from..=last).step_by(SEGMENT as usize);
    let mut count = two;
    loop {
        let round: Vec<u64> = starts.by_ref().take(SEGMENTS).collect();
        if round.is_empty() {
            return count;
        }
        count += map(round, threads(), segment).into_iter().sum::<usize>() as u64;
    }
}

/// Which odd numbers from an odd `start` to `end` none of the primes divides that is not as great.
fn segment(start: u64, end: u64, primes: &[u32]) -> Vec<bool> {
    let mut is_left = vec![true; ((end - start) / 2 + 1) as usize];
    for p in primes
        .iter()
        .map(|&p| u64::from(p))
        .take_while(|p| p * p <= end)
    {
        // The first odd multiple from the start and the square on.
        let rest = start % p;
        let above = if rest == 0 { 0 } else { p - rest };
        let above = if above.is_multiple_of(2) {
            above
        } else {
            above + p
        };
        let first = above.max((p * p).saturating_sub(start)) / 2;
        let multiples = is_left.iter_mut().skip(first as usize);
        multiples
            .step_by(p as usize)
            .for_each(|place| *place = false);
    }
    is_left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts by one engine, since to make one takes longer than most counts.
    fn counting() -> impl Fn(u128, u128) -> u64 {
        let engine = Engine::cpu();
        move |from, to| engine.count_primes(&from.into(), &to.into()).unwrap()
    }

    /// OEIS A006880, A007053.
    #[test]
    fn counts_are_those_of_the_tables() {
        let count = counting();
        let tens = [0, 4, 25, 168, 1229, 9592, 78_498, 664_579];
        for (k, expected) in tens.into_iter().enumerate() {
            assert_eq!(count(0, 10_u128.pow(k as u32)), expected, "10^{k}");
        }
        assert_eq!(count(0, 1 << 24), 1_077_871);
        // Every short range.
        let primes: Vec<u128> = (0..130).filter(|&n| word::is_prime(n as u64)).collect();
        for from in 0..130 {
            for to in 0..130 {
                let expected = primes.iter().filter(|&&p| from <= p && p < to).count();
                assert_eq!(count(from, to), expected as u64, "{from} {to}");
            }
        }
    }

    /// pi(10^12 + 10^6) - pi(10^12), and around the ends of segments and of words.
    #[test]
    fn counts_of_parts_are_those_of_primes_one_after_another() {
        let count = counting();
        let ends = [SEGMENT, (1 << 40) + 5, u64::MAX - 2000, u64::MAX];
        for (start, length) in ends
            .into_iter()
            .flat_map(|end| [(end - 900, 900), (end - 1, 1)])
        {
            let last = start + length;
            let expected = (start..=last).filter(|&n| word::is_prime(n)).count();
            assert_eq!(
                count(start.into(), u128::from(last) + 1),
                expected as u64,
                "{start}"
            );
        }
        assert_eq!(count(1_000_000_000_000, 1_000_001_000_000), 36_249);
        // 2^64 + 13 is the first prime above it.
        let above = 1_u128 << 64;
        assert_eq!(count(above - 59, above + 14), 2);
        assert_eq!(count(above, above + 13), 0);
        assert_eq!(count(above + 13, above + 14), 1);
        let engine = Engine::cpu();
        let (mut prime, mut expected) = (BigUint::from(above), 0);
        let end = above + 40_000;
        loop {
            let batch = engine.batch_from_biguints(&[prime]).unwrap();
            prime = engine.next_prime(&batch).unwrap().get(0).unwrap().unwrap();
            if prime >= end.into() {
                break;
            }
            expected += 1;
        }
        assert_eq!(count(above, end), expected);
    }
}
