//! The scheduler of a cluster.

use std::net::SocketAddr;
use std::time::Duration;

use bigint_ballista::{LOOPBACK, Scheduler};
use clap::Parser;

/// Takes queries of clients and gives their tasks to executors
///
/// Whoever reaches its address can run queries, which read the executors' files: listen where only
/// those can whom you trust. RUST_LOG=info tells what happens.
#[derive(Debug, Parser)]
#[command(name = "bigint-scheduler", version)]
struct Arguments {
    /// Where to listen
    #[arg(long, default_value_t = SocketAddr::from((LOOPBACK, 50050)))]
    listen: SocketAddr,
    /// Seconds without a word after which an executor is given up
    #[arg(long, default_value_t = 20)]
    patience: u64,
}

fn main() -> ballista_core::error::Result<()> {
    let arguments = Arguments::parse();
    let scheduler = Scheduler {
        address: arguments.listen,
        patience: Duration::from_secs(arguments.patience),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Plans are trees, and are walked by recursion.
        .thread_stack_size(32 << 20)
        .build()?;
    runtime.block_on(scheduler.run())
}
