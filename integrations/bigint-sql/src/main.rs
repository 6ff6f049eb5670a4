//! `bigint sql`: a query over files of big integers.

mod output;

use std::path::PathBuf;
use std::process::ExitCode;

use bigint_host::Engine;
use clap::{Parser, ValueEnum};
use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionContext;
use datafusion::prelude::SessionConfig;
use futures::StreamExt;

use crate::output::Output;

/// Answer a query of SQL over files of big integers
///
/// Columns of integers are those of the types bigint.any and bigint.fixed, which `bigint calc -o
/// F.parquet` writes: their operators, orders and min and max are exact. big(x) makes one of text,
/// of machine integers or of bytes. All functions: integrations/bigint-datafusion/README.md.
#[derive(Debug, Parser)]
#[command(name = "bigint-sql", bin_name = "bigint sql", version)]
struct Arguments {
    /// The query
    query: String,
    /// A table's name and its files, or a folder, or a quoted pattern like 't=part-*.parquet':
    /// .parquet, .arrow, .csv, .tsv (with a header) or .jsonl
    #[arg(long = "table", value_name = "NAME=FILE", num_args = 1..)]
    tables: Vec<String>,
    /// Where the answer goes: .parquet, .arrow, .csv, .tsv or .jsonl [default: standard output, a
    /// table for a terminal, else CSV]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The scheduler of a cluster, whose executors see the files at the same paths: df://host:50050
    #[arg(long, value_name = "URL")]
    cluster: Option<String>,
    /// Who computes; on a cluster, each executor decides
    #[arg(long, value_enum, default_value_t = BackEnd::Auto)]
    backend: BackEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BackEnd {
    /// Every GPU where it pays, else the CPU
    Auto,
    /// The CPU
    Cpu,
    /// Every GPU
    Cuda,
}

/// Why there is no answer.
#[derive(Debug)]
enum Failure {
    /// The query or an input is wrong. Exit code 2.
    Usage(String),
    /// The work itself failed. Exit code 1.
    Running(String),
    /// Whoever read the answer has enough. Exit code 0.
    ReaderGone,
    /// The user did not wait. Exit code 130, as shells have it.
    Interrupted,
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Self {
        use DataFusionError as E;
        let of_input = |error: &bigint_arrow::Error| {
            use bigint_arrow::Error::{Row, Type};
            matches!(error, Row { .. } | Type { .. })
        };
        let is_usage = match error.find_root() {
            E::SQL(..) | E::Plan(_) | E::SchemaError(..) | E::Configuration(_) => true,
            E::NotImplemented(_) | E::ParquetError(_) => true,
            E::ArrowError(error, _) => !is_arithmetic(error),
            E::External(error) => error.downcast_ref().is_some_and(of_input),
            _ => false,
        };
        let text = said(&error);
        match is_usage {
            true => Failure::Usage(text),
            false => Failure::Running(text),
        }
    }
}

/// Whether an operation on machine integers has no value.
fn is_arithmetic(error: &ArrowError) -> bool {
    matches!(
        error,
        ArrowError::DivideByZero | ArrowError::ArithmeticOverflow(_)
    )
}

/// An error on one line, as far as it is DataFusion's.
fn said(error: &DataFusionError) -> String {
    let text = error.strip_backtrace().replace("\ncaused by\n", ": ");
    text.trim_end().replace("External error: ", "")
}

/// Tables by their names, in the order in which they were given. A value without a name is a
/// further file of the table before.
fn tables(given: &[String]) -> Result<Vec<(&str, Vec<String>)>, Failure> {
    let mut tables: Vec<(&str, Vec<String>)> = Vec::new();
    for value in given {
        let (name, file) = match value.split_once('=') {
            Some((name, file)) => (Some(name), file),
            None => (None, value.as_str()),
        };
        let at = match name {
            Some(name) => tables.iter().position(|(known, _)| *known == name),
            None => tables.len().checked_sub(1),
        };
        match (at, name) {
            (Some(at), _) => tables[at].1.push(file.to_owned()),
            (None, Some(name)) => tables.push((name, vec![file.to_owned()])),
            (None, None) => {
                let what = format!("--table {value:?}: write --table NAME={value}");
                return Err(Failure::Usage(what));
            }
        }
    }
    Ok(tables)
}

async fn session(arguments: &Arguments) -> Result<SessionContext, Failure> {
    let engine = match arguments.backend {
        BackEnd::Auto => Engine::auto(),
        BackEnd::Cpu => Engine::cpu(),
        BackEnd::Cuda => Engine::all().map_err(|error| Failure::Running(error.to_string()))?,
    };
    let session = match &arguments.cluster {
        None => {
            let session = SessionContext::new_with_config(SessionConfig::new());
            bigint_datafusion::register(&session, &engine)?;
            session
        }
        #[cfg(feature = "cluster")]
        Some(url) => bigint_ballista::connect(url, &engine).await?,
        #[cfg(not(feature = "cluster"))]
        Some(_) => {
            let what = "--cluster: this bigint-sql was built without the feature `cluster`";
            return Err(Failure::Usage(what.to_owned()));
        }
    };
    // An integer of more than 19 digits is none that is rounded.
    let state = session.state_ref();
    let mut state = state.write();
    let parser = &mut state.config_mut().options_mut().sql_parser;
    parser.parse_float_as_decimal = true;
    drop(state);
    Ok(session)
}

async fn answered(arguments: &Arguments) -> Result<(), Failure> {
    let mut output = Output::new(arguments.output.as_deref())?;
    let session = session(arguments).await?;
    for (name, files) in tables(&arguments.tables)? {
        bigint_datafusion::register_files(&session, name, &files)
            .await
            .map_err(|error| Failure::Usage(said(&error)))?;
    }
    let answer = bigint_datafusion::sql(&session, &arguments.query).await?;
    output.start(bigint_datafusion::columns_of(&answer)?);
    let mut batches = answer.execute_stream().await?;
    while let Some(batch) = batches.next().await {
        output.write(&batch?)?;
    }
    output.finish()
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = tokio::select! {
        outcome = answered(&arguments) => outcome,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
    };
    let code = match outcome {
        Ok(()) | Err(Failure::ReaderGone) => 0,
        Err(Failure::Usage(what)) => told(&what, 2),
        Err(Failure::Running(what)) => told(&what, 1),
        Err(Failure::Interrupted) => 130,
    };
    // Batches that are still computed are not waited for, and what was begun is removed by now.
    std::process::exit(code)
}

/// Says why there is no answer.
fn told(what: &str, code: i32) -> i32 {
    use std::io::Write;
    // Nothing can be told where standard error is closed.
    let _ = writeln!(std::io::stderr(), "error: {what}");
    code
}
