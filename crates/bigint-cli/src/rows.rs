//! Rows of the sources' columns, as text that is still to be read or as numbers, and how sources
//! advance in step.
//!
//! A piece holds equally many rows of each source. Rows that one source has read ahead of another
//! stay where they are, so memory grows neither with the files nor with how unequal their rows are.

use std::ops::Range;

use bigint_host::{Engine, Integers};

use crate::column::read_column;
use crate::failure::{Failure, SourcePlace};
use crate::lines::Chunk;
use crate::number::{Number, Unread};
use crate::source::Stop;

/// Consecutive rows of one column.
#[derive(Debug)]
pub enum Rows {
    /// Rows as text.
    Text(Chunk),
    /// Rows as numbers.
    Numbers(Numbers),
}

/// Rows of numbers, some of which may be null or invalid.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The numbers; a row without one has any number here.
    pub numbers: Integers,
    /// The rows that are null, in order.
    pub nulls: Vec<usize>,
    /// The invalid rows, in order, each with what is wrong with it.
    pub wrong: Vec<(usize, String)>,
    /// The number of rows of the column before these.
    pub before: u64,
}

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Rows::Text(chunk) => chunk.numbers.len(),
            Rows::Numbers(rows) => rows.numbers.len(),
        }
    }

    /// About how many bytes the rows take.
    pub fn bytes(&self) -> usize {
        match self {
            Rows::Text(chunk) => chunk.text.len(),
            Rows::Numbers(rows) => size_of_val(rows.numbers.limbs()),
        }
    }

    /// The line and the column of a row, both from 1. In a file without lines, the line is the
    /// row's number.
    pub fn position(&self, row: usize) -> (u64, u64) {
        match self {
            Rows::Text(chunk) => chunk.position(row),
            Rows::Numbers(rows) => (rows.before + row as u64 + 1, 1),
        }
    }

    /// The rows that are null.
    pub fn nulls(&self) -> Vec<usize> {
        match self {
            Rows::Text(chunk) => chunk.nulls(),
            Rows::Numbers(rows) => rows.nulls.clone(),
        }
    }

    /// Whether some rows are known to be invalid before they are read.
    pub fn has_wrong(&self) -> bool {
        match self {
            Rows::Text(chunk) => !chunk.refused.is_empty(),
            Rows::Numbers(rows) => !rows.wrong.is_empty(),
        }
    }

    /// What is wrong with a row that is not null, and the index of the first wrong byte in its
    /// text.
    pub fn wrong(&self, row: usize) -> Option<(usize, String)> {
        match self {
            Rows::Text(chunk) if chunk.numbers[row].is_empty() => None,
            Rows::Text(chunk) if chunk.refused.binary_search(&row).is_ok() => {
                Some((0, "not an object of JSON on a line".to_owned()))
            }
            Rows::Text(chunk) => {
                let number = Number::scan(chunk.number(row));
                let bad = number.and_then(|number| number.check()).err()?;
                Some((bad.offset, bad.to_string()))
            }
            Rows::Numbers(rows) => {
                let found = rows.wrong.binary_search_by_key(&row, |(wrong, _)| *wrong);
                found.ok().map(|index| (0, rows.wrong[index].1.clone()))
            }
        }
    }

    /// The numbers of a range of rows, or of the rows `picked` if there are any. A row that is null
    /// has any number.
    ///
    /// # Errors
    /// As for [`read_column`].
    pub fn column(
        &self,
        range: Range<usize>,
        picked: &[usize],
        engine: Option<&Engine>,
    ) -> Result<Integers, Unread> {
        match (self, picked) {
            (Rows::Text(chunk), []) => {
                let row = |row| chunk.number_or_zero(range.start + row);
                read_column(range.len(), row, engine)
            }
            (Rows::Text(chunk), picked) => {
                let row = |row: usize| chunk.number_or_zero(picked[row]);
                read_column(picked.len(), row, engine)
            }
            (Rows::Numbers(rows), []) => Ok(rows.numbers.slice(range)?),
            (Rows::Numbers(rows), picked) => Ok(rows.numbers.gather(picked)?),
        }
    }

    /// A range of the rows.
    fn slice(&self, range: Range<usize>) -> Result<Rows, Failure> {
        Ok(match self {
            Rows::Text(chunk) => Rows::Text(chunk.slice(range)),
            Rows::Numbers(rows) => {
                let is_in = |row: &usize| range.contains(row);
                let nulls = rows.nulls.iter().filter(|row| is_in(row));
                let wrong = rows.wrong.iter().filter(|(row, _)| is_in(row));
                let wrong = wrong.map(|(row, what)| (row - range.start, what.clone()));
                Rows::Numbers(Numbers {
                    nulls: nulls.map(|row| row - range.start).collect(),
                    wrong: wrong.collect(),
                    before: rows.before + range.start as u64,
                    numbers: rows.numbers.slice(range)?,
                })
            }
        })
    }
}

/// A source of rows, of one column or of several.
pub trait Reader: Send {
    /// The names by which errors call the columns.
    fn paths(&self) -> Vec<String>;

    /// Reads until there is a row, or the end.
    ///
    /// # Errors
    /// If there is no row at hand, and no more can be read.
    fn fill(&mut self) -> Result<(), Failure>;

    /// The number of rows that can be taken.
    fn at_hand(&self) -> usize;

    /// Takes so many rows of each column.
    ///
    /// # Errors
    /// [`Failure::Running`] where memory ends.
    fn take(&mut self, count: usize) -> Result<Vec<Rows>, Failure>;

    /// The number of rows that were taken.
    fn taken(&self) -> u64;

    /// Where the source ends, after all rows were taken.
    fn end(&self) -> SourcePlace;

    /// A way to end the wait for more rows, if reading may wait.
    fn stop(&self) -> Option<Stop> {
        None
    }
}

/// The next rows of every column, equally many of each, or `None` where all sources have ended.
///
/// # Errors
/// If one source ends before another, or cannot be read.
pub fn next_rows(readers: &mut [Box<dyn Reader>]) -> Result<Option<Vec<Rows>>, Failure> {
    for reader in &mut *readers {
        reader.fill()?;
    }
    let at_hand = readers.iter().map(|reader| reader.at_hand());
    let count = at_hand.min().unwrap_or(0);
    if count > 0 {
        let mut all = Vec::new();
        for reader in readers {
            all.append(&mut reader.take(count)?);
        }
        return Ok(Some(all));
    }
    let shorter = readers.iter().find(|reader| reader.at_hand() == 0);
    let longer = readers.iter().find(|reader| reader.at_hand() > 0);
    match (shorter, longer) {
        (Some(shorter), Some(longer)) => {
            let what = format!(
                "only {} numbers before the end of this file, but {} has more",
                shorter.taken(),
                longer.paths().join(", ")
            );
            Err(Failure::Input(shorter.end(), what))
        }
        _ => Ok(None),
    }
}

/// A file of columns that is read block by block.
pub trait Table: Send {
    /// The next rows, at least one and equally many of each column, or `None` at the end.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn next(&mut self) -> Result<Option<Vec<Rows>>, Failure>;
}

/// Columns of a file, in step with other sources.
pub struct TableReader {
    paths: Vec<String>,
    table: Box<dyn Table>,
    block: Vec<Rows>,
    /// How many rows of the block were taken.
    used: usize,
    taken: u64,
    end: (u64, u64),
}

impl TableReader {
    /// Reads a table, whose columns errors call by `paths`.
    pub fn new(paths: Vec<String>, table: Box<dyn Table>) -> Self {
        TableReader {
            paths,
            table,
            block: Vec::new(),
            used: 0,
            taken: 0,
            end: (1, 1),
        }
    }
}

impl Reader for TableReader {
    fn paths(&self) -> Vec<String> {
        self.paths.clone()
    }

    fn fill(&mut self) -> Result<(), Failure> {
        if self.at_hand() == 0 {
            (self.block, self.used) = (self.table.next()?.unwrap_or_default(), 0);
        }
        Ok(())
    }

    fn at_hand(&self) -> usize {
        self.block.first().map_or(0, Rows::len) - self.used
    }

    fn take(&mut self, count: usize) -> Result<Vec<Rows>, Failure> {
        let range = self.used..self.used + count;
        self.used = range.end;
        self.taken += count as u64;
        if let (Some(first), Some(last)) = (self.block.first(), range.clone().last()) {
            self.end = (first.position(last).0 + 1, 1);
        }
        let all = range == (0..self.block.first().map_or(0, Rows::len));
        match all {
            true => {
                self.used = 0;
                Ok(std::mem::take(&mut self.block))
            }
            false => {
                let rows = self.block.iter();
                rows.map(|rows| rows.slice(range.clone())).collect()
            }
        }
    }

    fn taken(&self) -> u64 {
        self.taken
    }

    fn end(&self) -> SourcePlace {
        SourcePlace {
            source: self.paths.first().cloned().unwrap_or_default(),
            line: self.end.0,
            column: self.end.1,
        }
    }
}
