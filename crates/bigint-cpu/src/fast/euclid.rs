//! Greatest common divisors of a batch and what follows from them: common multiples,
//! modular inverses, Jacobi symbols. Divisors and inverses in lanes, else
//! [`number::euclid`] and [`number::jacobi`] for each.

use super::number::division::div_rem;
use super::number::euclid::Euclid;
use super::number::reciprocal::product;
use super::wordwise::{Words, store, wordwise};
use super::{Cpu, lanes, number};
use crate::share::LIMB_WORK;
use crate::{Error, Numbers, Results};

/// The greatest common divisors.
pub(super) fn gcd(
    cpu: &Cpu,
    results: Results<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) -> Result<(), Error> {
    wordwise(
        cpu,
        results,
        &[a, b],
        work(a, b),
        Some(lanes::gcd),
        |words| {
            let [a, b, _] = words.operands;
            store(words.r, &Euclid::gcd(a, b, cpu.path()));
            0
        },
    )
}

/// The least common multiples.
pub(super) fn lcm(
    cpu: &Cpu,
    results: Results<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) -> Result<(), Error> {
    wordwise(cpu, results, &[a, b], work(a, b), None, |words| {
        let [a, b, _] = words.operands;
        if !a.is_empty() && !b.is_empty() {
            let (quotient, _) = div_rem(a, &Euclid::gcd(a, b, cpu.path()), cpu.path());
            store(words.r, &product(&quotient, b));
        }
        0
    })
}

/// The inverses of `a` modulo `m`; the flag is 1 where there is none.
pub(super) fn inv_mod(
    cpu: &Cpu,
    results: Results<'_>,
    a: Numbers<'_>,
    m: Numbers<'_>,
) -> Result<(), Error> {
    wordwise(
        cpu,
        results,
        &[a, m],
        work(a, m),
        Some(lanes::inv_mod),
        |words| {
            let Words { r, operands, .. } = words;
            let [a, m, _] = operands;
            if m.is_empty() {
                return 1;
            }
            let (_, residue) = div_rem(a, m, cpu.path());
            match Euclid::inverse(&residue, m, cpu.path()) {
                Some(inverse) => store(r, &inverse),
                None => return 1,
            }
            0
        },
    )
}

/// The symbols of `a` over `n`, and 1 added; the flag is 1 where `n` is even.
pub(super) fn jacobi(
    cpu: &Cpu,
    results: Results<'_>,
    a: Numbers<'_>,
    n: Numbers<'_>,
) -> Result<(), Error> {
    wordwise(cpu, results, &[a, n], work(a, n), None, |words| {
        let [a, n, _] = words.operands;
        if n.first().is_none_or(|word| word.is_multiple_of(2)) {
            return 1;
        }
        let symbol = number::jacobi::jacobi(a, n, cpu.path());
        store(words.r, &[symbol.wrapping_add(1) as u64]);
        0
    })
}

/// What Euclid's algorithm takes, in the unit of [`Sharing`](crate::Sharing).
fn work(a: Numbers<'_>, b: Numbers<'_>) -> usize {
    let widest = a.shape().width.max(b.shape().width);
    LIMB_WORK
        .saturating_mul(widest)
        .saturating_mul(widest / 8 + 16)
}
