//! Numbers `k b^n + c`.

use std::fmt;

/// A number `k b^n + c`, above all `k 2^n - 1` and `k 2^n + 1` with odd `k`. An exponent alone stands for
/// `2^p - 1`:
///
/// ```
/// use mersenne::Number;
/// assert_eq!(Number::from(127).to_string(), "M127");
/// assert_eq!(Number::new(3, 18, true).unwrap().to_string(), "3*2^18+1");
/// assert_eq!(Number::new(4, 18, true), None);
/// assert_eq!(Number::of(2, 3, 18, -1).unwrap().to_string(), "2*3^18-1");
/// assert_eq!(Number::of(6, 4, 18, -1).unwrap().to_string(), "3*2^37-1");
/// assert!(Number::of(4, 3, 18, -1).is_ok() && Number::of(3, 3, 18, -1).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    k: u32,
    base: u32,
    n: u32,
    c: i32,
}

impl From<u32> for Number {
    /// The number `2^p - 1`.
    fn from(p: u32) -> Self {
        assert!(p > 0, "2^0 - 1 is no modulus");
        Number {
            k: 1,
            base: 2,
            n: p,
            c: -1,
        }
    }
}

impl Number {
    /// `k 2^n + 1`, or `k 2^n - 1` if not `is_plus`; `None` if `k` is even or `n` is 0.
    pub fn new(k: u32, n: u32, is_plus: bool) -> Option<Self> {
        let c = if is_plus { 1 } else { -1 };
        (k % 2 == 1 && n > 0).then_some(Number { k, base: 2, n, c })
    }

    /// `k b^n + c`. A power of two that is a base becomes the base 2, with odd `k`.
    ///
    /// # Errors
    /// Where it is even, too small (`k b^n` is not above 64 and 4 times `c`), or too large (the exponent of
    /// a test is not below 2^31).
    pub fn of(k: u64, base: u32, n: u32, c: i32) -> Result<Self, String> {
        if k == 0 || base < 2 || n == 0 || c == 0 {
            return Err("k, n and c are not 0, and b is above 1".to_owned());
        }
        let (mut k, mut base, mut n) = (k, base, u64::from(n));
        if base.is_power_of_two() {
            n = n * u64::from(base.ilog2()) + u64::from(k.trailing_zeros());
            (k, base) = (k >> k.trailing_zeros(), 2);
        }
        let bits = n as f64 * f64::from(base).log2() + (k as f64).log2();
        if k > u32::MAX.into() || bits > f64::from(1u32 << 31) {
            return Err("k is below 2^32, and the number below 2^(2^31)".to_owned());
        }
        if bits < 6.0f64.max(f64::from(c).abs().log2() + 2.0) {
            return Err("it is too small: k b^n is above 64 and above 4 times c".to_owned());
        }
        let number = Number {
            k: k as u32,
            base,
            n: n as u32,
            c,
        };
        match number.modulo(2) {
            1 => Ok(number),
            _ => Err("it is even".to_owned()),
        }
    }

    /// The `k` of `k b^n + c`.
    pub fn k(self) -> u32 {
        self.k
    }

    /// The `b` of `k b^n + c`.
    pub fn base(self) -> u32 {
        self.base
    }

    /// The `n` of `k b^n + c`.
    pub fn n(self) -> u32 {
        self.n
    }

    /// The `c` of `k b^n + c`.
    pub fn c(self) -> i32 {
        self.c
    }

    /// The `p` of `2^p - 1`; `None` for any other number.
    pub fn exponent(self) -> Option<u32> {
        (self.k == 1 && self.is_binary() && self.c == -1).then_some(self.n)
    }

    /// Whether it is `k 2^n - 1` or `k 2^n + 1`.
    pub fn is_binary(self) -> bool {
        self.base == 2 && self.c.abs() == 1
    }

    /// Whether it is `k b^n - 1` or `k b^n + 1` with `k` below `b^n`: then what is known of `b` proves it
    /// prime.
    pub fn has_proof(self) -> bool {
        let power = self.base.checked_pow(self.n);
        let is_above = power.is_none_or(|power| power > self.k);
        self.c.abs() == 1 && is_above
    }

    /// What the names of its files begin with.
    pub(crate) fn stem(self) -> String {
        match self.exponent() {
            Some(p) => format!("m{p}"),
            None => format!("{}x{}^{}{:+}", self.k, self.base, self.n, self.c),
        }
    }

    /// The prime factors of `b`.
    pub(crate) fn primes(self) -> Vec<u32> {
        let (mut left, mut primes) = (self.base, Vec::new());
        for d in (2..=u32::from(u16::MAX)).take_while(|d| d * d <= self.base) {
            if left.is_multiple_of(d) {
                primes.push(d);
            }
            while left.is_multiple_of(d) {
                left /= d;
            }
        }
        primes.extend((left > 1).then_some(left));
        primes
    }

    /// The bits of the numbers below it; of numbers that are not [binary](Self::is_binary) one or two more.
    pub fn bits(self) -> u64 {
        if !self.is_binary() {
            let bits = f64::from(self.n) * f64::from(self.base).log2() + f64::from(self.k).log2();
            return bits as u64 + 3;
        }
        // The greatest number below is k 2^n, or (k - 1) 2^n + 2^n - 2.
        let k = if self.c > 0 { self.k } else { self.k - 1 };
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
        let base = u64::from(self.base) % m;
        let power = (0..u32::BITS).rev().fold(1 % m, |power, bit| {
            let square = power * power % m;
            match self.n >> bit & 1 {
                0 => square,
                _ => square * base % m,
            }
        });
        let left = i128::from(u64::from(self.k) % m * power) + i128::from(self.c);
        left.rem_euclid(m.into()) as u32
    }

    /// The Jacobi symbol `(a / self)`, for a number above 4: by the law of reciprocity.
    pub fn jacobi(self, a: u32) -> i32 {
        let odd = a.checked_shr(a.trailing_zeros()).unwrap_or(0);
        if odd == 0 {
            return 0;
        }
        let low = self.modulo(8);
        let (mut symbol, mut top, mut bottom) = (1, self.modulo(odd), odd);
        if a.trailing_zeros() % 2 == 1 && matches!(low, 3 | 5) {
            symbol = -symbol;
        }
        if low % 4 == 3 && odd % 4 == 3 {
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
            None => write!(f, "{}*{}^{}{:+}", self.k, self.base, self.n, self.c),
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

    /// Numbers of other bases that 64 bits hold.
    fn others() -> impl Iterator<Item = (Number, u64)> {
        let all = [3u32, 5, 6, 10, 12, 1000]
            .into_iter()
            .flat_map(|b| (1..6).flat_map(move |n| (1..30).map(move |k| (k, b, n))));
        let all = all.flat_map(|(k, b, n)| [-7, -2, -1, 1, 2, 5].map(|c| (k, b, n, c)));
        all.filter_map(|(k, b, n, c)| {
            let value = i128::from(k) * i128::from(b).pow(n) + i128::from(c);
            Some((Number::of(k, b, n, c).ok()?, u64::try_from(value).ok()?))
        })
    }

    #[test]
    fn other_bases_too() {
        assert!(others().count() > 1000);
        for (number, value) in others() {
            assert_eq!(value % 2, 1, "{number}");
            for m in [1, 2, 3, 8, 9, 30, 65_537, u32::MAX] {
                assert_eq!(
                    u64::from(number.modulo(m)),
                    value % u64::from(m),
                    "{number} {m}"
                );
            }
            assert!(value.ilog2() as u64 + 2 <= number.bits(), "{number}");
            assert!(value.ilog2() as u64 + 4 >= number.bits(), "{number}");
            if value < 1 << 13 && crate::is_prime(value as u32) {
                for a in 1..50 {
                    let power = (0..value / 2).fold(1, |power, _| power * u64::from(a) % value);
                    let expected = if power == value - 1 { -1 } else { power as i32 };
                    assert_eq!(number.jacobi(a), expected, "({a} / {number})");
                }
            }
        }
        let number = |k, b, n, c| Number::of(k, b, n, c);
        assert_eq!(number(6, 4, 5, 1), Ok(Number::new(3, 11, true).unwrap()));
        assert_eq!(number(2, 3, 9, 1).unwrap().primes(), [3]);
        assert_eq!(number(1, 1000, 9, 1).unwrap().primes(), [2, 5]);
        assert_eq!(number(1, 210, 9, 1).unwrap().primes(), [2, 3, 5, 7]);
        let greatest = u32::MAX - 4;
        assert_eq!(number(2, greatest, 9, 1).unwrap().primes(), [greatest]);
        for (k, b, n, c) in [
            (0, 3, 9, 1),
            (2, 1, 9, 1),
            (2, 3, 0, 1),
            (2, 3, 9, 0),
            (1, 3, 9, 1),
            (2, 3, 3, 1),
            (2, 3, 9, 19_683),
            (1 << 33, 3, 9, 1),
            (2, 3, u32::MAX, 1),
        ] {
            assert!(number(k, b, n, c).is_err(), "{k} {b} {n} {c}");
        }
        // k is below b^n, or not.
        for (k, b, n, c, has) in [
            (80, 3, 4, 1, true),
            (82, 3, 4, 1, false),
            (4_294_967_294, 7, 12, -1, true),
            (4_294_967_294, 7, 11, -1, false),
            (2, 3, 40, 5, false),
        ] {
            assert_eq!(number(k, b, n, c).unwrap().has_proof(), has, "{k} {b} {n}");
        }
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
