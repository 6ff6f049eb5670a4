//! Launches kernels on the simulator and counts what they do: for the benchmark that prints
//! it, and for the test that holds kernels to it.

use bigint_core::kernel::{power_window, widest_window};
use bigint_core::operation::Cost;
use bigint_core::specialization::Specialization;
use bigint_core::transform::{ROOTS, fill_roots};
use bigint_core::{Algorithm, Arguments, Kernel, Layout, Limb, MatrixArgument, Operation, Shape};
use bigint_host::{Options, Tuning};
use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Class, Counts, Device, DeviceConfig, Grid};
use serde::Serialize;
use std::collections::HashMap;

/// What one kernel does at one width.
#[derive(Serialize)]
pub struct Row {
    pub op: &'static str,
    pub level: &'static str,
    pub algorithm: &'static str,
    pub lanes: u32,
    pub layout: &'static str,
    pub bits: usize,
    /// Whether `auto` takes it for a batch that fills a device.
    pub best: bool,
    /// 32x32->64 multiply-adds for each pair of limbs of two operands.
    pub madds_per_n2: f64,
    /// Instructions of a lane for each multiply-add; none where there are none.
    pub instructions_per_madd: Option<f64>,
    /// Instructions of a lane for each limb of the result.
    pub instructions_per_limb: f64,
    /// 32-byte sectors of global memory moved, over the fewest that hold operands, results and what
    /// powers write of their tables and read: those of requests that a warp's share of the caches does
    /// not have.
    pub sector_ratio: f64,
    /// Sectors of every request, over as many.
    pub request_ratio: f64,
    /// Passes of shared memory beyond the fewest, over the fewest.
    pub bank_conflict_ratio: f64,
    /// Branches at which a warp parted, over all.
    pub divergence: f64,
    /// What each pipe does for one number.
    pub pipes: Pipes,
}

/// What each pipe does for one number: the counts from which times on other devices are modelled
/// (`bigint-host/tuning/pipes.toml`).
#[derive(Serialize)]
pub struct Pipes {
    /// 32x32->64 multiply-adds.
    pub multiply_adds: f64,
    /// Floating-point instructions of a lane.
    pub floats: f64,
    /// Multiply-adds of tensor cores.
    pub tensor: f64,
    /// Passes of shared memory.
    pub shared: f64,
    /// Instructions of warps, but for moves, of which machine code has few.
    pub issued: f64,
    /// Bytes of global memory that move.
    pub bytes: f64,
}

impl Pipes {
    /// Of what a launch on `n` numbers did.
    fn of(counts: &Counts, n: f64) -> Self {
        let moves = [Class::Move, Class::Param].map(|class| counts.class(class).warps);
        let issued = counts.warp_instructions() - moves.iter().sum::<u64>();
        Pipes {
            multiply_adds: counts.multiply_adds as f64 / n,
            floats: counts.class(Class::Float).lanes as f64 / n,
            tensor: counts.matrix_multiply_adds as f64 / n,
            shared: counts.shared_wavefronts as f64 / n,
            issued: issued as f64 / n,
            bytes: 32.0 * counts.sectors_moved() as f64 / n,
        }
    }
}

/// Limbs of each operand, about: enough for every block of a few to have work.
const LIMBS: usize = 1 << 13;

/// Numbers in a batch that fills a device, for the choice of `auto`.
pub const MANY: usize = 1 << 22;

/// The widths of operands and of the result, in limbs.
pub fn widths(operation: Operation, bits: usize) -> (Vec<usize>, usize) {
    let width = bits.div_ceil(Limb::BITS as usize);
    let widths = vec![width; operation.declaration().operands.len()];
    let result = operation.exact_width(&widths);
    (widths, result)
}

/// Modules of one kernel each, by its name and by what it is specialised to.
pub type Modules = HashMap<(&'static str, Specialization), Module>;

/// The kernel's module as the driver gets it.
fn module(kernel: &Kernel, known: Specialization) -> Module {
    let entry = kernel.entry_point();
    let ptx = bigint_host::ptx(entry.module).expect("every kernel's module is embedded");
    let own = bigint_host::specialize(ptx, entry, &known);
    Module::parse(&own).unwrap_or_else(|e| panic!("{}: {e}", kernel.name))
}

/// A batch of random numbers in device memory.
fn batch(device: &Device, shape: Shape, state: &mut u64) -> MatrixArgument {
    let mut random = || {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 32) as Limb
    };
    let bytes: Vec<u8> = (0..shape.limbs())
        .flat_map(|_| random().to_le_bytes())
        .collect();
    let address = device.alloc(bytes.len() as u64).expect("memory");
    device.write(address, &bytes).expect("in bounds");
    MatrixArgument::new(address, shape.width, shape.strides())
}

/// The table of roots of unity in device memory.
fn roots(device: &Device) -> u64 {
    let mut table = vec![[0.0; 2]; ROOTS];
    fill_roots(&mut table);
    let bytes = table.iter().flatten().flat_map(|x: &f64| x.to_le_bytes());
    let bytes: Vec<u8> = bytes.collect();
    let address = device.alloc(bytes.len() as u64).expect("memory");
    device.write(address, &bytes).expect("in bounds");
    address
}

/// Limbs of a power's table that must move, for each number: all entries are written once, and in constant
/// time all are read for each window; and the square of the radix, for each base's form. Entries are as
/// wide as the modulus, of these widths the last.
fn of_tables(kernel: &Kernel, widths: &[usize], width: usize) -> usize {
    if !kernel.operation.is_power() || kernel.launch(1, widths, width).scratch_width == 0 {
        return 0;
    }
    let [.., exponent, modulus] = *widths else {
        return 0;
    };
    let is_pair = kernel.operation.cost() == Cost::PairOfPowers;
    let scan = kernel.algorithm == Algorithm::Window;
    let (bases, exponent) = match is_pair {
        true => (2, exponent.div_ceil(2)),
        false => (1, exponent),
    };
    let window = power_window(exponent, widest_window(modulus, scan, is_pair));
    let windows = (Limb::BITS as usize * exponent).div_ceil(window);
    let read = if scan { windows << window } else { windows };
    modulus * (bases * (read + (1 << window)) + 1 + bases)
}

/// What `kernel` does with operands of so many `bits` in a layout, which need not be its own:
/// one of the interleaved layout takes any.
pub fn count(
    tuning: &Tuning,
    kernel: &'static Kernel,
    modules: &mut Modules,
    bits: usize,
    layout: Layout,
) -> Row {
    let operation = kernel.operation;
    let (widths, width) = widths(operation, bits);
    let numbers = (LIMBS / widths[0]).clamp(8, 1024);
    let device = Device::new(DeviceConfig {
        arch: Arch::SM_90,
        checks: Checks::NONE,
        ..DeviceConfig::default()
    });
    let mut state = 1;
    let mut matrix = |width| batch(&device, Shape::new(numbers, width, layout), &mut state);
    let results: Vec<_> = operation
        .declaration()
        .exact
        .iter()
        .map(|rule| matrix(rule.limbs(&widths)))
        .collect();
    let operands: Vec<_> = widths.iter().map(|&width| matrix(width)).collect();
    let mut launch = kernel.launch(numbers, &widths, width);
    if kernel.takes_stretches() {
        // Stretches as long as in a batch that fills a device.
        let many = kernel.launch(MANY, &widths, width);
        let warps = (numbers * many.workers).div_ceil(MANY);
        launch.grid = (32 * warps).div_ceil(launch.block as usize) as u32;
        launch.workers = (launch.grid * launch.block / 32) as usize;
    }
    let scratch_limbs = launch.scratch_width * launch.workers;
    let scratch = match scratch_limbs {
        0 => 0,
        limbs => device.alloc(4 * limbs as u64).expect("memory"),
    };
    let roots = match kernel.takes_roots() {
        true => roots(&device),
        false => 0,
    };
    let arguments = Arguments {
        roots,
        scratch: MatrixArgument::new(
            scratch,
            launch.scratch_width,
            launch.scratch_strides(kernel.level),
        ),
        count: numbers as u64,
        workers: launch.workers as u64,
        ..kernel.arguments(&results, &operands)
    };
    let known = kernel.specialization(&arguments);
    let module = modules
        .entry((kernel.name, known))
        .or_insert_with(|| module(kernel, known));
    let loaded = device.load(module).expect("the module loads");
    let grid = Grid {
        grid: [launch.grid, 1, 1],
        block: [launch.block, 1, 1],
        shared_bytes: launch.shared_bytes,
    };
    let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
    let report = device.launch(&loaded, kernel.name, grid, &bytes);
    let counts = report
        .unwrap_or_else(|fault| panic!("{}: {fault}", kernel.name))
        .counts;

    let shape = Shape::new(MANY, width, layout);
    let auto = tuning.kernel(operation, &widths, shape, Options::default());
    let instructions = counts.lane_instructions() as f64;
    let madds = counts.multiply_adds as f64;
    let n = numbers as f64;
    let sectors = |matrix: &MatrixArgument| (4 * numbers * matrix.width as usize).div_ceil(32);
    let fewest: usize = results.iter().chain(&operands).map(sectors).sum();
    let tables = (4 * numbers * of_tables(kernel, &widths, width)).div_ceil(32);
    let fewest = (fewest + tables) as u64;
    let ratio = |part: u64, whole: u64| match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    };
    Row {
        op: operation.name(),
        level: kernel.level.name(),
        algorithm: kernel.algorithm.name(),
        lanes: kernel.lanes,
        layout: layout.name(),
        bits,
        best: auto.is_ok_and(|auto| auto == kernel),
        madds_per_n2: madds / (n * (widths[0] * widths[0]) as f64),
        instructions_per_madd: (madds > 0.0).then(|| instructions / madds),
        instructions_per_limb: instructions / (n * width as f64),
        sector_ratio: ratio(counts.sectors_moved(), fewest),
        request_ratio: ratio(counts.load_sectors + counts.store_sectors, fewest),
        bank_conflict_ratio: ratio(counts.bank_conflicts(), counts.shared_wavefronts_fewest),
        divergence: ratio(counts.divergent_branches, counts.branches),
        pipes: Pipes::of(&counts, n),
    }
}
