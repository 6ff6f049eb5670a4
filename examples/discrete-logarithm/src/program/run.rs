//! A search from its start, or from its checkpoint, to its end.

use std::time::{Duration, Instant};

use super::stop::Stop;
use super::{Cli, Failure};
use crate::checkpoint::{self, Checkpoint};
use crate::field::Field;
use crate::{Machine, Method, Problem, Search, Shape};

/// Searches in a field.
pub fn run<F: Field<LIMBS>, const LIMBS: usize>(
    cli: &Cli,
    problem: &Problem,
    method: &Method,
    field: &F,
) -> Result<(), Failure> {
    let stop = Stop::on_signals();
    let expected = method.expected(problem);
    let engine = cli.device(expected)?;
    let job = format!("{} {}", problem.description(), method.description());
    let found = match &cli.checkpoint {
        Some(path) => Checkpoint::read(path, &job)?,
        None => None,
    };
    // A search goes on with the walks that it began with.
    let (shape, seed) = match &found {
        Some(found) => (found.header.shape(), found.header.seed),
        None => (cli.shape(engine.is_some(), LIMBS, expected), cli.seed),
    };
    if let Some(found) = &found {
        eprintln!("going on after {:.3e} steps", found.header.count.all as f64);
    }
    let machine = match &engine {
        Some(engine) => Machine::Device(engine, cli.blocks(LIMBS)),
        None => Machine::Cores,
    };
    eprintln!(
        "{} walks on {}, one of 2^{} points distinguished, about {expected:.3e} steps expected",
        shape.count(),
        if engine.is_some() {
            "a device"
        } else {
            "all cores"
        },
        shape.bits
    );
    let state = found.map(Checkpoint::state).transpose()?;
    let search = Search::new(problem, method, field, shape, seed, machine, state)?;
    match cli.bench {
        Some(seconds) => bench(cli, search, shape, seconds),
        None => until_found(cli, search, (&job, seed, shape, expected), &stop),
    }
}

/// Walks until the logarithm is known.
fn until_found<F: Field<LIMBS>, const LIMBS: usize>(
    cli: &Cli,
    mut search: Search<'_, F, LIMBS>,
    (job, seed, shape, expected): (&str, u64, Shape, f64),
    stop: &Stop,
) -> Result<(), Failure> {
    let steps = shape.steps(cli.steps);
    let (began, before) = (Instant::now(), search.count().all);
    let (mut told, mut kept) = (began, began);
    loop {
        let mut found = search.round(steps)?;
        let is_kept = stop.is_asked() || kept.elapsed() >= cli.checkpoint_every;
        if let (None, true, Some(path)) = (&found, is_kept, &cli.checkpoint) {
            found = search.settle()?;
            if found.is_none() {
                checkpoint::write(path, job, seed, shape, &search)?;
            }
            kept = Instant::now();
        }
        if found.is_some() || told.elapsed() >= cli.report_every {
            told = Instant::now();
            let rate = (search.count().all - before) as f64 / began.elapsed().as_secs_f64();
            report(&search, expected, rate);
        }
        if let Some(k) = found {
            println!("{k}");
            if let Some(path) = &cli.checkpoint {
                checkpoint::remove(path)?;
            }
            return Ok(());
        }
        if stop.is_asked() {
            return Err(Failure::Interrupted);
        }
    }
}

/// Tells how far a search is.
fn report<F: Field<LIMBS>, const LIMBS: usize>(
    search: &Search<'_, F, LIMBS>,
    expected: f64,
    rate: f64,
) {
    let count = search.count();
    let all = count.all as f64;
    eprintln!(
        "{all:.3e} steps, {:.0} % of those expected, {rate:.3e} a second, {} distinguished points, {} meetings told nothing",
        100.0 * all / expected,
        search.known().len(),
        count.useless
    );
}

/// Walks for some seconds, and prints steps a second.
fn bench<F: Field<LIMBS>, const LIMBS: usize>(
    cli: &Cli,
    mut search: Search<'_, F, LIMBS>,
    shape: Shape,
    seconds: f64,
) -> Result<(), Failure> {
    let steps = shape.steps(cli.steps);
    // The first round waits for what is loaded and copied.
    search.walk(steps)?;
    let (began, before) = (Instant::now(), search.count().all);
    let (mut told, mut rounds) = (0, 0);
    while began.elapsed() < Duration::from_secs_f64(seconds) {
        told += search.walk(steps)?.len();
        rounds += 1;
    }
    let rate = (search.count().all - before) as f64 / began.elapsed().as_secs_f64();
    println!(
        "{rate:.4e} steps a second: {rounds} rounds of {steps} steps of {} x {} walks, {told} distinguished points",
        shape.groups, shape.walks
    );
    Ok(())
}
