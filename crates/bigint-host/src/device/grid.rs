//! Products and squares on the whole device, in several launches:
//! [`bigint_core::transform::grid`] has the kernels.

use crate::common::device::{Buffer, Device, Roots};
use crate::device::part::Part;
use crate::device::sums;
use crate::device::transform::{grid_point_bytes, in_rounds};
use crate::values::made::Made;
use crate::values::node::Operands;
use crate::{BackEnd, Error};
use bigint_core::kernel::{EntryPoint, MatrixArgument};
use bigint_core::specialization::Specialization;
use bigint_core::transform::grid::{
    GridArguments, GridPlan, Norms, SUMS, SUMS_AGAIN, SumArguments, TREE,
};
use bigint_core::{Algorithm, Arguments, Kernel, Launch, Layout, Level, Limb, Operation, Shape};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// What puts numbers together.
const SUM: Operation = Operation::Add;

/// The bytes of points of all numbers together from which on kernels are compiled for their plan alone.
const OWN_BYTES: usize = 512 << 20;

/// Computes limbs of products of numbers `numbers`, from a limb on, for a plan that wraps
/// ([`middle`](crate::device::middle)).
pub(crate) fn middle(
    device: &Arc<dyn Device>,
    shape: Shape,
    operands: Operands<'_>,
    numbers: Range<usize>,
    plan: GridPlan,
    from: usize,
) -> Result<Made, Error> {
    let given = operands.iter();
    let given = given.map(|node| node.resident(device, numbers.clone()));
    let given = given.collect::<Result<Vec<_>, _>>()?;
    let part = |index: usize| Part::of_operand(&operands[index], &given[index], shape.count);
    let factors = [part(0), part(operands.len() - 1)];
    let made = device.allocate(shape.limbs())?;
    let r = Part::of_shape(&made, shape);
    wrapped(device, plan, shape.count, (r, from), factors)?;
    Ok(Made::of(shape, made))
}

/// The same of `count` numbers in memory, for results that are there.
pub(crate) fn wrapped(
    device: &Arc<dyn Device>,
    plan: GridPlan,
    count: usize,
    (r, from): (Part<'_>, usize),
    factors: [Part<'_>; 2],
) -> Result<(), Error> {
    run(device, plan, count, (r, from, 1), factors)
}

/// Multiplies `count` numbers by others, or squares them where both are the same, by a plan that holds them.
/// Results are no wider than products.
pub(crate) fn multiply(
    device: &Arc<dyn Device>,
    plan: GridPlan,
    count: usize,
    r: Part<'_>,
    factors: [Part<'_>; 2],
) -> Result<(), Error> {
    run(device, plan, count, (r, 0, 0), factors)
}

/// Multiplies `count` numbers, round by round; the results are what the transform makes from limb `from` on.
fn run(
    device: &Arc<dyn Device>,
    plan: GridPlan,
    count: usize,
    (r, from, wraps): (Part<'_>, usize, u32),
    [a, b]: [Part<'_>; 2],
) -> Result<(), Error> {
    let started = Instant::now();
    let operands = if a.limbs == b.limbs { 1 } else { 2 };
    // The plan that multiplies again where this one is not exact.
    let safe = match wraps == 0 && !plan.is_exact() {
        true => GridPlan::of(a.width().max(b.width())),
        false => None,
    };
    let other = safe.unwrap_or(plan);
    let most = |of: fn(&GridPlan) -> usize| of(&plan).max(of(&other));
    let bytes = grid_point_bytes(&plan, operands).max(grid_point_bytes(&other, operands));
    let widths = [most(GridPlan::chunk_limbs), most(GridPlan::carry_limbs)];
    let sums = 2 * (operands * plan.norms()) as usize;
    let (at_once, [points, chunks, carries, norms]) = in_rounds(bytes, count, |numbers| {
        Ok([
            device.allocate(bytes / size_of::<Limb>() * numbers)?,
            device.allocate(widths[0] * numbers)?,
            device.allocate(widths[1] * numbers)?,
            device.allocate(if safe.is_some() {
                sums * numbers + 1 + numbers
            } else {
                1
            })?,
        ])
    })?;
    let terms = terms([&chunks, &carries], widths, at_once);
    let marks = norms.address() + (size_of::<Limb>() * sums * at_once) as u64;
    let check = safe.map(|_| Norms {
        sums: norms.address(),
        marks,
        greatest: plan.greatest_norms(),
    });
    let again = check.map(|check| Norms { sums: 0, ..check });
    let first_plan = (plan, check.unwrap_or_default(), false);
    let plans = [
        Some(first_plan),
        safe.zip(again).map(|(plan, norms)| (plan, norms, true)),
    ];
    let buffers = [
        r.buffer, &points, &chunks, &carries, &norms, a.buffer, b.buffer,
    ];
    let is_own = count * bytes >= OWN_BYTES;
    let mut first = 0;
    while first < count {
        let here = at_once.min(count - first);
        for (plan, norms, is_again) in plans.into_iter().flatten() {
            let arguments = GridArguments {
                a: a.numbers_from(first).limbs,
                b: match operands {
                    1 => MatrixArgument::default(),
                    _ => b.numbers_from(first).limbs,
                },
                chunks: terms[0],
                carries: terms[1],
                points: points.address(),
                count: here as u32,
                operands,
                norms,
                wraps,
                ..tables(device, plan)?
            };
            let known = match is_own && !is_again {
                true => arguments.specialization(),
                false => Specialization::None,
            };
            for one in plan.launches(operands, here as u32, is_again) {
                launch_known(device, one, known, &arguments, &buffers)?;
            }
        }
        let arguments = SumArguments {
            sum: Arguments::of(&[r.numbers_from(first).limbs], &terms),
            cuts: [plan.cut(), other.cut()],
            marks: safe.map_or(0, |_| marks),
            from: from as u32,
        };
        put_together(device, here, arguments, &buffers)?;
        first += here;
    }
    tracing::debug!(
        back_end = %BackEnd::Cuda(device.ordinal().into()),
        kernel = "mul_fft_grid",
        digits = plan.length(),
        digit_bits = plan.digit_bits,
        count,
        width = r.width(),
        elapsed = ?started.elapsed(),
        "launched"
    );
    Ok(())
}

/// Arguments of a plan with its tables.
pub(super) fn tables(device: &Arc<dyn Device>, plan: GridPlan) -> Result<GridArguments, Error> {
    let roots = device.roots(Roots::Grid(plan))?;
    let table = |before: usize| roots + (before * size_of::<[f64; 2]>()) as u64;
    Ok(GridArguments {
        tree: table(0),
        columns: table(TREE),
        rows: table(TREE + plan.rows() as usize),
        scale: 4.0 / f64::from(plan.length()),
        plan,
        ..GridArguments::default()
    })
}

/// The chunks and carries of `count` numbers, which have so many limbs of either.
pub(super) fn terms(
    buffers: [&Buffer; 2],
    widths: [usize; 2],
    count: usize,
) -> [MatrixArgument; 2] {
    [0, 1].map(|which: usize| {
        let strides = Shape::new(count, widths[which], Layout::Contiguous).strides();
        MatrixArgument::new(buffers[which].address(), widths[which], strides)
    })
}

/// Launches so many blocks, of so many threads and bytes of shared memory.
pub(super) fn launch(
    device: &Arc<dyn Device>,
    of: (EntryPoint, [u32; 3]),
    arguments: &GridArguments,
    buffers: &[&Buffer],
) -> Result<(), Error> {
    launch_known(device, of, Specialization::None, arguments, buffers)
}

/// The same of a kernel that is specialised to what is known.
fn launch_known(
    device: &Arc<dyn Device>,
    (entry, [grid, block, shared_bytes]): (EntryPoint, [u32; 3]),
    known: Specialization,
    arguments: &GridArguments,
    buffers: &[&Buffer],
) -> Result<(), Error> {
    let launch = Launch {
        grid,
        block,
        shared_bytes,
        workers: grid as usize,
        scratch_width: 0,
    };
    Ok(device.launch(entry, known, launch, arguments, buffers)?)
}

/// Launches what makes `count` products of chunks and carries.
pub(super) fn put_together(
    device: &Arc<dyn Device>,
    count: usize,
    arguments: SumArguments,
    buffers: &[&Buffer],
) -> Result<(), Error> {
    let sum = arguments.sum;
    let layout = match sum.r.limb_stride {
        ..=1 => Layout::Contiguous,
        _ => Layout::Interleaved,
    };
    let width = sum.r.width as usize;
    let launch = by_lookahead(SUM, layout).launch(count, &[width, width], width);
    let sum = Arguments {
        count: count as u64,
        workers: launch.workers as u64,
        ..sum
    };
    let entries = if arguments.marks == 0 {
        SUMS
    } else {
        SUMS_AGAIN
    };
    let entry = entries[usize::from(layout == Layout::Interleaved)];
    let run = |launch, sum: &Arguments, buffers: &[&Buffer]| {
        let arguments = SumArguments {
            sum: *sum,
            ..arguments
        };
        device.launch(entry, Specialization::None, launch, &arguments, buffers)
    };
    sums::by_lookahead(device, launch, &sum, buffers, run)
}

/// The kernel of sums or differences in which warps take stretches.
fn by_lookahead(operation: Operation, layout: Layout) -> &'static Kernel {
    let algorithm = Algorithm::CarryLookahead;
    let kernel = Kernel::find(operation, algorithm, Level::Warp, 32, layout);
    kernel.expect("sums by warps are declared for both layouts")
}

/// The limbs of numbers from limb `from` on.
pub(crate) fn above(matrix: MatrixArgument, from: usize) -> MatrixArgument {
    MatrixArgument {
        limbs: matrix.limbs + (size_of::<Limb>() * from) as u64,
        width: matrix.width - from as u64,
        ..matrix
    }
}

/// Launches the sums of what transforms leave of `count` numbers each: limbs, and what they carry.
pub(crate) fn add_carries(
    device: &Arc<dyn Device>,
    count: usize,
    result: MatrixArgument,
    given: [MatrixArgument; 2],
    buffers: &[&Buffer],
) -> Result<(), Error> {
    let arguments = Arguments::of(&[result], &given);
    add(device, SUM, count, arguments, buffers)
}

/// Launches sums or differences of `count` numbers each, cut to the results' width; `arguments` say
/// the rest.
pub(crate) fn add(
    device: &Arc<dyn Device>,
    operation: Operation,
    count: usize,
    arguments: Arguments,
    buffers: &[&Buffer],
) -> Result<(), Error> {
    let Arguments { r, a, b, .. } = arguments;
    let layout = match [r, a, b].iter().all(|matrix| matrix.limb_stride <= 1) {
        true => Layout::Contiguous,
        false => Layout::Interleaved,
    };
    let kernel = by_lookahead(operation, layout);
    let widths = [a, b].map(|operand| operand.width as usize);
    let launch = kernel.launch(count, &widths, r.width as usize);
    let arguments = Arguments {
        count: count as u64,
        workers: launch.workers as u64,
        ..arguments
    };
    let specialization = kernel.specialization(&arguments);
    sums::launch(device, kernel, specialization, launch, &arguments, buffers)
}
