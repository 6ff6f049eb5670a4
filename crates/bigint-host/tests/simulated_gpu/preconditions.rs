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

/// What is computed is refused with such an error.
macro_rules! assert_refused {
    ($outcome:expr, $error:pat) => {
        let refused = $outcome.unwrap_err();
        assert!(matches!(refused, $error), "{refused}");
    };
}

fn odd() -> BigUint {
    (BigUint::from(1u8) << 90) - 33u8
}

fn batch_of(engine: &Engine, numbers: &[&BigUint]) -> Batch {
    let numbers: Vec<BigUint> = numbers.iter().map(|&n| n.clone()).collect();
    batch(engine, &numbers)
}

fn fives(engine: &Engine) -> Batch {
    batch_of(engine, &[&BigUint::from(5u8); 4])
}

fn check_preconditions(engine: &Engine) {
    check_that_moduli_are_odd(engine);
    for operation in [Operation::ModAdd, Operation::ModSub, Operation::MontMul] {
        check_that_operands_are_reduced(engine, operation);
    }
    check_that_integers_are_named_by_their_row(engine);
    check_bounds_that_no_exponent_has(engine);
}

fn check_that_moduli_are_odd(engine: &Engine) {
    let odd = &odd();
    let (even, low_zeros, zero) = (odd - 1u8, BigUint::from(1u8) << 64, &BigUint::ZERO);
    let fives = fives(engine);
    // A window of a table of one limb's powers: the numbers do not matter.
    let entries: Vec<u32> = (0..64 * 3).collect();
    let shape = bigint_host::Shape::new(1, entries.len(), bigint_host::Layout::Contiguous);
    let table = engine.batch_from_limbs(entries, shape).unwrap();
    for algorithm in [Algorithm::Auto, Algorithm::WindowVartime] {
        let engine = &engine.using(Options::from(algorithm));
        for (operation, a) in [
            (Operation::MontMul, &fives),
            (Operation::PowPair, &fives),
            (Operation::PowFixed, &table),
        ] {
            let by = |moduli: &[&BigUint]| {
                outcome(engine, operation, [a, &fives, &batch_of(engine, moduli)])
            };
            assert_refused!(
                by(&[odd, odd, &even, zero]),
                Error::EvenModulus { index: 2 }
            );
            assert_refused!(
                by(&[odd, &low_zeros, &even, zero]),
                Error::EvenModulus { index: 1 }
            );
            assert_refused!(by(&[odd, odd, odd, zero]), Error::ZeroDivisor { index: 3 });
            assert_refused!(by(&[zero]), Error::ZeroDivisor { index: 0 });
            assert!(by(&[odd, odd, odd, odd]).is_ok());
            assert!(by(&[odd]).is_ok());
        }
    }
}

fn check_that_operands_are_reduced(engine: &Engine, operation: Operation) {
    let odd = &odd();
    let (above, greatest, zero) = (odd + 1u8, &(odd - 1u8), &BigUint::ZERO);
    let b = |numbers: &[&BigUint]| batch_of(engine, numbers);
    let (fives, moduli) = (fives(engine), b(&[odd; 4]));
    let by = |a: &Batch, b: &Batch, m: &Batch| outcome(engine, operation, [a, b, m]);
    for wrong in [odd, &above] {
        for (operand, index) in [("a", 2), ("b", 1)] {
            let refused = match operand {
                "a" => by(&b(&[zero, greatest, wrong, wrong]), &fives, &moduli),
                _ => by(&fives, &b(&[greatest, wrong, zero, zero]), &moduli),
            };
            let expected = Error::NotReduced {
                operation,
                operand,
                index,
            };
            assert_eq!(refused.unwrap_err().to_string(), expected.to_string());
        }
    }
    // One for all, and wider than the modulus.
    let wide = engine.batch_from_biguints(&[BigUint::from(1u8) << 200]);
    assert_refused!(
        by(&fives, &wide.unwrap(), &b(&[odd])),
        Error::NotReduced {
            operand: "b",
            index: 0,
            ..
        }
    );
    assert_refused!(
        by(&fives, &fives, &b(&[odd, zero, odd, odd])),
        Error::ZeroDivisor { index: 1 }
    );
    // What is known of operands stays true of other moduli.
    let (x, first) = (b(&[greatest]), b(&[odd]));
    by(&x, &x, &first).unwrap();
    assert_refused!(
        by(&x, &x, &b(&[&(greatest - 2u8 + 1u8)])),
        Error::NotReduced {
            operand: "a",
            index: 0,
            ..
        }
    );
    let r = by(&x, &x, &first).unwrap();
    assert_eq!(by(&r, &x, &first).unwrap().len(), 1);
}

fn check_that_integers_are_named_by_their_row(engine: &Engine) {
    let integers = |numbers: &[BigUint]| bigint_host::Integers::from_biguints(numbers).unwrap();
    let (small, wide) = (BigUint::from(5u8), BigUint::from(1u8) << 900);
    let a = integers(&[small.clone(), wide.clone(), small.clone()]);
    let m = integers(&[odd(), wide + 1u8, small]);
    assert_refused!(
        engine.integers().mod_add(&a, &a, &m),
        Error::NotReduced { index: 2, .. }
    );
}

fn check_bounds_that_no_exponent_has(engine: &Engine) {
    let (odd, small, fives) = (odd(), BigUint::from(5u8), fives(engine));
    let params = MontgomeryParams::new(engine, &batch_of(engine, &[&odd])).unwrap();
    let base = Residues::new(&fives, &params).unwrap();
    let power = base.pow_bounded_exp(&fives, usize::MAX).unwrap();
    let expected = small.modpow(&small, &odd);
    let power = power.retrieve().unwrap().to_biguints().unwrap();
    assert_eq!(power, vec![expected; 4]);
    let one = Residues::new(&batch_of(engine, &[&small]), &params).unwrap();
    assert_refused!(FixedBase::new(&one, usize::MAX), Error::Width { .. });
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
