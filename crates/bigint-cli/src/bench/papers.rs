//! The benchmarks of papers, by their authors' names: what they measured, measured here, and
//! what they published beside it.

mod benchmark;
mod bringgaard;
mod carlessi;
mod honda;
mod langer;
mod lists;
mod measure;

use std::path::{Path, PathBuf};

use bigint_core::{LIMB_BITS, Limb, MAX_WIDTH};
use bigint_host::BackEnd;
use serde::{Deserialize, Serialize};

use self::benchmark::{Benchmark, published_line};
use self::measure::Row;
use super::ceilings::Ceilings;
use super::plot;
use super::rows::Rows;
use crate::backend::BackendName;
use crate::failure::Failure;
use crate::hardware::Hardware;
use crate::output::{self, Output};
use crate::table;

/// Whose benchmark.
#[derive(Debug, clap::Subcommand)]
pub enum Paper {
    /// Measure 100,000 products of 1024 to 32768 bits (Honda, Ito and Nakano, tables II and III)
    Honda(Arguments),
    /// Measure one addition and ten of 2^9 to 2^18 bits (Bringgaard, tables 1 to 4)
    Bringgaard(Arguments),
    /// Measure sums and products by one thread for each number, of 109 to 239 bits (Carlessi
    /// and Kashani, chapter 4)
    Carlessi(Arguments),
    /// Measure lists of 256 to 4096 sums and products of 1024 numbers whose lengths are normally
    /// distributed (Langer, figures 3 and 4), and longer ones
    Langer(Arguments),
}

impl Paper {
    fn benchmark(&self) -> (&'static Benchmark, &Arguments) {
        match self {
            Paper::Honda(arguments) => (&honda::BENCHMARK, arguments),
            Paper::Bringgaard(arguments) => (&bringgaard::BENCHMARK, arguments),
            Paper::Carlessi(arguments) => (&carlessi::BENCHMARK, arguments),
            Paper::Langer(arguments) => (&langer::BENCHMARK, arguments),
        }
    }
}

/// How a paper's benchmark is run.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Who is measured: auto, cpu, cuda, cuda:N or cuda:N,M,...
    #[arg(long, default_value_t, value_name = "BACKEND")]
    backend: BackendName,

    /// Only these widths, in bits; by default the paper's
    #[arg(long, value_delimiter = ',', value_name = "BITS", value_parser = width)]
    widths: Vec<usize>,

    /// Numbers in a batch; by default as many as the paper has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,

    /// Samples of each measurement; by default 10, or as many as the paper has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    samples: Option<u32>,

    /// Print JSON in place of a table
    #[arg(long)]
    json: bool,

    /// Draw what was measured and what was published
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Print and draw what an earlier run wrote as JSON, and measure nothing
    #[arg(long, value_name = "RECORD", conflicts_with_all = ["backend", "widths", "count", "samples", "json"])]
    from: Option<PathBuf>,

    /// Write into the file of --svg where no new file can take its place
    #[arg(long, requires = "svg")]
    in_place: bool,
}

fn width(bits: &str) -> Result<usize, String> {
    let bits: usize = bits.parse().map_err(|error| format!("{error}"))?;
    match bits {
        0 => Err("no such width".to_owned()),
        _ if bits > MAX_WIDTH * LIMB_BITS / 2 => Err("no such width".to_owned()),
        _ => Ok(bits),
    }
}

/// The head of the document that `--json` prints; rows follow it.
#[derive(Serialize)]
struct Record<'r> {
    #[serde(flatten)]
    machine: super::Record<'r>,
    benchmark: &'static str,
    authors: &'static str,
    title: &'static str,
    published_on: &'static str,
    /// The unit of `ours` and of what was `published`.
    unit: &'static str,
}

/// Runs a paper's benchmark.
///
/// # Errors
/// [`Failure::Running`] where the engine fails or the drawing cannot be written.
pub fn run(paper: &Paper) -> Result<(), Failure> {
    let (benchmark, arguments) = paper.benchmark();
    // What cannot be written is said before anything is measured.
    let drawing = arguments
        .svg
        .as_deref()
        .map(|path| Output::open(Some(path), arguments.in_place));
    let drawing = drawing.transpose()?;
    if let Some(path) = &arguments.from {
        let earlier = Earlier::read(path, benchmark)?;
        output::print(&tabulate(benchmark, &earlier.rows, earlier.ceilings))?;
        return draw(
            drawing,
            benchmark,
            &earlier.hardware.name(&earlier.rows),
            &earlier.rows,
        );
    }
    let engine = arguments.backend.waiting_engine()?;
    let hardware = Hardware::detect();
    let widths = match arguments.widths.as_slice() {
        [] => benchmark.widths,
        some => some,
    };
    let count = |bits| {
        let asked = arguments.count.map(|count| count as usize);
        asked.unwrap_or_else(|| (benchmark.count)(bits))
    };
    let samples = arguments.samples.unwrap_or(benchmark.samples);
    let bytes = |&bits: &usize| 3 * count(bits) * bits.div_ceil(LIMB_BITS) * size_of::<Limb>();
    let most = widths.iter().map(bytes).max().unwrap_or(1);
    let ceilings = Ceilings::of(&engine, most)?;
    let record = || Record {
        machine: super::Record::new(&hardware, ceilings),
        benchmark: benchmark.name,
        authors: benchmark.authors,
        title: benchmark.title,
        published_on: benchmark.published_on,
        unit: benchmark.unit,
    };
    let mut rows = Rows::new(arguments.json.then(record))?;
    let measured = measure::all(benchmark, &engine, widths, &count, samples, &mut rows);
    for warning in engine.warnings() {
        output::tell(format_args!("warning: {warning}"));
    }
    // What was measured before something went wrong is told, but not drawn.
    let rows = rows.end()?;
    if !arguments.json && !rows.is_empty() {
        output::print(&tabulate(benchmark, &rows, ceilings))?;
    }
    measured?;
    let ours = match engine.back_end() {
        BackEnd::Cuda(devices) => hardware
            .cuda
            .get(devices.first())
            .map(|device| &device.name),
        BackEnd::Cpu => hardware.cpu.name.as_ref(),
    };
    let ours = ours.map_or_else(|| engine.back_end().to_string(), String::clone);
    draw(drawing, benchmark, &ours, &rows)
}

/// The document that `--json` printed in an earlier run, as far as it is printed and drawn again.
#[derive(Deserialize)]
struct Earlier {
    benchmark: String,
    hardware: EarlierHardware,
    ceilings: Option<Ceilings>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct EarlierHardware {
    cpu: Named,
    cuda: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
}

impl Earlier {
    fn read(path: &Path, benchmark: &Benchmark) -> Result<Self, Failure> {
        let usage = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| usage(error.to_string()))?;
        let earlier: Earlier = serde_json::from_str(&text)
            .map_err(|error| usage(format!("no record of `bench {}`: {error}", benchmark.name)))?;
        match earlier.benchmark == benchmark.name {
            true => Ok(earlier),
            false => Err(usage(format!("a record of `bench {}`", earlier.benchmark))),
        }
    }
}

impl EarlierHardware {
    /// The name of the machine that computed the rows: a GPU's where there was one.
    fn name(&self, rows: &[Row]) -> String {
        let is_cuda = |row: &Row| {
            row.back_end
                .as_ref()
                .is_some_and(|by| by.starts_with("cuda"))
        };
        let by = match rows.iter().any(is_cuda) {
            true => self.cuda.first(),
            false => Some(&self.cpu),
        };
        let name = by.and_then(|by| by.name.clone());
        name.unwrap_or_else(|| "this engine".to_owned())
    }
}

/// Draws what `ours` measured beside what was published, where `--svg` names a file.
fn draw(
    drawing: Option<Output>,
    benchmark: &Benchmark,
    ours: &str,
    rows: &[Row],
) -> Result<(), Failure> {
    let Some(mut output) = drawing else {
        return Ok(());
    };
    let theirs = match rows.iter().any(|row| !row.published.is_empty()) {
        true => format!("{} (thin) and ", benchmark.published_on),
        false => String::new(),
    };
    let title = format!(
        "{}: {theirs}{ours} (thick), {}",
        benchmark.authors, benchmark.unit
    );
    let drawn = plot::draw(&title, &panels(benchmark, rows)).map_err(Failure::Running)?;
    output.write(drawn.as_bytes())?;
    output.finish()
}

/// The panels of a drawing, one for each of the paper's tables, with the lines that the benchmark
/// [draws](Benchmark::drawn).
fn panels(benchmark: &Benchmark, rows: &[Row]) -> Vec<plot::Panel> {
    let mut panels: Vec<plot::Panel> = Vec::new();
    for row in rows {
        let mut tables = benchmark.drawn.iter();
        let Some((_, methods)) = tables.find(|(table, _)| row.table.starts_with(table)) else {
            continue;
        };
        let ours = row.ours.map(|figure| (row.method.clone(), true, figure));
        let published = row.published.iter();
        let published =
            published.map(|(name, figure)| (published_line(&row.method, name), false, *figure));
        for (name, is_ours, figure) in ours.into_iter().chain(published) {
            let is_of = |lines: &&[&str]| lines.contains(&name.as_str());
            let Some(hue) = methods.iter().position(is_of) else {
                continue;
            };
            let panel = at_or(
                &mut panels,
                |panel| panel.title == row.table,
                || plot::Panel {
                    title: row.table.clone(),
                    curves: Vec::new(),
                },
            );
            let curve = at_or(
                &mut panel.curves,
                |curve| curve.name == name,
                || plot::Curve {
                    name: name.clone(),
                    hue,
                    is_ours,
                    points: Vec::new(),
                },
            );
            curve.points.push((row.bits as f64, figure));
        }
    }
    for panel in &mut panels {
        panel.curves.sort_by_key(|curve| curve.hue);
    }
    // A table of one width is no curve.
    let is_point = |panel: &plot::Panel| panel.curves.iter().all(|curve| curve.points.len() < 2);
    if !panels.iter().all(is_point) {
        panels.retain(|panel| !is_point(panel));
    }
    panels
}

/// The element of a list that `is_it` finds; if there is none, one is made and appended.
fn at_or<T>(list: &mut Vec<T>, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let at = list.iter().position(is_it).unwrap_or_else(|| {
        list.push(make());
        list.len() - 1
    });
    &mut list[at]
}

fn tabulate(benchmark: &Benchmark, rows: &[Row], ceilings: Option<Ceilings>) -> String {
    let mut table = table::new(vec![
        "table",
        "method",
        "bits",
        "numbers",
        "by",
        "back end",
        benchmark.unit,
        "least",
        "greatest",
        "published",
    ]);
    for row in rows {
        let figure = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), three_digits);
        let published = row.published.iter();
        let published = published.map(|(name, figure)| format!("{name} {figure}"));
        table.add_row([
            row.table.clone(),
            row.method.clone(),
            row.bits.to_string(),
            row.count.to_string(),
            row.by.clone().unwrap_or_else(|| "-".to_owned()),
            row.back_end.clone().unwrap_or_else(|| "-".to_owned()),
            figure(row.ours),
            figure(row.least),
            figure(row.greatest),
            published.collect::<Vec<_>>().join("; "),
        ]);
    }
    let copy = ceilings.map_or_else(String::new, |ceilings| {
        let copy = ceilings.copy_gigabytes_per_second;
        format!("a copy: {copy:.0} GB/s read and written\n")
    });
    format!(
        "{}, {}, on {}\n{table}\n{copy}",
        benchmark.authors, benchmark.title, benchmark.published_on
    )
}

/// Writes a figure with three significant digits, or with all digits before the point.
fn three_digits(figure: f64) -> String {
    let whole = figure.abs().log10().floor().clamp(-9.0, 2.0);
    format!("{figure:.*}", (2.0 - whole) as usize)
}

#[cfg(test)]
mod tests {
    use super::benchmark::Work;
    use super::*;
    use bigint_core::Algorithm;
    use bigint_host::Options;

    #[test]
    fn every_column_is_as_long_as_its_widths_and_every_case_is_of_kernels_that_exist() {
        for benchmark in [
            &honda::BENCHMARK,
            &bringgaard::BENCHMARK,
            &carlessi::BENCHMARK,
            &langer::BENCHMARK,
        ] {
            for &bits in benchmark.widths {
                for on_device in [false, true] {
                    let cases = (benchmark.cases)(bits, on_device);
                    assert!(!cases.is_empty());
                    for case in cases {
                        let Work::Of(operation, _) = case.work else {
                            continue;
                        };
                        let Options {
                            algorithm,
                            level,
                            lanes,
                        } = case.options;
                        assert!(algorithm == Algorithm::Auto || operation.has(algorithm));
                        let known = level.map(|level| operation.lanes(level));
                        let has = |lanes| known.is_none_or(|known| known.contains(&lanes));
                        assert!(lanes.is_none_or(has), "{} {}", case.method, bits);
                        assert!(on_device || level.is_none());
                    }
                }
            }
        }
    }

    #[test]
    fn every_line_that_is_drawn_is_measured_or_published_and_few_are() {
        for benchmark in [
            &honda::BENCHMARK,
            &bringgaard::BENCHMARK,
            &carlessi::BENCHMARK,
            &langer::BENCHMARK,
        ] {
            let mut drawn: Vec<&str> = Vec::new();
            for on_device in [false, true] {
                let cases = benchmark.widths.iter();
                let cases: Vec<_> = cases
                    .flat_map(|&bits| (benchmark.cases)(bits, on_device))
                    .collect();
                let is_line = |line: &str, table: &str| {
                    let mut cases = cases.iter().filter(|case| case.table.starts_with(table));
                    cases.any(|case| {
                        let mut published = case.published.iter();
                        let is =
                            |(name, _): &(&str, f64)| published_line(&case.method, name) == line;
                        (case.method == line && case.work != Work::Nothing) || published.any(is)
                    })
                };
                for &(table, methods) in benchmark.drawn {
                    let lines = methods.iter().copied().flatten().copied();
                    let here: Vec<&str> = lines.filter(|line| is_line(line, table)).collect();
                    assert!(here.len() <= 7, "{table}: {here:?}");
                    drawn.extend(here);
                }
            }
            let all = benchmark
                .drawn
                .iter()
                .flat_map(|(_, methods)| methods.iter());
            for line in all.copied().flatten() {
                assert!(drawn.contains(line), "{}: {line}", benchmark.name);
            }
        }
    }

    #[test]
    fn figures_are_those_of_the_tables() {
        let of = |benchmark: &Benchmark, bits, table, name| {
            let cases = (benchmark.cases)(bits, true).into_iter();
            let mut cases = cases.filter(|case| case.table.starts_with(table));
            cases.find_map(|case| {
                let mut published = case.published.into_iter();
                published
                    .find(|(known, _)| *known == name)
                    .map(|(_, figure)| figure)
            })
        };
        let honda = &honda::BENCHMARK;
        assert_eq!(of(honda, 32768, "III", "GTX 980, best"), Some(1653.45));
        assert_eq!(of(honda, 1000, "III", "GTX 980, best"), None);
        let bringgaard = &bringgaard::BENCHMARK;
        assert_eq!(of(bringgaard, 1 << 18, "1, 2", "u64 C-V3"), Some(161.0));
        assert_eq!(of(bringgaard, 1 << 9, "3, 4", "u32 CGBN"), Some(113.0));
        assert_eq!(of(bringgaard, 1 << 17, "1, 2", "u64 C-V1"), None);
    }

    #[test]
    fn figures_have_three_digits() {
        let written = [0.012345, 1.5, 168.4, 30928.49].map(three_digits);
        assert_eq!(written, ["0.0123", "1.50", "168", "30928"]);
    }
}
