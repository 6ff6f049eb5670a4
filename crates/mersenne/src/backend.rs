//! Machines that square modulo a number: the CPU, by either arithmetic, and a GPU.

use std::cell::Cell;
use std::ops::Range;

use bigint_cpu::Path;
use bigint_cpu::fast::number::weighted::{self, Length, Weighted};
use bigint_cpu::fast::trial::Trial;
use bigint_host::plan::mersenne_by_doubles;
use bigint_host::{Engine, MersenneSquares, TrialFactors};

use crate::scaled::Scaled;
use crate::temperature::Thermometer;
use crate::{Error, Number, Residue, Runner, Tries};

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

    /// Whether [`square_shifted`](Self::square_shifted) is there.
    fn subtracts_anywhere(&self) -> bool {
        false
    }

    /// Replaces the residue `x` by `by x^2 - minus 2^bit`.
    ///
    /// # Errors
    /// If the machine fails.
    ///
    /// # Panics
    /// If it is not there.
    fn square_shifted(&mut self, _by: u32, _minus: u32, _bit: u32) -> Result<(), Error> {
        panic!("the machine subtracts from the first word alone");
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
}

/// A residue on some machine that is multiplied by others.
pub trait Multiplying: Squaring {
    /// The present residue, to multiply by: on this machine and on others that were made alike.
    ///
    /// # Errors
    /// If the machine fails.
    fn keep(&mut self) -> Result<Factor, Error>;

    /// Replaces the residue `x` by `x (factor - less)`.
    ///
    /// # Errors
    /// If the machine fails.
    ///
    /// # Panics
    /// If a factor is of another kind of machine.
    fn multiply(&mut self, factor: &Factor, less: Option<&Factor>) -> Result<(), Error>;
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

    /// A machine that multiplies modulo this number: the CPU, by the arithmetic that suits it best, or
    /// by a transform of more than `longer_than` words.
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

    /// A machine that tries these candidates for factors: all cores, unless there is a faster one.
    ///
    /// # Errors
    /// If the machine fails.
    fn tries(&self, trial: &Trial) -> Result<Box<dyn Tries>, Error> {
        Ok(Box::new(trial.clone()))
    }

    /// Whether [`squaring`](Self::squaring) and [`tries`](Self::tries) return another machine after
    /// this failure.
    fn falls_back(&self, _: &Error) -> bool {
        false
    }

    /// The machine's temperature in degrees Celsius, where something tells it.
    fn celsius(&self) -> Option<u32> {
        None
    }
}

/// The arithmetic by which the CPU squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    /// The one that is faster for the exponent.
    #[default]
    Auto,
    /// The engine's exact product, folded modulo `2^p - 1`.
    Exact,
    /// The weighted transform in doubles, with its error watched.
    Fp64,
}

/// The CPU, with all its threads.
#[derive(Clone, Debug)]
pub struct Cpu {
    /// The arithmetic.
    pub arithmetic: Arithmetic,
    /// The instructions it uses.
    pub path: Path,
    /// The lengths of transforms to choose from, in words; empty for all.
    pub lengths: Vec<usize>,
}

impl Default for Cpu {
    fn default() -> Self {
        Cpu {
            arithmetic: Arithmetic::Auto,
            path: bigint_cpu::Cpu::current().path(),
            lengths: Vec::new(),
        }
    }
}

impl Cpu {
    fn length(&self, p: u32, longer_than: Option<usize>) -> Option<Length> {
        let first = match longer_than {
            Some(words) => Length::of_words(words)?.next(),
            None => Length::for_exponent(p),
        }?;
        let listed = |length: &Length| self.lengths.contains(&length.words());
        let longer = || Length::all().skip_while(move |length| length.words() < first.words());
        Some(longer().find(listed).unwrap_or(first))
    }

    /// The machine with a transform for an exponent that is greater by `more`; `None` where exact
    /// products are to be taken.
    fn transformed(
        &self,
        number: Number,
        longer_than: Option<usize>,
        more: u32,
    ) -> Result<Option<Transformed>, Error> {
        let Some(p) = number.exponent() else {
            return Ok(None);
        };
        let exact = match self.arithmetic {
            Arithmetic::Auto => !mersenne_by_doubles(p),
            Arithmetic::Exact => true,
            Arithmetic::Fp64 => false,
        };
        if exact {
            return Ok(None);
        }
        let length = self.length(p.saturating_add(more), longer_than);
        let Some(length) = length.filter(|length| length.words() <= p as usize) else {
            // Very short numbers need no transform, and very long ones get none.
            let limit = Runner::LIMIT;
            return match self.arithmetic {
                Arithmetic::Fp64 => Err(Error::TooLong { p, limit }),
                _ => Ok(None),
            };
        };
        let weighted = Weighted::new(p, length, self.path);
        let error = 0.0;
        Ok(Some(Transformed { p, weighted, error }))
    }

    /// The bits of a number from which on transforms are faster than exact products.
    const SCALED: u64 = 8000;

    /// The machine for a number that is not `2^p - 1`: a transform, or exact products where there is none.
    fn scaled(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error> {
        let is_exact = match self.arithmetic {
            Arithmetic::Auto => number.bits() < Self::SCALED,
            Arithmetic::Exact => true,
            Arithmetic::Fp64 => false,
        };
        if is_exact {
            return Ok(Exact::boxed(number));
        }
        let found = Scaled::on_cpu(number, longer_than.and_then(Length::of_words), self.path);
        Ok(match found {
            Some(scaled) => Box::new(scaled),
            None => Exact::boxed(number),
        })
    }
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn squaring(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error> {
        if number.exponent().is_none() {
            return self.scaled(number, longer_than);
        }
        Ok(match self.transformed(number, longer_than, 0)? {
            Some(transformed) => Box::new(transformed),
            None => Exact::boxed(number),
        })
    }

    fn multiplying(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Multiplying>, Error> {
        // A quarter of a bit of a word for factors that are differences.
        let more = number.n() / 64;
        Ok(match self.transformed(number, longer_than, more)? {
            Some(transformed) => Box::new(transformed),
            None => Box::new(Exact(Residue::from_u64(number, 0))),
        })
    }
}

/// Squares by the engine's exact product, folded modulo the number.
struct Exact(Residue);

impl Exact {
    fn boxed(number: Number) -> Box<dyn Squaring> {
        Box::new(Exact(Residue::from_u64(number, 0)))
    }
}

impl Squaring for Exact {
    fn set(&mut self, x: &Residue) -> Result<(), Error> {
        self.0 = x.clone();
        Ok(())
    }

    fn residue(&self) -> Result<Residue, Error> {
        Ok(self.0.clone())
    }

    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        for _ in 0..times {
            self.0 = self.0.square_minus(by, minus);
        }
        Ok(())
    }

    fn subtracts_anywhere(&self) -> bool {
        true
    }

    fn square_shifted(&mut self, by: u32, minus: u32, bit: u32) -> Result<(), Error> {
        let less = Residue::from_u64(self.0.number(), minus.into()).shifted(bit);
        self.0 = self.0.square_minus(by, 0).minus(&less);
        Ok(())
    }

    fn error(&self) -> Result<f64, Error> {
        Ok(0.0)
    }

    fn words(&self) -> Option<usize> {
        None
    }
}

impl Multiplying for Exact {
    fn keep(&mut self) -> Result<Factor, Error> {
        Ok(Factor(Kept::Exact(self.0.clone())))
    }

    fn multiply(&mut self, factor: &Factor, less: Option<&Factor>) -> Result<(), Error> {
        let residue = |Factor(kept): &'_ Factor| match kept {
            Kept::Exact(residue) => residue.clone(),
            Kept::Transformed(_) => panic!("a factor of exact products"),
        };
        let factor = match less {
            Some(less) => residue(factor).minus(&residue(less)),
            None => residue(factor),
        };
        self.0 = self.0.mul(&factor);
        Ok(())
    }
}

/// Squares by the weighted transform.
struct Transformed {
    p: u32,
    weighted: Weighted,
    error: f64,
}

impl Transformed {
    fn erred(&mut self, error: f64) {
        self.error = if error.is_nan() {
            f64::INFINITY
        } else {
            self.error.max(error)
        };
    }
}

impl Multiplying for Transformed {
    fn keep(&mut self) -> Result<Factor, Error> {
        Ok(Factor(Kept::Transformed(self.weighted.keep())))
    }

    fn multiply(&mut self, factor: &Factor, less: Option<&Factor>) -> Result<(), Error> {
        let [factor, less] = [Some(factor), less].map(|factor| match factor {
            Some(Factor(Kept::Transformed(factor))) => Some(factor),
            Some(Factor(Kept::Exact(_))) => panic!("a factor of transforms"),
            None => None,
        });
        let error = self.weighted.multiply(factor.expect("it is there"), less);
        self.erred(error);
        Ok(())
    }
}

impl Squaring for Transformed {
    fn set(&mut self, x: &Residue) -> Result<(), Error> {
        self.weighted.set(x.limbs());
        Ok(())
    }

    fn residue(&self) -> Result<Residue, Error> {
        Ok(Residue::reduce(self.p, &self.weighted.residue()))
    }

    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        for _ in 0..times {
            let error = self.weighted.square(by, minus);
            self.erred(error);
        }
        Ok(())
    }

    fn subtracts_anywhere(&self) -> bool {
        true
    }

    fn square_shifted(&mut self, by: u32, minus: u32, bit: u32) -> Result<(), Error> {
        let error = self.weighted.square_shifted(by, minus, bit);
        self.erred(error);
        Ok(())
    }

    fn error(&self) -> Result<f64, Error> {
        Ok(self.error)
    }

    fn words(&self) -> Option<usize> {
        Some(self.weighted.length().words())
    }
}

/// A CUDA device, whose transforms [`Engine::mersenne_transform`] chooses.
#[derive(Debug)]
pub struct Cuda {
    engine: Engine,
    thermometer: Option<Thermometer>,
}

impl Cuda {
    /// Opens device `ordinal`.
    ///
    /// # Errors
    /// [`Error::Device`] where that cannot be used.
    pub fn open(ordinal: usize) -> Result<Self, Error> {
        let engine = Engine::cuda(ordinal)?;
        let devices = bigint_host::devices().unwrap_or_default();
        let device = devices
            .into_iter()
            .flatten()
            .find(|device| device.ordinal == ordinal);
        Ok(Cuda {
            engine,
            thermometer: device.and_then(|device| Thermometer::of(&device)),
        })
    }
}

impl Backend for Cuda {
    fn name(&self) -> &str {
        "cuda"
    }

    fn squaring(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error> {
        let Some(p) = number.exponent() else {
            return match Scaled::on_device(number, longer_than, &self.engine)? {
                Some(scaled) => Ok(Box::new(scaled)),
                None => Cpu::default().squaring(number, longer_than),
            };
        };
        // Very short numbers need no transform.
        if longer_than.is_none() && Length::for_exponent(p).is_none() && p < 1 << 16 {
            return Ok(Exact::boxed(number));
        }
        let limit = Runner::LIMIT;
        let too_long = Error::TooLong { p, limit };
        let Some(words) = self.engine.mersenne_transform(p, longer_than) else {
            return Err(too_long);
        };
        match self.engine.mersenne_squares(p, words)? {
            Some(squares) => Ok(Box::new(OnDevice { p, squares })),
            None => Err(too_long),
        }
    }

    fn tries(&self, trial: &Trial) -> Result<Box<dyn Tries>, Error> {
        Ok(match self.engine.trial_factors(trial.clone())? {
            Some(factors) => Box::new(factors),
            None => Box::new(trial.clone()),
        })
    }

    fn celsius(&self) -> Option<u32> {
        self.thermometer.as_ref()?.celsius()
    }
}

impl Tries for TrialFactors {
    fn divisors(&self, segments: Range<u64>) -> Result<Vec<u128>, Error> {
        Ok(TrialFactors::divisors(self, segments)?)
    }
}

/// Squares by the weighted transform of a device.
struct OnDevice {
    p: u32,
    squares: MersenneSquares,
}

impl Squaring for OnDevice {
    fn set(&mut self, x: &Residue) -> Result<(), Error> {
        Ok(self.squares.set(x.limbs())?)
    }

    fn residue(&self) -> Result<Residue, Error> {
        Ok(Residue::reduce(self.p, &self.squares.residue()?))
    }

    fn residue_later(&self) -> Result<Option<Later>, Error> {
        let (p, residue) = (self.p, self.squares.residue_now()?);
        Ok(Some(Box::new(move || {
            Ok(Residue::reduce(p, &residue.limbs()?))
        })))
    }

    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        Ok(self.squares.square(times, by, minus)?)
    }

    fn error(&self) -> Result<f64, Error> {
        let error = self.squares.error()?;
        Ok(if error.is_nan() { f64::INFINITY } else { error })
    }

    fn words(&self) -> Option<usize> {
        Some(self.squares.words())
    }
}

/// A device for long exponents, and the CPU for short ones, and for all once the device has
/// failed.
#[derive(Debug)]
pub struct Auto {
    cuda: Option<Cuda>,
    cpu: Cpu,
    has_failed: Cell<bool>,
    /// The least bits of a number for the device: below, its launches take longer than an iteration of the
    /// CPU.
    pub device_from: u32,
    /// The least number of candidates of trial factoring for the device.
    pub device_from_candidates: u128,
}

impl Auto {
    /// Device `ordinal`, if it can be used, and this CPU.
    pub fn new(ordinal: usize, cpu: Cpu) -> Self {
        Auto {
            cuda: Cuda::open(ordinal).ok(),
            cpu,
            has_failed: Cell::new(false),
            device_from: 500_000,
            device_from_candidates: 1 << 27,
        }
    }

    fn device(&self) -> Option<&Cuda> {
        self.cuda.as_ref().filter(|_| !self.has_failed.get())
    }
}

impl Backend for Auto {
    fn name(&self) -> &str {
        match self.device() {
            Some(_) => "cuda or cpu",
            None => "cpu",
        }
    }

    fn squaring(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error> {
        let suits = number.bits() >= self.device_from.into();
        if let Some(cuda) = self.device().filter(|_| suits) {
            match cuda.squaring(number, longer_than) {
                Err(error) if self.falls_back(&error) => {}
                // Its lengths end before the CPU's.
                Err(Error::TooLong { .. }) => self.has_failed.set(true),
                squaring => return squaring,
            }
        }
        self.cpu.squaring(number, longer_than)
    }

    fn multiplying(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Multiplying>, Error> {
        self.cpu.multiplying(number, longer_than)
    }

    fn tries(&self, trial: &Trial) -> Result<Box<dyn Tries>, Error> {
        // Fewer take the CPU no longer than a device its first launch.
        let is_worth_it = trial.count(&(0..trial.segments())) >= self.device_from_candidates;
        if let Some(cuda) = self.device().filter(|_| is_worth_it) {
            match cuda.tries(trial) {
                Err(error) if self.falls_back(&error) => {}
                tries => return tries,
            }
        }
        self.cpu.tries(trial)
    }

    fn falls_back(&self, error: &Error) -> bool {
        matches!(error, Error::Device(_)) && !self.has_failed.replace(true)
    }

    fn celsius(&self) -> Option<u32> {
        self.device()?.celsius()
    }
}
