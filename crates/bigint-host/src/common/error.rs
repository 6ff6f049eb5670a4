//! What can go wrong, where, and what to do about it.

use bigint_core::kernel::TENSOR_CAPABILITY;
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
    /// The number of operands is not the operation's.
    #[error(
        "{} has {} operands, not {found}",
        operation.name(), operation.declaration().operands.len()
    )]
    Operands {
        /// The operation.
        operation: Operation,
        /// The number of operands given.
        found: usize,
    },
    /// An index, or the end of a range, is past a batch's end.
    #[error("there is no number {index}: the batch has {count}, and they count from 0")]
    NoSuchNumber {
        /// The index, or the end of the range.
        index: usize,
        /// The number of numbers in the batch.
        count: usize,
    },
    /// A number does not fit the width of the batch.
    #[error("number {index} has {bits} bits and does not fit {width} limbs of 32 bits")]
    TooWide {
        /// The index of the number in the batch.
        index: usize,
        /// The length of the number in bits.
        bits: u64,
        /// The width of the batch, in limbs.
        width: usize,
    },
    /// An exact difference of unsigned numbers is negative.
    #[error("difference {index} is negative: use overflowing_sub, wrapping_sub or a signed batch")]
    Underflow {
        /// The index of the number in the batch.
        index: usize,
    },
    /// A forced algorithm that needs tensor cores, on a device that has none which multiply bytes.
    #[error(
        "{} by toeplitz multiplies bytes on tensor cores, which devices have from compute capability \
         {}.{} on: choose another algorithm or device",
        operation.name(), TENSOR_CAPABILITY.0, TENSOR_CAPABILITY.1
    )]
    NoTensorCores {
        /// The operation.
        operation: Operation,
    },
    /// An operand is negative, and the operation takes no negative ones.
    #[error("{operand} of {} must not be negative, and number {index} is", operation.name())]
    Negative {
        /// The operation.
        operation: Operation,
        /// The operand's name in the operation's declaration.
        operand: &'static str,
        /// The index of the number in the batch.
        index: usize,
    },
    /// A negative number was given for a [`Batch`](crate::Batch), which has none.
    #[error("number {index} is negative: a batch has none below zero, a signed batch has")]
    BelowZero {
        /// The index of the number.
        index: usize,
    },
    /// A number does not fit a type of machine integers.
    #[error("number {index} is none of {into}")]
    NoCast {
        /// The index of the number.
        index: usize,
        /// The name of the type.
        into: &'static str,
    },
    /// An exponent of a power is negative, and there is no modulus.
    #[error("exponent {index} is negative: integers have no such powers, use pow_mod")]
    NegativeExponent {
        /// The index of the exponent in the batch.
        index: usize,
    },
    /// A number is no multiple of its divisor, and the quotient must be exact.
    #[error("number {index} is no multiple of its divisor: use div_rem")]
    NotDivisible {
        /// The index of the number in the batch.
        index: usize,
    },
    /// No prime is below a number.
    #[error("there is no prime below number {index}: the least is 2")]
    NoPrimeBelow {
        /// The index of the number in the batch.
        index: usize,
    },
    /// No prime has the properties that are asked for, or none was found.
    #[error(
        "no prime was found: the range must have some, the residue no divisor in common with its \
         modulus, and the number that p - 1 is coprime to must be odd"
    )]
    NoSuchPrime,
    /// A divisor or a modulus is zero; methods that begin with `masked_` return flags in place of
    /// this error.
    #[error("number {index} is divided by zero, or taken modulo zero")]
    ZeroDivisor {
        /// The index of the number in the batch.
        index: usize,
    },
    /// A column stands beside, or in, a total of all rows.
    #[error(transparent)]
    Misplaced(#[from] Misplaced),
    /// A text is not a number.
    #[error(
        "number {index}: a digit must stand at byte {position}: numbers are written in decimal \
         digits, or after 0x, 0o or 0b in hexadecimal, octal or binary ones; - or + may stand \
         before them, and _ between two of them"
    )]
    NotADigit {
        /// The index of the number in the column.
        index: usize,
        /// Where a digit is missing, in bytes from 0.
        position: usize,
    },
    /// Limbs, offsets and signs do not make a column of integers.
    #[error(
        "number {index} is not written as integers are: offsets count whole limbs from 0 on, no \
         number has a zero limb on top, and neither zero nor what is past the last is negative"
    )]
    NotWrittenSo {
        /// The index of the number.
        index: usize,
    },
    /// Lists of computations do not have the operation.
    #[error(
        "lists do not have {}: theirs take two numbers of either sign, and say how long the \
         result is",
        operation.name()
    )]
    NotInLists {
        /// The operation.
        operation: Operation,
    },
    /// The operation depends on the width of its operands, and integers of any lengths have none.
    #[error(
        "{} depends on how wide its operands are, and integers of any lengths have no width: \
         use batches",
        operation.name()
    )]
    NeedsWidth {
        /// The operation.
        operation: Operation,
    },
    /// A number has no inverse modulo its modulus; for `inv_odd_mod`, the modulus may be even.
    #[error("number {index} has no inverse: it and its modulus have a common divisor")]
    NotInvertible {
        /// The index of the number in the batch.
        index: usize,
    },
    /// A modulus is even where it must be odd: in Montgomery's form, which `pow_mod` does not need,
    /// and for Jacobi symbols.
    #[error("the modulus of number {index} is even: it must be odd")]
    EvenModulus {
        /// The index of the number in the batch.
        index: usize,
    },
    /// An operand of modular arithmetic is not below its modulus.
    #[error(
        "{operand} of {} must be below its modulus, and number {index} is not: take rem first",
        operation.name()
    )]
    NotReduced {
        /// The operation.
        operation: Operation,
        /// The operand's name in the operation's declaration.
        operand: &'static str,
        /// The index of the number in the batch.
        index: usize,
    },
    /// A width is zero, or more than [`MAX_WIDTH`].
    #[error("a number of {width} limbs is not possible: widths go from 1 to {MAX_WIDTH} limbs")]
    Width {
        /// The width in limbs.
        width: usize,
    },
    /// The operation counts bits in one limb, and numbers wider than [`WIDEST_COUNTED`] have more.
    #[error(
        "{} counts bits in 32 bits: numbers of {width} limbs are too wide for it, of \
         {WIDEST_COUNTED} the widest that are not",
        operation.name()
    )]
    TooManyBits {
        /// The operation.
        operation: Operation,
        /// The width of the operand or result, in limbs.
        width: usize,
    },
    /// A batch has more limbs than memory can address.
    #[error("{count} numbers of {width} limbs are more than memory can address")]
    TooLarge {
        /// The number of numbers in the batch.
        count: usize,
        /// The width in limbs.
        width: usize,
    },
    /// The host has not enough memory. Operands stay as they were.
    #[error("out of memory: {bytes} bytes cannot be had: use smaller batches")]
    OutOfMemory {
        /// The number of bytes that were needed.
        bytes: usize,
    },
    /// A slice is shorter or longer than its shape says.
    #[error("the shape takes {expected} {unit}, the slice has {found}")]
    Length {
        /// The length that follows from the shape.
        expected: usize,
        /// The length of the slice.
        found: usize,
        /// The unit of the lengths: limbs or bytes.
        unit: &'static str,
    },
    /// The operation does not have the algorithm or level on this back end.
    #[error("{} has no algorithm {} here", operation.name(), algorithm.name())]
    Algorithm {
        /// The operation.
        operation: Operation,
        /// The algorithm that was forced.
        algorithm: Algorithm,
    },
    /// Residues are modulo different numbers.
    #[error("residues modulo different numbers do not go together")]
    OtherModuli,
    /// A batch of an engine for secrets was given to one that leaves copies of numbers in memory.
    #[error(
        "a batch of secrets does not go to an engine that leaves copies of them in memory: \
         compute with the engine that made it, or make this one by Engine::for_secrets"
    )]
    Secret,
    /// A modulus is wider than any kernel takes.
    #[error("a GPU computes {} modulo numbers of at most {most} limbs, not {width}: use the CPU", operation.name())]
    ModulusWidth {
        /// The operation.
        operation: Operation,
        /// The width of the modulus, in limbs.
        width: usize,
        /// The greatest width that kernels take, in limbs.
        most: usize,
    },
    /// The number of lanes that was forced cannot share a number.
    #[error("{lanes} lanes cannot share a number: 2, 4, 8, 16 or 32 can, or 1 at level thread")]
    Lanes {
        /// The number of lanes.
        lanes: u32,
    },
    /// A GPU, its driver, or the connection to it failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The CPU back end refused a job that the checks before it accept: a defect.
    #[error(transparent)]
    Cpu(bigint_cpu::Error),
    /// Thresholds were installed after they had been used.
    #[error("the CPU's thresholds are in use already: install others before anything is computed")]
    TuningInUse,
    /// A file of numbers cannot be read or written.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A tuning file cannot be read or written.
    #[error("tuning file {path}: {message}")]
    Tuning {
        /// The file.
        path: String,
        /// What is wrong with it, and where.
        message: String,
    },
}

impl Error {
    /// The error with which a thread unwound that lacked memory for its scratch, if `panic`, the
    /// answer of `catch_unwind`, is that error.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Option<Self> {
        panic
            .downcast_ref::<bigint_cpu::Error>()
            .cloned()
            .map(Error::from)
    }

    /// For an error about a number that an operation does not take: the index of the operand that
    /// has it, and of the number in the operand. Divisors and moduli come last of an operation's
    /// `operands` operands.
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
            Error::NotInvertible { index }
            | Error::NotDivisible { index }
            | Error::NoPrimeBelow { index } => Some((0, index)),
            _ => None,
        }
    }
}

impl Error {
    /// The error with other indices: `number(index)` is the index in a longer list of what this
    /// error calls `index`. For callers that compute parts of a list.
    #[must_use]
    pub fn renumbered(mut self, number: impl FnOnce(usize) -> usize) -> Self {
        if let Some(index) = self.index() {
            *index = number(*index);
        }
        self
    }

    /// The index of the number that has no value.
    fn index(&mut self) -> Option<&mut usize> {
        match self {
            Error::Negative { index, .. }
            | Error::NotReduced { index, .. }
            | Error::NegativeExponent { index }
            | Error::ZeroDivisor { index }
            | Error::NotInvertible { index }
            | Error::NotDivisible { index }
            | Error::NoPrimeBelow { index }
            | Error::EvenModulus { index } => Some(index),
            _ => None,
        }
    }

    /// Makes an error name the first row without a value, where `made` may name any of them because
    /// rows are computed in another order than theirs. `compute` computes that many rows, the first
    /// ones.
    pub(crate) fn of_first_row<R>(
        mut made: Result<R, Error>,
        mut compute: impl FnMut(usize) -> Result<R, Error>,
    ) -> Result<R, Error> {
        while let Err(error) = &mut made
            && let Some(&mut rows @ 1..) = error.index()
            && let Err(mut earlier) = compute(rows)
            && earlier.index().is_some()
        {
            made = Err(earlier);
        }
        made
    }
}

impl Error {
    /// Whether a device lacks memory: a smaller piece of the work might succeed.
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

/// A failure of a GPU or of the connection to it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("CUDA device {ordinal}: {during}: {kind}")]
pub struct DeviceError {
    /// The device's number, as the driver counts.
    pub ordinal: usize,
    /// The work that failed.
    pub during: String,
    /// The failure.
    pub kind: DeviceErrorKind,
}

/// A column stands where only numbers for all rows may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    /// An input is beside a reduction, which is one number for all rows.
    #[error("rows cannot stand beside a sum or product of all rows")]
    Beside {
        /// The index of the input.
        input: usize,
    },
    /// In a reduction that is within another.
    #[error("a sum or product of all rows stands in another")]
    Within {
        /// The input.
        input: usize,
    },
}

/// The kinds of failures of a GPU.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceErrorKind {
    /// The crate was built without its `cuda` feature.
    #[error("this build has no CUDA back end: build bigint-host with the feature `cuda`")]
    NotBuilt,
    /// This machine has no driver.
    #[error("{0}, or use the CPU back end")]
    NoDriver(String),
    /// There is a driver, or `BIGINT_CUDA_DRIVER` names one, but it does not work.
    #[error("{0}, or use the CPU back end")]
    DriverUnusable(String),
    /// The driver works, but does not list the device.
    #[error("no such device (the driver sees {found}): choose another, or use the CPU back end")]
    NoDevice {
        /// The number of devices that the driver lists.
        found: usize,
    },
    /// The driver is older than the PTX, or the device older than its target.
    #[error("the kernels cannot run here: {0}, or use the CPU back end")]
    Unsupported(String),
    /// An allocation failed.
    #[error("out of memory allocating {bytes} bytes: use smaller batches, or the back end `auto`")]
    OutOfMemory {
        /// The number of bytes that were needed.
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
    /// The driver returned another error.
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
