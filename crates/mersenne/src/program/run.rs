//! One test from its save file, or from the beginning, to its result.

use std::time::{Duration, Instant};

use mersenne::primenet::{Reporter, ResultLine};
use mersenne::{Folder, LucasLehmer, Outcome, Prp, Runner, Saved, Step};

use super::stop::Stop;
use super::{Common, Failure, Test};

/// How long the machine works between two looks at the clock and at signals.
const STRETCH: Duration = Duration::from_millis(250);

/// `mersenne ll P` and `mersenne prp P`.
pub fn alone(worktype: &'static str, test: &Test) -> Result<(), Failure> {
    let line = one(worktype, test.p, &test.common, None, &Stop::on_signals())?;
    if test.json {
        println!("{}", line.to_json());
    }
    Ok(())
}

/// Runs a test, and reports it in `results.json.txt`.
pub fn one(
    worktype: &'static str,
    p: u32,
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<ResultLine, Failure> {
    let folder = common.folder()?;
    let (outcome, words) = if p == 2 {
        // 3: both tests are for odd exponents.
        let outcome = Outcome {
            is_prime: true,
            res64: 0,
            errors: 0,
        };
        (outcome, None)
    } else {
        to_the_end(worktype, p, common, &folder, stop)?
    };
    let verdict = match (outcome.is_prime, worktype) {
        (true, "LL") => "is prime!",
        (true, _) => "is a probable prime!",
        (false, _) => "is composite.",
    };
    eprintln!("M{p} {worktype} {verdict} res64 {:016X}", outcome.res64);
    let reporter: Reporter = common.reporter(id);
    let line = ResultLine::new(worktype, p, &outcome, words, &reporter);
    let results = folder.file("results.json.txt");
    line.append_to(&results)
        .map_err(|error| Failure::Running(format!("{}: {error}", results.display())))?;
    folder.remove(p, worktype)?;
    Ok(line)
}

fn to_the_end(
    worktype: &'static str,
    p: u32,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<(Outcome, Option<usize>), Failure> {
    let backend = common.backend()?;
    let (saved, wrong) = folder.load(p, worktype)?;
    for error in wrong {
        eprintln!("warning: {error}; passed over");
    }
    if let Some(saved) = &saved {
        eprintln!(
            "M{p} {worktype} taken up at iteration {}",
            saved.progress().0
        );
    }
    let mut test = saved.unwrap_or_else(|| match worktype {
        "LL" => Saved::LucasLehmer(LucasLehmer::new(p)),
        _ => Saved::Prp(Prp::new(p)),
    });
    let mut runner = test.runner(&*backend)?;
    let mut last_save = Instant::now();
    let mut report = Report::new(&test);
    let mut times = 1;
    loop {
        let before = Instant::now();
        let errors = (runner.lengthened(), test.errors());
        if let Step::Done(outcome) = test.advance(&mut runner, times)? {
            return Ok((outcome, runner.words()));
        }
        if let Some(error) = runner.take_failure() {
            eprintln!("warning: {error}; going on without it");
        }
        if runner.lengthened() > errors.0 {
            let words = runner.words().unwrap_or(0);
            eprintln!("M{p} {worktype} goes on with {words} words: rounding errors were too large");
        }
        if test.errors() > errors.1 {
            let (iteration, _) = test.progress();
            eprintln!("M{p} {worktype} check failed; back at iteration {iteration}");
        }
        if before.elapsed() < STRETCH / 2 {
            times = (2 * times).min(1 << 20);
        } else if before.elapsed() > STRETCH {
            times = (times / 2).max(1);
        }
        let signal = stop.signal();
        if signal.is_some() || last_save.elapsed() >= common.save_every {
            test.rest(&mut runner)?;
            folder.save(&test)?;
            last_save = Instant::now();
        }
        if report.last.elapsed() >= common.report_every {
            test.rest(&mut runner)?;
            report.line(&test, &runner, backend.name());
        }
        if let Some(signal) = signal {
            let (iteration, _) = test.progress();
            eprintln!("M{p} {worktype} saved at iteration {iteration}");
            return Err(Failure::Interrupted(signal));
        }
    }
}

/// Lines of progress.
struct Report {
    last: Instant,
    iteration: u32,
}

impl Report {
    fn new(test: &Saved) -> Self {
        Report {
            last: Instant::now(),
            iteration: test.progress().0,
        }
    }

    fn line(&mut self, test: &Saved, runner: &Runner<'_>, backend: &str) {
        let (iteration, total) = test.progress();
        // A check that failed goes back.
        let done = iteration.saturating_sub(self.iteration);
        let each = self.last.elapsed().as_secs_f64() / f64::from(done.max(1));
        let left = Duration::from_secs((each * f64::from(total - iteration)) as u64);
        let (words, error) = match runner.words() {
            Some(words) => (
                format!("{words} words"),
                format!("error {:.3}", runner.greatest_error()),
            ),
            None => ("exact".to_owned(), "no error".to_owned()),
        };
        eprintln!(
            "M{} {} {:.2}% {iteration}/{total}, {:.4} ms/iteration, ETA {}, {error}, {words}, {backend}",
            test.p(),
            test.worktype(),
            100.0 * f64::from(iteration) / f64::from(total),
            1e3 * each,
            humantime::format_duration(left),
        );
        (self.last, self.iteration) = (Instant::now(), iteration);
    }
}
