//! Products and squares by transforms modulo primes on the whole device, in several launches:
//! [`bigint_core::transform::ntt`] has the kernels.

use crate::common::device::{Buffer, Device, Roots};
use crate::device::grid::{add, operand};
use crate::device::transform::{ntt_point_bytes, numbers_at_a_time};
use crate::values::made::Made;
use crate::values::node::{Kept, Operands};
use crate::{BackEnd, Error};
use bigint_core::kernel::{EntryPoint, MatrixArgument};
use bigint_core::specialization::Specialization;
use bigint_core::transform::ntt::{
    BACK, FORTH, LIMB_BYTES, LIMBS, NttArguments, NttPlan, PRIMES, ROWS, Second, THREADS,
};
use bigint_core::{Arguments, Launch, Layout, Limb, Operation, Shape};
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
    // A kept factor is the second.
    let turned;
    let (operands, transformed, second) = match operands {
        [a, b] if Arc::ptr_eq(a, b) => (operands, 1, Second::Same),
        [a, b] => match kept {
            Some((0, _)) => {
                turned = [Arc::clone(b), Arc::clone(a)];
                (&turned[..], 1, Second::Kept)
            }
            Some(_) => (operands, 1, Second::Kept),
            None => (operands, 2, Second::Other),
        },
        _ => (operands, 1, Second::Same),
    };
    let given = operands[..transformed as usize]
        .iter()
        .map(|operand| operand.resident(device, numbers.clone()))
        .collect::<Result<Vec<_>, _>>()?;
    let at_once = numbers_at_a_time(ntt_point_bytes(&plan, transformed)).min(count);
    let made = device.allocate(shape.limbs())?;
    let space = Space::of(device, plan, transformed, at_once)?;
    let buffers: Vec<&Buffer> = [&made]
        .into_iter()
        .chain(space.buffers())
        .chain(given.iter().map(|buffer| &**buffer))
        .chain(kept.iter().map(|(_, buffer)| &**buffer))
        .collect();
    let mut first = 0;
    while first < count {
        let here = at_once.min(count - first);
        let operand = |index: usize| operand(&operands[index], &given[index], count, first, most);
        let arguments = NttArguments {
            a: operand(0),
            b: match transformed {
                1 => MatrixArgument::default(),
                _ => operand(1),
            },
            count: here as u32,
            operands: transformed,
            second: second as u32,
            wraps,
            ..match (&kept, operands) {
                (Some((_, kept)), [_, b]) => {
                    let numbers = b.shape.count.min(here);
                    let before = if b.shape.count == 1 { 0 } else { first };
                    NttArguments {
                        kept: kept.address() + (before * ntt_point_bytes(&plan, 1)) as u64,
                        kept_count: numbers as u32,
                        ..NttArguments::default()
                    }
                }
                _ => NttArguments::default(),
            }
        };
        let strides = shape.strides();
        let address = made.address() + (size_of::<Limb>() * first * strides.number) as u64;
        let result = MatrixArgument::new(address, shape.width, strides);
        space.run(device, arguments, (result, from), &buffers)?;
        first += here;
    }
    tracing::debug!(
        back_end = %BackEnd::Cuda(device.ordinal().into()),
        kernel = "mul_ntt_grid",
        length = plan.length(),
        count,
        width = shape.width,
        elapsed = ?started.elapsed(),
        "launched"
    );
    Ok(Made {
        buffers: vec![(shape, made)],
        first: None,
    })
}

/// Computes one product, or the square of two equal operands. The result is no wider than both
/// together.
pub(crate) fn multiply(
    device: &Arc<dyn Device>,
    plan: NttPlan,
    result: MatrixArgument,
    [a, b]: [MatrixArgument; 2],
    buffers: &[&Buffer],
) -> Result<(), Error> {
    let arguments = match a == b {
        true => NttArguments {
            a,
            operands: 1,
            second: Second::Same as u32,
            ..NttArguments::default()
        },
        false => NttArguments {
            a,
            b,
            operands: 2,
            second: Second::Other as u32,
            ..NttArguments::default()
        },
    };
    let space = Space::of(device, plan, arguments.operands, 1)?;
    let buffers: Vec<&Buffer> = space.buffers().chain(buffers.iter().copied()).collect();
    let arguments = NttArguments {
        count: 1,
        ..arguments
    };
    space.run(device, arguments, (result, 0), &buffers)
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
    ) -> Result<Self, Error> {
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
        let above = |matrix: MatrixArgument| MatrixArgument {
            limbs: matrix.limbs + (size_of::<Limb>() * from) as u64,
            width: matrix.width - from as u64,
            ..matrix
        };
        let arguments = Arguments::of(&[result], &[above(sums), above(carries)]);
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
            a: operand(node, &given, numbers.len(), 0, width),
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
