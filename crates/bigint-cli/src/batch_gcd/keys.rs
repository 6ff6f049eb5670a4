//! Keys of files: those of [texts](text), and of tables' columns.
//!
//! Files of text are read side by side, a piece of each in turn: their keys come in the same order each time, and
//! no more of them is in memory than two pieces of each of a few files.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use bigint_host::{Error, Integers, Limb};

use crate::batch_gcd::text::{self, BLOCK, NOT_POSITIVE, Piece, Text};
use crate::failure::{Failure, SourcePlace};
use crate::files;
use crate::form::{self, Form};
use crate::number::Unread;
use crate::rows::next_rows;
use crate::text_table::Wanted;
use crate::threads::{self, Pieces};

/// Where a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Which file.
    pub file: usize,
    /// Counted from 1.
    pub line: u64,
    /// Which modulus.
    pub modulus: usize,
}

/// Keys, and their moduli, each once.
pub struct Keys {
    files: Vec<String>,
    places: Vec<Place>,
    /// The first place of the files that are read now.
    first_new: usize,
    moduli: Integers,
    /// The last modulus of each hash, and before each modulus the one of the same hash.
    last: HashMap<u64, usize>,
    before: Vec<Option<usize>>,
    hasher: RandomState,
    weak_before: Vec<usize>,
    passed_over: usize,
    first_passed_over: Option<String>,
}

impl Keys {
    pub fn new() -> Self {
        Keys {
            files: Vec::new(),
            places: Vec::new(),
            first_new: 0,
            moduli: Integers::new(),
            last: HashMap::new(),
            before: Vec::new(),
            hasher: RandomState::new(),
            weak_before: Vec::new(),
            passed_over: 0,
            first_passed_over: None,
        }
    }

    pub fn files(&self) -> &[String] {
        &self.files
    }

    pub fn places(&self) -> &[Place] {
        &self.places
    }

    pub fn moduli(&self) -> &Integers {
        &self.moduli
    }

    /// Old moduli that were found to share a factor when they were new.
    pub fn weak_before(&self) -> &[usize] {
        &self.weak_before
    }

    /// What follows is of the files that are read now.
    pub fn begin_new(&mut self) {
        self.first_new = self.places.len();
    }

    /// Ends the reading: what stood before where now another key stands, or the same, is forgotten, and
    /// so is what was read twice.
    pub fn end_new(&mut self) {
        let mut seen = HashSet::new();
        let mut new = self.places.split_off(self.first_new);
        new.retain(|place| seen.insert((place.file, place.line)));
        self.places
            .retain(|place| !seen.contains(&(place.file, place.line)));
        self.first_new = self.places.len();
        self.places.append(&mut new);
    }

    /// Whether this place is of the files that are read now.
    pub fn is_new(&self, place: usize) -> bool {
        place >= self.first_new
    }

    /// What was passed over, in words.
    pub fn passed_over(&self) -> Option<String> {
        let first = self.first_passed_over.as_ref()?;
        let count = self.passed_over;
        Some(format!(
            "{count} passed over that are no RSA keys; the first: {first}"
        ))
    }

    /// The index of a file by its name.
    pub fn file(&mut self, name: &str) -> usize {
        let known = self.files.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.files.push(name.to_owned());
            self.files.len() - 1
        })
    }

    /// Takes a key in, whose modulus has these limbs.
    pub fn add(
        &mut self,
        file: usize,
        line: u64,
        limbs: &[Limb],
        was_weak: bool,
    ) -> Result<(), Error> {
        let hash = self.hasher.hash_one(limbs);
        self.add_hashed(file, line, (limbs, hash), was_weak)
    }

    fn add_hashed(
        &mut self,
        file: usize,
        line: u64,
        (limbs, hash): (&[Limb], u64),
        was_weak: bool,
    ) -> Result<(), Error> {
        let mut candidate = self.last.get(&hash).copied();
        while let Some(index) = candidate.filter(|&index| self.moduli.magnitude(index) != limbs) {
            candidate = self.before[index];
        }
        let index = match candidate {
            Some(index) => index,
            None => {
                let index = self.moduli.len();
                self.moduli.push(false, limbs)?;
                self.before.push(self.last.insert(hash, index));
                index
            }
        };
        if was_weak {
            self.weak_before.push(index);
        }
        self.places.push(Place {
            file,
            line,
            modulus: index,
        });
        Ok(())
    }

    /// Reads the keys of files, and of tables' columns.
    ///
    /// # Errors
    /// [`Failure::Input`] where one cannot be read, or has a line that is no positive integer; [`Failure::Usage`] where one has no such
    /// column. It is that of the first file that has one.
    pub fn read(&mut self, sources: &[OsString]) -> Result<(), Failure> {
        let mut texts = Vec::new();
        for source in sources {
            let (path, form, column) = form::split(source)?;
            match form {
                Form::Lines if is_file(source) => texts.push(source),
                Form::Lines => {
                    self.read_texts(&std::mem::take(&mut texts))?;
                    self.read_texts(&[source])?;
                }
                _ => {
                    self.read_texts(&std::mem::take(&mut texts))?;
                    self.read_column(&path, form, column)?;
                }
            }
        }
        self.read_texts(&texts)
    }

    /// Reads the moduli of a table's column. Nulls are none.
    fn read_column(
        &mut self,
        path: &Path,
        form: Form,
        column: Option<String>,
    ) -> Result<(), Failure> {
        let column = [column];
        let wanted = Wanted::Some(&column);
        let mut opened = files::open(path, form, wanted, BLOCK, &Arc::default())?;
        let name = opened.reader.paths().swap_remove(0);
        let file = self.file(&name);
        while let Some(rows) = next_rows(std::slice::from_mut(&mut opened.reader))? {
            let rows = &rows[0];
            let bad = |row: usize, offset: usize, what: String| {
                let (line, column) = rows.position(row);
                let place = SourcePlace {
                    source: name.clone(),
                    line,
                    column: column + offset as u64,
                };
                Failure::Input(place, what)
            };
            let nulls = rows.nulls();
            let are_keys = (0..rows.len()).filter(|row| nulls.binary_search(row).is_err());
            let are_keys: Vec<usize> = are_keys.collect();
            for &row in &are_keys {
                if let Some((offset, what)) = rows.wrong(row) {
                    return Err(bad(row, offset, what));
                }
            }
            let numbers = rows.column(0..rows.len(), &[], None);
            let numbers = numbers.map_err(|unread| match unread {
                Unread::Memory(error) => error.into(),
                Unread::Bad(what) => bad(0, what.offset, what.to_string()),
            })?;
            for row in are_keys {
                if numbers.is_negative(row) || numbers.magnitude(row).is_empty() {
                    return Err(bad(row, 0, NOT_POSITIVE.to_owned()));
                }
                let (line, _) = rows.position(row);
                self.add(file, line, numbers.magnitude(row), false)?;
            }
        }
        Ok(())
    }

    /// Reads the keys of texts side by side.
    fn read_texts(&mut self, paths: &[&OsString]) -> Result<(), Failure> {
        let at_once = bigint_cpu::threads().min(paths.len());
        // The threads of one file are the machine's, those of several are for each its own.
        let threads = if at_once == 1 { usize::MAX } else { 1 };
        let files: Vec<usize> = paths
            .iter()
            .map(|path| self.file(&text::name_of(path)))
            .collect();
        let (first_place, hasher) = (self.places.len(), self.hasher.clone());
        thread::scope(|scope| {
            let open = |index: usize| {
                let text = Text::open(paths[index], hasher.clone(), threads);
                let pieces: Pieces<'_, Piece> = match text {
                    Ok(text) if at_once > 1 => threads::ahead(scope, text),
                    Ok(text) => Box::new(text),
                    Err(failure) => Box::new(std::iter::once(Err(failure))),
                };
                (index, pieces)
            };
            let mut next = at_once;
            let mut opened: VecDeque<_> = (0..at_once).map(open).collect();
            // What was passed over in files before these comes first.
            let is_told = self.first_passed_over.is_some();
            let (mut failed, mut passed_over) = (None, if is_told { 0 } else { paths.len() });
            while let Some((index, mut pieces)) = opened.pop_front() {
                match pieces.next() {
                    Some(Ok(piece)) => {
                        self.take(files[index], &piece)?;
                        if let Some(first) = piece.first_passed_over
                            && index < passed_over
                        {
                            passed_over = index;
                            self.first_passed_over = Some(first);
                        }
                        opened.push_back((index, pieces));
                    }
                    // Only one that is told before may still be found.
                    Some(Err(failure)) => {
                        opened.retain(|(other, _)| *other < index);
                        (failed, next) = (Some(failure), paths.len());
                    }
                    None if next < paths.len() => {
                        opened.push_back(open(next));
                        next += 1;
                    }
                    None => {}
                }
            }
            failed.map_or(Ok(()), Err)
        })?;
        let ranks: HashMap<usize, usize> = files.into_iter().rev().zip(0..).collect();
        let order = |place: &Place| (Reverse(ranks[&place.file]), place.line);
        self.places[first_place..].sort_by_key(order);
        Ok(())
    }

    /// Takes the keys of a piece in.
    fn take(&mut self, file: usize, piece: &Piece) -> Result<(), Failure> {
        for (index, &(line, hash)) in piece.keys.iter().enumerate() {
            let limbs = piece.moduli.magnitude(index);
            self.add_hashed(file, line, (limbs, hash), false)?;
        }
        self.passed_over += piece.passed_over;
        Ok(())
    }
}

/// Whether files like this may be read side by side: who writes into pipes may wait for one of them.
fn is_file(path: &OsStr) -> bool {
    path != "-" && Path::new(path).metadata().is_ok_and(|of| of.is_file())
}
