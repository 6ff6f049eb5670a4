//! The project's own tasks; `cargo xtask --help` lists them. One file each.

mod book;
mod build_ptx;
mod circles;
mod cuda_tools;
mod device_toolchain;
mod gpu_pack;
mod manifest;
mod new_kernel;
mod paths;
mod ptx_stats;
mod rooms;
mod tidy;
mod wheels;
mod workspace;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use std::process::{Command, ExitCode};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    BuildPtx(build_ptx::Options),
    NewKernel(new_kernel::Options),
    PtxStats(ptx_stats::Options),
    GpuPack(gpu_pack::Options),
    /// Build the documentation as a book, with the libraries' own, in target/book
    Book,
    /// Count what every kernel does, on the simulator; `-- --help` lists the options
    #[command(disable_help_flag = true)]
    Count {
        /// Options of the count
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Check what people forget: invariants, the operation checklist, stale PTX
    Tidy,
}

/// Runs the benchmark that counts; it needs the simulator and the library, which the
/// other tasks are built without.
fn count(options: &[String]) -> Result<()> {
    let status = Command::new("cargo")
        .args([
            "bench",
            "--quiet",
            "--package",
            "bigint-kernels",
            "--bench",
            "count",
            "--",
        ])
        .args(options)
        .current_dir(workspace::root())
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the count ended early");
    Ok(())
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::BuildPtx(options) => build_ptx::run(&options),
        Task::NewKernel(options) => new_kernel::run(&options),
        Task::PtxStats(options) => ptx_stats::run(&options),
        Task::GpuPack(options) => gpu_pack::run(&options),
        Task::Book => book::run(),
        Task::Count { options } => count(&options),
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
