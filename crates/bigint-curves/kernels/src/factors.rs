//! `u = e / s` and `v = r / s` of ECDSA.
//!
//! The digits of both are written with halves of windows' ranges added, as `digit_of` takes them. Of a number and its opposite modulo the
//! number of points the smaller one is taken, which is below `2^255`, so that nothing is carried out of 256 bits.
//!
//! Cost: three products modulo the number of points; on secp256k1 six more to split `v`.

use crate::inverse::Modulo;
use crate::shared::field::Limbs;
use crate::shared::rows;
use crate::shared::split::{self, Whole};
use bigint_kernels::field::special::product;
use bigint_kernels::field::{Element, Field};
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::load;

type Row = Window<8>;

/// Where the first term is.
pub const V: u32 = 8;

/// Limbs of a term, if there are two.
pub const TERM: u32 = 5;

/// Limbs of both factors, rounded up to a power of two.
const LIMBS: usize = 32;

/// The factors of a signature.
pub struct Factors {
    /// The digits of `u`, and of the terms of `v`.
    limbs: [u32; LIMBS],
    /// In bit 0 the sign of `u`, then those of the terms.
    pub signs: u32,
}

impl Factors {
    /// Limb `at`. (Kernels have no checks of bounds.)
    #[inline(always)]
    pub fn limb(&self, at: u32) -> u32 {
        self.limbs[at as usize % LIMBS]
    }
}

/// Numbers modulo the number of points of a curve.
pub trait Points: Modulo {
    /// Their field.
    const FIELD: Field<8>;
    /// The prime of the coordinates.
    const PRIME: Limbs;

    /// The digits of `v`, and the signs of its terms.
    fn terms(v: Limbs) -> ([u32; 10], u32);
}

/// secp256k1.
pub struct OfSecp256k1;

/// P-256.
pub struct OfP256;

impl Modulo for OfSecp256k1 {
    const MODULUS: Limbs = [
        0xd0364141, 0xbfd25e8c, 0xaf48a03b, 0xbaaedce6, !1, !0, !0, !0,
    ];

    #[inline(always)]
    fn product(a: Limbs, b: Limbs) -> Limbs {
        product_of::<Self>(a, b)
    }
}

impl Points for OfSecp256k1 {
    const FIELD: Field<8> = Field::constant(Self::MODULUS);
    const PRIME: Limbs = [!976, !1, !0, !0, !0, !0, !0, !0];

    #[inline(always)]
    fn terms(v: Limbs) -> ([u32; 10], u32) {
        let [(first, is_negative), (second, second_is_negative)] = split::halves::<InLimbs>(v);
        let half = [HALF_WINDOWS; 8];
        let [a, b, c, d, e, ..] = Row::add_digits(first, half).0;
        let [f, g, h, i, j, ..] = Row::add_digits(second, half).0;
        let signs = u32::from(is_negative) | u32::from(second_is_negative) << 1;
        ([a, b, c, d, e, f, g, h, i, j], signs)
    }
}

impl Modulo for OfP256 {
    const MODULUS: Limbs = [
        0xfc632551, 0xf3b9cac2, 0xa7179e84, 0xbce6faad, !0, !0, 0, !0,
    ];

    #[inline(always)]
    fn product(a: Limbs, b: Limbs) -> Limbs {
        product_of::<Self>(a, b)
    }
}

impl Points for OfP256 {
    const FIELD: Field<8> = Field::constant(Self::MODULUS);
    const PRIME: Limbs = [!0, !0, !0, 0, 0, 0, 1, !0];

    #[inline(always)]
    fn terms(v: Limbs) -> ([u32; 10], u32) {
        let (magnitude, sign) = smaller::<Self>(v);
        let [a, b, c, d, e, f, g, h] = Row::add_digits(magnitude, [HALF_WINDOWS; 8]).0;
        ([a, b, c, d, e, f, g, h, 0, 0], sign)
    }
}

/// `a b / R`, for the `R` of Montgomery's form.
#[inline(always)]
fn product_of<P: Points>(a: Limbs, b: Limbs) -> Limbs {
    P::FIELD
        .mul(Element::of_limbs(a), Element::of_limbs(b))
        .limbs()
}

/// What is added to each window of a limb.
const HALF_WINDOWS: u32 = 0x7777_7777;

/// What is added to each place of a limb.
const HALF_PLACES: u32 = 0x7fff_7fff;

const _: () = assert!(rows::WINDOW_BITS == 4 && rows::PLACE_BITS == 16);

/// Numbers of 256 bits in limbs.
struct InLimbs;

impl Whole for InLimbs {
    #[inline(always)]
    fn add(a: Limbs, b: Limbs) -> Limbs {
        Row::add_digits(a, b).0
    }

    #[inline(always)]
    fn subtract(a: Limbs, b: Limbs) -> Limbs {
        Row::subtract(a, b, 0).0
    }

    #[inline(always)]
    fn product(a: Limbs, b: Limbs) -> [Limbs; 2] {
        product(a, b)
    }
}

/// The smaller one of a number and its opposite, and 1 if it is the opposite.
#[inline(always)]
fn smaller<P: Points>(x: Limbs) -> (Limbs, u32) {
    let (opposite, _) = Row::subtract(P::MODULUS, x, 0);
    let (_, is_opposite) = Row::subtract(opposite, x, 0);
    let limbs = Row::select(is_opposite.wrapping_neg(), opposite, x);
    (limbs, is_opposite)
}

/// What `x(R)` may be: `r`, and `r + n` if it is below the prime.
#[inline(always)]
pub fn candidates<P: Points>(r: Limbs) -> [Limbs; 2] {
    let (above, carry) = Row::add_digits(r, P::MODULUS);
    let (_, is_below) = Row::subtract(above, P::PRIME, 0);
    let is_one = is_below & !carry & 1;
    [r, Row::select(is_one.wrapping_neg(), above, r)]
}

/// Makes the factors of a row whose `1 / s` is known.
#[inline(always)]
pub fn factors<P: Points>(row: Number<Unit>, inverse: Limbs) -> Factors {
    // The product of a number and a form is a number.
    let inverse = P::FIELD.element(inverse);
    let times = |at| {
        P::FIELD
            .mul(Element::of_limbs(load(row, at)), inverse)
            .limbs()
    };
    let (u, sign) = smaller::<P>(times(rows::DIGEST));
    let (terms, signs) = P::terms(times(rows::R));
    let mut limbs = [0; LIMBS];
    limbs[..8].copy_from_slice(&Row::add_digits(u, [HALF_PLACES; 8]).0);
    limbs[8..18].copy_from_slice(&terms);
    Factors {
        limbs,
        signs: signs << 1 | sign,
    }
}
