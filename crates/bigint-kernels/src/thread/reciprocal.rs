//! Reciprocals of the highest limbs of a divisor, quotients by them, and roots of a word.
//! [`division`](super::division) and [`isqrt`](super::isqrt) use them, for threads and for lanes.

use super::place::word;
use crate::gpu::row::{Row, product};
use crate::gpu::{carry, float};
use bigint_core::{LIMB_BITS, Limb};

/// The reciprocal of the two highest limbs `d` of a divisor whose highest bit is set.
///
/// Let the dividend have the two highest limbs `u2 u1`, and be below `B` times the divisor. With
/// the two limbs `r1 r0` of `r = floor((B^4 - 1) / d) - B^2`, the quotient is near
///
/// ```text
/// (u2 B + u1 + (u2 B + u1) r / B^2) / B.
/// ```
///
/// In units of `1 / B` of the quotient, this is too small by less than 2 for the lower limbs of the
/// dividend, by less than 2 for `r`, which may be one too small, and by less than 3 for lower
/// halves of products that are left out. It is too large by less than 2 for the lower limbs of the
/// divisor. With 7 units added, the integer part is the quotient, or, by chance in 9 of `B` cases,
/// one more.
#[derive(Clone, Copy)]
pub struct Top {
    reciprocal: [Limb; 2],
}

impl Top {
    /// The reciprocal of a divisor with these highest limbs.
    #[inline(always)]
    pub fn new(high: Limb, low: Limb) -> Top {
        // This is `floor((B^3 - 1) / d) - B` by algorithm 6 of [Möller and Granlund 2011].
        let mut v = reciprocal(high);
        let mut p = high.wrapping_mul(v).wrapping_add(low);
        if p < low {
            v = v.wrapping_sub(1);
            if p >= high {
                v = v.wrapping_sub(1);
                p = p.wrapping_sub(high);
            }
            p = p.wrapping_sub(high);
        }
        let t = u64::from(v) * u64::from(low);
        let (p, over) = p.overflowing_add((t >> LIMB_BITS) as Limb);
        let d = word(high, low);
        if over {
            v = v.wrapping_sub(1);
            if word(p, t as Limb) >= d {
                v = v.wrapping_sub(1);
            }
        }
        // The remainder of `B^3 - 1`, and its quotient by algorithm 4.
        let left = !d.wrapping_mul(u64::from(v)).wrapping_add(d << LIMB_BITS);
        let estimate = (u64::from(v) * (left >> LIMB_BITS)).wrapping_add(left);
        let mut next = ((estimate >> LIMB_BITS) as Limb).wrapping_add(1);
        let rest = word(left as Limb, Limb::MAX).wrapping_sub(d.wrapping_mul(u64::from(next)));
        if (rest >> LIMB_BITS) as Limb >= estimate as Limb {
            next = next.wrapping_sub(1);
        }
        Top {
            reciprocal: [next, v],
        }
    }

    /// The quotient of a dividend with these limbs on top, or one more. It is `B - 1` if that would
    /// be `B`.
    #[inline(always)]
    pub fn quotient(self, [u1, u2]: [Limb; 2]) -> Limb {
        let [r0, r1] = self.reciprocal;
        let upper = |x: Limb, y: Limb| (u64::from(x) * u64::from(y)) >> LIMB_BITS;
        let (sum, over) = (u64::from(u2) * u64::from(r1)).overflowing_add(word(u2, u1));
        let (sum, more) = sum.overflowing_add(upper(u2, r0) + upper(u1, r1) + 7);
        if over | more {
            Limb::MAX
        } else {
            (sum >> LIMB_BITS) as Limb
        }
    }
}

/// `floor((B^2 - 1) / high) - B`, for a limb `high` whose top bit is set.
#[inline(always)]
fn reciprocal(high: Limb) -> Limb {
    const RADIX: f64 = 4_294_967_296.0;
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let divisor = float::whole(high);
    // After a step of Newton's method this is within 2^-38, so within 2^-5 when multiplied by B^2.
    let x = float::reciprocal(divisor);
    let x = float::multiply_add(x, float::multiply_add(-divisor, x, 1.0), x);
    let estimate = float::multiply_add(x, RADIX * RADIX, -RADIX - 0.75);
    // The integer nearest to that is right, or one too small.
    let v = (estimate + TWO_52).to_bits() as Limb;
    let left = !(u64::from(v) * u64::from(high)).wrapping_add(word(high, 0));
    if left >= u64::from(high) {
        v.wrapping_add(1)
    } else {
        v
    }
}

/// The reciprocal for quotients of two limbs at a time, as [`Top`] is for one limb. Its three limbs
/// `r` are near `B^(N + 3) / v - B^3` for a divisor `v` of `N` limbs.
///
/// Let the dividend have the three highest limbs `u3 u2 u1`, and be below `B^2` times the divisor.
/// The quotient is near
///
/// ```text
/// (u3 B^2 + u2 B + u1 + (u3 B^2 + u2 B + u1) r / B^3) / B.
/// ```
///
/// In units of `1 / B` of the quotient, this is too small by less than 2 for the lower limbs of the
/// dividend, by less than 4 for `r`, by less than 3 for products that are left out, and by less
/// than 3 where only upper halves of products are summed. It is too large by less than 5 for `r`.
/// With 12 units added, the integer part is the quotient, or, by chance in 17 of `B` cases, one
/// more.
#[derive(Clone, Copy)]
pub struct LongTop {
    reciprocal: [Limb; 3],
}

impl LongTop {
    /// The reciprocal of a divisor with the four highest limbs `d`, lowest first.
    ///
    /// The reciprocal of the highest two limbs, `k = 1 + r1 / B + r0 / B^2`, is off by `-1 / B^2`
    /// to `4 / B^2`. A step of Newton's method makes it `k + k e`, where `e = 1 - d k / B^4`. The
    /// step rounds `e` down to a multiple of `B^-3`, which is from `-4 B` to `B` times that and at
    /// most doubled by `k`; it rounds the product down, and leaves `r0 e` out. So the result is too
    /// small by less than 4 `B^-3`, or too large by less than 5 `B^-3`.
    #[inline(always)]
    pub fn new(d: [Limb; 4]) -> LongTop {
        let [r0, r1] = Top::new(d[3], d[2]).reciprocal;
        let (product_of_low, over) = [0, 0, d[0], d[1]].multiply_add([r0, r1], d);
        let e = !word(over[0].wrapping_add(d[2]), product_of_low[3]) as i64;
        let [_, upper] = product(e as Limb, r1);
        let more = e + (e >> LIMB_BITS) * i64::from(r1) + i64::from(upper);
        // The sum may overflow where `d` is one half, with all other bits clear, and may be
        // negative where `d` is all ones.
        let [low, middle, high] = [
            more as Limb,
            (more >> LIMB_BITS) as Limb,
            (more >> 63) as Limb,
        ];
        let ([low, middle, high, sign], _) =
            carry::add([0, r0, r1, 0], [low, middle, high, high], 0);
        let reciprocal = match sign {
            0 => [low, middle, high],
            1 => [Limb::MAX; 3],
            _ => [0; 3],
        };
        LongTop { reciprocal }
    }

    /// The quotient of a dividend with these limbs on top, or one more. It is `B^2 - 1` if that
    /// would be `B^2`.
    #[inline(always)]
    pub fn quotient(self, [u1, u2, u3]: [Limb; 3]) -> [Limb; 2] {
        let [r0, r1, r2] = self.reciprocal;
        let both = |x: Limb, y: Limb| product(x, y).map(u64::from);
        let [a, b, c] = [both(u3, r2), both(u3, r1), both(u2, r2)];
        let [d, e, f] = [both(u3, r0), both(u2, r1), both(u1, r2)];
        let guard = d[1] + e[1] + f[1] + u64::from(u1) + 12 + b[0] + c[0];
        let low = (guard >> LIMB_BITS) + u64::from(u2) + a[0] + b[1] + c[1];
        let high = (low >> LIMB_BITS) + u64::from(u3) + a[1];
        if high >> LIMB_BITS != 0 {
            [Limb::MAX; 2]
        } else {
            [low as Limb, high as Limb]
        }
    }
}

/// `floor(sqrt(x))`, for `x` with one of its two top bits set.
#[inline(always)]
pub fn root_of_word(x: u64) -> u64 {
    let most = u64::from(Limb::MAX);
    // This root is off by one at most.
    let root = (float::sqrt(x as f64) as u64).min(most);
    let root = if root * root > x { root - 1 } else { root };
    if root < most && (root + 1) * (root + 1) <= x {
        root + 1
    } else {
        root
    }
}
