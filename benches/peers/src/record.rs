//! Rows of results and the files they are kept in.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One measured point. Times are medians, in nanoseconds for one number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// `mul`, `sqr`, `add` or `sub`.
    pub op: String,
    /// Bits of each operand.
    pub bits: usize,
    /// Numbers in the batch.
    pub batch: usize,
    /// Threads that share the work; libraries without threads inside a number
    /// work with one where the batch is one.
    pub threads: usize,
    /// The instructions that the engine was made to use.
    pub path: String,
    /// The engine's time.
    pub ours_ns: f64,
    /// Others' times; none where a call would have tried the run's patience.
    pub peers: BTreeMap<String, Option<f64>>,
    /// The engine's time over GMP's.
    pub ratio_gmp: Option<f64>,
    /// Time of a copy that moves as many bytes, for the linear operations.
    pub copy_ns: Option<f64>,
    /// The rate at which the engine moves bytes over the copy's.
    pub of_copy: Option<f64>,
    /// For everyone measured: the middle half of the samples, relative to the
    /// median.
    pub spread: BTreeMap<String, f64>,
    /// For everyone measured: the least sample.
    pub least_ns: BTreeMap<String, f64>,
}

/// A run: the machine and its rows.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record<R = Row> {
    /// The CPU's own name.
    pub cpu: String,
    /// Its family, model and stepping, where the name is not telling.
    pub cpu_id: String,
    /// Threads the machine offers.
    pub threads: usize,
    /// Day of the run, UTC.
    pub date: String,
    /// The engine's commit.
    pub engine: String,
    /// GMP's version and how it was built.
    pub gmp: String,
    /// Versions of the other libraries.
    pub versions: BTreeMap<String, String>,
    /// Samples behind each median.
    pub rounds: usize,
    /// The results.
    pub rows: Vec<R>,
}

impl<R: Serialize + DeserializeOwned> Record<R> {
    /// An empty record of this machine, today.
    pub fn new(rounds: usize) -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            cpuinfo
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim() == name)
                .map_or("unknown", |(_, value)| value.trim())
                .to_string()
        };
        Record {
            cpu: field("model name"),
            cpu_id: format!(
                "family {} model {} stepping {}",
                field("cpu family"),
                field("model"),
                field("stepping")
            ),
            threads: threads(),
            date: time::OffsetDateTime::now_utc().date().to_string(),
            engine: env!("PEERS_ENGINE").to_string(),
            gmp: format!(
                "{}.{}.{}, {}",
                gmp_mpfr_sys::gmp::VERSION,
                gmp_mpfr_sys::gmp::VERSION_MINOR,
                gmp_mpfr_sys::gmp::VERSION_PATCHLEVEL,
                env!("PEERS_GMP_BUILD")
            ),
            versions: versions(),
            rounds,
            rows: Vec::new(),
        }
    }

    /// Reads a record.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read the record {}", path.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is no record of this program", path.display()))
    }

    /// Writes the record, one row to a line.
    pub fn write(&self, path: &Path) -> Result<()> {
        let head = serde_json::to_string_pretty(&Record::<R> {
            rows: Vec::new(),
            cpu: self.cpu.clone(),
            cpu_id: self.cpu_id.clone(),
            date: self.date.clone(),
            engine: self.engine.clone(),
            gmp: self.gmp.clone(),
            versions: self.versions.clone(),
            ..*self
        })?;
        let rows = self
            .rows
            .iter()
            .map(serde_json::to_string)
            .collect::<Result<Vec<_>, _>>()?;
        let rows = format!("\"rows\": [\n    {}\n  ]", rows.join(",\n    "));
        let text = head.replace("\"rows\": []", &rows) + "\n";
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Threads that this machine offers.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The versions that Cargo chose for the libraries compared.
fn versions() -> BTreeMap<String, String> {
    const LIBRARIES: [&str; 5] = ["dashu-int", "ibig", "malachite-nz", "num-bigint", "rug"];
    let quoted = |line: &str, key: &str| {
        line.strip_prefix(key)
            .map(|value| value.trim_matches([' ', '=', '"']).to_string())
    };
    include_str!("../Cargo.lock")
        .split("[[package]]")
        .filter_map(|package| {
            let name = package.lines().find_map(|line| quoted(line, "name"))?;
            let version = package.lines().find_map(|line| quoted(line, "version"))?;
            LIBRARIES.contains(&&*name).then_some((name, version))
        })
        .collect()
}
