//! Remainders modulo numbers `k b^n + c` that have no short cut.
//!
//! **Maths** [Barrett 1986]. Let `N` have `m` limbs, `B = 2^64`, and `u = floor(B^(2m+1) / N)`. For `x` of at
//! most `2m + 1` limbs
//!
//! ```text
//! q = floor(floor(x / B^(m-1)) u / B^(m+2))   is   floor(x / N) or at most 3 less
//! ```
//!
//! An example with decimal limbs: `N = 47`, `u = 100000 / 47 = 2127`, `x = 2021`: `202 2127 / 10^4 = 42`,
//! and `2021 - 42 47 = 47`, once more: 43 and 0.
//!
//! **Cost**: two products of numbers as long as `N`, beside that for the square. `k 2^n - 1` and
//! `k 2^n + 1` have none of it: see [`Residue`](crate::Residue).

use std::sync::{Arc, Mutex, PoisonError};

use bigint_cpu::Path;
use bigint_cpu::fast::{divide, number};

use crate::Number;
use crate::residue::{add, subtract, trim, zeros};

/// The limbs below which a division without a reciprocal is as fast.
const SHORT: usize = 24;

/// A number by which others are divided.
pub(crate) struct Divisor {
    number: Number,
    /// The number, whose top limb is not 0.
    limbs: Vec<u64>,
    /// `u`; empty for a short number.
    reciprocal: Vec<u64>,
}

/// The divisors that were last used: a residue only knows its number.
static LAST: Mutex<Vec<Arc<Divisor>>> = Mutex::new(Vec::new());

/// The divisors that are kept.
const KEPT: usize = 4;

impl Divisor {
    /// The divisor for a number, made if it is none of the last ones.
    pub(crate) fn of(number: Number) -> Arc<Self> {
        let find = |last: &[Arc<Divisor>]| {
            let found = last.iter().find(|divisor| divisor.number == number);
            found.cloned()
        };
        let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&last()) {
            return found;
        }
        // Without the lock: it takes its time.
        let made = Arc::new(Divisor::new(number));
        let mut last = last();
        last.insert(0, made.clone());
        last.truncate(KEPT);
        made
    }

    fn new(number: Number) -> Self {
        let mut limbs = product(&power(number.base(), number.n()), &[number.k().into()]);
        limbs.push(0);
        let c = [number.c().unsigned_abs().into()];
        if number.c() < 0 {
            subtract(&mut limbs, &c);
        } else {
            add(&mut limbs, &c);
        }
        trim(&mut limbs);
        let mut reciprocal = Vec::new();
        if limbs.len() >= SHORT {
            let mut top = zeros(2 * limbs.len() + 2);
            top[2 * limbs.len() + 1] = 1;
            reciprocal = zeros(limbs.len() + 3);
            divide(&mut reciprocal, &mut [], &top, &limbs);
            trim(&mut reciprocal);
        }
        Divisor {
            number,
            limbs,
            reciprocal,
        }
    }

    /// The number's limbs, of which the top one is not 0.
    pub(crate) fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The remainder of a number, in so many limbs.
    pub(crate) fn remainder(&self, mut x: Vec<u64>, length: usize) -> Vec<u64> {
        trim(&mut x);
        let m = self.limbs.len();
        if x.len() < m {
            x.resize(length, 0);
            return x;
        }
        if self.reciprocal.is_empty() || x.len() > 2 * m + 1 {
            let mut rest = zeros(m);
            divide(&mut [], &mut rest, &x, &self.limbs);
            rest.resize(length, 0);
            return rest;
        }
        let mut quotient = product(&x[m - 1..], &self.reciprocal);
        quotient.drain(..(m + 2).min(quotient.len()));
        trim(&mut quotient);
        // What is left is below 4 N: the limbs above that cancel.
        let mut multiple = product(&quotient, &self.limbs);
        x.resize(x.len().max(m + 1), 0);
        x.truncate(m + 1);
        multiple.truncate(m + 1);
        subtract(&mut x, &multiple);
        loop {
            let mut less = x.clone();
            if subtract(&mut less, &self.limbs) {
                break;
            }
            x = less;
        }
        x.resize(length.max(m), 0);
        x.truncate(length);
        x
    }
}

/// The product of two numbers.
pub(crate) fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut r = zeros(a.len() + b.len());
    number::mul(&mut r, a, b, Path::best(), true);
    r
}

/// `b^n`.
pub(crate) fn power(b: u32, n: u32) -> Vec<u64> {
    let mut power = vec![1];
    for bit in (0..u32::BITS - n.leading_zeros()).rev() {
        power = product(&power, &power);
        if n >> bit & 1 == 1 {
            power = product(&power, &[b.into()]);
        }
        trim(&mut power);
    }
    power
}
