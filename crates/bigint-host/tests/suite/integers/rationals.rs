//! Rationals beside what num-bigint makes of numerators and denominators.

use crate::checks::lists::{self, Lengths, Random};
use bigint_host::{BigInt, Engine, Error, Integers, Rationals};
use num_integer::Integer;

const ZERO: BigInt = BigInt::ZERO;

/// Numbers of these lengths; with `no_zeros`, none is.
fn column(lengths: Lengths, count: usize, no_zeros: bool, random: &mut Random) -> Vec<BigInt> {
    let numbers = lists::numbers(lengths, count, random).into_iter();
    let replaced = |n: BigInt| {
        if no_zeros && n == ZERO {
            BigInt::from(-1)
        } else {
            n
        }
    };
    numbers.map(replaced).collect()
}

/// Checks numbers against fractions, which may be written otherwise.
fn check(found: &Rationals, expected: impl Fn(usize) -> (BigInt, BigInt)) {
    for i in 0..found.len() {
        let ((n, d), (p, q)) = (found.get(i).unwrap(), expected(i));
        assert!(d > ZERO && &n * &q == p * &d, "number {i}");
    }
}

#[test]
fn sums_products_quotients_and_orders_are_those_of_fractions() {
    let engine = Engine::cpu();
    let mut random = Random(0x1234_5678_9abc_def1);
    let of = |numbers: &[BigInt]| Integers::from_bigints(numbers).unwrap();
    for (lengths, count_of_a, count_of_b) in [
        (Lengths::Any(1 << 10), 200, 200),
        (Lengths::Any(100), 100, 1),
        (Lengths::Any(100), 1, 100),
        (Lengths::Giant(1 << 14), 300, 300),
        (Lengths::Any(64), 1, 1),
        (Lengths::Any(64), 0, 0),
    ] {
        let [an, ad] =
            [false, true].map(|no_zeros| column(lengths, count_of_a, no_zeros, &mut random));
        let [bn, bd] = [(); 2].map(|()| column(lengths, count_of_b, true, &mut random));
        let a = Rationals::new(of(&an), of(&ad)).unwrap();
        let b = Rationals::new(of(&bn), of(&bd)).unwrap();
        let count = if count_of_a == 1 {
            count_of_b
        } else {
            count_of_a
        };
        let of = |i: usize| {
            let j = if count_of_b == 1 { 0 } else { i };
            let i = if count_of_a == 1 { 0 } else { i };
            ((&an[i], &ad[i]), (&bn[j], &bd[j]))
        };
        let sum = engine.rational_add(&a, &b).unwrap();
        assert_eq!(sum.len(), count);
        check(&sum, |i| {
            let ((n, d), (p, q)) = of(i);
            (n * q + p * d, d * q)
        });
        let difference = engine.rational_sub(&a, &b).unwrap();
        check(&difference, |i| {
            let ((n, d), (p, q)) = of(i);
            (n * q - p * d, d * q)
        });
        let product = engine.rational_mul(&a, &b).unwrap();
        check(&product, |i| {
            let ((n, d), (p, q)) = of(i);
            (n * p, d * q)
        });
        let quotient = engine.rational_div(&a, &b).unwrap();
        assert_eq!(quotient.len(), count);
        check(&quotient, |i| {
            let ((n, d), (p, q)) = of(i);
            (n * q, d * p)
        });
        let orders = engine.rational_order(&a, &b).unwrap();
        assert_eq!(orders.len(), count);
        for (i, order) in orders.iter().enumerate() {
            let ((n, d), (p, q)) = of(i);
            // Denominators may be negative as they were given.
            let is_turned = (*d < ZERO) != (*q < ZERO);
            let told = if is_turned { order.reverse() } else { *order };
            assert_eq!(told, (n * q).cmp(&(p * d)), "number {i}");
        }
        let reduced = engine.rational_reduced(&sum).unwrap();
        check(&reduced, |i| sum.get(i).unwrap());
        for i in 0..count {
            let (n, d) = reduced.get(i).unwrap();
            assert_eq!(n.gcd(&d), BigInt::from(1), "number {i}");
        }
    }
}

#[test]
fn a_zero_denominator_is_named_and_whole_numbers_are_over_one() {
    let engine = Engine::cpu();
    let of = |numbers: &[i32]| -> Integers { numbers.iter().map(|&n| BigInt::from(n)).collect() };
    let error = Rationals::new(of(&[1, 2, 3]), of(&[1, -2, 0])).unwrap_err();
    assert!(matches!(error, Error::ZeroDivisor { index: 2 }), "{error}");
    let error = Rationals::new(of(&[1, 2, 3]), of(&[1, 2])).unwrap_err();
    assert!(matches!(error, Error::CountMismatch { a: 3, b: 2 }));
    let whole = Rationals::from(of(&[7, -3, 0]));
    let error = engine.rational_div(&whole, &whole).unwrap_err();
    assert!(matches!(error, Error::ZeroDivisor { index: 2 }), "{error}");
    let thirds = Rationals::new(of(&[7, -3, 0]), of(&[-3])).unwrap();
    assert_eq!(thirds.get(1), Some((3.into(), 3.into())));
    let reduced = engine.rational_reduced(&thirds).unwrap();
    assert_eq!(reduced.get(0), Some(((-7).into(), 3.into())));
    assert_eq!(reduced.get(2), Some((ZERO, 1.into())));
    let product = engine.rational_mul(&whole, &thirds).unwrap();
    assert_eq!(product.denominators().len(), 1);
}
