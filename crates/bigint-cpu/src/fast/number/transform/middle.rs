//! Products with a factor that is used again and again, of which only the middle is needed.
//!
//! Let `a` have `n` limbs and `b` have `m < n`. Limbs `m` to `n` of `a b` can be read from the
//! product modulo `B^N - 1`, `N >= n`, as well as from the whole product: the part above `B^N` is
//! below `B^m` and is added to the limbs below `m`, so nothing but a carry of 1 can leave these. So
//! the transform may have `n` limbs instead of `n + m`. A transform of eight blocks is cyclic. One
//! of fewer blocks is not, and must have room for the whole product (see [`super::top`]).
//!
//! An example in decimal, with `n = 4` and `m = 2`, modulo `10^4 - 1`: `1234 * 56 = 69104` becomes
//! `9104 + 6 = 9110`, and `91` stands in the middle.
//!
//! **Cost**: two transforms of `n` limbs, as the factor keeps its own transform. That takes 64
//! bytes for each 4 h bits of it.

use super::buffer::with_rows;
use super::engine::{Engine, PortableEngine};
use super::field::Row;
use super::jobs::Times;
use super::{Plan, Product, coefficients, recombine};
use crate::fast::Path;
use crate::fast::number::isa::Isa;
use crate::fast::number::tuning::Thresholds;
use crate::memory::{empty, scratch};

/// A factor, transformed for operands of one length.
pub(crate) struct Factor {
    isa: Isa,
    plan: Plan,
    values: Vec<Row>,
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
        let length = 4 * plan.stride();
        let mut values = empty(length);
        values.resize(length, Row::ZERO);
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
        Some(factor)
    }

    fn transform(&mut self, engine: impl Engine, b: &[u64], parallel: bool) {
        let product = Product::new(engine, self.plan, b.len(), parallel);
        product.in_pool(|| product.values(&mut self.values, b));
    }

    /// At least `count` limbs of `a b`, up to the last below `B^n`, for `a` of `n` limbs. If
    /// `count` is at most `n - m`, the upper `count` limbs are right to a unit, modulo `B^count`.
    pub(crate) fn middle(&self, a: &[u64], count: usize, parallel: bool) -> Vec<u64> {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(token, _) => {
                self.middle_on(super::engine::Avx512Engine(token), a, count, parallel)
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(token) => {
                self.middle_on(super::engine::Avx2Engine(token), a, count, parallel)
            }
            _ => self.middle_on(PortableEngine, a, count, parallel),
        }
    }

    fn middle_on(&self, engine: impl Engine, a: &[u64], count: usize, parallel: bool) -> Vec<u64> {
        Product::new(engine, self.plan, a.len(), parallel).middle(&self.values, a, count)
    }
}

impl<E: Engine> Product<E> {
    /// Computes [`Factor::middle`] of `a` and the factor with these values.
    pub(super) fn middle(&self, values: &[Row], a: &[u64], count: usize) -> Vec<u64> {
        let (first, mut r) = self.room_for_middle(a.len(), count);
        with_rows(4 * self.plan.stride(), |x| {
            self.in_pool(|| {
                self.split([(&mut *x, a)]);
                let factors = self.shared_blocks(values).map(Times::Values);
                self.finish(&mut r, x, factors, first);
            });
        });
        r
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
        let whole = Self::new(a, b);
        let rows = coefficients(a, whole.h).div_ceil(8).next_power_of_two();
        let cyclic = Plan {
            h: whole.h,
            blocks: 8,
            log_block: rows.ilog2().max(5) - 3,
        };
        if cyclic.rows() < whole.rows() {
            cyclic
        } else {
            whole
        }
    }
}
