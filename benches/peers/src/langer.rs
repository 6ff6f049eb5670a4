//! Langer's lists beside GMP: sums and products of random pairs of 1024 numbers whose lengths
//! are normally distributed.
//!
//! Ours is `Engine::run`, from integers to integers; GMP's are `mpz_add` and `mpz_mul` into
//! `mpz_t` that exist already and have room. Both are spread over the same threads; each runs
//! 32 times, in turn, and a row has their means.

use std::f64::consts::TAU;
use std::io::Write;
use std::time::Instant;

use anyhow::{Result, ensure};
use bigint_core::{Limb, Operation};
use bigint_host::{Computation, Engine, Integers};
use rand::rngs::SmallRng;
use rand::{Rng, RngCore, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::library::{Gmp, Library};
use crate::operands::{Op, equal, words};
use crate::record::Record;

/// Numbers that computations are of.
const POOL: usize = 1024;
/// Computations of a list.
const COUNTS: [usize; 3] = [256, 1024, 4096];
/// Runs whose mean is taken.
const RUNS: u32 = 32;

/// One list on so many threads. Times are for the whole list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct List {
    /// `add` or `mul`.
    pub op: String,
    /// Bits of a number, in the mean.
    pub mean_bits: usize,
    /// The deviation of their lengths, in hundredths of the mean.
    pub deviation_percent: usize,
    /// Results.
    pub computations: usize,
    /// Threads that share the list.
    pub threads: usize,
    /// The engine's time, in milliseconds.
    pub ours_ms: f64,
    /// GMP's.
    pub gmp_ms: f64,
}

/// Measures every list on each of these numbers of threads.
///
/// # Errors
/// Where the engine fails, or does not agree with GMP.
pub fn run(pools: &[(usize, rayon::ThreadPool)], json: bool) -> Result<Record<List>> {
    let mut record = Record::new(RUNS as usize);
    let lists = [
        (Op::Add, [4096, 16384, 65536]),
        (Op::Mul, [1024, 4096, 16384]),
    ];
    let lists = lists
        .into_iter()
        .flat_map(|(op, means)| means.map(|mean| (op, mean)));
    for (op, mean_bits) in lists {
        for (deviation_percent, computations) in [0, 25]
            .into_iter()
            .flat_map(|d| COUNTS.map(|count| (d, count)))
        {
            let operands = Operands::random(op, mean_bits, deviation_percent, computations)?;
            for (threads, pool) in pools {
                let (ours_ms, gmp_ms) = pool.install(|| operands.measure())?;
                let list = List {
                    op: op.name().to_string(),
                    mean_bits,
                    deviation_percent,
                    computations,
                    threads: *threads,
                    ours_ms,
                    gmp_ms,
                };
                print(&list, json)?;
                record.rows.push(list);
            }
        }
    }
    Ok(record)
}

fn print(list: &List, json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, list)?;
        return Ok(writeln!(out)?);
    }
    writeln!(
        out,
        "{} of {} bits, deviation {} %, {} on {}: ours {:.3} ms, GMP {:.3} ms",
        list.op,
        list.mean_bits,
        list.deviation_percent,
        list.computations,
        list.threads,
        list.ours_ms,
        list.gmp_ms
    )?;
    Ok(())
}

/// The numbers, ours and GMP's, and the computations.
struct Operands {
    op: Op,
    integers: Integers,
    numbers: Vec<rug::Integer>,
    computations: Vec<Computation>,
}

impl Operands {
    fn random(op: Op, mean_bits: usize, deviation: usize, count: usize) -> Result<Self> {
        let mut rng = SmallRng::seed_from_u64((mean_bits + deviation + count) as u64);
        let (mut integers, mut numbers) = (Integers::new(), Vec::new());
        for _ in 0..POOL {
            let (u, v) = (rng.random::<f64>(), rng.random::<f64>());
            let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (TAU * v).cos();
            let bits = mean_bits as f64 * (1.0 + deviation as f64 / 100.0 * normal);
            let width = ((bits / 32.0).round() as usize).max(1);
            let mut limbs: Vec<Limb> = (0..width).map(|_| rng.next_u32()).collect();
            limbs[width - 1] |= 1 << 31;
            integers.push(false, &limbs)?;
            numbers.push(Gmp::number(&words(&limbs)));
        }
        let operation = match op {
            Op::Add => Operation::Add,
            _ => Operation::Mul,
        };
        let mut any = || rng.next_u32() as usize % POOL;
        let computations = (0..count).map(|_| Computation {
            operation,
            a: any(),
            b: any(),
        });
        let computations = computations.collect();
        Ok(Operands {
            op,
            integers,
            numbers,
            computations,
        })
    }

    /// Our mean time and GMP's, in milliseconds, on the threads of the current pool.
    fn measure(&self) -> Result<(f64, f64)> {
        let engine = Engine::cpu();
        let most = (0..POOL).map(|i| self.integers.magnitude(i).len()).max();
        let slot = |_: &Computation| Gmp::slot(64 * most.unwrap_or(0));
        let mut slots: Vec<rug::Integer> = self.computations.iter().map(slot).collect();
        let mut elapsed = [0.0; 2];
        // The first is for warm caches and the comparison.
        for run in 0..=RUNS {
            let started = Instant::now();
            let results = engine.run(&self.integers, &self.computations)?;
            let ours = started.elapsed();
            let started = Instant::now();
            let apply = |(slot, c): (&mut rug::Integer, &Computation)| {
                Gmp::apply(self.op, &self.numbers[c.a], &self.numbers[c.b], slot);
            };
            match rayon::current_num_threads() {
                1 => slots.iter_mut().zip(&self.computations).for_each(apply),
                _ => slots.par_iter_mut().zip(&self.computations).for_each(apply),
            }
            let gmp = started.elapsed();
            if run > 0 {
                elapsed[0] += ours.as_secs_f64();
                elapsed[1] += gmp.as_secs_f64();
                continue;
            }
            for (i, slot) in slots.iter().enumerate() {
                let is_same = equal(results.magnitude(i), slot.as_limbs());
                ensure!(is_same, "result {i} of a list: the engine and GMP disagree");
            }
        }
        let [ours, gmp] = elapsed.map(|seconds| seconds * 1e3 / f64::from(RUNS));
        Ok((ours, gmp))
    }
}
