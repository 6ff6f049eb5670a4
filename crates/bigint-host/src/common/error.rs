//! What can go wrong, where, and what to do about it.

use bigint_core::{Algorithm, MAX_WIDTH, Operation, WIDEST_COUNTED};
use std::any::Any;

/// An error of the engine. Nothing is lost with it: operands stay as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two batches of different lengths, neither of which is a single number.
    #[error(
        "batches of {a} and {b} numbers do not go together: \
         they must be equally long, or one of them a single number"
    )]
    CountMismatch {
        /// Numbers in the first batch.
        a: usize,
        /// Numbers in the second batch.
        b: usize,
    },
    /// Not as many operands as the operation has.
    #[error(
        "{} has {} operands, not {found}",
        operation.name(), operation.declaration().operands.len()
    )]
    Operands {
        /// The operation.
        operation: Operation,
        /// Operands given.
        found: usize,
    },
    /// An index, or the end of a range of them, past a batch's end.
    #[error("there is no number {index}: the batch has {count}, and they count from 0")]
    NoSuchNumber {
        /// The index; of a range the greater end.
        index: usize,
        /// Numbers in the batch.
        count: usize,
    },
    /// A number that does not fit the width asked for.
    #[error("number {index} has {bits} bits and does not fit {width} limbs of 32 bits")]
    TooWide {
        /// Which number of the batch, from 0.
        index: usize,
        /// Its length in bits.
        bits: u64,
        /// The width of the batch, in limbs.
        width: usize,
    },
    /// An exact difference of unsigned numbers that is negative.
    #[error("difference {index} is negative: use overflowing_sub, wrapping_sub or a signed batch")]
    Underflow {
        /// Which number of the batch, from 0.
        index: usize,
    },
    /// A negative operand of an operation that takes none.
    #[error("{operand} of {} must not be negative, and number {index} is", operation.name())]
    Negative {
        /// The operation.
        operation: Operation,
        /// What the operand is called in its declaration.
        operand: &'static str,
        /// Which number of the batch, from 0.
        index: usize,
    },
    /// A negative number where a [`Batch`](crate::Batch) is made, which has none.
    #[error("number {index} is negative: a batch has none below zero, a signed batch has")]
    BelowZero {
        /// Which number, from 0.
        index: usize,
    },
    /// A number that a type of machine integers does not have.
    #[error("number {index} is none of {into}")]
    NoCast {
        /// Which number, from 0.
        index: usize,
        /// The name of the type.
        into: &'static str,
    },
    /// A negative exponent of a power that is not taken modulo a number.
    #[error("exponent {index} is negative: integers have no such powers, use pow_mod")]
    NegativeExponent {
        /// Which exponent of the batch, from 0.
        index: usize,
    },
    /// A number that is no multiple of its divisor, where the quotient must be exact.
    #[error("number {index} is no multiple of its divisor: use div_rem")]
    NotDivisible {
        /// Which number of the batch, from 0.
        index: usize,
    },
    /// A division by zero, or a power modulo zero; the methods that begin with `masked_`
    /// tell of it by flags.
    #[error("number {index} is divided by zero, or taken modulo zero")]
    ZeroDivisor {
        /// Which number of the batch, from 0.
        index: usize,
    },
    /// Rows beside, or in, a total of all rows.
    #[error(transparent)]
    Misplaced(#[from] Misplaced),
    /// A text that is no number.
    #[error(
        "number {index}: a digit must stand at byte {position}: numbers are written in decimal \
         digits, or after 0x, 0o or 0b in hexadecimal, octal or binary ones; - or + may stand \
         before them, and _ between two of them"
    )]
    NotADigit {
        /// Which number of the column, from 0.
        index: usize,
        /// Where the digit is missing, in bytes from 0.
        position: usize,
    },
    /// Limbs, offsets and signs that are no column of integers.
    #[error(
        "number {index} is not written as integers are: offsets count whole limbs from 0 on, no \
         number has a zero limb on top, and neither zero nor what is past the last is negative"
    )]
    NotWrittenSo {
        /// Which number, from 0.
        index: usize,
    },
    /// An operation that lists of computations do not have.
    #[error(
        "lists do not have {}: theirs take two numbers of either sign, and say how long the \
         result is",
        operation.name()
    )]
    NotInLists {
        /// The operation.
        operation: Operation,
    },
    /// An operation of a width, of integers that have none.
    #[error(
        "{} depends on how wide its operands are, and integers of any lengths have no width: \
         use batches",
        operation.name()
    )]
    NeedsWidth {
        /// The operation.
        operation: Operation,
    },
    /// A number that has no inverse modulo its modulus; of `inv_odd_mod`, or an even modulus.
    #[error("number {index} has no inverse: it and its modulus have a common divisor")]
    NotInvertible {
        /// Which number of the batch, from 0.
        index: usize,
    },
    /// An even modulus where only odd ones have a meaning: in Montgomery's form, which
    /// `pow_mod` does not ask for, and of Jacobi symbols.
    #[error("the modulus of number {index} is even: it must be odd")]
    EvenModulus {
        /// Which number of the batch, from 0.
        index: usize,
    },
    /// An operand that is not below its modulus, of an operation that is of residues.
    #[error(
        "{operand} of {} must be below its modulus, and number {index} is not: take rem first",
        operation.name()
    )]
    NotReduced {
        /// The operation.
        operation: Operation,
        /// What the operand is called in its declaration.
        operand: &'static str,
        /// Which number of the batch, from 0.
        index: usize,
    },
    /// A width of zero limbs, or of more than [`MAX_WIDTH`].
    #[error("a number of {width} limbs is not possible: widths go from 1 to {MAX_WIDTH} limbs")]
    Width {
        /// The width asked for, in limbs.
        width: usize,
    },
    /// Bits of a number that has more than a limb counts: of one wider than [`WIDEST_COUNTED`].
    #[error(
        "{} counts bits in 32 bits: numbers of {width} limbs are too wide for it, of \
         {WIDEST_COUNTED} the widest that are not",
        operation.name()
    )]
    TooManyBits {
        /// The operation.
        operation: Operation,
        /// The width of its operand or result, in limbs.
        width: usize,
    },
    /// More limbs than memory can address.
    #[error("{count} numbers of {width} limbs are more than memory can address")]
    TooLarge {
        /// Numbers in the batch.
        count: usize,
        /// Limbs in each.
        width: usize,
    },
    /// Memory that the machine has not. Operands stay as they were.
    #[error("out of memory: {bytes} bytes cannot be had: use smaller batches")]
    OutOfMemory {
        /// The bytes asked for.
        bytes: usize,
    },
    /// A slice whose length is not what its shape says.
    #[error("the shape takes {expected} {unit}, the slice has {found}")]
    Length {
        /// The length that the shape asks for.
        expected: usize,
        /// The length of the slice.
        found: usize,
        /// What is counted: limbs or bytes.
        unit: &'static str,
    },
    /// An algorithm or level this operation does not have on this back end.
    #[error("{} has no algorithm {} here", operation.name(), algorithm.name())]
    Algorithm {
        /// The operation.
        operation: Operation,
        /// The algorithm asked for.
        algorithm: Algorithm,
    },
    /// Residues modulo different numbers.
    #[error("residues modulo different numbers do not go together")]
    OtherModuli,
    /// A batch of an engine for secrets, given to one that leaves copies of numbers in memory.
    #[error(
        "a batch of secrets does not go to an engine that leaves copies of them in memory: \
         compute with the engine that made it, or make this one by Engine::for_secrets"
    )]
    Secret,
    /// A modulus that no kernel holds.
    #[error("a GPU computes {} modulo numbers of at most {most} limbs, not {width}: use the CPU", operation.name())]
    ModulusWidth {
        /// The operation.
        operation: Operation,
        /// The width of the modulus, in limbs.
        width: usize,
        /// The widest there are kernels for.
        most: usize,
    },
    /// A number of lanes that cannot share a number.
    #[error("{lanes} lanes cannot share a number: 2, 4, 8, 16 or 32 can, or 1 at level thread")]
    Lanes {
        /// The lanes asked for.
        lanes: u32,
    },
    /// The GPU, its driver, or the way to it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The CPU back end refused; the checks before it make that a defect.
    #[error(transparent)]
    Cpu(bigint_cpu::Error),
    /// Thresholds that come too late.
    #[error("the CPU's thresholds are in use already: install others before anything is computed")]
    TuningInUse,
    /// A file of numbers that cannot be read or written.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A tuning file that cannot be read or written.
    #[error("tuning file {path}: {message}")]
    Tuning {
        /// The file.
        path: String,
        /// What is wrong with it, and where.
        message: String,
    },
}

impl Error {
    /// The error that a thread unwound with that had not the memory for its scratch: what
    /// `catch_unwind` answered, if it is that.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Option<Self> {
        panic
            .downcast_ref::<bigint_cpu::Error>()
            .cloned()
            .map(Error::from)
    }

    /// Of the error of an operation of so many operands about a number that it does not take:
    /// which operand has it, and where in that, both from 0. Divisors and moduli come last.
    pub fn blamed_operand(&self, operands: usize) -> Option<(usize, usize)> {
        match *self {
            Error::Negative {
                operation,
                operand,
                index,
            }
            | Error::NotReduced {
                operation,
                operand,
                index,
            } => {
                let mut names = operation.declaration().operands.iter();
                Some((names.position(|name| *name == operand)?, index))
            }
            Error::ZeroDivisor { index } | Error::EvenModulus { index } => {
                Some((operands - 1, index))
            }
            Error::NegativeExponent { index } => Some((1, index)),
            Error::NotInvertible { index } | Error::NotDivisible { index } => Some((0, index)),
            _ => None,
        }
    }
}

impl Error {
    /// The same error of a longer list, of which `number(index)` is the number that this one calls
    /// `index`: for callers that compute parts of a list.
    #[must_use]
    pub fn renumbered(mut self, number: impl FnOnce(usize) -> usize) -> Self {
        if let Error::Negative { index, .. }
        | Error::NotReduced { index, .. }
        | Error::NegativeExponent { index }
        | Error::ZeroDivisor { index }
        | Error::NotInvertible { index }
        | Error::NotDivisible { index }
        | Error::EvenModulus { index } = &mut self
        {
            *index = number(*index);
        }
        self
    }
}

impl Error {
    /// Whether a device has not the memory: a smaller piece of the work might succeed.
    pub(crate) fn is_of_device_memory(&self) -> bool {
        matches!(self, Error::Device(error) if error.is_out_of_memory())
    }
}

impl From<bigint_cpu::Error> for Error {
    fn from(error: bigint_cpu::Error) -> Self {
        match error {
            bigint_cpu::Error::OutOfMemory { bytes } => Error::OutOfMemory { bytes },
            error => Error::Cpu(error),
        }
    }
}

/// A failure of a GPU or of the way to it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("CUDA device {ordinal}: {during}: {kind}")]
pub struct DeviceError {
    /// The device's number, as the driver counts.
    pub ordinal: usize,
    /// What was being done.
    pub during: String,
    /// What happened.
    pub kind: DeviceErrorKind,
}

/// An input that stands for many rows where it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    /// Beside a reduction, which is one number for all rows.
    #[error("rows cannot stand beside a sum or product of all rows")]
    Beside {
        /// The input.
        input: usize,
    },
    /// In a reduction that is within another.
    #[error("a sum or product of all rows stands in another")]
    Within {
        /// The input.
        input: usize,
    },
}

/// What happened to a GPU.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceErrorKind {
    /// The crate was built without its `cuda` feature.
    #[error("this build has no CUDA back end: build bigint-host with the feature `cuda`")]
    NotBuilt,
    /// This machine has no driver.
    #[error("{0}, or use the CPU back end")]
    NoDriver(String),
    /// There is a driver, or `BIGINT_CUDA_DRIVER` names one, and it does not work.
    #[error("{0}, or use the CPU back end")]
    DriverUnusable(String),
    /// The driver is there, the device is not.
    #[error("no such device (the driver sees {found}): choose another, or use the CPU back end")]
    NoDevice {
        /// Devices that the driver sees.
        found: usize,
    },
    /// The driver is older than the PTX, or the device older than its target.
    #[error("the kernels cannot run here: {0}, or use the CPU back end")]
    Unsupported(String),
    /// An allocation failed.
    #[error("out of memory allocating {bytes} bytes: use smaller batches, or the back end `auto`")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// The device or its context is gone; every later call fails too.
    #[error(
        "the device is lost ({0}): restart the program to use it again; results left on it are gone"
    )]
    Lost(String),
    /// This process was forked from one that had loaded the driver.
    #[error(
        "this process was forked from one that had loaded the CUDA driver, which does not survive \
         it: fork before anything asks for a GPU, or start a program (Python: the start method \
         `spawn`), or use the CPU back end"
    )]
    Forked,
    /// Anything else the driver said.
    #[error("{0}; the back end `auto` goes on without the device")]
    Driver(String),
}

impl DeviceError {
    /// Whether a smaller piece of the work might succeed.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        matches!(self.kind, DeviceErrorKind::OutOfMemory { .. })
    }

    /// Whether the device can still be used after this error.
    pub(crate) fn is_fatal(&self) -> bool {
        !self.is_out_of_memory()
    }
}
