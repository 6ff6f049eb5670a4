//! Draws the rounding error of squares modulo `2^p - 1` over bits a word, for several lengths:
//!
//! ```text
//! cargo run --release -p mersenne --example rounding -- docs/mersenne-rounding.svg
//! ```
//!
//! Of each length and number of bits, the greatest of 20 squarings of a number that looks
//! random. Where a curve's mark stands, the next longer transform is taken.

use std::error::Error;
use std::{env, fs};

use bigint_cpu::Path;
use bigint_cpu::fast::number::weighted::{Length, Weighted};
use mersenne::{Residue, Runner};
use plotters::prelude::*;

/// Words of the transforms.
const WORDS: [usize; 6] = [1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22];
const BITS: std::ops::RangeInclusive<u32> = 14 * 4..=22 * 4;
const SQUARINGS: u32 = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let file = env::args().nth(1).ok_or("usage: rounding FILE.svg")?;
    let mut svg = String::new();
    draw(&mut svg)?;
    Ok(fs::write(file, svg + "\n")?)
}

/// The greatest rounding error, by a transform of this length.
fn error(p: u32, length: Length) -> f64 {
    let mut weighted = Weighted::new(p, length, Path::best());
    // SplitMix64: digits with a pattern would have errors of their own.
    let mut state = 0_u64;
    let mut limb = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let limbs: Vec<u64> = (0..p.div_ceil(64)).map(|_| limb()).collect();
    weighted.set(Residue::reduce(p, &limbs).limbs());
    (0..SQUARINGS)
        .map(|_| weighted.square(1, 2))
        .fold(0.0, f64::max)
}

/// The most bits a word of this length that exponents are given.
fn most_bits(words: usize) -> f64 {
    let takes = |p: &u32| Length::for_exponent(*p).is_some_and(|length| length.words() <= words);
    let (mut low, mut high) = (10 * words as u32, 25 * words as u32);
    while low + 1 < high {
        let middle = low.midpoint(high);
        (low, high) = if takes(&middle) {
            (middle, high)
        } else {
            (low, middle)
        };
    }
    f64::from(low) / words as f64
}

fn draw(svg: &mut String) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::with_string(svg, (900, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let bits = f64::from(*BITS.start()) / 4.0..f64::from(*BITS.end()) / 4.0;
    let mut chart = ChartBuilder::on(&root)
        .caption(
            "Greatest rounding error of 20 squarings",
            ("sans-serif", 18),
        )
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(bits.clone(), (0.0005..0.5).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("bits a word")
        .light_line_style(BLACK.mix(0.04))
        .draw()?;
    let limit = [bits.start, bits.end].map(|bits| (bits, Runner::LIMIT));
    chart
        .draw_series(LineSeries::new(limit, BLACK))?
        .label("0.4: a longer transform is taken")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], BLACK));
    for (at, words) in WORDS.into_iter().enumerate() {
        let length = Length::of_words(words).ok_or("there is no such length")?;
        let point = |quarters: u32| {
            let p = quarters * (words as u32 / 4) + 1;
            (
                f64::from(quarters) / 4.0,
                error(p, length).clamp(0.0005, 0.5),
            )
        };
        let style = Palette99::pick(at).stroke_width(2);
        let mut points: Vec<(f64, f64)> = Vec::new();
        for quarters in BITS {
            if points
                .last()
                .is_none_or(|&(_, error)| error < Runner::LIMIT)
            {
                points.push(point(quarters));
            }
        }
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(format!("2^{} words", words.ilog2()))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        let most = most_bits(words);
        let mark = (most, error((most * words as f64) as u32 | 1, length));
        chart.draw_series([Circle::new(mark, 5, Palette99::pick(at).filled())])?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.2))
        .draw()?;
    root.present()?;
    Ok(())
}
