//! Zeros on top of products of leaves, by which fractions may be shorter.

use crate::Integers;
use bigint_core::LIMB_BITS;

/// Bits of zeros on top of a number that make a limb more of its node's fraction unneeded.
pub(crate) const SLACK: u32 = LIMB_BITS as u32 + 4;

/// The base of limbs, `2^32`.
const BASE: f64 = (1_u64 << LIMB_BITS) as f64;

/// The lowest of so many levels all of whose numbers have [`SLACK`] bits of zeros on top: `which` of the leaves, of up to `width`
/// limbs, and then the products of one half of a level by the other.
pub(crate) fn lowest_level(
    leaves: &Integers,
    which: &[usize],
    width: usize,
    levels: usize,
) -> Option<usize> {
    let slack = |&leaf: &usize| {
        let limbs = leaves.magnitude(leaf);
        let top = limbs.iter().rev().take(3);
        let top = top.fold(0.0, |top, &limb| top * BASE + f64::from(limb));
        let below = limbs.len().saturating_sub(3);
        // Of what is cut off and of rounding, less than 2^-40.
        (LIMB_BITS * (width - below)) as f64 - top.log2() - 2_f64.powi(-40)
    };
    let mut slacks: Vec<f64> = which.iter().map(slack).collect();
    for level in 0..levels {
        if slacks.iter().all(|&slack| slack >= f64::from(SLACK)) {
            return Some(level);
        }
        let (low, high) = slacks.split_at(slacks.len() / 2);
        slacks = low.iter().zip(high).map(|(low, high)| low + high).collect();
    }
    None
}
