//! Powers in residue number systems on tensor cores: [`bigint_core::rns`] has the kernels.

mod base;
pub(crate) mod chain;
mod refused;

use crate::common::device::{Buffer, Device, Roots};
use crate::common::job::Job;
use crate::device::job::{resident, without_flags};
use crate::device::launches::Residues;
use crate::device::part::Part;
use crate::values::made::Made;
use crate::values::node::{InResidues, Operands};
use crate::{BackEnd, Error};
use bigint_core::kernel::{MatrixArgument, TABLE_BUDGET};
use bigint_core::rns::{RnsArguments, RnsPlan, TABLE, Window};
use bigint_core::{LIMB_BITS, Limb};
use bigint_cpu::zeroed;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

pub(crate) use refused::compute;
use refused::marked;

/// Computes numbers `numbers` of a job's powers, but for those whose modulus is zero or shares a factor with the first
/// base: these are told by their indices. Answers `None` where all are such.
fn powers(
    device: &Arc<dyn Device>,
    job: Job,
    operands: Operands<'_>,
    numbers: Range<usize>,
    residues: Residues,
) -> Result<Option<(Made, Vec<Limb>)>, Error> {
    let started = Instant::now();
    let Residues {
        plan,
        bases,
        scans,
        wave,
    } = residues;
    let (count, shape) = (job.count(), job.shapes()[0]);
    let base = match bases {
        TABLE => {
            let base = base::table(device, [&operands[0], &operands[2]], residues)?;
            if base.windows.is_none() {
                return Ok(None);
            }
            Some(base)
        }
        _ => None,
    };
    let exponent = operands[1].shape.width.div_ceil(bases as usize);
    let window = plan.window(exponent, scans, bases);
    let windows = base.as_ref().and_then(|base| base.windows);
    let whole = (LIMB_BITS * exponent).div_ceil(window.bits as usize) as u64;
    let at_once = count.min(most_at_once(plan, window, wave));
    let (moduli, marks) = match operands[2].shape.count {
        1 => (1, 1),
        _ => (at_once, count),
    };
    let memory = Memory {
        // What is kept of a table in residues is all that is read of it.
        given: resident(device, &operands[usize::from(base.is_some())..], &numbers)?,
        made: device.allocate(shape.limbs())?,
        refused: device.upload(&zeroed::<Limb>(marks)?)?,
        scratch: scratch(
            device,
            plan.scratch(at_once, moduli, window),
            base.is_some(),
        )?,
        base,
    };
    let (buffers, scratch) = (memory.buffers(), memory.addresses_of_scratch());
    let table = device.roots(Roots::Rns(plan))?;
    let (mut first, mut refused) = (0, Vec::new());
    while first < count {
        let here = at_once.min(count - first);
        let [a, e, m] = [0, 1, 2].map(|index| memory.operand(operands, index, count, first));
        let arguments = RnsArguments {
            r: Part::of_shape(&memory.made, shape)
                .numbers_from(first)
                .limbs,
            a,
            e,
            m,
            table,
            scratch,
            refused: memory.refused.address() + (size_of::<Limb>() * first.min(marks - 1)) as u64,
            base: memory.base.as_ref().map_or(0, |base| base.table.address()),
            plan,
            count: here as u32,
            moduli: moduli.min(here) as u32,
            windows: windows.unwrap_or(whole),
            window,
        };
        let launches = arguments.launches();
        // Of a table's base the units of the modulus are there.
        let launches = &launches[if bases == TABLE { 2 } else { 0 }..];
        for &(entry, launch) in launches {
            // All marks are there before the last powers, and one that stands for all before the first.
            let are_made = marks == 1 || first + here == count;
            if bases != TABLE && entry == plan.form().entry && are_made {
                refused = marked(device, &memory.refused)?;
                if refused.len() == marks {
                    return Ok(None);
                }
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
    Ok(Some((without_flags(device, job, memory.made)?, refused)))
}

/// Computes how many numbers launches take at once at most: whole waves, whose tables keep to [`TABLE_BUDGET`].
fn most_at_once(plan: RnsPlan, window: Window, wave: Option<usize>) -> usize {
    let block = plan.numbers_of_block(window) as usize;
    let [.., table, _] = plan.scratch(block, 1, window);
    let wave = wave.unwrap_or(block);
    let waves = block * TABLE_BUDGET / (size_of::<Limb>() * table * wave);
    wave * waves.max(1)
}

/// Scratch of so many limbs each; none for what is kept with the table of a base.
fn scratch(
    device: &Arc<dyn Device>,
    mut limbs: [usize; 5],
    is_of_base: bool,
) -> Result<Vec<Buffer>, Error> {
    if is_of_base {
        [limbs[1], limbs[2]] = [0; 2];
    }
    let scratch = limbs.map(|limbs| device.allocate(limbs));
    Ok(scratch.into_iter().collect::<Result<_, _>>()?)
}

/// The memory of launches.
struct Memory {
    made: Buffer,
    /// A mark for each modulus.
    refused: Buffer,
    scratch: Vec<Buffer>,
    /// The operands, without the table of a base.
    given: Vec<Arc<Buffer>>,
    base: Option<Arc<InResidues>>,
}

impl Memory {
    fn buffers(&self) -> Vec<&Buffer> {
        let base = self.base.iter();
        let base = base.flat_map(|base| [&base.own, &base.radix, &base.table]);
        [&self.made, &self.refused]
            .into_iter()
            .chain(&self.scratch)
            .chain(self.given.iter().map(|buffer| &**buffer))
            .chain(base)
            .collect()
    }

    fn addresses_of_scratch(&self) -> [u64; 5] {
        let mut at = [0, 1, 2, 3, 4].map(|i: usize| self.scratch[i].address());
        if let Some(base) = &self.base {
            [at[1], at[2]] = [base.own.address(), base.radix.address()];
        }
        at
    }

    /// An operand from number `first` on; nothing where it is the table of a base.
    fn operand(
        &self,
        operands: Operands<'_>,
        index: usize,
        count: usize,
        first: usize,
    ) -> MatrixArgument {
        let given = index.checked_sub(usize::from(self.base.is_some()));
        given.map_or_else(MatrixArgument::default, |given| {
            let part = Part::of_operand(&operands[index], &self.given[given], count);
            part.numbers_from(first).limbs
        })
    }
}
