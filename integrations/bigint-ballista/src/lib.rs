#![doc = include_str!("../README.md")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ballista::prelude::SessionContextExt;
use ballista_core::error::Result;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::start_server;
use bigint_datafusion::{aggregates, functions};
use bigint_host::Engine;
use datafusion::common::DataFusionError;
use datafusion::execution::context::SessionContext;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::registry::FunctionRegistry;
use datafusion::prelude::SessionConfig;
use tokio::net::TcpStream;
use url::Url;

/// Bytes of the longest message: a row may hold a number of many bits.
const MOST_OF_MESSAGE: u32 = 256 << 20;

/// Ballista's functions and those of big integers, computed by an engine.
pub fn registry(engine: &Engine) -> BallistaFunctionRegistry {
    let mut registry = BallistaFunctionRegistry::default();
    let of_rows = functions(engine).into_iter();
    let named = of_rows.map(|function| (function.name().to_owned(), function));
    registry.scalar_functions.extend(named);
    let of_groups = aggregates(engine).into_iter();
    let named = of_groups.map(|function| (function.name().to_owned(), function));
    registry.aggregate_functions.extend(named);
    registry
}

/// Where a scheduler listens, and when it gives an executor up.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Its address, for clients and executors.
    pub address: SocketAddr,
    /// An executor that was not heard of for so long is given up, and its tasks are done again by
    /// the others.
    pub patience: Duration,
}

impl Scheduler {
    /// Runs until the process ends. It plans and computes nothing itself, but constants.
    ///
    /// # Errors
    /// An address that cannot be listened at.
    pub async fn run(self) -> Result<()> {
        let engine = Engine::cpu();
        // What a client plans is planned: here functions need their names and types alone.
        let builder = move |config: SessionConfig| {
            let mut state = default_session_builder(config)?;
            for function in functions(&engine) {
                state.register_udf(function)?;
            }
            for aggregate in aggregates(&engine) {
                state.register_udaf(aggregate)?;
            }
            Ok(state)
        };
        let seconds = self.patience.as_secs().max(1);
        let config = SchedulerConfig {
            bind_host: self.address.ip().to_string(),
            external_host: self.address.ip().to_string(),
            bind_port: self.address.port(),
            task_distribution: TaskDistributionPolicy::RoundRobin,
            executor_timeout_seconds: seconds,
            expire_dead_executor_interval_seconds: seconds.div_ceil(4),
            no_executors_grace_period_seconds: seconds,
            grpc_server_max_decoding_message_size: MOST_OF_MESSAGE,
            grpc_server_max_encoding_message_size: MOST_OF_MESSAGE,
            grpc_client_max_message_size: MOST_OF_MESSAGE,
            override_session_builder: Some(Arc::new(builder)),
            ..SchedulerConfig::default()
        };
        let cluster = BallistaCluster::new_from_config(&config).await?;
        start_server(cluster, self.address, Arc::new(config)).await
    }
}

/// Where an executor is, and whom it works for.
#[derive(Clone, Debug)]
pub struct Executor {
    /// The scheduler's address.
    pub scheduler: SocketAddr,
    /// The address of this machine that the scheduler and other executors reach.
    pub host: IpAddr,
    /// The folder for what goes from one stage of a query to the next.
    pub folder: PathBuf,
    /// Tasks that it works on at a time. Each partition of a task uses the same engine.
    pub tasks: usize,
    /// How often the scheduler hears of it.
    pub heartbeat: Duration,
}

impl Executor {
    /// Runs until the process is told to end.
    ///
    /// # Errors
    /// No scheduler at its address.
    pub async fn run(self, engine: &Engine) -> Result<()> {
        let [port, grpc_port] = free_ports(self.host)?;
        let config = ExecutorProcessConfig {
            bind_host: self.host.to_string(),
            external_host: Some(self.host.to_string()),
            port,
            grpc_port,
            scheduler_host: self.scheduler.ip().to_string(),
            scheduler_port: self.scheduler.port(),
            scheduler_connect_timeout_seconds: 30,
            vcores: self.tasks,
            work_dir: Some(self.folder.to_string_lossy().into_owned()),
            executor_heartbeat_interval_seconds: self.heartbeat.as_secs().max(1),
            grpc_max_decoding_message_size: MOST_OF_MESSAGE,
            grpc_max_encoding_message_size: MOST_OF_MESSAGE,
            override_function_registry: Some(Arc::new(registry(engine))),
            ..ExecutorProcessConfig::default()
        };
        start_executor_process(Arc::new(config)).await
    }
}

/// Ports that nobody listens at now.
fn free_ports(host: IpAddr) -> std::io::Result<[u16; 2]> {
    let listeners = [TcpListener::bind((host, 0))?, TcpListener::bind((host, 0))?];
    let [a, b] = listeners.each_ref().map(TcpListener::local_addr);
    Ok([a?.port(), b?.port()])
}

/// A session whose queries run on the cluster of a scheduler: `df://host:50050`.
///
/// # Errors
/// A URL that is none, and one where nobody listens.
pub async fn connect(url: &str, engine: &Engine) -> datafusion::common::Result<SessionContext> {
    let session = reached(url).await;
    let session = session.map_err(|error| error.context(format!("no cluster at {url}")))?;
    bigint_datafusion::register(&session, engine)?;
    Ok(session)
}

async fn reached(url: &str) -> datafusion::common::Result<SessionContext> {
    let state = SessionStateBuilder::new().with_default_features().build();
    let session = SessionContext::remote_with_state(url, state).await?;
    // Ballista itself connects with the first query, whose error names no URL.
    let url = Url::parse(url).map_err(|error| DataFusionError::Configuration(error.to_string()))?;
    TcpStream::connect(&url.socket_addrs(|| Some(LISTENS_AT))?[..]).await?;
    Ok(session)
}

/// The port of schedulers whose URL has none.
const LISTENS_AT: u16 = 50050;

/// This machine, which nobody else reaches.
pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
