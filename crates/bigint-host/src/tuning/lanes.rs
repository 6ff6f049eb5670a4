//! How many lanes of a warp share a number that their registers hold.

use crate::{Error, Options};
use bigint_core::kernel::LANES;
use bigint_core::{Algorithm, Kernel, Layout, Level, Operation};
use serde::Deserialize;

/// Up to `max_width` limbs, `lanes` lanes share a number.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanesTuning {
    /// The widest operand, in limbs.
    pub max_width: usize,
    /// 4, 8, 16 or 32; or 1, where threads have numbers to themselves.
    pub lanes: u32,
}

/// The fewest lanes for a modulus or divisor of `width` limbs that `options`, or else the
/// tuned `rows`, allow.
pub(crate) fn fewest_lanes(options: Options, rows: &[LanesTuning], width: usize) -> u32 {
    let tuned = || {
        let row = rows.iter().find(|row| width <= row.max_width);
        row.map_or(32, |row| row.lanes)
    };
    match (options.level, options.lanes) {
        (Some(Level::Thread), _) => 1,
        (_, Some(lanes)) => lanes,
        (None, None) => tuned(),
        (Some(_), None) => tuned().max(4),
    }
}

/// The kernel with the fewest lanes, at least `fewest`, that has its last operand in registers.
pub(crate) fn of_registers(
    operation: Operation,
    algorithm: Algorithm,
    widths: &[usize],
    layout: Layout,
    fewest: u32,
) -> Option<&'static Kernel> {
    let mut kernels = Kernel::ALL.iter().filter(|kernel| {
        (kernel.operation, kernel.algorithm) == (operation, algorithm) && kernel.serves(layout)
    });
    kernels.find(|kernel| kernel.lanes >= fewest && kernel.takes(widths))
}

/// Refuses a number of lanes that nothing comes in.
pub(crate) fn check_lanes(options: Options) -> Result<(), Error> {
    match options.lanes {
        Some(lanes) if lanes != 1 && !LANES.contains(&lanes) => Err(Error::Lanes { lanes }),
        _ => Ok(()),
    }
}
