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
use crate::{Certification, Error, LucasLehmer, Number, PMinus1, Proof, Prp, Residue};
use crate::{Runner, Step};

const MAGIC: &[u8] = b"mersenne save 1\n";

/// A test of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Lucas-Lehmer.
    LucasLehmer(LucasLehmer),
    /// PRP with Gerbicz' check.
    Prp(Prp),
    /// P-1.
    PMinus1(PMinus1),
}

/// The second line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(default = "one", skip_serializing_if = "is_one")]
    k: u32,
    exponent: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_plus: bool,
    worktype: String,
    iteration: u32,
    /// Of P-1: `B1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prp: Option<PrpHeader>,
}

fn one() -> u32 {
    1
}

fn is_one(k: &u32) -> bool {
    *k == 1
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrpHeader {
    block: u32,
    verified: u32,
    errors: u32,
    has_last: bool,
    /// Of a certification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    squarings: Option<u32>,
}

impl Saved {
    /// A test of this kind, `LL`, `LLR`, `PRP-3` or `Proth` ([`Saved::worktype`]), at its
    /// beginning.
    ///
    /// # Panics
    /// As [`LucasLehmer::new`] and [`Prp::new`].
    pub fn new(number: impl Into<Number>, worktype: &str) -> Self {
        match worktype {
            "LL" | "LLR" => Saved::LucasLehmer(LucasLehmer::new(number)),
            _ => Saved::Prp(Prp::new(number)),
        }
    }

    /// The kind of test: `LL` and `PRP-3`, as PrimeNet calls them, of `2^p - 1`; `LLR` of
    /// `k 2^n - 1`, `Proth` of `k 2^n + 1`; `Cert`, a certification, and `PM1`, P-1.
    pub fn worktype(&self) -> &'static str {
        match (self, self.number().exponent()) {
            (Saved::LucasLehmer(_), Some(_)) => "LL",
            (Saved::LucasLehmer(_), None) => "LLR",
            (Saved::Prp(test), _) if test.certification.is_some() => "Cert",
            (Saved::Prp(_), Some(_)) => "PRP-3",
            (Saved::Prp(_), None) => "Proth",
            (Saved::PMinus1(_), _) => "PM1",
        }
    }

    /// The number that is tested.
    pub fn number(&self) -> Number {
        match self {
            Saved::LucasLehmer(test) => test.residue.number(),
            Saved::Prp(test) => test.now.x.number(),
            Saved::PMinus1(test) => test.number(),
        }
    }

    /// Iterations done, and how many the test takes.
    pub fn progress(&self) -> (u32, u32) {
        match self {
            Saved::LucasLehmer(test) => (test.iteration, test.iterations()),
            Saved::Prp(test) => (test.iteration(), test.iterations()),
            Saved::PMinus1(test) => (test.iteration(), test.iterations()),
        }
    }

    /// Of P-1: `B1`.
    fn bound(&self) -> Option<u32> {
        match self {
            Saved::PMinus1(test) => Some(test.bound()),
            _ => None,
        }
    }

    /// The certification that this is, if it is one.
    pub fn certification(&self) -> Option<&Certification> {
        match self {
            Saved::Prp(test) => test.certification(),
            _ => None,
        }
    }

    /// [`Prp::hash`].
    pub fn hash(&self) -> Option<String> {
        match self {
            Saved::Prp(test) => test.hash(),
            _ => None,
        }
    }

    /// Errors that were caught and undone.
    pub fn errors(&self) -> u32 {
        match self {
            Saved::Prp(test) => test.errors(),
            _ => 0,
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
            Saved::PMinus1(test) => (0, &test.residue),
        };
        let mut runner = Runner::new(self.number(), minus, backend)?;
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
            Saved::PMinus1(test) => test.advance(runner, times),
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
            Saved::PMinus1(test) => test.rest(runner),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut residues = Vec::new();
        let prp = match self {
            Saved::LucasLehmer(LucasLehmer { residue, .. })
            | Saved::PMinus1(PMinus1 { residue, .. }) => {
                residues.push(residue);
                None
            }
            Saved::Prp(test) => {
                residues.extend([&test.now.x, &test.now.d]);
                if test.verified.iteration != test.now.iteration {
                    residues.extend([&test.verified.x, &test.verified.d]);
                }
                residues.extend(&test.last);
                residues.extend(test.certification.as_ref().map(|asked| &asked.start));
                Some(PrpHeader {
                    block: test.block,
                    verified: test.verified.iteration,
                    errors: test.errors,
                    has_last: test.last.is_some(),
                    squarings: test.certification.as_ref().map(|asked| asked.squarings),
                })
            }
        };
        let number = self.number();
        let header = Header {
            k: number.k(),
            exponent: number.n(),
            is_plus: number.c() > 0,
            worktype: self.worktype().to_owned(),
            iteration: self.progress().0,
            bound: self.bound(),
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

    /// What these bytes say of how far a test is that begins as `start`.
    fn from_bytes(bytes: &[u8], start: &Saved) -> Result<Self, String> {
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
        let number = Number::new(header.k, header.exponent, header.is_plus).ok_or_else(broken)?;
        let worktype = header.worktype.as_str();
        if (number, worktype, header.bound) != (start.number(), start.worktype(), start.bound()) {
            return Err(format!("it is of another test: {number} {worktype}"));
        }
        let mut residue = || -> Result<Residue, String> {
            let (bytes, others) = rest.split_at_checked(number.bytes()).ok_or_else(broken)?;
            rest = others;
            Ok(Residue::from_bytes(number, bytes))
        };
        match (start, header.prp) {
            (Saved::LucasLehmer(start), None) if header.iteration <= start.iterations() => {
                Ok(Saved::LucasLehmer(LucasLehmer {
                    iteration: header.iteration,
                    residue: residue()?,
                }))
            }
            (Saved::PMinus1(start), None) if header.iteration <= start.iterations() => {
                let mut test = start.clone();
                (test.iteration, test.residue) = (header.iteration, residue()?);
                Ok(Saved::PMinus1(test))
            }
            (Saved::Prp(start), Some(prp))
                if prp.block > 0
                    && prp.squarings != Some(0)
                    && prp.squarings.is_some() == start.certification.is_some() =>
            {
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
                let last = prp.has_last.then(&mut residue).transpose()?;
                let certification = |squarings| -> Result<Box<Certification>, String> {
                    let start = residue()?;
                    Ok(Box::new(Certification { start, squarings }))
                };
                let certification = prp.squarings.map(certification).transpose()?;
                Ok(Saved::Prp(Prp::at(
                    certification,
                    prp.block,
                    now,
                    verified,
                    last,
                    prp.errors,
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

    /// A test's save file and those beside it. Each bound of P-1 has its own.
    fn files(&self, test: &Saved) -> [PathBuf; 3] {
        let number = test.number();
        let stem = match (test.worktype(), test.bound(), number.exponent()) {
            ("LL", _, Some(p)) => format!("m{p}.ll"),
            ("Cert", _, Some(p)) => format!("m{p}.certification"),
            (_, Some(bound), Some(p)) => format!("m{p}.{bound}.pm1"),
            (_, _, Some(p)) => format!("m{p}.prp"),
            (_, _, None) => format!("{}x2^{}{:+}", number.k(), number.n(), number.c()),
        };
        ["", ".new", ".old"].map(|end| self.file(&format!("{stem}{end}")))
    }

    /// Saves a test, so that a kill at any moment leaves this or the one before whole.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save(&self, test: &Saved) -> Result<(), Error> {
        let [name, new, old] = self.files(test);
        let written = write_whole(&new, &test.to_bytes())
            .and_then(|()| match fs::rename(&name, &old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            })
            .and_then(|()| fs::rename(&new, &name))
            .and_then(|()| sync_folder(&self.path));
        written.map_err(|source| Error::File { path: name, source })
    }

    /// The test that begins as `start`, as far as the furthest of its files has it, and what is
    /// wrong with those that were passed over.
    ///
    /// # Errors
    /// [`Error::Save`] where there are files and none of them is whole; but the first save cut
    /// short is none.
    pub fn load(&self, start: &Saved) -> Result<(Option<Saved>, Vec<Error>), Error> {
        let mut wrong = Vec::new();
        let mut found: Option<Saved> = None;
        let files = self.files(start);
        let was_saved = files[0].exists() || files[2].exists();
        for path in files {
            let read = match fs::read(&path) {
                Ok(bytes) => Saved::from_bytes(&bytes, start),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => Err(error.to_string()),
            };
            match read {
                // Another certification's of the same number is of no use.
                Ok(test) if test.certification() != start.certification() => {}
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
            (None, Some(error)) if was_saved => Err(error),
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

    /// What a certification of `2^p - 1` starts from, in the file that AutoPrimeNet leaves:
    /// `M{p}.cert`, the residue's bytes.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, [`Error::Save`] where it is no residue.
    pub fn load_start(&self, p: u32) -> Result<Residue, Error> {
        let path = self.file(&format!("M{p}.cert"));
        match fs::read(&path) {
            Err(source) => Err(Error::File { path, source }),
            Ok(bytes) if bytes.len() == p.div_ceil(8) as usize => {
                Ok(Residue::from_bytes(p, &bytes))
            }
            Ok(bytes) => {
                let (found, wanted) = (bytes.len(), p.div_ceil(8));
                let what = format!("it has {found} bytes, and a residue has {wanted}");
                Err(Error::Save { path, what })
            }
        }
    }

    /// Removes that file.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be removed.
    pub fn remove_start(&self, p: u32) -> Result<(), Error> {
        let path = self.file(&format!("M{p}.cert"));
        fs::remove_file(&path).map_err(|source| Error::File { path, source })
    }

    /// Keeps the residue of an iteration for a proof.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save_residue(&self, iteration: u32, residue: &Residue) -> Result<(), Error> {
        let folder = self.residues(residue.number().n());
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
    pub fn remove(&self, test: &Saved) -> Result<(), Error> {
        let gone = |path: PathBuf, removed: io::Result<()>| match removed {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(Error::File { path, source })
            }
            _ => Ok(()),
        };
        for path in self.files(test) {
            let removed = fs::remove_file(&path);
            gone(path, removed)?;
        }
        match (test.worktype(), test.number().exponent()) {
            ("PRP-3", Some(p)) => {
                let residues = self.residues(p);
                let removed = fs::remove_dir_all(&residues);
                gone(residues, removed)
            }
            _ => Ok(()),
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
