//! Estimates of how long an operation takes on a device or on a core of the CPU, from the lengths
//! of its operands, right within a factor of two or three: enough to choose a back end.

use crate::tuning::gpu::{CoreTuning, StartTuning};
use bigint_core::Operation;
use bigint_core::operation::Cost;

impl CoreTuning {
    /// The picoseconds for one number, from the widths of its operands and results.
    pub(crate) fn of_number(&self, operation: Operation, widths: &[usize], results: usize) -> f64 {
        let width = |i: usize| widths.get(i).copied().unwrap_or(0) as f64;
        let last = width(widths.len().saturating_sub(1));
        let (n, m) = (width(0), width(1));
        let widest = n.max(m);
        let residue = self.of_residue(last as usize);
        let computed = match operation.cost() {
            Cost::Power => residue * 32.0 * m,
            Cost::PairOfPowers => residue * self.pair_products * m,
            Cost::PowerByTable => self.residue_ps * n * last / 64.0,
            Cost::Residue => residue,
            Cost::Square => {
                (self.product_ps * widest * widest).min(self.transformed_ps * 2.0 * widest)
            }
            Cost::Product => (self.product_ps * n * m).min(self.transformed_ps * (n + m)),
            Cost::Quotient => (self.quotient_ps * n * m)
                .min(self.quotient_transforms * self.transformed_ps * (n + m)),
            Cost::Euclid | Cost::Divsteps | Cost::Root => self.euclid_ps * widest * widest,
            Cost::Radix => self.product_ps * widest * widest,
            Cost::Linear => 0.0,
        };
        self.moved(widths.iter().sum::<usize>() + results)
            .max(computed)
    }

    /// The picoseconds for a product modulo a number of so many limbs.
    pub(crate) fn of_residue(&self, width: usize) -> f64 {
        self.residue_ps * (width * width) as f64
    }

    /// The picoseconds for reading or writing so many limbs.
    pub(crate) fn moved(&self, limbs: usize) -> f64 {
        self.limb_ps * limbs as f64
    }
}

impl StartTuning {
    /// Whether `devices` devices save more time, of `work` picoseconds of work, than it takes to
    /// bring them `limbs` limbs that others have.
    pub(crate) fn repays_moving(&self, work: f64, devices: usize, limbs: usize) -> bool {
        work - work / devices as f64 > self.sent_limb_ps * limbs as f64
    }
}

#[cfg(test)]
mod tests {
    use crate::Tuning;
    use crate::engine::members::devices;
    use bigint_core::Operation;

    #[test]
    fn work_decides_how_many_devices_share_a_batch() {
        let shared = |operation: Operation, count: usize, widths: &[usize]| {
            let result = operation.exact_width(widths);
            let work = Tuning::default()
                .start
                .device
                .of_number(operation, widths, result);
            devices(count as f64 * work, 5500.0)
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
        let start = Tuning::default().start;
        let work =
            |operation, widths: &[usize]| 1000.0 * start.device.of_number(operation, widths, 128);
        let repays_moving = |work, devices, limbs| start.repays_moving(work, devices, limbs);
        let limbs = 1000 * 3 * 128;
        assert!(repays_moving(work(Operation::PowMod, &[128; 3]), 2, limbs));
        assert!(!repays_moving(work(Operation::Add, &[128; 2]), 2, limbs));
        assert!(!repays_moving(work(Operation::Mul, &[128; 2]), 2, limbs));
    }
}
