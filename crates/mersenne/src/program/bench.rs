//! `mersenne bench`: times of iterations.

use std::time::{Duration, Instant};

use crate::{Backend, Number, Residue};
use clap::Args;
use serde::Serialize;

use super::output::print;
use super::{Common, Failure};

#[derive(Args)]
pub struct Arguments {
    /// Exponents, or numbers k*b^n+c; Thall's exponents, and those of the largest primes, where there are none
    #[arg(value_name = "P", value_parser = number)]
    numbers: Vec<Number>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Time for each exponent
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    time: Duration,
    #[command(flatten)]
    common: Common,
}

const EXPONENTS: [u32; 8] = [
    86_243,
    756_839,
    1_257_787,
    6_972_593,
    24_036_583,
    43_112_609,
    77_232_917,
    136_279_841,
];

/// The number of an exponent or an expression.
fn number(text: &str) -> Result<Number, String> {
    match text.parse::<u32>() {
        Ok(p) if p < 3 => Err("exponents are odd primes".to_owned()),
        Ok(p) => Ok(Number::from(p)),
        Err(_) => crate::number(text),
    }
}

/// One measurement.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Measured<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    exponent: Option<u32>,
    number: String,
    fft_length: Option<usize>,
    milliseconds: f64,
    iterations: u32,
    error: f64,
    threads: usize,
    backend: &'a str,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let backend = arguments.common.backend()?;
    let numbers = match &arguments.numbers[..] {
        [] => EXPONENTS.map(Number::from).to_vec(),
        numbers => numbers.to_vec(),
    };
    if !arguments.json {
        print("    number      words  bits a word  ms/iteration  error")?;
    }
    for number in numbers {
        let (milliseconds, iterations, words, error) =
            iteration(&*backend, number, arguments.time)?;
        let name = match number.exponent() {
            Some(p) => p.to_string(),
            None => number.to_string(),
        };
        if arguments.json {
            let measured = Measured {
                exponent: number.exponent(),
                number: number.to_string(),
                fft_length: words,
                milliseconds,
                iterations,
                error,
                threads: bigint_cpu::threads(),
                backend: backend.name(),
            };
            let line = serde_json::to_string(&measured).expect("numbers and words are JSON");
            print(&line)?;
        } else {
            let bits = words.map_or(0.0, |words| number.bits() as f64 / words as f64);
            let words = words.map_or("exact".to_owned(), |words| words.to_string());
            print(&format!(
                "{name:>10} {words:>10} {bits:>12.3} {milliseconds:>13.4}  {error:.3}"
            ))?;
        }
    }
    Ok(())
}

/// The milliseconds of the median iteration, the number of iterations, the words of the transform,
/// and the greatest rounding error.
pub fn iteration(
    backend: &dyn Backend,
    number: Number,
    time: Duration,
) -> Result<(f64, u32, Option<usize>, f64), Failure> {
    let mut squaring = backend.squaring(number, None)?;
    // Digits that look random, as those of a test do after some iterations.
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut limb = || {
        seed = seed
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        seed ^ seed >> 29
    };
    let limbs: Vec<u64> = (0..number.limbs()).map(|_| limb()).collect();
    squaring.set(&Residue::reduce(number, &limbs))?;
    // The first squaring of a device waits for its kernels to be compiled.
    squaring.square(1, 1, 0)?;
    squaring.error()?;
    // Rounds of about a tenth of the time: waiting for a device is a small part of one, and the
    // median leaves out those that other programs disturb.
    let (started, mut times, mut iterations) = (Instant::now(), 1, 1);
    let mut rounds = Vec::new();
    while started.elapsed() < time || rounds.len() < 3 {
        let before = Instant::now();
        squaring.square(times, 1, 0)?;
        squaring.error()?;
        let took = before.elapsed();
        iterations += times;
        if took < time / 20 && started.elapsed() < time {
            times *= 2;
        } else {
            rounds.push(took.as_secs_f64() * 1e3 / f64::from(times));
        }
    }
    rounds.sort_by(f64::total_cmp);
    Ok((
        rounds[rounds.len() / 2],
        iterations,
        squaring.words(),
        squaring.error()?,
    ))
}
