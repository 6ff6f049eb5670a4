//! `mersenne work`: does the work of `worktodo.txt`, from its first line to its last.
//!
//! A line that fails, or that this program does not understand, stays where it is. It is reported
//! once and passed over, so that the other lines need not wait until somebody comes.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;

use crate::folder::replace;
use crate::primenet::{Asked, Assignment, BadLine, is_reported, remove_line};
use crate::{Certification, Folder, Prp, Saved};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::output::{note, print};
use super::run::{self, Task, append, waiting};
use super::stop::Stop;
use super::{Common, Failure, trial, tune};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common } = arguments;
    let folder = common.folder()?;
    let path = folder.file("worktodo.txt");
    let _lock = folder.lock("mersenne")?;
    tune::lengths(&folder)?;
    let stop = Stop::on_signals();
    match Left::finish_last(&folder, &stop) {
        Err(Failure::Running(what)) => note!("warning: {what}; passed over"),
        done => done?,
    }
    let mut todo = Todo::default();
    while let Some(assignment) = todo.next(&path)? {
        let done = one(&assignment, common, &folder, &stop);
        match done {
            Ok(Some(line)) => todo.print(&line),
            Ok(None) => {}
            Err(Failure::Usage(what) | Failure::Running(what)) => {
                note!("error: {what}; passed over: {}", assignment.line.trim());
                todo.failed.insert(assignment.line.trim().to_owned());
            }
            Err(failure) => return Err(failure),
        }
    }
    note!("{} has no more lines for this program", path.display());
    match (todo.failed.len(), todo.unprinted) {
        (0, None) => Ok(()),
        (0, Some(failure)) => Err(failure),
        (lines, _) => {
            let what = format!("lines that could not be done, and are left: {lines}");
            Err(Failure::Running(what))
        }
    }
}

/// The lines that the program has dealt with.
#[derive(Default)]
struct Todo {
    /// Lines that were not understood.
    unknown: HashSet<Vec<u8>>,
    /// Lines whose work failed.
    failed: HashSet<String>,
    /// Why standard output lacks results.
    unprinted: Option<Failure>,
}

impl Todo {
    /// The first line to do. The file is read anew each time, as lines are added while a test runs.
    fn next(&mut self, path: &Path) -> Result<Option<Assignment>, Failure> {
        let text = std::fs::read(path)
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

    /// Prints the line of a result, which is in results.json.txt already. Where that fails, the work
    /// goes on.
    fn print(&mut self, line: &str) {
        if self.unprinted.is_none() {
            self.unprinted = print(line).err();
        }
    }
}

/// Does the work of a line, and takes the line out. Returns the result's line, unless the result was
/// there already.
fn one(
    assignment: &Assignment,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<Option<String>, Failure> {
    let Assignment { asked, p, id, line } = assignment;
    let results = folder.file("results.json.txt");
    // It was done as the same assignment, in another line.
    let is_done = |id: &String| is_reported(&results, id).unwrap_or(false);
    if let Some(id) = id.as_ref().filter(|id| is_done(id)) {
        note!("{} has the result of {id} already", results.display());
        remove(line, folder, stop)?;
        return Ok(None);
    }
    let run = |task| run::one(task, common, id.clone(), stop);
    let done = match *asked {
        Asked::Test(worktype) => run(Task::test(worktype, (*p).into())),
        Asked::PMinus1(bound) => run(Task::p_minus_1(*p, bound, common, stop)?),
        Asked::Factor(from, to) => {
            trial::one(trial::range(*p, from, to)?, common, id.clone(), stop)
        }
        Asked::Certification(squarings) => {
            let start = folder.load_start(*p)?;
            let certification = Certification { start, squarings };
            run(Saved::Prp(Prp::certifying(certification)).into())
        }
    }?;
    let left = Left {
        result: done.line,
        line: line.clone(),
        files: done.files,
    };
    left.begin(folder)?;
    left.finish(folder, stop)?;
    Ok(Some(left.result))
}

/// Takes a line out of `worktodo.txt`.
fn remove(line: &str, folder: &Folder, stop: &Stop) -> Result<(), Failure> {
    let path = folder.file("worktodo.txt");
    let removed = remove_line(&path, line, &mut waiting(stop));
    stop.check()?;
    removed.map_err(|error| Failure::Running(format!("{}: {error}", path.display())))
}

/// What is left to do once the work of a line is done. It stands in a file until all is done: a kill
/// at any moment leaves the rest to the next start.
#[derive(Serialize, Deserialize)]
struct Left {
    /// To be appended to `results.json.txt`.
    result: String,
    /// To be taken out of `worktodo.txt`.
    line: String,
    /// The files that are to be removed.
    files: Vec<String>,
}

impl Left {
    /// The file's name.
    const NAME: &'static str = "mersenne.left";

    /// Writes the file.
    fn begin(&self, folder: &Folder) -> Result<(), Failure> {
        let text = serde_json::to_vec(self).expect("words are JSON");
        let path = folder.file(Self::NAME);
        replace(&path, &text).map_err(|error| {
            note!("not written to results.json.txt: {}", self.result);
            Failure::Running(format!("{}: {error}", path.display()))
        })
    }

    /// Does all of it, in this order. What was done before is not done twice.
    fn finish(&self, folder: &Folder, stop: &Stop) -> Result<(), Failure> {
        append(&self.result, folder, stop)?;
        remove(&self.line, folder, stop)?;
        for name in &self.files {
            folder.remove(name)?;
        }
        Ok(folder.remove(Self::NAME)?)
    }

    /// Does what the last run left, if it left anything.
    fn finish_last(folder: &Folder, stop: &Stop) -> Result<(), Failure> {
        let path = folder.file(Self::NAME);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            text => text.map_err(|error| error.to_string()),
        };
        let left =
            text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
        let left: Left = match left {
            Ok(left) => left,
            Err(error) => {
                note!("warning: {}: {error}; passed over", path.display());
                return Ok(());
            }
        };
        // The first file is the one that a test's lock is named after.
        let _lock = left
            .files
            .first()
            .map(|name| folder.lock(name))
            .transpose()?;
        left.finish(folder, stop)
    }
}
