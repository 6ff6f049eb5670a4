//! The time of a product, or of a list, over its bits, drawn from a record.

use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::langer::List;
use crate::record::{Record, Row};

/// Who is drawn, under which name, in which colour; ours last, on top.
const CURVES: [(&str, &str, RGBColor); 7] = [
    ("malachite_ns", "malachite-nz", RGBColor(0xcc, 0x79, 0xa7)),
    ("ibig_ns", "ibig", RGBColor(0xe6, 0x9f, 0x00)),
    ("num_bigint_ns", "num-bigint", RGBColor(0xd5, 0x5e, 0x00)),
    ("dashu_ns", "dashu-int", RGBColor(0x00, 0x9e, 0x73)),
    ("flint_ns", "FLINT fft_small", RGBColor(0x56, 0xb4, 0xe9)),
    ("gmp_ns", "GMP", RGBColor(0x33, 0x33, 0x33)),
    ("ours_ns", "bigint", RGBColor(0xd0, 0x10, 0x30)),
];

/// Bits from which FLINT itself would use its `fft_small`.
const FLINT_BITS: usize = 1 << 14;

/// Numbers in the batch of each column of the figure.
const BATCHES: [usize; 2] = [1, 64];

/// What is drawn as one line: its name, colour, width and points.
struct Curve {
    name: &'static str,
    colour: RGBColor,
    width: u32,
    points: Vec<(f64, f64)>,
}

/// Draws products on one thread: above nanoseconds, below the same relative to
/// GMP; to the left one product alone, to the right in batches.
pub fn draw(record: &Record, path: &Path) -> Result<()> {
    let root = SVGBackend::new(path, (1200, 900)).into_drawing_area();
    root.fill(&WHITE).map_err(failed)?;
    let title = format!(
        "{} ({}), one thread, {}",
        record.cpu, record.cpu_id, record.date
    );
    let root = root.titled(&title, ("sans-serif", 18)).map_err(failed)?;
    let panels = root.split_evenly((2, 2));
    for (column, batch) in BATCHES.into_iter().enumerate() {
        let rows = products(record, batch);
        ensure!(
            !rows.is_empty(),
            "the record has no products in batches of {batch}"
        );
        let what = match batch {
            1 => "one product".to_string(),
            _ => format!("batches of {batch}"),
        };
        let times = curves(&rows, |_| 1.0);
        panel(
            &panels[column],
            &format!("{what}: ns per product"),
            &times,
            true,
        )?;
        let ratios = curves(&rows, |row| row.peers["gmp_ns"].unwrap_or(f64::NAN));
        panel(
            &panels[2 + column],
            &format!("{what}: time / GMP's"),
            &ratios,
            false,
        )?;
    }
    root.present().map_err(failed)?;
    Ok(())
}

/// The record's products in batches of `batch` on one thread, by bits, on the
/// last path of each point: the fastest.
fn products(record: &Record, batch: usize) -> Vec<&Row> {
    let mut rows: Vec<&Row> = Vec::new();
    for row in &record.rows {
        if row.op == "mul" && row.batch == batch && row.threads == 1 {
            rows.retain(|other| other.bits != row.bits);
            rows.push(row);
        }
    }
    rows.sort_by_key(|row| row.bits);
    rows
}

/// Everyone's times relative to `unit`.
fn curves(rows: &[&Row], unit: impl Fn(&Row) -> f64) -> Vec<Curve> {
    let time = |row: &Row, key: &str| match key {
        "ours_ns" => Some(row.ours_ns),
        "flint_ns" if row.bits < FLINT_BITS => None,
        _ => row.peers.get(key).copied().flatten(),
    };
    let points = |key| {
        let points = rows.iter();
        let points = points.filter_map(|row| Some((row.bits as f64, time(row, key)? / unit(row))));
        points.filter(|(_, value)| value.is_finite()).collect()
    };
    let curve = |&(key, name, colour): &(_, _, _)| Curve {
        name,
        colour,
        width: if key == "ours_ns" { 3 } else { 1 },
        points: points(key),
    };
    CURVES.iter().map(curve).collect()
}

/// Draws Langer's figures 3 and 4: milliseconds for the longest list of sums and of products,
/// ours and GMP's, on one thread and on all.
pub fn draw_lists(record: &Record<List>, path: &Path) -> Result<()> {
    let root = SVGBackend::new(path, (1200, 460)).into_drawing_area();
    root.fill(&WHITE).map_err(failed)?;
    let title = format!(
        "{}, {} threads, {}",
        record.cpu, record.threads, record.date
    );
    let root = root.titled(&title, ("sans-serif", 18)).map_err(failed)?;
    let longest = record.rows.iter().map(|row| row.computations).max();
    for (area, (op, figure)) in root
        .split_evenly((1, 2))
        .iter()
        .zip([("add", 3), ("mul", 4)])
    {
        let points = |threads: usize, ms: fn(&List) -> f64| {
            let rows = record.rows.iter().filter(|row| {
                row.op == op
                    && row.deviation_percent > 0
                    && Some(row.computations) == longest
                    && row.threads == threads
            });
            rows.map(|row| (row.mean_bits as f64, ms(row))).collect()
        };
        let [ours, gmp]: [fn(&List) -> f64; 2] = [|row| row.ours_ms, |row| row.gmp_ms];
        let curve = |name, colour, width, points| Curve {
            name,
            colour,
            width,
            points,
        };
        let (red, black) = (CURVES[6].2, CURVES[5].2);
        let curves = [
            curve("GMP, one thread", black, 1, points(1, gmp)),
            curve("bigint, one thread", red, 1, points(1, ours)),
            curve("GMP, all threads", black, 3, points(record.threads, gmp)),
            curve("bigint, all threads", red, 3, points(record.threads, ours)),
        ];
        let count = longest.unwrap_or(0);
        panel(
            area,
            &format!("figure {figure}: ms for {count} of {op}"),
            &curves,
            true,
        )?;
    }
    root.present().map_err(failed)?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    title: &str,
    curves: &[Curve],
    legend: bool,
) -> Result<()> {
    let values = || curves.iter().flat_map(|curve| &curve.points);
    let least = |value: fn(&(f64, f64)) -> f64| values().map(value).fold(f64::INFINITY, f64::min);
    let most = |value: fn(&(f64, f64)) -> f64| values().map(value).fold(0.0, f64::max);
    let bits = least(|point| point.0)..most(|point| point.0) * 1.01;
    let ns = least(|point| point.1) / 1.3..most(|point| point.1) * 1.3;
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(60)
        .build_cartesian_2d(bits.log_scale().base(4.0), ns.log_scale())
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc("bits")
        .x_label_formatter(&|bits| format!("2^{:.0}", bits.log2()))
        .y_label_formatter(&|value| match *value {
            value if value >= 1e4 => format!("{value:.0e}"),
            value => format!("{value}"),
        })
        .light_line_style(BLACK.mix(0.04))
        .bold_line_style(BLACK.mix(0.12))
        .draw()
        .map_err(failed)?;
    for curve in curves.iter().filter(|curve| !curve.points.is_empty()) {
        let points = curve.points.iter().copied();
        let style = curve.colour.stroke_width(curve.width);
        chart
            .draw_series(LineSeries::new(points, style).point_size(curve.width))
            .map_err(failed)?
            .label(curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    if !legend {
        return Ok(());
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.2))
        .draw()
        .map_err(failed)?;
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw the plot: {error}")
}
