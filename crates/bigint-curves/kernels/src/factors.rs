//! `u = e / s` and `v = r / s` of ECDSA, a thread for each group of signatures: one inversion serves them ([Montgomery 1987]).
//!
//! The digits of both are written with halves of windows' ranges added, as `digit_of` takes them. Of a number and its opposite modulo the
//! number of points the smaller one is taken, which is below `2^255`, so that nothing is carried out of 256 bits.
//!
//! Cost: seven products of a signature modulo the number of points, and an inversion for all; on secp256k1 six more to split `v`.

use crate::shared::field::Limbs;
use crate::shared::rows;
use crate::shared::split::{self, Whole};
use bigint_core::Arguments;
use bigint_kernels::field::special::product;
use bigint_kernels::field::{Element, Field};
use bigint_kernels::gpu::memory::Unit;
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::Batches;

type Row = Window<8>;

/// The number of points of a curve.
pub trait Points {
    /// Numbers modulo that.
    const FIELD: Field<8>;
    /// That number.
    const NUMBER: Limbs;
    /// The prime of the coordinates.
    const PRIME: Limbs;

    /// The digits of `v`, and the signs of its terms.
    fn terms(v: Limbs) -> ([u32; 10], u32);
}

/// secp256k1.
pub struct OfSecp256k1;

/// P-256.
pub struct OfP256;

impl Points for OfSecp256k1 {
    const FIELD: Field<8> = Field::constant(Self::NUMBER);
    const NUMBER: Limbs = [
        0xd0364141, 0xbfd25e8c, 0xaf48a03b, 0xbaaedce6, !1, !0, !0, !0,
    ];
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

impl Points for OfP256 {
    const FIELD: Field<8> = Field::constant(Self::NUMBER);
    const NUMBER: Limbs = [
        0xfc632551, 0xf3b9cac2, 0xa7179e84, 0xbce6faad, !0, !0, 0, !0,
    ];
    const PRIME: Limbs = [!0, !0, !0, 0, 0, 0, 1, !0];

    #[inline(always)]
    fn terms(v: Limbs) -> ([u32; 10], u32) {
        let (magnitude, sign) = smaller::<Self>(v);
        let [a, b, c, d, e, f, g, h] = Row::add_digits(magnitude, [HALF_WINDOWS; 8]).0;
        ([a, b, c, d, e, f, g, h, 0, 0], sign)
    }
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
    let (opposite, _) = Row::subtract(P::NUMBER, x, 0);
    let (_, is_opposite) = Row::subtract(opposite, x, 0);
    let limbs = Row::select(is_opposite.wrapping_neg(), opposite, x);
    (limbs, is_opposite)
}

/// What `x(R)` may be: `r`, and `r + n` if it is below the prime.
#[inline(always)]
pub fn candidates<P: Points>(r: Limbs) -> [Limbs; 2] {
    let (above, carry) = Row::add_digits(r, P::NUMBER);
    let (_, is_below) = Row::subtract(above, P::PRIME, 0);
    let is_one = is_below & !carry & 1;
    [r, Row::select(is_one.wrapping_neg(), above, r)]
}

/// Makes the factors of a group's rows.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
pub unsafe fn factors<P: Points>(arguments: &Arguments) {
    let group = rows::GROUP;
    // SAFETY: by this function's own contract.
    for work in unsafe { Batches::<Unit>::new(arguments) }.numbers() {
        let number = |at: u32, of: u32| -> Limbs { load(work.a, rows::ECDSA * at + of) };
        // Products of all `s` before each.
        let mut before = [[0; 8]; rows::GROUP as usize];
        let mut product = P::FIELD.one();
        let mut at = 0;
        while at < group {
            before[(at % group) as usize] = product.limbs();
            let s = P::FIELD.element(number(at, rows::S));
            product = P::FIELD.mul(product, s);
            at += 1;
        }
        let mut inverse = P::FIELD.invert(product);
        while at > 0 {
            at -= 1;
            let before = Element::of_limbs(before[(at % group) as usize]);
            let own = P::FIELD.mul(inverse, before);
            let s = P::FIELD.element(number(at, rows::S));
            inverse = P::FIELD.mul(inverse, s);
            // The product of a number and a form is a number.
            let times = |number| P::FIELD.mul(Element::of_limbs(number), own).limbs();
            let (u, sign) = smaller::<P>(times(number(at, rows::DIGEST)));
            let (terms, signs) = P::terms(times(number(at, rows::R)));
            let u = Row::add_digits(u, [HALF_PLACES; 8]).0;
            let mut made = [0; rows::FACTORS as usize];
            made[..8].copy_from_slice(&u);
            made[8..18].copy_from_slice(&terms);
            made[18] = signs << 1 | sign;
            store(work.r, rows::FACTORS * at, made);
        }
    }
}
