//! Which points are measured, and how the time is shared among them.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::measure::{Experience, Field, Settings};
use crate::operands::Op;
use crate::record::Row;

/// The batches measured unless others are asked for.
pub const BATCHES: [usize; 3] = [1, 64, 65536];

/// The points of a run, smallest numbers first.
pub struct Grid {
    ops: Vec<Op>,
    points: Vec<(usize, usize)>,
}

impl Grid {
    /// All operations in `ops` at every pairing of `bits` and `batches` whose
    /// operands and results, in everyone's form, fit in `memory` bytes.
    pub fn new(ops: Vec<Op>, bits: &[usize], batches: &[usize], memory: usize) -> Self {
        let mut points: Vec<_> = bits
            .iter()
            .flat_map(|&bits| batches.iter().map(move |&batch| (bits, batch)))
            .filter(|&(bits, batch)| footprint(bits, batch) <= memory)
            .collect();
        points.sort_unstable();
        points.dedup();
        Grid { ops, points }
    }

    /// The bits measured unless others are asked for, for a batch of `batch`:
    /// every power of two to 2^14, every other one above. Larger batches stop
    /// where they would take the whole run's time and say nothing new.
    pub fn default_bits(batch: usize) -> Vec<usize> {
        let last = match batch {
            0..=1 => 26,
            2..=1024 => 20,
            _ => 14,
        };
        (6..=last)
            .filter(|&power| power <= 14 || power % 2 == 0)
            .map(|power| 1 << power)
            .collect()
    }

    /// The union of two grids over the same operations.
    pub fn and(mut self, other: Grid) -> Self {
        self.points.extend(other.points);
        self.points.sort_unstable();
        self.points.dedup();
        self
    }

    /// Measures every point within about `total`, handing each row on when it is
    /// known. Large points cost what they cost; the rest is shared evenly.
    pub fn run(
        &self,
        total: Duration,
        settings: &Settings,
        mut emit: impl FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        let start = Instant::now();
        let mut experience = Experience::default();
        let mut floors: f64 = self
            .points
            .iter()
            .flat_map(|&point| self.ops.iter().map(move |&op| floor(op, point, settings)))
            .sum();
        let mut left = self.points.len() * self.ops.len();
        for &(bits, batch) in &self.points {
            let mut field = Field::new(bits, batch, settings);
            for &op in &self.ops {
                let spare = total.as_secs_f64() - start.elapsed().as_secs_f64() - floors;
                let share = (spare / left as f64).max(0.0);
                let own = floor(op, (bits, batch), settings);
                let budget = Duration::from_secs_f64(own + share);
                for row in field.measure(op, budget, settings, &mut experience)? {
                    emit(row)?;
                }
                floors -= own;
                left -= 1;
            }
        }
        Ok(())
    }
}

/// Bytes that everyone's operands and results take together: two operands and a
/// result of twice their size for us and for GMP, two operands for each of the
/// four libraries that return their results, and a copy's buffers.
fn footprint(bits: usize, batch: usize) -> usize {
    (bits / 8 + 64).saturating_mul(batch).saturating_mul(20)
}

/// Seconds that a point takes at least: `rounds` calls of everyone who has to
/// make whole calls.
fn floor(op: Op, (bits, batch): (usize, usize), settings: &Settings) -> f64 {
    let calls = (settings.rounds + 3) as f64;
    let whole: f64 = settings
        .pools
        .iter()
        .map(|(threads, _)| 1.0 / *threads as f64)
        .sum();
    let ours = whole * settings.cpus.len() as f64 * batch as f64;
    let gmp = if batch == 1 { 1.0 } else { 0.0 };
    calls * (ours + gmp) * rough_seconds(op, bits)
}

/// About what GMP takes for one number on a recent core.
fn rough_seconds(op: Op, bits: usize) -> f64 {
    let words = bits as f64 / 64.0;
    if op.is_linear() {
        return words * 0.5e-9;
    }
    let school = 0.3e-9 * words * words;
    let fast = 3.0e-9 * words.powf(1.3);
    school.min(fast)
}
