//! The fast engine gives num-bigint's results on every path of this machine.

use crate::oracle::{COUNTS, Case, Random};
use bigint_core::{Algorithm, Layout, Operation, Shape};
use bigint_cpu::{Cpu, LaneTuning, Numbers, NumbersMut, Path, Tuning};
use num_bigint::BigUint;
use proptest::prelude::*;

/// The operations that the oracle of these tests knows.
const ARITHMETIC: [Operation; 3] = [Operation::Add, Operation::Sub, Operation::Mul];

/// Engines for every path, with the default thresholds, and with thresholds that split short
/// numbers and write every sum past the caches.
fn engines() -> Vec<Cpu> {
    let lanes = LaneTuning {
        karatsuba: 8,
        karatsuba_square: 9,
        fewest: 1,
        narrowest: 0,
        widest: 512,
    };
    let mut short = Tuning::default();
    short.avx512ifma = lanes;
    short.avx2 = lanes;
    short.stream_bytes = 0;
    short.stream_words_bytes = 0;
    short.stream_rows_bytes = 0;
    for path in Path::ALL {
        let of_path = short.number.of_mut(path);
        (of_path.product.karatsuba, of_path.square.karatsuba) = (3, 4);
        (of_path.product.toom3, of_path.square.toom3) = (24, 20);
        (of_path.product.toom4, of_path.square.toom4) = (50, 40);
        (of_path.product.transform, of_path.square.transform) = (90, 80);
    }
    Path::ALL
        .into_iter()
        .filter_map(|path| Cpu::new(path).ok())
        .flat_map(|cpu| [cpu, cpu.with_tuning(short)])
        .collect()
}

fn check(random: &mut Random, cpu: &Cpu, case: Case, operation: Operation, same: bool) {
    case.check(random, operation, same, |r, a, b, carry| {
        let r = NumbersMut::new(r, case.r).unwrap();
        let a = Numbers::new(a, case.a).unwrap();
        let b = if same {
            a
        } else {
            Numbers::new(b, case.b).unwrap()
        };
        match operation {
            Operation::Add => cpu.add(r, a, b, Some(carry), Algorithm::Auto),
            Operation::Sub => cpu.sub(r, a, b, Some(carry), Algorithm::Auto),
            _ => cpu.mul(r, a, b, Algorithm::Auto),
        }
        .unwrap();
    });
}

const WIDE: [usize; 12] = [65, 80, 96, 100, 127, 128, 129, 200, 256, 384, 511, 512];

#[test]
fn products_of_every_width_are_right() {
    let mut random = Random(11);
    for cpu in engines() {
        for n in (0..=64).chain(WIDE) {
            for w in [2 * n, n, n + n / 2 + 1] {
                let count = 1 + random.below(20);
                let case = Case::new(&mut random, count, (w, n, n), (false, false));
                check(&mut random, &cpu, case, Operation::Mul, false);
            }
        }
    }
}

#[test]
fn squares_of_every_width_are_right() {
    let mut random = Random(12);
    for cpu in engines() {
        for n in (0..=64).chain(WIDE) {
            let count = 1 + random.below(20);
            let case = Case::new(&mut random, count, (2 * n, n, n), (false, false));
            check(&mut random, &cpu, case, Operation::Mul, true);
        }
    }
}

#[test]
fn products_of_unequal_widths_are_right() {
    let mut random = Random(13);
    for cpu in engines() {
        for n in (1..=64).chain(WIDE) {
            for m in [1, n / 4, n / 2 + 1, n + 3, 2 * n - 1] {
                let w = [n + m, random.below(n + m) + 1, n + m + 9][random.below(3)];
                let count = 1 + random.below(20);
                let case = Case::new(&mut random, count, (w, n, m), (false, false));
                check(&mut random, &cpu, case, Operation::Mul, false);
            }
        }
    }
}

#[test]
fn sums_and_differences_of_every_width_are_right() {
    let mut random = Random(16);
    for cpu in engines() {
        for n in (0..=64).chain(WIDE) {
            for (w, m) in [(n, n), (n + 1, n), (n + 2, n / 2), (n / 2, n), (n, n + 17)] {
                let count = 1 + random.below(40);
                let case = Case::new(&mut random, count, (w, n, m), (false, false));
                check(&mut random, &cpu, case, Operation::Add, false);
                check(&mut random, &cpu, case, Operation::Sub, false);
            }
        }
    }
}

#[test]
fn batches_of_every_size_and_broadcasts_are_right() {
    let mut random = Random(14);
    for cpu in engines() {
        for count in COUNTS {
            for broadcast in [(false, false), (true, false), (false, true), (true, true)] {
                for widths in [(9, 5, 4), (64, 32, 32), (70, 33, 17)] {
                    let case = Case::new(&mut random, count, widths, broadcast);
                    for operation in ARITHMETIC {
                        check(&mut random, &cpu, case, operation, false);
                    }
                }
            }
        }
    }
}

#[test]
fn batches_of_several_pieces_are_right() {
    let mut random = Random(15);
    for cpu in engines() {
        for (count, widths) in [(1001, (150, 70, 80)), (5000, (9, 9, 8))].repeat(4) {
            let case = Case::new(&mut random, count, widths, (false, false));
            for operation in ARITHMETIC {
                check(&mut random, &cpu, case, operation, false);
            }
        }
    }
}

/// Lanes take blocks of 8 limbs, and 104 limbs are a whole number of digits.
#[test]
fn products_and_squares_are_right_around_blocks_and_periods() {
    let mut random = Random(17);
    let widths = [8, 16, 24, 32, 40, 64, 96, 104, 112, 208, 312];
    for cpu in engines() {
        for n in widths.into_iter().flat_map(|n| [n - 1, n, n + 1]) {
            for w in [2 * n - 1, 2 * n, n + 1] {
                for same in [false, true] {
                    let case = Case::new(&mut random, 17, (w, n, n), (false, false));
                    check(&mut random, &cpu, case, Operation::Mul, same);
                }
            }
        }
    }
}

#[test]
fn batches_with_any_number_of_lanes_left_over_are_right() {
    let mut random = Random(18);
    for cpu in engines() {
        for count in (1..=17).chain([63, 64, 65]) {
            for n in [8, 31, 33, 105] {
                for same in [false, true] {
                    let case = Case::new(&mut random, count, (2 * n, n, n), (false, false));
                    check(&mut random, &cpu, case, Operation::Mul, same);
                }
            }
        }
    }
}

/// Numbers that are all ones make every column and every carry as large as it gets. Products,
/// squares and low products are checked at every length around the thresholds.
#[test]
fn products_of_all_ones_limbs_are_right() {
    let shape = |width| Shape::new(9, width, Layout::Contiguous);
    let one = BigUint::from(1_u32);
    for cpu in engines() {
        for n in (1..=120).chain(WIDE) {
            for (m, w) in [(n, 2 * n), (n, n + 1), (n + 1, 2 * n + 1), (2 * n, 3 * n)] {
                let (a, b) = (vec![u32::MAX; 9 * n], vec![u32::MAX; 9 * m]);
                let a = Numbers::new(&a, shape(n)).unwrap();
                let b = Numbers::new(&b, shape(m)).unwrap();
                let product = ((&one << (32 * n)) - &one) * ((&one << (32 * m)) - &one);
                let mut expected = product.to_u32_digits();
                expected.resize(w, 0);
                for b in if m == n { vec![a, b] } else { vec![b] } {
                    let mut r = vec![0; 9 * w];
                    let number = NumbersMut::new(&mut r, shape(w)).unwrap();
                    cpu.mul(number, a, b, Algorithm::Auto).unwrap();
                    assert!(
                        r.chunks(w).all(|found| found == expected),
                        "{cpu:?} {n} {m} {w}"
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_batch_of_any_shape_is_right(
        seed: u64,
        count in 0_usize..70,
        widths in (0_usize..90, 0_usize..90, 0_usize..90),
        broadcast: (bool, bool),
        engine: prop::sample::Index,
    ) {
        let mut random = Random(seed);
        let engines = engines();
        let cpu = engine.get(&engines);
        let case = Case::new(&mut random, count, widths, broadcast);
        for operation in ARITHMETIC {
            check(&mut random, cpu, case, operation, false);
        }
    }
}

/// However high a threshold is set, no more products meet in a column than fit it.
#[test]
fn low_products_of_all_ones_limbs_are_right_below_any_threshold() {
    let mut tuning = Tuning::default();
    for lanes in [&mut tuning.avx512ifma, &mut tuning.avx2] {
        lanes.karatsuba = usize::MAX;
        lanes.karatsuba_square = usize::MAX;
        lanes.fewest = 1;
        lanes.widest = usize::MAX;
    }
    for (n, w) in [(200, 200), (300, 150), (1251, 1286), (3000, 3100)] {
        let shape = Shape::new(8, n, Layout::Contiguous);
        let ones = vec![u32::MAX; shape.limbs()];
        let a = Numbers::new(&ones, shape).unwrap();
        let number = BigUint::from_slice(&ones[..n]);
        let mut expected = (&number * &number).to_u32_digits();
        expected.resize(w, 0);
        for path in Path::ALL {
            let Ok(cpu) = Cpu::new(path) else { continue };
            let mut limbs = vec![0; shape.with_width(w).limbs()];
            let r = NumbersMut::new(&mut limbs, shape.with_width(w)).unwrap();
            cpu.with_tuning(tuning)
                .mul(r, a, a, Algorithm::Auto)
                .unwrap();
            assert!(
                limbs.chunks(w).all(|found| found == expected),
                "{path:?}, {n}, {w}"
            );
        }
    }
}
