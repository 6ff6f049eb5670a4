//! Operands that operations modulo numbers are not of: the same error on the CPU and on the simulated
//! GPU, which names the number.

use bigint_host::{
    Algorithm, Batch, BigUint, Engine, Error, FixedBase, Form, Integers, Layout, MontgomeryParams,
    Operation, Options, Residues, Shape,
};
use bigint_testing::simulator::on_simulator;

/// Numbers of three limbs.
fn batch(engine: &Engine, numbers: &[&BigUint]) -> Batch {
    let wide = BigUint::from(1u8) << 95;
    let mut numbers: Vec<BigUint> = numbers.iter().copied().cloned().collect();
    numbers.push(wide);
    let batch = engine.batch_from_biguints(&numbers).unwrap();
    let kept: Vec<usize> = (0..numbers.len() - 1).collect();
    engine.gather(&batch, &kept).unwrap()
}

/// The result of an operation, or its error.
fn outcome(engine: &Engine, operation: Operation, operands: [&Batch; 3]) -> Result<Batch, Error> {
    let outcome = engine.compute(operation, Form::Exact, &operands);
    outcome.map(|mut outcome| outcome.results.swap_remove(0))
}

#[track_caller]
fn assert_refused<T>(outcome: Result<T, Error>, expected: Error) {
    let refused = outcome.err().expect("an error");
    assert_eq!(refused.to_string(), expected.to_string());
}

/// The numbers that the checks are about.
struct Numbers {
    odd: BigUint,
    zero: BigUint,
    /// Four fives.
    fives: Batch,
}

fn check_preconditions(engine: &Engine) {
    let numbers = Numbers {
        odd: (BigUint::from(1u8) << 90) - 33u8,
        zero: BigUint::ZERO,
        fives: batch(engine, &[&BigUint::from(5u8); 4]),
    };
    for algorithm in [Algorithm::Auto, Algorithm::WindowVartime] {
        let engine = &engine.using(Options::from(algorithm));
        for operation in [Operation::MontMul, Operation::PowPair, Operation::PowFixed] {
            check_that_moduli_are_odd(engine, operation, &numbers);
        }
    }
    for operation in [Operation::ModAdd, Operation::ModSub, Operation::MontMul] {
        check_that_operands_are_reduced(engine, operation, &numbers);
    }
    check_that_rows_of_integers_are_named(engine, &numbers);
    check_that_no_exponent_has_such_bounds(engine, &numbers);
}

fn check_that_moduli_are_odd(engine: &Engine, operation: Operation, numbers: &Numbers) {
    let Numbers { odd, zero, fives } = numbers;
    let (even, low_zeros) = (odd - 1u8, BigUint::from(1u8) << 64);
    // A window of a table of one limb's powers: the numbers do not matter.
    let entries: Vec<u32> = (0..64 * 3).collect();
    let shape = Shape::new(1, entries.len(), Layout::Contiguous);
    let table = engine.batch_from_limbs(entries, shape).unwrap();
    let a = match operation {
        Operation::PowFixed => &table,
        _ => fives,
    };
    let modulo = |moduli: &[&BigUint]| {
        let moduli = batch(engine, moduli);
        outcome(engine, operation, [a, fives, &moduli])
    };
    let is_even = |index| Error::EvenModulus { index };
    let is_zero = |index| Error::ZeroDivisor { index };
    assert_refused(modulo(&[odd, odd, &even, zero]), is_even(2));
    assert_refused(modulo(&[odd, &low_zeros, &even, zero]), is_even(1));
    assert_refused(modulo(&[odd, odd, odd, zero]), is_zero(3));
    assert_refused(modulo(&[zero]), is_zero(0));
    assert!(modulo(&[odd, odd, odd, odd]).is_ok());
    assert!(modulo(&[odd]).is_ok());
}

fn check_that_operands_are_reduced(engine: &Engine, operation: Operation, numbers: &Numbers) {
    let Numbers { odd, zero, fives } = numbers;
    let (greatest, above) = (odd - 1u8, odd + 1u8);
    let b = |numbers: &[&BigUint]| batch(engine, numbers);
    let modulo = |a: &Batch, b: &Batch, m: &Batch| outcome(engine, operation, [a, b, m]);
    let not_reduced = |operand, index| Error::NotReduced {
        operation,
        operand,
        index,
    };
    let moduli = b(&[odd; 4]);
    for wrong in [odd, &above] {
        let a = b(&[zero, &greatest, wrong, wrong]);
        assert_refused(modulo(&a, fives, &moduli), not_reduced("a", 2));
        let a = b(&[&greatest, wrong, zero, zero]);
        assert_refused(modulo(fives, &a, &moduli), not_reduced("b", 1));
    }
    // One for all, and wider than the modulus.
    let wide = BigUint::from(1u8) << 200;
    let wide = engine.batch_from_biguints(&[wide]).unwrap();
    assert_refused(modulo(fives, &wide, &b(&[odd])), not_reduced("b", 0));
    let refused = modulo(fives, fives, &b(&[odd, zero, odd, odd]));
    assert_refused(refused, Error::ZeroDivisor { index: 1 });
    // What is known of operands stays true of other moduli.
    let (x, first) = (b(&[&greatest]), b(&[odd]));
    modulo(&x, &x, &first).unwrap();
    let less = b(&[&(&greatest - 1u8)]);
    assert_refused(modulo(&x, &x, &less), not_reduced("a", 0));
    let r = modulo(&x, &x, &first).unwrap();
    assert_eq!(modulo(&r, &x, &first).unwrap().len(), 1);
}

fn check_that_rows_of_integers_are_named(engine: &Engine, numbers: &Numbers) {
    let integers = |numbers: [&BigUint; 3]| {
        let numbers = numbers.map(BigUint::clone);
        Integers::from_biguints(&numbers).unwrap()
    };
    let (small, wide) = (BigUint::from(5u8), BigUint::from(1u8) << 900);
    let a = integers([&small, &wide, &small]);
    let m = integers([&numbers.odd, &(&wide + 1u8), &small]);
    let refused = engine.mod_add(&a, &a, &m).unwrap_err();
    assert!(
        matches!(refused, Error::NotReduced { index: 2, .. }),
        "{refused}"
    );
}

fn check_that_no_exponent_has_such_bounds(engine: &Engine, numbers: &Numbers) {
    let Numbers { odd, fives, .. } = numbers;
    let small = BigUint::from(5u8);
    let params = MontgomeryParams::new(engine, &batch(engine, &[odd])).unwrap();
    let base = Residues::new(fives, &params).unwrap();
    let power = base.pow_bounded_exp(fives, usize::MAX).unwrap();
    let powers = power.retrieve().unwrap().to_biguints().unwrap();
    assert_eq!(powers, vec![small.modpow(&small, odd); 4]);
    let one = Residues::new(&batch(engine, &[&small]), &params).unwrap();
    let refused = FixedBase::new(&one, usize::MAX).unwrap_err();
    assert!(matches!(refused, Error::Width { .. }), "{refused}");
}

#[test]
fn operands_that_operations_are_not_of_are_refused_on_the_cpu() {
    check_preconditions(&Engine::cpu());
}

#[test]
fn operands_that_operations_are_not_of_are_refused_on_a_gpu() {
    let name =
        "simulated_gpu::preconditions::operands_that_operations_are_not_of_are_refused_on_a_gpu";
    if on_simulator(name, &[]) {
        check_preconditions(&Engine::cuda(0).unwrap());
    }
}
