//! Division and what is computed modulo numbers, beside GMP: batches, on so many threads.
//!
//! Ours is `Engine::compute`, from a batch to a new one, with the inverses, powers and quotients
//! of all its numbers; GMP's are `mpz_tdiv_qr`, `mpz_gcd`, `mpz_invert`, `mpz_powm`,
//! `mpz_powm_sec` and `mpz_sqrtrem` into `mpz_t` that exist already. Powers are modulo odd
//! numbers, with exponents as long as these; dividends are twice as long as divisors.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bigint_core::{Algorithm, Limb, Operation};
use bigint_cpu::Cpu;
use bigint_host::{Batch, BigUint, Engine, Form};
use bigint_testing::{Extent, oracle};
use num_bigint::BigInt;
use rand::rngs::SmallRng;
use rand::{RngCore, SeedableRng};
use rayon::prelude::*;
use rug::integer::Order;
use rug::ops::RemRounding;
use rug::{Assign, Integer};

use crate::library::{Gmp, Library};
use crate::measure::{Summary, round, timed};
use crate::operands::{equal, words};
use crate::record::{Record, Row};
use crate::table;

/// What is measured: an operation, and whether all may know the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Quotient,
    Gcd,
    Inverse,
    Power,
    SecretPower,
    Root,
}

impl Work {
    const ALL: [Work; 6] = [
        Work::Quotient,
        Work::Gcd,
        Work::Inverse,
        Work::Power,
        Work::SecretPower,
        Work::Root,
    ];

    fn name(self) -> &'static str {
        match self {
            Work::Quotient => "div_rem",
            Work::Gcd => "gcd",
            Work::Inverse => "inv_mod",
            Work::Power => "pow_mod_vartime",
            Work::SecretPower => "pow_mod",
            Work::Root => "isqrt",
        }
    }

    fn operation(self) -> Operation {
        match self {
            Work::Quotient => Operation::DivRem,
            Work::Gcd => Operation::Gcd,
            Work::Inverse => Operation::InvMod,
            Work::Power | Work::SecretPower => Operation::PowMod,
            Work::Root => Operation::Isqrt,
        }
    }

    /// Operands for numbers of `width` limbs.
    fn operands(self, rng: &mut SmallRng, width: usize) -> Vec<Vec<Limb>> {
        let mut number = |width: usize| {
            let mut limbs: Vec<Limb> = (0..width).map(|_| rng.next_u32()).collect();
            limbs[width - 1] |= 1 << 31;
            limbs
        };
        let mut operands = match self {
            Work::Root => vec![number(width)],
            Work::Quotient => vec![number(2 * width), number(width)],
            Work::Gcd | Work::Inverse => vec![number(width), number(width)],
            Work::Power | Work::SecretPower => vec![number(width), number(width), number(width)],
        };
        if matches!(self, Work::Inverse | Work::Power | Work::SecretPower) {
            let modulus = operands.last_mut().expect("no operation is of nothing");
            modulus[0] |= 1;
        }
        // A number that has no inverse gives way to the next.
        let is_prime_to = |[a, m]: [&Vec<Limb>; 2]| {
            let [a, m] = [a, m].map(|x| Gmp::number(&words(x)));
            a.gcd(&m) == 1
        };
        if self == Work::Inverse {
            while !is_prime_to([&operands[0], &operands[1]]) {
                operands[0][0] = operands[0][0].wrapping_add(1);
            }
        }
        operands
    }

    /// As it is timed.
    fn by_gmp(self, x: &[Integer], [r, s]: &mut [Integer; 2]) {
        match self {
            Work::Quotient => (r, s).assign(x[0].div_rem_ref(&x[1])),
            Work::Gcd => r.assign(x[0].gcd_ref(&x[1])),
            Work::Inverse => r.assign(x[0].invert_ref(&x[1]).expect("it was chosen to have one")),
            Work::Power => r.assign(
                x[0].pow_mod_ref(&x[1], &x[2])
                    .expect("the exponent is not negative"),
            ),
            Work::SecretPower => r.assign(x[0].secure_pow_mod_ref(&x[1], &x[2])),
            Work::Root => (r, s).assign(x[0].sqrt_rem_ref()),
        }
    }
}

/// Measures every operation at these bits, in batches of these many numbers.
///
/// # Errors
/// Where the engine fails, or does not agree with GMP.
pub fn run(
    bits: &[usize],
    batches: &[usize],
    rounds: usize,
    pools: &[(usize, rayon::ThreadPool)],
    json: bool,
) -> Result<Record> {
    let mut record = Record::new(rounds);
    if !json {
        table::print_head(&record);
    }
    for &bits in bits {
        for &batch in batches {
            for work in Work::ALL {
                let field = Field::new(work, bits, batch)?;
                for (threads, pool) in pools {
                    let row = pool.install(|| field.measure(rounds, *threads))?;
                    let mut out = std::io::stdout().lock();
                    if json {
                        serde_json::to_writer(&mut out, &row)?;
                        writeln!(out)?;
                    } else {
                        table::print_row(&mut out, &row)?;
                    }
                    record.rows.push(row);
                }
            }
        }
    }
    Ok(record)
}

/// One batch, in our form and in GMP's.
struct Field {
    work: Work,
    bits: usize,
    engine: Engine,
    operands: Vec<Batch>,
    numbers: Vec<Vec<Integer>>,
}

impl Field {
    fn new(work: Work, bits: usize, batch: usize) -> Result<Self> {
        let mut rng = SmallRng::seed_from_u64((bits * batch) as u64);
        let limbs: Vec<_> = (0..batch)
            .map(|_| work.operands(&mut rng, bits / 32))
            .collect();
        let engine = match work {
            Work::Power => Engine::cpu().using(Algorithm::WindowVartime),
            _ => Engine::cpu(),
        };
        let operand = |i: usize| {
            let numbers = limbs
                .iter()
                .map(|operands| BigUint::from_slice(&operands[i]));
            engine.batch_from_biguints(&numbers.collect::<Vec<_>>())
        };
        let operands = (0..limbs[0].len()).map(operand).collect::<Result<_, _>>()?;
        let numbers = limbs
            .iter()
            .map(|operands| operands.iter().map(|x| Gmp::number(&words(x))).collect())
            .collect();
        Ok(Field {
            work,
            bits,
            engine,
            operands,
            numbers,
        })
    }

    fn ours(&self) -> Result<Vec<Batch>> {
        let operands: Vec<&Batch> = self.operands.iter().collect();
        let outcome = self
            .engine
            .compute(self.work.operation(), Form::Exact, &operands)?;
        Ok(outcome.results)
    }

    fn by_gmp(&self, slots: &mut [[Integer; 2]]) {
        let apply = |(slots, x): (&mut [Integer; 2], &Vec<Integer>)| self.work.by_gmp(x, slots);
        match rayon::current_num_threads() {
            1 => slots.iter_mut().zip(&self.numbers).for_each(apply),
            _ => slots.par_iter_mut().zip(&self.numbers).for_each(apply),
        }
    }

    /// A row, from rounds in which each takes its turn, on the threads of the current pool.
    fn measure(&self, rounds: usize, threads: usize) -> Result<Row> {
        let batch = self.numbers.len();
        let slot = || [Gmp::slot(2 * self.bits), Gmp::slot(2 * self.bits)];
        let mut slots: Vec<_> = (0..batch).map(|_| slot()).collect();
        let started = Instant::now();
        self.by_gmp(&mut slots);
        let calls = Duration::from_millis(3).div_duration_f64(started.elapsed());
        let calls = calls.clamp(1.0, 10_000.0) as usize;
        for (result, batch) in self.ours()?.iter().enumerate() {
            for (i, number) in batch.to_biguints()?.iter().enumerate() {
                let is_same = equal(&number.to_u32_digits(), slots[i][result].as_limbs());
                let name = self.work.name();
                ensure!(is_same, "{name} of number {i}: the engine and GMP disagree");
            }
        }
        let mut samples = [const { Vec::new() }; 2];
        let mut result = Ok(());
        for _ in 0..rounds {
            let ours = timed(threads, || {
                for _ in 0..calls {
                    result = self
                        .ours()
                        .map(|results| drop(std::hint::black_box(results)));
                }
            });
            let gmp = timed(threads, || {
                for _ in 0..calls {
                    self.by_gmp(&mut slots);
                }
            });
            for (samples, elapsed) in samples.iter_mut().zip([ours, gmp]) {
                samples.push(elapsed.as_nanos() as f64 / (calls * batch) as f64);
            }
        }
        result.context("the batch was computed before")?;
        let [ours, gmp] = samples.map(|mut samples| Summary::of(&mut samples));
        let of_both = |of: fn(&Summary) -> f64| {
            BTreeMap::from([
                ("ours".to_string(), of(&ours)),
                ("gmp".to_string(), of(&gmp)),
            ])
        };
        Ok(Row {
            op: self.work.name().to_string(),
            bits: self.bits,
            batch,
            threads,
            path: Cpu::current().path().name().to_string(),
            ours_ns: ours.median,
            peers: BTreeMap::from([("gmp_ns".to_string(), Some(gmp.median))]),
            ratio_gmp: Some(round(ours.median / gmp.median)),
            copy_ns: None,
            of_copy: None,
            spread: of_both(|summary| summary.spread),
            least_ns: of_both(|summary| summary.least),
        })
    }
}

/// What the conformance suite has of division and of arithmetic modulo numbers.
const CHECKED: [Operation; 14] = [
    Operation::DivRem,
    Operation::Div,
    Operation::Rem,
    Operation::Gcd,
    Operation::Lcm,
    Operation::InvMod,
    Operation::InvOddMod,
    Operation::Isqrt,
    Operation::Iroot,
    Operation::Jacobi,
    Operation::ModAdd,
    Operation::ModSub,
    Operation::MontMul,
    Operation::PowMod,
];

/// Has the conformance suite compare at least `cases` numbers of each operation with GMP,
/// which has to agree with num-bigint about each of them.
///
/// # Errors
/// The first number about which they do not agree.
pub fn check(cases: u64, seed: u64) -> Result<()> {
    let extent = Extent::Cases(cases.try_into()?);
    for operation in CHECKED {
        let start = Instant::now();
        let report = bigint_testing::run_against(
            values,
            &Engine::cpu(),
            &[operation],
            extent,
            seed,
            &mut |_, _| {},
        )?;
        println!(
            "{}: {} cases equal GMP's and num-bigint's in {:.0} s",
            operation.name(),
            report.tallies[0].cases,
            start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

/// GMP's values, as [`oracle::values`] has num-bigint's.
///
/// # Panics
/// Where the two are not the same.
fn values(operation: Operation, operands: &[&BigUint], widths: &[usize]) -> Vec<BigInt> {
    let number = |x: &&BigUint| Integer::from_digits(&x.to_u32_digits(), Order::Lsf);
    let x: Vec<Integer> = operands.iter().map(number).collect();
    let (one, zero) = (Integer::from(1), Integer::ZERO);
    let values = match operation {
        Operation::DivRem | Operation::Div | Operation::Rem | Operation::InvMod if x[1] == zero => {
            vec![]
        }
        Operation::PowMod if x[2] == zero => vec![],
        Operation::InvOddMod | Operation::Jacobi if x[1].is_even() => vec![],
        Operation::Iroot if x[1] == zero => vec![],
        Operation::DivRem => {
            let (quotient, rest) = x[0].clone().div_rem(x[1].clone());
            vec![quotient, rest]
        }
        Operation::Div => vec![Integer::from(&x[0] / &x[1])],
        Operation::Rem => vec![Integer::from(&x[0] % &x[1])],
        Operation::Gcd => vec![Integer::from(x[0].gcd_ref(&x[1]))],
        Operation::Lcm => vec![Integer::from(x[0].lcm_ref(&x[1]))],
        Operation::InvMod | Operation::InvOddMod => {
            let inverse = x[0].invert_ref(&x[1]).map(Integer::from);
            inverse.into_iter().collect()
        }
        Operation::Isqrt => {
            let (root, rest) = x[0].clone().sqrt_rem(Integer::new());
            vec![root, rest]
        }
        Operation::Iroot => {
            let bits = x[0].significant_bits().max(1);
            let degree = x[1].to_u32().unwrap_or(bits).min(bits);
            let (root, rest) = x[0].clone().root_rem(Integer::new(), degree);
            vec![root, rest]
        }
        Operation::Jacobi => vec![Integer::from(1 + x[0].jacobi(&x[1]))],
        Operation::ModAdd => vec![Integer::from(&x[0] + &x[1]).rem_euc(&x[2])],
        Operation::ModSub => vec![Integer::from(&x[0] - &x[1]).rem_euc(&x[2])],
        Operation::MontMul => {
            let radix = Integer::from(&one << (32 * widths[2] as u32));
            let inverse = radix.invert(&x[2]).unwrap_or_default();
            vec![Integer::from(&x[0] * &x[1]) * inverse % &x[2]]
        }
        // Of an exponent 0 rug's answer modulo 1 would be 1.
        Operation::PowMod if x[1] == zero => vec![one % &x[2]],
        Operation::PowMod => {
            let power = x[0].pow_mod_ref(&x[1], &x[2]).map(Integer::from);
            power.into_iter().collect()
        }
        _ => unreachable!("{} is not checked here", operation.name()),
    };
    let values: Vec<BigInt> = values
        .iter()
        .map(|value| BigInt::from(BigUint::new(value.to_digits(Order::Lsf))))
        .collect();
    assert_eq!(
        values,
        oracle::values(operation, operands, widths),
        "GMP and num-bigint disagree about {} of {operands:?}",
        operation.name()
    );
    values
}
