//! Numbers in files, and in the files of a folder: what a run that is taken up again need not compute.
//!
//! A file has `BIGINT1` and a zero byte, the key of the run that it is of, how many numbers there
//! are, how many limbs each has, and the limbs; all of it in little-endian words, of 64 bits but for
//! the limbs. It gets its name when it is complete and on the disk.

use crate::{Error, Integers};
use bigint_core::Limb;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: u64 = u64::from_le_bytes(*b"BIGINT1\0");

/// A folder for the numbers of one run.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// What the run computes with: files with another are those of other runs.
    key: u64,
}

impl Folder {
    /// The folder of this path, which is made if there is none.
    pub fn open(path: &Path, key: u64) -> Result<Self, Error> {
        fs::create_dir_all(path).map_err(|error| failed(path, &error))?;
        let path = path.to_owned();
        Ok(Folder { path, key })
    }

    /// The numbers of this name, if this run has kept them.
    pub fn read(&self, name: &str) -> Result<Option<Integers>, Error> {
        let path = self.path.join(name);
        match open(&path, self.key) {
            Ok(numbers) => numbers.transpose(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    /// Keeps numbers, none of which is negative.
    pub fn write(&self, name: &str, numbers: &Integers) -> Result<(), Error> {
        let path = self.path.join(name);
        let new = self.path.join(format!("{name}.new"));
        let written = create(&new, self.key, numbers).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| failed(&new, &error))
    }

    /// Removes the numbers of these names, where there are any.
    pub fn remove(&self, names: impl IntoIterator<Item = String>) {
        for name in names {
            // What stays is of a run that is over, and takes room alone.
            let _ = fs::remove_file(self.path.join(name));
        }
    }
}

impl Integers {
    /// Writes the magnitudes to a file, from which [`Integers::load`] has them back.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        create(path, 0, self).map_err(|error| failed(path, &error))
    }

    /// The numbers of a file that [`Integers::save`] has written.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::NotWrittenSo`]; [`Error::OutOfMemory`].
    pub fn load(path: &Path) -> Result<Self, Error> {
        let none = || std::io::Error::other("no file of numbers");
        let loaded = open(path, 0).and_then(|numbers| numbers.ok_or_else(none));
        loaded.map_err(|error| failed(path, &error))?
    }
}

fn create(path: &Path, key: u64, numbers: &Integers) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    write(&mut file, key, numbers)?;
    file.into_inner()?.sync_all()
}

fn open(path: &Path, key: u64) -> std::io::Result<Option<Result<Integers, Error>>> {
    read(
        &mut BufReader::with_capacity(1 << 20, File::open(path)?),
        key,
    )
}

fn write(to: &mut impl Write, key: u64, numbers: &Integers) -> std::io::Result<()> {
    for word in [MAGIC, key, numbers.len() as u64] {
        to.write_all(&word.to_le_bytes())?;
    }
    for index in 0..numbers.len() {
        to.write_all(&(numbers.length(index) as u64).to_le_bytes())?;
    }
    for limbs in numbers.limbs().chunks(1 << 14) {
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        to.write_all(&bytes)?;
    }
    Ok(())
}

/// The numbers, if they are of the run of this key; an error of memory or of form inside.
fn read(from: &mut impl Read, key: u64) -> std::io::Result<Option<Result<Integers, Error>>> {
    let mut word = [0; 8];
    let mut next = |from: &mut dyn Read| {
        from.read_exact(&mut word)?;
        Ok::<_, std::io::Error>(u64::from_le_bytes(word))
    };
    if next(from)? != MAGIC || next(from)? != key {
        return Ok(None);
    }
    let count = next(from)?;
    let mut ends = vec![0];
    let mut end = 0i64;
    for _ in 0..count {
        let length = i64::try_from(next(from)?).ok();
        let bytes = length.and_then(|length| length.checked_mul(size_of::<Limb>() as i64));
        let too_long = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        end = bytes
            .and_then(|bytes| end.checked_add(bytes))
            .ok_or_else(too_long)?;
        ends.push(end);
    }
    let mut limbs: Vec<Limb> = Vec::new();
    let mut left = end as usize;
    let mut bytes = vec![0; 1 << 16];
    while left > 0 {
        let part = &mut bytes[..left.min(1 << 16)];
        from.read_exact(part)?;
        limbs.extend(
            part.as_chunks()
                .0
                .iter()
                .map(|limb| Limb::from_le_bytes(*limb)),
        );
        left -= part.len();
    }
    let signs = vec![0; count.div_ceil(8) as usize];
    Ok(Some(Integers::from_parts(limbs, ends, signs)))
}

pub(super) fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::File {
        path: path.display().to_string(),
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_to_the_run_that_kept_them_and_to_no_other() {
        let path = std::env::temp_dir().join(format!("bigint-folder-{}", std::process::id()));
        let folder = Folder::open(&path, 7).unwrap();
        let numbers =
            Integers::from_texts(["0", "1", "0x1_0000_0000", "0xffff_ffff_ffff_ffff"]).unwrap();
        assert_eq!(folder.read("a").unwrap(), None);
        folder.write("a", &numbers).unwrap();
        assert_eq!(folder.read("a").unwrap(), Some(numbers));
        assert_eq!(Folder::open(&path, 8).unwrap().read("a").unwrap(), None);
        // A file that is cut off is no file of numbers, and is named.
        let bytes = fs::read(path.join("a")).unwrap();
        fs::write(path.join("a"), &bytes[..bytes.len() - 1]).unwrap();
        let refused = folder.read("a").unwrap_err();
        assert!(refused.to_string().contains("bigint-folder"), "{refused}");
        folder.remove(["a".to_owned()]);
        assert_eq!(folder.read("a").unwrap(), None);
        fs::remove_dir_all(path).unwrap();
    }
}
