//! Trial factoring from its beginning, or from its save file, to its result.

use std::time::Instant;

use crate::primenet::{ResultLine, TOO_LONG};
use crate::{Save, TrialFactoring};

use super::output::note;
use super::report::{Report, Stretch};
use super::run::{Finished, status, taken_up};
use super::saving::Saving;
use super::stop::Stop;
use super::{Common, Failure, odd_exponent};

/// Trial factoring of this range, at its beginning.
pub fn range(p: u32, from: u32, to: u32) -> Result<TrialFactoring, Failure> {
    let most = TrialFactoring::MOST_BITS;
    odd_exponent("trial factoring", p)?;
    if from < 1 || from >= to || to > most {
        let what = format!("{from} to {to}: bits go from 1 to {most}, and the first are fewer");
        return Err(Failure::Usage(what));
    }
    TrialFactoring::new(p, from, to)
        .ok_or_else(|| Failure::Usage(format!("{from} to {to}: {TOO_LONG}")))
}

/// `mersenne tf P`.
pub fn alone(start: TrialFactoring, json: bool, common: &Common) -> Result<(), Failure> {
    let stop = Stop::on_signals();
    one(start, common, None, &stop)?.report(json, common, &stop)
}

/// Runs trial factoring to its end.
pub fn one(
    start: TrialFactoring,
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<Finished, Failure> {
    let folder = common.folder()?;
    let [from, to] = start.bits();
    let name = format!("M{} TF {from}-{to}", start.p());
    let (mut trial, lock) = taken_up(start, &name, &folder)?;
    let backend = common.backend()?;
    let mut tries = trial.tries(&*backend)?;
    let mut saving = Saving::new(&name, &folder, common, stop);
    let status = folder.file(&status(&trial.name()));
    let (mut report, mut stretch) = (Report::new(trial.done(), Some(status)), Stretch::new());
    let (_, total) = trial.progress();
    let candidates = trial.trial().count(&(0..total)) as f64 / total as f64;
    loop {
        let (before, known) = (Instant::now(), trial.factors().len());
        let is_done = match trial.advance(&*tries, stretch.times().into()) {
            Err(error) if backend.falls_back(&error) => {
                note!("warning: {error}; going on without it");
                tries = trial.tries(&*backend)?;
                continue;
            }
            done => done?,
        };
        if trial.factors().len() > known {
            note!("{name} factors so far: {}", listed(trial.factors()));
        }
        if is_done {
            break;
        }
        stretch.took(stretch.times(), before.elapsed());
        if report.last.elapsed() >= common.report_every {
            let speed = |each: f64| {
                let (rate, factors) = (candidates / each / 1e6, trial.factors().len());
                format!("{rate:.1} million candidates/s before the sieve, {factors} factors")
            };
            report.line(&name, trial.progress(), 0, &*backend, speed);
        }
        if saving.is_due() {
            saving.save(&trial)?;
            report.restart(trial.done());
        }
    }
    match trial.factors() {
        [] => note!("{name} no factor"),
        factors => note!("{name} has {}", listed(factors)),
    }
    Ok(Finished {
        is_prime: false,
        line: ResultLine::of_trial(&trial).signed(&common.reporter(id)),
        test: Some(trial.name()),
        files: Vec::new(),
        lock: Some(lock),
    })
}

fn listed(factors: &[u128]) -> String {
    let factors: Vec<String> = factors.iter().map(u128::to_string).collect();
    factors.join(" ")
}
