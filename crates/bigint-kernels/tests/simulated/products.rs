//! Products, squares, high halves and `a b + c` at the widths where the ways to compute them part,
//! and their count of multiply-adds.

use crate::bench::{Bench, Launch, kernels};
use bigint_core::kernel::BLOCK;
use bigint_core::{Algorithm, Kernel, Layout, Level, Operation};

/// Compares `count` results of `width` limbs of operands of these widths, of numbers in any layout
/// that the kernel takes; answers the multiply-adds of each.
fn check(
    bench: &mut Bench,
    (kernel, layout, is_specialized): (&Kernel, Layout, bool),
    widths: &[usize],
    width: usize,
    count: usize,
) -> f64 {
    let operands: Vec<_> = widths
        .iter()
        .map(|&width| bench.batch(count, width))
        .collect();
    let of_result = [width];
    let launch = Launch {
        is_specialized,
        ..Launch::new(kernel, &operands, &of_result)
    };
    let made = bench.check(&launch.of(layout), |x| match kernel.operation {
        Operation::Square => x[0] * x[0],
        Operation::Mul => x[0] * x[1],
        Operation::MulHigh => (x[0] * x[1]) >> (32 * widths[0].max(widths[1])),
        _ => x[0] * x[1] + x[2],
    });
    made.counts.multiply_adds as f64 / count as f64
}

/// The kernel by rows of an operation that serves a layout.
fn by_rows(operation: Operation, level: Level, lanes: u32, layout: Layout) -> &'static Kernel {
    Kernel::find(operation, Algorithm::School, level, lanes, layout).unwrap()
}

/// Every kernel at widths around a four, a chunk of lanes and more than one of them, with
/// results that are exact, cut and extended.
#[test]
fn squares_high_halves_and_products_with_sums_are_right() {
    for operation in [Operation::Square, Operation::MulHigh, Operation::MulAdd] {
        let mut bench = Bench::new(operation.name());
        for kernel in kernels(operation).filter(|kernel| !kernel.takes_roots()) {
            let around = [1, 2, 3, 4, 5, 8, 9, 16, 31, 33, 70];
            for (round, n) in around.into_iter().enumerate() {
                let widths = match round % 3 {
                    0 => [n, n, n],
                    1 => [n, n / 2 + 1, 2 * n + 1],
                    _ => [n / 3 + 1, n, n + 1],
                };
                let widths = &widths[..operation.declaration().operands.len()];
                let exact = operation.exact_width(widths);
                for width in [exact, exact.div_ceil(2), exact + 5] {
                    let count = 32 / kernel.lanes as usize + 1;
                    check(
                        &mut bench,
                        (kernel, kernel.layout, false),
                        widths,
                        width,
                        count,
                    );
                }
            }
        }
    }
}

/// Every width up to 65 limbs and wider operands of unlike widths, whole products and parts,
/// of a part of a tile and of more than one.
#[test]
fn products_by_way_of_shared_memory_are_right_at_every_width() {
    let mut bench = Bench::new("mul");
    let kernel = |layout| by_rows(Operation::Mul, Level::Thread, 1, layout);
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
                let kernel = (kernel, layout, false);
                check(&mut bench, kernel, &[n, m], width, count);
                check(&mut bench, kernel, &[m, n], width, count);
            }
        }
    }
}

/// Numbers of up to eight limbs that threads move together, of tiles that end with whole fours and
/// not.
#[test]
fn products_by_columns_are_right_at_every_width() {
    let mut bench = Bench::new("mul");
    let (operation, layout) = (Operation::Mul, Layout::Contiguous);
    let kernel = Kernel::find(operation, Algorithm::Comba, Level::Thread, 1, layout);
    let kernel = (kernel.unwrap(), layout, false);
    for n in 1..=9 {
        for count in [1, 4, 127, 128, 130, 263, 516] {
            check(&mut bench, kernel, &[n, n], 2 * n, count);
        }
    }
}

/// Widths that are no multiple of four limbs, whose contiguous numbers lanes stage in shared
/// memory: of short, single and several rows, unlike operands, whole products and parts, with
/// as many numbers as leave groups without one; and those that are not staged, as they are
/// narrow, or want zeros above, or more room than there is.
#[test]
fn products_by_way_of_stages_are_right() {
    let mut bench = Bench::new("mul");
    let layout = Layout::Contiguous;
    for lanes in [4, 8, 16, 32] {
        let kernel = by_rows(Operation::Mul, Level::Warp, lanes, layout);
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
                    check(&mut bench, (kernel, layout, false), &[n, m], width, count);
                }
            }
        }
    }
}

/// Those of many numbers, by kernels that are specialised to their widths: some of each way that limbs
/// are moved, in groups and tiles that are full and not.
#[test]
fn products_of_widths_that_are_known_are_right() {
    let mut bench = Bench::new("mul");
    let thread = by_rows(Operation::Mul, Level::Thread, 1, Layout::Interleaved);
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
            check(&mut bench, (thread, layout, true), &[n, m], width, 69);
        }
    }
    for lanes in [4, 8, 16] {
        let layout = Layout::Contiguous;
        let warp = by_rows(Operation::Mul, Level::Warp, lanes, layout);
        for [n, m, width] in [
            [33, 33, 66],
            [63, 62, 125],
            [35, 131, 166],
            [131, 131, 131],
            [255, 34, 289],
            [257, 33, 290],
        ] {
            let count = 128 / lanes as usize + 3;
            check(&mut bench, (warp, layout, true), &[n, m], width, count);
        }
    }
}

/// Around a digit, all lanes' digits and what only columns take, squares that are exact, cut and
/// extended, of a part of a tile and of more than one, in either layout.
#[test]
fn squares_are_right_at_every_width() {
    let mut bench = Bench::new("square");
    let kernel = |level, lanes| by_rows(Operation::Square, level, lanes, Layout::Interleaved);
    let thread = kernel(Level::Thread, 1);
    for layout in Layout::ALL {
        for n in 1..=33 {
            for (width, count) in [(2 * n, 33), (n, 3), (2 * n + 3, 64)] {
                check(&mut bench, (thread, layout, false), &[n], width, count);
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
                    check(&mut bench, (kernel, layout, false), &[n], width, count);
                }
            }
        }
    }
}

/// The multiply-adds of squares are one for each pair of limbs, `n (n + 1) / 2`, where digits are full
/// of a thread's, two or four lanes' numbers. More lanes multiply two digits twice that are half a ring apart.
#[test]
fn a_square_takes_a_multiply_add_for_each_pair_of_limbs() {
    let mut bench = Bench::new("square");
    for layout in Layout::ALL {
        for lanes in [1, 2, 4, 8] {
            let level = if lanes == 1 {
                Level::Thread
            } else {
                Level::Warp
            };
            let kernel = by_rows(Operation::Square, level, lanes, Layout::Interleaved);
            let n = 32 * lanes as usize;
            // A block of them: those past the end would be computed as well.
            let count = (BLOCK / lanes) as usize;
            let kernel = (kernel, layout, true);
            let counted = check(&mut bench, kernel, &[n], 2 * n, count);
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
