//! The number `s` by which stage 1 multiplies points: the product of the greatest powers of primes up to `B1`,
//! as in GMP-ECM's batch mode. `s` has about `1.44 B1` bits.

use num_bigint::BigUint;

use crate::primes::primes;

/// The product of `p^k <= b1`, `k` greatest, of all primes; 1 where `b1` is less than 2.
///
/// ```
/// assert_eq!(ecm::scalar(10), 2520u32.into());
/// ```
pub fn scalar(b1: u64) -> BigUint {
    let mut words = Vec::new();
    let mut word = 1u64;
    primes(2, b1, |p| {
        let mut power = p;
        while power <= b1 / p {
            power *= p;
        }
        match word.checked_mul(power) {
            Some(product) => word = product,
            None => {
                words.push(BigUint::from(word));
                word = power;
            }
        }
    });
    words.push(BigUint::from(word));
    // A tree, so that factors are of equal lengths.
    while words.len() > 1 {
        words = words.chunks(2).map(|pair| pair.iter().product()).collect();
    }
    words.swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_least_common_multiple_of_all_numbers_up_to_the_bound() {
        let mut lcm = BigUint::from(1u8);
        for n in 1..400u64 {
            let mut gcd = (lcm.clone(), BigUint::from(n));
            while gcd.1 != BigUint::ZERO {
                gcd = (gcd.1.clone(), gcd.0 % gcd.1);
            }
            lcm = lcm * n / gcd.0;
            assert_eq!(scalar(n), lcm, "{n}");
        }
        assert_eq!(scalar(0), BigUint::from(1u8));
    }

    #[test]
    fn a_scalar_has_as_many_bits_as_gmp_ecm_says() {
        // `ecm -v 11000`: "Computing batch product (of 15876 bits)".
        assert_eq!(scalar(11_000).bits(), 15_876);
    }
}
