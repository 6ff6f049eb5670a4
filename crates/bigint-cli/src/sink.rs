//! The destination of results: lines in a file for each formula, or the columns of one table.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::form::{self, Form};
use crate::npy;
use crate::number::Format;
use crate::packed::Packed;
use crate::window::Results;

/// The results of a window in the form in which they are written.
pub enum Piece {
    /// Text, with the index of its file.
    Texts(Vec<(usize, Vec<Vec<u8>>)>),
    /// Numbers, column by column.
    Numbers(Vec<Results>),
}

/// The open files of results.
pub struct Sink {
    form: Form,
    /// The columns' names.
    names: Vec<String>,
    files: Files,
}

enum Files {
    Text(Vec<Packed>),
    Npy(Box<npy::Writer>),
    #[cfg(feature = "arrow")]
    Arrow(crate::arrow_files::Writer),
}

/// Opens the destination for columns of these names: a file for each, or one for all.
///
/// Columns of a binary file are numbers, or text where a `format` is asked for.
///
/// # Errors
/// [`Failure::Usage`] where there can be no such file.
pub fn open(
    paths: &[Option<PathBuf>],
    names: Vec<String>,
    format: Option<Format>,
    in_place: bool,
) -> Result<Sink, Failure> {
    let mut form = Form::Lines;
    let mut outputs = Vec::new();
    for path in paths {
        outputs.push(Packed::open(path.as_deref(), in_place)?);
        if let Some(path) = path {
            (form, _) = form::of(path)?;
        }
    }
    let is_one = paths.len() == 1;
    let mut only = || outputs.swap_remove(0);
    let files = match form {
        Form::Npy if is_one && names.len() == 1 => Files::Npy(Box::new(npy::Writer::new(only())?)),
        Form::Parquet | Form::Arrow if is_one => binary(only(), form, &names, format)?,
        Form::Separated(_) | Form::Jsonl if is_one => {
            let mut output = only();
            if let Form::Separated(separator) = form {
                output.put(&header(&names, separator))?;
            }
            Files::Text(vec![output])
        }
        Form::Lines => Files::Text(outputs),
        _ => {
            let what = "several columns of results, each in a file of its own, are lines of text";
            return Err(Failure::Usage(what.to_owned()));
        }
    };
    Ok(Sink { form, names, files })
}

#[cfg(feature = "arrow")]
fn binary(
    output: Packed,
    form: Form,
    names: &[String],
    format: Option<Format>,
) -> Result<Files, Failure> {
    crate::arrow_files::Writer::new(output, form, names, format).map(Files::Arrow)
}

#[cfg(not(feature = "arrow"))]
fn binary(output: Packed, _: Form, _: &[String], _: Option<Format>) -> Result<Files, Failure> {
    Err(Failure::Usage(format!(
        "{}: {}",
        output.name(),
        form::NO_ARROW
    )))
}

/// The line with the columns' names.
fn header(names: &[String], separator: u8) -> Vec<u8> {
    let cell = |name: &String| {
        let is_plain = !name.is_empty() && !name.contains(['"', '\n', '\r', char::from(separator)]);
        match is_plain {
            true => name.clone(),
            false => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    };
    let cells: Vec<String> = names.iter().map(cell).collect();
    let mut line = cells.join(&char::from(separator).to_string()).into_bytes();
    line.push(b'\n');
    line
}

impl Sink {
    /// The form in which this sink takes results.
    pub fn shape(&self) -> Shape {
        Shape {
            form: self.form,
            names: self.names.clone(),
        }
    }

    /// Writes a piece; answers how many bytes of text that was.
    ///
    /// # Errors
    /// As writing.
    pub fn write(&mut self, piece: Piece) -> Result<u64, Failure> {
        let mut bytes = 0;
        match (&mut self.files, piece) {
            (Files::Text(outputs), Piece::Texts(texts)) => {
                for (file, pieces) in texts {
                    for piece in pieces {
                        outputs[file].put(&piece)?;
                        bytes += piece.len() as u64;
                    }
                }
            }
            (Files::Npy(writer), Piece::Numbers(results)) => {
                results
                    .iter()
                    .try_for_each(|results| writer.write(results))?;
            }
            #[cfg(feature = "arrow")]
            (Files::Arrow(writer), Piece::Numbers(results)) => writer.write(results)?,
            _ => unreachable!("pieces are made for this sink"),
        }
        Ok(bytes)
    }

    /// Completes the files.
    ///
    /// # Errors
    /// As writing.
    pub fn finish(self) -> Result<(), Failure> {
        match self.files {
            Files::Text(outputs) => outputs.into_iter().try_for_each(Packed::finish),
            Files::Npy(writer) => writer.finish(),
            #[cfg(feature = "arrow")]
            Files::Arrow(writer) => writer.finish(),
        }
    }
}

/// The form in which a sink takes results.
pub struct Shape {
    form: Form,
    names: Vec<String>,
}

impl Shape {
    /// Makes a piece of a window's results, which come with the indices of their formulas.
    ///
    /// # Errors
    /// [`Failure::Running`] where memory ends.
    pub fn piece(
        &self,
        results: Vec<(usize, Results)>,
        write: impl Fn(&Results) -> Result<Vec<Vec<u8>>, bigint_host::Error>,
    ) -> Result<Piece, Failure> {
        if matches!(self.form, Form::Npy | Form::Parquet | Form::Arrow) {
            return Ok(Piece::Numbers(
                results.into_iter().map(|(_, results)| results).collect(),
            ));
        }
        let texts = results
            .iter()
            .map(|(formula, results)| Ok((*formula, write(results)?)));
        let texts = texts.collect::<Result<Vec<_>, bigint_host::Error>>()?;
        match self.form {
            Form::Lines => Ok(Piece::Texts(texts)),
            _ if texts.is_empty() => Ok(Piece::Texts(Vec::new())),
            form => {
                let columns: Vec<Vec<u8>> =
                    texts.iter().map(|(_, pieces)| pieces.concat()).collect();
                Ok(Piece::Texts(vec![(
                    0,
                    vec![rows(&columns, form, &self.names)],
                )]))
            }
        }
    }
}

/// Lines of numbers, one list for each column, as rows of a table; an empty line is null.
fn rows(columns: &[Vec<u8>], form: Form, names: &[String]) -> Vec<u8> {
    let mut text = Vec::new();
    let keys = names
        .iter()
        .map(|name| serde_json::Value::from(name.as_str()).to_string());
    let keys: Vec<String> = keys.collect();
    let mut columns: Vec<_> = columns
        .iter()
        .map(|column| column.split(|&byte| byte == b'\n'))
        .collect();
    loop {
        let cells: Vec<&[u8]> = columns.iter_mut().filter_map(Iterator::next).collect();
        // Behind the last line feed there is nothing.
        let is_last = columns
            .first()
            .is_none_or(|rest| rest.clone().next().is_none());
        if is_last {
            return text;
        }
        match form {
            Form::Separated(separator) => {
                // An empty line would be no row.
                if let [b""] = cells[..] {
                    text.extend_from_slice(b"\"\"");
                }
                text.extend_from_slice(&cells.join(&separator));
            }
            _ => {
                text.push(b'{');
                for (index, (key, cell)) in keys.iter().zip(cells).enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    text.extend_from_slice(format!("{comma}{key}:").as_bytes());
                    match cell {
                        b"" => text.extend_from_slice(b"null"),
                        digits => text.extend_from_slice(&[b"\"", digits, b"\""].concat()),
                    }
                }
                text.push(b'}');
            }
        }
        text.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_rows_of_a_table() {
        let names = ["a".to_owned(), "the \"b\"".to_owned()];
        let columns = [b"1\n\n-3\n".to_vec(), b"4\n5\n\n".to_vec()];
        let text =
            |form, columns: &[Vec<u8>]| String::from_utf8(rows(columns, form, &names)).unwrap();
        assert_eq!(text(Form::Separated(b','), &columns), "1,4\n,5\n-3,\n");
        assert_eq!(text(Form::Separated(b'\t'), &columns[..1]), "1\n\"\"\n-3\n");
        let objects = "{\"a\":\"1\",\"the \\\"b\\\"\":\"4\"}\n{\"a\":null,\"the \\\"b\\\"\":\"5\"}\n\
                       {\"a\":\"-3\",\"the \\\"b\\\"\":null}\n";
        assert_eq!(text(Form::Jsonl, &columns), objects);
        assert_eq!(text(Form::Jsonl, &[Vec::new(), Vec::new()]), "");
        assert_eq!(header(&names, b','), b"a,\"the \"\"b\"\"\"\n");
    }
}
