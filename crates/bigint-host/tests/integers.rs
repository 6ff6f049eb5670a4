//! Integers of any lengths, and lists of computations on them, beside num-bigint.

#[path = "simulated_gpu/lists.rs"]
mod lists;

use bigint_host::{BigInt, BigUint, Computation, Engine, Error, Integers, Operation};
use lists::{Lengths, Random, check_list};
use proptest::prelude::*;

/// Every operation that lists have; Jacobi's symbol is a number of its own.
const OPERATIONS: [Operation; 12] = [
    Operation::Add,
    Operation::Sub,
    Operation::Mul,
    Operation::Div,
    Operation::Rem,
    Operation::Gcd,
    Operation::Lcm,
    Operation::Min,
    Operation::Max,
    Operation::Compare,
    Operation::InvMod,
    Operation::Shr,
];

#[test]
fn lists_have_these_operations_and_no_others() {
    let taken = |operation: &Operation| Computation::takes(*operation);
    let mut expected = OPERATIONS.to_vec();
    expected.push(Operation::Jacobi);
    let found: Vec<Operation> = Operation::ALL.into_iter().filter(taken).collect();
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().all(|operation| expected.contains(operation)));
}

#[test]
fn lists_of_every_kind_of_lengths_are_those_of_num_bigint() {
    let engine = Engine::cpu();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (lengths, size, lists) in [
        (Lengths::Equal(1024), (100, 2000), 5),
        (Lengths::Equal(0), (3, 20), 1),
        (Lengths::Normal(2000), (200, 2000), 5),
        (Lengths::Normal(1 << 15), (20, 100), 3),
        (Lengths::Any(1 << 12), (200, 1000), 20),
        (Lengths::Any(1 << 18), (40, 100), 10),
        (Lengths::Giant(1 << 18), (5000, 10_000), 2),
        (Lengths::Any(300), (1, 30), 20),
    ] {
        for _ in 0..lists {
            check_list(&engine, &OPERATIONS, lengths, size, &mut random);
        }
    }
}

#[test]
fn jacobi_symbols_of_a_list_are_numbers_with_signs() {
    let engine = Engine::cpu();
    let numbers = Integers::from_bigints(&[2, -1, 15, 7].map(BigInt::from)).unwrap();
    let symbol = |a, b| Computation {
        operation: Operation::Jacobi,
        a,
        b,
    };
    let list = [symbol(0, 2), symbol(1, 3), symbol(0, 3), symbol(2, 2)];
    let found = engine.run(&numbers, &list).unwrap();
    assert_eq!(found.to_bigints().unwrap(), [1, -1, 1, 0].map(BigInt::from));
}

#[test]
fn what_cannot_be_computed_is_named_by_its_place_in_the_list() {
    let engine = Engine::cpu();
    let numbers = Integers::from_bigints(&[7, 0, -3].map(BigInt::from)).unwrap();
    let list = |operation, a, b| {
        let good = Computation {
            operation: Operation::Div,
            a: 0,
            b: 2,
        };
        engine.run(&numbers, &[good, good, Computation { operation, a, b }])
    };
    let error = list(Operation::Rem, 0, 1).unwrap_err();
    assert!(matches!(error, Error::ZeroDivisor { index: 2 }), "{error}");
    let error = list(Operation::Div, 0, 1).unwrap_err();
    assert!(matches!(error, Error::ZeroDivisor { index: 2 }), "{error}");
    let error = list(Operation::Shr, 0, 2).unwrap_err();
    assert!(matches!(error, Error::Negative { index: 2, .. }), "{error}");
    let error = list(Operation::Add, 0, 3).unwrap_err();
    assert!(
        matches!(error, Error::NoSuchNumber { index: 3, count: 3 }),
        "{error}"
    );
    for operation in [Operation::Shl, Operation::And, Operation::Square] {
        let error = list(operation, 0, 0).unwrap_err();
        assert!(matches!(error, Error::NotInLists { .. }), "{error}");
    }
    let none = engine.run(&Integers::new(), &[]).unwrap();
    assert_eq!(none, Integers::new());
}

proptest! {
    #[test]
    fn integers_are_what_went_in_however_it_did(
        numbers in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u32>(), 0..6), 0usize..3), 0..40)
    ) {
        let big = |(negative, limbs, _): &(bool, Vec<u32>, usize)| {
            let magnitude = BigInt::from(BigUint::new(limbs.clone()));
            if *negative { -magnitude } else { magnitude }
        };
        let expected: Vec<BigInt> = numbers.iter().map(big).collect();
        let integers = Integers::from_bigints(&expected).unwrap();
        prop_assert_eq!(integers.to_bigints().unwrap(), expected.clone());
        prop_assert_eq!(&integers, &expected.iter().cloned().collect());
        let (mut by_limbs, mut by_bytes, mut by_text) = (Integers::new(), Integers::new(), Integers::new());
        for (i, (negative, limbs, zeros)) in numbers.iter().enumerate() {
            let mut limbs = limbs.clone();
            limbs.resize(limbs.len() + zeros, 0);
            by_limbs.push(*negative, &limbs).unwrap();
            let mut bytes = integers.to_bytes_le(i);
            bytes.resize(bytes.len() + zeros, 0);
            by_bytes.push_bytes_le(*negative, &bytes).unwrap();
            let mut text = Vec::new();
            integers.write_decimal(i, &mut text).unwrap();
            prop_assert_eq!(&text, &expected[i].to_string().into_bytes());
            by_text.push_decimal(&text).unwrap();
        }
        prop_assert_eq!(&by_limbs, &integers);
        prop_assert_eq!(&by_bytes, &integers);
        prop_assert_eq!(&by_text, &integers);
        // As Arrow lays columns and bitmaps out.
        let ends: Vec<i64> = integers.offsets()[1..].to_vec();
        prop_assert_eq!(integers.offsets()[0], 0);
        prop_assert_eq!(*integers.offsets().last().unwrap(), 4 * integers.limbs().len() as i64);
        prop_assert!(ends.iter().all(|end| end % 4 == 0));
        prop_assert_eq!(integers.signs().len(), numbers.len().div_ceil(8));
        let naturals: Vec<BigUint> = expected.iter().map(|n| n.magnitude().clone()).collect();
        let natural = Integers::from_biguints(&naturals).unwrap();
        prop_assert_eq!(&natural, &naturals.into_iter().collect());
        prop_assert_eq!(natural.limbs(), integers.limbs());
        prop_assert!(natural.signs().iter().all(|byte| *byte == 0));
    }
}
