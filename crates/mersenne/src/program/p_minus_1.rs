//! P-1 from its beginning, or from its save files, to its result.

use std::time::Instant;

use crate::primenet::ResultLine;
use crate::{Backend, Error, Folder, Number, PMinus1, Save, Saved, Stage2};
use bigint_host::BigUint;

use super::attended::attended;
use super::output::note;
use super::report::{Report, Stretch};
use super::run::{Finished, status, taken_up, to_the_end};
use super::saving::Saving;
use super::stop::Stop;
use super::{Common, Failure};

/// The bounds that pay: see [`crate::bounds`].
pub fn bounds(p: u32, bits: u32, tests: f64) -> Result<(u32, Option<u64>), Failure> {
    match crate::bounds(p, bits, tests) {
        Some((first, second)) => {
            note!("M{p} P-1 is worth B1={first}, B2={second}");
            Ok((first, Some(second)))
        }
        None => Err(Failure::Usage(format!(
            "M{p} without a factor below 2^{bits}: P-1 costs more than the {tests} tests it may save"
        ))),
    }
}

/// Runs both stages, or the first alone where there is no `B2`.
pub fn one(
    p: u32,
    (first, second): (u32, Option<u64>),
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<Finished, Failure> {
    let folder = common.folder()?;
    let number = Number::from(p);
    let progress = || format!("{number} P-1: its exponent");
    let start = attended(progress, common, stop, move || PMinus1::new(p, first))??;
    let found = to_the_end(Saved::PMinus1(start), common, &folder, stop)?;
    let Some(Saved::PMinus1(test)) = found.test else {
        unreachable!("it was P-1");
    };
    let (mut bounds, mut words, mut files) = (format!("B1={first}"), found.words, Vec::new());
    let mut reached = None;
    let second = second.filter(|&second| second > first.into());
    let (factor, lock) = match second {
        None => (
            factor(number, &bounds, common, stop, divisor_of(&test))?,
            None,
        ),
        Some(second) => {
            let backend = common.backend()?;
            let start = Stage2::new(&test, second, backend.memory(number));
            let name = format!("{number} P-1 stage 2");
            let (mut stage, lock) = taken_up(start, &name, &folder)?;
            let found = match stage.done() {
                0 => factor(number, &bounds, common, stop, divisor_of(&test))?,
                _ => None,
            };
            let found = match found {
                Some(found) => Some(found),
                None => {
                    bounds = format!("B1={first}, B2={second}");
                    reached = Some(second);
                    words = second_stage(&mut stage, &name, &*backend, common, &folder, stop)?;
                    let done = stage.clone();
                    factor(number, &bounds, common, stop, move || done.divisor())?
                }
            };
            files = Folder::saves(&stage.name());
            files.push(status(&stage.name()));
            (found, Some(lock))
        }
    };
    drop(lock);
    match &factor {
        Some(factor) => note!("{number} P-1 has the factor {factor}"),
        None => note!("{number} P-1 has no factor that {bounds} finds"),
    }
    let factor = factor.map(|factor| factor.to_string());
    let line = ResultLine::of_p_minus_1(number, first, reached, factor).with_transform(words, 0);
    Ok(Finished {
        is_prime: false,
        line: line.signed(&common.reporter(id)),
        test: Some(Saved::PMinus1(test).name()),
        files,
        lock: found.lock,
    })
}

/// Runs the second stage to its end, and returns the words of its transform.
fn second_stage(
    stage: &mut Stage2,
    name: &str,
    backend: &dyn Backend,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<Option<usize>, Failure> {
    let goes_on = || stop.check().is_ok();
    note!("{name} makes its baby steps");
    let Some(mut steps) = stage.steps(backend, None, &goes_on)? else {
        stop.check()?;
        return Ok(None);
    };
    let mut saving = Saving::new(name, folder, common, stop);
    let status = folder.file(&status(&stage.name()));
    let (mut report, mut stretch) = (Report::new(stage.done(), Some(status)), Stretch::new());
    loop {
        let before = Instant::now();
        if stage.advance(&mut steps, stretch.times(), &goes_on)? {
            break;
        }
        if let Some(error) = steps.take_failure() {
            note!("warning: {error}; going on without it");
        }
        stretch.took(stretch.times(), before.elapsed());
        if report.last.elapsed() >= common.report_every {
            let speed = |each: f64| format!("{:.3} ms/giant step", 1e3 * each);
            report.line(name, stage.progress(), 0, backend, speed);
        }
        if saving.is_due() {
            saving.save(stage)?;
            report.restart(stage.done());
        }
    }
    saving.save_or_tell(stage);
    Ok(steps.words())
}

/// The work that finds the factor of the first stage.
fn divisor_of(test: &PMinus1) -> impl FnOnce() -> Result<BigUint, Error> + Send + 'static {
    let done = test.clone();
    move || done.divisor()
}

/// The factor that this divisor is.
fn factor(
    number: Number,
    bounds: &str,
    common: &Common,
    stop: &Stop,
    divisor: impl FnOnce() -> Result<BigUint, Error> + Send + 'static,
) -> Result<Option<BigUint>, Failure> {
    let one = BigUint::from(1u32);
    let all = (&one << number.n()) - 1u32;
    let progress = || format!("{number} P-1: its divisor");
    match attended(progress, common, stop, divisor)?? {
        divisor if divisor == one => Ok(None),
        divisor if divisor == all => Err(Failure::Running(format!(
            "{number}: {bounds} finds all factors at once, and so none; take smaller bounds"
        ))),
        divisor => Ok(Some(divisor)),
    }
}
