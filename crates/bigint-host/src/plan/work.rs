//! About how long a device takes, and how many devices are worth it.
//!
//! An operation costs each of `k` devices a launch, which the host makes one after the other,
//! and the `k`-th part of the work: `max(k launch, work / k)`, least where `k^2 = work / launch`.

use crate::plan::choose::CoreTuning;
use bigint_core::Operation;
use bigint_core::operation::Cost;

/// Picoseconds that a device takes for a limb that it moves.
const LIMB: f64 = 1.0;

/// For a multiply-add of limbs; in a product by a transform for a limb of the operands.
const PRODUCT: f64 = 0.15;
const TRANSFORMED: f64 = 12.0;

/// For a limb of the divisor times one of the dividend, and for a limb of the greater operand
/// squared where the quotients are Euclid's, or of a root.
const QUOTIENT: f64 = 0.3;
const EUCLID: f64 = 2.0;

/// For a limb squared of a Montgomery product, and of a power for each bit of the exponent.
const RESIDUE: f64 = 0.35;

/// For a limb of an operand that comes from another device, by way of the host.
const SENT: f64 = 160.0;

/// Picoseconds for one number, from the limbs of operands and results; of an H200, within a
/// factor of two or three.
pub(crate) fn of_number(operation: Operation, widths: &[usize], results: usize) -> f64 {
    let width = |i: usize| widths.get(i).copied().unwrap_or(0) as f64;
    let last = width(widths.len().saturating_sub(1));
    let widest = width(0).max(width(1));
    let (n, m) = (width(0), width(1));
    let computed = match operation.cost() {
        Cost::Power => RESIDUE * 32.0 * m * last * last,
        Cost::PairOfPowers => RESIDUE * 22.0 * m * last * last,
        Cost::PowerByTable => RESIDUE * n * last / 64.0,
        Cost::Residue => RESIDUE * last * last,
        Cost::Square => (PRODUCT * widest * widest).min(TRANSFORMED * 2.0 * widest),
        Cost::Product => (PRODUCT * n * m).min(TRANSFORMED * (n + m)),
        Cost::Quotient => QUOTIENT * n * m,
        Cost::Euclid | Cost::Divsteps | Cost::Root => EUCLID * widest * widest,
        Cost::Linear => 0.0,
    };
    moved(widths.iter().sum::<usize>() + results).max(computed)
}

/// The same of one core of the CPU.
pub(crate) fn of_number_on_core(
    core: &CoreTuning,
    operation: Operation,
    widths: &[usize],
    results: usize,
) -> f64 {
    let width = |i: usize| widths.get(i).copied().unwrap_or(0) as f64;
    let last = width(widths.len().saturating_sub(1));
    let widest = width(0).max(width(1));
    let (n, m) = (width(0), width(1));
    let computed = match operation.cost() {
        Cost::Power => core.residue_ps * 32.0 * m * last * last,
        Cost::PairOfPowers => core.residue_ps * 40.0 * m * last * last,
        Cost::PowerByTable => core.residue_ps * n * last / 64.0,
        Cost::Residue => core.residue_ps * last * last,
        Cost::Square => {
            (core.product_ps * widest * widest).min(core.transformed_ps * 2.0 * widest)
        }
        Cost::Product => (core.product_ps * n * m).min(core.transformed_ps * (n + m)),
        Cost::Quotient => (core.quotient_ps * n * m).min(4.0 * core.transformed_ps * (n + m)),
        Cost::Euclid | Cost::Divsteps | Cost::Root => core.euclid_ps * widest * widest,
        Cost::Linear => 0.0,
    };
    let moved = core.limb_ps * (widths.iter().sum::<usize>() + results) as f64;
    moved.max(computed)
}

/// Picoseconds for so many limbs, read or written.
pub(crate) fn moved(limbs: usize) -> f64 {
    LIMB * limbs as f64
}

/// The devices that should share so much work, in picoseconds, where a launch takes so long.
pub(crate) fn devices(work: f64, launch_ns: f64) -> usize {
    (work / (1000.0 * launch_ns)).sqrt().max(1.0) as usize
}

/// Whether `devices` devices save more of the work than it takes to bring them these limbs,
/// which others have.
pub(crate) fn repays_moving(work: f64, devices: usize, limbs: usize) -> bool {
    work - work / devices as f64 > SENT * limbs as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_decides_how_many_devices_share_a_batch() {
        let shared = |operation: Operation, count: usize, widths: &[usize]| {
            let result = operation.exact_width(widths);
            devices(count as f64 * of_number(operation, widths, result), 5500.0)
        };
        // A launch on each of four takes as long as 200,000 sums of 1024 bits on one.
        assert_eq!(shared(Operation::Add, 4096, &[32; 2]), 1);
        assert_eq!(shared(Operation::Add, 100_000, &[32; 2]), 1);
        assert_eq!(shared(Operation::Add, 300_000, &[32; 2]), 2);
        assert!(shared(Operation::Add, 1 << 20, &[32; 2]) >= 4);
        assert!(shared(Operation::Mul, 1 << 18, &[32; 2]) >= 2);
        // A thousand powers are work for many devices, and so are few of wide numbers.
        assert!(shared(Operation::PowMod, 1000, &[128; 3]) > 8);
        assert!(shared(Operation::PowMod, 1000, &[8; 3]) < 8);
        assert!(shared(Operation::Mul, 1000, &[1 << 14; 2]) > 4);
    }

    #[test]
    fn no_launch_is_too_much_where_it_takes_no_time() {
        assert_eq!(devices(1.0, 0.0), usize::MAX);
    }

    #[test]
    fn powers_repay_moving_and_sums_do_not() {
        let work = |operation, widths: &[usize]| 1000.0 * of_number(operation, widths, 128);
        let limbs = 1000 * 3 * 128;
        assert!(repays_moving(work(Operation::PowMod, &[128; 3]), 2, limbs));
        assert!(!repays_moving(work(Operation::Add, &[128; 2]), 2, limbs));
        assert!(!repays_moving(work(Operation::Mul, &[128; 2]), 2, limbs));
    }
}
