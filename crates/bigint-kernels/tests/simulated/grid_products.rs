//! Products by transforms in FP64 on the whole device: the operands that are worst for rounding.

use crate::bench::{Bench, Operand, cut, turned};
use bigint_core::kernel::EntryPoint;
use bigint_core::transform::grid::{
    BACK, FORTH, GridArguments, GridPlan, THREADS, TREE, fill_tree,
};
use bigint_core::{Layout, Limb, MatrixArgument, Shape};
use num_bigint::BigUint;

/// A simulated device with the kernels.
struct Products(Bench);

impl Products {
    fn new() -> Self {
        Products(Bench::large("mul_grid"))
    }

    fn table(&self, roots: u32, fill: impl Fn(&mut [[f64; 2]])) -> u64 {
        let mut table = vec![[0.0; 2]; roots as usize];
        fill(&mut table);
        let words = table.iter().flatten();
        self.0.upload(words.flat_map(|x: &f64| x.to_le_bytes()))
    }

    fn launch(&self, entry: EntryPoint, grid: [u32; 3], arguments: &GridArguments) {
        self.0
            .launch(entry.name, grid, arguments.words(), arguments.plan);
    }

    /// Compares the products of these pairs, whose numbers have `n` and `m` limbs, by a plan;
    /// without second numbers their squares.
    fn check(&self, plan: GridPlan, a: &Operand, b: Option<&Operand>, layout: Layout) {
        self.check_modulo(plan, a, b, layout, false);
    }

    /// The same modulo `2^(32 n) + 1`, `n` the limbs of the plan's products, where it `wraps`.
    fn check_modulo(
        &self,
        plan: GridPlan,
        a: &Operand,
        b: Option<&Operand>,
        layout: Layout,
        wraps: bool,
    ) {
        let (count, width) = (a.1.len(), plan.product_limbs());
        let operands = 1 + u32::from(b.is_some());
        let shape = Shape::new(count, width, Layout::Contiguous);
        let points = u64::from(plan.length()) * u64::from(operands) * count as u64;
        let arguments = GridArguments {
            a: self.0.matrix(a, layout),
            b: b.map_or(MatrixArgument::default(), |b| self.0.matrix(b, layout)),
            sums: self.0.room(shape),
            carries: self.0.room(shape),
            points: self.0.device.alloc(16 * points).unwrap(),
            count: count as u32,
            operands,
            wraps: wraps.into(),
            ..self.tables(plan)
        };
        let numbers = count as u32;
        let columns = plan.column_blocks() * numbers;
        let of_columns = |columns| [columns, THREADS, plan.column_bytes()];
        self.launch(FORTH, of_columns(columns * operands), &arguments);
        let rows = [
            plan.row_blocks(operands) * numbers,
            plan.row_threads(operands),
            plan.row_bytes(operands),
        ];
        self.launch(plan.rows_kernel(operands), rows, &arguments);
        self.launch(BACK, of_columns(columns), &arguments);
        let [sums, carries] =
            [arguments.sums, arguments.carries].map(|matrix| self.0.numbers(matrix, shape));
        for (i, x) in a.1.iter().enumerate() {
            let y = b.map_or(x, |(_, b)| &b[i]);
            let (found, expected) = match wraps {
                false => (cut(&sums[i] + &carries[i], width), x * y),
                true => {
                    let modulus = (BigUint::from(1u8) << (32 * width)) + 1u8;
                    ((&sums[i] + &carries[i]) % &modulus, x * y % &modulus)
                }
            };
            assert!(
                found == expected,
                "{plan:?} {operands} {layout:?}: number {i}"
            );
        }
        let matrices = [arguments.a, arguments.b, arguments.sums, arguments.carries];
        self.free(matrices, &arguments);
    }

    /// Arguments of a plan with its tables.
    fn tables(&self, plan: GridPlan) -> GridArguments {
        GridArguments {
            tree: self.table(TREE as u32, fill_tree),
            columns: self.table(plan.rows(), |table| plan.fill_columns(table)),
            rows: self.table(plan.row_roots(), |table| plan.fill_rows(table)),
            scale: 4.0 / f64::from(plan.length()),
            plan,
            ..GridArguments::default()
        }
    }

    fn free(&self, matrices: impl IntoIterator<Item = MatrixArgument>, arguments: &GridArguments) {
        let tables = arguments.stretches().map(|(address, _)| address);
        let matrices = matrices.into_iter().map(|matrix| matrix.limbs);
        for address in matrices.chain(tables).filter(|address| *address > 0) {
            self.0.device.free(address).unwrap();
        }
    }

    /// Compares both products of points that are kept of `c` and `d`: by `a` and `b` or, where there are none, by fractions
    /// `f`, and those modulo `2^(32 n) + 1`.
    fn check_pairs(&self, plan: GridPlan, own: &[&Operand], [c, d]: [&Operand; 2]) {
        let (count, width) = (c.1.len(), plan.product_limbs());
        let numbers = count as u32;
        let shape = Shape::new(2 * count, width, Layout::Contiguous);
        let points = |operands: u64| {
            let points = u64::from(plan.length()) * operands * count as u64;
            self.0.device.alloc(16 * points).unwrap()
        };
        let wraps = own.len() == 1;
        let given = GridArguments {
            count: numbers,
            operands: 1,
            ..self.tables(plan)
        };
        let of_columns = |columns| [columns, THREADS, plan.column_bytes()];
        let columns = plan.column_blocks() * numbers;
        let forth = |operand: &Operand, points: u64, wraps: bool| {
            let a = self.0.matrix(operand, Layout::Contiguous);
            let wraps = wraps.into();
            let arguments = GridArguments {
                a,
                points,
                wraps,
                ..given
            };
            self.launch(FORTH, of_columns(columns), &arguments);
            a
        };
        let kept = [points(1), points(1)];
        let mut matrices = vec![forth(c, kept[0], false), forth(d, kept[1], false)];
        let arguments = GridArguments {
            sums: self.0.room(shape),
            carries: self.0.room(shape),
            points: points(2),
            kept,
            operands: own.len() as u32,
            wraps: wraps.into(),
            ..given
        };
        for (operand, before) in own.iter().zip([0, numbers]) {
            let before = 16 * u64::from(before) * u64::from(plan.length());
            matrices.push(forth(operand, arguments.points + before, wraps));
        }
        let rows = [
            plan.pair_blocks() * numbers,
            plan.pair_threads(),
            plan.pair_bytes(),
        ];
        self.launch(plan.pairs_kernel(), rows, &arguments);
        let back = GridArguments {
            count: 2 * numbers,
            operands: 1,
            kept: [0; 2],
            ..arguments
        };
        self.launch(BACK, of_columns(2 * columns), &back);
        let [sums, carries] =
            [arguments.sums, arguments.carries].map(|matrix| self.0.numbers(matrix, shape));
        let modulus = (BigUint::from(1u8) << (32 * width)) + u32::from(wraps);
        for i in 0..count {
            let (c, d) = (&c.1[i], &d.1[i]);
            let expected = match own {
                [f] => [&f.1[i] * d, &f.1[i] * c],
                [a, b] => [&a.1[i] * d + &b.1[i] * c, c * d],
                _ => unreachable!("one or two"),
            };
            for (of, expected) in [i, count + i].into_iter().zip(expected) {
                let found = (&sums[of] + &carries[of]) % &modulus;
                assert!(found == expected % &modulus, "{plan:?}: number {of}");
            }
        }
        matrices.extend([arguments.sums, arguments.carries]);
        self.free(matrices, &arguments);
    }

    /// Numbers of `n` limbs that are worst for digits of `bits` bits: the greatest in either
    /// sense, in several orders; and any.
    fn worst(&mut self, n: usize, bits: u32) -> Operand {
        let digits = (32 * n).div_ceil(bits as usize);
        let (low, high) = (1 << (bits - 1), (1 << (bits - 1)) - 1);
        let mut of = |digit: &dyn Fn(usize, Limb) -> Limb| {
            let (mut limbs, mut left, mut count) = (Vec::new(), 0_u64, 0);
            for i in 0..digits {
                left |= u64::from(digit(i, self.0.next()) & ((1 << bits) - 1)) << count;
                count += bits;
                while count >= 32 {
                    limbs.push(left as Limb);
                    left >>= 32;
                    count -= 32;
                }
            }
            limbs.push(left as Limb);
            limbs.truncate(n);
            BigUint::new(limbs)
        };
        let worst = vec![
            of(&|_, _| Limb::MAX),
            of(&|_, _| low),
            of(&|_, _| high),
            of(&|i, _| if i % 2 == 0 { low } else { high }),
            of(&|_, any| if any & 1 == 0 { low } else { high }),
            of(&|i, _| if i == digits - 1 { Limb::MAX } else { 0 }),
            of(&|_, any| any),
        ];
        (n, worst)
    }
}

/// A plan with the digits that this length may have at most.
fn plan(radix: u32, log_part: u32, log_row: u32, digit_bits: u32) -> GridPlan {
    let plan = GridPlan {
        radix,
        log_part,
        log_row,
        digit_bits,
    };
    assert!(plan.error_bound() < 0.5);
    plan
}

/// Every radix, with columns of every number of levels, and rows of every length.
#[test]
fn products_of_the_worst_digits_are_right_at_every_length() {
    let mut products = Products::new();
    let short = GridPlan::all().filter(|plan| plan.length() < 1 << 15);
    let shapes = [
        plan(9, 3, 9, 15),
        plan(10, 4, 8, 15),
        plan(8, 5, 8, 15),
        plan(9, 5, 8, 14),
        plan(12, 6, 8, 14),
        plan(8, 2, 10, 15),
        plan(10, 2, 11, 15),
    ];
    for plan in short.chain(shapes) {
        let mut worst = products.worst(plan.limbs(), plan.digit_bits);
        if plan.length() > 1 << 14 {
            worst.1 = [4].map(|i| worst.1[i].clone()).into();
        } else if plan.length() > 1 << 13 {
            worst.1 = [0, 2, 4].map(|i| worst.1[i].clone()).into();
        }
        products.check(plan, &worst, Some(&turned(&worst)), Layout::Contiguous);
        products.check(plan, &worst, None, Layout::Contiguous);
    }
}

/// Every radix, columns of every number of levels and rows of every length, of operands as long as the modulus and shorter.
#[test]
fn products_that_wrap_are_right_at_every_length() {
    let mut products = Products::new();
    let lengths = [(2, 8), (3, 8), (4, 8), (5, 8), (6, 8), (2, 10), (2, 11)];
    let plans = GridPlan::all_that_wrap().filter(|plan| {
        let is_short = plan.length() < 1 << 14;
        is_short || lengths.contains(&(plan.log_part, plan.log_row)) && plan.radix == 10
    });
    for plan in plans {
        assert!(plan.wrapped_error_bound() < 0.5);
        let n = plan.product_limbs();
        let mut worst = products.worst(n, plan.digit_bits);
        worst.1.push(BigUint::ZERO);
        if plan.length() > 1 << 14 {
            worst.1 = [0, 4].map(|i| worst.1[i].clone()).into();
        }
        let wraps = true;
        products.check_modulo(
            plan,
            &worst,
            Some(&turned(&worst)),
            Layout::Contiguous,
            wraps,
        );
        products.check_modulo(plan, &worst, None, Layout::Contiguous, wraps);
        let mut short = products.worst(n / 2 + 7, plan.digit_bits);
        short.1.resize(worst.1.len(), BigUint::from(1u8));
        products.check_modulo(plan, &worst, Some(&short), Layout::Interleaved, wraps);
    }
}

/// Every radix, columns of every number of levels and rows of every length.
#[test]
fn pairs_of_products_of_the_worst_digits_are_right_at_every_length() {
    let mut products = Products::new();
    let lengths = [(2, 8), (3, 8), (4, 8), (5, 8), (2, 9), (2, 10), (2, 11)];
    let plans = GridPlan::all_of_pairs().chain([(10, 4), (12, 5), (8, 2), (9, 2)].into_iter().map(
        |(radix, log_part)| GridPlan {
            radix,
            log_part,
            log_row: 11,
            digit_bits: 12,
        },
    ));
    let plans = plans.filter(|plan| {
        let is_short = plan.length() < 1 << 13;
        is_short || lengths.contains(&(plan.log_part, plan.log_row)) && plan.length() < 1 << 16
    });
    for plan in plans {
        assert!(plan.pair_error_bound() < 0.5);
        let n = plan.limbs();
        let mut worst = products.worst(n, plan.digit_bits);
        let mut fractions = products.worst(plan.product_limbs(), plan.digit_bits);
        if plan.length() > 1 << 13 {
            worst.1 = [0, 4].map(|i| worst.1[i].clone()).into();
            fractions.1 = [0, 4].map(|i| fractions.1[i].clone()).into();
        }
        let other = turned(&worst);
        products.check_pairs(plan, &[&worst, &other], [&other, &worst]);
        products.check_pairs(plan, &[&worst, &worst], [&worst, &worst]);
        products.check_pairs(plan, &[&fractions], [&worst, &other]);
    }
}

/// Of unequal lengths, and of zeros.
#[test]
fn pairs_of_products_of_short_numbers_are_right() {
    let mut products = Products::new();
    let plan = GridPlan::of_pairs(100, 200).unwrap();
    let (a, b) = (products.worst(100, 16), products.worst(1, 16));
    let (c, mut d) = (products.worst(77, 16), products.worst(31, 16));
    d.1[0] = BigUint::ZERO;
    products.check_pairs(plan, &[&a, &b], [&c, &d]);
    products.check_pairs(plan, &[&a], [&d, &b]);
}

#[test]
fn products_of_short_numbers_and_of_any_layout_are_right() {
    let mut products = Products::new();
    for (n, m) in [(1, 1), (100, 3), (191, 192), (193, 5), (256, 255)] {
        let plan = GridPlan::of(n.max(m)).unwrap();
        let (a, b) = (products.worst(n, 16), products.worst(m, 16));
        for layout in Layout::ALL {
            products.check(plan, &a, Some(&b), layout);
        }
    }
}
