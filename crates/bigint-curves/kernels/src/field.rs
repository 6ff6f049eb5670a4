//! The fields in a thread's registers: the library's of [special primes](special), and that of P-256 in Montgomery's
//! form. Elements are what they are in `fold.rs` and `montgomery.rs` of the library, so that tables are the same for both.
//!
//! Cost in multiply-adds: 64 for a product and 36 for a square, and 9 more to fold them; none to reduce them modulo P-256's prime.

use crate::inverse::Modulo;
use crate::shared::field::{Field, Limbs};
use bigint_core::Limb;
use bigint_kernels::field::special::{self, Element, product, square};
use bigint_kernels::gpu::folding::Folded;
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::squares::each;
use core::marker::PhantomData;

type Row = Window<8>;

/// A prime just below a power of two.
pub trait Special {
    /// Its field.
    const FIELD: special::Field<8>;

    /// The difference of two products.
    #[inline(always)]
    fn difference([a, b]: [Limbs; 2], [c, d]: [Limbs; 2]) -> Limbs {
        let [a, b, c, d] = [a, b, c, d].map(Element::of_limbs);
        Self::FIELD.mul_less(a, b, Self::FIELD.mul(c, d)).limbs()
    }

    /// The difference of a product and a square.
    #[inline(always)]
    fn difference_to_square([a, b]: [Limbs; 2], c: Limbs) -> Limbs {
        let [a, b, c] = [a, b, c].map(Element::of_limbs);
        Self::FIELD.mul_less(a, b, Self::FIELD.square(c)).limbs()
    }
}

/// The prime of secp256k1.
pub struct OfSecp256k1;

impl Special for OfSecp256k1 {
    const FIELD: special::Field<8> = special::Field::constant([!976, !1, !0, !0, !0, !0, !0, !0]);

    #[inline(always)]
    fn difference([a, b]: [Limbs; 2], [c, d]: [Limbs; 2]) -> Limbs {
        folded_difference(product(a, b), product(c, d))
    }

    #[inline(always)]
    fn difference_to_square([a, b]: [Limbs; 2], c: Limbs) -> Limbs {
        folded_difference(product(a, b), square(c))
    }
}

/// `a - b` modulo the prime of secp256k1, `2^256 - C` with `C = 2^32 + 977`: both are folded at once. A borrow stands for `2^512`, which
/// is `C^2`.
#[inline(always)]
fn folded_difference([a, above_a]: [Limbs; 2], [b, above_b]: [Limbs; 2]) -> Limbs {
    const SMALL: Limb = 977;
    let (lower, borrow) = Row::subtract(a, b, 0);
    let (upper, borrow) = Row::subtract(above_a, above_b, borrow);
    let mask = borrow.wrapping_neg();
    let square = [
        SMALL * SMALL & mask,
        2 * SMALL & mask,
        borrow,
        0,
        0,
        0,
        0,
        0,
    ];
    Folded::new([lower, upper], SMALL).less(square).limbs(SMALL)
}

/// The prime `2^255 - 19`.
pub struct Of25519;

impl Special for Of25519 {
    const FIELD: special::Field<8> = special::Field::constant(Self::MODULUS);
}

impl Modulo for Of25519 {
    const MODULUS: Limbs = [!18, !0, !0, !0, !0, !0, !0, !0 >> 1];

    #[inline(always)]
    fn product(a: Limbs, b: Limbs) -> Limbs {
        Fold::<Self>::mul(a, b)
    }
}

/// The field of such a prime.
pub struct Fold<S>(PhantomData<S>);

impl<S: Special> Field for Fold<S> {
    type Element = Limbs;

    #[inline(always)]
    fn element(number: Limbs) -> Limbs {
        number
    }

    #[inline(always)]
    fn number(x: Limbs) -> Limbs {
        S::FIELD.limbs(Element::of_limbs(x))
    }

    #[inline(always)]
    fn add(a: Limbs, b: Limbs) -> Limbs {
        S::FIELD
            .add(Element::of_limbs(a), Element::of_limbs(b))
            .limbs()
    }

    #[inline(always)]
    fn sub(a: Limbs, b: Limbs) -> Limbs {
        S::FIELD
            .sub(Element::of_limbs(a), Element::of_limbs(b))
            .limbs()
    }

    #[inline(always)]
    fn mul(a: Limbs, b: Limbs) -> Limbs {
        S::FIELD
            .mul(Element::of_limbs(a), Element::of_limbs(b))
            .limbs()
    }

    #[inline(always)]
    fn square(a: Limbs) -> Limbs {
        S::FIELD.square(Element::of_limbs(a)).limbs()
    }

    #[inline(always)]
    fn halve(a: Limbs) -> Limbs {
        S::FIELD.halve(Element::of_limbs(a)).limbs()
    }

    #[inline(always)]
    fn mul_less(a: Limbs, b: Limbs, c: Limbs) -> Limbs {
        let [a, b, c] = [a, b, c].map(Element::of_limbs);
        S::FIELD.mul_less(a, b, c).limbs()
    }

    #[inline(always)]
    fn mul_less_mul(a: Limbs, b: Limbs, c: Limbs, d: Limbs) -> Limbs {
        S::difference([a, b], [c, d])
    }

    #[inline(always)]
    fn mul_less_square(a: Limbs, b: Limbs, c: Limbs) -> Limbs {
        S::difference_to_square([a, b], c)
    }

    #[inline(always)]
    fn square_less<const N: usize>(a: Limbs, less: [Limbs; N]) -> Limbs {
        S::FIELD
            .square_less(Element::of_limbs(a), less.map(Element::of_limbs))
            .limbs()
    }

    #[inline(always)]
    fn is_zero(a: Limbs) -> bool {
        S::FIELD.is_zero(Element::of_limbs(a))
    }
}

/// The field of P-256.
///
/// The form of `x` is `x R`, with `R = 2^256`, and what a product is reduced to is `(t + q p) / R` for the `q` below `R` that makes
/// `t + q p` a multiple of `R` ([Montgomery 1985]). As `-1 / p` is `1 + 2^96 + 2^193 - 2^224` modulo `R`, and
/// `p = R - 2^224 + 2^192 + 2^96 - 1`, it takes sums alone. With the halves `u` and `l` of `t`, and upper halves only,
///
/// ```text
/// (t + q p) / R = u + q + q / 2^160 + q / 2^64 - q / 2^32 + k
/// k = (l - q + lower halves of 2^96 q + 2^192 q - 2^224 q) / R
/// ```
///
/// `k` is a whole number, and as it is more than -2, it is at least -1. The top limbs of the five tell it: cut to them, the sum is
/// wrong by less than three in `2^32`.
pub struct OfP256;

impl OfP256 {
    const PRIME: Limbs = [!0, !0, !0, 0, 0, 0, 1, !0];
    /// `2^256` modulo the prime.
    const ONE: Limbs = [1, 0, 0, !0, !0, !0, !1, 0];
    /// `2^512` modulo the prime.
    const SQUARE: Limbs = [3, 0, !0, !4, !1, !0, !2, 4];

    /// `t / R` modulo the prime, for `t` below `R` times the prime.
    #[inline(always)]
    fn divided([lower, upper]: [Limbs; 2]) -> Limbs {
        let [l0, l1, l2, l3, l4, _, _, l7] = lower;
        let ([q0, q1, q2, q3, q4, q5, q6, q7], _) =
            Row::add_digits(lower, [0, 0, 0, l0, l1, l2, l3, l4]);
        let pair = |low: Limb, high: Limb| u64::from(low) | u64::from(high) << 32;
        let top = pair(q6, q7)
            .wrapping_add(pair(l0, l1) << 1)
            .wrapping_sub(pair(0, l0));
        let (q6, q7) = (top as Limb, (top >> 32) as Limb);
        let tops = i64::from(l7) - i64::from(q7) + i64::from(q4) + i64::from(q1) - i64::from(q0);
        let k = tops + (1 << 31) >> 32;
        let (sum, a) = Row::add_digits(upper, [q0, q1, q2, q3, q4, q5, q6, q7]);
        let (sum, b) = Row::add_digits(sum, [q2, q3, q4, q5, q6, q7, 0, 0]);
        let (sum, c) = Row::add_digits(sum, [q5, q6, q7, 0, 0, 0, 0, 0]);
        // The subtraction takes off again what is added to `k`, by its borrow.
        let (sum, d) = Row::add_digits(sum, [(k + 1) as Limb, 0, 0, 0, 0, 0, 0, 0]);
        let (sum, e) = Row::subtract(sum, [q1, q2, q3, q4, q5, q6, q7, 0], 1);
        Self::reduced(sum, a + b + c + d - e)
    }

    /// `number + carry R`, which is less than twice the prime, modulo the prime.
    #[inline(always)]
    fn reduced(number: Limbs, carry: Limb) -> Limbs {
        let (less, borrow) = Row::subtract(number, Self::PRIME, 0);
        Row::select((borrow & !carry).wrapping_neg(), number, less)
    }
}

impl Field for OfP256 {
    type Element = Limbs;

    #[inline(always)]
    fn element(number: Limbs) -> Limbs {
        Self::mul(number, Self::SQUARE)
    }

    #[inline(always)]
    fn number(x: Limbs) -> Limbs {
        Self::divided([x, [0; 8]])
    }

    #[inline(always)]
    fn zero() -> Limbs {
        [0; 8]
    }

    #[inline(always)]
    fn one() -> Limbs {
        Self::ONE
    }

    #[inline(always)]
    fn add(a: Limbs, b: Limbs) -> Limbs {
        let (sum, carry) = Row::add_digits(a, b);
        Self::reduced(sum, carry)
    }

    #[inline(always)]
    fn sub(a: Limbs, b: Limbs) -> Limbs {
        let (difference, borrow) = Row::subtract(a, b, 0);
        let mask = borrow.wrapping_neg();
        Row::add_digits(difference, Self::PRIME.map(|limb| limb & mask)).0
    }

    #[inline(always)]
    fn mul(a: Limbs, b: Limbs) -> Limbs {
        Self::divided(product(a, b))
    }

    #[inline(always)]
    fn square(a: Limbs) -> Limbs {
        Self::divided(square(a))
    }

    #[inline(always)]
    fn halve(a: Limbs) -> Limbs {
        let mask = (a[0] & 1).wrapping_neg();
        let (even, above) = Row::add_digits(a, Self::PRIME.map(|limb| limb & mask));
        let [_, e1, e2, e3, e4, e5, e6, e7] = even;
        let next = [e1, e2, e3, e4, e5, e6, e7, above];
        each(|i| even[i] >> 1 | next[i] << 31)
    }

    #[inline(always)]
    fn is_zero(a: Limbs) -> bool {
        Row::are_zero(a)
    }
}
