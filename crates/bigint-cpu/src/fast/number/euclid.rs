//! Euclid's algorithm on one number, by Lehmer's steps, and by halves if it is long. It gives
//! greatest common divisors, and the cofactors that modular inverses are.
//!
//! **Lehmer's steps.** The top 64 bits `x >= y` of both numbers stand for them: a quotient of these
//! is a quotient of the numbers, unless the bits that were cut off can change it. Let each of the
//! numbers that were begun with be known to `E`. Quotient by quotient, the numbers that are reached
//! are `x = |u a - v b|` and so on. The next remainder `r` of `x` by `y` is the numbers' own if
//!
//! ```text
//! r >= E (u' + v' + 1),    y - r >= E (u + u' + v + v')
//! ```
//!
//! where `(u, v)` is the row of `y` and `(u', v')` that of `r`. These conditions, after
//! [Jebelean 1995], do not depend on the signs. They give rows below `2^31`. The rows are applied
//! to the top 128 bits, and the top 64 bits of the results give rows again. One pass with the
//! product of both takes some 62 bits off the numbers. It leaves numbers of `n` words no shorter
//! than `n - 2`, because `r` is one more than its error. Numbers of two words are their own tops,
//! and in the end nothing is cut off, so `E = 0`. If no quotient is certain, because the first is
//! too large, the numbers are divided.
//!
//! The signs of a row alternate, so magnitudes and a flag are stored. Cofactors go through the same
//! rows with sums in the place of differences.
//!
//! **Cost**: `n / 62` passes of 4 products a word, and a division of words for each 1.7 bits. A
//! large quotient costs a division of numbers, which takes as many bits.
//!
//! **Halves** (after [Möller 2008]). The numbers without their lowest `p` words stand for them
//! longer, as long as they keep more than half of their words. Let these upper parts have `k`
//! words, and let them be reduced to `x` and `y`, both of more than `t = k / 2 + 1` words. The rows
//! `(u, v)` of `x` and `(u', v')` of `y` have entries below `x / B` and `y / B`, `B = 2^64`,
//! because the product of an entry of one row and the number of the other is at most the number
//! that was begun with. So
//!
//! ```text
//! u a - v b = x B^p + (u a_low - v b_low)  >  (x - v) B^p  >=  B^(p + t - 1)
//! ```
//!
//! and the same holds for `y`: both numbers stay positive, and have more than `p + t - 1` words.
//! The upper parts are reduced in the same way, which gives `O(M(n) log n)`.

use super::division;
use super::jacobi::Symbol;
use super::limbs::{add_assign, is_less_trimmed, sub_assign, trim, trimmed};
use super::reciprocal::product;
use crate::Path;

/// The bound below which the sum of a row's entries stays.
const MOST: u64 = 1 << 31;

/// The rows of two numbers that were reached. A row has the factors of the two numbers that were
/// begun with.
type Rows = [[u64; 2]; 2];

/// The least number of words that are reduced by themselves. Of 50, 100, 200, 400 and 800, 50 and
/// 100 took the least time from 800 words on: at 1600 words half the time of one pass after the
/// other, and at 12800 a tenth (AVX-512, one number).
const HALVES: usize = 100;

/// The numbers of Euclid's algorithm, `a >= b`, without zeros at their ends.
pub(crate) struct Euclid {
    a: Vec<u64>,
    b: Vec<u64>,
    /// The cofactors of `a` and `b` without signs. For each number of the first pair whose
    /// cofactors are wanted, these are its factors in `a` and in `b`.
    cofactors: Vec<[Vec<u64>; 2]>,
    /// Whether the number of steps is odd. If it is, the factors in `a` are not positive for the
    /// first number and not negative for the second, and those in `b` are the other way round.
    is_odd: bool,
    /// The Jacobi symbol, if it is wanted.
    symbol: Option<Symbol>,
    /// The words that `b` has at least after every step, or 0 if it may be zero.
    least: usize,
    /// The words from which on numbers are reduced by halves: [`HALVES`], except in tests.
    halves: usize,
    path: Path,
}

impl Euclid {
    /// Euclid's algorithm on `a >= b`, without cofactors. Neither has zeros at its end.
    fn new(a: &[u64], b: &[u64], path: Path) -> Self {
        Euclid {
            a: a.to_vec(),
            b: b.to_vec(),
            cofactors: Vec::new(),
            is_odd: false,
            symbol: None,
            least: 0,
            halves: HALVES,
            path,
        }
    }

    /// The greatest common divisor of two numbers. Neither they nor the result have zeros at their
    /// ends.
    pub(crate) fn gcd(a: &[u64], b: &[u64], path: Path) -> Vec<u64> {
        let (a, b) = if is_less_trimmed(a, b) {
            (b, a)
        } else {
            (a, b)
        };
        Euclid::new(a, b, path).divisor()
    }

    fn divisor(mut self) -> Vec<u64> {
        self.run();
        self.a
    }

    /// The inverse of `a` modulo `m`, or `None` if there is none. `a < m`, and neither has zeros at
    /// its end.
    pub(crate) fn inverse(a: &[u64], m: &[u64], path: Path) -> Option<Vec<u64>> {
        Euclid::new(m, a, path).inverse_of_second()
    }

    fn inverse_of_second(mut self) -> Option<Vec<u64>> {
        let mut inverse = self.a.clone();
        self.cofactors = vec![[Vec::new(), vec![1]]];
        self.run();
        if self.a != [1] {
            return None;
        }
        let [[cofactor, _]] = self.cofactors.try_into().ok()?;
        // Modulo 1 every number is 0.
        if self.is_odd || cofactor.is_empty() {
            return Some(cofactor);
        }
        sub_assign(&mut inverse, &cofactor);
        Some(trim(inverse))
    }

    /// The Jacobi symbol of `a` over an odd `n > a`. Neither has zeros at its end.
    pub(super) fn symbol(n: &[u64], a: &[u64], path: Path) -> i8 {
        let low = |x: &[u64]| x.first().copied().unwrap_or(0);
        let mut euclid = Euclid::new(n, a, path);
        euclid.symbol = Some(Symbol::of(low(a), low(n)));
        euclid.run();
        match euclid.symbol {
            Some(symbol) if euclid.a == [1] => symbol.sign(),
            _ => 0,
        }
    }

    /// Takes as many quotients of `a` and `b`, in whatever order they are, as leave both at least
    /// `least` words, or all if that is 0. Neither has zeros at its end. Returns the numbers that
    /// are reached and, if they are wanted, their rows, with the signs of an even number of steps:
    /// `u a - v b` and `z b - w a` of `[[u, v], [w, z]]`. The steps are those of `symbol`, too.
    pub(crate) fn reduce(
        [a, b]: [&[u64]; 2],
        least: usize,
        has_rows: bool,
        symbol: Option<&mut Symbol>,
        path: Path,
    ) -> ([Vec<u64>; 2], [[Vec<u64>; 2]; 2]) {
        let is_swapped = is_less_trimmed(a, b);
        let [x, y] = if is_swapped { [b, a] } else { [a, b] };
        let mut euclid = Euclid {
            symbol: symbol.as_deref().copied(),
            least,
            ..Euclid::new(x, y, path)
        };
        if has_rows {
            euclid.cofactors = vec![[vec![1], Vec::new()], [Vec::new(), vec![1]]];
        }
        // An exchange is a step with a quotient of 0.
        let exchange = |euclid: &mut Euclid| {
            euclid.symbol.iter_mut().for_each(|symbol| symbol.step(0));
        };
        if is_swapped {
            exchange(&mut euclid);
        }
        euclid.run();
        let is_odd = euclid.is_odd != is_swapped;
        if is_odd {
            exchange(&mut euclid);
        }
        if let (Some(symbol), Some(made)) = (symbol, euclid.symbol) {
            *symbol = made;
        }
        let mut columns = euclid.cofactors.into_iter();
        let mut column = || columns.next().unwrap_or_default();
        let ([of_x, of_y], [by_x, by_y]) = (column(), column());
        let mut rows = [[of_x, by_x], [of_y, by_y]];
        let mut numbers = [euclid.a, euclid.b];
        if is_swapped {
            rows.iter_mut().for_each(|row| row.reverse());
        }
        if is_odd {
            numbers.reverse();
            rows.reverse();
        }
        (numbers, rows)
    }

    fn run(&mut self) {
        while !self.b.is_empty() && self.step() {}
    }

    /// Takes some quotients, if `b` then keeps its least number of words. Returns whether it did.
    fn step(&mut self) -> bool {
        if self.halve() {
            return true;
        }
        if self.least > 0 && self.a.len() < self.least + 2 {
            return false;
        }
        let mut symbol = self.symbol;
        match self.rows(&mut symbol) {
            Some((rows, is_odd)) => {
                self.symbol = symbol;
                self.replace(rows, is_odd);
            }
            None => return self.divide(),
        }
        true
    }

    /// Reduces the upper words by themselves, if both numbers are long. Returns whether it did.
    fn halve(&mut self) -> bool {
        let n = self.a.len();
        // If numbers are to keep `least` words, no more words than this can be left out.
        let p = match (self.least, self.cofactors.len()) {
            (0, 0) => n / 3 * 2,
            (0, _) => n / 2,
            (least, _) => (2 * least).saturating_sub(n + 1).clamp(n / 2, n),
        };
        let t = (n - p) / 2 + 1;
        if n - p < self.halves || self.b.len() <= p + t {
            return false;
        }
        let mut top = Euclid {
            cofactors: vec![[vec![1], Vec::new()], [Vec::new(), vec![1]]],
            symbol: self.symbol,
            least: t + 1,
            halves: self.halves,
            ..Euclid::new(&self.a[p..], &self.b[p..], self.path)
        };
        top.run();
        let Euclid {
            a,
            b,
            cofactors,
            is_odd,
            symbol,
            ..
        } = top;
        let Ok([[of_a, of_b], [by_a, by_b]]) = <[_; 2]>::try_from(cofactors) else {
            return false;
        };
        if by_a.is_empty() {
            // No quotient was certain.
            return false;
        }
        let rows = [[of_a, by_a], [of_b, by_b]];
        let low = |x: &[u64]| trim(x[..p].to_vec());
        let low = [low(&self.a), low(&self.b)];
        let whole = |top: Vec<u64>, row: &[Vec<u64>; 2], turned: bool| {
            let [first, second] = [0, 1].map(|i| product(&row[i], &low[i]));
            let (plus, minus) = if turned {
                (second, first)
            } else {
                (first, second)
            };
            let mut x = vec![0; p];
            x.extend(top);
            x.resize(x.len().max(plus.len()) + 1, 0);
            add_assign(&mut x, &plus);
            let borrow = sub_assign(&mut x, &minus);
            debug_assert!(!borrow);
            trim(x)
        };
        self.a = whole(a, &rows[0], is_odd);
        self.b = whole(b, &rows[1], !is_odd);
        for column in &mut self.cofactors {
            *column = [0, 1].map(|i| {
                let [mut sum, other] = [0, 1].map(|j| product(&rows[i][j], &column[j]));
                sum.resize(sum.len().max(other.len()) + 1, 0);
                add_assign(&mut sum, &other);
                trim(sum)
            });
        }
        self.is_odd ^= is_odd;
        self.symbol = symbol;
        if is_less_trimmed(&self.a, &self.b) {
            std::mem::swap(&mut self.a, &mut self.b);
            self.cofactors
                .iter_mut()
                .for_each(|column| column.reverse());
            self.is_odd = !self.is_odd;
            self.symbol.iter_mut().for_each(|symbol| symbol.step(0));
        }
        true
    }

    /// The rows that the top words allow, and whether the number of steps is odd, or `None` if no
    /// quotient is certain.
    fn rows(&self, symbol: &mut Option<Symbol>) -> Option<(Rows, bool)> {
        let (n, m) = (self.a.len(), self.b.len());
        if m + 1 < n {
            return None;
        }
        let word = |x: &[u64], i: usize| u128::from(x.get(i).copied().unwrap_or(0));
        let (mut x, mut y) = if n <= 2 {
            let both = |x: &[u64]| word(x, 1) << 64 | word(x, 0);
            (both(&self.a), both(&self.b))
        } else {
            let bits = self.a[n - 1].leading_zeros();
            let top = |x: &[u64]| {
                let both = word(x, n - 1) << 64 | word(x, n - 2);
                both << bits | word(x, n - 3) << bits >> 64
            };
            (top(&self.a), top(&self.b))
        };
        // This bounds the errors of `x` and `y`.
        let mut off = u64::from(n > 2);
        let (mut rows, mut is_odd) = ([[1, 0], [0, 1]], false);
        for _ in 0..2 {
            let cut = 64_u32.saturating_sub(x.leading_zeros());
            let off_in_words = match cut {
                0 => off,
                _ if off.checked_shr(cut).unwrap_or(0) == 0 => 2,
                _ => break,
            };
            let (next, turns) =
                quotients((x >> cut) as u64, (y >> cut) as u64, off_in_words, symbol);
            let of = |row: [u64; 2]| {
                let [u, v] = row.map(u128::from);
                u.wrapping_mul(x).wrapping_sub(v.wrapping_mul(y))
            };
            (x, y) = if turns {
                (of(next[0]).wrapping_neg(), of(next[1]))
            } else {
                (of(next[0]), of(next[1]).wrapping_neg())
            };
            rows = next.map(|[u, v]| [0, 1].map(|i| u * rows[0][i] + v * rows[1][i]));
            is_odd ^= turns;
            off *= MOST;
        }
        (rows[0][1] != 0).then_some((rows, is_odd))
    }

    /// Replaces both numbers by those of the rows.
    fn replace(&mut self, rows: Rows, is_odd: bool) {
        self.b.resize(self.a.len(), 0);
        // After an even number of steps the first row is u a - v b, and after an odd number v b - u
        // a. The second row has the other sign.
        let [[u, v], [w, z]] = rows;
        let ([u, v], [w, z]) = if is_odd {
            ([v, u], [z, w])
        } else {
            ([u, v], [w, z])
        };
        let (mut first, mut second) = (Difference::default(), Difference::default());
        for (a, b) in self.a.iter_mut().zip(&mut self.b) {
            let (x, y) = if is_odd { (*b, *a) } else { (*a, *b) };
            (*a, *b) = (first.next([u, x], [v, y]), second.next([z, y], [w, x]));
        }
        debug_assert!(first.is_zero() && second.is_zero());
        for x in [&mut self.a, &mut self.b] {
            x.truncate(trimmed(x).len());
        }
        for [of_a, of_b] in &mut self.cofactors {
            let n = of_a.len().max(of_b.len()) + 1;
            of_a.resize(n, 0);
            of_b.resize(n, 0);
            let (mut first, mut second) = (0_u128, 0_u128);
            for (x, y) in of_a.iter_mut().zip(of_b.iter_mut()) {
                let (wide_x, wide_y) = (u128::from(*x), u128::from(*y));
                let sum = |row: [u64; 2]| u128::from(row[0]) * wide_x + u128::from(row[1]) * wide_y;
                first += sum(rows[0]);
                second += sum(rows[1]);
                (*x, *y) = (first as u64, second as u64);
                (first, second) = (first >> 64, second >> 64);
            }
            for x in [of_a, of_b] {
                x.truncate(trimmed(x).len());
            }
        }
        self.is_odd ^= is_odd;
    }

    /// Takes one quotient of any size, if `b` then keeps its least number of words. Returns whether
    /// it did.
    fn divide(&mut self) -> bool {
        let (quotient, remainder) = division::div_rem(&self.a, &self.b, self.path);
        if remainder.len() < self.least {
            return false;
        }
        self.a = std::mem::replace(&mut self.b, remainder);
        let low = quotient.first().copied().unwrap_or(0);
        self.symbol.iter_mut().for_each(|symbol| symbol.step(low));
        for [of_a, of_b] in &mut self.cofactors {
            let mut sum = product(of_b, &quotient);
            sum.resize(sum.len().max(of_a.len()) + 1, 0);
            add_assign(&mut sum, of_a);
            *of_a = std::mem::replace(of_b, trim(sum));
        }
        self.is_odd = !self.is_odd;
        true
    }
}

/// The rows of all quotients of `x >= y` that are certain if both may be wrong by `off`, and
/// whether their number is odd. The quotients are steps of the symbol.
#[inline(always)]
fn quotients(mut x: u64, mut y: u64, off: u64, symbol: &mut Option<Symbol>) -> (Rows, bool) {
    let (mut of_x, mut of_y) = ([1, 0], [0, 1]);
    let mut is_odd = false;
    while y != 0 {
        let quotient = x / y;
        if quotient >= MOST {
            break;
        }
        let r = x - quotient * y;
        let of_r = [0, 1].map(|i| of_x[i] + quotient * of_y[i]);
        let sum = of_r[0] + of_r[1];
        if sum >= MOST || r < off * (sum + 1) || y - r < off * (sum + of_y[0] + of_y[1]) {
            break;
        }
        (x, y, of_x, of_y) = (y, r, of_y, of_r);
        is_odd = !is_odd;
        if let Some(symbol) = symbol {
            symbol.step(quotient);
        }
    }
    ([of_x, of_y], is_odd)
}

/// The difference of two products by a word, computed word by word from below.
#[derive(Default)]
struct Difference {
    carries: [u64; 2],
    borrow: bool,
}

impl Difference {
    /// The next word of `plus[0] plus[1] - minus[0] minus[1]`.
    #[inline(always)]
    fn next(&mut self, plus: [u64; 2], minus: [u64; 2]) -> u64 {
        let mut product = |i: usize, [u, x]: [u64; 2]| {
            let product = u128::from(u) * u128::from(x) + u128::from(self.carries[i]);
            self.carries[i] = (product >> 64) as u64;
            product as u64
        };
        let (plus, minus) = (product(0, plus), product(1, minus));
        let difference;
        (difference, self.borrow) = plus.borrowing_sub(minus, self.borrow);
        difference
    }

    /// Whether no carry and no borrow is left.
    fn is_zero(&self) -> bool {
        self.carries[0] == self.carries[1].wrapping_add(u64::from(self.borrow))
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Random, adversaries, big};
    use super::*;

    fn words(x: &BigUint) -> Vec<u64> {
        x.to_u64_digits()
    }

    /// Compares both algorithms, with halves used from so many words on, with Euclid's as textbooks
    /// have it.
    fn check(a: &[u64], b: &[u64], halves: usize) {
        let (a, b) = (trim(a.to_vec()), trim(b.to_vec()));
        let (a, b) = if is_less_trimmed(&a, &b) {
            (b, a)
        } else {
            (a, b)
        };
        let (mut x, mut y) = (big(&a), big(&b));
        while y != BigUint::ZERO {
            (x, y) = (y.clone(), x % y);
        }
        let euclid = |a: &[u64], b: &[u64]| Euclid {
            halves,
            ..Euclid::new(a, b, Path::best())
        };
        assert_eq!(big(&euclid(&a, &b).divisor()), x, "{halves}");
        check_reduced(&a, &b, &x);
        check_reduced(&b, &a, &x);
        if a == b {
            return;
        }
        let inverse = euclid(&a, &b).inverse_of_second();
        match inverse {
            Some(inverse) => {
                let one = BigUint::from(1u32) % big(&a);
                assert!(is_less_trimmed(&inverse, &a) && big(&inverse) * big(&b) % big(&a) == one);
            }
            None => assert_ne!(x, BigUint::from(1u32)),
        }
    }

    /// Checks what is reached, to the end and on the way, by its rows.
    fn check_reduced(a: &[u64], b: &[u64], divisor: &BigUint) {
        let n = a.len().max(b.len());
        for least in [0, n / 2 + 2, n / 3 + 1] {
            let ([x, y], [[u, v], [w, z]]) =
                Euclid::reduce([a, b], least, true, None, Path::best());
            let [u, v, w, z] = [u, v, w, z].map(|entry| big(&entry));
            let [p, q] = [big(a), big(b)];
            assert_eq!(big(&x) + &v * &q, &u * &p);
            assert_eq!(big(&y) + &w * &p, &z * &q);
            assert_eq!(&u * &z, &v * &w + 1u32);
            if least == 0 {
                assert!(x.is_empty() || y.is_empty());
                assert_eq!(big(&x) + big(&y), *divisor);
            } else if v != BigUint::ZERO || w != BigUint::ZERO {
                assert!(x.len().min(y.len()) >= least);
            }
            let (numbers, _) = Euclid::reduce([a, b], least, false, None, Path::best());
            if least == 0 {
                assert_eq!(big(&numbers[0]) + big(&numbers[1]), *divisor);
            }
        }
    }

    #[test]
    fn halves_are_what_one_quotient_after_the_other_is() {
        let mut random = Random(31);
        for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 40] {
            for halves in [2, 3, 4, 7] {
                let numbers = adversaries(n, &mut random);
                for a in &numbers {
                    for b in &numbers {
                        check(a, b, halves);
                        check(a, &b[..n / 2], halves);
                    }
                }
            }
        }
    }

    #[test]
    fn long_numbers_have_their_divisors() {
        let mut random = Random(37);
        let mut number = |n: usize| big(&(0..n).map(|_| random.next()).collect::<Vec<_>>());
        let power = |n: usize| BigUint::from(1u32) << (64 * n);
        // Neighbouring Fibonacci numbers have quotients of 1 alone.
        let (mut x, mut y) = (BigUint::from(1u32), BigUint::from(2u32));
        while y.bits() < 64 * 300 {
            (x, y) = (y.clone(), x + y);
        }
        check(&words(&y), &words(&x), 10);
        check(&words(&(&y * 7u32)), &words(&(&x * 7u32)), 200);
        for halves in [5, 40, 200] {
            let [g, a, b, c] = [100, 200, 201, 3].map(&mut number);
            for (a, b) in [
                (&g * &a, &g * &b),
                (&g * &c, &g * &a),
                (g.clone(), &g * &a),
                (&a * &b, &a * &b + 1u32),
                // These quotients take half of the words, at the top and below.
                (&a * power(200) + &c, b.clone()),
                ((power(150) + &c) * &a, power(150) * &a + &c),
                (power(400), power(400) - 1u32),
                (power(401) - 1u32, power(300) - 1u32),
                (power(300) + 1u32, power(299) + 1u32),
            ] {
                check(&words(&a), &words(&b), halves);
            }
        }
    }
}
