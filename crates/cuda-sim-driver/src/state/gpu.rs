//! A device of the simulator, with the driver's error codes for its faults.

use crate::environment::{DeviceSpec, Environment, log};
use crate::error::{Code, Result};
use sim::ptx::Module;
use sim::{
    Arch, Class, Counts, Device, DeviceConfig, Fault, FaultKind, Grid, LaunchOptions, LoadError,
    LoadedModule,
};
use std::fmt::Write as _;
use std::io::Write as _;

/// One simulated device.
pub struct Gpu {
    device: Device,
    ordinal: usize,
    environment: &'static Environment,
}

impl Gpu {
    /// Device number `ordinal`, after its description.
    pub fn new(ordinal: usize, spec: DeviceSpec, environment: &'static Environment) -> Gpu {
        let config = DeviceConfig {
            arch: spec.arch,
            memory_bytes: spec.memory,
            checks: environment.checks,
            count: environment.counts.is_some(),
            trace: environment.counts.is_some(),
            instruction_budget: Some(environment.budget),
            schedule: environment.blocks,
            // Unified addressing: an address says which device it is on.
            ordinal: ordinal as u32,
        };
        Gpu {
            device: Device::new(config),
            ordinal,
            environment,
        }
    }

    /// The number by which programs know the device.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The GPU's architecture.
    pub fn arch(&self) -> &Arch {
        &self.device.config().arch
    }

    /// The GPU's name: that of a real product, marked as simulated.
    pub fn name(&self) -> String {
        format!("Simulated {} (sm_{})", self.arch().name, self.arch().sm())
    }

    /// Bytes of memory: free, and in all.
    pub fn memory_info(&self) -> (u64, u64) {
        self.device.memory_info()
    }

    /// Takes memory; the address is a multiple of 256.
    pub fn alloc(&self, bytes: u64) -> Result<u64> {
        self.device.alloc(bytes).map_err(|_| self.full(bytes))
    }

    /// Takes memory at an address that the host has the memory of.
    pub fn alloc_at(&self, address: u64, bytes: u64) -> Result {
        let taken = self.device.alloc_at(address, bytes);
        taken.map_err(|_| self.full(bytes))
    }

    /// The error where so much memory cannot be had.
    pub fn full(&self, bytes: u64) -> Code {
        let (free, total) = self.memory_info();
        let why = format!("{bytes} bytes are asked for, {free} of {total} are free");
        Code::OUT_OF_MEMORY.because(why)
    }

    /// Gives memory back that [`Gpu::alloc`] or [`Gpu::alloc_at`] took.
    pub fn free(&self, address: u64) {
        if let Err(fault) = self.device.free(address) {
            self.report(&fault);
        }
    }

    /// Copies to the host.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result {
        self.answer(self.device.read(address, bytes))
    }

    /// With the check `copies`, an error unless something has written all of a range that
    /// is to go to the host.
    pub fn check_written(&self, address: u64, bytes: u64) -> Result {
        if !self.environment.checks_copies {
            return Ok(());
        }
        let Some(unwritten) = self.answer(self.device.first_unwritten(address, bytes))? else {
            return Ok(());
        };
        let code = Code::LAUNCH_FAILED;
        self.environment.say(&format!(
            "a copy to the host of {bytes} bytes from {address:#x} on: nothing defined has been \
             written to {unwritten:#x}; device {} answers {code}",
            self.ordinal
        ));
        Err(code)
    }

    /// Copies from the host.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result {
        self.answer(self.device.write(address, bytes))
    }

    /// Repeats `unit` over `bytes` bytes.
    pub fn fill(&self, address: u64, unit: &[u8], bytes: usize) -> Result {
        self.answer(self.device.fill(address, unit, bytes as u64))
    }

    /// Copies within the device.
    pub fn copy(&self, to: u64, from: u64, bytes: usize) -> Result {
        self.answer(self.device.copy(to, from, bytes as u64))
    }

    /// Puts a module on the device; the error comes with words for the JIT log.
    pub fn load(&self, module: &Module) -> Result<LoadedModule, (Code, String)> {
        self.device.load(module).map_err(|error| {
            let code = match error {
                LoadError::TargetTooNew { .. } => Code::NO_BINARY_FOR_GPU,
                LoadError::OutOfMemory(_) => Code::OUT_OF_MEMORY,
                LoadError::UndefinedSymbol(_) => Code::INVALID_PTX,
            };
            (code, error.to_string())
        })
    }

    /// Takes a module off the device.
    pub fn unload(&self, module: LoadedModule) {
        self.device.unload(module);
    }

    /// Runs a kernel to its end. A fault is logged, once.
    pub fn launch(
        &self,
        module: &LoadedModule,
        kernel: &str,
        grid: Grid,
        params: &[u8],
        options: LaunchOptions,
    ) -> Result {
        let done = self
            .device
            .launch_with(module, kernel, grid, params, options);
        print(&self.device.take_printed());
        let report = self.answer(done)?;
        if let Some(path) = &self.environment.counts {
            let line = self.counts_line(kernel, grid, &report.counts);
            if let Err(why) = log::append(path, &line) {
                let path = path.display();
                self.environment
                    .say(&format!("cannot write CUDA_SIM_COUNTS={path}: {why}"));
            }
        }
        Ok(())
    }

    fn answer<T>(&self, outcome: std::result::Result<T, Fault>) -> Result<T> {
        outcome.map_err(|fault| {
            self.report(&fault);
            code_of(fault.kind)
        })
    }

    fn report(&self, fault: &Fault) {
        let code = code_of(fault.kind);
        let message = format!("{fault}; device {} answers {code}", self.ordinal);
        self.environment.say(&message);
    }

    /// A launch's counts as one line of JSON.
    fn counts_line(&self, kernel: &str, grid: Grid, counts: &Counts) -> String {
        let mut line = format!(
            r#"{{"device":{},"arch":"sm_{}","kernel":"{}","grid":{:?},"block":{:?},"shared_bytes":{}"#,
            self.ordinal,
            self.arch().sm(),
            // A PTX identifier has no character that JSON would escape.
            kernel,
            grid.grid,
            grid.block,
            grid.shared_bytes,
        );
        // Writing to a string cannot fail.
        for (name, number) in counts.totals() {
            let _ = write!(line, r#","{name}":{number}"#);
        }
        let _ = write!(line, r#","trace":{}"#, counts.trace);
        line.push_str(r#","lane_instructions_by_class":{"#);
        for (index, class) in Class::ALL.into_iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let lanes = counts.class(class).lanes;
            let _ = write!(line, r#"{comma}"{}":{lanes}"#, class.name());
        }
        line.push_str("}}\n");
        line
    }
}

/// The code that a real device answers to such a mistake. What only a checker notices (a race, an
/// uninitialised word, ...) is a failed launch.
fn code_of(kind: FaultKind) -> Code {
    match kind {
        FaultKind::OutOfBounds | FaultKind::ReadOnly => Code::ILLEGAL_ADDRESS,
        FaultKind::Misaligned => Code::MISALIGNED_ADDRESS,
        // `trap` raises an exception that the driver reports as such.
        FaultKind::Trap => Code::LAUNCH_FAILED,
        FaultKind::InstructionBudget | FaultKind::Deadlock => Code::LAUNCH_TIMEOUT,
        FaultKind::StackOverflow => Code::HARDWARE_STACK_ERROR,
        FaultKind::InvalidTarget => Code::INVALID_PC,
        FaultKind::InvalidOperand | FaultKind::Unknown => Code::ILLEGAL_INSTRUCTION,
        _ => Code::LAUNCH_FAILED,
    }
}

/// Shows what a kernel has printed, on stdout as CUDA does.
fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    // Nobody may be there to read it, which is nobody's fault here.
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
}
