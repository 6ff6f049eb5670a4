//! The times of the stages, for `--verbose`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bigint_host::plan::Tallies;

use crate::{output, table};

/// A stage of the pipeline.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// Files to text.
    Read,
    /// Text to limbs.
    Parse,
    /// Limbs to limbs.
    Compute,
    /// Limbs to text.
    Format,
    /// Text to the output.
    Write,
}

const NAMES: [&str; 5] = ["read", "parse", "compute", "format", "write"];

/// The time each stage worked, without the time it waited for others.
#[derive(Debug)]
pub struct Profile {
    started: Instant,
    nanoseconds: [AtomicU64; NAMES.len()],
    bytes: [AtomicU64; NAMES.len()],
}

impl Default for Profile {
    fn default() -> Self {
        Profile {
            started: Instant::now(),
            nanoseconds: Default::default(),
            bytes: Default::default(),
        }
    }
}

impl Profile {
    /// Runs `work` and adds its time to `stage`.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.add(stage, started.elapsed());
        result
    }

    /// Adds time to a stage.
    pub fn add(&self, stage: Stage, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds[stage as usize].fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Adds bytes of text to a stage.
    pub fn add_bytes(&self, stage: Stage, bytes: u64) {
        self.bytes[stage as usize].fetch_add(bytes, Ordering::Relaxed);
    }

    /// Sets the bytes of text of a stage.
    pub fn set_bytes(&self, stage: Stage, bytes: u64) {
        self.bytes[stage as usize].store(bytes, Ordering::Relaxed);
    }

    /// Prints how long each stage took to standard error.
    pub fn print(&self) {
        let total = self.started.elapsed().as_secs_f64();
        let mut stages = table::new(["stage", "busy s", "of the time", "MB"]);
        for (index, name) in NAMES.iter().enumerate() {
            let seconds = self.nanoseconds[index].load(Ordering::Relaxed) as f64 * 1e-9;
            let bytes = self.bytes[index].load(Ordering::Relaxed);
            stages.add_row([
                (*name).to_owned(),
                format!("{seconds:.3}"),
                format!("{:.0} %", 100.0 * seconds / total),
                if bytes > 0 {
                    format!("{:.1}", bytes as f64 * 1e-6)
                } else {
                    String::new()
                },
            ]);
        }
        stages.add_row(["all, overlapped".to_owned(), format!("{total:.3}")]);
        output::tell(stages);
    }

    /// Prints to standard error which back end did how much, of several evaluations.
    pub fn print_tallies<'a>(all: impl Iterator<Item = &'a Tallies>) {
        let mut tallies = Tallies::new();
        for (key, tally) in all.flatten() {
            let sum = tallies.entry(key.clone()).or_default();
            sum.batches += tally.batches;
            sum.numbers += tally.numbers;
            sum.limbs += tally.limbs;
            sum.elapsed += tally.elapsed;
        }
        let mut operations =
            table::new(["back end", "operation", "batches", "numbers", "limbs", "s"]);
        for ((back_end, operation), tally) in tallies {
            operations.add_row([
                back_end.clone(),
                (*operation).to_owned(),
                tally.batches.to_string(),
                tally.numbers.to_string(),
                tally.limbs.to_string(),
                format!("{:.3}", tally.elapsed.as_secs_f64()),
            ]);
        }
        output::tell(operations);
    }
}
