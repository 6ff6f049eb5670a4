//! Montgomery products by blocks in two rings: [`bigint_core::transform::rings`] has the kernels.
//!
//! What is kept of a modulus, in limbs: the transforms of its inverse modulo `R` and of its negative, then `R` and `R^2`
//! modulo it. The CPU finds inverse and remainders, in time that depends on the modulus.

use super::{Numbers, Passes, Products};
use crate::Error;
use crate::common::device::{Buffer, Device, Roots};
use crate::device::part::Part;
use crate::values::node::{Node, Share};
use bigint_core::specialization::Specialization;
use bigint_core::transform::rings::{RingArguments, RingPlan};
use bigint_core::{Algorithm, Layout, Limb, Operation, Shape};
use bigint_cpu::{Numbers as OnHost, NumbersMut, Results};
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// What is kept of these moduli; nothing where one of them is even, or shares a factor with `R`.
pub(super) fn kept(
    device: &Arc<dyn Device>,
    plan: RingPlan,
    moduli: &Arc<Node>,
    numbers: Range<usize>,
) -> Result<Option<Arc<Buffer>>, Error> {
    let numbers = if moduli.shape.count == 1 {
        0..1
    } else {
        numbers
    };
    let (count, each) = (numbers.len(), limbs_of_each(plan));
    let mut kept = moduli.rings.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |share: &&Share| {
        share.numbers == numbers
            && share.buffer.is_of(device)
            && share.buffer.limbs() == count * each
    };
    if let Some(found) = kept.iter().find(is_it) {
        return Ok(Some(Arc::clone(&found.buffer)));
    }
    let Some([inverses, radices]) = on_host(plan, moduli, numbers.clone())? else {
        return Ok(None);
    };
    let limbs = plan.limbs() as usize;
    let passes = Passes { device };
    let buffer = Arc::new(device.allocate(count * each)?);
    let all = Part::rows(&buffer, count, each);
    let radices = device.upload(&radices)?;
    let from = plan.kept_limbs();
    passes.copy(
        all.at(from..each),
        Part::rows(&radices, count, 2 * limbs),
        count,
    )?;
    let inverses = device.upload(&inverses)?;
    let given = Numbers::resident(device, moduli, &numbers)?;
    let mut own = None;
    let m = passes.widened(given.part(), count, limbs, &mut own)?;
    let mut arguments = RingArguments {
        x: Part::rows(&inverses, count, limbs).limbs,
        m: m.limbs,
        kept: buffer.address(),
        kept_stride: each as u64,
        roots: device.roots(Roots::Rings)?,
        count: count as u64,
        ..RingArguments::default()
    };
    let launch = arguments.launch(plan);
    let [_, keep] = plan.kernels();
    let buffers = [&*buffer, &inverses, m.buffer];
    device.launch(keep, Specialization::None, launch, &arguments, &buffers)?;
    kept.push(Share {
        numbers,
        buffer: Arc::clone(&buffer),
    });
    Ok(Some(buffer))
}

/// The limbs that are kept of a modulus.
fn limbs_of_each(plan: RingPlan) -> usize {
    plan.kept_limbs() + 2 * plan.limbs() as usize
}

/// `R` and `R^2` modulo each modulus, of what is kept.
pub(super) fn radix(plan: RingPlan, kept: Part<'_>) -> [Part<'_>; 2] {
    let limbs = plan.limbs() as usize;
    let from = plan.kept_limbs();
    [0, limbs].map(|at| kept.at(from + at..from + at + limbs))
}

/// The inverses of moduli modulo `R`; and `R` and `R^2` modulo each.
fn on_host(
    plan: RingPlan,
    moduli: &Arc<Node>,
    numbers: Range<usize>,
) -> Result<Option<[Vec<Limb>; 2]>, Error> {
    let (limbs, shape) = (moduli.limbs()?, moduli.shape);
    let (count, width) = (numbers.len(), shape.width);
    let rows = numbers.flat_map(|number| (0..width).map(move |at| (number, at)));
    let rows: Vec<Limb> = rows
        .map(|(number, at)| limbs[shape.index(number, at)])
        .collect();
    if rows.iter().step_by(width).any(|lowest| lowest % 2 == 0) {
        return Ok(None);
    }
    let k = plan.limbs() as usize;
    // R = B^k + 1, and R^2 = B^2k + 2 B^k + 1.
    let (mut r, mut square) = (vec![0; k + 1], vec![0; 2 * k + 1]);
    [r[0], r[k]] = [1, 1];
    [square[0], square[k], square[2 * k]] = [1, 2, 1];
    let shape = |count, width| Shape::new(count, width, Layout::Contiguous);
    let m = OnHost::new(&rows, shape(count, width))?;
    let compute = |operation, a: OnHost<'_>, b: OnHost<'_>, width| -> Result<_, Error> {
        let (mut made, mut flags) = (vec![0; count * width], vec![0; count]);
        let results = Results {
            r: NumbersMut::new(&mut made, shape(count, width))?,
            s: None,
            flags: Some(&mut flags),
        };
        bigint_cpu::compute(operation, results, &[a, b], Algorithm::Auto)?;
        Ok((!flags.contains(&1)).then_some(made))
    };
    let of_r = OnHost::new(&r, shape(1, k + 1))?;
    let of_square = OnHost::new(&square, shape(1, 2 * k + 1))?;
    let Some(inverses) = compute(Operation::InvMod, m, of_r, k + 1)? else {
        return Ok(None);
    };
    let (Some(one), Some(square)) = (
        compute(Operation::Rem, of_r, m, width)?,
        compute(Operation::Rem, of_square, m, width)?,
    ) else {
        return Ok(None);
    };
    // None is `B^k`: that is -1 modulo `R`, and so would the modulus be, which is odd.
    let inverses = inverses.chunks(k + 1).flat_map(|inverse| &inverse[..k]);
    let mut radices = vec![0; 2 * k * count];
    for (to, (one, square)) in
        (radices.chunks_mut(2 * k)).zip(one.chunks(width).zip(square.chunks(width)))
    {
        to[..width].copy_from_slice(one);
        to[k..k + width].copy_from_slice(square);
    }
    Ok(Some([inverses.copied().collect(), radices]))
}

/// Squares numbers so many times, each in Montgomery's sense, and multiplies them by `y`: `x` is below `R` and `y` at most
/// the modulus; `r` may be `x` or `y`.
pub(super) fn powers(
    products: &Products<'_>,
    plan: RingPlan,
    r: Part<'_>,
    x: Part<'_>,
    squares: usize,
    y: Option<Part<'_>>,
) -> Result<(), Error> {
    let (device, moduli) = (products.passes.device, products.moduli);
    let mut arguments = RingArguments {
        r: r.limbs,
        x: x.limbs,
        y: y.map(|y| y.limbs).unwrap_or_default(),
        m: moduli.m.limbs,
        kept: moduli.inverse.limbs.limbs,
        kept_stride: moduli.inverse.limbs.number_stride,
        roots: device.roots(Roots::Rings)?,
        squares: squares as u64,
        count: products.count as u64,
        workers: 0,
    };
    let launch = arguments.launch(plan);
    let [powers, _] = plan.kernels();
    let numbers = [r, x, moduli.m, moduli.inverse].into_iter().chain(y);
    let buffers: Vec<&Buffer> = numbers.map(|part| part.buffer).collect();
    Ok(device.launch(powers, Specialization::None, launch, &arguments, &buffers)?)
}
