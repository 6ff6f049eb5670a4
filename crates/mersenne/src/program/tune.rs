//! `mersenne tune`: finds the lengths that are worth using on this machine, and writes them to a file.
//!
//! A length that takes more time than a longer one is left out.

use std::time::Duration;

use crate::{Arithmetic, Cpu, Folder};
use bigint_cpu::fast::number::weighted::Length;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::bench::iteration;
use super::output::print;
use super::{Common, Failure};

#[derive(Args)]
pub struct Arguments {
    /// Lengths from so many words
    #[arg(long, value_name = "WORDS", default_value_t = 1 << 12)]
    from: usize,
    /// Lengths up to so many words
    #[arg(long, value_name = "WORDS", default_value_t = 1 << 23)]
    to: usize,
    /// Time for each length
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = humantime::parse_duration)]
    time: Duration,
    #[command(flatten)]
    common: Common,
}

const FILE: &str = "mersenne-tune.json";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tuned {
    threads: usize,
    lengths: Vec<Measured>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    words: usize,
    milliseconds: f64,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = arguments.common.folder()?;
    let mut lengths: Vec<Measured> = Vec::new();
    for length in Length::all() {
        let words = length.words();
        if !(arguments.from..=arguments.to).contains(&words) {
            continue;
        }
        let cpu = Cpu {
            arithmetic: Arithmetic::Fp64,
            lengths: vec![words],
            ..Cpu::default()
        };
        // An exponent that this length suits.
        let p = u32::try_from(words * 16).map_err(|_| {
            Failure::Usage(format!(
                "{words} words are more than exponents below 2^32 need"
            ))
        })?;
        let (milliseconds, ..) = iteration(&cpu, (p | 1).into(), arguments.time)?;
        print(&format!(
            "{words:>10} words {milliseconds:>10.4} ms/iteration"
        ))?;
        lengths.retain(|shorter| shorter.milliseconds < milliseconds);
        lengths.push(Measured {
            words,
            milliseconds,
        });
    }
    let tuned = Tuned {
        threads: bigint_cpu::threads(),
        lengths,
    };
    let text = serde_json::to_string_pretty(&tuned).expect("numbers are JSON");
    let path = folder.file(FILE);
    std::fs::write(&path, text + "\n")
        .map_err(|error| Failure::Running(format!("{}: {error}", path.display())))?;
    print(&format!(
        "{} lengths in {}",
        tuned.lengths.len(),
        path.display()
    ))
}

/// The lengths in the folder's file; none without a file.
pub fn lengths(folder: &Folder) -> Result<Vec<usize>, Failure> {
    let path = folder.file(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text)
            .map(|tuned: Tuned| tuned.lengths.iter().map(|length| length.words).collect())
            .map_err(|error| {
                let (line, column) = (error.line(), error.column());
                let path = path.display();
                Failure::Usage(format!(
                    "{path}:{line}:{column}: {error}; `mersenne tune` writes it anew"
                ))
            }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Failure::Running(format!("{}: {error}", path.display()))),
    }
}
