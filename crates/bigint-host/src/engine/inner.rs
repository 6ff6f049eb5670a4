//! The state that an engine shares with its batches: devices, thresholds and memory for results,
//! and what happens when devices fail.

use crate::common::device::{Buffer, Device};
use crate::common::facts::Facts;
use crate::common::job::Job;
use crate::common::limbs;
use crate::common::pool::Pool;
use crate::common::threads::lock;
use crate::engine::members::{self, Members};
use crate::engine::start::Devices;
use crate::{BackEnd, DeviceError, DeviceErrorKind, DeviceSet, Error, Tuning};
use bigint_core::{Limb, Shape};
use std::cell::Cell;
use std::fmt::Display;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an engine does when its devices fail or do not suit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resort {
    /// Return the error. Work that exceeds a device's memory is done in pieces.
    None,
    /// Hand the work to the other devices, then to the CPU.
    Failures,
    /// As [`Resort::Failures`], and use the CPU also for work that suits it better.
    Always,
}

/// The state that an engine's clones and batches share.
pub(crate) struct Inner {
    pub devices: Devices,
    pub resort: Resort,
    tuning: Tuning,
    /// The thresholds on each kind of device.
    tunings: Mutex<Vec<(Option<Facts>, Arc<Tuning>)>>,
    warnings: Mutex<Vec<String>>,
    /// The record of how operations were computed.
    pub choices: Arc<Choices>,
    /// Host memory for results.
    pub pool: Arc<Pool>,
}

/// The most entries of that record: numbers of many lengths are computed in many ways, and a reader
/// wants no more.
const MOST_NOTED: usize = 50;

thread_local! {
    /// Whether this thread does [steps](Choices::as_steps).
    static IS_STEP: Cell<bool> = const { Cell::new(false) };
}

/// A record, in words, of how operations were computed, each way once.
#[derive(Default)]
pub(crate) struct Choices {
    is_wanted: AtomicBool,
    noted: Mutex<Vec<String>>,
}

impl Choices {
    /// Begins the record.
    pub fn want(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Whether what this thread computes is noted.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed) && !IS_STEP.get()
    }

    /// Does the steps of what has been noted as a whole, which are not noted.
    pub fn as_steps<R>(&self, steps: impl FnOnce() -> R) -> R {
        let was = IS_STEP.replace(true);
        let done = steps();
        IS_STEP.set(was);
        done
    }

    pub fn note(&self, choice: String) {
        let mut noted = lock(&self.noted);
        if noted.len() < MOST_NOTED && !noted.contains(&choice) {
            noted.push(choice);
        }
    }

    /// Takes the entries out.
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
            tunings: Mutex::default(),
            warnings: Mutex::default(),
            choices: Arc::default(),
            pool: Arc::default(),
        }
    }

    /// The same devices with another limit, in limbs, to the memory that is kept.
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

    /// The same devices, opened anew so that memory is overwritten before it is freed.
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

    /// The engine without devices. Threads of a pool use it that compute several operations at one
    /// time: none of them may wait for a device.
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

    /// The engine on the first usable device alone, whose errors it returns.
    pub fn on_first_device(&self) -> Self {
        self.on_device(self.device())
    }

    /// The engine on one of its devices alone, whose errors it returns.
    pub fn on_device(&self, device: Option<&Arc<dyn Device>>) -> Self {
        let one = device.map(|device| (Arc::clone(device), 1.0));
        let members = Members::new(one.into_iter().collect());
        Inner {
            choices: Arc::clone(&self.choices),
            pool: Arc::clone(&self.pool),
            ..Inner::new(Devices::open(members), Resort::None, self.tuning.clone())
        }
    }

    /// Takes the warnings out.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock_warnings())
    }

    /// The devices that can be used.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<dyn Device>> {
        self.devices.members().devices()
    }

    /// The first usable device, for work that one device does.
    pub fn device(&self) -> Option<&Arc<dyn Device>> {
        self.devices().next()
    }

    /// The back end.
    pub fn back_end(&self) -> BackEnd {
        let ordinals = self.devices().map(|device| device.ordinal());
        DeviceSet::new(ordinals).map_or(BackEnd::Cpu, BackEnd::Cuda)
    }

    /// The range of `count` numbers that each device takes, of `work` picoseconds of work.
    pub fn shares(&self, count: usize, work: f64) -> Vec<(&Arc<dyn Device>, Range<usize>)> {
        let devices = members::devices(work, self.tuning.devices.launch_ns);
        self.devices.members().shares(count, devices)
    }

    fn lock_warnings(&self) -> MutexGuard<'_, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a warning, unless the same one waits already.
    pub fn warn(&self, warning: String) {
        let mut warnings = self.lock_warnings();
        if !warnings.contains(&warning) {
            tracing::warn!("{warning}");
            warnings.push(warning);
        }
    }

    /// Handles a device error: an engine bound to its device returns it, another notes it with what
    /// is done instead.
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

    /// Handles a device error with [`Inner::make_good`]; the work goes to other devices or to the
    /// CPU.
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

    /// Whether the work of failed devices is done otherwise.
    pub fn falls_back(&self) -> bool {
        self.resort != Resort::None
    }

    /// Whether results remember how they were made. For an engine for secrets they do not, as they
    /// would keep secrets that were dropped.
    pub fn remembers(&self) -> bool {
        self.falls_back() && !self.pool.is_for_secrets()
    }

    /// The thresholds.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// The thresholds on a device of which its driver tells this: as they are, or what a model makes of them ([`Tuning::on`]).
    pub fn tuning_on(&self, facts: Option<Facts>) -> Arc<Tuning> {
        let mut tunings = lock(&self.tunings);
        if let Some((_, tuning)) = tunings.iter().find(|(of, _)| *of == facts) {
            return Arc::clone(tuning);
        }
        let tuning = match &facts {
            Some(facts) => self.tuning.on(facts),
            None => self.tuning.clone(),
        };
        tunings.push((facts, Arc::new(tuning)));
        Arc::clone(&tunings[tunings.len() - 1].1)
    }

    /// Host memory for results of these shapes, with zeros in the padding.
    pub fn memory(&self, shapes: &[Shape]) -> Result<Vec<Vec<Limb>>, Error> {
        let of_one = |shape: &Shape| {
            let mut limbs = self.pool.take(shape.limbs())?;
            limbs::clear_padding(&mut limbs, *shape);
            Ok(limbs)
        };
        shapes.iter().map(of_one).collect()
    }

    /// Copies a device's buffer, numbers of this shape, to the host; nothing where the device
    /// failed and the engine goes on without it.
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

    /// Notes, where choices are wanted, how a job on operands of these widths was composed of other operations.
    pub fn note_composed(&self, job: Job, widths: &[usize], how: impl Display) {
        if !self.choices.is_wanted() {
            return;
        }
        let widths: Vec<String> = widths.iter().map(usize::to_string).collect();
        self.choices.note(format!(
            "{} of {} limbs, {} numbers\n  {}: {how}",
            job.operation.name(),
            widths.join(" x "),
            job.count(),
            self.back_end(),
        ));
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
