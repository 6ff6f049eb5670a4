//! Integers of any lengths, and lists of computations on them, beside num-bigint.

mod habits;
mod operations;
mod rationals;

use crate::checks::lists::{self, Lengths, Random, check_list};
use crate::checks::rows;
use bigint_host::expression::Expression;
use bigint_host::{BigInt, BigUint, Computation, Engine, Error, Integers, Operation};
use num_integer::Integer;
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

/// So many lists, or 300: `BIGINT_LISTS=100000` is what CONTRIBUTING.md asks for after a
/// change to the scheduler.
#[test]
fn many_small_lists_are_those_of_num_bigint() {
    let asked = std::env::var("BIGINT_LISTS").ok();
    let lists = asked.map_or(300, |lists| lists.parse().expect("a number of lists"));
    let engine = Engine::cpu();
    let mut random = Random(0x0123_4567_89ab_cdef);
    for i in 0..lists {
        let (lengths, size) = match i % 100 {
            0 => (Lengths::Giant(1 << 18), (2000, 2000)),
            1..10 => (Lengths::Any(1 << 18), (10, 12)),
            10..30 => (Lengths::Equal(random.below(2000)), (20, 60)),
            30..50 => (Lengths::Normal(random.below(4000)), (20, 60)),
            50..60 => (Lengths::Normal(64), (100, 300)),
            // Few numbers, each an operand of many.
            60..80 => (Lengths::Any(1 << 11), (3, 40)),
            _ => (Lengths::Any(1 << 9), (50, 100)),
        };
        check_list(&engine, &OPERATIONS, lengths, size, &mut random);
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
        let [mut by_limbs, mut by_bytes, mut by_text, mut by_hexadecimals] =
            [(); 4].map(|()| Integers::new());
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
            by_text.push_text(&text).unwrap();
            let mut text = Vec::new();
            integers.write_hexadecimal(i, &mut text);
            prop_assert_eq!(&text, &format!("{:#x}", expected[i]).into_bytes());
            by_hexadecimals.push_text(&text).unwrap();
        }
        prop_assert_eq!(&by_limbs, &integers);
        prop_assert_eq!(&by_bytes, &integers);
        prop_assert_eq!(&by_text, &integers);
        prop_assert_eq!(&by_hexadecimals, &integers);
        prop_assert_eq!(&Integers::from_texts(integers.decimals()).unwrap(), &integers);
        prop_assert_eq!(&Integers::from_texts(integers.hexadecimals()).unwrap(), &integers);
        let (limbs, offsets, signs) = integers.clone().into_parts();
        prop_assert_eq!(&Integers::from_parts(limbs, offsets, signs).unwrap(), &integers);
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

/// `formula` of rows of these columns, beside `meant` of each row's numbers.
fn check_rows(
    engine: &Engine,
    columns: &[Vec<BigInt>],
    formula: impl Fn(&[Integers]) -> Expression<Integers>,
    meant: impl Fn(&[BigInt]) -> BigInt,
) {
    let inputs: Vec<Integers> = columns
        .iter()
        .map(|c| Integers::from_bigints(c).unwrap())
        .collect();
    let expression = formula(&inputs);
    let found = engine.eval(&expression).unwrap();
    let count = columns.iter().map(Vec::len).find(|&n| n != 1).unwrap_or(1);
    let row = |i: usize| {
        columns
            .iter()
            .map(move |c| c[if c.len() == 1 { 0 } else { i }].clone())
    };
    let expected: Vec<BigInt> = (0..count)
        .map(|i| meant(&row(i).collect::<Vec<_>>()))
        .collect();
    assert!(found == Integers::from_bigints(&expected).unwrap());
    // And the sum of all rows.
    if count != 1 {
        let found = engine.eval(&expression.sum()).unwrap();
        assert_eq!(
            found.to_bigints().unwrap(),
            [expected.iter().sum::<BigInt>()]
        );
    }
}

#[test]
fn formulas_of_rows_of_any_lengths_are_those_of_num_bigint() {
    let engine = Engine::cpu();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut column = |count, lengths: Lengths| -> Vec<BigInt> {
        let integers = lists::numbers(lengths, count, &mut random);
        integers
            .into_iter()
            .map(|n| {
                if n == BigInt::ZERO {
                    BigInt::from(3)
                } else {
                    n
                }
            })
            .collect()
    };
    let two = |operation| {
        move |x: &[Integers]| Expression::apply(operation, [(&x[0]).into(), (&x[1]).into()])
    };
    for (count, lengths) in [
        (300, Lengths::Any(1 << 12)),
        (3000, Lengths::Giant(1 << 16)),
        (50, Lengths::Equal(640)),
        (1, Lengths::Equal(300)),
        (0, Lengths::Equal(0)),
    ] {
        let (a, b, c) = (
            column(count, lengths),
            column(count, lengths),
            column(1, Lengths::Equal(100)),
        );
        for columns in [[a.clone(), b.clone(), c.clone()], [c, b, a]] {
            check_rows(
                &engine,
                &columns,
                |x| &x[0] * &x[1] + &x[2] - &x[0],
                |x| &x[0] * &x[1] + &x[2] - &x[0],
            );
            check_rows(
                &engine,
                &columns,
                |x| -(&x[0] * &x[0]) * 7 + (&x[1] << 45).max(&x[2] >> 7) - &x[0],
                |x| -(&x[0] * &x[0]) * 7 + (&x[1] << 45u32).max(&x[2] >> 7u32) - &x[0],
            );
            let [x, y, _] = columns;
            let pair = [x, y];
            check_rows(&engine, &pair, two(Operation::Max), |x| {
                x[0].clone().max(x[1].clone())
            });
            check_rows(&engine, &pair, two(Operation::Div), |x| {
                x[0].div_floor(&x[1])
            });
            check_rows(&engine, &pair, two(Operation::Rem), |x| {
                x[0].mod_floor(&x[1])
            });
        }
    }
}

#[test]
fn rows_that_do_not_go_together_or_have_no_value_are_named() {
    let engine = Engine::cpu();
    let of = |numbers: &[i32]| -> Integers { numbers.iter().map(|&n| BigInt::from(n)).collect() };
    let quotient = |a: &Integers, b: &Integers| {
        let pair = [a.into(), b.into()];
        engine.eval(&Expression::apply(Operation::Div, pair))
    };
    let error = quotient(&of(&[1, 2, 3]), &of(&[1, 2]));
    assert!(matches!(error, Err(Error::CountMismatch { .. })));
    let error = quotient(&of(&[1, 2, 3]), &of(&[1, 2, 0]));
    assert!(matches!(error, Err(Error::ZeroDivisor { index: 2 })));
    let sum = Expression::from(&of(&[1, 2])).sum();
    let error = engine.eval(&(sum + &of(&[1, 2])));
    assert!(matches!(error, Err(Error::Misplaced(_))));
    for operation in Operation::ALL {
        let number = || Expression::from(&of(&[1]));
        // A modulus stands last, and above what is to be below it.
        let modulus = Expression::from(&of(&[3]));
        let found = match operation.declaration().operands.len() {
            1 => engine.eval(&Expression::apply(operation, [number()])),
            2 => engine.eval(&Expression::apply(operation, [number(), number()])),
            _ => engine.eval(&Expression::apply(operation, [number(), number(), modulus])),
        };
        let of_a_width = matches!(found, Err(Error::NeedsWidth { .. }));
        assert_eq!(of_a_width, rows::OF_A_WIDTH.contains(&operation));
        assert!(of_a_width || found.is_ok(), "{operation:?}");
    }
}

#[test]
fn parts_that_are_no_column_are_refused() {
    let parts = |limbs: &[u32], offsets: &[i64], signs: &[u8]| {
        Integers::from_parts(limbs.to_vec(), offsets.to_vec(), signs.to_vec())
    };
    assert!(parts(&[], &[0], &[]).unwrap().is_empty());
    assert!(parts(&[1], &[0, 0, 4], &[0b10]).is_ok());
    for (limbs, offsets, signs, wrong) in [
        (&[1, 0][..], &[0, 4, 8][..], &[0][..], 1),
        (&[1], &[0, 0, 4], &[0b01], 0),
        (&[1, 1], &[0, 8, 4], &[0], 1),
        (&[1, 1], &[4, 8], &[0], 0),
        (&[1], &[4], &[], 0),
        (&[1], &[0, 3], &[0], 0),
        (&[1], &[0, 8], &[0], 0),
        (&[1], &[0, -4], &[0], 0),
        (&[1], &[0, 4], &[0b10], 1),
    ] {
        let error = parts(limbs, offsets, signs).unwrap_err();
        let names = matches!(error, Error::NotWrittenSo { index } if index == wrong);
        assert!(names, "{offsets:?}: {error}");
    }
    for (limbs, offsets, signs) in [
        (&[1, 1][..], &[0, 4][..], &[0][..]),
        (&[1], &[], &[0]),
        (&[1], &[0, 4], &[]),
    ] {
        let error = parts(limbs, offsets, signs).unwrap_err();
        assert!(matches!(error, Error::Length { .. }), "{error}");
    }
    let error = Integers::from_texts(["12", "0x"]).unwrap_err();
    assert!(matches!(
        error,
        Error::NotADigit {
            index: 1,
            position: 2
        }
    ));
    let error = Integers::from_texts(["", "1"]).unwrap_err();
    assert!(matches!(
        error,
        Error::NotADigit {
            index: 0,
            position: 0
        }
    ));
}
