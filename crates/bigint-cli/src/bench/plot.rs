//! Draws figures over widths as SVG: one hue for one method, what was published thin and ours
//! thick.

use plotters::coord::Shift;
use plotters::prelude::*;

/// A part of a drawing, with axes of its own.
#[derive(Debug)]
pub struct Panel {
    pub title: String,
    pub curves: Vec<Curve>,
}

/// One line of a panel.
#[derive(Debug)]
pub struct Curve {
    pub name: String,
    /// The index of the hue. Curves of one method have the same.
    pub hue: usize,
    /// Whether the curve is measured here, and so drawn thick.
    pub is_ours: bool,
    /// The points of the curve: width in bits, and figure.
    pub points: Vec<(f64, f64)>,
}

/// A panel's width and height, in pixels.
const PANEL: (u32, u32) = (1060, 620);

/// The width in pixels that the curves' names take beside the chart.
const NAMES: u32 = 400;

/// The most points of a curve that are marked.
const MOST_MARKED: usize = 40;

/// Hues that readers tell apart, whatever colours they see (Okabe and Ito's).
const HUES: [RGBColor; 7] = [
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x33, 0x33, 0x33),
];

/// Panels one below the other.
///
/// # Errors
/// What the drawing library says.
pub fn draw(title: &str, panels: &[Panel]) -> Result<String, String> {
    let mut svg = String::new();
    let count = panels.len().max(1);
    {
        let size = (PANEL.0, 40 + PANEL.1 * count as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let root = root.titled(title, ("sans-serif", 14)).map_err(failed)?;
        for (area, panel) in root.split_evenly((count, 1)).iter().zip(panels) {
            draw_panel(area, panel)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

fn draw_panel(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel) -> Result<(), String> {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let least = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| points().map(of).fold(0.0, f64::max);
    if points().next().is_none() {
        return Ok(());
    }
    let bits = least(|point| point.0) / 1.05..most(|point| point.0) * 1.05;
    let figures = least(|point| point.1) / 1.3..most(|point| point.1) * 1.3;
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 16))
        .margin(12)
        .margin_right(NAMES as i32)
        .x_label_area_size(30)
        .y_label_area_size(60)
        .build_cartesian_2d(bits.log_scale().base(2.0), figures.log_scale())
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc("bits")
        .x_label_formatter(&|bits| format!("{bits:.0}"))
        .x_max_light_lines(1)
        .y_label_formatter(&|figure| match *figure {
            figure if figure >= 1e4 => format!("{figure:.0e}"),
            // What is added up for an axis is a little off.
            figure => format!("{}", (figure * 1e6).round() / 1e6),
        })
        .light_line_style(BLACK.mix(0.04))
        .bold_line_style(BLACK.mix(0.12))
        .draw()
        .map_err(failed)?;
    for (at, curve) in panel.curves.iter().enumerate() {
        let width = if curve.is_ours { 3 } else { 1 };
        let style = HUES[curve.hue % HUES.len()].stroke_width(width);
        let points = curve.points.iter().copied();
        // Where there are many, they would hide the line.
        let point_size = if curve.points.len() > MOST_MARKED {
            0
        } else {
            width
        };
        chart
            .draw_series(LineSeries::new(points, style).point_size(point_size))
            .map_err(failed)?;
        // The names stand beside the chart: there are too many to stand in it.
        let place = ((PANEL.0 - NAMES + 10) as i32, 60 + 18 * at as i32);
        let line = [place, (place.0 + 18, place.1)];
        area.draw(&PathElement::new(line, style)).map_err(failed)?;
        let name = Text::new(
            curve.name.clone(),
            (place.0 + 24, place.1 - 6),
            ("sans-serif", 12),
        );
        area.draw(&name).map_err(failed)?;
    }
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("cannot draw: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_drawn_and_named() {
        let curve = |name: &str, is_ours, figure| Curve {
            name: name.to_owned(),
            hue: 1,
            is_ours,
            points: vec![(500.0, figure), (2100.0, 2.0 * figure)],
        };
        let curves = vec![curve("ours", true, 1.0), curve("theirs <8>", false, 40.0)];
        let title = "a table".to_owned();
        let empty = Panel {
            title: "nothing".to_owned(),
            curves: Vec::new(),
        };
        let drawn = draw("a paper", &[Panel { title, curves }, empty]).unwrap();
        assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
        for text in ["a paper", "a table", "ours", "theirs &lt;8&gt;"] {
            assert!(drawn.contains(text), "{text}");
        }
        // A mesh has no circles: these are the points of two curves.
        assert_eq!(drawn.matches("<circle").count(), 4);
        // One method has one hue, and axes name powers of two.
        assert!(drawn.contains("#0072B2") && !drawn.contains("#D55E00"));
        for tick in ["\n512\n", "\n1024\n", "\n2048\n"] {
            assert!(drawn.contains(tick), "{tick} is not in {drawn}");
        }
        assert!(draw("none", &[]).is_ok());
    }
}
