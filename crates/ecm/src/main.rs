//! The `ecm` program.

use std::alloc::System;
use std::process::ExitCode;

use bigint_cpu::program::Memory;

#[global_allocator]
static MEMORY: Memory<System> = Memory(System);

fn main() -> ExitCode {
    ecm::program::main()
}
