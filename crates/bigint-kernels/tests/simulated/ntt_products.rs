//! Products by transforms modulo primes on the whole device.

use crate::bench::{Bench, Operand, turned};
use bigint_core::kernel::EntryPoint;
use bigint_core::transform::ntt::{
    BACK, CHUNK, FACTORS, FORTH, LIMB_BYTES, LIMB_THREADS, LIMBS, NttArguments, NttPlan, ROWS,
    Second, THREADS, fill_tables,
};
use bigint_core::{Layout, Limb, MatrixArgument, Shape};
use num_bigint::BigUint;

/// A simulated device with the kernels and their tables.
struct Products {
    bench: Bench,
    tables: u64,
}

impl Products {
    fn new() -> Self {
        let bench = Bench::large("mul_ntt");
        let mut tables = vec![0; FACTORS];
        fill_tables(&mut tables);
        let tables = bench.upload(tables.into_iter().flat_map(u64::to_le_bytes));
        Products { bench, tables }
    }

    /// Launches so many blocks of one of three kernels.
    fn launch(
        &self,
        (kernels, which): ([EntryPoint; 3], usize),
        blocks: u32,
        shared_bytes: u32,
        arguments: &NttArguments,
    ) {
        let grid = [blocks, THREADS[which], shared_bytes];
        self.bench
            .launch(kernels[which].name, grid, arguments.words(), arguments.plan);
    }

    /// Launches the kernel of limbs.
    fn limbs(&self, numbers: u32, arguments: &NttArguments) {
        let plan = arguments.plan;
        let grid = [plan.limb_blocks() * numbers, LIMB_THREADS, LIMB_BYTES];
        self.bench.launch(LIMBS.name, grid, arguments.words(), plan);
    }

    /// Compares the products of these pairs by a plan, modulo `2^(32 N) - 1` where they are
    /// wider; without second numbers their squares. Of the second numbers one may stand for
    /// all, and points may be kept of them before.
    fn check(&self, plan: NttPlan, a: &Operand, b: Option<&Operand>, layout: Layout, keep: bool) {
        let (count, width) = (a.1.len(), plan.length() as usize);
        let shape = Shape::new(count, width, Layout::Contiguous);
        let points = |numbers: usize| {
            let limbs = (numbers * plan.point_limbs()) as u64;
            self.bench.device.alloc(4 * limbs.max(1)).unwrap()
        };
        let (operands, second) = match (b, keep) {
            (None, _) => (1, Second::Same),
            (Some(_), false) => (2, Second::Other),
            (Some(_), true) => (1, Second::Kept),
        };
        let wraps = a.0 + b.unwrap_or(a).0 > width;
        let kept_count = b.filter(|_| keep).map_or(0, |b| b.1.len());
        let kept = points(kept_count);
        let arguments = NttArguments {
            a: self.bench.matrix(a, layout),
            b: b.map_or(MatrixArgument::default(), |b| self.bench.matrix(b, layout)),
            sums: self.bench.room(shape),
            carries: self.bench.room(shape),
            points: points(count * operands as usize),
            kept: [kept, 0, 0, 0],
            tables: self.tables,
            scales: plan.scales(),
            plan,
            count: count as u32,
            operands,
            second: second as u32,
            kept_counts: [kept_count as u32, 0, 0, 0],
            wraps: u32::from(wraps),
        };
        let columns = 3 * plan.column_blocks();
        let rows = 3 * plan.rows();
        let forth = |arguments: &NttArguments| {
            let [numbers, operands] = [arguments.count, arguments.operands];
            let bytes = plan.column_bytes();
            self.launch(
                (FORTH, plan.column_kernel()),
                columns * numbers * operands,
                bytes,
                arguments,
            );
            let of_rows = (ROWS, plan.row_kernel(operands));
            self.launch(of_rows, rows * numbers, plan.row_bytes(operands), arguments);
        };
        if keep {
            forth(&NttArguments {
                a: arguments.b,
                points: kept,
                count: kept_count as u32,
                second: Second::Nothing as u32,
                kept_counts: [0; 4],
                ..arguments
            });
        }
        let numbers = count as u32;
        forth(&arguments);
        self.launch(
            (BACK, plan.column_kernel()),
            columns * numbers,
            plan.column_bytes(),
            &arguments,
        );
        self.limbs(numbers, &arguments);
        let [sums, carries] =
            [arguments.sums, arguments.carries].map(|matrix| self.bench.numbers(matrix, shape));
        let modulus = (BigUint::from(1u8) << (32 * width)) - u32::from(wraps);
        for (i, x) in a.1.iter().enumerate() {
            let y = b.map_or(x, |(_, b)| &b[i % b.len()]);
            let found = (&sums[i] + &carries[i]) % &modulus;
            let value = x * y % &modulus;
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

    /// Compares products `c d` and sums `a d + b c` of as many numbers by a plan, with transforms of `c` and `d` that are kept, and
    /// sums `c d + a b` with all kept, which may be wider than the transform.
    fn check_sums(&self, plan: NttPlan, [a, b, c, d]: [&Operand; 4]) {
        let (count, width) = (a.1.len(), plan.length() as usize);
        let shape = Shape::new(count, width, Layout::Contiguous);
        let points = |operands: usize| {
            let limbs = (count * operands * plan.point_limbs()) as u64;
            self.bench.device.alloc(4 * limbs).unwrap()
        };
        let [of_a, of_b, of_c, of_d] =
            [a, b, c, d].map(|operand| self.bench.matrix(operand, Layout::Contiguous));
        let numbers = count as u32;
        let given = NttArguments {
            tables: self.tables,
            scales: plan.scales(),
            plan,
            count: numbers,
            ..NttArguments::default()
        };
        let run = |arguments: &NttArguments| {
            let blocks = 3 * plan.column_blocks() * numbers * arguments.operands;
            if blocks > 0 {
                self.launch(
                    (FORTH, plan.column_kernel()),
                    blocks,
                    plan.column_bytes(),
                    arguments,
                );
            }
            let of_number = arguments.rows_of_number();
            let (which, bytes) = (plan.row_kernel(of_number), plan.row_bytes(of_number));
            self.launch((ROWS, which), 3 * plan.rows() * numbers, bytes, arguments);
        };
        let kept = [of_d, of_c, of_a, of_b].map(|a| {
            let (points, operands) = (points(1), 1);
            let second = Second::Nothing as u32;
            run(&NttArguments {
                a,
                points,
                operands,
                second,
                ..given
            });
            points
        });
        let over = Shape {
            width: width + CHUNK as usize,
            ..shape
        };
        let products = |second: Second, operands: u32, kept_counts: [u32; 4]| {
            let arguments = NttArguments {
                a: of_a,
                b: of_b,
                sums: self.bench.room(shape),
                carries: self.bench.room(over),
                points: points(operands.max(1) as usize),
                kept,
                kept_counts,
                operands,
                second: second as u32,
                ..given
            };
            run(&arguments);
            let blocks = 3 * plan.column_blocks() * numbers;
            self.launch(
                (BACK, plan.column_kernel()),
                blocks,
                plan.column_bytes(),
                &arguments,
            );
            self.limbs(numbers, &arguments);
            let sums = self.bench.numbers(arguments.sums, shape);
            sums.into_iter()
                .zip(self.bench.numbers(arguments.carries, over))
                .map(|(sum, carry)| sum + carry)
        };
        let one_pair = [numbers, numbers, 0, 0];
        let both = products(Second::Both, 0, one_pair).collect::<Vec<_>>();
        let two = products(Second::Both, 0, [numbers; 4]).collect::<Vec<_>>();
        let sums = products(Second::Sum, 2, one_pair).collect::<Vec<_>>();
        for i in 0..count {
            let [a, b, c, d] = [a, b, c, d].map(|operand| &operand.1[i]);
            assert!(both[i] == c * d, "{plan:?}: product {i}");
            assert!(two[i] == c * d + a * b, "{plan:?}: products {i}");
            assert!(sums[i] == a * d + b * c, "{plan:?}: sum {i}");
        }
    }

    /// Numbers of `n` limbs: ones, the top bits alone, alternating extremes, one high limb,
    /// one low, and any.
    fn worst(&mut self, n: usize) -> Operand {
        let mut of = |limb: &dyn Fn(usize, Limb) -> Limb| {
            BigUint::new((0..n).map(|i| limb(i, self.bench.next())).collect())
        };
        let worst = vec![
            of(&|_, _| Limb::MAX),
            of(&|i, _| if i % 2 == 0 { Limb::MAX } else { 0 }),
            of(&|_, _| 1 << 31),
            of(&|i, _| if i == n - 1 { Limb::MAX } else { 0 }),
            of(&|i, _| Limb::from(i == 0)),
            of(&|_, any| any),
            of(&|_, any| if any & 1 == 0 { Limb::MAX } else { 0 }),
        ];
        (n, worst)
    }
}

/// Some of a batch's numbers.
fn part((width, numbers): &Operand, of: std::ops::Range<usize>) -> Operand {
    (*width, numbers[of].to_vec())
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
            worst.1 = [0, 5].map(|i| worst.1[i].clone()).into();
        }
        let b = Some(&turned(&worst));
        products.check(plan, &worst, b, Layout::Contiguous, false);
        products.check(plan, &part(&worst, 0..1), None, Layout::Contiguous, false);
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
        let [first, last] = [0..1, 6..7].map(|of| part(&worst, of));
        products.check(plan, &first, Some(&first), Layout::Contiguous, false);
        products.check(plan, &last, None, Layout::Contiguous, false);
    }
}

/// Columns of 2^12 rows and two rows of 2^14, which blocks of 1024 threads take, of shorter lengths than have them in use.
#[test]
fn products_by_the_longest_columns_and_rows_are_right() {
    let mut products = Products::new();
    for (odd, log_part) in [(1, 12), (3, 10)] {
        let plan = NttPlan {
            odd,
            log_part,
            log_row: 6,
        };
        let which = if odd == 1 { 2 } else { 1 };
        assert_eq!((plan.log_columns(), plan.column_kernel()), (3, which));
        let any = part(&products.worst(plan.length() as usize / 2), 5..6);
        products.check(plan, &any, None, Layout::Contiguous, false);
    }
    let plan = NttPlan {
        odd: 1,
        log_part: 3,
        log_row: 14,
    };
    assert_eq!([1, 2].map(|rows| plan.row_kernel(rows)), [1, 2]);
    let any = part(&products.worst(plan.length() as usize / 2), 5..6);
    products.check(plan, &any, Some(&any), Layout::Contiguous, false);
}

#[test]
fn products_of_unequal_numbers_of_any_layout_are_right() {
    let mut products = Products::new();
    for (n, m) in [(1, 1), (500, 12), (3, 700), (1000, 536), (1535, 1)] {
        let plan = NttPlan::of(n, m).unwrap();
        let (a, b) = (products.worst(n), products.worst(m));
        for layout in Layout::ALL {
            products.check(plan, &a, Some(&turned(&b)), layout, false);
        }
    }
}

#[test]
fn products_that_wrap_are_right_modulo_a_mersenne_number() {
    let mut products = Products::new();
    for log in [9, 12] {
        let plan = NttPlan::wraps(1 << log).unwrap();
        let worst = products.worst(1 << log);
        let b = Some(&turned(&worst));
        products.check(plan, &worst, b, Layout::Contiguous, false);
        products.check(plan, &part(&worst, 0..2), None, Layout::Contiguous, false);
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
        let one = part(&b, 0..1);
        products.check(plan, &a, Some(&one), Layout::Contiguous, true);
        let [a, b] = [a, b].map(|x| part(&x, 4..7));
        products.check(plan, &a, Some(&b), Layout::Contiguous, true);
    }
}

#[test]
fn products_of_what_is_kept_and_sums_of_two_are_right() {
    let mut products = Products::new();
    for (n, m) in [
        (256, 256),
        (300, 200),
        (768, 768),
        (1200, 1300),
        (2048, 2048),
    ] {
        let plan = NttPlan::of(n, m).unwrap();
        let ([a, c], [b, d]) = ([n; 2], [m; 2]);
        let [a, b, c, d] = [a, b, c, d].map(|width| products.worst(width));
        let turned = [&a, &turned(&b), &turned(&c), &d].map(|x| part(x, 0..7));
        let [a, b, c, d] = &turned;
        products.check_sums(plan, [a, b, c, d]);
        let ones = |x: &Operand| (x.0, vec![(BigUint::from(1u8) << (32 * x.0)) - 1u8; 2]);
        let [a, b, c, d] = [a, b, c, d].map(ones);
        products.check_sums(plan, [&a, &b, &c, &d]);
    }
}
