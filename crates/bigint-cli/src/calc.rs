//! `bigint calc`: expressions over every line of their sources.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU64};

use bigint_core::Algorithm;
use bigint_host::expression::{Formulas, Function};
use bigint_host::{Integers, Limb};
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::backend::{BackendName, algorithm_parser, binds};
use crate::column::read_column;
use crate::computation::Computation;
use crate::expression::{self, Expressions, Operand};
use crate::failure::{Failure, SourcePlace};
use crate::files;
use crate::form::{self, Form};
use crate::lines::LineReader;
use crate::number::{Format, Number, Unread};
use crate::on_error::OnError;
use crate::operands::{Operands, Origin};
use crate::options::{self, split_once};
use crate::output;
use crate::pipeline::Pipeline;
use crate::profile::{Profile, Stage};
use crate::rows::Reader;
use crate::sink;
use crate::source::Input;
use crate::standard::{self, Stream, Target};
use crate::text_table::Wanted;

/// The default of `--memory`, for numbers and text in flight.
const MEMORY: &str = "512M";

/// The same default, in bytes.
const DEFAULT_MEMORY: usize = 512 << 20;

/// The memory for text that is read ahead, of all files together, is the whole memory over this.
const TEXT_PART: usize = 32;

/// The memory of a window is the whole memory over this: several windows are parsed, computed,
/// formatted and written at one time, and some wait in between.
const WINDOW_PART: usize = 8;

/// The least number of bytes that are read ahead of a file.
const LEAST_TEXT_BYTES: usize = 1 << 16;

/// Compute an expression for every line of its sources
///
/// Sources are files with one integer per line, columns of tables, or single integers, which
/// stand for all lines. One result per line is written, exact, in order; of a null comes a null,
/// an empty line.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[arg(value_name = "EXPR", allow_hyphen_values = true, required_unless_present = "columns",
        help = expression_help())]
    expression: Option<String>,

    /// Compute this as well: a column of results of its own, in the file that -o names with
    /// {name} in it
    #[arg(long = "column", value_name = "NAME=EXPR", conflicts_with = "expression",
        value_parser = parse_column)]
    columns: Vec<NamedExpression>,

    /// Bind a name to a file with one integer per line (decimal, or 0x hex, 0o octal or
    /// 0b binary, _ between digits; blank lines and # comments skipped; - for standard input),
    /// to a column of a table by its name or number (FILE.csv:COLUMN, .tsv, .jsonl:KEY,
    /// .parquet and .arrow), to an array of NumPy's (.npy), or to an integer. Text that is
    /// packed by gzip, zstd, xz or bzip2 is unpacked
    #[arg(long = "let", value_name = "NAME=SOURCE",
        value_parser = OsStringValueParser::new().try_map(|text| parse_binding(&text)))]
    bindings: Vec<Binding>,

    /// Write to this file instead of standard output; it appears when complete. Its name says
    /// in what form, as that of a source does: .csv, .tsv, .jsonl, .npy, .parquet, .arrow, or
    /// else lines, which .gz, .zst, .xz or .bz2 packs. A table has all columns; else each has a
    /// file of its own: {name} stands for the column's name
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write into the file of -o where no new file can take its place: it has a second hard
    /// link, an owner or attributes that cannot be copied, a folder that takes no files. A
    /// full disk or a kill then leaves a part of it
    #[arg(long, requires = "output")]
    in_place: bool,
    /// What becomes of a row that is no number, or that the expression has no value for, as
    /// a division by zero
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    on_error: OnError,

    /// The base of the results: decimal unless this says else. In Parquet and Arrow results are
    /// text where it is said, and else binary, as bigint.any
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Who computes: auto, cpu, cuda, cuda:N or cuda:N,M,...
    #[arg(long, default_value_t, value_name = "BACKEND")]
    backend: BackendName,

    /// Force an algorithm where the operation has it
    #[arg(long, default_value = "auto", value_name = "NAME", value_parser = algorithm_parser())]
    algorithm: Algorithm,

    /// Memory for numbers and text on their way, about, as in 64M or 2G; one line may take more
    #[arg(long, default_value = MEMORY, value_name = "SIZE", value_parser = options::memory)]
    memory: usize,

    /// Say on standard error how long each part took
    #[arg(long)]
    time: bool,

    /// The same, which back end did what, how each operation was computed and which threshold says so
    #[arg(short, long)]
    verbose: bool,
}

/// An expression with the name of its column of results.
#[derive(Clone, Debug)]
struct NamedExpression {
    name: String,
    text: String,
}

fn parse_column(text: &str) -> Result<NamedExpression, String> {
    let (name, text) = text.split_once('=').ok_or("expected NAME=EXPR")?;
    let name = name.trim();
    if !expression::is_name(name) {
        return Err(not_a_name(name));
    }
    Ok(NamedExpression {
        name: name.to_owned(),
        text: text.to_owned(),
    })
}

fn not_a_name(name: &str) -> String {
    format!("{name:?} is not a name: letters, digits and _, no digit first")
}

/// Whether a word that stands after `--` looks like an option's name, with a value or without.
pub fn is_like_an_option(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn expression_help() -> String {
    format!("The expression: unary minus, {}", expression::vocabulary())
}

#[derive(Clone, Debug)]
struct Binding {
    name: String,
    /// The source of the name. A file's name need not be UTF-8.
    source: OsString,
}

fn parse_binding(text: &OsStr) -> Result<Binding, String> {
    let (name, source) = split_once(text).ok_or("expected NAME=SOURCE")?;
    if !expression::is_name(&name) {
        return Err(not_a_name(&name));
    }
    if source.is_empty() {
        return Err(format!("{name}= names no source"));
    }
    Ok(Binding { name, source })
}

/// An opened source of a name.
enum Source {
    Constant(Integers, SourcePlace),
    Lines(Box<LineReader>),
    /// A column of a table: the index of the table, and of the column among those wanted.
    Table(usize, usize),
}

/// A table that will be read, and which of its columns are wanted.
struct Table {
    path: PathBuf,
    form: Form,
    columns: Vec<Option<String>>,
}

/// The files of an expression, in the order of the formula's columns.
#[derive(Default)]
struct Sources {
    readers: Vec<Box<dyn Reader>>,
    /// The tables whose readers have not been made yet.
    tables: Vec<Table>,
    /// The size in bytes of all files of known size.
    total_bytes: u64,
    read: Arc<AtomicU64>,
    /// The streams that are open and can be read only once.
    streams: Vec<Stream>,
    /// The number of bytes that are read ahead of a pipe.
    ahead: usize,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`], with no output file left behind.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let expressions = arguments.expressions()?;
    let files = arguments.outputs()?;
    let profile = Profile::default();
    let (operands, sources) = bind(&expressions, arguments, &profile)?;
    check_algorithm(&operands, arguments.algorithm)?;
    check_totals(&operands, files.len())?;
    let engine = arguments.backend.engine()?.using(arguments.algorithm);
    let engine = engine.keeping(arguments.memory / WINDOW_PART);
    if arguments.verbose {
        engine.note_choices();
    }
    let paths = sources.readers.iter().flat_map(|reader| reader.paths());
    let computation = Computation::new(
        &engine,
        &operands,
        arguments.names(),
        operands.in_order(paths.collect()),
        arguments.on_error,
    );
    let mut computation = computation?;
    let columns = arguments.column_names();
    let sink = sink::open(&files, columns, arguments.format, arguments.in_place)?;
    let pipeline = Pipeline {
        operands: &operands,
        format: arguments.format.unwrap_or_default(),
        window_limbs: arguments.memory / WINDOW_PART / size_of::<Limb>(),
        on_error: arguments.on_error,
        profile: &profile,
        engine: &engine,
        total_bytes: sources.total_bytes,
    };
    let outcome = pipeline.run(sources.readers, sources.read, &mut computation, sink);
    for warning in engine.warnings() {
        output::tell(format_args!("warning: {warning}"));
    }
    computation.valueless.print(arguments.on_error);
    if arguments.time || arguments.verbose {
        profile.print();
    }
    if arguments.verbose {
        Profile::print_tallies(computation.tallies());
        for choice in engine.noted_choices() {
            output::tell(choice);
        }
    }
    outcome
}

impl Arguments {
    /// The arguments that copy columns of a file to another file, each with its name and source.
    pub fn copying(columns: Vec<(String, OsString)>, output: PathBuf) -> Self {
        let expressions = columns
            .iter()
            .enumerate()
            .map(|(index, (name, _))| NamedExpression {
                name: name.clone(),
                text: format!("c{index}"),
            });
        let expressions = expressions.collect();
        let bindings = columns
            .into_iter()
            .enumerate()
            .map(|(index, (_, source))| Binding {
                name: format!("c{index}"),
                source,
            });
        Arguments {
            expression: None,
            columns: expressions,
            bindings: bindings.collect(),
            output: Some(output),
            in_place: false,
            on_error: OnError::Stop,
            format: None,
            backend: BackendName::default(),
            algorithm: Algorithm::Auto,
            memory: DEFAULT_MEMORY,
            time: false,
            verbose: false,
        }
    }

    /// Sets what becomes of rows without a value, and the base of numbers written as text.
    pub fn with(self, on_error: OnError, format: Option<Format>) -> Self {
        Arguments {
            on_error,
            format,
            ..self
        }
    }

    /// Whether all columns go into one file.
    fn is_table(&self) -> Result<bool, Failure> {
        let output = self.output.as_deref();
        output.map_or(Ok(false), |path| Ok(form::of(path)?.0 != Form::Lines))
    }

    /// Parses the expressions. Each has the name by which errors call it.
    fn expressions(&self) -> Result<Expressions, Failure> {
        let columns = self.columns.iter().map(|column| &column.text);
        let texts = self.expression.iter().chain(columns).map(String::as_str);
        Expressions::parse(self.names().into_iter().zip(texts))
    }

    /// The names by which errors call the expressions.
    fn names(&self) -> Vec<String> {
        let alone = self.expression.iter();
        let alone = alone.map(|_| expression::SOURCE_NAME.to_owned());
        let columns = self.columns.iter();
        let columns = columns.map(|column| format!("--column {}", column.name));
        alone.chain(columns).collect()
    }

    /// The names of the columns of results.
    fn column_names(&self) -> Vec<String> {
        let alone = self.expression.iter().map(|_| RESULT.to_owned());
        let columns = self.columns.iter().map(|column| column.name.clone());
        alone.chain(columns).collect()
    }

    /// The output file of each column, or the one file of all columns; none for standard output.
    fn outputs(&self) -> Result<Vec<Option<PathBuf>>, Failure> {
        const NAME: &str = "{name}";
        for (index, column) in self.columns.iter().enumerate() {
            let is_it = |other: &NamedExpression| other.name == column.name;
            if self.columns[..index].iter().any(is_it) {
                let what = format!("two columns have the name {:?}", column.name);
                return Err(Failure::Usage(what));
            }
        }
        let template = self.output.as_ref().and_then(|output| output.to_str());
        let template = template.filter(|template| template.contains(NAME));
        match (template, self.columns.len()) {
            (_, 0) | (None, 1) => Ok(vec![self.output.clone()]),
            (Some(template), _) => {
                // A name of a file's column may lead anywhere.
                let leads_on = |column: &&NamedExpression| column.name.contains(is_separator);
                if let Some(column) = self.columns.iter().find(leads_on) {
                    return Err(Failure::Usage(format!(
                        "the name of the column {:?} cannot be a part of a file's name",
                        column.name
                    )));
                }
                let columns = self.columns.iter();
                let path = |column: &NamedExpression| template.replace(NAME, &column.name);
                Ok(columns.map(|column| Some(path(column).into())).collect())
            }
            (None, _) if self.is_table()? => Ok(vec![self.output.clone()]),
            (None, _) => Err(Failure::Usage(format!(
                "each column needs a file of its own: write -o with {NAME} in it"
            ))),
        }
    }
}

/// The name of the column of results where there is only one.
const RESULT: &str = "result";

/// Refuses a table with columns of unequal lengths.
fn check_totals(operands: &Operands, files: usize) -> Result<(), Failure> {
    let formulas = operands.formulas.as_slice();
    let totals = formulas.iter().filter(|formula| formula.is_total()).count();
    match files < formulas.len() && totals > 0 && totals < formulas.len() {
        true => Err(Failure::Usage(
            "a table has as many totals as rows, or none: write -o with {name} in it".to_owned(),
        )),
        false => Ok(()),
    }
}

/// Refuses an algorithm that no operation of the expression has.
fn check_algorithm(operands: &Operands, algorithm: Algorithm) -> Result<(), Failure> {
    let functions = || {
        operands
            .formulas
            .as_slice()
            .iter()
            .flat_map(|formula| formula.functions())
    };
    let operations = || functions().flat_map(Function::operations);
    if algorithm == Algorithm::Auto || operations().any(|operation| binds(algorithm, *operation)) {
        return Ok(());
    }
    let mut known: Vec<String> = Vec::new();
    for operation in operations() {
        let has_it = |algorithm: &Algorithm| operation.has(*algorithm);
        let names = Algorithm::NAMED.into_iter().filter(has_it);
        let names: Vec<_> = names.map(Algorithm::name).collect();
        let has = format!("{} has {}", operation.name(), names.join(", "));
        if !known.contains(&has) {
            known.push(has);
        }
    }
    Err(Failure::Usage(format!(
        "--algorithm {} would do nothing: {}",
        algorithm.name(),
        match known.is_empty() {
            true => "the expression has no operation".to_owned(),
            false => known.join("; "),
        },
    )))
}

/// Finds each operand's source, and opens it.
fn bind(
    expressions: &Expressions,
    arguments: &Arguments,
    profile: &Profile,
) -> Result<(Operands, Sources), Failure> {
    let mut sources_by_name = HashMap::new();
    for binding in &arguments.bindings {
        let earlier = sources_by_name.insert(binding.name.as_str(), &*binding.source);
        if earlier.is_some() {
            return Err(Failure::Usage(format!(
                "--let: {:?} is bound twice",
                binding.name
            )));
        }
        let operand = Operand::Name(binding.name.clone());
        if !expressions.operands.contains(&operand) {
            let name = &binding.name;
            output::tell(format_args!(
                "warning: --let: {name:?} is not in the expression"
            ));
        }
    }
    let mut sources = Sources {
        ahead: arguments.memory / TEXT_PART,
        ..Sources::default()
    };
    let mut opened = Vec::new();
    for (index, operand) in expressions.operands.iter().enumerate() {
        opened.push(match operand {
            Operand::Literal(text) => constant(text.as_bytes(), expressions.place(index))?,
            Operand::Name(name) => {
                let Some(source) = sources_by_name.get(name.as_str()) else {
                    let what = format!("{name:?} is not bound: add --let {name}=SOURCE");
                    return Err(Failure::Input(expressions.place(index), what));
                };
                sources.open(name, source)?
            }
        });
    }
    for source in &mut opened {
        if let (Source::Lines(reader), OnError::Skip | OnError::Null) = (source, arguments.on_error)
        {
            reader.go_on();
        }
    }
    find_single_numbers(&mut opened, arguments.on_error, profile)?;
    profile.set_bytes(Stage::Read, sources.read.load(atomic::Ordering::Relaxed));
    let tables = std::mem::take(&mut sources.tables);
    let is_lines = |source: &&Source| matches!(source, Source::Lines(_));
    let lines = opened.iter().filter(is_lines).count();
    let capacity = arguments.memory / TEXT_PART / (lines + tables.len()).max(1);
    let capacity = capacity.max(LEAST_TEXT_BYTES);
    // The columns of the tables stand behind the files of lines.
    let mut firsts = vec![lines];
    for table in &tables {
        firsts.push(firsts[firsts.len() - 1] + table.columns.len());
    }
    let mut origins = Vec::new();
    for source in opened {
        origins.push(match source {
            Source::Constant(number, place) => Origin::Constant(number, place),
            Source::Table(table, column) => Origin::Column(firsts[table] + column),
            Source::Lines(mut reader) => {
                reader.set_capacity(capacity);
                sources.readers.push(reader);
                Origin::Column(sources.readers.len() - 1)
            }
        });
    }
    for table in &tables {
        let wanted = Wanted::Some(&table.columns);
        let opened = files::open(&table.path, table.form, wanted, capacity, &sources.read)?;
        sources.total_bytes += opened.bytes;
        sources.readers.push(opened.reader);
    }
    let mut order = Vec::new();
    for origin in &mut origins {
        if let Origin::Column(column) = origin {
            order.push(std::mem::replace(column, order.len()));
        }
    }
    let constants = origins.iter().map(|origin| match origin {
        Origin::Constant(number, _) => Some(number.clone()),
        Origin::Column(_) => None,
    });
    let constants: Vec<_> = constants.collect();
    let are_rows: Vec<bool> = constants.iter().map(Option::is_none).collect();
    let formulas = Formulas::new(expressions.formulas(&are_rows)?, constants);
    let operands = Operands {
        formulas,
        origins,
        order,
    };
    Ok((operands, sources))
}

impl Sources {
    /// Opens the source that `name` is bound to.
    fn open(&mut self, name: &str, source: &OsStr) -> Result<Source, Failure> {
        let text = source.as_encoded_bytes();
        let number = Number::scan(text).and_then(|number| number.check());
        if number.is_ok() {
            return literal(text, &format!("--let {name}"));
        }
        let (path, form, column) = form::split(source)?;
        if form != Form::Lines {
            return Ok(self.table(path, form, column));
        }
        let path = if source == "-" {
            "stdin".to_owned()
        } else {
            Path::new(source).display().to_string()
        };
        let (file, metadata) = self.file(Path::new(source)).map_err(|error| {
            if text
                .trim_ascii_start()
                .strip_prefix(b"-")
                .unwrap_or(text)
                .first()
                .is_some_and(u8::is_ascii_digit)
                && let Err(failure) = literal(text, &format!("--let {name}"))
            {
                return failure;
            }
            let place = SourcePlace {
                source: path.clone(),
                line: 1,
                column: 1,
            };
            Failure::Input(place, format!("cannot open: {error}"))
        })?;
        self.total_bytes += metadata.len();
        let read = Arc::clone(&self.read);
        let input = if metadata.is_file() {
            Input::file(file, read)
        } else {
            Input::pipe(file, read, self.ahead)
        };
        let reader = LineReader::new(path, input, LEAST_TEXT_BYTES);
        Ok(Source::Lines(Box::new(reader)))
    }

    /// A column of a table. A table is read once for all of its columns.
    fn table(&mut self, path: PathBuf, form: Form, column: Option<String>) -> Source {
        let known = self.tables.iter().position(|table| table.path == path);
        let table = known.unwrap_or(self.tables.len());
        if known.is_none() {
            self.tables.push(Table {
                path,
                form,
                columns: Vec::new(),
            });
        }
        let columns = &mut self.tables[table].columns;
        columns.push(column);
        Source::Table(table, columns.len() - 1)
    }

    /// Opens a file, or standard input by any of its names.
    fn file(&mut self, path: &Path) -> io::Result<(File, Metadata)> {
        let is_stdin = path == "-" || standard::follow(path)? == Target::Descriptor(0);
        let (file, metadata) = if is_stdin {
            let file = standard::input()?;
            let metadata = file.metadata()?;
            (Some(file), metadata)
        } else {
            (None, std::fs::metadata(path)?)
        };
        // Whoever reads what another reads too gets what that one leaves. A pipe that
        // nobody writes to any more would not even open a second time.
        if let Some(stream) = standard::stream(&metadata, is_stdin) {
            if self.streams.contains(&stream) {
                let why = "another name is bound to it, and it can be read but once";
                return Err(io::Error::other(why));
            }
            self.streams.push(stream);
        }
        let file = file.map_or_else(|| File::open(path), Ok)?;
        Ok((file, metadata))
    }
}

/// Lets a number that is alone in its file stand for all lines.
///
/// Only a pipe's second number, or its end, shows whether its first is alone. The only
/// source of lines need not wait for either: alone or not, each number is a line.
///
/// Where rows go on after an error, a line that is no number is treated as `on_error` says.
fn find_single_numbers(
    sources: &mut [Source],
    on_error: OnError,
    profile: &Profile,
) -> Result<(), Failure> {
    let is_taken = |text: &[u8]| {
        let number = Number::scan(text).and_then(|number| number.check());
        number.is_ok() || on_error == OnError::Stop
    };
    let is_column = |source: &&Source| !matches!(source, Source::Constant(..));
    let mut columns = sources.iter().filter(is_column).count();
    let mut single_paths = Vec::new();
    for pauses in [false, true] {
        for source in &mut *sources {
            if let Source::Lines(reader) = source
                && reader.pauses() == pauses
                && (!pauses || columns > 1)
                && let Some(chunk) = profile.time(Stage::Read, || reader.take_single(is_taken))?
            {
                let (line, column) = chunk.position(0);
                let path = reader.path().to_owned();
                let place = SourcePlace {
                    source: path.clone(),
                    line,
                    column,
                };
                let number = || constant(chunk.number(0), place);
                *source = profile.time(Stage::Parse, number)?;
                single_paths.push(path);
                columns -= 1;
            }
        }
    }
    let mut lines = sources.iter_mut().filter_map(|source| match source {
        Source::Lines(reader) => Some(reader),
        Source::Constant(..) | Source::Table(..) => None,
    });
    // A file that was cut short would pass for one that means it.
    let (Some(single), Some(reader)) = (single_paths.first(), lines.next()) else {
        return Ok(());
    };
    if let Some(end) = reader.end_of_nothing()? {
        let what = format!("there is no number in this file, but {single} has one");
        return Err(Failure::Input(end, what));
    }
    for single in single_paths {
        let lines = reader.path();
        output::tell(format_args!(
            "note: {single} has one number, which stands for each line of {lines}"
        ));
    }
    Ok(())
}

/// The number that stands on the command line.
fn literal(text: &[u8], source: &str) -> Result<Source, Failure> {
    let place = SourcePlace {
        source: source.to_owned(),
        line: 1,
        column: 1,
    };
    constant(text, place)
}

/// The source of one number, which was met at this place.
fn constant(text: &[u8], mut place: SourcePlace) -> Result<Source, Failure> {
    match read_column(1, |_| text, None) {
        Ok(number) => Ok(Source::Constant(number, place)),
        Err(Unread::Memory(error)) => Err(error.into()),
        Err(Unread::Bad(bad)) => {
            place.column += bad.offset as u64;
            Err(Failure::Input(place, bad.to_string()))
        }
    }
}
