//! The folder that tests are saved in.
//!
//! A file is written beside (`.new`), brought to the disk, and renamed; the one before stays
//! (`.old`). Whatever moment the program is killed at, one of the three is whole; of those that
//! are, the furthest is taken up.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Lock, Proof, Residue, Saved, TrialFactoring};

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

    /// Takes the lock of this name (`NAME.lck`), as long as which nobody else has it.
    ///
    /// # Errors
    /// [`Error::Locked`] where another process has it; [`Error::File`] where it cannot be made.
    pub fn lock(&self, name: &str) -> Result<Lock, Error> {
        let path = self.file(name);
        match Lock::try_of(&path) {
            Ok(Ok(lock)) => Ok(lock),
            Ok(Err(holder)) => Err(Error::Locked {
                path: Lock::path(&path),
                holder,
            }),
            Err(source) => Err(Error::File {
                path: Lock::path(&path),
                source,
            }),
        }
    }

    /// The lock of a test's save files.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    pub fn lock_test(&self, test: &Saved) -> Result<Lock, Error> {
        self.lock(&Self::stem(test))
    }

    /// The lock of trial factoring's.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    pub fn lock_trial(&self, trial: &TrialFactoring) -> Result<Lock, Error> {
        self.lock(&Self::stem_of_trial(trial))
    }

    /// The stem of a test's save file. Each bound of P-1 has its own.
    fn stem(test: &Saved) -> String {
        let number = test.number();
        match (test.worktype(), test.bound(), number.exponent()) {
            ("LL", _, Some(p)) => format!("m{p}.ll"),
            ("Cert", _, Some(p)) => format!("m{p}.certification"),
            (_, Some(bound), Some(p)) => format!("m{p}.{bound}.pm1"),
            (_, _, Some(p)) => format!("m{p}.prp"),
            (_, _, None) => format!("{}x2^{}{:+}", number.k(), number.n(), number.c()),
        }
    }

    /// That of trial factoring: each range has its own.
    fn stem_of_trial(trial: &TrialFactoring) -> String {
        let [from, to] = trial.bits();
        format!("m{}.{from}-{to}.tf", trial.p())
    }

    /// A save file and those beside it.
    fn files(&self, stem: &str) -> [PathBuf; 3] {
        ["", ".new", ".old"].map(|end| self.file(&format!("{stem}{end}")))
    }

    /// Saves a test, so that a kill at any moment leaves this or the one before whole.
    ///
    /// # Errors
    /// [`Error::File`] where it cannot be written.
    pub fn save(&self, test: &Saved) -> Result<(), Error> {
        self.write(&Self::stem(test), &test.to_bytes())
    }

    /// Saves trial factoring, as [`save`](Self::save) does a test.
    ///
    /// # Errors
    /// As there.
    pub fn save_trial(&self, trial: &TrialFactoring) -> Result<(), Error> {
        self.write(&Self::stem_of_trial(trial), &trial.to_bytes())
    }

    fn write(&self, stem: &str, bytes: &[u8]) -> Result<(), Error> {
        let [name, new, old] = self.files(stem);
        let written = write_whole(&new, bytes)
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
    /// [`Error::Save`] where there are files and none of them is whole, but the first save cut
    /// short is none; [`Error::File`] where one cannot be read that might be.
    pub fn load(&self, start: &Saved) -> Result<(Option<Saved>, Vec<Error>), Error> {
        let parse = |bytes: &[u8]| {
            let test = Saved::from_bytes(bytes, start)?;
            // Another certification's of the same number is of no use.
            let is_same = test.certification() == start.certification();
            Ok(is_same.then(|| (u64::from(test.progress().0), test)))
        };
        self.read(&Self::stem(start), parse)
    }

    /// Trial factoring, likewise.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_trial(
        &self,
        start: &TrialFactoring,
    ) -> Result<(Option<TrialFactoring>, Vec<Error>), Error> {
        let parse = |bytes: &[u8]| {
            let trial = TrialFactoring::from_bytes(bytes, start)?;
            Ok(Some((trial.progress().0, trial)))
        };
        self.read(&Self::stem_of_trial(start), parse)
    }

    /// What `parse` makes of the files, where it has come furthest.
    fn read<T>(
        &self,
        stem: &str,
        parse: impl Fn(&[u8]) -> Result<Option<(u64, T)>, String>,
    ) -> Result<(Option<T>, Vec<Error>), Error> {
        let mut wrong = Vec::new();
        let mut found: Option<(u64, T)> = None;
        let files = self.files(stem);
        let was_saved = files[0].exists() || files[2].exists();
        for path in files {
            let read = match fs::read(&path) {
                Ok(bytes) => parse(&bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => {
                    wrong.push(Error::File { path, source });
                    continue;
                }
            };
            match read {
                Ok(Some((progress, _)))
                    if found.as_ref().is_some_and(|best| best.0 >= progress) => {}
                Ok(better) => found = better.or(found),
                Err(what) => wrong.push(Error::Save { path, what }),
            }
        }
        let unread = wrong
            .iter()
            .position(|error| matches!(error, Error::File { .. }));
        match unread.or(wrong.len().checked_sub(1)) {
            Some(worst) if found.is_none() && was_saved => Err(wrong.swap_remove(worst)),
            _ => Ok((found.map(|(_, found)| found), wrong)),
        }
    }

    /// Has the save files of a test, all of which are damaged, out of its way: under their names
    /// with `.damaged` behind.
    ///
    /// # Errors
    /// [`Error::File`] where one cannot be renamed.
    pub fn set_aside(&self, test: &Saved) -> Result<(), Error> {
        self.set_files_aside(&Self::stem(test))
    }

    /// Those of trial factoring.
    ///
    /// # Errors
    /// As [`set_aside`](Self::set_aside).
    pub fn set_trial_aside(&self, trial: &TrialFactoring) -> Result<(), Error> {
        self.set_files_aside(&Self::stem_of_trial(trial))
    }

    fn set_files_aside(&self, stem: &str) -> Result<(), Error> {
        for path in self.files(stem) {
            let mut aside = path.as_os_str().to_owned();
            aside.push(".damaged");
            let renamed = fs::rename(&path, aside);
            gone(path, renamed)?;
        }
        Ok(())
    }

    /// Where the residues of a test are that a proof will be made of.
    pub fn residues(&self, p: u32) -> PathBuf {
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
                let start = Residue::unit_from_bytes(p, &bytes);
                start.ok_or_else(|| {
                    let what = format!("it is 0, or not below 2^{p} - 1: nothing can be certified");
                    Error::Save { path, what }
                })
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

    /// Removes the save files of a test that is done.
    ///
    /// # Errors
    /// [`Error::File`] where one cannot be removed.
    pub fn remove(&self, test: &Saved) -> Result<(), Error> {
        self.remove_files(&Self::stem(test))
    }

    /// Removes the residues that were kept for the proof of a test of `2^p - 1`.
    ///
    /// # Errors
    /// As [`remove`](Self::remove).
    pub fn remove_residues(&self, p: u32) -> Result<(), Error> {
        let residues = self.residues(p);
        let removed = fs::remove_dir_all(&residues);
        gone(residues, removed)
    }

    /// Removes those of trial factoring.
    ///
    /// # Errors
    /// As [`remove`](Self::remove).
    pub fn remove_trial(&self, trial: &TrialFactoring) -> Result<(), Error> {
        self.remove_files(&Self::stem_of_trial(trial))
    }

    fn remove_files(&self, stem: &str) -> Result<(), Error> {
        for path in self.files(stem) {
            let removed = fs::remove_file(&path);
            gone(path, removed)?;
        }
        Ok(())
    }
}

/// What was to be removed, if it was there.
fn gone(path: PathBuf, removed: io::Result<()>) -> Result<(), Error> {
    match removed {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::File { path, source })
        }
        _ => Ok(()),
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
