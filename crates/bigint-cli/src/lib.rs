//! The `bigint` command, as a library: the binary, and tests that run it, call
//! [`main`].

mod backend;
mod bench;
mod calc;
mod column;
mod computation;
mod draft;
mod expression;
mod failure;
mod hardware;
mod info;
mod lines;
mod manual;
mod number;
mod on_error;
mod operands;
mod output;
mod pool;
mod profile;
mod progress;
mod selftest;
mod signals;
mod source;
mod standard;
mod table;
mod team;
mod threads;
mod tune;
mod window;

use std::ffi::OsString;
use std::process::ExitCode;

use bigint_cpu::Cpu;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::failure::Failure;

/// Exact integer arithmetic of every size, on a GPU or on every core of the CPU
#[derive(Debug, clap::Parser)]
#[command(name = "bigint", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Calc(calc::Arguments),
    Bench(bench::Arguments),
    Info(info::Arguments),
    Selftest(selftest::Arguments),
    Tune(tune::Arguments),
    Completions(manual::Completions),
    Man(manual::Page),
}

/// Runs the command with these arguments, the program's name first.
///
/// Exit codes: 0 good; 1 failed while running; 2 bad usage or bad input.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match parse(&Vec::from_iter(arguments)) {
        Ok(cli) => cli,
        Err(error) => {
            // Nothing can be told where standard error is closed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match run(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, Failure::ReaderGone) {
                eprintln!("error: {failure}");
            }
            failure.exit_code()
        }
    }
}

/// What the arguments ask for.
///
/// An expression may begin with `-`, or with `--`. A word of letters behind `--` is a slip
/// for an option.
fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let strict = Cli::command().mut_subcommand("calc", |calc| {
        calc.mut_arg("expression", |expression| {
            expression.allow_hyphen_values(false)
        })
    });
    if let Err(error) = strict.try_get_matches_from(arguments)
        && error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg)
        && word.strip_prefix("--").is_some_and(calc::is_like_an_option)
    {
        return Err(error);
    }
    Cli::try_parse_from(arguments)
}

fn run(command: &Command) -> Result<(), Failure> {
    // Who names a path means it, and is not to wonder why it makes no difference.
    Cpu::from_environment()
        .map_err(|error| Failure::Usage(format!("{}: {error}", Cpu::PATH_VARIABLE)))?;
    // What is to be measured anew is not read first.
    let tuning = match command {
        Command::Tune(_) | Command::Completions(_) | Command::Man(_) => None,
        _ => tune::install()?,
    };
    match command {
        Command::Calc(arguments) => calc::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Info(arguments) => info::run(arguments, tuning.as_deref()),
        Command::Selftest(arguments) => selftest::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
        Command::Completions(arguments) => manual::complete(arguments, Cli::command()),
        Command::Man(arguments) => manual::print(arguments, Cli::command()),
    }
}
