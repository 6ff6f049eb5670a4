//! Correctness instead of time: random and adversarial cases against two
//! libraries that no one here wrote, on every path in turn.

mod case;
mod oracle;

use std::time::Instant;

use anyhow::{Result, ensure};
use bigint_cpu::Cpu;
use rayon::prelude::*;

use crate::operands::Op;
use case::Case;

/// Batches that are made, and computed by the oracles, at a time.
const CHUNK: u64 = 512;

/// Checks at least `cases` numbers for each operation, on each of `cpus`.
///
/// A case is one number of a batch: its operands, widths, layouts, algorithm
/// and result width. The same seed makes the same cases.
pub fn run(cases: u64, seed: u64, ops: &[Op], cpus: &[Cpu]) -> Result<()> {
    for &op in ops {
        let start = Instant::now();
        let mut checked = 0;
        let mut batches = 0;
        let edges = Case::edges(op, cpus);
        checked += compare(&edges, cpus)?;
        let swept = checked;
        while checked < cases {
            let made: Vec<Case> = (batches..batches + CHUNK)
                .into_par_iter()
                .map(|batch| Case::random(op, seed, batch))
                .collect();
            checked += compare(&made, cpus)?;
            batches += CHUNK;
        }
        let paths: Vec<_> = cpus.iter().map(|cpu| cpu.path().name()).collect();
        println!(
            "{}: {checked} cases ({swept} of them at the edges of thresholds) equal GMP's and \
             num-bigint's on {} in {:.0} s",
            op.name(),
            paths.join(", "),
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

/// Computes every case by the oracles and on every path; counts the numbers.
fn compare(cases: &[Case], cpus: &[Cpu]) -> Result<u64> {
    cases
        .par_iter()
        .map(|case| {
            let expected = oracle::results(case)?;
            for cpu in cpus {
                let found = case.compute(cpu)?;
                if let Some(i) = (0..case.count()).find(|&i| found[i] != expected[i]) {
                    let (a, b) = case.operands(i);
                    ensure!(
                        false,
                        "path {}, {}: number {i}\n a = {}\n b = {}\n is {}\n not {}",
                        cpu.path().name(),
                        case.describe(),
                        hex(&a),
                        hex(&b),
                        hex(&found[i].limbs),
                        hex(&expected[i].limbs)
                    );
                }
            }
            Ok(case.count() as u64)
        })
        .sum()
}

/// A number in hexadecimal; long ones by their ends.
fn hex(limbs: &[u32]) -> String {
    let digits = |limbs: &[u32]| {
        limbs
            .iter()
            .rev()
            .map(|limb| format!("{limb:08x}"))
            .collect()
    };
    if limbs.len() <= 64 {
        return format!("0x{}", digits(limbs) as String);
    }
    let (low, high): (String, String) = (digits(&limbs[..8]), digits(&limbs[limbs.len() - 8..]));
    format!("0x{high}...{low} ({} limbs)", limbs.len())
}
