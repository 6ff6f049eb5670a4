//! The division of one number by another, in place.
//!
//! ```text
//! divide -> by length of quotient and divisor:
//!           word        one limb [Möller and Granlund 2011]
//!           school      limb by limb (Knuth's algorithm D)
//!           recursive   halves of the quotient [Burnikel and Ziegler 1998]
//!           reciprocal  pieces, by products with the reciprocal of the divisor's top (Newton)
//! ```
//!
//! All methods take a dividend `a` of `k + m` limbs, and a divisor `d` of `m` limbs whose top
//! bit is set. They store `k` limbs of the quotient in `q`, and the remainder in the lower `m`
//! limbs of `a`. The other limbs of `a` may hold anything afterwards. They return whether the
//! quotient has one more limb, which is then 1. It has if the upper `m` limbs of `a` are not
//! less than `d`.
//!
//! **Recursion.** A quotient shorter than the divisor is computed from the upper `2 k` limbs of
//! `a` and the upper `k` limbs of `d`. Its product with the other limbs of `d` is subtracted
//! from the remainder. If that becomes negative, the quotient was too large, by at most 2. A
//! quotient as long as the divisor is computed in two halves, and a longer one in pieces as
//! long as `d`.
//!
//! An example in decimal is 4321 / 56 (`k` = `m` = 2). The upper half of the quotient, one limb,
//! is that of 432 / 56. 43 / 5 is 8, and 3 is left. 32 - 8 * 6 is negative, so the digit is 7,
//! and 32 - 48 + 56 = 40 is left. The lower half is the quotient of 401 / 56. 40 / 5 is 8, and 0
//! is left. 1 - 8 * 6 is negative, so the digit is 7, and 1 - 48 + 56 = 9 is left. So the
//! quotient is 77, and the remainder 9.
//!
//! **Cost**: `k m` products of limbs for `school`. With `M(n)` the cost of a product of `n`
//! limbs, about `2 M(n) + M(n / 2) log n` for `recursive` with Karatsuba's products, and five
//! products of `m` limbs for `reciprocal`. **Scratch**: at most a few times the operands, which
//! the functions allocate.

use super::limbs::{
    add_assign, decrement, is_less, shift_left, shift_right_by, sub_assign, sub_product, trim,
};
use super::reciprocal::Divisor;
use super::with_scratch;
use crate::Path;
use crate::memory::scratch;

/// The limbs of a quotient from which on it is computed in halves.
const RECURSIVE: usize = 24;

/// The limbs of a divisor and of a quotient from which on a reciprocal is faster than halves.
const RECIPROCAL: usize = 1000;

/// Divides `a` by `d`, as the module describes.
pub(crate) fn divide(q: &mut [u64], a: &mut [u64], d: &[u64], path: Path) -> bool {
    debug_assert!(a.len() == q.len() + d.len() && d.last().is_some_and(|top| top >> 63 == 1));
    let (k, m) = (q.len(), d.len());
    let top = &mut a[k..];
    let over = !is_less(top, d);
    if over {
        sub_assign(top, d);
    }
    if m == 1 {
        by_word(q, a, d[0]);
    } else {
        below(q, a, d, path);
    }
    over
}

/// Computes [`divide`] for an `a` whose upper `m` limbs are less than `d`, which has at least
/// two limbs.
fn below(q: &mut [u64], a: &mut [u64], d: &[u64], path: Path) {
    let (k, m) = (q.len(), d.len());
    if k.min(m) < RECURSIVE {
        school(q, a, d);
    } else if k < m {
        shorter(q, a, d, path);
    } else if m >= RECIPROCAL {
        by_reciprocal(q, a, d, path);
    } else if k == m {
        let half = k / 2;
        shorter(&mut q[half..], &mut a[half..], d, path);
        shorter(&mut q[..half], &mut a[..half + m], d, path);
    } else {
        let mut end = k;
        while end > 0 {
            // The first piece is the short one, if there is one.
            let start = (end - 1) / m * m;
            below(&mut q[start..end], &mut a[start..end + m], d, path);
            end = start;
        }
    }
}

/// Computes [`below`] for a quotient shorter than the divisor.
fn shorter(q: &mut [u64], a: &mut [u64], d: &[u64], path: Path) {
    let (k, m) = (q.len(), d.len());
    if k < RECURSIVE {
        return school(q, a, d);
    }
    let (low, high) = d.split_at(m - k);
    let mut above = u64::from(divide(q, &mut a[m - k..], high, path));
    let left = &mut a[..m];
    let mut negative = 0;
    with_scratch(m, |product| {
        super::mul(product, q, low, path, false);
        negative += u64::from(sub_assign(left, product));
    });
    if above > 0 {
        negative += u64::from(sub_assign(&mut left[k..], low));
    }
    while negative > 0 {
        above -= u64::from(decrement(q));
        negative -= u64::from(add_assign(left, d));
    }
    debug_assert!(above == 0);
}

/// Computes [`below`] limb by limb.
fn school(q: &mut [u64], a: &mut [u64], d: &[u64]) {
    let m = d.len();
    let top = Top::new(d[m - 1], d[m - 2]);
    for (j, q) in q.iter_mut().enumerate().rev() {
        let u = &mut a[j..=j + m];
        let mut quotient = top.quotient([u[m - 2], u[m - 1], u[m]]);
        if sub_product(u, d, quotient) {
            quotient -= 1;
            add_assign(u, d);
        }
        *q = quotient;
    }
}

/// Divides as [`below`] by a divisor of one limb.
fn by_word(q: &mut [u64], a: &mut [u64], d: u64) {
    let top = Top::new(d, 0);
    let mut remainder = a[q.len()];
    for (q, &limb) in q.iter_mut().zip(&*a).rev() {
        // If the second limb of the divisor is zero, three limbs by two are the same as two
        // limbs by one.
        *q = top.quotient([0, limb, remainder]);
        remainder = limb.wrapping_sub(q.wrapping_mul(d));
    }
    a[0] = remainder;
}

/// Computes [`below`] by the reciprocal of the divisor's top, in two pieces, or more that are no longer than the divisor.
fn by_reciprocal(q: &mut [u64], a: &mut [u64], d: &[u64], path: Path) {
    let (k, m) = (q.len(), d.len());
    let piece = k.div_ceil(k.div_ceil(m).max(2));
    let divisor = Divisor::new(d, piece, path);
    let mut end = k;
    while end > 0 {
        // The first piece is the short one, if there is one.
        let start = (end - 1) / piece * piece;
        divisor.divide(&mut q[start..end], &mut a[start..end + m]);
        end = start;
    }
}

/// The top of a divisor whose highest bit is set, and its reciprocal
/// ([Möller and Granlund 2011], algorithms 4 and 6).
#[derive(Clone, Copy)]
struct Top {
    /// The two highest limbs of the divisor.
    limbs: u128,
    /// `floor((B^3 - 1) / limbs) - B`.
    reciprocal: u64,
}

impl Top {
    fn new(high: u64, low: u64) -> Top {
        let mut v = (u128::MAX / u128::from(high)) as u64;
        let mut p = high.wrapping_mul(v).wrapping_add(low);
        if p < low {
            v = v.wrapping_sub(1);
            if p >= high {
                v = v.wrapping_sub(1);
                p = p.wrapping_sub(high);
            }
            p = p.wrapping_sub(high);
        }
        let t = u128::from(v) * u128::from(low);
        let (p, over) = p.overflowing_add((t >> 64) as u64);
        let limbs = word(high, low);
        if over {
            v = v.wrapping_sub(1);
            if word(p, t as u64) >= limbs {
                v = v.wrapping_sub(1);
            }
        }
        Top {
            limbs,
            reciprocal: v,
        }
    }

    /// The quotient of three limbs by the two limbs of the divisor, or `B - 1` if it is `B`.
    #[inline(always)]
    fn quotient(self, [low, middle, high]: [u64; 3]) -> u64 {
        let upper = word(high, middle);
        if upper >= self.limbs {
            return u64::MAX;
        }
        let estimate = (u128::from(self.reciprocal) * u128::from(high)).wrapping_add(upper);
        let mut q = (estimate >> 64) as u64;
        let top = (self.limbs >> 64) as u64;
        let rest = word(middle.wrapping_sub(q.wrapping_mul(top)), low)
            .wrapping_sub(u128::from(self.limbs as u64) * u128::from(q));
        let mut less = rest.wrapping_sub(self.limbs);
        q = q.wrapping_add(1);
        if (less >> 64) as u64 >= estimate as u64 {
            q = q.wrapping_sub(1);
            less = rest;
        }
        if less >= self.limbs {
            q = q.wrapping_add(1);
        }
        q
    }
}

fn word(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// The quotient and the remainder of `a` by `d`. `d` is not zero. No operand or result has
/// zeros at its end.
pub(crate) fn div_rem(a: &[u64], d: &[u64], path: Path) -> (Vec<u64>, Vec<u64>) {
    let (n, m) = (a.len(), d.len());
    if n < m {
        return (Vec::new(), a.to_vec());
    }
    if n <= 2 {
        let value = |x: &[u64]| {
            x.iter()
                .rev()
                .fold(0, |x, &word| x << 64 | u128::from(word))
        };
        let words = |x: u128| trim(vec![x as u64, (x >> 64) as u64]);
        return (words(value(a) / value(d)), words(value(a) % value(d)));
    }
    let bits = d[m - 1].leading_zeros();
    let (mut left, mut divisor) = (vec![0; n + 1], vec![0; m]);
    shift_left(&mut left, a, bits);
    shift_left(&mut divisor, d, bits);
    let mut quotient = scratch(n + 1 - m);
    divide(&mut quotient, &mut left, &divisor, path);
    left.truncate(m);
    shift_right_by(&mut left, bits);
    (trim(quotient), trim(left))
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Random, adversaries, big};
    use super::*;

    fn any<'a>(numbers: &'a [Vec<u64>], random: &mut Random) -> &'a [u64] {
        &numbers[random.next() as usize % numbers.len()]
    }

    fn check(a: &[u64], d: &[u64]) {
        let mut d = d.to_vec();
        *d.last_mut().unwrap() |= 1 << 63;
        let (mut left, mut q) = (a.to_vec(), vec![7; a.len() - d.len()]);
        let over = divide(&mut q, &mut left, &d, Path::best());
        let one = BigUint::from(u32::from(over));
        assert_eq!(
            big(&q) + (one << (64 * q.len())),
            big(a) / big(&d),
            "{a:x?} {d:x?}"
        );
        assert_eq!(big(&left[..d.len()]), big(a) % big(&d), "{a:x?} {d:x?}");
    }

    #[test]
    fn quotients_of_every_kind_and_length_are_exact() {
        let mut random = Random(23);
        let lengths = [1, 2, 3, 5, 47, 48, 49, 97, 130];
        for m in lengths {
            for d in &adversaries(m, &mut random) {
                for k in [0, 1, 2, 47, 48, 49, 97, 211] {
                    let dividends = adversaries(k + m, &mut random);
                    check(any(&dividends, &mut random), d);
                    // Quotients at the ends of their range.
                    let mut d = d.clone();
                    d[m - 1] |= 1 << 63;
                    let ones = (BigUint::from(1u32) << (64 * k)) - 1u32;
                    let product = ones * big(&d);
                    let ends = [BigUint::ZERO, big(&d) - 1u32, BigUint::from(1u32)];
                    for end in &ends {
                        let mut a = (&product + end).to_u64_digits();
                        a.resize(a.len().max(k + m), 0);
                        check(&a[..k + m], &d);
                    }
                }
            }
        }
    }

    #[test]
    fn quotients_by_reciprocals_are_exact() {
        let mut random = Random(24);
        for (k, m) in [
            (1000, 1000),
            (1001, 1000),
            (1500, 1100),
            (2100, 1001),
            (1000, 1900),
            (2900, 1450),
            (1400, 1399),
            (3002, 1501),
        ] {
            let dividends = adversaries(k + m, &mut random);
            for mut d in adversaries(m, &mut random) {
                check(any(&dividends, &mut random), &d);
                // Quotients at the ends of their range, and beside them.
                d[m - 1] |= 1 << 63;
                let d = big(&d);
                let ones = (BigUint::from(1u32) << (64 * k)) - 1u32;
                let end = [BigUint::ZERO, &d - 1u32, BigUint::from(1u32)];
                let end = &end[random.next() as usize % 3];
                let mut a = (ones * &d + end).to_u64_digits();
                a.resize(k + m, 0);
                check(&a, &d.to_u64_digits());
            }
        }
    }
}
