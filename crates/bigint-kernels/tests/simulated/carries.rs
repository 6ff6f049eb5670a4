//! Carries that come from far below, through limbs all of which propagate them.

use crate::bench::{Bench, Launch, Operand, kernels};
use bigint_core::kernel::MARKS;
use bigint_core::{Algorithm, Kernel, Operation};
use bigint_testing::sweep_all;
use num_bigint::BigUint;

fn power(limb: usize) -> BigUint {
    BigUint::from(1u8) << (32 * limb)
}

/// Limbs about the ends of lanes' limbs, of chunks, of tiles and of stretches.
fn places(width: usize) -> Vec<usize> {
    let about = [0, 32, 128, 256, 512, 1024, width / 2, width];
    let all = about
        .iter()
        .flat_map(|&at| [at.wrapping_sub(1), at, at + 1]);
    let mut all: Vec<usize> = all.filter(|&at| at <= width).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Operands for a carry, or a borrow, that begins at a limb and goes up to another; and the same
/// limbs where none begins.
fn chains(operation: Operation, width: usize) -> [Operand; 2] {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for from in places(width) {
        for to in places(width).into_iter().filter(|&to| to >= from) {
            let ones = power(to) - power(from);
            for begins in [true, false] {
                let one = if begins && from < width {
                    power(from)
                } else {
                    BigUint::ZERO
                };
                a.push(match (operation, begins) {
                    (Operation::Sub, true) => power(to) % power(width),
                    (Operation::Sub, false) => BigUint::ZERO,
                    _ => ones.clone(),
                });
                b.push(one);
            }
        }
    }
    [(width, a), (width, b)]
}

/// What one kernel makes of operands, all at once by few warps, and a few by many.
fn check(bench: &Bench, kernel: &Kernel, operands: &[Operand; 2], width: usize) {
    let mut operands = operands.to_vec();
    if kernel.operation == Operation::AddSegments {
        let marks = MARKS * width.div_ceil(32);
        operands.push((marks, vec![BigUint::ZERO; operands[0].1.len()]));
    }
    let modulus = power(width);
    let expected = |i: usize| {
        let [a, b] = [0, 1].map(|which| &operands[which].1[i]);
        match kernel.operation {
            Operation::Sub => ((&modulus + a - b) % &modulus, u32::from(a < b)),
            _ => ((a + b) % &modulus, u32::from(a + b >= modulus)),
        }
    };
    let parts = operands[0].1.len().div_ceil(7);
    for (grid, at, count) in
        (0..7)
            .map(|part| (None, part * parts, parts))
            .chain([(Some(2), 0, operands[0].1.len())])
    {
        let part: Vec<Operand> = operands
            .iter()
            .map(|(width, all)| (*width, all.iter().skip(at).take(count).cloned().collect()))
            .collect();
        if part[0].1.is_empty() {
            continue;
        }
        let made = bench.run(&Launch {
            grid,
            ..Launch::new(kernel, &part, &[width])
        });
        for (i, found) in made.results[0].iter().enumerate() {
            let (value, carry) = expected(at + i);
            assert_eq!(*found, value, "{} {width} limbs: {}", kernel.name, at + i);
            if kernel.operation != Operation::AddSegments {
                assert_eq!(
                    made.flags[i],
                    carry,
                    "{} {width} limbs: {}",
                    kernel.name,
                    at + i
                );
            }
        }
    }
}

const OPERATIONS: [Operation; 3] = [Operation::Add, Operation::Sub, Operation::AddSegments];

fn by_lookahead(operation: Operation) -> impl Iterator<Item = &'static Kernel> {
    kernels(operation).filter(|kernel| kernel.algorithm == Algorithm::CarryLookahead)
}

#[test]
fn carries_go_as_far_as_limbs_pass_them_on() {
    for operation in OPERATIONS {
        let bench = Bench::new(operation.name());
        for kernel in by_lookahead(operation) {
            let all = [33, 257, 1023, 200, 2052, 256, 260, 1536];
            for &width in &all[..sweep_all(3, 5, 8)] {
                check(&bench, kernel, &chains(operation, width), width);
            }
        }
    }
}

/// What a carry passes through is loaded once and stored once, as anything else: sums take the time of
/// memory. Sectors are also those of the words of stretches, which the caches have.
#[test]
fn no_operands_cost_much_more_than_random_ones() {
    let mut random = Bench::new("add").random;
    for operation in OPERATIONS {
        let bench = Bench::new(operation.name());
        for kernel in by_lookahead(operation) {
            for width in [1 << 12, 1 << 15, 1 << 17]
                .into_iter()
                .take(sweep_all(1, 2, 3))
            {
                let ones = power(width) - 1u8;
                let half = power(width) - power(width / 2);
                let counted = |a: &BigUint, b: &BigUint| {
                    let mut operands = vec![(width, vec![a.clone()]), (width, vec![b.clone()])];
                    if operation == Operation::AddSegments {
                        operands.push((MARKS * width.div_ceil(32), vec![BigUint::ZERO]));
                    }
                    let counts = bench.run(&Launch::new(kernel, &operands, &[width])).counts;
                    let sectors = counts.load_sectors + counts.store_sectors;
                    [counts.lane_instructions(), sectors]
                };
                let any = [0, 1].map(|_| random.limbs(width, |any| any));
                let random = counted(&any[0], &any[1]);
                for (a, b) in [
                    (&ones, &BigUint::from(1u8)),
                    (&half, &power(width / 2)),
                    (&ones, &BigUint::ZERO),
                    (&power(width - 1), &BigUint::from(1u8)),
                    (&BigUint::ZERO, &BigUint::ZERO),
                ] {
                    let found = counted(a, b);
                    let most = [16 * random[0], 14 * random[1]];
                    assert!(
                        10 * found[0] <= most[0] && 10 * found[1] <= most[1],
                        "{} {width} limbs: {found:?} in place of {random:?}",
                        kernel.name
                    );
                }
            }
        }
    }
}
