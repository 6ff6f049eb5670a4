//! A folder that keeps keys, and the products that new ones are compared with.
//!
//! `keys.jsonl` has a head that names the file of products, and a line for each key; `run/` is what a run
//! that was killed had done. The folder changes when `keys.jsonl` gets its name, all at once.

use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use bigint_host::{Engine, Integers};
use serde::{Deserialize, Serialize};

use crate::batch_gcd::keys::Keys;
use crate::batch_gcd::report::Weakness;
use crate::failure::{Failure, SourcePlace};

/// Limbs of products that are made one, at most.
const JOINED: usize = 1 << 24;

const KEYS: &str = "keys.jsonl";

pub struct Known {
    folder: PathBuf,
    /// The file of products, if keys were kept.
    products: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct Head {
    products: String,
}

#[derive(Deserialize, Serialize)]
struct Line<'a> {
    file: std::borrow::Cow<'a, str>,
    line: u64,
    modulus: std::borrow::Cow<'a, str>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    weak: bool,
}

impl Known {
    /// The folder, which is made if there is none.
    ///
    /// # Errors
    /// [`Failure::Usage`] where there can be no such folder, or its keys are none.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let cannot = |error| Failure::Usage(format!("{}: {error}", folder.display()));
        fs::create_dir_all(folder).map_err(cannot)?;
        let folder = folder.to_owned();
        let keys = folder.join(KEYS);
        let products = match fs::File::open(&keys) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            opened => {
                let mut head = String::new();
                let read = opened.and_then(|file| BufReader::new(file).read_line(&mut head));
                read.map_err(|error| Failure::Usage(format!("{}: {error}", keys.display())))?;
                let head: Head =
                    serde_json::from_str(&head).map_err(|error| bad(&keys, 1, &error))?;
                Some(head.products)
            }
        };
        Ok(Known { folder, products })
    }

    /// Takes the keys in.
    ///
    /// # Errors
    /// [`Failure::Input`] where a line is none.
    pub fn read_keys(&self, keys: &mut Keys) -> Result<(), Failure> {
        if self.products.is_none() {
            return Ok(());
        }
        let path = self.folder.join(KEYS);
        let unreadable =
            |error: std::io::Error| Failure::Running(format!("{}: {error}", path.display()));
        let file = fs::File::open(&path).map_err(unreadable)?;
        let lines = BufReader::with_capacity(1 << 20, file).lines();
        for (number, line) in (1..).zip(lines).skip(1) {
            let line = line.map_err(unreadable)?;
            let line: Line<'_> =
                serde_json::from_str(&line).map_err(|error| bad(&path, number, &error))?;
            let modulus = Integers::from_texts([&*line.modulus]);
            let modulus = modulus.map_err(|error| bad(&path, number, &error))?;
            let file = keys.file(&line.file);
            keys.add(file, line.line, modulus.magnitude(0), line.weak)?;
        }
        Ok(())
    }

    /// The products of all keys' moduli.
    ///
    /// # Errors
    /// [`Failure::Running`] where their file cannot be read.
    pub fn products(&self) -> Result<Integers, Failure> {
        match &self.products {
            Some(name) => Ok(Integers::load(&self.folder.join(name))?),
            None => Ok(Integers::new()),
        }
    }

    /// Keeps all keys in the place of what there was.
    ///
    /// # Errors
    /// [`Failure::Running`] where there is no room for them.
    pub fn keep(
        &self,
        engine: &Engine,
        keys: &Keys,
        weaknesses: &[Weakness],
        old: &Integers,
        new: &Integers,
    ) -> Result<(), Failure> {
        let number = self.products.as_deref().and_then(|name| {
            let number = name.strip_prefix("products-")?;
            number.parse::<u64>().ok()
        });
        let name = format!("products-{}", number.map_or(0, |number| number + 1));
        joined(engine, &Integers::concatenate(&[old, new])?)?.save(&self.folder.join(&name))?;
        let path = self.folder.join(KEYS);
        let written = self.write_keys(keys, weaknesses, &name);
        written.map_err(|error| {
            Failure::Running(format!("{}: cannot write: {error}", path.display()))
        })?;
        if let Some(old) = &self.products {
            // What stays takes room alone.
            let _ = fs::remove_file(self.folder.join(old));
        }
        Ok(())
    }

    fn write_keys(
        &self,
        keys: &Keys,
        weaknesses: &[Weakness],
        products: &str,
    ) -> std::io::Result<()> {
        let mut is_weak = vec![false; keys.moduli().len()];
        for weakness in weaknesses.iter().filter(|weakness| weakness.is_shared()) {
            is_weak[weakness.modulus] = true;
        }
        let file = tempfile::NamedTempFile::new_in(&self.folder)?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let head = Head {
            products: products.to_owned(),
        };
        serde_json::to_writer(&mut out, &head)?;
        let mut hex = String::new();
        for place in keys.places() {
            hex.clear();
            hex.push_str("0x");
            let mut limbs = keys.moduli().magnitude(place.modulus).iter().rev();
            hex.extend(limbs.next().map(|top| format!("{top:x}")));
            hex.extend(limbs.map(|limb| format!("{limb:08x}")));
            out.write_all(b"\n")?;
            let line = Line {
                file: keys.files()[place.file].as_str().into(),
                line: place.line,
                modulus: hex.as_str().into(),
                weak: is_weak[place.modulus],
            };
            serde_json::to_writer(&mut out, &line)?;
        }
        out.write_all(b"\n")?;
        let file = out.into_inner()?;
        file.as_file().sync_all()?;
        file.persist(self.folder.join(KEYS))?;
        Ok(())
    }
}

/// Fewer products of the same numbers: a short one costs as much as a long one where it is compared with.
fn joined(engine: &Engine, products: &Integers) -> Result<Integers, Failure> {
    let (mut joined, mut start, mut limbs) = (Vec::new(), 0, 0);
    for index in 0..products.len() {
        let length = products.magnitude(index).len();
        if index > start && limbs + length > JOINED {
            joined.push(engine.product(&products.slice(start..index)?)?);
            (start, limbs) = (index, 0);
        }
        limbs += length;
    }
    joined.push(engine.product(&products.slice(start..products.len())?)?);
    Ok(Integers::concatenate(&joined.iter().collect::<Vec<_>>())?)
}

fn bad(path: &Path, line: u64, error: &dyn std::fmt::Display) -> Failure {
    let place = SourcePlace {
        source: path.display().to_string(),
        line,
        column: 1,
    };
    Failure::Input(
        place,
        format!("not what batch-gcd keeps in a folder: {error}"),
    )
}
