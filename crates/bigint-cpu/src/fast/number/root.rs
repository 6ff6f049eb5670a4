//! Square roots and roots of any degree of one number, with their remainders.
//!
//! **Square roots** [Zimmermann 1999]. Let `x = x_3 B^3l + x_2 B^2l + x_1 B^l + x_0`, with one
//! of the two top bits set. The root of the upper half and a division give the root of `x`, or
//! one more:
//!
//! ```text
//! (s', r') = sqrt(x_3 B^l + x_2),    (q, u) = (r' B^l + x_1) / 2 s',
//! s = s' B^l + q,    r = u B^l + x_0 - q^2
//! ```
//!
//! If `r` is negative, the root is `s - 1` and the remainder `r + 2 s - 1`.
//!
//! An example in decimal: for 1234, the root of 12 is 3, and 3 is left. 33 / 6 is 5, and 3 is
//! left. 34 - 25 = 9, so the root is 35, and 9 is left.
//!
//! **Roots of degree `k`** are computed by Newton's step
//! `x <- floor(((k - 1) x + floor(a / x^(k-1))) / k)` from above. `x` decreases until it is the
//! root. It begins as the root of the upper half of the digits, plus one, so one or two steps
//! are enough.
//!
//! **Cost**: that of a few divisions, and for degree `k` of as many powers with the exponent
//! `k - 1`.

use super::division::{self, div_rem};
use super::limbs::{
    add_assign, decrement, increment, is_less_trimmed, shift_left, shift_right_by, sub_assign, trim,
};
use super::reciprocal::product;
use crate::Path;
use crate::memory::scratch;

/// The bits of a root up to which it is estimated by a double.
const ESTIMATED: u64 = 30;

/// The square root of `a`, rounded down, and its remainder. `a` has no zeros at its end.
pub(crate) fn sqrt(a: &[u64], path: Path) -> (Vec<u64>, Vec<u64>) {
    let Some(top) = a.last() else {
        return (Vec::new(), Vec::new());
    };
    let k = a.len().div_ceil(2);
    let bits = top.leading_zeros() & !1;
    let mut x = vec![0; 2 * k];
    shift_left(&mut x[2 * k - a.len()..], a, bits);
    let mut root = scratch(k);
    let over = of_half(&mut root, &mut x, path);
    let odd = 64 * (2 * k - a.len()) as u32;
    if odd + bits == 0 {
        x.truncate(k);
        x.push(over.into());
        return (root, trim(x));
    }
    // By at most 62 bits.
    shift_right_by(&mut root, (odd + bits) / 2);
    let root = trim(root);
    let square = product(&root, &root);
    let mut rest = a.to_vec();
    sub_assign(&mut rest, &square);
    (root, trim(rest))
}

/// Computes the root of `x`, which is twice as long as `root` and has one of its two top bits
/// set. The remainder is left in the lower half of `x`, and its top bit is the flag that is
/// returned.
fn of_half(root: &mut [u64], x: &mut [u64], path: Path) -> bool {
    let k = root.len();
    if k == 1 {
        let rest;
        (root[0], rest) = of_words(x[1], x[0]);
        x[0] = rest as u64;
        return rest >> 64 != 0;
    }
    let (l, h) = (k / 2, k - k / 2);
    let (q, s) = root.split_at_mut(l);
    let mut above = u64::from(of_half(s, &mut x[2 * l..], path));
    if above > 0 {
        sub_assign(&mut x[2 * l..][..h], s);
    }
    above += u64::from(division::divide(q, &mut x[l..2 * l + h], s, path));
    // By 2 s' in place of s'.
    let is_odd = q[0] & 1 == 1;
    shift_right_by(q, 1);
    q[l - 1] |= above << 63;
    above >>= 1;
    let mut rest = i64::from(is_odd && add_assign(&mut x[l..l + h], s));
    let whole = &mut x[..k];
    super::with_scratch(2 * l, |square| {
        super::mul(square, q, q, path, true);
        rest -= i64::from(sub_assign(whole, square));
    });
    if above > 0 {
        // q = B^l.
        rest -= match whole.get_mut(2 * l..) {
            Some(high) if !high.is_empty() => i64::from(decrement(high)),
            _ => 1,
        };
        above = u64::from(increment(s));
    }
    if rest < 0 {
        rest += 2 * above as i64;
        rest += i64::from(add_assign(whole, root));
        rest += i64::from(add_assign(whole, root));
        rest -= i64::from(decrement(whole));
        decrement(root);
    }
    rest > 0
}

/// The root of two words, and its remainder. One of the two top bits is set.
///
/// The root in doubles is off by less than 2^12, and by less than 1 after one step of Newton's
/// method.
fn of_words(high: u64, low: u64) -> (u64, u128) {
    let value = u128::from(high) << 64 | u128::from(low);
    let root = (high as f64 * 2_f64.powi(64)).sqrt() as u64;
    let rest = value.wrapping_sub(u128::from(root) * u128::from(root)) as i128;
    let step = rest as f64 / (2.0 * root as f64);
    let mut root = root.saturating_add_signed(step as i64);
    let mut rest = value.wrapping_sub(u128::from(root) * u128::from(root));
    while (rest as i128) < 0 {
        root -= 1;
        rest = rest.wrapping_add(2 * u128::from(root) + 1);
    }
    while rest > 2 * u128::from(root) {
        rest -= 2 * u128::from(root) + 1;
        root += 1;
    }
    (root, rest)
}

/// The `k`-th root of `a`, rounded down, and its remainder. `a` has no zeros at its end, and
/// `k` is not zero.
pub(crate) fn root(a: &[u64], k: u64, path: Path) -> (Vec<u64>, Vec<u64>) {
    match k {
        1 => return (a.to_vec(), Vec::new()),
        2 => return sqrt(a, path),
        // Below 2^k.
        _ if bit_length(a) <= k => {
            let root = vec![1; a.len().min(1)];
            let mut rest = a.to_vec();
            sub_assign(&mut rest, &root);
            return (root, trim(rest));
        }
        _ => {}
    }
    let root = root_alone(a, k, path);
    let mut rest = a.to_vec();
    sub_assign(&mut rest, &power(&root, k));
    (root, trim(rest))
}

/// The `k`-th root of a number of more than `k` bits, rounded down.
fn root_alone(a: &[u64], k: u64, path: Path) -> Vec<u64> {
    let bits = bit_length(a);
    let bits_of_root = (bits - 1) / k + 1;
    let mut x = if bits_of_root <= ESTIMATED {
        let top = shifted_right(a, bits.saturating_sub(64));
        let logarithm = (top[0] as f64).log2() + bits.saturating_sub(64) as f64;
        // The logarithm of the root is right to 2^-44, so the root, which has at most 30 bits,
        // is off by less than 1.
        vec![(logarithm / k as f64).exp2() as u64 + 2]
    } else {
        let half = bits_of_root / 2;
        let mut upper = root_alone(&shifted_right(a, half * k), k, path);
        upper.push(0);
        increment(&mut upper);
        let zeros = half as usize / 64;
        let mut x = vec![0; zeros + upper.len() + 1];
        shift_left(&mut x[zeros..], &upper, half as u32 % 64);
        trim(x)
    };
    loop {
        let (mut sum, _) = div_rem(a, &power(&x, k - 1), path);
        let others = product(&x, &[k - 1]);
        sum.resize(sum.len().max(others.len()) + 1, 0);
        add_assign(&mut sum, &others);
        let (next, _) = div_rem(&trim(sum), &[k], path);
        if !is_less_trimmed(&next, &x) {
            return x;
        }
        x = next;
    }
}

/// `x^k`, trimmed.
fn power(x: &[u64], k: u64) -> Vec<u64> {
    let mut power = vec![1];
    for bit in (0..u64::BITS - k.leading_zeros()).rev() {
        power = product(&power, &power);
        if k >> bit & 1 == 1 {
            power = product(&power, x);
        }
    }
    power
}

/// The length of `x`, trimmed, in bits.
pub(crate) fn bit_length(x: &[u64]) -> u64 {
    let top = x.last().map_or(0, |top| top.leading_zeros());
    64 * x.len() as u64 - u64::from(top)
}

/// `x / 2^bits`, trimmed, rounded down.
pub(crate) fn shifted_right(x: &[u64], bits: u64) -> Vec<u64> {
    let mut rest = x.get(bits as usize / 64..).unwrap_or(&[]).to_vec();
    shift_right_by(&mut rest, bits as u32 % 64);
    trim(rest)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Random, adversaries, big};
    use super::*;

    fn check(a: &BigUint, k: u64) {
        let (found, rest) = root(&trim(a.to_u64_digits()), k, Path::best());
        let found = big(&found);
        let k = u32::try_from(k).unwrap();
        assert_eq!(found.pow(k) + big(&rest), *a, "{k} {a:#x}");
        assert!((found + 1u32).pow(k) > *a, "{k} {a:#x}");
    }

    #[test]
    fn roots_of_powers_and_their_neighbours_are_exact() {
        let mut random = Random(29);
        for n in [1, 2, 3, 4, 5, 8, 33, 100, 203] {
            for x in adversaries(n, &mut random) {
                let x = big(&x);
                for k in [2, 3, 5, 7, 64] {
                    check(&x, k);
                    if n < 9 {
                        let power = x.pow(k as u32);
                        check(&(&power + 1u32), k);
                        if power.bits() > 0 {
                            check(&(&power - 1u32), k);
                        }
                        check(&power, k);
                    }
                }
                let (one, rest) = root(&trim(x.to_u64_digits()), u64::MAX, Path::best());
                assert_eq!(big(&one) + big(&rest), x);
                assert_eq!(one, vec![1; usize::from(x.bits() > 0)]);
                check(&(&x * &x), 2);
                check(&(&x * &x + &x + &x), 2);
            }
        }
    }
}
