//! Products and squares by transforms modulo primes on the whole device, in several launches:
//! [`bigint_core::transform::ntt`] has the kernels.

use crate::common::device::{Buffer, Device, Roots};
use crate::common::error::DeviceError;
use crate::device::grid::{above, add_carries};
use crate::device::part::Part;
use crate::device::transform::{in_rounds, kept, ntt_point_bytes};
use crate::values::made::Made;
use crate::values::node::{Node, Operands, Transformed};
use crate::{BackEnd, Error};
use bigint_core::kernel::MatrixArgument;
use bigint_core::specialization::Specialization;
use bigint_core::transform::ntt::{
    BACK, CHUNK, FORTH, LIMB_BYTES, LIMB_THREADS, LIMBS, NttArguments, NttPlan, PRIMES, ROWS,
    Second, THREADS,
};
use bigint_core::{Launch, Shape};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// The limbs of a product that are wanted.
#[derive(Clone, Copy)]
pub(crate) enum Limbs {
    /// The lowest limbs, for a plan that holds the product of the operands' relevant limbs.
    Lowest,
    /// The limbs from a limb on, for a plan that wraps ([`middle`](crate::device::middle)).
    Middle { from: usize },
}

/// Computes numbers `numbers` of products or squares, of which the result has these limbs.
pub(crate) fn compute(
    device: &Arc<dyn Device>,
    shape: Shape,
    operands: Operands<'_>,
    numbers: Range<usize>,
    plan: NttPlan,
    limbs: Limbs,
) -> Result<Made, Error> {
    let count = shape.count;
    let (from, most, wraps) = match limbs {
        Limbs::Lowest => (0, shape.width, 0),
        Limbs::Middle { from } => (from, plan.length() as usize, 1),
    };
    let is_square = matches!(operands, [_] | [_, _] if Arc::ptr_eq(&operands[0], &operands[operands.len() - 1]));
    // What is cut may be cut differently another time.
    let keeps = |node: &Node| !is_square && node.kept().is_some() && node.shape.width <= most;
    let kept = operands.iter().map(|node| {
        let kept = || transform_of(device, node, &numbers, plan);
        keeps(node).then(kept).transpose()
    });
    let kept = kept.collect::<Result<Vec<_>, _>>()?;
    // A factor whose transform is kept is not brought there.
    let given = operands.iter().zip(&kept).map(|(node, kept)| {
        let given = || node.resident(device, numbers.clone());
        kept.is_none().then(given).transpose()
    });
    let given = given.collect::<Result<Vec<_>, _>>()?;
    let parts = operands.iter().zip(&given).filter_map(|(node, buffer)| {
        let part = |buffer| Part::of_operand(node, buffer, count).lowest(most);
        buffer.as_deref().map(part)
    });
    let parts: Vec<Part<'_>> = parts.collect();
    let points = operands.iter().zip(&kept).filter_map(|(node, kept)| {
        let kept = kept.as_deref();
        kept.map(|buffer| Points::of(node, buffer, count))
    });
    let points: Vec<Points<'_>> = points.collect();
    let factors = match (&parts[..], &points[..]) {
        (&[], [_, _]) => Factors::Both(points.as_chunks().0),
        (&[a], &[x]) => Factors::Kept(a, x),
        (&[a, b], _) if !is_square => Factors::Product([a, b]),
        (parts, _) => Factors::Square(parts[0]),
    };
    made(device, plan, shape, (from, wraps), factors)
}

/// Computes numbers `numbers` of sums `a d + b c` of operands `a`, `c`, `b` and `d`, for a plan that holds them; the transforms
/// of `c` and `d` are kept where products should keep them.
pub(crate) fn sum_of_products(
    device: &Arc<dyn Device>,
    shape: Shape,
    operands: Operands<'_>,
    numbers: Range<usize>,
    plan: NttPlan,
) -> Result<Made, Error> {
    let [a, c, b, d] = [0, 1, 2, 3].map(|index: usize| &operands[index]);
    let kept = [d, c].map(|node| transform_of(device, node, &numbers, plan));
    let [of_d, of_c] = kept;
    let (of_d, of_c) = (of_d?, of_c?);
    let [given_a, given_b] = [a, b].map(|node| node.resident(device, numbers.clone()));
    let (given_a, given_b) = (given_a?, given_b?);
    let part = |node, buffer| Part::of_operand(node, buffer, shape.count).lowest(shape.width);
    let parts = [part(a, &given_a), part(b, &given_b)];
    let points = [
        Points::of(d, &of_d, shape.count),
        Points::of(c, &of_c, shape.count),
    ];
    made(device, plan, shape, (0, 0), Factors::Sum(parts, points))
}

/// New numbers of what factors make, from a limb on.
fn made(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    shape: Shape,
    (from, wraps): (usize, u32),
    factors: Factors<'_>,
) -> Result<Made, Error> {
    let started = Instant::now();
    let made = device.allocate(shape.limbs())?;
    let r = Part::of_shape(&made, shape);
    run(device, plan, shape.count, (r, from, wraps), factors)?;
    tracing::debug!(
        back_end = %BackEnd::Cuda(device.ordinal().into()),
        kernel = "mul_ntt_grid",
        length = plan.length(),
        count = shape.count,
        width = shape.width,
        elapsed = ?started.elapsed(),
        "launched"
    );
    Ok(Made::of(shape, made))
}

/// Multiplies `count` numbers by others, or squares them where both are the same, by a plan that holds them.
/// Results are no wider than products.
pub(crate) fn multiply(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    count: usize,
    r: Part<'_>,
    [a, b]: [Part<'_>; 2],
) -> Result<(), Error> {
    let [a, b] = [a, b].map(|factor| factor.lowest(r.width()));
    let factors = match a.limbs == b.limbs {
        true => Factors::Square(a),
        false => Factors::Product([a, b]),
    };
    run(device, plan, count, (r, 0, 0), factors)
}

/// Multiplies one number by another by the points of both, or adds two such products, which have a limb more.
pub(crate) fn multiply_points(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    r: Part<'_>,
    pairs: &[[Points<'_>; 2]],
) -> Result<(), Error> {
    run(device, plan, 1, (r, 0, 0), Factors::Both(pairs))
}

/// Computes limbs of products of `count` numbers in memory, from a limb on, for a plan that wraps.
pub(crate) fn wrapped(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    count: usize,
    (r, from): (Part<'_>, usize),
    factors: [Part<'_>; 2],
) -> Result<(), Error> {
    run(device, plan, count, (r, from, 1), Factors::Product(factors))
}

/// Multiplies `count` numbers by others of which the [`points`] are there. The results are products, or their limbs from a limb
/// on for a plan that wraps.
pub(crate) fn by_points(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    count: usize,
    (r, from): (Part<'_>, usize),
    (a, buffer): (Part<'_>, &Buffer),
) -> Result<(), Error> {
    let points = Points {
        numbers: count,
        ..Points::at(buffer, 0)
    };
    let factors = Factors::Kept(a, points);
    run(device, plan, count, (r, from, u32::from(from > 0)), factors)
}

/// Transforms of numbers: of one for all, or of one for each.
#[derive(Clone, Copy)]
pub(crate) struct Points<'a> {
    buffer: &'a Buffer,
    /// Whose are the first.
    start: usize,
    numbers: usize,
}

impl<'a> Points<'a> {
    fn of(node: &Node, buffer: &'a Buffer, count: usize) -> Self {
        let numbers = if node.shape.count == 1 { 1 } else { count };
        Points {
            numbers,
            ..Points::at(buffer, 0)
        }
    }

    /// That of number `start`.
    pub fn at(buffer: &'a Buffer, start: usize) -> Self {
        Points {
            buffer,
            start,
            numbers: 1,
        }
    }

    /// The address of those of number `first`.
    fn address(self, plan: NttPlan, first: usize) -> u64 {
        let before = self.start + if self.numbers == 1 { 0 } else { first };
        self.buffer.address() + (before * ntt_point_bytes(&plan, 1)) as u64
    }
}

/// What is multiplied.
#[derive(Clone, Copy)]
enum Factors<'a> {
    Square(Part<'a>),
    Product([Part<'a>; 2]),
    Kept(Part<'a>, Points<'a>),
    /// The points of one pair or two: the sum of their products.
    Both(&'a [[Points<'a>; 2]]),
    /// Either number by its points: the sum of both products.
    Sum([Part<'a>; 2], [Points<'a>; 2]),
}

impl<'a> Factors<'a> {
    /// The numbers that are transformed.
    fn parts(&self) -> &[Part<'a>] {
        match self {
            Factors::Square(a) | Factors::Kept(a, _) => std::slice::from_ref(a),
            Factors::Product(both) | Factors::Sum(both, _) => both,
            Factors::Both(_) => &[],
        }
    }

    /// Those whose transforms are there.
    fn points(&self) -> &[Points<'a>] {
        match self {
            Factors::Square(_) | Factors::Product(_) => &[],
            Factors::Kept(_, points) => std::slice::from_ref(points),
            Factors::Both(pairs) => pairs.as_flattened(),
            Factors::Sum(_, both) => both,
        }
    }

    fn second(&self) -> Second {
        match self {
            Factors::Square(_) => Second::Same,
            Factors::Product(_) => Second::Other,
            Factors::Kept(..) => Second::Kept,
            Factors::Both(_) => Second::Both,
            Factors::Sum(..) => Second::Sum,
        }
    }

    /// The arguments of `here` numbers from number `first` on, without what is the same for all rounds.
    fn arguments(&self, plan: NttPlan, first: usize, here: usize) -> NttArguments {
        let part = |index: usize| {
            let part = self.parts().get(index);
            part.map_or(MatrixArgument::default(), |part| {
                part.numbers_from(first).limbs
            })
        };
        let points = |index: usize| self.points().get(index);
        let address = |index| points(index).map_or(0, |points| points.address(plan, first));
        let numbers = |index| points(index).map_or(0, |points| points.numbers.min(here) as u32);
        NttArguments {
            a: part(0),
            b: part(1),
            kept: [0, 1, 2, 3].map(address),
            kept_counts: [0, 1, 2, 3].map(numbers),
            count: here as u32,
            operands: self.parts().len() as u32,
            second: self.second() as u32,
            ..NttArguments::default()
        }
    }
}

/// Multiplies `count` numbers, round by round; the results are what the transform makes from limb `from` on.
fn run(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    count: usize,
    (r, from, wraps): (Part<'_>, usize, u32),
    factors: Factors<'_>,
) -> Result<(), Error> {
    let rows = factors.parts().len().max(1) as u32;
    let make = |numbers| Space::of(device, plan, rows, numbers);
    let (at_once, space) = in_rounds(ntt_point_bytes(&plan, rows), count, make)?;
    let given = factors.parts().iter().map(|part| part.buffer);
    let kept = factors.points().iter().map(|points| points.buffer);
    let buffers = given.chain(kept).chain([r.buffer]).chain(space.buffers());
    let buffers: Vec<&Buffer> = buffers.collect();
    let mut first = 0;
    while first < count {
        let here = at_once.min(count - first);
        let arguments = NttArguments {
            wraps,
            ..factors.arguments(plan, first, here)
        };
        let result = r.numbers_from(first).limbs;
        space.run(device, arguments, (result, from), &buffers)?;
        first += here;
    }
    Ok(())
}

/// The memory of a round of products, beside operands and results.
struct Space {
    plan: NttPlan,
    points: Buffer,
    sums: Buffer,
    carries: Buffer,
}

impl Space {
    fn of(
        device: &Arc<dyn Device>,
        plan: NttPlan,
        rows: u32,
        numbers: usize,
    ) -> Result<Self, DeviceError> {
        let limbs = plan.length() as usize * numbers;
        Ok(Space {
            plan,
            points: device.allocate(plan.point_limbs() * rows as usize * numbers)?,
            sums: device.allocate(limbs)?,
            carries: device.allocate(limbs + CHUNK as usize * numbers)?,
        })
    }

    fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        [&self.points, &self.sums, &self.carries].into_iter()
    }

    /// Runs a round of launches, whose result is what the transform makes from limb `from` on;
    /// `arguments` lack what is the same for all rounds.
    fn run(
        &self,
        device: &Arc<dyn Device>,
        arguments: NttArguments,
        (result, from): (MatrixArgument, usize),
        buffers: &[&Buffer],
    ) -> Result<(), Error> {
        let NttArguments {
            count, operands, ..
        } = arguments;
        let plan = self.plan;
        let limbs = plan.length() as usize;
        // A sum of two products may be wider than the transform by what is carried.
        let over = match arguments.wraps == 0 && result.width as usize > limbs {
            true => CHUNK as usize,
            false => 0,
        };
        let rows = |buffer, width| Part::rows(buffer, count as usize, width).limbs;
        let sums = rows(&self.sums, limbs);
        let carries = rows(&self.carries, limbs + over);
        let arguments = NttArguments {
            sums,
            carries,
            points: self.points.address(),
            tables: device.roots(Roots::Ntt)?,
            scales: plan.scales(),
            plan,
            ..arguments
        };
        let primes = PRIMES.len() as u32;
        for (step, blocks) in [
            (Step::Forth, primes * plan.column_blocks() * operands),
            (Step::Rows, primes * plan.rows()),
            (Step::Back, primes * plan.column_blocks()),
            (Step::Limbs, plan.limb_blocks()),
        ] {
            if blocks > 0 {
                launch(device, step, blocks * count, arguments, buffers)?;
            }
        }
        let given = [sums, carries].map(|matrix| above(matrix, from));
        add_carries(device, count as usize, result, given, buffers)
    }
}

/// The transform of these of a batch's numbers, as [`kept`] has it.
fn transform_of(
    device: &Arc<dyn Device>,
    node: &Node,
    numbers: &Range<usize>,
    plan: NttPlan,
) -> Result<Arc<Buffer>, Error> {
    kept(device, node, numbers, Transformed::Ntt(plan), |numbers| {
        let given = node.resident(device, numbers.clone())?;
        let count = numbers.len();
        points(device, plan, count, Part::of_operand(node, &given, count))
    })
}

/// The transforms of `count` numbers.
pub(crate) fn points(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    count: usize,
    a: Part<'_>,
) -> Result<Buffer, Error> {
    let buffer = device.allocate(plan.point_limbs() * count)?;
    points_in(device, plan, count, a, (&buffer, 0))?;
    Ok(buffer)
}

/// The same in memory that is there, behind those of `first` numbers.
pub(crate) fn points_in(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    count: usize,
    a: Part<'_>,
    (buffer, first): (&Buffer, usize),
) -> Result<(), Error> {
    let count = count as u32;
    let arguments = NttArguments {
        a: a.limbs,
        points: Points::at(buffer, first).address(plan, 0),
        tables: device.roots(Roots::Ntt)?,
        plan,
        count,
        operands: 1,
        second: Second::Nothing as u32,
        ..NttArguments::default()
    };
    let buffers: [&Buffer; 2] = [buffer, a.buffer];
    for (step, blocks) in [
        (Step::Forth, plan.column_blocks()),
        (Step::Rows, plan.rows()),
    ] {
        let blocks = PRIMES.len() as u32 * blocks * count;
        launch(device, step, blocks, arguments, &buffers)?;
    }
    Ok(())
}

/// One of the four launches.
#[derive(Clone, Copy)]
enum Step {
    Forth,
    Rows,
    Back,
    Limbs,
}

/// Launches so many blocks.
fn launch(
    device: &Arc<dyn Device>,
    step: Step,
    blocks: u32,
    arguments: NttArguments,
    buffers: &[&Buffer],
) -> Result<(), Error> {
    let plan = arguments.plan;
    let rows = arguments.rows_of_number();
    let (columns, row) = (plan.column_kernel(), plan.row_kernel(rows));
    let (entry, block, shared_bytes) = match step {
        Step::Forth => (FORTH[columns], THREADS[columns], plan.column_bytes()),
        Step::Rows => (ROWS[row], THREADS[row], plan.row_bytes(rows)),
        Step::Back => (BACK[columns], THREADS[columns], plan.column_bytes()),
        Step::Limbs => (LIMBS, LIMB_THREADS, LIMB_BYTES),
    };
    let launch = Launch {
        grid: blocks,
        block,
        shared_bytes,
        workers: blocks as usize,
        scratch_width: 0,
    };
    Ok(device.launch(entry, Specialization::None, launch, &arguments, buffers)?)
}
