//! The folder that tests are saved in.
//!
//! A save is written to a file beside the last one (`.new`), brought to the disk, and renamed; the
//! save before it stays (`.old`), and more of them if they are wanted (`.old2`). Whatever moment the
//! program is killed at, one file is whole; a test is taken up from the furthest of those that are.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::proof::md5;
use crate::{Error, Lock, Number, Proof, Residue};

/// What a [`Folder`] saves: a test, or trial factoring.
pub trait Save: Sized {
    /// The unit of its progress.
    const UNIT: &'static str;

    /// The name of its save file. No two tests have the same.
    fn name(&self) -> String;

    /// The units that are done.
    fn done(&self) -> u64;

    /// The low 64 bits of its residue, if it has one.
    fn res64(&self) -> Option<u64>;

    /// The bytes of its save file.
    fn to_bytes(&self) -> Vec<u8>;

    /// The test of a save file, which begins as `start`; `None` where the file is whole and of no
    /// use to it.
    ///
    /// # Errors
    /// What is wrong with the bytes, in words.
    fn from_bytes(bytes: &[u8], start: &Self) -> Result<Option<Self>, String>;
}

/// A folder with the files of tests.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    backups: usize,
}

impl Folder {
    /// The most saves that stay beside the last one.
    pub const MOST_BACKUPS: usize = 9;

    /// The folder at this path, which exists.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Folder { path, backups: 1 }
    }

    /// The folder, where `backups` saves stay beside the last one, in place of one.
    ///
    /// # Panics
    /// If they are none, or more than [`Folder::MOST_BACKUPS`].
    #[must_use]
    pub fn with_backups(self, backups: usize) -> Self {
        assert!(
            (1..=Self::MOST_BACKUPS).contains(&backups),
            "1 to 9 backups"
        );
        Folder { backups, ..self }
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Takes the lock of this name (`NAME.lck`). Nobody else has it until it is dropped.
    ///
    /// # Errors
    /// [`Error::Locked`] where another process has it; [`Error::File`] where it cannot be made.
    pub fn lock(&self, name: &str) -> Result<Lock, Error> {
        let path = self.file(name);
        let lock = Lock::try_of(&path);
        let path = Lock::path(&path);
        match lock {
            Ok(Ok(lock)) => Ok(lock),
            Ok(Err(holder)) => Err(Error::Locked { path, holder }),
            Err(source) => Err(Error::File { path, source }),
        }
    }

    /// The names that the save files of a test may have: the new one's, the last one's, and those of
    /// the saves before it, the latest first.
    pub fn saves(name: &str) -> Vec<String> {
        let older = (2..=Self::MOST_BACKUPS).map(|age| format!("{name}.old{age}"));
        let first = [".new", "", ".old"].map(|end| format!("{name}{end}"));
        first.into_iter().chain(older).collect()
    }

    /// Saves a test, so that a kill at any moment leaves this save or the one before it whole.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save(&self, test: &impl Save) -> Result<(), Error> {
        let names = Self::saves(&test.name());
        let paths: Vec<PathBuf> = names.iter().map(|name| self.file(name)).collect();
        let age = |pair: &[PathBuf]| if_there(fs::rename(&pair[0], &pair[1]));
        let mut older = paths[1..=self.backups + 1].windows(2).rev();
        let written = write_whole(&paths[0], &test.to_bytes())
            .and_then(|()| older.try_for_each(age))
            .and_then(|()| fs::rename(&paths[0], &paths[1]))
            .and_then(|()| sync_folder(&self.path));
        let path = self.file(&test.name());
        written.map_err(|source| Error::File { path, source })
    }

    /// The test that begins as `start`, as far as the furthest of its files has it, and what is
    /// wrong with the files that were passed over.
    ///
    /// # Errors
    /// [`Error::Save`] where there are files and none of them is whole, unless the only one is a
    /// first save that was cut short; [`Error::File`] where one cannot be read that might be whole.
    pub fn load<T: Save>(&self, start: &T) -> Result<(Option<T>, Vec<Error>), Error> {
        let mut wrong = Vec::new();
        let mut found: Option<T> = None;
        let names = Self::saves(&start.name());
        let paths: Vec<PathBuf> = names.iter().map(|name| self.file(name)).collect();
        let was_saved = paths[1..].iter().any(|path| path.exists());
        for path in paths {
            let test = match fs::read(&path) {
                Ok(bytes) => T::from_bytes(&bytes, start),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => {
                    wrong.push(Error::File { path, source });
                    continue;
                }
            };
            match test {
                Ok(test) => {
                    let further = test.filter(|test| {
                        let best = found.as_ref();
                        best.is_none_or(|best| best.done() < test.done())
                    });
                    found = further.or(found);
                }
                Err(what) => wrong.push(Error::Save { path, what }),
            }
        }
        let is_unread = |error: &Error| matches!(error, Error::File { .. });
        let unread = wrong.iter().position(is_unread);
        match unread.or(wrong.len().checked_sub(1)) {
            Some(worst) if found.is_none() && was_saved => Err(wrong.swap_remove(worst)),
            _ => Ok((found, wrong)),
        }
    }

    /// Renames the save files of a test that are damaged, so that it can begin anew.
    ///
    /// # Errors
    /// [`Error::File`] where one cannot be renamed.
    pub fn set_aside(&self, test: &impl Save) -> Result<(), Error> {
        for name in Self::saves(&test.name()) {
            let (path, aside) = (self.file(&name), self.file(&format!("{name}.damaged")));
            let renamed = if_there(fs::rename(&path, aside));
            renamed.map_err(|source| Error::File { path, source })?;
        }
        Ok(())
    }

    /// Removes the file or folder of this name, if it is there.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.file(name);
        let removed = match path.is_dir() {
            true => fs::remove_dir_all(&path),
            false => fs::remove_file(&path),
        };
        if_there(removed).map_err(|source| Error::File { path, source })
    }

    /// The name of the folder in which the test of a number keeps residues for its proof.
    pub fn residues(number: impl Into<Number>) -> String {
        format!("{}.residues", number.into().stem())
    }

    /// The name of the file from which a certification of `2^p - 1` starts, as AutoPrimeNet leaves
    /// it: the residue's bytes.
    pub fn start(p: u32) -> String {
        format!("M{p}.cert")
    }

    /// The residue in [`Folder::start`].
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, [`Error::Save`] where it is no residue.
    pub fn load_start(&self, p: u32) -> Result<Residue, Error> {
        let path = self.file(&Self::start(p));
        let what = match fs::read(&path) {
            Err(source) => return Err(Error::File { path, source }),
            Ok(bytes) if bytes.len() == p.div_ceil(8) as usize => {
                match Residue::unit_from_bytes(p, &bytes) {
                    Some(start) => return Ok(start),
                    None => format!("it is 0, or not below 2^{p} - 1: nothing can be certified"),
                }
            }
            Ok(bytes) => {
                let (found, wanted) = (bytes.len(), p.div_ceil(8));
                format!("it has {found} bytes, and a residue has {wanted}")
            }
        };
        Err(Error::Save { path, what })
    }

    /// Keeps the residue of an iteration for a proof.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save_residue(&self, iteration: u32, residue: &Residue) -> Result<(), Error> {
        let folder = self.file(&Self::residues(residue.number()));
        let path = folder.join(iteration.to_string());
        let mut bytes = residue.to_bytes();
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        fs::create_dir_all(&folder)
            .and_then(|()| replace(&path, &bytes))
            .map_err(|source| Error::File { path, source })
    }

    /// The residue of an iteration of the test of a number that was kept for a proof.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, [`Error::Save`] where it is damaged.
    pub fn load_residue(
        &self,
        number: impl Into<Number>,
        iteration: u32,
    ) -> Result<Residue, Error> {
        let number = number.into();
        let folder = self.file(&Self::residues(number));
        let path = folder.join(iteration.to_string());
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(Error::File { path, source }),
        };
        kept(number, &bytes).ok_or_else(|| {
            let what = "the residue is damaged".to_owned();
            Error::Save { path, what }
        })
    }

    /// The name of the file of middle `level` of a proof of this power that is being built.
    fn middle(&self, number: Number, power: u32, level: u32) -> PathBuf {
        let folder = self.file(&Self::residues(number));
        folder.join(format!("middle-{power}-{level}"))
    }

    /// Keeps a middle of a proof of this power, so that a proof which is interrupted goes on.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save_middle(&self, power: u32, level: u32, middle: &Residue) -> Result<(), Error> {
        let path = self.middle(middle.number(), power, level);
        let mut bytes = middle.to_bytes();
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        replace(&path, &bytes).map_err(|source| Error::File { path, source })
    }

    /// The first middles of a proof of this power that were kept and are whole.
    pub fn load_middles(&self, number: impl Into<Number>, power: u32) -> Vec<Residue> {
        let number = number.into();
        let middle = |level| kept(number, &fs::read(self.middle(number, power, level)).ok()?);
        (0..power).map_while(middle).collect()
    }

    /// Removes the middles that were kept.
    ///
    /// # Errors
    /// [`Error::File`] where one cannot be removed.
    pub fn remove_middles(&self, number: impl Into<Number>, power: u32) -> Result<(), Error> {
        let number = number.into();
        for level in 0..power {
            let path = self.middle(number, power, level);
            if_there(fs::remove_file(&path)).map_err(|source| Error::File { path, source })?;
        }
        Ok(())
    }

    /// Writes a file, and beside it one with its MD5, as PRST has them.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save_summed(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.file(name);
        replace(&path, bytes)
            .and_then(|()| replace(&summed(&path), md5(bytes).as_bytes()))
            .map_err(|source| Error::File { path, source })
    }

    /// The bytes of a file, which its MD5, where it is there, belongs to.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be read, [`Error::Save`] where it is damaged.
    pub fn load_summed(&self, name: &str) -> Result<Vec<u8>, Error> {
        let path = self.file(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(Error::File { path, source }),
        };
        match fs::read(summed(&path)) {
            Ok(sum) if !sum.starts_with(md5(&bytes).as_bytes()) => {
                let what = "its MD5 is another: it is damaged".to_owned();
                Err(Error::Save { path, what })
            }
            _ => Ok(bytes),
        }
    }

    /// Writes a proof and returns its path: one of `2^p - 1` is in the folder `proof`, from which AutoPrimeNet
    /// uploads it.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save_proof(&self, proof: &Proof) -> Result<PathBuf, Error> {
        let (number, power) = (proof.number(), proof.power());
        let path = self.file(&match number.exponent() {
            Some(p) => format!("proof/{p}-{power}.proof"),
            None => format!("{}-{power}.proof", number.stem()),
        });
        let folder = path.parent().unwrap_or(&self.path);
        let made = fs::create_dir_all(folder);
        match made.and_then(|()| replace(&path, &proof.to_bytes())) {
            Ok(()) => Ok(path),
            Err(source) => Err(Error::File { path, source }),
        }
    }
}

/// The residue in a file's bytes, before their sum, if they are whole.
fn kept(number: Number, bytes: &[u8]) -> Option<Residue> {
    let (bytes, sum) = bytes.split_last_chunk::<4>()?;
    let is_whole = bytes.len() == number.bytes() && crc32fast::hash(bytes).to_le_bytes() == *sum;
    is_whole.then(|| Residue::from_bytes(number, bytes))
}

/// Success where what a file was removed or renamed for is so: it was not there.
fn if_there(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// The file beside the one at `path` that is to take its place.
fn beside(path: &Path) -> PathBuf {
    with_end(path, ".new")
}

/// The file beside the one at `path` that has its MD5.
fn summed(path: &Path) -> PathBuf {
    with_end(path, ".md5")
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Removes what a kill left of a call of [`replace`] for `path`, and the lock of that file, unless
/// somebody holds it.
pub(crate) fn clear(path: &Path) {
    if let Ok(Ok(_lock)) = Lock::try_of(path) {
        // Where it stays it is in nobody's way.
        let _ = fs::remove_file(beside(path));
    }
}

/// Writes a file beside the one at `path`, and has it take that one's place.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = beside(path);
    write_whole(&new, bytes)?;
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
    let is_here = path.as_os_str().is_empty();
    File::open(if is_here { Path::new(".") } else { path })?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
