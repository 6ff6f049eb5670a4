//! Product and remainder trees beside num-bigint.

use bigint_host::{BigUint, Engine, Error, Integers, ProductTree};

/// Numbers from 1 to `2^(32 limbs)` less 1, of lengths as `shape` says, with ends among them.
fn leaves(count: usize, length: impl Fn(usize) -> usize) -> Vec<BigUint> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    let number = |i: usize| {
        let limbs = length(i);
        let ones = (BigUint::from(1u8) << (32 * limbs)) - 1u8;
        match i % 11 {
            3 => ones,
            5 => BigUint::from(1u8) << (32 * limbs - 1),
            7 => BigUint::from(1u8),
            9 => (BigUint::from(1u8) << (32 * limbs - 32)) + 1u8,
            _ => BigUint::new((0..limbs).map(|_| next() | 1).collect()),
        }
    };
    (0..count).map(number).collect()
}

fn to_biguints(numbers: &Integers) -> Vec<BigUint> {
    let numbers = numbers.to_bigints().unwrap().into_iter();
    numbers.map(|n| n.to_biguint().unwrap()).collect()
}

const COUNTS: [usize; 13] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, 100];

#[test]
fn products_remainders_and_sums_are_those_of_num_bigint() {
    let engine = Engine::cpu();
    let shapes: [fn(usize) -> usize; 5] = [|_| 1, |_| 4, |_| 64, |i| 1 + i % 9, |i| 1 + i * i % 70];
    for (count, shape) in COUNTS.iter().flat_map(|&c| shapes.iter().map(move |s| (c, s))) {
        let numbers = leaves(count, shape);
        let leaves = Integers::from_biguints(&numbers).unwrap();
        let tree = ProductTree::new(&engine, &leaves).unwrap();
        let product: BigUint = numbers.iter().product();
        assert_eq!(tree.product().to_biguints().unwrap(), std::slice::from_ref(&product));
        for x in [
            BigUint::ZERO,
            1u8.into(),
            &product - 1u8,
            product.clone(),
            &product + 1u8,
            &product * &product + 12345u32,
            &product >> 40,
        ] {
            let given = Integers::from_biguints(std::slice::from_ref(&x)).unwrap();
            let found = to_biguints(&tree.remainders(&given).unwrap());
            let expected: Vec<BigUint> = numbers.iter().map(|n| &x % n).collect();
            assert_eq!(found, expected, "{count} leaves");
        }
        let cofactors = to_biguints(&tree.cofactors().unwrap());
        let expected: Vec<BigUint> = numbers.iter().map(|n| (&product / n) % n).collect();
        assert_eq!(cofactors, expected, "{count} leaves");
        for more in [1u32, 0, u32::MAX] {
            let a: Vec<BigUint> = numbers.iter().map(|n| n * more + 7u8).collect();
            let sum = tree.sum(&Integers::from_biguints(&a).unwrap()).unwrap();
            let terms = a.iter().zip(&numbers).map(|(a, n)| a * (&product / n));
            assert_eq!(to_biguints(&sum), [terms.sum::<BigUint>()], "{count} leaves");
        }
    }
}

#[test]
fn a_number_is_reconstructed_from_its_residues() {
    let engine = Engine::cpu();
    // No two of these have a common divisor: 2^(2^i) + 1, and a power of 2.
    let mut moduli: Vec<BigUint> = (0..9).map(|i| (BigUint::from(1u8) << (1 << i)) + 1u8).collect();
    moduli.push(BigUint::from(1u8) << 77);
    moduli.push(1u8.into());
    let tree = ProductTree::new(&engine, &Integers::from_biguints(&moduli).unwrap()).unwrap();
    let product: BigUint = moduli.iter().product();
    for x in [BigUint::ZERO, 1u8.into(), &product - 1u8, &product / 3u8, &product >> 9] {
        let residues: Vec<BigUint> = moduli.iter().map(|n| &x % n).collect();
        let residues = Integers::from_biguints(&residues).unwrap();
        assert_eq!(to_biguints(&tree.reconstruct(&residues).unwrap()), [x]);
    }
    let tree = ProductTree::new(&engine, &Integers::from([9, 5, 6])).unwrap();
    let refused = tree.reconstruct(&Integers::from([0, 0, 0])).unwrap_err();
    assert!(matches!(refused, Error::NotInvertible { index: 0 | 2 }));
}

#[test]
fn zero_and_negative_leaves_are_refused_by_their_number() {
    let engine = Engine::cpu();
    let refused = |leaves: [i32; 3]| ProductTree::new(&engine, &Integers::from(leaves)).unwrap_err();
    assert!(matches!(refused([3, 0, 0]), Error::ZeroDivisor { index: 1 }));
    assert!(matches!(refused([3, 5, -7]), Error::Negative { index: 2, .. }));
}
