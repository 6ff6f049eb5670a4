//! Squares and products modulo `2^p - 1` and other numbers by long transforms of a device, on the simulator, beside the CPU.

use bigint_cpu::fast::number::weighted::Operand;
use bigint_testing::simulator::on_simulator;
use bigint_testing::sweep;
use mersenne::{Arithmetic, Backend, Cpu, Cuda, Number, Residue, Runner};

use crate::device::{by_words, ends, pseudo_random_limbs};

/// `x^2 - 2^(bit + 1)`, by the CPU's exact products.
fn square_minus(x: &Residue, bit: u32) -> Residue {
    let less = Residue::from_u64(x.number(), 2).shifted(bit);
    x.square_minus(1, 0).minus(&less)
}

#[test]
fn a_long_transform_squares_as_the_cpu_does() {
    if on_simulator(
        "long_transforms::a_long_transform_squares_as_the_cpu_does",
        &[],
    ) {
        square_by_long_transform(1 << 20, 3, 18);
    }
}

#[test]
fn a_long_transform_subtracts_from_any_word() {
    let unchecked = [("CUDA_SIM_CHECKS", "none")];
    if !on_simulator(
        "long_transforms::a_long_transform_subtracts_from_any_word",
        &unchecked,
    ) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    let words = 1 << 20;
    let p = words as u32 * 18 + 1;
    let start = Residue::reduce(p, &pseudo_random_limbs(p));
    let mut found = by_words(&device, p, words);
    found.set(&start).unwrap();
    let mut right = start.clone();
    // Words 2 (2048 row + column) + part: the second of all, one of a thread's third row, which begins a row, and
    // both words of the last point.
    let at = [1, 2 * 2048 * 37, words - 2, words - 1];
    for (i, word) in at.into_iter().enumerate() {
        let bit = ends(p, words, word)[i % 2];
        found.square_shifted(1, 2, bit).unwrap();
        right = square_minus(&right, bit);
        assert!(found.residue().unwrap() == right, "bit {bit}");
    }
    let error = found.error().unwrap();
    assert!(error > 0.02 && error < 0.3, "{error}");
    // From p - 1 on the shift goes around in every step.
    let mut runner = Runner::new(p, 2, &device).unwrap().with_shift(p - 1);
    assert_eq!(runner.words(), Some(words));
    runner.set(&start).unwrap();
    runner.square(2).unwrap();
    let right = (0..2).fold(start, |x, _| x.square_minus(1, 2));
    assert!(runner.residue().unwrap() == right);
}

/// Every block begins to wait for carries before the one that hands them on has begun: it must
/// not take those of the launch before, however many launches, and of whatever kind, were in between.
#[test]
fn blocks_wait_for_the_carries_of_their_own_launch() {
    let settings = [
        ("CUDA_SIM_CHECKS", "none"),
        ("CUDA_SIM_BLOCKS", "adversarial"),
    ];
    if !on_simulator(
        "long_transforms::blocks_wait_for_the_carries_of_their_own_launch",
        &settings,
    ) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    let words = 1 << 20;
    let p = words as u32 * 12 + 1;
    let mut found = by_words(&device, p, words);
    // Times squared after a start, and residues read after that.
    for (i, (times, reads)) in [(1, 0), (2, 2), (1, 1)].into_iter().enumerate() {
        let mut limbs = pseudo_random_limbs(p);
        limbs.rotate_left(i);
        let start = Residue::reduce(p, &limbs);
        found.set(&start).unwrap();
        found.square(times, 1, 2).unwrap();
        let right = (0..times).fold(start, |x, _| x.square_minus(1, 2));
        for _ in 0..reads {
            assert!(found.residue().unwrap() == right);
        }
        assert!(found.error().unwrap() < 0.1);
    }
}

/// All words are alike, and carries are great: the device takes them up to 32 bits.
#[test]
fn a_carry_that_is_too_great_is_an_infinite_error() {
    let unchecked = [("CUDA_SIM_CHECKS", "none")];
    if !on_simulator(
        "long_transforms::a_carry_that_is_too_great_is_an_infinite_error",
        &unchecked,
    ) {
        return;
    }
    let device = Cuda::open(0).unwrap();
    let words = 1 << 20;
    let p = words as u32 * 13 + 1;
    let mut found = by_words(&device, p, words);
    // Words have 13 bits, and the first one more. Sums of their products are from `2^20 word^2` on,
    // where the modulus takes part in all of them, to twice that, where in none.
    for (word, fits) in [(2800_u64, true), (3500, false)] {
        assert_eq!((word * word) >> 13 << 21 < 1 << 31, fits);
        let mut limbs = vec![0_u64; p.div_ceil(64) as usize];
        for j in 1..words {
            let (limb, shift) = ((13 * j + 1) / 64, (13 * j + 1) % 64);
            limbs[limb] |= word << shift;
            if shift > 64 - 13 {
                limbs[limb + 1] |= word >> (64 - shift);
            }
        }
        let start = Residue::reduce(p, &limbs);
        found.set(&start).unwrap();
        found.square(1, 1, 2).unwrap();
        let error = found.error().unwrap();
        if fits {
            assert!(error < 0.1, "{error}");
            assert!(found.residue().unwrap() == start.square_minus(1, 2));
        } else {
            assert_eq!(error, f64::INFINITY);
        }
    }
}

/// The last pass of a column is of radix 9, in blocks of two columns, and rows are twice as long.
/// `mersenne selftest --compare` has the other radices, on a GPU.
#[test]
fn a_longer_transform_squares_as_the_cpu_does() {
    // All checks take minutes, and most of the kernels have passed them above.
    let unchecked = [("CUDA_SIM_CHECKS", "none")];
    let test = "long_transforms::a_longer_transform_squares_as_the_cpu_does";
    if sweep(false, true) && on_simulator(test, &unchecked) {
        square_by_long_transform(18 << 20, 1, 18);
    }
}

/// Columns' first passes of all radices but 16, that of all other tests, and last ones of 4, and of 1 or 2; of some, where
/// it is no sweep.
#[test]
fn transforms_of_lengths_between_square_as_the_cpu_does() {
    let unchecked = [("CUDA_SIM_CHECKS", "none")];
    if on_simulator(
        "long_transforms::transforms_of_lengths_between_square_as_the_cpu_does",
        &unchecked,
    ) {
        for (i, radix) in (9..16).enumerate().step_by(sweep(4, 1)) {
            square_by_long_transform(radix << 18, 1, 18);
            square_by_long_transform(radix << (17 - i / 4 % 2), 1, 18);
        }
        // Of the shortest, whose words have the most bits.
        square_by_long_transform(9 << 16, 1, 19);
    }
}

/// Of both signs, of bases of which words hold a part of a digit, one or several, and of the greatest `k`; columns' first
/// passes are of radix 16 and 9.
#[test]
fn long_transforms_compute_modulo_other_numbers_as_the_cpu_does() {
    let unchecked = [("CUDA_SIM_CHECKS", "none")];
    let test = "long_transforms::long_transforms_compute_modulo_other_numbers_as_the_cpu_does";
    if !on_simulator(test, &unchecked) {
        return;
    }
    let numbers = [
        (3, 2, -1, 4, 15),
        (1, 40_000, 1, 4, 15),
        (2, 3, 1, 9, 15),
        (1, 10, -1, 9, 14),
        (7, 2, 1, 9, 15),
        (31, 2, 1, 4, 16),
        // Carries reach over up to four words; blocks have four columns and two.
        (100_001, 2, -1, 4, 10),
        (321, 2, -1, 18, 13),
        (100_001, 2, 1, 5, 10),
        (10_223, 2, 1, 4, 12),
        (27, 2, 1, 9, 13),
        // What is subtracted goes around as a whole, for so small a `k`.
        (3, 2, 1, 4, 11),
        // Over up to eight words, the one that takes what does not go into the first among them.
        (33_554_431, 2, 1, 5, 6),
        (33_554_393, 2, -1, 4, 6),
        (262_147, 2, -1, 4, 9),
        (1_048_575, 2, 1, 4, 8),
        (16_777_213, 2, -1, 9, 6),
    ];
    for (i, (k, b, c, units, bits)) in numbers.into_iter().enumerate() {
        if i % sweep(3, 1) != 0 {
            continue;
        }
        let words = units << 18;
        let digits = f64::from(bits * words) / f64::from(b).log2();
        // One digit for each word, and all weights are 1.
        let n = if b == 40_000 { words } else { digits as i32 };
        let number = Number::of(k, b, n as u32, c).unwrap();
        compute_modulo(number, words as usize);
    }
}

/// Squares and products modulo a number by two launches.
fn compute_modulo(number: Number, words: usize) {
    let device = Cuda::open(0).unwrap();
    let exact = Cpu {
        arithmetic: Arithmetic::Exact,
        ..Cpu::default()
    };
    let machines = [
        device.multiplying(number, Some(words - 1)),
        exact.multiplying(number, None),
    ];
    let [mut found, mut right] = machines.map(Result::unwrap);
    assert_eq!(found.words(), Some(words), "{number}");
    let one = Residue::from_u64(number, 1);
    let limbs = pseudo_random_limbs(number.bits() as u32 - 1);
    // N - 1, one that looks random, and the inverse of 2, whose digits may all be as great as digits are. Then sums of
    // their products may be so great that carries are, which makes the error infinite.
    let starts = [
        Residue::from_u64(number, 0).minus(&one),
        Residue::reduce(number, &limbs),
        one.divided_by(2),
    ];
    for (i, start) in starts.iter().enumerate() {
        for machine in [&mut found, &mut right] {
            machine.set(start).unwrap();
            assert!(&machine.residue().unwrap() == start, "{number}");
            let factor = machine.keep().unwrap();
            machine.square(1, 1, 2).unwrap();
            machine.square(1, 3, 2).unwrap();
            machine.multiply(&factor, None, 1).unwrap();
        }
        let error = found.error().unwrap();
        if i == 2 && error == f64::INFINITY {
            continue;
        }
        assert!(error < 0.4, "{number}: {error}");
        assert!(
            found.residue().unwrap() == right.residue().unwrap(),
            "{number}"
        );
    }
}

/// A squaring by two launches, of so many words of so many bits: `bigint_core`'s
/// `weighted::long`.
fn square_by_long_transform(words: usize, by: u32, bits: u32) {
    let device = Cuda::open(0).unwrap();
    let p = words as u32 * bits + 1;
    let start = Residue::reduce(p, &pseudo_random_limbs(p));
    let mut found = by_words(&device, p, words);
    found.set(&start).unwrap();
    assert!(found.residue().unwrap() == start);
    found.square(1, by, 2).unwrap();
    let error = found.error().unwrap();
    assert!(error > 0.02 && error < 0.4, "{error}");
    assert!(found.residue().unwrap() == start.square_minus(by, 2));
}

#[test]
fn a_long_transform_multiplies_as_the_cpu_does() {
    let test = "long_transforms::a_long_transform_multiplies_as_the_cpu_does";
    if on_simulator(test, &[("CUDA_SIM_CHECKS", "none")]) {
        multiply_by_long_transform(1 << 20);
    }
}

/// Rows are twice as long.
#[test]
fn a_longer_transform_multiplies_as_the_cpu_does() {
    let unchecked = [("CUDA_SIM_CHECKS", "none")];
    let test = "long_transforms::a_longer_transform_multiplies_as_the_cpu_does";
    if sweep(false, true) && on_simulator(test, &unchecked) {
        multiply_by_long_transform(9 << 20);
    }
}

/// Products by two launches, of so many words of 17 bits, beside those that are exact.
fn multiply_by_long_transform(words: usize) {
    let number = Number::from(words as u32 * 17 + 1);
    let p = number.exponent().unwrap();
    let [x, factor, less] = [1, 2, 3].map(|seed| random(p, seed));
    let exact = Cpu {
        arithmetic: Arithmetic::Exact,
        ..Cpu::default()
    };
    let machines = [
        Cuda::open(0).unwrap().multiplying(number, Some(words - 1)),
        exact.multiplying(number, None),
    ];
    let [mut found, mut right] = machines.map(Result::unwrap);
    assert_eq!(found.words(), Some(words));
    let products = [&mut found, &mut right].map(|machine| {
        let [factor, less] = [&factor, &less].map(|of| {
            machine.set(of).unwrap();
            machine.keep().unwrap()
        });
        machine.set(&x).unwrap();
        machine.multiply(&factor, None, 3).unwrap();
        let first = machine.residue().unwrap();
        machine.multiply(&factor, Some(&less), 0).unwrap();
        let second = machine.residue().unwrap();
        let sides = [
            Operand::Difference(&factor, &less),
            Operand::Sum(&less, &factor),
        ];
        machine.product(sides).unwrap();
        assert!(machine.error().unwrap() < 0.4);
        [first, second, machine.residue().unwrap()]
    });
    assert!(products[0] == products[1], "{words} words");
}

/// A residue that looks random.
fn random(p: u32, seed: u64) -> Residue {
    let mut limb = seed;
    let limbs = (0..p.div_ceil(64)).map(|_| {
        limb = limb.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        limb ^ limb >> 29
    });
    Residue::reduce(p, &limbs.collect::<Vec<_>>())
}
