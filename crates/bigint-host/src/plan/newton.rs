//! The products by which a device goes Newton's steps.

use crate::common::device::Abilities;
use crate::device::launches::Multiplier;
use crate::device::newton::{Excess, Newton, Step};
use crate::plan::choose::multiplier;
use crate::{Error, Options, Tuning};
use bigint_core::{Layout, Level, Shape};

impl Newton {
    /// The steps of `count` of the numbers, whose `d` have `m` limbs.
    ///
    /// # Errors
    /// As for [`launches`](crate::plan::choose::launches).
    pub fn steps(
        &self,
        tuning: &Tuning,
        device: Abilities,
        count: usize,
        m: usize,
    ) -> Result<Vec<Step>, Error> {
        let is_root = self.by.root.is_some();
        let by = |operation, operands: &[usize], result| {
            // Threads take numbers that follow one another without gaps, which parts of wider ones do not.
            let is_for_threads = operation == self.by.product
                && operands
                    .iter()
                    .all(|&width| width <= tuning.mul.thread_many_max_width);
            let options = Options {
                level: (count > 1 && is_for_threads).then_some(Level::Block),
                ..Options::default()
            };
            let numbers = (count, operands, result);
            multiplier(tuning, device, options, operation, numbers)
        };
        let step = |(&h, &k): (&usize, &usize)| {
            let (take, keep) = (k.min(m), k - h + 1);
            let width = if is_root { 2 * h + 1 } else { h + 1 };
            // e is shorter than that, and its limbs from here on are wanted.
            let end = width - h + take;
            let shapes = [take, width].map(|width| Shape::new(count, width, Layout::Contiguous));
            let middle = match end.checked_sub(keep).filter(|&from| from > 0) {
                // Above it there is nothing but a one k limbs above limb `from`, which comes back below that.
                Some(from) => tuning.middle(shapes, Options::default(), from..end, k + 1, 0)?,
                None => None,
            };
            let middle = middle.filter(|middle| middle.plan.fits(device.shared_bytes));
            let excess = match middle {
                Some(middle) => Excess::Middle(middle.plan),
                None => Excess::Whole(by(self.by.product, &[take, width], end)?),
            };
            let of_root = || {
                let square = by(self.by.product, &[h + 1; 2], width)?;
                let halve = by(self.by.shift, &[keep + 1, 1], keep + 1)?;
                Ok::<[Multiplier; 2], Error>([square, halve])
            };
            Ok(Step {
                h,
                k,
                of_root: is_root.then(of_root).transpose()?,
                excess,
                product: by(self.by.product, &[h + 1, keep], h + 1 + keep)?,
            })
        };
        let lengths = self.lengths.iter().zip(&self.lengths[1..]);
        lengths.map(step).collect()
    }
}
