//! Computes powers modulo long odd numbers, times them, and checks some of them by the CPU.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example long_powers -- 16384 32768 65536
//! ```
//!
//! The arguments are the bits of bases, exponents and moduli. Each is computed for one number and for as many as have
//! 2^26 bits together: a modulus each in constant time and in time that depends on exponents, and one modulus and one
//! exponent for all. `cpu` before the arguments is for the CPU, `gpu` for the first GPU; else a GPU computes where that
//! is faster.

mod long;

use bigint_host::{Algorithm, Batch, Engine, Error, LIMB_BITS, Layout, Shape};
use std::process::ExitCode;

/// The bits of the numbers of a batch.
const BITS: usize = 1 << 26;

/// How many powers of a batch the CPU computes as well.
const CHECKED: usize = 2;

fn main() -> ExitCode {
    long::check_each(BITS, check)
}

/// Computes powers; answers whether those that are checked are right.
fn check(engine: &Engine, bits: usize, count: usize) -> Result<bool, Error> {
    let width = bits.div_ceil(LIMB_BITS).max(1);
    let batch = |count: usize| {
        let mut limbs = long::random(width * count);
        for number in limbs.chunks_mut(width) {
            // Odd, and as long as its width.
            number[0] |= 1;
            number[width - 1] |= 1 << (LIMB_BITS - 1);
        }
        engine.batch_from_limbs(limbs, Shape::new(count, width, Layout::Contiguous))
    };
    let (a, e, m) = (batch(count)?, batch(count)?, batch(count)?);
    let (one_exponent, one_modulus) = (batch(1)?, batch(1)?);
    let vartime = engine.using(Algorithm::AutoVartime);
    let mut are_right = true;
    for (name, engine, e, m) in [
        ("a modulus each", engine, &e, &m),
        ("a modulus each, variable time", &vartime, &e, &m),
        (
            "one modulus and exponent, variable time",
            &vartime,
            &one_exponent,
            &one_modulus,
        ),
    ] {
        let (powers, time) = long::timed(engine, || engine.pow_mod(&a, e, m))?;
        let is_right = are_powers(engine, &powers, [&a, e, m])?;
        are_right &= is_right;
        println!(
            "{count} x {bits} bits on {}, {name}: {:.3} us each{}",
            powers.location(),
            time.as_secs_f64() * 1e6 / count as f64,
            if is_right { "" } else { ", WRONG" },
        );
    }
    for warning in engine.warnings() {
        println!("warning: {warning}");
    }
    Ok(are_right)
}

/// Whether the CPU has the same first and last powers.
fn are_powers(engine: &Engine, powers: &Batch, operands: [&Batch; 3]) -> Result<bool, Error> {
    let cpu = Engine::cpu();
    let ends = |batch: &Batch| {
        let numbers = match batch.len() {
            0..=CHECKED => batch.clone(),
            count => engine.gather(batch, &[0, count - 1])?,
        };
        let limbs = numbers.rows()?.to_vec();
        cpu.batch_from_limbs(
            limbs,
            Shape::new(numbers.len(), numbers.width(), Layout::Contiguous),
        )
    };
    let [a, e, m] = operands.map(ends);
    let expected = cpu.using(Algorithm::AutoVartime).pow_mod(&a?, &e?, &m?)?;
    Ok(ends(powers)?.rows()? == expected.rows()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_on_the_cpu_are_right() {
        for bits in [64, 1000] {
            assert!(check(&Engine::cpu(), bits, 3).expect("memory"));
        }
    }

    #[test]
    fn a_wrong_power_is_found() {
        let engine = Engine::cpu();
        let batch = |limb| {
            let shape = Shape::new(1, 1, Layout::Contiguous);
            engine.batch_from_limbs(vec![limb], shape).expect("memory")
        };
        let [two, three, five] = [2, 3, 5].map(batch);
        assert!(are_powers(&engine, &three, [&two, &three, &five]).expect("memory"));
        assert!(!are_powers(&engine, &two, [&two, &three, &five]).expect("memory"));
    }
}
