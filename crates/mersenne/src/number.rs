//! Numbers `k 2^n - 1` and `k 2^n + 1`.

use std::fmt;

/// A number `k 2^n - 1` or `k 2^n + 1`, with odd `k`. An exponent alone stands for `2^p - 1`:
///
/// ```
/// use mersenne::Number;
/// assert_eq!(Number::from(127).to_string(), "M127");
/// assert_eq!(Number::new(3, 18, true).unwrap().to_string(), "3*2^18+1");
/// assert_eq!(Number::new(4, 18, true), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    k: u32,
    n: u32,
    is_plus: bool,
}

impl From<u32> for Number {
    /// The number `2^p - 1`.
    fn from(p: u32) -> Self {
        assert!(p > 0, "2^0 - 1 is no modulus");
        Number {
            k: 1,
            n: p,
            is_plus: false,
        }
    }
}

impl Number {
    /// `k 2^n + 1`, or `k 2^n - 1` if not `is_plus`; `None` if `k` is even or `n` is 0.
    pub fn new(k: u32, n: u32, is_plus: bool) -> Option<Self> {
        (k % 2 == 1 && n > 0).then_some(Number { k, n, is_plus })
    }

    /// The `k` of `k 2^n + c`.
    pub fn k(self) -> u32 {
        self.k
    }

    /// The `n` of `k 2^n + c`.
    pub fn n(self) -> u32 {
        self.n
    }

    /// The `c` of `k 2^n + c`: 1 or -1.
    pub fn c(self) -> i32 {
        if self.is_plus { 1 } else { -1 }
    }

    /// The `p` of `2^p - 1`; `None` for any other number.
    pub fn exponent(self) -> Option<u32> {
        (self.k == 1 && !self.is_plus).then_some(self.n)
    }

    /// The bits of the numbers below it.
    pub fn bits(self) -> u64 {
        // The greatest number below is k 2^n, or (k - 1) 2^n + 2^n - 2.
        let k = if self.is_plus { self.k } else { self.k - 1 };
        u64::from(self.n) + u64::from(u32::BITS - k.leading_zeros())
    }

    /// The limbs of 64 bits that these numbers take.
    pub fn limbs(self) -> usize {
        self.bits().div_ceil(64) as usize
    }

    /// The bytes that these numbers take.
    pub fn bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// The remainder of its division by a small number.
    pub fn modulo(self, m: u32) -> u32 {
        let m = u64::from(m);
        let power = (0..u32::BITS).rev().fold(1 % m, |power, bit| {
            let square = (power % m) * (power % m) % m;
            square << (self.n >> bit & 1)
        });
        let left = u64::from(self.k) % m * (power % m) + m;
        ((if self.is_plus { left + 1 } else { left - 1 }) % m) as u32
    }

    /// The Jacobi symbol `(a / self)`, for `n` of 3 at least: by the law of reciprocity.
    pub fn jacobi(self, a: u32) -> i32 {
        // It is 1 or 7 modulo 8, so 2 is a square.
        let Some(a) = a.checked_shr(a.trailing_zeros()) else {
            return 0;
        };
        let (mut symbol, mut top, mut bottom) = (1, self.modulo(a), a);
        if !self.is_plus && a % 4 == 3 {
            symbol = -symbol;
        }
        while top != 0 {
            let twos = top.trailing_zeros();
            top >>= twos;
            if twos % 2 == 1 && matches!(bottom % 8, 3 | 5) {
                symbol = -symbol;
            }
            if top % 4 == 3 && bottom % 4 == 3 {
                symbol = -symbol;
            }
            (top, bottom) = (bottom % top, top);
        }
        if bottom == 1 { symbol } else { 0 }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exponent() {
            Some(p) => write!(f, "M{p}"),
            None => write!(f, "{}*2^{}{:+}", self.k, self.n, self.c()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that 64 bits hold.
    fn small() -> impl Iterator<Item = (Number, u64)> {
        let pairs = (1..40)
            .step_by(2)
            .flat_map(|k| (3..20).map(move |n| (k, n)));
        pairs.flat_map(|(k, n)| {
            let power = u64::from(k) << n;
            [(true, power + 1), (false, power - 1)]
                .map(|(is_plus, value)| (Number::new(k, n, is_plus).unwrap(), value))
        })
    }

    #[test]
    fn what_is_left_and_how_long_it_is() {
        for (number, value) in small() {
            for m in (1..60).chain([65_537, u32::MAX]) {
                assert_eq!(
                    u64::from(number.modulo(m)),
                    value % u64::from(m),
                    "{number} {m}"
                );
            }
            let longest = u64::from(u64::BITS - (value - 1).leading_zeros());
            assert_eq!(number.bits(), longest, "{number}");
        }
    }

    #[test]
    fn jacobi_symbols_are_eulers_for_primes() {
        for (number, value) in small().filter(|&(_, value)| value < 1 << 13) {
            if !crate::is_prime(value as u32) {
                continue;
            }
            for a in 1..50 {
                let power = (0..value / 2).fold(1, |power, _| power * u64::from(a) % value);
                let expected = if power == value - 1 { -1 } else { power as i32 };
                assert_eq!(number.jacobi(a), expected, "({a} / {number})");
            }
        }
    }
}
