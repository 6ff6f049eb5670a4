//! Products by transforms in FP64 on the whole device: the operands that are worst for rounding.

use crate::bench::{Bench, Operand, cut, turned};
use bigint_core::kernel::{EntryPoint, TILE};
use bigint_core::transform::grid::{
    self, ChunkCut, GridArguments, GridPlan, Norms, SUMS, SUMS_AGAIN, SumArguments, TREE, Way,
    fill_tree,
};
use bigint_core::{
    Algorithm, Arguments, Kernel, Launch, Layout, Level, Limb, MatrixArgument, Operation, Shape,
};
use cuda_sim::LoadedModule;
use num_bigint::BigUint;

/// A simulated device with the kernels, and the module of those that compute again.
struct Products(Bench, LoadedModule);

impl Products {
    fn new() -> Self {
        let bench = Bench::large(grid::MODULE);
        let again = bench.load(grid::AGAIN_MODULE);
        Products(bench, again)
    }

    fn table(&self, roots: u32, fill: impl Fn(&mut [[f64; 2]])) -> u64 {
        let mut table = vec![[0.0; 2]; roots as usize];
        fill(&mut table);
        let words = table.iter().flatten();
        self.0.upload(words.flat_map(|x: &f64| x.to_le_bytes()))
    }

    fn launch(&self, plan: GridPlan, arguments: &GridArguments, again: bool) {
        let GridArguments {
            operands, count, ..
        } = *arguments;
        for one in plan.launches(operands, count, again) {
            self.launch_one(one, arguments, again);
        }
    }

    fn launch_one(
        &self,
        (entry, grid): (EntryPoint, [u32; 3]),
        arguments: &GridArguments,
        again: bool,
    ) {
        // Every other length is specialised, but for kernels of pairs and of marked numbers.
        let is_own = !again && arguments.kept == [0; 2] && arguments.plan.log_part % 2 == 1;
        let own = match is_own {
            true => Some(self.0.specialized_to(entry, &arguments.specialization())),
            false => None,
        };
        let module = match (again, &own) {
            (false, Some(own)) => own,
            (false, None) => self.0.module(),
            (true, _) => &self.1,
        };
        let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
        self.0
            .launch_in(module, entry.name, grid, &bytes, arguments.plan);
    }

    /// The tables of a plan's roots, in arguments for products of `count` numbers by it.
    fn arguments(&self, plan: GridPlan, operands: u32, count: usize) -> GridArguments {
        GridArguments {
            tree: self.table(TREE as u32, fill_tree),
            columns: self.table(plan.rows(), |table| plan.fill_columns(table)),
            rows: self.table(plan.row_roots(), |table| plan.fill_rows(table)),
            scale: 4.0 / f64::from(plan.length()),
            plan,
            count: count as u32,
            operands,
            ..GridArguments::default()
        }
    }

    fn free(&self, addresses: impl IntoIterator<Item = u64>) {
        for address in addresses.into_iter().filter(|address| *address > 0) {
            self.0.device.free(address).unwrap();
        }
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
        let shape = |width| Shape::new(count, width, Layout::Contiguous);
        let widths = [plan.chunk_limbs(), plan.carry_limbs()];
        let points = u64::from(plan.length()) * u64::from(operands) * count as u64;
        let arguments = GridArguments {
            a: self.0.matrix(a, layout),
            b: b.map_or(MatrixArgument::default(), |b| self.0.matrix(b, layout)),
            chunks: self.0.room(shape(widths[0])),
            carries: self.0.room(shape(widths[1])),
            points: self.0.device.alloc(16 * points).unwrap(),
            wraps: wraps.into(),
            ..self.arguments(plan, operands, count)
        };
        self.launch(plan, &arguments, false);
        let terms = [arguments.chunks, arguments.carries];
        let modulus = (BigUint::from(1u8) << (32 * width)) + 1u8;
        let wholes: Vec<BigUint> = (a.1.iter().enumerate())
            .map(|(i, x)| {
                let product = x * b.map_or(x, |(_, b)| &b[i]);
                if !wraps {
                    return product;
                }
                let whole = self.whole(plan, terms, shape, i);
                let is_right = whole < &modulus * 2u8 && &whole % &modulus == product % &modulus;
                assert!(is_right, "{plan:?} {operands}: number {i}");
                whole
            })
            .collect();
        let cuts = ([plan.cut(); 2], 0);
        for (layout, from, limbs) in [
            (layout, 0, width),
            (Layout::Contiguous, 0, width / 2 - 3),
            (Layout::Contiguous, width / 3, width / 4),
        ] {
            let found = self.sums(cuts, terms, Shape::new(count, limbs, layout), from);
            for (i, (found, whole)) in found.iter().zip(&wholes).enumerate() {
                // What the limbs below carry is not in it.
                let expected = cut(whole >> (32 * from), limbs);
                let is_near = from > 0 && cut(found + 1u8, limbs) == expected;
                assert!(
                    *found == expected || is_near,
                    "{plan:?} {operands} {layout:?} from limb {from}: number {i}"
                );
            }
        }
        let GridArguments {
            a,
            b,
            chunks,
            carries,
            ..
        } = arguments;
        let matrices = [a, b, chunks, carries].map(|matrix| matrix.limbs);
        let stretches = arguments.stretches().map(|(address, _)| address);
        self.free(matrices.into_iter().chain(stretches));
    }

    /// Compares the products of these pairs by a plan, and once more by another where the sums of both operands' squared digits have a product
    /// that is above `greatest`: what is marked is just those.
    fn check_daring(
        &self,
        [plan, safe]: [GridPlan; 2],
        a: &Operand,
        b: Option<&Operand>,
        greatest: f64,
    ) -> Vec<bool> {
        let count = a.1.len();
        let operands = 1 + u32::from(b.is_some());
        let most = |of: fn(&GridPlan) -> usize| of(&plan).max(of(&safe));
        let shape = |width| Shape::new(count, width, Layout::Contiguous);
        let numbers = u64::from(operands) * count as u64;
        let points = most(|plan| plan.length() as usize) as u64 * numbers;
        let check = Norms {
            sums: self
                .0
                .device
                .alloc(8 * u64::from(plan.norms()) * numbers)
                .unwrap(),
            marks: self.0.upload_limbs(&vec![7; 1 + count]),
            greatest,
        };
        let all = GridArguments {
            a: self.0.matrix(a, Layout::Contiguous),
            b: b.map_or(MatrixArgument::default(), |b| {
                self.0.matrix(b, Layout::Contiguous)
            }),
            chunks: self.0.room(shape(most(GridPlan::chunk_limbs))),
            carries: self.0.room(shape(most(GridPlan::carry_limbs))),
            points: self.0.device.alloc(16 * points).unwrap(),
            norms: check,
            ..self.arguments(plan, operands, count)
        };
        self.launch(plan, &all, false);
        let of_safe = self.arguments(safe, operands, count);
        let marked = GridArguments {
            plan: safe,
            scale: of_safe.scale,
            tree: of_safe.tree,
            columns: of_safe.columns,
            rows: of_safe.rows,
            norms: Norms { sums: 0, ..check },
            ..all
        };
        self.launch(safe, &marked, true);
        let second = |i: usize| b.map_or(&a.1[i], |(_, b)| &b[i]);
        let norm = |x: &BigUint| squares_of_digits(x, plan);
        let expected: Vec<bool> = (0..count)
            .map(|i| norm(&a.1[i]) * norm(second(i)) > greatest)
            .collect();
        let marks = self.0.read(check.marks, 1 + count);
        let of_numbers: Vec<bool> = marks[1..].iter().map(|mark| *mark != 0).collect();
        assert_eq!(of_numbers, expected, "{plan:?} {greatest}");
        assert_eq!(marks[0] != 0, expected.contains(&true));
        let (n, m) = (a.0, b.map_or(a.0, |b| b.0));
        for layout in Layout::ALL {
            let shape = Shape::new(count, n + m, layout);
            let cuts = ([plan.cut(), safe.cut()], check.marks);
            let found = self.sums(cuts, [all.chunks, all.carries], shape, 0);
            for (i, found) in found.iter().enumerate() {
                let is_right = *found == &a.1[i] * second(i);
                assert!(
                    is_right,
                    "{plan:?} {safe:?} {operands}: number {i} of {expected:?}"
                );
            }
        }
        let matrices = [all.a, all.b, all.chunks, all.carries].map(|matrix| matrix.limbs);
        self.free(matrices);
        self.free(all.stretches().map(|(address, _)| address));
        self.free([of_safe.tree, of_safe.columns, of_safe.rows]);
        expected
    }

    /// Limbs of products from a limb on, by the kernel that makes them of chunks and carries.
    fn sums(
        &self,
        (cuts, marks): ([ChunkCut; 2], u64),
        terms: [MatrixArgument; 2],
        shape: Shape,
        from: usize,
    ) -> Vec<BigUint> {
        let (lookahead, level) = (Algorithm::CarryLookahead, Level::Warp);
        let kernel = Kernel::find(Operation::Add, lookahead, level, 32, shape.layout).unwrap();
        let Launch {
            grid,
            block,
            workers,
            ..
        } = kernel.launch(shape.count, &[shape.width; 2], shape.width);
        let r = self.0.room(shape);
        let words = self.0.device.alloc(4 * workers as u64).unwrap();
        let words = MatrixArgument {
            limbs: words,
            width: 1,
            ..MatrixArgument::default()
        };
        let launches = match shape.width as u64 <= TILE {
            true => [
                Some((MatrixArgument::default(), MatrixArgument::default())),
                None,
            ],
            false => [
                Some((words, MatrixArgument::default())),
                Some((MatrixArgument::default(), words)),
            ],
        };
        for (s, scratch) in launches.into_iter().flatten() {
            let arguments = SumArguments {
                sum: Arguments {
                    s,
                    scratch,
                    count: shape.count as u64,
                    workers: workers as u64,
                    ..Arguments::of(&[r], &terms)
                },
                cuts,
                marks,
                from: from as u32,
            };
            let (module, entries) = match marks {
                0 => (self.0.module(), SUMS),
                _ => (&self.1, SUMS_AGAIN),
            };
            let entry = entries[usize::from(shape.layout == Layout::Interleaved)];
            let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
            let grid = [grid, block, 0];
            self.0.launch_in(module, entry.name, grid, &bytes, shape);
        }
        let found = self.0.numbers(r, shape);
        for address in [r.limbs, words.limbs] {
            self.0.device.free(address).unwrap();
        }
        found
    }

    /// The sum of a number's chunks and carries.
    fn whole(
        &self,
        plan: GridPlan,
        terms: [MatrixArgument; 2],
        shape: impl Fn(usize) -> Shape,
        i: usize,
    ) -> BigUint {
        let limbs = plan.cut().limbs() as usize;
        let [chunks, carries] = [
            (terms[0], plan.chunk_limbs(), limbs),
            (terms[1], plan.carry_limbs(), 2),
        ]
        .map(|(matrix, width, limbs)| {
            let found = self.0.read(matrix.limbs, shape(width).limbs());
            let own = &found[i * width..(i + 1) * width];
            let places = own.chunks(limbs).enumerate();
            let value = places.map(|(k, limbs)| (k, BigUint::new(limbs.to_vec())));
            // What the last chunk carries is not above the product.
            value
                .filter(|(k, _)| *k < plan.product_chunks() as usize)
                .collect::<Vec<_>>()
        });
        let bits = plan.cut().bits() as usize;
        let mut sum = vec![0 as Limb; plan.product_limbs() + 2];
        let mut add = |x: &BigUint, from: usize| {
            let shifted = x << (from % 32);
            let mut carry = 0_u64;
            let mut digits = shifted.iter_u32_digits();
            let mut at = from / 32;
            loop {
                let digit = digits.next();
                if digit.is_none() && carry == 0 {
                    break;
                }
                carry += u64::from(sum[at]) + u64::from(digit.unwrap_or(0));
                sum[at] = carry as Limb;
                carry >>= 32;
                at += 1;
            }
        };
        for (k, x) in chunks.iter().chain(&carries) {
            add(x, k * bits / 32 * 32);
        }
        BigUint::new(sum)
    }

    /// Compares both products of points that are kept of `c` and `d`: by `a` and `b` or, where there are none, by fractions
    /// `f`, and those modulo `2^(32 n) + 1`.
    fn check_pairs(&self, plan: GridPlan, own: &[&Operand], [c, d]: [&Operand; 2]) {
        let (count, width) = (c.1.len(), plan.product_limbs());
        let numbers = count as u32;
        let shape = |width| Shape::new(2 * count, width, Layout::Contiguous);
        let points = |operands: u64| {
            let points = u64::from(plan.length()) * operands * count as u64;
            self.0.device.alloc(16 * points).unwrap()
        };
        let wraps = own.len() == 1;
        let given = self.arguments(plan, 1, count);
        let forth = |operand: &Operand, points: u64, wraps: bool| {
            let a = self.0.matrix(operand, Layout::Contiguous);
            let wraps = wraps.into();
            let arguments = GridArguments {
                a,
                points,
                wraps,
                ..given
            };
            self.launch_one(plan.column_launch(Way::Forth, numbers), &arguments, false);
            a
        };
        let kept = [points(1), points(1)];
        let mut matrices = vec![forth(c, kept[0], false), forth(d, kept[1], false)];
        let arguments = GridArguments {
            chunks: self.0.room(shape(plan.chunk_limbs())),
            carries: self.0.room(shape(plan.carry_limbs())),
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
        self.launch_one(plan.pair_launch(numbers), &arguments, false);
        let back = GridArguments {
            count: 2 * numbers,
            operands: 1,
            kept: [0; 2],
            ..arguments
        };
        self.launch_one(plan.column_launch(Way::Back, 2 * numbers), &back, false);
        let terms = [arguments.chunks, arguments.carries];
        let sums = self.sums(([plan.cut(); 2], 0), terms, shape(width), 0);
        let modulus = (BigUint::from(1u8) << (32 * width)) + u32::from(wraps);
        for i in 0..count {
            let (c, d) = (&c.1[i], &d.1[i]);
            let expected = match own {
                [f] => [&f.1[i] * d, &f.1[i] * c],
                [a, b] => [&a.1[i] * d + &b.1[i] * c, c * d],
                _ => unreachable!("one or two"),
            };
            for (of, expected) in [i, count + i].into_iter().zip(expected) {
                let whole = self.whole(plan, terms, shape, of);
                let is_right = &whole % &modulus == expected % &modulus;
                assert!(is_right, "{plan:?}: number {of}");
                assert!(sums[of] == cut(whole, width), "{plan:?}: sum {of}");
            }
        }
        matrices.extend(terms);
        let stretches = arguments.stretches().map(|(address, _)| address);
        let matrices = matrices.into_iter().map(|matrix| matrix.limbs);
        self.free(matrices.chain(stretches));
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

/// The sum of the squares of a number's balanced digits.
fn squares_of_digits(x: &BigUint, plan: GridPlan) -> f64 {
    let (bits, length) = (u64::from(plan.digit_bits), u64::from(plan.length()));
    let mut below = 0;
    (0..length)
        .map(|k| {
            let plain = (0..bits)
                .map(|i| i64::from(x.bit(k * bits + i)) << i)
                .sum::<i64>();
            let above = i64::from(k + 1 < length && plain >> (bits - 1) > 0);
            let digit = plain + below - (above << bits);
            below = above;
            (digit * digit) as f64
        })
        .sum()
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
        plan(10, 6, 8, 13),
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

/// Whatever is marked, none, some or all, in every place of a batch. The kernels do not know which plan is exact: both are here.
#[test]
fn products_are_right_whichever_are_computed_again() {
    let mut products = Products::new();
    let safe = plan(9, 2, 8, 15);
    let daring = plan(8, 2, 8, 16);
    let mut a = products.worst(daring.limbs(), 16);
    a.1.rotate_left(2);
    let mut b = turned(&a);
    b.0 -= 5;
    b.1 = b.1.iter().map(|x| cut(x.clone(), b.0)).collect();
    let usual = daring.usual_norms();
    for plans in [[daring, safe], [safe, daring]] {
        for (greatest, count) in [(-1.0, 7), (usual, 3), (1e300, 0)] {
            let marked = products.check_daring(plans, &a, Some(&b), greatest);
            if plans[0] == daring {
                assert_eq!(marked.iter().filter(|is_marked| **is_marked).count(), count);
            }
            products.check_daring(plans, &a, None, greatest);
        }
    }
}

/// Digits of a bit more than is proved for all operands.
#[test]
fn daring_products_are_computed_again_where_digits_are_the_worst() {
    let mut products = Products::new();
    let n = (9 << 12) / 2;
    let plans = [GridPlan::daring(n).unwrap(), GridPlan::of(n).unwrap()];
    assert_eq!(plans.map(|plan| plan.digit_bits), [16, 15]);
    assert_eq!(plans.map(|plan| plan.is_exact()), [false, true]);
    let worst = products.worst(n, 16);
    let numbers = [1, 6].map(|i| worst.1[i].clone());
    let marked =
        products.check_daring(plans, &(n, numbers.into()), None, plans[0].greatest_norms());
    assert_eq!(marked, [true, false]);
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
