//! Expressions beside num-bigint: trees of every operation, on the CPU.

use crate::checks::trees::{check_shapes, check_trees};
use bigint_host::expression::Expression;
use bigint_host::{Batch, BigInt, BigUint, Engine, Error, Layout, SignedBatch};

#[test]
fn random_trees_are_those_of_num_bigint() {
    check_trees(&Engine::cpu(), 150);
}

#[test]
fn chains_of_every_shape_are_those_of_num_bigint() {
    check_shapes(&Engine::cpu());
}

#[test]
fn a_negative_result_of_a_batch_is_told_and_one_within_is_none() {
    let engine = Engine::cpu();
    let a = engine
        .batch_from_biguints(&[5u32, 3].map(Into::into))
        .unwrap();
    let b = engine
        .batch_from_biguints(&[4u32, 4].map(Into::into))
        .unwrap();
    let refused = engine.eval(&(&a - &b - 0u64)).unwrap_err();
    assert!(
        matches!(refused, Error::Underflow { index: 1 }),
        "{refused}"
    );
    let within = engine.eval(&(&a - &b + &b)).unwrap();
    assert_eq!(within, a);
    let signed = Expression::<SignedBatch>::from(&a - &b);
    let signed = engine.eval(&signed).unwrap().to_bigints().unwrap();
    assert_eq!(signed, [1, -1].map(BigInt::from));
}

#[test]
fn totals_shifts_and_the_lesser_are_values_like_others() {
    let engine = Engine::cpu();
    let a = engine
        .batch_from_biguints(&[5u32, 3, 9].map(Into::into))
        .unwrap();
    let total = engine
        .eval(&((&a * &a).sum() + (&a << 1u64).product()))
        .unwrap();
    assert_eq!(total, [BigUint::from(25 + 9 + 81 + 10 * 6 * 18_u32)]);
    let least = engine.eval(&((&a >> 1u64).max(2u64) * &a)).unwrap();
    assert_eq!(least, [10u32, 6, 36].map(BigUint::from));
    let misplaced = engine
        .eval(&(Expression::<Batch>::from(&a).sum() + &a))
        .unwrap_err();
    assert!(matches!(misplaced, Error::Misplaced(_)), "{misplaced}");
}

#[test]
fn an_expression_may_be_long_and_is_dropped_without_recursion() {
    let engine = Engine::cpu();
    let a = engine.batch_from_biguints(&[1u32.into()]).unwrap();
    let mut sum = Expression::<Batch>::from(&a);
    for _ in 0..200_000 {
        sum += &a;
    }
    assert_eq!(engine.eval(&sum).unwrap(), [BigUint::from(200_001u32)]);
}

#[test]
fn batches_of_unequal_length_do_not_go_together() {
    let engine = Engine::cpu();
    let batch = |count: u32| -> Batch {
        let numbers: Vec<BigUint> = (0..count).map(Into::into).collect();
        engine
            .batch_from_biguints_in(&numbers, 2, Layout::Contiguous)
            .unwrap()
    };
    let (two, three, none) = (batch(2), batch(3), batch(0));
    let refused = engine.eval(&(&two + &three + &two)).unwrap_err();
    assert!(matches!(refused, Error::CountMismatch { .. }), "{refused}");
    let empty = engine.eval(&(&none * &none + &none - 1u64)).unwrap();
    assert!(empty.is_empty());
}
