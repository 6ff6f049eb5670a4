//! Which computations of a list are computed together: those of one operation and alike
//! lengths, in bins; on a device sums and differences of any lengths, as segments
//! (`segments.rs`, which lays them out).

use crate::expression::grouping::{Bins, InBin, Keys, multiple_of, padded};
use crate::integers::list::{Computation, Resolved, check, is_in_passing, is_linear};
use crate::{BackEnd, Error, Integers};
use bigint_core::Operation;
use bigint_cpu::{Cpu, LIMB_WORK, share};
use std::cmp::Reverse;
use std::iter::repeat_n;

/// Limbs that the operands of one batch may take, unless it is a single computation: for
/// the CPU so few that threads have bins to choose from, for a device so many that a launch
/// is worth it.
pub(crate) const MOST_LIMBS: [usize; 2] = [1 << 18, 1 << 24];

/// The time that a bin takes on a device beside moving and computing its numbers: the link moves so
/// many limbs in it, and the chip computes so many products of limbs. Measured on an H200
/// (docs/papers.md).
const LAUNCH_LIMBS: f64 = (1 << 18) as f64;
const LAUNCH_PRODUCTS: f64 = (1 << 26) as f64;

/// Limbs that a device moves together: wider numbers are padded to a multiple of so many.
const MOVED_TOGETHER: usize = 4;

/// Resolving a computation takes as long as moving so many limbs.
const RESOLVED_LIMBS: usize = 32;

/// The keys of computations that are in no bin: those computed in passing, and segments.
const PASSES: u64 = u64::MAX;
const IS_SEGMENT: u64 = u64::MAX - 1;

/// The widest segment; wider sums are in bins.
pub(crate) const WIDEST_SEGMENT: usize = 1 << 12;

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
    /// Each of the computations as one of magnitudes.
    pub resolved: Vec<Resolved>,
    pub sums: Sums,
    /// The bin and the row of each computation. The row of a segment is its first limb, counted
    /// through all rows; a computation in passing is in no bin.
    pub places: Vec<InBin>,
    /// The computations that are in bins, bin after bin.
    pub order: Vec<usize>,
    /// The bins, the costliest first, so that the last ones are done soon.
    pub bins: Vec<Bin>,
}

impl<'a> List<'a> {
    /// The list, put into bins for a back end.
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
            resolved: bigint_cpu::collect(computations.iter().map(Resolved::unchanged))?,
            sums,
            places: Vec::new(),
            order: Vec::new(),
            bins: Vec::new(),
        };
        let ways = list.resolve(granule)?;
        let mut kinds: Vec<Kind> = Vec::new();
        let mut known = Keys::default();
        let mut classes = bigint_cpu::with_capacity(ways.len())?;
        // Neighbours are often of one kind.
        for alike in ways.chunk_by(PartialEq::eq) {
            let class = match alike[0] {
                PASSES | IS_SEGMENT => usize::MAX,
                way => *known.entry(way).or_insert_with(|| {
                    kinds.push(Kind::of(&list.resolved[classes.len()], granule));
                    kinds.len() - 1
                }),
            };
            if let Some(kind) = kinds.get_mut(class) {
                kind.count += alike.len();
            }
            classes.extend(repeat_n(class, alike.len()));
        }
        if let BackEnd::Cuda(_) = back_end {
            let (all, of) = joined(&kinds);
            let known = classes.iter_mut().filter(|class| **class < kinds.len());
            known.for_each(|class| *class = of[*class]);
            kinds = all;
        }
        let mut turns: Vec<usize> = (0..kinds.len()).collect();
        turns.sort_by_key(|&at| Reverse(kinds[at].cost(most)));
        let turns = turns.into_iter().map(|at| (at, kinds[at].in_bin(most)));
        let bins = Bins::new(&classes, &turns.collect::<Vec<_>>())?;
        (list.order, list.places) = (bins.order, bins.places);
        let bins = bins.bins.iter().map(|bin| Bin {
            kind: kinds[bin.class],
            start: bin.start,
            count: bin.count,
            rows: bin.count,
        });
        list.bins = bins.collect();
        Ok(list)
    }

    /// Resolves the computations that are not computed in passing; answers for each one the key of
    /// its kind, [`PASSES`] or [`IS_SEGMENT`].
    fn resolve(&mut self, granule: usize) -> Result<Vec<u64>, Error> {
        let (integers, sums) = (self.integers, self.sums);
        let mut computations = self.computations.iter();
        computations.try_for_each(|computation| check(integers, computation))?;
        let is_in_passing = |operation| sums == Sums::Passing && is_in_passing(operation);
        let is_segment = |resolved: &Resolved| {
            matches!(sums, Sums::Segments(_))
                && resolved.is_sum()
                && resolved.limbs_of_sum() <= WIDEST_SEGMENT
        };
        let count = self.computations.len();
        let mut ways = bigint_cpu::zeroed(count)?;
        let cut = Cpu::current().tuning().sharing;
        let cut = cut.cut(count, RESOLVED_LIMBS * LIMB_WORK, count, 1);
        let size = cut.size.max(1);
        let resolved = self.resolved.chunks_mut(size).zip(ways.chunks_mut(size));
        let parts = self.computations.chunks(size).zip(resolved);
        share(parts, cut.threads, |part| {
            let (computations, (resolved, ways)): (&[_], (&mut [_], &mut [_])) = part;
            // Neighbours are often alike, and then of one kind.
            let mut last = (None, PASSES);
            for (of, way) in ways.iter_mut().enumerate() {
                let computation = &computations[of];
                if is_in_passing(computation.operation) {
                    *way = PASSES;
                    continue;
                }
                let found = Resolved::of(integers, computation);
                let seen = Some((found.operation, found.lengths(), found.is_of_one()));
                if last.0 != seen {
                    let way = match is_segment(&found) {
                        true => IS_SEGMENT,
                        false => Kind::of(&found, granule).key(),
                    };
                    last = (seen, way);
                }
                *way = last.1;
                resolved[of] = found;
            }
        });
        Ok(ways)
    }

    /// An error of a bin, with the number of its computation in the list; errors of segments name
    /// no number.
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
    /// The kind of a computation, with a count of zero; widths above `granule` limbs are rounded up
    /// to a multiple of it.
    fn of(resolved: &Resolved, granule: usize) -> Self {
        let (operation, [n, m]) = (resolved.operation, resolved.lengths());
        let padded = |width| match padded(width) {
            width if width > granule => multiple_of(granule, width),
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
            is_of_one: resolved.is_of_one(),
            count: 0,
        }
    }

    /// A key that no other kind has; widths have 27 bits.
    fn key(&self) -> u64 {
        let [n, m] = self.widths.map(|width| width as u64);
        (self.operation as u64) << 55 | n << 28 | m << 1 | u64::from(self.is_of_one)
    }

    /// How many computations of this kind make a bin.
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

    /// The time that moving and computing all numbers of this kind takes, in launches.
    fn launches(&self) -> f64 {
        let [n, m] = self.widths;
        let limbs = n + m + self.operation.exact_width(&self.widths);
        let products = if is_linear(self.operation) { 0 } else { n * m };
        let one = limbs as f64 / LAUNCH_LIMBS + products as f64 / LAUNCH_PRODUCTS;
        self.count as f64 * one
    }

    /// The kind that both become when they are padded to the same widths.
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

/// Joins kinds that take less time in one launch, padded alike, than in a launch each; answers the
/// joined kinds, and for each given kind the index of its joined one. Kinds join from narrow to
/// wide, so that a giant is left alone.
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

/// Computations `order[start..start + count]` of a list. Its batches have a number for each of them,
/// or, where they are segments, fewer rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    pub kind: Kind,
    pub start: usize,
    pub count: usize,
    pub rows: usize,
}

impl Bin {
    /// Whether the bin is of segments: sums and differences that lie one behind the other.
    pub fn is_of_segments(&self) -> bool {
        self.kind.operation == Operation::AddSegments
    }
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
