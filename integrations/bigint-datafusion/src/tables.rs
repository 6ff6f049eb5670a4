//! Files as tables.

use std::sync::Arc;

use bigint_arrow::text;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::{Result, plan_err};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::context::SessionContext;

use crate::value::{failed, is_big, read};

/// The endings of files that are read.
pub const ENDINGS: &str = ".parquet .arrow .csv .tsv .jsonl";

/// Registers files, folders or patterns like `part-*.parquet` as one table. The ending of the first
/// says what they are: see [`ENDINGS`].
///
/// # Errors
/// A file that is not there or has another ending; as DataFusion's.
pub async fn register_files(session: &SessionContext, name: &str, paths: &[String]) -> Result<()> {
    let [first, ..] = paths else {
        return plan_err!("table {name} has no file");
    };
    let mut ending = std::path::Path::new(first).extension();
    for path in paths {
        let is_pattern = path.contains(['*', '?', '[']) || path.contains("://");
        if !is_pattern && !std::path::Path::new(path).exists() {
            return plan_err!("table {name}: there is no file {path:?}");
        }
    }
    let folder = std::fs::read_dir(first).ok();
    let within: Option<Vec<_>> = folder.map(|folder| folder.flatten().map(|e| e.path()).collect());
    if let Some(within) = &within {
        ending = within.iter().find_map(|path| path.extension());
    }
    let ending = ending
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    let csv = |delimiter| {
        // All rows are looked at: a later one may have more digits than a machine integer holds.
        let csv = CsvFormat::default().with_has_header(true);
        csv.with_delimiter(delimiter)
            .with_schema_infer_max_rec(usize::MAX)
    };
    let format: Arc<dyn FileFormat> = match ending {
        "parquet" => Arc::new(ParquetFormat::default().with_skip_metadata(false)),
        "arrow" => Arc::new(ArrowFormat),
        "csv" => Arc::new(csv(b',')),
        "tsv" => Arc::new(csv(b'\t')),
        "jsonl" => Arc::new(JsonFormat::default().with_schema_infer_max_rec(usize::MAX)),
        _ => return plan_err!("table {name}: {first:?} does not end in one of {ENDINGS}"),
    };
    let urls = paths
        .iter()
        .map(ListingTableUrl::parse)
        .collect::<Result<_>>()?;
    let options = ListingOptions::new(format).with_file_extension(format!(".{ending}"));
    let table = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options);
    let table = ListingTable::try_new(table.infer_schema(&session.state()).await?)?;
    session.register_table(name, Arc::new(table))?;
    Ok(())
}

/// The columns of an answer with their extension types, as far as a plan has them. DataFusion plans
/// `min` and `max` after it has said what a query's columns are.
///
/// # Errors
/// As DataFusion's planning.
pub fn columns_of(answer: &DataFrame) -> Result<SchemaRef> {
    let (state, plan) = answer.clone().into_parts();
    let options = state.config_options();
    let plan = state
        .analyzer()
        .execute_and_check(plan, options, |_, _| {})?;
    Ok(Arc::clone(plan.schema().inner()))
}

/// A batch with its integers in decimal digits, to be shown or written as text. The columns are
/// those of the query, [`columns_of`]: what comes from a cluster may have lost its extension types.
///
/// # Errors
/// As reading the columns.
pub fn shown(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| {
        let field = field.as_ref().clone();
        if !is_big(&field) {
            return Ok((
                field.with_data_type(column.data_type().clone()),
                Arc::clone(column),
            ));
        }
        let column = read(Arc::clone(column), &field)?;
        let array: ArrayRef = Arc::new(text(&column, false).map_err(failed)?);
        Ok((
            Field::new(field.name(), array.data_type().clone(), true),
            array,
        ))
    });
    let (fields, columns): (Vec<_>, Vec<_>) =
        columns.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    Ok(RecordBatch::try_new(
        Arc::new(Schema::new(fields)),
        columns,
    )?)
}
