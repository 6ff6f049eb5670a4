//! Sums and differences by lookahead: one launch, or two where a carry may come from further than a
//! warp looks.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::common::error::DeviceError;
use bigint_core::kernel::{MatrixArgument, TILE};
use bigint_core::specialization::Specialization;
use bigint_core::{Algorithm, Arguments, Kernel, Launch};
use std::sync::Arc;

/// Stretches from which on a warp of the second launch has as many as it has lanes: mostly it looks at a
/// word of each, and is done.
const MANY: usize = 1 << 15;

/// Launches a kernel of the table.
pub(crate) fn launch(
    device: &Arc<dyn Device>,
    kernel: &Kernel,
    specialization: Specialization,
    launch: Launch,
    arguments: &Arguments,
    buffers: &[&Buffer],
) -> Result<(), Error> {
    let run = |launch: Launch, arguments: &Arguments, buffers: &[&Buffer]| {
        let entry = kernel.entry_point();
        device.launch(entry, specialization, launch, arguments, buffers)
    };
    match kernel.algorithm {
        Algorithm::CarryLookahead => by_lookahead(device, launch, arguments, buffers, run),
        _ => Ok(run(launch, arguments, buffers)?),
    }
}

/// Launches a kernel that adds by lookahead.
pub(crate) fn by_lookahead(
    device: &Arc<dyn Device>,
    launch: Launch,
    arguments: &Arguments,
    buffers: &[&Buffer],
    run: impl Fn(Launch, &Arguments, &[&Buffer]) -> Result<(), DeviceError>,
) -> Result<(), Error> {
    let is_short = arguments.r.width <= TILE || arguments.count * arguments.r.width <= TILE;
    if is_short {
        return Ok(run(launch, arguments, buffers)?);
    }
    // A word for each stretch, which is a worker's.
    let words = device.allocate(launch.workers)?;
    let buffers: Vec<&Buffer> = buffers.iter().copied().chain([&words]).collect();
    let words = |width| MatrixArgument {
        limbs: words.address(),
        number_stride: 0,
        limb_stride: 1,
        width,
    };
    let first = Arguments {
        s: words(1),
        ..*arguments
    };
    run(launch, &first, &buffers)?;
    let each = if launch.workers < MANY { 1 } else { 32 };
    let second = Arguments {
        scratch: words(each),
        ..*arguments
    };
    let grid = launch.grid.div_ceil(each as u32);
    Ok(run(Launch { grid, ..launch }, &second, &buffers)?)
}
