//! Every kernel of the table, as it stands in the committed PTX, on the simulated
//! GPU with all of its checks on, against num-bigint.
//!
//! The simulator fails a launch that reads what nothing wrote, touches a byte
//! outside an operand, leaves a lane behind at a shuffle, or lets two blocks meet
//! in memory; so each launch here also proves that there is none of that.

use bigint_core::kernel::BLOCK;
use bigint_core::modules::{CEILING, CEILING_MULTIPLY_ADDS};
use bigint_core::{
    Algorithm, Arguments, Kernel, LIMB_BITS, Launch, Layout, Level, Limb, MatrixArgument,
    Operation, Shape,
};
use cuda_sim::{Device, DeviceConfig, Grid, LoadedModule, ptx::Module};
use num_bigint::BigUint;

/// What is computed: everything but the limbs.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// Widths of the operands and the result.
    n: usize,
    m: usize,
    width: usize,
    /// Numbers in the batch.
    count: usize,
    /// Blocks, if fewer than the batch asks for.
    grid: Option<u32>,
    /// Layouts of `a`, `b` and the result, for kernels that take any.
    layouts: [Layout; 3],
    /// One `b` for the whole batch.
    broadcast: bool,
    /// `b` is the very memory of `a`.
    alias: bool,
    /// Whether carries are asked for.
    carries: bool,
}

const PLAIN: [Layout; 3] = [Layout::Contiguous; 3];
const ACROSS: [Layout; 3] = [Layout::Interleaved; 3];
const MIXED: [Layout; 3] = [Layout::Interleaved, Layout::Contiguous, Layout::Interleaved];

/// Numbers with long carry chains and other edges, the same ones in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A number of `width` limbs; `like` is one that it may resemble.
    fn number(&mut self, width: usize, like: &[Limb]) -> Vec<Limb> {
        let mut limbs = vec![0; width];
        match self.below(10) {
            0 => {}
            1 => limbs[0] = 1,
            2 => limbs.fill(Limb::MAX),
            // 2^k, and 2^k - 1.
            3 => limbs[self.below(width)] = 1 << self.below(32),
            4 => {
                let top = self.below(width);
                limbs[..top].fill(Limb::MAX);
                limbs[top] = (1 << self.below(32)) - 1;
            }
            // The complement: every limb of the sum propagates a carry.
            5 if !like.is_empty() => {
                for (limb, like) in limbs.iter_mut().zip(like) {
                    *limb = !like;
                }
            }
            // The same number, or one just beside it.
            6 if !like.is_empty() => {
                for (limb, like) in limbs.iter_mut().zip(like) {
                    *limb = *like;
                }
                limbs[self.below(width)] ^= self.below(2) as Limb;
            }
            7 => limbs.fill_with(|| [0, 1, Limb::MAX, Limb::MAX - 1][self.below(4)]),
            _ => limbs.fill_with(|| self.next() as Limb),
        }
        limbs
    }
}

fn big(limbs: &[Limb]) -> BigUint {
    BigUint::new(limbs.to_vec())
}

/// The result, and the carry or borrow out of limb `width - 1`.
fn expected(operation: Operation, a: &[Limb], b: &[Limb], width: usize) -> (BigUint, Limb) {
    let modulus = BigUint::from(1u8) << (LIMB_BITS * width);
    let (a, b) = (big(a) % &modulus, big(b) % &modulus);
    match operation {
        Operation::Add => {
            let sum = a + b;
            let carry = sum >= modulus;
            (sum % modulus, carry.into())
        }
        Operation::Sub => {
            let borrow = a < b;
            ((&modulus + a - b) % modulus, borrow.into())
        }
        Operation::Mul => (a * b % modulus, 0),
        _ => unreachable!("the suite of the simulated GPU has the others"),
    }
}

/// A simulated device with one module on it.
struct Bench {
    device: Device,
    module: LoadedModule,
    numbers: Numbers,
}

impl Bench {
    fn new(ptx: &str) -> Bench {
        let device = Device::new(DeviceConfig::default());
        let module = device.load(&Module::parse(ptx).unwrap()).unwrap();
        Bench {
            device,
            module,
            numbers: Numbers(0x9e37_79b9_7f4a_7c15),
        }
    }

    fn upload(&self, limbs: &[Limb]) -> u64 {
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let address = self.device.alloc(bytes.len() as u64).unwrap();
        self.device.write(address, &bytes).unwrap();
        address
    }

    fn download(&self, address: u64, limbs: usize) -> Vec<Limb> {
        let mut bytes = vec![0; 4 * limbs];
        self.device.read(address, &mut bytes).unwrap();
        let four = bytes.as_chunks::<4>().0;
        four.iter().copied().map(Limb::from_le_bytes).collect()
    }

    /// Puts a batch into device memory.
    fn batch(&self, shape: Shape, numbers: &[Vec<Limb>]) -> u64 {
        let mut limbs = vec![0; shape.limbs()];
        for (i, number) in numbers.iter().enumerate() {
            for (j, limb) in number.iter().enumerate() {
                limbs[shape.index(i, j)] = *limb;
            }
        }
        self.upload(&limbs)
    }

    /// Runs one case and compares every number, its carry, and the padding.
    fn check(&mut self, kernel: &Kernel, case: Case) {
        let Case {
            n, m, width, count, ..
        } = case;
        let layouts = match kernel.layout {
            Layout::Contiguous => PLAIN,
            Layout::Interleaved => case.layouts,
        };
        let a: Vec<_> = (0..count).map(|_| self.numbers.number(n, &[])).collect();
        let b: Vec<_> = if case.alias {
            a.clone()
        } else {
            let count = if case.broadcast { 1 } else { count };
            (0..count).map(|i| self.numbers.number(m, &a[i])).collect()
        };
        let a_shape = Shape::new(count, n, layouts[0]);
        let b_shape = Shape::new(b.len(), m, if case.alias { layouts[0] } else { layouts[1] });
        let r_shape = Shape::new(count, width, layouts[2]);
        let mut b_strides = b_shape.strides();
        if case.broadcast {
            b_strides.number = 0;
        }

        let planned = kernel.launch(count, &[n, m], width);
        let grid = case.grid.unwrap_or(planned.grid);
        let launch = Launch {
            grid,
            workers: grid as usize * (planned.block / kernel.lanes) as usize,
            ..planned
        };
        let device_a = self.batch(a_shape, &a);
        let device_b = if case.alias {
            device_a
        } else {
            self.batch(b_shape, &b)
        };
        // The result starts uninitialised: a kernel that reads it is caught.
        let device_r = self.device.alloc(4 * r_shape.limbs() as u64).unwrap();
        let padding = 0xa5a5_a5a5;
        for i in count..r_shape.strides().limb.max(count) {
            for j in 0..width {
                let address = device_r + 4 * (i + j * r_shape.strides().limb) as u64;
                self.device
                    .write(address, &Limb::to_le_bytes(padding))
                    .unwrap();
            }
        }
        let carries = self.upload(&vec![padding; count + 1]);
        let first_carry = self.upload(&[Limb::MAX; 2]);
        // Each way to ask, or not, alone and together.
        let asks_first = (n + m) % 3 == 0;
        let scratch_limbs = launch.scratch_width * launch.workers;
        let scratch = self.device.alloc(4 * scratch_limbs.max(1) as u64).unwrap();

        let scratch_strides = launch.scratch_strides(kernel.level);
        let arguments = Arguments {
            r: MatrixArgument::new(device_r, width, r_shape.strides()),
            a: MatrixArgument::new(device_a, n, a_shape.strides()),
            b: MatrixArgument::new(device_b, m, b_strides),
            scratch: MatrixArgument::new(scratch, launch.scratch_width, scratch_strides),
            carry: if case.carries { carries } else { 0 },
            first_carry: if asks_first { first_carry } else { 0 },
            count: count as u64,
            workers: launch.workers as u64,
            ..Arguments::default()
        };
        let extent = Grid {
            grid: [launch.grid, 1, 1],
            block: [launch.block, 1, 1],
            shared_bytes: launch.shared_bytes,
        };
        self.device
            .launch(&self.module, kernel.name, extent, &bytes_of(&arguments))
            .unwrap_or_else(|fault| panic!("{}: {case:?}: {fault}", kernel.name));

        let r = self.download(device_r, r_shape.limbs());
        let reported = self.download(carries, count + 1);
        let mut first = None;
        for i in 0..count {
            let b = &b[if case.broadcast { 0 } else { i }];
            let (value, carry) = expected(kernel.operation, &a[i], b, width);
            let limbs: Vec<_> = (0..width).map(|j| r[r_shape.index(i, j)]).collect();
            assert_eq!(
                big(&limbs),
                value,
                "{}: number {i} of {case:?}: {:x?} and {b:x?}",
                kernel.name,
                a[i]
            );
            if carry != 0 && kernel.operation != Operation::Mul {
                first = first.or(Some(i as Limb));
            }
            let silent = kernel.operation == Operation::Mul || !case.carries;
            let carry = if silent { padding } else { carry };
            assert_eq!(reported[i], carry, "{}: carry {i} of {case:?}", kernel.name);
        }
        assert_eq!(reported[count], padding);
        let first = first.filter(|_| asks_first);
        let first = first.map_or([Limb::MAX; 2], |first| [first, 0]);
        assert_eq!(
            self.download(first_carry, 2),
            first,
            "{}: {case:?}",
            kernel.name
        );
        for i in count..r_shape.strides().limb.max(count) {
            assert!((0..width).all(|j| r[i + j * r_shape.strides().limb] == padding));
        }
        for address in [device_a, device_r, carries, first_carry, scratch] {
            self.device.free(address).unwrap();
        }
        if !case.alias {
            self.device.free(device_b).unwrap();
        }
    }
}

/// The arguments as the launch copies them.
fn bytes_of(arguments: &Arguments) -> Vec<u8> {
    arguments.words().flat_map(u64::to_le_bytes).collect()
}

/// Widths around one limb, one four, one eight, and one chunk of lanes.
fn widths(kernel: &Kernel) -> Vec<usize> {
    let lanes = kernel.lanes as usize;
    let mut widths = vec![1, 2, 3, 4, 5, 7, 8, 9];
    widths.extend([lanes.max(2) - 1, lanes, lanes + 1, 2 * lanes + 1]);
    if kernel.algorithm == Algorithm::CarryLookahead {
        // A tile, and a stretch of four.
        widths.extend([31, 63, 255, 256, 257, 1025]);
    }
    if kernel.algorithm == Algorithm::Karatsuba {
        // One split begins at 16 limbs, a second in halves of 16.
        widths.extend([15, 16, 17, 31, 33]);
    }
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// All cases of one kernel.
fn cases(kernel: &Kernel) -> Vec<Case> {
    let per_block = (bigint_core::kernel::BLOCK / kernel.lanes) as usize;
    // A batch that ends inside a warp.
    let few = 5.min(32 / kernel.lanes as usize + 1);
    let mut cases = Vec::new();
    let widths = widths(kernel);
    for (i, &n) in widths.iter().enumerate() {
        for (j, &m) in widths.iter().enumerate() {
            let exact = kernel.operation.exact_width(&[n, m]);
            let width = match (i + 3 * j) % 5 {
                0 | 1 => exact,
                2 => kernel.operation.wrapping_width(&[n, m]),
                3 => exact + 1 + (i + j) % 5,
                _ => 1 + (7 * i + 5 * j) % exact,
            };
            cases.push(Case {
                n,
                m,
                width,
                count: few,
                grid: None,
                layouts: [ACROSS, MIXED, PLAIN][(i + j) % 3],
                broadcast: (i + 2 * j) % 4 == 0,
                alias: false,
                carries: (i + j) % 2 == 0,
            });
        }
    }
    let plain = Case {
        n: 5,
        m: 4,
        width: kernel.operation.exact_width(&[5, 4]),
        count: 1,
        grid: None,
        layouts: ACROSS,
        broadcast: false,
        alias: false,
        carries: true,
    };
    let squares = widths.iter().map(|&n| Case {
        n,
        m: n,
        width: kernel.operation.exact_width(&[n, n]),
        count: 2,
        alias: true,
        ..plain
    });
    cases.extend(squares);
    for (n, m) in [(64, 64), (70, 33), (40, 101), (600, 20), (130, 550)] {
        let width = kernel.operation.exact_width(&[n, m]);
        cases.push(Case {
            n,
            m,
            width,
            carries: false,
            ..plain
        });
    }
    // Whole warps, a number more or less; several blocks; more numbers than workers.
    for count in [1, 31, 32, 33, per_block + 1] {
        cases.push(Case { count, ..plain });
    }
    cases.push(Case {
        count: 2 * per_block + 3,
        grid: Some(1),
        ..plain
    });
    if kernel.algorithm == Algorithm::CarryLookahead {
        // Long stretches, which begin and end anywhere in a number, of many or of few.
        for n in [1, 3, 31, 32, 33, 700, 1025] {
            let exact = kernel.operation.exact_width(&[n, n]);
            for (width, broadcast) in [(exact, false), (n, true), (n + 40, false)] {
                cases.push(Case {
                    n,
                    m: n,
                    width,
                    count: 6000 / n,
                    grid: Some(1),
                    broadcast,
                    ..plain
                });
            }
        }
    }
    cases
}

fn check_all(ptx: &str, operation: Operation, level: Level) {
    let mut bench = Bench::new(ptx);
    let of_these = |kernel: &&Kernel| kernel.operation == operation && kernel.level == level;
    for kernel in Kernel::ALL.iter().filter(of_these) {
        for case in cases(kernel) {
            bench.check(kernel, case);
        }
    }
}

const ADD: &str = include_str!("../../bigint-host/ptx/add.ptx");
const SUB: &str = include_str!("../../bigint-host/ptx/sub.ptx");
const MUL: &str = include_str!("../../bigint-host/ptx/mul.ptx");

#[test]
fn sums_and_their_carries_are_right() {
    check_all(ADD, Operation::Add, Level::Thread);
    check_all(ADD, Operation::Add, Level::Warp);
}

#[test]
fn differences_and_their_borrows_are_right() {
    check_all(SUB, Operation::Sub, Level::Thread);
    check_all(SUB, Operation::Sub, Level::Warp);
}

#[test]
fn products_by_one_thread_are_right() {
    check_all(MUL, Operation::Mul, Level::Thread);
}

#[test]
fn products_by_lanes_of_a_warp_are_right() {
    check_all(MUL, Operation::Mul, Level::Warp);
}

/// Every width beside a width of its own and beside the same width, results narrower and
/// wider than the product: what is cut into digits, steps and rows ends everywhere.
#[test]
fn products_by_rows_are_right_at_every_width() {
    let mut bench = Bench::new(MUL);
    let by_rows = |kernel: &&Kernel| {
        kernel.operation == Operation::Mul
            && kernel.algorithm == Algorithm::School
            && kernel.level == Level::Warp
    };
    for kernel in Kernel::ALL.iter().filter(by_rows) {
        for n in 1..=70 {
            for m in [n, 71 - n] {
                let exact = n + m;
                bench.check(
                    kernel,
                    Case {
                        n,
                        m,
                        width: [exact, exact, exact.div_ceil(2), exact + 5, exact - 1][n % 5],
                        count: 32 / kernel.lanes as usize + 1,
                        grid: None,
                        layouts: [ACROSS, MIXED, PLAIN][n % 3],
                        broadcast: n % 4 == 0,
                        alias: false,
                        carries: false,
                    },
                );
            }
        }
    }
}

/// The widths that go by way of shared memory, in batches that end anywhere in a tile.
#[test]
fn products_in_shared_memory_are_right() {
    let mut bench = Bench::new(MUL);
    let staged = |kernel: &&Kernel| {
        (kernel.operation, kernel.level) == (Operation::Mul, Level::Thread)
            && kernel.launch(1, &[8, 8], 16).shared_bytes > 0
    };
    for kernel in Kernel::ALL.iter().filter(staged) {
        for n in [1, 2, 4, 8, 16, 32] {
            let plain = Case {
                n,
                m: n,
                width: 2 * n,
                count: 32,
                grid: None,
                layouts: PLAIN,
                broadcast: false,
                alias: false,
                carries: false,
            };
            for count in [1, 2, 3, 31, 32, 33, 127, 128, 130, 261] {
                let alias = count == 33;
                bench.check(
                    kernel,
                    Case {
                        count,
                        alias,
                        ..plain
                    },
                );
            }
            for (width, broadcast) in [(n, false), (2 * n + 1, false), (2 * n, true)] {
                bench.check(
                    kernel,
                    Case {
                        width,
                        broadcast,
                        ..plain
                    },
                );
            }
            // More numbers than workers.
            bench.check(
                kernel,
                Case {
                    count: 300,
                    grid: Some(1),
                    ..plain
                },
            );
        }
    }
}

/// As many as the rate is reckoned with; a few find the place of the result.
#[test]
fn the_ceiling_is_made_of_multiply_adds() {
    let bench = Bench::new(include_str!("../../bigint-host/ptx/ceiling.ptx"));
    let count = u64::from(BLOCK);
    let arguments = Arguments {
        r: MatrixArgument {
            limbs: bench.device.alloc(4 * count).unwrap(),
            number_stride: 1,
            limb_stride: 1,
            width: 1,
        },
        count,
        workers: count,
        ..Arguments::default()
    };
    let extent = Grid {
        grid: [1, 1, 1],
        block: [BLOCK, 1, 1],
        shared_bytes: 0,
    };
    let launched = bench
        .device
        .launch(&bench.module, CEILING.name, extent, &bytes_of(&arguments));
    let products = launched.unwrap().counts.multiply_adds;
    assert!(products.abs_diff(count * CEILING_MULTIPLY_ADDS) <= 8 * count);
}
