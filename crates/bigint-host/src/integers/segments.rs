//! Sums and differences of a list on a device: segments of any lengths, one behind the other in
//! rows, which [`Operation::AddSegments`] computes in one pass, and lists of whatever lengths in one
//! launch. Only the second operand, which is the shorter one, is padded; its marks say where, and the
//! device does not read the padding.

use crate::common::limbs;
use crate::expression::grouping::InBin;
use crate::integers::bins::{Bin, Kind, List, Sums, WIDEST_SEGMENT};
use crate::{Batch, Engine, Error};
use bigint_core::kernel::MARKS;
use bigint_core::{LIMB_BITS, Layout, Limb, Operation, Shape};
use std::ops::Range;

/// Limbs of a row: so many that few are left over at its end, where the next segment does not
/// fit, and so few that a large list has rows for every device and thread.
const ROW: usize = 1 << 16;
const _: () = assert!(WIDEST_SEGMENT <= ROW / 16);

/// The most limbs of each operand in a launch. Operands that come from the host are few, so that
/// those of the next launch move meanwhile; operands that are on the device already are many, as
/// each launch has a long tail.
pub(crate) const MOVED: usize = 1 << 23;
pub(crate) const RESIDENT: usize = 1 << 26;

/// Puts the segments of a list, which are in no bin so far, into bins behind the others.
pub(crate) fn lay_out(list: &mut List<'_>) {
    let Sums::Segments(most) = list.sums else {
        return;
    };
    let (mut start, mut end, mut count) = (list.order.len(), 0, 0);
    for of in 0..list.places.len() {
        if list.places[of] != InBin::NOWHERE {
            continue;
        }
        let limbs = list.resolved[of].limbs_of_sum();
        if end % ROW + limbs > ROW {
            end = end.next_multiple_of(ROW);
        }
        if end + limbs > most {
            list.bins.push(bin(start, count, end));
            start += count;
            (end, count) = (0, 0);
        }
        list.places[of] = InBin {
            bin: list.bins.len(),
            row: end,
        };
        list.order.push(of);
        (end, count) = (end + limbs, count + 1);
    }
    if count > 0 {
        list.bins.push(bin(start, count, end));
    }
}

/// A bin of `count` segments, which have so many limbs together.
fn bin(start: usize, count: usize, limbs: usize) -> Bin {
    let (rows, width) = match limbs <= ROW {
        true => (1, limbs.next_multiple_of(LIMB_BITS)),
        false => (limbs.div_ceil(ROW), ROW),
    };
    let kind = Kind {
        operation: Operation::AddSegments,
        widths: [width; 2],
        is_of_one: false,
        count,
    };
    Bin {
        kind,
        start,
        count,
        rows,
    }
}

impl Engine {
    /// The two operands of a bin of segments, and its marks.
    pub(crate) fn segments(&self, list: &List<'_>, bin: &Bin) -> Result<[Batch; 3], Error> {
        let [width, _] = bin.kind.widths;
        let order = &list.order[bin.start..][..bin.count];
        let of_row = |row: usize| {
            let before = |row| order.partition_point(|&of| list.places[of].row < row * width);
            let of_row = &order[before(row)..before(row + 1)];
            of_row.iter().map(move |&of| {
                let (sum, start) = (&list.resolved[of], list.places[of].row - row * width);
                (sum, start..start + sum.limbs_of_sum())
            })
        };
        let admitted = |width, fill: &(dyn Fn(usize, &mut [Limb]) + Sync)| {
            let shape = Shape::new(bin.rows, width, Layout::Contiguous);
            let limbs = limbs::build(&self.inner.pool, shape, fill)?;
            self.inner.admit(shape, limbs)
        };
        let operand = |which: usize| {
            admitted(width, &|row, limbs| {
                let mut end = 0;
                for (sum, place) in of_row(row) {
                    let magnitude = list.integers.magnitude(sum.operands[which]);
                    limbs[end..place.start].fill(0);
                    end = place.start + magnitude.len();
                    limbs[place.start..end].copy_from_slice(magnitude);
                }
                limbs[end..].fill(0);
            })
        };
        let marks = admitted(MARKS * width / LIMB_BITS, &|row, marks| {
            marks.fill(0);
            for (sum, place) in of_row(row) {
                mark(marks, 0, place.start..place.start + 1);
                let [_, shorter] = sum.lengths();
                mark(marks, 2, place.start + shorter..place.end);
                if sum.operation == Operation::Sub {
                    mark(marks, 1, place);
                }
            }
        });
        Ok([operand(0)?, operand(1)?, marks?])
    }
}

/// Sets a mark of some limbs. Mark 0 says that a segment begins at a limb, mark 1 that the second
/// operand is subtracted, and mark 2 that it has ended.
fn mark(marks: &mut [Limb], which: usize, limbs: Range<usize>) {
    let mut at = limbs.start;
    while at < limbs.end {
        let (word, bit) = (at / LIMB_BITS, at % LIMB_BITS);
        let end = limbs.end.min((word + 1) * LIMB_BITS);
        let bits = Limb::MAX >> (LIMB_BITS - (end - at));
        marks[MARKS * word + which] |= bits << bit;
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integers::bins::Sums;
    use crate::{BackEnd, Computation, DeviceSet, Integers};

    #[test]
    fn segments_lie_behind_one_another_and_none_in_two_rows() {
        let mut integers = Integers::new();
        let lengths = [0, 1, 33, 1000, WIDEST_SEGMENT - 1, WIDEST_SEGMENT];
        for length in lengths {
            integers.push(length % 2 == 1, &vec![1; length]).unwrap();
        }
        let operations = [Operation::Add, Operation::Sub, Operation::Mul];
        let computation = |i: usize| Computation {
            operation: operations[i % 3],
            a: i % 5,
            b: i % 7 % 6,
        };
        let list: Vec<_> = (0..3000).map(computation).collect();
        let device = BackEnd::Cuda(DeviceSet::new([0]).unwrap());
        let mut list = List::new(&integers, &list, device, Sums::Segments(RESIDENT)).unwrap();
        lay_out(&mut list);
        let bins: Vec<_> = list
            .bins
            .iter()
            .filter(|bin| bin.is_of_segments())
            .collect();
        assert!(bins.len() == 1 && bins[0].rows > 9 && bins[0].kind.widths == [ROW; 2]);
        let order = &list.order[bins[0].start..][..bins[0].count];
        let mut end = 0;
        for &of in order {
            let Computation { operation, a, b } = list.computations[of];
            let limbs = list.resolved[of].limbs_of_sum();
            assert!(operation != Operation::Mul && limbs <= WIDEST_SEGMENT);
            let most = lengths[a].max(lengths[b]);
            assert!(limbs == most.max(1) || limbs == most + 1);
            let start = list.places[of].row;
            let last_row = (start + limbs - 1) / ROW;
            assert!(start / ROW == last_row && (start == end || start == last_row * ROW));
            end = start + limbs;
        }
        // What is too wide is in bins, as products are, and nothing is left out.
        let in_bins = |bin: &Bin| bin.count;
        assert_eq!(list.bins.iter().map(in_bins).sum::<usize>(), 3000);
        assert!(order.len() < 2000);
    }

    #[test]
    fn marks_are_set_of_the_limbs_that_are_meant() {
        let mut marks = [0; 9];
        mark(&mut marks, 1, 30..66);
        mark(&mut marks, 0, 32..33);
        mark(&mut marks, 0, 64..96);
        mark(&mut marks, 2, 95..96);
        let (first, second) = ([0, 3 << 30, 0], [1, Limb::MAX, 0]);
        assert_eq!(
            marks,
            [first, second, [Limb::MAX, 3, 1 << 31]].as_flattened()
        );
    }
}
