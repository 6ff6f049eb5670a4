//! Basic operations on 64-bit limbs, least significant limb first: carry chains, shifts,
//! comparisons, copies, and the inverse of a word.
//!
//! All algorithms above the base case are built from these loops. Carry chains are computed in
//! chunks of [`CHUNK`] limbs, within which the compiler keeps the carry in the machine's flag
//! (`adc`, `sbb`). Between chunks it would move the carry to a register and back, which takes
//! longer than the chunk. So a chunk does not wait for the one before it. The carry is added
//! afterwards, and seldom goes further than one limb.

use std::hint::select_unpredictable;

use bigint_core::{LIMB_BITS, Limb};

/// The limbs of a chunk, in which the carry stays in the machine's flag.
const CHUNK: usize = 4;

/// Adds with carry: `a + b + carry` as (low limb, carry out).
#[inline(always)]
pub(crate) const fn add_with_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (s, c0) = a.overflowing_add(b);
    let (s, c1) = s.overflowing_add(carry as u64);
    (s, c0 | c1)
}

/// Subtracts with borrow: `a - b - borrow` as (low limb, borrow out).
#[inline(always)]
pub(crate) const fn sub_with_borrow(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (d, b0) = a.overflowing_sub(b);
    let (d, b1) = d.overflowing_sub(borrow as u64);
    (d, b0 | b1)
}

/// Stores `sum`, with the carry from below added or subtracted by `f`. Returns the carry out of
/// both.
#[inline(always)]
fn put(
    r: &mut [u64; CHUNK],
    (mut sum, carry): ([u64; CHUNK], bool),
    carry_in: bool,
    f: impl Fn(u64, u64, bool) -> (u64, bool),
) -> bool {
    let passes;
    (sum[0], passes) = f(sum[0], 0, carry_in);
    *r = sum;
    carry | (passes && hand_on(&mut r[1..], f))
}

/// Propagates a carry. Returns the carry out.
#[cold]
fn hand_on(a: &mut [u64], f: impl Fn(u64, u64, bool) -> (u64, bool)) -> bool {
    a.iter_mut().all(|x| {
        let carry;
        (*x, carry) = f(*x, 0, true);
        carry
    })
}

/// Applies `f` to `a` and `b`, limb by limb. Returns its results and the carry out.
#[inline(always)]
fn chunk(
    a: &[u64; CHUNK],
    b: &[u64; CHUNK],
    f: impl Fn(u64, u64, bool) -> (u64, bool),
) -> ([u64; CHUNK], bool) {
    let (mut r, mut carry) = ([0; CHUNK], false);
    for i in 0..CHUNK {
        (r[i], carry) = f(a[i], b[i], carry);
    }
    (r, carry)
}

/// `a += b` or `a -= b`, for the same length. `f` is the operation on one limb. Returns the
/// carry out.
#[inline(always)]
fn chain(a: &mut [u64], b: &[u64], f: impl Fn(u64, u64, bool) -> (u64, bool) + Copy) -> bool {
    debug_assert!(a.len() == b.len());
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks_mut(), b.as_chunks());
    let mut carry = false;
    for (a, b) in a.iter_mut().zip(b) {
        carry = put(a, chunk(a, b, f), carry, f);
    }
    for (a, &b) in a_rest.iter_mut().zip(b_rest) {
        (*a, carry) = f(*a, b, carry);
    }
    carry
}

/// `r = a - b`, for the same length of all. Returns the borrow out.
#[inline]
pub(crate) fn sub(r: &mut [u64], a: &[u64], b: &[u64]) -> bool {
    debug_assert!(r.len() == a.len() && a.len() == b.len());
    let ((r, r_rest), (a, a_rest), (b, b_rest)) = (r.as_chunks_mut(), a.as_chunks(), b.as_chunks());
    let mut borrow = false;
    for ((r, a), b) in r.iter_mut().zip(a).zip(b) {
        borrow = put(r, chunk(a, b, sub_with_borrow), borrow, sub_with_borrow);
    }
    for ((r, &a), &b) in r_rest.iter_mut().zip(a_rest).zip(b_rest) {
        (*r, borrow) = sub_with_borrow(a, b, borrow);
    }
    borrow
}

/// `a += b`, for `a.len() >= b.len()`. Returns the carry out of `a`.
#[inline]
pub(crate) fn add_assign(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    chain(low, b, add_with_carry) && increment(high)
}

/// `a -= b`, for `a.len() >= b.len()`. Returns the borrow out of `a`.
#[inline]
pub(crate) fn sub_assign(a: &mut [u64], b: &[u64]) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    chain(low, b, sub_with_borrow) && decrement(high)
}

/// `a = b - a`, for the same length. Returns the borrow out.
#[inline]
pub(crate) fn reverse_sub_assign(a: &mut [u64], b: &[u64]) -> bool {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks_mut(), b.as_chunks());
    let mut borrow = false;
    for (a, b) in a.iter_mut().zip(b) {
        borrow = put(a, chunk(b, a, sub_with_borrow), borrow, sub_with_borrow);
    }
    for (a, &b) in a_rest.iter_mut().zip(b_rest) {
        (*a, borrow) = sub_with_borrow(b, *a, borrow);
    }
    borrow
}

/// `a *= 2`. Returns the bit shifted out.
#[inline]
pub(crate) fn double(a: &mut [u64]) -> u64 {
    let mut below = 0;
    for x in a {
        (*x, below) = (*x << 1 | below, *x >> 63);
    }
    below
}

/// `a >>= bits`, for `0 < bits < 64`.
#[inline]
pub(crate) fn shift_right(a: &mut [u64], bits: u32) {
    let mut above = 0;
    for x in a.iter_mut().rev() {
        (*x, above) = (*x >> bits | above, *x << (64 - bits));
    }
}

/// `a >>= bits`, for `bits < 64`.
#[inline]
pub(crate) fn shift_right_by(a: &mut [u64], bits: u32) {
    if bits > 0 {
        shift_right(a, bits);
    }
}

/// `a += b y`, for the same length. Returns the limb above.
#[inline(always)]
pub(crate) fn add_row(a: &mut [u64], b: &[u64], y: u64) -> u64 {
    let mut carry = 0;
    for (z, &x) in a.iter_mut().zip(b) {
        // At most (2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1.
        let t = u128::from(x) * u128::from(y) + u128::from(*z) + u128::from(carry);
        (*z, carry) = (t as u64, (t >> 64) as u64);
    }
    carry
}

/// `a += b y` modulo `2^(64 a.len())`, for `a.len() >= b.len()`.
#[inline]
pub(crate) fn add_product(a: &mut [u64], b: &[u64], y: u64) {
    let (low, high) = a.split_at_mut(b.len());
    let carry = add_row(low, b, y);
    if !high.is_empty() {
        add_assign(high, &[carry]);
    }
}

/// `a -= b y` modulo `2^(64 a.len())`, for `a.len() >= b.len()`. Returns whether the difference
/// is negative.
#[inline(always)]
pub(crate) fn sub_product(a: &mut [u64], b: &[u64], y: u64) -> bool {
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = 0;
    for (z, &x) in low.iter_mut().zip(b) {
        let t = u128::from(x) * u128::from(y) + u128::from(carry);
        let borrow;
        (*z, borrow) = z.overflowing_sub(t as u64);
        // If the high half is 2^64 - 1, the low half is 0, and then there is no borrow.
        carry = (t >> 64) as u64 + u64::from(borrow);
    }
    match high {
        [] => carry > 0,
        high => sub_assign(high, &[carry]),
    }
}

/// `a /= D`, for an `a` that is a multiple of `D`. `D` divides `B - 1`, where `B = 2^64`.
///
/// With `P = a (B - 1) / D` the quotient is `q = q B - P`. So each limb of `q` is the limb below
/// it minus a limb of `P`, and no limb waits for a multiplication.
#[inline]
pub(crate) fn divide_exactly<const D: u64>(a: &mut [u64]) {
    const { assert!(u64::MAX.is_multiple_of(D)) };
    let mut limb = 0_u64;
    for x in a {
        let p = u128::from(*x) * u128::from(u64::MAX / D);
        let (q, borrow) = limb.overflowing_sub(p as u64);
        *x = q;
        limb = q.wrapping_sub((p >> 64) as u64).wrapping_sub(borrow.into());
    }
}

/// `a += carry` modulo `2^(64 a.len())`.
#[inline]
pub(crate) fn add_carry(a: &mut [u64], carry: i8) {
    if let Some((first, rest)) = a.split_first_mut() {
        let passes;
        (*first, passes) = first.overflowing_add_signed(carry.into());
        if passes {
            if carry < 0 {
                decrement(rest);
            } else {
                increment(rest);
            }
        }
    }
}

/// `a += 1`. Returns the carry out.
#[inline]
pub(crate) fn increment(a: &mut [u64]) -> bool {
    for x in a {
        *x = x.wrapping_add(1);
        if *x != 0 {
            return false;
        }
    }
    true
}

/// `a -= 1`. Returns the borrow out.
#[inline]
pub(crate) fn decrement(a: &mut [u64]) -> bool {
    for x in a {
        *x = x.wrapping_sub(1);
        if *x != u64::MAX {
            return false;
        }
    }
    true
}

/// `r = |a - b|`, for `r.len() == a.len() >= b.len()`. Returns whether `a < b`.
#[inline]
pub(crate) fn abs_difference(r: &mut [u64], a: &[u64], b: &[u64]) -> bool {
    debug_assert!(r.len() == a.len() && a.len() >= b.len());
    let (a, a_high) = a.split_at(b.len());
    let (r, r_high) = r.split_at_mut(b.len());
    let less = a_high.iter().all(|&x| x == 0) && is_less(a, b);
    // Both cases are equally likely, so a selection is faster than a branch that is
    // mispredicted.
    let (larger, smaller) = select_unpredictable(less, (b, a), (a, b));
    let borrow = sub(r, larger, smaller);
    for (z, &x) in r_high.iter_mut().zip(a_high) {
        *z = x;
    }
    if borrow {
        decrement(r_high);
    }
    less
}

/// Whether `a < b`, for the same length.
#[inline(always)]
pub(crate) fn is_less(a: &[u64], b: &[u64]) -> bool {
    let differ = a.iter().zip(b).rev().find(|(x, y)| x != y);
    differ.is_some_and(|(x, y)| x < y)
}

/// Whether `a < b`, both without zeros at their ends.
pub(crate) fn is_less_trimmed(a: &[u64], b: &[u64]) -> bool {
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Equal => is_less(a, b),
        order => order.is_lt(),
    }
}

/// `x <- x * factor + addend`.
pub(crate) fn multiply_add(x: &mut Vec<u64>, factor: u64, addend: u64) {
    let mut carry = addend;
    for limb in x.iter_mut() {
        (*limb, carry) = limb.carrying_mul_add(factor, carry, 0);
    }
    if carry != 0 {
        x.push(carry);
    }
}

/// `x` without the zero limbs at its end.
pub(crate) fn trimmed<T: PartialEq + Default>(x: &[T]) -> &[T] {
    let top = x.iter().rposition(|limb| *limb != T::default());
    &x[..top.map_or(0, |top| top + 1)]
}

/// `x` without the zero limbs at its end.
pub(crate) fn trim(mut x: Vec<u64>) -> Vec<u64> {
    x.truncate(trimmed(&x).len());
    x
}

/// Sets the low limbs of `r` to those of `x`, as many as both have.
pub(crate) fn store(r: &mut [u64], x: &[u64]) {
    let limbs = r.len().min(x.len());
    r[..limbs].copy_from_slice(&x[..limbs]);
}

/// `r = x 2^shift` modulo `2^(64 r.len())`, for `shift < 64` and `r` at most a limb longer.
pub(crate) fn shift_left(r: &mut [u64], x: &[u64], shift: u32) {
    let (low, above) = r.split_at_mut(x.len().min(r.len()));
    let mut below = 0;
    for (r, &limb) in low.iter_mut().zip(x) {
        *r = limb << shift | below;
        below = limb >> 1 >> (63 - shift);
    }
    if let Some(top) = above.first_mut() {
        *top = below;
    }
}

/// Splits memory into `N` parts of `length` limbs each, and the memory after them.
#[inline(always)]
pub(crate) fn parts<T, const N: usize>(
    mut memory: &mut [T],
    length: usize,
) -> ([&mut [T]; N], &mut [T]) {
    let parts = [(); N].map(|()| {
        let (part, rest) = std::mem::take(&mut memory).split_at_mut(length);
        memory = rest;
        part
    });
    (parts, memory)
}

/// `1 / m` modulo `2^64` for an odd `m`, by Newton's method. If `x` has `c` right bits,
/// `x (2 - m x)` has `2 c`. The first `x` is `3 m xor 2`, which has five.
pub(crate) const fn inverse(m: u64) -> u64 {
    let mut x = m.wrapping_mul(3) ^ 2;
    let mut bits = 5;
    while bits < u64::BITS {
        x = x.wrapping_mul(2_u64.wrapping_sub(m.wrapping_mul(x)));
        bits *= 2;
    }
    x
}

/// Packs 32-bit limbs into all of `words`, with zeros where there are no more limbs.
#[inline]
pub(crate) fn pack(words: &mut [u64], limbs: &[Limb]) {
    let (pairs, odd) = limbs.as_chunks::<2>();
    let pairs_in = pairs.len().min(words.len());
    for (word, [low, high]) in words.iter_mut().zip(pairs) {
        *word = u64::from(*low) | u64::from(*high) << LIMB_BITS;
    }
    if let Some(word) = words.get_mut(pairs_in) {
        *word = odd.first().copied().unwrap_or(0).into();
    }
}

/// Unpacks 64-bit words into a number of any width in 32-bit limbs, with zeros where there are
/// no more words.
#[inline]
pub(crate) fn unpack(limbs: &mut [Limb], words: &[u64]) {
    let (pairs, odd) = limbs.as_chunks_mut::<2>();
    let pairs_out = pairs.len().min(words.len());
    for ([low, high], word) in pairs.iter_mut().zip(words) {
        *low = *word as Limb;
        *high = (*word >> LIMB_BITS) as Limb;
    }
    pairs[pairs_out..].fill([0; 2]);
    if let Some(limb) = odd.first_mut() {
        *limb = words.get(pairs.len()).map_or(0, |word| *word as Limb);
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Random, adversaries, big};
    use super::*;

    /// Operands of every length around whole chunks, some of which have a carry through all
    /// limbs.
    fn for_each_pair(mut f: impl FnMut(&[u64], &[u64])) {
        let mut random = Random(17);
        for n in 1..=4 * CHUNK + 1 {
            let numbers = adversaries(n, &mut random);
            for a in &numbers {
                for b in &numbers {
                    f(a, b);
                }
            }
        }
    }

    fn power(n: usize) -> BigUint {
        BigUint::from(1u32) << (64 * n)
    }

    #[test]
    fn sums_and_differences_are_exact() {
        for_each_pair(|a, b| {
            let n = a.len();
            let mut r = vec![0x5555; n];
            let borrow = sub(&mut r, a, b);
            assert_eq!(big(&r) + big(b), big(a) + power(n) * u32::from(borrow));
            r.copy_from_slice(b);
            let borrow = reverse_sub_assign(&mut r, a);
            assert_eq!(big(&r) + big(b), big(a) + power(n) * u32::from(borrow));
            let less = abs_difference(&mut r, a, b);
            let (small, large) = if less { (a, b) } else { (b, a) };
            assert_eq!(big(&r) + big(small), big(large));
            r.copy_from_slice(a);
            let above = double(&mut r);
            assert_eq!(big(&r) + power(n) * above, big(a) * 2u32);
        });
    }

    #[test]
    fn shorter_operands_carry_into_the_rest() {
        for_each_pair(|a, b| {
            let n = a.len();
            for m in [0, 1, n / 2, n - 1, n] {
                let b = &b[..m];
                let mut r = a.to_vec();
                let carry = add_assign(&mut r, b);
                assert_eq!(big(&r) + power(n) * u32::from(carry), big(a) + big(b));
                let mut r = a.to_vec();
                let borrow = sub_assign(&mut r, b);
                assert_eq!(big(&r) + big(b), big(a) + power(n) * u32::from(borrow));
                let less = abs_difference(&mut r, a, b);
                assert_eq!(less, big(a) < big(b));
                let (small, large) = if less { (a, b) } else { (b, a) };
                assert_eq!(big(&r) + big(small), big(large));
            }
            for carry in [-2, -1, 0, 1, 2] {
                let mut r = a.to_vec();
                add_carry(&mut r, carry);
                let sum = (big(a) + power(n) * 2u32 + 2u32) - (2 - carry) as u32;
                assert_eq!(big(&r), sum % power(n));
            }
        });
    }
}
