//! Powers, chains of products and Lucas' tests on a GPU: beside GMP's, and their times by every way that the device has.
//!
//! ```text
//! cd benches/peers
//! cargo build --release --bin residues --features bigint-host/cuda
//! residues products LIMBS COUNT
//! residues powers LIMBS COUNT LIMBS_OF_EXPONENTS
//! residues pairs LIMBS COUNT LIMBS_OF_EXPONENTS
//! residues rate LIMBS
//! residues rns LIMBS
//! ```
//!
//! `products` computes `(a b + c)^2 - b`, of moduli and operands all ones, 2^(n-1) + 1, with small factors, 0, 1, `m - 1` and
//! any: product by product in limbs, and as a chain in residue number systems. `powers` are those by windows and in residue
//! number systems, in constant time and not, and `pairs` products of two. GMP computes all of them on all cores. `rate` has the least times of some calls, from
//! the call until the device has done, of numbers that the device has: a wave or two of what fills it. `rns` leaves out
//! what goes product by product or by windows.

use anyhow::{Result, bail, ensure};
use bigint_core::rns::{CHAIN, RnsPlan};
use bigint_host::{
    Algorithm, Batch, Engine, Layout, MontgomeryParams, Residues, RnsTuning, Shape, Tuning,
};
use rayon::prelude::*;
use rug::Integer;
use rug::integer::Order;
use std::time::Instant;

/// Limbs of moduli that tables have.
const WIDTHS: [usize; 7] = [32, 48, 64, 96, 128, 192, 256];

/// Products that wait at once: what `Residues` have at most.
const LENGTH: usize = 512;

/// Limbs of a column that is checked at once, at most.
const LIMBS: usize = 1 << 22;

/// Primes `k 2^n + 1`, a little shorter than 1024 to 8192 bits.
const PROTH: [[u32; 2]; 7] = [
    [7, 830],
    [9, 1494],
    [7, 1804],
    [9, 2826],
    [3, 3912],
    [5, 5947],
    [9, 7967],
];

/// An engine whose chains are all in residue number systems, or none.
fn with_chains(engine: &Engine, are_in_residues: bool) -> Engine {
    let mut tuning = Tuning::default();
    tuning.modular.rns.retain(|row| row.bases != CHAIN);
    if are_in_residues {
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
    fn limb(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 32) as u32
    }

    fn next(&mut self, limbs: usize) -> Integer {
        let limbs: Vec<u32> = (0..limbs).map(|_| self.limb()).collect();
        Integer::from_digits(&limbs, Order::Lsf)
    }

    /// An odd one: all ones, the top bit and 1, with small factors, a prime of this base, or any.
    fn modulus(&mut self, i: usize, limbs: usize, base: usize) -> Integer {
        let bits = 32 * limbs as u32;
        let fits = (Integer::from(1) << bits) - 1u32;
        match i % 5 {
            0 => fits,
            1 => (Integer::from(1) << (bits - 1)) + 1u32,
            2 => {
                let cofactor = Integer::from(&fits / 945u32) - 1u32;
                (cofactor | Integer::from(1)) * 945u32
            }
            3 => {
                let prime = RnsPlan::of(limbs).map_or(3, |plan| plan.bases()[base][i % 31]);
                Integer::from(prime)
            }
            _ => self.next(limbs) | Integer::from(1),
        }
    }

    fn operand(&mut self, i: usize, limbs: usize, m: &Integer) -> Integer {
        match i % 6 {
            0 => Integer::new(),
            1 => Integer::from(1),
            2 => Integer::from(m - 1u32),
            3 => (Integer::from(1) << (32 * limbs as u32)) - 1u32,
            _ => self.next(limbs),
        }
    }
}

fn batch(engine: &Engine, numbers: &[Integer], limbs: usize) -> Result<Batch> {
    let mut all = vec![0; limbs * numbers.len()];
    let rows = all.par_chunks_mut(limbs).zip(numbers);
    rows.for_each(|(row, number)| number.write_digits(row, Order::Lsf));
    let shape = Shape::new(numbers.len(), limbs, Layout::Contiguous);
    Ok(engine.batch_from_limbs(all, shape)?)
}

/// How many numbers of a batch are not those expected.
fn wrong(batch: &Batch, expected: &[Integer]) -> Result<usize> {
    let (rows, limbs) = (batch.rows()?, batch.width());
    let rows = rows.par_chunks(limbs).zip(expected);
    let is_wrong = |(row, of): (&[u32], &Integer)| Integer::from_digits(row, Order::Lsf) != *of;
    Ok(rows.filter(|&pair| is_wrong(pair)).count())
}

/// Numbers of a batch that is checked: every fourth has one modulus for all.
fn batches(limbs: usize, count: usize) -> impl Iterator<Item = (usize, usize, bool)> {
    let at_once = (LIMBS / limbs).clamp(1, count);
    let firsts = (0..count).step_by(at_once).enumerate();
    firsts.map(move |(k, first)| (first, at_once.min(count - first), k % 4 == 3))
}

/// Moduli and operands of rows from one on.
fn rows(
    limbs: usize,
    (first, count, is_one): (usize, usize, bool),
) -> (Vec<Integer>, [Vec<Integer>; 3]) {
    let of_row =
        |i: usize| Numbers(((limbs << 40 | i) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // Of one batch both bases would refuse some, and leave it to the CPU.
    let base = first / count % 2;
    let kind = first / count % 5;
    let modulus = |i: usize| of_row(i).modulus(if is_one { kind } else { i }, limbs, base);
    let moduli: Vec<Integer> = match is_one {
        true => vec![modulus(first)],
        false => (first..first + count)
            .into_par_iter()
            .map(modulus)
            .collect(),
    };
    let column = |by: usize, salt: u64| -> Vec<Integer> {
        let rows = (0..count).into_par_iter();
        let operand = rows.map(|k| {
            let i = first + k;
            let mut numbers = of_row(i);
            numbers.0 ^= salt;
            numbers.operand(i / by, limbs, &moduli[k.min(moduli.len() - 1)])
        });
        operand.collect()
    };
    let columns = [column(1, 1 << 50), column(6, 5 << 50), column(36, 9 << 50)];
    (moduli, columns)
}

fn check_products(gpu: &Engine, limbs: usize, count: usize) -> Result<()> {
    let (started, mut found) = (Instant::now(), [0; 2]);
    for part in batches(limbs, count) {
        let (m, [a, b, c]) = rows(limbs, part);
        let expected = (0..part.1).into_par_iter().map(|i| {
            let (a, b, c, m) = (&a[i], &b[i], &c[i], &m[i.min(m.len() - 1)]);
            let sum = (Integer::from(a * b) + c) % m;
            let least = (sum.square() - b) % m;
            if least < 0 { least + m } else { least }
        });
        let expected: Vec<Integer> = expected.collect();
        for (found, in_residues) in found.iter_mut().zip([false, true]) {
            let engine = with_chains(gpu, in_residues);
            let params = MontgomeryParams::new(&engine, &batch(&engine, &m, limbs)?)?;
            let residues = |x: &[Integer]| -> Result<Residues> {
                Ok(Residues::new(&batch(&engine, x, limbs)?, &params)?)
            };
            let (a, b, c) = (residues(&a)?, residues(&b)?, residues(&c)?);
            let made = a.mul(&b)?.add(&c)?.square()?.sub(&b)?.retrieve()?;
            *found += wrong(&made, &expected)?;
        }
    }
    let [in_limbs, in_residues] = found;
    println!(
        "{} bits: {count} times (a b + c)^2 - b, wrong in limbs {in_limbs}, in residue number systems {in_residues}; {:.1} s",
        32 * limbs,
        started.elapsed().as_secs_f64()
    );
    ensure!(found == [0; 2], "some are wrong");
    Ok(())
}

const BY: [Algorithm; 4] = [
    Algorithm::Window,
    Algorithm::WindowVartime,
    Algorithm::Rns,
    Algorithm::RnsVartime,
];

/// By which chains are computed.
const WAYS: [(&str, bool); 2] = [("limbs", false), ("residue number systems", true)];

fn check_powers(gpu: &Engine, [limbs, count, exponent]: [usize; 3], is_of_two: bool) -> Result<()> {
    let (started, mut found) = (Instant::now(), [0; BY.len()]);
    let name = if is_of_two { "pairs" } else { "powers" };
    for part in batches(limbs, count) {
        let (m, [a, b, _]) = rows(limbs, part);
        let ones = (Integer::from(1) << (32 * exponent as u32)) - 1u32;
        let exponents = |salt: usize| -> Vec<Integer> {
            let rows = (part.0..part.0 + part.1).map(|i| match i / (7 + salt) % 9 {
                0 => Integer::new(),
                1 => Integer::from(1),
                2 => ones.clone(),
                _ => Numbers((i + salt) as u64).next(exponent),
            });
            rows.collect()
        };
        let (e, f) = (exponents(0), exponents(6));
        let expected = (0..part.1).into_par_iter().map(|i| {
            let m = &m[i.min(m.len() - 1)];
            let power = |a: &Integer, e| {
                let power = a.clone().pow_mod(e, m);
                power.expect("exponents are not negative")
            };
            match is_of_two {
                true => power(&a[i], &e[i]) * power(&b[i], &f[i]) % m,
                false => power(&a[i], &e[i]),
            }
        });
        let expected: Vec<Integer> = expected.collect();
        // Of a pair the lower half and the upper.
        let both = |low: &[Integer], high: &[Integer], limbs: usize| -> Result<Batch> {
            let pairs = low.iter().zip(high);
            let pairs = pairs.map(|(low, high)| Integer::from(high << (32 * limbs as u32)) | low);
            match is_of_two {
                true => batch(gpu, &pairs.collect::<Vec<_>>(), 2 * limbs),
                false => batch(gpu, low, limbs),
            }
        };
        let (a, e) = (both(&a, &b, limbs)?, both(&e, &f, exponent)?);
        let m = batch(gpu, &m, limbs)?;
        for (found, algorithm) in found.iter_mut().zip(BY) {
            let engine = gpu.using(algorithm);
            let made = match is_of_two {
                true => engine.pow_pair(&a, &e, &m)?,
                false => engine.pow_mod(&a, &e, &m)?,
            };
            *found += wrong(&made, &expected)?;
        }
    }
    println!(
        "{} bits: {count} {name}, exponents of {} bits, wrong by {} {found:?}; {:.1} s",
        32 * limbs,
        32 * exponent,
        BY.map(Algorithm::name).join(", "),
        started.elapsed().as_secs_f64()
    );
    ensure!(found == [0; BY.len()], "some are wrong");
    Ok(())
}

/// Random numbers with their top bit set, all odd.
fn random(engine: &Engine, count: usize, limbs: usize, seed: u64) -> Result<Batch> {
    let mut all = vec![0; limbs * count];
    let rows = all.par_chunks_mut(limbs).enumerate();
    rows.for_each(|(i, row)| {
        let mut numbers = Numbers((seed << 40 | i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        row.fill_with(|| numbers.limb());
        row[0] |= 1;
        row[limbs - 1] |= 1 << 31;
    });
    let shape = Shape::new(count, limbs, Layout::Contiguous);
    Ok(engine.batch_from_limbs(all, shape)?)
}

/// The least seconds of some calls.
fn least(engine: &Engine, calls: usize, call: &dyn Fn() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..calls {
        engine.wait()?;
        let started = Instant::now();
        call()?;
        engine.wait()?;
        least = least.min(started.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// Nanoseconds of a product of a chain: of squares, of products by one number, and of those less another.
fn chains(engine: &Engine, limbs: usize, count: usize, moduli: usize) -> Result<[f64; 3]> {
    let params = MontgomeryParams::new(engine, &random(engine, moduli, limbs, 1)?)?;
    let a = Residues::new(&random(engine, count, limbs, 2)?, &params)?;
    let b = Residues::new(&random(engine, count, limbs, 3)?, &params)?;
    let time = |step: &dyn Fn(Residues) -> Result<Residues>| -> Result<f64> {
        let least = least(engine, 3, &|| {
            let mut x = a.clone();
            for _ in 0..LENGTH {
                x = step(x)?;
            }
            x.as_montgomery()?;
            Ok(())
        });
        Ok(least? * 1e9 / (LENGTH * count) as f64)
    };
    Ok([
        time(&|x| Ok(x.square()?))?,
        time(&|x| Ok(x.mul(&b)?))?,
        time(&|x| Ok(x.mul(&b)?.sub(&a)?))?,
    ])
}

/// Microseconds of a power, or of a product of two whose exponents are half as long.
fn power(
    engine: &Engine,
    [limbs, exponent, count, moduli]: [usize; 4],
    is_pair: bool,
    calls: usize,
) -> Result<f64> {
    let bases = if is_pair { 2 * limbs } else { limbs };
    let a = random(engine, count, bases, 4)?;
    let e = random(engine, count, exponent, 5)?;
    let m = random(engine, moduli, limbs, 6)?;
    let least = least(engine, calls, &|| {
        match is_pair {
            true => engine.pow_pair(&a, &e, &m)?,
            false => engine.pow_mod(&a, &e, &m)?,
        };
        Ok(())
    });
    Ok(least? * 1e6 / count as f64)
}

fn rate(gpu: &Engine, limbs: usize, is_of_all: bool) -> Result<()> {
    let plan = RnsPlan::of(limbs).expect("there is one");
    let plan = plan.by_warpgroups(true);
    let waves = if limbs > 64 { 1 } else { 2 };
    let bits = 32 * limbs;
    let count = 132 * (plan.form().threads / 32 * 16) as usize * waves;
    // What stands alone is of a modulus each.
    let from = usize::from(!is_of_all);
    for moduli in [1, count].into_iter().skip(from) {
        for &(name, in_residues) in &WAYS[from..] {
            let [square, product, difference] =
                chains(&with_chains(gpu, in_residues), limbs, count, moduli)?;
            println!(
                "{bits} bits, {count} numbers, {moduli} moduli, chains in {name}, ns: square {square:.4} product {product:.4} and difference {difference:.4}"
            );
        }
    }
    for &algorithm in &BY[if is_of_all { 0 } else { 2 }..] {
        let scans = matches!(algorithm, Algorithm::Rns | Algorithm::Window);
        let is_rns = matches!(algorithm, Algorithm::Rns | Algorithm::RnsVartime);
        let of_block = plan.numbers_of_block(plan.window(limbs, scans, 1)) as usize;
        let (count, calls) = match (is_rns, limbs) {
            (true, ..=128) => (132 * of_block * waves, 4),
            (true, _) => (132 * of_block * waves, 2),
            (false, ..=64) => (33_792, 3),
            (false, ..=128) => (8448, 2),
            (false, _) => (4224, 2),
        };
        let engine = gpu.using(algorithm);
        for moduli in [1, count].into_iter().skip(from) {
            let of = |exponent| power(&engine, [limbs, exponent, count, moduli], false, calls);
            let (long, short) = (of(limbs)?, of(1)?);
            println!(
                "{bits} bits, {count} numbers, {moduli} moduli, {}, us: power {long:.4} of a limb {short:.4}",
                algorithm.name()
            );
        }
        if is_rns {
            let of_pair = plan.numbers_of_block(plan.window(limbs / 2, scans, 2)) as usize;
            let count = 132 * of_pair * waves;
            let pair = power(&engine, [limbs, limbs, count, count], true, calls)?;
            println!(
                "{bits} bits, {count} numbers, {count} moduli, {}, us: pair {pair:.4}",
                algorithm.name()
            );
        }
    }
    // Most of their time is the host's.
    match limbs {
        64 | 128 => lucas(gpu, limbs, count, is_of_all),
        _ => Ok(()),
    }
}

/// Milliseconds of tests of primes, which are Lucas' and one to base 2.
fn lucas(gpu: &Engine, limbs: usize, count: usize, is_of_all: bool) -> Result<()> {
    let at = WIDTHS.iter().position(|&width| width == limbs);
    let Some([k, n]) = at.map(|at| PROTH[at]) else {
        return Ok(());
    };
    let prime = (Integer::from(k) << n) + 1u32;
    let width = prime.significant_bits().div_ceil(32) as usize;
    for &(name, in_residues) in &WAYS[usize::from(!is_of_all)..] {
        let engine = with_chains(gpu, in_residues);
        let primes = batch(&engine, &vec![prime.clone(); count], width)?;
        let time = least(&engine, 1, &|| {
            ensure!(
                engine.is_prime(&primes)?.iter().all(|&is| is),
                "a prime does not pass"
            );
            Ok(())
        })?;
        println!(
            "{count} times the prime {k} 2^{n} + 1, Lucas' tests in {name}: {:.1} ms, {:.3} us each",
            time * 1e3,
            time * 1e6 / count as f64
        );
    }
    Ok(())
}

fn main() -> Result<()> {
    let gpu = Engine::cuda(0)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers = arguments.iter().skip(1).map(|number| number.parse());
    let numbers: Vec<usize> = numbers.collect::<Result<_, _>>()?;
    match (arguments.first().map(String::as_str), &numbers[..]) {
        (Some("products"), &[limbs, count]) => check_products(&gpu, limbs, count),
        (Some("powers"), &[limbs, count, exponent]) => {
            check_powers(&gpu, [limbs, count, exponent], false)
        }
        (Some("pairs"), &[limbs, count, exponent]) => {
            check_powers(&gpu, [limbs, count, exponent], true)
        }
        (Some("rate"), &[limbs]) => rate(&gpu, limbs, true),
        (Some("rns"), &[limbs]) => rate(&gpu, limbs, false),
        _ => bail!(
            "usage: residues products LIMBS COUNT | powers LIMBS COUNT LIMBS_OF_EXPONENTS | pairs LIMBS COUNT LIMBS_OF_EXPONENTS | rate LIMBS | rns LIMBS"
        ),
    }
}
