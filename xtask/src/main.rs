//! The project's own tasks; `cargo xtask --help` lists them.

fn main() {}
