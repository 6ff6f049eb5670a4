//! Greatest common divisors of the numbers of a batch, and what follows from them: common
//! multiples, modular inverses and Jacobi symbols. One number at a time is computed by
//! [`number::euclid`] and [`number::jacobi`].

use bigint_core::Limb;

use super::number::division::div_rem;
use super::number::euclid::Euclid;
use super::number::limbs::store;
use super::number::reciprocal::product;
use super::wordwise::Words;
use super::{Cpu, number};
use crate::Numbers;
use crate::share::LIMB_WORK;

/// The greatest common divisor.
pub(super) fn gcd(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, b, _] = words.operands;
    store(words.r, &Euclid::gcd(a, b, cpu.path()));
    0
}

/// The least common multiple.
pub(super) fn lcm(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, b, _] = words.operands;
    if !a.is_empty() && !b.is_empty() {
        let (quotient, _) = div_rem(a, &Euclid::gcd(a, b, cpu.path()), cpu.path());
        store(words.r, &product(&quotient, b));
    }
    0
}

/// The inverse of `a` modulo `m`. The flag is 1 if there is none.
pub(super) fn inv_mod(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, m, _] = words.operands;
    if m.is_empty() {
        return 1;
    }
    let (_, residue) = div_rem(a, m, cpu.path());
    let Some(inverse) = Euclid::inverse(&residue, m, cpu.path()) else {
        return 1;
    };
    store(words.r, &inverse);
    0
}

/// The Jacobi symbol of `a` over `n`, plus 1. The flag is 1 if `n` is even.
pub(super) fn jacobi(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, n, _] = words.operands;
    if n.first().is_none_or(|word| word.is_multiple_of(2)) {
        return 1;
    }
    let symbol = number::jacobi::jacobi(a, n, cpu.path());
    store(words.r, &[symbol.wrapping_add(1) as u64]);
    0
}

/// The cost of Euclid's algorithm, in the unit of [`Sharing`](crate::Sharing).
pub(super) fn work(operands: &[Numbers<'_>]) -> usize {
    let widths = operands.iter().map(|x| x.shape().width);
    let widest = widths.fold(0, usize::max);
    LIMB_WORK
        .saturating_mul(widest)
        .saturating_mul(widest / 8 + 16)
}
