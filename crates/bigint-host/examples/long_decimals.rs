//! Writes long numbers in decimal and reads them again, times both, and checks the digits by their residue
//! modulo `2^61 - 1` and the number that is read by its limbs.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example long_decimals -- 33554432 1073741824
//! ```
//!
//! The arguments are the bits of the numbers. `cpu` before them is for the CPU; else a GPU converts, if there
//! is one.

mod long;

use bigint_host::{Engine, Error, Integers, LIMB_BITS, Layout, Shape};
use std::process::ExitCode;

/// The modulus of residues.
const PRIME: u128 = (1 << 61) - 1;

/// Digits that are taken modulo the prime at a time.
const DIGITS: usize = 18;

fn main() -> ExitCode {
    long::check_each(0, |engine, bits, _| {
        // This opens devices, and open ones convert.
        println!("{}", engine.back_end());
        check(engine, bits)
    })
}

/// Converts there and back; answers whether both are right.
fn check(engine: &Engine, bits: usize) -> Result<bool, Error> {
    let mut limbs = long::random(bits.div_ceil(LIMB_BITS).max(1));
    *limbs.last_mut().expect("at least one") |= 1;
    let shape = Shape::new(1, limbs.len(), Layout::Contiguous);
    let batch = engine.batch_from_limbs(limbs.clone(), shape)?;
    let (texts, written) = long::timed(engine, || engine.decimals(&batch))?;
    let of_text = texts[0]
        .as_bytes()
        .rchunks(DIGITS)
        .rev()
        .fold(0, |high, digits| {
            let value = digits
                .iter()
                .fold(0, |value, digit| 10 * value + u128::from(digit - b'0'));
            (high * 10_u128.pow(digits.len() as u32) + value) % PRIME
        });
    let of_limbs = limbs.iter().rev().fold(0, |high, &limb| {
        (high << LIMB_BITS | u128::from(limb)) % PRIME
    });
    let (back, read): (Integers, _) = long::timed(engine, || engine.integers_from_texts(&texts))?;
    let (is_written, is_read) = (of_text == of_limbs, back.limbs() == limbs);
    for (what, took, is_right) in [("written", written, is_written), ("read", read, is_read)] {
        let verdict = if is_right { "right" } else { "WRONG" };
        let digits = texts[0].len();
        println!(
            "{digits} digits of {bits} bits {what}: {:.3} ms, {verdict}",
            took.as_secs_f64() * 1e3
        );
    }
    for warning in engine.warnings() {
        println!("warning: {warning}");
    }
    Ok(is_written && is_read)
}
