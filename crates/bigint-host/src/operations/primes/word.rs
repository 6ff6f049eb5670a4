//! Primes of 64 bits, one at a time: a strong test to a few bases that no composite passes all.
//!
//! To 2, 7 and 61 none below 4,759,123,141 does (Jaeschke, *On strong
//! pseudoprimes to several bases*, 1993); to the seven bases of Jim Sinclair none below 2^64, as a look at all strong
//! pseudoprimes to base 2 below it shows (Feitsma and Galway's list).
//!
//! Residues are in Montgomery's form with `R` = 2^64. Cost: a square for each bit of the number and
//! base, some three nanoseconds each; a composite mostly ends at a small divisor or at base 2.

/// Primes that are divided by first.
const FIRST: [u64; 15] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47];

/// Numbers below this are told by three bases.
const TOLD_BY_THREE: u64 = 4_759_123_141;

/// Sinclair's bases.
const SEVEN: [u64; 7] = [2, 325, 9375, 28_178, 450_775, 9_780_504, 1_795_265_022];

/// Whether it is a prime.
pub(super) fn is_prime(n: u64) -> bool {
    if let Some(p) = FIRST.into_iter().find(|p| n.is_multiple_of(*p)) {
        return n == p;
    }
    if n < 53 * 53 {
        return n > 1;
    }
    let bases = match n {
        ..TOLD_BY_THREE => &[2, 7, 61][..],
        _ => &SEVEN,
    };
    let strong = Strong::new(n);
    bases.iter().all(|&base| strong.passes(base))
}

/// The least prime above it, unless that is above 2^64.
pub(super) fn next(n: u64) -> Option<u64> {
    match n {
        0 | 1 => Some(2),
        n => (n.checked_add(1)? | 1..=u64::MAX)
            .step_by(2)
            .find(|&n| is_prime(n)),
    }
}

/// The greatest prime below it, if there is one.
pub(super) fn previous(n: u64) -> Option<u64> {
    match n {
        0..=2 => None,
        3 => Some(2),
        // The odd number below an even one, or the one below an odd one.
        n => (3..=(n - 2) | 1).rev().step_by(2).find(|&n| is_prime(n)),
    }
}

/// An odd `n` and what strong tests of it need.
struct Strong {
    n: u64,
    /// `1 / n mod R`.
    inverse: u64,
    /// `R mod n`.
    one: u64,
    /// `R^2 mod n`.
    square_of_radix: u64,
}

impl Strong {
    fn new(n: u64) -> Self {
        // n is its own inverse modulo 8; each step doubles the bits that are right.
        let mut inverse = n;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(n.wrapping_mul(inverse)));
        }
        let one = (u64::MAX % n + 1) % n;
        let square = u128::from(one) * u128::from(one) % u128::from(n);
        Strong {
            n,
            inverse,
            one,
            square_of_radix: square as u64,
        }
    }

    /// `a b / R mod n`.
    fn product(&self, a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        let quotient = (product as u64).wrapping_mul(self.inverse);
        let multiple = u128::from(quotient) * u128::from(self.n);
        // The lower halves are the same.
        let (rest, is_negative) = ((product >> 64) as u64).overflowing_sub((multiple >> 64) as u64);
        if is_negative {
            rest.wrapping_add(self.n)
        } else {
            rest
        }
    }

    /// With `n - 1 = 2^s d`, `d` odd: whether `b^d` is 1, or one of its first `s` squares, itself
    /// among them, is -1. The base is below `n`.
    fn passes(&self, base: u64) -> bool {
        let s = (self.n - 1).trailing_zeros();
        let d = (self.n - 1) >> s;
        let base = self.product(base, self.square_of_radix);
        let mut power = base;
        for i in (0..d.ilog2()).rev() {
            power = self.product(power, power);
            if d >> i & 1 == 1 {
                power = self.product(power, base);
            }
        }
        let minus_one = self.n - self.one;
        power == self.one
            || (0..s).any(|_| {
                let is_minus_one = power == minus_one;
                power = self.product(power, power);
                is_minus_one
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Composites that pass to many bases, products of two primes near 2^32, and squares.
    #[test]
    fn composites_that_pass_to_many_bases_are_none() {
        let strong = [
            2047,
            1_373_653,
            25_326_001,
            3_215_031_751,
            4_759_123_141,
            2_152_302_898_747,
            3_474_749_660_383,
            341_550_071_728_321,
            3_825_123_056_546_413_051,
            4_294_967_291 * 4_294_967_291,
            4_294_967_291 * 4_294_967_279,
            u64::MAX,
        ];
        assert!(strong.into_iter().all(|n| !is_prime(n)));
        let primes = [4_759_123_129, (1 << 61) - 1, u64::MAX - 58];
        assert!(primes.into_iter().all(is_prime));
    }

    #[test]
    fn neighbours_are_primes_with_none_between() {
        let ends = [0, 1 << 16, (1 << 32) - 2000, u64::MAX - 3000];
        for n in ends.into_iter().flat_map(|end| end..=end + 2999) {
            let is_between = |from: u64, to: u64| (from..to).all(|n| !is_prime(n));
            match next(n) {
                Some(p) => assert!(p > n && is_prime(p) && is_between(n + 1, p), "{n}"),
                None => assert!(
                    n >= u64::MAX - 58 && is_between(n, u64::MAX) || n == u64::MAX - 58,
                    "{n}"
                ),
            }
            match previous(n) {
                Some(p) => assert!(p < n && is_prime(p) && is_between(p + 1, n), "{n}"),
                None => assert!(n <= 2),
            }
        }
    }
}
