//! What every kernel does, counted by the simulator: `cargo xtask count` runs this.
//!
//! A row is an operation, a level and an algorithm at one width, with the number of lanes
//! that `auto` would take there. The counts are exact and the same on every machine; how
//! fast a GPU is with them, only a GPU says.

use bigint_core::transform::{ROOTS, fill_roots};
use bigint_core::{Algorithm, Arguments, Kernel, Layout, Limb, MatrixArgument, Operation, Shape};
use bigint_host::{Options, Tuning};
use clap::Parser;
use comfy_table::{CellAlignment, Table, presets};
use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Device, DeviceConfig, Grid};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Count what kernels do, on the simulator
#[derive(Parser)]
#[command(name = "cargo xtask count")]
struct Cli {
    /// Only these operations
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    operations: Vec<String>,
    /// Widths of all operands, in bits
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "BITS",
        default_value = "32,64,96,128,256,512,1024,2048,4096"
    )]
    widths: Vec<usize>,
    /// Kernels of the interleaved layout
    #[arg(long)]
    interleaved: bool,
    /// Only what `auto` takes
    #[arg(long)]
    best: bool,
    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,
    /// `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Serialize)]
struct Row {
    op: &'static str,
    level: &'static str,
    algorithm: &'static str,
    lanes: u32,
    layout: &'static str,
    bits: usize,
    /// Whether `auto` takes it for a batch that fills a device.
    best: bool,
    /// 32x32->64 multiply-adds for each pair of limbs of two operands.
    madds_per_n2: f64,
    /// Instructions of a lane for each multiply-add; none where there are none.
    instructions_per_madd: Option<f64>,
    /// Instructions of a lane for each limb of the result.
    instructions_per_limb: f64,
    /// 32-byte sectors of global memory moved, over the fewest that hold operands and
    /// results.
    sector_ratio: f64,
    /// Passes of shared memory beyond the fewest, over the fewest.
    bank_conflict_ratio: f64,
    /// Branches at which a warp parted, over all.
    divergence: f64,
}

/// Limbs of each operand, about: enough for every block of a few to have work.
const LIMBS: usize = 1 << 13;

/// Numbers in a batch that fills a device, for the choice of `auto`.
const MANY: usize = 1 << 22;

fn main() {
    let cli = Cli::parse();
    let tuning = Tuning::default();
    let mut modules = BTreeMap::new();
    let mut rows = Vec::new();
    let is_asked = |operation: &Operation| {
        let names = &cli.operations;
        names.is_empty() || names.iter().any(|name| name == operation.name())
    };
    for operation in Operation::ALL.into_iter().filter(is_asked) {
        for &bits in &cli.widths {
            for kernel in kernels(&tuning, operation, bits, &cli) {
                let module = modules
                    .entry(operation.name())
                    .or_insert_with(|| module(operation));
                rows.push(count(&tuning, kernel, module, bits));
            }
        }
    }
    if cli.json {
        println!(
            "{}",
            serde_json::to_string_pretty(&rows).expect("plain rows")
        );
    } else {
        println!("{}", table(&rows));
    }
}

fn layout(cli: &Cli) -> Layout {
    match cli.interleaved {
        true => Layout::Interleaved,
        false => Layout::Contiguous,
    }
}

/// The widths of operands and of the result, in limbs.
fn widths(operation: Operation, bits: usize) -> (Vec<usize>, usize) {
    let width = bits.div_ceil(Limb::BITS as usize);
    let widths = vec![width; operation.declaration().operands.len()];
    let result = operation.exact_width(&widths);
    (widths, result)
}

/// One kernel for each algorithm and level.
fn kernels(tuning: &Tuning, operation: Operation, bits: usize, cli: &Cli) -> Vec<&'static Kernel> {
    let (widths, result) = widths(operation, bits);
    let shape = Shape::new(MANY, result, layout(cli));
    let choice = |algorithm, level| {
        let options = Options {
            algorithm,
            level,
            ..Options::default()
        };
        tuning.kernel(operation, &widths, shape, options)
    };
    if cli.best {
        return choice(Algorithm::Auto, None).into_iter().collect();
    }
    let rows = operation.declaration().rows.iter();
    let rows = rows.filter(|row| row.layouts.contains(&shape.layout));
    rows.filter_map(|row| choice(row.algorithm, Some(row.level)).ok())
        .collect()
}

fn module(operation: Operation) -> Module {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bigint-host/ptx");
    let path = folder.join(format!("{}.ptx", operation.name()));
    let source = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    Module::parse(&source).unwrap_or_else(|e| panic!("{path:?}: {e}"))
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

fn count(tuning: &Tuning, kernel: &'static Kernel, module: &Module, bits: usize) -> Row {
    let operation = kernel.operation;
    let (widths, width) = widths(operation, bits);
    let numbers = (LIMBS / widths[0]).clamp(8, 1024);
    let device = Device::new(DeviceConfig {
        arch: Arch::SM_90,
        checks: Checks::NONE,
        ..DeviceConfig::default()
    });
    let loaded = device.load(module).expect("the module loads");
    let mut state = 1;
    let mut matrix = |width| {
        batch(
            &device,
            Shape::new(numbers, width, kernel.layout),
            &mut state,
        )
    };
    let results: Vec<_> = operation
        .declaration()
        .exact
        .iter()
        .map(|rule| matrix(rule.limbs(&widths)))
        .collect();
    let operands: Vec<_> = widths.iter().map(|&width| matrix(width)).collect();
    let launch = kernel.launch(numbers, &widths, width);
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
        ..Arguments::of(&results, &operands)
    };
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

    let shape = Shape::new(MANY, width, kernel.layout);
    let auto = tuning.kernel(operation, &widths, shape, Options::default());
    let instructions = counts.lane_instructions() as f64;
    let madds = counts.multiply_adds as f64;
    let n = numbers as f64;
    let sectors = |matrix: &MatrixArgument| (4 * numbers * matrix.width as usize).div_ceil(32);
    let fewest: usize = results.iter().chain(&operands).map(sectors).sum();
    let ratio = |part: u64, whole: u64| match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    };
    Row {
        op: operation.name(),
        level: kernel.level.name(),
        algorithm: kernel.algorithm.name(),
        lanes: kernel.lanes,
        layout: kernel.layout.name(),
        bits,
        best: auto.is_ok_and(|auto| auto == kernel),
        madds_per_n2: madds / (n * (widths[0] * widths[0]) as f64),
        instructions_per_madd: (madds > 0.0).then(|| instructions / madds),
        instructions_per_limb: instructions / (n * width as f64),
        sector_ratio: ratio(counts.load_sectors + counts.store_sectors, fewest as u64),
        bank_conflict_ratio: ratio(counts.bank_conflicts(), counts.shared_wavefronts_fewest),
        divergence: ratio(counts.divergent_branches, counts.branches),
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header([
        "operation",
        "level",
        "algorithm",
        "lanes",
        "bits",
        "best",
        "madds/n2",
        "inst/madd",
        "inst/limb",
        "sectors",
        "conflicts",
        "divergence",
    ]);
    for row in rows {
        table.add_row([
            row.op.to_owned(),
            row.level.to_owned(),
            row.algorithm.to_owned(),
            row.lanes.to_string(),
            row.bits.to_string(),
            if row.best { "*" } else { "" }.to_owned(),
            format!("{:.3}", row.madds_per_n2),
            row.instructions_per_madd
                .map_or("-".to_owned(), |x| format!("{x:.2}")),
            format!("{:.2}", row.instructions_per_limb),
            format!("{:.3}", row.sector_ratio),
            format!("{:.3}", row.bank_conflict_ratio),
            format!("{:.3}", row.divergence),
        ]);
    }
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
