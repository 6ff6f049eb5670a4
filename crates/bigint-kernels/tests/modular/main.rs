//! Arithmetic modulo numbers, as it stands in the committed PTX, on the simulated GPU with
//! all of its checks on: beside num-bigint, by its count of multiply-adds, and by what it tells
//! of secrets.

mod powers;
mod roots;

use bigint_core::kernel::{BLOCK, montgomery_digit, power_window, widest_window};
use bigint_core::operation::Cost;
use bigint_core::specialization::{Bases, Power, Specialization, UNKNOWN};
use bigint_core::{
    Algorithm, Arguments, Kernel, Layout, Level, Limb, MatrixArgument, Operation, Shape,
};
use cuda_sim::{Checks, Counts, Device, DeviceConfig, Grid, LoadedModule, ptx::Module};
use num_bigint::BigUint;

/// A simulated device with the kernels of one operation.
struct Bench {
    device: Device,
    module: LoadedModule,
    state: u64,
}

/// The operands of a launch, each of a width; one number of a batch stands for all.
type Operands<'a> = &'a [Operand];

/// Numbers, each of so many limbs.
type Operand = (usize, Vec<BigUint>);

/// What a launch made: the result and the flag of each number, and the counts; of a division
/// the remainders as well.
struct Made {
    values: Vec<BigUint>,
    remainders: Vec<BigUint>,
    flags: Vec<Limb>,
    counts: Counts,
}

impl Bench {
    fn new(operation: Operation) -> Self {
        Bench::of(&module(operation, Algorithm::Auto), DeviceConfig::default())
    }

    fn of(module: &Module, config: DeviceConfig) -> Self {
        let device = Device::new(config);
        let module = device.load(module).unwrap();
        Bench {
            device,
            module,
            state: 1,
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }

    /// A number of `width` limbs: all ones, 0, 1, a power of two and its neighbours, or any.
    fn number(&mut self, width: usize) -> BigUint {
        let one = BigUint::from(1u8);
        let power = &one << (self.next() % (32 * width as u64));
        match self.next() % 9 {
            0 => (one << (32 * width)) - 1u8,
            1 => BigUint::ZERO,
            2 => one,
            3 => power,
            4 => power - 1u8,
            5 => (power + 1u8) % (one << (32 * width)),
            _ => BigUint::new(
                (0..width)
                    .map(|_| (self.next() << 16 ^ self.next()) as Limb)
                    .collect(),
            ),
        }
    }

    /// An odd modulus: 1, 3 and the like among them.
    fn modulus(&mut self, width: usize) -> BigUint {
        match self.next() % 8 {
            0 => BigUint::from(1u8),
            1 => BigUint::from(3u8),
            _ => self.number(width) | BigUint::from(1u8),
        }
    }

    fn matrix(&self, shape: Shape, numbers: Option<&[BigUint]>) -> MatrixArgument {
        let address = self.device.alloc(4 * shape.limbs() as u64).unwrap();
        // What a kernel does not write is not zero by chance.
        let unwritten = Limb::from_le_bytes([0xA5; 4]);
        let mut limbs = vec![numbers.map_or(unwritten, |_| 0); shape.limbs()];
        for (i, number) in numbers.unwrap_or_default().iter().enumerate() {
            for (j, limb) in number.iter_u32_digits().enumerate() {
                limbs[shape.index(i, j)] = limb;
            }
        }
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        self.device.write(address, &bytes).unwrap();
        MatrixArgument::new(address, shape.width, shape.strides())
    }

    fn launch(&self, kernel: &Kernel, operands: Operands<'_>, width: usize) -> Made {
        self.launch_in(kernel.layout, kernel, operands, width)
    }

    fn launch_in(
        &self,
        layout: Layout,
        kernel: &Kernel,
        operands: Operands<'_>,
        width: usize,
    ) -> Made {
        let count = operands
            .iter()
            .map(|(_, numbers)| numbers.len())
            .max()
            .unwrap();
        let widths: Vec<usize> = operands.iter().map(|(width, _)| *width).collect();
        let launch = kernel.launch(count, &widths, width);
        let matrices = operands.iter().map(|(width, numbers)| {
            let shape = Shape::new(numbers.len(), *width, layout);
            let mut matrix = self.matrix(shape, Some(numbers));
            if numbers.len() < count {
                matrix.number_stride = 0;
            }
            matrix
        });
        let matrices: Vec<_> = matrices.collect();
        let shape = Shape::new(count, width, layout);
        let r = self.matrix(shape, None);
        // A root's is a limb wider than it is.
        let of_remainders = widths.get(1).map_or(width + 1, |m| width.min(*m));
        let remainders = Shape::new(count, of_remainders, layout);
        let s = self.matrix(remainders, None);
        let flags = self.device.alloc(4 * count as u64).unwrap();
        let scratch = (launch.scratch_width * launch.workers).max(1);
        let scratch = self.device.alloc(4 * scratch as u64).unwrap();
        let strides = launch.scratch_strides(kernel.level);
        let arguments = Arguments {
            scratch: MatrixArgument::new(scratch, launch.scratch_width, strides),
            carry: flags,
            count: count as u64,
            workers: launch.workers as u64,
            ..Arguments::of(&[r, s], &matrices)
        };
        let grid = Grid {
            grid: [launch.grid, 1, 1],
            block: [launch.block, 1, 1],
            shared_bytes: launch.shared_bytes,
        };
        let bytes: Vec<u8> = arguments.words().flat_map(u64::to_le_bytes).collect();
        let report = self
            .device
            .launch(&self.module, kernel.name, grid, &bytes)
            .unwrap_or_else(|fault| panic!("{} {widths:?} {width}: {fault}", kernel.name));
        let words = |address, limbs: usize| {
            let mut bytes = vec![0; 4 * limbs];
            self.device.read(address, &mut bytes).unwrap();
            let words = bytes.as_chunks::<4>().0.iter();
            words
                .map(|word| Limb::from_le_bytes(*word))
                .collect::<Vec<_>>()
        };
        let numbers = |matrix: MatrixArgument, shape: Shape| {
            let limbs = words(matrix.limbs, shape.limbs());
            let number = |i| (0..shape.width).map(|j| limbs[shape.index(i, j)]).collect();
            (0..count).map(|i| BigUint::new(number(i))).collect()
        };
        let divides = kernel.operation.divides();
        let tells = matches!(kernel.operation, Operation::PowMod | Operation::InvOddMod);
        let has_flag = divides || tells;
        let made = Made {
            values: numbers(r, shape),
            remainders: match divides || kernel.operation == Operation::Isqrt {
                true => numbers(s, remainders),
                false => Vec::new(),
            },
            flags: if has_flag {
                words(flags, count)
            } else {
                Vec::new()
            },
            counts: report.counts,
        };
        let addresses = matrices.iter().chain([&r, &s]).map(|matrix| matrix.limbs);
        for address in addresses.chain([flags, scratch]) {
            self.device.free(address).unwrap();
        }
        made
    }

    /// Compares a launch with `value`, number by number.
    fn check(
        &self,
        kernel: &Kernel,
        operands: Operands<'_>,
        width: usize,
        value: impl Fn(&[&BigUint]) -> BigUint,
    ) -> Counts {
        let made = self.launch(kernel, operands, width);
        for (i, found) in made.values.iter().enumerate() {
            let numbers = operands.iter();
            let numbers: Vec<_> = numbers.map(|(_, x)| x.get(i).unwrap_or(&x[0])).collect();
            let expected = value(&numbers) % (BigUint::from(1u8) << (32 * width));
            assert_eq!(
                *found, expected,
                "{}: number {i}, {numbers:x?}",
                kernel.name
            );
        }
        made.counts
    }
}

/// The kernels of an operation, powers in variable time where the algorithm says so.
fn module(operation: Operation, algorithm: Algorithm) -> Module {
    let ptx = bigint_host::ptx(operation.module().unwrap()).unwrap();
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
    Module::parse(&ptx.replace(UNKNOWN, &known.word().to_string())).unwrap()
}

fn kernels(operation: Operation) -> impl Iterator<Item = &'static Kernel> {
    let kernels = Kernel::ALL.iter();
    kernels.filter(move |kernel| kernel.operation == operation)
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
            16 * lanes - 3,
            16 * lanes,
        ]);
    }
    // Of powers twice as many.
    widths.extend([16 * lanes + 1, 32 * lanes]);
    widths.retain(|&n| kernel.takes(&[n, n, n]) && n <= 128.max(16 * lanes + 1));
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// Operands below odd moduli, all of `n` limbs; 0, 1 and `m - 1` among them.
fn residues(bench: &mut Bench, n: usize, count: usize) -> [Operand; 3] {
    let moduli: Vec<_> = (0..count).map(|_| bench.modulus(n)).collect();
    let mut below = || {
        let one = |m: &BigUint| match bench.next() % 5 {
            0 => m - 1u8,
            _ => bench.number(n) % m,
        };
        (n, moduli.iter().map(one).collect())
    };
    let (a, b) = (below(), below());
    [a, b, (n, moduli)]
}

/// Every kernel, beside what num-bigint says: results as wide as the modulus, cut, extended.
fn agree(operation: Operation, value: impl Fn(&[&BigUint], usize) -> BigUint) {
    let mut bench = Bench::new(operation);
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
            bench.check(kernel, &operands, width, |x| value(x, n));
        }
    }
}

#[test]
fn sums_modulo_m_are_right() {
    agree(Operation::ModAdd, |x, _| (x[0] + x[1]) % x[2]);
}

#[test]
fn differences_modulo_m_are_right() {
    agree(Operation::ModSub, |x, _| (x[0] + x[2] - x[1]) % x[2]);
}

#[test]
fn montgomery_products_are_right() {
    agree(Operation::MontMul, |x, n| {
        let radix = (BigUint::from(1u8) << (32 * n)) % x[2];
        let inverse = radix.modinv(x[2]).unwrap_or_default();
        x[0] * x[1] * inverse % x[2]
    });
}

#[test]
fn powers_are_right() {
    for algorithm in [Algorithm::Window, Algorithm::WindowVartime] {
        let module = module(Operation::PowMod, algorithm);
        let mut bench = Bench::of(&module, DeviceConfig::default());
        powers_agree(&mut bench, algorithm);
    }
}

fn powers_agree(bench: &mut Bench, algorithm: Algorithm) {
    let kernels = kernels(Operation::PowMod);
    for kernel in kernels.filter(|kernel| kernel.algorithm == algorithm) {
        for (round, n) in widths(kernel).into_iter().enumerate() {
            let count = 32 / kernel.lanes as usize + 1;
            // The base may be wider than the modulus, and so may the exponent.
            let base = [n, 1, 2 * n + 1][round % 3];
            let exponent = [1, 2, 4][(round + 1) % 3].min(1 + 64 / n);
            let moduli: Vec<_> = (0..count).map(|_| bench.modulus(n)).collect();
            let bases: Vec<_> = (0..count).map(|_| bench.number(base)).collect();
            let mut exponents: Vec<_> = (0..count).map(|_| bench.number(exponent)).collect();
            if round % 2 == 0 {
                exponents.truncate(1);
            }
            let operands = [(base, bases), (exponent, exponents), (n, moduli)];
            let width = [n, n + 5, n.div_ceil(2)][round % 3];
            bench.check(kernel, &operands, width, |x| match x[1].bits() {
                0 => BigUint::from(1u8) % x[2],
                _ => x[0].modpow(x[1], x[2]),
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
        let quotient = match bench.next() % 3 {
            0 => (&one << (32 * n.saturating_sub(m))) - 1u8,
            1 => bench.number(n.saturating_sub(m).max(1)),
            _ => return bench.number(n),
        };
        let near = b * quotient;
        let near = match bench.next() % 4 {
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
    let mut bench = Bench::new(Operation::DivRem);
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
                let made = bench.launch_in(layout, kernel, &operands, width);
                for i in 0..count {
                    let (a, b) = (&operands[0].1[i], &operands[1].1[i]);
                    let is_zero = *b == BigUint::ZERO;
                    let (q, r) = match is_zero {
                        true => (BigUint::ZERO, BigUint::ZERO),
                        false => (a / b, a % b),
                    };
                    let cut = |x: BigUint, width: usize| x % (BigUint::from(1u8) << (32 * width));
                    let found = (&made.values[i], &made.remainders[i], made.flags[i]);
                    let name = kernel.name;
                    assert_eq!(
                        found,
                        (&cut(q, width), &cut(r, width.min(m)), Limb::from(is_zero)),
                        "{name}, {lanes} lanes, {layout:?}: {a:x} by {b:x}"
                    );
                }
            }
        }
    }
}

#[test]
fn least_common_multiples_are_right() {
    let mut bench = Bench::new(Operation::Lcm);
    for kernel in kernels(Operation::Lcm) {
        for (n, m) in [(1, 1), (4, 4), (7, 8), (16, 9), (31, 32), (33, 20)] {
            let mut numbers = |n| (n, (0..40).map(|_| bench.number(n)).collect());
            let operands = [numbers(n), numbers(m)];
            bench.check(kernel, &operands, n + m, |x| {
                let (mut a, mut b) = (x[0].clone(), x[1].clone());
                while b > BigUint::ZERO {
                    (a, b) = (b.clone(), a % b);
                }
                x[0] * x[1] / a.max(BigUint::from(1u8))
            });
        }
    }
}

#[test]
fn even_moduli_are_told_of_by_the_flag() {
    let bench = Bench::new(Operation::PowMod);
    for kernel in kernels(Operation::PowMod) {
        let moduli = [9u32, 8, 1, 0, 6].map(BigUint::from).to_vec();
        let of = |x: u32| vec![BigUint::from(x); 5];
        let made = bench.launch(kernel, &[(1, of(2)), (1, of(5)), (1, moduli)], 1);
        assert_eq!(made.flags, [0, 1, 0, 1, 1], "{}", kernel.name);
    }
}

#[test]
fn inverses_modulo_odd_numbers_are_right_and_tell_where_there_is_none() {
    let mut bench = Bench::new(Operation::InvOddMod);
    for kernel in kernels(Operation::InvOddMod) {
        for (round, m) in [1_usize, 2, 3, 5, 8, 12, 15, 16, 17, 33]
            .into_iter()
            .enumerate()
        {
            // Numbers may be wider than their moduli, and results cut or wider.
            let a = [m, m + 2, m.div_ceil(2)][round % 3];
            let width = [m, m + 3, m.div_ceil(2)][(round + 1) % 3];
            let count = 40;
            let mut moduli: Vec<_> = (0..count).map(|_| bench.modulus(m)).collect();
            let numbers: Vec<_> = (0..count).map(|_| bench.number(a)).collect();
            // And an even one.
            moduli[7] <<= 1;
            moduli[7] %= BigUint::from(1u8) << (32 * m);
            let operands = [(a, numbers), (m, moduli)];
            let made = bench.launch(kernel, &operands, width);
            for i in 0..count {
                let (a, m) = (&operands[0].1[i], &operands[1].1[i]);
                let inverse = if m.bit(0) { a.modinv(m) } else { None };
                let cut = BigUint::from(1u8) << (32 * width);
                let expected = inverse.clone().unwrap_or_default() % cut;
                let found = (&made.values[i], made.flags[i]);
                let flag = Limb::from(inverse.is_none());
                assert_eq!(found, (&expected, flag), "{a:x} modulo {m:x}");
            }
        }
    }
}

/// Where registers are full; what is counted has the addresses in it.
#[test]
fn a_montgomery_product_takes_at_most_a_tenth_more_than_its_multiply_adds() {
    let mut bench = Bench::new(Operation::MontMul);
    for (level, lanes, n) in [
        (Level::Thread, 1, 8),
        (Level::Thread, 1, 12),
        (Level::Thread, 1, 16),
        (Level::Warp, 4, 32),
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
        let counts = bench.launch(kernel, &operands, n).counts;
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
    let algorithm = Algorithm::WindowVartime;
    let mut bench = Bench::of(
        &module(Operation::PowMod, algorithm),
        DeviceConfig::default(),
    );
    for n in [8, 12, 16, 32] {
        let operation = Operation::PowMod;
        let layout = Layout::Interleaved;
        let kernel = Kernel::find(operation, algorithm, Level::Thread, 1, layout).unwrap();
        let count = BLOCK as usize;
        let moduli: Vec<_> = (0..count)
            .map(|_| bench.number(n) | BigUint::from(1u8))
            .collect();
        let bases = moduli.iter().map(|m| m - 1u8).collect();
        let exponent = (BigUint::from(1u8) << (32 * n)) - 1u8;
        let operands = [(n, bases), (n, vec![exponent]), (n, moduli)];
        let counts = bench.launch(kernel, &operands, n).counts;
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

/// The trace of each kernel for each of four rounds of operands of the same widths: what
/// warps execute, lane by lane, and which addresses.
fn traces(
    operation: Operation,
    algorithm: Algorithm,
    operands: fn(&mut Bench, usize, u64) -> Vec<Operand>,
    compare: fn(&Kernel, &[u64]),
) {
    traces_up_to(130, operation, algorithm, operands, compare);
}

/// The same for moduli of fewer limbs than `end`.
fn traces_up_to(
    end: usize,
    operation: Operation,
    algorithm: Algorithm,
    operands: fn(&mut Bench, usize, u64) -> Vec<Operand>,
    compare: fn(&Kernel, &[u64]),
) {
    let module = module(operation, algorithm);
    let config = DeviceConfig {
        trace: true,
        checks: Checks::NONE,
        ..DeviceConfig::default()
    };
    for kernel in kernels(operation).filter(|kernel| kernel.algorithm == algorithm) {
        // The widest are of the widest digits that powers have, by few lanes, as they take long.
        let lanes = kernel.lanes as usize;
        let widths = [3, 8 + lanes, 16 * lanes + 1, 31 * lanes].into_iter();
        for n in widths.filter(|&n| n < end && kernel.takes(&[n, n, n])) {
            let trace = |round| {
                // A device of its own for each, so that batches lie at the same addresses.
                let mut bench = Bench::of(&module, config);
                let operands = operands(&mut bench, n, round);
                bench.launch(kernel, &operands, n).counts.trace
            };
            compare(kernel, &[0, 1, 2, 3].map(trace));
        }
    }
}

/// Moduli that anybody may know, and numbers below them that differ by the round: all 0, all
/// `m - 1`, or any.
fn secret_residues(bench: &mut Bench, n: usize, round: u64) -> Vec<Operand> {
    let moduli: Vec<_> = (0..40).map(|_| bench.modulus(n)).collect();
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
    traces(operation, algorithm, secret_powers, |kernel, traces| {
        assert_ne!(traces[0], traces[1], "{}", kernel.name);
        assert_ne!(traces[1], traces[2], "{}", kernel.name);
    });
}
