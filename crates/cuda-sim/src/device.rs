//! A simulated device: its memory, the modules loaded on it, and launches.

use crate::arch::Arch;
use crate::check::{Checks, Fault, FaultKind};
use crate::count::Counts;
use crate::exec::{self, Clusters, EPOCHS, Launch, Layout, Schedule};
use crate::grid::{Grid, LaunchOptions};
use crate::memory::{Memory, OutOfMemory, is_global};
use crate::occupancy::{BlockNeeds, resident_blocks};
use crate::ptx::{Global, Kernel, Module};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// What a device is and what it watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceConfig {
    /// The architecture: its limits hold for every launch.
    pub arch: Arch,
    /// Bytes of global memory. Nothing is committed before it is touched.
    pub memory_bytes: u64,
    /// Which mistakes to look for.
    pub checks: Checks,
    /// Whether to count what launches do.
    pub count: bool,
    /// Whether to make a digest of what their warps execute ([`Counts::trace`]), where they
    /// are counted.
    pub trace: bool,
    /// Instructions that each block may issue (counted per warp) before the
    /// launch fails with [`FaultKind::InstructionBudget`]; without a budget an
    /// endless loop never returns. [`DeviceConfig::BUDGET`] by default.
    pub instruction_budget: Option<u64>,
    /// The order in which blocks and warps take turns.
    pub schedule: Schedule,
    /// The device's number among those of a process, below 16: no address of one device is
    /// another's too.
    pub ordinal: u32,
}

impl DeviceConfig {
    /// Warp instructions of one block that take the simulator a minute or two: what
    /// does not end, ends.
    pub const BUDGET: u64 = 1 << 32;
}

impl Default for DeviceConfig {
    /// The oldest architecture with 4 GiB, every check on, counting.
    fn default() -> Self {
        DeviceConfig {
            arch: Arch::default(),
            memory_bytes: 4 << 30,
            checks: Checks::ALL,
            count: true,
            trace: false,
            instruction_budget: Some(Self::BUDGET),
            schedule: Schedule::default(),
            ordinal: 0,
        }
    }
}

/// What a launch that ended well did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The counts; all zero where the device does not count.
    pub counts: Counts,
}

/// Why a module could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The PTX is for a newer architecture than the device's, or for another one alone (`sm_90a`).
    #[error("the PTX targets {target}, the device is sm_{device}")]
    TargetTooNew {
        /// The target of the PTX.
        target: String,
        /// The number of the device's architecture.
        device: u32,
    },
    /// The module's variables do not fit.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// A variable's initial value, or an instruction, names a variable that the
    /// module only declares.
    #[error("undefined symbol `{0}`")]
    UndefinedSymbol(String),
}

/// A module on a device: its variables have addresses.
#[derive(Clone, Debug)]
pub struct LoadedModule {
    module: Arc<Module>,
    addresses: HashMap<String, u64>,
    /// The addresses in the order of the module's variables.
    globals: Vec<u64>,
}

impl LoadedModule {
    /// The module that was loaded.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.module.kernel(name)
    }

    /// Address and size in bytes of a variable.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        let address = *self.addresses.get(name)?;
        let global = self.module.globals().iter().find(|g| g.name == name)?;
        Some((address, global.size))
    }
}

/// A simulated GPU. All methods take `&self`; launches of one device run one
/// after the other, however many threads ask for them.
pub struct Device {
    config: DeviceConfig,
    memory: RwLock<Memory>,
    /// Held by a launch; the last epoch that was given out.
    epoch: Mutex<u32>,
    /// The text that kernels have printed since it was last taken.
    printed: Mutex<String>,
}

impl Device {
    /// A device with empty memory.
    pub fn new(config: DeviceConfig) -> Device {
        Device {
            config,
            memory: RwLock::new(Memory::new(
                config.memory_bytes,
                config.checks,
                config.ordinal,
            )),
            epoch: Mutex::new(0),
            printed: Mutex::default(),
        }
    }

    /// The configuration that the device was made from.
    pub fn config(&self) -> &DeviceConfig {
        &self.config
    }

    /// Takes what kernels have printed (`vprintf`) since this was last asked for, that
    /// of faulting launches too.
    pub fn take_printed(&self) -> String {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut printed)
    }

    // Nothing panics while the lock is held for writing except on a bug, and
    // memory is consistent after every statement.
    fn memory(&self) -> RwLockReadGuard<'_, Memory> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory_mut(&self) -> RwLockWriteGuard<'_, Memory> {
        self.memory.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `bytes` of global memory and returns their address, a multiple of
    /// 256. The contents are uninitialised. Addresses are never used twice.
    ///
    /// # Errors
    /// If that much is not free; allocations count in whole granules of 256 bytes.
    pub fn alloc(&self, bytes: u64) -> Result<u64, OutOfMemory> {
        Ok(self.memory_mut().alloc(bytes, true)?.start)
    }

    /// Takes `bytes` of global memory at an address of the caller's, a multiple of
    /// 256: memory that host and device have at the same address.
    ///
    /// # Errors
    /// If that much is not free, or something lies there.
    pub fn alloc_at(&self, address: u64, bytes: u64) -> Result<(), OutOfMemory> {
        self.memory_mut().alloc_at(address, bytes, true)?;
        Ok(())
    }

    /// Gives an allocation back.
    ///
    /// # Errors
    /// If no allocation begins at the address.
    pub fn free(&self, address: u64) -> Result<(), Fault> {
        self.memory_mut().free(address)
    }

    /// Copies device memory to the host.
    ///
    /// # Errors
    /// If the bytes do not lie within one allocation.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        self.memory().read(address, bytes)
    }

    /// The first byte of a range that nothing has written, or that was written with what
    /// nobody defined; nothing where [`Checks::uninitialised`] is off. Who copies results to
    /// the host learns here whether they are results.
    ///
    /// # Errors
    /// If the bytes do not lie within one allocation.
    pub fn first_unwritten(&self, address: u64, bytes: u64) -> Result<Option<u64>, Fault> {
        self.memory().first_unwritten(address, bytes)
    }

    /// Copies host memory to the device.
    ///
    /// # Errors
    /// If the bytes do not lie within one allocation.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.memory().write(address, bytes)
    }

    /// Fills `bytes` bytes with repetitions of `pattern`, the last one cut short
    /// where it does not fit; an empty pattern changes nothing.
    ///
    /// # Errors
    /// If the bytes do not lie within one allocation.
    pub fn fill(&self, address: u64, pattern: &[u8], bytes: u64) -> Result<(), Fault> {
        self.memory().fill(address, pattern, bytes)
    }

    /// Copies `bytes` bytes within the device; source and target may overlap.
    /// Uninitialised bytes stay uninitialised.
    ///
    /// # Errors
    /// If either side does not lie within one allocation.
    pub fn copy(&self, to: u64, from: u64, bytes: u64) -> Result<(), Fault> {
        self.memory().copy(to, from, bytes)
    }

    /// Start and length in bytes of everything not freed, loaded modules'
    /// variables included, by ascending address.
    pub fn allocations(&self) -> Vec<(u64, u64)> {
        self.memory()
            .live()
            .map(|allocation| (allocation.start, allocation.len))
            .collect()
    }

    /// Bytes of global memory: free, and in all.
    pub fn memory_info(&self) -> (u64, u64) {
        self.memory().info()
    }

    /// Puts a module's variables into device memory.
    ///
    /// # Errors
    /// See [`LoadError`]. Nothing stays allocated after an error.
    pub fn load(&self, module: &Module) -> Result<LoadedModule, LoadError> {
        let device = self.config.arch.sm();
        // What ends with a letter is for this one architecture.
        let is_for_one = module.target().ends_with('a');
        if module.target_sm() > device || is_for_one && module.target_sm() < device {
            return Err(LoadError::TargetTooNew {
                target: module.target().to_owned(),
                device,
            });
        }
        let mut addresses = HashMap::new();
        let placed = self.place(module, &mut addresses);
        if let Err(error) = placed {
            self.release(&addresses);
            return Err(error);
        }
        let globals = module
            .globals()
            .iter()
            .map(|g| addresses[&g.name])
            .collect();
        Ok(LoadedModule {
            module: Arc::new(module.clone()),
            addresses,
            globals,
        })
    }

    fn place(
        &self,
        module: &Module,
        addresses: &mut HashMap<String, u64>,
    ) -> Result<(), LoadError> {
        for global in module.globals() {
            let allocation = self.memory_mut().alloc(global.size, !global.constant)?;
            addresses.insert(global.name.clone(), allocation.start);
        }
        for global in module.globals() {
            let bytes = initial_bytes(global, addresses, module)?;
            let address = addresses[&global.name];
            // The allocation was made with this very length.
            let written = self.write(address, &bytes);
            debug_assert!(written.is_ok());
        }
        Ok(())
    }

    fn release(&self, addresses: &HashMap<String, u64>) {
        let mut memory = self.memory_mut();
        for &address in addresses.values() {
            let freed = memory.free(address);
            debug_assert!(freed.is_ok());
        }
    }

    /// Takes a module's variables off the device.
    pub fn unload(&self, module: LoadedModule) {
        self.release(&module.addresses);
    }

    fn workspace(&self) -> Result<u64, OutOfMemory> {
        let workspace = self.memory_mut().alloc(WORKSPACE_BYTES.into(), true)?.start;
        let written = self.write(workspace, &u64::from(WORKSPACE_BYTES).to_le_bytes());
        debug_assert!(written.is_ok());
        Ok(workspace)
    }

    /// Runs a kernel to its end. `params` is the parameter buffer, laid out as
    /// [`Kernel::params`] says, at least [`Kernel::param_bytes`] long.
    ///
    /// # Errors
    /// The first mistake found, by ascending block; a launch that the
    /// architecture or the kernel does not allow does nothing at all.
    pub fn launch(
        &self,
        module: &LoadedModule,
        kernel: &str,
        grid: Grid,
        params: &[u8],
    ) -> Result<Report, Fault> {
        self.launch_with(module, kernel, grid, params, LaunchOptions::default())
    }

    /// Blocks of a kernel that the device holds at once, with so many threads and
    /// bytes of dynamic shared memory each. The true number depends on the registers
    /// that an assembler gives a thread; [`Kernel::registers`] estimates them.
    pub fn resident_blocks(&self, kernel: &Kernel, threads: u32, shared_bytes: u32) -> u64 {
        let needs = BlockNeeds {
            threads,
            // A launch bound holds the assembler to what fits.
            registers: kernel.registers.min(self.config.arch.registers_per_thread),
            shared: u64::from(kernel.shared_bytes) + u64::from(shared_bytes),
        };
        let blocks = resident_blocks(&self.config.arch, needs).max(1);
        u64::from(blocks) * u64::from(self.config.arch.multiprocessors)
    }

    /// Runs a kernel whose blocks belong together. As [`Device::launch`] otherwise.
    ///
    /// # Errors
    /// As for [`Device::launch`]; and if the device does not hold so many cooperative blocks,
    /// or clusters are none that it has: before sm_90 it has none, there they have at
    /// most 16 blocks and divide the grid evenly.
    pub fn launch_with(
        &self,
        module: &LoadedModule,
        kernel: &str,
        grid: Grid,
        params: &[u8],
        options: LaunchOptions,
    ) -> Result<Report, Fault> {
        let fault = |kind, detail| Err(Fault::of_launch(kind, kernel, detail));
        let Some(entry) = module.kernel(kernel) else {
            return fault(
                FaultKind::InvalidLaunch,
                "no such kernel in the module".into(),
            );
        };
        if params.len() < entry.param_bytes as usize {
            let detail = format!(
                "{} bytes of parameters given, {} expected",
                params.len(),
                entry.param_bytes
            );
            return fault(FaultKind::InvalidLaunch, detail);
        }
        check_limits(&self.config.arch, entry, grid)?;
        let clusters = clusters(&self.config.arch, entry, grid, options.cluster)?;
        let cooperative = options.cooperative;
        let resident = self.resident_blocks(entry, grid.threads() as u32, grid.shared_bytes);
        if cooperative && grid.blocks() > resident {
            let detail = format!(
                "{} blocks in a cooperative launch, of which the device holds {resident}",
                grid.blocks()
            );
            return fault(FaultKind::LaunchTooLarge, detail);
        }
        let workspace = if cooperative {
            match self.workspace() {
                Ok(workspace) => workspace,
                Err(why) => return fault(FaultKind::LaunchTooLarge, why.to_string()),
            }
        } else {
            0
        };
        let mut epoch = self.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        let allocations: Vec<_> = self.memory().live().cloned().collect();
        let mut next_epoch = || {
            *epoch += 1;
            if *epoch == EPOCHS {
                for allocation in &allocations {
                    allocation.clear_races();
                }
                *epoch = 1;
            }
            *epoch
        };
        let decoded = module.module.decoded();
        let launch = Launch {
            program: &decoded.program,
            entry: &decoded.entries[kernel],
            kernel,
            arch: &self.config.arch,
            checks: self.config.checks,
            count: self.config.count,
            trace: self.config.trace,
            budget: self.config.instruction_budget,
            grid,
            params: &params[..entry.param_bytes as usize],
            globals: &module.globals,
            allocations: &allocations,
            epoch: next_epoch(),
            schedule: self.config.schedule,
            shared: Layout::new(
                &decoded.entries[kernel],
                grid.shared_bytes,
                self.config.checks.bounds,
            ),
            resident,
            cooperative,
            workspace,
            clusters,
            printed: &self.printed,
        };
        let done = exec::run(launch, next_epoch);
        if cooperative {
            let freed = self.free(workspace);
            debug_assert!(freed.is_ok());
        }
        match done {
            Ok(counts) => Ok(Report { counts }),
            Err(mut fault) => {
                if fault.kind == FaultKind::OutOfBounds
                    && let Some(address) = fault.address.filter(|&a| is_global(a))
                {
                    let near = self.memory().near(address);
                    fault.detail.push_str(&near);
                }
                Err(fault)
            }
        }
    }
}

/// The workspace of a cooperative launch, as CUDA's `grid_group::sync` finds it through
/// `%envreg1` and `%envreg2`: its size, and the barrier of the grid.
const WORKSPACE_BYTES: u32 = 8;

/// The bytes of a variable once the addresses of all are known.
fn initial_bytes(
    global: &Global,
    addresses: &HashMap<String, u64>,
    module: &Module,
) -> Result<Vec<u8>, LoadError> {
    let mut bytes = global.initial.clone();
    for relocation in &global.relocations {
        let variable = addresses.get(&relocation.symbol).copied();
        let function = || module.decoded().program.address_of(&relocation.symbol);
        let Some(address) = variable.or_else(function) else {
            return Err(LoadError::UndefinedSymbol(relocation.symbol.clone()));
        };
        let value = (address.wrapping_add(relocation.addend) & relocation.mask)
            >> relocation.mask.trailing_zeros().min(63);
        let offset = relocation.offset as usize;
        let len = relocation.bytes as usize;
        bytes[offset..offset + len].copy_from_slice(&value.to_le_bytes()[..len]);
    }
    Ok(bytes)
}

/// Blocks that a cluster may have at most: 8 on every chip that has clusters, 16 where
/// the program says that it knows its chip.
const MOST_OF_CLUSTER: u64 = 16;

/// The clusters of a launch, held to what the architecture and the kernel allow.
fn clusters(
    arch: &Arch,
    kernel: &Kernel,
    grid: Grid,
    asked: Option<[u32; 3]>,
) -> Result<Clusters, Fault> {
    let fault = |kind, detail| Err(Fault::of_launch(kind, &kernel.name, detail));
    if let (Some(asked), Some(required)) = (asked, kernel.required_cluster)
        && asked != required
    {
        let detail = format!("clusters of {asked:?} blocks, exactly {required:?} required");
        return fault(FaultKind::InvalidLaunch, detail);
    }
    let Some(shape) = asked.or(kernel.required_cluster) else {
        return Ok(Clusters {
            shape: [1; 3],
            explicit: false,
        });
    };
    let clusters = Clusters {
        shape,
        explicit: true,
    };
    let divides = (0..3).all(|axis| grid.grid[axis].is_multiple_of(shape[axis]));
    let fits = shape.iter().all(|&n| u64::from(n) <= MOST_OF_CLUSTER);
    if arch.sm() < 90 || !divides || !fits || clusters.size() > MOST_OF_CLUSTER {
        let detail = format!(
            "clusters of {shape:?} blocks in a grid of {:?}; they have at most \
             {MOST_OF_CLUSTER} blocks, divide the grid and come with sm_90 (sm_{})",
            grid.grid,
            arch.sm()
        );
        return fault(FaultKind::LaunchTooLarge, detail);
    }
    Ok(clusters)
}

/// Holds a launch to what the architecture and the kernel allow.
fn check_limits(arch: &Arch, kernel: &Kernel, grid: Grid) -> Result<(), Fault> {
    let too_large = |detail: String| {
        Err(Fault::of_launch(
            FaultKind::LaunchTooLarge,
            &kernel.name,
            format!("{detail} (sm_{})", arch.sm()),
        ))
    };
    for (axis, name) in ["x", "y", "z"].iter().enumerate() {
        let (blocks, most) = (grid.grid[axis], arch.max_grid_dim[axis]);
        if blocks == 0 || blocks > most {
            return too_large(format!("{blocks} blocks along {name}, 1 to {most} allowed"));
        }
        let (threads, most) = (grid.block[axis], arch.max_block_dim[axis]);
        if threads == 0 || threads > most {
            return too_large(format!(
                "{threads} threads along {name}, 1 to {most} allowed"
            ));
        }
    }
    let threads = grid.threads();
    let most = kernel.max_threads.min(arch.max_threads_per_block);
    if threads > u64::from(most) {
        return too_large(format!(
            "{threads} threads in a block, at most {most} allowed"
        ));
    }
    if let Some(required) = kernel.required_threads.filter(|&r| r != grid.block) {
        return too_large(format!(
            "blocks of {:?} threads, exactly {required:?} required",
            grid.block
        ));
    }
    let shared = u64::from(kernel.shared_bytes) + u64::from(grid.shared_bytes);
    let most = arch.shared_per_block_optin;
    if shared > u64::from(most) || kernel.shared_bytes > arch.shared_per_block {
        return too_large(format!(
            "{} bytes of static and {} of dynamic shared memory, at most {} and {most} in all allowed",
            kernel.shared_bytes, grid.shared_bytes, arch.shared_per_block
        ));
    }
    if kernel.param_bytes > arch.max_param_bytes {
        return too_large(format!(
            "{} bytes of parameters, at most {} allowed",
            kernel.param_bytes, arch.max_param_bytes
        ));
    }
    Ok(())
}
