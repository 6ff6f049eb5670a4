//! Quotients, remainders, divisors, inverses and roots of batches are num-bigint's, on every path
//! of this machine: in lanes if it has IFMA.

use crate::numbers::{Random, limbs, power};
use bigint_core::{Algorithm, Layout, Limb, Operation, Shape};
use bigint_cpu::{Cpu, Numbers, NumbersMut, Path, Results};
use num_bigint::BigUint;

/// Both results, cut to their widths, and the flags. If an operation has one result, it has the
/// first width, and the second result is empty.
fn computed(
    cpu: &Cpu,
    operation: Operation,
    layout: Layout,
    operands: &[(usize, Vec<BigUint>)],
    widths: &[usize],
) -> (Vec<Vec<BigUint>>, Vec<Limb>) {
    let count = operands.iter().map(|(_, numbers)| numbers.len()).max();
    let count = count.unwrap();
    let memory: Vec<_> = operands
        .iter()
        .map(|(width, numbers)| {
            let shape = Shape::new(numbers.len(), *width, layout);
            (limbs(shape, numbers), shape)
        })
        .collect();
    let numbers: Vec<_> = memory
        .iter()
        .map(|(limbs, shape)| Numbers::new(limbs, *shape).unwrap())
        .collect();
    let shapes: Vec<_> = widths
        .iter()
        .map(|&width| Shape::new(count, width, layout))
        .collect();
    let mut found: Vec<_> = shapes.iter().map(|shape| vec![7; shape.limbs()]).collect();
    let mut flags = vec![7; count];
    let mut memory = found.iter_mut().zip(&shapes);
    let mut next = || {
        let (limbs, &shape) = memory.next()?;
        Some(NumbersMut::new(limbs, shape).unwrap())
    };
    let results = Results {
        r: next().unwrap(),
        s: next(),
        flags: Some(&mut flags),
    };
    cpu.compute(operation, results, &numbers, Algorithm::Auto)
        .unwrap();
    let values = found.iter().zip(&shapes).map(|(limbs, shape)| {
        (0..count)
            .map(|i| BigUint::new((0..shape.width).map(|j| limbs[shape.index(i, j)]).collect()))
            .collect()
    });
    (values.collect(), flags)
}

/// Every path of this machine: that the lanes of IFMA are among them is printed.
fn paths() -> Vec<Cpu> {
    let paths: Vec<_> = Path::ALL
        .into_iter()
        .filter_map(|path| Cpu::new(path).ok())
        .collect();
    let names: Vec<_> = paths.iter().map(|cpu| cpu.path().name()).collect();
    println!("paths: {}", names.join(", "));
    paths
}

/// Compares an operation on batches with `values`, which has the result for each number's operands,
/// or `None` if the flag must be 1.
fn agree(
    operation: Operation,
    layout: Layout,
    operands: &[(usize, Vec<BigUint>)],
    widths: &[usize],
    values: impl Fn(&[&BigUint]) -> Option<Vec<BigUint>>,
) {
    for cpu in paths() {
        let (found, flags) = computed(&cpu, operation, layout, operands, widths);
        for (i, &flag) in flags.iter().enumerate() {
            let x: Vec<_> = operands
                .iter()
                .map(|(_, numbers)| numbers.get(i).unwrap_or(&numbers[0]))
                .collect();
            let expected = values(&x);
            let place = format!(
                "{} {operation:?} {i} {widths:?} of {x:x?}",
                cpu.path().name()
            );
            assert_eq!(flag == 1, expected.is_none(), "{place}");
            let expected = expected.unwrap_or_else(|| vec![BigUint::ZERO; widths.len()]);
            for ((found, width), expected) in found.iter().zip(widths).zip(expected) {
                assert_eq!(found[i], expected % power(32 * width), "{place}");
            }
        }
    }
}

const COUNTS: [usize; 8] = [1, 2, 3, 7, 8, 9, 17, 40];

fn quotient(x: &[&BigUint]) -> Option<Vec<BigUint>> {
    (*x[1] != BigUint::ZERO).then(|| vec![x[0] / x[1], x[0] % x[1]])
}

fn divided(layout: Layout, n: (usize, Vec<BigUint>), d: (usize, Vec<BigUint>), round: usize) {
    let (a, b) = (n.0, d.0);
    let operands = [n, d];
    let widths = [[a, b], [a + 3, b + 9], [a.div_ceil(2), b.div_ceil(2)]][round % 3];
    agree(Operation::DivRem, layout, &operands, &widths, quotient);
    agree(Operation::Div, layout, &operands, &widths[..1], quotient);
    agree(Operation::Rem, layout, &operands, &widths[1..], |x| {
        quotient(x).map(|both| both[1..].to_vec())
    });
}

#[test]
fn quotients_and_remainders_of_numbers_of_every_kind() {
    let mut random = Random(1);
    let widths = [1_usize, 2, 3, 4, 5, 8, 9, 13, 16, 26, 33, 64, 65];
    for (round, b) in widths.into_iter().cycle().take(39).enumerate() {
        let a = [2 * b, b, b + 1, 3 * b + 1, b.div_ceil(2), 1, 40][round % 7];
        let count = COUNTS[round % 8];
        let mut batch = |width, count| {
            let numbers = (0..count).map(|_| random.number(width));
            (width, numbers.collect::<Vec<_>>())
        };
        let divisors = batch(b, if round % 5 == 4 { 1 } else { count });
        divided(Layout::ALL[round % 2], batch(a, count), divisors, round);
    }
}

/// These are quotients of all ones, quotients with zeros and ones in the middle, and remainders of
/// 0 and of one less than the divisor. Their digits of 52 bits lie at the ends of their range, or
/// one beside them.
#[test]
fn quotients_at_the_ends_of_their_digits() {
    let mut random = Random(2);
    for (round, b) in [2, 4, 7, 8, 16, 20, 33]
        .into_iter()
        .cycle()
        .take(28)
        .enumerate()
    {
        let k = [b, 2 * b, 3][round % 3];
        let (mut dividends, mut divisors) = (Vec::new(), Vec::new());
        for _ in 0..24 {
            let divisor = random.number(b).max(BigUint::from(1u8));
            let at = random.below(32 * k);
            let quotient = match random.next() % 5 {
                0 => power(32 * k) - 1u8,
                1 => power(32 * k) - power(at),
                2 => power(at / 52 * 52) - 1u8,
                3 => power(32 * k - 1) + power(at / 2),
                _ => random.number(k),
            };
            let rest = match random.next() % 3 {
                0 => BigUint::ZERO,
                1 => &divisor - 1u8,
                _ => BigUint::from(1u8) % &divisor,
            };
            dividends.push(quotient * &divisor + rest);
            divisors.push(divisor);
        }
        let layout = Layout::ALL[round % 2];
        divided(layout, (b + k, dividends), (b, divisors), round);
    }
}

/// Numbers go up to the widths from which on they are divided one after another.
#[test]
fn quotients_of_long_numbers() {
    let mut random = Random(3);
    for (a, b) in [(600, 300), (1630, 815), (900, 812), (3300, 9), (700, 813)] {
        let mut batch = |width| {
            let numbers = (0..9).map(|_| random.number(width));
            (width, numbers.collect::<Vec<_>>())
        };
        divided(Layout::Contiguous, batch(a), batch(b), 0);
    }
}

#[test]
fn square_roots_and_what_they_leave() {
    let mut random = Random(4);
    let root = |x: &[&BigUint]| {
        let root = x[0].sqrt();
        let rest = x[0] - &root * &root;
        Some(vec![root, rest])
    };
    let widths = [
        1_usize, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 26, 32, 33, 64, 65, 128,
    ];
    for (round, n) in widths.into_iter().cycle().take(68).enumerate() {
        let count = COUNTS[round % 8];
        let number = |_| {
            let number = random.number(n);
            // These are squares of roots of every kind, and their neighbours.
            let root = random.number(n.div_ceil(2));
            let square = &root * &root % power(32 * n);
            match random.next() % 8 {
                0 => square,
                1 => square.max(BigUint::from(1u8)) - 1u8,
                2 => (square + 1u8) % power(32 * n),
                3 => (&square + &root + &root) % power(32 * n),
                // As long as the others.
                4 | 5 => number | power(32 * n - 1),
                _ => number,
            }
        };
        let numbers: Vec<_> = (0..count).map(number).collect();
        let half = n.div_ceil(2);
        let widths = [
            [half, half + 1],
            [n + 2, n + 9],
            [n.div_ceil(4), n.div_ceil(3)],
        ];
        let layout = Layout::ALL[round % 2];
        agree(
            Operation::Isqrt,
            layout,
            &[(n, numbers)],
            &widths[round % 3],
            root,
        );
    }
}

fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Pairs whose divisors and quotients are of every kind.
fn pair(random: &mut Random, n: usize) -> [BigUint; 2] {
    let [a, b, c] = [n, n, n.div_ceil(3)].map(|n| random.number(n));
    let all = power(32 * n);
    match random.next() % 7 {
        0 => [(&a * &c) % &all, (&b * &c) % &all],
        1 => [(&b * &c) % &all, b],
        2 => [(&b + power(random.below(32 * n))) % &all, b],
        // Powers of two beside odd numbers: factors of 2^30.
        3 => [power(random.below(32 * n)), b | BigUint::from(1u8)],
        4 => {
            // These are Fibonacci numbers, whose quotients are 1 alone.
            let (mut x, mut y) = (BigUint::from(1u8), BigUint::from(1u8));
            let bits = 1 + random.below(32 * n - 1);
            while y.bits() < bits as u64 {
                (x, y) = (y.clone(), x + y);
            }
            [x, y]
        }
        _ => [a, b],
    }
}

#[test]
fn divisors_and_inverses_of_numbers_of_every_kind() {
    let mut random = Random(5);
    let widths = [1_usize, 2, 3, 4, 5, 7, 8, 9, 13, 16, 26, 32, 33, 64, 65];
    for (round, n) in widths.into_iter().cycle().take(60).enumerate() {
        let count = COUNTS[round % 8];
        let pairs: Vec<_> = (0..count).map(|_| pair(&mut random, n)).collect();
        let side = |i: usize| pairs.iter().map(|pair| pair[i].clone()).collect::<Vec<_>>();
        let operands = [(n, side(0)), (n, side(1))];
        let layout = Layout::ALL[round % 2];
        let width = [[n], [n + 9], [n.div_ceil(2)]][round % 3];
        agree(Operation::Gcd, layout, &operands, &width, |x| {
            Some(vec![gcd(x[0], x[1])])
        });
        // These are long moduli, most often odd ones.
        let full = |m: BigUint| match random.next() % 4 {
            0 => m,
            1 => m | power(32 * n - 1) | BigUint::from(1u8),
            _ => m | BigUint::from(1u8),
        };
        let moduli: Vec<_> = side(1).into_iter().map(full).collect();
        let wider: Vec<_> = (0..count).map(|_| random.number(n + 3)).collect();
        for a in [(n, side(0)), (n + 3, wider)] {
            let operands = [a, (n, moduli.clone())];
            agree(Operation::InvMod, layout, &operands, &width, |x| {
                let one = BigUint::from(1u8);
                if *x[1] == BigUint::ZERO {
                    return None;
                }
                if *x[1] == one {
                    return Some(vec![BigUint::ZERO]);
                }
                x[0].modinv(x[1]).map(|inverse| vec![inverse])
            });
        }
    }
}

#[test]
fn divisors_and_inverses_of_long_numbers() {
    let mut random = Random(6);
    for (count, n) in [(9, 100), (2, 500), (2, 1025)] {
        let mut batch = |odd: u8| {
            let numbers = (0..count).map(|_| random.number(n) | BigUint::from(odd));
            (n, numbers.collect::<Vec<_>>())
        };
        let operands = [batch(0), batch(1)];
        agree(Operation::Gcd, Layout::Contiguous, &operands, &[n], |x| {
            Some(vec![gcd(x[0], x[1])])
        });
        agree(
            Operation::InvMod,
            Layout::Contiguous,
            &operands,
            &[n],
            |x| match *x[1] == BigUint::from(1u8) {
                true => Some(vec![BigUint::ZERO]),
                false => x[0].modinv(x[1]).map(|inverse| vec![inverse]),
            },
        );
    }
}
