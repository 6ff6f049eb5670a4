//! Inverses modulo an odd `m` in constant time, by division steps ([Bernstein and Yang 2019]):
//! `r a = 1` modulo `m`, `0 <= r < m`.
//!
//! The algorithm begins with `f = m`, `g = a` and the cofactors `d = 0`, `e = 1`. These satisfy
//! `d a = f` and `e a = g` modulo `m`. A round of 62 steps multiplies `(f, g)` and `(d, e)` by a
//! matrix and divides them by 2^62. Multiples of `m` are added to `d` and `e`, which make them
//! divisible. Operands have any widths. **Scratch**: five numbers.

use bigint_core::kernel::{WIDE_DIGIT_BITS as DIGIT_BITS, divstep_count, wide_divsteps as steps};
use bigint_core::{LIMB_BITS, Limb};

use super::{limb, word};
use crate::fast::number::limbs;
use crate::{mask, memory};

/// All bits of a digit.
const MASK: i64 = (1 << DIGIT_BITS) - 1;

/// Computes the inverse by as many rounds as the widths need, without a branch that depends on the
/// numbers. If there is no inverse, or `m` is even, returns 1 and sets `r` to zero.
///
/// **Cost**: ten products of words for each digit of 62 bits in a round, and `2.9 n / 62` rounds for `n` bits.
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
    // Cofactors are up to twice the modulus in size, and the lowest word has bits of two digits.
    let count = (LIMB_BITS * width + 2).div_ceil(DIGIT_BITS).max(2);
    let modulus = digits(m, count);
    let mut numbers = [modulus.clone(), digits(a, count)];
    // These are 0, and 1 modulo `m`.
    let beside = modulus[1..]
        .iter()
        .fold(modulus[0] ^ 1, |x, digit| x | digit);
    let mut cofactors = [digits(&[], count), digits(&[is_not_zero(beside)], count)];
    let inverse = limbs::inverse(word(limb(m, 1), limb(m, 0)));
    let mut delta = 1;
    for _ in 0..divstep_count(width).div_ceil(DIGIT_BITS) {
        let matrix;
        let [f, g] = [0, 1].map(|k: usize| numbers[k][0] | numbers[k][1] << DIGIT_BITS);
        (delta, matrix) = steps(delta, f as u64, g as u64, mask::opaque);
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
        *r = ((digit(0) | digit(1) << DIGIT_BITS) >> bit) as Limb & mask;
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

/// The digits of a number.
fn digits(x: &[Limb], count: usize) -> Vec<i64> {
    let mut digits = memory::scratch(count);
    for (i, digit) in digits.iter_mut().enumerate() {
        let (at, bit) = (DIGIT_BITS * i / LIMB_BITS, DIGIT_BITS * i % LIMB_BITS);
        let three = u128::from(word(limb(x, at + 1), limb(x, at)))
            | u128::from(limb(x, at + 2)) << (2 * LIMB_BITS);
        *digit = (three >> bit) as i64 & MASK;
    }
    digits
}

/// Multiplies a pair of numbers by the matrix of a round, and divides the products by `2^62`. If a
/// modulus and its inverse modulo `2^64` are given, the results are modulo it: cofactors stay above
/// `-2 m` and below `m`.
fn apply(pair: &mut [Vec<i64>; 2], matrix: [[i64; 2]; 2], modulus: Option<(&[i64], u64)>) {
    let count = pair[0].len();
    let product = |x: i64, y: i64| i128::from(x) * i128::from(y);
    let sum = |[u, v]: [i64; 2], pair: &[Vec<i64>; 2], i: usize| {
        product(u, pair[0][i]) + product(v, pair[1][i])
    };
    let mut carries = matrix.map(|row| sum(row, pair, 0));
    let mut of_m = [0; 2];
    if let Some((modulus, inverse)) = modulus {
        let top = [0, 1].map(|k: usize| sign_of(pair[k][count - 1]));
        for (k, [u, v]) in matrix.into_iter().enumerate() {
            let own = (u & top[0]) + (v & top[1]);
            let rest = (carries[k] as i64).wrapping_mul(inverse as i64);
            of_m[k] = own - (rest.wrapping_add(own) & MASK);
            carries[k] += product(of_m[k], modulus[0]);
        }
    }
    for i in 1..count {
        let digit = modulus.map_or(0, |(modulus, _)| modulus[i]);
        for (k, row) in matrix.into_iter().enumerate() {
            carries[k] = (carries[k] >> DIGIT_BITS) + sum(row, pair, i) + product(of_m[k], digit);
        }
        for (number, carry) in pair.iter_mut().zip(carries) {
            number[i - 1] = carry as i64 & MASK;
        }
    }
    for (number, carry) in pair.iter_mut().zip(carries) {
        number[count - 1] = (carry >> DIGIT_BITS) as i64;
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
