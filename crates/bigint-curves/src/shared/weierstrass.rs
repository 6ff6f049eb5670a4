//! Points of `y^2 = x^3 + a x + b`, where `a` is 0 or -3, the number of points is a prime, and none has `y` = 0.
//!
//! `(X : Y : Z)` stands for `x = X / Z^2`, `y = Y / Z^3` (Jacobian coordinates), and for the point at infinity
//! if `Z` is 0. The sum of `(X1 : Y1 : Z1)` and `(X2 : Y2 : Z2)` is
//!
//! ```text
//! U1 = X1 Z2^2, U2 = X2 Z1^2, S1 = Y1 Z2^3, S2 = Y2 Z1^3, H = U2 - U1, R = S2 - S1
//! X3 = R^2 - H^3 - 2 U1 H^2,  Y3 = R (U1 H^2 - X3) - S1 H^3,  Z3 = Z1 Z2 H
//! ```
//!
//! which fails if `H` is 0: the points are equal or opposite. Whoever signs with a key of his own can
//! bring that about, but nobody by chance. `Z3` is 0 then, and so is the `Z` of all that is computed from it: the caller sees it in the
//! end, and computes by other formulas. Twice a point is
//!
//! ```text
//! C = Y^2, B = X C, A = (3 X^2 + a Z^4) / 2
//! X' = A^2 - 2 B,  Y' = A (B - X') - C^2,  Z' = Y Z
//! ```
//!
//! Cost: 14 products and squares for a sum, 11 if `Z2` is 1, 7 for a double if `a` is 0 and 8 if it is -3.

use super::combination::{Digits, Direct, ENTRIES, Group, Table, combine};
use super::field::{Field, Limbs, power};
use core::marker::PhantomData;

/// A curve.
pub trait Curve: Sized {
    /// The field of coordinates.
    type Field: Field;
    /// Whether `a` is -3, not 0.
    const A_IS_MINUS_3: bool;
    /// The number `b`.
    const B: Limbs;
    /// The `x` and `y` of the generator.
    const GENERATOR: [Limbs; 2];
    /// `(p + 1) / 4` for the prime `p` of the field, which is 3 modulo 4, as runs of bits ([`power`]).
    const ROOT: [[u32; 2]; 3];
    /// A third root of 1, if `(x, y)` to `(BETA x, y)` is an endomorphism that halves numbers.
    const BETA: Option<Limbs>;
    /// The group whose formulas are for sums of many points.
    type Sums: Table<Point = Jacobian<Element<Self>>, Fixed = Affine<Element<Self>>>;
}

/// An element of a curve's field.
pub type Element<C> = <<C as Curve>::Field as Field>::Element;

/// A point `(x, y)`.
#[derive(Clone, Copy)]
pub struct Affine<E> {
    /// `x`.
    pub x: E,
    /// `y`.
    pub y: E,
}

/// A point in Jacobian coordinates.
#[derive(Clone, Copy)]
pub struct Jacobian<E> {
    /// `X`.
    pub x: E,
    /// `Y`.
    pub y: E,
    /// `Z`.
    pub z: E,
}

/// A point that is added often: `(X : Y : Z)`, `Z^2` and `Z^3`.
#[derive(Clone, Copy)]
pub struct Multiple<E> {
    point: Jacobian<E>,
    square: E,
    cube: E,
}

/// `x^3 + a x + b`.
#[inline(always)]
pub fn right_side<C: Curve>(x: Element<C>) -> Element<C> {
    let square = C::Field::square(x);
    let factor = if C::A_IS_MINUS_3 {
        C::Field::sub(square, C::Field::element([3, 0, 0, 0, 0, 0, 0, 0]))
    } else {
        square
    };
    C::Field::add(C::Field::mul(factor, x), C::Field::element(C::B))
}

/// The `y` of a point, as a key tells it.
#[derive(Clone, Copy)]
pub enum Ordinate {
    /// `y` itself.
    Is(Limbs),
    /// Whether `y` is odd.
    IsOdd(bool),
}

/// The point with these coordinates, and whether it is on the curve.
#[inline(always)]
pub fn decoded<C: Curve>(x: Limbs, y: Ordinate) -> (Affine<Element<C>>, bool) {
    let x = C::Field::element(x);
    let square = right_side::<C>(x);
    let y = match y {
        Ordinate::Is(y) => C::Field::element(y),
        Ordinate::IsOdd(is_odd) => {
            let root = power::<C::Field, 3>(square, C::ROOT);
            if (C::Field::number(root)[0] & 1 == 1) == is_odd {
                root
            } else {
                C::Field::neg(root)
            }
        }
    };
    let is_on_curve = C::Field::equal(C::Field::square(y), square);
    (Affine { x, y }, is_on_curve)
}

/// The group of a curve's points.
pub struct Points<C>(PhantomData<C>);

impl<C: Curve> Points<C> {
    /// `A`.
    #[inline(always)]
    fn slope(p: Jacobian<Element<C>>) -> Element<C> {
        let product = if C::A_IS_MINUS_3 {
            let square = C::Field::square(p.z);
            C::Field::mul(C::Field::sub(p.x, square), C::Field::add(p.x, square))
        } else {
            C::Field::square(p.x)
        };
        C::Field::add(product, C::Field::halve(product))
    }

    /// The sum of two points from `U1`, `S1`, `H`, `R` and `Z1 Z2`.
    #[inline(always)]
    fn sum(
        u: Element<C>,
        s: Element<C>,
        h: Element<C>,
        r: Element<C>,
        z: Element<C>,
    ) -> Jacobian<Element<C>> {
        let square = C::Field::square(h);
        let cube = C::Field::mul(square, h);
        let v = C::Field::mul(u, square);
        let x = C::Field::square_less(r, [cube, v, v]);
        let y = C::Field::mul_less_mul(r, C::Field::sub(v, x), s, cube);
        let z = C::Field::mul(z, h);
        Jacobian { x, y, z }
    }

    /// The sum with a point whose `Z` is 1.
    #[inline(always)]
    fn mixed(p: Jacobian<Element<C>>, q: Affine<Element<C>>) -> Jacobian<Element<C>> {
        let square = C::Field::square(p.z);
        let cube = C::Field::mul(square, p.z);
        let h = C::Field::mul_less(q.x, square, p.x);
        let r = C::Field::mul_less(q.y, cube, p.y);
        Self::sum(p.x, p.y, h, r, p.z)
    }

    /// A point with `Z` = 1.
    #[inline(always)]
    pub fn point(p: Affine<Element<C>>) -> Jacobian<Element<C>> {
        Jacobian {
            x: p.x,
            y: p.y,
            z: C::Field::one(),
        }
    }
}

impl<C: Curve> Group for Points<C> {
    type Point = Jacobian<Element<C>>;
    type Multiple = Multiple<Element<C>>;
    type Fixed = Affine<Element<C>>;

    const HAS_IDENTITY: bool = false;

    #[inline(always)]
    fn identity() -> Self::Point {
        Jacobian {
            x: C::Field::one(),
            y: C::Field::one(),
            z: C::Field::zero(),
        }
    }

    #[inline(always)]
    fn double(p: Self::Point) -> Self::Point {
        let a = Self::slope(p);
        let c = C::Field::square(p.y);
        let b = C::Field::mul(p.x, c);
        let x = C::Field::square_less(a, [b, b]);
        let y = C::Field::mul_less_square(a, C::Field::sub(b, x), c);
        let z = C::Field::mul(p.y, p.z);
        Jacobian { x, y, z }
    }

    #[inline(always)]
    fn of_multiple(q: Self::Multiple) -> Self::Point {
        q.point
    }

    #[inline(always)]
    fn add(p: Self::Point, q: Self::Multiple) -> Self::Point {
        let square = C::Field::square(p.z);
        let cube = C::Field::mul(square, p.z);
        let (u, s) = (C::Field::mul(p.x, q.square), C::Field::mul(p.y, q.cube));
        let h = C::Field::mul_less(q.point.x, square, u);
        let r = C::Field::mul_less(q.point.y, cube, s);
        let z = C::Field::mul(p.z, q.point.z);
        Self::sum(u, s, h, r, z)
    }

    #[inline(always)]
    fn of_fixed(q: Self::Fixed) -> Self::Point {
        Self::point(q)
    }

    #[inline(always)]
    fn add_fixed(p: Self::Point, q: Self::Fixed) -> Self::Point {
        Self::mixed(p, q)
    }

    #[inline(always)]
    fn negated(mut q: Self::Multiple) -> Self::Multiple {
        q.point.y = C::Field::neg(q.point.y);
        q
    }

    #[inline(always)]
    fn negated_fixed(mut q: Self::Fixed) -> Self::Fixed {
        q.y = C::Field::neg(q.y);
        q
    }

    #[inline(always)]
    fn image(mut q: Self::Multiple) -> Self::Multiple {
        if let Some(beta) = C::BETA {
            q.point.x = C::Field::mul(q.point.x, C::Field::element(beta));
        }
        q
    }
}

impl<C: Curve> Direct for Points<C> {
    #[inline(always)]
    fn multiple(p: Self::Point) -> Self::Multiple {
        let square = C::Field::square(p.z);
        Multiple {
            point: p,
            square,
            cube: C::Field::mul(square, p.z),
        }
    }
}

/// The group of the points of a curve whose `a` is 0, with tables over one `Z`.
///
/// The formulas for sums and doubles then know neither `a` nor `b`, and are those of all curves `y^2 = x^3 + b'`. For any number
/// `s` but 0, `(X : Y : s Z)` to `(X : Y : Z)` takes points of the curve to points of such a one, and sums to sums. So the points of
/// a table are brought to one denominator `s`, which is left out: a sum with `(x : y : s)` costs what one with `(x, y)` does. In
/// the end `Z` is multiplied by `s`.
///
/// Two points over one `Z`, which is left out, have the sum
///
/// ```text
/// H = X2 - X1, R = Y2 - Y1, U = X1 H^2, V = X2 H^2, S = Y1 (V - U)
/// X3 = R^2 - U - V,  Y3 = R (U - X3) - S
/// ```
///
/// over `H Z`, over which `(U, S)` is the first of them (N. Meloni, WAIFI 2007): 4 products and 2 squares. So is `(x, y)` over the `Z = y` of its double,
/// as `(B, C^2)`. Each point of the table is the sum of the one before and of such a point, and the products of all `H` from
/// the last one down bring each to the last one's `Z`.
pub struct OverOneZ<C>(PhantomData<C>);

impl<C: Curve> OverOneZ<C> {
    /// The `x` and `y` of `(x, y)` over this `Z`.
    #[inline(always)]
    fn scaled(p: Affine<Element<C>>, z: Element<C>) -> Affine<Element<C>> {
        let square = C::Field::square(z);
        Affine {
            x: C::Field::mul(p.x, square),
            y: C::Field::mul(p.y, C::Field::mul(square, z)),
        }
    }

    /// A point, whose `Z` is left out, and its double, both over `Y`.
    #[inline(always)]
    fn with_double(p: Jacobian<Element<C>>) -> (Affine<Element<C>>, Affine<Element<C>>) {
        let a = Points::<C>::slope(p);
        let c = C::Field::square(p.y);
        let b = C::Field::mul(p.x, c);
        let s = C::Field::square(c);
        let x = C::Field::square_less(a, [b, b]);
        let y = C::Field::mul_less(a, C::Field::sub(b, x), s);
        (Affine { x: b, y: s }, Affine { x, y })
    }

    /// The sum of two points over one `Z`, the first of them over the sum's, and `H`.
    #[inline(always)]
    fn with_sum(
        p: Affine<Element<C>>,
        q: Affine<Element<C>>,
    ) -> (Affine<Element<C>>, Affine<Element<C>>, Element<C>) {
        let (h, r) = (C::Field::sub(q.x, p.x), C::Field::sub(q.y, p.y));
        let square = C::Field::square(h);
        let (u, v) = (C::Field::mul(p.x, square), C::Field::mul(q.x, square));
        let s = C::Field::mul(p.y, C::Field::sub(v, u));
        let x = C::Field::square_less(r, [u, v]);
        let y = C::Field::mul_less(r, C::Field::sub(u, x), s);
        (Affine { x, y }, Affine { x: u, y: s }, h)
    }
}

impl<C: Curve> Group for OverOneZ<C> {
    type Point = Jacobian<Element<C>>;
    type Multiple = Affine<Element<C>>;
    type Fixed = Affine<Element<C>>;

    const HAS_IDENTITY: bool = false;

    #[inline(always)]
    fn identity() -> Self::Point {
        Points::<C>::identity()
    }

    #[inline(always)]
    fn double(p: Self::Point) -> Self::Point {
        Points::<C>::double(p)
    }

    #[inline(always)]
    fn of_multiple(q: Self::Multiple) -> Self::Point {
        Points::<C>::of_fixed(q)
    }

    #[inline(always)]
    fn add(p: Self::Point, q: Self::Multiple) -> Self::Point {
        Points::<C>::add_fixed(p, q)
    }

    #[inline(always)]
    fn of_fixed(q: Self::Fixed) -> Self::Point {
        Points::<C>::of_fixed(q)
    }

    #[inline(always)]
    fn add_fixed(p: Self::Point, q: Self::Fixed) -> Self::Point {
        Points::<C>::add_fixed(p, q)
    }

    #[inline(always)]
    fn negated(q: Self::Multiple) -> Self::Multiple {
        Points::<C>::negated_fixed(q)
    }

    #[inline(always)]
    fn negated_fixed(q: Self::Fixed) -> Self::Fixed {
        Points::<C>::negated_fixed(q)
    }

    #[inline(always)]
    fn image(mut q: Self::Multiple) -> Self::Multiple {
        if let Some(beta) = C::BETA {
            q.x = C::Field::mul(q.x, C::Field::element(beta));
        }
        q
    }
}

impl<C: Curve> Table for OverOneZ<C> {
    type Scale = Element<C>;

    const OF_FIXED: Option<fn(Self::Fixed) -> Self::Multiple> = Some(|q| q);

    #[inline(always)]
    fn first(q: Self::Point) -> Self::Multiple {
        Affine { x: q.x, y: q.y }
    }

    #[inline(always)]
    fn fill(table: &mut [Self::Multiple; ENTRIES], q: Self::Point, are_odd: bool) -> Self::Scale {
        let (first, twice) = Self::with_double(q);
        let (mut step, mut last, begin) = if are_odd {
            (twice, first, 1)
        } else {
            (first, twice, 2)
        };
        table[0] = first;
        table[begin - 1] = last;
        // The `Z` of each point divided by that of the one before.
        let mut factors = [q.y; ENTRIES];
        let mut at = begin;
        while at < ENTRIES {
            (last, step, factors[at]) = Self::with_sum(step, last);
            table[at] = last;
            at += 1;
        }
        let mut factor = factors[ENTRIES - 1];
        at = ENTRIES - 1;
        while at > 0 {
            at -= 1;
            table[at] = Self::scaled(table[at], factor);
            if at >= begin {
                factor = C::Field::mul(factor, factors[at]);
            }
        }
        C::Field::mul(C::Field::mul(q.z, q.y), factor)
    }

    #[inline(always)]
    fn restored(mut sum: Self::Point, scale: Self::Scale) -> Self::Point {
        sum.z = C::Field::mul(sum.z, scale);
        sum
    }
}

/// What became of a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Verdict {
    /// The public key is no point of the curve.
    NoPoint = 0,
    /// The signature is not of this key and this message.
    Mismatch = 1,
    /// The signature is right.
    Valid = 2,
    /// A formula failed, and others must decide.
    Undecided = 3,
}

/// Whether `x(u G + v Q)` is one of two numbers, for the public key `Q`.
#[inline(always)]
pub fn verdict<C: Curve, D: Digits>(
    key: (Limbs, Ordinate),
    digits: &D,
    places: u32,
    fixed: impl Fn(u32) -> Option<(Affine<Element<C>>, bool)>,
    candidates: impl Fn() -> [Limbs; 2],
) -> Verdict {
    let (q, is_on_curve) = decoded::<C>(key.0, key.1);
    // Threads that walk in step take all steps, with any numbers.
    if !is_on_curve && !D::IS_IN_STEP {
        return Verdict::NoPoint;
    }
    let sum = combine::<C::Sums, D>(Points::<C>::point(q), digits, places, fixed);
    let square = C::Field::square(sum.z);
    let [first, second] = candidates();
    let is_one = is_abscissa::<C>(sum.x, square, first) || is_abscissa::<C>(sum.x, square, second);
    if !is_on_curve {
        Verdict::NoPoint
    } else if C::Field::is_zero(square) {
        Verdict::Undecided
    } else if is_one {
        Verdict::Valid
    } else {
        Verdict::Mismatch
    }
}

/// Whether `X / Z^2` is a number.
#[inline(always)]
fn is_abscissa<C: Curve>(x: Element<C>, square: Element<C>, number: Limbs) -> bool {
    C::Field::equal(x, C::Field::mul(C::Field::element(number), square))
}
