//! Powers and inverses modulo primes.

use super::words::Words;
use crate::shared::field::Field;

/// `x^e`, in a time that depends on `e`.
pub fn power<F: Field>(x: F::Element, e: Words) -> F::Element {
    let bits = (0..256).rev().map(|bit| e[bit / 64] >> (bit % 64) & 1);
    bits.fold(F::one(), |power, bit| {
        let square = F::square(power);
        if bit == 1 { F::mul(square, x) } else { square }
    })
}

/// `1 / x = x^(p - 2)`, or 0 for 0, modulo a prime, in a time that depends on the prime alone.
pub fn inverse<F: Field>(x: F::Element, prime: Words) -> F::Element {
    power::<F>(x, [prime[0] - 2, prime[1], prime[2], prime[3]])
}

/// Replaces every number, none of which is 0, by its inverse modulo a prime: Montgomery's trick ([Montgomery 1987]),
/// three products for each and one power for all.
pub fn invert<F: Field>(numbers: &mut [F::Element], prime: Words) {
    // Products of all numbers before each.
    let mut before = Vec::with_capacity(numbers.len());
    let mut product = F::one();
    for &number in numbers.iter() {
        before.push(product);
        product = F::mul(product, number);
    }
    let mut inverse = inverse::<F>(product, prime);
    for (number, before) in numbers.iter_mut().zip(before).rev() {
        (*number, inverse) = (F::mul(inverse, before), F::mul(inverse, *number));
    }
}
