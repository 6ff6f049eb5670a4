//! What a paper's benchmark is: its figures, and the cases that are measured beside them.

use bigint_core::{Algorithm, Layout, Level, Operation};
use bigint_host::{Form, Options};

use super::lists::List;

/// A paper's benchmark.
pub struct Benchmark {
    pub name: &'static str,
    pub authors: &'static str,
    /// What the paper is called.
    pub title: &'static str,
    /// On what.
    pub published_on: &'static str,
    /// In bits.
    pub widths: &'static [usize],
    /// Numbers in a batch of this width.
    pub count: fn(usize) -> usize,
    /// What the paper's figures are.
    pub unit: &'static str,
    /// The same of a width in bits and the nanoseconds that one number takes.
    pub figure: fn(usize, f64) -> f64,
    /// Samples behind each figure.
    pub samples: u32,
    /// Whether its figures are means, and ours beside them; else they are medians.
    pub is_mean: bool,
    /// What is measured of a width, on a device or on the CPU.
    pub cases: fn(usize, bool) -> Vec<Case>,
    /// What is drawn: of each table, which its name begins with, lines by methods. A line is
    /// named as its [`Case::method`] or, published, as [`published_line`] says. A reader follows
    /// seven at most, so that these are the most telling ones.
    pub drawn: &'static [(&'static str, &'static [&'static [&'static str]])],
}

/// How a drawing names what a paper published beside a method.
pub fn published_line(method: &str, published: &str) -> String {
    format!("{method}, {published}")
}

/// One figure.
pub struct Case {
    pub table: String,
    pub method: String,
    pub work: Work,
    pub who: Who,
    pub options: Options,
    pub layout: Layout,
    /// What the paper has for it, by the paper's name of who or what it is of.
    pub published: Vec<(&'static str, f64)>,
}

/// What is computed.
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
    /// What the paper has and nothing here is like.
    Nothing,
}

/// Who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The engine of `--backend`.
    Engine,
    /// So many threads of the CPU, or all.
    Cpu(Option<u16>),
}

impl Case {
    /// A case of the engine's own choice, of contiguous batches.
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

    /// By this algorithm, and on a device so many threads for each number.
    pub fn by(mut self, algorithm: Algorithm, lanes: Option<(Level, u32)>) -> Self {
        self.options = Options {
            algorithm,
            level: lanes.map(|(level, _)| level),
            lanes: lanes.map(|(_, lanes)| lanes),
        };
        self
    }

    /// Beside what the paper has of that width; where it has none there is nothing.
    pub fn beside(mut self, name: &'static str, published: Option<f64>) -> Self {
        self.published
            .extend(published.map(|figure| (name, figure)));
        self
    }
}

/// What a paper has in a table's column for this width: the columns' figures are as many as
/// the `widths`, and NaN where there is none.
pub fn published(widths: &[usize], column: &[f64], bits: usize) -> Option<f64> {
    let at = widths.iter().position(|&width| width == bits)?;
    column.get(at).copied().filter(|figure| figure.is_finite())
}
