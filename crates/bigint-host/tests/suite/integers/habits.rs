//! Columns as Rust's collections and numbers are: iteration, conversions, operators, text.

use crate::checks::lists::Random;
use bigint_host::{BigInt, BigUint, Column, Engine, Error, Integers};
use std::cmp::Ordering::{Greater, Less};

#[test]
fn machine_integers_are_the_numbers_that_num_bigint_makes_of_them() {
    macro_rules! check {
        ($($integer:ident)*) => {$({
            let ends = [$integer::MIN, $integer::MAX, 0, 1, $integer::MAX / 3];
            let numbers: Vec<BigInt> = ends.into_iter().map(BigInt::from).collect();
            assert_eq!(Integers::from(ends).to_bigints().unwrap(), numbers);
            assert_eq!(ends.iter().collect::<Integers>(), Integers::from(numbers));
        })*};
    }
    check! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
    let mut all = Integers::from(vec![BigUint::from(1u32) << 64, BigUint::ZERO]);
    all.extend(&Integers::from([-5, 0]));
    assert_eq!(all.limbs(), [0, 0, 1, 5]);
    assert_eq!(
        (all.offsets(), all.signs()),
        (&[0, 12, 12, 16, 16][..], &[0b100][..])
    );
}

#[test]
fn columns_of_every_kind_are_iterated_and_converted_alike() {
    let engine = Engine::cpu();
    let mut random = Random(0x5be0_cd19_137e_2179);
    let numbers: Vec<BigInt> = (0..300)
        .map(|_| {
            (BigInt::from(random.below(1 << 40)) << random.below(200)) * [1, -1][random.below(2)]
        })
        .collect();
    let integers = Integers::from(&numbers[..]);
    let signed = engine.signed_batch(&numbers).unwrap();
    assert!(integers.iter().eq(numbers.iter().cloned()));
    assert!((&signed).into_iter().eq(&integers));
    assert!(
        signed
            .clone()
            .into_iter()
            .rev()
            .eq(numbers.iter().rev().cloned())
    );
    assert_eq!(signed.get(7).unwrap(), integers.get(7));
    assert_eq!(signed.get(300).unwrap(), None);
    assert_eq!(signed.to_integers().unwrap(), integers);
    let again = engine.signed_from_integers(&integers).unwrap();
    assert_eq!(again.to_bigints().unwrap(), numbers);

    let least = numbers.iter().position(|n| *n < BigInt::ZERO).unwrap();
    let refused = engine.batch(&numbers);
    assert!(matches!(refused, Err(Error::BelowZero { index }) if index == least));
    let magnitudes = engine.abs(&integers).unwrap();
    let batch = engine.batch_from_integers(&magnitudes).unwrap();
    assert_eq!(batch, *signed.magnitude());
    assert!((&batch).into_iter().map(BigInt::from).eq(&magnitudes));
    assert_eq!(
        batch.to_bigints().unwrap(),
        magnitudes.to_bigints().unwrap()
    );
    assert_eq!(batch.to_integers().unwrap(), magnitudes);
    let limbs = batch.to_limbs().unwrap();
    assert_eq!(batch.into_rows().unwrap(), limbs);
}

/// The same operations on columns of one kind, and what they are of `-9, 8, 0` and 5.
fn check<C: Column>(engine: &Engine, x: &C, y: &C, read: impl Fn(&C) -> Vec<BigInt>) {
    let is = |found: Result<C, Error>, expected: &[i64]| {
        let expected: Vec<BigInt> = expected.iter().copied().map(BigInt::from).collect();
        assert_eq!(read(&found.unwrap()), expected);
    };
    let both = |(q, r): (C, C), expected: [&[i64]; 2]| {
        is(Ok(q), expected[0]);
        is(Ok(r), expected[1]);
    };
    is(engine.add(x, y), &[-4, 13, 5]);
    is(engine.mul(x, y), &[-45, 40, 0]);
    is(engine.div(x, y), &[-2, 1, 0]);
    is(engine.rem(x, y), &[1, 3, 0]);
    is(engine.neg(x), &[9, -8, 0]);
    is(engine.abs(x), &[9, 8, 0]);
    is(engine.shl(x, y), &[-288, 256, 0]);
    is(engine.pow(x, y), &[-59049, 32768, 0]);
    is(engine.gcd(x, y), &[1, 1, 5]);
    is(engine.sum(x), &[-1]);
    is(engine.product(x), &[0]);
    is(engine.prefix_sum(x), &[-9, -1, -1]);
    is(engine.next_prime(x), &[2, 11, 2]);
    is(engine.slice(x, 1..3), &[8, 0]);
    is(engine.gather(x, &[2, 0, 0]), &[0, -9, -9]);
    is(engine.concatenate(&[y, x]), &[5, -9, 8, 0]);
    both(
        engine.div_rem_floor(x, y).unwrap(),
        [&[-2, 1, 0], &[1, 3, 0]],
    );
    both(
        engine.div_rem_truncated(x, y).unwrap(),
        [&[-1, 1, 0], &[-4, 3, 0]],
    );
    both(
        engine.div_rem_euclid(x, y).unwrap(),
        [&[-2, 1, 0], &[1, 3, 0]],
    );
    is(engine.div_exact(&engine.mul(x, y).unwrap(), y), &[-9, 8, 0]);
    assert_eq!(engine.compare(x, y).unwrap(), [Less, Greater, Less]);
    assert_eq!(
        engine.is_prime(&engine.add(x, y).unwrap()).unwrap(),
        [false, true, true]
    );
    let (quotients, flags) = engine.masked_div(y, x).unwrap();
    is(Ok(quotients), &[-1, 0, 0]);
    assert_eq!(flags, [false, false, true]);
}

#[test]
fn engines_compute_columns_of_every_kind_by_the_same_names() {
    let engine = Engine::cpu();
    let (x, y) = (Integers::from([-9, 8, 0]), Integers::from([5]));
    check(&engine, &x, &y, |c| c.to_bigints().unwrap());
    let [x, y] = [&x, &y].map(|x| engine.signed_from_integers(x).unwrap());
    check(&engine, &x, &y, |c| c.to_bigints().unwrap());
    let (x, y) = (engine.batch([9, 8, 0]).unwrap(), engine.batch([5]).unwrap());
    assert_eq!(
        engine.div_rem_truncated(&x, &y).unwrap(),
        engine.div_rem(&x, &y).unwrap()
    );
    assert_eq!(engine.compare(&x, &y).unwrap(), [Greater, Greater, Less]);
    assert_eq!(
        engine
            .neg(&engine.slice(&x, 2..3).unwrap())
            .unwrap()
            .to_string(),
        "[0]"
    );
    assert!(matches!(engine.neg(&x), Err(Error::Underflow { index: 0 })));
}

#[test]
fn operators_take_columns_by_value_and_by_reference_and_machine_integers_on_either_side() {
    let engine = Engine::cpu();
    let a = Integers::from([-7, 7, 100]);
    let is = |expression, expected: [i32; 3]| {
        assert_eq!(engine.eval(&expression).unwrap(), Integers::from(expected));
    };
    is(a.clone() / 2, [-4, 3, 50]);
    is(&a % 2u8, [1, 1, 0]);
    is(10 - &a, [17, 3, -90]);
    is(3 * (a.clone() + a.clone()) - 1i128, [-43, 41, 599]);
    is(-a.clone() << 1, [14, -14, -200]);
    let mut expression = &a + 1;
    expression *= &a;
    expression -= 2;
    is(expression, [40, 54, 10098]);
    let mut b = a.clone();
    b += &a;
    b *= 3u64;
    b %= 10;
    assert_eq!(b, Integers::from([8, 2, 0]));
    b |= 5;
    b ^= 1;
    b &= 14;
    assert_eq!(b, Integers::from([12, 6, 4]));
    let mut batch = engine.batch([5, 6]).unwrap();
    batch -= 5;
    batch <<= 3;
    assert_eq!(batch, engine.batch([0, 8]).unwrap());
    let mut signed = engine.signed_batch([5, 6]).unwrap();
    signed -= 8;
    assert_eq!(signed.to_string(), "[-3, -2]");
}

#[test]
#[should_panic = "an operator in place: number 1 is divided by zero"]
fn an_operator_in_place_panics_where_there_is_no_value() {
    let mut a = Integers::from([1, 2]);
    a /= Integers::from([1, 0]);
}

#[test]
fn columns_show_a_few_numbers_and_how_many_there_are() {
    let engine = Engine::cpu();
    let few = Integers::from([-7, 0, 1 << 20]);
    assert_eq!(few.to_string(), "[-7, 0, 1048576]");
    assert_eq!(format!("{few:?}"), "Integers[-7, 0, 1048576]");
    assert_eq!(Integers::new().to_string(), "[]");
    let many = engine.batch(0..1000u32).unwrap();
    let shown = "[0, 1, 2, 3, 4, 5, 6, 7, ...] (1000 numbers)";
    assert_eq!(many.to_string(), shown);
    assert_eq!(
        format!("{many:?}"),
        format!("Batch{shown} of 1 limbs on cpu")
    );
    let long = Integers::from([BigInt::from(-1) << 1000u32, BigInt::from(1) << 200_000u32]);
    assert_eq!(
        long.to_string(),
        "[-10715086071862...837205668069376 (302 digits), \
         0x1000000000000...000000000000000 (50001 hexadecimal digits)]"
    );
    let secrets = Engine::cpu().for_secrets().unwrap();
    let secret = secrets.batch([42]).unwrap();
    assert_eq!(secret.to_string(), "[secret] (1 numbers)");
    assert!(!format!("{secret:?}").contains("42"));
}

#[test]
fn texts_are_read_as_the_command_reads_them() {
    let texts = ["+5", "1_000", "0b1", "-0xF_f", "0o17", "+0X10", "-0"];
    let expected = Integers::from([5, 1000, 1, -255, 15, 16, 0]);
    assert_eq!(Integers::from_texts(texts).unwrap(), expected);
    for (text, byte) in [("_1", 0), ("1__0", 1), ("0b2", 2), ("+-1", 1), ("0x", 2)] {
        let refused = Integers::from_texts(["1", text]).unwrap_err();
        let is_named =
            matches!(refused, Error::NotADigit { index: 1, position } if position == byte);
        assert!(is_named, "{text}: {refused}");
    }
}

#[test]
fn columns_of_one_length_are_made_as_those_of_nearly_one() {
    const COUNT: usize = 50_000;
    let engine = Engine::cpu();
    // Memory that was used before has any content.
    drop(engine.integers_from_fn(COUNT, 4, |_| (4, false), |_, limbs| limbs.fill(u32::MAX)));
    for shorter in [None, Some(40_001), Some(0), Some(COUNT - 1)] {
        let length = |i| (if Some(i) == shorter { 2 } else { 4 }, i % 3 == 0);
        let fill = |i: usize, limbs: &mut [u32]| {
            for (limb, at) in limbs.iter_mut().zip(1..) {
                *limb = i as u32 * 5 + at;
            }
        };
        let numbers = engine.integers_from_fn(COUNT, 4, length, fill).unwrap();
        assert_eq!(numbers, Integers::from_fn(COUNT, 4, length, fill).unwrap());
        for i in 0..COUNT {
            let mut limbs = vec![0; length(i).0];
            fill(i, &mut limbs);
            let found = (numbers.magnitude(i), numbers.is_negative(i));
            assert_eq!(
                found,
                (&limbs[..], i % 3 == 0),
                "number {i} beside {shorter:?}"
            );
        }
    }
}

#[test]
fn the_first_number_that_is_not_written_so_is_named() {
    let wrong = [30_007, 40_001];
    let limbs: Vec<u32> = (0..50_000)
        .map(|i| u32::from(!wrong.contains(&i)))
        .collect();
    let offsets: Vec<i64> = (0..50_001).map(|i| 4 * i).collect();
    let made = Integers::from_parts(limbs.clone(), offsets, vec![0; 6250]);
    assert!(matches!(made, Err(Error::NotWrittenSo { index: 30_007 })));
    let fill = |i: usize, place: &mut [u32]| place[0] = limbs[i];
    let made = Integers::from_fn(50_000, 1, |_| (1, false), fill);
    assert!(matches!(made, Err(Error::NotWrittenSo { index: 30_007 })));
}

#[test]
fn powers_and_inverses_have_the_commands_names_too() {
    let engine = Engine::cpu();
    let [a, e, m] = [3, 65537, 1009].map(|n: u32| Integers::from([n]));
    let power = engine.powmod(&a, &e, &m).unwrap();
    assert_eq!(power, engine.pow_mod(&a, &e, &m).unwrap());
    assert_eq!(engine.invmod(&a, &m).unwrap(), Integers::from([673]));
}

#[test]
fn integers_pass_through_formats_for_people_and_for_machines() {
    let numbers = Integers::from([BigInt::from(-1) << 70u32, BigInt::ZERO, BigInt::from(5)]);
    let json = serde_json::to_string(&numbers).unwrap();
    assert_eq!(json, r#"["-1180591620717411303424","0","5"]"#);
    assert_eq!(serde_json::from_str::<Integers>(&json).unwrap(), numbers);
    let refused = serde_json::from_str::<Integers>(r#"["5", "five"]"#).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("number 1: a digit must stand at byte 0")
    );
    let bytes = postcard::to_allocvec(&numbers).unwrap();
    assert_eq!(postcard::from_bytes::<Integers>(&bytes).unwrap(), numbers);
    // A zero on top is not how integers are written.
    let bytes = postcard::to_allocvec(&(vec![7u32, 0], vec![0i64, 8], vec![0u8])).unwrap();
    assert!(postcard::from_bytes::<Integers>(&bytes).is_err());
    assert_eq!(numbers.slice(1..3).unwrap().cast::<u8>().unwrap(), [0, 5]);
    let refused = numbers.cast::<i64>();
    assert!(matches!(
        refused,
        Err(Error::NoCast {
            index: 0,
            into: "i64"
        })
    ));
}
