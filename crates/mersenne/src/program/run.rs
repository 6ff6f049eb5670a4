//! One test from its save file, or from the beginning, to its result.

use std::time::Instant;

use mersenne::primenet::{Reporter, ResultLine};
use mersenne::{Backend, Certification, Folder, Number, Outcome, Proof, Prp, Saved, Step};

use super::report::{Report, next_stretch};
use super::stop::Stop;
use super::{Common, Failure, verify};

/// The power of a proof where none is asked for.
const POWER: u32 = 8;

/// `mersenne ll P` and its like.
pub fn alone(
    worktype: &'static str,
    number: Number,
    json: bool,
    common: &Common,
) -> Result<(), Failure> {
    let line = one(worktype, number, None, common, None, &Stop::on_signals())?;
    if json {
        println!("{}", line.to_json());
    }
    Ok(())
}

/// Runs a test, or a certification, and reports it in `results.json.txt`.
pub fn one(
    worktype: &'static str,
    number: Number,
    certification: Option<Certification>,
    common: &Common,
    id: Option<String>,
    stop: &Stop,
) -> Result<ResultLine, Failure> {
    let folder = common.folder()?;
    let Found {
        outcome,
        words,
        hash,
        proof,
    } = if number.exponent() == Some(2) {
        // 3: both tests are for odd exponents.
        let outcome = Outcome {
            is_prime: true,
            res64: 0,
            errors: 0,
        };
        Found {
            outcome,
            words: None,
            hash: None,
            proof: None,
        }
    } else {
        let start = match certification {
            Some(certification) => Saved::Prp(Prp::certifying(certification)),
            None => Saved::new(number, worktype),
        };
        to_the_end(start, common, &folder, stop)?
    };
    let verdict = match (outcome.is_prime, worktype) {
        (_, "Cert") => "is done.",
        (true, "PRP-3") => "is a probable prime!",
        (true, _) => "is prime!",
        (false, _) => "is composite.",
    };
    eprintln!("{number} {worktype} {verdict} res64 {:016X}", outcome.res64);
    let reporter: Reporter = common.reporter(id);
    let mut line = ResultLine::new(worktype, number, &outcome, words, &reporter).with_hash(hash);
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
    folder.remove(number, worktype)?;
    Ok(line)
}

/// What a test leaves.
struct Found {
    outcome: Outcome,
    words: Option<usize>,
    /// Of a certification.
    hash: Option<String>,
    proof: Option<Proof>,
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
    let (saved, wrong) = folder.load(number, worktype)?;
    // Another certification's of the same number is of no use.
    let saved = saved.filter(|saved| saved.certification() == start.certification());
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
                outcome,
                words,
                hash: test.certification().and(test.hash()),
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
            test.rest(&mut runner)?;
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
