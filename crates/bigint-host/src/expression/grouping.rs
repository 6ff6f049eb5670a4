//! Which rows are computed together: [`Grouping`] says of what class a row is, [`Bins`] bring the
//! rows of a class together, and remember where each row is.
//!
//! A batch has one width, and a number of ten million digits among short ones must not make
//! them all as wide. So rows of similar widths are of one class, and as many of them are a batch
//! as memory should hold at a time. Columns of integers, lists of computations and the lines of
//! files are grouped alike.

use super::cost::Extent;
use crate::expression::Formula;
use bigint_core::{LIMB_BITS, Limb};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Limbs that the batches and the text of one window may take together, unless a single
/// row takes more, or somebody says otherwise.
const WINDOW_LIMBS: usize = 1 << 24;

/// Numbers below this width are grouped as if they had it.
const NARROWEST: usize = 4;

/// Bits of the widths that numbers have.
const WIDTH_BITS: u32 = 27;

/// Classes of rows of formulas, and how many rows fit into memory together.
pub struct Grouping<'a> {
    formulas: &'a [Formula],
    most: usize,
    /// Of each input; columns are as wide as a row says.
    inputs: Vec<Extent>,
    /// Bytes of text that a result of so many limbs becomes.
    text_bytes: &'a dyn Fn(usize) -> usize,
    /// The widths of columns are looked up one after another: by what those before are known by,
    /// and the width.
    known: Keys,
    /// The class of what all columns are known by.
    of_all: Keys,
    classes: Vec<Class>,
    used: usize,
}

/// Rows whose numbers are padded to the same widths.
struct Class {
    /// Of each column.
    widths: Vec<usize>,
    /// Limbs that a row takes, text included.
    cost: usize,
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
            known: Keys::default(),
            of_all: Keys::default(),
            classes: Vec::new(),
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
    /// the widest of `count` numbers and the sum of all is given, the widest is far from the
    /// others.
    pub fn rows_alike(&self, count: usize, columns: &[(usize, usize)]) -> Option<usize> {
        let alike = |&(widest, sum): &(usize, usize)| widest * count <= sum + sum / 2;
        let widths: Vec<usize> = columns.iter().map(|&(widest, _)| widest).collect();
        let rows = || (self.most / self.cost(&widths)).max(1);
        columns.iter().all(alike).then(rows)
    }

    /// The class of a row whose columns have these widths.
    pub fn class(&mut self, widths: impl Iterator<Item = usize> + Clone) -> usize {
        let padded = widths.map(|width| padded(width.max(NARROWEST)));
        let mut key = 0;
        for width in padded.clone() {
            let next = self.known.len() + 1;
            let known = self.known.entry((key as u64) << WIDTH_BITS | width as u64);
            key = *known.or_insert(next);
        }
        let new = self.classes.len();
        let class = *self.of_all.entry(key as u64).or_insert(new);
        if class == new {
            let widths: Vec<usize> = padded.collect();
            let cost = self.cost(&widths);
            self.classes.push(Class { widths, cost });
        }
        class
    }

    /// Takes the next row, of this class, in; answers whether a window begins with it.
    pub fn begins(&mut self, class: usize) -> bool {
        let needed = self.classes[class].cost;
        let begins = self.used + needed > self.most && self.used > 0;
        self.used = if begins { needed } else { self.used + needed };
        begins
    }

    /// The widths that the columns of a class are padded to.
    pub(crate) fn widths(&self, class: usize) -> &[usize] {
        &self.classes[class].widths
    }

    /// All classes, and how many rows of each fit into memory together.
    pub(crate) fn classes(&self) -> Vec<(usize, usize)> {
        let classes = self.classes.iter().enumerate();
        let rows = |class: &Class| (self.most / class.cost.max(1)).max(1);
        classes.map(|(at, class)| (at, rows(class))).collect()
    }

    /// Limbs, text included, for a row whose columns have `widths`.
    fn cost(&self, widths: &[usize]) -> usize {
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

/// Rows in bins, each of rows of one class.
#[derive(Debug, Default)]
pub struct Bins {
    /// In the order of the classes' turns.
    pub bins: Vec<Bin>,
    /// The rows that are in bins, bin after bin.
    pub order: Vec<usize>,
    /// Where each row is.
    pub places: Vec<InBin>,
}

/// Rows of one class: `order[start..start + count]`.
#[derive(Clone, Copy, Debug)]
pub struct Bin {
    /// The class.
    pub class: usize,
    /// Where its rows begin.
    pub start: usize,
    /// How many rows it has.
    pub count: usize,
}

/// Where a row is: in which bin, and how many rows of that come before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InBin {
    /// The bin.
    pub bin: usize,
    /// The row of the bin.
    pub row: usize,
}

impl InBin {
    /// In no bin.
    pub const NOWHERE: InBin = InBin {
        bin: usize::MAX,
        row: 0,
    };
}

impl Bins {
    /// Bins of rows of these classes; `turns` are classes in the order in which their bins come,
    /// and how many rows make one at most. A row whose class has no turn is in no bin.
    ///
    /// # Errors
    /// [`OutOfMemory`](bigint_cpu::Error::OutOfMemory).
    pub fn new(classes: &[usize], turns: &[(usize, usize)]) -> Result<Self, bigint_cpu::Error> {
        let known = turns.iter().map(|&(class, _)| class + 1).max().unwrap_or(0);
        let mut counts = vec![0; known];
        for &class in classes {
            if let Some(count) = counts.get_mut(class) {
                *count += 1;
            }
        }
        // Where the next row of each class goes.
        let mut next = vec![InBin::NOWHERE; known];
        let (mut bins, mut start) = (Vec::new(), 0);
        for &(class, most) in turns {
            next[class] = InBin {
                bin: bins.len(),
                row: 0,
            };
            let end = start + counts[class];
            while start < end {
                let count = most.max(1).min(end - start);
                bins.push(Bin {
                    class,
                    start,
                    count,
                });
                start += count;
            }
        }
        let mut order = bigint_cpu::zeroed(start)?;
        let mut places = bigint_cpu::with_capacity(classes.len())?;
        for (row, &class) in classes.iter().enumerate() {
            let next = next.get_mut(class).filter(|next| next.bin < bins.len());
            let Some(next) = next else {
                places.push(InBin::NOWHERE);
                continue;
            };
            places.push(*next);
            let bin = bins[next.bin];
            order[bin.start + next.row] = row;
            next.row += 1;
            if next.row == bin.count {
                *next = InBin {
                    bin: next.bin + 1,
                    row: 0,
                };
            }
        }
        Ok(Bins {
            bins,
            order,
            places,
        })
    }

    /// The rows of a bin, in their order.
    pub fn rows(&self, bin: &Bin) -> &[usize] {
        &self.order[bin.start..][..bin.count]
    }
}

/// What is known of each key.
pub(crate) type Keys = HashMap<u64, usize, BuildHasherDefault<KeyHasher>>;

/// Spreads keys by a product, in a tenth of the time of the standard library's hash: every
/// row is looked up. Nobody chooses them to be alike: there are as many as there are operations
/// and lengths, four to each doubling.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(self.0 ^ key) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
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
        let mut grouping = Grouping::new(&[], Vec::new(), &|_| 0);
        let mut width = |width| {
            let class = grouping.class([width].into_iter());
            grouping.widths(class)[0]
        };
        assert_eq!([1, 4, 5, 8].map(&mut width), [4, 4, 5, 8]);
        assert_eq!(
            [9, 10, 11, 33, 40, 41].map(&mut width),
            [10, 10, 12, 40, 40, 48]
        );
        assert!((1..1000).all(|limbs| width(limbs) >= limbs));
        let mut grouping = Grouping::new(&[], Vec::new(), &|_| 0);
        let classes = (65..=128).map(|width| grouping.class([width, 1].into_iter()));
        assert_eq!(classes.max(), Some(3));
        // The same widths the other way round are another class.
        assert_eq!(grouping.class([1, 128].into_iter()), 4);
        assert_eq!(grouping.class([128, 2].into_iter()), 3);
    }

    #[test]
    fn every_row_of_a_class_that_has_a_turn_is_in_one_bin() {
        let classes = [2, 0, 2, 2, 7, 0, 2, 1, 2];
        let bins = Bins::new(&classes, &[(2, 2), (3, 5), (0, 9)]).unwrap();
        let rows = bins.bins.iter().map(|bin| (bin.class, bins.rows(bin)));
        let expected: [(usize, &[usize]); 4] =
            [(2, &[0, 2]), (2, &[3, 6]), (2, &[8]), (0, &[1, 5])];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        for (row, place) in bins.places.iter().enumerate() {
            match bins.bins.get(place.bin) {
                Some(bin) => assert_eq!(bins.rows(bin)[place.row], row),
                None => assert!(place == &InBin::NOWHERE && [1, 7].contains(&classes[row])),
            }
        }
    }
}
