//! The `bigint` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    bigint_cli::main(std::env::args_os())
}
