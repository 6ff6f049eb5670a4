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
use bigint_core::transform::grid::{BACK, FORTH, GridArguments, GridPlan, THREADS, TREE};
use bigint_core::{Algorithm, Arguments, Kernel, Launch, Layout, Level, Limb, Operation, Shape};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

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
    run(device, plan, shape.count, (r, from, 1), factors)?;
    Ok(Made::of(shape, made))
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
    let bytes = grid_point_bytes(&plan, operands);
    let limbs = plan.product_limbs();
    let (at_once, [points, sums, carries]) = in_rounds(bytes, count, |numbers| {
        Ok([
            device.allocate(bytes / size_of::<Limb>() * numbers)?,
            device.allocate(limbs * numbers)?,
            device.allocate(limbs * numbers)?,
        ])
    })?;
    let given = tables(device, plan)?;
    let inner = Shape::new(at_once, limbs, Layout::Contiguous).strides();
    let [sums_argument, carries_argument] =
        [&sums, &carries].map(|buffer| MatrixArgument::new(buffer.address(), limbs, inner));
    let buffers = [r.buffer, &points, &sums, &carries, a.buffer, b.buffer];
    let mut first = 0;
    while first < count {
        let here = at_once.min(count - first);
        let arguments = GridArguments {
            a: a.numbers_from(first).limbs,
            b: match operands {
                1 => MatrixArgument::default(),
                _ => b.numbers_from(first).limbs,
            },
            sums: sums_argument,
            carries: carries_argument,
            points: points.address(),
            count: here as u32,
            operands,
            wraps,
            ..given
        };
        columns(device, FORTH, &arguments, &buffers)?;
        let rows = [
            plan.row_blocks(operands) * here as u32,
            plan.row_threads(operands),
            plan.row_bytes(operands),
        ];
        launch(
            device,
            plan.rows_kernel(operands),
            rows,
            &arguments,
            &buffers,
        )?;
        columns(device, BACK, &arguments, &buffers)?;
        let result = r.numbers_from(first).limbs;
        let given = [sums_argument, carries_argument].map(|matrix| above(matrix, from));
        add_carries(device, here, result, given, &buffers)?;
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

/// Launches one of the kernels of columns, of all operands forth and of the product back.
pub(super) fn columns(
    device: &Arc<dyn Device>,
    entry: EntryPoint,
    arguments: &GridArguments,
    buffers: &[&Buffer],
) -> Result<(), Error> {
    let plan = arguments.plan;
    let operands = if entry == BACK { 1 } else { arguments.operands };
    let blocks = plan.column_blocks() * arguments.count * operands;
    let of_launch = [blocks, THREADS, plan.column_bytes()];
    launch(device, entry, of_launch, arguments, buffers)
}

/// Launches so many blocks, of so many threads and bytes of shared memory.
pub(super) fn launch(
    device: &Arc<dyn Device>,
    entry: EntryPoint,
    [grid, block, shared_bytes]: [u32; 3],
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
    Ok(device.launch(entry, Specialization::None, launch, arguments, buffers)?)
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
    add(device, Operation::Add, count, arguments, buffers)
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
    let kernel = Kernel::find(
        operation,
        Algorithm::CarryLookahead,
        Level::Warp,
        32,
        layout,
    );
    let kernel = kernel.expect("sums by warps are declared for both layouts");
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
