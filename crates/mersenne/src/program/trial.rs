//! Trial factoring from its save file, or from the beginning, to its result.

use std::time::{Duration, Instant};

use crate::primenet::{ResultLine, TOO_LONG};
use crate::{Error, Outcome, TrialFactoring};

use super::output::{note, print};
use super::report::next_stretch;
use super::run::{Files, Reported, append};
use super::stop::Stop;
use super::{Common, Failure};

/// The range of these bits.
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
    let reported = one(start, common, None, &Stop::on_signals())?;
    reported.remove_files(&common.folder()?)?;
    if json {
        print(&reported.line.to_json())?;
    }
    Ok(())
}

/// Runs it, and reports it in `results.json.txt`.
pub fn one(
    start: TrialFactoring,
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<Reported, Failure> {
    let folder = common.folder()?;
    let p = start.p();
    let [from, to] = start.bits();
    let name = format!("M{p} TF {from}-{to}");
    let lock = folder.lock_trial(&start)?;
    let (saved, wrong) = match folder.load_trial(&start) {
        Err(error @ Error::Save { .. }) => {
            folder.set_trial_aside(&start)?;
            note!("warning: {error}; set aside, and {name} begins anew");
            (None, Vec::new())
        }
        loaded => loaded?,
    };
    for error in wrong {
        note!("warning: {error}; passed over");
    }
    if let Some(saved) = &saved {
        let (done, segments) = saved.progress();
        note!("{name} taken up at segment {done}/{segments}");
    }
    let mut trial = saved.unwrap_or(start);
    let backend = common.backend()?;
    let mut tries = trial.tries(&*backend)?;
    let (mut last_save, mut report) = (Instant::now(), Report::new(&trial));
    let mut segments = 1;
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
        let signal = stop.signal();
        if signal.is_some() || last_save.elapsed() >= common.save_every {
            let saved = folder.save_trial(&trial);
            if let Err(error) = &saved {
                note!("warning: {error}; {name} is not saved, and goes on");
            }
            last_save = Instant::now();
            if signal.is_some() {
                saved?;
            }
        }
        if report.last.elapsed() >= common.report_every {
            report.line(&name, &trial, backend.name());
        }
        if let Some(signal) = signal {
            note!("{name} saved at segment {}", trial.progress().0);
            return Err(Failure::Interrupted(signal));
        }
    }
    match trial.factors() {
        [] => note!("{name} no factor"),
        factors => note!("{name} has {}", listed(factors)),
    }
    let outcome = Outcome {
        is_prime: false,
        res64: 0,
        errors: 0,
    };
    let line = ResultLine::new("TF", p, &outcome, None, &common.reporter(id)).with_trial(&trial);
    append(&line, &folder, stop)?;
    Ok(Reported {
        line,
        files: Files::Trial(trial),
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
