//! `mersenne status`: how far the tests of a folder are.
//!
//! Each test that runs writes that to `NAME.status`, beside its save files, with every line of
//! progress.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Args;
use serde::{Deserialize, Serialize};

use super::output::print;
use super::report::time_left;
use super::{Common, Failure};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
}

/// How far a test is.
#[derive(Serialize, Deserialize)]
pub struct Status {
    pub name: String,
    pub done: u64,
    pub total: u64,
    /// The seconds of an iteration, or of a segment of trial factoring.
    pub each: Option<f64>,
    pub errors: u32,
    pub backend: String,
    /// The temperature of the machine, where something tells it.
    #[serde(default)]
    pub celsius: Option<u32>,
}

impl Status {
    /// Writes the file, if that can be done.
    pub fn write(&self, path: &Path) {
        let text = serde_json::to_vec(self).expect("numbers and words are JSON");
        // The next line of progress writes it again.
        let _ = fs::write(path, text);
    }

    fn line(&self, age: Duration) -> String {
        let percent = 100.0 * self.done as f64 / self.total as f64;
        let each = self
            .each
            .map_or("-".to_owned(), |each| format!("{:.1}", 1e6 * each));
        let left = self
            .each
            .map(|each| time_left(each, self.total - self.done));
        row([
            &self.name,
            &self.done.to_string(),
            &format!("{percent:.2}"),
            &each,
            &left.unwrap_or("-".to_owned()),
            &self.errors.to_string(),
            &self.backend,
            &self
                .celsius
                .map_or("-".to_owned(), |celsius| celsius.to_string()),
            &humantime::format_duration(Duration::from_secs(age.as_secs())).to_string(),
        ])
    }
}

fn row(cells: [&str; 9]) -> String {
    let [
        name,
        done,
        percent,
        each,
        left,
        errors,
        backend,
        celsius,
        age,
    ] = cells;
    format!(
        "{name:<22} {done:>11} {percent:>6} {each:>10}  {left:<22} {errors:>6}  {backend:<11} {celsius:>3}  {age}"
    )
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = arguments.common.folder()?.file("");
    let failed = |error| Failure::Running(format!("{}: {error}", folder.display()));
    let mut rows = Vec::new();
    for file in fs::read_dir(&folder).map_err(failed)?.flatten() {
        let path = file.path();
        if path.extension() != Some("status".as_ref()) {
            continue;
        }
        let written = file.metadata().and_then(|file| file.modified());
        let age = written.map_or(Duration::ZERO, |time| {
            SystemTime::now().duration_since(time).unwrap_or_default()
        });
        // A file that is being written is not whole.
        let status = fs::read(&path).ok();
        let status = status.and_then(|text| serde_json::from_slice::<Status>(&text).ok());
        rows.extend(status.map(|status| status.line(age)));
    }
    rows.sort();
    print(&row([
        "test",
        "done",
        "%",
        "us each",
        "time left",
        "errors",
        "on",
        "C",
        "last seen",
    ]))?;
    rows.iter().try_for_each(|row| print(row))
}
