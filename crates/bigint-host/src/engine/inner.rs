//! What an engine and its batches share: devices, thresholds, memory for results, and what is
//! done where devices fail.

use crate::common::device::{Buffer, Device};
use crate::common::limbs;
use crate::common::pool::Pool;
use crate::common::threads::lock;
use crate::engine::members::{self, Members};
use crate::engine::start::Devices;
use crate::{BackEnd, DeviceError, DeviceErrorKind, DeviceSet, Error, Tuning};
use bigint_core::{Limb, Shape};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an engine does where its devices fail, or are no good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resort {
    /// Return the error. What a device has not the memory for is done in pieces.
    None,
    /// Hand the work to the other devices, then to the CPU.
    Failures,
    /// The same, and use the CPU for what suits it better.
    Always,
}

/// What the engine's batches share.
pub(crate) struct Inner {
    pub devices: Devices,
    pub resort: Resort,
    tuning: Tuning,
    warnings: Mutex<Vec<String>>,
    /// How operations were computed, where that is wanted.
    pub choices: Arc<Choices>,
    /// Host memory for results.
    pub pool: Arc<Pool>,
}

/// Numbers of many lengths are computed in many ways; a reader wants no more of them.
const MOST_NOTED: usize = 50;

/// How operations were computed, in words: each way once.
#[derive(Default)]
pub(crate) struct Choices {
    is_wanted: AtomicBool,
    noted: Mutex<Vec<String>>,
}

impl Choices {
    /// Has operations to come noted.
    pub fn want(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    pub fn note(&self, choice: String) {
        let mut noted = lock(&self.noted);
        if noted.len() < MOST_NOTED && !noted.contains(&choice) {
            noted.push(choice);
        }
    }

    /// Hands over what was noted.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.noted))
    }
}

impl Inner {
    pub fn new(devices: Devices, resort: Resort, tuning: Tuning) -> Self {
        Inner {
            devices,
            resort,
            tuning,
            warnings: Mutex::default(),
            choices: Arc::default(),
            pool: Arc::default(),
        }
    }

    /// The same devices, with memory for so many limbs of results to come.
    pub fn keeping(&self, limbs: usize) -> Self {
        let pool = Pool::keeping(limbs);
        let pool = match self.pool.is_for_secrets() {
            true => pool.for_secrets(),
            false => pool,
        };
        Inner {
            pool: Arc::new(pool),
            ..self.with_tuning(self.tuning.clone())
        }
    }

    /// The same devices, where memory is overwritten before it is given back.
    pub fn for_secrets(&self) -> Result<Self, Error> {
        // Memory is another than that of devices that the background opens.
        self.open_now();
        let mut inner = self.with_tuning(self.tuning.clone());
        inner.devices = Devices::open(self.devices.members().for_secrets()?);
        inner.pool = Arc::new(self.pool.for_secrets());
        Ok(inner)
    }

    /// The same devices under other thresholds; warnings move along.
    pub fn with_tuning(&self, tuning: Tuning) -> Self {
        let warnings = Mutex::new(self.take_warnings());
        Inner {
            warnings,
            choices: Arc::clone(&self.choices),
            pool: Arc::new(self.pool.alike()),
            ..Inner::new(self.devices.again(), self.resort, tuning)
        }
    }

    /// The same without devices: for what threads of a pool compute by several operations at
    /// one time, of which none may wait for a device.
    pub fn on_cpu(&self) -> Self {
        Inner {
            choices: Arc::clone(&self.choices),
            pool: Arc::clone(&self.pool),
            ..Inner::new(
                Devices::open(Members::NOBODY),
                self.resort,
                self.tuning.clone(),
            )
        }
    }

    /// Hands the warnings over; they are told once.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock_warnings())
    }

    /// The devices that can be used.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<dyn Device>> {
        self.devices.members().devices()
    }

    /// The first of them, for what one device does.
    pub fn device(&self) -> Option<&Arc<dyn Device>> {
        self.devices().next()
    }

    /// Who computes.
    pub fn back_end(&self) -> BackEnd {
        let ordinals = self.devices().map(|device| device.ordinal());
        DeviceSet::new(ordinals).map_or(BackEnd::Cpu, BackEnd::Cuda)
    }

    /// Which of so many numbers each device takes, of so much work in picoseconds.
    pub fn shares(&self, count: usize, work: f64) -> Vec<(&Arc<dyn Device>, Range<usize>)> {
        let devices = members::devices(work, self.tuning.devices.launch_ns);
        self.devices.members().shares(count, devices)
    }

    fn lock_warnings(&self) -> MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a warning, if it does not wait to be told already.
    pub fn warn(&self, warning: String) {
        let mut warnings = self.lock_warnings();
        if !warnings.contains(&warning) {
            tracing::warn!("{warning}");
            warnings.push(warning);
        }
    }

    /// Decides about a device error: returned by an engine that is bound to its
    /// device, else noted, with what is done instead.
    pub fn make_good(&self, error: Error, instead: &str) -> Result<(), Error> {
        match error {
            Error::Device(error) if self.falls_back() => {
                if error.is_fatal() {
                    self.devices.members().lose(error.ordinal);
                }
                self.warn(format!("{error}; {instead}"));
                Ok(())
            }
            error => Err(error),
        }
    }

    /// [`Inner::make_good`], where the device's work goes to the others, or to the CPU.
    pub fn hand_over(&self, error: Error) -> Result<(), Error> {
        let ordinal = match &error {
            Error::Device(error) => Some(error.ordinal),
            _ => None,
        };
        let has_others = self
            .devices()
            .any(|device| Some(device.ordinal()) != ordinal);
        self.make_good(
            error,
            match has_others {
                true => "handing its numbers to the other devices",
                false => "computing on the CPU",
            },
        )
    }

    /// Whether errors of devices are made good.
    pub fn falls_back(&self) -> bool {
        self.resort != Resort::None
    }

    /// Whether results remember how they were made. They would keep secrets that were dropped.
    pub fn remembers(&self) -> bool {
        self.falls_back() && !self.pool.is_for_secrets()
    }

    /// The thresholds.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Host memory for results of these shapes, whose padding is clear.
    pub fn memory(&self, shapes: &[Shape]) -> Result<Vec<Vec<Limb>>, Error> {
        let of_one = |shape: &Shape| {
            let mut limbs = self.pool.take(shape.limbs())?;
            limbs::clear_padding(&mut limbs, *shape);
            Ok(limbs)
        };
        shapes.iter().map(of_one).collect()
    }

    /// Copies what a device of the engine has of a batch, numbers of this shape; nothing where the
    /// engine goes on without it.
    pub fn download(
        &self,
        buffer: &Buffer,
        shape: Shape,
        limbs: &mut [Limb],
    ) -> Result<Option<()>, Error> {
        let mut devices = self.devices();
        let device = devices.find(|device| buffer.is_of(device));
        let brought = device.map(|device| {
            device.clear_padding(buffer, shape)?;
            device.download(buffer, limbs)
        });
        Ok(brought.transpose()?)
    }

    /// The error of a result that was lost with a device.
    pub fn lost(&self, during: &str) -> Error {
        Error::Device(DeviceError {
            ordinal: self.devices.members().first_ordinal().unwrap_or(0),
            during: during.to_owned(),
            kind: DeviceErrorKind::Lost("an earlier error ended it".to_owned()),
        })
    }
}
