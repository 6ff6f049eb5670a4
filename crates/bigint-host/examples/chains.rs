//! Chains of residues: products by every way that a device has, beside num-bigint's, and their times.
//!
//! ```text
//! cargo run --release -p bigint-host --features cuda --example chains check 1000000
//! cargo run --release -p bigint-host --features cuda --example chains rate
//! cargo run --release -p bigint-host --features cuda --example chains powers
//! ```
//!
//! `check` computes so many products `a b + c` modulo numbers of 1024 to 8192 bits, moduli all ones, 2^(n-1) + 1, with small
//! factors and any, operands 0, 1, `m - 1`, all ones and any: product by product in limbs, and as a chain in residue number
//! systems. All cores compute them as num-bigint does. `rate` has chains of 512 squares, and of as many products with
//! differences, by both ways; `powers` those with exponents as wide as moduli, and with exponents of one limb.

use bigint_core::rns::{CHAIN, RnsPlan};
use bigint_host::{
    Algorithm, Batch, BigUint, Engine, Error, Layout, MontgomeryParams, Residues, RnsTuning, Tuning,
};
use std::thread;
use std::time::Instant;

/// Limbs of moduli.
const WIDTHS: [usize; 7] = [32, 48, 64, 96, 128, 192, 256];

/// Products that wait at once: what `Residues` have at most.
const LENGTH: usize = 512;

/// Numbers of a batch that is checked.
const BATCH: usize = 1 << 16;

/// An engine whose chains are all in residue number systems, or none.
fn engine(engine: &Engine, in_residues: bool) -> Engine {
    let mut tuning = Tuning::default();
    tuning.modular.rns.retain(|row| row.bases != CHAIN);
    if in_residues {
        tuning.modular.rns.extend(WIDTHS.map(|width| RnsTuning {
            width,
            bases: CHAIN,
            nanoseconds: 1.0,
            warps_nanoseconds: 1.0,
            conversion_nanoseconds: 1.0,
            windows_nanoseconds: 1e15,
            vartime_nanoseconds: 1.0,
            windows_vartime_nanoseconds: 1e15,
        }));
    }
    engine.with_tuning(tuning)
}

/// Numbers without end, of which neighbours differ.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, limbs: usize) -> BigUint {
        let limb = (0..limbs).map(|_| {
            self.0 = self
                .0
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (self.0 >> 32) as u32
        });
        BigUint::new(limb.collect())
    }

    fn modulus(&mut self, i: usize, limbs: usize) -> BigUint {
        let one = BigUint::from(1u8);
        let fits = (&one << (32 * limbs)) - 1u8;
        match i % 5 {
            0 => fits,
            1 => (&one << (32 * limbs - 1)) + 1u8,
            2 => ((fits / 945u32 - 1u8) | &one) * 945u32,
            3 => {
                BigUint::from(RnsPlan::of(limbs).map_or(3, |plan| plan.bases()[i / 5 % 2][i % 31]))
            }
            _ => self.next(limbs) | &one,
        }
    }

    fn operand(&mut self, i: usize, limbs: usize, m: &BigUint) -> BigUint {
        let number = match i % 6 {
            0 => BigUint::ZERO,
            1 => BigUint::from(1u8),
            2 => m - 1u8,
            3 => (BigUint::from(1u8) << (32 * limbs)) - 1u8,
            _ => self.next(limbs),
        };
        number % m
    }
}

fn batch(engine: &Engine, numbers: &[BigUint], limbs: usize) -> Result<Batch, Error> {
    engine.batch_from_biguints_in(numbers, limbs, Layout::Contiguous)
}

/// Sums of products modulo `m`.
fn computed(
    engine: &Engine,
    [a, b, c, m]: [&[BigUint]; 4],
    limbs: usize,
) -> Result<Vec<BigUint>, Error> {
    let params = MontgomeryParams::new(engine, &batch(engine, m, limbs)?)?;
    let residues = |x: &[BigUint]| Residues::new(&batch(engine, x, limbs)?, &params);
    let (a, b, c) = (residues(a)?, residues(b)?, residues(c)?);
    a.mul(&b)?.add(&c)?.retrieve()?.to_biguints()
}

/// What `of` makes of all numbers below `count`, by all cores.
fn by_all_cores<T: Send>(count: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let part = count
        .div_ceil(thread::available_parallelism().map_or(1, usize::from))
        .max(1);
    thread::scope(|scope| {
        let parts = (0..count).step_by(part).map(|first| {
            let of = &of;
            scope.spawn(move || (first..count.min(first + part)).map(of).collect::<Vec<_>>())
        });
        let parts: Vec<_> = parts.collect();
        let parts = parts.into_iter();
        parts
            .flat_map(|part| part.join().expect("no thread panics"))
            .collect()
    })
}

fn check(gpu: &Engine, limbs: usize, count: usize) -> Result<(), Error> {
    let started = Instant::now();
    let (mut wrong, mut done) = ([0; 2], 0);
    while done < count {
        let here = BATCH.min(count - done);
        let rows = by_all_cores(here, |i| {
            let mut numbers = Numbers((limbs * count + done + i) as u64 * 0x9e37_79b9_7f4a_7c15);
            let m = numbers.modulus(i, limbs);
            let [a, b, c] = [1, 6, 36].map(|by| numbers.operand(i / by, limbs, &m));
            [a, b, c, m]
        });
        let [a, b, c, m] =
            [0, 1, 2, 3].map(|k| rows.iter().map(|row| row[k].clone()).collect::<Vec<_>>());
        let all = [&a[..], &b, &c, &m];
        let by_limbs = computed(&engine(gpu, false), all, limbs)?;
        let in_residues = computed(&engine(gpu, true), all, limbs)?;
        let are_wrong = by_all_cores(here, |i| {
            let [a, b, c, m] = &rows[i];
            let expected = (a * b + c) % m;
            [by_limbs[i] != expected, in_residues[i] != expected]
        });
        for of_number in are_wrong {
            wrong = [0, 1].map(|k| wrong[k] + usize::from(of_number[k]));
        }
        done += here;
    }
    let [by_limbs, in_residues] = wrong;
    println!(
        "{} bits: {count} products, wrong in limbs {by_limbs}, in residue number systems {in_residues}; {:.1} s",
        32 * limbs,
        started.elapsed().as_secs_f64()
    );
    assert_eq!(wrong, [0; 2]);
    Ok(())
}

/// The least time of a chain of squares and of one of products with differences, in nanoseconds for a product.
fn times(engine: &Engine, limbs: usize, count: usize, moduli: usize) -> Result<[f64; 2], Error> {
    let mut numbers = Numbers(9);
    let one = BigUint::from(1u8);
    let mut some = |count: usize| -> Vec<BigUint> {
        (0..count)
            .map(|_| numbers.next(limbs) | &one | (&one << (32 * limbs - 1)))
            .collect()
    };
    let params = MontgomeryParams::new(engine, &batch(engine, &some(moduli), limbs)?)?;
    let a = Residues::new(&batch(engine, &some(count), limbs)?, &params)?;
    let b = Residues::new(&batch(engine, &some(count), limbs)?, &params)?;
    let time = |step: &dyn Fn(Residues) -> Result<Residues, Error>| -> Result<f64, Error> {
        let mut least = f64::INFINITY;
        for _ in 0..3 {
            a.as_montgomery()?;
            engine.wait()?;
            let started = Instant::now();
            let mut x = a.clone();
            for _ in 0..LENGTH {
                x = step(x)?;
            }
            x.as_montgomery()?;
            engine.wait()?;
            least = least.min(started.elapsed().as_secs_f64());
        }
        Ok(least * 1e9 / (LENGTH * count) as f64)
    };
    Ok([time(&|x| x.square())?, time(&|x| x.mul(&b)?.sub(&a))?])
}

/// The least time of powers, each by a modulus of its own or all by one, in nanoseconds for a power.
fn power(engine: &Engine, [limbs, exponent, count, moduli]: [usize; 4]) -> Result<f64, Error> {
    let mut numbers = Numbers(11);
    let one = BigUint::from(1u8);
    let mut some = |count: usize, limbs: usize| -> Result<Batch, Error> {
        let top = &one << (32 * limbs - 1);
        let some: Vec<_> = (0..count)
            .map(|_| numbers.next(limbs) | &one | &top)
            .collect();
        batch(engine, &some, limbs)
    };
    let (a, e, m) = (
        some(count, limbs)?,
        some(count, exponent)?,
        some(moduli, limbs)?,
    );
    let mut least = f64::INFINITY;
    for _ in 0..4 {
        engine.wait()?;
        let started = Instant::now();
        engine.pow_mod(&a, &e, &m)?;
        engine.wait()?;
        least = least.min(started.elapsed().as_secs_f64());
    }
    Ok(least * 1e9 / count as f64)
}

fn powers(gpu: &Engine) -> Result<(), Error> {
    println!("{gpu:?}; us for a power, and for one with an exponent of a limb");
    for limbs in WIDTHS {
        for algorithm in [Algorithm::Rns, Algorithm::RnsVartime] {
            let scans = algorithm == Algorithm::Rns;
            let plan = RnsPlan::of(limbs)
                .expect("there is one")
                .by_warpgroups(true);
            let of_block = plan.numbers_of_block(plan.window(limbs, scans, 1)) as usize;
            let count = 132 * of_block * if limbs > 64 { 1 } else { 2 };
            let engine = gpu.using(algorithm);
            for moduli in [1, count] {
                let [long, short] =
                    [limbs, 1].map(|exponent| power(&engine, [limbs, exponent, count, moduli]));
                let (long, short) = (long? / 1e3, short? / 1e3);
                println!(
                    "{} bits, {count}, {moduli} moduli, {}: {long:.4} {short:.4}",
                    32 * limbs,
                    algorithm.name()
                );
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let gpu = Engine::cuda(0)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("check") => {
            let count = arguments
                .get(1)
                .and_then(|count| count.parse().ok())
                .unwrap_or(1000);
            for limbs in WIDTHS {
                check(&gpu, limbs, count)?;
            }
        }
        Some("powers") => powers(&gpu)?,
        _ => {
            println!(
                "{gpu:?}; ns for a product of a chain of {LENGTH}: squares, and products with differences"
            );
            for limbs in WIDTHS {
                let plan = RnsPlan::of(limbs)
                    .expect("there is one")
                    .by_warpgroups(true);
                let of_block = (plan.form().threads / 32 * 16) as usize;
                let count = 132 * of_block * if limbs > 64 { 1 } else { 2 };
                for (name, moduli) in [("one modulus", 1), ("a modulus each", count)] {
                    let [by_limbs, in_residues] =
                        [false, true].map(|by| times(&engine(&gpu, by), limbs, count, moduli));
                    let ([a, b], [c, d]) = (by_limbs?, in_residues?);
                    println!(
                        "{} bits, {count}, {name}: in limbs {a:.3} {b:.3}, in residue number systems {c:.3} {d:.3}",
                        32 * limbs
                    );
                }
            }
        }
    }
    Ok(())
}
