//! Odd moduli of up to 256 bits in Montgomery's form ([Montgomery 1985]; rows as in CIOS of [Koç 1996]).
//!
//! The form of `x` is `x R mod m`, `R = 2^256`. The product of two forms is `a b / R mod m`: with `w = 2^64` and
//! `m' = -1/m mod w`, for each word of `a`
//!
//! ```text
//! t = t + a[i] b          q = t[0] m' mod w
//! t = (t + q m) / w       the lowest word of t + q m is 0
//! ```
//!
//! and at the end one subtraction of `m`. Where the lowest word of `m` is all ones, as in P-256's prime, `m'`
//! is 1 and the lowest word of `q m` needs no product. `bigint_kernels::montgomery` has an example by hand.
//!
//! No branch depends on numbers.
//!
//! Cost: 36 products of words; 28 for P-256's prime, of which four are by `2^32 - 1`.

use super::words::{self, Words, add_word, multiply_word};
use crate::shared::field::{Field, Limbs};
use std::marker::PhantomData;

/// An odd modulus below `2^256`.
pub trait Modulus {
    /// The modulus.
    const MODULUS: Words;
}

/// The prime `2^256 - 2^224 + 2^192 + 2^96 - 1` of P-256.
pub struct OfP256;

impl Modulus for OfP256 {
    const MODULUS: Words = [u64::MAX, 0xffff_ffff, 0, 0xffff_ffff_0000_0001];
}

/// The number of points of secp256k1.
pub struct PointsOfSecp256k1;

impl Modulus for PointsOfSecp256k1 {
    const MODULUS: Words = [
        0xbfd2_5e8c_d036_4141,
        0xbaae_dce6_af48_a03b,
        0xffff_ffff_ffff_fffe,
        u64::MAX,
    ];
}

/// The number of points of P-256.
pub struct PointsOfP256;

impl Modulus for PointsOfP256 {
    const MODULUS: Words = [
        0xf3b9_cac2_fc63_2551,
        0xbce6_faad_a717_9e84,
        u64::MAX,
        0xffff_ffff_0000_0000,
    ];
}

/// The prime order of edwards25519's generator.
pub struct OrderOf25519;

impl Modulus for OrderOf25519 {
    const MODULUS: Words = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 1 << 60];
}

/// Numbers modulo such a number. Elements are less than it.
pub struct Montgomery<M>(PhantomData<M>);

impl<M: Modulus> Montgomery<M> {
    /// `-1 / m` modulo `2^64`: each step doubles the bits that are right, from three.
    const INVERSE: u64 = {
        let m = M::MODULUS[0];
        let (mut inverse, mut step) = (m, 0);
        while step < 5 {
            inverse = inverse.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(inverse)));
            step += 1;
        }
        inverse.wrapping_neg()
    };

    /// `R mod m`.
    const ONE: Words = Self::doubled([1, 0, 0, 0]);

    /// `R^2 mod m`.
    const SQUARE: Words = Self::doubled(Self::ONE);

    /// `x R mod m`: `x` doubled 256 times.
    const fn doubled(mut x: Words) -> Words {
        let mut times = 0;
        while times < 256 {
            let (twice, carry) = words::add(x, x);
            let (less, borrow) = words::subtract(twice, M::MODULUS);
            x = if carry == 1 || borrow == 0 {
                less
            } else {
                twice
            };
            times += 1;
        }
        x
    }

    /// `number + carry 2^256`, which is less than `2 m`, modulo `m`.
    #[inline(always)]
    fn reduced(number: Words, carry: u64) -> Words {
        let (less, borrow) = words::subtract(number, M::MODULUS);
        words::select((borrow & !carry).wrapping_neg(), number, less)
    }
}

impl<M: Modulus> Montgomery<M> {
    /// The element of `lower + 2^256 upper`.
    pub fn of_halves([lower, upper]: [Words; 2]) -> Words {
        let [lower, upper] = [lower, upper].map(|half| Self::mul(half, Self::SQUARE));
        Self::add(lower, Self::mul(upper, Self::SQUARE))
    }
}

impl<M: Modulus> Field for Montgomery<M> {
    type Element = Words;

    #[inline(always)]
    fn element(number: Limbs) -> Words {
        Self::mul(words::of_limbs(number), Self::SQUARE)
    }

    #[inline(always)]
    fn number(x: Words) -> Limbs {
        words::limbs(Self::mul(x, [1, 0, 0, 0]))
    }

    #[inline(always)]
    fn zero() -> Words {
        [0; 4]
    }

    #[inline(always)]
    fn one() -> Words {
        Self::ONE
    }

    #[inline(always)]
    fn add(a: Words, b: Words) -> Words {
        let (sum, carry) = words::add(a, b);
        Self::reduced(sum, carry)
    }

    #[inline(always)]
    fn sub(a: Words, b: Words) -> Words {
        let (difference, borrow) = words::subtract(a, b);
        let again = M::MODULUS.map(|word| word & borrow.wrapping_neg());
        words::add(difference, again).0
    }

    /// The first factor may be any number of 256 bits.
    #[inline(always)]
    fn mul(a: Words, b: Words) -> Words {
        let m = M::MODULUS;
        let mut t = [0u64; 4];
        let mut above = 0;
        for word in a {
            let (t0, c) = multiply_word(t[0], word, b[0], 0);
            let (t1, c) = multiply_word(t[1], word, b[1], c);
            let (t2, c) = multiply_word(t[2], word, b[2], c);
            let (t3, c) = multiply_word(t[3], word, b[3], c);
            let (t4, t5) = add_word(above, c, 0);
            let q = t0.wrapping_mul(Self::INVERSE);
            // If `m` is -1 modulo 2^64, `q` is `t0`, and `t0 + q m` is `q 2^64` there.
            let c = if m[0] == u64::MAX {
                q
            } else {
                multiply_word(t0, q, m[0], 0).1
            };
            let (t1, c) = multiply_word(t1, q, m[1], c);
            let (t2, c) = multiply_word(t2, q, m[2], c);
            let (t3, c) = multiply_word(t3, q, m[3], c);
            let (t4, c) = add_word(t4, c, 0);
            t = [t1, t2, t3, t4];
            above = t5.wrapping_add(c);
        }
        Self::reduced(t, above)
    }

    #[inline(always)]
    fn square(a: Words) -> Words {
        Self::mul(a, a)
    }

    #[inline(always)]
    fn halve(a: Words) -> Words {
        words::half(a, M::MODULUS)
    }

    #[inline(always)]
    fn is_zero(a: Words) -> bool {
        a == [0; 4]
    }
}
