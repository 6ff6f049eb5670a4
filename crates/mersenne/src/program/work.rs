//! `mersenne work`: does the work of `worktodo.txt`, from its first line to its last.
//!
//! A line that fails, or that this program does not understand, stays where it is. It is reported
//! once and passed over, so that the other lines need not wait until somebody comes.
//!
//! One worker takes the lines of `worktodo.txt` itself. Several, which have numbers, share them out:
//! each moves a line to its own `worktodo-N.txt`, where AutoPrimeNet puts lines too, before it does
//! the work, and has results, a log and a lock of its own.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use crate::folder::{clear, replace};
use crate::primenet::{
    Asked, Assignment, BadLine, add_lines, finish_take, is_reported, remove_line, take_line,
};
use crate::{Certification, Error, Folder, Lock, Prp, Saved};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::output::{log_to, note, print};
use super::proving::ProofFormat;
use super::run::{self, Finished, Task, append, remove_files, waiting};
use super::stop::Stop;
use super::{Common, Failure, ecm, p_minus_1, trial, tune};

#[derive(Args)]
pub struct Arguments {
    /// One worker of several, from 0 on: its lines are those of worktodo-N.txt and then of
    /// worktodo.txt, its results go to results-N.txt
    #[arg(long, value_name = "N", conflicts_with = "devices")]
    worker: Option<u32>,
    /// A worker for each of these GPUs, with its number: `0,2`, or `all`
    #[arg(long, value_name = "LIST", value_parser = devices, conflicts_with = "device")]
    devices: Option<Devices>,
    /// For AutoPrimeNet with its option --prpll: results say that they are in PRPLL's form, progress
    /// stands where it looks, and the only worker is worker 0
    #[arg(long)]
    autoprimenet: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone)]
enum Devices {
    All,
    These(Vec<u32>),
}

fn devices(text: &str) -> Result<Devices, String> {
    if text == "all" {
        return Ok(Devices::All);
    }
    let numbers = text.split(',').map(|number| number.trim().parse().ok());
    let numbers: Option<Vec<u32>> = numbers.collect();
    let is_set = |all: &Vec<u32>| all.iter().collect::<HashSet<_>>().len() == all.len();
    let numbers = numbers.filter(is_set).map(Devices::These);
    numbers.ok_or_else(|| "it is `all`, or different numbers such as 0,2".to_owned())
}

impl Arguments {
    /// The options of each worker.
    fn workers(&self) -> Result<Vec<Common>, Failure> {
        let with = |device, worker: Option<u32>| Common {
            device,
            worker: worker.or(self.autoprimenet.then_some(0)),
            autoprimenet: self.autoprimenet,
            ..self.common.clone()
        };
        let devices = match &self.devices {
            None => return Ok(vec![with(self.common.device, self.worker)]),
            Some(Devices::These(devices)) => devices.clone(),
            Some(Devices::All) => {
                let found =
                    bigint_host::devices().map_err(|error| Failure::Running(error.to_string()))?;
                let usable = found.iter().zip(0..).filter(|(device, _)| device.is_ok());
                usable.map(|(_, number)| number).collect()
            }
        };
        if devices.is_empty() {
            return Err(Failure::Running("no GPU can be used".to_owned()));
        }
        let worker = |&number: &u32| with(number as usize, Some(number));
        Ok(devices.iter().map(worker).collect())
    }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.common.proof_format != ProofFormat::default() {
        let what = "PrimeNet takes proofs in its own format alone";
        return Err(Failure::Usage(what.to_owned()));
    }
    let workers = arguments.workers()?;
    let stop = Stop::on_signals();
    if let [common] = &workers[..] {
        return work(common, &stop);
    }
    let ended: Vec<Result<(), Failure>> = thread::scope(|scope| {
        let threads: Vec<_> = workers
            .iter()
            .map(|common| {
                stop.begins();
                let stop = &stop;
                thread::Builder::new().spawn_scoped(scope, move || {
                    let ended = work(common, stop);
                    stop.ends();
                    ended
                })
            })
            .collect();
        // This thread is no worker.
        stop.ends();
        let joined = threads.into_iter().map(|thread| match thread {
            Err(error) => {
                stop.ends();
                Err(Failure::Running(format!("no thread can be had: {error}")))
            }
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        });
        joined.collect()
    });
    stop.check()?;
    ended.into_iter().collect()
}

/// Does the work of one worker.
fn work(common: &Common, stop: &Stop) -> Result<(), Failure> {
    let folder = common.folder()?;
    let _lock = locked(common, &folder)?;
    log_to(&folder.file(&common.own("mersenne", ".log")));
    tune::lengths(&folder)?;
    let mut worker = Worker {
        common,
        folder,
        stop,
        unknown: HashSet::new(),
        failed: HashSet::new(),
        unprinted: None,
    };
    // Kills leave locks, and files that were to take another's place.
    let shared = worker.folder.file("worktodo.txt");
    let results = worker.folder.file(&common.results());
    for path in [worker.own(), results, worker.left(), shared.clone()] {
        clear(&path);
    }
    if common.worker.is_some() {
        worker.edited(&shared, |shared, wait| {
            finish_take(shared, &worker.own(), wait)
        })?;
    }
    match worker.finish_last() {
        Err(Failure::Running(what)) => note!("warning: {what}; passed over"),
        done => done?,
    }
    while let Some(assignment) = worker.next()? {
        let line = assignment.line.trim();
        match worker.one(&assignment) {
            Ok(Some(result)) => worker.print(&result),
            Ok(None) => {}
            Err(Failure::Usage(what) | Failure::Running(what)) => {
                note!("error: {what}; passed over: {line}");
                worker.failed.insert(line.to_owned());
            }
            Err(failure) => return Err(failure),
        }
    }
    note!(
        "{} has no more lines for this program",
        worker.own().display()
    );
    match (worker.failed.len(), worker.unprinted) {
        (0, None) => Ok(()),
        (0, Some(failure)) => Err(failure),
        (lines, _) => {
            let what = format!("lines that could not be done, and are left: {lines}");
            Err(Failure::Running(what))
        }
    }
}

/// The lock of a worker. One without a number works alone in its folder.
fn locked(common: &Common, folder: &Folder) -> Result<Lock, Failure> {
    let lock = folder.lock(&common.own("mersenne", ""))?;
    let others = fs::read_dir(folder.file(""))
        .into_iter()
        .flatten()
        .flatten();
    for other in others {
        let name = other.file_name().into_string().unwrap_or_default();
        let name = name.strip_suffix(".lck").unwrap_or_default();
        let is_other = match common.worker {
            None => name.starts_with("mersenne-"),
            Some(_) => name == "mersenne",
        };
        let path = folder.file(name);
        if is_other && let Some(holder) = Lock::holder_of(&path) {
            return Err(Error::Locked { path, holder }.into());
        }
    }
    Ok(lock)
}

/// A worker, and the lines that it has dealt with.
struct Worker<'a> {
    common: &'a Common,
    folder: Folder,
    stop: &'a Stop,
    /// Lines that were not understood.
    unknown: HashSet<Vec<u8>>,
    /// Lines whose work failed.
    failed: HashSet<String>,
    /// Why standard output lacks results.
    unprinted: Option<Failure>,
}

impl Worker<'_> {
    /// The file whose lines are this worker's alone.
    fn own(&self) -> PathBuf {
        self.folder.file(&self.common.own("worktodo", ".txt"))
    }

    /// The first line to do. The files are read anew each time, as lines are added while a test runs.
    fn next(&mut self) -> Result<Option<Assignment>, Failure> {
        let (own, shared) = (self.own(), self.folder.file("worktodo.txt"));
        for path in [&own, &shared] {
            self.edited(path, |path, wait| add_lines(path, wait))?;
        }
        if self.common.worker.is_none() {
            return self.first_of(&own);
        }
        if !own.exists() && !shared.exists() {
            let what = format!("{}: neither it nor worktodo.txt is there", own.display());
            return Err(Failure::Usage(what));
        }
        loop {
            if own.exists()
                && let Some(first) = self.first_of(&own)?
            {
                return Ok(Some(first));
            }
            if !shared.exists() {
                return Ok(None);
            }
            let Some(first) = self.first_of(&shared)? else {
                return Ok(None);
            };
            self.edited(&shared, |shared, wait| {
                take_line(shared, &own, &first.line, wait)
            })?;
        }
    }

    /// The first line of a file to do.
    fn first_of(&mut self, path: &PathBuf) -> Result<Option<Assignment>, Failure> {
        let text = fs::read(path)
            .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
        let mut next = None;
        for (line, number) in text.split(|&byte| byte == b'\n').zip(1..) {
            let assignment = std::str::from_utf8(line)
                .map_err(|_| BadLine {
                    column: 1,
                    what: "it is no UTF-8".to_owned(),
                })
                .and_then(Assignment::parse);
            match assignment {
                Ok(assignment) => {
                    let can_be_tried =
                        |assignment: &Assignment| !self.failed.contains(assignment.line.trim());
                    next = next.or(assignment.filter(can_be_tried));
                }
                Err(BadLine { column, what }) if self.unknown.insert(line.to_owned()) => {
                    note!("{}:{number}:{column}: {what}; passed over", path.display());
                }
                Err(_) => {}
            }
        }
        Ok(next)
    }

    /// Edits a file that other programs edit too.
    fn edited(
        &self,
        path: &PathBuf,
        edit: impl FnOnce(&PathBuf, crate::Wait<'_>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let edited = edit(path, &mut waiting(self.stop));
        self.stop.check()?;
        edited.map_err(|error| Failure::Running(format!("{}: {error}", path.display())))
    }

    /// Does the work of a line, and takes the line out. Returns the result's line, unless the result
    /// was there already.
    fn one(&self, assignment: &Assignment) -> Result<Option<String>, Failure> {
        let Assignment { asked, p, id, line } = assignment;
        let results = self.folder.file(&self.common.results());
        // It was done as the same assignment, in another line.
        let is_done = |id: &String| is_reported(&results, id).unwrap_or(false);
        if let Some(id) = id.as_ref().filter(|id| is_done(id)) {
            note!("{} has the result of {id} already", results.display());
            self.edited(&self.own(), |own, wait| remove_line(own, line, wait))?;
            return Ok(None);
        }
        let (common, stop) = (self.common, self.stop);
        let run = |task| run::one(task, common, id.clone(), stop);
        let Finished {
            line: result,
            test,
            files,
            lock,
            ..
        } = match asked.clone() {
            Asked::Test(worktype) => run(Task::test(worktype, (*p).into())),
            Asked::Cofactor(cofactor) => run(Task::cofactor(cofactor)),
            Asked::PMinus1(first, second) => {
                p_minus_1::one(*p, (first, second), common, id.clone(), stop)
            }
            Asked::PFactor(bits, tests) => {
                let bounds = p_minus_1::bounds(*p, bits, tests)?;
                p_minus_1::one(*p, bounds, common, id.clone(), stop)
            }
            Asked::Ecm(curves) => ecm::one(*p, curves, common, id.clone(), stop),
            Asked::Factor(from, to) => {
                trial::one(trial::range(*p, from, to)?, common, id.clone(), stop)
            }
            Asked::Certification(squarings) => {
                let start = self.folder.load_start(*p)?;
                let certification = Certification { start, squarings };
                run(Saved::Prp(Prp::certifying(certification)).into())
            }
        }?;
        let line = line.clone();
        let left = Left {
            result,
            line,
            test,
            files,
        };
        let (text, path) = (serde_json::to_vec(&left), self.left());
        replace(&path, &text.expect("words are JSON")).map_err(|error| {
            note!("not written to {}: {}", results.display(), left.result);
            Failure::Running(format!("{}: {error}", path.display()))
        })?;
        self.finish(&left, lock)?;
        Ok(Some(left.result))
    }

    /// The file of [`Left`].
    fn left(&self) -> PathBuf {
        self.folder.file(&self.common.own("mersenne", ".left"))
    }

    /// Does what is left, in this order, and lets go of the test's lock. What was done before is not
    /// done twice.
    fn finish(&self, left: &Left, lock: Option<Lock>) -> Result<(), Failure> {
        append(&left.result, self.common, self.stop)?;
        self.edited(&self.own(), |own, wait| remove_line(own, &left.line, wait))?;
        remove_files(&self.folder, left.test.as_deref(), &left.files)?;
        drop(lock);
        Ok(self.folder.remove(&self.common.own("mersenne", ".left"))?)
    }

    /// Does what the last run left, if it left anything.
    fn finish_last(&self) -> Result<(), Failure> {
        let path = self.left();
        let left = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            text => text.and_then(|text| Ok(serde_json::from_slice::<Left>(&text)?)),
        };
        let left =
            left.map_err(|error| Failure::Running(format!("{}: {error}", path.display())))?;
        let lock = left.test.as_ref().map(|test| self.folder.lock(test));
        self.finish(&left, lock.transpose()?)
    }

    /// Prints the line of a result, which is in its file already. Where that fails, the work goes on.
    fn print(&mut self, line: &str) {
        if self.unprinted.is_none() {
            self.unprinted = print(line).err();
        }
    }
}

/// The steps that remain once the work of a line is done. They are kept in a file until all are done, so a
/// kill at any moment leaves the rest to the next start.
#[derive(Serialize, Deserialize)]
struct Left {
    /// To be appended to the results.
    result: String,
    /// To be taken out of `worktodo.txt`.
    line: String,
    /// The test whose save files are to be removed.
    test: Option<String>,
    /// Other files that are to be removed.
    files: Vec<String>,
}
