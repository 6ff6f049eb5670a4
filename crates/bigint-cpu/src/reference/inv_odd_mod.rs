//! Inverses modulo an odd `m` in constant time, by division steps ([Bernstein and Yang 2019]):
//! `r a = 1` modulo `m`, `0 <= r < m`.
//!
//! The algorithm begins with `f = m`, `g = a` and the cofactors `d = 0`, `e = 1`. These satisfy
//! `d a = f` and `e a = g` modulo `m`. A round of 30 steps multiplies `(f, g)` and `(d, e)` by a
//! matrix and divides them by 2^30. Multiples of `m` are added to `d` and `e`, which make them
//! divisible. Operands have any widths. **Scratch**: five numbers.

use bigint_core::kernel::{DIGIT_BITS, divstep_digits, divstep_rounds, divsteps as steps};
use bigint_core::{LIMB_BITS, Limb};

use super::{limb, montgomery, word};
use crate::{mask, memory};

/// All bits of a digit.
const MASK: i64 = (1 << DIGIT_BITS) - 1;

/// Computes the inverse by as many rounds as the widths need, without a branch that depends on the
/// numbers. If there is no inverse, or `m` is even, returns 1 and sets `r` to zero.
///
/// **Cost**: ten products of digits of 30 bits a round, and `2.9 n / 30` rounds for `n` bits.
///
/// ```
/// let mut r = [0];
/// assert_eq!(bigint_cpu::reference::inv_odd_mod::divsteps(&mut r, &[3], &[7]), 0);
/// assert_eq!(r, [5]);
/// assert_eq!(bigint_cpu::reference::inv_odd_mod::divsteps(&mut r, &[3], &[9]), 1);
/// assert_eq!(bigint_cpu::reference::inv_odd_mod::divsteps(&mut r, &[3], &[8]), 1);
/// ```
pub fn divsteps(r: &mut [Limb], a: &[Limb], m: &[Limb]) -> Limb {
    let width = a.len().max(m.len());
    let count = divstep_digits(width);
    let modulus = digits(m, count);
    let mut numbers = [modulus.clone(), digits(a, count)];
    // These are 0, and 1 modulo `m`.
    let beside = modulus[1..]
        .iter()
        .fold(modulus[0] ^ 1, |x, digit| x | digit);
    let mut cofactors = [digits(&[], count), digits(&[is_not_zero(beside)], count)];
    let inverse = montgomery::inverse(limb(m, 0));
    let mut delta = 1;
    for _ in 0..divstep_rounds(width) {
        let matrix;
        let [f, g] = [0, 1].map(|k: usize| numbers[k][0] | numbers[k][1] << DIGIT_BITS);
        (delta, matrix) = steps(delta, f as u32, g as u32, |bit| bit);
        apply(&mut numbers, matrix, None);
        apply(&mut cofactors, matrix, Some((&modulus, inverse)));
    }
    // The number is 1, or -1, whose digits are all ones.
    let sign = sign_of(numbers[0][count - 1]);
    let mut other = i64::from(!limb(m, 0) & 1);
    for (i, digit) in numbers[0].iter().enumerate() {
        let ones = if i + 1 < count { MASK } else { -1 };
        other |= digit ^ (i64::from(i == 0) & !sign | sign & ones);
    }
    let has_none = is_not_zero(other);
    let mask = !mask::of_bit(has_none.into()) as Limb;
    let [inverse, _] = &mut cofactors;
    settle(inverse, &modulus, sign);
    settle(inverse, &modulus, 0);
    for (i, r) in r.iter_mut().enumerate() {
        let (at, bit) = (LIMB_BITS * i / DIGIT_BITS, LIMB_BITS * i % DIGIT_BITS);
        let digit = |k: usize| inverse.get(at + k).map_or(0, |&digit| digit as u128);
        let three = digit(0) | digit(1) << DIGIT_BITS | digit(2) << (2 * DIGIT_BITS);
        *r = (three >> bit) as Limb & mask;
    }
    has_none
}

/// Returns 1 for any word but 0.
fn is_not_zero(word: i64) -> Limb {
    ((word | word.wrapping_neg()) as u64 >> 63) as Limb
}

/// Returns -1 for a negative word, and 0 for any other.
fn sign_of(word: i64) -> i64 {
    mask::of_bit(word as u64 >> 63) as i64
}

/// The digits of a number, of 30 bits each.
fn digits(x: &[Limb], count: usize) -> Vec<i64> {
    let mut digits = memory::scratch(count);
    for (i, digit) in digits.iter_mut().enumerate() {
        let (at, bit) = (DIGIT_BITS * i / LIMB_BITS, DIGIT_BITS * i % LIMB_BITS);
        *digit = (word(limb(x, at + 1), limb(x, at)) >> bit) as i64 & MASK;
    }
    digits
}

/// Multiplies a pair of numbers by the matrix of a round, and divides the products by `2^30`. If a
/// modulus and its inverse modulo `2^32` are given, the results are modulo it: cofactors stay above
/// `-2 m` and below `m`.
fn apply(pair: &mut [Vec<i64>; 2], matrix: [[i32; 2]; 2], modulus: Option<(&[i64], Limb)>) {
    let count = pair[0].len();
    let rows = matrix.map(|row| row.map(i64::from));
    let sum = |[u, v]: [i64; 2], pair: &[Vec<i64>; 2], i: usize| u * pair[0][i] + v * pair[1][i];
    let mut carries = rows.map(|row| sum(row, pair, 0));
    let mut of_m = [0; 2];
    if let Some((modulus, inverse)) = modulus {
        let top = [0, 1].map(|k: usize| sign_of(pair[k][count - 1]));
        for (k, [u, v]) in rows.into_iter().enumerate() {
            let own = (u & top[0]) + (v & top[1]);
            let rest = carries[k]
                .wrapping_mul(i64::from(inverse))
                .wrapping_add(own);
            of_m[k] = own - (rest & MASK);
            carries[k] += of_m[k] * modulus[0];
        }
    }
    for i in 1..count {
        let digit = modulus.map_or(0, |(modulus, _)| modulus[i]);
        for (k, row) in rows.into_iter().enumerate() {
            carries[k] = (carries[k] >> DIGIT_BITS) + sum(row, pair, i) + of_m[k] * digit;
        }
        for (number, carry) in pair.iter_mut().zip(carries) {
            number[i - 1] = carry & MASK;
        }
    }
    for (number, carry) in pair.iter_mut().zip(carries) {
        number[count - 1] = carry >> DIGIT_BITS;
    }
}

/// Adds the modulus to a negative number, and then negates the number if `sign` is -1.
fn settle(x: &mut [i64], modulus: &[i64], sign: i64) {
    let top = x.len() - 1;
    let is_negative = sign_of(x[top]);
    let mut carry = 0;
    for (i, (x, m)) in x.iter_mut().zip(modulus).enumerate() {
        carry += ((*x + (m & is_negative)) ^ sign) - sign;
        *x = if i == top { carry } else { carry & MASK };
        carry >>= DIGIT_BITS;
    }
}
