//! Rows of numbers on their way from text to limbs and back.
//!
//! A batch has one width, and a number of ten million digits among short ones
//! must not make them all as wide. A window is a run of consecutive lines whose
//! results fit into memory together. Inside it, lines of similar widths form
//! groups, each computed as one batch; the window remembers the order.

use std::collections::HashMap;
use std::ops::Range;

use bigint_core::Limb;
use bigint_host::{Error, SignedBatch};
use rayon::prelude::*;

use crate::failure::{Failure, Place};
use crate::lines::Chunk;
use crate::number::{Format, Formatter, Number, Unread};
use crate::program::Program;

/// Limbs that the batches and the text of one window may take together, unless
/// a single line takes more.
const WINDOW_LIMBS: usize = 1 << 24;

/// Numbers below this width are grouped as if they had it.
const NARROWEST: usize = 4;

/// Lines that one task reads at least.
const LINES_PER_TASK: usize = 64;

/// Text that one task writes, about, in bytes.
const BYTES_PER_TASK: usize = 1 << 18;

/// Numbers of one width, row after row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Limbs in each number.
    pub width: usize,
    /// The magnitudes, each little-endian.
    pub limbs: Vec<Limb>,
    /// The signs.
    pub negative: Vec<bool>,
}

impl Column {
    /// Bits of the widest magnitude that fits.
    pub fn bits(&self) -> usize {
        self.width * Limb::BITS as usize
    }
}

/// Consecutive lines, read.
#[derive(Debug)]
pub struct Window {
    /// One batch each: its columns, in the order of the files.
    pub groups: Vec<Vec<Column>>,
    /// Where the lines are.
    pub order: Order,
    /// Where the line stands, if the window has no other.
    pub place: Option<Place>,
}

/// Where the lines of a window are.
#[derive(Debug)]
pub enum Order {
    /// This many lines, all in group 0, in order.
    Straight(usize),
    /// For each line its group, and its row there.
    Mixed(Vec<(u32, u32)>),
}

/// A window's lines, computed.
#[derive(Debug)]
pub struct Results {
    /// The results of each group.
    pub groups: Vec<SignedBatch>,
    /// Where the lines are.
    pub order: Order,
}

impl Window {
    /// The single line of an expression without files.
    pub fn constant() -> Self {
        Window {
            groups: vec![Vec::new()],
            order: Order::Straight(1),
            place: None,
        }
    }
}

/// Which lines form a window, and their groups.
#[derive(Debug)]
enum Plan {
    Straight(Range<usize>, Vec<usize>),
    Mixed(Range<usize>),
}

/// Reads chunks, one of each file and equally long, window by window.
///
/// # Errors
/// The first number, line by line, that is none, told by `paths`.
pub fn read<'a>(
    chunks: Vec<Chunk>,
    paths: &'a [String],
    program: &Program,
    format: Format,
) -> impl Iterator<Item = Result<Window, Failure>> + use<'a> {
    let plans = plan(&chunks, program, format);
    plans.into_iter().map(move |plan| {
        let chunks = &chunks[..];
        let (window, lines) = match plan {
            Plan::Straight(lines, widths) => (read_straight(chunks, lines.clone(), &widths), lines),
            Plan::Mixed(lines) => (read_mixed(chunks, lines.clone()), lines),
        };
        match window {
            Ok((groups, order)) => Ok(Window {
                groups,
                order,
                place: (lines.len() == 1).then(|| place(&chunks[0], &paths[0], lines.start, 0)),
            }),
            Err(Unread::Bad(_)) => Err(first_error(chunks, paths, lines)),
            Err(Unread::Memory(error)) => Err(error.into()),
        }
    })
}

/// Where a byte of a number stands.
fn place(chunk: &Chunk, path: &str, line: usize, offset: usize) -> Place {
    let (line, column) = chunk.position(line);
    Place {
        source: path.to_owned(),
        line,
        column: column + offset as u64,
    }
}

/// The limbs that a line takes, from its text alone.
fn width(chunk: &Chunk, line: usize) -> usize {
    Number::scan(chunk.number(line)).map_or(1, |number| number.width())
}

fn plan(chunks: &[Chunk], program: &Program, format: Format) -> Vec<Plan> {
    let count = chunks.first().map_or(0, |chunk| chunk.numbers.len());
    let cost = |widths: &[usize]| {
        let cost = program.cost(widths);
        cost.peak + format.text_bytes(cost.result) / size_of::<Limb>()
    };
    let sizes = chunks.iter().map(|chunk| {
        let widths = (0..count).into_par_iter().with_min_len(1024);
        let widths = widths.map(|line| width(chunk, line));
        widths.map(|w| (w, w.max(NARROWEST))).reduce(
            || (1, 0),
            |(widest, sum), (other, others)| (widest.max(other), sum + others),
        )
    });
    let sizes: Vec<(usize, usize)> = sizes.collect();
    let alike = sizes
        .iter()
        .all(|&(widest, sum)| widest * count <= sum + sum / 2);
    if alike {
        let widths: Vec<usize> = sizes.iter().map(|&(widest, _)| widest).collect();
        let lines = (WINDOW_LIMBS / cost(&widths)).max(1);
        let starts = (0..count).step_by(lines);
        let window = |start| Plan::Straight(start..count.min(start + lines), widths.clone());
        return starts.map(window).collect();
    }
    let mut plans = Vec::new();
    let (mut start, mut used) = (0, 0);
    let mut costs: HashMap<Vec<usize>, usize> = HashMap::new();
    for line in 0..count {
        let class: Vec<usize> = chunks
            .iter()
            .map(|chunk| class(width(chunk, line)))
            .collect();
        let needed = *costs.entry(class).or_insert_with_key(|class| cost(class));
        if used + needed > WINDOW_LIMBS && line > start {
            plans.push(Plan::Mixed(start..line));
            (start, used) = (line, 0);
        }
        used += needed;
    }
    plans.push(Plan::Mixed(start..count));
    plans
}

/// Four classes to each doubling of the width; answers the widest of the class.
fn class(width: usize) -> usize {
    let step = (width.max(NARROWEST).next_power_of_two() / 8).max(1);
    width.max(NARROWEST).next_multiple_of(step)
}

/// The groups of a window, and where their lines are.
type Groups = (Vec<Vec<Column>>, Order);

fn read_straight(
    chunks: &[Chunk],
    lines: Range<usize>,
    widths: &[usize],
) -> Result<Groups, Unread> {
    let columns = chunks.iter().zip(widths);
    let columns = columns.map(|(chunk, &width)| {
        read_column(lines.len(), width, |row| chunk.number(lines.start + row))
    });
    let columns = columns.collect::<Result<_, _>>()?;
    Ok((vec![columns], Order::Straight(lines.len())))
}

fn read_mixed(chunks: &[Chunk], lines: Range<usize>) -> Result<Groups, Unread> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut classes: HashMap<Vec<usize>, u32> = HashMap::new();
    let place = |line: usize| {
        let key = chunks
            .iter()
            .map(|chunk| class(width(chunk, line)))
            .collect();
        let group = *classes.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            (groups.len() - 1) as u32
        });
        let rows = &mut groups[group as usize];
        rows.push(line);
        (group, (rows.len() - 1) as u32)
    };
    let order = lines.map(place).collect();
    let columns = |lines: &Vec<usize>| {
        let column = |chunk: &Chunk| {
            let widest = lines.iter().map(|&line| width(chunk, line)).max();
            read_column(lines.len(), widest.unwrap_or(1), |row| {
                chunk.number(lines[row])
            })
        };
        chunks.iter().map(column).collect::<Result<Vec<_>, _>>()
    };
    let groups = groups.iter().map(columns).collect::<Result<_, _>>()?;
    Ok((groups, Order::Mixed(order)))
}

/// Reads `count` numbers of at most `width` limbs.
///
/// # Errors
/// [`Unread::Bad`] tells of any that is none, not of the first.
pub fn read_column<'a>(
    count: usize,
    width: usize,
    text: impl Fn(usize) -> &'a [u8] + Sync,
) -> Result<Column, Unread> {
    let mut limbs = bigint_cpu::zeroed(count * width)?;
    let mut negative = bigint_cpu::with_capacity(count)?;
    negative.resize(count, false);
    let rows = limbs.par_chunks_exact_mut(width).zip(&mut negative);
    let rows = rows.enumerate().with_min_len(LINES_PER_TASK);
    rows.try_for_each_init(Vec::new, |scratch, (row, (limbs, negative))| {
        let number = Number::scan(text(row)).map_err(Unread::Bad)?;
        *negative = number.negative;
        number.write(limbs, scratch)
    })?;
    Ok(without_zero_limbs(width, limbs, negative))
}

/// A decimal's width is known only when it is read: 309 digits may take 33
/// limbs, and those of a 1024-bit number take 32.
fn without_zero_limbs(width: usize, mut limbs: Vec<Limb>, negative: Vec<bool>) -> Column {
    let is_zero = |limb: usize| limbs.chunks_exact(width).all(|row| row[limb] == 0);
    let narrow = 1 + (1..width).rev().find(|&limb| !is_zero(limb)).unwrap_or(0);
    if narrow < width {
        for row in 0..negative.len() {
            limbs.copy_within(row * width..row * width + narrow, row * narrow);
        }
        limbs.truncate(negative.len() * narrow);
    }
    Column {
        width: narrow,
        limbs,
        negative,
    }
}

fn first_error(chunks: &[Chunk], paths: &[String], lines: Range<usize>) -> Failure {
    for index in lines {
        for (chunk, path) in chunks.iter().zip(paths) {
            let number = Number::scan(chunk.number(index));
            if let Err(bad) = number.and_then(|number| number.check()) {
                let place = place(chunk, path, index, bad.offset);
                return Failure::Input(place, bad.to_string());
            }
        }
    }
    Failure::Running("a number was refused and then accepted".to_owned())
}

impl Results {
    /// About how many bytes of text the lines take.
    pub fn text_bytes(&self, format: Format) -> usize {
        let shapes = self.groups.iter().map(|group| group.magnitude().shape());
        shapes
            .map(|shape| shape.count * format.text_bytes(shape.width))
            .sum()
    }

    /// The lines of text, in order and in pieces.
    ///
    /// # Errors
    /// As [`bigint_host::Batch::rows`].
    pub fn write(&self, format: Format) -> Result<Vec<Vec<u8>>, Error> {
        let groups = self.groups.iter().map(|group| {
            let magnitude = group.magnitude();
            Ok((magnitude.rows()?, magnitude.width(), group.negative()))
        });
        let groups = groups.collect::<Result<Vec<_>, Error>>()?;
        let (count, limbs) = match &self.order {
            Order::Straight(count) => (*count, count * groups[0].1),
            Order::Mixed(order) => {
                let widths = order.iter().map(|&(group, _)| groups[group as usize].1);
                (order.len(), widths.sum())
            }
        };
        let average = format.text_bytes(limbs / count.max(1));
        let lines = (BYTES_PER_TASK / average).clamp(1, count.max(1));
        let pieces = (0..count).into_par_iter().step_by(lines).map(|start| {
            let mut text = bigint_cpu::with_capacity(average * lines)?;
            let mut formatter = Formatter::new(format);
            for line in start..count.min(start + lines) {
                let (group, row) = match &self.order {
                    Order::Straight(_) => (0, line),
                    Order::Mixed(order) => (order[line].0 as usize, order[line].1 as usize),
                };
                let (limbs, width, negative) = &groups[group];
                formatter.line(negative[row], &limbs[row * width..][..*width], &mut text)?;
            }
            Ok(text)
        });
        pieces.collect()
    }
}
