//! One number from a batch, and batches from the numbers of others, by the operations.
//!
//! Reductions go by halves: the numbers of the lower half with those of the upper half, all
//! at once, then the half of that, and so on; each step is one operation on a batch. What
//! is left over by an odd length joins in the end.

use crate::common::limbs;
use crate::device::gather::{Gather, Order, Run, Window};
use crate::device::middle::Middle;
use crate::engine::inner::Inner;
use crate::operations::column::Column;
use crate::operations::forms::Form;
use crate::plan::task::Task;
use crate::values::batch::Batch;
use crate::values::node::{Node, Recipe};
use crate::{Engine, Error, Options};
use bigint_core::transform::Plan;
use bigint_core::{Algorithm, Layout, Level, Limb, Operation, Shape};
use std::ops::Range;
use std::sync::Arc;

impl Engine {
    /// The sum of all numbers, as a column of one; zero for none.
    ///
    /// Of a batch, a limb wider than the numbers (two for more than `2^32` of them), which holds every
    /// sum. Cost: as many additions as numbers, in `log2(count)` steps.
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::auto();
    /// let a = engine.batch_from_biguints(&[3u32.into(), u32::MAX.into(), 7u32.into()])?;
    /// assert_eq!(engine.sum(&a)?.to_biguints()?, [(u64::from(u32::MAX) + 10).into()]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Width`], [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn sum<C: Column>(&self, a: &C) -> Result<C, Error> {
        C::sum(self, a)
    }

    /// [`Engine::sum`] of a batch.
    pub(crate) fn sum_of_batch(&self, a: &Batch) -> Result<Batch, Error> {
        let form = Form::Modulo(width_of_sum(a));
        let zero = || self.one_limb(0, a.shape().layout);
        self.by_halves(a, zero, |x, y| self.first_of(Operation::Add, form, &[x, y]))
    }

    /// The product of all numbers, as a column of one; one for none.
    ///
    /// Of a batch, as wide as all numbers together. Cost: a tree, whose products of one step are all as
    /// wide and take the algorithms that are fastest there; but on a GPU steps of few products
    /// take one kernel, as far as it holds them, as each other would cost more at its first use
    /// than it saves.
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::auto();
    /// let numbers: Vec<_> = (1..=20u32).map(Into::into).collect();
    /// let factorial = engine.product(&engine.batch_from_biguints(&numbers)?)?;
    /// assert_eq!(factorial.to_biguints()?, [2_432_902_008_176_640_000u64.into()]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::sum`].
    pub fn product<C: Column>(&self, a: &C) -> Result<C, Error> {
        C::product(self, a)
    }

    /// [`Engine::product`] of a batch.
    pub(crate) fn product_of_batch(&self, a: &Batch) -> Result<Batch, Error> {
        let one = || self.one_limb(1, a.shape().layout);
        let tuning = self.inner.tuning();
        let lanes = tuning.lanes_of_tree(a.len(), a.width());
        let limbs = Plan::of(lanes).limbs() as usize;
        let by_one_kernel = self.using(Options {
            level: Some(Level::Block),
            lanes: Some(lanes),
            ..self.options
        });
        let is_open = self.options == Options::default();
        self.by_halves(a, one, |x, y| {
            let is_held = x.width().max(y.width()) <= limbs;
            match is_open && is_held && x.len() <= tuning.mul.tree_few {
                true => by_one_kernel.mul(x, y),
                false => self.mul(x, y),
            }
        })
    }

    /// Number `i` is the sum of numbers `0 ..= i`.
    ///
    /// Of a batch, as wide as [`Engine::sum`]. Cost: `count log2(count)` additions, in as many steps
    /// as the logarithm says: after step `s` a number is the sum of the `2^s` up to it (Hillis
    /// and Steele, "Data parallel algorithms", 1986).
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::auto();
    /// let a = engine.batch_from_biguints(&[5u32, 6, 7].map(Into::into))?;
    /// assert_eq!(engine.prefix_sum(&a)?.to_biguints()?, [5u32, 11, 18].map(Into::into));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::sum`].
    pub fn prefix_sum<C: Column>(&self, a: &C) -> Result<C, Error> {
        C::prefix_sum(self, a)
    }

    /// [`Engine::prefix_sum`] of a batch.
    pub(crate) fn prefix_sum_of_batch(&self, a: &Batch) -> Result<Batch, Error> {
        let form = Form::Modulo(width_of_sum(a));
        let (mut sums, mut by) = (a.clone(), 1);
        while by < a.len() {
            let complete = self.slice(&sums, 0..by)?;
            let (lower, upper) = (0..a.len() - by, by..a.len());
            let (lower, upper) = (self.slice(&sums, lower)?, self.slice(&sums, upper)?);
            let upper = self.first_of(Operation::Add, form, &[&lower, &upper])?;
            sums = self.concatenate(&[&complete, &upper])?;
            by *= 2;
        }
        Ok(sums)
    }

    /// The numbers of these indices, in this order; an index may come again.
    ///
    /// Where one device has all numbers of the batch, the result is made and stays there; else
    /// they go by way of the host.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] names the first index past the end; [`Error::OutOfMemory`];
    /// [`Error::Device`] on a device.
    pub fn gather<C: Column>(&self, a: &C, indices: &[usize]) -> Result<C, Error> {
        C::gather(self, a, indices)
    }

    /// [`Engine::gather`] of a batch.
    pub(crate) fn gather_batch(&self, a: &Batch, indices: &[usize]) -> Result<Batch, Error> {
        let past = indices.iter().find(|&&index| index >= a.len());
        if let Some(&index) = past {
            let count = a.len();
            return Err(Error::NoSuchNumber { index, count });
        }
        let shape = Shape {
            count: indices.len(),
            ..a.shape()
        };
        let limbs = indices.iter().map(|&index| Limb::try_from(index).ok());
        let order = match limbs.collect::<Option<Vec<_>>>() {
            Some(limbs) => Order::Indices(limbs),
            // Of so many numbers that a limb does not hold their indices.
            None => Order::Runs(indices.iter().map(|&i| run(0, i..i + 1)).collect()),
        };
        self.gathered(shape, order, Window::default(), &[a])
    }

    /// The numbers of a range of indices. Where devices have them, the result is made and stays
    /// there; else they go by way of the host.
    ///
    /// # Errors
    /// [`Error::NoSuchNumber`] where the range ends past the end, or before its start;
    /// otherwise as [`Engine::gather`].
    pub fn slice<C: Column>(&self, a: &C, range: Range<usize>) -> Result<C, Error> {
        C::slice(self, a, range)
    }

    /// [`Engine::slice`] of a batch.
    pub(crate) fn slice_batch(&self, a: &Batch, range: Range<usize>) -> Result<Batch, Error> {
        let (index, count) = (range.start.max(range.end), a.len());
        if range.end > count || range.start > range.end {
            return Err(Error::NoSuchNumber { index, count });
        }
        if range.len() == count {
            return Ok(a.clone());
        }
        let shape = Shape {
            count: range.len(),
            ..a.shape()
        };
        let order = Order::Runs(vec![run(0, range)]);
        self.gathered(shape, order, Window::default(), &[a])
    }

    /// The numbers of all columns, one after the other. Of batches, as wide as the widest, in the
    /// layout of the first; of no batches, an empty one. Where devices have them, the result is
    /// made and stays there; else they go by way of the host.
    ///
    /// # Errors
    /// As for [`Engine::gather`].
    pub fn concatenate<C: Column>(&self, columns: &[&C]) -> Result<C, Error> {
        C::concatenate(self, columns)
    }

    /// [`Engine::concatenate`] of batches.
    pub(crate) fn concatenate_batches(&self, batches: &[&Batch]) -> Result<Batch, Error> {
        let mut shape = Shape::new(0, 1, Layout::Contiguous);
        let mut runs = Vec::with_capacity(batches.len());
        for (operand, batch) in batches.iter().enumerate() {
            shape.count += batch.len();
            shape.width = shape.width.max(batch.width());
            runs.push(run(operand, 0..batch.len()));
        }
        shape.layout = batches.first().map_or(shape.layout, |a| a.shape().layout);
        let order = Order::Runs(runs);
        self.gathered(shape, order, Window::default(), batches)
    }

    /// The limbs of a contiguous batch as numbers of another width: `width` limbs of them are a number, whatever
    /// number they were in. Where devices have them they stay there, and nothing is copied; but where a number
    /// would be on two devices, or on the host, all are copied by way of the host.
    ///
    /// Numbers side by side are the coefficients of a polynomial at a power of two, and one long number its value:
    /// so polynomials are multiplied as numbers (Kronecker's substitution).
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::auto();
    /// // 3 + 5 x and 1 + 7 x, with two limbs for each coefficient.
    /// let coefficients = engine.batch([3u64, 5, 1, 7])?;
    /// let polynomials = engine.reshape(&engine.lifted(&coefficients, 0, 2)?, 4)?;
    /// let [a, b] = [0, 1].map(|i| engine.slice(&polynomials, i..i + 1).unwrap());
    /// let product = engine.reshape(&engine.mul(&a, &b)?, 2)?;
    /// assert_eq!(product.to_biguints()?, [3u32, 26, 35, 0].map(Into::into));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Width`] of a width of 0; [`Error::Length`] where limbs would be left over; [`Error::OutOfMemory`];
    /// [`Error::Device`] on a device.
    pub fn reshape(&self, a: &Batch, width: usize) -> Result<Batch, Error> {
        let a = self.to_layout(&self.adopt(a)?, Layout::Contiguous)?;
        let (node, of) = (Arc::clone(a.node()), a.shape());
        let count = of.limbs().checked_div(width);
        let count = count.ok_or(Error::Width { width })?;
        if count * width != of.limbs() {
            return Err(Error::Length {
                expected: count * width,
                found: of.limbs(),
                unit: "limbs",
            });
        }
        let shape = Shape::new(count, width, Layout::Contiguous);
        limbs::checked_limbs(shape)?;
        let mut shares = node.shares();
        shares.sort_by_key(|share| share.numbers.start);
        let mut next = 0;
        let are_whole = shares.iter_mut().all(|share| {
            let limbs = share.numbers.start * of.width..share.numbers.end * of.width;
            let follows = limbs.start == next && limbs.start % width == 0;
            next = limbs.end;
            share.numbers = limbs.start / width..limbs.end / width;
            follows && limbs.end % width == 0
        });
        if shares.is_empty() || !are_whole || next != of.limbs() {
            return self.inner.admit(shape, limbs::copy(node.limbs()?)?);
        }
        let operands = [Arc::clone(&node)];
        let again = move |engine: &Arc<Inner>, numbers: Range<usize>| {
            let part = Shape {
                count: numbers.len(),
                ..shape
            };
            let limbs = &node.limbs()?[numbers.start * width..numbers.end * width];
            Ok(Node::on_host(engine, part, limbs::copy(limbs)?))
        };
        let recipe = self.inner.remembers();
        let recipe = recipe.then(|| Recipe::new(&operands, again));
        let made = Node::on_devices(&self.inner, shape, shares, recipe);
        made.save()?;
        Ok(Batch::new(made))
    }

    /// Limbs `from ..` of each number, in `width` limbs: `floor(a / B^from) mod B^width` for `B` =
    /// 2^32. The limbs stay where they are computed, and there may be more than bits are counted of.
    ///
    /// # Errors
    /// As for [`Engine::slice`].
    pub fn limbs_from(&self, a: &Batch, from: usize, width: usize) -> Result<Batch, Error> {
        self.moved_limbs(a, Window { from, to: 0 }, width)
    }

    /// `a B^by mod B^width` of each number, for `B` = 2^32.
    ///
    /// # Errors
    /// As for [`Engine::slice`].
    pub fn lifted(&self, a: &Batch, by: usize, width: usize) -> Result<Batch, Error> {
        self.moved_limbs(a, Window { from: 0, to: by }, width)
    }

    /// Blocks of `count` numbers in this order, of each number the lowest `width` limbs.
    pub(crate) fn blocks(
        &self,
        a: &Batch,
        count: usize,
        order: &[usize],
        width: usize,
    ) -> Result<Batch, Error> {
        let shape = Shape {
            count: order.len() * count,
            width,
            ..a.shape()
        };
        let runs = order.iter().map(|i| run(0, i * count..(i + 1) * count));
        self.gathered(shape, Order::Runs(runs.collect()), Window::default(), &[a])
    }

    /// Limbs `limbs` of products, where a [middle product](crate::device::middle) on a device has them soonest, with its
    /// error; else none. What products have above limb `least` is below `B^from`, `from` the first of the limbs. The transform
    /// of `kept`, which is one of both, is kept with it where it is modulo primes.
    pub(crate) fn middle(
        &self,
        [a, b]: [&Batch; 2],
        limbs: Range<usize>,
        least: usize,
        kept: &Batch,
    ) -> Result<Option<Batch>, Error> {
        if limbs.start == 0 {
            return Ok(None);
        }
        let is_kept = |x: &&&Batch| Arc::ptr_eq(x.node(), kept.node()) || x.node().kept().is_some();
        let keeps = [a, b].iter().filter(is_kept).count();
        let Some(middle) = self.wrapping([a, b], limbs, least, keeps)? else {
            return Ok(None);
        };
        if middle.plan.algorithm() == Algorithm::Ntt {
            self.keep_transform(kept);
        }
        self.middle_of(middle, [a, b]).map(Some)
    }

    /// The lowest `width` limbs of what products are modulo `B^n + 1` or `B^n - 1`, give or take the modulus, by a transform on a
    /// device where that has them soonest, and which it is, of `n` not below `width`; else none.
    pub(crate) fn product_that_wraps(
        &self,
        factors: [&Batch; 2],
        width: usize,
    ) -> Result<Option<(Batch, Middle)>, Error> {
        let is_kept = |x: &&&Batch| x.node().kept().is_some();
        let kept = factors.iter().filter(is_kept).count();
        match self.wrapping(factors, 0..width, width, kept)? {
            Some(middle) => Ok(Some((self.middle_of(middle, factors)?, middle))),
            None => Ok(None),
        }
    }

    /// Products modulo `B^width - 1`, or as much more, of `width + 1` limbs, by a transform on a device where one of that length
    /// has them soonest; else none.
    pub(crate) fn cyclic_product(
        &self,
        factors: [&Batch; 2],
        width: usize,
    ) -> Result<Option<Batch>, Error> {
        let shapes = factors.map(Batch::shape);
        let middle = self.tuning().cyclic(shapes, self.options, width)?;
        let middle = middle.filter(|middle| self.fits(middle));
        middle
            .map(|middle| self.middle_of(middle, factors))
            .transpose()
    }

    fn wrapping(
        &self,
        factors: [&Batch; 2],
        limbs: Range<usize>,
        least: usize,
        kept: usize,
    ) -> Result<Option<Middle>, Error> {
        let shapes = factors.map(Batch::shape);
        let middle = self
            .tuning()
            .middle(shapes, self.options, limbs, least, kept)?;
        Ok(middle.filter(|middle| self.fits(middle)))
    }

    /// Whether all devices can run it, and there are any.
    fn fits(&self, middle: &Middle) -> bool {
        let devices = self.inner.devices();
        let shared_bytes = devices.map(|device| device.shared_bytes()).min();
        shared_bytes.is_some_and(|bytes| middle.plan.fits(bytes))
    }

    fn middle_of(&self, middle: Middle, factors: [&Batch; 2]) -> Result<Batch, Error> {
        let task = Task::Middle(middle);
        let operands = factors.map(|batch| Arc::clone(batch.node()));
        let mut computed = self.inner.compute(&task, &operands)?;
        Ok(Batch::new(computed.results.swap_remove(0)))
    }

    fn moved_limbs(&self, a: &Batch, window: Window, width: usize) -> Result<Batch, Error> {
        if width == a.width() && window == Window::default() {
            return Ok(a.clone());
        }
        let shape = Shape { width, ..a.shape() };
        let order = Order::Runs(vec![run(0, 0..a.len())]);
        self.gathered(shape, order, window, &[a])
    }

    /// The batch that is gathered so.
    fn gathered(
        &self,
        shape: Shape,
        order: Order,
        window: Window,
        batches: &[&Batch],
    ) -> Result<Batch, Error> {
        let gather = Gather {
            shape,
            order,
            window,
        };
        limbs::checked_limbs(gather.shape)?;
        let operands: Vec<_> = batches.iter().map(|a| Arc::clone(a.node())).collect();
        self.inner.gather(gather, &operands)
    }

    /// All numbers by `operation`, which may take them in any order and any parentheses;
    /// `none` for none.
    fn by_halves(
        &self,
        a: &Batch,
        none: impl Fn() -> Result<Batch, Error>,
        operation: impl Fn(&Batch, &Batch) -> Result<Batch, Error>,
    ) -> Result<Batch, Error> {
        let mut left_over: Option<Batch> = None;
        let mut all = a.clone();
        while all.len() > 1 {
            let half = all.len() / 2;
            if all.len() % 2 == 1 {
                let last = self.slice(&all, 2 * half..all.len())?;
                left_over = Some(match left_over {
                    Some(others) => operation(&last, &others)?,
                    None => last,
                });
            }
            let (lower, upper) = (0..half, half..2 * half);
            all = operation(&self.slice(&all, lower)?, &self.slice(&all, upper)?)?;
        }
        match (all.len(), left_over) {
            (0, _) => none(),
            (_, None) => Ok(all),
            (_, Some(others)) => operation(&all, &others),
        }
    }

    /// One number of one limb.
    fn one_limb(&self, limb: u32, layout: Layout) -> Result<Batch, Error> {
        self.batch_from_biguints_in(&[limb.into()], 1, layout)
    }
}

/// Some neighbours of an operand.
fn run(operand: usize, numbers: Range<usize>) -> Run {
    Run { operand, numbers }
}

/// Limbs that hold the sum of all numbers: `count (B^n - 1)` is below `B^(n + 1)` for
/// `count` up to `B` = 2^32, and one number is its own sum.
fn width_of_sum(a: &Batch) -> usize {
    let more = match a.len() {
        0 | 1 => 0,
        count if count as u64 <= 1 << 32 => 1,
        _ => 2,
    };
    a.width() + more
}
