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
#[path = "long/residues.rs"]
mod residues;

use bigint_host::{Batch, Engine, Error, LIMB_BITS, Layout, Limb, Shape};
use residues::{primes, residue, times};
use std::process::ExitCode;

fn main() -> ExitCode {
    long::check_each(0, |engine, bits, _| check(engine, bits))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_squares_on_the_cpu_are_right() {
        for bits in [1, 64, 4000, 1 << 20] {
            assert!(check(&Engine::cpu(), bits).expect("memory"));
        }
    }
}
