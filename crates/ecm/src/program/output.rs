//! What the program writes.

use std::io::{self, Write};

use num_bigint::BigUint;
use serde::Serialize;

use super::{Cli, Failure};
use crate::Parts;

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

/// Prints the primes from one on, where they are not told as JSON at the end.
pub fn tell(cli: &Cli, parts: &Parts, from: usize) -> Result<(), Failure> {
    let primes = match cli.json {
        true => &[],
        false => &parts.primes()[from..],
    };
    primes
        .iter()
        .try_for_each(|prime| print(&prime.to_string()))
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

/// Prints the composites that were found, and says what is left of a number after this `effort`, such as
/// "40 curves; "; or all of it as JSON, with the fields of `run` beside.
pub fn tell_rest(
    cli: &Cli,
    n: &BigUint,
    parts: &Parts,
    run: Option<serde_json::Value>,
    effort: &str,
) -> Result<(), Failure> {
    let (composites, left) = parts.found_and_left();
    if cli.json {
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
    composites
        .iter()
        .try_for_each(|composite| print(&composite.to_string()))?;
    if let Some(left) = left {
        let digits = left.to_string().len();
        say!("{effort}what is left has {digits} digits and is composite: {left}");
    }
    Ok(())
}
