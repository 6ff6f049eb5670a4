//! Rows of numbers on their way from text to limbs and back.
//!
//! Lines become columns of integers, and results lines. How many lines memory should hold at a
//! time, the library says ([`Formulas::windows`]).

use std::ops::Range;
use std::sync::Arc;

use bigint_cpu::{map, threads};
use bigint_host::expression::Formulas;
use bigint_host::{Error, Integers};

use crate::column::{parts, read_column};
use crate::failure::{Failure, SourcePlace};
use crate::lines::Chunk;
use crate::number::{Format, Formatter, Number, Unread};
use crate::on_error::OnError;

/// Text that one task writes, about, in bytes.
const BYTES_PER_TASK: usize = 1 << 18;

/// Consecutive lines, read.
#[derive(Debug)]
pub struct Window {
    /// The numbers of each file, in the order of the files.
    pub columns: Vec<Integers>,
    /// The text they were read from.
    pub text: Text,
    /// Lines that are in no column, as they have a number that is none.
    pub unread: Vec<usize>,
}

impl Window {
    /// The single line of an expression without files.
    pub fn constant() -> Self {
        Window {
            columns: Vec::new(),
            text: Text::default(),
            unread: Vec::new(),
        }
    }

    /// How many rows its columns have.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(1, Integers::len)
    }

    /// How many lines it has.
    pub fn lines(&self) -> usize {
        self.rows() + self.unread.len()
    }

    /// The line of each row.
    pub fn lines_of_rows(&self) -> impl Iterator<Item = usize> + '_ {
        read_lines(self.lines(), &self.unread)
    }
}

/// Those of so many lines that are not unread.
fn read_lines(lines: usize, unread: &[usize]) -> impl Iterator<Item = usize> + '_ {
    (0..lines).filter(|line| unread.binary_search(line).is_err())
}

/// Lines of chunks, one of each file.
#[derive(Clone, Debug, Default)]
pub struct Text {
    chunks: Arc<Vec<Chunk>>,
    lines: Range<usize>,
}

impl Text {
    /// How many lines it has.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Where a line's number stands, of the file of this column.
    pub fn place(&self, column: usize, line: usize, paths: &[String]) -> Option<SourcePlace> {
        let (chunk, path) = (self.chunks.get(column)?, paths.get(column)?);
        let (line, column) = chunk.position(self.lines.start + line);
        Some(SourcePlace {
            source: path.clone(),
            line,
            column,
        })
    }

    /// What is wrong with a line, if one of its numbers is none.
    pub fn wrong(&self, line: usize, paths: &[String]) -> Option<Failure> {
        self.chunks.iter().enumerate().find_map(|(column, chunk)| {
            let number = Number::scan(chunk.number(self.lines.start + line));
            let bad = number.and_then(|number| number.check()).err()?;
            let mut place = self.place(column, line, paths)?;
            place.column += bad.offset as u64;
            Some(Failure::Input(place, bad.to_string()))
        })
    }

    /// The numbers of each file, but those of lines that are unread.
    fn columns(&self, unread: &[usize]) -> Result<Vec<Integers>, Unread> {
        let lines: Vec<usize> = match unread {
            [] => Vec::new(),
            _ => read_lines(self.len(), unread).collect(),
        };
        let line = |row: usize| self.lines.start + lines.get(row).unwrap_or(&row);
        let count = self.len() - unread.len();
        let columns = self.chunks.iter();
        columns
            .map(|chunk| read_column(count, |row| chunk.number(line(row))))
            .collect()
    }
}

/// What windows are made for, and how large they may be.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What is computed of them.
    pub formulas: &'a Formulas,
    /// The files, in the order of the columns.
    pub paths: &'a [String],
    /// The base of the results.
    pub format: Format,
    /// Limbs that a window takes at most, unless a single line takes more.
    pub limbs: usize,
    /// What becomes of lines that have a number which is none.
    pub on_error: OnError,
}

/// Reads chunks, one of each file and equally long, window by window.
///
/// # Errors
/// The first line with a number that is none, after windows of the lines before it; where that is no
/// reason to stop, such lines are [`Window::unread`].
pub fn read(
    chunks: Vec<Chunk>,
    wanted: Wanted<'_>,
) -> impl Iterator<Item = Result<Window, Failure>> + use<> {
    let (windows, failure) =
        windows(chunks, wanted).unwrap_or_else(|error| (Vec::new(), Some(error)));
    windows.into_iter().map(Ok).chain(failure.map(Err))
}

/// The windows, and why there are no more.
fn windows(
    chunks: Vec<Chunk>,
    wanted: Wanted<'_>,
) -> Result<(Vec<Window>, Option<Failure>), Failure> {
    let count = chunks.first().map_or(0, |chunk| chunk.numbers.len());
    let mut text = Text {
        chunks: Arc::new(chunks),
        lines: 0..count,
    };
    let (mut unread, mut failure) = (Vec::new(), None);
    let mut columns = text.columns(&unread);
    if let Err(Unread::Bad(_)) = columns {
        let mut bad = (0..count).filter_map(|line| Some((line, text.wrong(line, wanted.paths)?)));
        match wanted.on_error {
            OnError::Stop => {
                let first = bad.next();
                (text.lines.end, failure) =
                    first.map_or((count, None), |(line, wrong)| (line, Some(wrong)));
            }
            OnError::Skip | OnError::Null => unread = bad.map(|(line, _)| line).collect(),
        }
        columns = text.columns(&unread);
    }
    let columns = columns.map_err(|unread| match unread {
        Unread::Memory(error) => error.into(),
        Unread::Bad(bad) => Failure::Running(bad.to_string()),
    })?;
    let text_bytes = wanted.format.text_bytes(1);
    let rows = wanted
        .formulas
        .windows(&columns, wanted.limbs, text_bytes)?;
    if rows.len() == 1 {
        let window = Window {
            columns,
            text,
            unread,
        };
        return Ok((vec![window], failure));
    }
    let mut start = 0;
    let windows = rows.into_iter().map(|rows| {
        // The line of the next window's first row, and the end.
        let end = read_lines(text.len(), &unread)
            .nth(rows.end)
            .unwrap_or(text.len());
        let lines = start..end;
        start = end;
        let slices = columns.iter().map(|column| column.slice(rows.clone()));
        let unread = unread.iter().filter(|line| lines.contains(line));
        Ok(Window {
            columns: slices.collect::<Result<_, Error>>()?,
            unread: unread.map(|line| line - lines.start).collect(),
            text: Text {
                chunks: Arc::clone(&text.chunks),
                lines,
            },
        })
    });
    Ok((windows.collect::<Result<_, Error>>()?, failure))
}

/// A window's lines, computed by one of the formulas.
#[derive(Debug)]
pub struct Results {
    /// The values, line after line; a single one is that of all lines.
    pub values: Integers,
    /// How many lines there are.
    pub lines: usize,
    /// Lines that have no value.
    pub valueless: Vec<usize>,
}

impl Results {
    /// About how many bytes of text a line takes.
    fn text_bytes_of_line(&self, format: Format) -> usize {
        format.text_bytes(self.values.limbs().len() / self.values.len().max(1))
    }

    /// About how many bytes of text the lines take.
    pub fn text_bytes(&self, format: Format) -> usize {
        self.lines * self.text_bytes_of_line(format)
    }

    /// The lines of text, in order and in pieces.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn write(&self, format: Format) -> Result<Vec<Vec<u8>>, Error> {
        let average = self.text_bytes_of_line(format);
        let lines = (BYTES_PER_TASK / average).clamp(1, self.lines.max(1));
        let piece = |part: Range<usize>| {
            let mut text = bigint_cpu::with_capacity(average * lines)?;
            let mut formatter = Formatter::new(format);
            for line in part {
                let Err(before) = self.valueless.binary_search(&line) else {
                    text.push(b'\n');
                    continue;
                };
                let row = (line - before).min(self.values.len() - 1);
                let (negative, magnitude) =
                    (self.values.is_negative(row), self.values.magnitude(row));
                formatter.line(negative, magnitude, &mut text)?;
            }
            Ok(text)
        };
        let pieces = map(parts(self.lines, lines), threads(), piece);
        pieces.into_iter().collect()
    }
}
