//! The launch ABI, declared once: which kernels exist, what they are called,
//! what they take and how they are launched. The device crate generates its entry
//! points from [`for_each_operation!`](crate::for_each_operation), the host looks
//! kernels up in [`Kernel::ALL`], which is made of the same declarations.

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

/// A kernel: what it computes, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The entry point's name in the PTX, which several kernels share that have one text.
    pub name: &'static str,
    /// The operation whose module has that text.
    pub text: Operation,
    /// The operation that the kernel computes.
    pub operation: Operation,
    /// By which algorithm.
    pub algorithm: Algorithm,
    /// Who works on one number.
    pub level: Level,
    /// Threads that share one number: 1 at thread level, lanes of a warp, or all threads of
    /// a block, times the parts that fewer threads take one after the other ([`Plan::parts`]).
    pub lanes: u32,
    /// The layout of operands and result. A kernel of the interleaved layout takes
    /// any strides, so it serves operands of different layouts too.
    pub layout: Layout,
    /// The family of what the kernel can be specialised to.
    pub family: Family,
    /// Blocks that a multiprocessor must be able to hold at once, which bounds the registers of a
    /// thread.
    pub blocks: Option<u32>,
}

impl Kernel {
    /// Every kernel there is, in the order of the declarations.
    pub const ALL: &'static [Kernel] = &table::KERNELS;

    /// The kernel for these properties, if the table has it. One of the interleaved layout
    /// takes any strides, and serves where there is no other.
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

    /// Whether this is the kernel that is [found](Kernel::find) for batches of a layout.
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

    /// The arguments of these results and operands, in their declared order.
    ///
    /// A text of another operation may have more of both. Its results are those of the same names,
    /// and the others are not wanted: a remainder is the second result of a division. The last
    /// operand also stands for those that are missing: a square is a product of a number by itself.
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

    /// Whether a worker is a warp that computes a stretch of the limbs of all results, in
    /// place of whole numbers: the batch then is one row of limbs, in the order of memory.
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

    /// Whether the kernel needs tensor cores that multiply bytes, which devices have from
    /// [`TENSOR_CAPABILITY`] on.
    pub const fn takes_tensor_cores(&self) -> bool {
        matches!(self.algorithm, Algorithm::Toeplitz)
    }

    /// The threads of a block, and the blocks that a multiprocessor should have room for, where the
    /// launch would else depend on how the driver's compiler gives out registers: the PTX says
    /// them.
    pub const fn bounds(&self) -> Option<[u32; 2]> {
        match self.blocks {
            _ if self.takes_roots() => Some(Plan::of(self.lanes).bounds()),
            Some(blocks) => Some([BLOCK, blocks]),
            None => None,
        }
    }
}

/// Shared memory that a block may have without the driver's leave, in bytes.
pub(crate) const SHARED_BYTES: u32 = 48 << 10;

/// The module of kernels that need tensor cores.
pub const TENSOR_MODULE: &str = "mul_toeplitz";

/// The oldest compute capability that these kernels' PTX is for.
pub const TENSOR_CAPABILITY: (u32, u32) = (8, 0);

/// How their PTX begins: the oldest version of the language that has their instruction, and the target.
pub const TENSOR_PTX: [&str; 2] = [".version 7.0", ".target sm_80"];

/// The numbers of threads that may share one number: lanes of a warp, and threads of a
/// block, times their parts.
pub const LANES: [u32; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
