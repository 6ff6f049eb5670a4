//! Roots of a batch: square roots in lanes, or [`number::root`](super::number::root) for each.

use super::number::root;
use super::wordwise::{Words, store, wordwise};
use super::{Cpu, lanes};
use crate::share::LIMB_WORK;
use crate::{Error, Numbers, Results};

/// Square roots, and what they leave as the second result.
pub(super) fn isqrt(cpu: &Cpu, results: Results<'_>, a: Numbers<'_>) -> Result<(), Error> {
    wordwise(cpu, results, &[a], work(a), Some(lanes::isqrt), |words| {
        let Words { r, s, operands } = words;
        let (root, rest) = root::sqrt(operands[0], cpu.path());
        store(r, &root);
        store(s, &rest);
        0
    })
}

/// Roots of degree `k`, and what they leave; the flag is 1 where `k` is 0.
pub(super) fn iroot(
    cpu: &Cpu,
    results: Results<'_>,
    a: Numbers<'_>,
    k: Numbers<'_>,
) -> Result<(), Error> {
    wordwise(cpu, results, &[a, k], work(a), None, |words| {
        let Words { r, s, operands } = words;
        let [a, k, _] = operands;
        let k = match k {
            [] => return 1,
            [k] => *k,
            // More than any number has bits.
            _ => u64::MAX,
        };
        let (root, rest) = root::root(a, k, cpu.path());
        store(r, &root);
        store(s, &rest);
        0
    })
}

/// What a root takes, in the unit of [`Sharing`](crate::Sharing): as a few products.
fn work(a: Numbers<'_>) -> usize {
    let width = a.shape().width;
    LIMB_WORK
        .saturating_mul(width)
        .saturating_add(width.saturating_mul(width).saturating_mul(10))
}
