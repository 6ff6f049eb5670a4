//! The form of a file, as its name says it: lines of numbers, or a table with columns.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The form in which numbers stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One number a line: the form of every file whose name says nothing else.
    Lines,
    /// Rows of cells with this byte between them, as RFC 4180 has it.
    Separated(u8),
    /// A JSON object a line.
    Jsonl,
    /// An array of NumPy's.
    Npy,
    /// Apache Parquet.
    Parquet,
    /// Arrow's own format.
    Arrow,
}

/// How text is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

const FORMS: [(&str, Form); 9] = [
    ("csv", Form::Separated(b',')),
    ("tsv", Form::Separated(b'\t')),
    ("jsonl", Form::Jsonl),
    ("ndjson", Form::Jsonl),
    ("npy", Form::Npy),
    ("parquet", Form::Parquet),
    ("arrow", Form::Arrow),
    ("ipc", Form::Arrow),
    ("feather", Form::Arrow),
];

const PACKINGS: [(&str, Packing); 5] = [
    ("gz", Packing::Gzip),
    ("zst", Packing::Zstd),
    ("zstd", Packing::Zstd),
    ("xz", Packing::Xz),
    ("bz2", Packing::Bzip2),
];

/// The form and the packing that the name of a file says.
///
/// # Errors
/// [`Failure::Usage`] where something is packed that is not text.
pub fn of(path: &Path) -> Result<(Form, Packing), Failure> {
    let packing = extension(path, &PACKINGS);
    let inner = match packing {
        Some(_) => path.file_stem().map_or(path, Path::new),
        None => path,
    };
    let form = extension(inner, &FORMS).unwrap_or(Form::Lines);
    if packing.is_some() && matches!(form, Form::Npy | Form::Parquet | Form::Arrow) {
        let what = "only text is packed: leave the last part of its name away";
        return Err(Failure::Usage(format!("{}: {what}", path.display())));
    }
    Ok((form, packing.unwrap_or(Packing::Plain)))
}

fn extension<T: Copy>(path: &Path, known: &[(&str, T)]) -> Option<T> {
    let extension = path.extension()?.to_ascii_lowercase();
    let is_it = |(name, _): &&(&str, T)| OsStr::new(name) == extension;
    known.iter().find(is_it).map(|(_, value)| *value)
}

/// The file that a source is, and the column of it that is named behind `:`.
///
/// # Errors
/// As for [`of`].
pub fn split(source: &OsStr) -> Result<(PathBuf, Form, Option<String>), Failure> {
    let whole = Path::new(source);
    let text = source.to_str().filter(|_| !whole.exists());
    for (colon, _) in text.into_iter().flat_map(|text| text.match_indices(':')) {
        let (path, column) = (
            &text.unwrap_or_default()[..colon],
            &text.unwrap_or_default()[colon + 1..],
        );
        let (form, _) = of(Path::new(path))?;
        if form != Form::Lines {
            return Ok((path.into(), form, Some(column.to_owned())));
        }
    }
    let (form, _) = of(whole)?;
    Ok((whole.to_owned(), form, None))
}

/// Finds the column of a file that is meant: by name, by number from 1, or the only one where
/// nothing is said.
///
/// # Errors
/// [`Failure::Usage`] where there is no such column.
pub fn column(path: &str, names: &[String], wanted: Option<&str>) -> Result<usize, Failure> {
    let Some(wanted) = wanted else {
        return match names {
            [_] => Ok(0),
            _ => Err(Failure::Usage(format!(
                "{path}: say which column: {path}:NAME, of {}",
                names.join(", ")
            ))),
        };
    };
    let by_name = names.iter().position(|name| name == wanted);
    let by_number = || {
        let number: usize = wanted.parse().ok()?;
        number.checked_sub(1).filter(|index| *index < names.len())
    };
    by_name.or_else(by_number).ok_or_else(|| {
        Failure::Usage(match names {
            [] => format!("{path}: there is no column {wanted:?}, as there is none"),
            _ => {
                let names = names.join(", ");
                format!("{path}: there is no column {wanted:?}, but {names}")
            }
        })
    })
}

/// The message for files that this build does not read and write.
#[cfg(not(feature = "arrow"))]
pub const NO_ARROW: &str = "this build has no Parquet and Arrow: build it with \
                            `cargo build --release -p bigint-cli --features arrow`";
