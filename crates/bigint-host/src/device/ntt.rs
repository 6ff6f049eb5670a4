//! Products and squares by transforms modulo primes on the whole device, in several launches:
//! [`bigint_core::transform::ntt`] has the kernels.

use crate::common::device::{Buffer, Device, Roots};
use crate::common::error::DeviceError;
use crate::device::grid::{above, add};
use crate::device::part::Part;
use crate::device::transform::{in_rounds, ntt_point_bytes};
use crate::values::made::Made;
use crate::values::node::{Kept, Node, Operands};
use crate::{BackEnd, Error};
use bigint_core::kernel::{EntryPoint, MatrixArgument};
use bigint_core::specialization::Specialization;
use bigint_core::transform::ntt::{
    BACK, FORTH, LIMB_BYTES, LIMBS, NttArguments, NttPlan, PRIMES, ROWS, Second, THREADS,
};
use bigint_core::{Arguments, Launch, Layout, Operation, Shape};
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
    let started = Instant::now();
    let count = shape.count;
    let (from, most, wraps) = match limbs {
        Limbs::Lowest => (0, shape.width, 0),
        Limbs::Middle { from } => (from, plan.length() as usize, 1),
    };
    let kept = kept(device, operands, &numbers, most, plan)?;
    let given = |index: usize| operands[index].resident(device, numbers.clone());
    // A kept factor is the second, and is not brought there.
    let (a, b) = match (&kept, operands) {
        (Some((0, _)), [_, _]) => (1, None),
        (None, [a, b]) if !Arc::ptr_eq(a, b) => (0, Some((1, given(1)?))),
        _ => (0, None),
    };
    let buffer = given(a)?;
    let part = |index: usize, buffer| {
        let node: &Node = &operands[index];
        Part::of_operand(node, buffer, count).lowest(most)
    };
    let a = part(a, &buffer);
    let second = match (&kept, &b) {
        (Some((index, kept)), _) => {
            let is_one = operands[*index].shape.count == 1;
            Factor::Kept(kept, if is_one { 1 } else { count })
        }
        (None, Some((index, buffer))) => Factor::Other(part(*index, buffer)),
        (None, None) => Factor::Same,
    };
    let made = device.allocate(shape.limbs())?;
    let r = Part::of_shape(&made, shape);
    run(device, plan, count, (r, from, wraps), (a, second))?;
    tracing::debug!(
        back_end = %BackEnd::Cuda(device.ordinal().into()),
        kernel = "mul_ntt_grid",
        length = plan.length(),
        count,
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
    let second = match a.limbs == b.limbs {
        true => Factor::Same,
        false => Factor::Other(b),
    };
    run(device, plan, count, (r, 0, 0), (a, second))
}

/// The second factor of products.
#[derive(Clone, Copy)]
enum Factor<'a> {
    Same,
    Other(Part<'a>),
    /// Kept transforms of so many numbers, one for all or one for each.
    Kept(&'a Buffer, usize),
}

/// Multiplies `count` numbers, round by round; the results are what the transform makes from limb `from` on.
fn run(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    count: usize,
    (r, from, wraps): (Part<'_>, usize, u32),
    (a, factor): (Part<'_>, Factor<'_>),
) -> Result<(), Error> {
    let (operands, second) = match factor {
        Factor::Same => (1, Second::Same),
        Factor::Other(_) => (2, Second::Other),
        Factor::Kept(..) => (1, Second::Kept),
    };
    let bytes = ntt_point_bytes(&plan, operands);
    let make = |numbers| Space::of(device, plan, operands, numbers);
    let (at_once, space) = in_rounds(bytes, count, make)?;
    let other = match factor {
        Factor::Same => a.buffer,
        Factor::Other(b) => b.buffer,
        Factor::Kept(kept, _) => kept,
    };
    let buffers: Vec<&Buffer> = [r.buffer, a.buffer, other]
        .into_iter()
        .chain(space.buffers())
        .collect();
    let mut first = 0;
    while first < count {
        let here = at_once.min(count - first);
        let arguments = NttArguments {
            a: a.numbers_from(first).limbs,
            count: here as u32,
            operands,
            second: second as u32,
            wraps,
            ..NttArguments::default()
        };
        let arguments = match factor {
            Factor::Same => arguments,
            Factor::Other(b) => NttArguments {
                b: b.numbers_from(first).limbs,
                ..arguments
            },
            Factor::Kept(kept, numbers) => {
                let before = if numbers == 1 { 0 } else { first };
                NttArguments {
                    kept: kept.address() + (before * ntt_point_bytes(&plan, 1)) as u64,
                    kept_count: numbers.min(here) as u32,
                    ..arguments
                }
            }
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
        operands: u32,
        numbers: usize,
    ) -> Result<Self, DeviceError> {
        let limbs = plan.length() as usize * numbers;
        Ok(Space {
            plan,
            points: device.allocate(plan.point_limbs() * operands as usize * numbers)?,
            sums: device.allocate(limbs)?,
            carries: device.allocate(limbs)?,
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
        let inner = Shape::new(count as usize, limbs, Layout::Contiguous).strides();
        let [sums, carries] = [&self.sums, &self.carries]
            .map(|buffer| MatrixArgument::new(buffer.address(), limbs, inner));
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
        for (entry, blocks) in [
            (FORTH, primes * plan.column_blocks() * operands),
            (ROWS, primes * plan.rows()),
            (BACK, primes * plan.column_blocks()),
            (LIMBS, plan.limb_blocks()),
        ] {
            launch(device, entry, blocks * count, arguments, buffers)?;
        }
        let given = [sums, carries].map(|matrix| above(matrix, from));
        let arguments = Arguments::of(&[result], &given);
        add(device, Operation::Add, count as usize, arguments, buffers)
    }
}

/// The operand of a product whose transform is kept, if there is one, with that transform of these
/// numbers, which is made if it is not there.
fn kept(
    device: &Arc<dyn Device>,
    operands: Operands<'_>,
    numbers: &Range<usize>,
    width: usize,
    plan: NttPlan,
) -> Result<Option<(usize, Arc<Buffer>)>, Error> {
    let [a, b] = operands else { return Ok(None) };
    if Arc::ptr_eq(a, b) {
        return Ok(None);
    }
    for (index, node) in [(1, b), (0, a)] {
        let Some(mut kept) = node.kept() else {
            continue;
        };
        let one = 0..1;
        let numbers = if node.shape.count == 1 { &one } else { numbers };
        let is_it = |kept: &&Kept| {
            (kept.plan, &kept.numbers) == (plan, numbers) && kept.buffer.is_of(device)
        };
        // What is cut may be cut differently another time.
        if node.shape.width > width {
            continue;
        }
        if let Some(found) = kept.iter().find(is_it) {
            return Ok(Some((index, Arc::clone(&found.buffer))));
        }
        let given = node.resident(device, numbers.clone())?;
        let buffer = Arc::new(device.allocate(plan.point_limbs() * numbers.len())?);
        let count = numbers.len() as u32;
        let arguments = NttArguments {
            a: Part::of_operand(node, &given, numbers.len()).limbs,
            points: buffer.address(),
            tables: device.roots(Roots::Ntt)?,
            plan,
            count,
            operands: 1,
            second: Second::Nothing as u32,
            ..NttArguments::default()
        };
        let buffers: [&Buffer; 2] = [&buffer, &given];
        for (entry, blocks) in [(FORTH, plan.column_blocks()), (ROWS, plan.rows())] {
            let blocks = PRIMES.len() as u32 * blocks * count;
            launch(device, entry, blocks, arguments, &buffers)?;
        }
        kept.push(Kept {
            plan,
            numbers: numbers.clone(),
            buffer: Arc::clone(&buffer),
        });
        return Ok(Some((index, buffer)));
    }
    Ok(None)
}

/// Launches one of the four kernels.
fn launch(
    device: &Arc<dyn Device>,
    entry: EntryPoint,
    blocks: u32,
    arguments: NttArguments,
    buffers: &[&Buffer],
) -> Result<(), Error> {
    let NttArguments { plan, operands, .. } = arguments;
    let launch = Launch {
        grid: blocks,
        block: THREADS,
        shared_bytes: match entry {
            LIMBS => LIMB_BYTES,
            ROWS => plan.row_bytes(operands),
            _ => plan.column_bytes(),
        },
        workers: blocks as usize,
        scratch_width: 0,
    };
    Ok(device.launch(entry, Specialization::None, launch, &arguments, buffers)?)
}
