//! Arithmetic modulo numbers, quotients and roots: beside num-bigint, by its count of
//! multiply-adds, and by what it tells of secrets.

pub mod powers;
mod roots;

use crate::bench::{Bench, Launch, Operand, committed, cut, kernels};
use bigint_core::kernel::{BLOCK, montgomery_digit, power_window, widest_window};
use bigint_core::operation::Cost;
use bigint_core::specialization::{Bases, Power, Specialization, UNKNOWN};
use bigint_core::{Algorithm, Kernel, Layout, Level, Limb, Operation};
use bigint_testing::{sweep, sweep_all};
use cuda_sim::{Checks, DeviceConfig};
use num_bigint::BigUint;
use num_integer::Integer;

/// The PTX of an operation, of powers in variable time where the algorithm says so.
fn text(operation: Operation, algorithm: Algorithm) -> String {
    let power = |bases| {
        Specialization::Power(Power {
            // Kernels find these out for themselves.
            log_lanes: 0,
            fours: 0,
            bases,
            scans: algorithm != Algorithm::WindowVartime,
        })
    };
    let known = match operation.cost() {
        Cost::Power => power(Bases::One),
        Cost::PairOfPowers => power(Bases::Two),
        Cost::PowerByTable => power(Bases::Table),
        _ => Specialization::None,
    };
    let ptx = committed(operation.module().unwrap());
    ptx.replace(UNKNOWN, &known.word().to_string())
}

/// A device with these kernels.
fn bench_of(operation: Operation, algorithm: Algorithm) -> Bench {
    Bench::of(text(operation, algorithm), DeviceConfig::default())
}

/// An odd modulus: 1, 3 and the like among them.
fn odd(bench: &mut Bench, width: usize) -> BigUint {
    match bench.random.below(8) {
        0 => BigUint::from(1u8),
        1 => BigUint::from(3u8),
        _ => bench.number(width) | BigUint::from(1u8),
    }
}

/// So many of them.
fn odd_numbers(bench: &mut Bench, count: usize, width: usize) -> Vec<BigUint> {
    (0..count).map(|_| odd(bench, width)).collect()
}

/// Widths of moduli around what registers hold, for as many lanes.
fn widths(kernel: &Kernel) -> Vec<usize> {
    let lanes = kernel.lanes as usize;
    let mut widths = vec![1, 2, 3, 4, 5, 8, 9, 12, 13, 16];
    if lanes > 1 {
        widths.extend([
            8 * lanes - 1,
            8 * lanes,
            8 * lanes + 1,
            12 * lanes,
            12 * lanes + 1,
            16 * lanes - 3,
            16 * lanes,
        ]);
    }
    // Of powers twice as many.
    widths.extend([16 * lanes + 1, 24 * lanes - 7, 24 * lanes]);
    widths.extend([24 * lanes + 1, 32 * lanes - 8, 32 * lanes]);
    widths.retain(|&n| kernel.takes(&[n, n, n]) && n <= 128.max(16 * lanes + 1));
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// Operands below odd moduli, all of `n` limbs; 0, 1 and `m - 1` among them.
fn residues(bench: &mut Bench, n: usize, count: usize) -> [Operand; 3] {
    let moduli = odd_numbers(bench, count, n);
    let mut below = || {
        let one = |m: &BigUint| match bench.random.below(5) {
            0 => m - 1u8,
            _ => bench.number(n) % m,
        };
        (n, moduli.iter().map(one).collect())
    };
    let (a, b) = (below(), below());
    [a, b, (n, moduli)]
}

/// `a b / 2^(32 n)` modulo an odd `m` of `n` limbs.
fn montgomery_product(x: &[&BigUint], n: usize) -> BigUint {
    let radix = (BigUint::from(1u8) << (32 * n)) % x[2];
    let inverse = radix.modinv(x[2]).unwrap_or_default();
    x[0] * x[1] * inverse % x[2]
}

/// The value of an operation on these operands, in Montgomery's form for so many limbs.
type Value = fn(&[&BigUint], usize) -> BigUint;

/// Every kernel, of results as wide as the modulus, cut and extended.
#[test]
fn sums_differences_and_montgomery_products_modulo_m_are_right() {
    let operations: [(_, Value); 3] = [
        (Operation::ModAdd, |x, _| (x[0] + x[1]) % x[2]),
        (Operation::ModSub, |x, _| (x[0] + x[2] - x[1]) % x[2]),
        (Operation::MontMul, montgomery_product),
    ];
    for (operation, value) in operations {
        let mut bench = Bench::new(operation.name());
        for kernel in kernels(operation) {
            for (round, n) in widths(kernel).into_iter().enumerate() {
                let mut operands = residues(&mut bench, n, 32 / kernel.lanes as usize + 3);
                if round % 3 == 1 {
                    // One modulus for all.
                    operands[2].1.truncate(1);
                    let m = operands[2].1[0].clone();
                    for operand in &mut operands[..2] {
                        operand.1.iter_mut().for_each(|x| *x %= &m);
                    }
                }
                let width = [n, n.div_ceil(2), n + 5][round % 3];
                let widths = [width];
                let launch = Launch::new(kernel, &operands, &widths);
                bench.check(&launch, |x| value(x, n));
            }
        }
    }
}

#[test]
fn powers_are_right() {
    for algorithm in [Algorithm::Window, Algorithm::WindowVartime] {
        powers_agree(&mut bench_of(Operation::PowMod, algorithm), algorithm);
    }
}

fn powers_agree(bench: &mut Bench, algorithm: Algorithm) {
    let kernels = kernels(Operation::PowMod);
    let kernels = kernels.filter(|kernel| kernel.algorithm == algorithm);
    for (kernel, first) in kernels.zip((0..sweep(2, 1)).cycle()) {
        // Every other width, where it is no sweep.
        let widths = widths(kernel).into_iter().enumerate().skip(first);
        for (round, n) in widths.step_by(sweep(2, 1)) {
            let count = 32 / kernel.lanes as usize + 1;
            // The base may be wider than the modulus, and so may the exponent.
            let base = [n, 1, 2 * n + 1][round % 3];
            let exponent = [1, 2, 4][(round + 1) % 3].min(1 + 64 / n);
            let moduli = odd_numbers(bench, count, n);
            let exponents = if round % 2 == 0 { 1 } else { count };
            let operands = [
                bench.batch(count, base),
                bench.batch(exponents, exponent),
                (n, moduli),
            ];
            let width = [n, n + 5, n.div_ceil(2)][round % 3];
            bench.check(&Launch::new(kernel, &operands, &[width]), |x| {
                match x[1].bits() {
                    0 => BigUint::from(1u8) % x[2],
                    _ => x[0].modpow(x[1], x[2]),
                }
            });
        }
    }
}

/// Dividends and divisors: of any widths and lengths, quotients of all ones and neighbours of
/// multiples among them, and divisors of zero; all divisors with the bits of `bits` set.
fn dividends(bench: &mut Bench, n: usize, m: usize, count: usize, bits: &BigUint) -> [Operand; 2] {
    let one = BigUint::from(1u8);
    let top = &one << (32 * n);
    let divisors: Vec<_> = (0..count).map(|_| bench.number(m) | bits).collect();
    let dividend = |b: &BigUint| {
        let quotient = match bench.random.below(3) {
            0 => (&one << (32 * n.saturating_sub(m))) - 1u8,
            1 => bench.number(n.saturating_sub(m).max(1)),
            _ => return bench.number(n),
        };
        let near = b * quotient;
        let near = match bench.random.below(4) {
            0 => near,
            1 => near + b - (b.min(&one)),
            2 if near > BigUint::ZERO => near - 1u8,
            _ => near + bench.number(m) % (b + 1u8),
        };
        near % &top
    };
    let dividends = divisors.iter().map(dividend).collect();
    [(n, dividends), (m, divisors)]
}

#[test]
fn quotients_and_remainders_are_right() {
    let mut bench = Bench::new("div_rem");
    for kernel in kernels(Operation::DivRem) {
        let lanes = kernel.lanes as usize;
        let around = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33];
        let divisors = match lanes {
            1 => around.to_vec(),
            _ => [widths(kernel), vec![3 * lanes, 24 * lanes, 32 * lanes]].concat(),
        };
        for (round, m) in divisors.into_iter().enumerate() {
            for layout in Layout::ALL {
                let round = round + layout as usize;
                let n = [2 * m, m, m + 1, 3 * m + 2, m / 2 + 1][round % 5];
                let count = 64 / lanes + 9;
                // All divisors as long as they are wide, or any.
                let top = match round % 2 {
                    0 => BigUint::from(1u8) << (32 * m - 1 - round % 32),
                    _ => BigUint::ZERO,
                };
                let operands = dividends(&mut bench, n, m, count, &top);
                // The quotient whole or cut, the remainder as wide as the divisor or the quotient.
                let width = [n, n, m.min(n), n + 3][round % 4];
                let widths = [width, width.min(m)];
                let made = bench.run(&Launch::new(kernel, &operands, &widths).of(layout));
                for i in 0..count {
                    let (a, b) = (&operands[0].1[i], &operands[1].1[i]);
                    let is_zero = *b == BigUint::ZERO;
                    let (q, r) = match is_zero {
                        true => (BigUint::ZERO, BigUint::ZERO),
                        false => (a / b, a % b),
                    };
                    let found = (&made.results[0][i], &made.results[1][i], made.flags[i]);
                    let name = kernel.name;
                    assert_eq!(
                        found,
                        (&cut(q, width), &cut(r, widths[1]), Limb::from(is_zero)),
                        "{name}, {lanes} lanes, {layout:?}: {a:x} by {b:x}"
                    );
                }
            }
        }
    }
}

#[test]
fn least_common_multiples_are_right() {
    let mut bench = Bench::new("lcm");
    for kernel in kernels(Operation::Lcm) {
        for (n, m) in [(1, 1), (4, 4), (7, 8), (16, 9), (31, 32), (33, 20)] {
            let operands = [n, m].map(|width| bench.batch(40, width));
            bench.check(&Launch::new(kernel, &operands, &[n + m]), |x| {
                x[0].lcm(x[1])
            });
        }
    }
}

#[test]
fn even_moduli_are_told_of_by_the_flag() {
    let bench = Bench::new("pow_mod");
    for kernel in kernels(Operation::PowMod) {
        let moduli = [9u32, 8, 1, 0, 6].map(BigUint::from).to_vec();
        let of = |x: u32| vec![BigUint::from(x); 5];
        let operands = [(1, of(2)), (1, of(5)), (1, moduli)];
        let made = bench.run(&Launch::new(kernel, &operands, &[1]));
        assert_eq!(made.flags, [0, 1, 0, 1, 1], "{}", kernel.name);
    }
}

#[test]
fn inverses_modulo_odd_numbers_are_right_and_tell_where_there_is_none() {
    let mut bench = Bench::new("inv_odd_mod");
    for kernel in kernels(Operation::InvOddMod) {
        for (round, m) in [1_usize, 2, 3, 5, 8, 12, 15, 16, 17, 33]
            .into_iter()
            .enumerate()
        {
            // Numbers may be wider than their moduli, and results cut or wider.
            let a = [m, m + 2, m.div_ceil(2)][round % 3];
            let width = [m, m + 3, m.div_ceil(2)][(round + 1) % 3];
            if !kernel.takes(&[a, m]) {
                continue;
            }
            let count = 40;
            let mut moduli = odd_numbers(&mut bench, count, m);
            // And an even one.
            moduli[7] = cut(&moduli[7] << 1, m);
            let operands = [bench.batch(count, a), (m, moduli)];
            let made = bench.run(&Launch::new(kernel, &operands, &[width]));
            for i in 0..count {
                let (a, m) = (&operands[0].1[i], &operands[1].1[i]);
                let inverse = if m.bit(0) { a.modinv(m) } else { None };
                let flag = Limb::from(inverse.is_none());
                let expected = cut(inverse.unwrap_or_default(), width);
                let found = (&made.results[0][i], made.flags[i]);
                assert_eq!(found, (&expected, flag), "{a:x} modulo {m:x}");
            }
        }
    }
}

/// Numbers that fill the digits of the lanes, or leave lanes without any, and moduli on which signs and carries depend: all
/// ones, a power of two and 1, and less than three digits in the widest.
#[test]
fn inverses_by_lanes_are_right_up_to_what_they_hold() {
    let mut bench = Bench::new("inv_odd_mod");
    let one = || BigUint::from(1u8);
    for kernel in kernels(Operation::InvOddMod).filter(|kernel| kernel.lanes > 1) {
        let holds = |n: &usize| kernel.takes(&[*n, *n]);
        let widest = (1..).take_while(holds).last().unwrap();
        let lane = widest / kernel.lanes as usize;
        let widths = [lane, lane + 1, widest - lane + 1, widest, widest];
        for (round, n) in widths.into_iter().enumerate() {
            let all_ones = (one() << (32 * n)) - 1u8;
            let mut moduli = vec![
                all_ones.clone(),
                (one() << (32 * n - 1)) + 1u8,
                one(),
                BigUint::from(3u8),
                (one() << 31) - 1u8,
                (one() << 61) - 1u8,
                (one() << (32 * n - 32)) - 1u8,
            ];
            moduli.extend(odd_numbers(&mut bench, 3, n));
            // A modulus meets another number in each round.
            let number = |(i, m): (usize, &BigUint)| match (i + round) % 5 {
                0 => one(),
                1 => m - 1u8,
                2 => BigUint::from(2u8),
                3 => all_ones.clone(),
                _ => bench.number(n),
            };
            let numbers = moduli.iter().enumerate().map(number).collect();
            let operands = [(n, numbers), (n, moduli)];
            let made = bench.run(&Launch::new(kernel, &operands, &[n]));
            for (i, (a, m)) in operands[0].1.iter().zip(&operands[1].1).enumerate() {
                let inverse = a.modinv(m);
                let flag = Limb::from(inverse.is_none());
                let found = (&made.results[0][i], made.flags[i]);
                assert_eq!(
                    found,
                    (&inverse.unwrap_or_default(), flag),
                    "{a:x} modulo {m:x}, {}",
                    kernel.lanes
                );
            }
        }
    }
}

/// Where registers are full; what is counted has the addresses in it.
#[test]
fn a_montgomery_product_takes_at_most_a_tenth_more_than_its_multiply_adds() {
    let mut bench = Bench::new("mont_mul");
    for (level, lanes, n) in [
        (Level::Thread, 1, 8),
        (Level::Thread, 1, 12),
        (Level::Thread, 1, 16),
        (Level::Warp, 4, 32),
        (Level::Warp, 4, 48),
        (Level::Warp, 8, 96),
        (Level::Warp, 4, 64),
        (Level::Warp, 8, 128),
        (Level::Warp, 32, 512),
    ] {
        let layout = Layout::Contiguous;
        let (operation, algorithm) = (Operation::MontMul, Algorithm::Cios);
        let kernel = Kernel::find(operation, algorithm, level, lanes, layout).unwrap();
        assert_eq!(montgomery_digit(n, lanes) * lanes as usize, n);
        let count = (BLOCK / lanes) as usize;
        let operands = residues(&mut bench, n, count);
        let counts = bench.run(&Launch::new(kernel, &operands, &[n])).counts;
        let each = counts.multiply_adds as f64 / count as f64;
        let least = (2 * n * n + n) as f64;
        assert!(
            each <= 1.1 * least,
            "{} {n}: {each} of {least}",
            kernel.name
        );
    }
}

/// A power by a thread: a square takes `n (n + 1) / 2` multiply-adds for each two limbs once and
/// `n^2 + n` for the modulus, a product `2 n^2 + n`; with exponents of all ones every window
/// costs a product. What is counted has the addresses in it.
#[test]
fn a_threads_power_takes_at_most_a_tenth_more_than_its_squares_and_products() {
    let (operation, algorithm) = (Operation::PowMod, Algorithm::WindowVartime);
    let mut bench = bench_of(operation, algorithm);
    for n in [8, 12, 16, 32] {
        let layout = Layout::Interleaved;
        let kernel = Kernel::find(operation, algorithm, Level::Thread, 1, layout).unwrap();
        let count = BLOCK as usize;
        let moduli: Vec<_> = (0..count)
            .map(|_| bench.number(n) | BigUint::from(1u8))
            .collect();
        let bases = moduli.iter().map(|m| m - 1u8).collect();
        let exponent = (BigUint::from(1u8) << (32 * n)) - 1u8;
        let operands = [(n, bases), (n, vec![exponent]), (n, moduli)];
        let counts = bench.run(&Launch::new(kernel, &operands, &[n])).counts;
        let each = counts.multiply_adds as f64 / count as f64;
        let window = power_window(n, widest_window(n, false, false));
        let products = (32 * n).div_ceil(window) + (1 << window) + 2;
        let squares = 32 * n + (32 * n).ilog2() as usize;
        let least = squares * (n * (n + 1) / 2 + n * n + n) + products * (2 * n * n + n);
        assert!(
            each <= 1.1 * least as f64,
            "{} {n}: {each} of {least}",
            kernel.name
        );
    }
}

/// The trace of each kernel for each of three rounds of operands of the same widths, in sweeps of four: what
/// warps execute, lane by lane, and which addresses.
fn traces(
    operation: Operation,
    algorithm: Algorithm,
    operands: fn(&mut Bench, usize, u64) -> Vec<Operand>,
    compare: fn(&Kernel, &[u64]),
) {
    traces_up_to(
        sweep_all(51, 66, 130),
        operation,
        algorithm,
        operands,
        compare,
    );
}

/// The same for moduli of fewer limbs than `end`.
fn traces_up_to(
    end: usize,
    operation: Operation,
    algorithm: Algorithm,
    operands: fn(&mut Bench, usize, u64) -> Vec<Operand>,
    compare: fn(&Kernel, &[u64]),
) {
    let text = text(operation, algorithm);
    let config = DeviceConfig {
        trace: true,
        checks: Checks::NONE,
        ..DeviceConfig::default()
    };
    for kernel in kernels(operation).filter(|kernel| kernel.algorithm == algorithm) {
        // One for each digit that products or powers have; the widest are by few lanes, as they take long.
        let lanes = kernel.lanes as usize;
        let widths = [3, 8 + lanes, 8 * lanes + 1, 16 * lanes + 1, 25 * lanes];
        let widths = widths.into_iter();
        for n in widths.filter(|&n| n < end && kernel.takes(&[n, n, n])) {
            let trace = |round| {
                // A device of its own for each, so that batches lie at the same addresses.
                let mut bench = Bench::of(text.clone(), config);
                let mut operands = operands(&mut bench, n, round);
                // A warp of numbers and part of another.
                let most = 32 / lanes + 8;
                operands.iter_mut().for_each(|(_, x)| x.truncate(most));
                bench
                    .run(&Launch::new(kernel, &operands, &[n]))
                    .counts
                    .trace
            };
            let traces: Vec<_> = (0..sweep(3, 4)).map(trace).collect();
            compare(kernel, &traces);
        }
    }
}

/// Moduli that anybody may know, and numbers below them that differ by the round: all 0, all
/// `m - 1`, or any.
fn secret_residues(bench: &mut Bench, n: usize, round: u64) -> Vec<Operand> {
    let moduli = odd_numbers(bench, 40, n);
    for _ in 0..round {
        bench.next();
    }
    let mut below = || {
        let one = |m: &BigUint| match round {
            0 => BigUint::ZERO,
            1 => m - 1u8,
            _ => bench.number(n) % m,
        };
        (n, moduli.iter().map(one).collect())
    };
    let (a, b) = (below(), below());
    vec![a, b, (n, moduli)]
}

/// The same with an exponent for each: 0, all ones, or any; of three limbs where moduli have
/// as many, else of one.
fn secret_powers(bench: &mut Bench, n: usize, round: u64) -> Vec<Operand> {
    let mut operands = secret_residues(bench, n, round);
    let width = if n == 3 { 3 } else { 1 };
    let mut one = || match round {
        0 => BigUint::ZERO,
        1 => (BigUint::from(1u8) << (32 * width)) - 1u8,
        _ => bench.number(width),
    };
    let count = operands[0].1.len();
    operands[1] = (width, (0..count).map(|_| one()).collect());
    operands
}

/// The same of bases wider than their moduli, 0, all ones, or any, and of odd moduli that are
/// secret as well: all ones, a power of two and 1, or any of full length.
fn secret_wide_operands(bench: &mut Bench, n: usize, round: u64) -> Vec<Operand> {
    let mut operands = secret_powers(bench, n, round);
    let one = BigUint::from(1u8);
    let (wide, top) = (2 * n + 1, &one << (32 * n - 1));
    operands[0].0 = wide;
    for base in &mut operands[0].1 {
        *base = match round {
            0 => BigUint::ZERO,
            1 => (&one << (32 * wide)) - 1u8,
            _ => bench.number(wide),
        };
    }
    for modulus in &mut operands[2].1 {
        *modulus = match round {
            0 => (&top << 1) - 1u8,
            1 => &top | &one,
            _ => bench.number(n) | &top | &one,
        };
    }
    operands
}

fn are_equal(kernel: &Kernel, traces: &[u64]) {
    let all = traces.iter().all(|&trace| trace == traces[0] && trace != 0);
    assert!(all, "{}: {traces:x?}", kernel.name);
}

#[test]
fn sums_differences_and_products_modulo_m_execute_the_same_for_all_residues() {
    for (operation, algorithm) in [
        (Operation::ModAdd, Algorithm::Scan),
        (Operation::ModSub, Algorithm::Scan),
        (Operation::MontMul, Algorithm::Cios),
    ] {
        traces(operation, algorithm, secret_residues, are_equal);
    }
}

#[test]
fn powers_in_constant_time_execute_the_same_for_all_bases_and_exponents() {
    let (operation, algorithm) = (Operation::PowMod, Algorithm::Window);
    traces(operation, algorithm, secret_powers, are_equal);
}

#[test]
fn powers_in_constant_time_execute_the_same_for_all_wide_bases_and_moduli_of_full_length() {
    let (operation, algorithm) = (Operation::PowMod, Algorithm::Window);
    // The widths take the same ways with bases as wide as moduli.
    traces_up_to(20, operation, algorithm, secret_wide_operands, are_equal);
}

/// Numbers and moduli, both secret: with and without an inverse, 0 and `m - 1` among them.
fn secret_inverses(bench: &mut Bench, n: usize, round: u64) -> Vec<Operand> {
    let [a, _, m] = <[Operand; 3]>::try_from(secret_residues(bench, n, round)).unwrap();
    let m = match round {
        2 => (n, vec![(BigUint::from(1u8) << (32 * n)) - 1u8; m.1.len()]),
        _ => m,
    };
    vec![a, m]
}

#[test]
fn inverses_in_constant_time_execute_the_same_for_all_numbers_and_moduli() {
    let (operation, algorithm) = (Operation::InvOddMod, Algorithm::Divsteps);
    traces(operation, algorithm, secret_inverses, are_equal);
}

#[test]
fn powers_in_variable_time_tell_of_their_exponents() {
    let (operation, algorithm) = (Operation::PowMod, Algorithm::WindowVartime);
    traces_up_to(20, operation, algorithm, secret_powers, |kernel, traces| {
        assert_ne!(traces[0], traces[1], "{}", kernel.name);
        assert_ne!(traces[1], traces[2], "{}", kernel.name);
    });
}
