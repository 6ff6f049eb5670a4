//! Products with a factor that is used again and again, by transforms that wrap.
//!
//! A transform of eight blocks is cyclic: it makes products modulo `B^N - 1`, for the `N` limbs of all its
//! coefficients, a whole number as four rows have `h` limbs. One of fewer blocks is not, and must have room for the
//! whole product (see [`super::top`]).
//!
//! **Middles.** Let `a` have `n` limbs and `b` have `m < n`. Limbs `m` to `n` of `a b` can be read from the
//! product modulo `B^N - 1`, `N >= n`, as well as from the whole product: the part above `B^N` is
//! below `B^m` and is added to the limbs below `m`, so nothing but a carry of 1 can leave these. So
//! the transform may have `n` limbs instead of `n + m`.
//!
//! An example in decimal, with `n = 4` and `m = 2`, modulo `10^4 - 1`: `1234 * 56 = 69104` becomes
//! `9104 + 6 = 9110`, and `91` stands in the middle.
//!
//! **Cost**: two transforms of `n` limbs, as the factor keeps its own transform. That takes 64
//! bytes for each 4 h bits of it.

use super::buffer::{Rows, with_rows};
use super::engine::{Engine, PortableEngine};
use super::field::Row;
use super::jobs::Times;
use super::recombine::{self, Overflow};
use super::{Plan, Product, coefficients};
use crate::fast::Path;
use crate::fast::number::isa::Isa;
use crate::fast::number::limbs::{add_assign, increment};
use crate::fast::number::tuning::Thresholds;
use crate::memory::scratch;

/// A factor, transformed for operands of one length.
pub(crate) struct Factor {
    isa: Isa,
    plan: Plan,
    values: Rows,
}

impl Factor {
    /// The factor with the limbs `b`, for operands of `n` limbs, or `None` if the operands are too
    /// short for a kept transform to be worth it.
    pub(crate) fn new(b: &[u64], n: usize, path: Path, parallel: bool) -> Option<Self> {
        let isa = Isa::of(path);
        // Two transforms of n limbs take half as long as three of n + m.
        if 4 * b.len() < Thresholds::of_isa(isa, false).transform {
            return None;
        }
        let plan = Plan::middle(n, b.len());
        Some(Factor::of_plan(b, plan, isa, parallel))
    }

    /// The factor with the limbs `b`, for [`Factor::product`] with operands of at most `n` limbs; where products wrap, they do so
    /// above the lowest `limbs` limbs.
    pub(crate) fn modulo(b: &[u64], n: usize, limbs: usize, path: Path, parallel: bool) -> Self {
        let plan = Plan::new(n, b.len()).or_cyclic(limbs);
        Factor::of_plan(b, plan, Isa::of(path), parallel)
    }

    fn of_plan(b: &[u64], plan: Plan, isa: Isa, parallel: bool) -> Self {
        let values = Rows::zeros(4 * plan.stride());
        let mut factor = Factor { isa, plan, values };
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(token, _) => {
                factor.transform(super::engine::Avx512Engine(token), b, parallel);
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(token) => factor.transform(super::engine::Avx2Engine(token), b, parallel),
            _ => factor.transform(PortableEngine, b, parallel),
        }
        factor
    }

    fn transform(&mut self, engine: impl Engine, b: &[u64], parallel: bool) {
        let product = Product::new(engine, self.plan, b.len(), parallel);
        product.together(|| product.values(self.values.all_mut(), b));
    }

    /// At least `count` limbs of `a b`, up to the last below `B^n`, for `a` of `n` limbs. If
    /// `count` is at most `n - m`, the upper `count` limbs are right to a unit, modulo `B^count`.
    pub(crate) fn middle(&self, a: &[u64], count: usize, parallel: bool) -> Vec<u64> {
        self.compute(a, Some(count), parallel)
    }

    /// The product with `a`: whole, with zeros on top, or modulo `B^N - 1` where it [wraps](Factor::wraps) at `N` limbs,
    /// then as any number from 0 to `B^N - 1`.
    pub(crate) fn product(&self, a: &[u64], parallel: bool) -> Vec<u64> {
        self.compute(a, None, parallel)
    }

    /// The limbs at which products wrap, if they do.
    pub(crate) fn wraps(&self) -> Option<usize> {
        self.plan.is_cyclic().then(|| self.plan.limbs())
    }

    fn compute(&self, a: &[u64], middle: Option<usize>, parallel: bool) -> Vec<u64> {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(token, _) => {
                self.compute_on(super::engine::Avx512Engine(token), a, middle, parallel)
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(token) => {
                self.compute_on(super::engine::Avx2Engine(token), a, middle, parallel)
            }
            _ => self.compute_on(PortableEngine, a, middle, parallel),
        }
    }

    fn compute_on(
        &self,
        engine: impl Engine,
        a: &[u64],
        middle: Option<usize>,
        parallel: bool,
    ) -> Vec<u64> {
        let product = Product::new(engine, self.plan, a.len(), parallel);
        match middle {
            Some(count) => product.middle(self.values.all(), a, count),
            None => product.wrapped(self.values.all(), a),
        }
    }
}

impl<E: Engine> Product<E> {
    /// Computes [`Factor::middle`] of `a` and the factor with these values.
    pub(super) fn middle(&self, values: &[Row], a: &[u64], count: usize) -> Vec<u64> {
        let (first, mut r) = self.room_for_middle(a.len(), count);
        self.times(values, a, &mut r, first);
        r
    }

    /// Computes [`Factor::product`] of `a` and the factor with these values.
    fn wrapped(&self, values: &[Row], a: &[u64]) -> Vec<u64> {
        let mut r = scratch(self.plan.limbs());
        let over = self.times(values, a, &mut r, 0);
        // `B^N` is 1. Then the number is small, and there is no carry again.
        if self.plan.is_cyclic() && add_assign(&mut r, &over) {
            increment(&mut r);
        }
        r
    }

    /// Computes the product of `a` and the factor with these values, from row `first` on. Returns what is above it.
    fn times(&self, values: &[Row], a: &[u64], r: &mut [u64], first: usize) -> Overflow {
        with_rows(4 * self.plan.stride(), |x| {
            let mut over = Overflow::default();
            self.together(|| {
                self.split([(&mut *x, a)]);
                let factors = self.shared_blocks(values).map(Times::Values);
                over = self.finish(r, x, factors, first);
            });
            over
        })
    }

    /// The row from which on coefficients make the upper `count` of `n` limbs, and memory for the limbs from
    /// there on.
    pub(super) fn room_for_middle(&self, n: usize, count: usize) -> (usize, Vec<u64>) {
        // Coefficients reach two limbs into the limbs that follow them. One group is computed below
        // the limbs that are wanted, so that the groups below that one change nothing.
        let group = self.plan.h as usize;
        let first = ((n - count) / group).saturating_sub(1);
        (recombine::GROUP * first, scratch(n - first * group))
    }
}

impl Plan {
    /// The smallest shape of a transform for the middle of products of `a` limbs by `b`, `a > b`.
    pub(super) fn middle(a: usize, b: usize) -> Self {
        Self::new(a, b).or_cyclic(a)
    }

    /// A cyclic shape of at least so many limbs, with pieces as long, if that is smaller than this one.
    fn or_cyclic(self, limbs: usize) -> Self {
        let rows = coefficients(limbs, self.h).div_ceil(8).next_power_of_two();
        let cyclic = Plan {
            h: self.h,
            blocks: 8,
            log_block: rows.ilog2().max(5) - 3,
        };
        if cyclic.rows() < self.rows() {
            cyclic
        } else {
            self
        }
    }

    fn is_cyclic(&self) -> bool {
        self.blocks == 8
    }

    /// The limbs of all coefficients.
    fn limbs(&self) -> usize {
        self.rows() / recombine::GROUP * self.h as usize
    }
}
