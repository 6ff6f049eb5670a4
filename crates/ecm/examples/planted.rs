//! Planted primes, found as often as theory says: products of a prime of so many digits and `2^107 - 1`, a few curves or a
//! wave of them on each, and the curves that find the prime beside those that [`chance`](ecm::chance) expects.
//!
//! ```text
//! cargo run --release -p ecm --example planted [edwards|3 [DIGITS [PRIMES [cpu]]]]      # edwards, each of 15 to 40, 100
//! ```

use std::time::Instant;

use bigint_host::{BigUint, Engine};
use ecm::{
    Bounds, Family, Outcome, Stage1, Stage2, bounds_for_digits, bounds_for_digits_on_device,
    chance, scalar,
};

/// The first primes above numbers of so many digits that are spread evenly.
fn primes(digits: u32, count: u32) -> Result<Vec<BigUint>, bigint_host::Error> {
    let engine = Engine::cpu();
    let least = BigUint::from(10u8).pow(digits - 1);
    let of = |i: u32| {
        // The golden section.
        let part = BigUint::from((i + 1000).wrapping_mul(0x9e37_79b9)) * 9u8 * &least;
        &least + (part >> 32)
    };
    let from: Vec<_> = (1..=count).map(of).collect();
    let from = engine.batch_from_biguints(&from)?;
    engine.next_prime(&from)?.to_biguints()
}

/// The divisors that curves find.
fn divisors(
    engine: Option<&Engine>,
    n: &BigUint,
    (family, first): (Family, u64),
    Bounds { b1, b2, curves }: Bounds,
) -> Result<Vec<BigUint>, ecm::Error> {
    let (count, scalar) = (curves as usize, scalar(b1));
    let mut stage = match engine {
        Some(engine) => {
            Stage1::on_device(engine, n, family, first, count, &scalar)?.expect("a kernel")
        }
        None => Stage1::new(n, family, first, count, &scalar)?,
    };
    while !stage.is_done() {
        stage.advance(10_000)?;
    }
    let (mut found, mut points) = (Vec::new(), Vec::new());
    for outcome in stage.finish()? {
        match outcome {
            Outcome::Factor(divisor) => found.push(divisor),
            Outcome::Point(point) => points.push(point),
        }
    }
    let mut stage = match engine {
        Some(engine) => Stage2::on_device(engine, n, &points, b1, b2)?.expect("a kernel"),
        None => Stage2::new(n, &points, b1, b2)?,
    };
    while !stage.is_done() {
        stage.advance()?;
    }
    found.extend(stage.finish().into_iter().flatten());
    Ok(found)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize| words.get(i).map(String::as_str);
    let family = match word(0) {
        Some("3") => Family::Param3,
        _ => Family::Edwards,
    };
    let only: Option<u32> = word(1).map(str::parse).transpose()?;
    let count = word(2).map(str::parse).transpose()?.unwrap_or(100);
    let engine = match word(3) {
        Some("cpu") => None,
        _ => Some(Engine::cuda(0)?),
    };
    println!("{family:?}, {count} primes of each length");
    println!("digits B1 B2 curves-of-each found expected two-deviations s");
    let cofactor = (BigUint::from(1u8) << 107) - 1u8;
    for digits in (15..=40)
        .step_by(5)
        .filter(|&of| only.is_none_or(|only| only == of))
    {
        let bounds = match engine {
            Some(_) => bounds_for_digits_on_device(digits, family),
            None => bounds_for_digits(digits),
        };
        // One is found of each, about.
        let one = chance(family, digits.into(), bounds.b1, bounds.b2);
        let curves = bounds.curves.min((1.0 / one).ceil() as u64);
        let bounds = Bounds { curves, ..bounds };
        let began = Instant::now();
        let (mut found, mut expected, mut variance) = (0, 0.0, 0.0);
        for (i, p) in (0..).zip(primes(digits, count)?) {
            let log = p.to_string().parse::<f64>()?.log10();
            // A prime 10^(d - 1/2) has d digits.
            let chance = chance(family, log + 0.5, bounds.b1, bounds.b2);
            expected += chance * curves as f64;
            variance += chance * (1.0 - chance) * curves as f64;
            let first = 1_000_000 + i * curves;
            let divisors = divisors(engine.as_ref(), &(&p * &cofactor), (family, first), bounds)?;
            let hits = divisors.iter().filter(|&d| d % &p == BigUint::ZERO);
            found += hits.count();
        }
        println!(
            "{digits} {} {} {curves} {found} {expected:.1} {:.1} {:.1}",
            bounds.b1,
            bounds.b2,
            2.0 * f64::sqrt(variance),
            began.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
