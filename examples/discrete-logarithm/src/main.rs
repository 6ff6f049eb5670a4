//! The `discrete-logarithm` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    discrete_logarithm::program::main()
}
