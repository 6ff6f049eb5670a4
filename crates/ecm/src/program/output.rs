//! What the program writes.

use std::io::{self, Write};

use bigint_host::Engine;
use clap::ValueEnum;
use num_bigint::BigUint;
use serde::Serialize;

use super::Failure;
use crate::modular::gcd;
use crate::{Bounds, Parts};

/// Writes a line on standard error, if it can be written.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        // One write, as others may write there too.
        let _ = std::io::stderr().write_all(format!("{}\n", format_args!($($text)*)).as_bytes());
    }};
}
pub(crate) use say;

/// Writes a line on standard output, at once.
pub fn print(line: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(format!("{line}\n").as_bytes());
    written
        .and_then(|()| stdout.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Running(format!("standard output: {error}")),
        })
}

/// How factors are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A line for each factor; the exit code is 0
    Lines,
    /// GMP-ECM's lines on standard output, and its exit codes, which tell of the last number
    GmpEcm,
    /// YAFU's lines at the end of each number
    Yafu,
    /// One JSON object for each number, as by --json
    Json,
}

/// Tells of factors on standard output, and keeps the exit code.
pub struct Teller {
    format: Format,
    code: u8,
}

/// Bits of GMP-ECM's exit code: the number itself was found, or a divisor; whether that and what is left beside it are prime.
const FOUND_ALL: u8 = 8;
const FOUND: u8 = 2;
const IS_PRIME: u8 = 4;
const REST_IS_PRIME: u8 = 8;

impl Teller {
    pub fn new(format: Format) -> Self {
        Teller { format, code: 0 }
    }

    /// The exit code of a run that ended: GMP-ECM's for the last number, where its format is wanted, else 0.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// Begins with a number, and tells of the parts that need no curve.
    pub fn begin(&mut self, n: &BigUint, parts: &Parts) -> Result<(), Failure> {
        self.code = 0;
        if self.format != Format::GmpEcm {
            return self.primes(parts.primes());
        }
        print(&format!("Input number is {n} ({} digits)", digits(n)))?;
        match parts.primes() {
            [] => Ok(()),
            _ => self.apart(1, n, parts.primes(), parts.composites()),
        }
    }

    /// Tells which curves come next.
    pub fn curves(
        &self,
        bounds: Bounds,
        param: &str,
        first: u64,
        count: u64,
    ) -> Result<(), Failure> {
        if self.format != Format::GmpEcm {
            return Ok(());
        }
        let Bounds { b1, b2, .. } = bounds;
        let sigmas = match count {
            1 => format!("{param}:{first}"),
            _ => format!(
                "{param}:{first}-{param}:{} ({count} curves)",
                first + count - 1
            ),
        };
        print(&format!(
            "Using B1={b1}, B2={b2}, polynomial x^1, sigma={sigmas}"
        ))
    }

    /// Splits parts by a divisor that a stage, 1 or 2, found, and tells of what is new. Returns whether something came apart.
    pub fn split(
        &mut self,
        engine: &Engine,
        parts: &mut Parts,
        step: u8,
        divisor: &BigUint,
    ) -> Result<bool, Failure> {
        let (known, composites) = (parts.primes().len(), parts.composites().to_vec());
        let is_new = parts.split(engine, divisor)?;
        if self.format != Format::GmpEcm {
            self.primes(&parts.primes()[known..])?;
            return Ok(is_new);
        }
        for composite in composites {
            let common = gcd(&composite, divisor);
            if common == composite {
                self.factor(step, &composite, &composite, [false; 2])?;
            } else if common.bits() > 1 {
                self.apart(
                    step,
                    &composite,
                    &parts.primes()[known..],
                    parts.composites(),
                )?;
            }
        }
        Ok(is_new)
    }

    /// Tells of each of these parts that divides a number, until one is left.
    fn apart(
        &mut self,
        step: u8,
        n: &BigUint,
        primes: &[BigUint],
        composites: &[BigUint],
    ) -> Result<(), Failure> {
        let mut rest = n.clone();
        for part in primes.iter().chain(composites) {
            let left = &rest / part;
            if &left * part != rest {
                continue;
            }
            let are_primes = [part, &left].map(|part| primes.contains(part));
            self.factor(step, &rest, part, are_primes)?;
            if are_primes[1] || composites.contains(&left) {
                break;
            }
            rest = left;
        }
        Ok(())
    }

    /// GMP-ECM's lines for a factor of a number and what is left beside it, of which either may be prime.
    fn factor(
        &mut self,
        step: u8,
        n: &BigUint,
        factor: &BigUint,
        [is_prime, rest_is_prime]: [bool; 2],
    ) -> Result<(), Failure> {
        print(&format!("********** Factor found in step {step}: {factor}"))?;
        if factor == n {
            self.code = FOUND_ALL;
            // Without the number, as GMP-ECM has it.
            return print("Found input number N");
        }
        let rest = n / factor;
        let kind = |is_prime| if is_prime { "prime" } else { "composite" };
        print(&format!(
            "Found {} factor of {} digits: {factor}",
            kind(is_prime),
            digits(factor)
        ))?;
        let of_rest = match rest_is_prime {
            true => "Prime",
            false => "Composite",
        };
        print(&format!(
            "{of_rest} cofactor {rest} has {} digits",
            digits(&rest)
        ))?;
        let bit = |is_set, bit| if is_set { bit } else { 0 };
        self.code = FOUND | bit(is_prime, IS_PRIME) | bit(rest_is_prime, REST_IS_PRIME);
        Ok(())
    }

    /// A line for each of these primes, where they are not told at the end or otherwise.
    fn primes(&self, primes: &[BigUint]) -> Result<(), Failure> {
        match self.format {
            Format::Lines => primes
                .iter()
                .try_for_each(|prime| print(&prime.to_string())),
            _ => Ok(()),
        }
    }

    /// Tells of what is left of a number after this `effort`, such as "40 curves; ", and of composites that were found;
    /// as JSON, of all of it, with the fields of `run` beside.
    pub fn end(
        &self,
        n: &BigUint,
        parts: &Parts,
        run: Option<serde_json::Value>,
        effort: &str,
    ) -> Result<(), Failure> {
        let (composites, left) = parts.found_and_left();
        match self.format {
            Format::Json => {
                let factors = parts.primes().iter().chain(&composites);
                let told = Told {
                    n: n.to_string(),
                    factors: factors.map(ToString::to_string).collect(),
                    is_factored: left.is_none(),
                    cofactor: left.map(|left| left.to_string()),
                    run,
                };
                return print(&serde_json::to_string(&told).expect("text and numbers"));
            }
            Format::Yafu => return print(&yafu(parts.primes(), &composites, left.as_ref())),
            Format::Lines => {
                let mut lines = composites.iter().map(ToString::to_string);
                lines.try_for_each(|line| print(&line))?;
            }
            // They are told when they are found.
            Format::GmpEcm => {}
        }
        if let Some(left) = left {
            say!(
                "{effort}what is left has {} digits and is composite: {left}",
                digits(&left)
            );
        }
        Ok(())
    }
}

/// The number of decimal digits.
fn digits(n: &BigUint) -> usize {
    n.to_string().len()
}

/// YAFU's lines for these primes, composites that were found, and the composite that is left, if there is one.
fn yafu(primes: &[BigUint], composites: &[BigUint], left: Option<&BigUint>) -> String {
    let named = |kind: &str, n: &BigUint| format!("{kind}{} = {n}\n", digits(n));
    let mut primes = primes.to_vec();
    primes.sort();
    let mut text = String::from("\n***factors found***\n\n");
    text.extend(primes.iter().map(|prime| named("P", prime)));
    text.extend(composites.iter().map(|composite| named("C", composite)));
    if let Some(left) = left {
        text += "\n***co-factor***\n";
        text += &named("C", left);
    }
    let one = BigUint::from(1u8);
    text + &format!("\nans = {}\n", left.unwrap_or(&one))
}

/// The line of `--json` for a number.
#[derive(Serialize)]
struct Told {
    n: String,
    /// Primes, each as often as it divides the number, and composites that did not come apart.
    factors: Vec<String>,
    /// What is left, where it is composite; it is no factor.
    cofactor: Option<String>,
    is_factored: bool,
    /// What was done.
    #[serde(flatten)]
    run: Option<serde_json::Value>,
}
