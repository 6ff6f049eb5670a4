//! Fills of device memory, of a row of units and of several.

use super::call;
use super::copies::{on_device, too_large};
use super::entries::entries;
use super::streams::{default_target, target};
use crate::error::{Result, invalid};
use crate::state::context::Context;
use crate::state::copy;
use crate::state::graph::{Work, kind};
use crate::state::handle::Handle;
use crate::state::memory::Location;
use crate::state::stream::Target;
use std::sync::Arc;

/// Declares the fills with units of one type: of a row and of several, on the default stream and on
/// any.
macro_rules! fills {
    ($($row:ident $row_later:ident $rows:ident $rows_later:ident: $unit:ty;)*) => {
        entries! {$(
            context fn $row + _ptds(to: u64, value: $unit, count: usize) |context| {
                fill(context, default_target(context)?, to, &value.to_ne_bytes(), count)
            }

            context fn $row_later + _ptsz(to: u64, value: $unit, count: usize, stream: Handle) |context| {
                fill(context, target(context, stream)?, to, &value.to_ne_bytes(), count)
            }

            context fn $rows + _ptds(
                to: u64,
                pitch: usize,
                value: $unit,
                width: usize,
                height: usize,
            ) |context| {
                let target = default_target(context)?;
                fill_rows(context, target, (to, pitch), &value.to_ne_bytes(), (width, height))
            }

            context fn $rows_later + _ptsz(
                to: u64,
                pitch: usize,
                value: $unit,
                width: usize,
                height: usize,
                stream: Handle,
            ) |context| {
                let target = target(context, stream)?;
                fill_rows(context, target, (to, pitch), &value.to_ne_bytes(), (width, height))
            }
        )*}
    };
}

fills! {
    cuMemsetD8_v2
    cuMemsetD8Async
    cuMemsetD2D8_v2
    cuMemsetD2D8Async: u8;

    cuMemsetD16_v2
    cuMemsetD16Async
    cuMemsetD2D16_v2
    cuMemsetD2D16Async: u16;

    cuMemsetD32_v2
    cuMemsetD32Async
    cuMemsetD2D32_v2
    cuMemsetD2D32Async: u32;
}

/// Fills `count` units when its turn on the stream comes.
fn fill(context: &Arc<Context>, target: Target, to: u64, unit: &[u8], count: usize) -> Result {
    fill_rows(context, target, (to, 0), unit, (count, 1))
}

/// Fills `width` units in each of `height` rows.
fn fill_rows(
    context: &Arc<Context>,
    target: Target,
    start: (u64, usize),
    unit: &[u8],
    extent: (usize, usize),
) -> Result {
    let fills = plan_fill(context, start, unit, extent)?;
    if fills.is_empty() {
        return Ok(());
    }
    context.enqueue(target, fill_work(fills, unit))
}

/// The work of filling ranges.
pub(super) fn fill_work(fills: Vec<(Location, usize)>, unit: &[u8]) -> Work {
    let unit = unit.to_vec();
    Work::new(kind::FILL, move || {
        let mut fills = fills.iter();
        fills.try_for_each(|&(to, bytes)| copy::fill(to, &unit, bytes))
    })
}

/// The ranges of `height` rows of `width` units, all of them valid.
pub(super) fn plan_fill(
    context: &Context,
    (to, pitch): (u64, usize),
    unit: &[u8],
    (width, height): (usize, usize),
) -> Result<Vec<(Location, usize)>> {
    let bytes = width.checked_mul(unit.len()).ok_or_else(too_large)?;
    let misaligned = || {
        let bytes = unit.len();
        invalid(format!(
            "a row to fill does not begin at a multiple of {bytes} bytes"
        ))
    };
    if unit.is_empty() || !to.is_multiple_of(unit.len() as u64) {
        return Err(misaligned());
    }
    if bytes == 0 {
        return Ok(Vec::new());
    }
    (0..height)
        .map(|row| {
            let start = row
                .checked_mul(pitch)
                .and_then(|offset| to.checked_add(offset as u64))
                .filter(|start| start.is_multiple_of(unit.len() as u64))
                .ok_or_else(misaligned)?;
            Ok((on_device(context, start, bytes)?, bytes))
        })
        .collect()
}
