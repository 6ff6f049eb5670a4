//! `mersenne work`: worktodo.txt, from its first line to its last.

use clap::Args;
use mersenne::primenet::{Asked, Assignment, remove_line};
use mersenne::{Certification, Prp, Saved};

use super::run::{self, Task};
use super::stop::Stop;
use super::{Common, Failure, trial};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common } = arguments;
    let path = common.folder()?.file("worktodo.txt");
    let stop = Stop::on_signals();
    loop {
        // Read anew each time: lines are added while a test runs.
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
        let mut next = None;
        for (number, line) in text.lines().enumerate() {
            let assignment = Assignment::parse(line).map_err(|bad| {
                let (line, column) = (number + 1, bad.column);
                Failure::Usage(format!("{}:{line}:{column}: {}", path.display(), bad.what))
            })?;
            next = next.or(assignment);
        }
        let Some(assignment) = next else {
            eprintln!("{} has no more lines", path.display());
            return Ok(());
        };
        let Assignment { asked, p, id, line } = assignment;
        let run = |task| run::one(task, common, id.clone(), &stop);
        let result = match asked {
            Asked::Test(worktype) => run(Task::test(worktype, p.into())),
            Asked::PMinus1(bound) => run(Task::p_minus_1(p, bound)?),
            Asked::Factor(from, to) => {
                let range = trial::range(p, from, to)?;
                trial::one(range, common, id.clone(), &stop)
            }
            Asked::Certification(squarings) => {
                let start = common.folder()?.load_start(p)?;
                let certification = Certification { start, squarings };
                run(Saved::Prp(Prp::certifying(certification)).into())
            }
        }?;
        println!("{}", result.to_json());
        remove_line(&path, &line)
            .map_err(|error| Failure::Running(format!("{}: {error}", path.display())))?;
        // Not before: whoever is killed here would miss it.
        if matches!(asked, Asked::Certification(_)) {
            common.folder()?.remove_start(p)?;
        }
    }
}
