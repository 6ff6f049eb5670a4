//! Arithmetic modulo numbers gives num-bigint's results, on every path of this machine and by the
//! reference.

use crate::numbers::{Random, limbs};
use bigint_core::rns::RnsPlan;
use bigint_core::{Algorithm, Layout, Limb, Operation, Shape};
use bigint_cpu::{Cpu, Error, Numbers, NumbersMut, Path, Results, reference};
use num_bigint::BigUint;

/// A modulus that is not zero, and odd if `odd`.
fn modulus(random: &mut Random, width: usize, odd: bool) -> BigUint {
    let one = BigUint::from(1u8);
    let number = match random.next() % 8 {
        0 => one.clone(),
        1 => BigUint::from(3u8),
        _ => random.number(width),
    };
    if odd { number | one } else { number.max(one) }
}

type Compute<'a> = &'a dyn Fn(Results<'_>, &[Numbers<'_>]) -> Result<(), Error>;

/// The results of `width` limbs, and the flags, that `compute` gives for these batches, each of one
/// width.
fn computed(
    layout: Layout,
    operands: &[(usize, Vec<BigUint>)],
    width: usize,
    compute: Compute<'_>,
) -> (Vec<BigUint>, Vec<Limb>) {
    let count = operands
        .iter()
        .map(|(_, numbers)| numbers.len())
        .max()
        .unwrap();
    let shapes: Vec<_> = operands
        .iter()
        .map(|(width, numbers)| Shape::new(numbers.len(), *width, layout))
        .collect();
    let memory: Vec<_> = operands
        .iter()
        .zip(&shapes)
        .map(|((_, numbers), shape)| limbs(*shape, numbers))
        .collect();
    let numbers: Vec<_> = memory
        .iter()
        .zip(&shapes)
        .map(|(limbs, shape)| Numbers::new(limbs, *shape).unwrap())
        .collect();
    let shape = Shape::new(count, width, layout);
    let (mut r, mut flags) = (vec![0; shape.limbs()], vec![7; count]);
    let results = Results {
        r: NumbersMut::new(&mut r, shape).unwrap(),
        s: None,
        flags: Some(&mut flags),
    };
    compute(results, &numbers).unwrap();
    let value = |i| BigUint::new((0..width).map(|j| r[shape.index(i, j)]).collect());
    ((0..count).map(value).collect(), flags)
}

/// Calls `check` for every way in which this machine computes an operation.
fn each_way(operation: Operation, algorithms: &[Algorithm], check: impl Fn(&str, Compute<'_>)) {
    for path in Path::ALL {
        let Ok(cpu) = Cpu::new(path) else { continue };
        for &algorithm in algorithms {
            check(path.name(), &|results, numbers| {
                cpu.compute(operation, results, numbers, algorithm)
            });
        }
    }
    for &algorithm in algorithms {
        check("reference", &|results, numbers| {
            reference::compute(operation, results, numbers, algorithm)
        });
    }
}

const WIDTHS: [usize; 14] = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 32, 33, 65];

fn agree(operation: Operation, odd: bool, value: impl Fn([&BigUint; 3], usize) -> BigUint) {
    each_way(operation, &[Algorithm::Auto], |name, compute| {
        let mut random = Random(operation as u64);
        for (round, n) in WIDTHS.into_iter().enumerate() {
            let moduli: Vec<_> = (0..20).map(|_| modulus(&mut random, n, odd)).collect();
            let mut below = || {
                let one = |m: &BigUint| match random.next() % 5 {
                    0 => m - 1u8,
                    _ => random.number(n) % m,
                };
                (n, moduli.iter().map(one).collect::<Vec<_>>())
            };
            let operands = [below(), below(), (n, moduli.clone())];
            let width = [n, n + 3, n.div_ceil(2)][round % 3];
            let layout = Layout::ALL[round % 2];
            let (found, _) = computed(layout, &operands, width, compute);
            for (i, found) in found.iter().enumerate() {
                let numbers = [0, 1, 2].map(|k| &operands[k].1[i]);
                let expected = value(numbers, n) % (BigUint::from(1u8) << (32 * width));
                assert_eq!(*found, expected, "{name}: {numbers:x?}");
            }
        }
    });
}

#[test]
fn sums_modulo_m_are_right() {
    agree(Operation::ModAdd, false, |[a, b, m], _| (a + b) % m);
}

#[test]
fn differences_modulo_m_are_right() {
    agree(Operation::ModSub, false, |[a, b, m], _| (a + m - b) % m);
}

#[test]
fn montgomery_products_are_right() {
    agree(Operation::MontMul, true, |[a, b, m], n| {
        let radix = BigUint::from(1u8) << (32 * n);
        a * b * radix.modinv(m).unwrap_or_default() % m
    });
}

/// Batches are shorter and longer than a group of lanes, moduli even and odd. One base, exponent or
/// modulus stands for all numbers. Bases are wider than the modulus.
#[test]
fn powers_are_right() {
    let algorithms = [
        Algorithm::Auto,
        Algorithm::Window,
        Algorithm::WindowVartime,
        Algorithm::Rns,
        Algorithm::RnsVartime,
    ];
    each_way(Operation::PowMod, &algorithms, |name, compute| {
        let mut random = Random(5);
        for (round, n) in WIDTHS.into_iter().enumerate() {
            let count = [1, 2, 7, 8, 9, 17][round % 6];
            let (base, exponent) = (
                [n, 1, 2 * n + 1][round % 3],
                1 + (round * 5) % 12 / (1 + n / 8),
            );
            let all_odd = round % 4 > 0;
            let mut batch = |width, alone: bool, is_modulus: bool| {
                let count = if alone { 1 } else { count };
                let number = |_| match is_modulus {
                    true => modulus(&mut random, width, all_odd),
                    false => random.number(width),
                };
                (width, (0..count).map(number).collect::<Vec<_>>())
            };
            let operands = [
                batch(base, false, false),
                batch(exponent, round % 2 == 1, false),
                batch(n, round % 5 == 2, true),
            ];
            let width = [n, n + 3, n.div_ceil(2)][round / 2 % 3];
            let layout = Layout::ALL[round % 2];
            let (found, flags) = computed(layout, &operands, width, compute);
            assert!(flags.iter().all(|&flag| flag == 0), "{name}");
            for (i, found) in found.iter().enumerate() {
                let [a, e, m] = [0, 1, 2].map(|k| {
                    let numbers = &operands[k].1;
                    numbers.get(i).unwrap_or(&numbers[0])
                });
                let value = match e.bits() {
                    0 => BigUint::from(1u8) % m,
                    _ => a.modpow(e, m),
                };
                let expected = value % (BigUint::from(1u8) << (32 * width));
                assert_eq!(*found, expected, "{name}: {a:x} {e:x} {m:x}");
            }
        }
    });
}

/// Moduli are products of primes of the first base, of the second, and of both.
#[test]
fn powers_modulo_numbers_that_share_factors_with_bases_of_residue_systems_are_right() {
    let [first, second] = RnsPlan::of(4).unwrap().bases();
    let [p, q, u] = [first[0], first[5], second[0]].map(BigUint::from);
    let moduli = vec![&p * &q, q.clone(), &u * 3u8, &p * &u * 2u8];
    each_way(Operation::PowMod, &[Algorithm::Rns], |name, compute| {
        let a: Vec<_> = moduli.iter().map(|m| m - 2u8).collect();
        let e: Vec<_> = (0..4u32)
            .map(|i| BigUint::from(u32::MAX / (i + 1)))
            .collect();
        let operands = [(4, a.clone()), (1, e.clone()), (4, moduli.clone())];
        let (found, flags) = computed(Layout::Contiguous, &operands, 4, compute);
        assert_eq!(flags, [0; 4], "{name}");
        for (i, found) in found.iter().enumerate() {
            assert_eq!(*found, a[i].modpow(&e[i], &moduli[i]), "{name}, {i}");
        }
    });
}

#[test]
fn a_modulus_of_zero_is_told_of_by_the_flag() {
    let algorithms = [Algorithm::Auto, Algorithm::WindowVartime, Algorithm::Rns];
    each_way(Operation::PowMod, &algorithms, |name, compute| {
        let moduli: Vec<_> = [7u32, 0, 8, 0].map(BigUint::from).into();
        let of = |x: u32| (2, vec![BigUint::from(x); 4]);
        let operands = [of(3), of(3), (2, moduli)];
        let (found, flags) = computed(Layout::Contiguous, &operands, 2, compute);
        assert_eq!(flags, [0, 1, 0, 1], "{name}");
        assert_eq!(found, [6u32, 0, 3, 0].map(BigUint::from), "{name}");
    });
}

/// The engine refuses these moduli. Here they give no power, but no panic either.
#[test]
fn moduli_of_which_there_are_no_such_powers_do_no_harm() {
    let moduli: Vec<_> = [7u32, 0, 8, 1].map(BigUint::from).into();
    let of = |width, count: usize| (width, vec![BigUint::from(3u32); count]);
    for algorithm in [Algorithm::Auto, Algorithm::WindowVartime] {
        each_way(Operation::PowPair, &[algorithm], |name, compute| {
            let operands = [of(4, 4), of(4, 4), (2, moduli.clone())];
            let (found, _) = computed(Layout::Contiguous, &operands, 2, compute);
            // These are 3^3, and a half of a number that is not there.
            assert_eq!(found[0], BigUint::from(27u32 % 7), "{name}");
        });
        each_way(Operation::PowFixed, &[algorithm], |_, compute| {
            let zero = (2, vec![BigUint::ZERO]);
            for modulus in [(2, moduli.clone()), zero] {
                let count = if modulus.1.len() == 1 { 9 } else { 4 };
                computed(
                    Layout::Contiguous,
                    &[of(256, 1), of(1, count), modulus],
                    2,
                    compute,
                );
            }
        });
    }
}
