//! The `bigint` command, as a library: the binary, and tests that run it, call
//! [`main`].

// These panic where standard output or standard error is full or closed.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "arrow")]
mod arrow_files;
mod backend;
mod batch_gcd;
mod bench;
mod calc;
mod column;
mod computation;
mod constant;
mod draft;
mod expression;
mod failure;
mod files;
mod form;
mod hardware;
mod info;
mod lines;
mod manual;
mod npy;
mod number;
mod on_error;
mod operands;
mod options;
mod output;
mod packed;
mod pipeline;
mod pool;
mod profile;
mod progress;
mod rows;
mod selftest;
mod signals;
mod sink;
mod source;
mod sql;
mod standard;
mod table;
mod team;
mod text_table;
mod threads;
mod tune;
mod window;

use std::ffi::OsString;
use std::process::ExitCode;

use bigint_cpu::Cpu;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::failure::Failure;
use crate::output::Output;

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
    Constant(constant::Arguments),
    Convert(files::Convert),
    Head(files::Head),
    Stats(files::Stats),
    BatchGcd(batch_gcd::Arguments),
    Sql(sql::Arguments),
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
    bigint_cpu::program::start();
    let outcome = match parse(&Vec::from_iter(arguments)) {
        // Threads that have no memory unwind to here, without a word.
        Ok(cli) => bigint_cpu::or_out_of_memory(|| run(&cli.command))
            .map_err(Failure::from)
            .flatten(),
        Err(error) if error.use_stderr() => {
            // Nothing can be told where standard error is closed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
        // Help and the version are results.
        Err(help) => standard::output()
            .and_then(|_| help.print())
            .map_err(|error| Failure::writing(output::STANDARD_OUTPUT, &error)),
    };
    let code = match outcome {
        Ok(()) => 0,
        Err(failure) => {
            if !matches!(failure, Failure::ReaderGone) {
                output::tell(format_args!("error: {failure}"));
            }
            failure.exit_code()
        }
    };
    // All is written by now.
    bigint_host::exit_if_busy(code);
    ExitCode::from(code)
}

/// Parses the command line.
///
/// An expression may begin with `-` or with `--`. A word of letters after `--` is taken for a
/// misspelt option.
fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let strict = Cli::command().mut_subcommand("calc", |calc| {
        calc.mut_arg("expression", |expression| {
            expression.allow_hyphen_values(false)
        })
    });
    let is_slip = |error: &clap::Error| match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => {
            word.strip_prefix("--").is_some_and(calc::is_like_an_option)
        }
        _ => false,
    };
    match strict.try_get_matches_from(arguments) {
        Ok(matches) => Cli::from_arg_matches(&matches),
        Err(error) if is_slip(&error) => Err(error),
        // Perhaps an expression that begins with `-`.
        Err(_) => Cli::try_parse_from(arguments),
    }
}

fn run(command: &Command) -> Result<(), Failure> {
    // Who names a path means it, and is not to wonder why it makes no difference.
    Cpu::from_environment()
        .map_err(|error| Failure::Usage(format!("{}: {error}", Cpu::PATH_VARIABLE)))?;
    // What is to be measured anew is not read first.
    let tuning = match command {
        Command::Tune(_) | Command::Sql(_) | Command::Completions(_) | Command::Man(_) => None,
        _ => tune::install()?,
    };
    // What cannot be printed is said before the work, which may take minutes.
    if !matches!(
        command,
        Command::Calc(_) | Command::Convert(_) | Command::Sql(_)
    ) {
        Output::open(None, false)?;
    }
    match command {
        Command::Calc(arguments) => calc::run(arguments),
        Command::Constant(arguments) => constant::run(arguments),
        Command::Convert(arguments) => files::convert(arguments),
        Command::Head(arguments) => files::head(arguments),
        Command::Stats(arguments) => files::stats(arguments),
        Command::BatchGcd(arguments) => batch_gcd::run(arguments),
        Command::Sql(arguments) => sql::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Info(arguments) => info::run(arguments, tuning.as_deref()),
        Command::Selftest(arguments) => selftest::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
        Command::Completions(arguments) => manual::complete(arguments, Cli::command()),
        Command::Man(arguments) => manual::print(arguments, Cli::command()),
    }
}
