//! Products by Toeplitz matrices on tensor cores: widths around every block, column, pass and piece,
//! and the count of their multiply-adds.

use crate::bench::{Bench, Launch, Made, Operand};
use bigint_core::kernel::{TENSOR_MODULE, Toeplitz};
use bigint_core::{Algorithm, Kernel, Layout, Level, Limb, Operation};
use num_bigint::BigUint;

fn bench() -> Bench {
    Bench::large(TENSOR_MODULE)
}

fn kernel(operation: Operation) -> &'static Kernel {
    let (algorithm, level) = (Algorithm::Toeplitz, Level::Warp);
    Kernel::find(operation, algorithm, level, 32, Layout::Contiguous).unwrap()
}

/// Compares products of `width` limbs of these numbers.
fn check(
    bench: &Bench,
    layout: Layout,
    is_known: bool,
    operands: &[Operand],
    width: usize,
) -> Made {
    let operation = match operands.len() {
        1 => Operation::Square,
        _ => Operation::Mul,
    };
    let of_result = [width];
    let launch = Launch {
        is_specialized: is_known,
        ..Launch::new(kernel(operation), operands, &of_result)
    };
    bench.check(&launch.of(layout), |x| x[0] * x[x.len() - 1])
}

/// Every width in steps of a limb around these, of operands as wide as each other and not.
fn around(widths: impl IntoIterator<Item = usize>) {
    let mut bench = bench();
    for (i, n) in widths.into_iter().enumerate() {
        let others = [n, 1, n / 2 + 1, n.saturating_sub(9).max(1), n + 1];
        for (j, m) in [(0, n), (1 + i % 4, others[1 + i % 4])] {
            let layout = Layout::ALL[(i + j) % 2];
            let operands = [bench.batch(5, n), bench.batch(5, m)];
            let width = [n + m, n.max(m), n + m + 3, n + m - 1][(i / 2 + j) % 4];
            check(&bench, layout, i % 2 == 0, &operands, width);
        }
    }
}

#[test]
fn products_by_toeplitz_matrices_are_right_around_every_column() {
    around([
        1, 2, 7, 8, 9, 31, 33, 56, 63, 64, 65, 66, 68, 71, 72, 73, 96, 127, 128, 129, 132, 136,
        137, 144, 191, 192, 193, 197, 200, 201, 255, 256, 257, 258, 260, 264, 265, 319, 320, 322,
        324, 383, 384, 385, 387, 388, 447, 448, 449, 451, 452, 511, 512,
    ]);
}

/// Every width up to 512 limbs with `BIGINT_SWEEPS=all`, every seventh in other sweeps.
#[test]
fn products_by_toeplitz_matrices_are_right_at_every_width() {
    match std::env::var("BIGINT_SWEEPS").as_deref() {
        Ok("all") => around(1..=512),
        Ok(_) => around((1..=512).step_by(7)),
        Err(_) => around((1..=512).step_by(37)),
    }
}

#[test]
fn products_of_pieces_by_toeplitz_matrices_are_right() {
    let mut bench = bench();
    for [n, m, width] in [
        [513, 513, 1026],
        [513, 3, 516],
        [40, 1030, 1070],
        [1025, 600, 1625],
        [600, 1025, 1100],
        [1024, 1024, 2050],
    ] {
        let operands = [bench.batch(1, n), bench.batch(1, m)];
        check(&bench, Layout::Contiguous, false, &operands, width);
    }
    let ones = |width: usize| (width, vec![(BigUint::from(1u8) << (32 * width)) - 1u8]);
    check(
        &bench,
        Layout::Contiguous,
        false,
        &[ones(1030), ones(1537)],
        2567,
    );
}

/// The greatest sums, and carries that run through all limbs.
#[test]
fn products_of_all_ones_limbs_by_toeplitz_matrices_are_right() {
    let bench = bench();
    for n in [
        1, 8, 63, 64, 65, 67, 72, 128, 129, 131, 136, 192, 195, 200, 256, 259, 264, 320, 323, 384,
        387, 448, 451, 511, 512,
    ] {
        let power: BigUint = BigUint::from(1u8) << (32 * n);
        let half: BigUint = BigUint::from(1u8) << (16 * n);
        let one = BigUint::from(1u8);
        let numbers: Vec<BigUint> = vec![&power - &one, &power - &half, one, half, power - 2u8];
        let turned = [1, 2, 0, 4, 3].map(|i: usize| numbers[i].clone()).to_vec();
        for layout in Layout::ALL {
            check(
                &bench,
                layout,
                true,
                &[(n, numbers.clone()), (n, turned.clone())],
                2 * n,
            );
            check(&bench, layout, true, &[(n, numbers.clone())], 2 * n);
        }
    }
}

/// As many products of bytes as the head of the leaf says.
#[test]
fn matrices_multiply_no_more_than_the_band() {
    let mut bench = bench();
    for n in [64, 65, 73, 96, 128, 129, 137, 192, 256, 384, 512] {
        let operands = [bench.batch(4, n), bench.batch(4, n)];
        let made = check(&bench, Layout::Contiguous, true, &operands, 2 * n);
        let plan = Toeplitz::of(n as u32, n as u32);
        let products = 2 * plan.groups * plan.steps(n as Limb, n as Limb);
        let counted = made.counts.matrix_multiply_adds / 4;
        assert_eq!(counted, u64::from(products) * 16 * 8 * 32, "{n} limbs");
    }
}
