//! Products of two powers, and powers of a base with a table.

use super::{are_equal, bench_of, odd, odd_numbers, secret_powers, traces};
use crate::bench::{Bench, Launch, Operand, kernels};
use bigint_core::kernel::{TABLE_WINDOW, power_digit};
use bigint_core::{Algorithm, Kernel, Layout, Level, Operation};
use bigint_testing::sweep;
use num_bigint::BigUint;

#[test]
fn products_of_two_powers_are_right() {
    for algorithm in [Algorithm::Window, Algorithm::WindowVartime] {
        let mut bench = bench_of(Operation::PowPair, algorithm);
        let kernels = kernels(Operation::PowPair);
        for kernel in kernels.filter(|kernel| kernel.algorithm == algorithm) {
            for (round, n) in some_widths(kernel).into_iter().enumerate() {
                let count = 32 / kernel.lanes as usize + 1;
                // Bases wider than the modulus, or one limb for both; exponents likewise.
                let base = [2 * n, 1, 4 * n + 1][round % 3];
                let exponent = [2, 1, 3][(round + 1) % 3];
                let moduli = odd_numbers(&mut bench, count, n);
                let exponents = if round % 2 == 0 { 1 } else { count };
                let operands = [
                    bench.batch(count, base),
                    bench.batch(exponents, exponent),
                    (n, moduli),
                ];
                bench.check(&Launch::new(kernel, &operands, &[n]), |x| {
                    let half = |x: &BigUint, width: usize| {
                        let lower = 32 * width.div_ceil(2);
                        let upper = x >> lower;
                        (x - (&upper << lower), upper)
                    };
                    let ((a0, a1), (e0, e1)) = (half(x[0], base), half(x[1], exponent));
                    let one = BigUint::from(1u8);
                    let power = |a: BigUint, e: BigUint| match e.bits() {
                        0 => &one % x[2],
                        _ => a.modpow(&e, x[2]),
                    };
                    power(a0, e0) * power(a1, e1) % x[2]
                });
            }
        }
    }
}

/// Lanes that have 24 or 32 limbs each square what a base stands for in Montgomery's form: here digits of
/// zeros, ones and all ones, so that lanes send one another every carry there is.
#[test]
fn lanes_square_digits_of_zeros_and_of_all_ones() {
    let algorithm = Algorithm::WindowVartime;
    let bench = bench_of(Operation::PowMod, algorithm);
    // Limbs of a digit, and those that the highest has not; of so many lanes, those that have digits; of how many
    // kinds these are; each how manieth number.
    for ([limbs, missing], lanes, own, kinds, step) in [
        ([32, 0], 2, 2, 3, 1),
        ([32, 8], 2, 2, 3, 1),
        ([24, 0], 2, 2, 3, 1),
        ([24, 8], 2, 2, 3, 1),
        ([32, 0], 4, 4, 3, 1),
        ([32, 24], 4, 4, 3, 3),
        ([24, 0], 4, 3, 3, 1),
        ([24, 16], 4, 4, 3, 3),
        ([32, 0], 8, 7, 2, 1),
        ([32, 0], 8, 8, 2, 1),
        ([24, 8], 8, 8, 2, 1),
        ([32, 0], 8, 8, 3, 61),
        ([24, 0], 8, 6, 3, 11),
        ([32, 0], 16, 16, 2, 1021),
        ([24, 16], 16, 12, 2, 127),
    ] {
        let layout = Layout::Interleaved;
        let kernel =
            Kernel::find(Operation::PowMod, algorithm, Level::Warp, lanes, layout).unwrap();
        let n = limbs * own as usize - missing;
        assert_eq!(power_digit(n, lanes), limbs);
        let one = BigUint::from(1u8);
        let radix = &one << (32 * n);
        let digits = [BigUint::ZERO, (&one << (32 * limbs)) - 1u8, one.clone()];
        let digit = |number: usize, lane: u32| &digits[number / usize::pow(kinds, lane) % kinds];
        let number = |number| {
            let all = (0..own).map(|lane| digit(number, lane) << (32 * limbs * lane as usize));
            all.sum::<BigUint>() % &radix
        };
        let step = step * sweep(5, 1);
        let numbers = (0..usize::pow(kinds, own)).rev().step_by(step);
        let numbers: Vec<BigUint> = numbers.map(number).collect();
        for modulus in [&radix - 1u8, (&radix >> 1) + 1u8] {
            let inverse = radix.modinv(&modulus).unwrap();
            let bases = numbers.iter().map(|x| x * &inverse % &modulus).collect();
            // A window that is 1, and then squares.
            let exponent = BigUint::from(64u8);
            let operands = [(n, bases), (1, vec![exponent]), (n, vec![modulus])];
            let widths = [n];
            let launch = Launch::new(kernel, &operands, &widths);
            bench.check(&launch, |x| x[0].modpow(x[1], x[2]));
        }
    }
}

/// The table of `base` for exponents of `width` limbs, for a modulus of `n` limbs.
pub fn table(base: &BigUint, modulus: &BigUint, n: usize, width: usize) -> Operand {
    let windows = (32 * width).div_ceil(TABLE_WINDOW);
    let mut limbs = Vec::new();
    for i in 0..windows {
        let step = base.modpow(&(BigUint::from(1u8) << (TABLE_WINDOW * i)), modulus);
        for digit in 0..1u32 << TABLE_WINDOW {
            let power = match digit {
                0 => BigUint::from(1u8) % modulus,
                _ => step.modpow(&digit.into(), modulus),
            };
            limbs.extend(((power << (32 * n)) % modulus).iter_u32_digits());
            limbs.resize(n * ((i << TABLE_WINDOW) + digit as usize + 1), 0);
        }
    }
    (limbs.len(), vec![BigUint::new(limbs)])
}

#[test]
fn powers_of_a_base_with_a_table_are_right() {
    for algorithm in [Algorithm::Window, Algorithm::WindowVartime] {
        let mut bench = bench_of(Operation::PowFixed, algorithm);
        let kernels = kernels(Operation::PowFixed);
        for kernel in kernels.filter(|kernel| kernel.algorithm == algorithm) {
            for (round, n) in some_widths(kernel).into_iter().enumerate() {
                let count = 32 / kernel.lanes as usize + 1;
                let modulus = odd(&mut bench, n);
                let base = bench.number(n);
                // Exponents shorter than the table is for.
                let (long, exponent) = ([1, 2][round % 2], [1, 2, 1][round % 3]);
                let operands = [
                    table(&base, &modulus, n, long),
                    bench.batch(count, exponent.min(long)),
                    (n, vec![modulus]),
                ];
                bench.check(&Launch::new(kernel, &operands, &[n]), |x| {
                    match x[1].bits() {
                        0 => BigUint::from(1u8) % x[2],
                        _ => base.modpow(x[1], x[2]),
                    }
                });
            }
        }
    }
}

/// A few of the widths of moduli, full digits and others.
fn some_widths(kernel: &Kernel) -> Vec<usize> {
    let lanes = kernel.lanes as usize;
    let mut widths = vec![1, 3, 8 * lanes, 8 * lanes + 3, 24 * lanes - 5];
    widths.retain(|&n| n <= 72);
    widths
}

#[test]
fn products_of_two_powers_in_constant_time_execute_the_same_for_all_bases_and_exponents() {
    let pairs = |bench: &mut Bench, n: usize, round: u64| {
        let mut operands = secret_powers(bench, n, round);
        for (width, numbers) in &mut operands[..2] {
            // Both halves are secret.
            for number in numbers {
                *number |= &*number << (32 * *width);
            }
            *width *= 2;
        }
        operands
    };
    let (operation, algorithm) = (Operation::PowPair, Algorithm::Window);
    traces(operation, algorithm, pairs, are_equal);
}

#[test]
fn powers_by_a_table_in_constant_time_execute_the_same_for_all_exponents() {
    let by_table = |bench: &mut Bench, n: usize, round: u64| {
        let mut operands = secret_powers(bench, n, round);
        let modulus = operands[2].1[0].clone();
        operands[0] = table(&BigUint::from(3u8), &modulus, n, operands[1].0);
        operands[2].1.truncate(1);
        operands
    };
    let (operation, algorithm) = (Operation::PowFixed, Algorithm::Window);
    traces(operation, algorithm, by_table, are_equal);
}
