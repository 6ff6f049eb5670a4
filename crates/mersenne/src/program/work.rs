//! `mersenne work`: worktodo.txt, from its first line to its last.

use clap::Args;
use mersenne::Certification;
use mersenne::primenet::{Assignment, remove_line};

use super::stop::Stop;
use super::{Common, Failure, run};

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
        let Assignment {
            worktype,
            p,
            squarings,
            id,
            line,
        } = assignment;
        let certification = |squarings| -> Result<_, Failure> {
            let start = common.folder()?.load_start(p)?;
            Ok(Certification { start, squarings })
        };
        let certification = squarings.map(certification).transpose()?;
        let result = run::one(worktype, p.into(), certification, common, id, &stop)?;
        println!("{}", result.to_json());
        remove_line(&path, &line)
            .map_err(|error| Failure::Running(format!("{}: {error}", path.display())))?;
        // Not before: whoever is killed here would miss it.
        if squarings.is_some() {
            common.folder()?.remove_start(p)?;
        }
    }
}
