//! Numbers wider than kernels hold: quotients and roots by Newton's steps, and trees, on a device.

use crate::process::on_simulator;
use bigint_host::{BatchGcd, BigUint, Engine, Integers, ProductTree, Tuning};

/// A device whose kernels divide by few limbs only.
fn engine() -> Engine {
    let mut tuning = Tuning::default();
    tuning.div.device_max_width = 5;
    tuning.div.root_device_max_width = 5;
    let engine = Engine::cuda(0).expect("a device");
    engine.with_tuning(tuning)
}

/// Numbers of up to so many limbs: all ones, powers of two, and anything between.
fn numbers(count: usize, limbs: usize) -> Vec<BigUint> {
    let ones = (BigUint::from(1u8) << (32 * limbs)) - 1u8;
    let number = |i: usize| match i % 5 {
        0 => ones.clone(),
        1 => BigUint::from(1u8) << (32 * limbs - 1 - i % 64),
        2 => (&ones / (i + 3) * 2u8) >> (i % 40),
        3 => (&ones / 7u8) - (BigUint::from(i) << (16 * limbs)),
        _ => (BigUint::from(1u8) << (32 * limbs - 32)) + i,
    };
    (0..count).map(number).collect()
}

#[test]
fn long_quotients_and_roots_on_a_device_are_those_of_num_bigint() {
    let name = "long::long_quotients_and_roots_on_a_device_are_those_of_num_bigint";
    if !on_simulator(name, &[]) {
        return;
    }
    let engine = engine();
    for (count, n, m) in [(7, 14, 7), (3, 80, 41), (1, 300, 140), (5, 12, 11)] {
        let (a, b) = (numbers(count, n), numbers(count + 3, m).split_off(3));
        let [x, y] = [&a, &b].map(|numbers| engine.batch_from_biguints(numbers).unwrap());
        let (q, r) = engine.div_rem(&x, &y).unwrap();
        let (q, r) = (q.to_biguints().unwrap(), r.to_biguints().unwrap());
        for i in 0..count {
            assert_eq!(
                (&q[i], &r[i]),
                (&(&a[i] / &b[i]), &(&a[i] % &b[i])),
                "{n} by {m}"
            );
        }
        assert_eq!(engine.div(&x, &y).unwrap().to_biguints().unwrap(), q);
        assert_eq!(engine.rem(&x, &y).unwrap().to_biguints().unwrap(), r);
        let (root, rest) = engine.isqrt(&x).unwrap();
        let (root, rest) = (root.to_biguints().unwrap(), rest.to_biguints().unwrap());
        for (i, a) in a.iter().enumerate() {
            assert_eq!(root[i], a.sqrt());
            assert_eq!(rest[i], a - &root[i] * &root[i]);
        }
    }
}

#[test]
fn trees_on_a_device_are_those_of_the_cpu() {
    let name = "long::trees_on_a_device_are_those_of_the_cpu";
    if !on_simulator(name, &[]) {
        return;
    }
    let engines = [engine(), Engine::cpu()];
    let leaves: Vec<BigUint> = (0..23)
        .map(|i| numbers(i + 1, 4 + i % 3)[i].clone() | BigUint::from(1u8))
        .collect();
    let leaves = Integers::from_biguints(&leaves).unwrap();
    let x = Integers::from_biguints(&numbers(1, 90)).unwrap();
    let [device, cpu] = engines.map(|engine| {
        let tree = ProductTree::new(&engine, &leaves).unwrap();
        let found = BatchGcd::new(&engine)
            .within(2000)
            .find(&leaves, &Integers::new(), &|_| ())
            .unwrap();
        (
            tree.remainders(&x).unwrap(),
            tree.cofactors().unwrap(),
            found,
        )
    });
    assert_eq!(device, cpu);
}
