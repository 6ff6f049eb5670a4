//! Multiplication by a transform over integers modulo three primes.
//!
//! The maths, the primes and the tree are those of [`bigint_core::transform::ntt`]. Limbs are
//! coefficients of polynomials modulo `x^N - 1`, where `N` is the next power of two from the limbs
//! of both operands together. The way down the tree consists of butterflies `a + w b` and
//! `a - w b`, where the `w` of node `b` is the same at every depth. It ends at values, whose
//! products go up again. The Chinese remainder theorem makes coefficients below `2^89` of their
//! residues modulo the primes.
//!
//! **Cost**: `9/2 N log2 N` butterflies, with a division of words each. **Scratch**: `24 N` bytes.

use bigint_core::transform::ntt::{LOG_ORDER, PRIMES, Prime};
use bigint_core::{LIMB_BITS, Limb};

/// Computes `r = (a * b) mod 2^(32 w)`.
///
/// ```
/// let mut r = [0; 2];
/// bigint_cpu::reference::mul::ntt(&mut r, &[u32::MAX], &[u32::MAX]);
/// assert_eq!(r, [1, u32::MAX - 1]);
/// ```
pub fn ntt(r: &mut [Limb], a: &[Limb], b: &[Limb]) {
    // Limbs above those of the result do not change it.
    let [a, b] = [a, b].map(|x| &x[..x.len().min(r.len())]);
    let length = (a.len() + b.len()).next_power_of_two();
    if length > 1 << LOG_ORDER {
        // The product is longer than there are roots for.
        return super::fft(r, a, b);
    }
    let residues = PRIMES.map(|prime| product(prime, a, b, length));
    let mut carry = 0_u128;
    for (k, limb) in r.iter_mut().enumerate() {
        if let Some(x0) = residues[0].get(k) {
            carry += coefficient([*x0, residues[1][k], residues[2][k]]);
        }
        *limb = carry as Limb;
        carry >>= LIMB_BITS;
    }
}

/// The coefficients of the product modulo a prime.
fn product(prime: Prime, a: &[Limb], b: &[Limb], length: usize) -> Vec<u32> {
    let residues = |limbs: &[Limb]| {
        let mut v = vec![0; length];
        for (residue, limb) in v.iter_mut().zip(limbs) {
            *residue = limb % prime.p;
        }
        v
    };
    let (mut x, mut y) = (residues(a), residues(b));
    let nodes: Vec<u32> = (0..length as u32 / 2).map(|b| prime.node(b)).collect();
    let back: Vec<u32> = nodes.iter().map(|w| prime.invert(*w)).collect();
    down(prime, &mut x, &nodes);
    down(prime, &mut y, &nodes);
    let scale = prime.invert(length as u32 % prime.p);
    for (x, y) in x.iter_mut().zip(y) {
        *x = prime.times(prime.times(*x, y), scale);
    }
    up(prime, &mut x, &back);
    x
}

/// Takes a polynomial modulo `x^N - 1` to its values at the roots of that.
fn down(prime: Prime, v: &mut [u32], nodes: &[u32]) {
    let mut size = v.len();
    while size > 1 {
        for (node, w) in v.chunks_exact_mut(size).zip(nodes) {
            let (low, high) = node.split_at_mut(size / 2);
            for (a, b) in low.iter_mut().zip(high) {
                let product = prime.times(*b, *w);
                *b = (*a + prime.p - product) % prime.p;
                *a = (*a + product) % prime.p;
            }
        }
        size /= 2;
    }
}

/// Goes the way back by the inverses of all `w`, which gives `N` times the polynomial.
fn up(prime: Prime, v: &mut [u32], back: &[u32]) {
    let mut size = 2;
    while size <= v.len() {
        for (node, w) in v.chunks_exact_mut(size).zip(back) {
            let (low, high) = node.split_at_mut(size / 2);
            for (a, b) in low.iter_mut().zip(high) {
                let difference = (*a + prime.p - *b) % prime.p;
                *a = (*a + *b) % prime.p;
                *b = prime.times(difference, *w);
            }
        }
        size *= 2;
    }
}

/// The number below the product of the primes that has these residues, by Garner's method.
fn coefficient([x0, x1, x2]: [u32; 3]) -> u128 {
    let [first, second, third] = PRIMES;
    let lacks = |prime: Prime, found: u128, wanted: u32, unit: u128| {
        let p = u128::from(prime.p);
        let inverse = prime.invert((unit % p) as u32);
        let less = (found % p) as u32;
        u128::from(prime.times((wanted + prime.p - less) % prime.p, inverse)) * unit
    };
    let found = u128::from(x0);
    let unit = u128::from(first.p);
    let found = found + lacks(second, found, x1, unit);
    found + lacks(third, found, x2, unit * u128::from(second.p))
}

#[cfg(test)]
mod tests {
    use super::super::school;
    use super::*;

    #[test]
    fn products_of_the_greatest_limbs_agree_with_rows() {
        for n in [1, 2, 3, 5, 16, 33, 256, 700] {
            for limb in [Limb::MAX, 0x8000_8000, 1 << 31, PRIMES[0].p, 1] {
                let (a, b) = (vec![limb; n], vec![limb; n / 2 + 1]);
                for width in [2 * n, n, 2 * n + 3] {
                    let (mut found, mut expected) = (vec![1; width], vec![0; width]);
                    ntt(&mut found, &a, &b);
                    school(&mut expected, &a, &b);
                    assert_eq!(found, expected, "{n} {limb:x} {width}");
                }
            }
        }
    }
}
