//! Numbers chosen to break arithmetic.

use bigint_host::{Cost, Operation, Property};
use num_bigint::BigUint;
use num_integer::Integer;
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;

/// Whether the last operand is a modulus, which others may have to be below.
pub fn has_modulus(operation: Operation) -> bool {
    operation.is(Property::BelowModulus) || operation.is_power()
}

/// Operands of an operation, the `i`-th below `2^(32 widths[i])`: the first two are a
/// [`pair`]. The last one is `last`, if that is given and the others depend on it.
pub fn of(
    operation: Operation,
    rng: &mut ChaCha8Rng,
    widths: &[usize],
    last: Option<&BigUint>,
) -> Vec<BigUint> {
    if let [n, m, k] = *widths
        && has_modulus(operation)
    {
        let modulus = match last {
            Some(last) => last.clone(),
            None => modulus(operation, rng, k),
        };
        if operation.cost() == Cost::PowerByTable {
            return vec![table(rng, n, k, &modulus), number(rng, m), modulus];
        }
        return residues(operation, rng, [n, m], modulus);
    }
    let mut numbers = match *widths {
        [n] => vec![number(rng, n)],
        [n, m, ..] => pair(rng, n, m).into(),
        [] => unreachable!("{operation:?} has operands"),
    };
    let counts_bits = operation.is(Property::CountsBits) && operation.is(Property::Guided);
    // Mostly within the number or just above; of a width that holds it.
    if counts_bits && rng.random_range(0..8u32) > 0 {
        let bits = 32 * widths[0] as u64;
        numbers[1] = match rng.random_range(0..4u32) {
            0 => 32 * rng.random_range(0..=widths[0] as u64),
            _ => rng.random_range(0..bits + 40),
        }
        .into();
    }
    if operation.divides() {
        divided(&mut numbers, rng, widths);
    }
    by_quotients(operation, &mut numbers, rng, widths);
    numbers.extend(widths.iter().skip(2).map(|&width| number(rng, width)));
    numbers
}

/// Makes a divisor of the second number that is seldom zero, and of the first, every other
/// time, a dividend that its quotient or remainder brings to the end of what they can be: a
/// multiple of the divisor plus 0 or less 1, quotients of all ones.
fn divided(numbers: &mut [BigUint], rng: &mut ChaCha8Rng, widths: &[usize]) {
    let [a, b] = numbers else { return };
    if *b == BigUint::ZERO && rng.random_range(0..64u32) > 0 {
        *b = number(rng, widths[1]).max(BigUint::from(1u32));
    }
    // Divisors of fewer limbs than there is room for.
    if rng.random_range(0..4u32) == 0 {
        let short = rng.random_range(1..=widths[1]);
        *b = number(rng, short).max(BigUint::from(1u32));
    }
    let modulus = BigUint::from(1u32) << (32 * widths[0]);
    if *b != BigUint::ZERO && rng.random::<bool>() {
        let bits = (32 * widths[0] as u64).saturating_sub(b.bits());
        let quotient = match rng.random_range(0..3u32) {
            0 => (BigUint::from(1u32) << bits) - 1u32,
            1 => BigUint::from(1u32) << (bits / 32 * 32),
            _ => number(rng, (bits as usize / 32).max(1)),
        };
        let end = match rng.random_range(0..3u32) {
            0 => BigUint::ZERO,
            1 => &*b - 1u32,
            _ => &*b / 2u32,
        };
        *a = (quotient * &*b + end) % modulus;
    }
}

/// A modulus of at most `width` limbs: odd where Montgomery's form needs it, and mostly so
/// of powers; never zero.
fn modulus(operation: Operation, rng: &mut ChaCha8Rng, width: usize) -> BigUint {
    let one = BigUint::from(1u32);
    let any = match rng.random_range(0..10u32) {
        0 => one.clone(),
        1 => BigUint::from(3u32),
        _ => number(rng, width),
    };
    let may_be_even = match operation.cost() {
        _ if operation.is(Property::OddModulus) => false,
        Cost::Power => rng.random_range(0..50u32) == 0,
        _ => true,
    };
    if may_be_even { any.max(one) } else { any | one }
}

/// A table of `n` limbs, as `pow_fixed` has it of some number: entries of `k` limbs.
fn table(rng: &mut ChaCha8Rng, n: usize, k: usize, modulus: &BigUint) -> BigUint {
    let mut base = number(rng, k) % modulus;
    let mut limbs = Vec::with_capacity(n);
    while limbs.len() + k <= n {
        let mut power = BigUint::from(1u32) % modulus;
        for _ in 0..64.min((n - limbs.len()) / k) {
            let end = limbs.len() + k;
            limbs.extend(((&power << (32 * k)) % modulus).iter_u32_digits());
            limbs.resize(end, 0);
            power = power * &base % modulus;
        }
        base = power;
    }
    BigUint::new(limbs)
}

/// Operands beside a modulus `m`: below it, 0 and `m - 1` among them; or any of these
/// widths, where they are a base and its exponent.
fn residues(
    operation: Operation,
    rng: &mut ChaCha8Rng,
    [n, m]: [usize; 2],
    modulus: BigUint,
) -> Vec<BigUint> {
    let mut numbers = Vec::from(pair(rng, n, m));
    if !operation.is_power() {
        for (number, width) in numbers.iter_mut().zip([n, m]) {
            *number %= &modulus;
            let greatest = &modulus - 1u32;
            if rng.random_range(0..6u32) == 0 && greatest.bits() <= 32 * width as u64 {
                *number = greatest;
            }
        }
    }
    numbers.push(modulus);
    numbers
}

/// What Euclid's algorithm and roots meet at their ends: common factors, quotients that are
/// all small or one of which is large, inverses that are there, squares and their
/// neighbours. Where there is room for long numbers most are shorter, as oracles take long.
fn by_quotients(
    operation: Operation,
    numbers: &mut [BigUint],
    rng: &mut ChaCha8Rng,
    widths: &[usize],
) {
    use Operation::{Gcd, InvMod, InvOddMod, Iroot, Isqrt, Jacobi, Lcm};
    let one = BigUint::from(1u32);
    let is_euclids = matches!(operation.cost(), Cost::Euclid | Cost::Divsteps);
    if is_euclids && rng.random_range(0..16u32) > 0 {
        for (number, &width) in numbers.iter_mut().zip(widths) {
            *number %= &one << (32 * width.min(64));
        }
    }
    let modulus = |i: usize| BigUint::from(1u32) << (32 * widths[i]);
    match (operation, numbers) {
        (Gcd | Lcm, [a, b]) => match rng.random_range(0..6u32) {
            0 => {
                let (x, y) = (
                    rng.random_range(1..=widths[0]),
                    rng.random_range(1..=widths[1]),
                );
                let factor = number(rng, x.min(y).min(64));
                *a = &factor * number(rng, widths[0].min(64)) % modulus(0);
                *b = &factor * number(rng, widths[1].min(64)) % modulus(1);
            }
            1 => {
                // Neighbours in Fibonacci's sequence have quotients of 1 only.
                let (mut x, mut y) = (one.clone(), one.clone());
                let bits = 32 * widths[0].min(widths[1]).min(64) as u64;
                while (&x + &y).bits() <= bits {
                    (x, y) = (y.clone(), x + y);
                }
                (*a, *b) = (x, y);
            }
            _ => {}
        },
        (InvMod | InvOddMod, [a, m]) if rng.random_range(0..64u32) > 0 => {
            m.set_bit(0, operation == InvOddMod || m.bit(0));
            *m += u32::from(*m == BigUint::ZERO);
            while m.gcd(a) != one {
                *a = random(rng, widths[0].min(64));
            }
        }
        (Jacobi, [_, n]) => n.set_bit(0, rng.random_range(0..64u32) > 0),
        (Isqrt, [a]) if rng.random::<bool>() => {
            let root = number(rng, (widths[0] / 2).max(1)) % modulus(0).sqrt();
            let near = rng.random_range(0..3u32);
            *a = (&root * &root + near).max(one.clone()) - &one;
        }
        (Iroot, [a, k]) => {
            if rng.random_range(0..8u32) > 0 {
                *k = rng.random_range(1..8u32).into();
            }
            *k += u32::from(*k == BigUint::ZERO && rng.random_range(0..64u32) > 0);
            if let (true, Ok(k)) = (rng.random::<bool>(), u32::try_from(&*k))
                && k < 8
            {
                let root = number(rng, (widths[0] / k.max(1) as usize).max(1));
                let near = rng.random_range(0..3u32);
                let power = (root.pow(k) + near).max(one.clone()) - &one;
                *a = power % modulus(0);
            }
        }
        _ => {}
    }
}

/// A pair of numbers below 2^(32 n) and 2^(32 m).
///
/// One pair in four is related so that carries or borrows run through all limbs:
/// `b` is the complement of `a`, or one more; `a` itself, or one more or less.
pub fn pair(rng: &mut ChaCha8Rng, n: usize, m: usize) -> [BigUint; 2] {
    let a = number(rng, n);
    let b_modulus = BigUint::from(1u32) << (32 * m);
    let reduced = &a % &b_modulus;
    let b = match rng.random_range(0..16u32) {
        0 => &b_modulus - 1u32 - reduced,
        1 => (&b_modulus - reduced) % &b_modulus,
        2 => reduced,
        3 => (reduced + 1u32 + (&b_modulus - 2u32 * rng.random_range(0..2u32))) % &b_modulus,
        _ => number(rng, m),
    };
    [a, b]
}

/// A number below 2^(32 width): zero, one, all ones, a power of two or its
/// neighbour, long runs of equal bits, a short number, or uniformly random.
pub fn number(rng: &mut ChaCha8Rng, width: usize) -> BigUint {
    let one = BigUint::from(1u32);
    let bits = 32 * width as u64;
    match rng.random_range(0..12u32) {
        0 => BigUint::ZERO,
        1 => one,
        2 => (one << bits) - 1u32,
        3 => one << rng.random_range(0..bits),
        4 => (one << rng.random_range(0..bits)) - 1u32,
        5 => ((&one << rng.random_range(0..bits)) + 1u32) % (one << bits),
        6 | 7 => runs(rng, width),
        8 => {
            let short = rng.random_range(1..=width);
            random(rng, short)
        }
        _ => random(rng, width),
    }
}

fn random(rng: &mut ChaCha8Rng, width: usize) -> BigUint {
    BigUint::new((0..width).map(|_| rng.next_u32()).collect())
}

/// Runs of zeros and ones whose lengths are up to three limbs: carries start,
/// pass over and stop at every place in a limb.
fn runs(rng: &mut ChaCha8Rng, width: usize) -> BigUint {
    let mut limbs = vec![0u32; width];
    let (mut bit, mut ones) = (0, rng.random::<bool>());
    while bit < 32 * width {
        let end = (bit + rng.random_range(1..=96usize)).min(32 * width);
        while bit < end {
            // Whole limbs at once where the run covers them.
            let (limb, offset) = (bit / 32, bit % 32);
            let length = (end - bit).min(32 - offset);
            let mask = (u32::MAX >> (32 - length)) << offset;
            if ones {
                limbs[limb] |= mask;
            }
            bit += length;
        }
        ones = !ones;
    }
    BigUint::new(limbs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn numbers_keep_their_width_and_reach_its_ends() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for (n, m) in [(1, 1), (1, 5), (5, 1), (33, 32)] {
            let ones = |width: usize| (BigUint::from(1u32) << (32 * width)) - 1u32;
            let pairs: Vec<_> = (0..500).map(|_| pair(&mut rng, n, m)).collect();
            assert!(pairs.iter().all(|[a, b]| *a <= ones(n) && *b <= ones(m)));
            for wanted in [BigUint::ZERO, BigUint::from(1u32), ones(n)] {
                assert!(pairs.iter().any(|[a, _]| *a == wanted));
            }
            let complements = pairs.iter().filter(|[a, b]| a + b == ones(n.max(m)));
            assert!(n != m || complements.count() > 10);
        }
    }
}
