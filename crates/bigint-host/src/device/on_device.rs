//! A job on one device: by which kernel, and its launch; products and squares that all of the
//! device takes go by [`grid`], [`ntt`] or [`pieces`].

use crate::common::device::{Buffer, Device, Roots};
use crate::common::job::{Job, Wanted};
use crate::device::transform::{Pieces, Transform};
use crate::device::{grid, ntt, pieces};
use crate::values::made::Made;
use crate::values::node::{Node, Operands};
use crate::{BackEnd, Error, Tuning};
use bigint_core::kernel::{EntryPoint, MatrixArgument};
use bigint_core::operation::Property;
use bigint_core::specialization::Specialization;
use bigint_core::{Arguments, Kernel, Launch, Layout, Operation, Shape};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Numbers `numbers` of a job, on a device; nothing where the CPU has to say why one of
/// them has no value.
pub(crate) fn compute(
    tuning: &Tuning,
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    numbers: Range<usize>,
) -> Result<Option<Made>, Error> {
    let (job, operands) = by_kernels(tuning, job, operands, numbers.len());
    let operands = &*operands;
    let start = numbers.start;
    let job = job.with_count(numbers.len());
    let count = job.count();
    if let Some(plan) = by_transforms(tuning, device.shared_bytes(), job, operands) {
        let made = match plan {
            Transform::Fft(plan) => grid::compute(device, job, operands, numbers, plan)?,
            Transform::Ntt(plan) => ntt::compute(device, job, operands, numbers, plan)?,
            Transform::Pieces(Pieces { longest, .. }) => {
                pieces::compute(device, job, operands, numbers, longest)?
            }
        };
        return Ok(Some(made));
    }
    let (kernel, launch) = chosen(tuning, device.shared_bytes(), job, operands)?;

    let started = Instant::now();
    let given = operands
        .iter()
        .map(|operand| operand.resident(device, numbers.clone()))
        .collect::<Result<Vec<_>, _>>()?;
    let made = job
        .shapes()
        .iter()
        .map(|shape| device.allocate(shape.limbs()))
        .collect::<Result<Vec<_>, _>>()?;
    let scratch = match launch.scratch_width * launch.workers {
        0 => None,
        limbs => Some(device.allocate(limbs)?),
    };
    let (flags, first_flag) = match job.wanted {
        Wanted::Nothing => (None, None),
        Wanted::Flags if job.operation.is(Property::FlagsMore) => (
            Some(device.allocate(count)?),
            Some(device.allocate_ones(2)?),
        ),
        Wanted::Flags => (Some(device.allocate(count)?), None),
        Wanted::First => (None, Some(device.allocate_ones(2)?)),
    };
    let address = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, Buffer::address);
    let operand =
        |(node, buffer): (&Arc<Node>, &Arc<Buffer>)| operand(node, buffer.address(), count);
    let result = |(shape, buffer): (&Shape, &Buffer)| {
        MatrixArgument::new(buffer.address(), shape.width, shape.strides())
    };
    let results: Vec<_> = job.shapes().iter().zip(&made).map(result).collect();
    let matrices: Vec<_> = operands.iter().zip(&given).map(operand).collect();
    let arguments = Arguments {
        scratch: MatrixArgument::new(
            address(&scratch),
            launch.scratch_width,
            launch.scratch_strides(kernel.level),
        ),
        carry: address(&flags),
        first_carry: address(&first_flag),
        roots: match kernel.takes_roots() {
            true => device.roots(Roots::Blocks)?,
            false => 0,
        },
        count: count as u64,
        workers: launch.workers as u64,
        ..kernel.arguments(&results, &matrices)
    };
    let buffers: Vec<_> = made
        .iter()
        .chain(given.iter().map(|buffer| &**buffer))
        .chain(&scratch)
        .chain(&flags)
        .chain(&first_flag)
        .collect();
    let specialization = kernel.specialization(&arguments);
    device.launch(
        kernel.entry_point(),
        specialization,
        launch,
        &arguments,
        &buffers,
    )?;
    let first = match &first_flag {
        None => None,
        Some(first) => {
            let mut limbs = [0; 2];
            device.download(first, &mut limbs)?;
            let halves = limbs.iter().rev();
            let number = halves.fold(0, |n, &limb| n << 32 | u64::from(limb));
            (number != u64::MAX).then_some(number as usize)
        }
    };
    if first.is_some() && job.operation.is(Property::FlagsMore) {
        return Ok(None);
    }
    tracing::debug!(
        back_end = %BackEnd::Cuda(device.ordinal().into()),
        kernel = kernel.name,
        count,
        width = job.shapes()[0].width,
        elapsed = ?started.elapsed(),
        "launched"
    );
    let shapes = job.shapes().iter().copied();
    let results = shapes.zip(made);
    let flags = flags.map(|flags| (job.flags_shape(), flags));
    Ok(Some(Made {
        buffers: results.chain(flags).collect(),
        first: first.map(|index| start + index),
    }))
}

/// The module of the kernel that [`compute`] would launch for so many of a job's numbers; none
/// where it takes several, or an error.
pub(crate) fn module(
    tuning: &Tuning,
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    count: usize,
) -> Option<(EntryPoint, Specialization)> {
    let (job, operands) = by_kernels(tuning, job, operands, count);
    let job = job.with_count(count);
    if by_transforms(tuning, device.shared_bytes(), job, &operands).is_some() {
        return None;
    }
    let (kernel, launch) = chosen(tuning, device.shared_bytes(), job, &operands).ok()?;
    // Memory as it would be: a place for each operand and result, at an address like any other.
    let address = |place: usize| 256 * (1 + place as u64);
    let place = |node: &Arc<Node>| operands.iter().position(|other| Arc::ptr_eq(node, other));
    let matrices = operands.iter().map(|node| {
        let place = place(node).expect("it is one of them");
        operand(node, address(place), count)
    });
    let results = job.shapes().iter().enumerate();
    let results = results.map(|(i, shape)| {
        let address = address(operands.len() + i);
        MatrixArgument::new(address, shape.width, shape.strides())
    });
    let (results, matrices): (Vec<_>, Vec<_>) = (results.collect(), matrices.collect());
    let has_scratch = launch.scratch_width * launch.workers > 0;
    let arguments = Arguments {
        scratch: MatrixArgument::new(
            if has_scratch { address(MOST_PLACES) } else { 0 },
            launch.scratch_width,
            launch.scratch_strides(kernel.level),
        ),
        count: count as u64,
        workers: launch.workers as u64,
        ..kernel.arguments(&results, &matrices)
    };
    Some((kernel.entry_point(), kernel.specialization(&arguments)))
}

/// More than operands and results.
const MOST_PLACES: usize = 16;

/// The same job as the operation whose kernels compute it, for so many numbers: a batch's product
/// by itself is its square, and which kernel computes it, where that is left open, is a matter of
/// widths and of how many there are.
fn by_kernels<'a>(
    tuning: &Tuning,
    job: Job,
    operands: Operands<'a>,
    count: usize,
) -> (Job, Cow<'a, [Arc<Node>]>) {
    let is_square = |a: &Node| tuning.squares(a.shape.width, count);
    match (job.operation, operands) {
        (Operation::Mul, [a, b])
            if Arc::ptr_eq(a, b) && is_square(a) && job.leaves_open(Operation::Square) =>
        {
            (job.of(Operation::Square), Cow::Borrowed(&operands[..1]))
        }
        (Operation::Square, [a]) if !is_square(a) && job.leaves_open(Operation::Mul) => {
            let both = vec![Arc::clone(a), Arc::clone(a)];
            (job.of(Operation::Mul), Cow::Owned(both))
        }
        _ => (job, Cow::Borrowed(operands)),
    }
}

/// How all of the device computes the job, if it takes all of it.
fn by_transforms(
    tuning: &Tuning,
    shared_bytes: u32,
    job: Job,
    operands: Operands<'_>,
) -> Option<Transform> {
    let of = |index: usize| operands.get(index).map_or(0, |operand| operand.shape.width);
    let is_kept = operands.iter().any(|operand| operand.kept().is_some());
    let plan = tuning.grid(job, of(0), of(operands.len() - 1), is_kept)?;
    plan.fits(shared_bytes).then_some(plan)
}

/// The kernel that computes the job by one launch.
fn chosen(
    tuning: &Tuning,
    shared_bytes: u32,
    job: Job,
    operands: Operands<'_>,
) -> Result<(&'static Kernel, Launch), Error> {
    // Kernels of the interleaved layout take any strides, so they also serve
    // operands of two layouts.
    let shapes = operands.iter().map(|operand| operand.shape);
    let layout = if shapes
        .clone()
        .chain(job.shapes().iter().copied())
        .all(|shape| shape.layout == Layout::Contiguous)
    {
        Layout::Contiguous
    } else {
        Layout::Interleaved
    };
    let widths: Vec<usize> = shapes.map(|shape| shape.width).collect();
    let r_shape = job.shapes()[0];
    let shape = Shape { layout, ..r_shape };
    let kernel = tuning.kernel(job.operation, &widths, shape, job.options)?;
    let kernel = fitting(kernel, shared_bytes);
    let launch = kernel.launch_within(job.count(), &widths, r_shape.width, shared_bytes);
    Ok((kernel, launch))
}

/// An operand of which so many numbers are at an address, or one for all.
fn operand(node: &Node, address: u64, count: usize) -> MatrixArgument {
    let is_one = node.shape.count == 1;
    let mut strides = Shape {
        count: if is_one { 1 } else { count },
        ..node.shape
    }
    .strides();
    if is_one && count > 1 {
        strides.number = 0;
    }
    MatrixArgument::new(address, node.shape.width, strides)
}

/// The kernel, or the widest like it whose blocks fit a device with so many bytes of shared
/// memory for each: fewer threads take a product in smaller pieces.
fn fitting(kernel: &'static Kernel, shared_bytes: u32) -> &'static Kernel {
    let fits = |kernel: &Kernel| {
        let needed = kernel.launch(1, &[1, 1], 2).shared_bytes;
        needed <= shared_bytes
    };
    let narrower = |kernel: &&'static Kernel| {
        let Kernel {
            operation,
            algorithm,
            level,
            lanes,
            layout,
            ..
        } = **kernel;
        Kernel::find(operation, algorithm, level, lanes / 2, layout)
    };
    let mut kernels = std::iter::successors(Some(kernel), narrower);
    kernels.find(|kernel| fits(kernel)).unwrap_or(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigint_core::{Algorithm, Level};

    #[test]
    fn a_device_with_little_shared_memory_takes_fewer_threads_for_a_product() {
        let kernel = |lanes| {
            let (algorithm, layout) = (Algorithm::Fft, Layout::Contiguous);
            Kernel::find(Operation::Mul, algorithm, Level::Block, lanes, layout).unwrap()
        };
        assert_eq!(fitting(kernel(1024), 99 << 10).lanes, 1024);
        assert_eq!(fitting(kernel(512), 64 << 10).lanes, 64);
    }
}
