//! One test from its save file, or from the beginning, to its result.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crate::primenet::{Reporter, ResultLine};
use crate::{
    Backend, Error, Folder, Holder, Lock, Number, Outcome, PMinus1, Proof, Saved, Step,
    TrialFactoring,
};
use bigint_host::BigUint;

use super::attended::attended;
use super::output::{note, print};
use super::report::{Report, next_stretch};
use super::stop::Stop;
use super::{Common, Failure, verify};

/// The power of a proof where none is asked for.
const POWER: u32 = 8;

/// What is to be run.
pub struct Task {
    worktype: &'static str,
    number: Number,
    /// None for 3: tests are for odd exponents.
    start: Option<Saved>,
}

impl Task {
    /// A test of this kind ([`Saved::worktype`]).
    pub fn test(worktype: &'static str, number: Number) -> Self {
        let has_test = number.exponent() != Some(2);
        Task {
            worktype,
            number,
            start: has_test.then(|| Saved::new(number, worktype)),
        }
    }

    /// P-1 with the bound `B1`.
    pub fn p_minus_1(p: u32, bound: u32, common: &Common, stop: &Stop) -> Result<Self, Failure> {
        let progress = || format!("M{p} PM1: its exponent");
        let start = attended(progress, common, stop, move || PMinus1::new(p, bound))??;
        Ok(Saved::PMinus1(start).into())
    }
}

impl From<Saved> for Task {
    fn from(start: Saved) -> Self {
        Task {
            worktype: start.worktype(),
            number: start.number(),
            start: Some(start),
        }
    }
}

/// What is reported in `results.json.txt`, and the files that are of no use any more.
pub struct Reported {
    pub line: ResultLine,
    pub files: Files,
    pub _lock: Option<Lock>,
}

/// The files of a task that is done.
pub enum Files {
    None,
    /// A test's save files.
    Test(Saved),
    /// Those, and the residues that were kept for its proof.
    WithResidues(Saved),
    /// Trial factoring's.
    Trial(TrialFactoring),
}

impl Reported {
    pub fn remove_files(&self, folder: &Folder) -> Result<(), Failure> {
        match &self.files {
            Files::None => {}
            Files::Test(test) => folder.remove(test)?,
            Files::WithResidues(test) => {
                folder.remove(test)?;
                folder.remove_residues(test.number().n())?;
            }
            Files::Trial(trial) => folder.remove_trial(trial)?,
        }
        Ok(())
    }
}

/// Waits while another program has a file, and says so, until a signal asks to stop.
pub fn waiting(stop: &Stop) -> impl FnMut(&Path, Holder) -> bool {
    let mut is_told = false;
    move |lock, holder| {
        if !is_told {
            let lock = lock.display();
            note!("{lock}: {holder} has it; waiting. Remove it if no such program is running");
            is_told = true;
        }
        stop.signal().is_none()
    }
}

/// Appends a result to `results.json.txt`, or says it where that cannot be.
pub fn append(line: &ResultLine, folder: &Folder, stop: &Stop) -> Result<(), Failure> {
    let results = folder.file("results.json.txt");
    line.append_to(&results, &mut waiting(stop))
        .map_err(|error| {
            note!("not written to {}: {}", results.display(), line.to_json());
            let failed = Failure::Running(format!("{}: {error}", results.display()));
            stop.check().err().unwrap_or(failed)
        })
}

/// `mersenne ll P` and its like.
pub fn alone(task: Task, json: bool, common: &Common, stop: &Stop) -> Result<(), Failure> {
    let reported = one(task, common, None, stop)?;
    reported.remove_files(&common.folder()?)?;
    if json {
        print(&reported.line.to_json())?;
    }
    Ok(())
}

/// Runs it, and reports it in `results.json.txt`.
pub fn one(
    task: Task,
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<Reported, Failure> {
    let Task {
        worktype,
        number,
        start,
    } = task;
    let folder = common.folder()?;
    let lock = start.as_ref().map(|start| folder.lock_test(start));
    let lock = lock.transpose()?;
    let Found {
        test,
        outcome,
        words,
        proof,
        mut keeps_residues,
    } = match start {
        Some(start) => to_the_end(start, common, &folder, stop)?,
        None => Found::prime(),
    };
    let reporter: Reporter = common.reporter(id);
    let mut line = ResultLine::new(worktype, number, &outcome, words, &reporter);
    if let Some(Saved::PMinus1(test)) = &test {
        let (bound, factor) = (test.bound(), factor(test, common, stop)?);
        match &factor {
            Some(factor) => note!("{number} {worktype} has the factor {factor}"),
            None => note!("{number} {worktype} has no factor that B1={bound} finds"),
        }
        line = line.with_factor(bound, factor.map(|factor| factor.to_string()));
    } else {
        let verdict = match (outcome.is_prime, worktype) {
            (_, "Cert") => "is done.",
            (true, "PRP-3") => "is a probable prime!",
            (true, _) => "is prime!",
            (false, _) => "is composite.",
        };
        note!("{number} {worktype} {verdict} res64 {:016X}", outcome.res64);
        if let Some((test, asked)) = test
            .as_ref()
            .and_then(|test| Some((test, test.certification()?)))
        {
            line = line.with_hash(test.hash(), asked.squarings);
        }
    }
    if let Some(proof) = &proof {
        match folder.save_proof(proof) {
            Ok(path) => {
                let (power, path) = (proof.power(), path.display());
                note!("{number} proof of power {power} in {path}");
                line = line.with_proof(proof);
            }
            Err(error) => {
                let residues = folder.residues(number.n());
                let residues = residues.display();
                note!("warning: {number} has no proof: {error}; its residues stay in {residues}");
                keeps_residues = true;
            }
        }
    }
    if let Err(error) = append(&line, &folder, stop) {
        // The next run is to find it done.
        if let Some(test) = &test {
            saved_or_told(test, &folder);
        }
        return Err(error);
    }
    let files = match test {
        None => Files::None,
        Some(test) if test.worktype() == "PRP-3" && !keeps_residues => Files::WithResidues(test),
        Some(test) => Files::Test(test),
    };
    Ok(Reported {
        line,
        files,
        _lock: lock,
    })
}

/// What a test leaves.
struct Found {
    /// The test at its end.
    test: Option<Saved>,
    outcome: Outcome,
    words: Option<usize>,
    proof: Option<Arc<Proof>>,
    /// Whether a proof can still be made of the residues that were kept, or be looked for in them
    /// what was wrong.
    keeps_residues: bool,
}

impl Found {
    /// What nothing need be run for.
    fn prime() -> Self {
        Found {
            test: None,
            outcome: Outcome {
                is_prime: true,
                res64: 0,
                errors: 0,
            },
            words: None,
            proof: None,
            keeps_residues: false,
        }
    }
}

/// The factor that P-1 found.
fn factor(test: &PMinus1, common: &Common, stop: &Stop) -> Result<Option<BigUint>, Failure> {
    let (number, bound) = (test.number(), test.bound());
    let (one, all) = (
        BigUint::from(1u32),
        (BigUint::from(1u32) << number.n()) - 1u32,
    );
    let done = test.clone();
    let progress = || format!("{number} PM1: its divisor");
    match attended(progress, common, stop, move || done.divisor())?? {
        divisor if divisor == one => Ok(None),
        divisor if divisor == all => Err(Failure::Running(format!(
            "{number}: B1={bound} finds all factors at once, and so none; take a smaller bound"
        ))),
        divisor => Ok(Some(divisor)),
    }
}

/// Runs a test from its beginning, or from where its save file has it.
fn to_the_end(
    start: Saved,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<Found, Failure> {
    let (number, worktype) = (start.number(), start.worktype());
    let backend = common.backend()?;
    let name = format!("{number} {worktype}");
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
        note!("{name} taken up at iteration {}", saved.progress().0);
    }
    let mut test = saved.unwrap_or(start);
    let mut power = proof_power(&test, common, folder)?;
    let mut kept = kept(number, power);
    let mut runner = test.runner(&*backend)?;
    let mut last_save = Instant::now();
    let mut report = Report::new(test.progress().0);
    let mut times = 1;
    loop {
        let before = Instant::now();
        let errors = (runner.lengthened(), test.errors());
        let (iteration, _) = test.progress();
        let next = kept.iter().find(|&&kept| kept > iteration);
        let until_kept = next.map_or(u32::MAX, |next| next - iteration);
        if let Step::Done(outcome) = test.advance(&mut runner, times.min(until_kept))? {
            let words = runner.words();
            drop(runner);
            if power > 0 {
                // A stop or a kill is to cost the proof's time alone.
                saved_or_told(&test, folder);
            }
            let proof = match power {
                0 => None,
                power => proof(number.n(), power, &*backend, common, folder, stop)?,
            };
            return Ok(Found {
                test: Some(test),
                outcome,
                words,
                keeps_residues: power > 0 && proof.is_none(),
                proof,
            });
        }
        let (iteration, _) = test.progress();
        if kept.binary_search(&iteration).is_ok()
            && let Err(error) = folder.save_residue(iteration, &runner.residue()?)
        {
            let needs_it = |&power: &u32| Proof::iterations(number.n(), power).contains(&iteration);
            power = (1..=power)
                .rev()
                .find(|power| !needs_it(power))
                .unwrap_or(0);
            kept = self::kept(number, power);
            note!("warning: {error}; {name} goes on, and its proof will be of power {power}");
        }
        if let Some(error) = runner.take_failure() {
            note!("warning: {error}; going on without it");
        }
        if runner.lengthened() > errors.0 {
            let words = runner.words().unwrap_or(0);
            note!("{name} goes on with {words} words: rounding errors were too large");
        }
        if test.errors() > errors.1 {
            note!("{name} check failed; back at iteration {iteration}");
            report.back_to(iteration);
        }
        times = next_stretch(times, before.elapsed());
        let signal = stop.signal();
        if signal.is_some() || last_save.elapsed() >= common.save_every {
            test.rest(&mut runner)?;
            match signal {
                Some(_) => folder.save(&test)?,
                None => saved_or_told(&test, folder),
            }
            last_save = Instant::now();
        }
        if report.last.elapsed() >= common.report_every {
            // Where there is a check, its products read residues often, beside the squarings.
            if !matches!(test, Saved::Prp(_)) {
                test.rest(&mut runner)?;
            }
            report.line(&name, test.progress(), &runner, backend.name());
        }
        if let Some(signal) = signal {
            note!("{name} saved at iteration {}", test.progress().0);
            return Err(Failure::Interrupted(signal));
        }
    }
}

/// The iterations whose residues are kept for a proof of this power.
fn kept(number: Number, power: u32) -> Vec<u32> {
    match power {
        0 => Vec::new(),
        power => Proof::iterations(number.n(), power),
    }
}

/// Saves a test that goes on where that fails: the next save may succeed.
fn saved_or_told(test: &Saved, folder: &Folder) {
    if let Err(error) = folder.save(test) {
        let (number, worktype) = (test.number(), test.worktype());
        note!("warning: {error}; {number} {worktype} is not saved, and goes on");
    }
}

/// The power of the proof that this test will end with: of earlier iterations only those
/// count whose residues are there.
fn proof_power(test: &Saved, common: &Common, folder: &Folder) -> Result<u32, Failure> {
    let (p, (iteration, _)) = (test.number().n(), test.progress());
    let most = Proof::most_power(p);
    let asked = match (test.worktype(), common.proof_power) {
        (kind, _) if kind != "PRP-3" => 0,
        (_, None) => most.min(POWER),
        (_, Some(power)) if power <= most => power,
        (_, Some(power)) => {
            return Err(Failure::Usage(format!(
                "a proof of power {power} takes an exponent above 4^{power}; {most} is the \
                 greatest power for {p}"
            )));
        }
    };
    let is_there = |&at: &u32| folder.load_residue(p, at).is_ok();
    let has_all = |&power: &u32| {
        let iterations = Proof::iterations(p, power);
        let passed = iterations.partition_point(|&at| at <= iteration);
        iterations[..passed].iter().all(is_there)
    };
    let power = (1..=asked).rev().find(has_all).unwrap_or(0);
    if power < asked {
        note!(
            "warning: residues that a proof of power {asked} needs were not kept before \
             iteration {iteration}; it will be of power {power}"
        );
    }
    Ok(power)
}

/// The proof of a test that is done, if it can be made: a warning says why not. One that does not
/// hold is made again, as the machine may have erred while it was made.
fn proof(
    p: u32,
    power: u32,
    backend: &dyn Backend,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<Option<Arc<Proof>>, Failure> {
    let mut what = String::new();
    for attempt in ["it is made again", "no proof is made"] {
        let (residues, count) = (folder.clone(), Arc::new(AtomicU32::new(0)));
        let counted = count.clone();
        let progress = || {
            let count = count.load(Ordering::Relaxed);
            format!("M{p} proof: {count} of {} residues", 1 << power)
        };
        let built = attended(progress, common, stop, move || {
            Proof::build(p, power, |iteration| {
                counted.fetch_add(1, Ordering::Relaxed);
                residues.load_residue(p, iteration)
            })
        });
        what = match built? {
            Ok(proof) => {
                let proof = Arc::new(proof);
                if verify::holds(&proof, backend, common, stop)? {
                    return Ok(Some(proof));
                }
                "it does not hold: a residue that was kept may be wrong".to_owned()
            }
            Err(error) => error.to_string(),
        };
        note!("M{p} proof: {what}; {attempt}");
    }
    let residues = folder.residues(p);
    let residues = residues.display();
    note!("warning: M{p} has no proof: {what}; its residues stay in {residues}");
    Ok(None)
}
