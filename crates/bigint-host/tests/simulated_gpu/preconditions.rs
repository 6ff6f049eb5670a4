//! Operands that operations modulo numbers are not of: the same error on the CPU and on the simulated
//! GPU, which names the number.

use crate::process::on_simulator;
use bigint_host::{
    Algorithm, Batch, BigUint, Engine, Error, FixedBase, MontgomeryParams, Operation, Options,
    Residues,
};

/// Numbers of three limbs.
fn batch(engine: &Engine, numbers: &[BigUint]) -> Batch {
    let wide = BigUint::from(1u8) << 95;
    let mut numbers = numbers.to_vec();
    numbers.push(wide);
    let batch = engine.batch_from_biguints(&numbers).unwrap();
    let kept: Vec<usize> = (0..numbers.len() - 1).collect();
    engine.gather(&batch, &kept).unwrap()
}

/// The error of an operation, as people read it, or its result.
fn outcome(engine: &Engine, operation: Operation, operands: [&Batch; 3]) -> Result<Batch, Error> {
    let form = bigint_host::Form::Exact;
    let outcome = engine.compute(operation, form, &operands);
    outcome.map(|mut outcome| outcome.results.swap_remove(0))
}

fn check_preconditions(engine: &Engine) {
    let odd: BigUint = (BigUint::from(1u8) << 90) - 33u8;
    let even = &odd - 1u8;
    let low_zeros = BigUint::from(1u8) << 64;
    let zero = BigUint::ZERO;
    let b = |numbers: &[&BigUint]| {
        let numbers: Vec<BigUint> = numbers.iter().map(|&n| n.clone()).collect();
        batch(engine, &numbers)
    };
    let small = BigUint::from(5u8);
    let fives = b(&[&small; 4]);
    // A window of a table of one limb's powers: the numbers do not matter.
    let entries: Vec<u32> = (0..64 * 3).collect();
    let shape = bigint_host::Shape::new(1, entries.len(), bigint_host::Layout::Contiguous);
    let table = engine.batch_from_limbs(entries, shape).unwrap();
    for algorithm in [Algorithm::Auto, Algorithm::WindowVartime] {
        let engine = &engine.using(Options::from(algorithm));
        for operation in [Operation::MontMul, Operation::PowPair, Operation::PowFixed] {
            let a = if operation == Operation::PowFixed {
                &table
            } else {
                &fives
            };
            let told = |moduli: &[&BigUint]| outcome(engine, operation, [a, &fives, &b(moduli)]);
            let refused = told(&[&odd, &odd, &even, &zero]).unwrap_err();
            assert!(
                matches!(refused, Error::EvenModulus { index: 2 }),
                "{operation:?}: {refused}"
            );
            let refused = told(&[&odd, &low_zeros, &even, &zero]).unwrap_err();
            assert!(
                matches!(refused, Error::EvenModulus { index: 1 }),
                "{operation:?}: {refused}"
            );
            let refused = told(&[&odd, &odd, &odd, &zero]).unwrap_err();
            assert!(
                matches!(refused, Error::ZeroDivisor { index: 3 }),
                "{operation:?}: {refused}"
            );
            let refused = told(&[&zero]).unwrap_err();
            assert!(
                matches!(refused, Error::ZeroDivisor { index: 0 }),
                "{operation:?}: {refused}"
            );
            assert!(told(&[&odd, &odd, &odd, &odd]).is_ok());
            assert!(told(&[&odd]).is_ok());
        }
    }
    for operation in [Operation::ModAdd, Operation::ModSub, Operation::MontMul] {
        let above = &odd + 1u8;
        let greatest = &odd - 1u8;
        let told = |a: &Batch, b: &Batch, m: &Batch| outcome(engine, operation, [a, b, m]);
        let moduli = b(&[&odd; 4]);
        for wrong in [&odd, &above] {
            let refused = told(&b(&[&zero, &greatest, wrong, wrong]), &fives, &moduli).unwrap_err();
            let expected = Error::NotReduced {
                operation,
                operand: "a",
                index: 2,
            };
            assert_eq!(refused.to_string(), expected.to_string());
            let refused = told(&fives, &b(&[&greatest, wrong, &zero, &zero]), &moduli).unwrap_err();
            let expected = Error::NotReduced {
                operation,
                operand: "b",
                index: 1,
            };
            assert_eq!(refused.to_string(), expected.to_string());
        }
        // One for all, and wider than the modulus.
        let wide = engine
            .batch_from_biguints(&[BigUint::from(1u8) << 200])
            .unwrap();
        let refused = told(&fives, &wide, &b(&[&odd])).unwrap_err();
        assert!(
            matches!(
                refused,
                Error::NotReduced {
                    operand: "b",
                    index: 0,
                    ..
                }
            ),
            "{refused}"
        );
        let refused = told(&fives, &fives, &b(&[&odd, &zero, &odd, &odd])).unwrap_err();
        assert!(
            matches!(refused, Error::ZeroDivisor { index: 1 }),
            "{operation:?}: {refused}"
        );
        // What is known of operands stays true of other moduli.
        let (x, first) = (b(&[&greatest]), b(&[&odd]));
        told(&x, &x, &first).unwrap();
        let refused = told(&x, &x, &b(&[&(&greatest - 2u8 + 1u8)])).unwrap_err();
        assert!(
            matches!(
                refused,
                Error::NotReduced {
                    operand: "a",
                    index: 0,
                    ..
                }
            ),
            "{refused}"
        );
        let r = told(&x, &x, &first).unwrap();
        assert_eq!(told(&r, &x, &first).unwrap().len(), 1);
    }
    // Integers of any lengths name the row.
    let integers = |numbers: &[&BigUint]| {
        let numbers: Vec<BigUint> = numbers.iter().map(|&n| n.clone()).collect();
        bigint_host::Integers::from_biguints(&numbers).unwrap()
    };
    let wide = BigUint::from(1u8) << 900;
    let (a, m) = (
        integers(&[&small, &wide, &small]),
        integers(&[&odd, &(&wide + 1u8), &small]),
    );
    let refused = engine.mod_add(&a, &a, &m).unwrap_err();
    assert!(
        matches!(refused, Error::NotReduced { index: 2, .. }),
        "{refused}"
    );
    // Bounds that no exponent has.
    let params = MontgomeryParams::new(engine, &b(&[&odd])).unwrap();
    let base = Residues::new(&fives, &params).unwrap();
    let power = base.pow_bounded_exp(&fives, usize::MAX).unwrap();
    let expected = small.modpow(&small, &odd);
    assert_eq!(
        power.retrieve().unwrap().to_biguints().unwrap(),
        vec![expected; 4]
    );
    let one = Residues::new(&b(&[&small]), &params).unwrap();
    let refused = FixedBase::new(&one, usize::MAX).unwrap_err();
    assert!(matches!(refused, Error::Width { .. }), "{refused}");
}

#[test]
fn operands_that_operations_are_not_of_are_refused_on_the_cpu() {
    check_preconditions(&Engine::cpu());
}

#[test]
fn operands_that_operations_are_not_of_are_refused_on_a_gpu() {
    let name = "preconditions::operands_that_operations_are_not_of_are_refused_on_a_gpu";
    if on_simulator(name, &[]) {
        check_preconditions(&Engine::cuda(0).unwrap());
    }
}
