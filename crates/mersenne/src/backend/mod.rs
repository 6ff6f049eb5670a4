//! Machines that square modulo a number: the CPU, by either arithmetic, and a GPU.

mod cpu;
mod device;
mod transformed;

pub use cpu::{Arithmetic, Cpu};
pub use device::{Auto, Cuda};

use std::fs;

use bigint_cpu::fast::number::weighted::{self, Operand};
use bigint_cpu::fast::trial::Trial;
use bigint_host::MersenneFactor;

use crate::{Error, Number, Residue, Tries};

/// A function that fetches a residue from a machine.
pub type Later = Box<dyn FnOnce() -> Result<Residue, Error> + Send>;

/// A residue on some machine that is squared again and again.
pub trait Squaring {
    /// Sets the residue.
    ///
    /// # Errors
    /// If the machine fails.
    fn set(&mut self, x: &Residue) -> Result<(), Error>;

    /// The residue.
    ///
    /// # Errors
    /// If the machine fails.
    fn residue(&self) -> Result<Residue, Error>;

    /// The present residue, for another thread to fetch while this machine squares on; `None` where
    /// the machine itself is needed to fetch it.
    ///
    /// # Errors
    /// If the machine fails.
    fn residue_later(&self) -> Result<Option<Later>, Error> {
        Ok(None)
    }

    /// Replaces the residue `x` by `by x^2 - minus`, `times` times; `by` is at most 3.
    ///
    /// # Errors
    /// If the machine fails.
    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error>;

    /// Replaces the residue `x` modulo `2^p - 1` by `by x^2 - minus 2^bit`; both are at most 3.
    ///
    /// # Errors
    /// If the machine fails.
    ///
    /// # Panics
    /// Modulo another number, and if `bit` is not below `p`.
    fn square_shifted(&mut self, _by: u32, _minus: u32, _bit: u32) -> Result<(), Error> {
        panic!("residues are shifted modulo 2^p - 1 alone");
    }

    /// The greatest distance of a word from an integer in all squares so far; 0 where nothing is
    /// rounded.
    ///
    /// # Errors
    /// If the machine fails.
    fn error(&self) -> Result<f64, Error>;

    /// The words of the transform; `None` where nothing is rounded.
    fn words(&self) -> Option<usize>;
}

/// A residue by which a machine multiplies others.
pub struct Factor(Kept);

enum Kept {
    Exact(Residue),
    Transformed(weighted::Factor),
    OnDevice(MersenneFactor),
}

impl Kept {
    fn exact(&self) -> &Residue {
        match self {
            Kept::Exact(residue) => residue,
            _ => panic!("a factor of exact products"),
        }
    }

    fn transformed(&self) -> &weighted::Factor {
        match self {
            Kept::Transformed(factor) => factor,
            _ => panic!("a factor of the CPU's transforms"),
        }
    }

    fn on_device(&self) -> &MersenneFactor {
        match self {
            Kept::OnDevice(factor) => factor,
            _ => panic!("a factor of a device's transforms"),
        }
    }
}

/// A residue on some machine that is multiplied by others.
pub trait Multiplying: Squaring {
    /// The present residue, to multiply by: on this machine and on others that were made alike.
    ///
    /// # Errors
    /// If the machine fails.
    fn keep(&mut self) -> Result<Factor, Error>;

    /// Replaces the residue `x` by `x (factor - less) - minus`.
    ///
    /// # Errors
    /// If the machine fails.
    ///
    /// # Panics
    /// If a factor is of another kind of machine.
    fn multiply(&mut self, factor: &Factor, less: Option<&Factor>, minus: u32)
    -> Result<(), Error>;

    /// Replaces the residue by the product of two sides.
    ///
    /// # Errors
    /// If the machine fails.
    ///
    /// # Panics
    /// As for [`multiply`](Self::multiply).
    fn product(&mut self, operands: [Operand<&Factor>; 2]) -> Result<(), Error>;
}

/// A machine that squares.
pub trait Backend {
    /// The machine's name.
    fn name(&self) -> &str;

    /// A machine that squares modulo this number, by the arithmetic that suits it best, or by a
    /// transform of more than `longer_than` words. They are there for numbers whose `k` and `c` are small; the
    /// rest is squared by the CPU's exact products.
    ///
    /// # Errors
    /// [`Error::TooLong`] where no transform is long enough.
    fn squaring(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error>;

    /// A machine that multiplies modulo this number, as for [`squaring`](Self::squaring): the CPU, unless
    /// there is a faster one.
    ///
    /// # Errors
    /// [`Error::TooLong`] where no transform is long enough.
    fn multiplying(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Multiplying>, Error> {
        Cpu::default().multiplying(number, longer_than)
    }

    /// The bytes that factors of such a machine may take: half of what the system says is free.
    fn memory(&self, _: Number) -> u64 {
        let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("MemAvailable:"));
        let free = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        free.map_or(1 << 30, |free| free * 512)
    }

    /// A machine that tries these candidates for factors: all cores, unless there is a faster one.
    ///
    /// # Errors
    /// If the machine fails.
    fn tries(&self, trial: &Trial) -> Result<Box<dyn Tries>, Error> {
        Ok(Box::new(trial.clone()))
    }

    /// Whether [`squaring`](Self::squaring), [`multiplying`](Self::multiplying) and
    /// [`tries`](Self::tries) return another machine after this failure.
    fn falls_back(&self, _: &Error) -> bool {
        false
    }

    /// The machine's temperature in degrees Celsius, where something tells it.
    fn celsius(&self) -> Option<u32> {
        None
    }
}

/// What an exponent is greater by for a transform of factors that are differences: a quarter of a bit of a
/// word. Products of two sums have errors that are 1.4 times as large again; few of them ask for a longer transform.
fn for_differences(number: Number) -> u32 {
    number.n() / 64
}
