//! Gathering numbers of a batch by their indices ([`bigint_core::gather`]). A warp takes
//! stretches of the row of all limbs of the result, in the order of memory, as in
//! [`limbwise`](super::limbwise).
//!
//! Four limbs are moved at once if both batches are contiguous and every four limbs of their
//! numbers can be moved at once.
//!
//! ```text
//! index      2       0       2
//! r       x[2][0] x[2][1] x[0][0] x[0][1] x[2][0] x[2][1]      contiguous, two limbs each
//! ```
//!
//! Cost: for each limb of the result, or for each four, a load of its number's index, a load and
//! a store; a division for `AHEAD` of these. No scratch.

use super::limbwise::{Computed, Flat};
use crate::gpu::memory::{Any, Number, Stride, Unit};
use crate::gpu::thread;
use bigint_core::gather::{GatherArguments, ScanArguments};
use bigint_core::{LIMB_BITS, Limb, MatrixArgument, Strides};
use core::num::NonZero;

/// The lanes of a warp.
const LANES: u64 = 32;

/// The limbs, or groups of four limbs, that a lane has under way.
const AHEAD: u64 = 4;

/// Computes the stretches of the calling warp.
///
/// # Safety
/// `arguments` are those of a launch by [`GatherArguments::launch`]. Batches and indices are
/// allocated, the result overlaps neither, and indices are below the number of numbers.
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn gather<S: Stride>(arguments: &GatherArguments) {
    // SAFETY: by this function's own contract.
    unsafe {
        if S::UNIT && arguments.r.in_fours() && arguments.a.in_fours() {
            stretches::<S, 4>(arguments);
        } else {
            stretches::<S, 1>(arguments);
        }
    }
}

/// Computes the stretches of the calling warp, `UNIT` limbs at a time.
///
/// # Safety
/// The contract is that of [`gather`].
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn stretches<S: Stride, const UNIT: usize>(arguments: &GatherArguments) {
    let GatherArguments { r, a, count, .. } = arguments;
    let units = r.width / UNIT as u64;
    let Some(flat) = NonZero::new(if S::UNIT { units } else { *count }).map(Flat::new) else {
        return;
    };
    let indices = MatrixArgument::new(arguments.indices, 1, Strides { number: 1, limb: 1 });
    let end = count * units;
    let mut start = thread::index_1d() / LANES * (LANES * AHEAD);
    while start < end {
        let at = start + u64::from(thread::lane());
        let mut place = flat.place(at);
        let mut next = |u: u64| {
            let (on, (number, unit)) = (at + LANES * u < end, place.of::<S>());
            place = flat.next(place);
            // SAFETY: by the contract of `gather`: a number that is not switched off is in the
            // result, and has an index; no other lane stores these limbs of it.
            let (r, index) = unsafe {
                let index = Number::<Unit>::new(&indices, number).switched(on);
                (Number::<S>::new(r, number).switched(on), index)
            };
            let index = match arguments.indices {
                0 => number,
                _ => index.limb(0).into(),
            };
            // SAFETY: by the same contract the index is that of a number.
            let number = unsafe { Number::<S>::new(a, index) }.switched(on);
            let at = unit * UNIT as u32;
            let mut limbs = [0; UNIT];
            match UNIT {
                4 => limbs = number.fours::<UNIT, true>(at),
                _ => limbs[0] = number.limb(at),
            }
            Computed { r, at, limbs }
        };
        let [w, x, y, z] = [next(0), next(1), next(2), next(3)];
        w.store();
        x.store();
        y.store();
        z.store();
        start += arguments.workers * (LANES * AHEAD);
    }
}

/// Picks entries of tables, all of which are read: no branch and no address depends on digits.
///
/// # Safety
/// `arguments` are those of a launch by [`ScanArguments::launch`]. Batches are allocated, and the result overlaps none.
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn scanned(arguments: &ScanArguments) {
    // SAFETY: by this function's own contract.
    unsafe {
        let ScanArguments { r, table, .. } = arguments;
        if r.in_fours() && table.in_fours() && table.limb_stride == 1 {
            scanned_units::<Unit, 4>(arguments);
        } else {
            scanned_units::<Any, 1>(arguments);
        }
    }
}

/// Picks entries, `UNIT` limbs at a time.
///
/// # Safety
/// The contract is that of [`scanned`].
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn scanned_units<S: Stride, const UNIT: usize>(arguments: &ScanArguments) {
    let ScanArguments {
        r, table, e, count, ..
    } = arguments;
    let Some(units) = NonZero::new(r.width / UNIT as u64) else {
        return;
    };
    let (limb, shift) = (
        arguments.at as u32 / LIMB_BITS as u32,
        arguments.at as u32 % LIMB_BITS as u32,
    );
    let mut at = thread::index_1d();
    while at < count * units.get() {
        let (number, unit) = (at / units, (at % units) as u32 * UNIT as u32);
        // SAFETY: by the contract of `scanned`; no other thread stores these limbs of the number.
        let (r, table, e) = unsafe {
            (
                Number::<Unit>::new(r, number),
                Number::<S>::new(table, number),
                Number::<Any>::new(e, number),
            )
        };
        let two = u64::from(e.limb(limb)) | u64::from(e.limb(limb + 1)) << LIMB_BITS;
        let digit = (two >> shift) as u32 & ((1 << arguments.bits) - 1);
        let mut picked: [Limb; UNIT] = [0; UNIT];
        let mut entry = 0;
        while entry < 1 << arguments.bits {
            let mask = u32::from(entry == digit).wrapping_neg();
            let from = table.part(entry * r.width() + unit, u32::MAX);
            let mut i = 0;
            match UNIT {
                4 => {
                    let four = from.fours::<UNIT, true>(0);
                    while i < UNIT {
                        picked[i] |= four[i] & mask;
                        i += 1;
                    }
                }
                _ => picked[0] |= from.limb(0) & mask,
            }
            entry += 1;
        }
        match UNIT {
            4 => r.set_fours::<UNIT, true>(unit, picked),
            _ => r.set(unit, picked[0]),
        }
        at += 32 * arguments.workers;
    }
}
