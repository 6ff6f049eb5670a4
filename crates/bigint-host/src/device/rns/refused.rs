//! Powers modulo numbers that share a factor with the first base, or are zero.
//!
//! They are a job of their own, for which is chosen what so few numbers take: where that is residue number systems
//! again, bases have changed places, and what both refuse goes by the kernel beside them. Time tells how many there are.

use super::powers;
use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::common::job::Job;
use crate::device::gather::copy;
use crate::device::job::{self, Choose};
use crate::device::launches::{By, Launches, Residues};
use crate::device::part::Part;
use crate::values::made::Made;
use crate::values::node::{Node, Operands, Share};
use bigint_core::rns::RnsPlan;
use bigint_core::{Limb, Shape};
use bigint_cpu::zeroed;
use std::ops::Range;
use std::sync::Arc;

/// Computes numbers `numbers` of a job's powers, as [`job::compute`].
pub(crate) fn compute(
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    numbers: Range<usize>,
    residues: Residues,
    choose: Choose<'_>,
) -> Result<Option<Made>, Error> {
    let others = |job, operands: Operands<'_>| -> Result<Launches, Error> {
        Ok(behind(residues.plan, choose(job, operands)?))
    };
    let Some((made, refused)) = powers(device, job, operands, numbers.clone(), residues)? else {
        let launches = others(job, operands)?;
        return job::compute(device, job, operands, numbers, &launches, choose);
    };
    if refused.is_empty() {
        return Ok(Some(made));
    }
    let (few, job) = (
        few(device, operands, &numbers, &refused)?,
        job.with_count(refused.len()),
    );
    let launches = others(job, &few)?;
    let of_few = job::compute(device, job, &few, 0..refused.len(), &launches, choose)?;
    let Some(of_few) = of_few else {
        return Ok(None);
    };
    put(device, &made, &of_few, &refused)?;
    let first = of_few
        .first
        .map(|first| numbers.start + refused[first] as usize);
    Ok(Some(Made { first, ..made }))
}

/// The launches of what a plan refuses.
fn behind(plan: RnsPlan, mut launches: Launches) -> Launches {
    if let By::Residues(residues, kernel, launch) = launches.by {
        launches.by = match plan.spare() {
            Some(plan) => By::Residues(Residues { plan, ..residues }, kernel, launch),
            None => By::Kernel(kernel, launch),
        };
    }
    launches
}

/// The indices of marks that are set.
pub(super) fn marked(device: &Arc<dyn Device>, marks: &Buffer) -> Result<Vec<Limb>, Error> {
    let mut limbs = zeroed::<Limb>(marks.limbs())?;
    device.download(marks, &mut limbs)?;
    let marked = (0..).zip(limbs).filter(|(_, mark)| *mark != 0);
    Ok(marked.map(|(index, _)| index).collect())
}

/// The numbers of these indices, and the operands that stand for all.
fn few(
    device: &Arc<dyn Device>,
    operands: Operands<'_>,
    numbers: &Range<usize>,
    indices: &[Limb],
) -> Result<Vec<Arc<Node>>, Error> {
    let (all, count) = (numbers.len(), indices.len());
    let indices = device.upload(indices)?;
    let of = |operand: &Arc<Node>| {
        if operand.shape.count == 1 {
            return Ok(Arc::clone(operand));
        }
        let given = operand.resident(device, numbers.clone())?;
        let shape = Shape {
            count,
            ..operand.shape
        };
        let buffer = device.allocate(shape.limbs())?;
        let part = Part::of_operand(operand, &given, all);
        let r = Part::of_shape(&buffer, shape);
        copy(device, r, (part, all), count, Some(&indices))?;
        let share = Share {
            numbers: 0..count,
            buffer: Arc::new(buffer),
        };
        let node = Node::on_devices(&operand.engine, shape, vec![share], None);
        Ok(Arc::new(node))
    };
    operands.iter().map(of).collect()
}

/// Puts the results of few numbers in the places of these indices.
fn put(
    device: &Arc<dyn Device>,
    made: &Made,
    of_few: &Made,
    indices: &[Limb],
) -> Result<(), Error> {
    let few = indices.len();
    for ((shape, buffer), (few_shape, few_buffer)) in made.buffers.iter().zip(&of_few.buffers) {
        // All behind one another, and then in their order.
        let count = shape.count;
        let both = Shape {
            count: count + few,
            ..*shape
        };
        let behind = device.allocate(both.limbs())?;
        let behind = Part::of_shape(&behind, both);
        let [r, x] = [(buffer, shape), (few_buffer, few_shape)]
            .map(|(buffer, shape)| Part::of_shape(buffer, *shape));
        copy(device, behind, (r, count), count, None)?;
        copy(device, behind.numbers_from(count), (x, few), few, None)?;
        let mut order: Vec<Limb> = (0..count as Limb).collect();
        for (i, index) in (count as Limb..).zip(indices) {
            order[*index as usize] = i;
        }
        let order = device.upload(&order)?;
        copy(device, r, (behind, both.count), count, Some(&order))?;
    }
    Ok(())
}
