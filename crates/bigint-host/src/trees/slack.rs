//! Zeros on top of products of leaves, by which fractions may be shorter.

use crate::Integers;
use crate::trees::leaves::Which;
use bigint_core::{LIMB_BITS, Limb};

/// Bits of zeros on top of a number that make a limb more of its node's fraction unneeded.
pub(crate) const SLACK: u32 = LIMB_BITS as u32 + 4;

/// The base of limbs, `2^32`.
const BASE: f64 = (1_u64 << LIMB_BITS) as f64;

/// What the zeros on top tell of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slack {
    /// The lowest level all of whose numbers have [`SLACK`] bits of zeros on top, and so have those of all levels above.
    pub from: usize,
    /// The bits of the product of all leaves, where rounding leaves no doubt.
    pub bits: Option<u64>,
}

/// By how much sums of logarithms are off at most: of each of up to `2^26` leaves by `2^-39`, and of sums below `2^31` by `2^-22` a
/// level.
const DOUBT: f64 = 1.0 / (1 << 12) as f64;

/// The lowest of so many levels all of whose numbers have [`SLACK`] bits of zeros on top: `which` of the leaves, of up to `width`
/// limbs, and then the products of one half of a level by the other.
pub(crate) fn lowest_level(
    leaves: &Integers,
    which: &Which,
    width: usize,
    levels: usize,
) -> Option<Slack> {
    let slack = |leaf: usize| {
        let (top, below) = logarithm(leaves.magnitude(leaf));
        // Of what is cut off and of rounding, less than 2^-40.
        (LIMB_BITS * (width - below)) as f64 - top - 2_f64.powi(-40)
    };
    let mut slacks: Vec<f64> = which.iter().map(slack).collect();
    let all = (LIMB_BITS * width * which.len()) as f64;
    let mut from = None;
    for level in 0..levels {
        if from.is_none() && slacks.iter().all(|&slack| slack >= f64::from(SLACK)) {
            from = Some(level);
        }
        let half = slacks.len() / 2;
        let (low, high) = slacks.split_at_mut(half);
        for (low, high) in low.iter_mut().zip(high) {
            *low += *high;
        }
        slacks.truncate(half);
    }
    let [least, most] = [-DOUBT, DOUBT].map(|doubt| (all - slacks[0] + doubt).floor() as u64);
    let bits = (least == most).then_some(most + 1);
    Some(Slack { from: from?, bits })
}

/// The binary logarithm of the highest three limbs of a number that has no zeros on top, and how many are below them.
pub(crate) fn logarithm(limbs: &[Limb]) -> (f64, usize) {
    let top = limbs.iter().rev().take(3);
    let top = top.fold(0.0, |top, &limb| top * BASE + f64::from(limb));
    (top.log2(), limbs.len().saturating_sub(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BigUint;

    #[test]
    fn bits_of_a_product_are_known_but_beside_powers_of_two() {
        let of = |numbers: &[BigUint], width| {
            let leaves = Integers::from_biguints(numbers).expect("memory");
            let which = Which::all(numbers.len());
            let levels = numbers.len().ilog2() as usize;
            lowest_level(&leaves, &which, width, levels)
        };
        let number = |i: u32| (BigUint::from(i % 7 + 9) << (32 * (i % 3) + 90)) + i;
        for count in [8, 64, 512] {
            let numbers: Vec<BigUint> = (0..count).map(number).collect();
            let product: BigUint = numbers.iter().product();
            let found = of(&numbers, 6).expect("there are zeros on top");
            assert_eq!(found.bits, Some(product.bits()), "{count}");
        }
        let powers = vec![BigUint::from(1u8) << 100; 8];
        assert_eq!(of(&powers, 6).expect("there are zeros on top").bits, None);
        assert_eq!(
            of(&powers, 4),
            Some(Slack {
                from: 1,
                bits: None
            })
        );
        let full = vec![(BigUint::from(1u8) << 128) - 1u8; 8];
        assert_eq!(of(&full, 4), None);
    }
}
