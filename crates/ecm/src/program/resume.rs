//! Stage 2 of save lines.

use std::path::Path;

use num_bigint::BigUint;

use super::input;
use super::output::{say, tell, tell_rest};
use super::stop::Stop;
use super::{Cli, Failure};
use crate::modular::gcd;
use crate::{LucasStage2, Parts, Saved, Stage2, read_line};

/// Lines of one number and one bound, up to as many as are computed together.
struct Group {
    n: BigUint,
    b1: u64,
    saved: Vec<Saved>,
}

impl Group {
    /// The divisors of a part of the number that stage 2 finds, or that stage 1 had found.
    fn divisors(&self, part: &BigUint, b2: u64, stop: &Stop) -> Result<Vec<BigUint>, Failure> {
        let b1 = self.b1.max(11);
        let mut divisors = Vec::new();
        let mut points = Vec::new();
        let mut values = Vec::new();
        // What is left modulo the number is left modulo its part.
        for saved in &self.saved {
            match saved {
                Saved::Point(point) => {
                    let divisor = point.curve.a24(part).map(|_| gcd(&point.x, part));
                    divisors.push(divisor.unwrap_or_else(|divisor| divisor));
                    points.push(point.clone());
                }
                Saved::Residue(method, residue) => match method.value(residue, part) {
                    Ok(value) => values.push(value),
                    Err(divisor) => divisors.push(divisor),
                },
            }
        }
        if b2 > b1 && !points.is_empty() {
            let mut stage = Stage2::new(part, &points, b1, b2)?;
            while !stage.is_done() {
                stage.advance()?;
                stop.failure().map_or(Ok(()), Err)?;
            }
            divisors.extend(stage.finish().into_iter().flatten());
        }
        if b2 > b1 && !values.is_empty() {
            let mut stage = LucasStage2::new(part, &values, b1, b2)?;
            while !stage.is_done() {
                stage.advance()?;
                stop.failure().map_or(Ok(()), Err)?;
            }
            divisors.extend(stage.finish()?.into_iter().flatten());
        }
        Ok(divisors)
    }
}

/// Runs stage 2 of every line of a file.
pub fn run(cli: &Cli, path: &Path, stop: &Stop) -> Result<(), Failure> {
    let name = path.display();
    let text = input::text(path)?;
    let most = 16 * bigint_cpu::threads();
    let mut groups: Vec<Group> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: String| Failure::Usage(format!("{name}:{}:1: {what}", i + 1));
        let (n, b1, saved) = read_line(line).map_err(|error| wrong(error.to_string()))?;
        if n < 2u8.into() {
            return Err(wrong(format!("N={n} has no factors")));
        }
        if let Some(asked) = cli.b1.filter(|&asked| asked != b1) {
            return Err(wrong(format!(
                "stage 1 went up to {b1}, not to --b1 {asked}"
            )));
        }
        match groups.last_mut() {
            Some(last) if last.n == n && last.b1 == b1 && last.saved.len() < most => {
                last.saved.push(saved);
            }
            _ => groups.push(Group {
                n,
                b1,
                saved: vec![saved],
            }),
        }
    }
    if groups.is_empty() {
        say!("{name}: it has no lines");
    }
    let engine = cli.engine()?;
    let mut known: Option<(BigUint, Parts)> = None;
    for group in groups {
        let n = group.n.clone();
        let mut parts = match known.take() {
            Some((last, parts)) if last == n => parts,
            last => {
                if let Some((last, parts)) = last {
                    tell_rest(cli, &last, &parts, None, "")?;
                }
                let parts = Parts::new(&engine, &n)?;
                tell(cli, &parts, 0)?;
                parts
            }
        };
        for composite in parts.composites().to_vec() {
            let b2 = cli.b2.unwrap_or(100 * group.b1);
            let divisors = group.divisors(&composite, b2, stop)?;
            for divisor in divisors {
                let before = parts.primes().len();
                if divisor.bits() > 1 && parts.split(&engine, &divisor)? {
                    tell(cli, &parts, before)?;
                }
            }
        }
        known = Some((n, parts));
    }
    match known {
        Some((last, parts)) => tell_rest(cli, &last, &parts, None, ""),
        None => Ok(()),
    }
}
