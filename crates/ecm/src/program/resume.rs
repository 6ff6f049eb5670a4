//! Stage 2 of save lines.

use std::path::Path;

use bigint_host::Engine;
use num_bigint::BigUint;

use super::output::{Teller, say};
use super::run::stage2;
use super::stop::Stop;
use super::{Cli, Failure, input, lucas};
use crate::modular::gcd;
use crate::{Bounds, Parts, Saved, read_line};

/// Lines that devices compute together, at most: what they find is told then.
const ON_DEVICE: usize = 1 << 18;

/// Lines of one number and one bound.
struct Group {
    n: BigUint,
    b1: u64,
    saved: Vec<Saved>,
}

impl Group {
    /// The divisors of a part of the number that stage 2 of some of the lines finds, or that stage 1 had found, each with the stage.
    fn divisors(
        &self,
        lines: &[Saved],
        part: &BigUint,
        (cli, engine, is_on_device): (&Cli, &Engine, bool),
        stop: &Stop,
    ) -> Result<Vec<(u8, BigUint)>, Failure> {
        let b1 = self.b1.max(11);
        let b2 = cli.b2.unwrap_or(100 * self.b1);
        let mut divisors = Vec::new();
        let mut points = Vec::new();
        let mut values = Vec::new();
        // What is left modulo the number is left modulo its part.
        for saved in lines {
            match saved {
                Saved::Point(point) => {
                    let divisor = point.curve.a24(part).map(|_| gcd(&point.x, part));
                    divisors.push((1, divisor.unwrap_or_else(|divisor| divisor)));
                    points.push(point.clone());
                }
                Saved::Residue(method, residue) => match method.value(residue, part) {
                    Ok(value) => values.push(value),
                    Err(divisor) => divisors.push((1, divisor)),
                },
            }
        }
        if b2 > b1 && !points.is_empty() {
            let bounds = Bounds { b1, b2, curves: 0 };
            let mut stage = stage2((engine, is_on_device), part, &points, bounds)?;
            while !stage.is_done() {
                stage.advance()?;
                stop.failure().map_or(Ok(()), Err)?;
            }
            let found = stage.finish().into_iter().flatten();
            divisors.extend(found.map(|divisor| (2, divisor)));
        }
        if b2 > b1 && !values.is_empty() {
            let mut stage = lucas::stage2(cli, engine, part, &values, (b1, b2))?;
            while !stage.is_done() {
                stage.advance()?;
                stop.failure().map_or(Ok(()), Err)?;
            }
            let found = stage.finish()?.into_iter().flatten();
            divisors.extend(found.map(|divisor| (2, divisor)));
        }
        Ok(divisors)
    }
}

/// Runs stage 2 of every line of a file. Returns the exit code.
pub fn run(cli: &Cli, path: &Path, stop: &Stop) -> Result<u8, Failure> {
    let name = path.display();
    let text = input::text(path)?;
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
            Some(last) if last.n == n && last.b1 == b1 => last.saved.push(saved),
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
    let mut teller = Teller::new(cli.format());
    let mut known: Option<(BigUint, Parts)> = None;
    for group in groups {
        let n = group.n.clone();
        let mut parts = match known.take() {
            Some((last, parts)) if last == n => parts,
            last => {
                if let Some((last, parts)) = last {
                    teller.end(&last, &parts, None, "")?;
                }
                let parts = Parts::new(&engine, &n)?;
                teller.begin(&n, &parts)?;
                parts
            }
        };
        let is_on_device = cli.wants_device(&engine, group.saved.len() as u64);
        let together = match is_on_device {
            true => ON_DEVICE,
            false => 16 * bigint_cpu::threads(),
        };
        for lines in group.saved.chunks(together) {
            for composite in parts.composites().to_vec() {
                let who = (cli, &engine, is_on_device);
                for (step, divisor) in group.divisors(lines, &composite, who, stop)? {
                    if divisor.bits() > 1 {
                        teller.split(&engine, &mut parts, step, &divisor)?;
                    }
                }
            }
        }
        known = Some((n, parts));
    }
    if let Some((last, parts)) = known {
        teller.end(&last, &parts, None, "")?;
    }
    Ok(teller.code())
}
