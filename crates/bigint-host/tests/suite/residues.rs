//! Residues in Montgomery's form, beside num-bigint.

use bigint_host::{Batch, BigUint, Engine, Error, FixedBase, Layout, MontgomeryParams, Residues};

/// Moduli of up to `width` limbs: 1, 3, 2^k - 1, all ones, and others.
fn moduli(width: usize) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let ones = |bits: usize| (&one << bits) - 1u8;
    let bits = 32 * width;
    let other = (ones(bits) / 7u8) | &one;
    vec![
        one.clone(),
        3u8.into(),
        ones(bits - 1),
        ones(bits),
        other,
        ones(bits) - 58u8,
    ]
}

/// Numbers to go with each: 0, 1, `m - 1`, and others, wider than `m` too.
fn numbers(moduli: &[BigUint]) -> [Vec<BigUint>; 4] {
    let each = |number: &dyn Fn(&BigUint) -> BigUint| moduli.iter().map(number).collect();
    [
        each(&|_| BigUint::ZERO),
        each(&|m| m - 1u8),
        each(&|m| m / 3u8 + 1u8),
        each(&|m| m * m * m + 5u8),
    ]
}

fn batch(engine: &Engine, numbers: &[BigUint]) -> Batch {
    engine.batch_from_biguints(numbers).unwrap()
}

/// Compares, number by number.
fn same(found: &Residues, moduli: &[BigUint], expected: impl Fn(usize) -> BigUint) {
    let found = found.retrieve().unwrap().to_biguints().unwrap();
    for (i, (found, m)) in found.iter().zip(moduli).enumerate() {
        assert_eq!(*found, expected(i) % m, "{i}: modulo {m:x}");
    }
}

#[test]
fn residues_are_computed_with_as_num_bigint_does() {
    let engine = Engine::cpu();
    for width in [1, 2, 5, 16] {
        let m = moduli(width);
        let params = MontgomeryParams::new(&engine, &batch(&engine, &m)).unwrap();
        let residues = |x: &[BigUint]| Residues::new(&batch(&engine, x), &params).unwrap();
        for x in numbers(&m) {
            let a = residues(&x);
            same(&a, &m, |i| x[i].clone());
            same(&a.neg().unwrap(), &m, |i| &m[i] - &x[i] % &m[i]);
            same(&a.double().unwrap(), &m, |i| &x[i] * 2u8);
            same(&a.square().unwrap(), &m, |i| &x[i] * &x[i]);
            same(&a.halve().unwrap().double().unwrap(), &m, |i| x[i].clone());
            for y in numbers(&m) {
                let b = residues(&y);
                same(&a.add(&b).unwrap(), &m, |i| &x[i] + &y[i]);
                same(&a.sub(&b).unwrap(), &m, |i| &x[i] + &m[i] - &y[i] % &m[i]);
                same(&a.mul(&b).unwrap(), &m, |i| &x[i] * &y[i]);
                let equal = a.equal(&b).unwrap().to_biguints().unwrap();
                for i in 0..m.len() {
                    let is_equal = &x[i] % &m[i] == &y[i] % &m[i];
                    assert_eq!(equal[i], is_equal.into());
                }
                // The other numbers as exponents, one for each.
                let power = |i: usize| x[i].modpow(&y[i], &m[i]);
                same(&a.pow(&batch(&engine, &y)).unwrap(), &m, power);
                same(&a.pow_vartime(&batch(&engine, &y)).unwrap(), &m, power);
                let bounded = a.pow_bounded_exp(&batch(&engine, &y), 7).unwrap();
                same(&bounded, &m, |i| x[i].modpow(&(&y[i] % 128u8), &m[i]));
            }
        }
        same(&Residues::one(&params).unwrap(), &m, |_| 1u8.into());
    }
}

#[test]
fn numbers_many_times_as_wide_as_their_moduli_are_reduced() {
    let engine = Engine::cpu();
    for (width, wide) in [(1usize, 2usize), (1, 9), (3, 4), (3, 7), (5, 30)] {
        let m = moduli(width);
        let ones: BigUint = (BigUint::from(1u8) << (32 * wide)) - 1u8;
        let x: Vec<BigUint> = (0..m.len())
            .map(|i| &ones / (BigUint::from(3u8) << (7 * i)))
            .collect();
        for layout in Layout::ALL {
            let batch = |x: &[BigUint], width| {
                let batch = engine.batch_from_biguints_in(x, width, layout);
                batch.unwrap()
            };
            let params = MontgomeryParams::new(&engine, &batch(&m, width)).unwrap();
            let residues = Residues::new(&batch(&x, wide), &params).unwrap();
            same(&residues, &m, |i| x[i].clone());
            // One number for all moduli, and one modulus for all numbers.
            let one = Residues::new(&batch(&x[1..2], wide), &params).unwrap();
            same(&one, &m, |_| x[1].clone());
            let params = MontgomeryParams::new(&engine, &batch(&m[4..5], width)).unwrap();
            let residues = Residues::new(&batch(&x, wide), &params).unwrap();
            same(&residues, &vec![m[4].clone(); m.len()], |i| x[i].clone());
        }
    }
}

#[test]
fn one_modulus_stands_for_all_and_modulo_a_prime_all_but_zero_have_inverses() {
    let engine = Engine::cpu();
    let prime = (BigUint::from(1u8) << 255) - 19u8;
    let moduli =
        engine.batch_from_biguints_in(std::slice::from_ref(&prime), 8, Layout::Interleaved);
    let params = MontgomeryParams::new(&engine, &moduli.unwrap()).unwrap();
    let numbers: Vec<BigUint> = (0..20u32).map(|i| (&prime >> (11 * i)) - i % 2).collect();
    let a = engine
        .batch_from_biguints_in(&numbers, 8, Layout::Interleaved)
        .unwrap();
    let a = Residues::new(&a, &params).unwrap();
    let (inverse, have_none) = a.masked_invert().unwrap();
    let products = a.mul(&inverse).unwrap().retrieve().unwrap();
    let products = products.to_biguints().unwrap();
    for (i, number) in numbers.iter().enumerate() {
        let is_zero = number % &prime == BigUint::ZERO;
        assert_eq!(products[i], BigUint::from(u8::from(!is_zero)), "{number:x}");
        assert_eq!(have_none[i], is_zero);
    }
}

#[test]
fn inverses_are_those_of_num_bigint_and_what_has_none_is_named() {
    let engine = Engine::cpu();
    for width in [1, 2, 5, 16, 40] {
        let m = moduli(width);
        let params = MontgomeryParams::new(&engine, &batch(&engine, &m)).unwrap();
        for x in numbers(&m) {
            let a = Residues::new(&batch(&engine, &x), &params).unwrap();
            let inverses: Vec<_> = m.iter().zip(&x).map(|(m, x)| x.modinv(m)).collect();
            let (found, have_none) = a.masked_invert().unwrap();
            same(&found, &m, |i| inverses[i].clone().unwrap_or_default());
            for (none, inverse) in have_none.iter().zip(&inverses) {
                assert_eq!(*none, inverse.is_none());
            }
            let first = inverses.iter().position(Option::is_none);
            for inverted in [a.try_invert(), a.try_invert_vartime()] {
                match (inverted, first) {
                    (Ok(found), None) => same(&found, &m, |i| inverses[i].clone().unwrap()),
                    (Err(Error::NotInvertible { index }), Some(first)) => assert_eq!(index, first),
                    (other, first) => panic!("{other:?}, {first:?}"),
                }
            }
        }
    }
}

#[test]
fn moduli_that_are_even_or_zero_or_others_are_refused() {
    let engine = Engine::cpu();
    let params = |moduli: [u32; 3]| {
        let moduli = moduli.map(BigUint::from);
        MontgomeryParams::new(&engine, &batch(&engine, &moduli))
    };
    let even = params([3, 5, 8]).unwrap_err();
    assert!(matches!(even, Error::EvenModulus { index: 2 }), "{even}");
    let zero = params([3, 0, 8]).unwrap_err();
    assert!(matches!(zero, Error::ZeroDivisor { index: 1 }), "{zero}");
    let one = batch(&engine, &[1u8.into()]);
    let of = |moduli| Residues::new(&one, &params(moduli).unwrap()).unwrap();
    let other = of([3, 5, 7]).add(&of([3, 5, 9])).unwrap_err();
    assert!(matches!(other, Error::OtherModuli), "{other}");
    assert!(of([3, 5, 7]).add(&of([3, 5, 7])).is_ok());
}

/// As many numbers as take both back ends' ways: alone, and in groups of lanes.
#[test]
fn powers_modulo_even_numbers_are_right_and_zero_is_refused() {
    let engine = Engine::cpu();
    let a = batch(&engine, &[3u32, 2, 7, 10].map(BigUint::from));
    let e = batch(&engine, &[65537u32.into()]);
    let m = [12u32, 1 << 20, 98, 35].map(BigUint::from);
    let powers = engine
        .pow_mod(&a, &e, &batch(&engine, &m))
        .unwrap()
        .to_biguints()
        .unwrap();
    for ((a, m), power) in a.to_biguints().unwrap().iter().zip(&m).zip(powers) {
        assert_eq!(power, a.modpow(&65537u32.into(), m));
    }
    let zero = batch(&engine, &[12u32, 0, 98, 35].map(BigUint::from));
    let refused = engine.pow_mod(&a, &e, &zero).unwrap_err();
    assert!(
        matches!(refused, Error::ZeroDivisor { index: 1 }),
        "{refused}"
    );
}

/// Exponents 0 and 1, all ones, longer than the modulus, and others.
fn exponents(width: usize) -> Vec<BigUint> {
    let ones = (BigUint::from(1u8) << (32 * width)) - 1u8;
    let long = &ones * &ones;
    vec![
        BigUint::ZERO,
        1u8.into(),
        &ones / 5u8,
        long,
        65537u32.into(),
        ones,
    ]
}

#[test]
fn products_of_powers_are_those_of_num_bigint() {
    let engine = Engine::cpu();
    for width in [1, 2, 5, 16] {
        let m = moduli(width);
        let params = MontgomeryParams::new(&engine, &batch(&engine, &m)).unwrap();
        let [_, x, y, z] = numbers(&m);
        let of = |x: &[BigUint]| Residues::new(&batch(&engine, x), &params).unwrap();
        let (a, b, c) = (of(&x), of(&y), of(&z));
        let mut e = exponents(width);
        let f: Vec<_> = e.iter().rev().map(|e| e >> 3).collect();
        e.rotate_left(1);
        let (p, q) = (batch(&engine, &e), batch(&engine, &f));
        let one = batch(&engine, &e[..1]);
        let power = |i: usize| x[i].modpow(&e[i], &m[i]) * y[i].modpow(&f[i], &m[i]);
        let two = [(&a, &p), (&b, &q)];
        same(&Residues::multi_exponentiate(&two).unwrap(), &m, power);
        same(
            &Residues::multi_exponentiate_vartime(&two).unwrap(),
            &m,
            power,
        );
        let bounded = Residues::multi_exponentiate_bounded_exp(&two, 9).unwrap();
        same(&bounded, &m, |i| {
            x[i].modpow(&(&e[i] % 512u32), &m[i]) * y[i].modpow(&(&f[i] % 512u32), &m[i])
        });
        let three = [(&a, &p), (&b, &q), (&c, &one)];
        let found = Residues::multi_exponentiate(&three).unwrap();
        same(&found, &m, |i| power(i) * z[i].modpow(&e[0], &m[i]));
        let alone = Residues::multi_exponentiate(&[(&a, &p)]).unwrap();
        same(&alone, &m, |i| x[i].modpow(&e[i], &m[i]));
    }
    let none = Residues::multi_exponentiate(&[]).unwrap_err();
    assert!(matches!(none, Error::CountMismatch { a: 0, b: 1 }));
}

#[test]
fn powers_of_a_fixed_base_are_those_of_num_bigint() {
    let engine = Engine::cpu();
    for width in [1, 2, 5] {
        let e = exponents(width);
        for m in moduli(width) {
            let params =
                MontgomeryParams::new(&engine, &batch(&engine, std::slice::from_ref(&m))).unwrap();
            for base in [BigUint::from(2u8), &m - 1u8, &m / 3u8 + 1u8] {
                let g =
                    Residues::new(&batch(&engine, std::slice::from_ref(&base)), &params).unwrap();
                // For exponents as long as the modulus; longer ones are computed without it.
                let fixed = FixedBase::new(&g, 32 * width).unwrap();
                let moduli = vec![m.clone(); e.len()];
                let power = |i: usize| base.modpow(&e[i], &m);
                for e in [&e[..], &e[..3]] {
                    let e = batch(&engine, e);
                    same(&fixed.pow(&e).unwrap(), &moduli, power);
                    same(&fixed.pow_vartime(&e).unwrap(), &moduli, power);
                }
            }
        }
    }
    let params = MontgomeryParams::new(&engine, &batch(&engine, &[7u8.into()])).unwrap();
    let two = batch(&engine, &[2u8.into(), 3u8.into()]);
    let several = FixedBase::new(&Residues::new(&two, &params).unwrap(), 32);
    assert!(matches!(several, Err(Error::CountMismatch { a: 2, b: 1 })));
}
