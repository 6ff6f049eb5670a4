//! An executor of a cluster.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use ballista_core::error::BallistaError;
use bigint_ballista::{Executor, LOOPBACK};
use bigint_host::Engine;
use clap::{Parser, ValueEnum};

/// Works for a scheduler, with every GPU of this machine and every core
///
/// It reads the files that queries name, at the paths that they have for the client. RUST_LOG=info
/// tells what happens.
#[derive(Debug, Parser)]
#[command(name = "bigint-executor", version)]
struct Arguments {
    /// The scheduler's address
    #[arg(long, default_value_t = SocketAddr::from((LOOPBACK, 50050)))]
    scheduler: SocketAddr,
    /// The address of this machine that the scheduler and the other executors reach
    #[arg(long, default_value_t = LOOPBACK)]
    host: IpAddr,
    /// Tasks at a time, each of which is a thread [default: the machine's cores]
    #[arg(long)]
    tasks: Option<usize>,
    /// The folder for what goes from one stage of a query to the next [default: a new one, which is
    /// removed at the end]
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Seconds between two words to the scheduler
    #[arg(long, default_value_t = 5)]
    heartbeat: u64,
    /// Who computes
    #[arg(long, value_enum, default_value_t = BackEnd::Auto)]
    backend: BackEnd,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BackEnd {
    /// Every GPU where it pays, else the CPU
    Auto,
    /// The CPU
    Cpu,
    /// Every GPU
    Cuda,
}

fn main() -> ballista_core::error::Result<()> {
    let arguments = Arguments::parse();
    let engine = match arguments.backend {
        BackEnd::Auto => Engine::auto(),
        BackEnd::Cpu => Engine::cpu(),
        BackEnd::Cuda => {
            Engine::all().map_err(|error| BallistaError::General(error.to_string()))?
        }
    };
    let own = tempfile::tempdir()?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let executor = Executor {
        scheduler: arguments.scheduler,
        host: arguments.host,
        folder: arguments.folder.unwrap_or_else(|| own.path().to_owned()),
        tasks: arguments.tasks.unwrap_or_else(cores),
        heartbeat: Duration::from_secs(arguments.heartbeat),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(32 << 20)
        .build()?;
    runtime.block_on(executor.run(&engine))
}
