//! Sums, differences and products of two numbers: every kernel of them at every kind of width,
//! layout and length of a batch, with the carries that it tells.

use crate::bench::{Bench, Launch, PADDING, cut, kernels};
use bigint_core::kernel::BLOCK;
use bigint_core::modules::{CEILING, CEILING_MULTIPLY_ADDS};
use bigint_core::{Algorithm, Arguments, Kernel, Layout, Level, Limb, MatrixArgument, Operation};
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

/// The result, and the carry or borrow out of limb `width - 1`.
fn expected(operation: Operation, a: &BigUint, b: &BigUint, width: usize) -> (BigUint, Limb) {
    let modulus = BigUint::from(1u8) << (32 * width);
    let (a, b) = (a % &modulus, b % &modulus);
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
        _ => (cut(a * b, width), 0),
    }
}

/// Runs one case and compares every number and its carry.
fn check(bench: &mut Bench, kernel: &Kernel, case: Case) {
    let Case {
        n, m, width, count, ..
    } = case;
    let a: Vec<_> = (0..count).map(|_| bench.number(n)).collect();
    let b = if case.alias {
        a.clone()
    } else {
        let count = if case.broadcast { 1 } else { count };
        let like = |x| bench.random.like(m, x);
        a[..count].iter().map(like).collect()
    };
    let operands = [(n, a), (m, b)];
    let made = bench.run(&Launch {
        layouts: match kernel.layout {
            Layout::Contiguous => PLAIN,
            Layout::Interleaved => case.layouts,
        },
        alias: case.alias,
        grid: case.grid,
        flags: case.carries,
        // Each way to ask, or not, alone and together.
        first: (n + m) % 3 == 0,
        ..Launch::new(kernel, &operands, &[width])
    });
    let has_carry = kernel.operation != Operation::Mul;
    let mut first = None;
    for i in 0..count {
        let (a, b) = (&operands[0].1[i], operands[1].1.get(i));
        let b = b.unwrap_or(&operands[1].1[0]);
        let (value, carry) = expected(kernel.operation, a, b, width);
        let told = if has_carry && case.carries {
            carry
        } else {
            PADDING
        };
        assert_eq!(
            (&made.results[0][i], made.flags[i]),
            (&value, told),
            "{}: number {i} of {case:?}: {a:x} and {b:x}",
            kernel.name
        );
        if carry != 0 {
            first = first.or(Some(i as u64));
        }
    }
    let asked = (n + m) % 3 == 0 && has_carry;
    assert_eq!(
        made.first,
        first.filter(|_| asked),
        "{}: {case:?}",
        kernel.name
    );
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
    let per_block = (BLOCK / kernel.lanes) as usize;
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

/// All cases of the kernels of an operation at a level.
fn check_all(operation: Operation, level: Level) {
    let mut bench = Bench::new(operation.name());
    for kernel in kernels(operation).filter(|kernel| kernel.level == level) {
        for case in cases(kernel) {
            check(&mut bench, kernel, case);
        }
    }
}

#[test]
fn sums_and_differences_and_their_carries_are_right() {
    for operation in [Operation::Add, Operation::Sub] {
        check_all(operation, Level::Thread);
        check_all(operation, Level::Warp);
    }
}

#[test]
fn products_by_one_thread_are_right() {
    check_all(Operation::Mul, Level::Thread);
}

#[test]
fn products_by_lanes_of_a_warp_are_right() {
    check_all(Operation::Mul, Level::Warp);
}

/// Every width beside a width of its own and beside the same width, results narrower and
/// wider than the product: what is cut into digits, steps and rows ends everywhere.
#[test]
fn products_by_rows_are_right_at_every_width() {
    let mut bench = Bench::new("mul");
    let by_rows =
        |kernel: &&Kernel| (kernel.algorithm, kernel.level) == (Algorithm::School, Level::Warp);
    for kernel in kernels(Operation::Mul).filter(by_rows) {
        for n in 1..=70 {
            for m in [n, 71 - n] {
                let exact = n + m;
                let case = Case {
                    n,
                    m,
                    width: [exact, exact, exact.div_ceil(2), exact + 5, exact - 1][n % 5],
                    count: 32 / kernel.lanes as usize + 1,
                    grid: None,
                    layouts: [ACROSS, MIXED, PLAIN][n % 3],
                    broadcast: n % 4 == 0,
                    alias: false,
                    carries: false,
                };
                check(&mut bench, kernel, case);
            }
        }
    }
}

/// The widths that go by way of shared memory, in batches that end anywhere in a tile.
#[test]
fn products_in_shared_memory_are_right() {
    let mut bench = Bench::new("mul");
    let staged = |kernel: &&Kernel| {
        kernel.level == Level::Thread && kernel.launch(1, &[8, 8], 16).shared_bytes > 0
    };
    for kernel in kernels(Operation::Mul).filter(staged) {
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
            let of_lengths = [1, 2, 3, 31, 32, 33, 127, 128, 130, 261].map(|count| Case {
                count,
                alias: count == 33,
                ..plain
            });
            let of_widths = [(n, false), (2 * n + 1, false), (2 * n, true)];
            let of_widths = of_widths.map(|(width, broadcast)| Case {
                width,
                broadcast,
                ..plain
            });
            // More numbers than workers.
            let long = Case {
                count: 300,
                grid: Some(1),
                ..plain
            };
            for case in of_lengths.into_iter().chain(of_widths).chain([long]) {
                check(&mut bench, kernel, case);
            }
        }
    }
}

/// As many as the rate is reckoned with; a few find the place of the result.
#[test]
fn the_ceiling_is_made_of_multiply_adds() {
    let bench = Bench::new(CEILING.module);
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
    let counts = bench.launch(CEILING.name, [1, BLOCK, 0], arguments.words(), "ceiling");
    let products = counts.multiply_adds;
    assert!(products.abs_diff(count * CEILING_MULTIPLY_ADDS) <= 8 * count);
}
