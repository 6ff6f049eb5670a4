//! A program: a chain of sums and products whose values in between are kept nowhere but
//! where they are computed.
//!
//! On a device it is one launch; the numbers' values stay in registers or shared memory. On
//! the CPU it runs block by block: so many rows at a time that what is between the steps
//! stays in a core's cache. Either reads each input once and writes the result once.

use bigint_core::fused::{MOST_INPUTS, MOST_STEPS, StepKind};
use bigint_core::{Algorithm, Layout, Shape};

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramStep {
    pub kind: StepKind,
    /// The index of the input; unused by a square.
    pub input: usize,
    /// The width of the value after the step.
    pub width: usize,
}

/// Steps, the first of which adds an input to zero, and how many results there are.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub steps: Vec<ProgramStep>,
    /// The number of rows. An input has as many, or one number for all.
    pub count: usize,
    /// The algorithm on the CPU.
    pub algorithm: Algorithm,
}

impl Program {
    /// Adds a step.
    pub fn push(&mut self, kind: StepKind, input: usize, width: usize) {
        self.steps.push(ProgramStep { kind, input, width });
    }

    /// Whether one more step, with `inputs` inputs in all, would be too much for one launch.
    pub fn is_full(&self, inputs: usize) -> bool {
        self.steps.len() == MOST_STEPS || inputs > MOST_INPUTS
    }

    /// The shape of the result.
    pub fn shape(&self) -> Shape {
        let width = self.steps.last().map_or(1, |step| step.width);
        Shape::new(self.count, width, Layout::Contiguous)
    }

    /// The program on so many rows.
    pub fn with_count(&self, count: usize) -> Self {
        Program {
            count,
            ..self.clone()
        }
    }

    /// Whether a step is a product or a square.
    pub fn multiplies(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step.kind, StepKind::Mul | StepKind::Square))
    }

    /// The width of the widest value.
    pub fn widest(&self) -> usize {
        let widths = self.steps.iter().map(|step| step.width);
        widths.max().unwrap_or(1)
    }
}
