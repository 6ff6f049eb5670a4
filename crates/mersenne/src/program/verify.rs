//! `mersenne verify`: checks a proof.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::{Backend, Certificate, Number, Proof};
use clap::Args;
use serde_json::{Value, json};

use super::attended::attended;
use super::output::{note, print};
use super::report::{Report, Stretch};
use super::stop::Stop;
use super::{Common, Failure};

#[derive(Args)]
pub struct Arguments {
    /// The proof, of version 2, as PrimeNet takes it, or of another number K*B^N+C
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
    let (number, power) = (proof.number(), proof.power());
    let backend = common.backend()?;
    let stop = Stop::on_signals();
    let proof = Arc::new(proof);
    let looked_at = proof.clone();
    let progress = || format!("{number} proof: its residues");
    let flaw = attended(progress, common, &stop, move || looked_at.flaw())?;
    if let Some(flaw) = flaw? {
        return Err(Failure::Running(format!(
            "{name}: nothing is proved: {flaw}"
        )));
    }
    if !holds(&proof, &*backend, common, &stop)? {
        return Err(Failure::Running(format!("{name}: the proof does not hold")));
    }
    let (status, verdict) = match proof.is_prime() {
        true => ("P", "a probable prime"),
        false => ("C", "composite"),
    };
    note!("{name}: the proof holds: {number} is {verdict}");
    if *json {
        let mut line = named(number);
        if number.exponent().is_some() {
            line["worktype"] = "PRP-3".into();
        }
        line["status"] = status.into();
        line["proof-power"] = power.into();
        print(&line.to_string())?;
    }
    Ok(())
}

/// A JSON object that names a number.
pub fn named(number: Number) -> Value {
    match number.exponent() {
        Some(p) => json!({ "exponent": p }),
        None => {
            let (k, b, n, c) = (number.k(), number.base(), number.n(), number.c());
            json!({ "k": k, "b": b, "n": n, "c": c })
        }
    }
}

/// Whether the claim of a proof is true.
pub fn holds(
    proof: &Arc<Proof>,
    backend: &dyn Backend,
    common: &Common,
    stop: &Stop,
) -> Result<bool, Failure> {
    let name = format!("{} proof", proof.number());
    let halved = proof.clone();
    let progress = || format!("{name}: its halvings");
    let certificate = attended(progress, common, stop, move || halved.certificate())??;
    is_true(&name, &certificate, backend, common, stop)
}

/// Whether a certificate's claim is true.
pub fn is_true(
    name: &str,
    certificate: &Certificate,
    backend: &dyn Backend,
    common: &Common,
    stop: &Stop,
) -> Result<bool, Failure> {
    let total = certificate.squarings();
    let mut runner = certificate.runner(backend)?;
    let mut report = Report::new(0, None);
    let (mut done, mut stretches) = (0, Stretch::new());
    while done < total {
        let before = Instant::now();
        let stretch = stretches.times().min(total - done);
        runner.square_by(certificate.stretches(done..done + stretch))?;
        done += stretch;
        stretches.took(stretch, before.elapsed());
        stop.check()?;
        if report.last.elapsed() >= common.report_every {
            report.squarings(name, (done, total), 0, &runner, backend);
        }
    }
    Ok(runner.residue()? == certificate.end)
}
