//! `mersenne work`: worktodo.txt, from its first line to its last.
//!
//! A line that cannot be done, or that this program does not understand, is left where it is, told
//! once and passed over: the others are not to wait until somebody comes.

use std::collections::HashSet;
use std::path::Path;

use crate::primenet::{Asked, Assignment, BadLine, is_reported, remove_line};
use crate::{Certification, Folder, Prp, Saved};
use clap::Args;

use super::output::{note, print};
use super::run::{self, Task, waiting};
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

/// The lines, as far as they have been dealt with.
#[derive(Default)]
struct Todo {
    /// Lines that were not understood, and told.
    told: HashSet<Vec<u8>>,
    /// Lines that failed.
    failed: HashSet<String>,
    /// Why standard output does not have all results.
    unprinted: Option<Failure>,
}

impl Todo {
    /// The first line that can be tried. The file is read anew each time: lines are added while a
    /// test runs.
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
                Err(BadLine { column, what }) if self.told.insert(line.to_owned()) => {
                    note!("{}:{number}:{column}: {what}; passed over", path.display());
                }
                Err(_) => {}
            }
        }
        Ok(next)
    }

    /// A result's line, which stands in results.json.txt already: where it cannot be printed, the
    /// work goes on.
    fn print(&mut self, line: &str) {
        if self.unprinted.is_none() {
            self.unprinted = print(line).err();
        }
    }
}

/// Does what a line asks for, and takes it out. The line of the result; none where there was one
/// already.
fn one(
    assignment: &Assignment,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<Option<String>, Failure> {
    let Assignment { asked, p, id, line } = assignment;
    let (path, results) = (folder.file("worktodo.txt"), folder.file("results.json.txt"));
    let remove = || {
        let removed = remove_line(&path, line, &mut waiting(stop));
        stop.check()?;
        removed.map_err(|error| Failure::Running(format!("{}: {error}", path.display())))
    };
    // It was done, and not taken out: by a kill, or as somebody held worktodo.txt.
    let is_done = |id: &String| is_reported(&results, id).unwrap_or(false);
    if let Some(id) = id.as_ref().filter(|id| is_done(id)) {
        note!("{} has the result of {id} already", results.display());
        remove()?;
        return Ok(None);
    }
    let run = |task| run::one(task, common, id.clone(), stop);
    let reported = match *asked {
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
    remove()?;
    // Not before: whoever is killed here would miss them.
    reported.remove_files(folder)?;
    if matches!(asked, Asked::Certification(_)) {
        folder.remove_start(*p)?;
    }
    Ok(Some(reported.line.to_json()))
}
