//! Opening an engine's devices: all at one time, or, for the engine `auto`, by a thread in the
//! background once they pay, while the caller waits or the CPU computes ([`crate::plan::readiness`]).

use crate::common::back_end::Found;
use crate::common::device::{Device, Memory};
use crate::common::notes::Notes;
use crate::common::threads::{each, lock};
use crate::engine::ceilings;
use crate::engine::driver;
use crate::engine::inner::Inner;
use crate::engine::members::Members;
use crate::{DeviceErrorKind, Error};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::time::Duration;
use std::{process, thread};

/// The devices of an engine, which may not be open yet.
pub(crate) struct Devices {
    /// The devices that operations use.
    members: OnceLock<Members>,
    /// The devices that the background has opened, until the next operation takes them up: none
    /// sees devices appear while it runs. The thread that opens them holds the lock.
    opened: Mutex<Option<Members>>,
    is_starting: AtomicBool,
    /// Nanoseconds that the CPU has computed in the devices' place.
    spent: AtomicU64,
    /// How many times as much work is expected in all ([`Engine::expect`](crate::Engine::expect)),
    /// as the bits of an `f64`.
    times: AtomicU64,
    /// The notes of earlier processes, once they are read.
    notes: OnceLock<Option<Notes>>,
    /// The process that the engine was made in.
    process: u32,
}

/// The devices of an engine that has not opened them yet.
static NOBODY: Members = Members::NOBODY;

impl Devices {
    /// An engine's devices, open already.
    pub fn open(members: Members) -> Self {
        Devices {
            members: OnceLock::from(members),
            ..Devices::asleep()
        }
    }

    /// Whatever devices there are, to be opened later.
    pub fn asleep() -> Self {
        Devices {
            members: OnceLock::new(),
            opened: Mutex::default(),
            is_starting: AtomicBool::new(false),
            spent: AtomicU64::new(0),
            times: AtomicU64::new(1_f64.to_bits()),
            notes: OnceLock::new(),
            process: process::id(),
        }
    }

    /// The devices for another engine.
    pub fn again(&self) -> Self {
        match self.members.get() {
            Some(members) => Devices::open(members.ready_again()),
            None => Devices::asleep(),
        }
    }

    /// The open devices.
    pub fn members(&self) -> &Members {
        self.members.get().unwrap_or(&NOBODY)
    }

    /// Whether operations see no devices because they are not open yet.
    pub fn are_asleep(&self) -> bool {
        self.members.get().is_none()
    }

    /// Takes up the devices that the background has opened.
    pub fn look(&self) {
        let opened = match self.opened.try_lock() {
            Ok(mut opened) => opened.take(),
            Err(TryLockError::Poisoned(opened)) => opened.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(members) = opened {
            // Nobody else has any: they are opened under the lock.
            let _ = self.members.set(members);
        }
    }

    /// Whether the background has begun to open the devices.
    pub fn are_starting(&self) -> bool {
        self.is_starting.load(Ordering::Relaxed)
    }

    /// What earlier processes noted. The file is read once.
    pub fn notes(&self) -> Option<&Notes> {
        self.notes.get_or_init(Notes::read).as_ref()
    }

    /// How many times as much work is expected in all.
    pub fn times(&self) -> f64 {
        f64::from_bits(self.times.load(Ordering::Relaxed))
    }

    /// Notes how many times as much work is expected in all.
    pub fn expect(&self, times: f64) {
        self.times
            .store(times.max(1.0).to_bits(), Ordering::Relaxed);
    }

    /// How long the CPU has computed in the devices' place.
    pub fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed))
    }

    /// Adds to the time that the CPU has computed in the devices' place.
    pub fn spend(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.spent.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

impl Inner {
    /// Opens the devices if that has not begun, and waits until they are open.
    pub fn open_now(&self) {
        // In a forked process nobody opens them whom it could wait for.
        if self.devices.are_asleep() && self.devices.process == process::id() {
            self.open();
            self.devices.look();
        }
    }

    /// Opens devices whose start takes no time. A thread of a pool does not wait for that.
    pub fn open_if_that_is_free(&self) {
        let is_free = self.tuning().start.driver_ms <= 0.0;
        if is_free && self.devices.are_asleep() && !bigint_cpu::is_in_pool() {
            self.open_now();
        }
    }

    /// Opens the devices in the background if that has not begun, and then does `more` with them.
    pub fn open_in_background(
        self: &Arc<Self>,
        more: impl FnOnce(&Inner, &[Arc<dyn Device>]) + Send + 'static,
    ) {
        if !self.devices.is_starting.swap(true, Ordering::Relaxed) {
            let engine = Arc::clone(self);
            in_background(move || {
                let devices = engine.open();
                more(&engine, &devices);
            });
        }
    }

    /// Opens the devices if that has not begun; no operation sees them yet.
    fn open(&self) -> Vec<Arc<dyn Device>> {
        let mut opened = lock(&self.devices.opened);
        let members = match self.devices.members.get() {
            Some(members) => members,
            None => opened.get_or_insert_with(|| {
                let (members, warnings) = whatever_there_is();
                warnings.into_iter().for_each(|warning| self.warn(warning));
                members
            }),
        };
        members.devices().map(Arc::clone).collect()
    }
}

/// Every usable device, and a warning for each other one.
fn whatever_there_is() -> (Members, Vec<String>) {
    match driver::devices() {
        Ok(found) => {
            let (members, errors) = open(found);
            (members, errors.iter().map(going_on).collect())
        }
        // A machine without a driver is as it should be.
        Err(error) => match error.kind {
            DeviceErrorKind::NotBuilt | DeviceErrorKind::NoDriver(_) => {
                (Members::NOBODY, Vec::new())
            }
            _ => (Members::NOBODY, vec![going_on(&error.into())]),
        },
    }
}

/// The warning about a device that cannot be opened.
pub(crate) fn going_on(error: &Error) -> String {
    format!("{error}; going on without it")
}

/// Opens those of these devices that can be opened; answers them and the errors of the others.
pub(crate) fn open(found: Vec<Found>) -> (Members, Vec<Error>) {
    let mut described = found.iter().flatten();
    let first = described.next();
    let are_alike = described.all(|device| first.is_none_or(|first| device.is_like(first)));
    // A context takes some tenths of a second, and does not wait for another's.
    let open = |found: Found| -> Result<_, Error> {
        let described = found?;
        let device = driver::open(described.ordinal, Memory::Plain)?;
        let rate = match are_alike {
            true => 1.0,
            false => ceilings::rate(&device, described.memory_bytes)?,
        };
        Ok((device, rate))
    };
    let (mut members, mut errors) = (Vec::new(), Vec::new());
    for opened in each(found, open) {
        match opened {
            Ok(member) => members.push(member),
            Err(error) => errors.push(error),
        }
    }
    (Members::new(members), errors)
}

/// The number of background threads that are in the driver.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// The number of background threads that have left the driver.
static ENDED: AtomicUsize = AtomicUsize::new(0);

/// The number of background threads that have left the driver so far: while it stays, nothing that is
/// in the background is ready.
pub(crate) fn ended() -> usize {
    ENDED.load(Ordering::Acquire)
}

/// A count of one in [`BUSY`], until it is dropped.
struct Busy;

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.fetch_sub(1, Ordering::Release);
        ENDED.fetch_add(1, Ordering::Release);
    }
}

/// Does `work`, which is in the driver, on a thread of its own; leaves it where no thread can be
/// had.
pub(crate) fn in_background(work: impl FnOnce() + Send + 'static) {
    BUSY.fetch_add(1, Ordering::Relaxed);
    let busy = Busy;
    // A thread that cannot be had takes with it what it was to do.
    let _ = thread::Builder::new().spawn(move || {
        work();
        drop(busy);
    });
}

/// Whether an engine `auto` is still starting a device or having a kernel compiled in the
/// background. What is in the background keeps devices open.
pub fn is_busy() -> bool {
    BUSY.load(Ordering::Acquire) > 0
}

/// Ends the process at once where [`is_busy`], and else does nothing.
///
/// A driver need not survive that a program ends in the middle of it; a program of which all is
/// written says so by this, as the last it does, and need not wait. Nothing that the C library
/// would do at the end of a process is done.
pub fn exit_if_busy(code: u8) {
    if is_busy() {
        driver::exit(code);
    }
}
