//! Where an answer goes, batch by batch.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bigint_datafusion::shown;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::ipc::writer::FileWriter;
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::common::DataFusionError;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::errors::ParquetError;
use tempfile::NamedTempFile;

use crate::Failure;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Parquet,
    Arrow,
    Delimited(u8),
    JsonLines,
    /// For people: of all batches at the end.
    Table,
}

/// A writer of batches.
enum Writer {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<BufWriter<File>>>),
    /// Text, which is made of each batch apart.
    Text(BufWriter<Box<dyn Write + Send>>),
}

/// The answer on its way. A file appears when it is complete.
pub struct Output {
    form: Form,
    path: Option<PathBuf>,
    file: Option<NamedTempFile>,
    schema: SchemaRef,
    writer: Option<Writer>,
    /// Batches of a table, which wait for the last one.
    waiting: Vec<RecordBatch>,
    has_header: bool,
}

/// An error while writing.
fn unwritten(path: Option<&Path>) -> impl Fn(std::io::Error) -> Failure + use<> {
    let to = path.map_or("standard output".into(), |path| path.display().to_string());
    move |error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::ReaderGone,
        _ => Failure::Running(format!("{to}: cannot write: {error}")),
    }
}

fn of_parquet(error: ParquetError) -> Failure {
    Failure::Running(format!("cannot write: {error}"))
}

impl Output {
    /// An answer that goes to a file, whose name says its form, or to standard output.
    pub fn new(path: Option<&Path>) -> Result<Self, Failure> {
        let ending = path.map(|path| path.extension().and_then(|e| e.to_str()));
        let form = match ending {
            None if std::io::stdout().is_terminal() => Form::Table,
            None => Form::Delimited(b','),
            Some(Some("parquet")) => Form::Parquet,
            Some(Some("arrow")) => Form::Arrow,
            Some(Some("csv")) => Form::Delimited(b','),
            Some(Some("tsv")) => Form::Delimited(b'\t'),
            Some(Some("jsonl")) => Form::JsonLines,
            Some(_) => {
                let what = "-o: the name does not end in .parquet, .arrow, .csv, .tsv or .jsonl";
                return Err(Failure::Usage(what.to_owned()));
            }
        };
        let beside = |path: &Path| match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => NamedTempFile::new_in(folder),
            _ => NamedTempFile::new_in("."),
        };
        // What cannot be written is said before the work.
        let file = path.map(beside).transpose().map_err(unwritten(path))?;
        Ok(Output {
            form,
            path: path.map(Path::to_owned),
            file,
            schema: Arc::new(Schema::empty()),
            writer: None,
            waiting: Vec::new(),
            has_header: false,
        })
    }

    fn broken(&self) -> impl Fn(std::io::Error) -> Failure + use<> {
        unwritten(self.path.as_deref())
    }

    /// The columns of the query.
    pub fn start(&mut self, schema: SchemaRef) {
        self.schema = schema;
    }

    fn writer(&mut self, schema: &SchemaRef) -> Result<&mut Writer, Failure> {
        if self.writer.is_none() {
            let opened = self.file.as_ref().map(|file| file.reopen());
            let file = opened.transpose().map_err(self.broken())?;
            self.writer = Some(match (self.form, file) {
                (Form::Parquet, Some(file)) => {
                    let writer = ArrowWriter::try_new(file, Arc::clone(schema), None);
                    Writer::Parquet(Box::new(writer.map_err(of_parquet)?))
                }
                (Form::Arrow, Some(file)) => {
                    let file = BufWriter::new(file);
                    let writer = FileWriter::try_new(file, schema);
                    Writer::Arrow(Box::new(writer.map_err(DataFusionError::from)?))
                }
                (_, Some(file)) => Writer::Text(BufWriter::new(Box::new(file))),
                (_, None) => Writer::Text(BufWriter::new(Box::new(std::io::stdout()))),
            });
        }
        Ok(self
            .writer
            .get_or_insert_with(|| unreachable!("it was made above")))
    }

    /// Writes a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        let batch = self.typed(batch)?;
        match self.form {
            Form::Table => self.waiting.push(shown(&batch, &self.schema)?),
            Form::Delimited(_) | Form::JsonLines => {
                let text = self.text(&shown(&batch, &self.schema)?)?;
                self.put(&text)?;
            }
            Form::Parquet | Form::Arrow => match self.writer(&batch.schema())? {
                Writer::Parquet(writer) => writer.write(&batch).map_err(of_parquet)?,
                Writer::Arrow(writer) => writer.write(&batch).map_err(DataFusionError::from)?,
                Writer::Text(_) => unreachable!("it is of another form"),
            },
        }
        Ok(())
    }

    /// A batch with the query's names and extension types, which a cluster may have lost.
    fn typed(&self, batch: &RecordBatch) -> Result<RecordBatch, Failure> {
        let fields = self.schema.fields().iter().zip(batch.columns());
        let fields = fields.map(|(field, column)| {
            let field = field.as_ref().clone().with_nullable(true);
            field.with_data_type(column.data_type().clone())
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let typed = RecordBatch::try_new(schema, batch.columns().to_vec());
        Ok(typed.map_err(DataFusionError::from)?)
    }

    fn text(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, Failure> {
        let mut text = Vec::new();
        match self.form {
            Form::Delimited(delimiter) => {
                let has_header = std::mem::replace(&mut self.has_header, true);
                let csv = WriterBuilder::new().with_delimiter(delimiter);
                let mut csv = csv.with_header(!has_header).build(&mut text);
                csv.write(batch).map_err(DataFusionError::from)?;
            }
            _ => {
                let mut json = LineDelimitedWriter::new(&mut text);
                json.write(batch).map_err(DataFusionError::from)?;
                json.finish().map_err(DataFusionError::from)?;
            }
        }
        Ok(text)
    }

    fn put(&mut self, text: &[u8]) -> Result<(), Failure> {
        let broken = self.broken();
        let schema = Arc::clone(&self.schema);
        match self.writer(&schema)? {
            Writer::Text(writer) => writer.write_all(text).map_err(broken),
            _ => unreachable!("it is of another form"),
        }
    }

    /// Writes the end, and makes the file appear.
    pub fn finish(mut self) -> Result<(), Failure> {
        match self.form {
            Form::Table => {
                let table = pretty_format_batches(&self.waiting).map_err(DataFusionError::from)?;
                self.put(format!("{table}\n").as_bytes())?;
            }
            Form::Delimited(_) if !self.has_header => {
                let empty = RecordBatch::new_empty(Arc::clone(&self.schema));
                self.write(&empty)?;
            }
            _ => {}
        }
        let (broken, schema) = (self.broken(), Arc::clone(&self.schema));
        self.writer(&schema)?;
        match self.writer.take() {
            Some(Writer::Parquet(writer)) => drop(writer.close().map_err(of_parquet)?),
            Some(Writer::Arrow(mut writer)) => writer.finish().map_err(DataFusionError::from)?,
            Some(Writer::Text(mut writer)) => writer.flush().map_err(&broken)?,
            None => {}
        }
        if let (Some(file), Some(path)) = (self.file.take(), &self.path) {
            let made = file.persist(path).map_err(|error| broken(error.error))?;
            allow_all_that_is_allowed(&made).map_err(&broken)?;
        }
        Ok(())
    }
}

/// A temporary file is its owner's alone; the answer's is as the user's mask has it.
fn allow_all_that_is_allowed(file: &File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    let _ = file;
    Ok(())
}
