//! Draws how long batch gcd takes over how many keys, from a record of `long_batch_gcd`: a line `== NAME` begins a curve, and lines
//! `COUNT numbers: TIME ms` are its points.
//!
//! ```text
//! cargo run -p bigint-cli --example batch_gcd_cost -- benches/record/gpu/nvidia-h200/2026-12-01-batch-gcd-by-keys.txt docs/batch-gcd.svg
//! ```

use plotters::prelude::*;
use std::error::Error;
use std::{env, fs};

/// A curve's name, and its points: keys, and seconds.
type Curve<'a> = (&'a str, Vec<(f64, f64)>);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut argument = || {
        arguments
            .next()
            .ok_or("usage: batch_gcd_cost RECORD FILE.svg")
    };
    let (record, file) = (fs::read_to_string(argument()?)?, argument()?);
    let mut svg = String::new();
    draw(&mut svg, &curves(&record))?;
    Ok(fs::write(file, svg + "\n")?)
}

/// The curves of a record that have points.
fn curves(record: &str) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for line in record.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            curves.push((name, Vec::new()));
        } else if let (Some(point), Some((_, points))) = (point(line), curves.last_mut()) {
            points.push(point);
        }
    }
    curves.retain(|(_, points)| !points.is_empty());
    curves
}

fn point(line: &str) -> Option<(f64, f64)> {
    let (count, time) = line.split_once(" numbers: ")?;
    let ms: f64 = time.strip_suffix(" ms")?.parse().ok()?;
    Some((count.parse().ok()?, ms / 1e3))
}

fn draw(svg: &mut String, curves: &[Curve<'_>]) -> Result<(), Box<dyn Error>> {
    let points = || curves.iter().flat_map(|(_, points)| points.iter().copied());
    let first = points().next().ok_or("the record has no times")?;
    let (mut keys, mut seconds) = ([first.0; 2], [first.1; 2]);
    for (count, time) in points() {
        keys = [keys[0].min(count), keys[1].max(count)];
        seconds = [seconds[0].min(time), seconds[1].max(time)];
    }
    let root = SVGBackend::with_string(svg, (760, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("Batch gcd of moduli of 2048 bits", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(
            (keys[0] / 1.1..keys[1] * 1.1).log_scale().base(2.0),
            (seconds[0] / 1.5..seconds[1] * 1.5).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("keys")
        .x_label_formatter(&|keys| format!("2^{:.0}", keys.log2()))
        .y_desc("seconds")
        .light_line_style(BLACK.mix(0.04))
        .draw()?;
    for (at, (name, points)) in curves.iter().enumerate() {
        let style = Palette99::pick(at).stroke_width(2);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style).point_size(4))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    // What twice the keys would take if it were twice the time.
    let (count, time) = first;
    let line = keys.map(|keys| (keys, time * keys / count));
    chart
        .draw_series(LineSeries::new(line, BLACK.mix(0.4)))?
        .label("twice the time for twice the keys")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], BLACK.mix(0.4)));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.2))
        .draw()?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_those_of_the_record() {
        let record = "# a head\n1 numbers: 1 ms\n== none\n== one\n65536 numbers: 18.5 ms\n    level by level, ms: 1 2\n131072 numbers: 40 ms, WRONG\n== two\n64 numbers: 2 ms\n";
        let expected = [
            ("one", vec![(65536.0, 0.0185)]),
            ("two", vec![(64.0, 0.002)]),
        ];
        let curves = curves(record);
        assert_eq!(curves, expected);
        let mut svg = String::new();
        draw(&mut svg, &curves).expect("a picture");
        assert!(
            ["one", "two", "2^16"].iter().all(|text| svg.contains(text)),
            "{svg}"
        );
        assert!(draw(&mut String::new(), &[]).is_err());
    }
}
