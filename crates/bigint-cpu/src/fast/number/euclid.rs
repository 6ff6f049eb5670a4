//! Euclid's algorithm on one number by Lehmer's steps, and by halves where it is long: greatest
//! common divisors, and the cofactors that modular inverses are.
//!
//! As long as both numbers are long, their top 128 bits `x >= y` stand for them: quotients
//! of these are theirs as long as what is cut off cannot change one. With the rows
//! `x = |u a - v b|` and so on of what has been reached, quotient by quotient, the next
//! remainder `r` of `x` by `y` is the numbers' own if
//!
//! ```text
//! r > max(u', v'),    y - r >= max(u + u', v + v'),
//! ```
//!
//! `(u, v)` the row of `y` and `(u', v')` that of `r` (after Jebelean, *A double-digit
//! Lehmer-Euclid algorithm*, 1995; these conditions do not ask which sign is whose, and leave
//! numbers of `n` words no shorter than `n - 2`). The
//! rows, below `2^62`, then take some 62 bits from both numbers by one pass. Where not one
//! quotient is certain, because it is too large, the numbers are divided.
//!
//! Signs of a row alternate, so that magnitudes are kept and a flag; cofactors go through the
//! same rows with sums in the place of differences.
//!
//! Cost: `n / 62` passes of 4 products a word; large quotients cost one division, which
//! takes as many bits.
//!
//! **Halves.** (After Moeller, *On Schoenhage's algorithm and subquadratic integer gcd
//! computation*, 2008.) What is above the lowest `p` words of both stands for them longer, if it
//! keeps more than half of its words. With `k` words above, reduced to `x` and `y`, both of more
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
use super::limbs::{add_assign, sub_assign, trim};
use super::reciprocal::product;
use super::root::is_less;
use crate::Path;

/// A row's entries stay below this.
const MOST: u64 = 1 << 62;

/// Words that are reduced by themselves at least. Of 50, 100, 200, 400 and 800, 50 and 100 took the
/// least time from 800 words on: at 1600 half of what one pass after the other took, at 12800 a
/// tenth (a busy machine with AVX-512, one number).
const HALVES: usize = 100;

/// The numbers of Euclid's algorithm, `a >= b`, without zeros on top.
pub(crate) struct Euclid {
    a: Vec<u64>,
    b: Vec<u64>,
    /// How often the numbers that were begun with go into `a` and `b`, without signs: of each of
    /// those that are asked for.
    cofactors: Vec<[Vec<u64>; 2]>,
    /// Whether the number of steps is odd: then `a` has the first number negative or not at all,
    /// and the second positive, `b` the other way round.
    is_odd: bool,
    /// Words that `b` has at least after every step; 0 where it may be zero.
    least: usize,
    /// [`HALVES`].
    halves: usize,
    path: Path,
}

impl Euclid {
    /// Of `a >= b`, trimmed, without cofactors.
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
        let (a, b) = if is_less(a, b) { (b, a) } else { (a, b) };
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

    /// Some quotients, if `b` keeps its least number of words.
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
        if is_less(&self.a, &self.b) {
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
    fn rows(&self) -> Option<([[u64; 2]; 2], bool)> {
        let (n, m) = (self.a.len(), self.b.len());
        if n < 3 || m + 1 < n {
            return None;
        }
        let bits = self.a[n - 1].leading_zeros();
        let top = |x: &[u64]| {
            let word = |i: usize| u128::from(x.get(i).copied().unwrap_or(0));
            let both = word(n - 1) << 64 | word(n - 2);
            both << bits | word(n - 3) << bits >> 64
        };
        let (mut x, mut y) = (top(&self.a), top(&self.b));
        let (mut of_x, mut of_y) = ([1, 0], [0, 1]);
        let mut odd = false;
        while y != 0 {
            let (quotient, r) = quotient(x, y);
            let Ok(quotient) = u64::try_from(quotient) else {
                break;
            };
            let next = |i: usize| {
                let product = u128::from(quotient) * u128::from(of_y[i]) + u128::from(of_x[i]);
                u64::try_from(product).unwrap_or(u64::MAX)
            };
            let of_r = [next(0), next(1)];
            if of_r[0].max(of_r[1]) >= MOST
                || r <= of_r[0].max(of_r[1]).into()
                || y - r < (of_r[0] + of_y[0]).max(of_r[1] + of_y[1]).into()
            {
                break;
            }
            (x, y, of_x, of_y) = (y, r, of_y, of_r);
            odd = !odd;
        }
        (of_x[1] != 0).then_some(([of_x, of_y], odd))
    }

    /// Both numbers by their rows.
    fn reduce(&mut self, rows: [[u64; 2]; 2], odd: bool) {
        let n = self.a.len();
        self.b.resize(n, 0);
        // Of an even number of steps the first row is u a - v b, of an odd one v b - u a,
        // and the second row the other way round.
        let signed = |x: u64| i128::from(x);
        let sign = if odd { -1 } else { 1 };
        let (mut first, mut second) = (0_i128, 0_i128);
        for (a, b) in self.a.iter_mut().zip(&mut self.b) {
            let (x, y) = (signed(*a), signed(*b));
            first += (signed(rows[0][0]) * x - signed(rows[0][1]) * y) * sign;
            second += (signed(rows[1][1]) * y - signed(rows[1][0]) * x) * sign;
            (*a, *b) = (first as u64, second as u64);
            (first, second) = (first >> 64, second >> 64);
        }
        debug_assert!(first == 0 && second == 0);
        trim_in_place(&mut self.a);
        trim_in_place(&mut self.b);
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
            trim_in_place(of_a);
            trim_in_place(of_b);
        }
        self.is_odd ^= odd;
    }

    /// One quotient, whatever it is, if `b` keeps its least number of words.
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

/// `x / y` and `x mod y`; most quotients are small.
#[inline(always)]
fn quotient(x: u128, y: u128) -> (u128, u128) {
    let mut r = x;
    for quotient in 0..4 {
        if r < y {
            return (quotient, r);
        }
        r -= y;
    }
    (4 + r / y, r % y)
}

fn trim_in_place(x: &mut Vec<u64>) {
    *x = trim(std::mem::take(x));
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Random, adversaries, big};
    use super::*;

    fn words(x: &BigUint) -> Vec<u64> {
        x.to_u64_digits()
    }

    /// The same by halves of numbers of so many words on, compared with Euclid's algorithm as it
    /// stands in books.
    fn check(a: &[u64], b: &[u64], halves: usize) {
        let (a, b) = (trim(a.to_vec()), trim(b.to_vec()));
        let (a, b) = if is_less(&a, &b) { (b, a) } else { (a, b) };
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
                assert!(is_less(&inverse, &a) && big(&inverse) * big(&b) % big(&a) == one);
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
