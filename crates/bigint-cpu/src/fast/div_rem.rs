//! Quotients and remainders of the numbers of a batch by [`number::division`].

use bigint_core::Limb;

use super::number::division;
use super::wordwise::Words;
use super::{Cpu, number};
use crate::share::LIMB_WORK;
use crate::{Numbers, memory};
use number::limbs::store;

/// `a = q b + r`: `q` is the first result and `r` the second; the flag is 1 where `b` is zero.
pub(super) fn div_rem(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, b, _] = words.operands;
    number(cpu, words.r, words.s, a, b)
}

/// The quotient alone.
pub(super) fn div(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, b, _] = words.operands;
    number(cpu, words.r, &mut [], a, b)
}

/// The remainder alone.
pub(super) fn rem(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, b, _] = words.operands;
    number(cpu, &mut [], words.r, a, b)
}

/// What a division takes, in the unit of [`Sharing`](crate::Sharing): a product of two
/// limbs at a time takes some ten times as long as one among many.
pub(super) fn work(operands: &[Numbers<'_>]) -> usize {
    let [n, m] = [0, 1].map(|i| operands[i].shape().width);
    let rows = n.saturating_sub(m) + 2;
    LIMB_WORK
        .saturating_mul(n + m)
        .saturating_add(rows.saturating_mul(m).saturating_mul(10))
}

/// Quotient and remainder of `a` by `b`, cut to the lengths of `q` and `r`, which are zero
/// before; answers 1 where `b` is zero.
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
        33..=256 => divide(&mut [0; 256]),
        words => divide(&mut memory::scratch(words)),
    }
    0
}
