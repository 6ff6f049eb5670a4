//! Files of Parquet and Arrow, by `bigint-arrow`.

use std::fs::File;
use std::path::Path;

use bigint_arrow::files::{self, Kind};
use bigint_arrow::{Any, Column, Error};

use crate::failure::{Failure, SourcePlace};
use crate::form::{self, Form};
use crate::number::Format;
use crate::packed::Packed;
use crate::rows::{Numbers, Rows, Table};
use crate::text_table::Wanted;
use crate::window::Results;

/// Bytes of rows that are read at once, about.
const BLOCK_BYTES: usize = 1 << 22;

/// Columns of a file.
pub struct Columns {
    path: String,
    reader: files::Reader,
    read: u64,
}

impl Columns {
    /// Opens a file and finds the wanted columns; answers them with the names of the file's
    /// columns.
    ///
    /// # Errors
    /// [`Failure::Input`] where it is no such file; [`form::column`].
    pub fn open(path: &Path, wanted: Wanted<'_>) -> Result<(Self, Vec<String>), Failure> {
        let shown = path.display().to_string();
        let refused = |error: Error| input(&shown, 0, &error);
        let file = File::open(path).map_err(|error| refused(error.into()))?;
        let all = files::columns(&file).map_err(refused)?;
        let names = match wanted {
            Wanted::All => all,
            Wanted::Some(wanted) => {
                let find = |wanted: &Option<String>| {
                    let column = form::column(&shown, &all, wanted.as_deref())?;
                    Ok(all[column].clone())
                };
                wanted.iter().map(find).collect::<Result<_, Failure>>()?
            }
        };
        let columns: Vec<&str> = names.iter().map(String::as_str).collect();
        let reader = files::Reader::new(file, &columns, BLOCK_BYTES).map_err(refused)?;
        let table = Columns {
            path: shown,
            reader,
            read: 0,
        };
        Ok((table, names))
    }
}

/// The failure that `error` is where the file is to blame, after so many rows were read.
fn input(path: &str, rows: u64, error: &Error) -> Failure {
    let place = SourcePlace {
        source: path.to_owned(),
        line: rows + 1,
        column: 1,
    };
    Failure::Input(place, error.to_string())
}

impl Table for Columns {
    fn next(&mut self) -> Result<Option<Vec<Rows>>, Failure> {
        loop {
            let Some(part) = self.reader.next() else {
                return Ok(None);
            };
            let part = part.map_err(|error| input(&self.path, self.read, &error))?;
            let before = self.read;
            let count = part.columns.first().map_or(0, Column::len);
            self.read += count as u64;
            if count == 0 {
                continue;
            }
            let mut wrong: Vec<Vec<(usize, String)>> = vec![Vec::new(); part.columns.len()];
            for (column, row, what) in part.wrong {
                wrong[column].push((row, what));
            }
            let rows = part.columns.into_iter().zip(wrong);
            let rows = rows.map(|(column, wrong)| {
                let (numbers, nulls) = column.into_parts();
                let nulls = nulls
                    .iter()
                    .flat_map(|nulls| (0..nulls.len()).filter(|&row| nulls.is_null(row)));
                let is_null = |row: &usize| {
                    let wrong = wrong.binary_search_by_key(row, |(wrong, _)| *wrong);
                    wrong.is_err()
                };
                Rows::Numbers(Numbers {
                    nulls: nulls.filter(is_null).collect(),
                    numbers,
                    wrong,
                    before,
                })
            });
            return Ok(Some(rows.collect()));
        }
    }
}

/// Writes columns of results.
pub struct Writer {
    writer: files::Writer<Packed>,
    name: String,
    format: Option<Format>,
}

impl Writer {
    /// Begins a file of columns with these names in `output`.
    ///
    /// # Errors
    /// As writing.
    pub fn new(
        output: Packed,
        form: Form,
        names: &[String],
        format: Option<Format>,
    ) -> Result<Self, Failure> {
        let kind = match form {
            Form::Arrow => Kind::Arrow,
            _ => Kind::Parquet,
        };
        let field = |name: &String| match format {
            None => Any::field(name, true),
            Some(_) => bigint_arrow::text_field(name, true),
        };
        let fields = names.iter().map(field).collect();
        let name = output.name().to_owned();
        match files::Writer::new(output, kind, fields) {
            Ok(writer) => Ok(Writer {
                writer,
                name,
                format,
            }),
            Err(error) => Err(Failure::Running(format!("{name}: cannot write: {error}"))),
        }
    }

    /// Appends the rows of a window.
    ///
    /// # Errors
    /// As writing.
    pub fn write(&mut self, results: Vec<Results>) -> Result<(), Failure> {
        // A window without rows has no columns either.
        if results.is_empty() {
            return Ok(());
        }
        let columns = results.into_iter().map(column);
        let columns = columns.collect::<Result<Vec<_>, Error>>();
        let written = columns.and_then(|columns| match self.format {
            Some(Format::Hex) => self.writer.write_hexadecimal(&columns),
            _ => self.writer.write(&columns),
        });
        written.map_err(|error| Failure::Running(format!("{}: cannot write: {error}", self.name)))
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As writing.
    pub fn finish(self) -> Result<(), Failure> {
        match self.writer.finish() {
            Ok(output) => output.finish(),
            Err(error) => {
                let what = format!("{}: cannot write: {error}", self.name);
                Err(Failure::Running(what))
            }
        }
    }
}

/// Makes an Arrow column of results; a row without a value is null.
fn column(results: Results) -> Result<Column, Error> {
    if results.valueless.is_empty() && results.values.len() == results.lines {
        return Ok(results.values.into());
    }
    let rows = (0..results.lines).map(|line| results.row(line));
    // Behind the values stands a zero, for the rows that have none.
    let zero = bigint_host::Integers::from_parts(Vec::new(), vec![0, 0], vec![0])?;
    let values = bigint_host::Integers::concatenate(&[&results.values, &zero])?;
    let places = rows.clone().map(|row| row.unwrap_or(results.values.len()));
    let numbers = values.gather(&places.collect::<Vec<_>>())?;
    Column::new(numbers, Some(rows.map(|row| row.is_some()).collect()))
}
