//! `mersenne verify`: checks a proof.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use mersenne::{Backend, Certificate, Proof};
use serde_json::json;

use super::report::{Report, next_stretch};
use super::stop::Stop;
use super::{Common, Failure};

#[derive(Args)]
pub struct Arguments {
    /// The proof, of version 2, as PrimeNet takes it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// End with one JSON object on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { file, json, common } = arguments;
    let name = file.display();
    let usage = |what: String| Failure::Usage(format!("{name}: {what}"));
    let bytes = fs::read(file).map_err(|error| usage(error.to_string()))?;
    let proof = Proof::from_bytes(&bytes).map_err(usage)?;
    let (p, power) = (proof.p(), proof.power());
    let backend = common.backend()?;
    let stop = Stop::on_signals();
    if !holds(&proof.certificate(), &*backend, common, &stop)? {
        return Err(Failure::Running(format!("{name}: the proof does not hold")));
    }
    let (status, verdict) = match proof.is_prime() {
        true => ("P", "a probable prime"),
        false => ("C", "composite"),
    };
    eprintln!("{name}: the proof holds: M{p} is {verdict}");
    if *json {
        let worktype = "PRP-3";
        println!(
            "{}",
            json!({"exponent": p, "status": status, "worktype": worktype, "proof-power": power})
        );
    }
    Ok(())
}

/// Whether the claim is true.
pub fn holds(
    certificate: &Certificate,
    backend: &dyn Backend,
    common: &Common,
    stop: &Stop,
) -> Result<bool, Failure> {
    let total = certificate.squarings;
    let mut runner = certificate.runner(backend)?;
    let mut report = Report::new(0);
    let (mut done, mut times) = (0, 1);
    while done < total {
        let before = Instant::now();
        let stretch = times.min(total - done);
        runner.square(stretch)?;
        done += stretch;
        times = next_stretch(times, before.elapsed());
        if let Some(signal) = stop.signal() {
            return Err(Failure::Interrupted(signal));
        }
        if report.last.elapsed() >= common.report_every {
            let name = format!("{} proof", runner.number());
            report.line(&name, (done, total), &runner, backend.name());
        }
    }
    Ok(runner.residue()? == certificate.end)
}
