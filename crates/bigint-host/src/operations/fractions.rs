//! What trees of products compute of their nodes: sums of two fractions, and two halves of one.
//!
//! The CPU transforms each factor once for both products that it is in
//! ([`bigint_cpu::Cpu::sums_of_fractions`], [`bigint_cpu::Cpu::middles`]), where numbers are long enough.
//! Devices make products, of which those of a half may wrap ([`crate::device::middle`]); where they keep transforms of factors,
//! a sum has [one way back](crate::device::sum_of_products), and over the complex numbers both of either are
//! [pairs](crate::device::pairs).

use crate::device::middle::Middle;
use crate::device::pairs::{Pair, Products};
use crate::device::sum_of_products::SumOfProducts;
use crate::device::transform::Transform;
use crate::plan::task::Task;
use crate::values::batch::Batch;
use crate::values::node::Node;
use crate::{Engine, Error, Options};
use bigint_core::transform::grid::GridPlan;
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{LIMB_BITS, Layout, Shape};
use bigint_cpu::{Cpu, Numbers, NumbersMut};
use std::sync::Arc;

/// Limbs of a fraction below those of `1 / d`.
const GUARD: usize = 2;

/// The most bytes of the transforms of `2^level` pairs of factors and of all levels above, for each of `limbs` limbs of their products: 12 for a
/// limb modulo primes, and 16 for a point that has 12 bits or more.
pub(crate) fn bytes_of_transforms(limbs: usize, level: u32) -> usize {
    let of_level = |level: u32| {
        let width = limbs >> (level + 1);
        match GridPlan::of_pairs(width, 2 * width + 1) {
            Some(_) => 48,
            None => 24,
        }
    };
    limbs * (0..=level).map(of_level).sum::<usize>()
}

impl Engine {
    /// `a d + b c` of fractions `(a, c)` and `(b, d)`, in `width` limbs, and `c d` where it is wanted.
    pub(crate) fn sum_of_fractions(
        &self,
        fractions: [(&Batch, &Batch); 2],
        width: usize,
        has_product: bool,
    ) -> Result<(Batch, Option<Batch>), Error> {
        let [(a, c), (b, d)] = fractions;
        let shape = Shape::new(c.len(), width, Layout::Contiguous);
        let product = c.width() + d.width();
        let shapes = [
            shape,
            Shape {
                width: product,
                ..shape
            },
        ];
        let factors = [(a.shape(), c.shape()), (b.shape(), d.shape())];
        let of_product = has_product.then_some(shapes[1]);
        let takes = |cpu: &Cpu| cpu.takes_sums_of_fractions(shape, of_product, factors);
        let wanted = &shapes[..1 + usize::from(has_product)];
        let made = self.on_cores(wanted, takes, |cpu, made| {
            let mut made = made.into_iter();
            let sum = made.next().expect("one of each shape");
            let [a, c, b, d] = numbers([a, c, b, d])?;
            Ok(cpu.sums_of_fractions(sum, made.next(), [(a, c), (b, d)])?)
        })?;
        if let Some(made) = made {
            let mut made = made.into_iter();
            let sum = made.next().expect("one of each shape");
            return Ok((sum, made.next()));
        }
        if let Some((sum, product)) = self.sum_by_pairs(fractions, shapes)? {
            return Ok((sum, Some(product).filter(|_| has_product)));
        }
        let sum = match self.sum_by_kept(fractions, shape)? {
            Some(sum) => sum,
            None => {
                let [x, y] = [(a, d), (b, c)].map(|(x, y)| self.mul_in(width, x, y));
                self.add_in(width, &x?, &y?)?
            }
        };
        let product = has_product.then(|| self.mul(c, d)).transpose()?;
        Ok((sum, product))
    }

    /// The sum by [one transform back](crate::device::sum_of_products), where those of `c` and `d` are kept and serve it, too.
    fn sum_by_kept(
        &self,
        [(a, c), (b, d)]: [(&Batch, &Batch); 2],
        shape: Shape,
    ) -> Result<Option<Batch>, Error> {
        let factors = [c, d];
        let are_kept = factors.iter().all(|x| x.node().kept().is_some());
        let [n, m] = [a.width().max(b.width()), c.width().max(d.width())];
        let plan = NttPlan::of(n, m).filter(|plan| plan.length() as usize >= shape.width);
        let is_theirs = plan.is_some() && plan == NttPlan::of(c.width(), d.width());
        let Some(plan) = plan.filter(|_| are_kept && is_theirs) else {
            return Ok(None);
        };
        if !self
            .tuning()
            .is_by_primes(factors.map(Batch::shape), self.options)?
        {
            return Ok(None);
        }
        let product = self.job_of_product(shape.width, a, d)?;
        let task = Task::SumOfProducts(SumOfProducts { product, plan });
        let operands = [a, c, b, d].map(|batch| Arc::clone(batch.node()));
        let mut computed = self.inner.compute(&task, &operands)?;
        Ok(Some(Batch::new(computed.results.swap_remove(0))))
    }

    /// The sum, and the product, as [pairs](crate::device::pairs) where those are how factors are multiplied.
    fn sum_by_pairs(
        &self,
        [(a, c), (b, d)]: [(&Batch, &Batch); 2],
        shapes: [Shape; 2],
    ) -> Result<Option<(Batch, Batch)>, Error> {
        let Some(plan) = self.plan_of_pairs([c, d])? else {
            return Ok(None);
        };
        let widest = [a, b].map(Batch::width).into_iter().max();
        let widths = shapes.map(|shape| shape.width);
        if widest > Some(plan.limbs()) || widths.iter().any(|&w| w > plan.product_limbs()) {
            return Ok(None);
        }
        let jobs = [
            self.job_of_product(widths[0], a, d)?,
            self.job_of_product(widths[1], c, d)?,
        ];
        let of = Products::Sum(jobs);
        let [sum, product] = self.pair(Pair { of, plan }, &[a, b, c, d])?;
        Ok(Some((sum, product)))
    }

    /// The plan of [pairs](crate::device::pairs) of products by these factors, where that is how devices multiply them.
    fn plan_of_pairs(&self, factors: [&Batch; 2]) -> Result<Option<GridPlan>, Error> {
        let shapes = factors.map(Batch::shape);
        let devices = self.inner.devices();
        let shared_bytes = devices.map(|device| device.shared_bytes()).min();
        let fits = |plan: &GridPlan| shared_bytes.is_some_and(|bytes| plan.fits_pairs(bytes));
        Ok(self.tuning().pairs(shapes, self.options)?.filter(fits))
    }

    fn pair(&self, pair: Pair, operands: &[&Batch]) -> Result<[Batch; 2], Error> {
        let operands: Vec<_> = operands.iter().map(|x| Arc::clone(x.node())).collect();
        let computed = self.inner.compute(&Task::Pair(pair), &operands)?;
        let results: Vec<_> = computed.results.into_iter().map(Batch::new).collect();
        Ok(results.try_into().expect("two products"))
    }

    /// Has products keep the transforms of both factors, where there is a use for these.
    pub(crate) fn keep_transforms(&self, factors: [&Batch; 2]) -> Result<(), Error> {
        let shapes = factors.map(Batch::shape);
        let tuning = self.tuning();
        if self.plan_of_pairs(factors)?.is_some() || tuning.is_by_primes(shapes, self.options)? {
            factors.into_iter().for_each(|x| self.keep_transform(x));
        }
        Ok(())
    }

    /// The highest `limbs` limbs of the fraction of `x / d`, modulo 1, for one number each, and `d` not zero. It is off by less than 2 of the
    /// last place. Where `x` is less than `d` and the `bits` of `d` are given, the last place is [`GUARD`] limbs below those of
    /// `1 / d`, if that is higher, and below it there are zeros.
    pub(crate) fn fraction_of(
        &self,
        x: &Batch,
        d: &Batch,
        limbs: usize,
        bits: Option<u64>,
    ) -> Result<Batch, Error> {
        let shape = Shape::new(1, limbs, Layout::Contiguous);
        let takes = |cpu: &Cpu| cpu.takes_fraction(shape, x.shape(), d.shape());
        let made = self.on_cores(&[shape], takes, |cpu, mut made| {
            let [x, d] = numbers([x, d])?;
            let fraction = made.pop().expect("one of each shape");
            Ok(cpu.fraction(fraction, x, d)?)
        })?;
        if let Some(mut made) = made {
            return Ok(made.pop().expect("one of each shape"));
        }
        let of_d = bits.map_or(limbs, |bits| bits.div_ceil(LIMB_BITS as u64) as usize);
        let made = limbs.min(of_d + GUARD);
        if let Some(fraction) = self.newton_fraction(x, d, made, bits)? {
            return self.lifted(&fraction, limbs - made, limbs);
        }
        let dividend = self.lifted(x, limbs, x.width() + limbs)?;
        self.limbs_from(&self.div(&dividend, d)?, 0, limbs)
    }

    /// The highest limbs of the fractions of `f c` and `f d`, so many of each, for a fraction `f` and integers
    /// `c` and `d`. They are too great by less than 1 of the last place, or too small by less than 3, and what
    /// a product has above its fraction must be below the last place.
    pub(crate) fn halves_of_fraction(
        &self,
        f: &Batch,
        factors: [&Batch; 2],
        limbs: [usize; 2],
    ) -> Result<[Batch; 2], Error> {
        let shapes = limbs.map(|limbs| Shape::new(f.len(), limbs, Layout::Contiguous));
        let takes = |cpu: &Cpu| cpu.takes_middles(shapes, f.shape(), factors.map(Batch::shape));
        let made = self.on_cores(&shapes, takes, |cpu, made| {
            let [f, c, d] = numbers([f, factors[0], factors[1]])?;
            let made: [NumbersMut<'_>; 2] = made.try_into().expect("one of each shape");
            Ok(cpu.middles(made, f, [c, d])?)
        })?;
        if let Some(made) = made {
            return Ok(made.try_into().expect("one of each shape"));
        }
        let [c, d] = factors;
        if let Some(parts) = self.halves_by_pairs(f, factors, limbs)? {
            return Ok(parts);
        }
        Ok([self.part(f, c, limbs[0])?, self.part(f, d, limbs[1])?])
    }

    /// The same as [pairs](crate::device::pairs), where those are how the factors are multiplied.
    fn halves_by_pairs(
        &self,
        f: &Batch,
        [c, d]: [&Batch; 2],
        limbs: [usize; 2],
    ) -> Result<Option<[Batch; 2]>, Error> {
        let to = f.width();
        let plan = self.plan_of_pairs([c, d])?;
        let plan = plan.filter(|plan| to <= plan.product_limbs() && f.len() == c.len());
        let from = limbs.map(|limbs| to.saturating_sub(limbs));
        let (Some(plan), true) = (plan, c.width() <= from[0] && d.width() <= from[1]) else {
            return Ok(None);
        };
        let middle = |factor: &Batch, from: usize| {
            let job = self.job_of_product(to, f, factor)?;
            let plan = Transform::Fft(plan);
            Ok::<_, Error>(Middle { job, from, plan })
        };
        let of = Products::Middles([middle(c, from[0])?, middle(d, from[1])?]);
        self.pair(Pair { of, plan }, &[f, d, c]).map(Some)
    }

    /// The highest limbs of the fraction of `f p`.
    fn part(&self, f: &Batch, p: &Batch, limbs: usize) -> Result<Batch, Error> {
        let width = f.width();
        if let Some(part) = self.middle([f, p], width - limbs..width, width, f)? {
            return Ok(part);
        }
        let product = self.mul_in(width, f, p)?;
        self.limbs_from(&product, width - limbs, limbs)
    }

    /// What the CPU computes in batches of these shapes, where it is the engine that multiplies, and takes them.
    fn on_cores(
        &self,
        shapes: &[Shape],
        takes: impl FnOnce(&Cpu) -> bool,
        compute: impl FnOnce(&Cpu, Vec<NumbersMut<'_>>) -> Result<(), Error>,
    ) -> Result<Option<Vec<Batch>>, Error> {
        let inner = &self.inner;
        let is_for_devices = inner.device().is_some() || inner.are_devices_asleep();
        let is_other = self.options != Options::default() || self.is_for_secrets();
        let cpu = Cpu::current();
        if is_other || is_for_devices || !takes(cpu) {
            return Ok(None);
        }
        let mut made = inner.memory(shapes)?;
        let results = made.iter_mut().zip(shapes);
        let results = results.map(|(limbs, shape)| NumbersMut::new(limbs, *shape));
        compute(cpu, results.collect::<Result<_, _>>()?)?;
        let nodes = made.into_iter().zip(shapes);
        let nodes = nodes.map(|(limbs, shape)| Batch::new(Node::on_host(inner, *shape, limbs)));
        Ok(Some(nodes.collect()))
    }
}

/// The numbers of batches, in the memory of the host.
fn numbers<const N: usize>(batches: [&Batch; N]) -> Result<[Numbers<'_>; N], Error> {
    let numbers = batches.map(|batch| Ok(Numbers::new(batch.node().limbs()?, batch.shape())?));
    let numbers = numbers.into_iter().collect::<Result<Vec<_>, Error>>()?;
    Ok(numbers.try_into().expect("one of each batch"))
}
