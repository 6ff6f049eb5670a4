//! Save files: a test at rest.
//!
//! ```text
//! mersenne save 1
//! {"exponent":118845473,"worktype":"PRP-3","iteration":123000, ...}
//! residues, one after another, ceil(p / 8) little-endian bytes each
//! CRC-32 of all that, four little-endian bytes
//! ```
//!
//! Residues are numbers, not words of some transform: any back end takes them up. A file
//! is written beside (`.new`), brought to the disk, and renamed; the one before stays
//! (`.old`). Whatever moment the program is killed at, one of the three is whole; of
//! those that are, the furthest is taken up.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::prp::Point;
use crate::{Error, LucasLehmer, Proof, Prp, Residue, Runner, Step};

const MAGIC: &[u8] = b"mersenne save 1\n";

/// A test of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Lucas-Lehmer.
    LucasLehmer(LucasLehmer),
    /// PRP with Gerbicz' check.
    Prp(Prp),
}

/// The second line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    exponent: u32,
    worktype: String,
    iteration: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prp: Option<PrpHeader>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrpHeader {
    block: u32,
    verified: u32,
    errors: u32,
    has_last: bool,
}

impl Saved {
    /// The kind of test, as PrimeNet calls it.
    pub fn worktype(&self) -> &'static str {
        match self {
            Saved::LucasLehmer(_) => "LL",
            Saved::Prp(_) => "PRP-3",
        }
    }

    /// The exponent.
    pub fn p(&self) -> u32 {
        match self {
            Saved::LucasLehmer(test) => test.residue.p(),
            Saved::Prp(test) => test.now.x.p(),
        }
    }

    /// Iterations done, and how many the test takes.
    pub fn progress(&self) -> (u32, u32) {
        match self {
            Saved::LucasLehmer(test) => (test.iteration, self.p() - 2),
            Saved::Prp(test) => (test.iteration(), self.p().next_multiple_of(test.block)),
        }
    }

    /// Errors that were caught and undone.
    pub fn errors(&self) -> u32 {
        match self {
            Saved::LucasLehmer(_) => 0,
            Saved::Prp(test) => test.errors(),
        }
    }

    /// A machine set to where the test is.
    ///
    /// # Errors
    /// As [`Runner::new`].
    pub fn runner<'a>(&self, backend: &'a dyn crate::Backend) -> Result<Runner<'a>, Error> {
        let (minus, x) = match self {
            Saved::LucasLehmer(test) => (LucasLehmer::MINUS, &test.residue),
            Saved::Prp(test) => (Prp::MINUS, test.residue()),
        };
        let mut runner = Runner::new(self.p(), minus, backend)?;
        runner.set(x)?;
        Ok(runner)
    }

    /// Up to so many iterations.
    ///
    /// # Errors
    /// As [`LucasLehmer::advance`] and [`Prp::advance`].
    pub fn advance(&mut self, runner: &mut Runner<'_>, times: u32) -> Result<Step, Error> {
        match self {
            Saved::LucasLehmer(test) => test.advance(runner, times),
            Saved::Prp(test) => test.advance(runner, times),
        }
    }

    /// Has the residue brought here, to be saved.
    ///
    /// # Errors
    /// As [`Runner::residue`].
    pub fn rest(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        match self {
            Saved::LucasLehmer(test) => test.rest(runner),
            Saved::Prp(test) => test.rest(runner),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut residues = Vec::new();
        let prp = match self {
            Saved::LucasLehmer(test) => {
                residues.push(&test.residue);
                None
            }
            Saved::Prp(test) => {
                residues.extend([&test.now.x, &test.now.d]);
                if test.verified.iteration != test.now.iteration {
                    residues.extend([&test.verified.x, &test.verified.d]);
                }
                residues.extend(&test.last);
                Some(PrpHeader {
                    block: test.block,
                    verified: test.verified.iteration,
                    errors: test.errors,
                    has_last: test.last.is_some(),
                })
            }
        };
        let header = Header {
            exponent: self.p(),
            worktype: self.worktype().to_owned(),
            iteration: self.progress().0,
            prp,
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend(serde_json::to_vec(&header).expect("numbers and words are JSON"));
        bytes.push(b'\n');
        for residue in residues {
            bytes.extend(residue.to_bytes());
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let broken = || "it is no save file of this program".to_owned();
        let (bytes, sum) = bytes.split_last_chunk::<4>().ok_or_else(broken)?;
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(broken)?;
        if crc32fast::hash(bytes).to_le_bytes() != *sum {
            return Err("its checksum is wrong: it is damaged".to_owned());
        }
        let line = rest
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or_else(broken)?;
        let (header, mut rest) = rest.split_at(line);
        let header: Header = serde_json::from_slice(header).map_err(|error| error.to_string())?;
        rest = &rest[1..];
        let p = header.exponent;
        let mut residue = || -> Result<Residue, String> {
            let length = p.div_ceil(8) as usize;
            let (bytes, others) = rest.split_at_checked(length).ok_or_else(broken)?;
            rest = others;
            Ok(Residue::from_bytes(p, bytes))
        };
        match (header.worktype.as_str(), header.prp) {
            ("LL", None) if p >= 3 && header.iteration <= p - 2 => {
                Ok(Saved::LucasLehmer(LucasLehmer {
                    iteration: header.iteration,
                    residue: residue()?,
                }))
            }
            ("PRP-3", Some(prp)) if p % 2 == 1 && prp.block > 0 => {
                let mut point = |iteration| -> Result<Point, String> {
                    Ok(Point {
                        iteration,
                        x: residue()?,
                        d: residue()?,
                    })
                };
                let now = point(header.iteration)?;
                let verified = if prp.verified == header.iteration {
                    now.clone()
                } else {
                    point(prp.verified)?
                };
                let last = prp.has_last.then(residue).transpose()?;
                Ok(Saved::Prp(Prp::at(
                    prp.block, now, verified, last, prp.errors,
                )))
            }
            _ => Err(broken()),
        }
    }
}

/// Where a test's files are.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// This folder, which exists.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Folder { path: path.into() }
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A save file and those beside it.
    fn files(&self, p: u32, worktype: &str) -> [PathBuf; 3] {
        let stem = match worktype {
            "LL" => format!("m{p}.ll"),
            _ => format!("m{p}.prp"),
        };
        ["", ".new", ".old"].map(|end| self.file(&format!("{stem}{end}")))
    }

    /// Saves a test, so that a kill at any moment leaves this or the one before whole.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save(&self, test: &Saved) -> Result<(), Error> {
        let [name, new, old] = self.files(test.p(), test.worktype());
        let written = write_whole(&new, &test.to_bytes())
            .and_then(|()| match fs::rename(&name, &old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            })
            .and_then(|()| fs::rename(&new, &name))
            .and_then(|()| sync_folder(&self.path));
        written.map_err(|source| Error::File { path: name, source })
    }

    /// The test of `2^p - 1` of this kind (`LL` or `PRP-3`) that is furthest among its
    /// files, and what is wrong with those that were passed over.
    ///
    /// # Errors
    /// [`Error::Save`] where there are files and none of them is whole.
    pub fn load(&self, p: u32, worktype: &str) -> Result<(Option<Saved>, Vec<Error>), Error> {
        let mut wrong = Vec::new();
        let mut found: Option<Saved> = None;
        for path in self.files(p, worktype) {
            let read = match fs::read(&path) {
                Ok(bytes) => Saved::from_bytes(&bytes).and_then(|test| {
                    if (test.p(), test.worktype()) == (p, worktype) {
                        Ok(test)
                    } else {
                        Err(format!("it is a test of another number: {}", test.p()))
                    }
                }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => Err(error.to_string()),
            };
            match read {
                Ok(test) => {
                    let further = found
                        .as_ref()
                        .is_none_or(|found| found.progress() < test.progress());
                    found = if further { Some(test) } else { found };
                }
                Err(what) => wrong.push(Error::Save { path, what }),
            }
        }
        match (found, wrong.pop()) {
            (None, Some(error)) => Err(error),
            (found, last) => {
                wrong.extend(last);
                Ok((found, wrong))
            }
        }
    }

    /// Where the residues of a test are that a proof will be made of.
    fn residues(&self, p: u32) -> PathBuf {
        self.file(&format!("m{p}.residues"))
    }

    /// Keeps the residue of an iteration for a proof.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save_residue(&self, iteration: u32, residue: &Residue) -> Result<(), Error> {
        let folder = self.residues(residue.p());
        let path = folder.join(iteration.to_string());
        let mut bytes = residue.to_bytes();
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        fs::create_dir_all(&folder)
            .and_then(|()| replace(&path, &bytes))
            .map_err(|source| Error::File { path, source })
    }

    /// The residue of an iteration of the test of `2^p - 1` that was kept for a proof.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, [`Error::Save`] where it is damaged.
    pub fn load_residue(&self, p: u32, iteration: u32) -> Result<Residue, Error> {
        let path = self.residues(p).join(iteration.to_string());
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(Error::File { path, source }),
        };
        match bytes.split_last_chunk::<4>() {
            Some((bytes, sum))
                if bytes.len() == p.div_ceil(8) as usize
                    && crc32fast::hash(bytes).to_le_bytes() == *sum =>
            {
                Ok(Residue::from_bytes(p, bytes))
            }
            _ => {
                let what = "the residue is damaged".to_owned();
                Err(Error::Save { path, what })
            }
        }
    }

    /// Writes a proof into the folder, and answers with its path.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save_proof(&self, proof: &Proof) -> Result<PathBuf, Error> {
        let path = self.file(&format!("{}-{}.proof", proof.p(), proof.power()));
        match replace(&path, &proof.to_bytes()) {
            Ok(()) => Ok(path),
            Err(source) => Err(Error::File { path, source }),
        }
    }

    /// Removes the files of a test that is done.
    ///
    /// # Errors
    /// [`Error::File`] where one cannot be removed.
    pub fn remove(&self, p: u32, worktype: &str) -> Result<(), Error> {
        let gone = |path: PathBuf, removed: io::Result<()>| match removed {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(Error::File { path, source })
            }
            _ => Ok(()),
        };
        for path in self.files(p, worktype) {
            let removed = fs::remove_file(&path);
            gone(path, removed)?;
        }
        match worktype {
            "LL" => Ok(()),
            _ => {
                let residues = self.residues(p);
                let removed = fs::remove_dir_all(&residues);
                gone(residues, removed)
            }
        }
    }
}

/// Writes a file beside, and lets it take the place of the one before.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    write_whole(new.as_ref(), bytes)?;
    fs::rename(&new, path)?;
    sync_folder(path.parent().unwrap_or(Path::new("")))
}

/// Writes a file and has it brought to the disk.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Has the names in a folder brought to the disk.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    File::open(path)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
