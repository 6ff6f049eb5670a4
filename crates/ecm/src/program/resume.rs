//! Stage 2 of save lines.

use std::fs;
use std::io;
use std::path::Path;

use num_bigint::BigUint;

use super::output::{print, say};
use super::stop::Stop;
use super::{Cli, Failure};
use crate::modular::gcd;
use crate::{Parts, Point, Stage2, read_line};

/// Lines of one number and one bound, up to as many as are computed together.
struct Group {
    n: BigUint,
    b1: u64,
    points: Vec<Point>,
}

/// Runs stage 2 of every line of a file.
pub fn run(cli: &Cli, path: &Path, stop: &Stop) -> Result<(), Failure> {
    let name = path.display();
    let text = match path.as_os_str() == "-" {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(path),
    };
    let text = text.map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let most = 16 * bigint_cpu::threads();
    let mut groups: Vec<Group> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: String| Failure::Usage(format!("{name}:{}:1: {what}", i + 1));
        let (n, b1, point) = read_line(line).map_err(|error| wrong(error.to_string()))?;
        if n < 2u8.into() {
            return Err(wrong(format!("N={n} has no factors")));
        }
        if let Some(asked) = cli.b1.filter(|&asked| asked != b1) {
            return Err(wrong(format!(
                "stage 1 went up to {b1}, not to --b1 {asked}"
            )));
        }
        match groups.last_mut() {
            Some(last) if last.n == n && last.b1 == b1 && last.points.len() < most => {
                last.points.push(point);
            }
            _ => groups.push(Group {
                n,
                b1,
                points: vec![point],
            }),
        }
    }
    let engine = cli.engine()?;
    let mut known: Option<(BigUint, Parts)> = None;
    for Group { n, b1, points } in groups {
        let mut parts = match known.take() {
            Some((last, parts)) if last == n => parts,
            _ => {
                let parts = Parts::new(&engine, &n)?;
                tell(cli, &n, &parts, 0)?;
                parts
            }
        };
        for composite in parts.composites().to_vec() {
            // A point modulo the number is one modulo its part.
            let mut divisors: Vec<_> = points
                .iter()
                .map(|point| match point.curve.a24(&composite) {
                    Ok(_) => gcd(&point.x, &composite),
                    Err(divisor) => divisor,
                })
                .collect();
            let b2 = cli.b2.unwrap_or(100 * b1);
            if b2 > b1 {
                let mut stage = Stage2::new(&composite, &points, b1.max(11), b2)?;
                while !stage.is_done() {
                    stage.advance()?;
                    stop.failure().map_or(Ok(()), Err)?;
                }
                divisors.extend(stage.finish()?.into_iter().flatten());
            }
            for divisor in divisors {
                let before = parts.primes().len();
                if divisor.bits() > 1 && parts.split(&engine, &divisor)? {
                    tell(cli, &n, &parts, before)?;
                }
            }
        }
        known = Some((n, parts));
    }
    if let Some((_, parts)) = known
        && !parts.composites().is_empty()
    {
        say!("what is left is composite");
    }
    Ok(())
}

/// Prints the primes from one on.
fn tell(cli: &Cli, n: &BigUint, parts: &Parts, from: usize) -> Result<(), Failure> {
    for prime in &parts.primes()[from..] {
        match cli.json {
            true => print(
                &serde_json::json!({"n": n.to_string(), "factor": prime.to_string()}).to_string(),
            )?,
            false => print(&prime.to_string())?,
        }
    }
    Ok(())
}
