//! How many lanes of a warp pass over a number together.

use super::kernels::Sized;
use crate::Tuning;
use crate::plan::why::Why;
use bigint_core::Layout;
use bigint_core::kernel::{HELD, chunks_held};
use bigint_core::operation::Signs;

impl Tuning {
    /// Of these numbers of lanes the fewest in whose registers a number stands, or the fewest of all, which go over it a
    /// chunk at a time.
    pub(super) fn lanes_that_hold(&self, known: &'static [u32], of: &Sized<'_>) -> (u32, Why) {
        let widest = of.widths.iter().copied().max().unwrap_or(0);
        let held = Why::AtMost {
            limbs: widest,
            key: "scan.held_max_width",
            limit: self.scan.held_max_width,
        };
        let fewest = known.first().copied().unwrap_or(1);
        let signs = of.operation.declaration().signs;
        // Reading one of both and copying it four limbs at a time takes less time than holding both.
        let copies_one = matches!(signs, Signs::Least | Signs::Greatest) && widest % 4 == 0;
        let holds = |lanes: &&u32| chunks_held(widest, **lanes) <= HELD as u32;
        let lanes = known.iter().find(holds).or(known.last());
        let lanes = lanes.copied().filter(|_| !copies_one && held.holds());
        match lanes.filter(|&lanes| lanes > fewest && of.shape.layout == Layout::Contiguous) {
            Some(lanes) => (lanes, held),
            None => (
                fewest,
                Why::Said("the fewest lanes hold the number, or go over it"),
            ),
        }
    }
}
