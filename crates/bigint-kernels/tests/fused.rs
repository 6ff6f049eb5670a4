//! Fused kernels, as they stand in the committed PTX, on the simulated GPU with all of its
//! checks on, against num-bigint; and what they move, counted.

use bigint_core::fused::{FusedArguments, FusedInput, FusedKernel, MOST_INPUTS, StepKind};
use bigint_core::{Launch, Limb, MatrixArgument, Strides};
use cuda_sim::ptx::Module;
use cuda_sim::{Arch, Checks, Counts, Device, DeviceConfig, Grid};
use num_bigint::{BigInt, BigUint};

use StepKind::{Add, Mul, Square, Sub};

/// An input: its width, and whether one number stands for all.
type Input = (usize, bool);

struct Bench {
    module: Module,
    checks: Checks,
    state: u64,
}

impl Bench {
    fn new(checks: Checks) -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../bigint-host/ptx/fused.ptx");
        let source = std::fs::read_to_string(path).unwrap();
        Bench {
            module: Module::parse(&source).unwrap(),
            checks,
            state: 7,
        }
    }

    fn random(&mut self) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.state >> 32
    }

    /// Limbs with long runs of zeros and ones.
    fn numbers(&mut self, count: usize, width: usize) -> Vec<Limb> {
        let mut limbs = Vec::with_capacity(count * width);
        for _ in 0..count {
            let kind = self.random() % 6;
            limbs.extend((0..width).map(|_| match kind {
                0 => 0,
                1 => Limb::MAX,
                2 => [0, 1, Limb::MAX, Limb::MAX - 1][self.random() as usize % 4],
                _ => self.random() as Limb,
            }));
        }
        limbs
    }

    /// Runs a program on random numbers, and compares every result; what it counted.
    fn check(
        &mut self,
        inputs: &[Input],
        steps: &[(StepKind, usize, usize)],
        count: usize,
    ) -> Counts {
        let device = Device::new(DeviceConfig {
            arch: Arch::SM_90,
            checks: self.checks,
            ..DeviceConfig::default()
        });
        let loaded = device.load(&self.module).unwrap();
        let multiplies = steps.iter().any(|step| matches!(step.0, Mul | Square));
        let widest = steps.iter().map(|step| step.2).max().unwrap();
        let width = steps.last().unwrap().2;
        let kernel = FusedKernel::of(multiplies, widest).unwrap();
        let (launch, mut arguments) = kernel.launch(count, width, widest);
        let upload = |limbs: &[Limb]| {
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            let address = device.alloc(bytes.len() as u64).unwrap();
            device.write(address, &bytes).unwrap();
            address
        };
        let mut values = Vec::new();
        for (i, &(width, is_single)) in inputs.iter().enumerate() {
            let limbs = self.numbers(if is_single { 1 } else { count }, width);
            arguments.inputs[i] = FusedInput {
                limbs: upload(&limbs),
                width: width as u32,
                number_stride: if is_single { 0 } else { width as u32 },
            };
            values.push(limbs);
        }
        let (all, step_count) = kernel.steps(steps.iter().copied());
        (arguments.steps, arguments.step_count) = (all, step_count as u64);
        let r = device.alloc(4 * (count * width) as u64).unwrap();
        let strides = Strides {
            number: width,
            limb: 1,
        };
        arguments.r = MatrixArgument::new(r, width, strides);
        let counts = launch_on(&device, &loaded, kernel, launch, &arguments);
        let mut bytes = vec![0; 4 * count * width];
        device.read(r, &mut bytes).unwrap();
        for (i, found) in bytes.chunks_exact(4 * width).enumerate() {
            let number = |input: usize| {
                let (width, is_single) = inputs[input];
                let i = if is_single { 0 } else { i };
                BigInt::from(BigUint::new(values[input][i * width..][..width].to_vec()))
            };
            let mut expected = BigInt::ZERO;
            for &(kind, input, width) in steps {
                let modulus = BigInt::from(1) << (32 * width);
                let value = match kind {
                    Add => expected + number(input),
                    Sub => expected - number(input),
                    Mul => expected * number(input),
                    Square => &expected * &expected,
                };
                expected = ((value % &modulus) + &modulus) % &modulus;
            }
            let found = BigInt::from(BigUint::from_bytes_le(found));
            assert_eq!(found, expected, "number {i} of {inputs:?} {steps:?}");
        }
        counts
    }
}

fn launch_on(
    device: &Device,
    module: &cuda_sim::LoadedModule,
    kernel: FusedKernel,
    launch: Launch,
    arguments: &FusedArguments,
) -> Counts {
    let extent = Grid {
        grid: [launch.grid, 1, 1],
        block: [launch.block, 1, 1],
        shared_bytes: launch.shared_bytes,
    };
    let name = kernel.entry_point().name;
    let launched = device.launch(module, name, extent, &bytes_of(arguments));
    launched
        .unwrap_or_else(|fault| panic!("{name}: {fault}"))
        .counts
}

/// The arguments as the launch copies them.
fn bytes_of(arguments: &FusedArguments) -> Vec<u8> {
    arguments.words().flat_map(u64::to_le_bytes).collect()
}

/// A chain of sums and differences of equally wide numbers.
fn chain(terms: usize, input: Input, width: usize) -> (Vec<Input>, Vec<(StepKind, usize, usize)>) {
    let step = |i| (if i % 3 == 2 { Sub } else { Add }, i, width);
    (vec![input; terms], (0..terms).map(step).collect())
}

#[test]
fn sums_of_any_width_are_those_of_num_bigint() {
    let mut bench = Bench::new(Checks::ALL);
    for width in [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 255, 256, 257, 1025] {
        for terms in [1, 2, 10, MOST_INPUTS] {
            let count = [1, 3, 300_usize][(width + terms) % 3].min(4000 / width + 1);
            // As wide as the inputs, wider and narrower.
            for result in [width, width + 1, (width / 2).max(1)] {
                let (mut inputs, steps) = chain(terms, (width, false), result);
                bench.check(&inputs, &steps, count);
                // Batches that end with four limbs.
                bench.check(&inputs, &steps, count.next_multiple_of(4));
                inputs[0] = (width + 2, true);
                inputs[terms - 1] = (1, terms % 2 == 0);
                bench.check(&inputs, &steps, count);
            }
        }
    }
}

#[test]
fn programs_that_multiply_are_those_of_num_bigint() {
    let mut bench = Bench::new(Checks::ALL);
    for width in [1, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 129, 300] {
        let count = 1 + 200 / width;
        // A power that is cut, Horner's rule and an exact product.
        let power = [
            (Add, 0, width),
            (Square, 0, width),
            (Mul, 1, width),
            (Mul, 0, width),
        ];
        bench.check(&[(width, false); 2], &power, count);
        let horner = [
            (Add, 0, width),
            (Mul, 1, width + 2),
            (Add, 2, width + 2),
            (Mul, 1, width + 1),
            (Sub, 3, width + 1),
        ];
        let inputs = [
            (width, false),
            (2, false),
            (width, true),
            (width + 3, false),
        ];
        bench.check(&inputs, &horner, count);
        let exact = [
            (Add, 0, width),
            (Mul, 1, 2 * width),
            (Mul, 2, 2 * width + 1),
        ];
        bench.check(&[(width, false), (width, true), (1, false)], &exact, count);
    }
    // The widest that fits: three values fill a block's shared memory.
    let widest = [(Add, 0, 1024), (Mul, 1, 1024), (Mul, 1, 1024)];
    bench.check(&[(1024, false); 2], &widest, 3);
}

/// Sectors moved over those that hold inputs and result.
fn ratio(counts: &Counts, terms: usize, width: usize, count: usize) -> f64 {
    let moved = counts.load_sectors + counts.store_sectors;
    moved as f64 / (4 * (terms + 1) * width * count).div_ceil(32) as f64
}

#[test]
fn ten_chained_sums_read_each_operand_once() {
    let mut bench = Bench::new(Checks::NONE);
    for width in [4, 8, 32, 128, 1024] {
        let count = (1 << 13) / width;
        let (inputs, steps) = chain(11, (width, false), width);
        let counts = bench.check(&inputs, &steps, count);
        assert!(
            ratio(&counts, 11, width, count) <= 1.05,
            "{width}: {counts:?}"
        );
        // Each lane has one limb of a chunk: what an addition takes of its instructions.
        let instructions = counts.lane_instructions() as f64;
        let each = instructions / (11 * width * count) as f64;
        assert!(each <= 20.0, "{width}: {each}");
    }
}

#[test]
fn terms_that_come_again_are_read_once() {
    let mut bench = Bench::new(Checks::ALL);
    for width in [1, 4, 33, 256] {
        let count = (1 << 13) / width;
        let inputs = [(width, false); 2];
        // 10 (a + b).
        let steps = [(Add, 0, width), (Add, 1, width)].repeat(10);
        let counts = bench.check(&inputs, &steps, count);
        assert!(
            ratio(&counts, 2, width, count) <= 1.1,
            "{width}: {counts:?}"
        );
        // 12 a - 19 b.
        let mut steps = [(Add, 0, width), (Sub, 1, width)].repeat(12);
        steps.extend([(Sub, 1, width)].repeat(7));
        bench.check(&inputs, &steps, count);
    }
}

#[test]
fn six_chained_products_touch_memory_once() {
    let mut bench = Bench::new(Checks::NONE);
    for width in [4, 8, 16, 32, 64, 128] {
        let count = (1 << 10) / width;
        let mut steps = vec![(Add, 0, width)];
        steps.extend((1..7).map(|input| (Mul, input, width)));
        // A thread that has eight limbs to itself loads them by two instructions, each of which
        // is counted with the one sector that they are in.
        let most = if width == 8 { 2.0 } else { 1.05 };
        let counts = bench.check(&[(width, false); 7], &steps, count);
        assert!(
            ratio(&counts, 7, width, count) <= most,
            "{width}: {counts:?}"
        );
    }
}
