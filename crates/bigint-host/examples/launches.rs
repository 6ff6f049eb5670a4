//! What a launch of a kernel of one's own costs on the first GPU: from the call to the end of the wait, and in a row.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example launches
//! ```
//!
//! `benches/gpu-peers/launches.cu` times the driver's launches of the same kernel.

use std::time::Instant;

use bigint_host::{BigUint, Engine};

/// A kernel that counts bits: of one number here.
const PTX: &str = include_str!("../../../examples/cuda-kernel/hamming.ptx");

const ROUNDS: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::cuda(0)?;
    let module = engine.module(PTX)?.ok_or("a GPU")?;
    let number = |number: u32| engine.batch_from_biguints(&[BigUint::from(number)]);
    let (a, b) = (number(5)?, number(3)?);
    let launch = || module.launch("hamming", &[&a, &b], &[1], &[32]);
    assert_eq!(launch()?[0].to_biguints()?, [BigUint::from(2u8)]);
    let mut alone = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let made = launch()?;
        module.wait()?;
        alone.push(1e6 * began.elapsed().as_secs_f64());
        drop(made);
    }
    alone.sort_by(f64::total_cmp);
    let began = Instant::now();
    let mut row = Vec::new();
    for _ in 0..ROUNDS {
        row.push(launch()?);
    }
    let called = 1e6 * began.elapsed().as_secs_f64() / ROUNDS as f64;
    module.wait()?;
    let all = 1e6 * began.elapsed().as_secs_f64() / ROUNDS as f64;
    println!(
        "module.launch and wait: {:.2} us (least {:.2}); in a row of {ROUNDS}: {called:.2} us a call, {all:.2} us with the wait",
        alone[ROUNDS / 2],
        alone[0]
    );
    Ok(())
}
