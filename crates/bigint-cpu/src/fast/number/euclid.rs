//! Euclid's algorithm on one number by Lehmer's steps: greatest common divisors, and the
//! cofactors that modular inverses are.
//!
//! As long as both numbers are long, their top 128 bits `x >= y` stand for them: quotients
//! of these are theirs as long as what is cut off cannot change one. With the rows
//! `x = |u a - v b|` and so on of what has been reached, quotient by quotient, the next
//! remainder `r` of `x` by `y` is the numbers' own if
//!
//! ```text
//! r >= max(u', v'),    y - r >= max(u + u', v + v'),
//! ```
//!
//! `(u, v)` the row of `y` and `(u', v')` that of `r` (after Jebelean, *A double-digit
//! Lehmer-Euclid algorithm*, 1995; these conditions do not ask which sign is whose). The
//! rows, below `2^62`, then take some 62 bits from both numbers by one pass. Where not one
//! quotient is certain, because it is too large, the numbers are divided.
//!
//! Signs of a row alternate, so that magnitudes are kept and a flag; cofactors go through the
//! same rows with sums in the place of differences.
//!
//! Cost: `n / 62` passes of 4 products a word; large quotients cost one division, which
//! takes as many bits.

use super::division;
use super::limbs::{add_assign, sub_assign, trim};
use super::root::is_less;
use crate::Path;

/// A row's entries stay below this.
const MOST: u64 = 1 << 62;

/// The numbers of Euclid's algorithm, `a >= b`, without zeros on top.
pub(crate) struct Euclid {
    a: Vec<u64>,
    b: Vec<u64>,
    /// How often the first number goes into `a` and `b`, without signs; empty where nobody
    /// asks.
    cofactors: Option<[Vec<u64>; 2]>,
    /// Whether the cofactor of `a` is negative or zero and that of `b` positive.
    turned: bool,
    path: Path,
}

impl Euclid {
    /// The greatest common divisor, trimmed, of both, trimmed.
    pub(crate) fn gcd(a: &[u64], b: &[u64], path: Path) -> Vec<u64> {
        let (a, b) = if is_less(a, b) { (b, a) } else { (a, b) };
        let mut euclid = Euclid {
            a: a.to_vec(),
            b: b.to_vec(),
            cofactors: None,
            turned: true,
            path,
        };
        euclid.run();
        euclid.a
    }

    /// The inverse of `a` modulo `m`, both trimmed, `a < m`; none where there is none.
    pub(crate) fn inverse(a: &[u64], m: &[u64], path: Path) -> Option<Vec<u64>> {
        let mut euclid = Euclid {
            a: m.to_vec(),
            b: a.to_vec(),
            cofactors: Some([Vec::new(), vec![1]]),
            turned: true,
            path,
        };
        euclid.run();
        if euclid.a != [1] {
            return None;
        }
        let [cofactor, _] = euclid.cofactors?;
        if cofactor.is_empty() {
            // Modulo 1 everything is 0.
            return Some(Vec::new());
        }
        if !euclid.turned {
            return Some(cofactor);
        }
        let mut inverse = m.to_vec();
        sub_assign(&mut inverse, &cofactor);
        Some(trim(inverse))
    }

    fn run(&mut self) {
        while !self.b.is_empty() {
            let rows = self.rows();
            match rows {
                Some((rows, turns)) => self.reduce(rows, turns),
                None => self.divide(),
            }
        }
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
                || r < of_r[0].max(of_r[1]).into()
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
        if let Some([of_a, of_b]) = &mut self.cofactors {
            let n = of_a.len().max(of_b.len()) + 1;
            of_a.resize(n, 0);
            of_b.resize(n, 0);
            let (mut first, mut second) = (0_u128, 0_u128);
            for (x, y) in of_a.iter_mut().zip(of_b) {
                let (wide_x, wide_y) = (u128::from(*x), u128::from(*y));
                let sum = |row: [u64; 2]| u128::from(row[0]) * wide_x + u128::from(row[1]) * wide_y;
                first += sum(rows[0]);
                second += sum(rows[1]);
                (*x, *y) = (first as u64, second as u64);
                (first, second) = (first >> 64, second >> 64);
            }
        }
        if let Some(cofactors) = &mut self.cofactors {
            cofactors.iter_mut().for_each(trim_in_place);
        }
        self.turned ^= odd;
    }

    /// One quotient, whatever it is.
    fn divide(&mut self) {
        let (quotient, remainder) = division::div_rem(&self.a, &self.b, self.path);
        self.next(quotient, remainder);
    }

    /// Goes on with `b` and `remainder`.
    fn next(&mut self, quotient: Vec<u64>, remainder: Vec<u64>) {
        self.a = std::mem::replace(&mut self.b, remainder);
        if let Some([of_a, of_b]) = &mut self.cofactors {
            let mut sum = vec![0; of_b.len() + quotient.len()];
            super::mul(&mut sum, of_b, &quotient, self.path, false);
            sum.resize(sum.len().max(of_a.len()) + 1, 0);
            add_assign(&mut sum, of_a);
            *of_a = std::mem::replace(of_b, trim(sum));
        }
        self.turned = !self.turned;
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
