//! Who computes modulo numbers: threads, or so many lanes of a warp.

use crate::tuning::lanes::{LanesTuning, check_lanes, fewest_lanes, of_registers};
use crate::{Error, Options};
use bigint_core::kernel::WIDEST_MODULUS;
use bigint_core::operation::Cost;
use bigint_core::{Algorithm, Kernel, Level, Operation, Shape};
use serde::Deserialize;

/// Thresholds of products and powers modulo numbers, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModularTuning {
    /// Lanes per number by the width of the modulus, narrowest first; 1 for a thread. Where
    /// registers of so many do not hold it, the next number of lanes that do.
    pub lanes: Vec<LanesTuning>,
    /// The same of powers in constant time, which read their whole table again and again:
    /// more warps wait for it together.
    pub scan_lanes: Vec<LanesTuning>,
    /// The same of powers of a base by its table, in constant time: products alone.
    pub table_lanes: Vec<LanesTuning>,
    /// When numbers have more lanes than that.
    pub few: FewTuning,
}

/// When batches of powers are too small to fill the device, and each has more lanes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FewTuning {
    /// Limbs of the modulus from which on they have.
    pub min_width: usize,
    /// Lanes of all numbers together, up to which each may have twice as many.
    pub most_lanes: usize,
    /// Limbs of the modulus that each lane keeps at least.
    pub limbs_of_lane: usize,
}

impl FewTuning {
    /// The lanes for each of `count` numbers of `width` limbs, of which many have so many.
    fn lanes(&self, of_many: u32, width: usize, count: usize) -> u32 {
        let mut lanes = of_many;
        let fits = |lanes: u32| {
            width >= self.limbs_of_lane * lanes as usize
                && count.saturating_mul(lanes as usize) <= self.most_lanes
        };
        while width >= self.min_width && lanes < 32 && fits(2 * lanes) {
            lanes *= 2;
        }
        lanes
    }
}

impl ModularTuning {
    /// The kernel for arithmetic modulo a number, which its registers must hold: the forced
    /// one or, where that does not, the next that does.
    pub(crate) fn kernel(
        &self,
        operation: Operation,
        widths: &[usize],
        shape: Shape,
        options: Options,
    ) -> Result<&'static Kernel, Error> {
        check_lanes(options)?;
        let width = widths.last().copied().unwrap_or(0);
        let algorithm = match options.algorithm_for(operation) {
            Algorithm::Auto => operation.algorithms(Level::Warp).next().unwrap_or_default(),
            named => named,
        };
        let rows = match algorithm {
            Algorithm::Window if operation.cost() == Cost::PowerByTable => &self.table_lanes,
            Algorithm::Window => &self.scan_lanes,
            _ => &self.lanes,
        };
        let mut fewest = fewest_lanes(options, rows, width);
        let is_open = (options.level, options.lanes) == (None, None);
        if is_open && matches!(operation.cost(), Cost::Power | Cost::PairOfPowers) {
            fewest = self.few.lanes(fewest, width, shape.count);
        }
        of_registers(operation, algorithm, widths, shape.layout, fewest).ok_or_else(|| {
            // There is code for powers modulo numbers twice as wide.
            let holds = |width: &usize| {
                Kernel::ALL
                    .iter()
                    .any(|kernel| kernel.operation == operation && kernel.takes(&[*width]))
            };
            let most = Some(2 * WIDEST_MODULUS).filter(holds);
            Error::ModulusWidth {
                operation,
                width,
                most: most.unwrap_or(WIDEST_MODULUS),
            }
        })
    }
}
