//! Points of Montgomery curves by transforms that are kept.
//!
//! **Maths** [Montgomery 1987]. A point is `(X : Z)`, without its `y`. With the point `(x : z) = P - Q`,
//!
//! ```text
//! u = (X_P - Z_P)(X_Q + Z_Q),  v = (X_P + Z_P)(X_Q - Z_Q)     P + Q = (z (u + v)^2 : x (u - v)^2)
//! s = (X + Z)^2,  d = (X - Z)^2,  e = s - d                   2 P   = (s d : e (d + a24 e))
//! ```
//!
//! Sums and differences are those of transforms, which are linear: each product takes one transform back, and
//! each result that is multiplied again one forth. **Cost**: 5 products for a double, and 6 for a sum. The squares of
//! a sum are multiplied where they are, and so not kept.

use std::rc::Rc;

use bigint_cpu::fast::number::weighted::Operand::{self, Difference, One, Sum};

use crate::{Backend, Error, Factor, Multiplying, Number, Residue};

/// A number that is kept.
pub(super) type Kept = Rc<Factor>;

/// A point.
#[derive(Clone)]
pub struct Point {
    pub(super) x: Kept,
    pub(super) z: Kept,
}

/// What computes with points of one curve.
pub struct Points {
    machine: Box<dyn Multiplying>,
    one: Kept,
    a24: Kept,
}

impl Points {
    pub(super) fn new(
        backend: &dyn Backend,
        number: Number,
        longer_than: Option<usize>,
        a24: &Residue,
    ) -> Result<Self, Error> {
        let mut machine = backend.multiplying(number, longer_than)?;
        let mut kept = |x: &Residue| {
            machine.set(x)?;
            Ok::<_, Error>(Rc::new(machine.keep()?))
        };
        let one = kept(&Residue::from_u64(number, 1))?;
        let a24 = kept(a24)?;
        Ok(Points { machine, one, a24 })
    }

    /// The number that is this residue.
    pub(super) fn kept(&mut self, x: &Residue) -> Result<Kept, Error> {
        self.machine.set(x)?;
        Ok(Rc::new(self.machine.keep()?))
    }

    /// The point `(x : z)`.
    pub(super) fn point(&mut self, [x, z]: &[Residue; 2]) -> Result<Point, Error> {
        Ok(Point {
            x: self.kept(x)?,
            z: self.kept(z)?,
        })
    }

    /// The residue of a number.
    pub(super) fn residue(&mut self, x: &Kept) -> Result<Residue, Error> {
        self.machine.product([One(&**x), One(&*self.one)])?;
        self.machine.residue()
    }

    /// The product of two sides.
    pub(super) fn product(
        &mut self,
        left: Operand<&Kept>,
        right: Operand<&Kept>,
    ) -> Result<Kept, Error> {
        self.machine
            .product([left, right].map(|side| side.map(|x| &**x)))?;
        Ok(Rc::new(self.machine.keep()?))
    }

    /// The product of two sides and a number. The first product is not kept.
    fn product_of_three(
        &mut self,
        left: Operand<&Kept>,
        right: Operand<&Kept>,
        last: &Kept,
    ) -> Result<Kept, Error> {
        self.machine
            .product([left, right].map(|side| side.map(|x| &**x)))?;
        self.machine.multiply(last, None, 0)?;
        Ok(Rc::new(self.machine.keep()?))
    }

    /// `2 P`.
    pub(super) fn double(&mut self, Point { x, z }: &Point) -> Result<Point, Error> {
        let s = self.product(Sum(x, z), Sum(x, z))?;
        let d = self.product(Difference(x, z), Difference(x, z))?;
        let a24 = self.a24.clone();
        let c = self.product(Difference(&s, &d), One(&a24))?;
        Ok(Point {
            x: self.product(One(&s), One(&d))?,
            z: self.product(Difference(&s, &d), Sum(&d, &c))?,
        })
    }

    /// `P + Q` with this `P - Q`.
    pub(super) fn sum(&mut self, p: &Point, q: &Point, less: &Point) -> Result<Point, Error> {
        let u = self.product(Difference(&p.x, &p.z), Sum(&q.x, &q.z))?;
        let v = self.product(Sum(&p.x, &p.z), Difference(&q.x, &q.z))?;
        let (plus, minus) = (Sum(&u, &v), Difference(&u, &v));
        Ok(Point {
            x: self.product_of_three(plus, plus, &less.z)?,
            z: self.product_of_three(minus, minus, &less.x)?,
        })
    }

    /// `n P` and `(n + 1) P`, for `n` from 1 on.
    pub(super) fn multiples(&mut self, p: &Point, n: u64) -> Result<[Point; 2], Error> {
        let mut both = [p.clone(), self.double(p)?];
        for bit in (0..n.ilog2()).rev() {
            let sum = self.sum(&both[0], &both[1], p)?;
            both = match n >> bit & 1 {
                0 => [self.double(&both[0])?, sum],
                _ => [sum, self.double(&both[1])?],
            };
        }
        Ok(both)
    }

    /// The `x` of points with one `z`, which is the product of theirs, and that `z`. Cost: four products for each.
    pub(super) fn with_one_z(&mut self, points: &[Point]) -> Result<(Vec<Kept>, Kept), Error> {
        let mut before: Vec<Kept> = Vec::with_capacity(points.len());
        for Point { z, .. } in points {
            before.push(match before.last() {
                None => z.clone(),
                Some(all) => self.product(One(all), One(z))?,
            });
        }
        let all = before.last().expect("there are points").clone();
        let mut behind: Option<Kept> = None;
        let mut numbers = Vec::with_capacity(points.len());
        for (i, Point { x, z }) in points.iter().enumerate().rev() {
            let before = i.checked_sub(1).map(|i| &before[i]);
            numbers.push(match (before, &behind) {
                (Some(before), Some(behind)) => {
                    self.product_of_three(One(x), One(before), behind)?
                }
                (Some(others), None) | (None, Some(others)) => self.product(One(x), One(others))?,
                (None, None) => x.clone(),
            });
            behind = Some(match behind {
                None => z.clone(),
                Some(behind) => self.product(One(&behind), One(z))?,
            });
        }
        numbers.reverse();
        Ok((numbers, all))
    }

    /// The greatest rounding error.
    pub(super) fn error(&self) -> Result<f64, Error> {
        self.machine.error()
    }

    /// Words of the transform; `None` where nothing is rounded.
    pub(super) fn words(&self) -> Option<usize> {
        self.machine.words()
    }
}
