//! What `results.json.txt` is told.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::SystemTime;

use md5::{Digest, Md5};
use serde::Serialize;

use crate::lock::{Lock, Wait};
use crate::{Number, Outcome, Proof, TrialFactoring};

/// A line of `results.json.txt`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ResultLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exponent: Option<u32>,
    #[serde(flatten)]
    number: Option<Parts>,
    worktype: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    b1: Option<u32>,
    #[serde(flatten)]
    range: Option<BitLevels>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    factors: Vec<String>,
    #[serde(rename = "res64", skip_serializing_if = "Option::is_none")]
    res64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha3_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    squarings: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    residue_type: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Errors>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fft_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shift_count: Option<u32>,
    program: Program,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    computer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aid: Option<String>,
    timestamp: String,
}

/// `k b^n + c`.
#[derive(Clone, Debug, Serialize)]
struct Parts {
    k: u32,
    b: u32,
    n: u32,
    c: i32,
}

/// What trial factoring went through.
#[derive(Clone, Debug, Serialize)]
struct BitLevels {
    bitlo: u32,
    bithi: u32,
    rangecomplete: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Errors {
    gerbicz: u32,
}

#[derive(Clone, Debug, Serialize)]
struct ProofFile {
    version: u32,
    power: u32,
    hashsize: u32,
    md5: String,
}

#[derive(Clone, Debug, Serialize)]
struct Program {
    name: &'static str,
    version: &'static str,
}

/// Who reports a result.
#[derive(Clone, Debug, Default)]
pub struct Reporter {
    /// The user's name at PrimeNet.
    pub user: Option<String>,
    /// The computer's.
    pub computer: Option<String>,
    /// The assignment's.
    pub id: Option<String>,
}

impl ResultLine {
    /// The line that reports this outcome of a test ([`crate::Saved::worktype`]) of a number,
    /// by transforms of so many words, now: PrimeNet's for `2^p - 1`, with `k`, `b`, `n` and `c`
    /// in place of the exponent for others.
    pub fn new(
        worktype: &'static str,
        number: impl Into<Number>,
        outcome: &Outcome,
        words: Option<usize>,
        reporter: &Reporter,
    ) -> Self {
        let number = number.into();
        let exponent = number.exponent();
        let parts = Parts {
            k: number.k(),
            b: 2,
            n: number.n(),
            c: number.c(),
        };
        let has_check = !matches!(worktype, "LL" | "LLR" | "PM1");
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        ResultLine {
            status: match (worktype, outcome.is_prime) {
                ("Cert", _) => None,
                (_, true) => Some("P"),
                (_, false) => Some("C"),
            },
            exponent,
            number: exponent.is_none().then_some(parts),
            worktype,
            b1: None,
            range: None,
            factors: Vec::new(),
            res64: Some(format!("{:016X}", outcome.res64)),
            sha3_hash: None,
            squarings: None,
            residue_type: (worktype == "PRP-3").then_some(1),
            errors: has_check.then_some(Errors {
                gerbicz: outcome.errors,
            }),
            proof: None,
            error_code: Some("00000000"),
            fft_length: words,
            shift_count: Some(0),
            program: Program {
                name: env!("CARGO_PKG_NAME"),
                version: env!("CARGO_PKG_VERSION"),
            },
            user: reporter.user.clone(),
            computer: reporter.computer.clone(),
            aid: reporter.id.clone(),
            timestamp: now.replace('T', " ").trim_end_matches('Z').to_owned(),
        }
    }

    /// The line, with what it says of the proof that goes with it.
    #[must_use]
    pub fn with_proof(self, proof: &Proof) -> Self {
        let sum = Md5::digest(proof.to_bytes());
        let proof = ProofFile {
            version: 2,
            power: proof.power(),
            hashsize: 64,
            md5: sum.iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        ResultLine {
            proof: Some(proof),
            ..self
        }
    }

    /// The line of P-1 to this bound, with the factor that it found, in decimal digits. There is no
    /// residue to compare.
    #[must_use]
    pub fn with_factor(self, bound: u32, factor: Option<String>) -> Self {
        ResultLine {
            status: Some(if factor.is_some() { "F" } else { "NF" }),
            b1: Some(bound),
            factors: factor.into_iter().collect(),
            res64: None,
            ..self
        }
    }

    /// The line of trial factoring that is done, with the factors that it found.
    #[must_use]
    pub fn with_trial(self, trial: &TrialFactoring) -> Self {
        let ([bitlo, bithi], factors) = (trial.bits(), trial.factors());
        ResultLine {
            status: Some(if factors.is_empty() { "NF" } else { "F" }),
            range: Some(BitLevels {
                bitlo,
                bithi,
                rangecomplete: true,
            }),
            factors: factors.iter().map(u128::to_string).collect(),
            res64: None,
            errors: None,
            error_code: None,
            shift_count: None,
            ..self
        }
    }

    /// The line, with the hash that answers a certification of so many squarings
    /// ([`crate::Prp::hash`]).
    #[must_use]
    pub fn with_hash(self, hash: Option<String>, squarings: u32) -> Self {
        ResultLine {
            sha3_hash: hash,
            squarings: Some(squarings),
            ..self
        }
    }

    /// The line's text, one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and words are JSON")
    }

    /// Appends the line, unless the same result stands there already: from a run that
    /// was killed after it had written it. `wait` is asked while another program holds the file.
    ///
    /// # Errors
    /// As reading and writing; of the kind `Interrupted` where `wait` says so.
    pub fn append_to(&self, path: &Path, wait: Wait<'_>) -> io::Result<()> {
        let _lock = Lock::of(path, wait)?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let ours = serde_json::to_value(self)?;
        let is_same = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            let keys = [
                "exponent", "k", "n", "c", "worktype", "b1", "bitlo", "bithi",
            ];
            keys.into_iter()
                .chain(["res64", "aid"])
                .all(|key| line.get(key) == ours.get(key))
        };
        if text.lines().any(is_same) {
            return Ok(());
        }
        // A line that a kill cut short ends here.
        let start = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        file.write_all(format!("{start}{}\n", self.to_json()).as_bytes())?;
        file.sync_all()
    }
}

/// Whether `results.json.txt` has the result of the assignment with this name.
///
/// # Errors
/// As reading.
pub fn is_reported(path: &Path, id: &str) -> io::Result<bool> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        text => text?,
    };
    let is_its = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        line.get("aid").and_then(|aid| aid.as_str()) == Some(id)
    };
    Ok(String::from_utf8_lossy(&text).lines().any(is_its))
}
