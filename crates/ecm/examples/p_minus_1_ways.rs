//! What each way of stage 2 of P-1 and P+1 takes for one value on all cores, or on the first device, in seconds; and that both
//! find a prime whose order is a prime at the end of the range.
//!
//! ```text
//! cargo run --release -p ecm --example p_minus_1_ways cpu|cuda [BITS [B2 ...]]      # 534 bits, 1e8 1e9 1e10
//! ```
//!
//! `B1` is a thousandth of `B2`. Giant steps go up to 10^10 alone on a device and up to 10^9 on cores: their time goes with `B2`.

use std::time::Instant;

use bigint_host::{BigUint, Engine};
use ecm::{Continuation, LucasStage2};

/// The least prime `6 q + 1` with a prime `q` from `least` on, and `q`.
fn prime(least: u64) -> (BigUint, u64) {
    let is_prime = |n: u64| (2..=n.isqrt()).all(|d| !n.is_multiple_of(d));
    let q = (least..).find(|&q| is_prime(q) && is_prime(6 * q + 1));
    let q = q.expect("there are many");
    ((6 * q + 1).into(), q)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_on_device = words.first().is_some_and(|word| word == "cuda");
    let numbers: Vec<f64> = words
        .iter()
        .skip(1)
        .map(|word| word.parse())
        .collect::<Result<_, _>>()?;
    let bits = numbers.first().map_or(534, |&bits| bits as u64);
    let far: Vec<f64> = match numbers.get(1..) {
        Some(far) if !far.is_empty() => far.to_vec(),
        _ => vec![1e8, 1e9, 1e10],
    };
    let engine = if is_on_device {
        println!("device: {:?}", bigint_host::advanced::devices()?);
        Engine::cuda(0)?
    } else {
        Engine::cpu()
    };
    println!("bits B2 way seconds; the longest steps, ms");
    for b2 in far {
        let (b1, b2) = (b2 as u64 / 1000, b2 as u64);
        let (p, _) = prime(b2 - b2 / 50);
        let cofactor = (BigUint::from(1u8) << (bits - p.bits())) - 3u8;
        let n = cofactor * &p;
        // 2^6 has an order of q modulo p.
        let a = BigUint::from(64u8);
        let value = (a.modinv(&n).expect("an odd modulus") + a) % &n;
        for by in [Continuation::Polynomials, Continuation::Giants] {
            if by == Continuation::Giants
                && b2
                    > if is_on_device {
                        10_000_000_000
                    } else {
                        1_000_000_000
                    }
            {
                continue;
            }
            let mut times = Vec::new();
            for _ in 0..1 + u8::from(is_on_device) {
                // The second time kernels are compiled.
                times.clear();
                let mut began = Instant::now();
                let values = std::slice::from_ref(&value);
                let mut stage = match is_on_device {
                    true => {
                        LucasStage2::on_device_by(by, &engine, &n, values, b1, b2)?.expect("a GPU")
                    }
                    false => LucasStage2::new_by(by, &n, values, b1, b2)?,
                };
                while !stage.is_done() {
                    times.push(began.elapsed().as_secs_f64());
                    began = Instant::now();
                    stage.advance()?;
                }
                times.push(began.elapsed().as_secs_f64());
                let found = stage.finish()?;
                let divisor = found[0].as_ref();
                assert!(
                    divisor.is_some_and(|divisor| divisor % &p == BigUint::ZERO),
                    "{b2}"
                );
            }
            let all: f64 = times.iter().sum();
            let long = times.iter().enumerate().filter(|(_, t)| **t > 0.04 * all);
            let long = long.map(|(i, t)| format!("{i}:{:.0}", 1e3 * t));
            let long: Vec<_> = long.take(20).collect();
            println!("{bits} {b2:e} {by:?} {all:.3}; {}", long.join(" "));
        }
    }
    Ok(())
}
