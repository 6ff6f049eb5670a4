//! One operation on batches, as dispatch sees it, and how to do it again.

use crate::batch::Node;
use crate::gather::Gather;
use crate::plan::Program;
use crate::{Error, Options, limbs};
use bigint_core::operation::MOST_RESULTS;
use bigint_core::{Algorithm, Layout, Operation, Shape};
use std::sync::Arc;

/// What is to be computed of which operands, in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub operation: Operation,
    /// Of every result, in declared order; what is not a result repeats the first.
    shapes: [Shape; MOST_RESULTS],
    pub options: Options,
    pub wanted: Wanted,
}

/// The operands of a job, in declared order.
pub(crate) type Operands<'a> = &'a [Arc<Node>];

/// What is wanted of the flags beside the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Nothing,
    /// A word for each number.
    Flags,
    /// The first number whose flag is 1, if one is.
    First,
}

/// One of the batches that a job makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Result(usize),
    Flags,
}

/// What made a batch.
#[derive(Clone)]
pub(crate) enum How {
    Job(Job, Part),
    Program(Arc<Program>),
    Gather(Arc<Gather>),
}

/// What a job made.
pub(crate) struct Computed {
    pub results: Vec<Node>,
    /// One limb for each number, where flags were wanted.
    pub flags: Option<Node>,
    pub first: Option<usize>,
}

/// How a batch was made.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub how: How,
    pub operands: Vec<Arc<Node>>,
    /// Operations between the batch and limbs on the host.
    pub depth: u32,
}

impl Job {
    /// A job whose results have these widths.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where operands have different lengths, neither of which
    /// is one; [`Error::Width`] and [`Error::TooLarge`] for results that cannot be.
    pub fn new(
        operation: Operation,
        operands: &[Shape],
        widths: &[usize],
        options: Options,
        wanted: Wanted,
    ) -> Result<Self, Error> {
        let mut longest = operands[0];
        for operand in &operands[1..] {
            match (longest.count, operand.count) {
                (a, b) if a == b || b == 1 => {}
                (1, _) => longest = *operand,
                (a, b) => return Err(Error::CountMismatch { a, b }),
            }
        }
        let shape = |width| Shape { width, ..longest };
        let mut shapes = [shape(widths[0]); MOST_RESULTS];
        for (slot, &width) in shapes.iter_mut().zip(widths) {
            *slot = shape(width);
            limbs::checked_limbs(*slot)?;
        }
        Ok(Job {
            operation,
            shapes,
            options,
            wanted,
        })
    }

    /// The shape of each result.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes[..self.operation.declaration().results.len()]
    }

    /// The shape of the flags.
    pub fn flags_shape(&self) -> Shape {
        Shape::new(self.count(), 1, Layout::Contiguous)
    }

    /// Numbers in each result.
    pub fn count(&self) -> usize {
        self.shapes[0].count
    }

    /// The same for `count` of the numbers.
    pub fn with_count(mut self, count: usize) -> Self {
        for shape in &mut self.shapes {
            shape.count = count;
        }
        self
    }

    /// The same, computed as another operation that has the same results.
    pub fn of(self, operation: Operation) -> Self {
        Job { operation, ..self }
    }

    /// Whether nothing is forced that decides between this operation and `other`.
    pub fn leaves_open(&self, other: Operation) -> bool {
        let Options { level, lanes, .. } = self.options;
        let is_named = |operation| self.options.algorithm_for(operation) != Algorithm::Auto;
        level.is_none() && lanes.is_none() && !is_named(self.operation) && !is_named(other)
    }

    /// How a part of what this job makes of `operands` was made.
    pub fn recipe(self, operands: Operands<'_>, part: Part) -> Recipe {
        Recipe::new(How::Job(self, part), operands)
    }
}

impl Recipe {
    /// What was made so of these operands.
    pub fn new(how: How, operands: Operands<'_>) -> Self {
        let depths = operands.iter().map(|operand| operand.depth());
        Recipe {
            how,
            operands: operands.to_vec(),
            depth: 1 + depths.max().unwrap_or(0),
        }
    }
}

impl Computed {
    /// Everything that was made.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.results.iter().chain(&self.flags)
    }

    /// One of the batches that were made; a job that is done again for its flags wants
    /// them.
    pub fn part(mut self, part: Part) -> Node {
        match part {
            Part::Result(index) => self.results.swap_remove(index),
            Part::Flags => self.flags.expect("the recipe's job wants flags"),
        }
    }
}
