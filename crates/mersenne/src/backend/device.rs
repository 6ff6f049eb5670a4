//! A GPU, alone and beside the CPU.

use std::cell::Cell;
use std::ops::Range;

use bigint_cpu::fast::number::weighted::{Length, Modulus};
use bigint_cpu::fast::trial::Trial;
use bigint_host::{Engine, TrialFactors};

use super::cpu::Exact;
use super::transformed::{Machine, Transformed};
use super::{Backend, Cpu, Multiplying, Squaring, for_differences};
use crate::temperature::Thermometer;
use crate::{Error, Number, Runner, Tries};

/// A CUDA device, whose transforms [`Engine::transform_modulo`] chooses.
#[derive(Debug)]
pub struct Cuda {
    engine: Engine,
    memory_bytes: u64,
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
            memory_bytes: device
                .as_ref()
                .map_or(0, |device| device.memory_bytes as u64),
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
            return match Transformed::on_device(number, longer_than, &self.engine)? {
                Some(transformed) => Ok(Box::new(transformed)),
                None => Cpu::default().squaring(number, longer_than),
            };
        };
        // Very short numbers need no transform.
        if longer_than.is_none() && Length::for_exponent(p).is_none() && p < 1 << 16 {
            return Ok(Exact::boxed(number));
        }
        let limit = Runner::LIMIT;
        let too_long = Error::TooLong { p, limit };
        let modulus = Modulus::mersenne(p);
        let Some(words) = self.engine.transform_modulo(modulus, longer_than) else {
            return Err(too_long);
        };
        match self.engine.squares_modulo(modulus, words)? {
            Some(squares) => Ok(Box::new(Transformed::mersenne(
                number,
                Machine::Device(squares),
            ))),
            None => Err(too_long),
        }
    }

    fn multiplying(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Multiplying>, Error> {
        let Some(p) = number.exponent() else {
            return match Transformed::on_device(number, longer_than, &self.engine)? {
                Some(transformed) => Ok(Box::new(transformed)),
                None => Cpu::default().multiplying(number, longer_than),
            };
        };
        // A transform is chosen for an exponent that is greater.
        let room = Modulus::mersenne(p.saturating_add(for_differences(number)));
        let words = self.engine.transform_modulo(room, longer_than);
        let squares = match words.filter(|&words| words <= p as usize) {
            Some(words) => self.engine.squares_modulo(Modulus::mersenne(p), words)?,
            None => None,
        };
        match squares {
            Some(squares) => Ok(Box::new(Transformed::mersenne(
                number,
                Machine::Device(squares),
            ))),
            None => Cpu::default().multiplying(number, longer_than),
        }
    }

    fn memory(&self, _: Number) -> u64 {
        self.memory_bytes / 2
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

    /// The device, if the number is long enough for it.
    fn device_for(&self, number: Number) -> Option<&Cuda> {
        let suits = number.bits() >= self.device_from.into();
        self.device().filter(|_| suits)
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
        if let Some(cuda) = self.device_for(number) {
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
        if let Some(cuda) = self.device_for(number) {
            match cuda.multiplying(number, longer_than) {
                Err(error) if self.falls_back(&error) => {}
                multiplying => return multiplying,
            }
        }
        self.cpu.multiplying(number, longer_than)
    }

    fn memory(&self, number: Number) -> u64 {
        match self.device_for(number) {
            Some(cuda) => cuda.memory(number),
            None => self.cpu.memory(number),
        }
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
