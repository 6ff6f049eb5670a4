//! Files of numbers in any form: opened for `calc`, copied, and looked at.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bigint_host::{Integers, LIMB_BITS, Limb};

use crate::calc;
use crate::failure::{Failure, SourcePlace};
use crate::form::{self, Form};
use crate::lines::LineReader;
use crate::npy::Npy;
use crate::number::{Format, Unread};
use crate::on_error::OnError;
use crate::output::{self, Output};
use crate::rows::{Reader, Rows, Table, TableReader, next_rows};
use crate::source::Input;
use crate::standard;
use crate::text_table::{TextTable, Wanted};

/// How many bytes of text are read ahead of a file.
const AHEAD: usize = 1 << 20;

/// The most characters of a number that are shown.
const MOST_SHOWN: usize = 60;

/// Copy columns of a file to a file of another form
///
/// What the files are, their names say: .csv, .tsv, .jsonl, .npy, .parquet, .arrow, or lines of
/// integers.
#[derive(Debug, clap::Args)]
pub struct Convert {
    /// The file, with :COLUMN where it is one column alone
    input: OsString,
    /// The file that is made; it appears when complete
    output: PathBuf,
    /// What becomes of a row that is no number; nulls stay nulls
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    on_error: OnError,
    /// The base of what is written as text
    #[arg(long, value_enum)]
    format: Option<Format>,
}

/// Show the first rows of a file
#[derive(Debug, clap::Args)]
pub struct Head {
    /// The file, with :COLUMN where it is one column alone, or - for standard input
    file: OsString,
    /// How many rows
    #[arg(short = 'n', long, default_value_t = 10)]
    rows: usize,
}

/// Say how many rows a file has, how many nulls, the least and greatest numbers, and how long
/// numbers are
#[derive(Debug, clap::Args)]
pub struct Stats {
    /// The file, with :COLUMN where it is one column alone, or - for standard input
    file: OsString,
}

/// A file that is open.
pub struct Opened {
    /// Its columns.
    pub reader: Box<dyn Reader>,
    /// Their names.
    pub names: Vec<String>,
    /// Its size in bytes, where reading is counted.
    pub bytes: u64,
}

/// Opens the wanted columns of a file. About so many bytes of it are in memory at one time; the
/// bytes of text that are read are added to `read`.
///
/// # Errors
/// [`Failure::Input`] where it cannot be read, [`Failure::Usage`] where it has no such columns.
pub fn open(
    path: &Path,
    form: Form,
    wanted: Wanted<'_>,
    capacity: usize,
    read: &Arc<AtomicU64>,
) -> Result<Opened, Failure> {
    let shown = path.display().to_string();
    let (file, bytes, is_file) = opened(path).map_err(|error| {
        let place = SourcePlace {
            source: shown.clone(),
            line: 1,
            column: 1,
        };
        Failure::Input(place, format!("cannot open: {error}"))
    })?;
    let input = |file: File| match is_file {
        true => Input::file(file, Arc::clone(read)),
        false => Input::pipe(file, Arc::clone(read), capacity),
    };
    let text = |(table, names): (TextTable, Vec<String>)| {
        let paths = vec![shown.clone(); names.len()];
        Ok(of_table(table, paths, names, bytes))
    };
    match form {
        Form::Lines => Ok(Opened {
            reader: Box::new(LineReader::new(shown.clone(), input(file), capacity)),
            names: vec!["number".to_owned()],
            bytes,
        }),
        Form::Separated(separator) => {
            let input = input(file);
            text(TextTable::separated(
                shown.clone(),
                input,
                capacity,
                separator,
                wanted,
            )?)
        }
        Form::Jsonl => text(TextTable::json(
            shown.clone(),
            input(file),
            capacity,
            wanted,
        )?),
        Form::Npy => {
            let names = vec!["number".to_owned()];
            if let Wanted::Some(wanted) = wanted {
                let find =
                    |wanted: &Option<String>| form::column(&shown, &names, wanted.as_deref());
                wanted
                    .iter()
                    .try_for_each(|wanted| find(wanted).map(drop))?;
            }
            let table = Npy::open(shown.clone(), file)?;
            Ok(of_table(table, vec![shown], names, 0))
        }
        #[cfg(feature = "arrow")]
        Form::Parquet | Form::Arrow => {
            let (table, names) = crate::arrow_files::Columns::open(path, wanted)?;
            let paths = names.iter().map(|name| format!("{shown}:{name}"));
            Ok(of_table(table, paths.collect(), names, 0))
        }
        #[cfg(not(feature = "arrow"))]
        Form::Parquet | Form::Arrow => Err(Failure::Usage(format!("{shown}: {}", form::NO_ARROW))),
    }
}

fn opened(path: &Path) -> std::io::Result<(File, u64, bool)> {
    let file = match path.as_os_str() == "-" {
        true => standard::input()?,
        false => File::open(path)?,
    };
    let metadata = file.metadata()?;
    Ok((file, metadata.len(), metadata.is_file()))
}

fn of_table(
    table: impl Table + 'static,
    paths: Vec<String>,
    names: Vec<String>,
    bytes: u64,
) -> Opened {
    Opened {
        reader: Box::new(TableReader::new(paths, Box::new(table))),
        names,
        bytes,
    }
}

/// Opens the column of a file that the source names, or all columns.
fn open_all(source: &OsString) -> Result<(PathBuf, Opened), Failure> {
    let (path, form, column) = form::split(source)?;
    let one = [column];
    let wanted = match &one {
        [None] => Wanted::All,
        one => Wanted::Some(one),
    };
    let opened = open(&path, form, wanted, AHEAD, &Arc::default())?;
    Ok((path, opened))
}

/// Runs `convert`.
///
/// # Errors
/// As for [`calc::run`].
pub fn convert(arguments: &Convert) -> Result<(), Failure> {
    let (path, form, column) = form::split(&arguments.input)?;
    let columns = match (form, column) {
        (Form::Lines, _) => vec![("number".to_owned(), arguments.input.clone())],
        (_, Some(column)) => vec![(column, arguments.input.clone())],
        (Form::Npy, None) => vec![("number".to_owned(), path.into())],
        (_, None) => {
            let (path, opened) = open_all(&arguments.input)?;
            let source = |name: &String| {
                let mut source = path.clone().into_os_string();
                source.push(format!(":{name}"));
                (name.clone(), source)
            };
            opened.names.iter().map(source).collect()
        }
    };
    let copy = calc::Arguments::copying(columns, arguments.output.clone());
    calc::run(&copy.with(arguments.on_error, arguments.format))
}

/// Runs `head`.
///
/// # Errors
/// [`Failure::Input`] where the file cannot be read.
pub fn head(arguments: &Head) -> Result<(), Failure> {
    let (_, opened) = open_all(&arguments.file)?;
    let mut text = opened.names.join("\t") + "\n";
    let mut readers = [opened.reader];
    let mut left = arguments.rows;
    while left > 0
        && let Some(columns) = next_rows(&mut readers)?
    {
        let count = columns.first().map_or(0, Rows::len).min(left);
        for row in 0..count {
            let cells: Vec<String> = columns.iter().map(|rows| shown(rows, row)).collect();
            text += &(cells.join("\t") + "\n");
        }
        left -= count;
    }
    output::print(&text)
}

/// The text of a cell, shortened.
fn shown(rows: &Rows, row: usize) -> String {
    let text = match rows {
        Rows::Text(chunk) => String::from_utf8_lossy(chunk.number(row)).into_owned(),
        Rows::Numbers(rows) => {
            let is_null = rows.nulls.binary_search(&row).is_ok();
            let wrong = rows.wrong.iter().any(|(wrong, _)| *wrong == row);
            match (is_null, wrong) {
                (true, _) => String::new(),
                (_, true) => "?".to_owned(),
                _ => decimal(&rows.numbers, row),
            }
        }
    };
    match text.is_empty() {
        true => "null".to_owned(),
        false => shortened(&text),
    }
}

fn decimal(numbers: &Integers, row: usize) -> String {
    let mut text = Vec::new();
    match numbers.write_decimal(row, &mut text) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) => error.to_string(),
    }
}

/// The two ends of a long text, or all of a short one.
fn shortened(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= MOST_SHOWN {
        return text.to_owned();
    }
    let half = MOST_SHOWN / 2 - 10;
    let ends = [&characters[..half], &characters[characters.len() - half..]];
    let [start, end] = ends.map(|part| part.iter().collect::<String>());
    format!("{start}...{end} ({} characters)", characters.len())
}

/// What is known of a column.
#[derive(Default)]
struct Known {
    rows: usize,
    nulls: usize,
    wrong: usize,
    first_wrong: Option<Failure>,
    negative: usize,
    least: Option<Integers>,
    greatest: Option<Integers>,
    /// How many numbers need at most 0, 32, 64, 128, ... bits, each counted at the shortest of
    /// these lengths.
    lengths: Vec<usize>,
}

/// Runs `stats`.
///
/// # Errors
/// [`Failure::Input`] where the file cannot be read.
pub fn stats(arguments: &Stats) -> Result<(), Failure> {
    Output::open(None, false)?;
    let (_, opened) = open_all(&arguments.file)?;
    let paths = opened.reader.paths();
    let mut columns: Vec<Known> = paths.iter().map(|_| Known::default()).collect();
    let mut readers = [opened.reader];
    while let Some(all) = next_rows(&mut readers)? {
        for ((column, rows), path) in columns.iter_mut().zip(&all).zip(&paths) {
            column.take(rows, path)?;
        }
    }
    let mut text = String::new();
    for (name, column) in opened.names.iter().zip(&columns) {
        column.write(name, &mut text);
    }
    output::print(&text)
}

impl Known {
    fn take(&mut self, rows: &Rows, path: &str) -> Result<(), Failure> {
        let nulls = rows.nulls();
        let wrong = (0..rows.len()).filter_map(|row| Some((row, rows.wrong(row)?)));
        let wrong: Vec<(usize, (usize, String))> = wrong.collect();
        if let Some((row, (offset, what))) = wrong.first() {
            let (line, column) = rows.position(*row);
            let place = SourcePlace {
                source: path.to_owned(),
                line,
                column: column + *offset as u64,
            };
            let first = Failure::Input(place, what.clone());
            self.first_wrong.get_or_insert(first);
        }
        let is_good = |row: &usize| {
            let is_wrong = wrong.binary_search_by_key(row, |(row, _)| *row).is_ok();
            !is_wrong && nulls.binary_search(row).is_err()
        };
        let picked: Vec<usize> = (0..rows.len()).filter(is_good).collect();
        self.rows += rows.len();
        self.nulls += nulls.len();
        self.wrong += wrong.len();
        if picked.is_empty() {
            return Ok(());
        }
        let numbers = rows
            .column(0..0, &picked, None)
            .map_err(|unread| match unread {
                Unread::Memory(error) => error.into(),
                Unread::Bad(bad) => Failure::Running(bad.to_string()),
            })?;
        for row in 0..numbers.len() {
            self.negative += usize::from(numbers.is_negative(row));
            let bits = bits(numbers.magnitude(row));
            let length = bits.div_ceil(LIMB_BITS).checked_next_power_of_two();
            let length = match bits {
                0 => 0,
                _ => 1 + length.unwrap_or(0).ilog2() as usize,
            };
            if self.lengths.len() <= length {
                self.lengths.resize(length + 1, 0);
            }
            self.lengths[length] += 1;
        }
        let order = |&a: &usize, &b: &usize| compare((&numbers, a), (&numbers, b));
        let least = (0..numbers.len()).min_by(order);
        let greatest = (0..numbers.len()).max_by(order);
        for (known, row, wanted) in [
            (&mut self.least, least, Ordering::Less),
            (&mut self.greatest, greatest, Ordering::Greater),
        ] {
            let Some(row) = row else { continue };
            let is_it = known
                .as_ref()
                .is_none_or(|known| compare((&numbers, row), (known, 0)) == wanted);
            if is_it {
                *known = Some(numbers.slice(row..row + 1)?);
            }
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &mut String) {
        let number = |number: &Option<Integers>| match number {
            None => "none".to_owned(),
            Some(number) => {
                let bits = bits(number.magnitude(0));
                format!("{} ({bits} bits)", shortened(&decimal(number, 0)))
            }
        };
        let _ = writeln!(text, "{name}");
        let _ = writeln!(text, "  rows      {}", self.rows);
        let _ = writeln!(text, "  nulls     {}", self.nulls);
        if let Some(first) = &self.first_wrong {
            let _ = writeln!(text, "  no numbers {} (the first: {first})", self.wrong);
        }
        let _ = writeln!(text, "  negative  {}", self.negative);
        let _ = writeln!(text, "  least     {}", number(&self.least));
        let _ = writeln!(text, "  greatest  {}", number(&self.greatest));
        let most = self.lengths.iter().max().copied().unwrap_or(0);
        for (length, &count) in self.lengths.iter().enumerate() {
            let bits = match length {
                0 => 0,
                length => LIMB_BITS << (length - 1),
            };
            let bar = "#".repeat((40 * count).div_ceil(most.max(1)));
            let _ = writeln!(text, "  {bits:>8} bits {count:>12} {bar}");
        }
    }
}

fn bits(magnitude: &[Limb]) -> usize {
    let top = magnitude.last().map_or(0, |top| top.leading_zeros());
    magnitude.len() * LIMB_BITS - top as usize
}

/// Compares a number with another.
fn compare((a, i): (&Integers, usize), (b, j): (&Integers, usize)) -> Ordering {
    let magnitudes = || {
        let (a, b) = (a.magnitude(i), b.magnitude(j));
        a.len()
            .cmp(&b.len())
            .then_with(|| a.iter().rev().cmp(b.iter().rev()))
    };
    match (a.is_negative(i), b.is_negative(j)) {
        (false, false) => magnitudes(),
        (true, true) => magnitudes().reverse(),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}
