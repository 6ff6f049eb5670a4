//! Products modulo `2^p - 1` by long transforms of a device, on the simulator.

use bigint_cpu::fast::number::weighted::Operand;
use bigint_testing::simulator::on_simulator;
use bigint_testing::sweep;
use mersenne::{Arithmetic, Backend, Cpu, Cuda, Number, Residue};

#[test]
fn a_long_transform_multiplies_as_the_cpu_does() {
    let test = "long_products::a_long_transform_multiplies_as_the_cpu_does";
    if on_simulator(test, &[("CUDA_SIM_CHECKS", "none")]) {
        multiply_by_long_transform(1 << 20);
    }
}

/// Rows are twice as long.
#[test]
fn a_longer_transform_multiplies_as_the_cpu_does() {
    let unchecked = [("CUDA_SIM_CHECKS", "none")];
    let test = "long_products::a_longer_transform_multiplies_as_the_cpu_does";
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
