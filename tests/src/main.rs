//! The `bigint` command, for the end-to-end tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    bigint_cli::main(std::env::args_os())
}
