//! `mersenne file`: tests the numbers of a sieve's file.

use std::fs;
use std::path::PathBuf;

use crate::candidates;
use crate::primenet::BadLine;
use clap::Args;

use super::output::note;
use super::run::all;
use super::stop::Stop;
use super::{Common, Failure};

#[derive(Args)]
pub struct Arguments {
    /// The file, in ABC or NewPGen form
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// End each test with one JSON object on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

/// Tests one number after another. Those whose results are there are passed over, so that the same
/// command goes on where a stop or a kill was.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { file, json, common } = arguments;
    let (name, stop) = (file.display(), Stop::on_signals());
    let text =
        fs::read_to_string(file).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let numbers = candidates(&text)
        .map_err(|BadLine { column, what }| Failure::Usage(format!("{name}:1:{column}: {what}")))?;
    let mut left = 0;
    for (line, number) in numbers {
        let number = match number {
            Ok(number) => number,
            Err(BadLine { column, what }) => {
                note!("{name}:{line}:{column}: {what}; passed over");
                left += 1;
                continue;
            }
        };
        all(number, *json, common, &stop)?;
    }
    match left {
        0 => Ok(()),
        _ => Err(Failure::Running(format!(
            "lines that could not be done: {left}"
        ))),
    }
}
