//! Fused kernels: programs of several operations by one launch; and what they move, counted.

use crate::bench::{Bench, LARGE, committed};
use bigint_core::fused::{
    FUSED_MODULE, FusedInput, FusedKernel, MOST_INPUTS, MOST_STEP_WIDTH, StepKind,
};
use bigint_core::{Layout, Shape};
use cuda_sim::{Checks, Counts, DeviceConfig};
use num_bigint::BigInt;

use StepKind::{Add, Mul, Square, Sub};

/// An input: its width, and whether one number stands for all.
type Input = (usize, bool);

/// A device with the fused kernels.
fn bench_with(checks: Checks) -> Bench {
    let config = DeviceConfig {
        arch: LARGE,
        checks,
        ..DeviceConfig::default()
    };
    Bench::of(committed(FUSED_MODULE), config)
}

/// Runs a program on numbers, and compares every result; what it counted.
fn check(
    bench: &mut Bench,
    inputs: &[Input],
    steps: &[(StepKind, usize, usize)],
    count: usize,
) -> Counts {
    let multiplies = steps.iter().any(|step| matches!(step.0, Mul | Square));
    let widest = steps.iter().map(|step| step.2).max().unwrap();
    let width = steps.last().unwrap().2;
    let kernel = FusedKernel::of(multiplies, widest).unwrap();
    let (launch, mut arguments) = kernel.launch(count, width, widest);
    let mut values = Vec::new();
    for (i, &(width, is_single)) in inputs.iter().enumerate() {
        let numbers = bench.batch(if is_single { 1 } else { count }, width);
        arguments.inputs[i] = FusedInput {
            limbs: bench.matrix(&numbers, Layout::Contiguous).limbs,
            width: width as u32,
            number_stride: if is_single { 0 } else { width as u32 },
        };
        values.push(numbers.1);
    }
    let (all, step_count) = kernel.steps(steps.iter().copied());
    (arguments.steps, arguments.step_count) = (all, step_count as u64);
    let shape = Shape::new(count, width, Layout::Contiguous);
    arguments.r = bench.room(shape);
    let grid = [launch.grid, launch.block, launch.shared_bytes];
    let name = kernel.entry_point().name;
    let counts = bench.launch(name, grid, arguments.words(), inputs);
    for (i, found) in bench.numbers(arguments.r, shape).into_iter().enumerate() {
        let number = |input: usize| {
            let numbers = &values[input];
            BigInt::from(numbers[i % numbers.len()].clone())
        };
        let mut expected = BigInt::ZERO;
        for &(kind, input, width) in steps {
            let modulus = BigInt::from(1) << (32 * width);
            let value = match kind {
                Add => expected + number(input),
                Sub => expected - number(input),
                Mul => expected * number(input),
                Square => &expected * &expected,
            };
            expected = ((value % &modulus) + &modulus) % &modulus;
        }
        let found = BigInt::from(found);
        assert_eq!(found, expected, "number {i} of {inputs:?} {steps:?}");
    }
    for matrix in arguments.matrices().filter(|matrix| matrix.limbs > 0) {
        bench.device.free(matrix.limbs).unwrap();
    }
    counts
}

/// A chain of sums and differences of equally wide numbers.
fn chain(terms: usize, input: Input, width: usize) -> (Vec<Input>, Vec<(StepKind, usize, usize)>) {
    let step = |i| (if i % 3 == 2 { Sub } else { Add }, i, width);
    (vec![input; terms], (0..terms).map(step).collect())
}

#[test]
fn sums_of_any_width_are_those_of_num_bigint() {
    let mut bench = bench_with(Checks::ALL);
    for width in [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 255, 256, 257, 1025] {
        for terms in [1, 2, 10, MOST_INPUTS] {
            let count = [1, 3, 300_usize][(width + terms) % 3].min(4000 / width + 1);
            // As wide as the inputs, wider and narrower.
            for result in [width, width + 1, (width / 2).max(1)] {
                let (mut inputs, steps) = chain(terms, (width, false), result);
                check(&mut bench, &inputs, &steps, count);
                // Batches that end with four limbs.
                check(&mut bench, &inputs, &steps, count.next_multiple_of(4));
                inputs[0] = (width + 2, true);
                inputs[terms - 1] = (1, terms % 2 == 0);
                check(&mut bench, &inputs, &steps, count);
            }
        }
    }
}

#[test]
fn programs_that_multiply_are_those_of_num_bigint() {
    let mut bench = bench_with(Checks::ALL);
    for width in [1, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 48, 63] {
        let count = 1 + 200 / width;
        // A power that is cut, Horner's rule and an exact product.
        let power = [
            (Add, 0, width),
            (Square, 0, width),
            (Mul, 1, width),
            (Mul, 0, width),
        ];
        check(&mut bench, &[(width, false); 2], &power, count);
        let horner = [
            (Add, 0, width),
            (Mul, 1, width + 2),
            (Add, 2, width + 2),
            (Mul, 1, width + 1),
            (Sub, 3, width + 1),
        ];
        let inputs = [
            (width, false),
            (2, false),
            (width, true),
            (width + 3, false),
        ];
        check(&mut bench, &inputs, &horner, count);
        let exact = [
            (Add, 0, width),
            (Mul, 1, 2 * width),
            (Mul, 2, 2 * width + 1),
        ];
        check(
            &mut bench,
            &[(width, false), (width, true), (1, false)],
            &exact,
            count,
        );
    }
    // The widest that fits: three values fill a block's shared memory.
    let most = MOST_STEP_WIDTH;
    let widest = [(Add, 0, most), (Mul, 1, most), (Mul, 1, most)];
    check(&mut bench, &[(most, false); 2], &widest, 3);
}

/// Sectors moved over those that hold inputs and result.
fn ratio(counts: &Counts, terms: usize, width: usize, count: usize) -> f64 {
    let moved = counts.load_sectors + counts.store_sectors;
    moved as f64 / (4 * (terms + 1) * width * count).div_ceil(32) as f64
}

#[test]
fn ten_chained_sums_read_each_operand_once() {
    let mut bench = bench_with(Checks::NONE);
    for width in [4, 8, 32, 128, 1024] {
        let count = (1 << 13) / width;
        let (inputs, steps) = chain(11, (width, false), width);
        let counts = check(&mut bench, &inputs, &steps, count);
        assert!(
            ratio(&counts, 11, width, count) <= 1.05,
            "{width}: {counts:?}"
        );
        // Each lane has one limb of a chunk: what an addition takes of its instructions.
        let instructions = counts.lane_instructions() as f64;
        let each = instructions / (11 * width * count) as f64;
        assert!(each <= 20.0, "{width}: {each}");
    }
}

#[test]
fn terms_that_come_again_are_read_once() {
    let mut bench = bench_with(Checks::ALL);
    for width in [1, 4, 33, 256] {
        let count = (1 << 13) / width;
        let inputs = [(width, false); 2];
        // 10 (a + b).
        let steps = [(Add, 0, width), (Add, 1, width)].repeat(10);
        let counts = check(&mut bench, &inputs, &steps, count);
        assert!(
            ratio(&counts, 2, width, count) <= 1.1,
            "{width}: {counts:?}"
        );
        // 12 a - 19 b.
        let mut steps = [(Add, 0, width), (Sub, 1, width)].repeat(12);
        steps.extend([(Sub, 1, width)].repeat(7));
        check(&mut bench, &inputs, &steps, count);
    }
}

#[test]
fn six_chained_products_touch_memory_once() {
    let mut bench = bench_with(Checks::NONE);
    for width in [4, 8, 16, 32] {
        let count = (1 << 10) / width;
        let mut steps = vec![(Add, 0, width)];
        steps.extend((1..7).map(|input| (Mul, input, width)));
        // A thread that has eight limbs to itself loads them by two instructions, each of which
        // is counted with the one sector that they are in.
        let most = if width == 8 { 2.0 } else { 1.05 };
        let counts = check(&mut bench, &[(width, false); 7], &steps, count);
        assert!(
            ratio(&counts, 7, width, count) <= most,
            "{width}: {counts:?}"
        );
    }
}
