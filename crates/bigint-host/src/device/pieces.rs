//! Products and squares that no transform holds, on a device: of pieces of their operands, each of which is transformed once
//! ([`ntt`]).
//!
//! With `a` the sum of `a_i A^i`, `b` that of `b_j B^j`, `A` and `B` powers of `2^32`, the product is the sum of `a_i b_j A^i B^j`.
//! Where `A` is `B`, [two terms](TOGETHER) of one place are added before their one way back, as transforms are linear. For 4321 and 2143,
//! by pieces of two digits, it is `21 43 + (43 43 + 21 21) 100 + 43 21 10000`, in three ways back.
//!
//! Cost: for two pieces of each operand four ways forth and three back, where three products (Karatsuba) have six and three, and wait
//! for the device to tell signs; and two passes over memory for each way back.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::device::grid::add;
use crate::device::ntt::{self, Points};
use crate::device::part::Part;
use crate::device::transform::{Pieces, TOGETHER, kept};
use crate::values::made::Made;
use crate::values::node::{Node, Operands, Transformed};
use bigint_core::{Arguments, Operation, Shape};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Computes numbers `numbers` of products or squares; transforms of one number are kept where products should keep them.
pub(crate) fn compute(
    device: &Arc<dyn Device>,
    shape: Shape,
    operands: Operands<'_>,
    numbers: Range<usize>,
    pieces: Pieces,
) -> Result<Made, Error> {
    let made = device.allocate(shape.limbs())?;
    let r = Part::of_shape(&made, shape);
    let given = operands.iter();
    let given = given.map(|node| node.resident(device, numbers.clone()));
    let given = given.collect::<Result<Vec<_>, _>>()?;
    let part = |index: usize| Part::of_operand(&operands[index], &given[index], shape.count);
    let last = operands.len() - 1;
    let keeps = |node: &Node| {
        let is_one = node.shape.count == 1 || shape.count == 1;
        is_one && node.kept().is_some() && node.shape.width <= shape.width
    };
    let own = |index: usize| {
        let (node, limbs) = (&operands[index], pieces.limbs[index.min(1)]);
        let make = |_: &Range<usize>| transformed(device, pieces, part(index), limbs);
        let plan = Transformed::Pieces(pieces.plan, limbs);
        let kept = || kept(device, node, &numbers, plan, make);
        keeps(node).then(kept).transpose()
    };
    let points = [own(0)?, own(last)?];
    products(
        device,
        pieces,
        shape.count,
        r,
        [part(0), part(last)],
        points,
    )?;
    Ok(Made::of(shape, made))
}

/// Multiplies `count` numbers by others, or squares them where both factors are the same. Results are no wider than products.
pub(crate) fn multiply(
    device: &Arc<dyn Device>,
    pieces: Pieces,
    count: usize,
    r: Part<'_>,
    factors: [Part<'_>; 2],
) -> Result<(), Error> {
    products(device, pieces, count, r, factors, [None, None])
}

/// The same, with transforms of all pieces of a factor where they are there.
fn products(
    device: &Arc<dyn Device>,
    pieces: Pieces,
    count: usize,
    r: Part<'_>,
    factors: [Part<'_>; 2],
    known: [Option<Arc<Buffer>>; 2],
) -> Result<(), Error> {
    let factors = factors.map(|factor| factor.lowest(r.width()));
    let is_square = factors[0].limbs == factors[1].limbs && pieces.limbs[0] == pieces.limbs[1];
    for number in 0..count {
        let r = r.numbers_from(number);
        let made = |index: usize| match &known[index] {
            Some(known) => Ok(Arc::clone(known)),
            None => {
                let factor = factors[index].numbers_from(number);
                transformed(device, pieces, factor, pieces.limbs[index]).map(Arc::new)
            }
        };
        let first = made(0)?;
        let second = if is_square {
            Arc::clone(&first)
        } else {
            made(1)?
        };
        let products = Products {
            device,
            pieces,
            counts: [0, 1].map(|index| pieces.count(index, factors[index].width())),
            points: [&first, &second],
        };
        products.write(r)?;
    }
    Ok(())
}

/// The transforms of all pieces of one number, so many limbs each.
fn transformed(
    device: &Arc<dyn Device>,
    pieces: Pieces,
    factor: Part<'_>,
    limbs: usize,
) -> Result<Buffer, Error> {
    let count = factor.width().div_ceil(limbs);
    let buffer = device.allocate(pieces.plan.point_limbs() * count)?;
    for piece in 0..count {
        let end = factor.width().min((piece + 1) * limbs);
        let part = factor.at(piece * limbs..end);
        ntt::points_in(device, pieces.plan, 1, part, (&buffer, piece))?;
    }
    Ok(buffer)
}

/// The product of two numbers, of their pieces.
#[derive(Clone, Copy)]
struct Products<'a> {
    device: &'a Arc<dyn Device>,
    pieces: Pieces,
    counts: [usize; 2],
    points: [&'a Buffer; 2],
}

impl<'a> Products<'a> {
    /// Writes the product, cut or extended to the width of `r`.
    fn write(self, r: Part<'_>) -> Result<(), Error> {
        // A sum of products of pieces has a limb more than they have.
        let width = self.pieces.limbs.iter().sum::<usize>() + 1;
        // The sum of the terms so far, from a limb of `r` on: those below are written.
        let (mut sum, mut from) = (None, 0);
        for (&place, terms) in self.terms().range(..r.width()) {
            let mut start = place - from;
            if let Some(sum) = &sum {
                self.sum(r.at(from..place), &[Part::of(sum)])?;
            }
            from = place;
            for pairs in terms.chunks(TOGETHER) {
                let product = self.device.allocate(width.min(r.width() - place))?;
                ntt::multiply_points(self.device, self.pieces.plan, Part::of(&product), pairs)?;
                sum = Some(match &sum {
                    None => product,
                    Some(sum) => {
                        let both = self.device.allocate(product.limbs())?;
                        let rest = Part::of(sum).at(start..sum.limbs());
                        self.sum(Part::of(&both), &[Part::of(&product), rest])?;
                        both
                    }
                });
                start = 0;
            }
        }
        match &sum {
            Some(sum) => self.sum(r.at(from..r.width()), &[Part::of(sum)]),
            None => Ok(()),
        }
    }

    /// The points of the factors of all terms, by the limb at which these begin.
    fn terms(self) -> BTreeMap<usize, Vec<[Points<'a>; 2]>> {
        let mut terms = BTreeMap::<usize, Vec<_>>::new();
        for i in 0..self.counts[0] {
            for j in 0..self.counts[1] {
                let points = [Points::at(self.points[0], i), Points::at(self.points[1], j)];
                let place = i * self.pieces.limbs[0] + j * self.pieces.limbs[1];
                terms.entry(place).or_default().push(points);
            }
        }
        terms
    }

    /// The sum of two numbers, or one as it is, cut or extended to the result's width.
    fn sum(self, r: Part<'_>, operands: &[Part<'_>]) -> Result<(), Error> {
        let limbs: Vec<_> = operands.iter().map(|operand| operand.limbs).collect();
        let arguments = Arguments::of(&[r.limbs], &limbs);
        let buffers: Vec<_> = operands.iter().map(|operand| operand.buffer).collect();
        let buffers: Vec<_> = buffers.into_iter().chain([r.buffer]).collect();
        add(self.device, Operation::Add, 1, arguments, &buffers)
    }
}
