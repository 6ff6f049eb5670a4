//! One test from its save file, or from the beginning, to its result.

use std::time::Instant;

use bigint_host::BigUint;
use mersenne::primenet::{Reporter, ResultLine};
use mersenne::{Backend, Folder, Number, Outcome, PMinus1, Proof, Saved, Step};

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
    pub fn p_minus_1(p: u32, bound: u32) -> Result<Self, Failure> {
        Ok(Saved::PMinus1(PMinus1::new(p, bound)?).into())
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

/// `mersenne ll P` and its like.
pub fn alone(task: Task, json: bool, common: &Common) -> Result<(), Failure> {
    let line = one(task, common, None, &Stop::on_signals())?;
    if json {
        println!("{}", line.to_json());
    }
    Ok(())
}

/// Runs it, and reports it in `results.json.txt`.
pub fn one(
    task: Task,
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<ResultLine, Failure> {
    let Task {
        worktype,
        number,
        start,
    } = task;
    let folder = common.folder()?;
    let Found {
        test,
        outcome,
        words,
        proof,
    } = match start {
        Some(start) => to_the_end(start, common, &folder, stop)?,
        None => Found::prime(),
    };
    let reporter: Reporter = common.reporter(id);
    let mut line = ResultLine::new(worktype, number, &outcome, words, &reporter);
    if let Some(Saved::PMinus1(test)) = &test {
        let (bound, factor) = (test.bound(), factor(test)?);
        match &factor {
            Some(factor) => eprintln!("{number} {worktype} has the factor {factor}"),
            None => eprintln!("{number} {worktype} has no factor that B1={bound} finds"),
        }
        line = line.with_factor(bound, factor.map(|factor| factor.to_string()));
    } else {
        let verdict = match (outcome.is_prime, worktype) {
            (_, "Cert") => "is done.",
            (true, "PRP-3") => "is a probable prime!",
            (true, _) => "is prime!",
            (false, _) => "is composite.",
        };
        eprintln!("{number} {worktype} {verdict} res64 {:016X}", outcome.res64);
        let certified = test.as_ref().filter(|test| test.certification().is_some());
        line = line.with_hash(certified.and_then(Saved::hash));
    }
    if let Some(proof) = &proof {
        let path = folder.save_proof(proof)?;
        eprintln!(
            "{number} proof of power {} in {}",
            proof.power(),
            path.display()
        );
        line = line.with_proof(proof);
    }
    let results = folder.file("results.json.txt");
    line.append_to(&results)
        .map_err(|error| Failure::Running(format!("{}: {error}", results.display())))?;
    if let Some(test) = &test {
        folder.remove(test)?;
    }
    Ok(line)
}

/// What a test leaves.
struct Found {
    /// The test at its end.
    test: Option<Saved>,
    outcome: Outcome,
    words: Option<usize>,
    proof: Option<Proof>,
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
        }
    }
}

/// The factor that P-1 found.
fn factor(test: &PMinus1) -> Result<Option<BigUint>, Failure> {
    let (number, bound) = (test.number(), test.bound());
    let (one, all) = (
        BigUint::from(1u32),
        (BigUint::from(1u32) << number.n()) - 1u32,
    );
    match test.divisor()? {
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
    let (saved, wrong) = folder.load(&start)?;
    for error in wrong {
        eprintln!("warning: {error}; passed over");
    }
    if let Some(saved) = &saved {
        eprintln!(
            "{number} {worktype} taken up at iteration {}",
            saved.progress().0
        );
    }
    let mut test = saved.unwrap_or(start);
    let power = proof_power(&test, common, folder)?;
    let kept = match power {
        0 => Vec::new(),
        power => Proof::iterations(number.n(), power),
    };
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
            let proof = match power {
                0 => None,
                power => proof(number.n(), power, &*backend, common, folder, stop)?,
            };
            return Ok(Found {
                test: Some(test),
                outcome,
                words,
                proof,
            });
        }
        let (iteration, _) = test.progress();
        if kept.binary_search(&iteration).is_ok() {
            folder.save_residue(iteration, &runner.residue()?)?;
        }
        if let Some(error) = runner.take_failure() {
            eprintln!("warning: {error}; going on without it");
        }
        if runner.lengthened() > errors.0 {
            let words = runner.words().unwrap_or(0);
            eprintln!(
                "{number} {worktype} goes on with {words} words: rounding errors were too large"
            );
        }
        if test.errors() > errors.1 {
            let (iteration, _) = test.progress();
            eprintln!("{number} {worktype} check failed; back at iteration {iteration}");
        }
        times = next_stretch(times, before.elapsed());
        let signal = stop.signal();
        if signal.is_some() || last_save.elapsed() >= common.save_every {
            test.rest(&mut runner)?;
            folder.save(&test)?;
            last_save = Instant::now();
        }
        if report.last.elapsed() >= common.report_every {
            // Where there is a check, its products read residues often, beside the squarings.
            if !matches!(test, Saved::Prp(_)) {
                test.rest(&mut runner)?;
            }
            let name = format!("{number} {worktype}");
            report.line(&name, test.progress(), &runner, backend.name());
        }
        if let Some(signal) = signal {
            let (iteration, _) = test.progress();
            eprintln!("{number} {worktype} saved at iteration {iteration}");
            return Err(Failure::Interrupted(signal));
        }
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
        eprintln!(
            "warning: residues that a proof of power {asked} needs were not kept before \
             iteration {iteration}; it will be of power {power}"
        );
    }
    Ok(power)
}

/// The proof of a test that is done, if it can be made: a warning says why not.
fn proof(
    p: u32,
    power: u32,
    backend: &dyn Backend,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<Option<Proof>, Failure> {
    let (mut last, mut count) = (Instant::now(), 0);
    let built = Proof::build(p, power, |iteration| {
        if last.elapsed() >= common.report_every {
            eprintln!("M{p} proof: {count} of {} residues", 1 << power);
            last = Instant::now();
        }
        count += 1;
        folder.load_residue(p, iteration)
    });
    let what = match built {
        Ok(proof) if verify::holds(&proof.certificate(), backend, common, stop)? => {
            return Ok(Some(proof));
        }
        Ok(_) => "it does not hold: a residue that was kept is wrong".to_owned(),
        Err(error) => error.to_string(),
    };
    eprintln!("warning: M{p} has no proof: {what}");
    Ok(None)
}
