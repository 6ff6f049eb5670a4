//! Which computations of a list are computed together: those of one operation and alike
//! lengths, in bins; on a device sums and differences of any lengths, as
//! [segments](crate::segments).

use crate::keys::Keys;
use crate::plan::padded;
use crate::schedule::Computation;
use crate::segments;
use crate::{BackEnd, Error, Integers};
use bigint_core::operation::Signs;
use bigint_core::{Algorithm, Limb, Operation};
use std::cmp::{Ordering, Reverse};

/// Limbs that the operands of one batch may take, unless it is a single computation: for
/// the CPU so few that threads have bins to choose from, for a device so many that a launch
/// is worth it.
pub(crate) const MOST_LIMBS: [usize; 2] = [1 << 18, 1 << 24];

/// What a bin takes on a device beside moving and computing its numbers, measured on an H200
/// (docs/papers.md): as long as the link takes for so many limbs, and the chip for so many
/// products of limbs.
const LAUNCH_LIMBS: f64 = (1 << 18) as f64;
const LAUNCH_PRODUCTS: f64 = (1 << 26) as f64;

/// Limbs that a device moves together, where numbers are as wide as so many.
const MOVED_TOGETHER: usize = 4;

/// How sums and differences are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sums {
    /// In bins, as all else.
    Binned,
    /// By the CPU, where their results are put, and so are the lesser, the greater and orders.
    Passing,
    /// By a device, as segments, so many limbs of each operand in a launch.
    Segments(usize),
}

/// A list and its bins.
pub(crate) struct List<'a> {
    pub integers: &'a Integers,
    pub computations: &'a [Computation],
    pub sums: Sums,
    pub places: Vec<Place>,
    /// The computations that are in bins, bin after bin.
    pub order: Vec<usize>,
    /// The costliest first: who has taken the last one is soon done.
    pub bins: Vec<Bin>,
}

impl<'a> List<'a> {
    /// Bins for a back end.
    pub fn new(
        integers: &'a Integers,
        computations: &'a [Computation],
        back_end: BackEnd,
        sums: Sums,
    ) -> Result<Self, Error> {
        let (most, granule) = match back_end {
            BackEnd::Cpu => (MOST_LIMBS[0], 1),
            BackEnd::Cuda(_) => (MOST_LIMBS[1], MOVED_TOGETHER),
        };
        let mut list = List {
            integers,
            computations,
            sums,
            places: bigint_cpu::with_capacity(computations.len())?,
            order: Vec::new(),
            bins: Vec::new(),
        };
        let mut kinds: Vec<Kind> = Vec::new();
        let mut known = Keys::default();
        let mut segments = 0;
        for (of, computation) in computations.iter().enumerate() {
            check(integers, computation)?;
            if sums == Sums::Passing && is_in_passing(computation.operation) {
                list.places.push(IN_PASSING);
                continue;
            }
            if list.segment(of).is_some() {
                list.places.push(IN_SEGMENTS);
                segments += 1;
                continue;
            }
            let kind = list.kind(of, granule);
            let at = *known.entry(kind.key()).or_insert(kinds.len());
            if at == kinds.len() {
                kinds.push(kind);
            }
            kinds[at].count += 1;
            list.places.push(Place { bin: at, row: 0 });
        }
        let (kinds, bin_of) = match back_end {
            BackEnd::Cpu => {
                let same = (0..kinds.len()).collect();
                (kinds, same)
            }
            BackEnd::Cuda(_) => joined(&kinds),
        };
        let mut turns: Vec<usize> = (0..kinds.len()).collect();
        turns.sort_by_key(|&at| Reverse(kinds[at].cost(most)));
        // Where the next computation of each kind goes.
        let mut next = vec![IN_PASSING; kinds.len()];
        let mut start = 0;
        for at in turns {
            let kind = kinds[at];
            let bin = list.bins.len();
            next[at] = Place { bin, row: 0 };
            let end = start + kind.count;
            while start < end {
                let count = kind.in_bin(most).min(end - start);
                let rows = count;
                list.bins.push(Bin {
                    kind,
                    start,
                    count,
                    rows,
                });
                start += count;
            }
        }
        list.order = bigint_cpu::zeroed(start + segments)?;
        for (of, place) in list.places.iter_mut().enumerate() {
            let Some(&at) = bin_of.get(place.bin) else {
                continue;
            };
            let next: &mut Place = &mut next[at];
            *place = *next;
            let bin = &list.bins[place.bin];
            list.order[bin.start + place.row] = of;
            next.row += 1;
            if next.row == bin.count {
                *next = Place {
                    bin: place.bin + 1,
                    row: 0,
                };
            }
        }
        if let Sums::Segments(most) = sums {
            segments::lay_out(&mut list, start, most);
        }
        Ok(list)
    }

    /// The sum that a computation is, and the limbs of its segment, where it is one.
    pub fn segment(&self, of: usize) -> Option<(Sum, usize)> {
        let Sums::Segments(_) = self.sums else {
            return None;
        };
        let sum = self.sum(of)?;
        let limbs = self.limbs(&sum);
        (limbs <= segments::WIDEST).then_some((sum, limbs))
    }

    /// The limbs that a sum needs as a segment: a difference is no longer than the greater.
    pub fn limbs(&self, sum: &Sum) -> usize {
        let [n, m] = sum.operands.map(|i| self.integers.length(i));
        (n.max(m) + usize::from(sum.operation == Operation::Add)).max(1)
    }

    /// The operands of a computation, in the order that suits its bin.
    pub fn operands(&self, of: usize) -> [usize; 2] {
        let Computation { operation, a, b } = self.computations[of];
        let length = |i: usize| self.integers.length(i);
        match self.sum(of) {
            Some(sum) => sum.operands,
            None if commutes(operation) && length(a) < length(b) => [b, a],
            None => [a, b],
        }
    }

    /// What a sum or difference is of magnitudes, which only the host need compare; nothing
    /// of other operations.
    pub fn sum(&self, of: usize) -> Option<Sum> {
        let Computation { operation, a, b } = self.computations[of];
        let turns = match operation.declaration().signs {
            Signs::Sum => false,
            Signs::Difference => true,
            _ => return None,
        };
        let [minus_a, minus_b] = [a, b].map(|i| self.integers.is_negative(i));
        let minus_b = minus_b != turns;
        let of_magnitudes = |operation, operands, negative| Sum {
            operation,
            operands,
            negative,
        };
        Some(if minus_a == minus_b {
            of_magnitudes(Operation::Add, [a, b], minus_a)
        } else if order(self.integers.magnitude(a), self.integers.magnitude(b)).is_lt() {
            of_magnitudes(Operation::Sub, [b, a], minus_b)
        } else {
            of_magnitudes(Operation::Sub, [a, b], minus_a)
        })
    }

    /// The kind of a computation, of which none is counted yet; numbers that are wider than
    /// `granule` limbs are as wide as so many.
    fn kind(&self, of: usize, granule: usize) -> Kind {
        let sum = self.sum(of);
        let operation = sum.map_or(self.computations[of].operation, |sum| sum.operation);
        let [a, b] = self.operands(of);
        let [n, m] = [a, b].map(|i| self.integers.length(i));
        let padded = |width| match padded(width) {
            width if width > granule => width.next_multiple_of(granule),
            width => width,
        };
        let widths = match is_linear(operation) {
            // The longer operand costs what both do.
            true => [padded(n.max(m)); 2],
            false => [padded(n), padded(m)],
        };
        Kind {
            operation,
            widths,
            is_of_one: a == b,
            count: 0,
        }
    }

    /// An error of a bin, of the list: those of segments tell of no number.
    pub fn renumbered(&self, error: Error, bin: &Bin) -> Error {
        error.renumbered(|row| self.order[bin.start + row])
    }
}

/// What the computations of a bin have in common, and how many they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub operation: Operation,
    /// Limbs that the operands are padded to.
    pub widths: [usize; 2],
    /// Whether both operands are one number, whose product is a square.
    pub is_of_one: bool,
    pub count: usize,
}

impl Kind {
    /// A number of its own for each kind; widths have 27 bits.
    fn key(&self) -> u64 {
        let [n, m] = self.widths.map(|width| width as u64);
        (self.operation as u64) << 55 | n << 28 | m << 1 | u64::from(self.is_of_one)
    }

    /// How many of them make a bin.
    fn in_bin(&self, most: usize) -> usize {
        let limbs = self.widths[0] + self.widths[1];
        (most / limbs).max(1).min(self.count)
    }

    /// About what a bin costs, in products of limbs.
    fn cost(&self, most: usize) -> usize {
        let [n, m] = self.widths;
        let one = match is_linear(self.operation) {
            true => n,
            false => n.saturating_mul(m),
        };
        self.in_bin(most).saturating_mul(one)
    }

    /// What moving and computing them takes, in launches.
    fn launches(&self) -> f64 {
        let [n, m] = self.widths;
        let limbs = n + m + self.operation.exact_width(&self.widths);
        let products = if is_linear(self.operation) { 0 } else { n * m };
        let one = limbs as f64 / LAUNCH_LIMBS + products as f64 / LAUNCH_PRODUCTS;
        self.count as f64 * one
    }

    /// Both, padded alike.
    fn with(self, other: Kind) -> Kind {
        let [n, m] = [0, 1].map(|i| self.widths[i].max(other.widths[i]));
        Kind {
            widths: [n, m],
            is_of_one: self.is_of_one && other.is_of_one,
            count: self.count + other.count,
            ..self
        }
    }
}

/// Kinds of which those are one that take no more together, padded alike, than each for
/// itself with a launch; and for each kind which one that is. From narrow to wide, so that a
/// giant is left alone.
fn joined(kinds: &[Kind]) -> (Vec<Kind>, Vec<usize>) {
    let mut order: Vec<usize> = (0..kinds.len()).collect();
    order.sort_by_key(|&at| (kinds[at].operation as usize, kinds[at].widths));
    let mut all: Vec<Kind> = Vec::new();
    let mut joined = vec![0; kinds.len()];
    // What those of the last one take each for itself.
    let mut apart = 0.0;
    for at in order {
        let kind = kinds[at];
        apart += 1.0 + kind.launches();
        match all.last_mut() {
            Some(last)
                if last.operation == kind.operation
                    && 1.0 + last.with(kind).launches() <= apart =>
            {
                *last = last.with(kind);
            }
            _ => {
                apart = 1.0 + kind.launches();
                all.push(kind);
            }
        }
        joined[at] = all.len() - 1;
    }
    (all, joined)
}

/// Computations `order[start..start + count]` of a list, and how many numbers its batches have:
/// one for each, or rows of segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    pub kind: Kind,
    pub start: usize,
    pub count: usize,
    pub rows: usize,
}

impl Bin {
    /// Whether it is of sums and differences that lie one behind the other.
    pub fn is_of_segments(&self) -> bool {
        self.kind.operation == Operation::AddSegments
    }
}

/// Which bin a computation is in, and its row there; of a segment its first limb, counted
/// through all rows.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub bin: usize,
    pub row: usize,
}

/// In no bin: what is computed where its result is put.
const IN_PASSING: Place = Place {
    bin: usize::MAX,
    row: 0,
};

/// In segments, which are laid out when all are known.
pub(crate) const IN_SEGMENTS: Place = Place {
    bin: usize::MAX - 1,
    row: 0,
};

/// A sum or difference of magnitudes, which is not negative, and the sign before it.
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    pub operation: Operation,
    pub operands: [usize; 2],
    pub negative: bool,
}

/// How two magnitudes compare that have no zeros on top.
pub(crate) fn order(x: &[Limb], y: &[Limb]) -> Ordering {
    let lengths = x.len().cmp(&y.len());
    lengths.then_with(|| x.iter().rev().cmp(y.iter().rev()))
}

/// Refuses what is no computation.
fn check(integers: &Integers, &Computation { operation, a, b }: &Computation) -> Result<(), Error> {
    let count = integers.len();
    if a.max(b) >= count {
        let index = a.max(b);
        return Err(Error::NoSuchNumber { index, count });
    }
    match Computation::takes(operation) {
        true => Ok(()),
        false => Err(Error::NotInLists { operation }),
    }
}

/// Whether operands may change places.
fn commutes(operation: Operation) -> bool {
    matches!(operation, Operation::Mul | Operation::Gcd | Operation::Lcm)
}

/// Whether it costs a pass over the operands.
fn is_linear(operation: Operation) -> bool {
    operation.has(Algorithm::CarryLookahead) || operation.has(Algorithm::Scan)
}

/// Whether the CPU computes it in the pass that gathers results.
fn is_in_passing(operation: Operation) -> bool {
    use Signs::{Difference, Greatest, Least, Order, Sum};
    let signs = operation.declaration().signs;
    matches!(signs, Sum | Difference | Least | Greatest | Order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_of_a_device_join_until_padding_costs_more_than_a_launch() {
        let kind = |operation, width, count| Kind {
            operation,
            widths: [width; 2],
            is_of_one: width == 24,
            count,
        };
        let add = |width, count| kind(Operation::Add, width, count);
        // A short list is one bin for each operation, and a square in it a product.
        let mul = |width| kind(Operation::Mul, width, 500);
        let (all, of) = joined(&[mul(32), add(28, 900), mul(24), add(40, 100), mul(48)]);
        assert_eq!((all.len(), of), (2, vec![1, 0, 1, 0, 1]));
        assert_eq!((all[1].widths, all[1].count), ([48; 2], 1500));
        assert!(!all[1].is_of_one);
        // A million numbers are not padded for a launch, nor for a giant.
        let (all, of) = joined(&[add(40, 1 << 20), add(32, 1 << 20), add(1 << 15, 1)]);
        assert_eq!((all.len(), of), (3, vec![1, 0, 2]));
        assert_eq!(all[2].count, 1);
        let (all, _) = joined(&[add(2, 1 << 20), add(1 << 15, 1)]);
        assert_eq!(all.len(), 2);
    }
}
