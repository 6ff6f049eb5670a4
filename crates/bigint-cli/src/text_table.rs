//! Tables of text: cells with a separator between them, and JSON objects, a line each.
//!
//! A block of text is split into records, and of each record the cells are found that are wanted;
//! they stay where they are in the text, so that errors name the line and column of the file.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use csv_core::ReadFieldResult;
use memchr::memchr_iter;
use serde_json::value::RawValue;

use crate::failure::{Failure, SourcePlace};
use crate::form;
use crate::lines::{Chunk, cannot_read};
use crate::number::Number;
use crate::rows::{Rows, Table};
use crate::source::Input;

/// The most bytes of a record: places of cells are counted in 32 bits.
const MOST_BYTES: usize = 1 << 31;

/// A table of text.
pub struct TextTable {
    path: String,
    input: Input,
    /// The least number of bytes that are split together.
    capacity: usize,
    /// The text that is not yet split.
    text: Vec<u8>,
    ended: bool,
    /// The number of the line at which `text` begins.
    line: u64,
    cells: Cells,
}

/// The cells of a record that are wanted.
enum Cells {
    Separated(Box<Separated>),
    Json(Vec<String>),
}

struct Separated {
    reader: csv_core::Reader,
    separator: u8,
    columns: Vec<usize>,
}

/// Whole records of a text.
struct Split {
    /// The places in it of each wanted column's cells.
    cells: Vec<Vec<Range<u32>>>,
    /// The records that cannot be split.
    refused: Vec<usize>,
    /// Where the last record ends.
    end: usize,
}

/// The wanted columns: the only one, those of these names or numbers, or all.
pub enum Wanted<'a> {
    Some(&'a [Option<String>]),
    All,
}

impl TextTable {
    /// Reads the wanted columns of `input`, whose cells stand between separators; answers them and
    /// their names.
    ///
    /// The first record has the names if one of its cells is no number; without names columns are
    /// counted from 1.
    ///
    /// # Errors
    /// As reading and [`form::column`].
    pub fn separated(
        path: String,
        input: Input,
        capacity: usize,
        separator: u8,
        wanted: Wanted<'_>,
    ) -> Result<(Self, Vec<String>), Failure> {
        let separated = Separated {
            reader: csv_core::ReaderBuilder::new().delimiter(separator).build(),
            separator,
            columns: Vec::new(),
        };
        let mut table =
            TextTable::new(path, input, capacity, Cells::Separated(Box::new(separated)));
        let (first, end) = table.first_record()?;
        let texts = first.iter().map(|cell| &table.text[cell.clone()]);
        let mut names: Vec<String> = texts
            .clone()
            .map(|text| String::from_utf8_lossy(text).replace("\"\"", "\""))
            .collect();
        let is_number = |text: &[u8]| Number::scan(text).is_ok_and(|number| number.check().is_ok());
        let is_named = |wanted: &Option<String>| {
            let number = wanted.as_ref().and_then(|wanted| wanted.parse().ok());
            let is_number = number.is_some_and(|number: usize| number <= names.len());
            wanted
                .as_ref()
                .is_some_and(|wanted| !is_number && names.contains(wanted))
        };
        let wants_names = matches!(wanted, Wanted::Some(wanted) if wanted.iter().any(is_named));
        let mut cells = texts;
        let has_names = wants_names || cells.any(|text| !text.is_empty() && !is_number(text));
        match has_names {
            true => table.drop_text(end),
            false => names = (1..=names.len()).map(|number| number.to_string()).collect(),
        }
        let columns = match wanted {
            Wanted::All => (0..names.len()).collect(),
            Wanted::Some(wanted) => {
                let find =
                    |wanted: &Option<String>| form::column(&table.path, &names, wanted.as_deref());
                wanted.iter().map(find).collect::<Result<Vec<_>, _>>()?
            }
        };
        let names = columns.iter().map(|&column| names[column].clone());
        let names = names.collect();
        if let Cells::Separated(separated) = &mut table.cells {
            separated.columns = columns;
        }
        Ok((table, names))
    }

    /// Reads the values of these keys of `input`, or of all keys that the first object has.
    ///
    /// # Errors
    /// As reading and [`form::column`].
    pub fn json(
        path: String,
        input: Input,
        capacity: usize,
        wanted: Wanted<'_>,
    ) -> Result<(Self, Vec<String>), Failure> {
        let mut table = TextTable::new(path, input, capacity, Cells::Json(Vec::new()));
        let all_named = match wanted {
            Wanted::Some(wanted) => wanted.iter().cloned().collect::<Option<Vec<_>>>(),
            Wanted::All => None,
        };
        let keys = match (all_named, wanted) {
            (Some(keys), _) => keys,
            (None, wanted) => {
                let (first, _) = table.first_record()?;
                let line = first.first().cloned().unwrap_or(0..0);
                let object =
                    serde_json::from_slice::<HashMap<String, &RawValue>>(&table.text[line]);
                let mut names: Vec<String> = object.unwrap_or_default().into_keys().collect();
                names.sort();
                match wanted {
                    Wanted::All => names,
                    Wanted::Some(wanted) => {
                        let find = |wanted: &Option<String>| match wanted {
                            Some(key) => Ok(key.clone()),
                            None => form::column(&table.path, &names, None)
                                .map(|column| names[column].clone()),
                        };
                        wanted.iter().map(find).collect::<Result<_, _>>()?
                    }
                }
            }
        };
        table.cells = Cells::Json(keys.clone());
        Ok((table, keys))
    }

    fn new(path: String, input: Input, capacity: usize, cells: Cells) -> Self {
        TextTable {
            path,
            input,
            capacity,
            text: Vec::new(),
            ended: false,
            line: 1,
            cells,
        }
    }

    /// Reads text until there is enough to split.
    fn fill(&mut self) -> Result<(), Failure> {
        while !self.ended && self.text.len() < self.capacity {
            let wanted = self.capacity - self.text.len();
            bigint_cpu::reserve(&mut self.text, wanted)?;
            let read = self.input.read(&mut self.text, wanted, true);
            self.ended = read.map_err(|error| cannot_read(&self.path, &error))? == Some(0);
        }
        Ok(())
    }

    /// Makes room for a record that is longer than what was read.
    fn make_room(&mut self) -> Result<(), Failure> {
        if self.capacity >= MOST_BYTES {
            let what = format!("a record of more than {MOST_BYTES} bytes");
            return Err(Failure::Input(self.place(), what));
        }
        self.capacity *= 2;
        Ok(())
    }

    fn place(&self) -> SourcePlace {
        SourcePlace {
            source: self.path.clone(),
            line: self.line,
            column: 1,
        }
    }

    /// The cells of the first record, and where it ends; of JSON, the first line.
    fn first_record(&mut self) -> Result<(Vec<Range<usize>>, usize), Failure> {
        loop {
            self.fill()?;
            let found = match &mut self.cells {
                Cells::Separated(separated) => {
                    let mut all = Vec::new();
                    let end = separated.record(&self.text, 0, self.ended, |_, cell| all.push(cell));
                    end.map(|end| (all, end))
                }
                Cells::Json(_) => line_end(&self.text, 0, self.ended)
                    .map(|end| (iter::once(0..end).collect(), end)),
            };
            match found {
                Some(found) => return Ok(found),
                None if self.ended => return Ok((Vec::new(), 0)),
                None => self.make_room()?,
            }
        }
    }

    fn drop_text(&mut self, end: usize) {
        self.line += memchr_iter(b'\n', &self.text[..end]).count() as u64;
        self.text.drain(..end);
    }

    /// Splits off all whole records of the text, and finds their wanted cells.
    fn split(&mut self) -> Split {
        let (text, ended) = (&self.text, self.ended);
        let mut found: Vec<Vec<Range<u32>>>;
        let (mut refused, mut end) = (Vec::new(), 0);
        let short = |cell: Range<usize>| cell.start as u32..cell.end as u32;
        match &mut self.cells {
            Cells::Separated(separated) => {
                let columns = separated.columns.clone();
                found = vec![Vec::new(); columns.len()];
                let mut record = vec![0..0; columns.len()];
                loop {
                    // A record may be too short for all of them.
                    record.fill(usize::MAX..usize::MAX);
                    let take = |index: usize, cell: Range<usize>| {
                        for (place, _) in columns
                            .iter()
                            .enumerate()
                            .filter(|(_, column)| **column == index)
                        {
                            record[place] = cell.clone();
                        }
                    };
                    let Some(next) = separated.record(text, end, ended, take) else {
                        break;
                    };
                    end = next;
                    let last = text[..end].trim_ascii_end().len();
                    for (cells, cell) in found.iter_mut().zip(&record) {
                        let is_there = cell.start != usize::MAX;
                        cells.push(short(if is_there { cell.clone() } else { last..last }));
                    }
                }
            }
            Cells::Json(keys) => {
                found = vec![Vec::new(); keys.len()];
                while let Some(next) = line_end(text, end, ended) {
                    let line = &text[end..next];
                    let start = end;
                    end = next;
                    if line.trim_ascii().is_empty() {
                        continue;
                    }
                    let cells = json_cells(line, keys).unwrap_or_else(|whole| {
                        refused.extend(found.first().map(Vec::len));
                        vec![whole; keys.len()]
                    });
                    for (found, cell) in found.iter_mut().zip(cells) {
                        found.push(short(cell.start + start..cell.end + start));
                    }
                }
            }
        }
        Split {
            cells: found,
            refused,
            end,
        }
    }
}

impl Table for TextTable {
    fn next(&mut self) -> Result<Option<Vec<Rows>>, Failure> {
        loop {
            self.fill()?;
            let Split {
                cells,
                refused,
                end,
            } = self.split();
            if cells.first().is_some_and(|cells| !cells.is_empty()) {
                let rest = self.text[end..].to_vec();
                let block = std::mem::replace(&mut self.text, rest);
                let (text, first_line) = (Arc::new(block), self.line);
                self.line += memchr_iter(b'\n', &text[..end]).count() as u64;
                let chunk = |cells| {
                    let (text, refused) = (Arc::clone(&text), refused.clone());
                    Rows::Text(Chunk::of_table(text, cells, refused, first_line))
                };
                return Ok(Some(cells.into_iter().map(chunk).collect()));
            }
            if self.ended {
                return Ok(None);
            }
            match end {
                0 => self.make_room()?,
                // Blank lines alone.
                _ => self.drop_text(end),
            }
        }
    }
}

impl Separated {
    /// Calls `take` with the number and place of each cell of the record at `start`, without
    /// quotation marks. Answers where the record ends; nothing where more text must be read, or
    /// where there is no record.
    fn record(
        &mut self,
        text: &[u8],
        start: usize,
        ended: bool,
        mut take: impl FnMut(usize, Range<usize>),
    ) -> Option<usize> {
        let mut unused = [0; 1024];
        let (mut at, mut begin, mut index) = (start, start, 0);
        loop {
            // Of no text the reader makes the end of the file.
            if at == text.len() && !ended {
                self.reader.reset();
                return None;
            }
            let (result, bytes, _) = self.reader.read_field(&text[at..], &mut unused);
            at += bytes;
            match result {
                ReadFieldResult::OutputFull => {}
                ReadFieldResult::InputEmpty if ended && bytes > 0 => {}
                ReadFieldResult::InputEmpty | ReadFieldResult::End => {
                    self.reader.reset();
                    return None;
                }
                ReadFieldResult::Field { record_end } => {
                    let is_separated = !record_end && text[..at].ends_with(&[self.separator]);
                    let end = if is_separated { at - 1 } else { at };
                    take(index, without_quotation_marks(text, begin..end));
                    (begin, index) = (at, index + 1);
                    if record_end {
                        return Some(at);
                    }
                }
            }
        }
    }
}

/// A cell without white space and quotation marks around it.
fn without_quotation_marks(text: &[u8], cell: Range<usize>) -> Range<usize> {
    let trimmed = |cell: Range<usize>| {
        let start = cell.end - text[cell.clone()].trim_ascii_start().len();
        let end = start + text[start..cell.end].trim_ascii().len();
        start..end
    };
    let cell = trimmed(cell);
    match &text[cell.clone()] {
        [b'"', .., b'"'] => trimmed(cell.start + 1..cell.end - 1),
        _ => cell,
    }
}

/// Where the line that begins at `start` ends, after its line feed.
fn line_end(text: &[u8], start: usize, ended: bool) -> Option<usize> {
    let feed = memchr::memchr(b'\n', &text[start..]).map(|feed| start + feed + 1);
    feed.or((ended && start < text.len()).then_some(text.len()))
}

/// The places in a line of the values of these keys, without quotation marks. A value that is null
/// or missing has an empty place.
///
/// # Errors
/// The place of the whole line, where it is no object.
fn json_cells(line: &[u8], keys: &[String]) -> Result<Vec<Range<usize>>, Range<usize>> {
    let blank = line.len() - line.trim_ascii_start().len();
    let whole = blank..blank + line.trim_ascii().len();
    let Ok(object) = serde_json::from_slice::<HashMap<String, &RawValue>>(line) else {
        return Err(whole);
    };
    let cell = |key: &String| match object.get(key).map(|value| value.get()) {
        None | Some("null" | "\"\"") => whole.start..whole.start,
        Some(value) => {
            let start = value.as_ptr() as usize - line.as_ptr() as usize;
            match value.starts_with('"') {
                true => start + 1..start + value.len() - 1,
                false => start..start + value.len(),
            }
        }
    };
    Ok(keys.iter().map(cell).collect())
}
