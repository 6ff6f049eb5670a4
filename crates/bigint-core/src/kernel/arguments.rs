//! What every kernel of the table takes: the one parameter of a launch, by value.

use crate::shape::{Limb, Strides};

/// One operand or result of a kernel, as the device sees it.
///
/// Limb `j` of number `i` is at `limbs + 4 * (i * number_stride + j * limb_stride)`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixArgument {
    /// Device address of the first limb, 256-byte aligned.
    pub limbs: u64,
    /// Distance between numbers, in limbs: in the contiguous layout their width, in
    /// the interleaved one 1; zero for a broadcast operand.
    pub number_stride: u64,
    /// Distance between limbs, in limbs. Kernels of the contiguous layout take 1 only.
    pub limb_stride: u64,
    /// Limbs in each number.
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

    /// Whether four neighbouring limbs can be moved at once, at places that are multiples
    /// of 4, where the layout is contiguous: for all numbers, or for none.
    #[inline(always)]
    pub const fn in_fours(&self) -> bool {
        let limbs = self.limbs / size_of::<Limb>() as u64;
        (limbs | self.number_stride | self.width).is_multiple_of(4)
    }
}

/// The one parameter of every kernel, passed by value. What an operation does not have
/// is zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The result; no part of it overlaps an operand.
    pub r: MatrixArgument,
    /// The second result, likewise.
    pub s: MatrixArgument,
    /// The first operand.
    pub a: MatrixArgument,
    /// The second operand.
    pub b: MatrixArgument,
    /// The third operand.
    pub c: MatrixArgument,
    /// Scratch, one "number" per worker; zero where the kernel needs none.
    pub scratch: MatrixArgument,
    /// Device address of `count` words that take each number's flag, a carry or borrow
    /// out (0 or 1), or zero where nobody asks. Operations without a flag ignore it.
    pub carry: u64,
    /// Device address of 64 bits that are all ones at launch and take the least number
    /// whose flag is 1, or zero where nobody asks. Operations without a flag ignore it.
    pub first_carry: u64,
    /// Device address of the table of [`fill_roots`](crate::transform::fill_roots), for
    /// kernels that [`take_roots`](crate::Kernel::takes_roots), else zero.
    pub roots: u64,
    /// Numbers in the batch.
    pub count: u64,
    /// Workers (threads, or groups of lanes) of the launch: worker `w` computes
    /// numbers `w`, `w + workers`, `w + 2 workers`, ...; or, of a kernel that
    /// [`takes_stretches`](crate::Kernel::takes_stretches), the `w`-th stretch of as many.
    pub workers: u64,
}

impl Arguments {
    /// Arguments of these results and operands, in their declared order; at most
    /// [`MOST_RESULTS`](crate::operation::MOST_RESULTS) and
    /// [`MOST_OPERANDS`](crate::operation::MOST_OPERANDS).
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

    /// The arguments as a launch copies them, 64 bits at a time.
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
