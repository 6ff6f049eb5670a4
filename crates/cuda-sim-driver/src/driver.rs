//! The one driver of the process: its devices, and the tables of everything that
//! programs hold handles to.

use crate::context::Context;
use crate::environment::{Environment, Leaks};
use crate::error::{Code, Result};
use crate::failures;
use crate::faults::{ASKED_FOR, Injected};
use crate::ffi;
use crate::gpu::Gpu;
use crate::graph::{Executable, Graph};
use crate::handle::{Handle, Table};
use crate::leaks;
use crate::library::{Kernel, Library};
use crate::linker::Linker;
use crate::log;
use crate::memory::Memory;
use crate::module::{Function, Module};
use crate::pool::Pool;
use crate::schedule::Scheduler;
use crate::stream::{Event, Stream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The driver's state; there is one, for the life of the process.
pub struct Driver {
    /// What the environment asked for.
    pub environment: &'static Environment,
    /// The devices, by ordinal.
    pub devices: Vec<Device>,
    /// Created contexts and primary contexts that are retained.
    pub contexts: Table<Context>,
    /// Loaded modules.
    pub modules: Table<Module>,
    /// Linkers at work.
    pub linkers: Table<Linker>,
    /// Loaded libraries.
    pub libraries: Table<Library>,
    /// Kernels of libraries that somebody asked for.
    pub kernels: Table<Kernel>,
    /// Functions of loaded modules that somebody asked for.
    pub functions: Table<Function>,
    /// Created streams.
    pub streams: Table<Stream>,
    /// Created events.
    pub events: Table<Event>,
    /// Graphs.
    pub graphs: Table<Graph>,
    /// Graphs made ready to launch.
    pub executables: Table<Executable>,
    /// Memory pools, each device's default one among them.
    pub pools: Table<Pool>,
    /// Device, managed and page-locked memory.
    pub memory: Memory,
    /// Work under way.
    pub scheduler: Scheduler,
    /// What went unfreed when its context was destroyed, in words.
    pub abandoned: Mutex<Vec<String>>,
}

/// One simulated device.
pub struct Device {
    /// The simulator's side.
    pub gpu: Gpu,
    /// The primary context.
    pub primary: Mutex<Primary>,
    pools: Mutex<Pools>,
    /// The code that every call answers once the device is lost; else zero.
    lost: AtomicU32,
}

/// A device's primary context: made at the first retain, with the same handle
/// for as long as the process lives.
#[derive(Default)]
pub struct Primary {
    /// Retains less releases.
    pub retained: u32,
    /// The scheduling flags it has or will have.
    pub flags: u32,
    /// The context, while retained.
    pub context: Option<Arc<Context>>,
    /// Its handle, once it had one.
    pub handle: Option<Handle>,
}

/// A device's memory pools.
#[derive(Default)]
pub struct Pools {
    default: Option<Handle>,
    /// The one that allocations on streams come from, if not the default one.
    pub current: Option<Handle>,
}

impl Pools {
    /// The pool that the device always has.
    pub fn default(&mut self, driver: &Driver, ordinal: usize) -> Handle {
        *self.default.get_or_insert_with(|| {
            let pool = Pool::new(ordinal, false);
            let handle = pool.handle;
            driver.pools.insert(handle, Arc::new(pool));
            handle
        })
    }

    /// The pool that allocations on streams come from.
    pub fn current(&mut self, driver: &Driver, ordinal: usize) -> Handle {
        match self.current {
            Some(pool) => pool,
            None => self.default(driver, ordinal),
        }
    }
}

static ENVIRONMENT: OnceLock<Result<Environment, ()>> = OnceLock::new();
static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();

/// The environment; what is wrong with it is said once, on stderr.
pub fn environment() -> Result<&'static Environment> {
    let environment = ENVIRONMENT.get_or_init(|| {
        Environment::read(std::env::vars_os(), ffi::exists)
            .map_err(|why| log::say(None, &format!("bad environment: {why}")))
    });
    environment.as_ref().map_err(|()| Code::INVALID_VALUE)
}

/// The driver, which `cuInit` must have started.
pub fn driver() -> Result<&'static Driver> {
    match DRIVER.get() {
        Some(Ok(driver)) => Ok(driver),
        Some(Err(code)) => Err(*code),
        None => Err(Code::NOT_INITIALIZED.because("cuInit was not called, or failed")),
    }
}

/// `cuInit`: reads the environment and builds the devices, the first time.
pub fn initialise() -> Result<&'static Driver> {
    let environment = environment()?;
    let started = DRIVER.get_or_init(|| {
        let driver = Driver::start(environment)?;
        if environment.leaks != Leaks::Ignore {
            leaks::report_at_exit();
        }
        Ok(driver)
    });
    started.as_ref().map_err(|code| *code)
}

impl Driver {
    fn start(environment: &'static Environment) -> Result<Driver> {
        if environment.devices.is_empty() {
            return Err(Code::NO_DEVICE.because("CUDA_SIM_DEVICES=none"));
        }
        let devices = environment
            .devices
            .iter()
            .enumerate()
            .map(|(ordinal, spec)| Device {
                gpu: Gpu::new(ordinal, *spec, environment),
                primary: Mutex::default(),
                pools: Mutex::default(),
                lost: AtomicU32::new(0),
            })
            .collect();
        Ok(Driver {
            environment,
            devices,
            contexts: Table::default(),
            modules: Table::default(),
            libraries: Table::default(),
            linkers: Table::default(),
            kernels: Table::default(),
            graphs: Table::default(),
            executables: Table::default(),
            pools: Table::default(),
            functions: Table::default(),
            streams: Table::default(),
            events: Table::default(),
            memory: Memory::default(),
            scheduler: Scheduler::new(environment.schedule),
            abandoned: Mutex::default(),
        })
    }

    /// Tells people something: on stderr or in `CUDA_SIM_LOG`.
    pub fn say(&self, message: &str) {
        log::say(self.environment.log.as_deref(), message);
    }

    /// The device with this ordinal.
    pub fn device(&self, ordinal: i32) -> Result<&Device> {
        usize::try_from(ordinal)
            .ok()
            .and_then(|ordinal| self.devices.get(ordinal))
            .ok_or_else(|| Code::INVALID_DEVICE.because(format!("there is no device {ordinal}")))
    }

    /// Counts a call for `CUDA_SIM_FAULT`; an error if this one is to fail.
    pub fn strike(&self, function: &str, device: Option<usize>) -> Result {
        match self.environment.faults.strike(function, device) {
            None => Ok(()),
            Some(Injected { code, loses_device }) => {
                if let (true, Some(device)) = (loses_device, device) {
                    self.devices[device].lose(code);
                }
                Err(code.because(ASKED_FOR))
            }
        }
    }

    /// Whether a context met an error that it does not survive.
    pub fn is_dead(&self, context: Handle) -> bool {
        let context = self.contexts.get(context);
        context.is_some_and(|context| context.is_dead())
    }

    /// Frees everything that belongs to a context, and notes what should have
    /// been freed before it. The context's work must be done.
    pub fn free_resources_of(&self, context: &Context) {
        let mine = context.handle;
        for library in self.libraries.all() {
            library.leave(mine);
        }
        for kernel in self.kernels.all() {
            kernel.leave(mine);
        }
        self.functions
            .drain(|function| function.module.context == mine);
        let mut left = self.memory.drain(self, mine);
        for (handle, module) in self.modules.drain(|module| module.context == mine) {
            if !module.of_library {
                left.push(leaks::module(handle, &module));
            }
        }
        for (handle, _) in self.streams.drain(|s| s.context.handle == mine) {
            left.push(leaks::stream(handle));
        }
        for (handle, _) in self.events.drain(|event| event.context == mine) {
            left.push(leaks::event(handle));
        }
        // Nobody can free anything in a dead context.
        if !context.is_dead() {
            self.abandoned
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(left);
        }
    }
}

impl Device {
    /// The code of a lost device.
    pub fn state(&self) -> Result {
        let code = Code(self.lost.load(Ordering::Acquire));
        code.result().map_err(|code| code.because(failures::DEAD))
    }

    fn lose(&self, code: Code) {
        // The first cause stays.
        let _ = self
            .lost
            .compare_exchange(0, code.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The memory pools, with exclusive access.
    pub fn pools(&self) -> std::sync::MutexGuard<'_, Pools> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The primary context, with exclusive access.
    pub fn primary(&self) -> std::sync::MutexGuard<'_, Primary> {
        self.primary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
