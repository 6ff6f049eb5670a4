//! Every operation on integers of any lengths beside num-bigint.

use crate::checks::lists::{Lengths, Random, numbers};
use crate::checks::rows::{OF_A_WIDTH, check_operations};
use bigint_host::{BigInt, Computation, Engine, Error, Expression, Integers, Operation};
use num_integer::Integer;

fn integers(numbers: &[BigInt]) -> Integers {
    Integers::from_bigints(numbers).unwrap()
}

#[test]
fn every_operation_of_any_lengths_is_that_of_num_bigint() {
    check_operations(&Engine::cpu(), 200, 0x6a09_e667_f3bc_c908);
    check_operations(&Engine::cpu(), 1, 0xbb67_ae85_84ca_a73b);
    check_operations(&Engine::cpu(), 0, 0x3c6e_f372_fe94_f82b);
}

#[test]
fn what_depends_on_a_width_is_refused() {
    let engine = Engine::cpu();
    let one = integers(&[BigInt::from(1)]);
    for operation in OF_A_WIDTH {
        let operands = vec![&one; operation.declaration().operands.len()];
        let refused = engine.apply(operation, &operands);
        assert!(matches!(refused, Err(Error::NeedsWidth { .. })));
    }
    let refused = engine.apply(Operation::Add, &[&one]);
    assert!(matches!(refused, Err(Error::Operands { found: 1, .. })));
}

/// Numbers of either sign, and divisors among which are zeros.
fn signed(count: usize) -> [Vec<BigInt>; 2] {
    let mut random = Random(0x510e_527f_ade6_82d1);
    let mut column = |bits| numbers(Lengths::Any(bits), count, &mut random);
    let (a, mut b) = (column(2000), column(1000));
    b[5] = BigInt::ZERO;
    [a, b]
}

/// Rows of several lengths are not computed in their order.
#[test]
fn the_first_row_without_a_value_is_named_whatever_the_lengths() {
    let engine = Engine::cpu();
    let mut b = vec![BigInt::from(3); 200];
    b[150..].fill(BigInt::ZERO);
    let wide = |row: usize| BigInt::from(9) << (100_000 / (201 - row));
    let a: Vec<BigInt> = (0..200).map(wide).collect();
    let list = |operation| {
        let computation = |row| Computation {
            operation,
            a: row,
            b: 200 + row,
        };
        (0..200).map(computation).collect::<Vec<_>>()
    };
    let both = integers(&[&a[..], &b].concat());
    let (a, b) = (integers(&a), integers(&b));
    let (x, y) = (Expression::from(&a), Expression::from(&b));
    let (div, invert) = (Operation::Div, Operation::InvMod);
    let quotients = Expression::apply(div, [x.clone(), y.clone()]);
    let inverses = Expression::apply(invert, [x, y.clone()]);
    let refused = [
        ("floor", engine.div_rem_floor(&a, &b).err()),
        ("truncated", engine.div_rem_truncated(&a, &b).err()),
        ("euclid", engine.div_rem_euclid(&a, &b).err()),
        ("exact", engine.div_exact(&a, &b).err()),
        ("remainder", engine.rem(&a, &b).err()),
        ("list", engine.run(&both, &list(div)).err()),
        ("expression", engine.eval(&(quotients + &b)).err()),
    ];
    for (way, refused) in refused {
        assert!(
            matches!(refused, Some(Error::ZeroDivisor { index: 150 })),
            "{way}: {refused:?}"
        );
    }
    // No multiple of 3 has an inverse modulo 3.
    let refused = [
        ("operation", engine.inv_mod(&a, &b).err()),
        ("expression", engine.eval(&inverses).err()),
    ];
    for (way, refused) in refused {
        assert!(
            matches!(refused, Some(Error::NotInvertible { index: 0 })),
            "{way}: {refused:?}"
        );
    }
}

#[test]
fn quotients_of_any_lengths_and_signs_go_the_ways_that_are_asked_for() {
    let engine = Engine::cpu();
    let [a, b] = signed(120);
    let zero = BigInt::ZERO;
    let refused = engine.div_rem_floor(&integers(&a), &integers(&b));
    let first = b.iter().position(|b| *b == zero).unwrap();
    assert!(matches!(refused, Err(Error::ZeroDivisor { index }) if index == first));
    let (found, flags) = engine.masked_div(&integers(&a), &integers(&b)).unwrap();
    let quotients = found.to_bigints().unwrap();
    for (i, (a, b)) in a.iter().zip(&b).enumerate() {
        assert_eq!(flags[i], *b == zero);
        let expected = if flags[i] {
            zero.clone()
        } else {
            a.div_floor(b)
        };
        assert_eq!(quotients[i], expected, "{a} / {b}");
    }
    let b: Vec<BigInt> = b
        .into_iter()
        .map(|b| if b == zero { 7.into() } else { b })
        .collect();
    let (x, y) = (integers(&a), integers(&b));
    let pairs = || a.iter().zip(&b);
    let is = |(q, r): (Integers, Integers), expected: Vec<(BigInt, BigInt)>| {
        let (quotients, remainders): (Vec<_>, Vec<_>) = expected.into_iter().unzip();
        assert_eq!(q, integers(&quotients));
        assert_eq!(r, integers(&remainders));
    };
    let floor = pairs().map(|(a, b)| a.div_mod_floor(b)).collect();
    is(engine.div_rem_floor(&x, &y).unwrap(), floor);
    let truncated = pairs().map(|(a, b)| (a / b, a % b)).collect();
    is(engine.div_rem_truncated(&x, &y).unwrap(), truncated);
    let euclid = |(a, b): (&BigInt, &BigInt)| {
        let (q, r) = a.div_rem(b);
        match r < zero {
            true if *b > zero => (q - 1, r + b),
            true => (q + 1, r - b),
            false => (q, r),
        }
    };
    is(
        engine.div_rem_euclid(&x, &y).unwrap(),
        pairs().map(euclid).collect(),
    );
    let products = engine.mul(&x, &y).unwrap();
    assert_eq!(engine.div_exact(&products, &y).unwrap(), x);
    let refused = engine.div_exact(&engine.add(&products, &integers(&[1.into()])).unwrap(), &y);
    assert!(matches!(refused, Err(Error::NotDivisible { .. })));
}

#[test]
fn sums_orders_and_signs_of_any_lengths_are_those_of_num_bigint() {
    let engine = Engine::cpu();
    let [a, b] = signed(150);
    let (x, y) = (integers(&a), integers(&b));
    let of = |f: &dyn Fn(&BigInt) -> BigInt| integers(&a.iter().map(f).collect::<Vec<_>>());
    assert_eq!(engine.neg(&x).unwrap(), of(&|a| -a));
    assert_eq!(
        engine.abs(&x).unwrap(),
        of(&|a| a.magnitude().clone().into())
    );
    let shifts = integers(&[BigInt::from(77)]);
    assert_eq!(engine.shl(&x, &shifts).unwrap(), of(&|a| a << 77u32));
    assert_eq!(engine.shr(&x, &shifts).unwrap(), of(&|a| a >> 77u32));
    let orders: Vec<_> = a.iter().zip(&b).map(|(a, b)| a.cmp(b)).collect();
    assert_eq!(engine.compare(&x, &y).unwrap(), orders);
    assert_eq!(engine.sum(&x).unwrap(), integers(&[a.iter().sum()]));
    assert_eq!(engine.product(&y).unwrap(), integers(&[BigInt::ZERO]));
    let sums = a.iter().scan(BigInt::ZERO, |sum, a| {
        *sum += a;
        Some(sum.clone())
    });
    assert_eq!(
        engine.prefix_sum(&x).unwrap(),
        integers(&sums.collect::<Vec<_>>())
    );
    let none = Integers::new();
    assert_eq!(engine.sum(&none).unwrap(), integers(&[0.into()]));
    assert_eq!(engine.product(&none).unwrap(), integers(&[1.into()]));
    assert_eq!(engine.prefix_sum(&none).unwrap(), none);
}

#[test]
fn powers_and_primes_of_any_lengths_are_told_row_by_row() {
    let engine = Engine::cpu();
    let text = |numbers: &[&str]| Integers::from_texts(numbers).unwrap();
    let mersenne = (BigInt::from(1) << 521) - 1;
    let a = Integers::concatenate(&[
        &text(&["-7", "0", "1", "2", "561", "4294967291"]),
        &integers(std::slice::from_ref(&mersenne)),
    ])
    .unwrap();
    let prime = [false, false, false, true, false, true, true];
    assert_eq!(engine.is_prime(&a).unwrap(), prime);
    let bases = [2u32, 3].map(Into::into);
    assert_eq!(engine.is_strong_probable_prime(&a, &bases).unwrap(), prime);
    let next = engine.next_prime(&a.slice(0..6).unwrap()).unwrap();
    assert_eq!(next, text(&["2", "2", "2", "3", "563", "4294967311"]));
    let cubes = engine.pow(&a, &text(&["3"])).unwrap();
    let expected: Vec<BigInt> = a.iter().map(|a| a.pow(3)).collect();
    assert_eq!(cubes, integers(&expected));
    let refused = engine.is_perfect_power(&cubes);
    assert!(matches!(refused, Err(Error::Negative { index: 0, .. })));
    let natural = engine.abs(&cubes).unwrap();
    assert_eq!(engine.is_perfect_power(&natural).unwrap(), [true; 7]);
    let refused = engine.pow(&a, &text(&["-1"]));
    assert!(matches!(refused, Err(Error::NegativeExponent { .. })));
}

#[test]
fn columns_are_gathered_cut_and_put_together() {
    let mut random = Random(0x1f83_d9ab_fb41_bd6b);
    let all = numbers(Lengths::Any(600), 5000, &mut random);
    let column = integers(&all);
    let indices: Vec<usize> = (0..20_000).map(|_| random.below(all.len())).collect();
    let picked: Vec<BigInt> = indices.iter().map(|&i| all[i].clone()).collect();
    assert_eq!(column.gather(&indices).unwrap(), integers(&picked));
    let refused = column.gather(&[0, 5000, 6000]);
    assert!(matches!(
        refused,
        Err(Error::NoSuchNumber {
            index: 5000,
            count: 5000
        })
    ));
    for range in [0..0, 0..5000, 17..4003, 5000..5000] {
        let part = column.slice(range.clone()).unwrap();
        assert_eq!(part, integers(&all[range]));
    }
    assert!(column.slice(0..5001).is_err());
    #[expect(clippy::reversed_empty_ranges)]
    let reversed = 4..3;
    assert!(column.slice(reversed).is_err());
    let parts: Vec<Integers> = [0..13, 13..13, 13..4999, 4999..5000]
        .map(|range| column.slice(range).unwrap())
        .into();
    let parts: Vec<&Integers> = parts.iter().collect();
    assert_eq!(Integers::concatenate(&parts).unwrap(), column);
    assert_eq!(Integers::concatenate(&[]).unwrap(), Integers::new());
}

#[test]
fn the_declared_division_is_of_natural_numbers_however_short_they_are() {
    let engine = Engine::cpu();
    for bits in [3_u32, 100, 600, 5000] {
        let a = integers(&[BigInt::from(-1) << bits]);
        let b = integers(&[BigInt::from(7)]);
        let refused = engine.apply(Operation::DivRem, &[&a, &b]);
        assert!(matches!(refused, Err(Error::Negative { index: 0, .. })));
        let (q, r) = engine.div_rem_floor(&a, &b).unwrap();
        let [q, r] = [q, r].map(|column| column.get(0).unwrap());
        assert_eq!(q * 7 + &r, a.get(0).unwrap());
        assert!((0..7).any(|rest| r == BigInt::from(rest)));
    }
}
