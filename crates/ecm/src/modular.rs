//! Inverses and divisors modulo the number that is to be factored: where there is no inverse, there
//! is a factor.

use num_bigint::BigUint;
use rayon::prelude::*;

/// Numbers that share an inversion: it costs some hundred products.
const OF_INVERSION: usize = 1024;

/// The greatest common divisor.
pub fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// `1 / a mod n`, or the divisor that `a` and `n` have in common.
pub fn inverse(a: &BigUint, n: &BigUint) -> Result<BigUint, BigUint> {
    a.modinv(n).ok_or_else(|| gcd(a, n))
}

/// `a - b mod n` of numbers below `n`.
pub fn sub(a: &BigUint, b: &BigUint, n: &BigUint) -> BigUint {
    match a >= b {
        true => a - b,
        false => a + n - b,
    }
}

/// The product of numbers.
pub fn product(numbers: &[BigUint], n: &BigUint) -> BigUint {
    let one = || BigUint::from(1u8) % n;
    let of_some = |numbers: &[BigUint]| numbers.iter().fold(one(), |all, x| all * x % n);
    numbers
        .par_chunks(OF_INVERSION)
        .map(of_some)
        .reduce(one, |a, b| a * b % n)
}

/// The inverses of many numbers below `n`.
pub fn inverses(numbers: &[BigUint], n: &BigUint) -> Vec<Result<BigUint, BigUint>> {
    let some = numbers.par_chunks(OF_INVERSION);
    some.flat_map_iter(|numbers| by_one_inversion(numbers, n))
        .collect()
}

/// The inverses of numbers, by one where all have one: with the products of those before each (Montgomery's trick).
fn by_one_inversion(numbers: &[BigUint], n: &BigUint) -> Vec<Result<BigUint, BigUint>> {
    let mut before = Vec::with_capacity(numbers.len());
    let mut product = BigUint::from(1u8) % n;
    for number in numbers {
        before.push(product.clone());
        product = product * number % n;
    }
    let Ok(mut of_all) = inverse(&product, n) else {
        return numbers.iter().map(|number| inverse(number, n)).collect();
    };
    let mut found = Vec::with_capacity(numbers.len());
    for (number, before) in numbers.iter().zip(&before).rev() {
        found.push(Ok(before * &of_all % n));
        of_all = of_all * number % n;
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_of_many_are_those_of_each() {
        let n = BigUint::from(1009u32 * 1013);
        for numbers in [
            vec![],
            vec![1u32],
            (1..1008).collect(),
            (1000..1020).collect(),
            (1..5000).map(|i| i % 1008 + 1).collect(),
        ] {
            let numbers: Vec<_> = numbers.into_iter().map(BigUint::from).collect();
            let each: Vec<_> = numbers.iter().map(|number| inverse(number, &n)).collect();
            assert_eq!(inverses(&numbers, &n), each);
        }
    }
}
