//! Trial factoring from its save file, or from the beginning, to its result.

use std::time::{Duration, Instant};

use mersenne::primenet::{ResultLine, TOO_LONG};
use mersenne::{Outcome, TrialFactoring};

use super::report::next_stretch;
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
    let line = one(start, common, None, &Stop::on_signals())?;
    if json {
        println!("{}", line.to_json());
    }
    Ok(())
}

/// Runs it, and reports it in `results.json.txt`.
pub fn one(
    start: TrialFactoring,
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<ResultLine, Failure> {
    let folder = common.folder()?;
    let p = start.p();
    let [from, to] = start.bits();
    let name = format!("M{p} TF {from}-{to}");
    let (saved, wrong) = folder.load_trial(&start)?;
    for error in wrong {
        eprintln!("warning: {error}; passed over");
    }
    if let Some(saved) = &saved {
        let (done, segments) = saved.progress();
        eprintln!("{name} taken up at segment {done}/{segments}");
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
                eprintln!("warning: {error}; going on without it");
                tries = trial.tries(&*backend)?;
                continue;
            }
            done => done?,
        };
        if trial.factors().len() > known {
            eprintln!("{name} factors so far: {}", listed(trial.factors()));
        }
        if is_done {
            break;
        }
        segments = next_stretch(segments, before.elapsed());
        let signal = stop.signal();
        if signal.is_some() || last_save.elapsed() >= common.save_every {
            folder.save_trial(&trial)?;
            last_save = Instant::now();
        }
        if report.last.elapsed() >= common.report_every {
            report.line(&name, &trial, backend.name());
        }
        if let Some(signal) = signal {
            eprintln!("{name} saved at segment {}", trial.progress().0);
            return Err(Failure::Interrupted(signal));
        }
    }
    match trial.factors() {
        [] => eprintln!("{name} no factor"),
        factors => eprintln!("{name} has {}", listed(factors)),
    }
    let outcome = Outcome {
        is_prime: false,
        res64: 0,
        errors: 0,
    };
    let line = ResultLine::new("TF", p, &outcome, None, &common.reporter(id)).with_trial(&trial);
    let results = folder.file("results.json.txt");
    line.append_to(&results)
        .map_err(|error| Failure::Running(format!("{}: {error}", results.display())))?;
    folder.remove_trial(&trial)?;
    Ok(line)
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
        eprintln!(
            "{name} {:.2}% {done}/{segments}, {:.1} million candidates/s before the sieve, ETA \
             {left}, {} factors, {backend}",
            100.0 * done as f64 / segments as f64,
            rate / 1e6,
            trial.factors().len(),
        );
        (self.last, self.done) = (Instant::now(), done);
    }
}
