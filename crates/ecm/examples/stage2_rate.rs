//! How long both stages take on the first device for `B1` = 5e4 and `B2` = 5e6: curves a second, and in
//! stage 2 ns for each curve and pair of a prime.
//!
//! ```text
//! cargo run --release -p ecm --example stage2_rate [CURVES, 67584 by default]
//! ```

use std::time::Instant;

use bigint_host::{BigUint, Engine};
use ecm::{Outcome, Stage1, Stage2, scalar};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let curves = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let curves: usize = curves.unwrap_or(67_584);
    let (b1, b2) = (50_000, 5_000_000);
    let mut primes = 0u64;
    ecm::primes(b1 + 1, b2, |_| primes += 1);
    let engine = Engine::cuda(0)?;
    println!("device: {:?}", bigint_host::advanced::devices()?);
    println!(
        "bits curves stage-1-s between-s begin-s stage-2-s finish-s ns-a-curve-and-prime curves/s"
    );
    // Primes: no curve ends before its time.
    for (bits, below) in [(250, 207u8), (506, 45)] {
        let n = (BigUint::from(1u8) << bits) - below;
        let began = Instant::now();
        let mut stage = Stage1::on_device(&engine, &n, 1000, curves, &scalar(b1))?.expect("a GPU");
        while !stage.is_done() {
            stage.advance(10_000)?;
        }
        let stage1 = began.elapsed().as_secs_f64();
        let mut points = Vec::new();
        for outcome in stage.finish()? {
            match outcome {
                Outcome::Point(point) => points.push(point),
                Outcome::Factor(_) => {}
            }
        }
        let between = began.elapsed().as_secs_f64() - stage1;
        let again = Instant::now();
        let mut stage = Stage2::on_device(&engine, &n, &points, b1, b2)?.expect("a GPU");
        let begin = again.elapsed().as_secs_f64();
        while !stage.is_done() {
            stage.advance()?;
        }
        let stage2 = again.elapsed().as_secs_f64() - begin;
        stage.finish();
        let finish = again.elapsed().as_secs_f64() - begin - stage2;
        let pair = 1e9 * stage2 / (points.len() as f64 * primes as f64);
        let all = began.elapsed().as_secs_f64();
        println!(
            "{bits} {} {stage1:.3} {between:.3} {begin:.3} {stage2:.3} {finish:.3} {pair:.4} {:.0}",
            points.len(),
            curves as f64 / all
        );
    }
    Ok(())
}
