//! Takes turns: every round times every contender once, so that what the
//! machine does besides falls on all of them alike.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bigint_cpu::Cpu;
use cpu_time::ThreadTime;
use rayon::ThreadPool;

use crate::flint::{Flint, FlintProduct};
use crate::library::{Dashu, Gmp, Ibig, Malachite, NumBigint};
use crate::operands::{Op, Operands, equal};
use crate::record::Row;
use crate::runner::{Batch, Copy, Host, Ours, Runner};

/// What a run was asked for, besides which points.
pub struct Settings {
    /// Samples behind each median.
    pub rounds: usize,
    /// The longest call of a library other than GMP that is waited for.
    pub patience: Duration,
    /// The engine's paths to measure, with their thresholds.
    pub cpus: Vec<Cpu>,
    /// FLINT, where one was named.
    pub flint: Option<&'static Flint>,
    /// A pool for each number of threads to measure with.
    pub pools: Vec<(usize, ThreadPool)>,
}

/// Everyone's form of one batch.
pub struct Field {
    bits: usize,
    batch: usize,
    ours: Ours,
    gmp: Batch<Gmp>,
    others: Vec<Box<dyn Runner>>,
}

/// Who runs, with how many threads, and how long that took in each round.
struct Entry {
    who: Who,
    /// Index into the settings' pools.
    pool: usize,
    /// Numbers that one call computes.
    items: usize,
    /// Calls in a sample.
    calls: usize,
    /// Where the next call begins in the batch.
    cursor: usize,
    samples: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Who {
    Ours(Cpu),
    Gmp,
    Other(usize),
}

/// What each library took for one number when it was last measured: tells
/// which calls would take too long.
#[derive(Default)]
pub struct Experience(HashMap<(&'static str, Op), (usize, f64)>);

impl Experience {
    /// Nanoseconds to expect for a number of `bits` bits, from below: no library
    /// is faster than linear.
    fn expect(&self, name: &'static str, op: Op, bits: usize) -> f64 {
        self.0
            .get(&(name, op))
            .map_or(0.0, |&(known, ns)| ns * bits as f64 / known as f64)
    }
}

impl Field {
    /// Random operands in everyone's form.
    pub fn new(bits: usize, batch: usize, settings: &Settings) -> Self {
        let operands = Operands::random(batch, bits.div_ceil(32), (bits * batch) as u64);
        let mut others: Vec<Box<dyn Runner>> = vec![
            Box::new(Batch::<NumBigint>::new(&operands)),
            Box::new(Batch::<Dashu>::new(&operands)),
            Box::new(Batch::<Malachite>::new(&operands)),
            Box::new(Batch::<Ibig>::new(&operands)),
            Box::new(Host::new(&operands)),
            Box::new(Copy::new(operands.shape)),
        ];
        if let (Some(flint), 1) = (settings.flint, batch) {
            others.push(Box::new(FlintProduct::new(flint, &operands)));
        }
        Field {
            bits,
            batch,
            gmp: Batch::new(&operands),
            others,
            ours: Ours::new(operands),
        }
    }

    fn runner(&mut self, who: Who) -> &mut dyn Runner {
        match who {
            Who::Ours(cpu) => {
                self.ours.cpu = cpu;
                &mut self.ours
            }
            Who::Gmp => &mut self.gmp,
            Who::Other(i) => &mut *self.others[i],
        }
    }

    /// Times `calls` calls and answers nanoseconds for one number.
    fn sample(&mut self, op: Op, entry: &mut Entry, settings: &Settings) -> f64 {
        let (threads, pool) = &settings.pools[entry.pool];
        let (batch, items, calls) = (self.batch, entry.items, entry.calls);
        let mut cursor = entry.cursor;
        let runner = self.runner(entry.who);
        // The clock runs inside the pool: handing work over to it is not timed.
        let elapsed = pool.install(|| {
            timed(*threads, || {
                for _ in 0..calls {
                    runner.run(op, cursor..cursor + items, *threads);
                    cursor += items;
                    if cursor + items > batch {
                        cursor = 0;
                    }
                }
            })
        });
        entry.cursor = cursor;
        elapsed.as_nanos() as f64 / (items * calls) as f64
    }

    /// Finds how much of the work makes a sample of about `target`.
    fn calibrate(&mut self, op: Op, entry: &mut Entry, target: Duration, settings: &Settings) {
        let whole = self.runner(entry.who).is_whole();
        entry.items = if whole { self.batch } else { 1 };
        entry.calls = 1;
        let target = target.as_nanos() as f64;
        // Twice: the first time meets cold caches and fresh memory.
        for _ in 0..2 {
            let ns = self.sample(op, entry, settings).max(0.5);
            let numbers = (target / ns).max(1.0) as usize;
            if !whole {
                entry.items = numbers.clamp(1, self.batch);
            }
            entry.calls = (numbers / entry.items).max(1);
            entry.cursor = 0;
        }
    }

    /// Measures one operation: a row for each path and number of threads.
    pub fn measure(
        &mut self,
        op: Op,
        budget: Duration,
        settings: &Settings,
        experience: &mut Experience,
    ) -> Result<Vec<Row>> {
        self.check(op, settings)?;
        let mut entries = self.entries(op, settings, experience)?;
        let samples = entries.len() * settings.rounds;
        let target = (budget / u32::try_from(samples.max(1))?)
            .clamp(Duration::from_micros(200), Duration::from_millis(50));
        for entry in &mut entries {
            self.calibrate(op, entry, target, settings);
        }
        for round in 0..settings.rounds {
            let count = entries.len();
            for i in 0..count {
                // Everyone follows everyone: nobody always meets the same caches.
                let entry = &mut entries[(i + round) % count];
                let ns = self.sample(op, entry, settings);
                entry.samples.push(ns);
            }
        }
        Ok(self.rows(op, &mut entries, settings, experience))
    }

    /// Compares the engine's results, on every path and pool, with GMP's.
    fn check(&mut self, op: Op, settings: &Settings) -> Result<()> {
        let mut verified = Vec::new();
        for &cpu in &settings.cpus {
            for (threads, pool) in &settings.pools {
                let batch = self.batch;
                let ours = self.runner(Who::Ours(cpu));
                pool.install(|| ours.run(op, 0..batch, *threads));
                let (result, width) = self.ours.result(op);
                if verified.is_empty() {
                    self.gmp.check(op, result, width)?;
                    verified = result.to_vec();
                }
                ensure!(
                    verified == result,
                    "{} of {} numbers of {} bits: path {} on {threads} threads differs",
                    op.name(),
                    self.batch,
                    self.bits,
                    cpu.path().name()
                );
            }
        }
        Ok(())
    }

    /// Everyone who takes part in this operation.
    fn entries(
        &mut self,
        op: Op,
        settings: &Settings,
        experience: &mut Experience,
    ) -> Result<Vec<Entry>> {
        let entry = |who, pool| Entry {
            who,
            pool,
            items: 1,
            calls: 1,
            cursor: 0,
            samples: Vec::with_capacity(settings.rounds),
        };
        let mut entries = Vec::new();
        for pool in 0..settings.pools.len() {
            entries.extend(settings.cpus.iter().map(|&cpu| entry(Who::Ours(cpu), pool)));
        }
        entries.extend(
            self.pools_of(Who::Gmp, settings)
                .map(|pool| entry(Who::Gmp, pool)),
        );
        let expected = self.gmp.first(op).unwrap_or_default();
        for i in 0..self.others.len() {
            let name = self.others[i].name();
            let fits = match name {
                "copy" => op.is_linear(),
                "flint" => !op.is_linear(),
                _ => true,
            };
            let patience = settings.patience.as_nanos() as f64;
            if !fits || experience.expect(name, op, self.bits) > patience {
                continue;
            }
            let start = Instant::now();
            if let Some(found) = self.others[i].first(op) {
                let limbs: Vec<u32> = found
                    .iter()
                    .flat_map(|&word| [word as u32, (word >> 32) as u32])
                    .collect();
                ensure!(equal(&limbs, &expected), "{name} and GMP disagree");
            }
            // Who computes the whole batch at once is not slow for that.
            let computed = if self.others[i].is_whole() {
                self.batch
            } else {
                1
            };
            let ns = start.elapsed().as_nanos() as f64 / computed as f64;
            if ns > patience {
                experience.0.insert((name, op), (self.bits, ns));
                continue;
            }
            let who = Who::Other(i);
            entries.extend(self.pools_of(who, settings).map(|pool| entry(who, pool)));
        }
        Ok(entries)
    }

    /// The pools in which someone's time can differ.
    fn pools_of(&mut self, who: Who, settings: &Settings) -> Range<usize> {
        if self.batch > 1 || self.runner(who).splits_a_number() {
            0..settings.pools.len()
        } else {
            0..1
        }
    }

    fn rows(
        &mut self,
        op: Op,
        entries: &mut [Entry],
        settings: &Settings,
        experience: &mut Experience,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for (pool, (threads, _)) in settings.pools.iter().enumerate() {
            let mut peers = BTreeMap::from([("gmp_ns".to_string(), None)]);
            for other in &self.others {
                if !matches!(other.name(), "copy" | "flint") {
                    peers.insert(format!("{}_ns", other.name()), None);
                }
            }
            let (mut spread, mut least_ns) = (BTreeMap::new(), BTreeMap::new());
            let mut copy_ns = None;
            let mut ours = Vec::new();
            let alone = self.batch == 1;
            for entry in entries.iter_mut() {
                let splits = self.runner(entry.who).splits_a_number();
                let shared = alone && !splits;
                if entry.pool != pool && !shared {
                    continue;
                }
                let name = self.runner(entry.who).name();
                let summary = Summary::of(&mut entry.samples);
                match entry.who {
                    Who::Ours(cpu) => {
                        ours.push((cpu, summary));
                        continue;
                    }
                    _ if name == "copy" => copy_ns = Some(summary.median),
                    _ => {
                        experience.0.insert((name, op), (self.bits, summary.median));
                        peers.insert(format!("{name}_ns"), Some(summary.median));
                    }
                }
                spread.insert(name.to_string(), summary.spread);
                least_ns.insert(name.to_string(), summary.least);
            }
            for (cpu, summary) in ours {
                let mut row = Row {
                    op: op.name().to_string(),
                    bits: self.bits,
                    batch: self.batch,
                    threads: *threads,
                    path: cpu.path().name().to_string(),
                    ours_ns: summary.median,
                    ratio_gmp: peers["gmp_ns"].map(|gmp| round(summary.median / gmp)),
                    of_copy: copy_ns.map(|copy: f64| round(copy / summary.median)),
                    peers: peers.clone(),
                    copy_ns,
                    spread: spread.clone(),
                    least_ns: least_ns.clone(),
                };
                row.spread.insert("ours".to_string(), summary.spread);
                row.least_ns.insert("ours".to_string(), summary.least);
                rows.push(row);
            }
        }
        rows
    }
}

/// How long `work` takes: by the wall's clock, or on one thread by the time that
/// thread was given. On an idle machine the two agree; on a busy one the wall's
/// clock charges long calls for what others did meanwhile, and spares short ones.
pub fn timed(threads: usize, work: impl FnOnce()) -> Duration {
    if threads == 1 {
        let start = ThreadTime::now();
        work();
        start.elapsed()
    } else {
        let start = Instant::now();
        work();
        start.elapsed()
    }
}

/// What is told of some samples.
#[derive(Clone, Copy)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The middle half, relative to the median.
    pub spread: f64,
}

impl Summary {
    /// Of these samples, which it sorts.
    pub fn of(samples: &mut [f64]) -> Summary {
        samples.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| samples[(share * (samples.len() - 1) as f64).round() as usize];
        let median = at(0.5);
        Summary {
            median: round(median),
            least: round(at(0.0)),
            spread: round((at(0.75) - at(0.25)) / median),
        }
    }
}

/// Four significant digits: more is noise, and records are read by people.
pub fn round(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits.abs());
    if digits < 0 {
        (value / scale).round() * scale
    } else {
        (value * scale).round() / scale
    }
}
