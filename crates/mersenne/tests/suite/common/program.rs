//! The program in a folder.

use std::path::Path;
use std::process::{Command, Output};

pub fn mersenne(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mersenne"));
    command.args(arguments).arg("--folder").arg(folder);
    command
}

pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    mersenne(folder, arguments).output().unwrap()
}
