//! Products on the whole device, as they stand in the committed PTX, on the simulated GPU with
//! all of its checks on: the operands that are worst for rounding, beside num-bigint.

use bigint_core::kernel::EntryPoint;
use bigint_core::transform::grid::{
    BACK, DIGIT_BYTES, DIGITS, FORTH, GridArguments, GridPlan, ROWS, THREADS, TREE, fill_tree,
};
use bigint_core::{Layout, Limb, MatrixArgument, Shape};
use cuda_sim::{Arch, Device, DeviceConfig, Grid, LoadedModule, ptx::Module};
use num_bigint::BigUint;

const MUL_GRID: &str = include_str!("../../bigint-host/ptx/mul_grid.ptx");

/// A simulated device with the kernels.
struct Bench {
    device: Device,
    module: LoadedModule,
    state: u64,
}

impl Bench {
    fn new() -> Self {
        let device = Device::new(DeviceConfig {
            arch: Arch::SM_90,
            ..DeviceConfig::default()
        });
        let module = device.load(&Module::parse(MUL_GRID).unwrap()).unwrap();
        Bench {
            device,
            module,
            state: 1,
        }
    }

    fn next(&mut self) -> Limb {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as Limb
    }

    fn upload(&self, bytes: impl Iterator<Item = u8>) -> u64 {
        let bytes: Vec<u8> = bytes.collect();
        let address = self.device.alloc(bytes.len() as u64).unwrap();
        self.device.write(address, &bytes).unwrap();
        address
    }

    fn table(&self, roots: u32, fill: impl Fn(&mut [[f64; 2]])) -> u64 {
        let mut table = vec![[0.0; 2]; roots as usize];
        fill(&mut table);
        self.upload(table.iter().flatten().flat_map(|x: &f64| x.to_le_bytes()))
    }

    fn launch(&self, entry: EntryPoint, blocks: u32, shared_bytes: u32, arguments: &GridArguments) {
        let grid = Grid {
            grid: [blocks, 1, 1],
            block: [THREADS, 1, 1],
            shared_bytes,
        };
        let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
        self.device
            .launch(&self.module, entry.name, grid, &bytes)
            .unwrap_or_else(|fault| panic!("{} {:?}: {fault}", entry.name, arguments.plan));
    }

    fn read(&self, address: u64, limbs: usize) -> Vec<Limb> {
        let mut bytes = vec![0; 4 * limbs];
        self.device.read(address, &mut bytes).unwrap();
        let fours = bytes.as_chunks::<4>().0.iter();
        fours.map(|four| Limb::from_le_bytes(*four)).collect()
    }

    /// Compares the products of these pairs, whose numbers have `n` and `m` limbs, by a plan;
    /// without second numbers their squares.
    fn check(&self, plan: GridPlan, a: &[Vec<Limb>], b: &[Vec<Limb>], layout: Layout) {
        let matrix = |numbers: &[Vec<Limb>]| {
            let Some(first) = numbers.first() else {
                return MatrixArgument::default();
            };
            let shape = Shape::new(numbers.len(), first.len(), layout);
            let strides = shape.strides();
            let mut limbs = vec![0; shape.limbs()];
            for (i, number) in numbers.iter().enumerate() {
                for (j, limb) in number.iter().enumerate() {
                    limbs[i * strides.number + j * strides.limb] = *limb;
                }
            }
            let address = self.upload(limbs.iter().flat_map(|limb: &Limb| limb.to_le_bytes()));
            MatrixArgument::new(address, first.len(), strides)
        };
        let (count, width) = (a.len(), plan.product_limbs());
        let operands = if b.is_empty() { 1 } else { 2 };
        let result = || {
            let address = self.device.alloc(4 * (count * width) as u64).unwrap();
            let shape = Shape::new(count, width, Layout::Contiguous);
            MatrixArgument::new(address, width, shape.strides())
        };
        let points = u64::from(plan.length()) * u64::from(operands) * count as u64;
        let arguments = GridArguments {
            a: matrix(a),
            b: matrix(b),
            sums: result(),
            carries: result(),
            points: self.device.alloc(16 * points).unwrap(),
            tree: self.table(TREE as u32, fill_tree),
            near: self.table(plan.near_roots(), |table| plan.fill_near(table)),
            far: self.table(plan.far_roots(), |table| plan.fill_far(table)),
            scale: 4.0 / f64::from(plan.length()),
            plan,
            count: count as u32,
            operands,
        };
        let numbers = count as u32;
        let columns = plan.column_blocks() * numbers;
        let digits = plan.digit_blocks() * numbers;
        self.launch(FORTH, columns * operands, plan.column_bytes(), &arguments);
        self.launch(
            ROWS,
            plan.rows() * numbers,
            plan.row_bytes(operands),
            &arguments,
        );
        self.launch(BACK, columns, plan.column_bytes(), &arguments);
        self.launch(DIGITS, digits, DIGIT_BYTES, &arguments);
        let [sums, carries] = [arguments.sums, arguments.carries];
        let [sums, carries] = [sums, carries].map(|x| self.read(x.limbs, count * width));
        let modulus = BigUint::from(1u8) << (32 * width);
        let number = |limbs: &[Limb], i: usize| BigUint::new(limbs[i * width..][..width].to_vec());
        for (i, x) in a.iter().enumerate() {
            let found = (number(&sums, i) + number(&carries, i)) % &modulus;
            let value = BigUint::new(x.clone()) * BigUint::new(b.get(i).unwrap_or(x).clone());
            assert!(found == value, "{plan:?} {operands} {layout:?}: number {i}");
        }
        let matrices = [arguments.a, arguments.b, arguments.sums, arguments.carries];
        let tables = arguments.stretches().map(|(address, _)| address);
        let addresses = matrices
            .map(|matrix| matrix.limbs)
            .into_iter()
            .chain(tables);
        for address in addresses.filter(|address| *address > 0) {
            self.device.free(address).unwrap();
        }
    }

    /// Numbers of `n` limbs that are worst for digits of `bits` bits: the greatest in either
    /// sense, in several orders; and any.
    fn worst(&mut self, n: usize, bits: u32) -> Vec<Vec<Limb>> {
        let digits = (32 * n).div_ceil(bits as usize);
        let (low, high) = (1 << (bits - 1), (1 << (bits - 1)) - 1);
        let mut of = |digit: &dyn Fn(usize, Limb) -> Limb| {
            let (mut limbs, mut left, mut count) = (Vec::new(), 0_u64, 0);
            for i in 0..digits {
                left |= u64::from(digit(i, self.next()) & ((1 << bits) - 1)) << count;
                count += bits;
                while count >= 32 {
                    limbs.push(left as Limb);
                    left >>= 32;
                    count -= 32;
                }
            }
            limbs.push(left as Limb);
            limbs.resize(n, 0);
            limbs
        };
        vec![
            of(&|_, _| Limb::MAX),
            of(&|_, _| low),
            of(&|_, _| high),
            of(&|i, _| if i % 2 == 0 { low } else { high }),
            of(&|_, any| if any & 1 == 0 { low } else { high }),
            of(&|i, _| if i == digits - 1 { Limb::MAX } else { 0 }),
            of(&|_, any| any),
        ]
    }
}

/// Lengths with every number of levels beside the passes of three, of rows and of columns.
#[test]
fn products_of_the_worst_digits_are_right_at_every_length() {
    let mut bench = Bench::new();
    for plan in (9..=14).flat_map(|log| [GridPlan::new(3, log - 2), GridPlan::new(1, log)]) {
        let mut worst = bench.worst(plan.limbs(), plan.digit_bits);
        if plan.length() > 1 << 11 {
            worst = [0, 2, 4].map(|i| worst[i].clone()).into();
        }
        let turned = worst.iter().cycle().skip(1).take(worst.len());
        let turned: Vec<_> = turned.cloned().collect();
        bench.check(plan, &worst, &turned, Layout::Contiguous);
        bench.check(plan, &worst, &[], Layout::Contiguous);
    }
}

/// Digits of fewer than 16 bits, which no limb is made of.
#[test]
fn products_of_narrow_digits_are_right() {
    let mut bench = Bench::new();
    for plan in [
        GridPlan::new(3, 13),
        GridPlan::new(3, 15),
        GridPlan::new(1, 17),
    ] {
        assert!(plan.digit_bits < 16);
        let worst = bench.worst(plan.limbs(), plan.digit_bits);
        let [a, b] = [[0, 3], [4, 6]].map(|at| at.map(|i| worst[i].clone()));
        bench.check(plan, &a, &b, Layout::Contiguous);
    }
}

#[test]
fn products_of_short_numbers_and_of_any_layout_are_right() {
    let mut bench = Bench::new();
    for (n, m) in [(1, 1), (100, 3), (191, 192), (193, 5), (256, 255)] {
        let plan = GridPlan::of(n.max(m)).unwrap();
        let (a, b) = (bench.worst(n, 16), bench.worst(m, 16));
        for layout in Layout::ALL {
            bench.check(plan, &a, &b, layout);
        }
    }
}
