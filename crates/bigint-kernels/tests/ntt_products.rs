//! Products by transforms modulo primes on the whole device, as they stand in the committed
//! PTX, on the simulated GPU with all of its checks on, beside num-bigint.

mod bench;

use bench::Bench;
use bigint_core::kernel::EntryPoint;
use bigint_core::transform::ntt::{
    BACK, FACTORS, FORTH, LIMB_BYTES, LIMBS, NttArguments, NttPlan, ROWS, Second, THREADS,
    fill_tables,
};
use bigint_core::{Layout, Limb, MatrixArgument, Shape};
use num_bigint::BigUint;

const MUL_NTT: &str = include_str!("../../bigint-host/ptx/mul_ntt.ptx");

/// A simulated device with the kernels and their tables.
struct Products {
    bench: Bench,
    tables: u64,
}

impl Products {
    fn new() -> Self {
        let bench = Bench::new(MUL_NTT);
        let mut tables = vec![0; FACTORS];
        fill_tables(&mut tables);
        let tables = bench.upload(tables.into_iter().flat_map(u64::to_le_bytes));
        Products { bench, tables }
    }

    fn launch(&self, entry: EntryPoint, blocks: u32, shared_bytes: u32, arguments: &NttArguments) {
        let grid = [blocks, THREADS, shared_bytes];
        self.bench
            .launch(entry.name, grid, arguments.words(), arguments.plan);
    }

    fn read(&self, argument: MatrixArgument, count: usize) -> Vec<BigUint> {
        let width = argument.width as usize;
        let limbs = self.bench.read(argument.limbs, count * width);
        let numbers = limbs.chunks_exact(width);
        numbers.map(BigUint::from_slice).collect()
    }

    /// Compares the products of these pairs by a plan, modulo `2^(32 N) - 1` where they are
    /// wider; without second numbers their squares. Of the second numbers one may stand for
    /// all, and points may be kept of them before.
    fn check(&self, plan: NttPlan, a: &[Vec<Limb>], b: &[Vec<Limb>], layout: Layout, keep: bool) {
        let (count, width) = (a.len(), plan.length() as usize);
        let result = || {
            let address = self.bench.device.alloc(4 * (count * width) as u64).unwrap();
            let shape = Shape::new(count, width, Layout::Contiguous);
            MatrixArgument::new(address, width, shape.strides())
        };
        let points = |numbers: usize| {
            let limbs = (numbers * plan.point_limbs()) as u64;
            self.bench.device.alloc(4 * limbs.max(1)).unwrap()
        };
        let (operands, second) = match (b.is_empty(), keep) {
            (true, _) => (1, Second::Same),
            (_, false) => (2, Second::Other),
            (_, true) => (1, Second::Kept),
        };
        let wraps = a[0].len() + b.first().unwrap_or(&a[0]).len() > width;
        let kept = points(if keep { b.len() } else { 0 });
        let arguments = NttArguments {
            a: self.bench.matrix(a, layout),
            b: self.bench.matrix(b, layout),
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
            self.bench.device.free(address).unwrap();
        }
    }

    /// Numbers of `n` limbs: ones, the top bits alone, alternating extremes, one high limb,
    /// one low, and any.
    fn worst(&mut self, n: usize) -> Vec<Vec<Limb>> {
        let mut of = |limb: &dyn Fn(usize, Limb) -> Limb| -> Vec<Limb> {
            (0..n).map(|i| limb(i, self.bench.next())).collect()
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
    let mut products = Products::new();
    for plan in NttPlan::all().filter(|plan| plan.length() < 1 << 14) {
        let n = plan.length() as usize / 2;
        let mut worst = products.worst(n);
        if n > 1 << 10 {
            worst = [0, 5].map(|i| worst[i].clone()).into();
        }
        products.check(plan, &worst, &turned(&worst), Layout::Contiguous, false);
        products.check(plan, &worst[..1], &[], Layout::Contiguous, false);
    }
}

#[test]
fn longer_products_are_right() {
    let mut products = Products::new();
    for plan in [
        NttPlan::new(1, 15),
        NttPlan::new(3, 14),
        NttPlan::new(5, 13),
    ] {
        let worst = products.worst(plan.length() as usize / 2);
        products.check(plan, &worst[..1], &worst[..1], Layout::Contiguous, false);
        products.check(plan, &worst[6..], &[], Layout::Contiguous, false);
    }
}

#[test]
fn products_of_unequal_numbers_of_any_layout_are_right() {
    let mut products = Products::new();
    for (n, m) in [(1, 1), (500, 12), (3, 700), (1000, 536), (1535, 1)] {
        let plan = NttPlan::of(n, m).unwrap();
        let (a, b) = (products.worst(n), products.worst(m));
        for layout in Layout::ALL {
            products.check(plan, &a, &turned(&b), layout, false);
        }
    }
}

#[test]
fn products_that_wrap_are_right_modulo_a_mersenne_number() {
    let mut products = Products::new();
    for log in [9, 12] {
        let plan = NttPlan::wraps(1 << log).unwrap();
        let worst = products.worst(1 << log);
        products.check(plan, &worst, &turned(&worst), Layout::Contiguous, false);
        products.check(plan, &worst[..2], &[], Layout::Contiguous, false);
    }
    assert_eq!(NttPlan::wraps(3 << 9), None);
}

/// Of one number for all, and of as many.
#[test]
fn products_by_what_is_kept_are_right() {
    let mut products = Products::new();
    for (n, m) in [(300, 200), (800, 700), (1200, 1300)] {
        let plan = NttPlan::of(n, m).unwrap();
        let (a, b) = (products.worst(n), products.worst(m));
        products.check(plan, &a, &b[..1], Layout::Contiguous, true);
        products.check(plan, &a[4..], &b[4..], Layout::Contiguous, true);
    }
}
