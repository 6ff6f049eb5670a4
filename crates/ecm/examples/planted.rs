//! Planted primes, found as often as theory says: products of a prime of so many digits and `2^107 - 1`, a few curves or a
//! wave of them on each, and the curves that find the prime beside those that [`chance`](ecm::chance) expects.
//!
//! ```text
//! cargo run --release -p ecm --example planted [edwards|3 [DIGITS [PRIMES [cpu|gpu [B1 B2 CURVES [FIRST]]]]]]
//! ```
//!
//! Without arguments primes are of each of 15 to 40 digits, 100 of them, and bounds those with which about one curve of a
//! prime's finds it. `FIRST` is where primes begin among those of so many digits. Two primes are on their way at a time, so that a
//! device computes while cores make curves. What was found so far is told after each prime on standard error.

use std::sync::Mutex;
use std::thread::scope;
use std::time::Instant;

use bigint_host::{BigUint, Engine};
use ecm::{
    Bounds, Family, Outcome, Stage1, Stage2, bounds_for_digits, bounds_for_digits_on_device,
    chance, scalar,
};

/// What primes and their curves have come to.
#[derive(Default)]
struct Totals {
    primes: u32,
    found: usize,
    expected: f64,
    variance: f64,
}

/// The first primes above numbers of so many digits that are spread evenly.
fn primes(digits: u32, first: u32, count: u32) -> Result<Vec<BigUint>, bigint_host::Error> {
    let engine = Engine::cpu();
    let least = BigUint::from(10u8).pow(digits - 1);
    let of = |i: u32| {
        // The golden section.
        let part = BigUint::from((i + 1000).wrapping_mul(0x9e37_79b9)) * 9u8 * &least;
        &least + (part >> 32)
    };
    let from: Vec<_> = (first + 1..=first + count).map(of).collect();
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

/// Looks for primes of so many digits, of which `next` hands out one after another, and counts the curves that find them.
fn search(
    engine: Option<&Engine>,
    family: Family,
    bounds: Bounds,
    next: impl Fn() -> Option<(u32, BigUint)>,
    totals: &Mutex<Totals>,
) -> Result<(), ecm::Error> {
    let cofactor = (BigUint::from(1u8) << 107) - 1u8;
    while let Some((i, p)) = next() {
        let log = p.to_string().parse::<f64>().map_or(0.0, f64::log10);
        // A prime 10^(d - 1/2) has d digits.
        let chance = chance(family, log + 0.5, bounds.b1, bounds.b2);
        let first = 1_000_000 + u64::from(i) * bounds.curves;
        let divisors = divisors(engine, &(&p * &cofactor), (family, first), bounds)?;
        let hits = divisors.iter().filter(|&d| d % &p == BigUint::ZERO);
        let mut totals = totals.lock().expect("no panic");
        totals.primes += 1;
        totals.found += hits.count();
        totals.expected += chance * bounds.curves as f64;
        totals.variance += chance * (1.0 - chance) * bounds.curves as f64;
        eprintln!(
            "{}: {} found, {:.1} expected",
            totals.primes, totals.found, totals.expected
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize| words.get(i).map(String::as_str);
    let number = |i: usize| word(i).map(str::parse::<u64>).transpose();
    let family = match word(0) {
        Some("3") => Family::Param3,
        _ => Family::Edwards,
    };
    let only = number(1)?;
    let count = number(2)?.unwrap_or(100) as u32;
    let engine = match word(3) {
        Some("cpu") => None,
        _ => Some(Engine::cuda(0)?),
    };
    let engine = engine.as_ref();
    let own = number(4)?.zip(number(5)?).zip(number(6)?);
    let first = number(7)?.unwrap_or(0) as u32;
    println!("{family:?}, {count} primes of each length, from {first} on");
    println!("digits B1 B2 curves-of-each found expected two-deviations s");
    for digits in (15..=40)
        .step_by(5)
        .filter(|&of| only.is_none_or(|only| only == u64::from(of)))
    {
        let bounds = match (own, engine) {
            (Some(((b1, b2), curves)), _) => Bounds { b1, b2, curves },
            (None, Some(_)) => bounds_for_digits_on_device(digits, family),
            (None, None) => bounds_for_digits(digits),
        };
        // One is found of each, about.
        let one = chance(family, digits.into(), bounds.b1, bounds.b2);
        let curves = match own {
            Some(_) => bounds.curves,
            None => bounds.curves.min((1.0 / one).ceil() as u64),
        };
        let bounds = Bounds { curves, ..bounds };
        let began = Instant::now();
        let primes = Mutex::new((first..).zip(primes(digits, first, count)?));
        let next = || primes.lock().expect("no panic").next();
        let totals = Mutex::default();
        scope(|scope| {
            let workers =
                [(); 2].map(|()| scope.spawn(|| search(engine, family, bounds, next, &totals)));
            let ended = workers.map(|worker| worker.join().expect("no panic"));
            ended.into_iter().collect::<Result<(), _>>()
        })?;
        let Totals {
            found,
            expected,
            variance,
            ..
        } = totals.into_inner()?;
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
