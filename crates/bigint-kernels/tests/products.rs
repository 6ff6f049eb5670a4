//! Squares, high halves and `a b + c`, as they stand in the committed PTX, on the simulated
//! GPU with all of its checks on: beside num-bigint, and by their count of multiply-adds.

use bigint_core::kernel::BLOCK;
use bigint_core::specialization::MANY;
use bigint_core::{
    Algorithm, Arguments, Kernel, Layout, Level, Limb, MatrixArgument, Operation, Shape,
};
use cuda_sim::{Device, DeviceConfig, Grid, LoadedModule, ptx::Module};
use num_bigint::BigUint;
use std::cmp::Ordering;

/// A simulated device with the kernels of one operation.
struct Bench {
    device: Device,
    ptx: &'static str,
    module: LoadedModule,
    /// Whether kernels are specialised to many numbers.
    is_specialized: bool,
    state: u64,
}

impl Bench {
    fn new(ptx: &'static str) -> Self {
        let device = Device::new(DeviceConfig::default());
        let module = device.load(&Module::parse(ptx).unwrap()).unwrap();
        Bench {
            device,
            ptx,
            module,
            is_specialized: false,
            state: 1,
        }
    }

    /// The kernel, specialised to what is known of such a launch, as if it were of many numbers.
    fn specialized(&self, kernel: &Kernel, arguments: &Arguments) -> LoadedModule {
        let many = Arguments {
            count: MANY,
            ..*arguments
        };
        let known = kernel.specialization(&many);
        let text = bigint_host::specialize(self.ptx, kernel.entry_point(), &known);
        self.device.load(&Module::parse(&text).unwrap()).unwrap()
    }

    /// All ones, zero, 1, a power of two and its neighbours, limbs of all ones, zero and one bit,
    /// or any.
    fn number(&mut self, width: usize) -> Vec<Limb> {
        let mut next = || {
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
            self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
            (self.state >> 33) as Limb
        };
        let (k, limbs) = (next() as usize % (32 * width), 0..width);
        let power = |i: usize| Limb::from(i == k / 32) << (k % 32);
        match next() % 9 {
            0 => vec![Limb::MAX; width],
            1 => vec![0; width],
            2 => limbs.map(|i| Limb::from(i == 0)).collect(),
            3 => limbs.map(power).collect(),
            // Less 1, and more by 1.
            4 => limbs
                .map(|i| match i.cmp(&(k / 32)) {
                    Ordering::Less => Limb::MAX,
                    Ordering::Equal => power(i) - 1,
                    Ordering::Greater => 0,
                })
                .collect(),
            5 => limbs.map(|i| power(i) | Limb::from(i == 0)).collect(),
            6 => limbs
                .map(|_| [0, Limb::MAX, 1 << 31][next() as usize % 3])
                .collect(),
            _ => limbs.map(|_| next() << 16 ^ next()).collect(),
        }
    }

    fn matrix(&self, shape: Shape, limbs: Option<&[Limb]>) -> MatrixArgument {
        let address = self.device.alloc(4 * shape.limbs() as u64).unwrap();
        if let Some(limbs) = limbs {
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            self.device.write(address, &bytes).unwrap();
        }
        MatrixArgument::new(address, shape.width, shape.strides())
    }

    /// Compares `count` results of `width` limbs; answers the multiply-adds of each.
    fn check(&mut self, kernel: &Kernel, widths: &[usize], width: usize, count: usize) -> f64 {
        self.check_in(kernel.layout, kernel, widths, width, count)
    }

    /// The same, of numbers in any layout that the kernel takes.
    fn check_in(
        &mut self,
        layout: Layout,
        kernel: &Kernel,
        widths: &[usize],
        width: usize,
        count: usize,
    ) -> f64 {
        let shape = |width| Shape::new(count, width, layout);
        let mut operands = Vec::new();
        let mut matrices = Vec::new();
        for &width in widths {
            let numbers: Vec<_> = (0..count).map(|_| self.number(width)).collect();
            let mut limbs = vec![0; shape(width).limbs()];
            for (i, number) in numbers.iter().enumerate() {
                for (j, limb) in number.iter().enumerate() {
                    limbs[shape(width).index(i, j)] = *limb;
                }
            }
            matrices.push(self.matrix(shape(width), Some(&limbs)));
            operands.push(numbers);
        }
        let r = self.matrix(shape(width), None);
        let launch = kernel.launch(count, widths, width);
        let arguments = Arguments {
            count: count as u64,
            workers: launch.workers as u64,
            ..Arguments::of(&[r], &matrices)
        };
        let grid = Grid {
            grid: [launch.grid, 1, 1],
            block: [launch.block, 1, 1],
            shared_bytes: launch.shared_bytes,
        };
        let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
        let told = self
            .is_specialized
            .then(|| self.specialized(kernel, &arguments));
        let module = told.as_ref().unwrap_or(&self.module);
        let report = self
            .device
            .launch(module, kernel.name, grid, &bytes)
            .unwrap_or_else(|fault| panic!("{} {widths:?} {width}: {fault}", kernel.name));
        let mut bytes = vec![0; 4 * shape(width).limbs()];
        self.device.read(r.limbs, &mut bytes).unwrap();
        let limbs = bytes.as_chunks::<4>().0;
        for i in 0..count {
            let x = |operand: usize| BigUint::new(operands[operand][i].clone());
            let value = match kernel.operation {
                Operation::Square => x(0) * x(0),
                Operation::Mul => x(0) * x(1),
                Operation::MulHigh => (x(0) * x(1)) >> (32 * widths[0].max(widths[1])),
                _ => x(0) * x(1) + x(2),
            };
            let found = (0..width).map(|j| Limb::from_le_bytes(limbs[shape(width).index(i, j)]));
            let modulus = BigUint::from(1u8) << (32 * width);
            assert_eq!(
                BigUint::new(found.collect()),
                value % modulus,
                "{} {widths:?} {width}: number {i}",
                kernel.name
            );
        }
        for matrix in matrices.iter().chain([&r]) {
            self.device.free(matrix.limbs).unwrap();
        }
        report.counts.multiply_adds as f64 / count as f64
    }
}

/// Every kernel at widths around a four, a chunk of lanes and more than one of them, with
/// results that are exact, cut and extended.
fn agrees(ptx: &'static str, operation: Operation) {
    let mut bench = Bench::new(ptx);
    let kernels = Kernel::ALL.iter();
    let is_one = |kernel: &&Kernel| kernel.operation == operation && !kernel.takes_roots();
    for kernel in kernels.filter(is_one) {
        for (round, n) in [1, 2, 3, 4, 5, 8, 9, 16, 31, 33, 70]
            .into_iter()
            .enumerate()
        {
            let widths = match round % 3 {
                0 => [n, n, n],
                1 => [n, n / 2 + 1, 2 * n + 1],
                _ => [n / 3 + 1, n, n + 1],
            };
            let widths = &widths[..operation.declaration().operands.len()];
            let exact = operation.exact_width(widths);
            for width in [exact, exact.div_ceil(2), exact + 5] {
                bench.check(kernel, widths, width, 32 / kernel.lanes as usize + 1);
            }
        }
    }
}

const MUL: &str = include_str!("../../bigint-host/ptx/mul.ptx");
const SQUARE: &str = include_str!("../../bigint-host/ptx/square.ptx");

#[test]
fn squares_are_right() {
    agrees(SQUARE, Operation::Square);
}

#[test]
fn high_halves_are_right() {
    agrees(
        include_str!("../../bigint-host/ptx/mul_high.ptx"),
        Operation::MulHigh,
    );
}

#[test]
fn products_and_sums_are_right() {
    agrees(
        include_str!("../../bigint-host/ptx/mul_add.ptx"),
        Operation::MulAdd,
    );
}

/// Every width up to 65 limbs and wider operands of unlike widths, whole products and parts,
/// of a part of a tile and of more than one.
#[test]
fn products_by_way_of_shared_memory_are_right_at_every_width() {
    let mut bench = Bench::new(MUL);
    let kernel =
        |layout| Kernel::find(Operation::Mul, Algorithm::School, Level::Thread, 1, layout).unwrap();
    for (layout, kernel) in [
        (Layout::Contiguous, kernel(Layout::Contiguous)),
        (Layout::Contiguous, kernel(Layout::Interleaved)),
        (Layout::Interleaved, kernel(Layout::Interleaved)),
    ] {
        for n in 1..=65_usize {
            for (m, width, count) in [
                (n, 2 * n, 33),
                (n, n, 3),
                (n / 2 + 1, n + n / 2 + 1, 130),
                (n.next_power_of_two().min(64), 2 * n + 1, 31),
            ] {
                bench.check_in(layout, kernel, &[n, m], width, count);
                bench.check_in(layout, kernel, &[m, n], width, count);
            }
        }
    }
}

/// Numbers of up to eight limbs that threads move together, of tiles that end with whole fours and
/// not.
#[test]
fn products_by_columns_are_right_at_every_width() {
    let mut bench = Bench::new(MUL);
    let contiguous = Layout::Contiguous;
    let kernel = Kernel::find(
        Operation::Mul,
        Algorithm::Comba,
        Level::Thread,
        1,
        contiguous,
    );
    for n in 1..=9 {
        for count in [1, 4, 127, 128, 130, 263, 516] {
            bench.check(kernel.unwrap(), &[n, n], 2 * n, count);
        }
    }
}

/// Widths that are no multiple of four limbs, whose contiguous numbers lanes stage in shared
/// memory: of short, single and several rows, unlike operands, whole products and parts, with
/// as many numbers as leave groups without one; and those that are not staged, as they are
/// narrow, or want zeros above, or more room than there is.
#[test]
fn products_by_way_of_stages_are_right() {
    let mut bench = Bench::new(MUL);
    for lanes in [4, 8, 16, 32] {
        let kernel = Kernel::find(
            Operation::Mul,
            Algorithm::School,
            Level::Warp,
            lanes,
            Layout::Contiguous,
        );
        for [n, m, width] in [
            [33, 33, 66],
            [34, 33, 67],
            [35, 35, 35],
            [32, 37, 50],
            [63, 62, 125],
            [65, 65, 130],
            [129, 66, 195],
            [66, 129, 131],
            [131, 131, 262],
            [31, 33, 64],
            [33, 33, 70],
            [600, 601, 1201],
        ] {
            for count in [1, 32 / lanes as usize, 128 / lanes as usize + 3] {
                if n < 600 || count == 1 {
                    bench.check(kernel.unwrap(), &[n, m], width, count);
                }
            }
        }
    }
}

/// Those of many numbers, by kernels that are specialised to their widths: some of each way that limbs
/// are moved, in groups and tiles that are full and not.
#[test]
fn products_of_widths_that_are_known_are_right() {
    let mut bench = Bench {
        is_specialized: true,
        ..Bench::new(MUL)
    };
    let find = |level, lanes, layout| {
        Kernel::find(Operation::Mul, Algorithm::School, level, lanes, layout).unwrap()
    };
    let thread = find(Level::Thread, 1, Layout::Interleaved);
    for layout in Layout::ALL {
        for [n, m, width] in [
            [5, 5, 10],
            [7, 6, 13],
            [12, 12, 24],
            [15, 15, 15],
            [16, 9, 25],
            [31, 31, 62],
            [32, 30, 62],
            [32, 32, 64],
            [33, 33, 66],
            [40, 41, 81],
            [48, 37, 85],
            [64, 64, 128],
        ] {
            bench.check_in(layout, thread, &[n, m], width, 69);
        }
    }
    for lanes in [4, 8, 16] {
        let warp = find(Level::Warp, lanes, Layout::Contiguous);
        for [n, m, width] in [
            [33, 33, 66],
            [63, 62, 125],
            [35, 131, 166],
            [131, 131, 131],
            [255, 34, 289],
            [257, 33, 290],
        ] {
            bench.check(warp, &[n, m], width, 128 / lanes as usize + 3);
        }
    }
}

/// Around a digit, all lanes' digits and what only columns take, squares that are exact, cut and
/// extended, of a part of a tile and of more than one, in either layout.
#[test]
fn squares_are_right_at_every_width() {
    let mut bench = Bench::new(SQUARE);
    let kernel = |level, lanes| {
        let layout = Layout::Interleaved;
        Kernel::find(Operation::Square, Algorithm::School, level, lanes, layout).unwrap()
    };
    let thread = kernel(Level::Thread, 1);
    for layout in Layout::ALL {
        for n in 1..=33 {
            for (width, count) in [(2 * n, 33), (n, 3), (2 * n + 3, 64)] {
                bench.check_in(layout, thread, &[n], width, count);
            }
        }
        for lanes in [2, 4, 8, 16, 32] {
            let all = 32 * lanes;
            let around = [1, 31, 32, 33, 36, all / 2 + 1, all - 32, all - 29, all - 1];
            let beyond = [all, all + 1].into_iter().filter(|_| lanes <= 8);
            for n in around.into_iter().chain(beyond) {
                let kernel = kernel(Level::Warp, lanes as u32);
                let count = 32 / lanes + 1;
                for width in [2 * n, [n, 2 * n - 1, 2 * n + 1, 2 * all + 3][n % 4]] {
                    bench.check_in(layout, kernel, &[n], width, count);
                }
            }
        }
    }
}

/// The multiply-adds of squares are one for each pair of limbs, `n (n + 1) / 2`, where digits are full
/// of a thread's, two or four lanes' numbers. More lanes multiply two digits twice that are half a ring apart.
#[test]
fn a_square_takes_a_multiply_add_for_each_pair_of_limbs() {
    let mut squares = Bench {
        is_specialized: true,
        ..Bench::new(SQUARE)
    };
    for layout in Layout::ALL {
        for lanes in [1, 2, 4, 8] {
            let level = if lanes == 1 {
                Level::Thread
            } else {
                Level::Warp
            };
            let any = Layout::Interleaved;
            let kernel = Kernel::find(Operation::Square, Algorithm::School, level, lanes, any);
            let n = 32 * lanes as usize;
            // A block of them: those past the end would be computed as well.
            let count = (BLOCK / lanes) as usize;
            let counted = squares.check_in(layout, kernel.unwrap(), &[n], 2 * n, count);
            let pairs = (n * (n + 1) / 2) as f64;
            let twice = if lanes > 4 { 512 * lanes } else { 0 };
            // Addresses are multiplied for, too: of four limbs, or of each.
            let addresses = match layout {
                Layout::Contiguous => 100 * lanes,
                Layout::Interleaved => 160 * lanes,
            };
            let most = pairs + f64::from(twice + addresses);
            assert!(counted <= most, "{layout:?} {lanes}: {counted} of {most}");
        }
    }
}
