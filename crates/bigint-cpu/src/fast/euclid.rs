//! Greatest common divisors of the numbers of a batch, and what follows from them: common
//! multiples, modular inverses and Jacobi symbols. One number at a time is computed by
//! [`number::euclid`] and [`number::jacobi`].

use bigint_core::{LIMB_BITS, Limb};

use super::number::Symbol;
use super::number::division::div_rem;
use super::number::euclid::Euclid;
use super::number::limbs::{pack, store, trim};
use super::number::reciprocal::product;
use super::wordwise::Words;
use super::{Cpu, number};
use crate::Numbers;
use crate::memory::scratch;
use crate::share::LIMB_WORK;

/// Two numbers that Euclid's algorithm reaches from `a` and `b`, in words of 64 bits without zeros
/// at their ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// `u a - v b` and `z b - w a`.
    pub numbers: [Vec<u64>; 2],
    /// `[[u, v], [w, z]]`, with `u z - v w = 1`. Nothing if they were not wanted.
    pub rows: [[Vec<u64>; 2]; 2],
}

impl Cpu {
    /// Takes quotients of `a` and `b`, in whatever order they are, as long as both stay at least
    /// `2^(32 keep)`, or to the end, where one is 0 and the other the greatest common divisor, if
    /// `keep` is `None`. If one of the numbers is less to begin with, nothing changes. Unless a
    /// quotient of `2^64` or more is in the way, both are then less than `2^(32 (keep + 5))`.
    ///
    /// A symbol that was made of `b` over `a` takes the same steps. The cost is that of a greatest
    /// common divisor, or of less. All threads share long products. Like [`number::mul`], it unwinds
    /// if scratch cannot be allocated, to [`or_out_of_memory`](crate::or_out_of_memory).
    ///
    /// ```
    /// use bigint_cpu::Cpu;
    /// let made = Cpu::current().reduce([&[21], &[13]], None, true, None);
    /// // 5 * 21 - 8 * 13 is 1, and 21 * 13 - 13 * 21 is 0.
    /// assert_eq!(made.numbers, [vec![1], vec![]]);
    /// assert_eq!(made.rows, [[vec![5], vec![8]], [vec![13], vec![21]]]);
    /// ```
    pub fn reduce(
        &self,
        numbers: [&[Limb]; 2],
        keep: Option<usize>,
        has_rows: bool,
        symbol: Option<&mut Symbol>,
    ) -> Reduced {
        let words = numbers.map(|limbs| {
            let mut words = scratch(limbs.len().div_ceil(2));
            pack(&mut words, limbs);
            trim(words)
        });
        let [a, b] = &words;
        let least = keep.map_or(0, |keep| (LIMB_BITS * keep).div_ceil(64) + 1);
        let (numbers, rows) = Euclid::reduce([a, b], least, has_rows, symbol, self.path());
        Reduced { numbers, rows }
    }
}

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
