//! Moduli `k b^n + c`: what their transforms have beside those of `2^p - 1`.
//!
//! **Maths** [Crandall and Fagin 1994], [Percival 2003]. Let `d = |c|` and `v = n + log_b(k / d)`, so that
//! `b^v = k b^n / d` is 1 modulo `N = k b^n + c` for negative `c`, and -1 for positive. Word `j` of `L` stands at
//! the place `e(j) = ceil(v j / L)`, holds a digit of `e(j + 1) - e(j)` places, and is weighted by
//! `b^(e(j) - v j / L)`, which is from 1 to `b`. A convolution of weighted words, cyclic for negative `c` and
//! negacyclic for positive, gives words of the square, but those that go around the end have the factor `-c / k`. So
//! all are multiplied by `k`, and
//!
//! ```text
//! X -> k X^2,   which is   x -> x^2   for   X = x / k
//! ```
//!
//! A square multiplied so is a sum of integers where `k` is not below `d`. A carry `t` out of the last
//! word stands at the place `e(L) = n + s`. With `t b^s = k q + r` it is `-q c`, at place 0, and `r b^n`,
//! which is added to one of the last words.
//!
//! Example, `N = 3 10^4 - 1` in two words: `v = 4.477`, places 0, 3 and 5; words of three and two
//! digits. A carry 1 is `10^5 = 30000 3 + 10000`: 3 at place 0, and 1 at place 4. Modulo `3 10^4 + 1` it is -3 at
//! place 0.
//!
//! **Negacyclic.** Points `z[j]` are multiplied by `exp(-i pi j / M)` for a convolution modulo `x^M + 1`, so that
//! frequency `k` is that of `k + 1/2`. With `j = c + fast r` the twist is `exp(-i pi r / slow)`, one for each row
//! ([`twists`]), and the twiddles between columns and rows have half-odd frequencies of the slow index (`rows`).
//!
//! **Error.** The factor `k` takes half of its bits from each word. Words of two lengths have
//! weights apart by `b`, which takes some more. **Places** are `ceil(P j / (L S))` for an integer
//! `P` near `v S`, `S` a power of two, so that they and the exponents `g` are exact; what `P` lacks
//! is a factor of the weights, a product of one for the row and one for the column.

use std::collections::HashMap;

use super::{Length, root};
use crate::fast::divide;
use crate::fast::number::limbs::{add_assign, multiply_add, sub_assign, trim};
use crate::fast::number::reciprocal::product;

/// A modulus `k b^n + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus {
    /// The `k`.
    pub k: u64,
    /// The `b`.
    pub base: u32,
    /// The `n`.
    pub n: u32,
    /// The `c`, which is not 0.
    pub c: i64,
}

impl Modulus {
    /// The greatest `|c|` with transforms: the first word is `|c|` times as large as others.
    const MOST: u64 = 64;

    /// The modulus `k b^n + c` with powers of `b` in `k`, so that it is not below `|c|`; `None` where that is
    /// too large for a transform.
    ///
    /// ```
    /// use bigint_cpu::fast::number::weighted::Modulus;
    /// assert_eq!(Modulus::new(2, 3, 700, -11).map(|m| (m.k, m.n)), Some((18, 698)));
    /// assert_eq!(Modulus::new(2, 3, 700, 1000), None);
    /// ```
    pub fn new(k: u64, base: u32, n: u32, c: i64) -> Option<Self> {
        let (mut k, mut n) = (k, n);
        if c == 0 || c.unsigned_abs() > Self::MOST {
            return None;
        }
        while k < c.unsigned_abs() {
            (k, n) = (k.checked_mul(base.into())?, n.checked_sub(1)?);
        }
        Some(Modulus { k, base, n, c })
    }

    /// The modulus `2^p - 1`.
    pub const fn mersenne(p: u32) -> Self {
        let (k, base, n, c) = (1, 2, p, -1);
        Modulus { k, base, n, c }
    }

    /// The `p` of `2^p - 1`.
    pub fn exponent(self) -> Option<u32> {
        (self == Modulus::mersenne(self.n)).then_some(self.n)
    }

    /// Whether its convolutions are negacyclic.
    pub fn is_negacyclic(self) -> bool {
        self.c > 0
    }

    /// The digits in base `b`: `v`.
    fn digits(self) -> f64 {
        f64::from(self.n) + self.more()
    }

    /// `log_b(k / |c|)`.
    fn more(self) -> f64 {
        ((self.k as f64).log2() - (self.c.unsigned_abs() as f64).log2())
            / f64::from(self.base).log2()
    }

    /// The shortest length that is expected to be safe, or of the longer ones if there is a length
    /// that was not. `None` if there is none with words of 4 bits at least.
    pub fn length(self, longer_than: Option<Length>) -> Option<Length> {
        let longer_than = longer_than.map(Length::words);
        let mut lengths = Length::all().map(Length::words);
        let words = lengths.find(|&words| self.suits(words, longer_than))?;
        Length::of_words(words).filter(|_| self.fits(words, 4))
    }

    /// Whether the modulus has a layout in so many words, of 4 bits at least, in which carries die out in as many as `reach`.
    pub fn fits(self, words: usize, reach: usize) -> bool {
        let layout = Layout::new(self, words).filter(|layout| layout.reach <= reach);
        words as f64 * 4.0 <= self.bits() && layout.is_some()
    }

    /// The bits of the modulus.
    pub fn bits(self) -> f64 {
        self.digits() * f64::from(self.base).log2()
    }

    /// Whether rounding errors are expected to stay small in a transform of so many words; or whether it is longer
    /// than one in which they did not.
    pub fn suits(self, words: usize, longer_than: Option<usize>) -> bool {
        if let Some(before) = longer_than {
            return words > before;
        }
        let of_k = 0.5 * (self.k as f64).log2();
        let spread = |b: f64| 0.5 * ((b * b - 1.0) / (2.0 * b.ln())).log2();
        // All weights are 1 where all words have the same length.
        let is_even = self.more() == 0.0 && (self.n as usize).is_multiple_of(words);
        let of_weights = match is_even {
            true => 0.0,
            false => spread(self.base.into()),
        };
        let most = Length::most_bits(words) - of_k - (of_weights - spread(2.0));
        self.bits() / words as f64 <= most
    }
}

/// The factor of the points of each of `slow` rows for a negacyclic convolution: `exp(-i pi r / slow)`.
pub fn twists(slow: usize) -> Vec<[f64; 2]> {
    (0..slow as u64)
        .map(|row| root(row, 2 * slow as u64))
        .collect()
}

/// Where the words of a modulus are, and what goes around the end.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The modulus.
    pub modulus: Modulus,
    words: u64,
    /// `P`.
    places: u64,
    /// The unit of exponents: `L S`.
    pub unit: u64,
    /// What `P / S` is above `v`.
    above: f64,
    /// The places of the end above `n`: `s`.
    pub over: u32,
    /// The last word that begins at place `n` or before, one of the last [`reach`](Self::reach).
    pub word: usize,
    /// In how many words a carry dies out: four or eight.
    pub reach: usize,
    /// `b` to the difference of the two places.
    pub power: f64,
}

impl Layout {
    /// The layout in so many words. `None` if the end cannot be carried around.
    pub fn new(modulus: Modulus, words: usize) -> Option<Self> {
        let words = words as u64;
        let Modulus { k, base, n, c } = modulus;
        let d = c.unsigned_abs();
        if d == 0 || k < d || d > Modulus::MOST {
            return None;
        }
        // Sums of two exponents have 32 bits.
        let parts = match modulus.more() == 0.0 {
            true => 1,
            false => 1u64 << 30u32.checked_sub(words.ilog2())?.min(24),
        };
        let (more, scale) = (modulus.more(), parts as f64);
        let rest = (more * scale).round();
        let places = u64::from(n) as i128 * i128::from(parts) + rest as i128;
        let places = u64::try_from(places).ok()?;
        let unit = words * parts;
        let mut layout = Layout {
            modulus,
            words,
            places,
            unit,
            above: rest / scale - more,
            over: 0,
            word: 0,
            reach: 0,
            power: 1.0,
        };
        layout.over = u32::try_from(layout.start(words as usize).checked_sub(n.into())?).ok()?;
        if places < unit {
            return None;
        }
        let word = (0..words as usize)
            .rev()
            .find(|&j| layout.start(j) <= n.into())?;
        layout.word = word;
        layout.power = f64::from(base).powi((u64::from(n) - layout.start(word)) as i32);
        let over = f64::from(base).powi(layout.over as i32);
        let is_exact = f64::max(layout.power, over) * k as f64 <= (1u64 << 51) as f64;
        // A carry dies out there, also where a square is multiplied by 8.
        let [of_k, of_words] = [k, words].map(|x| (x as f64).log2());
        let bits = modulus.digits() * f64::from(base).log2() / words as f64;
        let dies_out = |reach: usize| {
            let is_short = of_k + 0.5 * of_words + 2.0 <= (reach - 1) as f64 * bits;
            word + reach >= words as usize && (k == 1 || is_short)
        };
        layout.reach = [4, 8].into_iter().find(|&reach| dies_out(reach))?;
        is_exact.then_some(layout)
    }

    /// The place at which word `j` begins.
    pub fn start(&self, j: usize) -> u64 {
        (u128::from(self.places) * j as u128).div_ceil(self.unit.into()) as u64
    }

    /// The exponent of the weight of word `j`, in parts of the unit.
    pub fn exponent(&self, j: usize) -> u64 {
        let unit = u128::from(self.unit);
        ((unit - u128::from(self.places) * j as u128 % unit) % unit) as u64
    }

    /// The weight of word `j` with this exponent.
    pub fn weight(&self, j: usize, g: u64) -> f64 {
        let part = g as f64 / self.unit as f64;
        if self.modulus.base == 2 && self.above == 0.0 {
            return part.exp2();
        }
        let part = part + j as f64 / self.words as f64 * self.above;
        (part * f64::from(self.modulus.base).log2()).exp2()
    }

    /// The places of the shorter words, and the exponent below which a word has one place more.
    pub fn short(&self) -> (u64, u64) {
        (self.places / self.unit, self.places % self.unit)
    }

    /// The word of `2^p - 1` that has this bit, and the bit's value there.
    ///
    /// # Panics
    /// If there is no such bit, or the modulus is another.
    pub fn bit(&self, bit: u32) -> (usize, f64) {
        let is_there = self.modulus.exponent().is_some_and(|p| bit < p);
        assert!(is_there, "a bit of 2^p - 1");
        let word = (u64::from(bit) * self.words / u64::from(self.modulus.n)) as usize;
        let within = u64::from(bit) - self.start(word);
        (word, (within as f64).exp2())
    }

    /// A carry out of the last word, and `-minus / k`: what is added to the first word, and the
    /// word and the amount that is added to it.
    pub(super) fn around(&self, carry: f64, minus: u32) -> (f64, usize, f64) {
        let Modulus { k, base, c, .. } = self.modulus;
        assert!(
            minus == 0 || c.abs() == 1,
            "1 / k is -c b^n where c is 1 or -1"
        );
        let (k, c) = (i128::from(k), i128::from(c));
        let above = carry as i128 * i128::from(base).pow(self.over) + i128::from(minus) * c;
        let q = (2 * above + k).div_euclid(2 * k);
        let r = above - q * k;
        ((-q * c) as f64, self.word, r as f64 * self.power)
    }

    /// The digits of a number below the modulus, on both sides of zero.
    pub fn digits(&self, limbs: &[u64]) -> Vec<i64> {
        let words = self.words as usize;
        let mut digits = vec![0; words];
        let mut powers = Powers::new(self.modulus.base);
        self.split(trim(limbs.to_vec()), 0, &mut digits, &mut powers);
        let mut carry = 0;
        let (last, others) = digits.split_last_mut().expect("there are words");
        for (j, digit) in others.iter_mut().enumerate() {
            let base = self.base(j);
            *digit += carry;
            carry = i64::from(*digit > base / 2);
            *digit -= carry * base;
        }
        *last += carry;
        digits
    }

    /// `b` to the places of word `j`.
    fn base(&self, j: usize) -> i64 {
        let places = self.start(j + 1) - self.start(j);
        i64::from(self.modulus.base).pow(places as u32)
    }

    /// Writes the digits of `x` from word `from` on.
    fn split(&self, x: Vec<u64>, from: usize, digits: &mut [i64], powers: &mut Powers) {
        if digits.len() <= SHORT {
            let mut x = x;
            for (digit, j) in digits.iter_mut().zip(from..) {
                *digit = match j + 1 == self.words as usize {
                    // The last word has all that is left: the number may reach behind the end.
                    true => x.first().copied().unwrap_or(0) as i64,
                    false => divide_short(&mut x, self.base(j) as u64) as i64,
                }
            }
            return;
        }
        let half = digits.len() / 2;
        let (low, high) = digits.split_at_mut(half);
        let power = powers.of(self.start(from + half) - self.start(from));
        let mut rest = vec![0; power.len()];
        let mut quotient = vec![0; (x.len() + 1).saturating_sub(power.len())];
        divide(&mut quotient, &mut rest, &x, power);
        self.split(trim(rest), from, low, powers);
        self.split(trim(quotient), from + half, high, powers);
    }

    /// The number with these digits and a carry out of the last word: its magnitude, and whether it is negative.
    pub fn value(&self, mut digits: Vec<i64>, end: i64) -> (Vec<u64>, bool) {
        let mut carry = 0;
        for (j, digit) in digits.iter_mut().enumerate() {
            let (sum, base) = (*digit + carry, self.base(j));
            *digit = sum.rem_euclid(base);
            carry = sum.div_euclid(base);
        }
        carry += end;
        let mut powers = Powers::new(self.modulus.base);
        let low = self.join(&digits, 0, &mut powers);
        let end = powers.of(self.start(digits.len()));
        let mut end = product(end, &[carry.unsigned_abs()]);
        if carry < 0 {
            sub_assign(&mut end, &low);
        } else {
            end.resize(end.len().max(low.len()) + 1, 0);
            add_assign(&mut end, &low);
        }
        (end, carry < 0)
    }

    fn join(&self, digits: &[i64], from: usize, powers: &mut Powers) -> Vec<u64> {
        if digits.len() <= SHORT {
            let mut x = Vec::new();
            for (i, &digit) in digits.iter().enumerate().rev() {
                multiply_add(&mut x, self.base(from + i) as u64, digit as u64);
            }
            return x;
        }
        let half = digits.len() / 2;
        let low = self.join(&digits[..half], from, powers);
        let high = self.join(&digits[half..], from + half, powers);
        let power = powers.of(self.start(from + half) - self.start(from));
        let mut sum = product(&high, power);
        sum.resize(sum.len().max(low.len()) + 1, 0);
        add_assign(&mut sum, &low);
        trim(sum)
    }
}

/// The words that are split and joined one by one.
const SHORT: usize = 32;

/// Powers of the base, each computed once.
struct Powers {
    base: u32,
    known: HashMap<u64, Vec<u64>>,
}

impl Powers {
    fn new(base: u32) -> Self {
        let known = HashMap::new();
        Powers { base, known }
    }

    fn of(&mut self, exponent: u64) -> &[u64] {
        if !self.known.contains_key(&exponent) {
            let power = match exponent {
                0 => vec![1],
                _ => {
                    let half = self.of(exponent / 2).to_vec();
                    let mut square = product(&half, &half);
                    if exponent % 2 == 1 {
                        multiply_add(&mut square, self.base.into(), 0);
                    }
                    square
                }
            };
            self.known.insert(exponent, power);
        }
        &self.known[&exponent]
    }
}

/// Replaces `x` by `x / d`, and returns the remainder.
fn divide_short(x: &mut [u64], d: u64) -> u64 {
    let mut rest = 0;
    for limb in x.iter_mut().rev() {
        let wide = u128::from(rest) << 64 | u128::from(*limb);
        *limb = (wide / u128::from(d)) as u64;
        rest = (wide % u128::from(d)) as u64;
    }
    rest
}
