//! A checkpoint: how far a run is, in a file that a kill at any moment leaves whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use crate::Error;

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The description of the run. A run with another description does not go on from here.
    pub job: String,
    /// Numbers that are done.
    pub numbers: usize,
    /// The parts of the number that is on its way.
    pub parts: Vec<String>,
    /// Levels of bounds that are done, and curves of the one that is on its way.
    pub levels: usize,
    /// Curves that are done at that level.
    pub curves: u64,
    /// Curves of the levels that are done.
    pub before: u64,
    /// The next curve's sigma.
    pub sigma: u64,
    /// That of the number's first curve; 0 before it.
    pub first: u64,
    /// Stage 1 of the curves, or of the starts of P-1 or P+1, that are on their way.
    pub stage: Option<Stage>,
}

/// Stage 1 of some curves or starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The part that is to be factored.
    pub n: String,
    /// The first curve's sigma; 0 of starts.
    pub first: u64,
    /// Bits that are done.
    pub done: usize,
    /// Registers, of each curve or start.
    pub state: Vec<Vec<String>>,
}

impl Stage {
    /// Stage 1 of a part, of which so many bits are done and these are the registers.
    pub fn new(n: &BigUint, first: u64, done: usize, registers: &[Vec<BigUint>]) -> Self {
        let hex = |number: &BigUint| format!("{number:x}");
        let state = registers
            .iter()
            .map(|register| register.iter().map(hex).collect());
        Stage {
            n: n.to_string(),
            first,
            done,
            state: state.collect(),
        }
    }

    /// The registers as numbers, of at least one curve and as many in each.
    pub fn numbers(&self) -> Option<Vec<Vec<BigUint>>> {
        let number = |text: &String| BigUint::parse_bytes(text.as_bytes(), 16);
        let register = |texts: &Vec<String>| texts.iter().map(number).collect::<Option<Vec<_>>>();
        let numbers: Vec<_> = self.state.iter().map(register).collect::<Option<_>>()?;
        let count = numbers.first()?.len();
        let is_even = count > 0 && numbers.iter().all(|register| register.len() == count);
        is_even.then_some(numbers)
    }
}

impl Checkpoint {
    /// The checkpoint of a file, if it is there.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] where it is of another job, or damaged; [`Error::File`].
    pub fn read(path: &Path, job: &str) -> Result<Option<Self>, Error> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(file(path, source)),
            Ok(text) => text,
        };
        let wrong = |what: String| Error::Checkpoint {
            path: path.to_owned(),
            what,
        };
        let found: Self = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("it is no checkpoint of ecm ({error})")))?;
        if found.job != job {
            return Err(wrong(format!("it is of another run, {}", found.job)));
        }
        Ok(Some(found))
    }

    /// Writes it beside the file, brings it to the disk, and renames it.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let new = beside(path);
        let text = serde_json::to_string(self).expect("text and numbers");
        let written = File::create(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(|source| file(&new, source))?;
        fs::rename(&new, path).map_err(|source| file(path, source))
    }

    /// Makes sure that one can be written there.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn check_place(path: &Path) -> Result<(), Error> {
        let new = beside(path);
        let made = File::create(&new).and_then(|_| fs::remove_file(&new));
        made.map_err(|source| file(&new, source))
    }

    /// Removes the file of a run that is done.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn remove(path: &Path) -> Result<(), Error> {
        match fs::remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(file(path, source)),
            _ => Ok(()),
        }
    }
}

/// The file that takes a checkpoint's place.
fn beside(path: &Path) -> PathBuf {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    PathBuf::from(new)
}

fn file(path: &Path, source: io::Error) -> Error {
    Error::File {
        path: path.to_owned(),
        source,
    }
}
