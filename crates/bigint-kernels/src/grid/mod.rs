//! Kernels in which the whole device computes a number, in several launches.

pub mod mul;
pub mod ntt;
pub mod pow_mod;
pub mod trial;
pub mod weighted;

use crate::gpu::memory::{Any, Number};
use bigint_core::MatrixArgument;

/// The columns of a matrix that a block has, in a launch with blocks for the columns of every
/// operand.
#[derive(Clone, Copy)]
struct Columns {
    /// The first point of the first column.
    first: u32,
    number: u32,
    operand: u32,
    /// The binary logarithm of the number of columns.
    log: u32,
    /// The binary logarithm of a row's points.
    log_row: u32,
}

impl Columns {
    /// The `2^log` columns of block `block` of a launch.
    #[inline(always)]
    fn of(block: u32, log: u32, log_row: u32, operands: u32) -> Self {
        let groups = log_row - log;
        let which = block >> groups;
        Columns {
            first: (block & ((1 << groups) - 1)) << log,
            number: which >> (operands - 1),
            operand: which & (operands - 1),
            log,
            log_row,
        }
    }

    /// The place in the matrix of point `i` of the columns.
    #[inline(always)]
    fn place(self, i: u32) -> u32 {
        let column = i & ((1 << self.log) - 1);
        (i >> self.log << self.log_row) + self.first + column
    }
    /// The number to which the columns belong, from the first operand or the second.
    ///
    /// # Safety
    /// The contract of [`Number::new`] holds for every number of the launch.
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn of_operands(self, a: &MatrixArgument, b: &MatrixArgument) -> Number<Any> {
        let matrix = if self.operand == 0 { a } else { b };
        // SAFETY: by this function's own contract.
        unsafe { Number::new(matrix, u64::from(self.number)) }
    }
}
