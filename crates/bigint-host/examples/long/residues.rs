//! Residues of long numbers modulo primes of 61 bits, by which results are checked.

use bigint_host::{BigUint, Engine, Error, LIMB_BITS, Limb};
use std::hash::{BuildHasher, RandomState};
use std::thread;

/// Three random primes of 61 bits.
pub fn primes(engine: &Engine) -> Result<[u64; 3], Error> {
    let above = [0, 1, 2].map(|i| RandomState::new().hash_one(i) >> 4 | 1 << 60);
    let above = engine.batch_from_biguints(&above.map(BigUint::from))?;
    let primes = engine.next_prime(&above)?.to_biguints()?;
    Ok([0, 1, 2].map(|i: usize| primes[i].iter_u64_digits().next().unwrap_or(0)))
}

/// A number modulo a prime, by all cores: its parts by Horner's rule, added up the same way.
pub fn residue(limbs: &[Limb], p: u64) -> u64 {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    // Less is not worth a thread.
    let length = limbs
        .len()
        .div_ceil(threads)
        .next_multiple_of(2)
        .max(1 << 14);
    let part = move |limbs: &[Limb]| {
        let (pairs, odd) = limbs.as_chunks::<2>();
        let top = odd.first().map_or(0, |&limb| u64::from(limb));
        let word = |pair: &[Limb; 2]| u64::from(pair[0]) | u64::from(pair[1]) << LIMB_BITS;
        let words = pairs.iter().rev().map(word);
        words.fold(top, |high, low| {
            ((u128::from(high) << 64 | u128::from(low)) % u128::from(p)) as u64
        })
    };
    let parts: Vec<u64> = thread::scope(|scope| {
        let parts: Vec<_> = limbs
            .chunks(length)
            .map(|limbs| scope.spawn(move || part(limbs)))
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().expect("nothing in it panics"))
            .collect()
    });
    // 2 to the power of a part's bits.
    let (mut step, mut square, mut bits) = (1, 2, LIMB_BITS * length);
    while bits > 0 {
        if bits % 2 == 1 {
            step = times(step, square, p);
        }
        square = times(square, square, p);
        bits /= 2;
    }
    let parts = parts.into_iter().rev();
    parts.fold(0, |high, low| {
        ((u128::from(high) * u128::from(step) + u128::from(low)) % u128::from(p)) as u64
    })
}

/// The product of two numbers below a prime, modulo it.
pub fn times(x: u64, y: u64, p: u64) -> u64 {
    (u128::from(x) * u128::from(y) % u128::from(p)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_those_of_division() {
        let limbs = crate::long::random(1001);
        let p = (1 << 60) + 33;
        let expected = BigUint::from_slice(&limbs) % p;
        assert_eq!(BigUint::from(residue(&limbs, p)), expected);
    }
}
