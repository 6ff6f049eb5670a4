//! Products and squares that no transform holds, on a device: of pieces of their operands, each of which is transformed once
//! ([`ntt`]).
//!
//! With `a` the sum of `a_i A^i`, `b` that of `b_j B^j`, `A` and `B` powers of `2^32`, the product is the sum of `a_i b_j A^i B^j`,
//! each term by one way back. For 4321 and 21, by pieces of two digits, it is `21 21 + 43 21 100`, 441 + 90300.
//!
//! Cost: for two pieces of each operand four ways forth and four back, where three products (Karatsuba) have six and three, and wait
//! for the device to tell signs; and two passes over memory for each product of two parts.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::device::grid::add;
use crate::device::ntt::{self, Points};
use crate::device::part::Part;
use crate::device::transform::{Pieces, kept};
use crate::values::made::Made;
use crate::values::node::{Node, Operands, Transformed};
use bigint_core::{Arguments, Operation, Shape};
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
            widths: factors.map(Part::width),
            points: [&first, &second],
        };
        let all = [0, 1].map(|index| 0..pieces.count(index, products.widths[index]));
        if products.width(&all) == r.width() {
            products.multiply(r, all)?;
        } else {
            let whole = products.product(all)?;
            products.sum(r, &[Part::of(&whole)])?;
        }
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

/// The products of the pieces of two numbers.
#[derive(Clone, Copy)]
struct Products<'a> {
    device: &'a Arc<dyn Device>,
    pieces: Pieces,
    widths: [usize; 2],
    points: [&'a Buffer; 2],
}

impl Products<'_> {
    /// The limbs of these pieces of both factors.
    fn width(self, of: &[Range<usize>; 2]) -> usize {
        self.limbs(0, &of[0]) + self.limbs(1, &of[1])
    }

    /// The limbs of these pieces of a factor.
    fn limbs(self, index: usize, of: &Range<usize>) -> usize {
        let limbs = self.pieces.limbs[index];
        (of.end * limbs).min(self.widths[index]) - of.start * limbs
    }

    /// The product of these pieces of both factors, `r` as wide as both together.
    fn multiply(self, r: Part<'_>, of: [Range<usize>; 2]) -> Result<(), Error> {
        let counts = of.each_ref().map(Range::len);
        if counts == [1, 1] {
            let points = [0, 1].map(|index| Points::at(self.points[index], of[index].start));
            return ntt::multiply_points(self.device, self.pieces.plan, r, points);
        }
        let longer = usize::from(counts[0] < counts[1]);
        let Range { start, end } = of[longer];
        let middle = start + counts[longer].div_ceil(2);
        let part = |range: Range<usize>| {
            let mut of = of.clone();
            of[longer] = range;
            self.product(of)
        };
        let (low, high) = (part(start..middle)?, part(middle..end)?);
        let h = self.limbs(longer, &(start..middle));
        let ([r_low, r_high], [low, carried]) = (r.halves(h), Part::of(&low).halves(h));
        self.sum(r_low, &[low])?;
        self.sum(r_high, &[Part::of(&high), carried])
    }

    /// The same in memory of its own.
    fn product(self, of: [Range<usize>; 2]) -> Result<Buffer, Error> {
        let r = self.device.allocate(self.width(&of))?;
        self.multiply(Part::of(&r), of)?;
        Ok(r)
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
