//! ECM from its beginning, or from its save file, to its result.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Instant;

use crate::primenet::ResultLine;
use crate::{Backend, Curves, Ecm, Found, Save, Steps};
use bigint_host::{BigUint, Engine};

use super::attended::attended;
use super::output::{log, note};
use super::report::{Report, Stretch};
use super::run::{Finished, status, taken_up};
use super::saving::Saving;
use super::stop::Stop;
use super::{Common, Failure};

/// Runs curves until all are done, or one finds a factor.
pub fn one(
    p: u32,
    curves: Curves,
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<Finished, Failure> {
    let folder = common.folder()?;
    let bounds = match curves.second {
        Some(second) => format!("B1={}, B2={second}", curves.first),
        None => format!("B1={}", curves.first),
    };
    let name = format!("M{p} ECM {bounds}");
    let progress = || format!("{name}: its exponent");
    let random = RandomState::new().build_hasher().finish() % (Ecm::MOST_SIGMA / 2);
    let chosen = random + Ecm::LEAST_SIGMA;
    let start = attended(progress, common, stop, move || Ecm::new(p, curves, chosen))??;
    let (mut ecm, lock) = taken_up(start, &name, &folder)?;
    let backend = common.backend()?;
    let mut run = Run {
        name: &name,
        common,
        stop,
        backend: &*backend,
        saving: Saving::new(&name, &folder, common, stop),
        report: Report::new(ecm.done(), Some(folder.file(&status(&ecm.name())))),
        words: None,
    };
    let mut factor = None;
    while factor.is_none() && !ecm.is_done() {
        run.stage(&mut ecm)?;
        factor = run.factor(&ecm)?;
        if factor.is_none() {
            ecm.go_on(backend.memory(ecm.number()));
        }
    }
    let words = run.words;
    let [first, present] = ecm.sigmas();
    let (sigma, count) = match &factor {
        Some(factor) => {
            let is_prime = attended(
                || format!("{name}: its factor"),
                common,
                stop,
                is_prime(factor.clone()),
            )??;
            let kind = if is_prime { "prime" } else { "composite" };
            note!("{name} sigma={present} has the {kind} factor {factor}");
            (present, ecm.done_curves() + 1)
        }
        None => {
            let count = ecm.done_curves();
            note!("{name} has no factor that {count} curves from sigma={first} find");
            (first, count)
        }
    };
    let stage = 1 + u32::from(ecm.is_second());
    let factor = factor.map(|factor| (factor.to_string(), stage));
    let line = ResultLine::of_ecm(p.into(), ecm.curves(), sigma, count, factor);
    Ok(Finished {
        is_prime: false,
        line: line.with_transform(words, 0).signed(&common.reporter(id)),
        test: Some(ecm.name()),
        files: Vec::new(),
        lock: Some(lock),
    })
}

/// The work that finds out whether a factor is prime.
fn is_prime(factor: BigUint) -> impl FnOnce() -> Result<bool, crate::Error> + Send + 'static {
    move || {
        let engine = Engine::cpu();
        let batch = engine.batch_from_biguints(&[factor])?;
        Ok(engine.is_prime(&batch)?[0])
    }
}

/// What the stages of all curves share.
struct Run<'a> {
    name: &'a str,
    common: &'a Common,
    stop: &'a Stop,
    backend: &'a dyn Backend,
    saving: Saving<'a>,
    report: Report,
    /// The words of the transform.
    words: Option<usize>,
}

impl Run<'_> {
    /// Runs the present stage to its end.
    fn stage(&mut self, ecm: &mut Ecm) -> Result<(), Failure> {
        let (stop, name) = (self.stop, self.name);
        let goes_on = || stop.check().is_ok();
        let Some(mut steps) = ecm.steps(self.backend, None, &goes_on)? else {
            return Err(self.stopped(ecm));
        };
        let mut stretch = Stretch::new();
        loop {
            let before = Instant::now();
            let is_done = ecm.advance(&mut steps, stretch.times(), &goes_on)?;
            if let Some(error) = steps.take_failure() {
                note!("warning: {error}; going on without it");
            }
            if is_done {
                break;
            }
            stretch.took(stretch.times(), before.elapsed());
            if self.report.last.elapsed() >= self.common.report_every {
                self.show(ecm, &steps)?;
            }
            if self.saving.is_due() {
                self.saving.save(ecm)?;
                self.report.restart(ecm.done());
            }
        }
        self.words = steps.words();
        if self.saving.is_due() {
            self.saving.save(ecm)?;
        }
        log!("{name} curve {} has done a stage", ecm.done_curves() + 1);
        Ok(())
    }

    fn show(&mut self, ecm: &Ecm, steps: &Steps<'_, Ecm>) -> Result<(), Failure> {
        let error = steps.error()?;
        let of = (ecm.done_curves() + 1, ecm.curves().count);
        let stage = 1 + u32::from(ecm.is_second());
        let speed = |each: f64| {
            let ms = 1e3 * each;
            format!(
                "curve {} of {}, stage {stage}, {ms:.3} ms/step, error {error:.3}",
                of.0, of.1
            )
        };
        self.report
            .line(self.name, ecm.progress(), 0, self.backend, speed);
        Ok(())
    }

    /// The factor that the stage which is done has found.
    fn factor(&mut self, ecm: &Ecm) -> Result<Option<BigUint>, Failure> {
        let (name, done) = (self.name, ecm.clone());
        let progress = || format!("{name}: its divisor");
        let divisor = match attended(progress, self.common, self.stop, move || done.divisor()) {
            Ok(divisor) => divisor?,
            Err(failure) => {
                self.saving.save_or_tell(ecm);
                return Err(failure);
            }
        };
        Ok(match ecm.found(&divisor) {
            Found::Nothing => None,
            Found::Everything => {
                let sigma = ecm.sigmas()[1];
                note!("{name} sigma={sigma} finds all factors at once, and so none");
                None
            }
            Found::Factor(factor) => Some(factor),
        })
    }

    /// Saves curves that a signal has stopped.
    fn stopped(&mut self, ecm: &Ecm) -> Failure {
        match (self.saving.save(ecm), self.stop.check()) {
            (Err(failure), _) | (_, Err(failure)) => failure,
            _ => Failure::Running(format!("{}: stopped without a signal", self.name)),
        }
    }
}
