//! The launch ABI, declared once: the kernels, their names, their arguments and their launches. The
//! device crate generates its entry points from [`for_each_operation!`](crate::for_each_operation);
//! the host looks kernels up in [`Kernel::ALL`], which is made of the same declarations.

mod arguments;
mod entry_point;
mod launch;
mod table;
#[cfg(test)]
mod tests;

pub use crate::algorithm::BLOCK;
use crate::algorithm::{Algorithm, Level};
pub use crate::capacity::*;
use crate::operation::{MOST_OPERANDS, MOST_RESULTS, Operation};
use crate::shape::Layout;
use crate::specialization::Family;
use crate::transform::Plan;
pub use arguments::{Arguments, MatrixArgument};
pub use entry_point::EntryPoint;
pub use launch::{Launch, MARKS, SCRATCH_BUDGET, TABLE_BUDGET, TILE};

/// A kernel of the table: the operation that it computes, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The entry point's name in the PTX. Kernels that have the same text share it.
    pub name: &'static str,
    /// The operation whose module has the kernel's text.
    pub text: Operation,
    /// The operation that the kernel computes.
    pub operation: Operation,
    /// The algorithm by which it computes.
    pub algorithm: Algorithm,
    /// The level: who works on one number.
    pub level: Level,
    /// The threads that share one number. There is 1 at thread level; at warp level they are lanes
    /// of a warp. At block level it is the threads that have values of a number ([`Plan::sharers`]) times
    /// the parts that these take one after the other ([`Plan::parts`]).
    pub lanes: u32,
    /// The layout of operands and results. A kernel of the interleaved layout takes any strides, so
    /// it serves operands of different layouts too.
    pub layout: Layout,
    /// The family of specializations that the kernel has.
    pub family: Family,
    /// The number of blocks that a multiprocessor must be able to hold at once, where it is
    /// bounded. It bounds the registers of a thread.
    pub blocks: Option<u32>,
}

impl Kernel {
    /// Every kernel, in the order of the declarations.
    pub const ALL: &'static [Kernel] = &table::KERNELS;

    /// Finds the kernel with these properties, if the table has it. If it has none for the layout,
    /// the kernel of the interleaved layout serves, which takes any strides.
    pub fn find(
        operation: Operation,
        algorithm: Algorithm,
        level: Level,
        lanes: u32,
        layout: Layout,
    ) -> Option<&'static Kernel> {
        let own = |layout| {
            Kernel::ALL.iter().find(|kernel| {
                kernel.operation == operation
                    && kernel.algorithm == algorithm
                    && kernel.level == level
                    && kernel.lanes == lanes
                    && kernel.layout == layout
            })
        };
        own(layout).or_else(|| own(Layout::Interleaved))
    }

    /// Whether [`Kernel::find`] finds this kernel for batches of `layout`.
    pub fn serves(&self, layout: Layout) -> bool {
        let &Kernel {
            operation,
            algorithm,
            level,
            lanes,
            ..
        } = self;
        Kernel::find(operation, algorithm, level, lanes, layout) == Some(self)
    }

    /// The kernel's entry point.
    pub const fn entry_point(&self) -> EntryPoint {
        EntryPoint {
            name: self.name,
            module: match self.takes_tensor_cores() {
                true => TENSOR_MODULE,
                false => self.text.name(),
            },
        }
    }

    /// Makes the kernel's arguments of results and operands in the order in which the operation
    /// declares them.
    ///
    /// If the kernel's text is that of another operation, that one may have more of both. A result
    /// goes to the text's result of the same name, and the text's other results are left out: a
    /// remainder is the second result of a division. The last operand stands in for operands that
    /// are missing: a square is a product of a number by itself.
    pub fn arguments(&self, results: &[MatrixArgument], operands: &[MatrixArgument]) -> Arguments {
        let (own, text) = (self.operation.declaration(), self.text.declaration());
        let mut named = [MatrixArgument::default(); MOST_RESULTS];
        for (result, name) in results.iter().zip(own.results) {
            let at = text.results.iter().position(|other| other == name);
            named[at.unwrap_or_default()] = *result;
        }
        let count = text.operands.len().max(operands.len());
        let all: [MatrixArgument; MOST_OPERANDS] = core::array::from_fn(|i| {
            let operand = operands.get(i).or(operands.last());
            operand.filter(|_| i < count).copied().unwrap_or_default()
        });
        Arguments::of(&named, &all)
    }

    /// Whether a worker is a warp that computes a stretch of limbs and not whole numbers. The limbs
    /// of all results are then one row, in the order of memory, which is cut into stretches.
    pub const fn takes_stretches(&self) -> bool {
        matches!(
            (self.algorithm, self.level),
            (Algorithm::CarryLookahead | Algorithm::Limbwise, Level::Warp)
        )
    }

    /// Whether the kernel needs the table of roots of unity.
    pub const fn takes_roots(&self) -> bool {
        matches!(self.algorithm, Algorithm::Fft)
    }

    /// Whether the kernel needs tensor cores that multiply bytes. Devices have them from
    /// [`TENSOR_CAPABILITY`] on.
    pub const fn takes_tensor_cores(&self) -> bool {
        matches!(self.algorithm, Algorithm::Toeplitz)
    }

    /// The threads of a block and the blocks that a multiprocessor should have room for, which the
    /// PTX of the kernel states. It is `None` where the driver's compiler may give a thread any
    /// number of registers.
    pub const fn bounds(&self) -> Option<[u32; 2]> {
        match self.blocks {
            _ if self.takes_roots() => Some(Plan::of(self.lanes).bounds()),
            Some(blocks) => Some([BLOCK, blocks]),
            None => None,
        }
    }
}

/// The most shared memory of a block, in bytes, for which the driver need not be asked.
pub(crate) const SHARED_BYTES: u32 = 48 << 10;

/// The PTX module of the kernels that need tensor cores.
pub const TENSOR_MODULE: &str = "mul_toeplitz";

/// The oldest compute capability for which the PTX of [`TENSOR_MODULE`] is written.
pub const TENSOR_CAPABILITY: (u32, u32) = (8, 0);

/// The head of the PTX of [`TENSOR_MODULE`]: the oldest version of the language that has the
/// instruction of the tensor cores, and the target.
pub const TENSOR_PTX: [&str; 2] = [".version 7.0", ".target sm_80"];

/// The values of [`Kernel::lanes`] above 1.
pub const LANES: [u32; 18] = [
    2, 4, 8, 16, 32, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024,
];
