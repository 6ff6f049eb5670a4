//! Euclid's algorithm on one number by Lehmer's steps, and by halves where it is long: greatest
//! common divisors, and the cofactors that modular inverses are.
//!
//! The top 64 bits `x >= y` of both stand for them: quotients of these are theirs as long as
//! what is cut off cannot change one. Where each is off by no more than `E`, and with the rows
//! `x = |u a - v b|` and so on of what has been reached, quotient by quotient, the next
//! remainder `r` of `x` by `y` is the numbers' own if
//!
//! ```text
//! r >= E (u' + v' + 1),    y - r >= E (u + u' + v + v')
//! ```
//!
//! `(u, v)` the row of `y` and `(u', v')` that of `r` (after [Jebelean 1995]; these
//! conditions do not depend on which sign is whose). That makes rows below `2^31`. They are applied to the top 128 bits, the top 64 of what these leave
//! give rows once more, and the product of both takes some 62 bits from the numbers by one
//! pass, which leaves numbers of `n` words no shorter than `n - 2`: `r` is one more than it may
//! be off. Numbers of two words are their own tops, and nothing is cut off in the end: `E = 0`.
//! Where not one quotient is certain, because it is too large, the numbers are divided.
//!
//! Signs of a row alternate, so that magnitudes are kept and a flag; cofactors go through the
//! same rows with sums in the place of differences.
//!
//! Cost: `n / 62` passes of 4 products a word, and a division of words for each 1.7 bits;
//! large quotients cost one of numbers, which takes as many bits.
//!
//! **Halves** (after [Möller 2008]). What is above the lowest `p` words of both stands for them
//! longer, if it keeps more than half of its words. With `k` words above, reduced to `x` and `y`, both of more
//! than `t = k / 2 + 1` words, the rows `(u, v)` of `x` and `(u', v')` of `y` have entries below
//! `x / B` and `y / B`, `B = 2^64`, as a row's entry times the other's number is no more than what
//! was begun with. So
//!
//! ```text
//! u a - v b = x B^p + (u a_low - v b_low)  >  (x - v) B^p  >=  B^(p + t - 1)
//! ```
//!
//! and the like: both stay positive, and of more than `p + t - 1` words. The top is reduced in
//! the same way, which makes `O(M(n) log n)`.

use super::division;
use super::limbs::{add_assign, is_less_trimmed, sub_assign, trim, trimmed};
use super::reciprocal::product;
use crate::Path;

/// What a row's entries add up to stays below this.
const MOST: u64 = 1 << 31;

/// Two numbers that were reached in terms of those that were begun with: a row each.
type Rows = [[u64; 2]; 2];

/// Words that are reduced by themselves at least. Of 50, 100, 200, 400 and 800, 50 and 100 took the
/// least time from 800 words on: at 1600 half of what one pass after the other took, at 12800 a
/// tenth (AVX-512, one number).
const HALVES: usize = 100;

/// The numbers of Euclid's algorithm, `a >= b`, without zeros on top.
pub(crate) struct Euclid {
    a: Vec<u64>,
    b: Vec<u64>,
    /// The cofactors of `a` and `b` without signs: for each number of the first pair whose
    /// cofactors are wanted, how often it goes into `a` and into `b`.
    cofactors: Vec<[Vec<u64>; 2]>,
    /// Whether the number of steps is odd: then `a` has the first number negative or not at all,
    /// and the second positive, `b` the other way round.
    is_odd: bool,
    /// Words that `b` has at least after every step; 0 where it may be zero.
    least: usize,
    /// Words from which on numbers are reduced by halves: [`HALVES`], but for tests.
    halves: usize,
    path: Path,
}

impl Euclid {
    /// Euclid's algorithm on `a >= b`, trimmed, without cofactors.
    fn new(a: &[u64], b: &[u64], path: Path) -> Self {
        Euclid {
            a: a.to_vec(),
            b: b.to_vec(),
            cofactors: Vec::new(),
            is_odd: false,
            least: 0,
            halves: HALVES,
            path,
        }
    }

    /// The greatest common divisor, trimmed, of both, trimmed.
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

    /// The inverse of `a` modulo `m`, both trimmed, `a < m`; none where there is none.
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
        // Modulo 1 everything is 0.
        if self.is_odd || cofactor.is_empty() {
            return Some(cofactor);
        }
        sub_assign(&mut inverse, &cofactor);
        Some(trim(inverse))
    }

    fn run(&mut self) {
        while !self.b.is_empty() && self.step() {}
    }

    /// Takes some quotients, if `b` keeps its least number of words.
    fn step(&mut self) -> bool {
        if self.halve() {
            return true;
        }
        if self.least > 0 && self.a.len() < self.least + 2 {
            return false;
        }
        match self.rows() {
            Some((rows, is_odd)) => self.reduce(rows, is_odd),
            None => return self.divide(),
        }
        true
    }

    /// Reduces the upper words by themselves, where both numbers are long.
    fn halve(&mut self) -> bool {
        let n = self.a.len();
        // Of numbers that are to keep `least` words, no more than so many can be left out.
        let p = match (self.least, self.cofactors.len()) {
            (0, 0) => n / 3 * 2,
            (0, _) => n / 2,
            (least, _) => (2 * least).saturating_sub(n + 1).max(n / 2),
        };
        let t = (n - p) / 2 + 1;
        if n - p < self.halves || self.b.len() <= p + t {
            return false;
        }
        let mut top = Euclid {
            cofactors: vec![[vec![1], Vec::new()], [Vec::new(), vec![1]]],
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
        if is_less_trimmed(&self.a, &self.b) {
            std::mem::swap(&mut self.a, &mut self.b);
            self.cofactors
                .iter_mut()
                .for_each(|column| column.reverse());
            self.is_odd = !self.is_odd;
        }
        true
    }

    /// The rows that the top words allow, and whether their number is odd; none where no
    /// quotient is certain.
    fn rows(&self) -> Option<(Rows, bool)> {
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
        // What `x` and `y` may be off by.
        let mut off = u64::from(n > 2);
        let (mut rows, mut is_odd) = ([[1, 0], [0, 1]], false);
        for _ in 0..2 {
            let cut = 64_u32.saturating_sub(x.leading_zeros());
            let off_in_words = match cut {
                0 => off,
                _ if off.checked_shr(cut).unwrap_or(0) == 0 => 2,
                _ => break,
            };
            let (next, turns) = quotients((x >> cut) as u64, (y >> cut) as u64, off_in_words);
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

    /// Replaces both numbers by what their rows make of them.
    fn reduce(&mut self, rows: Rows, is_odd: bool) {
        self.b.resize(self.a.len(), 0);
        // Of an even number of steps the first row is u a - v b, of an odd one v b - u a,
        // and the second row the other way round.
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

    /// Takes one quotient of any size, if `b` keeps its least number of words.
    fn divide(&mut self) -> bool {
        let (quotient, remainder) = division::div_rem(&self.a, &self.b, self.path);
        if remainder.len() < self.least {
            return false;
        }
        self.a = std::mem::replace(&mut self.b, remainder);
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

/// The rows of as many quotients of `x >= y` as are certain where both may be `off` by so much,
/// and whether their number is odd.
#[inline(always)]
fn quotients(mut x: u64, mut y: u64, off: u64) -> (Rows, bool) {
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
    }
    ([of_x, of_y], is_odd)
}

/// The difference of two products of a word, one word after another from below.
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

    /// Whether nothing is left above.
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

    /// Compares both algorithms, with halves used from so many words on, with Euclid's as it stands
    /// in books.
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
        // Neighbours among Fibonacci's numbers have quotients of 1 alone.
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
                // Quotients that take half of the words, on top and below.
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
