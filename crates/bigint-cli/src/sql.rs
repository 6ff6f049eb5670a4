//! `bigint sql`: another program's work, which this command finds and becomes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::Failure;

/// Answer a query of SQL over files of big integers, here or on a cluster
///
/// This is the program bigint-sql, beside this command or in PATH, with the same arguments. It
/// brings a query engine, which takes longer to build than all the rest: in the project's folder,
/// cargo install --path integrations/bigint-sql
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// bigint-sql's: QUERY --table NAME=FILE... [-o FILE] [--cluster URL]
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<OsString>,
}

/// The program's name.
const PROGRAM: &str = "bigint-sql";

/// Becomes the program.
///
/// # Errors
/// [`Failure::Usage`] where there is none; [`Failure::Running`] where it does not start.
pub fn run(Arguments { arguments }: &Arguments) -> Result<(), Failure> {
    let beside = std::env::current_exe().ok();
    let beside = beside.and_then(|own| Some(own.parent()?.join(PROGRAM)));
    let beside = beside.map(|path| path.with_extension(std::env::consts::EXE_EXTENSION));
    let program = beside.filter(|path| path.is_file());
    let mut command = Command::new(program.unwrap_or_else(|| PathBuf::from(PROGRAM)));
    let error = become_program(command.args(arguments));
    Err(match error.kind() {
        std::io::ErrorKind::NotFound => Failure::Usage(format!(
            "sql: there is no program {PROGRAM} beside this one or in PATH: install it by \
             `cargo install --path integrations/bigint-sql`"
        )),
        _ => Failure::Running(format!("{PROGRAM}: {error}")),
    })
}

#[cfg(unix)]
fn become_program(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn become_program(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
