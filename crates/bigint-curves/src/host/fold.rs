//! Primes just below a power of two: `2^256 - C`, or half of it.
//!
//! As `2^256` is `C` modulo the prime, what is above 256 bits, times `C`, is added to the rest. An element is any number below
//! `2^256`, so each has at least two forms near 0. By hand, with 100 in place of `2^256` and `C` = 3: 96 * 95 =
//! 9120, 91 * 3 + 20 = 293, 2 * 3 + 93 = 99, and 9120 = 94 * 97 + 2, which is 99 modulo 97.
//!
//! No branch depends on numbers, but in `is_zero`.
//!
//! Cost: 20 products of words and one, for a square 14 and one.

use super::words::{self, Words, add, add_word, multiply_word, subtract, subtract_word};
use crate::shared::field::{Field, Limbs};
use std::marker::PhantomData;

/// A prime `2^256 - C`, or half of that.
pub trait Special {
    /// The number `C`.
    const C: u64;
    /// The prime.
    const PRIME: Words;
    /// The multiples of the prime below `2^256`.
    const MULTIPLES: &[Words];
}

/// The prime `2^256 - 2^32 - 977` of secp256k1.
pub struct OfSecp256k1;

impl Special for OfSecp256k1 {
    const C: u64 = 0x1_0000_03d1;
    const PRIME: Words = [0xffff_fffe_ffff_fc2f, u64::MAX, u64::MAX, u64::MAX];
    const MULTIPLES: &[Words] = &[[0; 4], Self::PRIME];
}

/// The prime `2^255 - 19`.
pub struct Of25519;

impl Special for Of25519 {
    const C: u64 = 38;
    const PRIME: Words = [u64::MAX - 18, u64::MAX, u64::MAX, u64::MAX >> 1];
    const MULTIPLES: &[Words] = &[
        [0; 4],
        Self::PRIME,
        [u64::MAX - 37, u64::MAX, u64::MAX, u64::MAX],
    ];
}

/// The field of such a prime.
pub struct Fold<S>(PhantomData<S>);

impl<S: Special> Fold<S> {
    /// `lower + C upper`, below `2^256`.
    #[inline(always)]
    fn folded([lower, upper]: [Words; 2]) -> Words {
        let (r0, c) = multiply_word(lower[0], upper[0], S::C, 0);
        let (r1, c) = multiply_word(lower[1], upper[1], S::C, c);
        let (r2, c) = multiply_word(lower[2], upper[2], S::C, c);
        let (r3, c) = multiply_word(lower[3], upper[3], S::C, c);
        // `c` is at most `C`, and its product with `C` less than two words.
        let (low, high) = multiply_word(0, c, S::C, 0);
        let (r0, c) = add_word(r0, low, 0);
        let (r1, c) = add_word(r1, high, c);
        let (r2, c) = add_word(r2, 0, c);
        let (r3, c) = add_word(r3, 0, c);
        Self::carried([r0, r1, r2, r3], c)
    }

    /// `number + carry 2^256`, where the number is less than `2^256 - C` if the carry is 1.
    #[inline(always)]
    fn carried([r0, r1, r2, r3]: Words, carry: u64) -> Words {
        let (r0, c) = add_word(r0, carry.wrapping_neg() & S::C, 0);
        let (r1, c) = add_word(r1, 0, c);
        let (r2, c) = add_word(r2, 0, c);
        [r0, r1, r2, r3.wrapping_add(c)]
    }
}

impl<S: Special> Field for Fold<S> {
    type Element = Words;

    #[inline(always)]
    fn element(number: Limbs) -> Words {
        words::of_limbs(number)
    }

    #[inline(always)]
    fn number(x: Words) -> Limbs {
        // Any number below 2^256 is less than three times the prime.
        let reduced = (0..2).fold(x, |x, _| {
            let (less, borrow) = subtract(x, S::PRIME);
            words::select(borrow.wrapping_neg(), x, less)
        });
        words::limbs(reduced)
    }

    #[inline(always)]
    fn add(a: Words, b: Words) -> Words {
        let (sum, carry) = add(a, b);
        let (sum, carry) = add(sum, [carry.wrapping_neg() & S::C, 0, 0, 0]);
        // After a second carry the sum is less than C.
        [
            sum[0].wrapping_add(carry.wrapping_neg() & S::C),
            sum[1],
            sum[2],
            sum[3],
        ]
    }

    #[inline(always)]
    fn sub(a: Words, b: Words) -> Words {
        let (difference, borrow) = subtract(a, b);
        let (difference, borrow) = subtract(difference, [borrow.wrapping_neg() & S::C, 0, 0, 0]);
        // After a second borrow the difference is 2^256 - C or more.
        let [lowest, rest @ ..] = difference;
        let (lowest, _) = subtract_word(lowest, borrow.wrapping_neg() & S::C, 0);
        [lowest, rest[0], rest[1], rest[2]]
    }

    #[inline(always)]
    fn mul(a: Words, b: Words) -> Words {
        Self::folded(words::product(a, b))
    }

    #[inline(always)]
    fn square(a: Words) -> Words {
        Self::folded(words::square(a))
    }

    #[inline(always)]
    fn halve(a: Words) -> Words {
        words::half(a, S::PRIME)
    }

    #[inline(always)]
    fn is_zero(a: Words) -> bool {
        S::MULTIPLES.contains(&a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::montgomery::{
        Modulus, Montgomery, OfP256, OrderOf25519, PointsOfP256, PointsOfSecp256k1,
    };
    use num_bigint::BigUint;

    fn big(limbs: Limbs) -> BigUint {
        BigUint::from_slice(&limbs)
    }

    /// Numbers around all that carries.
    fn numbers() -> Vec<Words> {
        let about = [
            [0; 4],
            [u64::MAX; 4],
            OfSecp256k1::PRIME,
            Of25519::PRIME,
            [u64::MAX - 37, u64::MAX, u64::MAX, u64::MAX],
            OfP256::MODULUS,
            PointsOfSecp256k1::MODULUS,
            PointsOfP256::MODULUS,
            OrderOf25519::MODULUS,
            [0, 0, 1, 0],
            [0, 0, 0, 1 << 63],
            [
                0x9e37_79b9_7f4a_7c15,
                0xf39c_c060_5ced_c834,
                0x1082_276b_f3a2_7251,
                0xf86c_6a11_d0c1_8e95,
            ],
        ];
        let apart = [0, 1, 2, 18, 37, 38, 976, 0x1_0000_03d0, 0x1_0000_03d1];
        let pairs = about
            .iter()
            .flat_map(|&about| apart.iter().map(move |&k| (about, [k, 0, 0, 0])));
        pairs
            .flat_map(|(about, k)| [add(about, k).0, subtract(about, k).0])
            .collect()
    }

    fn check<F: Field<Element = Words>>(prime: Words) {
        let p = big(words::limbs(prime));
        let numbers = numbers();
        for &x in &numbers {
            let a = F::element(words::limbs(x));
            let x = big(words::limbs(x));
            assert_eq!(F::is_zero(a), &x % &p == BigUint::ZERO);
            assert_eq!(big(F::number(F::square(a))), &x * &x % &p);
            assert_eq!(big(F::number(F::neg(a))), (&p - &x % &p) % &p);
            for &y in &numbers {
                let b = F::element(words::limbs(y));
                let y = big(words::limbs(y));
                assert_eq!(big(F::number(F::add(a, b))), (&x + &y) % &p);
                assert_eq!(big(F::number(F::sub(a, b))), (&x + &p - &y % &p) % &p);
                assert_eq!(big(F::number(F::mul(a, b))), &x * &y % &p);
            }
        }
    }

    #[test]
    fn fields_are_right_where_carries_are_rare() {
        check::<Fold<OfSecp256k1>>(OfSecp256k1::PRIME);
        check::<Fold<Of25519>>(Of25519::PRIME);
        check::<Montgomery<OfP256>>(OfP256::MODULUS);
        check::<Montgomery<PointsOfSecp256k1>>(PointsOfSecp256k1::MODULUS);
        check::<Montgomery<PointsOfP256>>(PointsOfP256::MODULUS);
        check::<Montgomery<OrderOf25519>>(OrderOf25519::MODULUS);
    }
}
