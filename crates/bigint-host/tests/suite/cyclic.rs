//! Products modulo `2^n - 1` and `2^n + 1`, beside num-bigint.

use bigint_host::{BigUint, Engine};

#[test]
fn products_modulo_neighbours_of_powers_of_two_are_right() {
    let engine = Engine::cpu();
    for width in [1_usize, 2, 5, 40] {
        let power = BigUint::from(1u8) << (32 * width);
        let one = BigUint::from(1u8);
        // The greatest, neighbours of the moduli and of 0, and wider ones.
        let numbers: Vec<BigUint> = vec![
            BigUint::ZERO,
            one.clone(),
            &power - 1u8,
            &power - 2u8,
            &power >> 1,
            power.clone(),
            &power + 1u8,
            (&power << 70) - 1u8,
        ];
        for count in [5, numbers.len()] {
            let x = engine.batch_from_biguints(&numbers[..count]).expect("fits");
            for (i, y) in numbers.iter().enumerate() {
                let y_of = engine.batch_from_biguints(&numbers[i..=i]).expect("fits");
                let mersenne = engine.mul_mod_mersenne(&x, &y_of, width).expect("fits");
                let fermat = engine.mul_mod_fermat(&x, &y_of, width).expect("fits");
                assert_eq!((mersenne.width(), fermat.width()), (width, width + 1));
                let mersenne = mersenne.to_biguints().expect("is there");
                let fermat = fermat.to_biguints().expect("is there");
                for (j, x) in numbers[..count].iter().enumerate() {
                    assert_eq!(mersenne[j], x * y % (&power - 1u8), "{width} {i} {j}");
                    assert_eq!(fermat[j], x * y % (&power + 1u8), "{width} {i} {j}");
                }
            }
            let squares = engine.mul_mod_fermat(&x, &x, width).expect("fits");
            let squares = squares.to_biguints().expect("is there");
            for (x, square) in numbers.iter().zip(squares) {
                assert_eq!(square, x * x % (&power + 1u8));
            }
        }
    }
    let x = engine
        .batch_from_biguints(&[BigUint::from(3u8)])
        .expect("fits");
    assert!(engine.mul_mod_mersenne(&x, &x, 0).is_err());
    assert!(engine.mul_mod_fermat(&x, &x, 0).is_err());
}
