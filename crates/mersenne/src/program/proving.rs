//! The proofs that tests leave: the residues that are kept for them, and their files.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Backend, Beside, Error, Folder, Number, Proof, PrstProof, Residue, Runner, Saved};
use clap::ValueEnum;

use super::attended::attended;
use super::output::{log, note};
use super::stop::Stop;
use super::{Common, Failure, verify};

/// The files that a proof has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ProofFormat {
    /// One file, which `mersenne verify` checks; of 2^P - 1 as PrimeNet takes it
    #[default]
    Own,
    /// PRST's points and products, of which it and `mersenne build-cert` make a certificate
    Prst,
}

impl ProofFormat {
    /// The iterations whose residues are kept, of a test of so many squarings.
    fn iterations(self, number: Number, squarings: u32, power: u32) -> Result<Vec<u32>, String> {
        match self {
            ProofFormat::Own => Ok(Proof::iterations(squarings, power)),
            ProofFormat::Prst => PrstProof::iterations(number, power),
        }
    }
}

/// A proof in its files.
pub enum Made {
    Own(Arc<Proof>),
    /// The low 64 bits of the raw certificate.
    Prst {
        raw: u64,
    },
}

/// The iterations whose residues are kept for a proof.
pub struct Kept {
    number: Number,
    /// The squarings of the test.
    squarings: u32,
    format: ProofFormat,
    /// The proof's power.
    pub power: u32,
    iterations: Vec<u32>,
    folder: Folder,
    /// The iteration whose residue is on its way to the disk, while the machine squares on.
    writing: Option<(u32, Beside<Result<(), Error>>)>,
}

impl Kept {
    pub fn new(test: &Saved, format: ProofFormat, power: u32, folder: &Folder) -> Self {
        let mut kept = Kept {
            number: test.number(),
            squarings: test.proved().unwrap_or(0),
            format,
            power,
            iterations: Vec::new(),
            folder: folder.clone(),
            writing: None,
        };
        kept.iterations = kept.of(power);
        kept
    }

    /// The iterations of a proof of this power, which can be made.
    fn of(&self, power: u32) -> Vec<u32> {
        match power {
            0 => Vec::new(),
            power => {
                let iterations = self.format.iterations(self.number, self.squarings, power);
                iterations.expect("the power was looked at")
            }
        }
    }

    /// Squarings from this iteration to the next one of them.
    pub fn apart(&self, iteration: u32) -> u32 {
        let next = self.iterations.partition_point(|&kept| kept <= iteration);
        let next = self.iterations.get(next);
        next.map_or(u32::MAX, |next| next - iteration)
    }

    /// Begins to keep the residue of this iteration if it is one of them; where the machine cannot go on meanwhile,
    /// it is on the disk then.
    pub fn keep(
        &mut self,
        iteration: u32,
        runner: &mut Runner<'_>,
        name: &str,
    ) -> Result<(), Error> {
        let is_kept = |kept: &Self| kept.iterations.binary_search(&iteration).is_ok();
        let is_written = |(_, writing): &(u32, Beside<_>)| writing.is_finished();
        // There is one at a time, so that no two write one file.
        if is_kept(self) || self.writing.as_ref().is_some_and(is_written) {
            self.settle(runner, name)?;
        }
        if !is_kept(self) {
            return Ok(());
        }
        let folder = self.folder.clone();
        let write = move |residue: &Residue| folder.save_residue(iteration, residue);
        match runner.beside(write.clone())? {
            Some(writing) => self.writing = Some((iteration, writing)),
            None => {
                let residue = runner.residue()?;
                self.judge((iteration, &residue), write(&residue), name);
            }
        }
        Ok(())
    }

    /// Waits until all residues that are kept are on the disk, as they must be before a save is made that is further.
    pub fn settle(&mut self, runner: &mut Runner<'_>, name: &str) -> Result<(), Error> {
        if let Some((iteration, writing)) = self.writing.take() {
            let (residue, written) = runner.finish(writing)?;
            self.judge((iteration, &residue), written, name);
        }
        Ok(())
    }

    /// Logs a residue, which others that test the number have at the same iteration. Where it could not be written,
    /// the proof will be one that does without it.
    fn judge(
        &mut self,
        (iteration, residue): (u32, &Residue),
        written: Result<(), Error>,
        name: &str,
    ) {
        let res64 = residue.res64();
        log!("{name} at iteration {iteration}: residue {res64:016X}");
        let Err(error) = written else {
            return;
        };
        let without = |power: &u32| !self.of(*power).contains(&iteration);
        self.power = (1..=self.power).rev().find(without).unwrap_or(0);
        self.iterations = self.of(self.power);
        let power = self.power;
        note!("warning: {error}; {name} goes on, and its proof will be of power {power}");
    }
}

/// The power of the proof that this test will end with. It may be less than the wanted one, if
/// residues of earlier iterations are missing.
pub fn proof_power(test: &Saved, common: &Common, folder: &Folder) -> Result<u32, Failure> {
    let (number, (iteration, _)) = (test.number(), test.progress());
    let Some(squarings) = test.proved() else {
        return Ok(0);
    };
    let most = Proof::most_power(squarings);
    let asked = match (number.exponent(), common.proof_power) {
        (None, None) => 0,
        (Some(p), None) if iteration > 0 => Proof::good_power(p),
        (Some(p), None) => affordable(p, Proof::good_power(p), folder),
        (_, Some(power)) if power <= most => power,
        (_, Some(power)) => {
            return Err(Failure::Usage(format!(
                "a proof of power {power} takes a test of 4^{power} squarings; {most} is the greatest \
                 power for {squarings}"
            )));
        }
    };
    let format = common.proof_format;
    let is_prst = format == ProofFormat::Prst;
    if is_prst && number.exponent().is_none() && common.proof_power.is_none() {
        return Err(Failure::Usage(
            "--proof-format takes --proof-power too".to_owned(),
        ));
    }
    if let (true, Err(what)) = (asked > 0, format.iterations(number, squarings, asked)) {
        return Err(Failure::Usage(what));
    }
    let is_there = |&at: &u32| folder.load_residue(number, at).is_ok();
    let has_all = |&power: &u32| {
        let iterations = format.iterations(number, squarings, power);
        let iterations = iterations.unwrap_or_default();
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

/// The power, or a lesser one, whose residues take no more than half of the disk's free space. A test that
/// has begun has some of them already.
fn affordable(p: u32, power: u32, folder: &Folder) -> u32 {
    let free = free_space(&folder.file(""));
    let fits = |power: &u32| free.is_none_or(|free| (u64::from(p) / 8) << power <= free / 2);
    (1..=power).rev().find(fits).unwrap_or(power.min(1))
}

/// The bytes that are free where a folder is.
#[cfg(unix)]
fn free_space(path: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(path).ok()?;
    Some(space.f_bavail * space.f_frsize)
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<u64> {
    None
}

/// The proof of a test that is done, in its files, if it can be made: a warning says why not. One
/// that does not hold is made again, as the machine may have erred while it was made.
pub fn proof(
    number: Number,
    power: u32,
    backend: &dyn Backend,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<Option<Made>, Failure> {
    let attempt = Attempt {
        number,
        power,
        backend,
        common,
        folder,
        stop,
    };
    let mut what = String::new();
    for then in ["it is made again", "no proof is made"] {
        let made = match common.proof_format {
            ProofFormat::Own => attempt.own()?,
            ProofFormat::Prst => attempt.of_prst()?,
        };
        what = match made {
            Ok(made) => return Ok(Some(made)),
            Err(what) => what,
        };
        note!("{number} proof: {what}; {then}");
        match common.proof_format {
            ProofFormat::Own => folder.remove_middles(number, power)?,
            ProofFormat::Prst => {
                for level in 0..power {
                    folder.remove(&PrstProof::product(number, level))?;
                }
            }
        }
    }
    let residues = folder.file(&Folder::residues(number));
    let residues = residues.display();
    note!("warning: {number} has no proof: {what}; its residues stay in {residues}");
    Ok(None)
}

/// What is wrong with a proof that does not hold.
const DOES_NOT_HOLD: &str = "it does not hold: a residue that was kept may be wrong";

/// An attempt at a proof. Its methods return what went wrong.
struct Attempt<'a> {
    number: Number,
    power: u32,
    backend: &'a dyn Backend,
    common: &'a Common,
    folder: &'a Folder,
    stop: &'a Stop,
}

impl Attempt<'_> {
    fn own(&self) -> Result<Result<Made, String>, Failure> {
        let built = self.built(|making| {
            let (number, power, machine) = (making.number, making.power, &*making.machine);
            let known = making.folder.load_middles(number, power);
            let mut level = making.begin(&known);
            let residue = |iteration| making.residue(iteration);
            Proof::go_on(number, power, machine, known, residue, |middle| {
                // Without it, a proof that is interrupted begins further back.
                let _ = making.folder.save_middle(power, level, middle);
                level += 1;
            })
        });
        let proof = match built? {
            Ok(proof) => Arc::new(proof),
            Err(what) => return Ok(Err(what)),
        };
        if !verify::holds(&proof, self.backend, self.common, self.stop)? {
            return Ok(Err(DOES_NOT_HOLD.to_owned()));
        }
        let (number, power) = (self.number, self.power);
        Ok(match self.folder.save_proof(&proof) {
            Ok(path) => {
                note!("{number} proof of power {power} in {}", path.display());
                Ok(Made::Own(proof))
            }
            Err(error) => Err(error.to_string()),
        })
    }

    /// The same in PRST's files.
    fn of_prst(&self) -> Result<Result<Made, String>, Failure> {
        let built = self.built(|making| {
            let (number, power, machine) = (making.number, making.power, &*making.machine);
            let read = |name: &str| {
                making
                    .folder
                    .load_summed(name)
                    .map_err(|error| error.to_string())
            };
            let known = PrstProof::products(number, power, read);
            let mut level = making.begin(&known);
            let residue = |iteration| making.residue(iteration);
            let keep = |product: &_| {
                let (name, bytes) = PrstProof::product_file(level, product);
                let _ = making.folder.save_summed(&name, &bytes);
                level += 1;
            };
            let proof = PrstProof::go_on(number, power, machine, known, residue, keep)?;
            let claim = proof.claim(machine)?;
            Ok((proof, claim))
        });
        let (proof, claim) = match built? {
            Ok(built) => built,
            Err(what) => return Ok(Err(what)),
        };
        let (number, raw) = (self.number, claim.end.res64());
        let name = format!("{number} proof");
        if !verify::is_true(&name, &claim, self.backend, self.common, self.stop)? {
            return Ok(Err(DOES_NOT_HOLD.to_owned()));
        }
        for (name, bytes) in proof.files() {
            if let Err(error) = self.folder.save_summed(&name, &bytes) {
                return Ok(Err(error.to_string()));
            }
        }
        let files = self.folder.file(&PrstProof::name(number, "*"));
        note!(
            "{number} proof of {} points for PRST in {}, raw certificate res64 {raw:016X}",
            1 << self.power,
            files.display()
        );
        Ok(Ok(Made::Prst { raw }))
    }

    /// What `build` makes on a thread of its own.
    fn built<T: Send + 'static>(
        &self,
        build: impl FnOnce(Making) -> Result<T, Error> + Send + 'static,
    ) -> Result<Result<T, String>, Failure> {
        let done = Arc::new(AtomicU32::new(0));
        let making = Making {
            number: self.number,
            power: self.power,
            machine: self.common.backend()?,
            folder: self.folder.clone(),
            done: done.clone(),
        };
        let progress = || {
            let (done, all) = (done.load(Ordering::Relaxed), 1 << self.power);
            format!("{} proof: {done} of {all} residues", self.number)
        };
        let built = attended(progress, self.common, self.stop, move || build(making))?;
        Ok(built.map_err(|error| error.to_string()))
    }
}

/// What a proof is made of and with.
struct Making {
    number: Number,
    power: u32,
    machine: Box<dyn Backend + Send>,
    folder: Folder,
    /// How many residues have been read.
    done: Arc<AtomicU32>,
}

impl Making {
    /// Counts the residues of the first levels, which are there, and returns the next level.
    fn begin(&self, known: &[Residue]) -> u32 {
        let level = known.len() as u32;
        self.done.store((1 << level) - 1, Ordering::Relaxed);
        level
    }

    fn residue(&self, iteration: u32) -> Result<Residue, Error> {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.folder.load_residue(self.number, iteration)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, File};
    use std::io::Read;
    use std::process::Command;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::{Cpu, Later, Prp, Squaring};

    /// A machine that squares on while its residues are fetched, as a device does.
    struct Fetching;

    struct FetchingSquares(Box<dyn Squaring>);

    impl Backend for Fetching {
        fn name(&self) -> &str {
            "fetching"
        }

        fn squaring(
            &self,
            number: Number,
            longer_than: Option<usize>,
        ) -> Result<Box<dyn Squaring>, Error> {
            let squaring = Cpu::default().squaring(number, longer_than)?;
            Ok(Box::new(FetchingSquares(squaring)))
        }
    }

    impl Squaring for FetchingSquares {
        fn set(&mut self, x: &Residue) -> Result<(), Error> {
            self.0.set(x)
        }

        fn residue(&self) -> Result<Residue, Error> {
            self.0.residue()
        }

        fn residue_later(&self) -> Result<Option<Later>, Error> {
            let residue = self.residue()?;
            Ok(Some(Box::new(|| Ok(residue))))
        }

        fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
            self.0.square(times, by, minus)
        }

        fn error(&self) -> Result<f64, Error> {
            self.0.error()
        }

        fn words(&self) -> Option<usize> {
            self.0.words()
        }
    }

    /// A pipe takes the file's place: nothing is written until somebody reads it, and it cannot be brought to a disk.
    #[test]
    fn squarings_go_on_while_a_residue_is_written_and_a_save_waits_for_it() {
        let (p, power) = (1277, 4);
        let folder = tempfile::tempdir().unwrap();
        let files = Folder::new(folder.path());
        let test = Saved::Prp(Prp::new(p));
        let mut kept = Kept::new(&test, ProofFormat::Own, power, &files);
        let iterations = Proof::iterations(p, power);
        let (first, second) = (iterations[0], iterations[1]);
        let residues = files.file(&Folder::residues(p));
        fs::create_dir(&residues).unwrap();
        let pipe = residues.join(format!("{second}.new"));
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );

        let start = Residue::from_u64(p, 3);
        let mut runner = Runner::new(p, 0, &Fetching).unwrap();
        runner.set(&start).unwrap();
        runner.square(first).unwrap();
        kept.keep(first, &mut runner, "it").unwrap();
        runner.square(second - first).unwrap();
        // Whoever waits for the pipe is let go in the end.
        let (squared, when) = channel();
        let reader = thread::spawn(move || {
            let is_in_time = when.recv_timeout(Duration::from_secs(20)).is_ok();
            let mut bytes = Vec::new();
            File::open(pipe).unwrap().read_to_end(&mut bytes).unwrap();
            (is_in_time, bytes)
        });
        kept.keep(second, &mut runner, "it").unwrap();
        assert!(files.load_residue(p, first).is_ok());
        let end = second + kept.apart(second) - 1;
        runner.square(end - second).unwrap();
        kept.keep(end, &mut runner, "it").unwrap();
        assert_eq!(kept.power, power);
        squared.send(()).unwrap();
        kept.settle(&mut runner, "it").unwrap();
        let (is_in_time, bytes) = reader.join().unwrap();
        assert!(is_in_time, "the squarings waited for the file");

        let after = |squarings| (0..squarings).fold(start.clone(), |x, _| x.square_minus(1, 0));
        assert_eq!(bytes[..bytes.len() - 4], after(second).to_bytes());
        assert_eq!(files.load_residue(p, first).unwrap(), after(first));
        assert_eq!(runner.residue().unwrap(), after(end));
        // It could not be brought to the disk.
        assert!(kept.power < power && !kept.of(kept.power).contains(&second));
    }
}
