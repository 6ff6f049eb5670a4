//! Products of two columns of a Parquet file into another one, beside the same file merely read and
//! written; what each stage takes. With `gpu`, a GPU computes them too, in larger parts.
//!
//! ```sh
//! cargo run --release --features files --example products -- 10000000 256 /tmp/folder
//! cargo run --release --features files,bigint-host/cuda --example products -- 10000000 256 /tmp/folder gpu
//! ```

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use arrow_schema::Field;
use bigint_arrow::files::{Kind, Reader, Writer};
use bigint_arrow::{Column, Fixed, Order, Sign};
use bigint_host::{Engine, Integers};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// Rows that are read, computed and written at a time: few enough for caches.
const ROWS: usize = 1 << 15;

/// The same of a GPU: enough for one launch to pay.
const ROWS_ON_GPU: usize = 1 << 19;

/// Bytes of a part, where the file is made and looked at.
const PART: usize = 32 << 20;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let (rows, bits, folder, engines) = match &arguments[1..] {
        [rows, bits, folder] => (rows, bits, folder, vec![(Engine::cpu(), ROWS)]),
        [rows, bits, folder, gpu] if gpu == "gpu" => {
            let (cpu, gpu) = (Engine::cpu(), Engine::cuda(0)?);
            let engines = vec![(cpu.clone(), ROWS), (cpu, ROWS_ON_GPU), (gpu, ROWS_ON_GPU)];
            (rows, bits, folder, engines)
        }
        _ => return Err("usage: products ROWS BITS FOLDER [gpu]".into()),
    };
    let (rows, bytes) = (rows.parse()?, bits.parse::<usize>()? / 8);
    let folder = Path::new(folder);
    let input = folder.join("factors.parquet");
    generate(&input, rows, bytes)?;
    println!(
        "{rows} rows of two columns of {bits} bits, FixedSizeBinary, most significant byte first"
    );
    for (engine, at_a_time) in engines {
        println!("\n{}, {at_a_time} rows at a time", engine.back_end());
        println!("                              CPU time      wall time");
        let mut copied = Stages::default();
        copy(&input, &folder.join("copy.parquet"), at_a_time, &mut copied)?;
        let whole = copied.print(&["read", "write"], "read and written, nothing else");
        let mut stages = Stages::default();
        let output = folder.join("products.parquet");
        products(&engine, &input, &output, (at_a_time, bytes), &mut stages)?;
        let ours = stages.print(
            &["read", "to numbers", "products", "write"],
            "read, multiplied, written",
        );
        println!(
            "rate of the copy: {:.2} by CPU time, {:.2} by wall time",
            whole.0 / ours.0,
            whole.1 / ours.1
        );
    }
    Ok(())
}

/// What stages take: CPU time of all threads, and wall time.
#[derive(Default)]
struct Stages(Vec<(f64, f64)>);

impl Stages {
    fn time<T>(&mut self, stage: usize, work: impl FnOnce() -> T) -> T {
        let (cpu, begun) = (cpu(), Instant::now());
        let done = work();
        self.0.resize(self.0.len().max(stage + 1), (0.0, 0.0));
        self.0[stage].0 += (self::cpu() - cpu).as_secs_f64();
        self.0[stage].1 += begun.elapsed().as_secs_f64();
        done
    }

    fn print(&self, names: &[&str], whole: &str) -> (f64, f64) {
        let sum = |of: fn(&(f64, f64)) -> f64| self.0.iter().map(of).sum::<f64>();
        let sums = (sum(|stage| stage.0), sum(|stage| stage.1));
        for (name, (cpu, wall)) in names.iter().zip(&self.0) {
            let (of_cpu, of_wall) = (100.0 * cpu / sums.0, 100.0 * wall / sums.1);
            println!("  {name:24} {cpu:6.2} s {of_cpu:3.0} %  {wall:6.2} s {of_wall:3.0} %");
        }
        println!("{whole:32} {:.2} s       {:.2} s", sums.0, sums.1);
        sums
    }
}

/// The CPU time of this process.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may have spaces: fields 14 and 15 of all, in hundredths of a second.
    let behind = text.rsplit(')').next().unwrap_or_default();
    let ticks = behind.split_whitespace().skip(11).take(2);
    let ticks = ticks.filter_map(|ticks| ticks.parse::<u64>().ok());
    Duration::from_millis(10 * ticks.sum::<u64>())
}

fn field(name: &str, bytes: usize) -> Field {
    Fixed {
        order: Order::Big,
        sign: Sign::Unsigned,
    }
    .field(name, bytes as i32, false)
}

/// A file of two columns of random numbers.
fn generate(path: &Path, rows: usize, bytes: usize) -> Outcome<()> {
    let fields = vec![field("a", bytes), field("b", bytes)];
    let mut writer = Writer::new(File::create(path)?, Kind::Parquet, fields)?;
    let mut state = 1_u64;
    let mut written = 0;
    while written < rows {
        let count = (rows - written).min(PART / (2 * bytes));
        let mut column = || {
            let (mut numbers, mut limbs) = (Integers::new(), vec![0_u32; bytes / 4]);
            for _ in 0..count {
                for limb in &mut limbs {
                    state = state
                        .wrapping_mul(0x5851_f42d_4c95_7f2d)
                        .wrapping_add(0x1405_7b7e_f767_814f);
                    *limb = (state >> 32) as u32;
                }
                numbers.push(false, &limbs)?;
            }
            Ok::<_, bigint_host::Error>(Column::from(numbers))
        };
        let columns = [column()?, column()?];
        writer.write(&columns)?;
        written += count;
    }
    writer.finish()?;
    Ok(())
}

/// The file, by the library that reads and writes Parquet and nothing else.
fn copy(from: &Path, to: &Path, at_a_time: usize, stages: &mut Stages) -> Outcome<()> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(from)?)?;
    let schema = builder.schema().clone();
    let mut batches = builder.with_batch_size(at_a_time).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .build();
    let mut writer = ArrowWriter::try_new(File::create(to)?, schema, Some(properties))?;
    while let Some(batch) = stages.time(0, || batches.next()) {
        let batch = batch?;
        stages.time(1, || writer.write(&batch))?;
    }
    stages.time(1, || writer.close())?;
    Ok(())
}

/// The products of the file's columns.
fn products(
    engine: &Engine,
    from: &Path,
    to: &Path,
    (at_a_time, bytes): (usize, usize),
    stages: &mut Stages,
) -> Outcome<()> {
    // A kernel is loaded when it is first used, which is not what is measured.
    let numbers: Integers = (0..at_a_time as u64).collect();
    engine.mul(&numbers, &numbers)?;
    let file = File::open(from)?;
    let mut batches = ParquetRecordBatchReaderBuilder::try_new(file)?
        .with_batch_size(at_a_time)
        .build()?;
    let fields = vec![field("product", 2 * bytes)];
    let mut writer = Writer::new(File::create(to)?, Kind::Parquet, fields)?;
    while let Some(batch) = stages.time(0, || batches.next()) {
        let batch = batch?;
        let schema = batch.schema();
        let numbers =
            |place: usize| bigint_arrow::read(batch.column(place).clone(), schema.field(place));
        let (a, b) = stages.time(1, || {
            Ok::<_, bigint_arrow::Error>((numbers(0)?, numbers(1)?))
        })?;
        let product = stages.time(2, || engine.mul(a.numbers(), b.numbers()))?;
        stages.time(3, || writer.write(&[Column::from(product)]))?;
    }
    stages.time(3, || writer.finish())?;
    // The same bits as of other arithmetic, of a few rows of the first part.
    let open =
        |path| Reader::new(File::open(path)?, &["product"], PART).map_err(Box::<dyn Error>::from);
    let found = open(to)?.next().ok_or("no rows")??;
    let given = Reader::new(File::open(from)?, &["a", "b"], PART)?
        .next()
        .ok_or("no rows")??;
    for row in (0..given.columns[0].len().min(found.columns[0].len())).step_by(997) {
        let number = |column: &Column| column.numbers().get(row).unwrap_or_default();
        let (a, b) = (number(&given.columns[0]), number(&given.columns[1]));
        assert_eq!(number(&found.columns[0]), a * b, "row {row}");
    }
    Ok(())
}
