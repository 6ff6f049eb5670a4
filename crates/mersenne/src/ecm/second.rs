//! The machine of the second stage.

use std::ops::Range;

use bigint_cpu::fast::number::weighted::Operand::One;

use super::points::{Kept, Point, Points};
use crate::stage_2::{babies, met, primes_up_to};
use crate::{Error, Multiplying, Residue};

pub struct Second {
    pub(super) points: Points,
    bounds: [u64; 2],
    /// `D`.
    stride: u64,
    /// `X` of the babies `j Q`, all with the same `Z`, which is this.
    babies: Vec<Kept>,
    z: Kept,
    /// The next giant step's `m`, `m D Q` and `(m + 1) D Q`, and `D Q`.
    m: u64,
    giants: [Point; 2],
    step: Point,
    /// The primes up to the root of `B2`.
    primes: Vec<u64>,
    /// The product of the differences.
    product: Box<dyn Multiplying>,
}

impl Second {
    /// The machine after the giant steps below `m`, which is not 0, with this product; `None` where `goes_on` says
    /// no before the babies are there.
    pub(super) fn new(
        mut points: Points,
        q: &Point,
        stride: u64,
        m: u64,
        bounds: [u64; 2],
        product: Box<dyn Multiplying>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, Error> {
        let twice = points.double(q)?;
        // Odd multiples: the last and the one before, which for the first is -Q, with the same `x`.
        let (mut before, mut last) = (q.clone(), q.clone());
        let mut wanted = babies(stride).peekable();
        let mut all = Vec::new();
        for j in (1..=stride / 2).step_by(2) {
            if !goes_on() {
                return Ok(None);
            }
            if wanted.next_if_eq(&j).is_some() {
                all.push(last.clone());
            }
            let next = points.sum(&last, &twice, &before)?;
            (before, last) = (last, next);
        }
        let (babies, z) = points.with_one_z(&all)?;
        let [step, _] = points.multiples(q, stride)?;
        let giants = points.multiples(&step, m)?;
        Ok(Some(Second {
            points,
            bounds,
            stride,
            babies,
            z,
            m,
            giants,
            step,
            primes: primes_up_to(bounds[1].isqrt() + 1),
            product,
        }))
    }

    /// Does so many giant steps, and returns the product.
    pub(super) fn giant_steps(&mut self, times: u64) -> Result<Residue, Error> {
        // Babies are brought to another `Z` for each group.
        let group = (self.babies.len() as u64 / 2).max(1);
        let end = self.m + times;
        while self.m < end {
            self.group(self.m..end.min(self.m + group))?;
        }
        self.product.residue()
    }

    /// Does giant steps whose points are brought to one `Z`.
    fn group(&mut self, steps: Range<u64>) -> Result<(), Error> {
        let mut giants = Vec::new();
        for _ in steps.clone() {
            let [now, next] = &self.giants;
            let after = self.points.sum(next, &self.step, now)?;
            let [now, next] = self.giants.each_ref().map(Point::clone);
            giants.push(now);
            self.giants = [next, after];
        }
        let (giants, z) = self.points.with_one_z(&giants)?;
        let points = &mut self.points;
        let mut of_babies = Vec::with_capacity(self.babies.len());
        for baby in &self.babies {
            of_babies.push(points.product(One(baby), One(&z))?);
        }
        for (m, giant) in steps.clone().zip(&giants) {
            let giant = points.product(One(giant), One(&self.z))?;
            let mut met = met(m, self.bounds, self.stride, &self.primes)
                .into_iter()
                .peekable();
            for (j, baby) in babies(self.stride).zip(&of_babies) {
                if met.next_if_eq(&j).is_some() {
                    self.product.multiply(&giant, Some(&**baby), 0)?;
                }
            }
        }
        self.m = steps.end;
        Ok(())
    }

    /// The greatest rounding error.
    pub(super) fn error(&self) -> Result<f64, Error> {
        Ok(f64::max(self.points.error()?, self.product.error()?))
    }
}
