//! The device memory that a kernel touches: no launch leaves the process unless its arguments are
//! known to stay within their buffers.
#![cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a back end asks"))]

use crate::common::device::Buffer;
use bigint_core::fused::FusedArguments;
use bigint_core::gather::{GatherArguments, ScanArguments};
use bigint_core::kernel::MatrixArgument;
use bigint_core::rns::RnsArguments;
use bigint_core::transform::ROOTS;
use bigint_core::transform::grid::{GridArguments, SumArguments};
use bigint_core::transform::ntt::NttArguments;
use bigint_core::transform::rings::{RING_ROOTS, RingArguments};
use bigint_core::trial::TrialArguments;
use bigint_core::weighted::{WeightedArguments, long::LongArguments};
use bigint_core::{Arguments, Limb};

/// The parameter of a kernel: plain numbers in the layout that host and device share, with no
/// pointer to host memory. It says which device memory the kernel reaches.
///
/// A back end passes the value's own bytes to the kernel, so only types of `bigint-core` that
/// are a kernel's parameter implement the trait, and all of them do in this file.
pub(crate) trait Parameter {
    /// Whether every limb that a kernel reaches through these arguments is in one of the
    /// buffers.
    fn lies_within(&self, buffers: &[&Buffer]) -> bool;

    /// The tables of roots that the kernel reads, addresses and limbs: they are the device's
    /// own.
    fn roots(&self) -> [(u64, u64); 3] {
        [(0, 0); 3]
    }
}

impl Parameter for Arguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        lies_within(self, buffers)
    }

    fn roots(&self) -> [(u64, u64); 3] {
        let limbs = if self.roots == 0 { 0 } else { 4 * ROOTS };
        [(self.roots, limbs as u64), (0, 0), (0, 0)]
    }
}

impl Parameter for GridArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let [own @ .., _, _, _] = self.stretches();
        let has = |(address, limbs): (u64, u64)| limbs == 0 || contains(buffers, address, limbs);
        let mut matrices = [self.a, self.b, self.chunks, self.carries].into_iter();
        own.into_iter().all(has)
            && matrices.all(|matrix| {
                let limbs = extent(matrix, u64::from(self.count));
                limbs.is_some_and(|limbs| has((matrix.limbs, limbs)))
            })
    }

    fn roots(&self) -> [(u64, u64); 3] {
        let [.., tree, columns, rows] = self.stretches();
        [tree, columns, rows]
    }
}

impl Parameter for SumArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let marks = self.sum.count + 1;
        lies_within(&self.sum, buffers) && (self.marks == 0 || contains(buffers, self.marks, marks))
    }
}

impl Parameter for NttArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let [stretches @ .., _] = self.stretches();
        let mut matrices = [self.a, self.b, self.sums, self.carries].into_iter();
        let has = |(address, limbs): (u64, u64)| limbs == 0 || contains(buffers, address, limbs);
        stretches.into_iter().all(has)
            && matrices.all(|matrix| {
                let limbs = extent(matrix, u64::from(self.count));
                limbs.is_some_and(|limbs| has((matrix.limbs, limbs)))
            })
    }

    fn roots(&self) -> [(u64, u64); 3] {
        let [.., tables] = self.stretches();
        [tables, (0, 0), (0, 0)]
    }
}

impl Parameter for FusedArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        self.matrices().all(|matrix| {
            let limbs = extent(matrix, self.count);
            limbs.is_some_and(|limbs| limbs == 0 || contains(buffers, matrix.limbs, limbs))
        })
    }
}

impl Parameter for GatherArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let GatherArguments {
            r,
            a,
            indices,
            count,
            ..
        } = *self;
        let has = |matrix: MatrixArgument, numbers: u64| {
            let limbs = extent(matrix, numbers);
            limbs.is_some_and(|limbs| limbs == 0 || contains(buffers, matrix.limbs, limbs))
        };
        let of_a = if indices == 0 { count } else { self.numbers };
        has(r, count) && has(a, of_a) && (indices == 0 || contains(buffers, indices, count))
    }
}

impl Parameter for ScanArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let mut matrices = [self.r, self.table, self.e].into_iter();
        let has = |matrix: MatrixArgument| {
            let limbs = extent(matrix, self.count);
            limbs.is_some_and(|limbs| limbs == 0 || contains(buffers, matrix.limbs, limbs))
        };
        self.bits < 32 && self.table.width >= self.r.width << self.bits && matrices.all(has)
    }
}

impl Parameter for WeightedArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let mut stretches = self.stretches().into_iter();
        stretches.all(|(address, limbs)| contains(buffers, address, limbs))
    }
}

impl Parameter for TrialArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let mut stretches = self.stretches().into_iter();
        stretches.all(|(address, limbs)| contains(buffers, address, limbs))
    }
}

impl Parameter for LongArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let mut stretches = self.stretches().into_iter();
        stretches.all(|(address, limbs)| contains(buffers, address, limbs))
    }
}

impl Parameter for RingArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let has = |(address, limbs): (u64, u64)| contains(buffers, address, limbs);
        let mut matrices = [self.r, self.x, self.y, self.m].into_iter();
        let kept = self.plan().map(|plan| self.kept(plan));
        kept.is_some_and(has)
            && matrices.all(|matrix| {
                let limbs = extent(matrix, self.count);
                limbs.is_some_and(|limbs| limbs == 0 || has((matrix.limbs, limbs)))
            })
    }

    fn roots(&self) -> [(u64, u64); 3] {
        [(self.roots, 4 * RING_ROOTS as u64), (0, 0), (0, 0)]
    }
}

impl Parameter for RnsArguments {
    fn lies_within(&self, buffers: &[&Buffer]) -> bool {
        let has = |(address, limbs): (u64, u64)| contains(buffers, address, limbs);
        let matrices = [
            (self.r, self.count),
            (self.a, self.count),
            (self.e, self.count),
            (self.m, self.moduli),
        ];
        self.stretches().all(has)
            && matrices.into_iter().all(|(matrix, numbers)| {
                let limbs = extent(matrix, u64::from(numbers));
                limbs.is_some_and(|limbs| limbs == 0 || has((matrix.limbs, limbs)))
            })
    }

    fn roots(&self) -> [(u64, u64); 3] {
        [(self.table, self.plan.words() as u64), (0, 0), (0, 0)]
    }
}

/// Whether a buffer holds all of `limbs` limbs at an address.
fn contains(buffers: &[&Buffer], address: u64, limbs: u64) -> bool {
    buffers.iter().any(|buffer| {
        address.checked_sub(buffer.address()).is_some_and(|offset| {
            limbs
                .checked_mul(size_of::<Limb>() as u64)
                .and_then(|bytes| bytes.checked_add(offset))
                .is_some_and(|end| end <= (buffer.limbs() * size_of::<Limb>()) as u64)
        })
    })
}

fn lies_within(arguments: &Arguments, buffers: &[&Buffer]) -> bool {
    let Arguments {
        carry,
        first_carry,
        count,
        workers,
        ..
    } = *arguments;
    let [batches @ .., scratch] = arguments.matrices();
    let contains = |address: u64, limbs: u64| contains(buffers, address, limbs);
    let matrix = |matrix: MatrixArgument, numbers: u64| {
        extent(matrix, numbers).is_some_and(|limbs| limbs == 0 || contains(matrix.limbs, limbs))
    };
    batches.into_iter().all(|batch| matrix(batch, count))
        && matrix(scratch, workers)
        && (carry == 0 || contains(carry, count))
        && (first_carry == 0 || contains(first_carry, 2))
}

/// The number of limbs from a matrix's first to its last, for `numbers` numbers.
fn extent(matrix: MatrixArgument, numbers: u64) -> Option<u64> {
    if numbers == 0 || matrix.width == 0 {
        return Some(0);
    }
    let across = (numbers - 1).checked_mul(matrix.number_stride)?;
    let along = (matrix.width - 1).checked_mul(matrix.limb_stride)?;
    across.checked_add(along)?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigint_core::{Layout, Shape, Strides};

    #[test]
    fn a_matrix_reaches_from_its_first_limb_to_its_last() {
        let of = |shape: Shape| {
            let matrix = MatrixArgument::new(4096, shape.width, shape.strides());
            extent(matrix, shape.count as u64)
        };
        assert_eq!(of(Shape::new(3, 5, Layout::Contiguous)), Some(15));
        assert_eq!(of(Shape::new(3, 5, Layout::Interleaved)), Some(4 * 32 + 3));
        assert_eq!(of(Shape::new(0, 5, Layout::Interleaved)), Some(0));
        let broadcast = Strides { number: 0, limb: 1 };
        assert_eq!(
            extent(MatrixArgument::new(4096, 5, broadcast), 1000),
            Some(5)
        );
        let absurd = Strides {
            number: usize::MAX,
            limb: 1,
        };
        assert_eq!(extent(MatrixArgument::new(4096, 5, absurd), 3), None);
    }
}
