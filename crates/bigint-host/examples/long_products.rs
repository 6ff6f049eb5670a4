//! Multiplies and squares long numbers, times it, and checks every result by its residues modulo
//! three random primes of 61 bits.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example long_products -- 2147483648 8589934592
//! ```
//!
//! The arguments are the bits of the products; operands are half as long. `cpu` before them is for
//! the CPU; else a GPU multiplies, if there is one. A product that is wrong has right residues
//! once in 2^180 times.

mod long;

use bigint_host::{Batch, BigUint, Engine, Error, LIMB_BITS, Layout, Limb, Shape};
use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::thread;

fn main() -> ExitCode {
    let (engine, arguments) = long::engine_and_arguments();
    long::check_each(&engine, &arguments, check)
}

/// Multiplies and squares; answers whether both are right.
fn check(engine: &Engine, bits: usize) -> Result<bool, Error> {
    let width = bits.div_ceil(2 * LIMB_BITS).max(1);
    let [a, b] = [long::random(width), long::random(width)];
    let primes = primes(engine)?;
    let residues = |limbs: &[Limb]| primes.map(|p| residue(limbs, p));
    let (of_a, of_b) = (residues(&a), residues(&b));
    let batch = |limbs| engine.batch_from_limbs(limbs, Shape::new(1, width, Layout::Contiguous));
    let (a, b) = (batch(a)?, batch(b)?);
    let mut is_right = true;
    let product = || engine.mul(&a, &b);
    let square = || engine.square(&a);
    let both: [(_, &dyn Fn() -> Result<Batch, Error>, _); 2] =
        [("product", &product, of_b), ("square", &square, of_a)];
    for (name, compute, of_other) in both {
        let (result, least) = long::timed(engine, compute)?;
        let of_result = residues(&result.rows()?);
        let is_same =
            (0..primes.len()).all(|i| times(of_a[i], of_other[i], primes[i]) == of_result[i]);
        println!(
            "{name} of {bits} bits on {}: {:.3} ms, {} modulo {primes:?}",
            result.location(),
            least.as_secs_f64() * 1e3,
            if is_same { "right" } else { "WRONG" },
        );
        is_right &= is_same;
    }
    for warning in engine.warnings() {
        println!("warning: {warning}");
    }
    Ok(is_right)
}

/// Three random primes of 61 bits.
fn primes(engine: &Engine) -> Result<[u64; 3], Error> {
    let above = [0, 1, 2].map(|i| RandomState::new().hash_one(i) >> 4 | 1 << 60);
    let above = engine.batch_from_biguints(&above.map(BigUint::from))?;
    let primes = engine.next_prime(&above)?.to_biguints()?;
    Ok([0, 1, 2].map(|i: usize| primes[i].iter_u64_digits().next().unwrap_or(0)))
}

/// A number modulo a prime, by all cores: its parts by Horner's rule, added up the same way.
fn residue(limbs: &[Limb], p: u64) -> u64 {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let length = limbs.len().div_ceil(threads).next_multiple_of(2).max(2);
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

fn times(x: u64, y: u64, p: u64) -> u64 {
    (u128::from(x) * u128::from(y) % u128::from(p)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_squares_on_the_cpu_are_right() {
        for bits in [1, 64, 4000, 1 << 20] {
            assert!(check(&Engine::cpu(), bits).expect("memory"));
        }
    }

    #[test]
    fn residues_are_those_of_division() {
        let limbs = long::random(1001);
        let p = (1 << 60) + 33;
        let expected = BigUint::from_slice(&limbs) % p;
        assert_eq!(BigUint::from(residue(&limbs, p)), expected);
    }
}
