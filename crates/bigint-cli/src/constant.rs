//! `bigint constant`: digits of pi and its kin.

use std::path::PathBuf;

use bigint_host::Constant;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::backend::BackendName;
use crate::failure::Failure;
use crate::output::Output;

/// Print digits of a constant, cut off, not rounded
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Which
    #[arg(value_name = "NAME", value_parser = parser())]
    constant: Constant,
    /// Digits behind the point
    #[arg(long, value_name = "N", default_value_t = 1000)]
    digits: usize,
    /// Write to this file instead of standard output; it appears when complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Who computes: auto, cpu, cuda, cuda:N or cuda:N,M,...
    #[arg(long, default_value_t, value_name = "BACKEND")]
    backend: BackendName,
}

fn parser() -> impl TypedValueParser<Value = Constant> {
    let names = PossibleValuesParser::new(Constant::ALL.map(Constant::name));
    names.try_map(|name| name.parse::<Constant>())
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Running`] where memory ends or a device fails.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut output = Output::open(arguments.output.as_deref(), false)?;
    let engine = arguments.backend.engine()?;
    let digits = engine.constant(arguments.constant, arguments.digits)?;
    output.write(digits.as_bytes())?;
    output.write(b"\n")?;
    output.finish()
}
