//! Divisors of composite numbers, by Pollard's rho [Pollard 1975].
//!
//! `x -> x^2 + c` modulo a divisor `f` of `q` comes round after about `sqrt(f)` steps; of two
//! values that are the same modulo `f`, the difference has `f` in common with `q`. Brent's way to
//! find such: every value is compared with the last one whose number is a power of two.
//!
//! **Cost**: about `1.5 sqrt(f)` steps of two products each, and a gcd for every 64 of them.

use super::modular::Modulus;

/// Steps between two gcds.
const STEPS: u32 = 64;

/// A divisor of an odd composite `q` of at most 124 bits, neither 1 nor `q`.
///
/// ```
/// use bigint_cpu::fast::trial::divisor;
/// let q = 193_707_721 * 761_838_257_287;
/// assert!([193_707_721, 761_838_257_287].contains(&divisor(q)));
/// ```
///
/// # Panics
/// Where `q` is even or has more bits. Primes and 1 never end.
pub fn divisor(q: u128) -> u128 {
    assert!(q % 2 == 1 && q >> 124 == 0);
    // The walks modulo a prime and modulo its square come round together, if both are small.
    let root = q.isqrt();
    if root * root == q {
        return root;
    }
    let modulus = Modulus::new(q);
    // A square has one value for all `c`; another `c` is another walk.
    (1..)
        .map(|c| walk(modulus, q, c))
        .find(|&found| found != q)
        .expect("there is another number to add")
}

/// A divisor, or `q` where all of them came at once.
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
                // Which step it was.
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
