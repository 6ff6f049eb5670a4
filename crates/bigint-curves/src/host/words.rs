//! Numbers of 256 bits in four words.
//!
//! No branch depends on numbers: secrets are computed with, too.

use crate::shared::field::Limbs;

/// A number of 256 bits, the lowest word first.
pub type Words = [u64; 4];

/// The words of a number.
#[inline(always)]
pub fn of_limbs(limbs: Limbs) -> Words {
    std::array::from_fn(|i| u64::from(limbs[2 * i]) | u64::from(limbs[2 * i + 1]) << 32)
}

/// The limbs of a number.
#[inline(always)]
pub fn limbs(words: Words) -> Limbs {
    std::array::from_fn(|i| (words[i / 2] >> (32 * (i % 2))) as u32)
}

/// The number that 32 bytes are, the highest first.
pub fn of_big_endian(bytes: &[u8; 32]) -> Words {
    let mut words = of_little_endian(bytes);
    words.reverse();
    words.map(u64::swap_bytes)
}

/// The number that 32 bytes are, the lowest first.
pub fn of_little_endian(bytes: &[u8; 32]) -> Words {
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

/// The 32 bytes of a number, the lowest first.
pub fn bytes(words: Words) -> [u8; 32] {
    std::array::from_fn(|i| (words[i / 8] >> (8 * (i % 8))) as u8)
}

/// `a + b + carry` and the carry out.
#[inline(always)]
pub const fn add_word(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = a as u128 + b as u128 + carry as u128;
    (sum as u64, (sum >> 64) as u64)
}

/// `a - b - borrow` and the borrow out.
#[inline(always)]
pub const fn subtract_word(a: u64, b: u64, borrow: u64) -> (u64, u64) {
    let difference = (a as u128).wrapping_sub(b as u128 + borrow as u128);
    (difference as u64, (difference >> 64) as u64 & 1)
}

/// `sum + a b + carry`, its lower and its upper word.
#[inline(always)]
pub const fn multiply_word(sum: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    let product = sum as u128 + a as u128 * b as u128 + carry as u128;
    (product as u64, (product >> 64) as u64)
}

/// `a + b` modulo `2^256`, and the carry.
#[inline(always)]
pub const fn add(a: Words, b: Words) -> (Words, u64) {
    let (r0, c) = add_word(a[0], b[0], 0);
    let (r1, c) = add_word(a[1], b[1], c);
    let (r2, c) = add_word(a[2], b[2], c);
    let (r3, c) = add_word(a[3], b[3], c);
    ([r0, r1, r2, r3], c)
}

/// `a - b` modulo `2^256`, and the borrow.
#[inline(always)]
pub const fn subtract(a: Words, b: Words) -> (Words, u64) {
    let (r0, c) = subtract_word(a[0], b[0], 0);
    let (r1, c) = subtract_word(a[1], b[1], c);
    let (r2, c) = subtract_word(a[2], b[2], c);
    let (r3, c) = subtract_word(a[3], b[3], c);
    ([r0, r1, r2, r3], c)
}

/// Half of `a`, or of `a + m` where `a` is odd, for an odd `m`.
#[inline(always)]
pub fn half(a: Words, m: Words) -> Words {
    let mask = (a[0] & 1).wrapping_neg();
    let ([r0, r1, r2, r3], carry) = add(a, m.map(|word| word & mask));
    [
        r0 >> 1 | r1 << 63,
        r1 >> 1 | r2 << 63,
        r2 >> 1 | r3 << 63,
        r3 >> 1 | carry << 63,
    ]
}

/// Bit by bit `a` where `mask` has a 1, `b` where it has a 0.
#[inline(always)]
pub fn select(mask: u64, a: Words, b: Words) -> Words {
    std::array::from_fn(|i| b[i] ^ (a[i] ^ b[i]) & mask)
}

/// Whether `a < b`.
pub fn is_less(a: Words, b: Words) -> bool {
    subtract(a, b).1 == 1
}

/// `a b`, the lower and the upper half.
#[inline(always)]
pub fn product(a: Words, b: Words) -> [Words; 2] {
    let mut r = [0; 8];
    for i in 0..4 {
        let mut carry = 0;
        for j in 0..4 {
            (r[i + j], carry) = multiply_word(r[i + j], a[i], b[j], carry);
        }
        r[i + 4] = carry;
    }
    halves(r)
}

/// `a a`, the lower and the upper half: each product of two different words once, twice their sum, and the
/// squares of words.
#[inline(always)]
pub fn square(a: Words) -> [Words; 2] {
    let (r1, c) = multiply_word(0, a[0], a[1], 0);
    let (r2, c) = multiply_word(0, a[0], a[2], c);
    let (r3, r4) = multiply_word(0, a[0], a[3], c);
    let (r3, c) = multiply_word(r3, a[1], a[2], 0);
    let (r4, r5) = multiply_word(r4, a[1], a[3], c);
    let (r5, r6) = multiply_word(r5, a[2], a[3], 0);
    let twice = [
        r1 << 1,
        r2 << 1 | r1 >> 63,
        r3 << 1 | r2 >> 63,
        r4 << 1 | r3 >> 63,
        r5 << 1 | r4 >> 63,
        r6 << 1 | r5 >> 63,
        r6 >> 63,
    ];
    let mut r = [0; 8];
    let mut carry = 0;
    for i in 0..4 {
        let (low, high) = multiply_word(0, a[i], a[i], 0);
        let below = if i == 0 { 0 } else { twice[2 * i - 1] };
        (r[2 * i], carry) = add_word(low, below, carry);
        (r[2 * i + 1], carry) = add_word(high, twice[2 * i], carry);
    }
    halves(r)
}

/// The lower and the upper half.
#[inline(always)]
fn halves([a, b, c, d, e, f, g, h]: [u64; 8]) -> [Words; 2] {
    [[a, b, c, d], [e, f, g, h]]
}
