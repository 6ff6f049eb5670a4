//! Primes in order, by a sieve of stretches.

/// Odd numbers of a stretch.
const STRETCH: u64 = 1 << 18;

/// Calls `take` with each prime `low <= p <= high`, in order.
///
/// Cost: `(high - low) log log high`, and the square root of `high` in memory.
pub fn primes(low: u64, high: u64, mut take: impl FnMut(u64)) {
    if low <= 2 && high >= 2 {
        take(2);
    }
    let root = high.isqrt();
    let mut small = vec![true; usize::try_from(root / 2 + 1).expect("a root of 64 bits")];
    let mut base = Vec::new();
    for i in 1..small.len() {
        if small[i] {
            let p = 2 * i as u64 + 1;
            base.push(p);
            for j in (2 * i * (i + 1)..small.len()).step_by(2 * i + 1) {
                small[j] = false;
            }
        }
    }
    let mut first = low.max(3) | 1;
    while first <= high {
        let last = high.min(first + 2 * STRETCH - 2);
        // Number `i` is `first + 2 i`.
        let mut is_prime = vec![true; ((last - first) / 2 + 1) as usize];
        for &p in base.iter().take_while(|&&p| p * p <= last) {
            let from = (first.div_ceil(p) | 1).max(p) * p;
            let from = if from < first { from + 2 * p } else { from };
            for multiple in (from..=last).step_by(2 * p as usize) {
                is_prime[((multiple - first) / 2) as usize] = false;
            }
        }
        for (i, is_prime) in is_prime.iter().enumerate() {
            if *is_prime {
                take(first + 2 * i as u64);
            }
        }
        first = last + 2 - (last - first) % 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(low: u64, high: u64) -> usize {
        let mut count = 0;
        primes(low, high, |_| count += 1);
        count
    }

    #[test]
    fn there_are_as_many_primes_as_tables_say() {
        assert_eq!(count(0, 1), 0);
        assert_eq!(count(0, 2), 1);
        assert_eq!(count(0, 100), 25);
        assert_eq!(count(0, 1_000_000), 78_498);
        assert_eq!(count(1_000_000_000, 1_000_100_000), 4_832);
    }

    #[test]
    fn stretches_join_without_a_gap_or_a_number_twice() {
        let mut all = Vec::new();
        primes(2, 3_000_000, |p| all.push(p));
        assert!(all.is_sorted_by(|a, b| a < b));
        for (low, high) in [
            (3, 3),
            (4, 4),
            (90, 97),
            (999_983, 999_983),
            (524_280, 1_048_600),
        ] {
            let mut some = Vec::new();
            primes(low, high, |p| some.push(p));
            let expected = all.iter().copied().filter(|p| (low..=high).contains(p));
            assert_eq!(some, expected.collect::<Vec<_>>(), "{low} {high}");
        }
    }
}
