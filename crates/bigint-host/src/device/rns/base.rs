//! The table of a base in residues, which a device keeps with the table in limbs.

use super::refused::marked;
use crate::common::device::{Buffer, Device, Roots};
use crate::device::launches::Residues;
use crate::device::part::Part;
use crate::values::node::{InResidues, Node};
use crate::{BigUint, Error};
use bigint_core::kernel::{MatrixArgument, TABLE_WINDOW};
use bigint_core::rns::{BASE, RnsArguments, RnsPlan};
use bigint_core::{LIMB_BITS, Limb};
use std::sync::{Arc, PoisonError};

/// The table `t` of a base modulo `m`, one number each, in residues; made where the device has none. Its time depends on
/// the modulus.
pub(super) fn table(
    device: &Arc<dyn Device>,
    [t, m]: [&Arc<Node>; 2],
    residues: Residues,
) -> Result<Arc<InResidues>, Error> {
    let Residues { plan, scans, .. } = residues;
    let mut kept = t.in_residues.lock().unwrap_or_else(PoisonError::into_inner);
    kept.retain(|kept| std::ptr::eq(kept.modulus.as_ptr(), Arc::as_ptr(m)));
    let is_it = |kept: &&Arc<InResidues>| {
        (kept.plan, kept.scans) == (plan, scans) && kept.table.is_of(device)
    };
    if let Some(found) = kept.iter().find(is_it) {
        return Ok(Arc::clone(found));
    }
    let made = Arc::new(make(device, [t, m], residues)?);
    kept.push(Arc::clone(&made));
    Ok(made)
}

fn make(
    device: &Arc<dyn Device>,
    [t, m]: [&Arc<Node>; 2],
    residues: Residues,
) -> Result<InResidues, Error> {
    let Residues {
        plan, bases, scans, ..
    } = residues;
    let window = plan.window(0, scans, bases);
    let entries = t.shape.width / m.shape.width.max(1);
    // A window of the table in limbs is one, or two where all entries are read.
    let windows = (entries >> TABLE_WINDOW) * TABLE_WINDOW / window.bits as usize;
    let resident = |node: &Arc<Node>| node.resident(device, 0..1);
    let (of_t, of_m) = (resident(t)?, resident(m)?);
    let limbs = plan.scratch(1, 1, window);
    let mut first = first(plan, m, windows)?.to_u32_digits();
    first.resize(limbs[4], 0);
    let first = device.upload(&first)?;
    let [units, own, radix, tables] = [0, 1, 2, 3].map(|i: usize| device.allocate(limbs[i]));
    let (units, own, radix, tables) = (units?, own?, radix?, tables?);
    let refused = device.upload(&[0])?;
    let mut arguments = RnsArguments {
        r: MatrixArgument::default(),
        a: Part::of_operand(t, &of_t, 1).limbs,
        e: MatrixArgument::default(),
        m: Part::of_operand(m, &of_m, 1).limbs,
        table: device.roots(Roots::Rns(plan))?,
        scratch: [&units, &own, &radix, &tables, &first].map(Buffer::address),
        refused: refused.address(),
        base: 0,
        windows: windows as u64,
        plan,
        count: 1,
        moduli: 1,
        window,
    };
    let table = device.allocate(arguments.base_words() as usize)?;
    arguments.base = table.address();
    let buffers = [
        &*of_t, &*of_m, &units, &own, &radix, &tables, &first, &refused, &table,
    ];
    let mut is_refused = false;
    for (entry, launch) in arguments.launches_of_base() {
        is_refused |= entry == BASE && !marked(device, &refused)?.is_empty();
        if !is_refused && launch.grid > 0 {
            let known = residues.specialization(entry);
            device.launch(entry, known, launch, &arguments, &buffers)?;
        }
    }
    Ok(InResidues {
        modulus: Arc::downgrade(m),
        plan,
        scans,
        own,
        radix,
        table,
        windows: (!is_refused).then_some(windows as u64),
    })
}

/// What chains begin with in the place of `M^2`, of so many windows whose entries are for `R`: `M^2 (M/R)^windows` modulo `m`.
/// Zero modulo what is not odd, for which nobody asks.
fn first(plan: RnsPlan, m: &Arc<Node>, windows: usize) -> Result<BigUint, Error> {
    let (limbs, shape) = (m.limbs()?, m.shape);
    let limbs: Vec<Limb> = (0..shape.width).map(|i| limbs[shape.index(0, i)]).collect();
    let m = BigUint::from_slice(&limbs);
    if !m.bit(0) {
        return Ok(BigUint::ZERO);
    }
    let power = |x: &BigUint, e: usize| x.modpow(&BigUint::from(e), &m);
    let half = (&m + 1u32) >> 1u32;
    let channels = plan.channels() as usize;
    let primes = plan.bases()[0];
    let radix = primes[..channels].iter().product::<BigUint>();
    let of_window = &radix * power(&half, LIMB_BITS * shape.width);
    Ok(power(&of_window, windows) * &radix % &m * &radix % &m)
}
