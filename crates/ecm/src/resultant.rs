//! Stage 2 by polynomials: as [baby and giant steps](crate::giants), without a product for each prime.
//!
//! Let `F` have as roots the `x` of `j Q` for `d` numbers `j` without a divisor in common with `D`, all those up to `D / 2` among
//! them, and let `G` have those of the giants `m D Q`. Every prime from `B1` up to `B2` is `m D + j` or `m D - j` of some
//! such pair, so the product of all differences, the resultant of `F` and `G`, has the factor. It is the product of
//! the values of `G mod F` at the roots of `F`; and `G mod F` is a product, modulo `F`, of polynomials of `d` giants each,
//! the blocks. `d` is a power of two, and `D` the greatest stride that has no more babies.
//!
//! Differences need [one denominator for all](crate::points) babies and giants. Primes up to `D / 2` are babies: their
//! denominators are zero modulo the factor, and so is the resultant.
//!
//! All pairs of a baby and a giant count, so that some orders that are no primes are found as well, and some above `B2`.
//!
//! [Values](crate::lucas) of P-1 and P+1 take the place of `x`. They have no denominators; the first giant may be `V_0`, so that
//! primes up to `D / 2` are found as those that are babies.
//!
//! Cost: with `k` blocks, `M` the time of a product of `d` coefficients and `T` of that of `d` roots, about
//! `k (3 M + T) + 4 M + 4 T`. Memory of a curve: [`Plan::bytes`].

use std::sync::LazyLock;

use bigint_host::{Batch, Engine};
use num_bigint::BigUint;

use crate::Error;
use crate::multiples::{Multiples, Roots};
use crate::points::{Given, Group};
use crate::polynomials::{Modulus, Ring};

/// Primes of strides.
const OF_STRIDE: [u64; 9] = [2, 3, 5, 7, 11, 13, 17, 19, 23];

/// The binary logarithms of degrees.
const DEGREES: std::ops::RangeInclusive<u32> = 3..=18;

/// The time of a coefficient of a [`Plan`] in that of a prime by giant steps. On two cores with AVX-512 IFMA it was
/// 48 to 60 modulo 250 bits and 69 modulo 506, for `B2` from 10^7 to 10^9; on an NVIDIA H200 265 and 268, and 165 and 169,
/// for 10^9 and 10^10 (`benches/record/gpu/nvidia-h200/2026-11-28-ecm-polynomials.txt`).
const ON_CPU: f64 = 60.0;
const ON_DEVICE: f64 = 266.0;
const ON_DEVICE_LONG: f64 = 167.0;

/// The same of one value of P-1, which has no points beside it to be computed with, modulo 534 bits: on two cores it was 81 to 161 for
/// `B2` from 10^7 to 10^9, on 16 cores 292 for 10^9, and on an NVIDIA H200 69 for 10^8, where both ways take a fifth of a second or less
/// (`benches/record/gpu/nvidia-h200/2026-11-28-p-minus-1.txt`).
const OF_VALUES: f64 = 200.0;
const OF_VALUES_ON_DEVICE: f64 = 69.0;

/// Numbers of more bits than this are long for that.
const LONG: u64 = 378;

/// The strides of all degrees, of all these primes.
static STRIDES: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let of_degree = |log: u32| longest(&OF_STRIDE, (2, 1), 2u64 << log);
    DEGREES.map(of_degree).collect()
});

/// What polynomials do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What has multiples.
    pub group: Group,
    /// `d`, a power of two.
    pub degree: usize,
    /// `D`.
    pub stride: u64,
    /// The first giant.
    pub first: u64,
    /// Blocks of giants.
    pub blocks: u64,
}

impl Plan {
    /// The plan that takes least time.
    pub fn new(group: Group, b1: u64, b2: u64) -> Self {
        let plans = DEGREES.map(|log| Plan::of_degree(group, 1 << log, b1, b2));
        let least = plans.min_by(|a, b| a.cost().total_cmp(&b.cost()));
        least.expect("there are degrees")
    }

    /// The plan of a degree.
    pub fn of_degree(group: Group, degree: usize, b1: u64, b2: u64) -> Self {
        let primes = OF_STRIDE.partition_point(|&p| p <= b1);
        let stride = match STRIDES.get((degree.ilog2() - DEGREES.start()) as usize) {
            Some(&stride) if primes == OF_STRIDE.len() => stride,
            _ => longest(&OF_STRIDE[..primes], (2, 1), 2 * degree as u64),
        };
        let half = stride / 2;
        // Primes below the first giant's are babies.
        let first = ((b1 + 1 + half) / stride).max(group.first());
        let giants = ((b2 + half) / stride + 1).saturating_sub(first);
        let blocks = giants.div_ceil(degree as u64).max(1);
        Plan {
            group,
            degree,
            stride,
            first,
            blocks,
        }
    }

    /// The time that it takes, in that of a coefficient of a product.
    pub fn cost(&self) -> f64 {
        let log = f64::from(self.degree.ilog2());
        let of_block = 3.0 + log / 6.0;
        let once = 4.0 + log / 2.0;
        self.degree as f64 * (self.blocks as f64 * of_block + once)
    }

    /// [`Plan::cost`] modulo a number of so many bits, in the time of a product of stage 2 by giant steps.
    pub fn products(&self, is_on_device: bool, bits: u64) -> f64 {
        self.cost()
            * match (is_on_device, self.group) {
                (true, Group::Values) => OF_VALUES_ON_DEVICE,
                (false, Group::Values) => OF_VALUES,
                (true, Group::Curve) if bits > LONG => ON_DEVICE_LONG,
                (true, Group::Curve) => ON_DEVICE,
                (false, Group::Curve) => ON_CPU,
            }
    }

    /// The memory of a curve modulo a number of so many bits, in bytes: the roots, the levels of `F` and a dozen of
    /// polynomials at once.
    pub fn bytes(&self, bits: u64) -> usize {
        let coefficient = bits.div_ceil(32) as usize * 4;
        let polynomials = 2 * (self.degree.ilog2() as usize + 12);
        self.degree * coefficient * (polynomials + self.blocks as usize + 1)
    }
}

/// The greatest stride that is this one times powers of these primes, of which no more than `most` numbers below
/// have no divisor in common with it.
fn longest(primes: &[u64], (stride, totient): (u64, u64), most: u64) -> u64 {
    let Some((&p, others)) = primes.split_first() else {
        return stride;
    };
    let mut best = longest(others, (stride, totient), most);
    // A prime divides the stride; 2 does so already.
    let (mut stride, mut totient) = (stride * p, totient * if p == 2 { 2 } else { p - 1 });
    while totient <= most {
        best = best.max(longest(others, (stride, totient), most));
        (stride, totient) = (stride * p, totient * p);
    }
    best
}

/// Stage 2 of points by polynomials, on the way.
#[derive(Debug)]
pub struct Resultants {
    ring: Ring,
    engine: Engine,
    plan: Plan,
    multiples: Multiples,
    /// The babies, of which these are chosen, and the blocks of giants, until each is taken.
    chosen: Vec<usize>,
    parts: Vec<Option<Part>>,
    modulus: Option<Modulus>,
    /// The product of the blocks that are done, modulo `F`.
    product: Option<Batch>,
    blocks: u64,
    /// The resultants.
    found: Option<Batch>,
}

/// The babies, or a block.
#[derive(Debug)]
struct Part {
    tops: Batch,
    of_row: usize,
    /// Rows of a point.
    rows: usize,
    /// For each row of a point the product of the other rows' denominators, and of each point that of all rows'; once all
    /// parts are there, of all other parts'. Values have none.
    others: Option<Batch>,
    all: Option<Batch>,
}

impl Resultants {
    /// Begins on the engine's one device or, where it has none, on all cores; `None` where a device has no kernel for so long a
    /// number. There is at least one point.
    pub fn new(
        engine: &Engine,
        is_on_device: bool,
        given: Given<'_>,
        plan: Plan,
    ) -> Result<Option<Self>, Error> {
        let multiples = Multiples::new(engine, is_on_device, given, plan)?;
        let Some(multiples) = multiples else {
            return Ok(None);
        };
        Ok(Some(Resultants {
            ring: Ring::new(engine, given.n)?,
            engine: engine.clone(),
            plan,
            multiples,
            chosen: Vec::new(),
            parts: Vec::new(),
            modulus: None,
            product: None,
            blocks: 0,
            found: None,
        }))
    }

    /// How many steps are done, and of how many, of which none takes much longer than others: `F` is two, the
    /// values three.
    pub fn progress(&self) -> (u64, u64) {
        let is_begun = u64::from(self.modulus.is_some());
        let is_done = u64::from(self.is_done());
        (
            2 * (is_begun | is_done) + self.blocks + 3 * is_done,
            2 + self.plan.blocks + 3,
        )
    }

    /// Whether nothing is left to be done.
    pub fn is_done(&self) -> bool {
        self.found.is_some()
    }

    /// Does a step.
    pub fn advance(&mut self) -> Result<(), Error> {
        if self.parts.is_empty() {
            let (babies, chosen) = self.multiples.babies()?;
            self.chosen = chosen;
            self.take(babies)?;
        } else if self.parts.len() as u64 <= self.plan.blocks {
            let giants = self.multiples.giants()?;
            self.take(giants)?;
            if self.parts.len() as u64 > self.plan.blocks {
                self.multiply_by_others()?;
            }
        } else if self.modulus.is_none() && !self.is_done() {
            let babies = self.roots(0)?;
            self.modulus = Some(self.ring.modulus(babies, self.plan.degree)?);
        } else if self.blocks < self.plan.blocks {
            self.block()?;
        } else if !self.is_done() {
            let (Some(modulus), Some(product)) = (&self.modulus, &self.product) else {
                unreachable!("there is a block");
            };
            let values = self.ring.values(product, modulus)?;
            let slot = self.ring.slot(1);
            self.found = Some(self.ring.product_of_each(values, slot)?);
            self.modulus = None;
        }
        Ok(self.engine.wait()?)
    }

    /// Takes multiples as a part.
    fn take(&mut self, made: Roots) -> Result<(), Error> {
        let Roots {
            tops,
            bottoms,
            rows,
            of_row,
        } = made;
        let (mut others, mut all) = (None, None);
        if let Some(bottoms) = bottoms {
            let bottoms = self.ring.residues(&bottoms)?;
            let of_point = self.engine.reshape(&bottoms, bottoms.width() * rows)?;
            if rows > 1 {
                let [of_others, of_all] = self.ring.products_of_others(of_point)?;
                (others, all) = (Some(of_others), Some(of_all));
            } else {
                all = Some(of_point);
            }
        }
        self.parts.push(Some(Part {
            tops,
            of_row,
            rows,
            others,
            all,
        }));
        Ok(())
    }

    /// Has each part the product of all other parts' denominators.
    fn multiply_by_others(&mut self) -> Result<(), Error> {
        let ring = &self.ring;
        let times = |some: &Option<Batch>, more: &Batch| match some {
            Some(some) => ring.product(some, more),
            None => Ok(more.clone()),
        };
        // The products of all parts behind each.
        let (mut all, mut behind) = (None, Vec::with_capacity(self.parts.len()));
        for part in self.parts.iter().flatten().rev() {
            behind.push(all.clone());
            if let Some(of_part) = &part.all {
                all = Some(times(&all, of_part)?);
            }
        }
        let mut before: Option<Batch> = None;
        for part in self.parts.iter_mut().flatten() {
            let Some(of_part) = part.all.take() else {
                continue;
            };
            let all = times(&before, &of_part)?;
            part.all = match (before, behind.pop().flatten()) {
                (Some(before), Some(behind)) => Some(ring.product(&before, &behind)?),
                (one, other) => one.or(other),
            };
            before = Some(all);
        }
        Ok(())
    }

    /// Multiplies by the next block.
    fn block(&mut self) -> Result<(), Error> {
        let giants = self.roots(1 + self.blocks as usize)?;
        let (ring, degree) = (&self.ring, self.plan.degree);
        let block = ring.with_roots(giants, degree, |_| ())?;
        let modulus = self.modulus.as_ref().expect("F is made first");
        let block = ring.remainder_of_monic(&block, modulus)?;
        self.product = Some(match &self.product {
            Some(product) => ring.product_modulo(product, &block, modulus)?,
            None => block,
        });
        self.blocks += 1;
        Ok(())
    }

    /// The multiples of a part, those of a point in a row: the babies, which are part 0, or a block.
    fn roots(&mut self, number: usize) -> Result<Batch, Error> {
        let Part {
            tops,
            of_row,
            rows,
            others,
            all,
        } = self.parts[number].take().expect("parts are taken once");
        let (ring, engine, points) = (&self.ring, &self.engine, tops.len() / rows);
        let (slot, degree) = (ring.slot(1), self.plan.degree);
        // What each row has to be multiplied by.
        let by = match (others, all) {
            (Some(others), Some(all)) => {
                Some(engine.reshape(&ring.scale(&others, rows, &all)?, slot)?)
            }
            (_, all) => all,
        };
        let scaled = match by {
            Some(by) => ring.scale(&tops, of_row, &by)?,
            None => ring.spread(&tops, of_row)?,
        };
        let scaled = match number {
            0 => {
                let of_point = rows * of_row;
                let indices = (0..points).flat_map(|point| {
                    self.chosen
                        .iter()
                        .map(move |chosen| point * of_point + chosen)
                });
                let numbers = engine.reshape(&scaled, slot)?;
                engine.gather(&numbers, &indices.collect::<Vec<_>>())?
            }
            _ => scaled,
        };
        Ok(engine.reshape(&scaled, slot * degree)?)
    }

    /// The resultant of each point.
    pub fn products(&self) -> Result<Vec<BigUint>, Error> {
        let found = self.found.as_ref().expect("all steps are done");
        Ok(found.to_biguints()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modular::gcd;
    use crate::primes;

    #[test]
    fn every_prime_is_a_pair_of_a_baby_and_a_giant_or_a_baby() {
        let ranges = [
            (11, 12),
            (11, 3_000),
            (40, 9_000),
            (211, 100_000),
            (2_311, 300_000),
        ];
        for (b1, b2) in ranges {
            for (log, group) in [(3, Group::Curve), (4, Group::Values), (6, Group::Curve)] {
                let plan = Plan::of_degree(group, 1 << log, b1, b2);
                let is_coprime =
                    |j: &u64| gcd(&BigUint::from(*j), &BigUint::from(plan.stride)).bits() == 1;
                let babies: Vec<u64> = (1..)
                    .step_by(2)
                    .filter(is_coprime)
                    .take(plan.degree)
                    .collect();
                let giants = plan.first..plan.first + plan.blocks * plan.degree as u64;
                primes(b1 + 1, b2, |p| {
                    let giant = (p + plan.stride / 2) / plan.stride;
                    let j = p.abs_diff(giant * plan.stride);
                    assert!(babies.contains(&j), "{plan:?} {p}");
                    let is_baby = giant == 0 && group == Group::Curve;
                    assert!(is_baby || giants.contains(&giant), "{plan:?} {p}");
                });
            }
        }
    }

    #[test]
    fn longer_ranges_take_longer_strides() {
        let stride = |degree| Plan::of_degree(Group::Curve, degree, 1000, 10_000).stride;
        let babies = |d: u64| {
            let is_coprime = |j: &u64| gcd(&BigUint::from(*j), &BigUint::from(d)).bits() == 1;
            (1..d / 2).filter(is_coprime).count()
        };
        for degree in [8, 16, 64, 128] {
            let longer = (stride(degree) + 2..16 * degree as u64).step_by(2);
            assert!(babies(stride(degree)) <= degree);
            assert!(longer.into_iter().all(|d| babies(d) > degree), "{degree}");
        }
        assert_eq!(stride(4096), 39_270);
        let plans =
            [1e6, 1e8, 1e9, 1e10, 1e12].map(|b2| Plan::new(Group::Curve, 50_000, b2 as u64));
        assert!(plans.is_sorted_by(|a, b| a.degree < b.degree && a.cost() < b.cost()));
    }
}
