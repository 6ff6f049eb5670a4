//! What each way of stage 2 takes on the first device, in microseconds a curve; and that polynomials find there what
//! they find on the CPU.
//!
//! ```text
//! cargo run --release -p ecm --example stage2_ways [CURVES [BITS [B2 ...]]]      # 1024, 250 and 506 bits, 1e8 1e9 1e10
//! ```
//!
//! Giant steps are for all of the device's threads, 67,584, and are done up to 10^8 alone: their time goes with the
//! number of primes.

use std::time::Instant;

use bigint_host::{BigUint, Engine};
use ecm::{Continuation, Family, Outcome, Point, Stage1, Stage2, scalar};

/// Points that nothing has been done for: a stage 1 of small primes.
fn points(engine: &Engine, n: &BigUint, count: usize) -> Result<Vec<Point>, ecm::Error> {
    let scalar = scalar(50);
    let stage = Stage1::on_device(engine, n, Family::Param3, 1000, count, &scalar)?;
    let mut stage = match stage {
        Some(stage) => stage,
        None => Stage1::new(n, Family::Param3, 1000, count, &scalar)?,
    };
    while !stage.is_done() {
        stage.advance(1000)?;
    }
    let outcomes = stage.finish()?.into_iter();
    Ok(outcomes
        .filter_map(|outcome| match outcome {
            Outcome::Point(point) => Some(point),
            Outcome::Factor(_) => None,
        })
        .collect())
}

/// The divisors that are found, and the time of each step in seconds.
fn run(
    by: Continuation,
    engine: &Engine,
    n: &BigUint,
    points: &[Point],
    (b1, b2): (u64, u64),
) -> Result<(Vec<Option<BigUint>>, Vec<f64>), ecm::Error> {
    let mut times = Vec::new();
    let mut began = Instant::now();
    let mut stage = Stage2::on_device_by(by, engine, n, points, b1, b2)?.expect("a GPU");
    while !stage.is_done() {
        times.push(began.elapsed().as_secs_f64());
        began = Instant::now();
        stage.advance()?;
    }
    times.push(began.elapsed().as_secs_f64());
    Ok((stage.finish(), times))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<f64> = words
        .iter()
        .map(|word| word.parse())
        .collect::<Result<_, _>>()?;
    let curves = numbers.first().map_or(1024, |&curves| curves as usize);
    let asked = numbers.get(1).map(|&bits| bits as u64);
    let far: Vec<f64> = match numbers.get(2..) {
        Some(far) if !far.is_empty() => far.to_vec(),
        _ => vec![1e8, 1e9, 1e10],
    };
    let engine = Engine::cuda(0)?;
    println!("device: {:?}", bigint_host::advanced::devices()?);
    // A prime of 31 bits that some curves find.
    let p = 2_147_483_647u32;
    let n = ((BigUint::from(1u8) << 219) - 121u8) * p;
    let some = points(&engine, &n, 256)?;
    for (count, bounds) in [
        (256, (50, 5_000)),
        (64, (50, 3_000_000)),
        (8, (50, 1_000_000_000)),
    ] {
        let some = &some[..count.min(some.len())];
        let (device, _) = run(Continuation::Polynomials, &engine, &n, some, bounds)?;
        let mut stage = Stage2::new_by(Continuation::Polynomials, &n, some, bounds.0, bounds.1)?;
        while !stage.is_done() {
            stage.advance()?;
        }
        println!(
            "B2 = {}: {} of {} points find something, and the same on the CPU: {}",
            bounds.1,
            device.iter().flatten().count(),
            some.len(),
            stage.finish() == device
        );
    }
    println!("bits B2 way curves us-a-curve; the longest steps of one group, ms");
    for (bits, below) in [(250, 207u8), (506, 45)] {
        if asked.is_some_and(|asked| asked != bits) {
            continue;
        }
        let n = (BigUint::from(1u8) << bits) - below;
        for &b2 in &far {
            for by in [Continuation::Polynomials, Continuation::Giants] {
                let count = match by {
                    Continuation::Polynomials => curves,
                    Continuation::Giants if b2 > 1e8 => continue,
                    Continuation::Giants => 67_584,
                };
                let points = points(&engine, &n, count)?;
                // The second time kernels are compiled.
                run(
                    by,
                    &engine,
                    &n,
                    &points[..points.len().min(32)],
                    (1_000_000, b2 as u64),
                )?;
                let (_, times) = run(by, &engine, &n, &points, (1_000_000, b2 as u64))?;
                let all: f64 = times.iter().sum();
                let each = 1e6 * all / points.len() as f64;
                let shown: Vec<String> = match by {
                    Continuation::Polynomials => {
                        let long = times.iter().enumerate().filter(|(_, t)| **t > 0.01 * all);
                        long.map(|(i, t)| format!("{i}:{:.0}", 1e3 * t))
                            .take(40)
                            .collect()
                    }
                    Continuation::Giants => vec![],
                };
                println!(
                    "{bits} {b2:e} {by:?} {} {each:.1}; {}",
                    points.len(),
                    shown.join(" ")
                );
            }
        }
    }
    Ok(())
}
