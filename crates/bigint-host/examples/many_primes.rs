//! Finds the next primes of random numbers, and asks whether they are primes; times both, and checks some by the CPU.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example many_primes -- gpu 1024
//! ```
//!
//! The arguments are bits, each for one number and for as many as have 4000 times 1024 bits together. `cpu` before them is for the CPU,
//! `gpu` for the first GPU; else a GPU computes where that is faster.

mod long;

use bigint_host::{BigUint, Engine, Error, LIMB_BITS};
use std::process::ExitCode;

/// The bits of the numbers of a batch.
const BITS: usize = 4000 * 1024;

/// How many primes of a batch the CPU finds as well.
const CHECKED: usize = 2;

fn main() -> ExitCode {
    long::check_each(BITS, check)
}

/// Finds primes; answers whether those that are checked are right.
fn check(engine: &Engine, bits: usize, count: usize) -> Result<bool, Error> {
    let number = |_| {
        let mut number = BigUint::new(long::random(bits.div_ceil(LIMB_BITS).max(1)));
        number.set_bit(bits as u64 - 1, true);
        number
    };
    let numbers: Vec<_> = (0..count).map(number).collect();
    let batch = engine.batch_from_biguints(&numbers)?;
    let (primes, time) = long::timed(engine, || engine.next_prime(&batch)?.to_biguints())?;
    let of_primes = engine.batch_from_biguints(&primes)?;
    let (are, of_test) = long::timed(engine, || engine.is_prime(&of_primes))?;
    let cpu = Engine::cpu();
    let checked = CHECKED.min(count);
    let some = cpu.next_prime(&cpu.batch_from_biguints(&numbers[..checked])?)?;
    let is_right = are.iter().all(|&is| is) && some.to_biguints()? == primes[..checked];
    println!(
        "{count} x {bits} bits: next primes {:.3} s, whether they are {:.3} s{}",
        time.as_secs_f64(),
        of_test.as_secs_f64(),
        if is_right { "" } else { ", WRONG" },
    );
    Ok(is_right)
}
