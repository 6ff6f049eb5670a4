//! A job on one device, by the launches that were chosen for it.

use crate::common::device::{Buffer, Device, Roots};
use crate::common::job::{Job, Wanted};
use crate::device::launches::{By, Launches, Multiplier};
use crate::device::ntt::Limbs;
use crate::device::part::Part;
use crate::device::transform::{Pieces, Transform};
use crate::device::{grid, montgomery, ntt, pieces, rns, sums};
use crate::values::made::Made;
use crate::values::node::{Node, Operands};
use crate::{BackEnd, Error};
use bigint_core::kernel::{EntryPoint, MatrixArgument};
use bigint_core::operation::Property;
use bigint_core::rns::{LIMBS, RADIX, RESIDUES};
use bigint_core::specialization::Specialization;
use bigint_core::{Arguments, Kernel, Launch, Shape};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Computes numbers `numbers` of a job on a device; nothing where the CPU must say why one of them
/// has no value.
pub(crate) fn compute(
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    numbers: Range<usize>,
    launches: &Launches,
) -> Result<Option<Made>, Error> {
    let job = job.of(launches.operation).with_count(numbers.len());
    let operands = &*taken(launches, operands);
    let by = |kernel, launch| {
        let by = (kernel, launch, launches.is_for_widths);
        by_kernel(device, job, operands, numbers.clone(), by)
    };
    let plan = match launches.by {
        By::Kernel(kernel, launch) => return by(kernel, launch),
        By::Residues(by_residues, kernel, launch) => {
            return match rns::compute(device, job, operands, numbers.clone(), by_residues)? {
                Some(made) => Ok(Some(made)),
                None => by(kernel, launch),
            };
        }
        By::Montgomery(by) => return montgomery::compute(device, job, operands, numbers, by),
        By::Transform(plan) => plan,
    };
    Ok(Some(match plan {
        Transform::Fft(plan) => grid::compute(device, job, operands, numbers, plan)?,
        Transform::Ntt(plan) => {
            let shape = job.shapes()[0];
            ntt::compute(device, shape, operands, numbers, plan, Limbs::Lowest)?
        }
        Transform::Pieces(Pieces { longest, .. }) => {
            pieces::compute(device, job, operands, numbers, longest)?
        }
    }))
}

/// The operands that the launches take.
fn taken<'a>(launches: &Launches, operands: Operands<'a>) -> Cow<'a, [Arc<Node>]> {
    match launches.operands {
        [] => Cow::Borrowed(operands),
        indices => indices.iter().map(|&i| Arc::clone(&operands[i])).collect(),
    }
}

/// Memory for a job's flags: a limb for each number, and the index of the first number whose flag
/// is set.
fn flags(device: &Arc<dyn Device>, job: Job) -> Result<[Option<Buffer>; 2], Error> {
    let has_all = job.wanted == Wanted::Flags;
    let has_first = job.wanted == Wanted::First || has_all && job.operation.is(Property::FlagsMore);
    let all = has_all.then(|| device.allocate(job.count()));
    let first = has_first.then(|| device.allocate_ones(2));
    Ok([all.transpose()?, first.transpose()?])
}

/// Computes by one launch.
fn by_kernel(
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    numbers: Range<usize>,
    (kernel, launch, is_for_widths): (&'static Kernel, Launch, bool),
) -> Result<Option<Made>, Error> {
    let started = Instant::now();
    let count = job.count();
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
    let [flags, first_flag] = flags(device, job)?;
    let address = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, Buffer::address);
    let operand =
        |(node, buffer): (&Arc<Node>, &Arc<Buffer>)| operand(node, buffer.address(), count);
    let result = |(shape, buffer): (&Shape, &Buffer)| {
        MatrixArgument::new(buffer.address(), shape.width, shape.strides())
    };
    let results: Vec<_> = job.shapes().iter().zip(&made).map(result).collect();
    let matrices: Vec<_> = operands.iter().zip(&given).map(operand).collect();
    let arguments = Arguments {
        carry: address(&flags),
        first_carry: address(&first_flag),
        roots: match kernel.takes_roots() {
            true => device.roots(Roots::Blocks)?,
            false => 0,
        },
        ..arguments(
            kernel,
            launch,
            &results,
            &matrices,
            address(&scratch),
            count,
        )
    };
    let buffers: Vec<_> = made
        .iter()
        .chain(given.iter().map(|buffer| &**buffer))
        .chain(&scratch)
        .chain(&flags)
        .chain(&first_flag)
        .collect();
    let specialization = specialization(kernel, &arguments, is_for_widths);
    sums::launch(device, kernel, specialization, launch, &arguments, &buffers)?;
    let first = first_flag.map(|first| first_number(device, &first));
    let first = first.transpose()?.flatten();
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
    let results = job.shapes().iter().copied().zip(made);
    let flags = flags.map(|flags| (job.flags_shape(), flags));
    Ok(Some(Made {
        buffers: results.chain(flags).collect(),
        first: first.map(|index| numbers.start + index),
    }))
}

/// Multiplies numbers anywhere in a device's memory, or squares them where both factors are the same. Results
/// are no wider than products.
pub(super) fn multiply(
    device: &Arc<dyn Device>,
    by: Multiplier,
    count: usize,
    r: Part<'_>,
    factors: [Part<'_>; 2],
) -> Result<(), Error> {
    let factors = factors.map(|factor| factor.lowest(r.width()));
    match by {
        Multiplier::Kernel(kernel, is_for_widths) => {
            let operands = kernel.operation.declaration().operands.len();
            run(
                device,
                (kernel, is_for_widths),
                count,
                (r, None),
                &factors[..operands],
            )
        }
        Multiplier::Transform(Transform::Fft(plan)) => {
            grid::multiply(device, plan, count, r, factors)
        }
        Multiplier::Transform(Transform::Ntt(plan)) => {
            ntt::multiply(device, plan, count, r, factors)
        }
        Multiplier::Transform(Transform::Pieces(Pieces { longest, .. })) => {
            pieces::multiply(device, longest, count, r, factors)
        }
    }
}

/// Launches a kernel on numbers anywhere in a device's memory; flags go to `flags`, a limb for each number.
pub(super) fn run(
    device: &Arc<dyn Device>,
    (kernel, is_for_widths): (&Kernel, bool),
    count: usize,
    (r, flags): (Part<'_>, Option<&Buffer>),
    operands: &[Part<'_>],
) -> Result<(), Error> {
    let widths: Vec<usize> = operands.iter().map(|operand| operand.width()).collect();
    let launch = kernel.launch_within(count, &widths, r.width(), device.shared_bytes());
    let scratch = match launch.scratch_width * launch.workers {
        0 => None,
        limbs => Some(device.allocate(limbs)?),
    };
    let matrices: Vec<_> = operands.iter().map(|operand| operand.limbs).collect();
    let address = |buffer: Option<&Buffer>| buffer.map_or(0, Buffer::address);
    let arguments = Arguments {
        carry: address(flags),
        roots: match kernel.takes_roots() {
            true => device.roots(Roots::Blocks)?,
            false => 0,
        },
        ..arguments(
            kernel,
            launch,
            &[r.limbs],
            &matrices,
            address(scratch.as_ref()),
            count,
        )
    };
    let buffers = operands.iter().map(|operand| operand.buffer);
    let buffers: Vec<_> = buffers
        .chain([r.buffer])
        .chain(flags)
        .chain(&scratch)
        .collect();
    let known = specialization(kernel, &arguments, is_for_widths);
    sums::launch(device, kernel, known, launch, &arguments, &buffers)
}

/// The index of the first number whose flag is set, as a kernel noted it.
fn first_number(device: &Arc<dyn Device>, first: &Buffer) -> Result<Option<usize>, Error> {
    let mut limbs = [0; 2];
    device.download(first, &mut limbs)?;
    let halves = limbs.iter().rev();
    let number = halves.fold(0, |n, &limb| n << 32 | u64::from(limb));
    Ok((number != u64::MAX).then_some(number as usize))
}

/// A kernel's arguments for so many numbers, without flags and roots.
fn arguments(
    kernel: &Kernel,
    launch: Launch,
    results: &[MatrixArgument],
    operands: &[MatrixArgument],
    scratch: u64,
    count: usize,
) -> Arguments {
    let strides = launch.scratch_strides(kernel.level);
    Arguments {
        scratch: MatrixArgument::new(scratch, launch.scratch_width, strides),
        count: count as u64,
        workers: launch.workers as u64,
        ..kernel.arguments(results, operands)
    }
}

/// A kernel's specialization to a launch, or to launches of any widths that are alike otherwise.
fn specialization(kernel: &Kernel, arguments: &Arguments, is_for_widths: bool) -> Specialization {
    let known = kernel.specialization(arguments);
    if is_for_widths {
        known
    } else {
        known.of_any_widths()
    }
}

/// The modules of the kernels that [`compute`] would launch for so many numbers of a job; none where
/// they are those of a transform.
pub(crate) fn modules(
    job: Job,
    operands: Operands<'_>,
    count: usize,
    launches: &Launches,
) -> Vec<(EntryPoint, Specialization)> {
    let (kernel, launch) = match launches.by {
        By::Kernel(kernel, launch) => (kernel, launch),
        By::Residues(residues, ..) => {
            let powers = residues.plan.form().entry;
            let entries = [RADIX, RESIDUES, powers, LIMBS];
            return entries
                .map(|entry| (entry, residues.specialization(entry)))
                .into();
        }
        By::Transform(_) | By::Montgomery(_) => return Vec::new(),
    };
    let job = job.of(launches.operation).with_count(count);
    let operands = &*taken(launches, operands);
    // Memory as it would be: an address like any other for each operand and result.
    let address = |index: usize| 256 * (1 + index as u64);
    let index = |node: &Arc<Node>| operands.iter().position(|other| Arc::ptr_eq(node, other));
    let matrices = operands.iter().map(|node| {
        let index = index(node).expect("it is one of them");
        operand(node, address(index), count)
    });
    let results = job.shapes().iter().enumerate();
    let results = results.map(|(i, shape)| {
        let address = address(operands.len() + i);
        MatrixArgument::new(address, shape.width, shape.strides())
    });
    let (results, matrices): (Vec<_>, Vec<_>) = (results.collect(), matrices.collect());
    let scratch = match launch.scratch_width * launch.workers {
        0 => 0,
        _ => address(MOST_MATRICES),
    };
    let arguments = arguments(kernel, launch, &results, &matrices, scratch, count);
    let known = specialization(kernel, &arguments, launches.is_for_widths);
    vec![(kernel.entry_point(), known)]
}

/// The most matrices of a launch: more than operands and results together.
const MOST_MATRICES: usize = 16;

/// The argument for an operand at an address: so many numbers, or one for all.
pub(crate) fn operand(node: &Node, address: u64, count: usize) -> MatrixArgument {
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
