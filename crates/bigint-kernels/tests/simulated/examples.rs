//! The kernels of `examples`.

use crate::bench::{Bench, Operand, PADDING};
use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Layout, Limb, Shape};
use cuda_sim::{Counts, DeviceConfig};
use num_bigint::{BigInt, BigUint};

/// What a launch made: the numbers of each result, a flag for each, and what was counted.
struct Made {
    results: Vec<Vec<BigUint>>,
    flags: Vec<Limb>,
    counts: Counts,
}

/// Launches a kernel of an example with results of these widths.
fn launch(example: &str, kernel: &str, operands: &[Operand], widths: &[usize]) -> Made {
    let path = format!("{}/../../examples/{example}", env!("CARGO_MANIFEST_DIR"));
    let config = DeviceConfig {
        trace: true,
        ..DeviceConfig::default()
    };
    let bench = Bench::of(std::fs::read_to_string(path).unwrap(), config);
    let layout = Layout::Contiguous;
    let count = operands[0].1.len();
    let shape = |width: usize| Shape::new(count, width, layout);
    let operands = operands.iter().map(|operand| bench.matrix(operand, layout));
    let operands: Vec<_> = operands.collect();
    let results: Vec<_> = widths
        .iter()
        .map(|&width| bench.room(shape(width)))
        .collect();
    let flags = bench.upload_limbs(&vec![PADDING; count]);
    let grid = count.div_ceil(BLOCK as usize) as u32;
    let arguments = Arguments {
        carry: flags,
        count: count as u64,
        workers: u64::from(grid * BLOCK),
        ..Arguments::of(&results, &operands)
    };
    let counts = bench.launch(kernel, [grid, BLOCK, 0], arguments.words(), count);
    let results = results.iter().zip(widths);
    Made {
        results: results
            .map(|(&result, &width)| bench.numbers(result, shape(width)))
            .collect(),
        flags: bench.read(flags, count),
        counts,
    }
}

/// Numbers of every kind, of `width` limbs.
fn numbers(count: usize, width: usize, factor: usize) -> Operand {
    let limb = |i: usize| match i % 11 {
        0 => Limb::MAX,
        1 | 2 if factor < 7 => 0,
        _ => (i * factor).wrapping_mul(0x9e37_79b9) as Limb,
    };
    let limbs: Vec<_> = (0..count * width).map(limb).collect();
    let numbers = limbs
        .chunks(width)
        .map(|limbs| BigUint::new(limbs.to_vec()));
    (width, numbers.collect())
}

#[test]
fn a_kernel_of_ones_own_computes_a_product_and_a_difference_by_one_launch() {
    for (width, count) in [(1, 3), (5, 100), (8, 129), (33, 7)] {
        let a = numbers(count, width, 3);
        let b = numbers(count, width, 5);
        // In some numbers it is greater than the product.
        let c = numbers(count, 2 * width, 7);
        let example = "fused-kernel/multiply_subtract.ptx";
        let operands = [a, b, c];
        let made = launch(example, "multiply_subtract", &operands, &[2 * width]);
        let modulus = BigInt::from(1) << (64 * width);
        for i in 0..count {
            let [a, b, c] = operands.each_ref().map(|(_, x)| BigInt::from(x[i].clone()));
            let value = a * b - c;
            let is_negative = value < BigInt::ZERO;
            let expected = ((value % &modulus) + &modulus) % &modulus;
            let found = BigInt::from(made.results[0][i].clone());
            assert_eq!(found, expected, "number {i} of {width} limbs");
            assert_eq!(made.flags[i], Limb::from(is_negative));
        }
    }
}

/// `2^k P` on secp256k1 for points `P`, the multiples `s G` of its generator: what is made of
/// their affine coordinates, and the launch's count.
fn doubled_points(scalars: std::ops::Range<u32>, k: u32) -> (Vec<[BigUint; 2]>, Made) {
    let number = |hex: &str| BigUint::parse_bytes(hex.as_bytes(), 16).unwrap();
    let p = (BigUint::from(1u8) << 256) - (BigUint::from(1u8) << 32) - 977u32;
    let generator = [
        number("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"),
        number("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"),
    ];
    // The sum of two points by the chord, or by the tangent.
    let add = |[x, y]: &[BigUint; 2], [u, v]: &[BigUint; 2]| -> [BigUint; 2] {
        let (rise, run): (BigUint, BigUint) = match x == u {
            true => (x * x * 3u8, y * 2u8),
            false => (v + &p - y, u + &p - x),
        };
        let inverse = BigUint::modinv(&(run % &p), &p).unwrap();
        let slope: BigUint = rise * inverse % &p;
        let sum: BigUint = (&slope * &slope + &p * 2u8 - x - u) % &p;
        let height = (slope * (x + &p - &sum) + &p - y) % &p;
        [sum, height]
    };
    let mut points = vec![generator.clone()];
    while points.len() < scalars.end as usize {
        points.push(add(points.last().unwrap(), &generator));
    }
    let points = &points[scalars.start as usize..];
    let axis = |i: usize| (8, points.iter().map(|point| point[i].clone()).collect());
    let times = (1, vec![BigUint::from(k); points.len()]);
    let example = "field-kernels/field_kernels.ptx";
    let made = launch(
        example,
        "double_points",
        &[axis(0), axis(1), times],
        &[8, 8],
    );
    let doubled = points
        .iter()
        .map(|point| (0..k).fold(point.clone(), |point, _| add(&point, &point)));
    (doubled.collect(), made)
}

#[test]
fn points_of_a_curve_are_doubled_in_a_field_that_the_compiler_knows() {
    for k in [0, 1, 2, 5] {
        let (expected, made) = doubled_points(0..35, k);
        for (i, [x, y]) in expected.iter().enumerate() {
            assert_eq!(
                (&made.results[0][i], &made.results[1][i]),
                (x, y),
                "{i}, {k} times"
            );
        }
    }
}

/// A doubling has five squares of `1.5 (n^2 + n)` multiply-adds and two products of `2 n^2 + n`.
#[test]
fn doubling_a_point_takes_at_most_a_hundredth_more_than_its_multiply_adds() {
    let count = |k| doubled_points(0..BLOCK, k).1.counts;
    let (few, many) = (count(1), count(5));
    let n = 8;
    let least = 5 * (n * (n + 1) / 2 + n * n + n) + 2 * (2 * n * n + n);
    let each = (many.multiply_adds - few.multiply_adds) as f64 / f64::from(4 * BLOCK);
    assert!(each <= 1.01 * f64::from(least), "{each} of {least}");
}

#[test]
fn doubling_executes_the_same_for_all_points() {
    let trace = |scalars| doubled_points(scalars, 3).1.counts.trace;
    assert_eq!(trace(0..9), trace(30..39));
}

#[test]
fn rational_functions_have_their_values_in_fields_of_a_batch() {
    let one = BigUint::from(1u8);
    let primes = [
        BigUint::from(3u8),
        BigUint::from(65_537u32),
        (&one << 61) - 1u8,
        (&one << 127) - 1u8,
        (&one << 128) - 159u8,
    ];
    let count = 150;
    let (a, b) = (numbers(count, 4, 3), numbers(count, 4, 5));
    let m = (4, primes.iter().cloned().cycle().take(count).collect());
    let operands = [a, b, m];
    let example = "field-kernels/field_kernels.ptx";
    let made = launch(example, "rational_values", &operands, &[4]);
    let mut zeros = 0;
    for i in 0..count {
        let [a, b, p] = operands.each_ref().map(|(_, x)| x[i].clone());
        let inverse = (&b % &p).modinv(&p).unwrap_or_default();
        let difference = (&a % &p) + &p - (&b % &p);
        let value = a * inverse + &p - difference.modpow(&3u8.into(), &p);
        // Half of it: `(p + 1) / 2` is the inverse of 2.
        let expected = value * ((&p + 1u8) >> 1) % &p;
        assert_eq!(made.results[0][i], expected, "number {i} modulo {p}");
        let is_zero = (b % p) == BigUint::ZERO;
        assert_eq!(made.flags[i], Limb::from(is_zero));
        zeros += usize::from(is_zero);
    }
    assert!(zeros > 5);
}
