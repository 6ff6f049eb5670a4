//! `mersenne build-cert` and `mersenne cert`: certificates as PRST and LLR2 have them.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::{
    Certification, Folder, Number, Proof, Prp, PrstCertificate, PrstPower, PrstProof, Save, Saved,
};
use clap::Args;

use super::attended::attended;
use super::output::{note, print};
use super::report::{Report, Stretch};
use super::run::{remove_files, status, taken_up, to_the_end};
use super::saving::Saving;
use super::stop::Stop;
use super::verify::named;
use super::{Common, Failure};

#[derive(Args)]
pub struct Build {
    /// The number, as 2*3^1175232+1
    #[arg(value_name = "K*B^N+C", value_parser = crate::number)]
    number: Number,
    /// Without a secret power: whoever ran the test knows the result beforehand
    #[arg(long)]
    raw: bool,
    /// End with one JSON object on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub struct Run {
    /// The number, as 2*3^1175232+1
    #[arg(value_name = "K*B^N+C", value_parser = crate::number)]
    number: Number,
    /// The certificate; by default the file of the folder that has the name that PRST gives it
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Fail unless the result is this one, 16 hexadecimal digits
    #[arg(long, value_name = "RES64", value_parser = res64)]
    expect: Option<u64>,
    /// End with one JSON object on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

fn res64(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|error| error.to_string())
}

/// `mersenne build-cert`.
pub fn build(arguments: &Build) -> Result<(), Failure> {
    let Build {
        number,
        raw,
        json,
        common,
    } = arguments;
    let (number, folder, stop) = (*number, common.folder()?, Stop::on_signals());
    let last = |power: &u32| {
        let name = PrstProof::name(number, &format!("proof.{}", 1 << power));
        folder.file(&name).exists()
    };
    let Some(power) = (1..=Proof::MOST_POWER).rev().find(last) else {
        let name = folder.file(&PrstProof::name(number, "proof.*"));
        let name = name.display();
        return Err(Failure::Usage(format!(
            "{name}: there is no last point of {number}"
        )));
    };
    let read = |name: &str| folder.load_summed(name).map_err(|error| error.to_string());
    let proof = PrstProof::from_files(number, power, read).map_err(Failure::Usage)?;
    let proof = Arc::new(proof);
    let looked_at = proof.clone();
    let progress = || format!("{number} proof: its residues");
    if let Some(flaw) = attended(progress, common, &stop, move || looked_at.flaw())?? {
        let what = format!("{number}: nothing is proved: {flaw}");
        return Err(Failure::Running(what));
    }
    let secret = || RandomState::new().build_hasher().finish();
    let (halved, machine, secret) = (proof.clone(), common.backend()?, (!raw).then(secret));
    let progress = || format!("{number} proof: its halvings");
    let built = attended(progress, common, &stop, move || {
        halved.certificate(&*machine, secret)
    })?;
    let (certificate, end, raw) = built?;
    let (name, result) = (PrstProof::name(number, "cert"), end.res64());
    folder.save_summed(&name, &certificate.to_bytes())?;
    let (squarings, is_prime) = (certificate.squarings, proof.is_prime());
    let verdict = if is_prime {
        "a probable prime"
    } else {
        "composite"
    };
    note!(
        "{number} is {verdict} if its certificate, {squarings} squarings in {}, has res64 {result:016X}; \
         raw certificate res64 {raw:016X}",
        folder.file(&name).display()
    );
    if *json {
        let mut line = named(number);
        line["status"] = if is_prime { "P" } else { "C" }.into();
        line["squarings"] = squarings.into();
        line["certificate"] = format!("{result:016X}").into();
        line["raw-certificate"] = format!("{raw:016X}").into();
        print(&line.to_string())?;
    }
    Ok(())
}

/// `mersenne cert`.
pub fn run(arguments: &Run) -> Result<(), Failure> {
    let Run {
        number,
        file,
        expect,
        json,
        common,
    } = arguments;
    let (number, folder, stop) = (*number, common.folder()?, Stop::on_signals());
    let named_so = || folder.file(&PrstProof::name(number, "cert"));
    let path = file.clone().unwrap_or_else(named_so);
    let usage = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
    let bytes = fs::read(&path).map_err(|error| usage(error.to_string()))?;
    let certificate = PrstCertificate::from_bytes(number, &bytes).map_err(usage)?;
    let squarings = certificate.squarings;
    let name = format!("{number} certificate");
    let start = certificate.start.clone();
    let progress = || format!("{name}: its exponent");
    let power = attended(progress, common, &stop, move || PrstPower::new(certificate))?;
    let (result, saves) = match power {
        Some(power) => computed(power, &name, common, &folder, &stop)?,
        None => {
            let test = Prp::certifying(Certification { start, squarings });
            let found = to_the_end(Saved::Prp(test), common, &folder, &stop)?;
            (found.outcome.res64, found.test.map(|test| test.name()))
        }
    };
    note!("{name} is computed. res64 {result:016X}");
    remove_files(&folder, saves.as_deref(), &[])?;
    if *json {
        let mut line = named(number);
        line["worktype"] = "Cert".into();
        line["squarings"] = squarings.into();
        line["res64"] = format!("{result:016X}").into();
        print(&line.to_string())?;
    }
    match expect {
        Some(expected) if *expected != result => Err(Failure::Running(format!(
            "{name}: res64 {result:016X} is not {expected:016X}: the test is wrong, or one of both computations"
        ))),
        _ => Ok(()),
    }
}

/// Computes the power, and returns the low 64 bits of the result and the name of the saves.
fn computed(
    start: PrstPower,
    name: &str,
    common: &Common,
    folder: &Folder,
    stop: &Stop,
) -> Result<(u64, Option<String>), Failure> {
    let (mut power, _lock) = taken_up(start, name, folder)?;
    let backend = common.backend()?;
    let mut machine = power.machine(&*backend)?;
    let mut saving = Saving::new(name, folder, common, stop);
    let status = folder.file(&status(&power.name()));
    let (mut report, mut stretch) = (Report::new(power.done(), Some(status)), Stretch::new());
    loop {
        let (before, failures) = (Instant::now(), power.failures());
        if power.advance(&mut machine, stretch.times())? {
            break;
        }
        stretch.took(stretch.times(), before.elapsed());
        if power.failures() > failures {
            note!("{name}: its check failed; it is computed again");
            report.restart(power.done());
        }
        if report.last.elapsed() >= common.report_every {
            let speed = |each: f64| format!("{:.4} ms/squaring", 1e3 * each);
            let (done, all) = power.progress();
            report.line(
                name,
                (done.into(), all.into()),
                power.failures(),
                &*backend,
                speed,
            );
        }
        if saving.is_due() {
            saving.save(&power)?;
            report.restart(power.done());
        }
    }
    saving.save_or_tell(&power);
    let result = power.residue().expect("it is computed and checked");
    Ok((result.res64(), Some(power.name())))
}
