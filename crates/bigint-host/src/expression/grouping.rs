//! Which rows are computed together: [`Grouping`] says of what class a row is, [`Bins`] bring the
//! rows of a class together, and remember where each row is.
//!
//! A batch has one width, and a number of ten million digits among short ones must not make
//! them all as wide. So rows of similar widths are of one class, and as many of them are a batch
//! as memory should hold at a time. Columns of integers, lists of computations and the lines of
//! files are grouped alike.

use super::formula::Formulas;
use crate::Integers;
use bigint_core::{LIMB_BITS, Limb};
use bigint_cpu::with_capacity;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// The most limbs that the batches of some rows take together, unless a single row takes more.
pub(crate) const BATCH_LIMBS: usize = 1 << 24;

/// Numbers below this width are grouped as if they had it.
const NARROWEST: usize = 4;

/// The number of bits in which a width is stored.
const WIDTH_BITS: u32 = 27;

/// The rows of columns by their classes: those of a class are padded to the same widths.
pub(crate) struct Grouping {
    /// The class of each row.
    classes: Vec<usize>,
    /// For each class, the limbs that a row takes, text included.
    costs: Vec<usize>,
    /// The most limbs that rows take together, unless a single row takes more.
    most: usize,
}

impl Grouping {
    /// Groups `count` rows of columns from which formulas are computed, in batches of at most
    /// `most` limbs; a limb of a result becomes `text_bytes` bytes of text.
    pub fn new(
        formulas: &Formulas,
        columns: &[Integers],
        count: usize,
        most: usize,
        text_bytes: usize,
    ) -> Result<Self, bigint_cpu::Error> {
        let mut extents = formulas.extents();
        let mut cost = |widths: &[usize]| {
            let inputs = extents.iter_mut().filter(|input| input.is_column);
            for (input, width) in inputs.zip(widths) {
                input.bits = width * LIMB_BITS;
            }
            let costs = formulas.formulas.iter().map(|formula| {
                let cost = formula.cost(&extents);
                cost.peak + cost.result * text_bytes / size_of::<Limb>()
            });
            costs.sum()
        };
        let mut classes = with_capacity(count)?;
        if let Some(widths) = widths_alike(columns) {
            classes.resize(count, 0);
            let costs = vec![cost(&widths)];
            return Ok(Grouping {
                classes,
                costs,
                most,
            });
        }
        let (mut known, mut costs) = (Classes::default(), Vec::new());
        for row in 0..count {
            let widths = columns.iter().map(|column| column.length(row));
            let (class, widths) = known.class(widths);
            if class == costs.len() {
                costs.push(cost(&widths.collect::<Vec<_>>()));
            }
            classes.push(class);
        }
        Ok(Grouping {
            classes,
            costs,
            most,
        })
    }

    /// Consecutive rows, of any classes, that memory should hold at one time.
    pub fn windows(&self) -> Vec<Range<usize>> {
        let (mut windows, mut start, mut used) = (Vec::new(), 0, 0);
        for (row, &class) in self.classes.iter().enumerate() {
            let needed = self.costs[class];
            if used + needed > self.most && used > 0 {
                windows.push(start..row);
                (start, used) = (row, 0);
            }
            used += needed;
        }
        windows.push(start..self.classes.len());
        windows
    }

    /// Rows of one class together, as many as memory should hold at one time.
    pub fn bins(&self) -> Result<Bins, bigint_cpu::Error> {
        let rows = |&cost: &usize| (self.most / cost.max(1)).max(1);
        let turns: Vec<_> = self.costs.iter().map(rows).enumerate().collect();
        Bins::new(&self.classes, &turns)
    }
}

/// The width of each column's widest number, if in no column any number is far narrower: then all
/// rows are of one class.
fn widths_alike(columns: &[Integers]) -> Option<Vec<usize>> {
    let widest_alike = |column: &Integers| {
        let lengths = (0..column.len()).map(|row| column.length(row).max(NARROWEST));
        let (widest, sum) = lengths.fold((NARROWEST, 0), |(widest, sum), length| {
            (widest.max(length), sum + length)
        });
        (widest * column.len() <= sum + sum / 2).then_some(widest)
    };
    columns.iter().map(widest_alike).collect()
}

/// The numbers of classes, by the widths of a row.
#[derive(Default)]
struct Classes {
    /// The widths of columns are looked up one after another: the key is the number found for the
    /// columns before, and the width.
    known: Keys,
    /// The class, by the number found for all columns.
    of_all: Keys,
}

impl Classes {
    /// The class of a row whose columns have these widths, and the widths to which the class is
    /// padded.
    fn class(
        &mut self,
        widths: impl Iterator<Item = usize> + Clone,
    ) -> (usize, impl Iterator<Item = usize>) {
        let padded = widths.map(|width| padded(width.max(NARROWEST)));
        let mut key = 0;
        for width in padded.clone() {
            let next = self.known.len() + 1;
            let known = self.known.entry((key as u64) << WIDTH_BITS | width as u64);
            key = *known.or_insert(next);
        }
        let new = self.of_all.len();
        (*self.of_all.entry(key as u64).or_insert(new), padded)
    }
}

/// Rows in bins, each of rows of one class.
pub(crate) struct Bins {
    /// The bins, in the order of the classes' turns.
    pub bins: Vec<Bin>,
    /// The rows of all bins, bin after bin.
    pub order: Vec<usize>,
    /// The place of each row in a bin.
    pub places: Vec<InBin>,
}

/// Rows of one class: `order[start..start + count]`.
#[derive(Clone, Copy)]
pub(crate) struct Bin {
    /// The class.
    pub class: usize,
    /// The index in [`Bins::order`] of its first row.
    pub start: usize,
    /// The number of its rows.
    pub count: usize,
}

/// The place of a row: its bin, and its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InBin {
    /// The index of the bin.
    pub bin: usize,
    /// The index of the row in the bin.
    pub row: usize,
}

impl InBin {
    /// The place of a row that is in no bin.
    pub const NOWHERE: InBin = InBin {
        bin: usize::MAX,
        row: 0,
    };
}

impl Bins {
    /// Puts rows of these classes into bins. `turns` has classes in the order of their bins, each
    /// with the most rows of a bin. A row whose class has no turn is in no bin.
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

    /// The rows of a bin, in order.
    pub fn rows(&self, bin: &Bin) -> &[usize] {
        &self.order[bin.start..][..bin.count]
    }
}

/// A map from keys to numbers.
pub(crate) type Keys = HashMap<u64, usize, BuildHasherDefault<KeyHasher>>;

/// A hash of keys by one product, ten times as fast as the standard library's: every row is looked
/// up. Keys cannot be chosen to collide: they are operations and lengths, four to each doubling.
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

/// The width to which numbers of about this width are padded: there are four to each doubling.
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
    use crate::Operation;
    use crate::expression::{Function, Terms};

    #[test]
    fn classes_are_four_to_a_doubling_and_hold_their_numbers() {
        let mut classes = Classes::default();
        let mut width = |width| {
            let (_, mut widths) = classes.class([width].into_iter());
            widths.next().unwrap()
        };
        assert_eq!([1, 4, 5, 8].map(&mut width), [4, 4, 5, 8]);
        assert_eq!(
            [9, 10, 11, 33, 40, 41].map(&mut width),
            [10, 10, 12, 40, 40, 48]
        );
        assert!((1..1000).all(|limbs| width(limbs) >= limbs));
        let mut classes = Classes::default();
        let mut class = |widths: [usize; 2]| classes.class(widths.into_iter()).0;
        assert_eq!((65..=128).map(|width| class([width, 1])).max(), Some(3));
        // The same widths the other way round are another class.
        assert_eq!(class([1, 128]), 4);
        assert_eq!(class([128, 2]), 3);
    }

    #[test]
    fn windows_hold_all_rows_in_order_and_few_limbs_or_one_row() {
        let formulas = |columns: usize| {
            let mut terms = Terms::default();
            let inputs: Vec<_> = (0..columns).map(|input| terms.input(input)).collect();
            let product = Function::Operation(Operation::Mul);
            let root = terms.apply(product, &[inputs[0], inputs[columns - 1]]);
            let formula = terms.formula(root, &vec![true; columns]).unwrap();
            Formulas::new(vec![formula], vec![None; columns])
        };
        let column = |lengths: &[usize]| {
            let mut column = Integers::new();
            for &length in lengths {
                column.push(false, &vec![1; length]).unwrap();
            }
            column
        };
        let windows = |columns: &[Integers], most| {
            let (formulas, count) = (formulas(columns.len()), columns[0].len());
            let grouping = Grouping::new(&formulas, columns, count, most, 0).unwrap();
            (grouping.windows(), grouping.costs.len())
        };
        // Ten limbs and a square of twenty: three rows are 90 limbs. All are alike.
        let alike = windows(&[column(&[9, 10, 10, 8, 10, 10, 10])], 100);
        assert_eq!(alike, (vec![0..3, 3..6, 6..7], 1));
        let mixed = windows(&[column(&[4, 4, 100, 4, 4]), column(&[4; 5])], 50);
        assert_eq!(mixed, (vec![0..2, 2..3, 3..5], 2));
        let none = std::iter::once(0..0).collect::<Vec<_>>();
        assert_eq!(windows(&[column(&[])], 50), (none, 1));
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
