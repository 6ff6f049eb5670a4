//! Which rows of a formula are computed together.
//!
//! A batch has one width, and a number of ten million digits among short ones must not make
//! them all as wide. A window is a run of consecutive rows whose results fit into memory
//! together; inside it, rows of similar widths form groups, each computed as one batch.

use super::cost::Extent;
use crate::expression::Formula;
use bigint_core::{LIMB_BITS, Limb};
use std::collections::HashMap;

/// Limbs that the batches and the text of one window may take together, unless a single
/// row takes more, or somebody says otherwise.
const WINDOW_LIMBS: usize = 1 << 24;

/// Numbers below this width are grouped as if they had it.
const NARROWEST: usize = 4;

/// Cuts rows into windows, and says which rows of a window belong together.
pub struct Grouping<'a> {
    formulas: &'a [Formula],
    most: usize,
    /// Of each input; columns are as wide as a row says.
    inputs: Vec<Extent>,
    /// Bytes of text that a result of so many limbs becomes.
    text_bytes: &'a dyn Fn(usize) -> usize,
    costs: HashMap<Vec<usize>, usize>,
    used: usize,
}

impl<'a> Grouping<'a> {
    /// A grouping of rows of `formulas`, whose results are written as text.
    pub fn new(
        formulas: &'a [Formula],
        inputs: Vec<Extent>,
        text_bytes: &'a dyn Fn(usize) -> usize,
    ) -> Self {
        Grouping {
            formulas,
            most: WINDOW_LIMBS,
            inputs,
            text_bytes,
            costs: HashMap::new(),
            used: 0,
        }
    }

    /// The same, with windows of at most so many limbs, unless a single row takes more.
    #[must_use]
    pub fn within(self, limbs: usize) -> Self {
        Grouping {
            most: limbs,
            ..self
        }
    }

    /// What `width` adds to the sum for [`rows_alike`](Self::rows_alike).
    pub fn counted(width: usize) -> usize {
        width.max(NARROWEST)
    }

    /// Rows of a window where all may be one batch: where in no column, of each of which
    /// the widest of `count` numbers and the sum of all is told, the widest is far from the
    /// others.
    pub fn rows_alike(&self, count: usize, columns: &[(usize, usize)]) -> Option<usize> {
        let alike = |&(widest, sum): &(usize, usize)| widest * count <= sum + sum / 2;
        let widths: Vec<usize> = columns.iter().map(|&(widest, _)| widest).collect();
        let rows = || (self.most / self.cost(&widths)).max(1);
        columns.iter().all(alike).then(rows)
    }

    /// The group of a row whose columns have these widths: the widest of the group's.
    pub fn class(widths: impl Iterator<Item = usize>) -> Vec<usize> {
        widths.map(Grouping::padded).collect()
    }

    /// The width that a group has whose numbers are of about this one.
    pub(crate) fn padded(width: usize) -> usize {
        padded(width.max(NARROWEST))
    }

    /// Takes the next row, of this class, in; answers whether a window begins with it.
    pub fn begins(&mut self, class: Vec<usize>) -> bool {
        let needed = match self.costs.get(&class) {
            Some(&cost) => cost,
            None => {
                let cost = self.cost(&class);
                self.costs.insert(class, cost);
                cost
            }
        };
        self.takes(needed)
    }

    /// Takes a row of so many limbs in; answers whether a window begins with it.
    pub(crate) fn takes(&mut self, needed: usize) -> bool {
        let begins = self.used + needed > self.most && self.used > 0;
        self.used = if begins { needed } else { self.used + needed };
        begins
    }

    /// Limbs, text included, for a row whose columns have `widths`.
    pub(crate) fn cost(&self, widths: &[usize]) -> usize {
        let mut inputs = self.inputs.clone();
        let columns = inputs.iter_mut().filter(|input| input.is_column);
        for (input, width) in columns.zip(widths) {
            input.bits = width * LIMB_BITS;
        }
        let costs = self.formulas.iter().map(|formula| {
            let cost = formula.cost(&inputs);
            cost.peak + (self.text_bytes)(cost.result) / size_of::<Limb>()
        });
        costs.sum()
    }
}

/// The width that numbers of about this one share: there are four to each doubling, and it
/// is at least 1.
pub(crate) fn padded(width: usize) -> usize {
    let step = (width.next_power_of_two() / 8).max(1);
    multiple_of(step, width.max(1))
}

/// The least multiple of a power of two that is not below `width`: without a division, which
/// lists would wait for once for each operand.
pub(crate) fn multiple_of(power: usize, width: usize) -> usize {
    (width + power - 1) & !(power - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_four_to_a_doubling_and_hold_their_numbers() {
        let class = |width| Grouping::class([width].into_iter())[0];
        assert_eq!([1, 4, 5, 8].map(class), [4, 4, 5, 8]);
        assert_eq!([9, 10, 11, 33, 40, 41].map(class), [10, 10, 12, 40, 40, 48]);
        let classes: std::collections::HashSet<_> = (65..=128).map(class).collect();
        assert_eq!(classes.len(), 4);
        assert!((1..1000).all(|width| class(width) >= width));
    }
}
