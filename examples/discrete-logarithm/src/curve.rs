//! Curves, points, and what is asked of them, by plain arithmetic: it is slow, and checks what the walks find.

use bigint_host::Engine;
use num_bigint::BigUint;

use crate::Error;

/// The curve `y^2 = x^3 + a x + b` over the field of a prime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// The prime `p`.
    pub p: BigUint,
    /// The number `a`, less than `p`.
    pub a: BigUint,
    /// The number `b`, less than `p`.
    pub b: BigUint,
}

/// The coordinates `x` and `y` of a point, each less than `p`.
pub type Affine = [BigUint; 2];

/// A point of a curve; `None` is infinity.
pub type Point = Option<Affine>;

impl Curve {
    /// Whether a point is on the curve.
    pub fn contains(&self, [x, y]: &Affine) -> bool {
        let right = (x * x + &self.a) * x + &self.b;
        *x < self.p && *y < self.p && (y * y) % &self.p == right % &self.p
    }

    /// `-P`.
    pub fn negated(&self, point: &Point) -> Point {
        point
            .as_ref()
            .map(|[x, y]| [x.clone(), (&self.p - y) % &self.p])
    }

    /// `P + Q`.
    ///
    /// # Panics
    /// If `p` is no prime.
    pub fn add(&self, left: &Point, right: &Point) -> Point {
        let (Some([x, y]), Some([u, v])) = (left, right) else {
            return left.clone().or_else(|| right.clone());
        };
        let p = &self.p;
        let (rise, run) = if x != u {
            (v + p - y, u + p - x)
        } else if y == v && *y != BigUint::ZERO {
            (x * x * 3u8 + &self.a, y * 2u8)
        } else {
            return None;
        };
        let inverse = (run % p).modinv(p).expect("a number modulo a prime");
        let slope = rise * inverse % p;
        let to = (&slope * &slope + p * 2u8 - x - u) % p;
        let height = (slope * (x + p - &to) + p - y) % p;
        Some([to, height])
    }

    /// `k P`.
    pub fn mul(&self, k: &BigUint, point: &Point) -> Point {
        let mut product = None;
        for bit in (0..k.bits()).rev() {
            product = self.add(&product, &product);
            if k.bit(bit) {
                product = self.add(&product, point);
            }
        }
        product
    }
}

/// What is asked: the `k` with `Q = k P`, for a point `P` whose order is a prime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    curve: Curve,
    order: BigUint,
    base: Affine,
    target: Affine,
}

impl Problem {
    /// The problem of `base`, of this order, and `target`.
    ///
    /// # Errors
    /// [`Error::Problem`] where the curve is none, a point is not on it, or the order is not the points'.
    pub fn new(curve: Curve, order: BigUint, base: Affine, target: Affine) -> Result<Self, Error> {
        let wrong = |what: String| Err(Error::Problem(what));
        let Curve { p, a, b } = &curve;
        if p.bits() > 256 || p.bits() < 8 {
            return wrong(format!("p = {p}: it has {} bits, not 8 to 256", p.bits()));
        }
        let engine = Engine::cpu();
        let numbers = engine.batch_from_biguints(&[p.clone(), order.clone()])?;
        let [is_prime, has_prime_order] = engine.is_prime(&numbers)?[..] else {
            unreachable!("two numbers");
        };
        if !is_prime {
            return wrong(format!("p = {p} is no prime"));
        }
        if a >= p || b >= p {
            return wrong(format!("a and b are less than p = {p}"));
        }
        if (a * a * a * 4u8 + b * b * 27u8) % p == BigUint::ZERO {
            return wrong("4 a^3 + 27 b^2 is 0 modulo p: the curve is singular".into());
        }
        for (name, point) in [("P", &base), ("Q", &target)] {
            if !curve.contains(point) {
                let [x, y] = point;
                return wrong(format!("{name} = ({x}, {y}) is not on the curve"));
            }
        }
        if !has_prime_order {
            return wrong(format!(
                "n = {order}: the order is no prime (modulo the primes of its product there are logarithms to find one by one)"
            ));
        }
        for (name, point) in [("P", &base), ("Q", &target)] {
            if curve.mul(&order, &Some(point.clone())).is_some() {
                return wrong(format!("n = {order} is not the order of {name}"));
            }
        }
        if order.bits() <= 12 {
            return wrong(format!(
                "n = {order}: try all multiples of P, they are that few"
            ));
        }
        // Otherwise n^2 might divide the number of points, and Q be no multiple of P.
        if &order * &order <= p + p.sqrt() * 2u8 + 3u8 {
            return wrong(format!(
                "n = {order}: the order is not above the square root of p"
            ));
        }
        Ok(Problem {
            curve,
            order,
            base,
            target,
        })
    }

    /// The curve.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// The order `n` of the points.
    pub fn order(&self) -> &BigUint {
        &self.order
    }

    /// `a P + b Q`.
    pub fn combination(&self, a: &BigUint, b: &BigUint) -> Point {
        let curve = &self.curve;
        let left = curve.mul(a, &Some(self.base.clone()));
        curve.add(&left, &curve.mul(b, &Some(self.target.clone())))
    }

    /// Whether `Q = k P`.
    pub fn is_answer(&self, k: &BigUint) -> bool {
        self.curve.mul(k, &Some(self.base.clone())).as_ref() == Some(&self.target)
    }

    /// All that makes the problem, as text.
    pub fn description(&self) -> String {
        let Curve { p, a, b } = &self.curve;
        let [[x, y], [u, v]] = [&self.base, &self.target];
        format!("p={p} a={a} b={b} n={} P={x},{y} Q={u},{v}", self.order)
    }
}
