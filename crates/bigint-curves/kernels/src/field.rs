//! The fields in a thread's registers.
//!
//! [`Fold`] is of primes just below a power of two, as `fold.rs` of the library, which has the maths; [`OfP256`] is
//! in Montgomery's form. Elements are what they are there, so that tables are the same for both.
//!
//! Cost in multiply-adds: 64 for a product and 36 for a square, and 9 more to fold them; none to reduce them modulo P-256's prime.

use crate::shared::field::{Field, Limbs};
use bigint_core::Limb;
use bigint_kernels::gpu::carry;
use bigint_kernels::gpu::triangle;
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::squares::each;
use core::marker::PhantomData;

type Row = Window<8>;

/// A prime `2^256 - C`, or half of that, where `C` is `SMALL`, and `2^32` more if `HAS_LIMB`.
pub trait Special {
    /// The lower limb of `C`.
    const SMALL: u32;
    /// Whether `C` has a second limb, which is 1.
    const HAS_LIMB: bool;
    /// The prime.
    const PRIME: Limbs;
    /// The multiples of the prime below `2^256`.
    const MULTIPLES: [Limbs; 3];
}

/// The prime of secp256k1.
pub struct OfSecp256k1;

impl Special for OfSecp256k1 {
    const SMALL: u32 = 977;
    const HAS_LIMB: bool = true;
    const PRIME: Limbs = [!976, !1, !0, !0, !0, !0, !0, !0];
    const MULTIPLES: [Limbs; 3] = [[0; 8], Self::PRIME, Self::PRIME];
}

/// The prime `2^255 - 19`.
pub struct Of25519;

impl Special for Of25519 {
    const SMALL: u32 = 38;
    const HAS_LIMB: bool = false;
    const PRIME: Limbs = [!18, !0, !0, !0, !0, !0, !0, !0 >> 1];
    const MULTIPLES: [Limbs; 3] = [[0; 8], Self::PRIME, [!37, !0, !0, !0, !0, !0, !0, !0]];
}

/// The field of such a prime.
pub struct Fold<S>(PhantomData<S>);

impl<S: Special> Fold<S> {
    /// The number `C`.
    const C: u64 = S::SMALL as u64 + ((S::HAS_LIMB as u64) << 32);

    /// `C` where `bit` is 1, 0 where it is 0.
    #[inline(always)]
    fn c_if(bit: u32) -> u64 {
        Self::C & u64::from(bit).wrapping_neg()
    }

    /// A number below `2^64`.
    #[inline(always)]
    fn short(number: u64) -> Limbs {
        [number as u32, (number >> 32) as u32, 0, 0, 0, 0, 0, 0]
    }

    /// The limbs with others in place of the two lowest.
    #[inline(always)]
    fn with_lowest([_, _, a, b, c, d, e, f]: Limbs, lowest: u64) -> Limbs {
        [lowest as u32, (lowest >> 32) as u32, a, b, c, d, e, f]
    }

    /// `lower + C upper`, below `2^256`.
    #[inline(always)]
    fn folded([lower, upper]: [Limbs; 2]) -> Limbs {
        let mut window = Row::new(lower);
        // The sum is less than B^9, so that nothing is carried above the ninth limb.
        let (_, [carry, _]) = window.add_product(S::SMALL, upper, [0; 2]);
        let (mut sum, above) = window.sum();
        let mut above = u64::from(above) + u64::from(carry);
        if S::HAS_LIMB {
            let [a, b, c, d, e, f, g, top] = upper;
            let carry;
            (sum, carry) = Row::add_digits(sum, [0, a, b, c, d, e, f, g]);
            above += u64::from(top) + u64::from(carry);
        }
        // `above` has at most 33 bits, and `C above` less than 67.
        let (low, high) = (above & 0xffff_ffff, above >> 32);
        let lowest = low * u64::from(S::SMALL);
        let mut again = Self::short(lowest);
        if S::HAS_LIMB {
            let second = (lowest >> 32) + low + high * u64::from(S::SMALL);
            again = [
                lowest as u32,
                second as u32,
                (second >> 32) as u32 + high as u32,
                0,
                0,
                0,
                0,
                0,
            ];
        }
        let (sum, carry) = Row::add_digits(sum, again);
        // After a carry the sum is less than 2^67.
        let [a, b, c, d, rest @ ..] = sum;
        let [x, y, z, w, ..] = Self::short(Self::c_if(carry));
        let ([a, b, c, d], _) = carry::add([a, b, c, d], [x, y, z, w], 0);
        let [e, f, g, h] = rest;
        [a, b, c, d, e, f, g, h]
    }
}

/// The lowest two limbs.
#[inline(always)]
fn lowest([a, b, ..]: Limbs) -> u64 {
    u64::from(a) | u64::from(b) << 32
}

/// `a b`, the lower and the upper half.
#[inline(always)]
fn product(a: Limbs, b: Limbs) -> [Limbs; 2] {
    let mut window = Row::new([0; 8]);
    let lower = each(|i| {
        let (lowest, carry) = window.multiply(a[i], b);
        window.slide([carry, 0]);
        lowest
    });
    [lower, window.sum().0]
}

impl<S: Special> Field for Fold<S> {
    type Element = Limbs;

    #[inline(always)]
    fn element(number: Limbs) -> Limbs {
        number
    }

    #[inline(always)]
    fn number(x: Limbs) -> Limbs {
        let reduced = |x| {
            let (less, borrow) = Row::subtract(x, S::PRIME, 0);
            Row::select(borrow.wrapping_neg(), x, less)
        };
        let once = reduced(x);
        // Of the primes only 2^255 - 19 has two multiples below 2^256 beside 0.
        if S::HAS_LIMB { once } else { reduced(once) }
    }

    #[inline(always)]
    fn add(a: Limbs, b: Limbs) -> Limbs {
        let (sum, carry) = Row::add_digits(a, b);
        let (sum, carry) = Row::add_digits(sum, Self::short(Self::c_if(carry)));
        // After a second carry the sum is less than C.
        Self::with_lowest(sum, lowest(sum).wrapping_add(Self::c_if(carry)))
    }

    #[inline(always)]
    fn sub(a: Limbs, b: Limbs) -> Limbs {
        let (difference, borrow) = Row::subtract(a, b, 0);
        let (difference, borrow) = Row::subtract(difference, Self::short(Self::c_if(borrow)), 0);
        // After a second borrow the difference is 2^256 - C or more.
        let least = lowest(difference).wrapping_sub(Self::c_if(borrow));
        Self::with_lowest(difference, least)
    }

    #[inline(always)]
    fn mul(a: Limbs, b: Limbs) -> Limbs {
        Self::folded(product(a, b))
    }

    #[inline(always)]
    fn square(a: Limbs) -> Limbs {
        Self::folded(triangle::square(a))
    }

    #[inline(always)]
    fn is_zero(a: Limbs) -> bool {
        let [x, y, z] = S::MULTIPLES.map(|multiple| Row::are_zero(each(|i| a[i] ^ multiple[i])));
        x | y | z
    }
}

/// The field of P-256.
///
/// The form of `x` is `x R`, with `R = 2^256`, and what a product is reduced to is `(t + q p) / R` for the `q` below `R` that makes
/// `t + q p` a multiple of `R` ([Montgomery 1985]). As `-1 / p` is `1 + 2^96 + 2^193 - 2^224` modulo `R`, and
/// `p = R - 2^224 + 2^192 + 2^96 - 1`, it takes sums alone. With the halves `u` and `l` of `t`, and upper halves only,
///
/// ```text
/// (t + q p) / R = u + q + q / 2^160 + q / 2^64 - q / 2^32 + k
/// k = (l - q + lower halves of 2^96 q + 2^192 q - 2^224 q) / R
/// ```
///
/// `k` is a whole number, and as it is more than -2, it is at least -1. The top limbs of the five tell it: cut to them, the sum is
/// wrong by less than three in `2^32`.
pub struct OfP256;

impl OfP256 {
    const PRIME: Limbs = [!0, !0, !0, 0, 0, 0, 1, !0];
    /// `2^256` modulo the prime.
    const ONE: Limbs = [1, 0, 0, !0, !0, !0, !1, 0];
    /// `2^512` modulo the prime.
    const SQUARE: Limbs = [3, 0, !0, !4, !1, !0, !2, 4];

    /// `t / R` modulo the prime, for `t` below `R` times the prime.
    #[inline(always)]
    fn divided([lower, upper]: [Limbs; 2]) -> Limbs {
        let [l0, l1, l2, l3, l4, _, _, l7] = lower;
        let ([q0, q1, q2, q3, q4, q5, q6, q7], _) =
            Row::add_digits(lower, [0, 0, 0, l0, l1, l2, l3, l4]);
        let pair = |low: Limb, high: Limb| u64::from(low) | u64::from(high) << 32;
        let top = pair(q6, q7)
            .wrapping_add(pair(l0, l1) << 1)
            .wrapping_sub(pair(0, l0));
        let (q6, q7) = (top as Limb, (top >> 32) as Limb);
        let tops = i64::from(l7) - i64::from(q7) + i64::from(q4) + i64::from(q1) - i64::from(q0);
        let k = tops + (1 << 31) >> 32;
        let (sum, a) = Row::add_digits(upper, [q0, q1, q2, q3, q4, q5, q6, q7]);
        let (sum, b) = Row::add_digits(sum, [q2, q3, q4, q5, q6, q7, 0, 0]);
        let (sum, c) = Row::add_digits(sum, [q5, q6, q7, 0, 0, 0, 0, 0]);
        // The subtraction takes off again what is added to `k`, by its borrow.
        let (sum, d) = Row::add_digits(sum, [(k + 1) as Limb, 0, 0, 0, 0, 0, 0, 0]);
        let (sum, e) = Row::subtract(sum, [q1, q2, q3, q4, q5, q6, q7, 0], 1);
        Self::reduced(sum, a + b + c + d - e)
    }

    /// `number + carry R`, which is less than twice the prime, modulo the prime.
    #[inline(always)]
    fn reduced(number: Limbs, carry: Limb) -> Limbs {
        let (less, borrow) = Row::subtract(number, Self::PRIME, 0);
        Row::select((borrow & !carry).wrapping_neg(), number, less)
    }
}

impl Field for OfP256 {
    type Element = Limbs;

    #[inline(always)]
    fn element(number: Limbs) -> Limbs {
        Self::mul(number, Self::SQUARE)
    }

    #[inline(always)]
    fn number(x: Limbs) -> Limbs {
        Self::divided([x, [0; 8]])
    }

    #[inline(always)]
    fn zero() -> Limbs {
        [0; 8]
    }

    #[inline(always)]
    fn one() -> Limbs {
        Self::ONE
    }

    #[inline(always)]
    fn add(a: Limbs, b: Limbs) -> Limbs {
        let (sum, carry) = Row::add_digits(a, b);
        Self::reduced(sum, carry)
    }

    #[inline(always)]
    fn sub(a: Limbs, b: Limbs) -> Limbs {
        let (difference, borrow) = Row::subtract(a, b, 0);
        let mask = borrow.wrapping_neg();
        Row::add_digits(difference, Self::PRIME.map(|limb| limb & mask)).0
    }

    #[inline(always)]
    fn mul(a: Limbs, b: Limbs) -> Limbs {
        Self::divided(product(a, b))
    }

    #[inline(always)]
    fn square(a: Limbs) -> Limbs {
        Self::divided(triangle::square(a))
    }

    #[inline(always)]
    fn is_zero(a: Limbs) -> bool {
        Row::are_zero(a)
    }
}
