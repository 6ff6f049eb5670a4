//! Square roots, beside num-bigint.

use crate::bench::{Bench, Launch, cut, kernels};
use bigint_core::{Layout, Operation};
use num_bigint::BigUint;

/// Numbers of up to `n` limbs: squares and their neighbours, those between two squares, all ones,
/// powers of two, and any, of any length or all `full`.
fn numbers(bench: &mut Bench, n: usize, count: usize, full: bool) -> Vec<BigUint> {
    let end = BigUint::from(1u8) << (32 * n);
    let number = |_| {
        let width = match full {
            true => n,
            false => 1 + bench.random.below(n),
        };
        let any = bench.number(width);
        let root = any.sqrt();
        let number = match bench.random.below(6) {
            0 => &root * &root,
            1 => &root * &root + &root * 2u8,
            2 => &root * &root + &root * 2u8 + 1u8,
            3 if root > BigUint::ZERO => &root * &root - 1u8,
            _ => any,
        };
        match full {
            true => (number | &end >> (1 + bench.random.below(4))) % &end,
            false => number % &end,
        }
    };
    (0..count).map(number).collect()
}

#[test]
fn roots_and_what_they_leave_are_right() {
    let mut bench = Bench::new("isqrt");
    for kernel in kernels(Operation::Isqrt) {
        let lanes = kernel.lanes as usize;
        let mut widths = vec![1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17];
        if lanes > 1 {
            widths.extend([31, 32, 33, 60, 61, 62, 63, 64, 8 * lanes, 32 * lanes]);
        }
        widths.retain(|&n| kernel.takes(&[n]) && n <= 512);
        widths.sort_unstable();
        widths.dedup();
        for (round, n) in widths.into_iter().enumerate() {
            for layout in Layout::ALL {
                let count = 96 / lanes + 9;
                for full in [false, true] {
                    let operands = numbers(&mut bench, n, count, full);
                    // The root whole, cut or wider.
                    let half = n.div_ceil(2);
                    let width = [half, half, n, half.div_ceil(2)][round % 4];
                    let operands = [(n, operands)];
                    let widths = [width, width + 1];
                    let made = bench.run(&Launch::new(kernel, &operands, &widths).of(layout));
                    for (i, a) in operands[0].1.iter().enumerate() {
                        let root = a.sqrt();
                        let remainder = a - &root * &root;
                        assert_eq!(
                            (&made.results[0][i], &made.results[1][i]),
                            (&cut(root, width), &cut(remainder, width + 1)),
                            "{}, {lanes} lanes, {layout:?}: {a:x}",
                            kernel.name
                        );
                    }
                }
            }
        }
    }
}
