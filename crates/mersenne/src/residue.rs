//! Exact residues modulo `k b^n + c`.

use std::panic::resume_unwind;
use std::sync::Arc;

use bigint_cpu::Path;
use bigint_cpu::fast::number;
use bigint_host::{Batch, BigUint, Engine, Layout, Shape};

use crate::division::Divisor;
use crate::{Error, Number};

/// A residue modulo `k b^n + c`, as the number below it. Clones share its limbs.
///
/// ```
/// use mersenne::{Number, Residue};
/// let three = Residue::from_u64(7, 3); // modulo 127
/// let nine = three.mul(&three);
/// assert_eq!(nine.mul(&nine), Residue::from_u64(7, 81));
/// assert_eq!(nine.mul(&nine).mul(&nine), Residue::from_u64(7, 729 % 127));
/// assert_eq!(nine.divided_by_9(), Residue::from_u64(7, 1));
/// let number = Number::new(3, 5, true).unwrap(); // 97
/// assert_eq!(Residue::from_u64(number, 60).square_minus(1, 0).res64(), 3600 % 97);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residue {
    number: Number,
    limbs: Arc<Vec<u64>>,
}

impl Residue {
    /// `x` modulo the number.
    pub fn from_u64(number: impl Into<Number>, x: u64) -> Self {
        Self::reduce(number, &[x])
    }

    /// The number with these limbs, least significant first, modulo `number`. The time is linear in
    /// the number of limbs, for up to twice as many as the modulus has.
    pub fn reduce(number: impl Into<Number>, limbs: &[u64]) -> Self {
        Self::reduced(number.into(), limbs.to_vec())
    }

    /// As [`Residue::reduce`], in place.
    fn reduced(number: Number, mut x: Vec<u64>) -> Self {
        if !number.is_binary() {
            let limbs = Divisor::of(number).remainder(x, number.limbs());
            return Self::of(number, limbs);
        }
        // x = (q k + r) 2^n + low, and k 2^n = -c: x = r 2^n + low - c q.
        let mut is_negative = false;
        loop {
            let mut q = take_above(&mut x, number.n());
            let r = divide(&mut q, number.k());
            x.resize(number.limbs() + 1, 0);
            add(&mut x, &shifted(r, number.n()));
            trim(&mut q);
            if q.is_empty() {
                break;
            }
            if number.c() < 0 {
                x.resize(x.len().max(q.len()) + 1, 0);
                add(&mut x, &q);
            } else {
                x.resize(x.len().max(q.len()), 0);
                if subtract(&mut x, &q) {
                    negate(&mut x);
                    is_negative = !is_negative;
                }
            }
        }
        // 0 <= x <= k 2^n.
        x.truncate(number.limbs());
        let modulus = modulus(number);
        if x == modulus[..x.len()] {
            x.fill(0);
        }
        if is_negative && x.iter().any(|&limb| limb != 0) {
            let positive = std::mem::replace(&mut x, modulus);
            subtract(&mut x, &positive);
            x.truncate(number.limbs());
        }
        Self::of(number, x)
    }

    fn of(number: Number, limbs: Vec<u64>) -> Self {
        let limbs = Arc::new(limbs);
        Residue { number, limbs }
    }

    /// The modulus.
    pub fn number(&self) -> Number {
        self.number
    }

    /// The limbs, as many as the modulus has.
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The low 64 bits, which hunters compare.
    pub fn res64(&self) -> u64 {
        self.limbs[0]
    }

    /// The product with `other`, by the engine's exact multiplication on all cores; linear where one of them
    /// is small.
    #[must_use]
    pub fn mul(&self, other: &Residue) -> Residue {
        let [x, y] = [self, other].map(|x| {
            let zeros = x.limbs.iter().rev().take_while(|&&limb| limb == 0);
            &x.limbs[..(x.limbs.len() - zeros.count()).max(1)]
        });
        let mut product = zeros(x.len() + y.len());
        number::mul(&mut product, x, y, Path::best(), true);
        Self::reduced(self.number, product)
    }

    /// `by self^2 - minus`.
    #[must_use]
    pub fn square_minus(&self, by: u32, minus: u32) -> Residue {
        let mut square = zeros(2 * self.limbs.len());
        number::mul(&mut square, &self.limbs, &self.limbs, Path::best(), true);
        if by != 1 {
            multiply(&mut square, by);
        }
        let square = Self::reduced(self.number, square);
        square.minus(&Self::from_u64(self.number, minus.into()))
    }

    /// The difference `self - other`.
    #[must_use]
    pub fn minus(self, other: &Residue) -> Residue {
        let mut limbs = Arc::unwrap_or_clone(self.limbs);
        limbs.push(0);
        if subtract(&mut limbs, &other.limbs) {
            add(&mut limbs, &modulus(self.number));
        }
        limbs.truncate(self.number.limbs());
        Self::of(self.number, limbs)
    }

    /// The sum of `self` and `other`.
    #[must_use]
    pub fn plus(self, other: &Residue) -> Residue {
        let zero = Self::from_u64(self.number, 0);
        self.minus(&zero.minus(other))
    }

    /// The power with an exponent that is not 0.
    #[must_use]
    pub fn pow(&self, exponent: u64) -> Residue {
        let mut power = self.clone();
        for bit in (0..exponent.ilog2()).rev() {
            power = power.square_minus(1, 0);
            if exponent >> bit & 1 == 1 {
                power = power.mul(self);
            }
        }
        power
    }

    /// The quotient by 9, modulo a number that 3 does not divide.
    ///
    /// # Panics
    /// If 3 divides it, as it does `2^p - 1` for even `p`.
    #[must_use]
    pub fn divided_by_9(&self) -> Residue {
        self.divided_by(9)
    }

    /// The product with a small number.
    #[must_use]
    pub fn times(&self, m: u32) -> Residue {
        let mut limbs = self.limbs.to_vec();
        multiply(&mut limbs, m);
        Self::reduced(self.number, limbs)
    }

    /// The quotient by a small number that has no divisor in common with the modulus.
    ///
    /// # Panics
    /// If it has one.
    #[must_use]
    pub fn divided_by(&self, d: u32) -> Residue {
        // self + t number is a multiple of d for one t below d.
        let number = u64::from(self.number.modulo(d));
        let digits = self.limbs.iter().rev();
        let rest = digits.fold(0, |rest, &limb| {
            ((u128::from(rest) << 64 | u128::from(limb)) % u128::from(d)) as u64
        });
        let wide = u64::from(d);
        let inverse = inverse(number, wide).expect("no common divisor");
        let t = (wide - rest) % wide * inverse % wide;
        let mut sum = modulus(self.number);
        multiply(&mut sum, t as u32);
        add(&mut sum, &self.limbs);
        let rest = divide(&mut sum, d);
        debug_assert_eq!(rest, 0);
        sum.truncate(self.number.limbs());
        Self::of(self.number, sum)
    }

    /// The product with `2^bits`.
    #[must_use]
    pub fn shifted(&self, bits: u32) -> Residue {
        let (words, bits) = (bits as usize / 64, bits % 64);
        let mut limbs = zeros(words + self.limbs.len() + 1);
        for (i, &limb) in (words..).zip(self.limbs.iter()) {
            let wide = u128::from(limb) << bits;
            limbs[i] |= wide as u64;
            limbs[i + 1] = (wide >> 64) as u64;
        }
        Self::reduced(self.number, limbs)
    }

    /// The little-endian bytes, as many as the modulus has: the form in files.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.limbs.iter().flat_map(|limb| limb.to_le_bytes());
        bytes.take(self.number.bytes()).collect()
    }

    /// The residue with these little-endian bytes.
    pub fn from_bytes(number: impl Into<Number>, bytes: &[u8]) -> Self {
        let limb = |chunk: &[u8]| {
            let mut limb = [0; 8];
            limb[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(limb)
        };
        let limbs: Vec<u64> = bytes.chunks(8).map(limb).collect();
        Self::reduced(number.into(), limbs)
    }

    /// The residue with these little-endian bytes, if they are as many as the modulus has and those of
    /// a number below it that is not 0.
    pub fn unit_from_bytes(number: impl Into<Number>, bytes: &[u8]) -> Option<Self> {
        let residue = Self::from_bytes(number, bytes);
        let is_zero = residue.limbs.iter().all(|&limb| limb == 0);
        (!is_zero && residue.to_bytes() == bytes).then_some(residue)
    }

    /// The greatest common divisor of the residue and the modulus; the modulus itself for 0. It takes
    /// as long as some thousands of squarings, on the CPU.
    ///
    /// # Errors
    /// If the host lacks memory.
    pub fn divisor(&self) -> Result<BigUint, Error> {
        let engine = Engine::cpu();
        let [residue, modulus] = self.with_modulus(&engine)?;
        let divisor = engine.gcd(&residue, &modulus)?;
        Ok(divisor.to_biguints()?.swap_remove(0))
    }

    /// The Jacobi symbol of the residue over the modulus: -1, 0 or 1. It takes about as long as
    /// [`Residue::divisor`].
    ///
    /// # Errors
    /// If the host lacks memory.
    pub fn jacobi(&self) -> Result<i32, Error> {
        let engine = Engine::cpu();
        let [residue, modulus] = self.with_modulus(&engine)?;
        let symbol = engine.jacobi(&residue, &modulus)?.to_limbs()?[0];
        Ok(symbol as i32 - 1)
    }

    /// The residue and the modulus, which has no more limbs.
    fn with_modulus(&self, engine: &Engine) -> Result<[Batch; 2], Error> {
        let row = |x: &[u64]| {
            let halves = x
                .iter()
                .flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
            let limbs: Vec<u32> = halves.collect();
            let shape = Shape {
                count: 1,
                width: limbs.len(),
                layout: Layout::Contiguous,
            };
            engine.batch_from_limbs(limbs, shape)
        };
        let (len, modulus) = (self.limbs.len(), modulus(self.number));
        Ok([row(&self.limbs)?, row(&modulus[..len])?])
    }

    /// The residue with one bit of its limbs flipped, as a fault of memory does: for tests of the
    /// checks.
    #[must_use]
    pub fn with_flipped_bit(&self, bit: u32) -> Residue {
        let mut limbs = self.limbs.to_vec();
        limbs[bit as usize / 64] ^= 1 << (bit % 64);
        Self::reduced(self.number, limbs)
    }
}

/// The inverse of `a` modulo `m`, both below 2^32.
fn inverse(a: u64, m: u64) -> Option<u64> {
    let (mut r, mut s) = ([m, a % m], [0, 1 % m]);
    while r[1] != 0 {
        let q = r[0] / r[1];
        r = [r[1], r[0] % r[1]];
        s = [s[1], (s[0] + (m - q % m) * s[1]) % m];
    }
    (r[0] == 1).then_some(s[0] % m)
}

/// Zeros, or a panic that [`or_out_of_memory`](crate::error::or_out_of_memory) makes an error of.
pub(crate) fn zeros(length: usize) -> Vec<u64> {
    bigint_cpu::zeroed(length).unwrap_or_else(|error| resume_unwind(Box::new(error)))
}

/// The modulus itself. It may have one bit more than the numbers below it.
pub(crate) fn modulus(number: Number) -> Vec<u64> {
    if !number.is_binary() {
        let mut limbs = Divisor::of(number).limbs().to_vec();
        limbs.resize(number.limbs() + 1, 0);
        return limbs;
    }
    let mut limbs = shifted(number.k(), number.n());
    limbs.resize(number.limbs() + 1, 0);
    if number.c() < 0 {
        subtract(&mut limbs, &[1]);
    } else {
        add(&mut limbs, &[1]);
    }
    limbs
}

/// The limbs of `x 2^n`.
fn shifted(x: u32, n: u32) -> Vec<u64> {
    let mut limbs = vec![0; n as usize / 64];
    let x = u128::from(x) << (n % 64);
    limbs.extend([x as u64, (x >> 64) as u64]);
    trim(&mut limbs);
    limbs
}

pub(crate) fn trim(x: &mut Vec<u64>) {
    let length = x
        .iter()
        .rposition(|&limb| limb != 0)
        .map_or(0, |top| top + 1);
    x.truncate(length);
}

/// Removes the bits from `n` on from `x`, and returns them.
fn take_above(x: &mut Vec<u64>, n: u32) -> Vec<u64> {
    let (at, shift) = (n as usize / 64, n % 64);
    if x.len() <= at {
        return Vec::new();
    }
    let mut above = x[at..].to_vec();
    if shift > 0 {
        for i in 0..above.len() {
            let next = above.get(i + 1).copied().unwrap_or(0);
            above[i] = above[i] >> shift | next << (64 - shift);
        }
    }
    x.truncate(at + 1);
    x[at] &= (1 << shift) - 1;
    above
}

/// Replaces `x` by `x / k`, and returns the remainder.
fn divide(x: &mut [u64], k: u32) -> u32 {
    if k == 1 {
        return 0;
    }
    let k = u64::from(k);
    let mut left = 0;
    for limb in x.iter_mut().rev() {
        let high = left << 32 | *limb >> 32;
        let low = (high % k) << 32 | (*limb & u64::from(u32::MAX));
        *limb = ((high / k) << 32) | (low / k);
        left = low % k;
    }
    left as u32
}

/// Replaces `x` by `k x`.
pub(crate) fn multiply(x: &mut Vec<u64>, k: u32) {
    let mut carry = 0;
    for limb in x.iter_mut() {
        (*limb, carry) = limb.carrying_mul(k.into(), carry);
    }
    x.push(carry);
}

/// Replaces `x` by `x + y`, which fits.
pub(crate) fn add(x: &mut [u64], y: &[u64]) {
    let mut carry = false;
    for (i, limb) in x.iter_mut().enumerate() {
        if i >= y.len() && !carry {
            break;
        }
        (*limb, carry) = limb.carrying_add(y.get(i).copied().unwrap_or(0), carry);
    }
}

/// Replaces `x` by `x - y`, and returns whether `x < y`; then the result is modulo a power of 2. `y`
/// is no longer than `x`.
pub(crate) fn subtract(x: &mut [u64], y: &[u64]) -> bool {
    let mut borrow = false;
    for (i, limb) in x.iter_mut().enumerate() {
        if i >= y.len() && !borrow {
            break;
        }
        (*limb, borrow) = limb.borrowing_sub(y.get(i).copied().unwrap_or(0), borrow);
    }
    borrow
}

/// Replaces `x` by `-x` modulo a power of 2.
fn negate(x: &mut [u64]) {
    for limb in x.iter_mut() {
        *limb = !*limb;
    }
    add(x, &[1]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn value(limbs: &[u64]) -> BigUint {
        let halves = limbs
            .iter()
            .flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
        BigUint::new(halves.collect())
    }

    #[test]
    fn residues_are_those_of_num_bigint() {
        let mut seed = 1u64;
        let mut random = |n: usize| -> Vec<u64> {
            let mut next = || {
                seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                match seed >> 61 {
                    0 => u64::MAX,
                    1 => 0,
                    _ => seed,
                }
            };
            (0..n).map(|_| next()).collect()
        };
        let others = [1, 2, 40, 100, 700, 1400, 3000].into_iter().flat_map(|n| {
            [3u32, 10, 1000, 4_294_967_295]
                .into_iter()
                .flat_map(move |b| {
                    let pairs = [
                        (1, 4),
                        (2, -1),
                        (77, 2),
                        (78, -5),
                        (u64::from(u32::MAX) - 1, 1),
                    ];
                    pairs
                        .into_iter()
                        .filter_map(move |(k, c)| Number::of(k, b, n, c).ok())
                })
        });
        let numbers = [2, 3, 5, 7, 61, 63, 64, 65, 127, 128, 129, 191, 521, 1279]
            .into_iter()
            .flat_map(|n| [1, 3, 5, 77, 0x8000_0001, u32::MAX].map(|k| (k, n)))
            .flat_map(|(k, n)| [false, true].map(|is_plus| Number::new(k, n, is_plus).unwrap()));
        for number in numbers.chain(others) {
            let power = BigUint::from(number.base()).pow(number.n()) * number.k();
            let modulus = if number.c() < 0 {
                power - number.c().unsigned_abs()
            } else {
                power + number.c().unsigned_abs()
            };
            // Long numbers take most of the time.
            let pairs = if number.limbs() < 100 { 6 } else { 2 };
            for _ in 0..bigint_testing::sweep(pairs, 2 * pairs) {
                let [x, y] = [(); 2].map(|()| random(2 * number.limbs()));
                let (a, b) = (Residue::reduce(number, &x), Residue::reduce(number, &y));
                assert_eq!(value(a.limbs()), value(&x) % &modulus, "{number}");
                let difference = value(&x) % &modulus + &modulus - value(&y) % &modulus;
                assert_eq!(value(a.clone().minus(&b).limbs()), difference % &modulus);
                for bits in [0, 1, 63, 64, number.n() - 1, number.n()] {
                    let shifted = (value(&x) << bits) % &modulus;
                    assert_eq!(value(a.shifted(bits).limbs()), shifted, "{number} {bits}");
                }
                for m in [1, 2, 3, 10, 77, u32::MAX] {
                    let times = a.times(m);
                    assert_eq!(
                        value(times.limbs()),
                        value(&x) * m % &modulus,
                        "{number} {m}"
                    );
                    if inverse(number.modulo(m).into(), m.into()).is_some() {
                        assert_eq!(times.divided_by(m), a, "{number} {m}");
                    }
                }
                assert_eq!(value(a.pow(5).limbs()), value(&x).pow(5) % &modulus);
                assert_eq!(value(a.mul(&b).limbs()), value(&x) * value(&y) % &modulus);
                let square = value(&x).pow(2) * 3u32 + &modulus * 2u32 - 2u32;
                assert_eq!(
                    value(a.square_minus(3, 2).limbs()),
                    square % &modulus,
                    "{number}"
                );
                if number.modulo(3) != 0 {
                    let ninth = a.divided_by_9();
                    assert_eq!(value(ninth.limbs()) * 9u32 % &modulus, value(a.limbs()));
                }
                assert_eq!(Residue::from_bytes(number, &a.to_bytes()), a);
                let is_unit = value(a.limbs()) != BigUint::ZERO;
                let found = Residue::unit_from_bytes(number, &a.to_bytes());
                assert_eq!(found, is_unit.then_some(a.clone()));
            }
            // The modulus, and what is next to it.
            let next = &modulus - 1u32;
            for (x, left) in [(&modulus, 0u32.into()), (&next, next.clone())] {
                let a = Residue::from_bytes(number, &x.to_bytes_le());
                assert_eq!(value(a.limbs()), left, "{number}");
                let mut bytes = x.to_bytes_le();
                bytes.resize(number.bytes(), 0);
                let found = Residue::unit_from_bytes(number, &bytes);
                assert_eq!(found.is_some(), left != BigUint::ZERO, "{number}");
            }
        }
    }
}
