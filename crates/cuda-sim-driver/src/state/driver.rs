//! The one driver of the process: its devices, and the tables of everything but contexts
//! that programs hold handles to.

use crate::environment::faults::{ASKED_FOR, Injected};
use crate::environment::{Environment, environment};
use crate::error::{CONTEXT_LOST, Code, Result};
use crate::state::gpu::Gpu;
use crate::state::graph::{Executable, Graph};
use crate::state::handle::{Handle, Table};
use crate::state::library::{Kernel, Library};
use crate::state::linker::Linker;
use crate::state::memory::Memory;
use crate::state::module::{Function, Module};
use crate::state::pool::Pool;
use crate::state::schedule::Scheduler;
use crate::state::stream::{Event, Stream};
use crate::sync::locked;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// The driver's state; there is one, for the life of the process.
pub struct Driver {
    /// The settings of the environment variables.
    pub environment: &'static Environment,
    /// The devices, by ordinal.
    pub devices: Vec<Device>,
    /// Loaded modules.
    pub modules: Table<Module>,
    /// Linkers at work.
    pub linkers: Table<Linker>,
    /// Loaded libraries.
    pub libraries: Table<Library>,
    /// Kernels of libraries that the program has handles of.
    pub kernels: Table<Kernel>,
    /// Functions of loaded modules that the program has handles of.
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
    /// Descriptions of what was freed only with its context.
    pub abandoned: Mutex<Vec<String>>,
}

/// One simulated device.
pub struct Device {
    /// The simulator's side.
    pub gpu: Gpu,
    pools: Mutex<Pools>,
    /// The code that every call answers once the device is lost; else zero.
    lost: AtomicU32,
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

static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();

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
    let started = DRIVER.get_or_init(|| Driver::start(environment));
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
                pools: Mutex::default(),
                lost: AtomicU32::new(0),
            })
            .collect();
        Ok(Driver {
            environment,
            devices,
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

    /// The device with this ordinal.
    pub fn device(&self, ordinal: i32) -> Result<&Device> {
        usize::try_from(ordinal)
            .ok()
            .and_then(|ordinal| self.devices.get(ordinal))
            .ok_or_else(|| Code::INVALID_DEVICE.because(format!("there is no device {ordinal}")))
    }

    /// Counts a call for `CUDA_SIM_FAULT`; an error if this one is to fail.
    pub fn count_call(&self, function: &str, device: Option<usize>) -> Result {
        match self.environment.faults.count_call(function, device) {
            None => Ok(()),
            Some(Injected { code, loses_device }) => {
                if let (true, Some(device)) = (loses_device, device) {
                    self.devices[device].lose(code);
                }
                Err(code.because(ASKED_FOR))
            }
        }
    }

    /// Frees everything that belongs to a context, and returns descriptions of what should
    /// have been freed before it. The context's work must be done.
    pub fn free_resources_of(&self, context: Handle) -> Vec<String> {
        for library in self.libraries.all() {
            library.leave(context);
        }
        for kernel in self.kernels.all() {
            kernel.leave(context);
        }
        self.functions
            .drain(|function| function.module.context == context);
        let mut left = self.memory.drain(context);
        let modules = self.modules.drain(|module| module.context == context);
        let own = modules.iter().filter(|(_, module)| !module.of_library);
        left.extend(own.map(|(_, module)| module.describe()));
        let streams = self.streams.drain(|stream| stream.context == context);
        left.extend(streams.iter().map(|(handle, _)| handle.named("stream")));
        let events = self.events.drain(|event| event.context == context);
        left.extend(events.iter().map(|(handle, _)| handle.named("event")));
        left
    }
}

impl Device {
    /// The code of a lost device.
    pub fn state(&self) -> Result {
        let code = Code(self.lost.load(Ordering::Acquire));
        code.result().map_err(|code| code.because(CONTEXT_LOST))
    }

    fn lose(&self, code: Code) {
        // The first cause stays.
        let _ = self
            .lost
            .compare_exchange(0, code.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The memory pools, with exclusive access.
    pub fn pools(&self) -> MutexGuard<'_, Pools> {
        locked(&self.pools)
    }
}
