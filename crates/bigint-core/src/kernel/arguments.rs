//! The one parameter of every kernel of the table, which a launch passes by value.

use crate::shape::{Limb, Strides};

/// One operand or result of a kernel, as the device sees it.
///
/// Limb `j` of number `i` is at `limbs + 4 * (i * number_stride + j * limb_stride)`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixArgument {
    /// The device address of the first limb, 256-byte aligned.
    pub limbs: u64,
    /// The distance between numbers, in limbs: their width in the contiguous layout, 1 in the
    /// interleaved one, and zero for a broadcast operand.
    pub number_stride: u64,
    /// The distance between the limbs of a number, in limbs. Kernels of the contiguous layout
    /// take 1 only.
    pub limb_stride: u64,
    /// The limbs of each number.
    pub width: u64,
}

impl MatrixArgument {
    /// A batch of numbers of `width` limbs at device address `limbs`.
    pub const fn new(limbs: u64, width: usize, strides: Strides) -> Self {
        MatrixArgument {
            limbs,
            number_stride: strides.number as u64,
            limb_stride: strides.limb as u64,
            width: width as u64,
        }
    }

    /// Whether four neighbouring limbs of a contiguous batch can be moved at once, at indices
    /// that are multiples of 4. This holds for all of its numbers or for none.
    #[inline(always)]
    pub const fn in_fours(&self) -> bool {
        let limbs = self.limbs / size_of::<Limb>() as u64;
        (limbs | self.number_stride | self.width).is_multiple_of(4)
    }
}

/// The one parameter of every kernel, passed by value. Fields that an operation does not have
/// are zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The result; no part of it overlaps an operand.
    pub r: MatrixArgument,
    /// The second result; no part of it overlaps an operand.
    pub s: MatrixArgument,
    /// The first operand.
    pub a: MatrixArgument,
    /// The second operand.
    pub b: MatrixArgument,
    /// The third operand.
    pub c: MatrixArgument,
    /// Scratch memory, laid out as a batch with one number for each worker; zero where the
    /// kernel needs none.
    pub scratch: MatrixArgument,
    /// The device address of `count` words that receive each number's flag (0 or 1), such as a
    /// carry or borrow out; zero where the flags are not wanted. Operations without a flag
    /// ignore it.
    pub carry: u64,
    /// The device address of 64 bits, all ones at launch, that receive the index of the first
    /// number whose flag is 1; zero where it is not wanted. Operations without a flag ignore
    /// it.
    pub first_carry: u64,
    /// The device address of the table of [`fill_roots`](crate::transform::fill_roots), for
    /// kernels that [take roots](crate::Kernel::takes_roots), else zero.
    pub roots: u64,
    /// The number of numbers in the batch.
    pub count: u64,
    /// The number of workers (threads, or groups of lanes) of the launch. Worker `w` computes
    /// numbers `w`, `w + workers`, `w + 2 workers` and so on. In a kernel that [takes
    /// stretches](crate::Kernel::takes_stretches) it computes stretch `w`, the limbs of all
    /// results being cut into `workers` stretches.
    pub workers: u64,
}

impl Arguments {
    /// Makes arguments of results and operands in their declared order. There are at most
    /// [`MOST_RESULTS`](crate::operation::MOST_RESULTS) and
    /// [`MOST_OPERANDS`](crate::operation::MOST_OPERANDS) of them.
    pub fn of(results: &[MatrixArgument], operands: &[MatrixArgument]) -> Self {
        let at = |arguments: &[MatrixArgument], i| arguments.get(i).copied().unwrap_or_default();
        Arguments {
            r: at(results, 0),
            s: at(results, 1),
            a: at(operands, 0),
            b: at(operands, 1),
            c: at(operands, 2),
            ..Arguments::default()
        }
    }

    /// Results, operands and scratch.
    pub const fn matrices(&self) -> [MatrixArgument; 6] {
        [self.r, self.s, self.a, self.b, self.c, self.scratch]
    }

    /// The arguments in the order in which a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let rest = [
            self.carry,
            self.first_carry,
            self.roots,
            self.count,
            self.workers,
        ];
        self.matrices().into_iter().flat_map(matrix).chain(rest)
    }
}
