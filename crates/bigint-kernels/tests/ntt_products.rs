//! Products by transforms modulo primes on the whole device, as they stand in the committed
//! PTX, on the simulated GPU with all of its checks on, beside num-bigint.

use bigint_core::kernel::EntryPoint;
use bigint_core::transform::ntt::{
    BACK, FACTORS, FORTH, LIMB_BYTES, LIMBS, NttArguments, NttPlan, ROWS, Second, THREADS,
    fill_tables,
};
use bigint_core::{Layout, Limb, MatrixArgument, Shape};
use cuda_sim::{Arch, Device, DeviceConfig, Grid, LoadedModule, ptx::Module};
use num_bigint::BigUint;

const MUL_NTT: &str = include_str!("../../bigint-host/ptx/mul_ntt.ptx");

/// A simulated device with the kernels and their tables.
struct Bench {
    device: Device,
    module: LoadedModule,
    tables: u64,
    state: u64,
}

impl Bench {
    fn new() -> Self {
        let device = Device::new(DeviceConfig {
            arch: Arch::SM_90,
            ..DeviceConfig::default()
        });
        let module = device.load(&Module::parse(MUL_NTT).unwrap()).unwrap();
        let mut tables = vec![0; FACTORS];
        fill_tables(&mut tables);
        let bytes: Vec<u8> = tables.iter().flat_map(|word| word.to_le_bytes()).collect();
        let tables = device.alloc(bytes.len() as u64).unwrap();
        device.write(tables, &bytes).unwrap();
        Bench {
            device,
            module,
            tables,
            state: 1,
        }
    }

    fn next(&mut self) -> Limb {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 32) as Limb
    }

    fn launch(&self, entry: EntryPoint, blocks: u32, shared_bytes: u32, arguments: &NttArguments) {
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

    fn matrix(&self, numbers: &[Vec<Limb>], layout: Layout) -> MatrixArgument {
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
        let bytes: Vec<u8> = limbs
            .iter()
            .flat_map(|limb: &Limb| limb.to_le_bytes())
            .collect();
        let address = self.device.alloc(bytes.len() as u64).unwrap();
        self.device.write(address, &bytes).unwrap();
        MatrixArgument::new(address, first.len(), strides)
    }

    fn read(&self, argument: MatrixArgument, count: usize) -> Vec<BigUint> {
        let width = argument.width as usize;
        let mut bytes = vec![0; 4 * count * width];
        self.device.read(argument.limbs, &mut bytes).unwrap();
        let numbers = bytes.chunks_exact(4 * width);
        numbers.map(BigUint::from_bytes_le).collect()
    }

    /// Compares the products of these pairs by a plan, modulo `2^(32 N) - 1` where they are
    /// wider; without second numbers their squares. Of the second numbers one may stand for
    /// all, and points may be kept of them before.
    fn check(&self, plan: NttPlan, a: &[Vec<Limb>], b: &[Vec<Limb>], layout: Layout, keep: bool) {
        let (count, width) = (a.len(), plan.length() as usize);
        let result = || {
            let address = self.device.alloc(4 * (count * width) as u64).unwrap();
            let shape = Shape::new(count, width, Layout::Contiguous);
            MatrixArgument::new(address, width, shape.strides())
        };
        let points = |numbers: usize| {
            let limbs = (numbers * plan.point_limbs()) as u64;
            self.device.alloc(4 * limbs.max(1)).unwrap()
        };
        let (operands, second) = match (b.is_empty(), keep) {
            (true, _) => (1, Second::Same),
            (_, false) => (2, Second::Other),
            (_, true) => (1, Second::Kept),
        };
        let wraps = a[0].len() + b.first().unwrap_or(&a[0]).len() > width;
        let kept = points(if keep { b.len() } else { 0 });
        let arguments = NttArguments {
            a: self.matrix(a, layout),
            b: self.matrix(b, layout),
            sums: result(),
            carries: result(),
            points: points(count * operands as usize),
            kept,
            tables: self.tables,
            scales: plan.scales(),
            plan,
            count: count as u32,
            operands,
            second: second as u32,
            kept_count: if keep { b.len() as u32 } else { 0 },
            wraps: u32::from(wraps),
        };
        let columns = 3 * plan.column_blocks();
        let rows = 3 * plan.rows();
        if keep {
            let numbers = b.len() as u32;
            let arguments = NttArguments {
                a: arguments.b,
                points: kept,
                count: numbers,
                second: Second::Nothing as u32,
                kept_count: 0,
                ..arguments
            };
            self.launch(FORTH, columns * numbers, plan.column_bytes(), &arguments);
            self.launch(ROWS, rows * numbers, plan.row_bytes(1), &arguments);
        }
        let numbers = count as u32;
        self.launch(
            FORTH,
            columns * numbers * operands,
            plan.column_bytes(),
            &arguments,
        );
        self.launch(ROWS, rows * numbers, plan.row_bytes(operands), &arguments);
        self.launch(BACK, columns * numbers, plan.column_bytes(), &arguments);
        self.launch(LIMBS, plan.limb_blocks() * numbers, LIMB_BYTES, &arguments);
        let sums = self.read(arguments.sums, count);
        let carries = self.read(arguments.carries, count);
        let modulus = (BigUint::from(1u8) << (32 * width)) - u32::from(wraps);
        for (i, x) in a.iter().enumerate() {
            let y = b.get(i % b.len().max(1)).unwrap_or(x);
            let found = (&sums[i] + &carries[i]) % &modulus;
            let value = BigUint::new(x.clone()) * BigUint::new(y.clone()) % &modulus;
            assert!(found == value, "{plan:?} {second:?} {layout:?}: number {i}");
        }
        let NttArguments {
            a,
            b,
            sums,
            carries,
            points,
            ..
        } = arguments;
        let addresses = [a.limbs, b.limbs, sums.limbs, carries.limbs, points, kept];
        for address in addresses.into_iter().filter(|address| *address > 0) {
            self.device.free(address).unwrap();
        }
    }

    /// Numbers of `n` limbs: ones, the top bits alone, alternating extremes, one high limb,
    /// one low, and any.
    fn worst(&mut self, n: usize) -> Vec<Vec<Limb>> {
        let mut of = |limb: &dyn Fn(usize, Limb) -> Limb| -> Vec<Limb> {
            (0..n).map(|i| limb(i, self.next())).collect()
        };
        vec![
            of(&|_, _| Limb::MAX),
            of(&|i, _| if i % 2 == 0 { Limb::MAX } else { 0 }),
            of(&|_, _| 1 << 31),
            of(&|i, _| if i == n - 1 { Limb::MAX } else { 0 }),
            of(&|i, _| Limb::from(i == 0)),
            of(&|_, any| any),
            of(&|_, any| if any & 1 == 0 { Limb::MAX } else { 0 }),
        ]
    }
}

/// The next of each, in turns.
fn turned(numbers: &[Vec<Limb>]) -> Vec<Vec<Limb>> {
    let next = numbers.iter().cycle().skip(1).take(numbers.len());
    next.cloned().collect()
}

/// Lengths with every number of levels beside the passes of three, of rows and of columns, and
/// parts.
#[test]
fn products_that_fill_every_length_are_right() {
    let mut bench = Bench::new();
    for plan in NttPlan::all().filter(|plan| plan.length() < 1 << 14) {
        let n = plan.length() as usize / 2;
        let mut worst = bench.worst(n);
        if n > 1 << 10 {
            worst = [0, 5].map(|i| worst[i].clone()).into();
        }
        bench.check(plan, &worst, &turned(&worst), Layout::Contiguous, false);
        bench.check(plan, &worst[..1], &[], Layout::Contiguous, false);
    }
}

#[test]
fn longer_products_are_right() {
    let mut bench = Bench::new();
    for plan in [
        NttPlan::new(1, 15),
        NttPlan::new(3, 14),
        NttPlan::new(5, 13),
    ] {
        let worst = bench.worst(plan.length() as usize / 2);
        bench.check(plan, &worst[..1], &worst[..1], Layout::Contiguous, false);
        bench.check(plan, &worst[6..], &[], Layout::Contiguous, false);
    }
}

#[test]
fn products_of_unequal_numbers_of_any_layout_are_right() {
    let mut bench = Bench::new();
    for (n, m) in [(1, 1), (500, 12), (3, 700), (1000, 536), (1535, 1)] {
        let plan = NttPlan::of(n, m).unwrap();
        let (a, b) = (bench.worst(n), bench.worst(m));
        for layout in Layout::ALL {
            bench.check(plan, &a, &turned(&b), layout, false);
        }
    }
}

#[test]
fn products_that_wrap_are_right_modulo_a_mersenne_number() {
    let mut bench = Bench::new();
    for log in [9, 12] {
        let plan = NttPlan::wraps(1 << log).unwrap();
        let worst = bench.worst(1 << log);
        bench.check(plan, &worst, &turned(&worst), Layout::Contiguous, false);
        bench.check(plan, &worst[..2], &[], Layout::Contiguous, false);
    }
    assert_eq!(NttPlan::wraps(3 << 9), None);
}

/// Of one number for all, and of as many.
#[test]
fn products_by_what_is_kept_are_right() {
    let mut bench = Bench::new();
    for (n, m) in [(300, 200), (800, 700), (1200, 1300)] {
        let plan = NttPlan::of(n, m).unwrap();
        let (a, b) = (bench.worst(n), bench.worst(m));
        bench.check(plan, &a, &b[..1], Layout::Contiguous, true);
        bench.check(plan, &a[4..], &b[4..], Layout::Contiguous, true);
    }
}
