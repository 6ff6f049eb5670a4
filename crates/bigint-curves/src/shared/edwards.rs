//! Points of the twisted Edwards curve `-x^2 + y^2 = 1 + d x^2 y^2` modulo `2^255 - 19`, edwards25519.
//!
//! -1 is a square and `d` is none, so that one formula adds any two points ([Hisil 2008]). A point is a pair of
//! fractions, `x = E / G` and `y = H / F`, which are what a sum gives. From them come
//! `(X : Y : Z) = (E F : G H : F G)` and `T = X Y / Z = E H`. The sum with `(x, y)` is
//!
//! ```text
//! A = (Y - X) (y - x), B = (Y + X) (y + x), C = 2 d x y T, D = 2 Z
//! E' = B - A, F' = D - C, G' = D + C, H' = B + A
//! ```
//!
//! and with another projective point the same with that one's `Z` in `D`. Twice a point is
//!
//! ```text
//! A = X^2, B = Y^2, C = 2 Z^2
//! E' = (X + Y)^2 - A - B, G' = B - A, F' = G' - C, H' = -A - B
//! ```
//!
//! Cost: 8 products for a sum, 7 with `(x, y)`, 7 products and squares for a double.

use super::combination::{Digits, Direct, Group, combine};
use super::curves::{D, D2, ROOT_OF_MINUS_1};
use super::field::{Field, Limbs, power};
use core::marker::PhantomData;

/// A point as a pair of fractions.
#[derive(Clone, Copy)]
pub struct Point<E> {
    e: E,
    f: E,
    g: E,
    h: E,
}

/// A point that is added often: `y + x`, `y - x` and `2 d x y`, in the denominator `z`.
#[derive(Clone, Copy)]
pub struct Multiple<E> {
    sums: Fixed<E>,
    z: E,
}

impl<E: Copy> Multiple<E> {
    /// The point whose numbers are made of those of two.
    pub fn zip(self, other: Self, number: impl Fn(E, E) -> E) -> Self {
        let (p, q) = (self.sums, other.sums);
        let sums = Fixed {
            plus: number(p.plus, q.plus),
            minus: number(p.minus, q.minus),
            product: number(p.product, q.product),
        };
        Multiple {
            sums,
            z: number(self.z, other.z),
        }
    }
}

/// A point that is added often.
#[derive(Clone, Copy)]
pub struct Fixed<E> {
    /// `y + x`.
    pub plus: E,
    /// `y - x`.
    pub minus: E,
    /// `2 d x y`.
    pub product: E,
}

/// The group of points over a field that computes modulo `2^255 - 19`.
pub struct Points<F>(PhantomData<F>);

impl<F: Field> Points<F> {
    /// The point `(x, y)`.
    #[inline(always)]
    pub fn point(x: F::Element, y: F::Element) -> Point<F::Element> {
        Point {
            e: x,
            f: F::one(),
            g: F::one(),
            h: y,
        }
    }

    /// `X`, `Y` and `Z`.
    #[inline(always)]
    pub fn coordinates(p: Point<F::Element>) -> [F::Element; 3] {
        [F::mul(p.e, p.f), F::mul(p.g, p.h), F::mul(p.f, p.g)]
    }

    /// The form of a table's entry of `(x, y)`.
    #[inline(always)]
    pub fn fixed(x: F::Element, y: F::Element) -> Fixed<F::Element> {
        let product = F::mul(F::mul(x, y), F::element(D2));
        Fixed {
            plus: F::add(y, x),
            minus: F::sub(y, x),
            product,
        }
    }

    /// The sum, where `d` is `D`.
    #[inline(always)]
    fn sum([x, y, t, d]: [F::Element; 4], q: Fixed<F::Element>) -> Point<F::Element> {
        let a = F::mul(F::sub(y, x), q.minus);
        let b = F::mul(F::add(y, x), q.plus);
        let c = F::mul(t, q.product);
        Point {
            e: F::sub(b, a),
            f: F::sub(d, c),
            g: F::add(d, c),
            h: F::add(b, a),
        }
    }
}

impl<F: Field> Group for Points<F> {
    type Point = Point<F::Element>;
    type Multiple = Multiple<F::Element>;
    type Fixed = Fixed<F::Element>;

    const HAS_IDENTITY: bool = true;

    #[inline(always)]
    fn identity() -> Self::Point {
        Self::point(F::zero(), F::one())
    }

    #[inline(always)]
    fn double(p: Self::Point) -> Self::Point {
        let [x, y, z] = Self::coordinates(p);
        let (a, b, c) = (F::square(x), F::square(y), F::double(F::square(z)));
        let both = F::add(a, b);
        let e = F::sub(F::square(F::add(x, y)), both);
        let g = F::sub(b, a);
        Point {
            e,
            f: F::sub(g, c),
            g,
            h: F::neg(both),
        }
    }

    #[inline(always)]
    fn add(p: Self::Point, q: Self::Multiple) -> Self::Point {
        let [x, y, z] = Self::coordinates(p);
        let d = F::double(F::mul(z, q.z));
        Self::sum([x, y, F::mul(p.e, p.h), d], q.sums)
    }

    #[inline(always)]
    fn add_fixed(p: Self::Point, q: Self::Fixed) -> Self::Point {
        let [x, y, z] = Self::coordinates(p);
        Self::sum([x, y, F::mul(p.e, p.h), F::double(z)], q)
    }

    #[inline(always)]
    fn negated(q: Self::Multiple) -> Self::Multiple {
        Multiple {
            sums: Self::negated_fixed(q.sums),
            z: q.z,
        }
    }

    #[inline(always)]
    fn negated_fixed(q: Self::Fixed) -> Self::Fixed {
        Fixed {
            plus: q.minus,
            minus: q.plus,
            product: F::neg(q.product),
        }
    }

    #[inline(always)]
    fn image(q: Self::Multiple) -> Self::Multiple {
        q
    }
}

impl<F: Field> Direct for Points<F> {
    #[inline(always)]
    fn multiple(p: Self::Point) -> Self::Multiple {
        let [x, y, z] = Self::coordinates(p);
        let product = F::mul(F::mul(p.e, p.h), F::element(D2));
        Multiple {
            sums: Fixed {
                plus: F::add(y, x),
                minus: F::sub(y, x),
                product,
            },
            z,
        }
    }
}

/// `x` and `y` of the point that 32 bytes encode, and whether there is one: `y`, whose number may be the prime or more, and in the top bit whether
/// `x` is odd, which is not looked at for 0.
///
/// With `u = y^2 - 1` and `v = d y^2 + 1`, `x` is the square root of `u / v`, if there is one: `u v^3 (u v^7)^((p - 5) / 8)`,
/// or this times a root of -1.
#[inline(always)]
pub fn decoded<F: Field>(mut encoding: Limbs) -> ([F::Element; 2], bool) {
    let is_odd = encoding[7] >> 31 == 1;
    encoding[7] &= 0x7fff_ffff;
    let y = F::element(encoding);
    let square = F::square(y);
    let u = F::sub(square, F::one());
    let v = F::add(F::mul(square, F::element(D)), F::one());
    let v3 = F::mul(F::square(v), v);
    let v7 = F::mul(F::square(v3), v);
    let root = power::<F, 2>(F::mul(u, v7), [[250, 1], [1, 0]]);
    let mut x = F::mul(F::mul(u, v3), root);
    let found = F::mul(F::square(x), v);
    let mut is_point = F::equal(found, u);
    if !is_point {
        is_point = F::is_zero(F::add(found, u));
        x = F::mul(x, F::element(ROOT_OF_MINUS_1));
    }
    if (F::number(x)[0] & 1 == 1) != is_odd {
        x = F::neg(x);
    }
    ([x, y], is_point)
}

/// The encoding of a point, from its coordinates and `1 / Z`.
#[inline(always)]
pub fn encoded<F: Field>([x, y, _]: [F::Element; 3], inverse: F::Element) -> Limbs {
    let mut encoding = F::number(F::mul(y, inverse));
    encoding[7] |= F::number(F::mul(x, inverse))[0] << 31;
    encoding
}

/// The coordinates of `u G - v A`, for the public key `A`, if that encodes a point. Threads that walk in step have coordinates of some
/// point in any case, and whether they are these.
#[inline(always)]
pub fn combined<F: Field, N: Digits>(
    key: Limbs,
    digits: &N,
    places: u32,
    fixed: impl Fn(u32) -> Option<(Fixed<F::Element>, bool)>,
) -> ([F::Element; 3], bool) {
    let ([x, y], is_point) = decoded::<F>(key);
    if !is_point && !N::IS_IN_STEP {
        return ([x, y, F::one()], false);
    }
    let q = Points::<F>::point(F::neg(x), y);
    let sum = combine::<Points<F>, N>(q, digits, places, fixed);
    (Points::<F>::coordinates(sum), is_point)
}
