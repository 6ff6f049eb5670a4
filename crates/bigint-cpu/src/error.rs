//! Errors of the CPU back end.

use bigint_core::{Algorithm, Operation, Shape};

use crate::Path;

/// The reason for which an operation was not computed. Nothing has been written then, unless
/// memory ran out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The memory of a batch is not as long as its shape says.
    #[error(
        "{} numbers of {} limbs ({}) do not take {found} limbs of memory",
        shape.count, shape.width, shape.layout.name()
    )]
    Length {
        /// The shape that was claimed.
        shape: Shape,
        /// The limbs that were given.
        found: usize,
    },
    /// An operand has neither one number nor as many as the result has.
    #[error("an operand of {operand} numbers does not fit a result of {result}")]
    Count {
        /// The numbers in the operand.
        operand: usize,
        /// The numbers in the result.
        result: usize,
    },
    /// The carry array does not have one word for each number.
    #[error("{found} carry words for {count} numbers")]
    CarryLength {
        /// The numbers in the result.
        count: usize,
        /// The words that were given.
        found: usize,
    },
    /// The caller gave other numbers of operands or results than the operation has.
    #[error("{} has other operands or results than these", operation.name())]
    Operands {
        /// What was to be computed.
        operation: Operation,
    },
    /// The algorithm does not compute the operation.
    #[error("{} is no algorithm for {}", algorithm.name(), operation.name())]
    Algorithm {
        /// What was to be computed.
        operation: Operation,
        /// The algorithm that does not compute it.
        algorithm: Algorithm,
    },
    /// The machine does not have so much memory.
    #[error("out of memory: {bytes} bytes cannot be had")]
    OutOfMemory {
        /// The bytes that were needed.
        bytes: usize,
    },
    /// [`Cpu::PATH_VARIABLE`](crate::Cpu::PATH_VARIABLE) does not name a path.
    #[error(
        "{name:?} is no path; there are {}",
        Path::ALL.map(Path::name).join(", ")
    )]
    NoSuchPath {
        /// The value of the variable.
        name: String,
    },
    /// A byte of a decimal number is not a digit.
    #[error("byte {position} is not a decimal digit")]
    NotADigit {
        /// The byte's place in the text, from 0.
        position: usize,
    },
    /// The machine lacks the instructions of the path.
    #[error("this machine cannot run the path {}", path.name())]
    Path {
        /// The path whose instructions the machine lacks.
        path: Path,
    },
}
