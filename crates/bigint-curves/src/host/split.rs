//! The [split](crate::shared::split) of numbers modulo the number of points of secp256k1, in words.

use super::words::{self, Words};
use crate::shared::field::Limbs;
use crate::shared::split::{self, Whole};

/// Numbers of 256 bits in words.
struct InWords;

impl Whole for InWords {
    fn add(a: Limbs, b: Limbs) -> Limbs {
        words::limbs(words::add(words::of_limbs(a), words::of_limbs(b)).0)
    }

    fn subtract(a: Limbs, b: Limbs) -> Limbs {
        words::limbs(words::subtract(words::of_limbs(a), words::of_limbs(b)).0)
    }

    fn product(a: Limbs, b: Limbs) -> [Limbs; 2] {
        words::product(words::of_limbs(a), words::of_limbs(b)).map(words::limbs)
    }
}

/// `v1` and `v2`, each as its magnitude and whether it is negative.
pub fn halves(v: Words) -> [(Words, bool); 2] {
    let halves = split::halves::<InWords>(words::limbs(v));
    halves.map(|(magnitude, is_negative)| (words::of_limbs(magnitude), is_negative))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::montgomery::{Modulus, Montgomery, PointsOfSecp256k1};
    use crate::host::words::subtract;
    use crate::shared::field::Field;

    /// The number by which the endomorphism multiplies.
    const L: Words = [
        0xdf02_967c_1b23_bd72,
        0x122e_22ea_2081_6678,
        0xa526_1c02_8812_645a,
        0x5363_ad4c_c05c_30e0,
    ];

    #[test]
    fn halves_are_short_and_add_up() {
        type F = Montgomery<PointsOfSecp256k1>;
        let n = PointsOfSecp256k1::MODULUS;
        let element = |words| F::element(words::limbs(words));
        let mut numbers = vec![[0; 4], [1, 0, 0, 0], L];
        for i in 0..200u64 {
            // Around multiples of n / 7, and any.
            let seventh = n.map(|word| word / 7);
            numbers.push(std::array::from_fn(|j| seventh[j] * (i % 8)));
            numbers.push(std::array::from_fn(|j| {
                (4 * i + j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            }));
            numbers.push(subtract(n, [i + 1, 0, 0, 0]).0);
        }
        for v in numbers.into_iter().filter(|v| words::is_less(*v, n)) {
            let terms = halves(v).map(|(magnitude, is_negative)| {
                assert_eq!(magnitude[2..], [0, 0]);
                let term = element(magnitude);
                if is_negative { F::neg(term) } else { term }
            });
            let sum = F::add(terms[0], F::mul(terms[1], element(L)));
            assert!(F::equal(sum, element(v)));
        }
    }
}
