//! Montgomery products and powers modulo odd numbers wider than kernels hold, made of products on a device.
//!
//! Let `B` = 2^32, `m` be odd and below `R = B^k`, and `i = 1/m mod R`. Of `t = x y`, with `x < R` and `y < m`,
//!
//! ```text
//! q = t i mod R,    u = q m,    x y / R mod m  =  floor(t / R) - floor(u / R),  or m more
//! ```
//!
//! `u` is `t` modulo `R`, so that their lower halves are the same and `t - u` is a multiple of `R`; both upper halves
//! are below `m`, as `x` and `q` are below `R`, so that their difference is between `-m` and `m`. Nothing else is
//! corrected. By hand, with `R` = 10, `m` = 7 and `i` = 3: of 4 times 6, which is 24, `q` is 2, `u` is 14, and 2 - 1 is
//! 24 / 10 modulo 7.
//!
//! **Inverses** modulo `R` by Hensel's lemma, from one limb on: of `m y = 1 + c B^j`, `y - (y c mod B^j) B^j` is the
//! inverse modulo `B^2j`, whose lower half is `y`. They are kept with the moduli.
//!
//! Powers modulo numbers that a block's transforms hold go by [`rings`] instead.
//!
//! **Cost** of a Montgomery product: a product or a square, the lower half of a product, and another product. In
//! transforms of a product's length these are 9, for a square 8. And four passes over memory.

mod power;
mod rings;

use crate::common::device::{Buffer, Device};
use crate::common::job::Job;
use crate::device::gather::copy;
use crate::device::job::{multiply, run, without_flags};
use crate::device::launches::Montgomery;
use crate::device::part::{Part, operand};
use crate::values::made::Made;
use crate::values::node::{Node, Operands, Share};
use crate::{BackEnd, Error};
use bigint_core::kernel::MatrixArgument;
use bigint_core::operation::Cost;
use bigint_core::transform::rings::RingPlan;
use bigint_core::{Kernel, Layout, Level, Limb, Operation};
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Computes numbers `numbers` of a job's products or powers; nothing where a modulus is even, which is for the CPU.
pub(crate) fn compute(
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    numbers: Range<usize>,
    by: Montgomery,
) -> Result<Option<Made>, Error> {
    let started = Instant::now();
    let (count, shape) = (job.count(), job.shapes()[0]);
    let [a, b, m] = operands else {
        unreachable!("there are two operands and a modulus")
    };
    let kept = match by.rings {
        Some(plan) => rings::kept(device, plan, m, numbers.clone())?,
        None => None,
    };
    let plan = by.rings.filter(|_| kept.is_some());
    let inverse = match kept {
        Some(kept) => Some(kept),
        None => inverse(device, by, m, numbers.clone())?,
    };
    let Some(inverse) = inverse else {
        return Ok(None);
    };
    let [a, b, modulus] = [a, b, m].map(|node| Numbers::resident(device, node, &numbers));
    let (a, b, modulus) = (a?, b?, modulus?);
    let made = device.allocate(shape.limbs())?;
    let r = Part::of_shape(&made, shape);
    let passes = Passes { device };
    let width = m.shape.width;
    let of_moduli = if m.shape.count == 1 { 1 } else { count };
    let mut own = None;
    let in_rings = plan.map_or(width, |plan| plan.limbs() as usize);
    let modulus = passes.widened(modulus.part(), of_moduli, in_rings, &mut own)?;
    let inverse = Part::rows(&inverse, of_moduli, inverse.limbs() / of_moduli);
    let inverse = if of_moduli == 1 {
        inverse.for_all()
    } else {
        inverse
    };
    let moduli = Moduli {
        m: modulus,
        inverse,
        count: of_moduli,
        rings: plan,
    };
    match job.operation.cost() {
        Cost::Residue => {
            let products = Products::new(passes, by, count, moduli)?;
            let (mut of_a, mut of_b) = (None, None);
            let a = passes.widened(a.part(), a.count, width, &mut of_a)?;
            let b = passes.widened(b.part(), b.count, width, &mut of_b)?;
            let product = products.allocate()?;
            products.product(products.rows(&product), a, b)?;
            passes.copy(r, products.rows(&product), count)?;
        }
        _ => power::compute(passes, by, job, [&a, &b], (moduli, operands), numbers, r)?,
    }
    tracing::debug!(
        back_end = %BackEnd::Cuda(device.ordinal().into()),
        kernel = "montgomery",
        operation = job.operation.name(),
        count,
        width = shape.width,
        elapsed = ?started.elapsed(),
        "launched"
    );
    without_flags(device, job, made).map(Some)
}

/// The inverses of the moduli modulo `B^w`, `w` their width, which are kept with them; nothing where one is even.
fn inverse(
    device: &Arc<dyn Device>,
    by: Montgomery,
    moduli: &Arc<Node>,
    numbers: Range<usize>,
) -> Result<Option<Arc<Buffer>>, Error> {
    let shape = moduli.shape;
    let numbers = if shape.count == 1 { 0..1 } else { numbers };
    let mut kept = moduli
        .inverses
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let mut found = kept.iter();
    let found = found.find(|share| share.numbers == numbers && share.buffer.is_of(device));
    if let Some(found) = found {
        return Ok(Some(Arc::clone(&found.buffer)));
    }
    let limbs = moduli.limbs()?;
    let lowest: Vec<Limb> = numbers
        .clone()
        .map(|number| limbs[shape.index(number, 0)])
        .collect();
    if lowest.iter().any(|limb| limb % 2 == 0) {
        return Ok(None);
    }
    let first: Vec<Limb> = lowest.into_iter().map(inverse_of_limb).collect();
    let (count, width) = (numbers.len(), shape.width);
    let passes = Passes { device };
    let given = Numbers::resident(device, moduli, &numbers)?;
    let mut own = None;
    let m = passes.widened(given.part(), count, width, &mut own)?;
    let [inverse, above, term] = [(); 3].map(|()| device.allocate(width * count));
    let (inverse, above, term) = (Arc::new(inverse?), above?, term?);
    let y = Part::rows(&inverse, count, width);
    let [first, zero] = [&first[..], &[0]].map(|limbs| device.upload(limbs));
    let (first, zero) = (first?, zero?);
    passes.copy(y.at(0..1), Part::rows(&first, count, 1), count)?;
    let mut have = 1;
    while have < width {
        let next = width.min(2 * have);
        let more = next - have;
        let c = Part::rows(&above, count, next);
        multiply(device, by.low, count, c, [m.at(0..next), y.at(0..have)])?;
        let [z, less] = [&term, &above].map(|buffer| Part::rows(buffer, count, more));
        multiply(device, by.low, count, z, [y.at(0..more), c.at(have..next)])?;
        passes.pass(
            Operation::Sub,
            count,
            (less, None),
            &[Part::of(&zero).for_all(), z],
        )?;
        passes.copy(y.at(have..next), less, count)?;
        have = next;
    }
    kept.push(Share {
        numbers,
        buffer: Arc::clone(&inverse),
    });
    Ok(Some(inverse))
}

/// The inverse of an odd limb modulo `B`. Of `l x = 1 + c 2^j`, `x (2 - l x)` is right modulo `2^2j`, and `l l` is 1
/// modulo 8.
fn inverse_of_limb(limb: Limb) -> Limb {
    (0..4).fold(limb, |x, _| {
        x.wrapping_mul(2_u32.wrapping_sub(limb.wrapping_mul(x)))
    })
}

/// Numbers that a device has: one that stands for all, or one for each.
struct Numbers {
    limbs: MatrixArgument,
    buffer: Arc<Buffer>,
    count: usize,
}

impl Numbers {
    fn resident(
        device: &Arc<dyn Device>,
        node: &Arc<Node>,
        numbers: &Range<usize>,
    ) -> Result<Self, Error> {
        let buffer = node.resident(device, numbers.clone())?;
        let count = if node.shape.count == 1 {
            1
        } else {
            numbers.len()
        };
        Ok(Numbers {
            limbs: operand(node, buffer.address(), numbers.len()),
            buffer,
            count,
        })
    }

    fn part(&self) -> Part<'_> {
        let Numbers { limbs, buffer, .. } = self;
        Part {
            limbs: *limbs,
            buffer,
        }
    }
}

/// Passes over numbers on a device, by warps.
#[derive(Clone, Copy)]
struct Passes<'a> {
    device: &'a Arc<dyn Device>,
}

impl Passes<'_> {
    /// Launches an operation that has one algorithm for warps. Results follow one another without gaps.
    fn pass(
        self,
        operation: Operation,
        count: usize,
        (r, flags): (Part<'_>, Option<&Buffer>),
        operands: &[Part<'_>],
    ) -> Result<(), Error> {
        let mut all = operands.iter().chain([&r]);
        let layout = match all.all(|part| part.limbs.limb_stride == 1) {
            true => Layout::Contiguous,
            false => Layout::Interleaved,
        };
        let algorithm = operation.algorithms(Level::Warp).next();
        let lanes = operation.lanes(Level::Warp).last();
        let kernel = algorithm.zip(lanes).and_then(|(algorithm, &lanes)| {
            Kernel::find(operation, algorithm, Level::Warp, lanes, layout)
        });
        let kernel = kernel.expect("it has one");
        run(self.device, (kernel, true), count, (r, flags), operands)
    }

    /// The first of two numbers where a mask is set, else the second.
    fn select(
        self,
        r: Part<'_>,
        [x, y]: [Part<'_>; 2],
        masks: Part<'_>,
        count: usize,
    ) -> Result<(), Error> {
        self.pass(Operation::Select, count, (r, None), &[x, y, masks])
    }

    /// Copies numbers, with zeros above them where results are wider.
    fn copy(self, r: Part<'_>, x: Part<'_>, count: usize) -> Result<(), Error> {
        let x = x.lowest(r.width());
        copy(self.device, r, (x, count), count, None)
    }

    /// Numbers as they are, or a copy of them in memory of its own where they are not contiguous or of another
    /// width, whose limbs above `width` are zero.
    fn widened<'b>(
        self,
        x: Part<'b>,
        count: usize,
        width: usize,
        own: &'b mut Option<Buffer>,
    ) -> Result<Part<'b>, Error> {
        if x.limbs.limb_stride == 1 && x.width() == width {
            return Ok(x);
        }
        let copy = &*own.insert(self.device.allocate(count * width)?);
        let part = Part::rows(copy, count, width);
        self.copy(part, x, count)?;
        Ok(if count == 1 { part.for_all() } else { part })
    }
}

/// Odd moduli and their inverses, one for all or one for each number.
#[derive(Clone, Copy)]
struct Moduli<'a> {
    m: Part<'a>,
    /// The inverses; or, of Montgomery products in two rings, all that [is kept](rings::kept).
    inverse: Part<'a>,
    count: usize,
    rings: Option<RingPlan>,
}

impl<'a> Moduli<'a> {
    /// The moduli from number `first` on, `count` of them or one, in so many limbs.
    fn part(self, first: usize, count: usize, width: usize) -> Self {
        let inverse = self.inverse.numbers_from(first);
        Moduli {
            m: self.m.numbers_from(first).lowest(width),
            inverse: match self.rings {
                None => inverse.lowest(width),
                Some(_) => inverse,
            },
            count: count.min(self.count),
            ..self
        }
    }
}

/// Montgomery products of `count` numbers at a time, and the memory that they take.
struct Products<'a> {
    passes: Passes<'a>,
    by: Montgomery,
    count: usize,
    moduli: Moduli<'a>,
    t: Buffer,
    q: Buffer,
    u: Buffer,
    borrows: Buffer,
}

impl<'a> Products<'a> {
    fn new(
        passes: Passes<'a>,
        by: Montgomery,
        count: usize,
        moduli: Moduli<'a>,
    ) -> Result<Self, Error> {
        let limbs = match moduli.rings {
            None => count * moduli.m.width(),
            // What a block needs is in the block.
            Some(_) => 1,
        };
        let allocate = |limbs| passes.device.allocate(limbs);
        Ok(Products {
            passes,
            by,
            count,
            moduli,
            t: allocate(2 * limbs)?,
            q: allocate(limbs)?,
            u: allocate(2 * limbs)?,
            borrows: allocate(count)?,
        })
    }

    fn width(&self) -> usize {
        self.moduli.m.width()
    }

    /// Memory for as many numbers as are multiplied.
    fn allocate(&self) -> Result<Buffer, Error> {
        Ok(self.passes.device.allocate(self.count * self.width())?)
    }

    /// The numbers of such memory.
    fn rows<'b>(&self, buffer: &'b Buffer) -> Part<'b> {
        Part::rows(buffer, self.count, self.width())
    }

    /// `r = x y / R mod m`, for `x < R` and `y <= m`; `r`, which has no gaps, may be `x` or `y`.
    fn product(&self, r: Part<'_>, x: Part<'_>, y: Part<'_>) -> Result<(), Error> {
        if let Some(plan) = self.moduli.rings {
            return match x.limbs == y.limbs {
                true => rings::powers(self, plan, r, x, 1, None),
                false => rings::powers(self, plan, r, x, 0, Some(y)),
            };
        }
        let (device, width) = (self.passes.device, self.width());
        let wide = |buffer| Part::rows(buffer, self.count, 2 * width);
        let (t, u) = (wide(&self.t), wide(&self.u));
        let q = self.rows(&self.q);
        let by = match x.limbs == y.limbs {
            true => self.by.square,
            false => self.by.product,
        };
        multiply(device, by, self.count, t, [x, y])?;
        let [t_low, t_high] = t.halves(width);
        multiply(
            device,
            self.by.low,
            self.count,
            q,
            [t_low, self.moduli.inverse],
        )?;
        multiply(device, self.by.product, self.count, u, [q, self.moduli.m])?;
        self.difference(r, t_high, u.halves(width)[1])
    }

    /// Squares numbers so many times, each in Montgomery's sense, and multiplies them by `y`.
    fn squares(&self, x: Part<'_>, squares: usize, y: Option<Part<'_>>) -> Result<(), Error> {
        if let Some(plan) = self.moduli.rings {
            return rings::powers(self, plan, x, x, squares, y);
        }
        for _ in 0..squares {
            self.product(x, x, x)?;
        }
        y.map_or(Ok(()), |y| self.product(x, x, y))
    }

    /// `r = x - y mod m`, for numbers up to `m`. What else a product leaves is overwritten.
    fn difference(&self, r: Part<'_>, x: Part<'_>, y: Part<'_>) -> Result<(), Error> {
        let (m, count) = (self.moduli.m, self.count);
        let pass =
            |operation, r, operands: &[Part<'_>]| self.passes.pass(operation, count, r, operands);
        if self.by.is_scanned {
            return pass(Operation::ModSub, (r, None), &[x, y, m]);
        }
        let less = self.rows(&self.q);
        let more = self.rows(&self.u);
        pass(Operation::Sub, (less, Some(&self.borrows)), &[x, y])?;
        pass(Operation::Add, (more, None), &[less, m])?;
        let borrows = Part::rows(&self.borrows, count, 1);
        self.passes.select(r, [more, less], borrows, count)
    }

    /// `r = x + y mod m`, or `m` for 0, of numbers up to `m`; `r` is another.
    fn sum(&self, r: Part<'_>, x: Part<'_>, y: Part<'_>) -> Result<(), Error> {
        let opposite = self.rows(&self.u);
        let terms = [self.moduli.m, y];
        self.passes
            .pass(Operation::Sub, self.count, (opposite, None), &terms)?;
        self.difference(r, x, opposite)
    }

    /// `r = 2 x mod m`, or `m` for 0, of numbers up to `m`; `r` is another.
    fn double(&self, r: Part<'_>, x: Part<'_>) -> Result<(), Error> {
        self.sum(r, x, x)
    }
}
