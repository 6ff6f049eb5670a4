//! The project's own tasks; `cargo xtask --help` lists them. One file each.

mod build_ptx;
mod cuda_tools;
mod device_toolchain;
mod gpu_pack;
mod manifest;
mod ptx_stats;
mod tidy;
mod workspace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    BuildPtx(build_ptx::Options),
    PtxStats(ptx_stats::Options),
    GpuPack(gpu_pack::Options),
    /// Check what people forget: invariants, the operation checklist, stale PTX
    Tidy,
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::BuildPtx(options) => build_ptx::run(&options),
        Task::PtxStats(options) => ptx_stats::run(&options),
        Task::GpuPack(options) => gpu_pack::run(&options),
        Task::Tidy => tidy::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without the backtrace: what is missing is on the machine, not here.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
