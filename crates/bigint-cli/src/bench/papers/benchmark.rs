//! The form of a paper's benchmark: its published figures, and the cases that are measured beside
//! them.

use bigint_core::{Algorithm, Layout, Level, Operation};
use bigint_host::{Form, Options};

use super::lists::List;

/// A paper's benchmark.
pub struct Benchmark {
    pub name: &'static str,
    pub authors: &'static str,
    /// The paper's title.
    pub title: &'static str,
    /// The machine that the paper measured on.
    pub published_on: &'static str,
    /// The widths of operands, in bits.
    pub widths: &'static [usize],
    /// The number of numbers in a batch, by width.
    pub count: fn(usize) -> usize,
    /// The unit of the paper's figures.
    pub unit: &'static str,
    /// Converts a measurement into that unit, from a width in bits and nanoseconds for one number.
    pub figure: fn(usize, f64) -> f64,
    /// The number of samples behind each figure.
    pub samples: u32,
    /// Whether figures are means of the samples; otherwise they are medians.
    pub is_mean: bool,
    /// The cases to measure at a width; the second argument says whether a device computes.
    pub cases: fn(usize, bool) -> Vec<Case>,
    /// The lines that are drawn: for each table, by the beginning of its name, groups of methods. A
    /// line is named by its [`Case::method`] or, if published, by [`published_line`]. A reader can
    /// follow seven lines at most, so these are the most telling ones.
    pub drawn: &'static [(&'static str, &'static [&'static [&'static str]])],
}

/// The name in a drawing of a line that a paper published beside a method.
pub fn published_line(method: &str, published: &str) -> String {
    format!("{method}, {published}")
}

/// One case: a cell of the paper's table.
pub struct Case {
    pub table: String,
    pub method: String,
    pub work: Work,
    pub who: Who,
    pub options: Options,
    pub layout: Layout,
    /// The paper's figures for this case, each with the paper's name for the method or machine.
    pub published: Vec<(&'static str, f64)>,
}

/// The work that a case does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// An operation, once.
    Of(Operation, Form),
    /// `10 (a + b)` modulo the operands' width, by an expression: one launch on a device.
    TenSumsAtOnce,
    /// The same by ten operations, each of which leaves its result in memory.
    TenSums,
    /// A list of computations.
    List(List),
    /// Nothing: the paper has figures for something that has no counterpart here.
    Nothing,
}

/// The back end of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The engine of `--backend`.
    Engine,
    /// So many threads of the CPU, or all of them.
    Cpu(Option<u16>),
}

impl Case {
    /// Makes a case on contiguous batches in which the engine chooses everything.
    pub fn new(table: impl Into<String>, method: &str, work: Work) -> Self {
        Case {
            table: table.into(),
            method: method.to_owned(),
            work,
            who: Who::Engine,
            options: Options::default(),
            layout: Layout::Contiguous,
            published: Vec::new(),
        }
    }

    /// Forces an algorithm and, on a device, the number of threads for each number.
    pub fn by(mut self, algorithm: Algorithm, lanes: Option<(Level, u32)>) -> Self {
        self.options = Options {
            algorithm,
            level: lanes.map(|(level, _)| level),
            lanes: lanes.map(|(_, lanes)| lanes),
        };
        self
    }

    /// Adds the paper's figure at this width, where it has one.
    pub fn beside(mut self, name: &'static str, published: Option<f64>) -> Self {
        self.published
            .extend(published.map(|figure| (name, figure)));
        self
    }
}

/// The entry of a table's column at this width. A column has one figure for each of the `widths`,
/// and NaN where the paper has none.
pub fn published(widths: &[usize], column: &[f64], bits: usize) -> Option<f64> {
    let at = widths.iter().position(|&width| width == bits)?;
    column.get(at).copied().filter(|figure| figure.is_finite())
}
