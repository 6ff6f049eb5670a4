//! Sums of any two points, by one formula without a branch ([Renes 2016]): for secrets, and where the formulas of
//! [`crate::shared::weierstrass`] fail.
//!
//! `(X : Y : Z)` stands for `x = X / Z`, `y = Y / Z`, and `(0 : 1 : 0)` for the point at infinity. With
//!
//! ```text
//! p = X1 Y2 + X2 Y1, q = Y1 Z2 + Y2 Z1, r = X1 Z2 + X2 Z1
//! x = X1 X2, y = Y1 Y2, z = Z1 Z2
//! s = 3 x + a z, t = a r + 3 b z, w = a x + 3 b r - a^2 z
//! ```
//!
//! the sum is
//!
//! ```text
//! X3 = p (y - t) - q w,  Y3 = (y + t) (y - t) + s w,  Z3 = q (y + t) + p s
//! ```
//!
//! It holds for all points of a curve whose number of points is odd.
//!
//! Cost: 14 products; those by `a`, 0 or -3, are sums.

use super::batch::inverse;
use super::words::Words;
use crate::shared::field::{Field, Limbs};
use crate::shared::weierstrass::{Affine, Curve, Element};

/// A point `(X : Y : Z)`.
pub type Point<C> = [Element<C>; 3];

/// `3 x`.
fn three<F: Field>(x: F::Element) -> F::Element {
    F::add(F::double(x), x)
}

/// `a x`.
fn times_a<C: Curve>(x: Element<C>) -> Element<C> {
    if C::A_IS_MINUS_3 {
        C::Field::neg(three::<C::Field>(x))
    } else {
        C::Field::zero()
    }
}

/// The point at infinity.
pub fn infinity<C: Curve>() -> Point<C> {
    [C::Field::zero(), C::Field::one(), C::Field::zero()]
}

/// The point `(x, y)`.
pub fn point<C: Curve>(p: Affine<Element<C>>) -> Point<C> {
    [p.x, p.y, C::Field::one()]
}

/// `p + q`.
pub fn add<C: Curve>([x1, y1, z1]: Point<C>, [x2, y2, z2]: Point<C>) -> Point<C> {
    let (sum, mul) = (C::Field::add, C::Field::mul);
    let less = C::Field::sub;
    let (x, y, z) = (mul(x1, x2), mul(y1, y2), mul(z1, z2));
    // (a + b) (c + d) - a c - b d is a d + b c.
    let cross = |a, b, c, d, ac, bd| less(mul(sum(a, b), sum(c, d)), sum(ac, bd));
    let p = cross(x1, y1, x2, y2, x, y);
    let q = cross(y1, z1, y2, z2, y, z);
    let r = cross(x1, z1, x2, z2, x, z);
    let b = C::Field::element(C::B);
    let of_b = |x| three::<C::Field>(mul(x, b));
    let az = times_a::<C>(z);
    let s = sum(three::<C::Field>(x), az);
    let t = sum(times_a::<C>(r), of_b(z));
    let w = sum(times_a::<C>(less(x, az)), of_b(r));
    let (plus, minus) = (sum(y, t), less(y, t));
    [
        less(mul(p, minus), mul(q, w)),
        sum(mul(plus, minus), mul(s, w)),
        sum(mul(q, plus), mul(p, s)),
    ]
}

/// `x` and `y` of a point, both 0 for the one at infinity.
pub fn affine<C: Curve>([x, y, z]: Point<C>, prime: Words) -> [Limbs; 2] {
    let inverse = inverse::<C::Field>(z, prime);
    [x, y].map(|x| C::Field::number(C::Field::mul(x, inverse)))
}

/// `v p`, in a time that depends on `v`.
fn multiple<C: Curve>(p: Point<C>, v: Words) -> Point<C> {
    let bits = (0..256).rev().map(|bit| v[bit / 64] >> (bit % 64) & 1);
    bits.fold(infinity::<C>(), |sum, bit| {
        let twice = add::<C>(sum, sum);
        if bit == 1 { add::<C>(twice, p) } else { twice }
    })
}

/// Whether `x(u G + v Q)` is one of two numbers.
pub fn matches<C: Curve>(
    q: Affine<Element<C>>,
    [u, v]: [Words; 2],
    candidates: [Limbs; 2],
) -> bool {
    let [x, y] = C::GENERATOR.map(C::Field::element);
    let terms = [(Affine { x, y }, u), (q, v)];
    let [first, second] = terms.map(|(p, times)| multiple::<C>(point::<C>(p), times));
    let [x, _, z] = add::<C>(first, second);
    let is = |candidate| C::Field::equal(x, C::Field::mul(C::Field::element(candidate), z));
    !C::Field::is_zero(z) && candidates.into_iter().any(is)
}
