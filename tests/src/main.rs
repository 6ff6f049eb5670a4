//! The `bigint` command, for the end-to-end tests, whose memory ends where they say.

use std::process::ExitCode;

use bigint_cpu::program::Memory;
use bigint_testing::Failing;

#[global_allocator]
static MEMORY: Memory<Failing> = Memory(Failing);

fn main() -> ExitCode {
    Failing::arm();
    let code = bigint_cli::main(std::env::args_os());
    Failing::tell();
    code
}
