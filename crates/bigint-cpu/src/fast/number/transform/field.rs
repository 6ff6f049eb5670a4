//! The four prime fields, arithmetic on eight residues at a time, and roots of unity.
//!
//! **Primes.** They are `p = k 2^32 + 1`, below `2^52 / 10`, so that a residue that has grown to
//! `10 p` is still a factor of 52 bits. Their product is above `2^194.7`.
//!
//! **Factors.** With AVX-512 a constant `w` is stored as the pair `(m, q)` with `m = w R mod p`,
//! `q = m p^-1 mod R` and `R = 2^52`. For any `0 <= a < R`, with `u = a q mod R`,
//!
//! ```text
//! u p = a m (mod R)   so   T = hi(a m) - hi(u p) = (a m - u p) / R = a w (mod p)
//! 0 <= hi(a m) < p  and  0 <= hi(u p) < p   give   -p < T < p
//! ```
//!
//! A product takes two high halves, one low half and no comparison. This is Montgomery's reduction
//! with the quotient's multiplication moved into the table. The files of the other rings describe
//! their forms.
//!
//! **Roots.** If `j` has the bits `b_0 b_1 ...` from the lowest on, `roots[j]` is
//! `exp(2 pi i (b_0 / 4 + b_1 / 8 + ...))`. So `roots[2 j]^2 = roots[j]` and
//! `roots[2 j + 1] = i roots[2 j]`. This is what the halves `x^m - roots[j]` and `x^m + roots[j]`
//! of `x^2m - roots[j]^2` need when they are split in turn. Inverses come from the same table: if
//! `d` is the highest bit of `j > 0`, `roots[j]^-1 = -roots[j ^ (2^d - 1)]`.

use super::super::limbs::inverse;
use crate::memory::empty;

/// The primes, the largest first.
pub(super) const PRIMES: [u64; 4] = [
    450353090789377,
    450262896476161,
    450138342424577,
    450112572620801,
];

/// A root of unity of order `2^32` modulo each prime.
const GENERATORS: [u64; 4] = [
    407114040879882,
    324783984928124,
    217614390938480,
    197854141653706,
];

const LOG_ORDER: u32 = 32;

/// The bits of the shortest pieces of numbers from which coefficients are made.
pub(super) const MIN_H: u32 = 40;

/// Eight residues, or eight integers. Every pass reads and writes memory in this unit.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Row(pub(super) [u64; 8]);

impl Row {
    pub(super) const ZERO: Row = Row([0; 8]);
}

/// The words of some rows, one row after the other.
#[inline(always)]
pub(super) fn words<const ROWS: usize, const WORDS: usize>(rows: &[Row; ROWS]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (to, row) in words.chunks_exact_mut(8).zip(rows) {
        to.copy_from_slice(&row.0);
    }
    words
}

/// A constant as two words, in the form that the ring multiplies by.
pub(super) type Stored = [u64; 2];

/// Arithmetic modulo one prime `p` on one part of a row at a time, which has as many residues as
/// the machine's registers take.
///
/// Residues are reduced loosely. The bounds below are those of the rings in integers, and every
/// caller keeps them. The ring in doubles has its residues on both sides of zero and keeps tighter
/// bounds.
pub(super) trait Ring: Copy {
    /// The number of parts of a row.
    const PARTS: usize;
    /// The logarithm `log2 R` of the `R` by which the pointwise product divides.
    const LOG_RADIX: u32 = 64;
    /// Loosely reduced residues, one part of a row.
    type Residues: Copy;
    /// Integers below `2^52`, one part of a row.
    type Integers: Copy;
    /// A constant, ready to multiply by.
    type Factor: Copy;

    fn load(self, part: usize, row: &Row) -> Self::Residues;
    fn store(self, part: usize, row: &mut Row, x: Self::Residues);
    /// Returns the same constant in all places.
    fn factor(self, stored: &Stored) -> Self::Factor;

    /// Returns `(x + T, x - T)`, where `T = a w` and `-p < T < p`, for `0 <= a < 10 p`.
    fn butterfly(
        self,
        x: Self::Residues,
        a: Self::Residues,
        w: Self::Factor,
    ) -> [Self::Residues; 2];
    /// Returns `a w` in `(0, 2p)`, for `0 <= a < 10 p`.
    fn mul(self, a: Self::Residues, w: Self::Factor) -> Self::Residues;
    /// Returns `a + b`.
    fn add(self, a: Self::Residues, b: Self::Residues) -> Self::Residues;
    /// Returns `a - b + 2p`.
    fn sub2(self, a: Self::Residues, b: Self::Residues) -> Self::Residues;
    /// Returns `a - b + 4p`.
    fn sub4(self, a: Self::Residues, b: Self::Residues) -> Self::Residues;
    /// Returns `x + p`, which leaves room for one butterfly below it.
    fn raise(self, x: Self::Residues) -> Self::Residues;
    /// Brings residues from `[0, 8p)` to `[2p, 6p)`, which leaves room for two butterflies.
    fn lift(self, x: Self::Residues) -> Self::Residues;
    /// Brings residues from `[0, 8p)` to `[0, 4p)`.
    fn fold8(self, x: Self::Residues) -> Self::Residues;
    /// Brings residues from `[0, 4p)` to `[0, 2p)`.
    fn fold4(self, x: Self::Residues) -> Self::Residues;

    /// Returns integers below `2^52` as residues.
    fn residues(self, x: Self::Integers) -> Self::Residues;
    /// Returns the integers in `[0, p)` that residues in `[0, 2p)` stand for.
    fn canonical(self, x: Self::Residues) -> Self::Integers;
    /// Returns pieces `2 i` and `2 i + 1`, of `h` bits each, of the number `limbs`, for the
    /// coefficients `i` in this part of row `row`. The number is continued by zeros.
    fn pieces(self, part: usize, limbs: &[u64], row: usize, h: u32) -> [Self::Integers; 2];
    /// Loads integers below `2^52`.
    fn integers(self, part: usize, row: &Row) -> Self::Integers;
    /// Stores integers as they are.
    fn store_integers(self, part: usize, row: &mut Row, x: Self::Integers);
}

/// Multiplies modulo `p` for constants and tables, where speed does not matter.
pub(super) const fn mul_mod(a: u64, b: u64, p: u64) -> u64 {
    (a as u128 * b as u128 % p as u128) as u64
}

pub(super) const fn pow_mod(mut base: u64, mut exponent: u64, p: u64) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = mul_mod(power, base, p);
        }
        base = mul_mod(base, base, p);
        exponent >>= 1;
    }
    power
}

/// The inverse `a^-1 mod p`.
pub(super) const fn inverse_mod(a: u64, p: u64) -> u64 {
    pow_mod(a % p, p - 2, p)
}

/// The inverse `p^-1 mod 2^52`.
pub(super) const fn inverse_mod_radix(p: u64) -> u64 {
    inverse(p) & ((1 << 52) - 1)
}

/// The form of a constant for multipliers of 52 bits, `(w R mod p, w R p^-1 mod R)`.
pub(super) const fn montgomery(w: u64, prime: usize) -> Stored {
    let p = PRIMES[prime];
    let m = mul_mod(w, mul_mod(1 << 26, 1 << 26, p), p);
    [m, m.wrapping_mul(inverse_mod_radix(p)) & ((1 << 52) - 1)]
}

/// The roots of unity of every order up to `4 len`, in the order that the head of this file
/// describes.
pub(super) fn roots(prime: usize, len: usize, stored: fn(u64, usize) -> Stored) -> Vec<Stored> {
    assert!(len.is_power_of_two() && len.ilog2() + 2 <= LOG_ORDER);
    let p = PRIMES[prime];
    let mut values = empty(len);
    values.push(1);
    for d in 0..len.ilog2() {
        // Bit d of an index stands for a turn by 1/2^(d + 2).
        let turn = pow_mod(GENERATORS[prime], 1 << (LOG_ORDER - d - 2), p);
        let [m, q] = montgomery(turn, prime);
        for j in 0..values.len() {
            values.push(multiply(values[j], m, q, p));
        }
    }
    let mut roots = empty(len);
    roots.extend(values.into_iter().map(|w| stored(w, prime)));
    roots
}

/// Returns `a w mod p` for `w` in Montgomery's form. Tables are so long that the time of a division
/// for each entry would show.
fn multiply(a: u64, m: u64, q: u64, p: u64) -> u64 {
    const MASK: u64 = (1 << 52) - 1;
    let u = a.wrapping_mul(q) & MASK;
    let high = |x: u64, y: u64| ((u128::from(x) * u128::from(y)) >> 52) as u64;
    let (t, s) = (high(a, m), high(u, p));
    if t >= s { t - s } else { t + p - s }
}
