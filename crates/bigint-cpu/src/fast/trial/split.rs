//! Divisors of composite numbers, by Pollard's rho method [Pollard 1975].
//!
//! The walk `x -> x^2 + c` modulo a divisor `f` of `q` repeats itself after about `sqrt(f)` steps.
//! The difference of two values that are the same modulo `f` has the divisor `f` in common with
//! `q`. Brent's method finds such values: it compares every value with the last one whose number is
//! a power of two.
//!
//! **Cost**: about `1.5 sqrt(f)` steps of two products each, and a gcd for every 64 steps.

use super::modular::Modulus;

/// The steps between two gcds.
const STEPS: u32 = 64;

/// A divisor of an odd composite `q` of at most 124 bits, neither 1 nor `q`.
///
/// ```
/// use bigint_cpu::fast::trial::divisor;
/// let q = 193_707_721 * 761_838_257_287;
/// assert!([193_707_721, 761_838_257_287].contains(&divisor(q)));
/// ```
///
/// # Panics If `q` is even, or has more than 124 bits. For primes and 1 the search never ends.
pub fn divisor(q: u128) -> u128 {
    assert!(q % 2 == 1 && q >> 124 == 0);
    // The walks modulo a small prime and modulo its square repeat themselves together.
    let root = q.isqrt();
    if root * root == q {
        return root;
    }
    let modulus = Modulus::new(q);
    // If all divisors are found together for one `c`, another `c` gives another walk.
    (1..)
        .map(|c| walk(modulus, q, c))
        .find(|&found| found != q)
        .expect("there is another number to add")
}

/// A divisor, or `q` if all divisors were found together.
fn walk(modulus: Modulus, q: u128, c: u128) -> u128 {
    let next = |x| (modulus.product(x, x) + c) % q;
    let apart = |x: u128, y: u128| x.abs_diff(y);
    let mut x = 2 % q;
    let mut length = 1u64;
    loop {
        let last = x;
        let mut left = length;
        while left > 0 {
            let start = x;
            let mut product = 1 % q;
            let steps = left.min(STEPS.into());
            for _ in 0..steps {
                x = next(x);
                product = modulus.product(product, apart(x, last)) % q;
            }
            if gcd(product, q) != 1 {
                // The steps are repeated to find the one that hit.
                x = start;
                for _ in 0..steps {
                    x = next(x);
                    match gcd(apart(x, last), q) {
                        1 => {}
                        found => return found,
                    }
                }
            }
            left -= steps;
        }
        length *= 2;
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_primes_come_apart() {
        let primes = [
            23,
            89,
            233,
            1103,
            2089,
            13_367,
            616_318_177,
            164_511_353,
            2_147_483_647,
        ];
        for &a in &primes {
            for &b in &primes {
                for &c in &primes[..4] {
                    for q in [a * b, a * b * c] {
                        let found = divisor(q);
                        assert!(found > 1 && found < q && q % found == 0, "{q}: {found}");
                    }
                }
            }
        }
    }
}
