//! Expressions of all operators beside num-bigint, for any engine.

use bigint_host::expression::Expression;
use bigint_host::{Batch, BigInt, BigUint, Engine, Layout, Operation, SignedBatch};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A tree over four inputs.
#[derive(Clone, Debug)]
enum Tree {
    Input(usize),
    Number(i64),
    Pair(Operation, Box<Tree>, Box<Tree>),
    Negate(Box<Tree>),
    Shift(Operation, Box<Tree>, u8),
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        6 => (0..4usize).prop_map(Tree::Input),
        1 => prop_oneof![-3..4i64, any::<i64>()].prop_map(Tree::Number),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        use Operation::{Add, Max, Min, Mul, Shl, Shr, Sub};
        let pairs = prop_oneof![
            4 => Just(Add), 4 => Just(Sub), 3 => Just(Mul), 1 => Just(Min), 1 => Just(Max),
        ];
        let pair = (pairs, inner.clone(), inner.clone());
        let shift = (prop_oneof![Just(Shl), Just(Shr)], inner.clone(), 0..100u8);
        prop_oneof![
            8 => pair.prop_map(|(operation, a, b)| Tree::Pair(operation, a.into(), b.into())),
            1 => inner.prop_map(|a| Tree::Negate(a.into())),
            1 => shift.prop_map(|(operation, a, by)| Tree::Shift(operation, a.into(), by)),
        ]
    })
}

impl Tree {
    fn expression(&self, inputs: &[Expression<SignedBatch>]) -> Expression<SignedBatch> {
        match self {
            Tree::Input(index) => inputs[*index].clone(),
            Tree::Number(number) => Expression::from(*number),
            Tree::Pair(operation, a, b) => {
                Expression::apply(*operation, [a.expression(inputs), b.expression(inputs)])
            }
            Tree::Negate(a) => -a.expression(inputs),
            Tree::Shift(operation, a, by) => {
                let by = Expression::from(i64::from(*by));
                Expression::apply(*operation, [a.expression(inputs), by])
            }
        }
    }

    fn value(&self, inputs: &[BigInt]) -> BigInt {
        match self {
            Tree::Input(index) => inputs[*index].clone(),
            Tree::Number(number) => BigInt::from(*number),
            Tree::Pair(operation, a, b) => {
                let (a, b) = (a.value(inputs), b.value(inputs));
                match operation {
                    Operation::Add => a + b,
                    Operation::Sub => a - b,
                    Operation::Mul => a * b,
                    Operation::Min => a.min(b),
                    _ => a.max(b),
                }
            }
            Tree::Negate(a) => -a.value(inputs),
            Tree::Shift(Operation::Shl, a, by) => a.value(inputs) << *by,
            // num-bigint rounds down as well.
            Tree::Shift(_, a, by) => a.value(inputs) >> *by,
        }
    }
}

/// Inputs of a run: widths in limbs, whether they have signs, and whether one number
/// stands for all.
fn inputs() -> impl Strategy<Value = (usize, Vec<Vec<BigInt>>)> {
    (0..5usize).prop_flat_map(|count| {
        let input =
            (1..6usize, any::<bool>(), 0..4u8).prop_flat_map(move |(width, signed, one)| {
                let count = if one == 0 { 1 } else { count };
                let limb = prop_oneof![Just(0), Just(u32::MAX), any::<u32>()];
                let limbs = proptest::collection::vec(limb, width);
                let number = (limbs, any::<bool>()).prop_map(move |(limbs, negative)| {
                    let number = BigInt::from(BigUint::new(limbs));
                    if signed && negative { -number } else { number }
                });
                proptest::collection::vec(number, count)
            });
        (Just(count), proptest::collection::vec(input, 4))
    })
}

/// Compares random trees, exact and modulo some width.
pub fn check_trees(engine: &Engine, cases: u32) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let strategy = (trees(), inputs(), 1..9usize);
    let outcome = runner.run(&strategy, |(tree, (count, numbers), limbs)| {
        let batches: Vec<SignedBatch> = numbers
            .iter()
            .map(|numbers| engine.signed_from_bigints(numbers).unwrap())
            .collect();
        let leaves: Vec<Expression<SignedBatch>> = batches.iter().map(Into::into).collect();
        let expression = tree.expression(&leaves);
        let found = engine.eval(&expression).unwrap().to_bigints().unwrap();
        let wrapped = engine.eval_wrapping(&expression, limbs).unwrap();
        prop_assert_eq!(wrapped.width(), limbs);
        let wrapped = wrapped.to_biguints().unwrap();
        let modulus = BigInt::from(1) << (32 * limbs);
        let rows = found.len();
        prop_assert!(rows == count || rows == 1);
        for (i, (found, wrapped)) in found.iter().zip(&wrapped).enumerate() {
            let row =
                |numbers: &Vec<BigInt>| numbers[if numbers.len() == 1 { 0 } else { i }].clone();
            let row: Vec<BigInt> = match numbers.iter().any(Vec::is_empty) && rows == 1 {
                // What is not asked for may be empty.
                true => numbers
                    .iter()
                    .map(|n| n.first().cloned().unwrap_or_default())
                    .collect(),
                false => numbers.iter().map(row).collect(),
            };
            let expected = tree.value(&row);
            prop_assert_eq!(found, &expected);
            let cut = ((&expected % &modulus) + &modulus) % &modulus;
            prop_assert_eq!(&BigInt::from(wrapped.clone()), &cut);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Numbers with runs of ones, some of them zero.
fn numbers(count: usize, width: usize, seed: usize) -> Vec<BigUint> {
    let number = |i: usize| match (i + seed) % 4 {
        0 => (BigUint::from(1u32) << (32 * width)) - 1u32,
        1 => BigUint::ZERO,
        2 => BigUint::from(1u32) << ((17 * i + seed) % (32 * width)),
        _ => {
            (BigUint::from(0x9e37_79b9_7f4a_7c15_u64).pow(width as u32 / 2 + 1) * (i + seed + 1))
                % (BigUint::from(1u32) << (32 * width))
        }
    };
    (0..count).map(number).collect()
}

/// Chains that are one launch, and such that are several, in either layout.
pub fn check_shapes(engine: &Engine) {
    for width in [1, 4, 7, 33] {
        for layout in [Layout::Contiguous, Layout::Interleaved] {
            let columns: Vec<Vec<BigUint>> = (0..20).map(|i| numbers(9, width, i)).collect();
            let batches: Vec<Batch> = columns
                .iter()
                .map(|numbers| {
                    engine
                        .batch_from_biguints_in(numbers, width, layout)
                        .unwrap()
                })
                .collect();
            let big = |i: usize, row: usize| BigInt::from(columns[i][row].clone());
            // More terms than a launch has inputs; each third is subtracted.
            let mut sum = &batches[0] + &batches[1];
            for (i, batch) in batches.iter().enumerate().skip(2) {
                sum = if i % 3 == 0 { sum - batch } else { sum + batch };
            }
            let signed = engine
                .eval(&Expression::<SignedBatch>::from(sum.clone()))
                .unwrap();
            let wrapped = engine
                .eval_wrapping(&sum, width)
                .unwrap()
                .to_biguints()
                .unwrap();
            let modulus = BigInt::from(1) << (32 * width);
            for (row, found) in signed.to_bigints().unwrap().into_iter().enumerate() {
                let term = |i: usize| {
                    if i > 1 && i.is_multiple_of(3) {
                        -big(i, row)
                    } else {
                        big(i, row)
                    }
                };
                let expected: BigInt = (0..20).map(term).sum();
                assert_eq!(found, expected, "{width} {layout:?}");
                let cut = ((expected % &modulus) + &modulus) % &modulus;
                assert_eq!(BigInt::from(wrapped[row].clone()), cut);
            }
            // Six products, and Horner's rule with the same operand in every step.
            let mut product = &batches[2] * &batches[3];
            for batch in &batches[4..8] {
                product *= batch;
            }
            let x = &batches[3];
            let horner = ((x * &batches[2] + &batches[0]) * x + &batches[1]) * x - &batches[2];
            let exact = engine.eval(&product).unwrap().to_biguints().unwrap();
            let wrapped = engine
                .eval_wrapping(&product, width)
                .unwrap()
                .to_biguints()
                .unwrap();
            let horner = engine
                .eval(&Expression::<SignedBatch>::from(horner))
                .unwrap();
            let horner = horner.to_bigints().unwrap();
            for row in 0..9 {
                let expected: BigInt = (2..8).map(|i| big(i, row)).product();
                assert_eq!(BigInt::from(exact[row].clone()), expected);
                assert_eq!(BigInt::from(wrapped[row].clone()), expected % &modulus);
                let x = big(3, row);
                let expected = ((&x * big(2, row) + big(0, row)) * &x + big(1, row)) * &x;
                assert_eq!(horner[row], expected - big(2, row));
            }
        }
    }
}
