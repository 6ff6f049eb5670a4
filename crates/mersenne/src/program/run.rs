//! A test from its beginning, or from its save file, to its result.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::primenet::{ResultLine, append_result, progress_folder, show_progress, verdict};
use crate::{
    Certification, Check, Cofactor, Error, Folder, Holder, Lock, Number, Outcome, Runner, Save,
    Saved, Step,
};

use super::attended::attended;
use super::output::{note, print};
use super::proving::{Kept, Made, proof, proof_power};
use super::report::{Report, Stretch};
use super::saving::Saving;
use super::stop::Stop;
use super::{Common, Failure};

/// The most time from one check of a PRP test to the next, which an error costs.
const CHECK_EVERY: Duration = Duration::from_secs(20 * 60);

/// The squarings in a block of a CPU's PRP test: it takes seconds for as many as a device does in one.
const CPU_BLOCK: u32 = 1000;

/// A test that is to be run.
pub struct Task {
    worktype: &'static str,
    number: Number,
    /// The test's beginning; none for 3, as tests are for odd exponents.
    start: Option<Saved>,
    /// The cofactor that is tested, if it is not the number itself.
    cofactor: Option<Cofactor>,
}

impl Task {
    /// The test of this [`worktype`](Saved::worktype).
    pub fn test(worktype: &'static str, number: Number) -> Self {
        let has_test = number.exponent() != Some(2);
        Task {
            worktype,
            number,
            start: has_test.then(|| Saved::new(number, worktype)),
            cofactor: None,
        }
    }

    /// The PRP test of a cofactor.
    pub fn cofactor(cofactor: Cofactor) -> Self {
        let task = Task::test("PRP-3", cofactor.p().into());
        Task {
            cofactor: Some(cofactor),
            ..task
        }
    }
}

impl From<Saved> for Task {
    fn from(start: Saved) -> Self {
        Task {
            worktype: start.worktype(),
            number: start.number(),
            start: Some(start),
            cofactor: None,
        }
    }
}

/// Runs the tests that a number asks for, but those whose results are there. Answers whether there was one to run.
pub fn all(number: Number, json: bool, common: &Common, stop: &Stop) -> Result<bool, Failure> {
    let mut has_run = false;
    let results = common.folder()?.file(&common.results());
    for worktype in Saved::worktypes(number) {
        let known = verdict(&results, number, worktype).unwrap_or_default();
        let is_prime = match known {
            Some(is_prime) => is_prime,
            None => {
                let done = one(Task::test(worktype, number), common, None, stop)?;
                let is_prime = done.is_prime;
                done.report(json, common, stop)?;
                has_run = true;
                is_prime
            }
        };
        if !is_prime {
            break;
        }
    }
    Ok(has_run)
}

/// Work that is done, and its lock.
pub struct Finished {
    /// Whether the number is prime, or a probable prime.
    pub is_prime: bool,
    /// The line of `results.json.txt`.
    pub line: String,
    /// The name of the test's save files, and those of others that are of no use once the line stands
    /// there.
    pub test: Option<String>,
    pub files: Vec<String>,
    pub lock: Option<Lock>,
}

impl Finished {
    /// Reports work that is in no `worktodo.txt`.
    pub fn report(self, json: bool, common: &Common, stop: &Stop) -> Result<(), Failure> {
        let folder = common.folder()?;
        append(&self.line, common, stop)?;
        remove_files(&folder, self.test.as_deref(), &self.files)?;
        match json {
            true => print(&self.line),
            false => Ok(()),
        }
    }
}

/// Removes the save files of a test, and others.
pub fn remove_files(folder: &Folder, test: Option<&str>, files: &[String]) -> Result<(), Failure> {
    let saves = test.map(|name| [Folder::saves(name), vec![status(name)]].concat());
    for name in saves.iter().flatten().chain(files) {
        folder.remove(name)?;
    }
    Ok(())
}

/// The name of the file in which a test says how far it is.
pub fn status(name: &str) -> String {
    format!("{name}.status")
}

/// Waits while another program has a file, and says so, until a signal asks to stop. Other workers
/// have it for a moment only.
pub fn waiting(stop: &Stop) -> impl FnMut(&Path, Holder) -> bool {
    let mut is_told = false;
    move |lock, holder| {
        if !is_told && holder.process.is_none() {
            let lock = lock.display();
            note!("{lock}: {holder} has it; waiting. Remove it if no such program is running");
            is_told = true;
        }
        stop.check().is_ok()
    }
}

/// Appends a line to the worker's results, or shows it where that cannot be.
pub fn append(line: &str, common: &Common, stop: &Stop) -> Result<(), Failure> {
    let results = common.folder()?.file(&common.results());
    append_result(&results, line, &mut waiting(stop)).map_err(|error| {
        note!("not written to {}: {line}", results.display());
        let failed = Failure::Running(format!("{}: {error}", results.display()));
        stop.check().err().unwrap_or(failed)
    })
}

/// The work that begins as `start`, as far as its save files have it, and its lock.
pub fn taken_up<T: Save>(start: T, name: &str, folder: &Folder) -> Result<(T, Lock), Failure> {
    let lock = folder.lock(&start.name())?;
    let (saved, wrong) = match folder.load(&start) {
        Err(error @ Error::Save { .. }) => {
            folder.set_aside(&start)?;
            note!("warning: {error}; set aside, and {name} begins anew");
            (None, Vec::new())
        }
        loaded => loaded?,
    };
    for error in wrong {
        note!("warning: {error}; passed over");
    }
    if let Some(saved) = &saved {
        note!("{name} taken up at {} {}", T::UNIT, saved.done());
    }
    Ok((saved.unwrap_or(start), lock))
}

/// `mersenne ll P` and its like.
pub fn alone(task: Task, json: bool, common: &Common, stop: &Stop) -> Result<(), Failure> {
    one(task, common, None, stop)?.report(json, common, stop)
}

/// Runs a task to its end.
pub fn one(
    task: Task,
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<Finished, Failure> {
    let Task {
        worktype,
        number,
        start,
        cofactor,
    } = task;
    let folder = common.folder()?;
    let mut found = match start {
        Some(start) => to_the_end(start, common, &folder, stop)?,
        None => Found::prime(),
    };
    if let (Some(cofactor), Some(Saved::Prp(test))) = (&cofactor, &found.test) {
        let (test, of) = (test.clone(), cofactor.clone());
        let progress = || format!("{number} PRP-3: its cofactor");
        let says = attended(progress, common, stop, move || test.says_of(&of))?;
        found.outcome.is_prime = says == Some(true);
    }
    let mut files = Vec::new();
    let verdict = match (found.outcome.is_prime, worktype) {
        (_, "Cert") => "is done.",
        (true, "PRP-3" | "PRP") => "is a probable prime!",
        (true, _) => "is prime!",
        (false, _) => "is composite.",
    };
    let (test, res64) = (&found.test, found.outcome.res64);
    let of = if cofactor.is_some() { " cofactor" } else { "" };
    let old64 = test.as_ref().and_then(Saved::old64);
    let old64 = old64.map(|old64| format!("{old64:016X}"));
    match &old64 {
        Some(old64) => note!("{number} {worktype} {verdict} res64 {res64:016X} old64 {old64}"),
        None => note!("{number}{of} {worktype} {verdict} res64 {res64:016X}"),
    }
    let line = match &cofactor {
        Some(cofactor) => ResultLine::of_cofactor(cofactor, &found.outcome),
        None => ResultLine::of_test(worktype, number, &found.outcome),
    };
    let line = line.with("old64", old64);
    let line = line.with("res2048", test.as_ref().and_then(Saved::res2048));
    let line = match test.as_ref().and_then(Saved::certification) {
        Some(Certification { squarings, .. }) => {
            files.push(Folder::start(number.n()));
            line.with("sha3-hash", test.as_ref().and_then(Saved::hash))
                .with("squarings", *squarings)
        }
        None => line,
    };
    if common.autoprimenet {
        files.push(progress_folder(number.n()));
    }
    // What a proof can still be made of stays.
    let is_proved = found.test.as_ref().and_then(Saved::proved).is_some();
    if is_proved && !found.lacks_proof {
        files.push(Folder::residues(number));
    }
    let line = match &found.proof {
        Some(Made::Own(proof)) => line.with_proof(proof),
        Some(Made::Prst { raw }) => line.with("raw-certificate", format!("{raw:016X}")),
        None => line,
    };
    let shift = found.test.as_ref().map_or(0, Saved::shift);
    let line = line.with_transform(found.words, shift);
    Ok(Finished {
        is_prime: found.outcome.is_prime,
        line: line.signed(&common.reporter(id)),
        test: found.test.map(|test| test.name()),
        files,
        lock: found.lock,
    })
}

/// A test at its end.
pub struct Found {
    /// The test, and its lock; none for 3.
    pub test: Option<Saved>,
    pub lock: Option<Lock>,
    pub outcome: Outcome,
    pub words: Option<usize>,
    proof: Option<Made>,
    /// Whether a proof could not be made of the residues that were kept.
    lacks_proof: bool,
}

impl Found {
    /// The outcome for 3, which is known without a test.
    fn prime() -> Self {
        Found {
            test: None,
            lock: None,
            outcome: Outcome {
                is_prime: true,
                res64: 0,
                errors: 0,
            },
            words: None,
            proof: None,
            lacks_proof: false,
        }
    }
}

/// Runs a test to its end.
pub fn to_the_end(
    start: Saved,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<Found, Failure> {
    let number = start.number();
    let name = format!("{number} {}", start.worktype());
    let (mut test, lock) = taken_up(start, &name, folder)?;
    if test.done() == 0 {
        test = test.with_shift(common.shift(number));
    }
    let backend = common.backend()?;
    if let (Saved::Prp(prp), "cpu") = (&mut test, backend.name()) {
        prp.begin_with_block(CPU_BLOCK);
    }
    let form = common.proof_format;
    let power = proof_power(&test, common, folder)?;
    let mut kept = Kept::new(&test, form, power, folder);
    let mut runner = test.runner(&*backend)?;
    let mut saving = Saving::new(&name, folder, common, stop);
    let status = folder.file(&status(&test.name()));
    let mut report = Report::new(test.done(), Some(status));
    let (mut stretches, mut checks) = (Stretch::new(), Checks::new());
    let outcome = loop {
        let before = Instant::now();
        let (lengthened, errors) = (runner.lengthened(), test.errors());
        let from = test.progress().0;
        let stretch = stretches.times().min(kept.apart(from));
        let step = test.advance(&mut runner, stretch)?;
        if let Step::Done(outcome) = step
            && checks.hold(&mut test, &mut runner, common, stop)?
        {
            // The last squaring may be a block's last.
            kept.keep(test.progress().0, &mut runner, &name)?;
            kept.settle(&mut runner, &name)?;
            break outcome;
        }
        checks.settle_finished(&mut test, &mut runner)?;
        let (iteration, _) = test.progress();
        kept.keep(iteration, &mut runner, &name)?;
        if let Some(error) = runner.take_failure() {
            note!("warning: {error}; going on without it");
        }
        if runner.lengthened() > lengthened {
            let words = runner.words().unwrap_or(0);
            note!("{name} goes on with {words} words: rounding errors were too large");
        }
        if test.errors() > errors {
            note!("{name} check failed; back at iteration {iteration}");
            report.restart(test.done());
        }
        if let Saved::Prp(prp) = &mut test {
            let done = prp.iteration().saturating_sub(from).max(1);
            prp.check_every(CHECK_EVERY, before.elapsed() / done);
        }
        stretches.took(stretch, before.elapsed());
        if report.last.elapsed() >= common.report_every {
            // Where there is a check, its products read residues often, beside the squarings.
            if matches!(test, Saved::LucasLehmer(_) | Saved::PMinus1(_))
                && !runner.begin_reading()?
            {
                test.rest(&mut runner)?;
            }
            let each = report.squarings(&name, test.progress(), test.errors(), &runner, &*backend);
            if let (true, Some(each)) = (common.autoprimenet, each) {
                show_progress(folder, &test, each);
            }
        }
        if saving.is_due() {
            test.rest(&mut runner)?;
            checks.begin(&test);
            kept.settle(&mut runner, &name)?;
            saving.save(&test)?;
            report.restart(test.done());
        }
    };
    let words = runner.words();
    drop(runner);
    // A stop or a kill from here on costs no squaring.
    saving.save_or_tell(&test);
    let proof = match kept.power {
        0 => None,
        power => proof(number, power, &*backend, common, folder, stop)?,
    };
    Ok(Found {
        test: Some(test),
        lock: Some(lock),
        outcome,
        words,
        lacks_proof: kept.power > 0 && proof.is_none(),
        proof,
    })
}

/// The checks of a Lucas-Lehmer test, one at a time. One begins with a save, when the one before took no
/// more than a twentieth of the time since it began.
struct Checks {
    running: Option<Check>,
    began: Instant,
    took: Duration,
}

impl Checks {
    fn new() -> Self {
        Checks {
            running: None,
            began: Instant::now(),
            took: Duration::ZERO,
        }
    }

    /// Begins a check of a test that has been read.
    fn begin(&mut self, test: &Saved) {
        if let Saved::LucasLehmer(test) = test
            && self.running.is_none()
            && self.began.elapsed() >= 20 * self.took
        {
            self.running = test.begin_check();
            self.began = Instant::now();
        }
    }

    /// Takes the answer of the running check, if it is there.
    fn settle_finished(
        &mut self,
        test: &mut Saved,
        runner: &mut Runner<'_>,
    ) -> Result<(), Failure> {
        if let Saved::LucasLehmer(test) = test
            && let Some(check) = self.running.take_if(|check| check.is_finished())
        {
            self.took = self.began.elapsed();
            test.settle(check, runner)?;
        }
        Ok(())
    }

    /// Whether the check holds at the end of a test; it is waited for.
    fn hold(
        &mut self,
        test: &mut Saved,
        runner: &mut Runner<'_>,
        common: &Common,
        stop: &Stop,
    ) -> Result<bool, Failure> {
        let number = test.number();
        let Saved::LucasLehmer(test) = test else {
            return Ok(true);
        };
        // That of the last residue covers one that is running.
        self.running = None;
        let Some(check) = test.begin_check() else {
            return Ok(true);
        };
        let progress = || format!("{number} LL: its last check");
        let check = attended(progress, common, stop, move || {
            while !check.is_finished() {
                thread::sleep(Duration::from_millis(1));
            }
            check
        })?;
        Ok(test.settle(check, runner)?)
    }
}
