//! Powers in residue number systems on tensor cores: [`bigint_core::rns`] has the kernels.

use crate::common::device::{Buffer, Device, Roots};
use crate::common::job::Job;
use crate::device::job::{resident, without_flags};
use crate::device::launches::Residues;
use crate::device::part::Part;
use crate::values::made::Made;
use crate::values::node::Operands;
use crate::{BackEnd, Error};
use bigint_core::kernel::TABLE_BUDGET;
use bigint_core::rns::RnsArguments;
use bigint_core::{LIMB_BITS, Limb};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Computes numbers `numbers` of a job's powers. Answers `None` where a modulus is zero or shares a factor
/// with the first base: a kernel has to compute them all.
pub(crate) fn compute(
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    numbers: Range<usize>,
    residues: Residues,
) -> Result<Option<Made>, Error> {
    let started = Instant::now();
    let Residues {
        plan,
        bases,
        scans,
        wave,
    } = residues;
    let (count, shape) = (job.count(), job.shapes()[0]);
    let given = resident(device, operands, &numbers)?;
    let made = device.allocate(shape.limbs())?;
    let exponent = operands[1].shape.width.div_ceil(bases as usize);
    let window = plan.window(exponent, scans, bases);
    let block = plan.numbers_of_block() as usize;
    let [.., table, _] = plan.scratch(block, 1, window);
    let wave = wave.unwrap_or(block);
    let waves = block * TABLE_BUDGET / (size_of::<Limb>() * table * wave);
    let at_once = wave * waves.max(1);
    let at_once = at_once.min(count);
    let moduli = if operands[2].shape.count == 1 {
        1
    } else {
        at_once
    };
    let limbs = plan.scratch(at_once, moduli, window);
    let scratch = limbs.map(|limbs| device.allocate(limbs));
    let scratch = scratch.into_iter().collect::<Result<Vec<_>, _>>()?;
    let refused = device.upload(&[0])?;
    let buffers: Vec<&Buffer> = [&made, &refused]
        .into_iter()
        .chain(&scratch)
        .chain(given.iter().map(|buffer| &**buffer))
        .collect();
    let table = device.roots(Roots::Rns(plan))?;
    let mut first = 0;
    while first < count {
        let here = at_once.min(count - first);
        let [a, e, m] = [0, 1, 2].map(|index| {
            let part = Part::of_operand(&operands[index], &given[index], count);
            part.numbers_from(first).limbs
        });
        let arguments = RnsArguments {
            r: Part::of_shape(&made, shape).numbers_from(first).limbs,
            a,
            e,
            m,
            table,
            scratch: [0, 1, 2, 3, 4].map(|i: usize| scratch[i].address()),
            refused: refused.address(),
            plan,
            count: here as u32,
            moduli: moduli.min(here) as u32,
            windows: (LIMB_BITS * exponent).div_ceil(window.bits as usize) as u64,
            window,
            scans: scans.into(),
        };
        for (entry, launch) in arguments.launches() {
            if entry == plan.form().entry && is_set(device, &refused)? {
                return Ok(None);
            }
            let known = residues.specialization(entry);
            device.launch(entry, known, launch, &arguments, &buffers)?;
        }
        first += here;
    }
    tracing::debug!(
        back_end = %BackEnd::Cuda(device.ordinal().into()),
        kernel = plan.form().entry.name,
        primes = plan.channels(),
        count,
        width = shape.width,
        elapsed = ?started.elapsed(),
        "launched"
    );
    without_flags(device, job, made).map(Some)
}

/// Whether a kernel has refused a modulus.
fn is_set(device: &Arc<dyn Device>, refused: &Buffer) -> Result<bool, Error> {
    let mut limbs = [0];
    device.download(refused, &mut limbs)?;
    Ok(limbs != [0])
}
