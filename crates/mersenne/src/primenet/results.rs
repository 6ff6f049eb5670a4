//! The lines of `results.json.txt`.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::lock::{Lock, Wait};
use crate::proof::md5;
use crate::{Cofactor, Curves, Number, Outcome, Proof, TrialFactoring};
use bigint_host::BigUint;

/// A line of `results.json.txt`: the fields of a JSON object, in their order.
#[derive(Clone, Debug)]
pub struct ResultLine(Vec<(&'static str, Value)>);

/// Who reports a result.
#[derive(Clone, Debug, Default)]
pub struct Reporter {
    /// The user's name at PrimeNet.
    pub user: Option<String>,
    /// The computer's name there.
    pub computer: Option<String>,
    /// The worker's name, which is the user's own choice.
    pub worker: Option<String>,
    /// The assignment's name at PrimeNet.
    pub id: Option<String>,
    /// The program in whose form the line is, for a carrier that knows lines by that name.
    pub form: Option<&'static str>,
}

impl ResultLine {
    /// The line about a number, of this [`Saved::worktype`](crate::Saved::worktype). A Mersenne
    /// number is known by its exponent, as PrimeNet has it, and any other by `k`, `b`, `n` and `c`.
    fn new(status: Option<&str>, number: Number, worktype: &str) -> Self {
        let line = ResultLine(Vec::new()).with("status", status);
        let line = match number.exponent() {
            Some(p) => line.with("exponent", p),
            None => line
                .with("k", number.k())
                .with("b", number.base())
                .with("n", number.n())
                .with("c", number.c()),
        };
        line.with("worktype", worktype)
    }

    /// The line of a test, or of a certification, which has no verdict.
    pub fn of_test(worktype: &str, number: Number, outcome: &Outcome) -> Self {
        let status = match outcome.is_prime {
            true => "P",
            false => "C",
        };
        let line = Self::new((worktype != "Cert").then_some(status), number, worktype)
            .with("res64", format!("{:016X}", outcome.res64))
            .with("residue-type", (worktype == "PRP-3").then_some(1));
        match worktype {
            "LL" | "LLR" | "N+1" => line,
            _ => line.with("errors", json!({ "gerbicz": outcome.errors })),
        }
    }

    /// The line of the PRP test of a cofactor: its residue is of type 5.
    pub fn of_cofactor(cofactor: &Cofactor, outcome: &Outcome) -> Self {
        let mut line = Self::of_test("PRP-3", cofactor.p().into(), outcome);
        line.0.retain(|(key, _)| *key != "residue-type");
        let factors: Vec<String> = cofactor.factors().iter().map(BigUint::to_string).collect();
        line.with("residue-type", 5).with("known-factors", factors)
    }

    /// The line of P-1 to these bounds: only the first where there was no second stage. There is no
    /// residue to compare.
    pub fn of_p_minus_1(
        number: Number,
        first: u32,
        second: Option<u64>,
        factor: Option<String>,
    ) -> Self {
        let status = if factor.is_some() { "F" } else { "NF" };
        Self::new(Some(status), number, "P-1")
            .with("b1", first)
            .with("b2", second)
            .with("factors", factor.map(|factor| [factor]))
    }

    /// The line of so many curves, with the parameter of the first one, or of the one that has found a factor, in
    /// this stage. Without a second stage `B2` is `B1`: AutoPrimeNet asks for both, and for the stage.
    pub fn of_ecm(
        number: Number,
        curves: &Curves,
        sigma: u64,
        count: u32,
        factor: Option<(String, u32)>,
    ) -> Self {
        let status = if factor.is_some() { "F" } else { "NF" };
        let stage = factor.as_ref().map(|(_, stage)| *stage);
        let known = curves.left.as_ref().map(|left| {
            let known = left.factors().iter();
            known.map(BigUint::to_string).collect::<Vec<_>>()
        });
        Self::new(Some(status), number, "ECM")
            .with("b1", curves.first)
            .with("b2", curves.second.unwrap_or(curves.first.into()))
            .with("sigma", sigma)
            .with("curves", count)
            .with("stage", stage)
            .with("factors", factor.map(|(factor, _)| [factor]))
            .with("known-factors", known)
    }

    /// The line of trial factoring that is done.
    pub fn of_trial(trial: &TrialFactoring) -> Self {
        let ([from, to], factors) = (trial.bits(), trial.factors());
        let factors: Vec<String> = factors.iter().map(u128::to_string).collect();
        let status = if factors.is_empty() { "NF" } else { "F" };
        Self::new(Some(status), trial.p().into(), "TF")
            .with("bitlo", from)
            .with("bithi", to)
            .with("rangecomplete", true)
            .with("factors", Some(factors).filter(|all| !all.is_empty()))
    }

    /// The line with another field, unless that is null.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.0.push((key, value.into()));
        self.0.retain(|(_, value)| !value.is_null());
        self
    }

    /// The line with what PrimeNet knows of a proof.
    #[must_use]
    pub fn with_proof(self, proof: &Proof) -> Self {
        let sum = md5(&proof.to_bytes());
        let power = proof.power();
        self.with(
            "proof",
            json!({ "version": 2, "power": power, "hashsize": 64, "md5": sum }),
        )
    }

    /// The line with what PrimeNet knows of squarings by a transform of so many words, of a residue that
    /// was [shifted](crate::Saved::shift).
    #[must_use]
    pub fn with_transform(self, words: Option<usize>, shift: u32) -> Self {
        self.with("error-code", "00000000")
            .with("fft-length", words)
            .with("shift-count", shift)
    }

    /// The text of the line, reported now: one JSON object.
    pub fn signed(self, reporter: &Reporter) -> String {
        let [name, version] = [env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")];
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let now = now.replace('T', " ").trim_end_matches('Z').to_owned();
        let line = self
            .with(
                "program",
                json!({ "name": name, "version": version, "os": system() }),
            )
            .with("user", reporter.user.clone())
            .with("computer", reporter.computer.clone())
            .with("aid", reporter.id.clone())
            .with("uid", reporter.worker.clone())
            .with("timestamp", now)
            .with("format", reporter.form);
        let field = |(key, value): &(_, Value)| format!("\"{key}\":{value}");
        let fields: Vec<String> = line.0.iter().map(field).collect();
        format!("{{{}}}", fields.join(","))
    }
}

/// The operating system, its version and the processor's architecture, as `uname` has them.
#[cfg(unix)]
fn system() -> Value {
    let name = rustix::system::uname();
    let [os, version, architecture] = [name.sysname(), name.release(), name.machine()]
        .map(|part| part.to_string_lossy().into_owned());
    json!({ "os": os, "version": version, "architecture": architecture })
}

#[cfg(not(unix))]
fn system() -> Value {
    json!({ "os": std::env::consts::OS, "architecture": std::env::consts::ARCH })
}

/// Appends a line to `results.json.txt`, unless the same result stands there already: from a run that
/// was killed after it had written it. `wait` is called while another program holds the file, and
/// says whether to go on waiting.
///
/// # Errors
/// As reading and writing; of the kind `Interrupted` where `wait` says no.
pub fn append_result(path: &Path, line: &str, wait: Wait<'_>) -> io::Result<()> {
    let _lock = Lock::of(path, wait)?;
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let ours = parsed(line);
    let keys = [
        "exponent",
        "k",
        "b",
        "n",
        "c",
        "known-factors",
        "worktype",
        "b1",
        "b2",
        "sigma",
        "curves",
        "bitlo",
        "bithi",
        "res64",
        "aid",
    ];
    let is_same = |line: Value| keys.iter().all(|key| line.get(key) == ours.get(key));
    if results(&text).any(is_same) {
        return Ok(());
    }
    // A line that a kill cut short ends here.
    let is_whole = text.last().is_none_or(|&byte| byte == b'\n');
    let start = if is_whole { "" } else { "\n" };
    file.write_all(format!("{start}{line}\n").as_bytes())?;
    file.sync_all()
}

/// Whether `results.json.txt` has the result of the assignment with this name.
///
/// # Errors
/// As reading.
pub fn is_reported(path: &Path, id: &str) -> io::Result<bool> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        text => Ok(results(&text?).any(|line| line["aid"] == id)),
    }
}

/// Whether the test of this worktype found a number to be prime, where `results.json.txt` has its result.
///
/// # Errors
/// As reading.
pub fn verdict(path: &Path, number: Number, worktype: &str) -> io::Result<Option<bool>> {
    let ours: serde_json::Map<_, _> = ResultLine::new(None, number, worktype)
        .0
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => {
            let is_ours = |line: &Value| ours.iter().all(|(key, value)| line[key] == *value);
            let line = results(&text?).find(is_ours);
            Ok(line.map(|line| line["status"] == "P"))
        }
    }
}

/// The lines of a file, each as [`parsed`] has it.
fn results(text: &[u8]) -> impl Iterator<Item = Value> {
    let lines = text.split(|&byte| byte == b'\n');
    lines.map(|line| parsed(&String::from_utf8_lossy(line)))
}

/// The JSON value of a line; null where it is none.
fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_default()
}
