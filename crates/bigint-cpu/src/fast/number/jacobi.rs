//! Jacobi symbols of one number, from the quotients of Euclid's algorithm.
//!
//! Of two numbers `x` and `y` without a common divisor, at least one is odd. The symbol that is
//! followed has an odd one as its lower number. If that is `y`, a quotient `q` of `x` by `y` does
//! not change the symbol `(x / y)`, which becomes `(x - q y / y)`. If the lower number is `x`,
//! there are three cases:
//!
//! * If `y` is odd, the law of reciprocity turns `(y / x)` into `(x / y)`, and changes its sign if
//!   both are 3 modulo 4.
//! * If `y` is a multiple of 4, `(y / x)` and `(y / x - q y)` are the same.
//! * If `y` is 2 modulo 4, `(y / x)` and `(y / x - y)` differ if `x` is 3 modulo 4, by the law of
//!   reciprocity and that of `(2 / x)`. `x - y` is 3 modulo 4 if `x` is 1.
//!
//! So two bits of each number and of each quotient are enough (after [Möller 2019]). In the end one
//! number is 0 and the other the greatest common divisor. The symbol is 0 if that is not 1.
//!
//! An example is `(5 / 21)`, with `x = 21` as the lower number. 5 is odd and both are 1 modulo 4,
//! so the sign stays. 21 = 4 * 5 + 1, and `(1 / 5)` is 1.
//!
//! **Cost**: that of a greatest common divisor.

use super::division::div_rem;
use super::euclid::Euclid;
use crate::Path;

/// The symbol of `a` over an odd `n`. Neither has zeros at its end.
pub(crate) fn jacobi(a: &[u64], n: &[u64], path: Path) -> i8 {
    let (_, a) = div_rem(a, n, path);
    Euclid::symbol(n, &a, path)
}

/// The state from which the Jacobi symbol of two numbers is computed, step by step of
/// [`Cpu::reduce`](crate::Cpu::reduce).
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// The numbers modulo 4.
    x: u64,
    y: u64,
    /// Whether `x` is the lower number.
    is_x_below: bool,
    /// Whether the sign has been changed an odd number of times since the beginning.
    is_turned: bool,
}

impl Symbol {
    /// The state for the symbol `(y / x)`, of which the lowest words are given. `x` is odd.
    pub fn of(y: u64, x: u64) -> Self {
        Symbol {
            x: x % 4,
            y: y % 4,
            is_x_below: true,
            is_turned: false,
        }
    }

    /// 1 or -1, if one of the numbers that are reached is 1 and the other 0.
    pub fn sign(&self) -> i8 {
        1 - 2 * i8::from(self.is_turned)
    }

    /// Replaces `x` and `y` by `y` and `x - q y`.
    #[inline(always)]
    pub(super) fn step(&mut self, q: u64) {
        let Symbol { x, y, .. } = *self;
        if self.is_x_below && y % 2 == 1 {
            self.is_turned ^= x & y == 3;
            self.is_x_below = false;
        } else if self.is_x_below && y == 2 {
            // Every second one of x, x - y, x - 2 y and so on is 3 modulo 4.
            let turns = (q % 4 + u64::from(x == 3)) / 2;
            self.is_turned ^= turns % 2 == 1;
        }
        (self.x, self.y) = (y, x.wrapping_sub(q.wrapping_mul(y)) % 4);
        self.is_x_below = !self.is_x_below;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    /// The symbol of `a` over `n`, computed one factor 2 after the other.
    fn plain(a: &BigUint, n: &BigUint) -> i8 {
        let (mut a, mut n, mut symbol) = (a % n, n.clone(), 1);
        let low = |x: &BigUint| x.iter_u64_digits().next().unwrap_or(0);
        while a != BigUint::ZERO {
            let twos = a.trailing_zeros().unwrap_or(0);
            a >>= twos;
            if twos % 2 == 1 && matches!(low(&n) % 8, 3 | 5) {
                symbol = -symbol;
            }
            if low(&a) % 4 == 3 && low(&n) % 4 == 3 {
                symbol = -symbol;
            }
            (a, n) = (n % &a, a);
        }
        if n == BigUint::from(1u32) { symbol } else { 0 }
    }

    fn check(a: &BigUint, n: &BigUint) {
        let [x, y] = [a, n].map(BigUint::to_u64_digits);
        assert_eq!(jacobi(&x, &y, Path::best()), plain(a, n), "({a} / {n})");
    }

    #[test]
    fn small_symbols_are_the_plain_ones() {
        for n in (1..200u32).step_by(2) {
            for a in 0..260u32 {
                check(&a.into(), &n.into());
            }
        }
    }

    #[test]
    fn long_symbols_are_the_plain_ones() {
        let mut seed = 5u64;
        let mut random = |words: usize| {
            let next = |_| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                [seed as u32, (seed >> 32) as u32]
            };
            BigUint::new((0..words).flat_map(next).collect())
        };
        for words in [1, 2, 3, 4, 5, 8, 20, 99, 101, 130, 250, 420] {
            for _ in 0..6 {
                let mut n = random(words);
                n.set_bit(0, true);
                let a = random(words);
                check(&a, &n);
                // These have large quotients, powers of two, and a common divisor.
                check(&random(words.div_ceil(2)), &n);
                check(&(BigUint::from(1u32) << (64 * words - 3)), &n);
                check(&(&a << 70u32), &n);
                let mut divisor = random(1 + words / 3);
                divisor.set_bit(0, true);
                check(&(&a * &divisor), &(&n * &divisor));
            }
        }
        // The quotients of neighbouring Fibonacci numbers are all 1.
        let (mut a, mut b) = (BigUint::from(1u32), BigUint::from(1u32));
        for i in 0..14_000 {
            (a, b) = (b.clone(), a + b);
            if i % 500 == 0 && b.bit(0) {
                check(&a, &b);
            }
        }
    }
}
