//! Times over widths as a figure.

use std::fs;
use std::num::NonZero;
use std::path::Path;

use bigint_core::Operation;
use serde::Deserialize;

use super::Row;
use super::ceilings::Ceilings;
use super::plot::{Curve, Panel};
use crate::backend::operation;
use crate::failure::Failure;

/// What bounds times, as the hues of curves have it.
const COPY: &str = "copy";
const MULTIPLIER: &str = "multiplier";
const TENSOR_CORES: &str = "tensor cores";

/// A time that another library's benchmark wrote, a line of JSON (`benches/gpu-peers`).
#[derive(Debug, Deserialize)]
pub struct Beside {
    library: String,
    #[serde(deserialize_with = "named")]
    operation: Operation,
    bits: NonZero<u32>,
    #[serde(deserialize_with = "positive")]
    median_ns: f64,
}

fn named<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Operation, D::Error> {
    let name = String::deserialize(deserializer)?;
    operation(&name).map_err(serde::de::Error::custom)
}

/// Axes are logarithms.
fn positive<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let time = f64::deserialize(deserializer)?;
    match time > 1e-9 && time < 1e18 {
        true => Ok(time),
        false => Err(serde::de::Error::custom(format!(
            "median_ns is {time}, which is no time in nanoseconds"
        ))),
    }
}

/// The times of this file of these operations, of each library, operation and width the least.
///
/// # Errors
/// [`Failure::Usage`] with the line that is not a time, or where none is of these operations.
pub fn beside(path: &Path, operations: &[Operation]) -> Result<Vec<Beside>, Failure> {
    let refused = |what: String| Failure::Usage(format!("{}{what}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| refused(format!(": {error}")))?;
    let mut least: Vec<Beside> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim().is_empty() {
            continue;
        }
        let time: Beside = serde_json::from_str(text).map_err(|error| {
            let (column, what) = (error.column(), error.to_string());
            let what = what.split(" at line ").next().unwrap_or_default();
            refused(format!(":{line}:{column}: not a time of a library: {what}"))
        })?;
        if !operations.contains(&time.operation) {
            continue;
        }
        let same = least.iter_mut().find(|other| {
            (&other.library, other.operation, other.bits)
                == (&time.library, time.operation, time.bits)
        });
        match same {
            Some(other) => other.median_ns = other.median_ns.min(time.median_ns),
            None => least.push(time),
        }
    }
    if least.is_empty() {
        let names: Vec<_> = operations
            .iter()
            .map(|operation| operation.name())
            .collect();
        return Err(refused(format!(
            ": no line has a time of {}",
            names.join(" or ")
        )));
    }
    Ok(least)
}

/// The times of these rows, a curve for each operation and choice; beside them, thin, other libraries' times, and what the
/// bytes of a row take at a copy's rate, and its multiply-adds at the greatest, of words or of bytes.
pub fn panel(rows: &[Row], ceilings: Option<Ceilings>, beside: &[Beside]) -> Panel {
    let mut curves = Curves::default();
    for row in rows {
        let name = match (row.choice().as_str(), row.threads) {
            (choice, None) => format!("{} {choice}", row.operation),
            (choice, Some(threads)) => format!("{} {choice}, threads: {threads}", row.operation),
        };
        curves.add(&name, &name, row.bits, row.median_ns);
        let Some(ceilings) = ceilings else { continue };
        let part = row.gigabytes_per_second / ceilings.copy_gigabytes_per_second;
        let copy = format!("{}: a copy of as many bytes", row.operation);
        curves.add(&copy, COPY, row.bits, part * row.median_ns);
        let Some(rate) = row.giga_multiply_adds_per_second else {
            continue;
        };
        let part = rate / ceilings.giga_multiply_adds_per_second;
        let all = format!("{}: all n^2 multiply-adds", row.operation);
        curves.add(&all, MULTIPLIER, row.bits, part * row.median_ns);
        if ceilings.giga_byte_multiply_adds_per_second > 0.0 {
            // A limb has four bytes.
            let part = 16.0 * rate / ceilings.giga_byte_multiply_adds_per_second;
            let all = format!("{}: all multiply-adds by tensor cores", row.operation);
            curves.add(&all, TENSOR_CORES, row.bits, part * row.median_ns);
        }
    }
    for time in beside {
        let name = format!("{} by {}", time.operation.name(), time.library);
        let bits = time.bits.get() as usize;
        curves.add(&name, &time.library, bits, time.median_ns);
    }
    for curve in &mut curves.curves {
        // Widths come as they were asked for.
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Panel {
        title: "nanoseconds each".to_owned(),
        curves: curves.curves,
    }
}

#[derive(Default)]
struct Curves {
    curves: Vec<Curve>,
    /// What each hue stands for.
    hues: Vec<String>,
}

impl Curves {
    /// Adds a point to the curve with this name, which has the hue of all that are like it, and is thick where that is
    /// its own name.
    fn add(&mut self, name: &str, like: &str, bits: usize, nanoseconds: f64) {
        let at = self.curves.iter().position(|curve| curve.name == name);
        let at = at.unwrap_or_else(|| {
            let hue = self.hues.iter().position(|hue| hue == like);
            let hue = hue.unwrap_or_else(|| {
                self.hues.push(like.to_owned());
                self.hues.len() - 1
            });
            self.curves.push(Curve {
                name: name.to_owned(),
                hue,
                is_ours: name == like,
                points: Vec::new(),
            });
            self.curves.len() - 1
        });
        let point = (bits as f64, nanoseconds);
        // Every choice of an operation has the same floors.
        if !self.curves[at].points.contains(&point) {
            self.curves[at].points.push(point);
        }
    }
}
