//! How long both stages take on the first device: curves a second, and in stage 2 ns for each curve and prime. 0 curves are as
//! many as suit the device.
//!
//! ```text
//! cargo run --release -p ecm --example stage2_rate [CURVES [B1 [B2 [BITS]]]]      # 0 5e4 5e6, 250 and 506 bits
//! ```

use std::time::Instant;

use bigint_host::{BigUint, Engine};
use ecm::{Family, Outcome, Stage1, Stage2, scalar};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| words.get(i).map(|word| word.parse::<f64>()).transpose();
    let given = number(0)?.map_or(0, |curves| curves as usize);
    let b1 = number(1)?.map_or(50_000, |b1| b1 as u64);
    let b2 = number(2)?.map_or(5_000_000, |b2| b2 as u64);
    let bits = number(3)?.map(|bits| bits as u64);
    let mut primes = 0u64;
    ecm::primes(b1 + 1, b2, |_| primes += 1);
    let engine = Engine::cuda(0)?;
    println!("device: {:?}", bigint_host::advanced::devices()?);
    println!("B1 = {b1}, B2 = {b2}");
    println!(
        "bits curves stage-1-s between-s begin-s stage-2-s finish-s ns-a-curve-and-prime curves/s"
    );
    // Primes, so that no curve ends before its time; above 1530 bits, numbers without a factor below 10^4.
    let moduli = [
        (122, 3u16),
        (250, 207),
        (378, 417),
        (506, 45),
        (762, 143),
        (1530, 1203),
        (2298, 23),
        (3066, 5),
        (4602, 17),
        (6138, 5),
        (9210, 3),
    ];
    for (bits, below) in moduli
        .into_iter()
        .filter(|of| bits.map_or(of.0 == 250 || of.0 == 506, |bits| bits == of.0))
    {
        let n = (BigUint::from(1u8) << bits) - below;
        let curves = match given {
            0 => Stage1::curves_on_device(&engine, &n, Family::Edwards)?.expect("a GPU"),
            given => given,
        };
        let began = Instant::now();
        let mut stage = Stage1::on_device(&engine, &n, Family::Edwards, 1000, curves, &scalar(b1))?
            .expect("a GPU");
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
