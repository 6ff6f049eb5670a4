//! Rows of numbers on their way from text to limbs and back.
//!
//! Lines become columns of integers, and results become lines. [`Formulas::windows`] says how many
//! lines memory should hold at one time.

use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

use bigint_cpu::{map, threads};
use bigint_host::expression::Formulas;
use bigint_host::{Engine, Error, Integers};

use crate::column::parts;
use crate::failure::{Failure, SourcePlace};
use crate::number::{Format, Formatter, Unread};
use crate::on_error::OnError;
use crate::rows::Rows;

/// About how many bytes of text one task writes.
const BYTES_PER_TASK: usize = 1 << 18;

/// Consecutive lines with their numbers.
#[derive(Debug)]
pub struct Window {
    /// The numbers of each file, in the order of the files.
    pub columns: Vec<Integers>,
    /// The text that the numbers were read from.
    pub text: Text,
    /// The lines that are in no column, because one of their numbers is invalid.
    pub unread: Vec<usize>,
    /// The rows of each column that are null.
    pub nulls: Vec<Vec<usize>>,
}

impl Window {
    /// The single line of an expression without files.
    pub fn constant() -> Self {
        Window {
            columns: Vec::new(),
            text: Text::default(),
            unread: Vec::new(),
            nulls: Vec::new(),
        }
    }

    /// The number of rows of its columns.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(1, Integers::len)
    }

    /// The number of lines.
    pub fn lines(&self) -> usize {
        self.rows() + self.unread.len()
    }

    /// The line of each row.
    pub fn lines_of_rows(&self) -> impl Iterator<Item = usize> + '_ {
        read_lines(self.lines(), &self.unread)
    }
}

/// The lines, of so many, that are in columns.
fn read_lines(lines: usize, unread: &[usize]) -> impl Iterator<Item = usize> + '_ {
    (0..lines).filter(|line| unread.binary_search(line).is_err())
}

/// The lines of chunks, one chunk of each file.
#[derive(Clone, Debug, Default)]
pub struct Text {
    chunks: Arc<Vec<Rows>>,
    lines: Range<usize>,
}

impl Text {
    /// The number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// The place of a line's number in the file of this column.
    pub fn place(&self, column: usize, line: usize, paths: &[String]) -> Option<SourcePlace> {
        let (chunk, path) = (self.chunks.get(column)?, paths.get(column)?);
        let (line, column) = chunk.position(self.lines.start + line);
        Some(SourcePlace {
            source: path.clone(),
            line,
            column,
        })
    }

    /// What is wrong with a line, if one of its numbers is invalid.
    pub fn wrong(&self, line: usize, paths: &[String]) -> Option<Failure> {
        self.chunks.iter().enumerate().find_map(|(column, rows)| {
            let (offset, what) = rows.wrong(self.lines.start + line)?;
            let mut place = self.place(column, line, paths)?;
            place.column += offset as u64;
            Some(Failure::Input(place, what))
        })
    }

    /// For each file, the rows that are null; the lines `unread` are no rows.
    fn nulls(&self, unread: &[usize]) -> Vec<Vec<usize>> {
        let row = |line: usize| {
            let before = unread.binary_search(&line).err()?;
            self.lines.contains(&line).then_some(line - before)
        };
        let files = self.chunks.iter();
        files
            .map(|rows| rows.nulls().into_iter().filter_map(row).collect())
            .collect()
    }

    /// The numbers of each file, without those of the lines `unread`.
    fn columns(&self, unread: &[usize], engine: &Engine) -> Result<Vec<Integers>, Unread> {
        let lines: Vec<usize> = match unread {
            [] => Vec::new(),
            _ => read_lines(self.len(), unread).collect(),
        };
        let range = match unread.len() == self.len() {
            true => 0..0,
            false => self.lines.clone(),
        };
        let columns = self.chunks.iter();
        columns
            .map(|rows| rows.column(range.clone(), &lines, Some(engine)))
            .collect()
    }
}

/// What windows are for, and how large they may be.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The formulas that are computed.
    pub formulas: &'a Formulas,
    /// The files, in the order of the columns.
    pub paths: &'a [String],
    /// The base of the results.
    pub format: Format,
    /// The most limbs of a window, unless a single line has more.
    pub limbs: usize,
    /// What becomes of lines with an invalid number.
    pub on_error: OnError,
    /// The engine that computes.
    pub engine: &'a Engine,
}

/// Reads chunks, one of each file and equally long, window by window.
///
/// # Errors
/// If an invalid number stops the command, it is the error after the windows of the lines before
/// it; otherwise its line is [`Window::unread`].
pub fn read(
    chunks: Vec<Rows>,
    wanted: Wanted<'_>,
) -> impl Iterator<Item = Result<Window, Failure>> + use<> {
    let (windows, failure) =
        windows(chunks, wanted).unwrap_or_else(|error| (Vec::new(), Some(error)));
    windows.into_iter().map(Ok).chain(failure.map(Err))
}

/// Sends windows; answers why there are no more.
fn windows(
    chunks: Vec<Rows>,
    wanted: Wanted<'_>,
) -> Result<(Vec<Window>, Option<Failure>), Failure> {
    let count = chunks.first().map_or(0, Rows::len);
    let has_wrong = chunks.iter().any(Rows::has_wrong);
    let mut text = Text {
        chunks: Arc::new(chunks),
        lines: 0..count,
    };
    let (mut unread, mut failure) = (Vec::new(), None);
    let mut columns = text.columns(&unread, wanted.engine);
    if has_wrong || matches!(columns, Err(Unread::Bad(_))) {
        let mut bad = (0..count).filter_map(|line| Some((line, text.wrong(line, wanted.paths)?)));
        match wanted.on_error {
            OnError::Stop => {
                let first = bad.next();
                (text.lines.end, failure) =
                    first.map_or((count, None), |(line, wrong)| (line, Some(wrong)));
            }
            OnError::Skip | OnError::Null => unread = bad.map(|(line, _)| line).collect(),
        }
        columns = text.columns(&unread, wanted.engine);
    }
    let columns = columns.map_err(|unread| match unread {
        Unread::Memory(error) => error.into(),
        Unread::Bad(bad) => Failure::Running(bad.to_string()),
    })?;
    let nulls = text.nulls(&unread);
    let text_bytes = wanted.format.text_bytes(1);
    let rows = wanted
        .formulas
        .windows(&columns, wanted.limbs, text_bytes)?;
    if rows.len() == 1 {
        let window = Window {
            columns,
            text,
            unread,
            nulls,
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
        let within = |all: &Vec<usize>, range: &Range<usize>| {
            let within = all.iter().filter(|at| range.contains(at));
            within.map(|at| at - range.start).collect()
        };
        Ok(Window {
            columns: slices.collect::<Result<_, Error>>()?,
            unread: within(&unread, &lines),
            nulls: nulls.iter().map(|nulls| within(nulls, &rows)).collect(),
            text: Text {
                chunks: Arc::clone(&text.chunks),
                lines,
            },
        })
    });
    Ok((windows.collect::<Result<_, Error>>()?, failure))
}

/// The results of a formula for the lines of a window.
#[derive(Debug)]
pub struct Results {
    /// The values, line after line; a single value is that of all lines.
    pub values: Integers,
    /// The number of lines.
    pub lines: usize,
    /// The lines without a value.
    pub valueless: Vec<usize>,
}

impl Results {
    /// The row of `values` that belongs to a line, if it has a value.
    pub fn row(&self, line: usize) -> Option<usize> {
        let before = self.valueless.binary_search(&line).err()?;
        Some((line - before).min(self.values.len() - 1))
    }

    /// About how many bytes of text each line takes.
    fn text_bytes_of_line(&self, format: Format) -> usize {
        format.text_bytes(self.values.limbs().len() / self.values.len().max(1))
    }

    /// About how many bytes of text all lines take.
    pub fn text_bytes(&self, format: Format) -> usize {
        self.lines * self.text_bytes_of_line(format)
    }

    /// Writes the lines as text, in order and in pieces: in decimal by the engine where its devices convert.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn write(&self, format: Format, engine: &Engine) -> Result<Vec<Vec<u8>>, Error> {
        let mean = self.values.limbs().len() / self.values.len().max(1);
        let is_for_devices =
            format == Format::Dec && engine.converts_decimals(mean, self.values.len());
        if is_for_devices && mean >= engine.tuning().decimals.min_width {
            return self.write_long(engine);
        }
        let texts = match is_for_devices {
            true => Some(engine.decimals(&self.values)?),
            false => None,
        };
        let average = self.text_bytes_of_line(format);
        let lines = (BYTES_PER_TASK / average).clamp(1, self.lines.max(1));
        let piece = |part: Range<usize>| {
            let mut text = bigint_cpu::with_capacity(average * lines)?;
            let mut formatter = Formatter::new(format);
            for line in part {
                let Some(row) = self.row(line) else {
                    text.push(b'\n');
                    continue;
                };
                if let Some(texts) = &texts {
                    let room = texts[row].len() + 1;
                    let more = text.try_reserve(room);
                    more.map_err(|_| Error::OutOfMemory { bytes: room })?;
                    text.extend_from_slice(texts[row].as_bytes());
                    text.push(b'\n');
                    continue;
                }
                let (negative, magnitude) =
                    (self.values.is_negative(row), self.values.magnitude(row));
                formatter.line(negative, magnitude, &mut text)?;
            }
            Ok(text)
        };
        let pieces = map(parts(self.lines, lines), threads(), piece);
        pieces.into_iter().collect()
    }

    /// Writes the lines in decimal, each number in a piece of its own.
    fn write_long(&self, engine: &Engine) -> Result<Vec<Vec<u8>>, Error> {
        let mut texts = engine.decimals(&self.values)?;
        let mut pieces = Vec::new();
        for line in 0..self.lines {
            if let Some(row) = self.row(line) {
                // A single value may be that of many lines.
                let is_last = self.values.len() > 1 || line + 1 == self.lines;
                pieces.push(match is_last {
                    true => take(&mut texts[row]).into_bytes(),
                    false => texts[row].clone().into_bytes(),
                });
            }
            pieces.push(b"\n".to_vec());
        }
        Ok(pieces)
    }
}
