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

use super::field::Limbs;

const A: Limbs = [0x9284eb15, 0xe86c90e4, 0xa7d46bcd, 0x3086d221, 0, 0, 0, 0];
const B: Limbs = [0x0abfe4c3, 0x6f547fa9, 0x010e8828, 0xe4437ed6, 0, 0, 0, 0];
/// `round(2^384 A / n)`.
const A_OF_N: Limbs = [
    0x45dbb031, 0xe893209a, 0x71e8ca7f, 0x3daa8a14, 0x9284eb15, 0xe86c90e4, 0xa7d46bcd, 0x3086d221,
];
/// `round(2^384 B / n)`.
const B_OF_N: Limbs = [
    0x8ac47f71, 0x1571b4ae, 0x9df506c6, 0x221208ac, 0x0abfe4c4, 0x6f547fa9, 0x010e8828, 0xe4437ed6,
];

/// Sums, differences and products of numbers of 256 bits.
pub trait Whole {
    /// `a + b` modulo `2^256`.
    fn add(a: Limbs, b: Limbs) -> Limbs;

    /// `a - b` modulo `2^256`.
    fn subtract(a: Limbs, b: Limbs) -> Limbs;

    /// `a b`, the lower and the upper half.
    fn product(a: Limbs, b: Limbs) -> [Limbs; 2];
}

/// The magnitude of a number modulo `2^256` that stands for one between `-2^255` and `2^255`, and whether that is negative.
#[inline(always)]
fn magnitude<W: Whole>(number: Limbs) -> (Limbs, bool) {
    if number[7] >> 31 == 1 {
        (W::subtract([0; 8], number), true)
    } else {
        (number, false)
    }
}

/// `v1` and `v2`, each as its magnitude and whether it is negative.
#[inline(always)]
pub fn halves<W: Whole>(v: Limbs) -> [(Limbs, bool); 2] {
    let rounded = |quotient: Limbs| {
        let [_, [_, _, _, half, a, b, c, d]] = W::product(v, quotient);
        W::add([a, b, c, d, 0, 0, 0, 0], [half >> 31, 0, 0, 0, 0, 0, 0, 0])
    };
    let (c1, c2) = (rounded(A_OF_N), rounded(B_OF_N));
    let lower = |a: Limbs, b: Limbs| W::product(a, b)[0];
    let v1 = W::subtract(v, lower(W::add(c1, c2), A));
    let v1 = W::subtract(v1, lower(c2, B));
    let v2 = W::subtract(lower(c1, B), lower(c2, A));
    [magnitude::<W>(v1), magnitude::<W>(v2)]
}
