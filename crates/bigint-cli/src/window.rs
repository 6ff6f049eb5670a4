//! Rows of numbers on their way from text to limbs and back.
//!
//! Which lines are computed together, the library says ([`Grouping`], [`Bins`]); a window
//! remembers the order.

use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

use bigint_cpu::{map, threads};
use bigint_host::plan::{Bins, Grouping};
use bigint_host::{Error, SignedBatch};

use crate::column::{Column, read_column};
use crate::failure::{Failure, Place};
use crate::lines::Chunk;
use crate::number::{Format, Formatter, Number, Unread};
use crate::on_error::OnError;
use crate::operands::Operands;

/// Lines whose widths one task looks at.
const LINES_PER_SCAN: usize = 1024;

/// Text that one task writes, about, in bytes.
const BYTES_PER_TASK: usize = 1 << 18;

/// Consecutive lines, read.
#[derive(Debug)]
pub struct Window {
    /// One batch each: its columns, in the order of the files.
    pub groups: Vec<Vec<Column>>,
    /// Where the lines are.
    pub order: Order,
    /// The text they were read from.
    pub text: Text,
    /// What is wrong with the first line that is no number, if one is not.
    pub unread: Option<Failure>,
}

/// Lines of chunks, one of each file.
#[derive(Clone, Debug, Default)]
pub struct Text {
    chunks: Arc<Vec<Chunk>>,
    lines: Range<usize>,
}

impl Text {
    /// Where a line's number stands, of the file of this column.
    pub fn place(&self, column: usize, line: usize, paths: &[String]) -> Option<Place> {
        let (chunk, path) = (self.chunks.get(column)?, paths.get(column)?);
        Some(place(chunk, path, self.lines.start + line, 0))
    }

    /// Lines in all.
    pub fn len(&self) -> usize {
        self.lines.len()
    }
}

/// A group, and a row of it.
pub type Spot = (u32, u32);

/// The group of lines that have no value: it has no rows.
pub const NOWHERE: u32 = u32::MAX;

/// Where the lines of a window are.
#[derive(Debug)]
pub enum Order {
    /// This many lines, all in group 0, in order.
    Straight(usize),
    /// Each line.
    Mixed(Vec<Spot>),
}

impl Order {
    /// How many lines there are.
    fn len(&self) -> usize {
        match self {
            Order::Straight(count) => *count,
            Order::Mixed(spots) => spots.len(),
        }
    }

    /// Where a line is.
    fn spot(&self, line: usize) -> Spot {
        match self {
            Order::Straight(_) => (0, line as u32),
            Order::Mixed(spots) => spots[line],
        }
    }

    /// Where each line is.
    pub fn spots(&self) -> impl Iterator<Item = Spot> + '_ {
        (0..self.len()).map(|line| self.spot(line))
    }
}

/// A window's lines, computed by one of the formulas.
#[derive(Debug)]
pub struct Results {
    /// The results of each group.
    pub groups: Vec<SignedBatch>,
    /// Where the lines are.
    pub order: Arc<Order>,
}

impl Window {
    /// The single line of an expression without files.
    pub fn constant() -> Self {
        Window {
            groups: vec![Vec::new()],
            order: Order::Straight(1),
            text: Text::default(),
            unread: None,
        }
    }
}

/// Which lines form a window, and their groups.
#[derive(Debug)]
enum Plan {
    /// All in one group, with the widths of the columns.
    Straight(Range<usize>, Vec<usize>),
    /// With the class of each line.
    Mixed(Range<usize>, Vec<usize>),
}

/// Reads chunks, one of each file and equally long, window by window, for `operands`; a
/// window is of more than so many `limbs` only where a line is.
///
/// # Errors
/// The first number, line by line, that is none, told by `paths`, after a window of the lines
/// before it; where it is not to stop there, windows tell of it.
pub fn read<'a>(
    chunks: Vec<Chunk>,
    paths: &'a [String],
    operands: &Operands,
    format: Format,
    limbs: usize,
    on_error: OnError,
) -> impl Iterator<Item = Result<Window, Failure>> + use<'a> {
    let plans = plan(&chunks, operands, format, limbs);
    let chunks = Arc::new(chunks);
    plans.into_iter().flat_map(move |plan| {
        let lines = plan.lines();
        let read = match plan {
            Plan::Straight(lines, widths) => read_straight(&chunks, lines, &widths),
            Plan::Mixed(lines, classes) => read_mixed(&chunks, lines, &classes),
        };
        let window = |lines, (groups, order), unread| Window {
            groups,
            order,
            text: Text {
                chunks: Arc::clone(&chunks),
                lines,
            },
            unread,
        };
        match read {
            Ok(read) => [Some(Ok(window(lines, read, None))), None],
            Err(Unread::Memory(error)) => [Some(Err(error.into())), None],
            Err(Unread::Bad(_)) => {
                let bad: Vec<usize> = bad_lines(&chunks, lines.clone()).collect();
                let failure = bad.first().map(|&line| what_is_wrong(&chunks, paths, line));
                let (lines, bad, unread, failure) = match on_error {
                    OnError::Stop => {
                        let end = bad.first().map_or(lines.end, |&line| line);
                        (lines.start..end, Vec::new(), None, failure)
                    }
                    OnError::Skip | OnError::Null => (lines, bad, failure, None),
                };
                let mut grouping = Grouping::new(&[], Vec::new(), &|_| 0);
                let class = |line| match bad.binary_search(&line) {
                    Ok(_) => usize::MAX,
                    Err(_) => class(&mut grouping, &chunks, line),
                };
                let classes: Vec<usize> = lines.clone().map(class).collect();
                let read = read_mixed(&chunks, lines.clone(), &classes);
                let window = read.map(|read| window(lines, read, unread));
                let window = window.map_err(|unread| match unread {
                    Unread::Memory(error) => error.into(),
                    Unread::Bad(bad) => Failure::Running(bad.to_string()),
                });
                [Some(window), failure.map(Err)]
            }
        }
        .into_iter()
        .flatten()
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

impl Plan {
    fn lines(&self) -> Range<usize> {
        let (Plan::Straight(lines, _) | Plan::Mixed(lines, _)) = self;
        lines.clone()
    }
}

/// `0..count` in parts of `size`.
fn parts(count: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..count).step_by(size);
    starts.map(move |start| start..count.min(start + size))
}

/// The limbs that a line takes, from its text alone.
fn width(chunk: &Chunk, line: usize) -> usize {
    Number::scan(chunk.number(line)).map_or(1, |number| number.width())
}

fn plan(chunks: &[Chunk], operands: &Operands, format: Format, limbs: usize) -> Vec<Plan> {
    let count = chunks.first().map_or(0, |chunk| chunk.numbers.len());
    let text_bytes = |limbs| format.text_bytes(limbs);
    let grouping = Grouping::new(&operands.formulas, operands.extents(), &text_bytes);
    let mut grouping = grouping.within(limbs);
    let sizes = chunks.iter().map(|chunk| {
        let size = |lines: Range<usize>| {
            let widths = lines.map(|line| width(chunk, line));
            widths.fold((1, 0), |(widest, sum), width| {
                (widest.max(width), sum + Grouping::counted(width))
            })
        };
        let sizes = map(parts(count, LINES_PER_SCAN), threads(), size).into_iter();
        sizes.fold((1, 0), |(widest, sum), (other, others)| {
            (widest.max(other), sum + others)
        })
    });
    let sizes: Vec<(usize, usize)> = sizes.collect();
    if let Some(lines) = grouping.rows_alike(count, &sizes) {
        let widths: Vec<usize> = sizes.iter().map(|&(widest, _)| widest).collect();
        let starts = (0..count).step_by(lines);
        let window = |start| Plan::Straight(start..count.min(start + lines), widths.clone());
        return starts.map(window).collect();
    }
    let (mut plans, mut classes, mut start) = (Vec::new(), Vec::new(), 0);
    for line in 0..count {
        let class = class(&mut grouping, chunks, line);
        if grouping.begins(class) {
            plans.push(Plan::Mixed(start..line, take(&mut classes)));
            start = line;
        }
        classes.push(class);
    }
    plans.push(Plan::Mixed(start..count, classes));
    plans
}

/// The class of a line.
fn class(grouping: &mut Grouping<'_>, chunks: &[Chunk], line: usize) -> usize {
    grouping.class(chunks.iter().map(|chunk| width(chunk, line)))
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

/// Reads lines of these classes, but those of none.
fn read_mixed(chunks: &[Chunk], lines: Range<usize>, classes: &[usize]) -> Result<Groups, Unread> {
    let known = classes.iter().filter(|&&class| class != usize::MAX).max();
    let turns: Vec<_> = (0..known.map_or(0, |most| most + 1))
        .map(|class| (class, usize::MAX))
        .collect();
    let bins = Bins::new(classes, &turns)?;
    let columns = bins.bins.iter().map(|bin| {
        let line = |&row: &usize| lines.start + row;
        let lines: Vec<usize> = bins.rows(bin).iter().map(line).collect();
        let column = |chunk: &Chunk| {
            let widest = lines.iter().map(|&line| width(chunk, line)).max();
            read_column(lines.len(), widest.unwrap_or(1), |row| {
                chunk.number(lines[row])
            })
        };
        chunks.iter().map(column).collect::<Result<Vec<_>, _>>()
    });
    let groups = columns.collect::<Result<_, _>>()?;
    let spots = bins.places.iter();
    let spots = spots.map(|place| {
        (
            u32::try_from(place.bin).unwrap_or(NOWHERE),
            place.row as u32,
        )
    });
    Ok((groups, Order::Mixed(spots.collect())))
}

/// Those of the lines that have a number which is none.
fn bad_lines(chunks: &[Chunk], mut lines: Range<usize>) -> impl Iterator<Item = usize> {
    let is_bad = |chunk: &Chunk, line| {
        let number = Number::scan(chunk.number(line));
        number.and_then(|number| number.check()).is_err()
    };
    std::iter::from_fn(move || lines.find(|&line| chunks.iter().any(|chunk| is_bad(chunk, line))))
}

/// What is wrong with a line.
fn what_is_wrong(chunks: &[Chunk], paths: &[String], line: usize) -> Failure {
    for (chunk, path) in chunks.iter().zip(paths) {
        let number = Number::scan(chunk.number(line));
        if let Err(bad) = number.and_then(|number| number.check()) {
            return Failure::Input(place(chunk, path, line, bad.offset), bad.to_string());
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
            Ok((magnitude.rows()?, magnitude.width(), group.negative()?))
        });
        let groups = groups.collect::<Result<Vec<_>, Error>>()?;
        let count = self.order.len();
        let limbs = match &*self.order {
            Order::Straight(count) => count * groups[0].1,
            Order::Mixed(spots) => {
                let groups = spots.iter().filter_map(|spot| groups.get(spot.0 as usize));
                groups.map(|(_, width, _)| width).sum()
            }
        };
        let average = format.text_bytes(limbs / count.max(1));
        let lines = (BYTES_PER_TASK / average).clamp(1, count.max(1));
        let piece = |part: Range<usize>| {
            let mut text = bigint_cpu::with_capacity(average * lines)?;
            let mut formatter = Formatter::new(format);
            for line in part {
                let (group, row) = match self.order.spot(line) {
                    (NOWHERE, _) => {
                        text.push(b'\n');
                        continue;
                    }
                    (group, row) => (group as usize, row as usize),
                };
                let (limbs, width, negative) = &groups[group];
                // One of constants is the same for all lines.
                let row = row.min(negative.len() - 1);
                formatter.line(negative[row], &limbs[row * width..][..*width], &mut text)?;
            }
            Ok(text)
        };
        let pieces = map(parts(count, lines), threads(), piece);
        pieces.into_iter().collect()
    }
}
