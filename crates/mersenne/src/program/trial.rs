//! Trial factoring from its beginning, or from its save file, to its result.

use std::time::{Duration, Instant};

use crate::primenet::{ResultLine, TOO_LONG};
use crate::{Folder, Save, TrialFactoring};

use super::output::note;
use super::report::next_stretch;
use super::run::{Finished, Saving, taken_up};
use super::stop::Stop;
use super::{Common, Failure};

/// Trial factoring of this range, at its beginning.
pub fn range(p: u32, from: u32, to: u32) -> Result<TrialFactoring, Failure> {
    let most = TrialFactoring::MOST_BITS;
    if p == 2 {
        let what = "trial factoring is for odd exponents: 2^2 - 1 is 3, a prime";
        return Err(Failure::Usage(what.to_owned()));
    }
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
    let (mut report, mut segments) = (Report::new(&trial), 1);
    loop {
        let (before, known) = (Instant::now(), trial.factors().len());
        let is_done = match trial.advance(&*tries, segments.into()) {
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
        segments = next_stretch(segments, before.elapsed());
        if report.last.elapsed() >= common.report_every {
            report.line(&name, &trial, backend.name());
        }
        if saving.is_due() {
            saving.save(&trial)?;
        }
    }
    match trial.factors() {
        [] => note!("{name} no factor"),
        factors => note!("{name} has {}", listed(factors)),
    }
    Ok(Finished {
        line: ResultLine::of_trial(&trial).signed(&common.reporter(id)),
        files: Folder::saves(&trial.name()).to_vec(),
        _lock: Some(lock),
    })
}

fn listed(factors: &[u128]) -> String {
    let factors: Vec<String> = factors.iter().map(u128::to_string).collect();
    factors.join(" ")
}

/// Lines of progress.
struct Report {
    last: Instant,
    done: u64,
}

impl Report {
    fn new(trial: &TrialFactoring) -> Self {
        Report {
            last: Instant::now(),
            done: trial.progress().0,
        }
    }

    fn line(&mut self, name: &str, trial: &TrialFactoring, backend: &str) {
        let (done, segments) = trial.progress();
        let took = self.last.elapsed().as_secs_f64();
        let each = took / (done - self.done).max(1) as f64;
        let left = Duration::try_from_secs_f64((each * (segments - done) as f64).floor());
        let left = left.map_or("centuries".to_owned(), |left| {
            humantime::format_duration(left).to_string()
        });
        let rate = trial.trial().count(&(self.done..done)) as f64 / took;
        note!(
            "{name} {:.2}% {done}/{segments}, {:.1} million candidates/s before the sieve, ETA \
             {left}, {} factors, {backend}",
            100.0 * done as f64 / segments as f64,
            rate / 1e6,
            trial.factors().len(),
        );
        (self.last, self.done) = (Instant::now(), done);
    }
}
