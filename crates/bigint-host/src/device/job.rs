//! A job on one device, by the launches that were chosen for it.

use crate::common::device::{Buffer, Device, Roots};
use crate::common::job::{Job, Wanted};
use crate::device::launches::{By, Launches, Multiplier};
use crate::device::ntt::Limbs;
use crate::device::part::{Part, operand};
use crate::device::transform::Transform;
use crate::device::{grid, montgomery, ntt, pieces, rns, sums};
use crate::values::made::Made;
use crate::values::node::{Node, Operands};
use crate::{BackEnd, Error};
use bigint_core::kernel::{EntryPoint, MatrixArgument};
use bigint_core::operation::Property;
use bigint_core::rns::{BASE, LIMBS, RADIX, RESIDUES, TABLE};
use bigint_core::specialization::Specialization;
use bigint_core::{Arguments, Kernel, Launch, Limb};
use bigint_cpu::zeroed;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Chooses the launches of a job on these operands.
pub(crate) type Choose<'a> = &'a dyn Fn(Job, Operands<'_>) -> Result<Launches, Error>;

/// Computes numbers `numbers` of a job on a device; nothing where the CPU must say why one of them
/// has no value. What the launches cannot compute is chosen anew.
pub(crate) fn compute(
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    numbers: Range<usize>,
    launches: &Launches,
    choose: Choose<'_>,
) -> Result<Option<Made>, Error> {
    let job = job.of(launches.operation).with_count(numbers.len());
    let operands = &*taken(launches, operands);
    let by = |kernel, launch| {
        let by = (kernel, launch, launches.is_for_widths);
        by_kernel(device, job, operands, numbers.clone(), by)
    };
    let made = match launches.by {
        By::Kernel(kernel, launch) => return by(kernel, launch),
        By::Residues(residues, ..) => {
            return rns::compute(device, job, operands, numbers, residues, choose);
        }
        By::Montgomery(by) => return montgomery::compute(device, job, operands, numbers, by),
        By::Transform(Transform::Ntt(plan)) => {
            let shape = job.shapes()[0];
            ntt::compute(device, shape, operands, numbers, plan, Limbs::Lowest)?
        }
        By::Transform(Transform::Pieces(pieces)) => {
            pieces::compute(device, job.shapes()[0], operands, numbers, pieces)?
        }
        By::Transform(plan) => by_transform(device, job, operands, numbers, plan)?,
    };
    Ok(Some(made))
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

/// The memory that has these numbers of each operand.
pub(super) fn resident(
    device: &Arc<dyn Device>,
    operands: Operands<'_>,
    numbers: &Range<usize>,
) -> Result<Vec<Arc<Buffer>>, Error> {
    let given = operands.iter();
    given
        .map(|operand| operand.resident(device, numbers.clone()))
        .collect()
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
    let given = resident(device, operands, &numbers)?;
    let made = job
        .shapes()
        .iter()
        .map(|shape| device.allocate(shape.limbs()))
        .collect::<Result<Vec<_>, _>>()?;
    let [flags, first_flag] = flags(device, job)?;
    let results = job.shapes().iter().zip(&made);
    let results: Vec<_> = results
        .map(|(shape, buffer)| Part::of_shape(buffer, *shape))
        .collect();
    let parts = operands.iter().zip(&given);
    let parts: Vec<_> = parts
        .map(|(node, buffer)| Part::of_operand(node, buffer, count))
        .collect();
    let flag_buffers = [flags.as_ref(), first_flag.as_ref()];
    let by = (kernel, launch, is_for_widths);
    launch_on(device, by, count, &results, &parts, flag_buffers)?;
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

/// Computes products or squares by a transform that keeps nothing of its operands.
fn by_transform(
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    numbers: Range<usize>,
    plan: Transform,
) -> Result<Made, Error> {
    let (count, shape) = (job.count(), job.shapes()[0]);
    let given = resident(device, operands, &numbers)?;
    let made = device.allocate(shape.limbs())?;
    let part = |index: usize| Part::of_operand(&operands[index], &given[index], count);
    // A batch by itself is a square, as one operand is.
    let factors = match operands {
        [a, b] if !Arc::ptr_eq(a, b) => [part(0), part(1)],
        _ => [part(0), part(0)],
    };
    let by = Multiplier::Transform(plan);
    multiply(device, by, count, Part::of_shape(&made, shape), factors)?;
    Ok(Made::of(shape, made))
}

/// A result modulo numbers, and flags where they are wanted: no modulus is zero.
pub(super) fn without_flags(
    device: &Arc<dyn Device>,
    job: Job,
    made: Buffer,
) -> Result<Made, Error> {
    let mut made = Made::of(job.shapes()[0], made);
    if job.wanted == Wanted::Flags {
        let flags = device.upload(&zeroed::<Limb>(job.count())?)?;
        made.buffers.push((job.flags_shape(), flags));
    }
    Ok(made)
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
        Multiplier::Transform(Transform::Pieces(pieces)) => {
            pieces::multiply(device, pieces, count, r, factors)
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
    let by = (kernel, launch, is_for_widths);
    launch_on(device, by, count, &[r], operands, [flags, None])
}

/// Launches a kernel, with scratch for its workers. There may be room for a flag of each number, and for the index of
/// the first that is set.
fn launch_on(
    device: &Arc<dyn Device>,
    (kernel, launch, is_for_widths): (&Kernel, Launch, bool),
    count: usize,
    results: &[Part<'_>],
    operands: &[Part<'_>],
    [flags, first_flag]: [Option<&Buffer>; 2],
) -> Result<(), Error> {
    let scratch = match launch.scratch_width * launch.workers {
        0 => None,
        limbs => Some(device.allocate(limbs)?),
    };
    let address = |buffer: Option<&Buffer>| buffer.map_or(0, Buffer::address);
    let [results_at, operands_at] =
        [results, operands].map(|parts| parts.iter().map(|part| part.limbs).collect::<Vec<_>>());
    let arguments = Arguments {
        carry: address(flags),
        first_carry: address(first_flag),
        roots: match kernel.takes_roots() {
            true => device.roots(Roots::Blocks)?,
            false => 0,
        },
        ..arguments(
            kernel,
            launch,
            &results_at,
            &operands_at,
            address(scratch.as_ref()),
            count,
        )
    };
    let buffers = results.iter().chain(operands).map(|part| part.buffer);
    let buffers: Vec<_> = buffers
        .chain(&scratch)
        .chain(flags)
        .chain(first_flag)
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
            let first = if residues.bases == TABLE { BASE } else { RADIX };
            let entries = [first, RESIDUES, powers, LIMBS];
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
