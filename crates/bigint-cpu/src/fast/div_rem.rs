//! Quotients and remainders of the numbers of a batch by [`number::division`].

use bigint_core::Limb;

use super::number::division;
use super::wordwise::Words;
use super::{Cpu, number};
use crate::share::LIMB_WORK;
use crate::{Numbers, memory};
use number::limbs::store;

/// `a = q b + r`: `q` is the first result and `r` the second. The flag is 1 if `b` is zero.
pub(super) fn div_rem(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, b, _] = words.operands;
    number(cpu, words.r, words.s, a, b)
}

/// The quotient of `a` by `b`.
pub(super) fn div(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, b, _] = words.operands;
    number(cpu, words.r, &mut [], a, b)
}

/// The remainder of `a` by `b`.
pub(super) fn rem(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, b, _] = words.operands;
    number(cpu, &mut [], words.r, a, b)
}

/// The cost of a division, in the unit of [`Sharing`](crate::Sharing). A product of two limbs by
/// itself takes some ten times as long as one among many.
pub(super) fn work(operands: &[Numbers<'_>]) -> usize {
    let [n, m] = [0, 1].map(|i| operands[i].shape().width);
    let rows = n.saturating_sub(m) + 2;
    LIMB_WORK
        .saturating_mul(n + m)
        .saturating_add(rows.saturating_mul(m).saturating_mul(10))
}

/// `a = q b + r` for numbers of 64-bit words whose top words are not zero. `q` and `r` are zero
/// before the call, and words for which they have no room are left out. Nothing happens if `b`
/// is zero.
///
/// ```
/// let (mut q, mut r) = ([0; 2], [0; 1]);
/// bigint_cpu::fast::divide(&mut q, &mut r, &[7, 1], &[2]);
/// assert_eq!((q, r), ([3 + (1 << 63), 0], [1]));
/// ```
///
/// # Panics
/// Dividends of 128 words and more need scratch. If it cannot be allocated, this unwinds without
/// a message.
pub fn divide(q: &mut [u64], r: &mut [u64], a: &[u64], b: &[u64]) {
    number(Cpu::current(), q, r, a, b);
}

/// Computes the quotient and the remainder of `a` by `b`, cut to the lengths of `q` and `r`,
/// which are zero before the call. Returns 1 if `b` is zero.
fn number(cpu: &Cpu, q: &mut [u64], r: &mut [u64], a: &[u64], b: &[u64]) -> Limb {
    let Some(top) = b.last() else {
        return 1;
    };
    if a.len() < b.len() {
        store(r, a);
        return 0;
    }
    let bits = top.leading_zeros();
    let (n, m) = (a.len(), b.len());
    let mut divide = |memory: &mut [u64]| {
        let (left, rest) = memory.split_at_mut(n + 1);
        let (d, rest) = rest.split_at_mut(m);
        number::limbs::shift_left(left, a, bits);
        number::limbs::shift_left(d, b, bits);
        let quotient = &mut rest[..n + 1 - m];
        division::divide(quotient, left, d, cpu.path());
        store(q, quotient);
        number::limbs::shift_right_by(&mut left[..m], bits);
        store(r, &left[..m]);
    };
    match 2 * n + 2 {
        0..=32 => divide(&mut [0; 32]),
        33..=64 => divide(&mut [0; 64]),
        65..=256 => divide(&mut [0; 256]),
        words => divide(&mut memory::scratch(words)),
    }
    0
}
