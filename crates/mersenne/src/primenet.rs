//! PrimeNet's files: `worktodo.txt` and `results.json.txt`.
//!
//! Both are shared with the program that carries them to the server and back, by lock
//! files as AutoPrimeNet makes them (`worktodo.txt.lck`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use md5::{Digest, Md5};
use serde::Serialize;

use crate::folder::replace;
use crate::{Number, Outcome, PMinus1, Proof, TrialFactoring, is_prime};

/// What is wrong with a range that is no [`TrialFactoring`].
pub const TOO_LONG: &str = "to try all candidates up to there would take for ever";

/// What a line of `worktodo.txt` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A test, `LL` or `PRP-3`.
    Test(&'static str),
    /// The first stage of P-1, to this bound.
    PMinus1(u32),
    /// Trial factoring, between powers of two with these exponents.
    Factor(u32, u32),
    /// A certification: the residue of `M{p}.cert` squared so many times.
    Certification(u32),
}

/// A line of `worktodo.txt` that asks for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// What it asks for.
    pub asked: Asked,
    /// The exponent.
    pub p: u32,
    /// PrimeNet's name for the assignment: 32 hexadecimal digits.
    pub id: Option<String>,
    /// The line as it stands in the file.
    pub line: String,
}

/// What is wrong with a line, and where, in bytes from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The column.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

impl Assignment {
    /// The assignment of a line; `None` for a blank one or a comment.
    ///
    /// ```
    /// use mersenne::primenet::{Asked, Assignment};
    /// let line = "DoubleCheck=0123456789ABCDEF0123456789ABCDEF,82589933,76,1";
    /// let assignment = Assignment::parse(line).unwrap().unwrap();
    /// assert_eq!((assignment.asked, assignment.p), (Asked::Test("LL"), 82_589_933));
    /// let assignment = Assignment::parse("PRP=N/A,1,2,127,-1").unwrap().unwrap();
    /// assert_eq!((assignment.asked, assignment.id), (Asked::Test("PRP-3"), None));
    /// let assignment = Assignment::parse("Pminus1=N/A,1,2,1277,-1,5000000,0").unwrap().unwrap();
    /// assert_eq!(assignment.asked, Asked::PMinus1(5_000_000));
    /// let assignment = Assignment::parse("Factor=N/A,1277,60,61").unwrap().unwrap();
    /// assert_eq!(assignment.asked, Asked::Factor(60, 61));
    /// assert!(Assignment::parse("ECM2=N/A,1,2,1277,-1,1000,0,1").is_err());
    /// ```
    ///
    /// # Errors
    /// [`BadLine`] for a line that is none, or asks for what this program does not do.
    pub fn parse(text: &str) -> Result<Option<Self>, BadLine> {
        let line = text.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize + 1;
        let bad = |part: &str, what: &str| BadLine {
            column: offset(part),
            what: what.to_owned(),
        };
        let (kind, rest) = line.split_once('=').ok_or_else(|| {
            bad(
                line,
                "a line is KIND=ASSIGNMENT,..., such as PRP=N/A,1,2,127,-1",
            )
        })?;
        let worktype = match kind.trim() {
            "Test" | "DoubleCheck" => "LL",
            "PRP" | "PRPDC" => "PRP-3",
            "Cert" | "CERT" => "Cert",
            "Factor" => "TF",
            "PMinus1" | "Pminus1" => "PM1",
            "PFactor" | "Pfactor" => {
                let what = "P-1 takes its bound from a line Pminus1=N/A,1,2,P,-1,B1,0";
                return Err(bad(line, what));
            }
            "ECM" | "ECM2" => return Err(bad(line, "there is no ECM here")),
            _ => {
                return Err(bad(
                    line,
                    "it is none of PRP, PRPDC, Test, DoubleCheck, Cert, Factor, Pminus1",
                ));
            }
        };
        let mut fields: Vec<&str> = rest.split(',').map(str::trim).collect();
        let is_id = |field: &str| field.len() == 32 && field.bytes().all(|b| b.is_ascii_hexdigit());
        let nothing = |field: &str| field.eq_ignore_ascii_case("n/a");
        let id = fields
            .first()
            .filter(|field| is_id(field))
            .map(|&field| field.to_owned());
        let unnamed = |&field: &&str| nothing(field) || field == "0" && fields.len() > 1;
        if id.is_some() || fields.first().is_some_and(unnamed) {
            fields.remove(0);
        }
        let field = |i: usize, name: &str| {
            let missing = || bad(rest, &format!("{name} is missing"));
            fields
                .get(i)
                .copied()
                .filter(|field| !field.is_empty())
                .ok_or_else(missing)
        };
        let exponent = if !matches!(worktype, "LL" | "TF") {
            for (i, (name, value)) in [("k", "1"), ("b", "2")].into_iter().enumerate() {
                if field(i, name)? != value {
                    return Err(bad(
                        fields[i],
                        &format!("{name} must be {value}: only 2^p - 1 is tested"),
                    ));
                }
            }
            if field(3, "c")? != "-1" {
                return Err(bad(fields[3], "c must be -1: only 2^p - 1 is tested"));
            }
            let none = &[][..];
            let more = if worktype == "PRP-3" {
                &fields[4..]
            } else {
                none
            };
            if let Some(factors) = more.iter().find(|field| field.starts_with('"')) {
                return Err(bad(factors, "cofactors are not tested here"));
            }
            if more.get(2).is_some_and(|&base| base != "3") {
                return Err(bad(more[2], "the base must be 3"));
            }
            if more.get(3).is_some_and(|&kind| kind != "1") {
                return Err(bad(more[3], "the residue must be of type 1"));
            }
            field(2, "the exponent")?
        } else {
            field(0, "the exponent")?
        };
        let p = exponent
            .parse()
            .map_err(|_| bad(exponent, "the exponent is a number below 2^32"))?;
        if p < 3 || !is_prime(p) {
            return Err(bad(
                exponent,
                "the exponent is not an odd prime: 2^p - 1 is composite",
            ));
        }
        let number_to = |i: usize, name: &str, least: u32, most: u32| {
            let text = field(i, name)?;
            let number = text.parse().ok();
            let number = number.filter(|number| (least..=most).contains(number));
            let wrong = || bad(text, &format!("{name} is one from {least} to {most}"));
            number.ok_or_else(wrong)
        };
        let asked = match worktype {
            "Cert" => Asked::Certification(number_to(4, "the number of squarings", 1, p)?),
            "PM1" => {
                let bound = number_to(4, "B1", 2, PMinus1::GREATEST_BOUND)?;
                let second = fields.get(5).copied().unwrap_or("0");
                if !["", "0", fields[4]].contains(&second) {
                    let what = "there is no second stage here: B2 is 0, or B1";
                    return Err(bad(second, what));
                }
                Asked::PMinus1(bound)
            }
            "TF" => {
                let most = TrialFactoring::MOST_BITS;
                let from = number_to(1, "the exponent of the beginning", 1, most - 1)?;
                let to = number_to(2, "the exponent of the end", from + 1, most)?;
                if TrialFactoring::new(p, from, to).is_none() {
                    return Err(bad(fields[2], TOO_LONG));
                }
                Asked::Factor(from, to)
            }
            _ => Asked::Test(worktype),
        };
        Ok(Some(Assignment {
            asked,
            p,
            id,
            line: text.to_owned(),
        }))
    }
}

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

    /// The line, with the hash that answers a certification ([`crate::Prp::hash`]).
    #[must_use]
    pub fn with_hash(self, hash: Option<String>) -> Self {
        ResultLine {
            sha3_hash: hash,
            ..self
        }
    }

    /// The line's text, one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and words are JSON")
    }

    /// Appends the line, unless the same result stands there already: from a run that
    /// was killed after it had written it.
    ///
    /// # Errors
    /// As reading and writing.
    pub fn append_to(&self, path: &Path) -> io::Result<()> {
        let _lock = Lock::of(path)?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
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

/// Takes an assignment's line out of `worktodo.txt`.
///
/// # Errors
/// As reading and writing.
pub fn remove_line(path: &Path, line: &str) -> io::Result<()> {
    let _lock = Lock::of(path)?;
    let text = fs::read_to_string(path)?;
    let mut found = false;
    let kept: String = text
        .split_inclusive('\n')
        .filter(|other| {
            let is_it = !found && other.trim() == line.trim();
            found |= is_it;
            !is_it
        })
        .collect();
    if found {
        replace(path, kept.as_bytes())?;
    }
    Ok(())
}

/// A file's lock file, while it is worked on.
struct Lock(PathBuf);

impl Lock {
    /// Nobody holds a lock for so long: one that is older was left by a kill.
    const STALE: Duration = Duration::from_secs(60);

    fn of(path: &Path) -> io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lck");
        let lock = PathBuf::from(name);
        loop {
            match File::create_new(&lock) {
                Ok(_) => return Ok(Lock(lock)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let age = fs::metadata(&lock).and_then(|lock| lock.modified());
                    let age = age.map(|time| time.elapsed().unwrap_or_default());
                    if age.is_ok_and(|age| age > Self::STALE) {
                        let _ = fs::remove_file(&lock);
                    } else {
                        std::thread::sleep(Duration::from_millis(50));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Where it stays, it is stale in a minute.
        let _ = fs::remove_file(&self.0);
    }
}
