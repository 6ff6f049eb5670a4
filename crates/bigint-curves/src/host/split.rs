//! Numbers modulo the number `n` of points of secp256k1, split in halves ([Gallant 2001]).
//!
//! The curve has the endomorphism `(x, y)` to `(BETA x, y)`, which multiplies points by a number `l`, a third root of 1 modulo `n`.
//! So `v Q = v1 Q + v2 (l Q)` where `v = v1 + v2 l` modulo `n`. The pairs `(v1, v2)` with `v1 + v2 l = 0` are a lattice, which
//! `(A, -B)` and `(A + B, A)` span; subtracting the lattice's point nearest to `(v, 0)` leaves
//!
//! ```text
//! c1 = round(v A / n), c2 = round(v B / n)
//! v1 = v - c1 A - c2 (A + B),  v2 = c1 B - c2 A
//! ```
//!
//! Bounds: `|v1|` is at most `(A + A + B) / 2` and `|v2|` at most `(A + B) / 2`, and a little for the rounding: less
//! than `2^128`. Both are computed modulo `2^256`.
//!
//! The quotients are products with `round(2^384 A / n)` and `round(2^384 B / n)`, rounded at `2^384`.

use super::words::{self, Words, add, subtract};

const A: Words = [0xe86c_90e4_9284_eb15, 0x3086_d221_a7d4_6bcd, 0, 0];
const B: Words = [0x6f54_7fa9_0abf_e4c3, 0xe443_7ed6_010e_8828, 0, 0];
/// `round(2^384 A / n)`.
const A_OF_N: Words = [
    0xe893_209a_45db_b031,
    0x3daa_8a14_71e8_ca7f,
    0xe86c_90e4_9284_eb15,
    0x3086_d221_a7d4_6bcd,
];
/// `round(2^384 B / n)`.
const B_OF_N: Words = [
    0x1571_b4ae_8ac4_7f71,
    0x2212_08ac_9df5_06c6,
    0x6f54_7fa9_0abf_e4c4,
    0xe443_7ed6_010e_8828,
];

/// `v1` and `v2`, each as its magnitude and whether it is negative.
pub fn halves(v: Words) -> [(Words, bool); 2] {
    let rounded = |quotient: Words| {
        let [_, [_, half, low, high]] = words::product(v, quotient);
        add([low, high, 0, 0], [half >> 63, 0, 0, 0]).0
    };
    let lower = |a: Words, b: Words| words::product(a, b)[0];
    let (c1, c2) = (rounded(A_OF_N), rounded(B_OF_N));
    let (both, _) = add(c1, c2);
    let (v1, _) = subtract(v, lower(both, A));
    let (v1, _) = subtract(v1, lower(c2, B));
    let (v2, _) = subtract(lower(c1, B), lower(c2, A));
    [v1, v2].map(|half| {
        let is_negative = half[3] >> 63 == 1;
        let magnitude = if is_negative {
            subtract([0; 4], half).0
        } else {
            half
        };
        (magnitude, is_negative)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::montgomery::{Modulus, Montgomery, PointsOfSecp256k1};
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
