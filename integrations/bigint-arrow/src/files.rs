//! Columns of Parquet and Arrow files, part by part, in bounded memory.
//!
//! ```
//! use bigint_arrow::{Any, Column, files};
//! use bigint_host::Integers;
//!
//! let file = tempfile::tempfile()?;
//! let squares = Column::from(Integers::from_texts(["0", "1", "-340282366920938463463374607431768211456"])?);
//! let mut writer = files::Writer::new(file.try_clone()?, files::Kind::Parquet, vec![Any::field("n", true)])?;
//! writer.write(&[squares.clone()])?;
//! writer.finish()?;
//! let parts: Vec<_> = files::Reader::new(file, &["n"], 1000)?.collect::<Result<_, _>>()?;
//! assert_eq!(parts[0].columns, [squares]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, Field, Fields, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::properties::WriterProperties;

use crate::read::read_or_null;
use crate::{Column, Error, text};

/// Bytes of a row group that are in memory before it is written.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// How columns are stored in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Apache Parquet.
    Parquet,
    /// Arrow's own format, of files or of streams.
    Arrow,
}

/// Some rows of the columns of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The columns, in the order in which they were named. Values that are no integers are null.
    pub columns: Vec<Column>,
    /// Those values: number of the column, row of this part, and what is wrong.
    pub wrong: Vec<(usize, usize, String)>,
}

/// Reads columns of a file, part by part.
pub struct Reader {
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    /// Rows in all, where the file says how many.
    rows: Option<u64>,
    /// The columns' places in a batch.
    places: Vec<usize>,
    schema: SchemaRef,
}

impl Reader {
    /// The columns of these names, in parts of about so many bytes. What the file is its content
    /// says. Arrow's files come in the parts in which they were written.
    ///
    /// # Errors
    /// [`Error::NoColumn`]; as reading.
    pub fn new(file: File, columns: &[&str], bytes: usize) -> Result<Self, Error> {
        let (schema, kind) = opened(&file)?;
        let find = |name: &&str| {
            let index = schema.index_of(name);
            index.map_err(|_| Error::NoColumn {
                column: (*name).to_owned(),
                has: names(&schema),
            })
        };
        let wanted = columns.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let mut projection = wanted.clone();
        projection.sort_unstable();
        projection.dedup();
        let place = |index| projection.iter().position(|other| *other == index);
        let places: Vec<usize> = wanted.iter().filter_map(|&index| place(index)).collect();
        let projected = |schema: &Schema| schema.project(&projection).map(SchemaRef::new);
        let schema = projected(&schema)?;
        let mut count = None;
        let batches: Box<dyn Iterator<Item = _> + Send> = match kind {
            Form::Parquet => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
                count = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
                let mask = ProjectionMask::roots(builder.parquet_schema(), projection);
                let rows = rows_of(builder.metadata(), columns, bytes);
                let builder = builder.with_projection(mask).with_batch_size(rows);
                Box::new(builder.build()?)
            }
            Form::File => Box::new(FileReader::try_new(BufReader::new(file), Some(projection))?),
            Form::Stream => Box::new(StreamReader::try_new(
                BufReader::new(file),
                Some(projection),
            )?),
        };
        Ok(Reader {
            batches,
            rows: count,
            places,
            schema,
        })
    }

    /// How many rows there are, where the file says it.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    fn part(&self, batch: &RecordBatch) -> Result<Part, Error> {
        let mut part = Part {
            columns: Vec::new(),
            wrong: Vec::new(),
        };
        for (number, &place) in self.places.iter().enumerate() {
            let array: ArrayRef = batch.column(place).clone();
            let (column, wrong) = read_or_null(array, self.schema.field(place))?;
            part.columns.push(column);
            let wrong = wrong.into_iter();
            part.wrong
                .extend(wrong.map(|(row, what)| (number, row, what)));
        }
        Ok(part)
    }
}

impl Iterator for Reader {
    type Item = Result<Part, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        Some(
            batch
                .map_err(Error::from)
                .and_then(|batch| self.part(&batch)),
        )
    }
}

/// How many rows of these columns take so many bytes, about.
fn rows_of(metadata: &ParquetMetaData, columns: &[&str], bytes: usize) -> usize {
    let is_read = |column: &&ColumnChunkMetaData| {
        let root = column.column_path().parts().first();
        root.is_some_and(|root| columns.contains(&&**root))
    };
    let groups = metadata.row_groups().iter();
    let sizes = groups.flat_map(|group| group.columns().iter().filter(is_read));
    let size: i64 = sizes.map(ColumnChunkMetaData::uncompressed_size).sum();
    let rows = metadata.file_metadata().num_rows().max(1);
    let row = usize::try_from(size / rows).unwrap_or(usize::MAX);
    (bytes / row.max(16)).max(1)
}

/// The columns of a file, by name.
///
/// # Errors
/// As reading.
pub fn columns(file: &File) -> Result<Vec<String>, Error> {
    Ok(names(&opened(file)?.0))
}

fn names(schema: &Schema) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

/// What a file begins with.
enum Form {
    Parquet,
    File,
    Stream,
}

/// What is in a file, and its columns.
fn opened(mut file: &File) -> Result<(SchemaRef, Form), Error> {
    const MOST: usize = b"ARROW1".len();
    let mut first = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(MOST as u64).read_to_end(&mut first)?;
    file.seek(SeekFrom::Start(0))?;
    let own = file.try_clone()?;
    let opened = match &first[..] {
        [b'P', b'A', b'R', b'1', ..] => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(own)?;
            (builder.schema().clone(), Form::Parquet)
        }
        b"ARROW1" => (FileReader::try_new(own, None)?.schema(), Form::File),
        _ => {
            let stream = StreamReader::try_new(own, None)?;
            (stream.schema(), Form::Stream)
        }
    };
    file.seek(SeekFrom::Start(0))?;
    Ok(opened)
}

/// Writes columns to a file, part by part.
pub struct Writer<W: Write + Send> {
    form: Written<W>,
    schema: SchemaRef,
}

enum Written<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file of columns of these names and types.
    ///
    /// # Errors
    /// As writing.
    pub fn new(out: W, kind: Kind, fields: Vec<Field>) -> Result<Self, Error> {
        let schema = SchemaRef::new(Schema::new(Fields::from(fields)));
        let form = match kind {
            Kind::Parquet => {
                // Long numbers seldom come twice.
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_dictionary_enabled(false)
                    .build();
                let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
                Written::Parquet(Box::new(writer))
            }
            Kind::Arrow => {
                let options = IpcWriteOptions::default();
                let writer = FileWriter::try_new_with_options(out, &schema, options)?;
                Written::Arrow(Box::new(writer))
            }
        };
        Ok(Writer { form, schema })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// As [`Column::to_array`] and writing.
    pub fn write(&mut self, columns: &[Column]) -> Result<(), Error> {
        let fields = self.schema.fields().iter();
        let arrays = columns.iter().zip(fields);
        let arrays = arrays.map(|(column, field)| column.to_array(field));
        let arrays = arrays.collect::<Result<_, _>>()?;
        self.write_arrays(arrays)
    }

    /// Appends rows, as text in hexadecimal digits.
    ///
    /// # Errors
    /// As [`text`] and writing.
    pub fn write_hexadecimal(&mut self, columns: &[Column]) -> Result<(), Error> {
        let arrays = columns
            .iter()
            .map(|column| Ok(Arc::new(text(column, true)?) as ArrayRef));
        let arrays = arrays.collect::<Result<_, Error>>()?;
        self.write_arrays(arrays)
    }

    fn write_arrays(&mut self, arrays: Vec<ArrayRef>) -> Result<(), Error> {
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)?;
        match &mut self.form {
            Written::Parquet(writer) => {
                writer.write(&batch)?;
                if writer.in_progress_size() >= ROW_GROUP_BYTES {
                    writer.flush()?;
                }
            }
            Written::Arrow(writer) => writer.write(&batch)?,
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As writing.
    pub fn finish(self) -> Result<W, Error> {
        Ok(match self.form {
            Written::Parquet(writer) => writer.into_inner()?,
            Written::Arrow(mut writer) => {
                writer.finish()?;
                writer.into_inner()?
            }
        })
    }
}
