//! Roots of the numbers of a batch by [`number::root`](super::number::root).

use bigint_core::Limb;

use super::Cpu;
use super::number::limbs::store;
use super::number::root;
use super::wordwise::Words;
use crate::Numbers;
use crate::share::LIMB_WORK;

/// The square root, rounded down. The second result is the number less the square of the root.
pub(super) fn isqrt(cpu: &Cpu, words: Words<'_>) -> Limb {
    let (root, rest) = root::sqrt(words.operands[0], cpu.path());
    store(words.r, &root);
    store(words.s, &rest);
    0
}

/// The root of degree `k`, rounded down. The second result is the number less the power of the
/// root. The flag is 1 if `k` is 0.
pub(super) fn iroot(cpu: &Cpu, words: Words<'_>) -> Limb {
    let [a, k, _] = words.operands;
    let k = match k {
        [] => return 1,
        [k] => *k,
        // No number has as many bits.
        _ => u64::MAX,
    };
    let (root, rest) = root::root(a, k, cpu.path());
    store(words.r, &root);
    store(words.s, &rest);
    0
}

/// The cost of a root, in the unit of [`Sharing`](crate::Sharing), which is that of a few products.
pub(super) fn work(operands: &[Numbers<'_>]) -> usize {
    let width = operands[0].shape().width;
    LIMB_WORK
        .saturating_mul(width)
        .saturating_add(width.saturating_mul(width).saturating_mul(10))
}
