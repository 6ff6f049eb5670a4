//! How fast the simulator runs the engine's own kernels, and whether they come
//! out right: `cargo bench -p bigint-kernels --bench simulator [-- NAME [BITS]]`.
//!
//! For each kernel whose name contains NAME: simulated lane-instructions per
//! second, best of five launches, with every check off and with all of them on.
//! Beside each rate stands the rate per second that a core was busy with it.
//! Rates are of the simulator on this machine; they say nothing about a GPU.

use bigint_core::{Arguments, Kernel, Layout, MatrixArgument, Operation, Shape, Strides};
use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Device, DeviceConfig, Grid, Report};
use num_bigint::BigUint;
use std::path::Path;
use std::time::Instant;

/// Limbs of `count` numbers in a layout, `number(i)` each.
struct Batch {
    limbs: Vec<u32>,
    strides: Strides,
    width: usize,
}

impl Batch {
    fn new(count: usize, width: usize, layout: Layout) -> Self {
        let strides = Shape::new(count, width, layout).strides();
        Batch {
            limbs: vec![0; Shape::new(count, width, layout).limbs()],
            strides,
            width,
        }
    }

    fn random(count: usize, width: usize, layout: Layout, seed: u64) -> Self {
        let mut batch = Batch::new(count, width, layout);
        let mut state = seed;
        for limb in &mut batch.limbs {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            *limb = (state >> 32) as u32;
        }
        batch
    }

    fn number(&self, i: usize) -> BigUint {
        let limb = |j| self.limbs[i * self.strides.number + j * self.strides.limb];
        BigUint::new((0..self.width).map(limb).collect())
    }

    fn bytes(&self) -> Vec<u8> {
        self.limbs
            .iter()
            .flat_map(|limb| limb.to_le_bytes())
            .collect()
    }
}

fn upload(device: &Device, batch: &Batch) -> MatrixArgument {
    let bytes = batch.bytes();
    let address = device.alloc(bytes.len() as u64).expect("memory");
    device.write(address, &bytes).expect("in bounds");
    MatrixArgument::new(address, batch.width, batch.strides)
}

/// One launch on fresh operands; the report, seconds, and whether all is right.
fn measure(
    kernel: &Kernel,
    module: &Module,
    bits: usize,
    count: usize,
    checks: Checks,
) -> (Report, f64, f64) {
    let device = Device::new(DeviceConfig {
        arch: Arch::SM_90,
        memory_bytes: 4 << 30,
        checks,
        ..DeviceConfig::default()
    });
    let loaded = device.load(module).expect("the module loads");
    let width = bits / 32;
    let out_width = if kernel.operation == Operation::Mul {
        2 * width
    } else {
        width
    };
    let a = Batch::random(count, width, kernel.layout, 1);
    let b = Batch::random(count, width, kernel.layout, 2);
    let mut r = Batch::new(count, out_width, kernel.layout);
    let launch = kernel.launch(count, &[width, width], out_width);
    let out = device.alloc(4 * r.limbs.len() as u64).expect("memory");
    let scratch_limbs = launch.scratch_width * launch.workers;
    let scratch = if scratch_limbs == 0 {
        MatrixArgument::default()
    } else {
        let address = device.alloc(4 * scratch_limbs as u64).expect("memory");
        MatrixArgument::new(
            address,
            launch.scratch_width,
            launch.scratch_strides(kernel.level),
        )
    };
    let arguments = Arguments {
        r: MatrixArgument::new(out, out_width, r.strides),
        a: upload(&device, &a),
        b: upload(&device, &b),
        scratch,
        count: count as u64,
        workers: launch.workers as u64,
        ..Arguments::default()
    };
    let params: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
    let grid = Grid {
        grid: [launch.grid, 1, 1],
        block: [launch.block, 1, 1],
        shared_bytes: launch.shared_bytes,
    };
    let (mut best, mut best_busy) = (f64::INFINITY, f64::INFINITY);
    let mut report = Report::default();
    for _ in 0..5 {
        let (start, busy) = (Instant::now(), busy_seconds());
        report = device
            .launch(&loaded, kernel.name, grid, &params)
            .unwrap_or_else(|fault| panic!("{fault}"));
        best = best.min(start.elapsed().as_secs_f64());
        best_busy = best_busy.min(busy_seconds() - busy);
    }
    let mut bytes = vec![0; 4 * r.limbs.len()];
    device.read(out, &mut bytes).expect("in bounds");
    for (limb, chunk) in r.limbs.iter_mut().zip(bytes.chunks_exact(4)) {
        *limb = u32::from_le_bytes(chunk.try_into().expect("four bytes"));
    }
    let modulus = BigUint::from(1u32) << (32 * out_width);
    for i in 0..count {
        let (a, b) = (a.number(i), b.number(i));
        let want = match kernel.operation {
            Operation::Add => (a + b) % &modulus,
            Operation::Sub => (a + &modulus - b) % &modulus,
            // The filter in `main` lets nothing else through.
            _ => a * b,
        };
        assert_eq!(r.number(i), want, "{}: number {i}", kernel.name);
    }
    (report, best, best_busy)
}

/// Seconds that the threads of this process have spent on a core, where the
/// system says so: on a busy machine the clock says less about the simulator.
fn busy_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanoseconds: u64 = tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|line| line.split(' ').next()?.parse::<u64>().ok())
        .sum();
    nanoseconds as f64 / 1e9
}

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let filter = words.first().map_or("mul", String::as_str);
    let bits: usize = words
        .get(1)
        .map_or(1024, |bits| bits.parse().expect("a number of bits"));
    let count: usize = words
        .get(2)
        .map_or(2048, |count| count.parse().expect("a count"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bigint-host/ptx");
    println!(
        "{:38} {:>9} {:>7} {:>11} {:>11} {:>11} {:>11} {:>5} {:>7}",
        "kernel",
        "lane-inst",
        "active",
        "off, M/s",
        "/core-s",
        "all, M/s",
        "/core-s",
        "regs",
        "mads/n2"
    );
    for kernel in Kernel::ALL
        .iter()
        .filter(|kernel| {
            [Operation::Add, Operation::Sub, Operation::Mul].contains(&kernel.operation)
        })
        .filter(|kernel| kernel.name.contains(filter))
    {
        let path = folder.join(format!("{}.ptx", kernel.entry_point().module));
        let source = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let module = Module::parse(&source).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let (report, off, off_busy) = measure(kernel, &module, bits, count, Checks::NONE);
        let (_, on, on_busy) = measure(kernel, &module, bits, count, Checks::ALL);
        let lanes = report.counts.lane_instructions() as f64;
        let registers = module.kernel(kernel.name).map_or(0, |k| k.registers);
        println!(
            "{:38} {:>9.2e} {:>7.3} {:>11.0} {:>11.0} {:>11.0} {:>11.0} {:>5} {:>7.3}",
            kernel.name,
            lanes,
            report.counts.active_lanes(),
            lanes / off / 1e6,
            lanes / off_busy / 1e6,
            lanes / on / 1e6,
            lanes / on_busy / 1e6,
            registers,
            report.counts.multiply_adds as f64 / (count * bits * bits / 1024) as f64
        );
    }
}
