//! A program: a chain of sums and products whose values in between are kept nowhere but
//! where they are computed.
//!
//! On a device it is one launch; the numbers' values stay in registers or shared memory. On
//! the CPU it runs block by block: so many rows at a time that what is between the steps
//! stays in a core's cache. Either reads each input once and writes the result once.

use crate::common::device::{Buffer, Device};
use crate::common::limbs;
use crate::engine::inner::Inner;
use crate::values::made::Made;
use crate::values::node::{Node, Operands};
use crate::{BackEnd, Error, FusedTuning};
use bigint_core::fused::{FusedInput, FusedKernel, MOST_INPUTS, MOST_STEPS, StepKind};
use bigint_core::specialization::Specialization;
use bigint_core::{Algorithm, Layout, Limb, MatrixArgument, Operation, Shape};
use bigint_cpu::{Cpu, LIMB_WORK, Numbers, NumbersMut, Results, share};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Limbs of a value between steps on the CPU, all rows of a block together: three of them
/// and a block of an input stay in a core's second cache.
const BLOCK_LIMBS: usize = 1 << 13;

/// What a program does with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramStep {
    pub kind: StepKind,
    /// Which input; of a square none.
    pub input: usize,
    /// Limbs of the value after it.
    pub width: usize,
}

/// Steps, the first of which adds an input to zero, and how many results there are.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub steps: Vec<ProgramStep>,
    /// Rows; the inputs have as many, or one number for all.
    pub count: usize,
    /// What the CPU computes by.
    pub algorithm: Algorithm,
}

impl Program {
    /// Adds a step.
    pub fn push(&mut self, kind: StepKind, input: usize, width: usize) {
        self.steps.push(ProgramStep { kind, input, width });
    }

    /// Whether one more step, with so many inputs in all, is too much for a launch.
    pub fn is_full(&self, inputs: usize) -> bool {
        self.steps.len() == MOST_STEPS || inputs > MOST_INPUTS
    }

    /// The shape of the result.
    pub fn shape(&self) -> Shape {
        let width = self.steps.last().map_or(1, |step| step.width);
        Shape::new(self.count, width, Layout::Contiguous)
    }

    /// The same for so many rows.
    pub fn with_count(&self, count: usize) -> Self {
        Program {
            count,
            ..self.clone()
        }
    }

    /// The kernel that does it in one launch, if there is one.
    pub fn kernel(&self, tuning: &FusedTuning, inputs: Operands<'_>) -> Option<FusedKernel> {
        let multiplies = self.multiplies();
        let widest = self.widest();
        let contiguous = |node: &Arc<Node>| node.shape.layout == Layout::Contiguous;
        let fits = self.steps.len() <= MOST_STEPS
            && inputs.len() <= MOST_INPUTS
            && inputs.iter().all(contiguous)
            && (!multiplies || widest <= tuning.product_max_width);
        FusedKernel::of(multiplies, widest).filter(|_| fits)
    }

    fn multiplies(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step.kind, StepKind::Mul | StepKind::Square))
    }

    fn widest(&self) -> usize {
        let widths = self.steps.iter().map(|step| step.width);
        widths.max().unwrap_or(1)
    }

    /// Some of the rows, on a device.
    pub fn run_on_device(
        &self,
        device: &Arc<dyn Device>,
        kernel: FusedKernel,
        inputs: Operands<'_>,
        rows: Range<usize>,
    ) -> Result<Made, Error> {
        let shape = Shape {
            count: rows.len(),
            ..self.shape()
        };
        let (launch, mut arguments) = kernel.launch(shape.count, shape.width, self.widest());
        let started = Instant::now();
        let given = inputs
            .iter()
            .map(|input| input.resident(device, rows.clone()));
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let made = device.allocate(shape.limbs())?;
        for (slot, (node, buffer)) in arguments.inputs.iter_mut().zip(inputs.iter().zip(&given)) {
            let of = node.shape;
            *slot = FusedInput {
                limbs: buffer.address(),
                width: of.width as u32,
                number_stride: if of.count == 1 { 0 } else { of.width as u32 },
            };
        }
        let steps = self.steps.iter();
        let (steps, count) = kernel.steps(steps.map(|step| (step.kind, step.input, step.width)));
        (arguments.steps, arguments.step_count) = (steps, count as u64);
        arguments.r = MatrixArgument::new(made.address(), shape.width, shape.strides());
        let buffers: Vec<&Buffer> = given
            .iter()
            .map(|buffer| &**buffer)
            .chain([&made])
            .collect();
        device.launch(
            kernel.entry_point(),
            Specialization::None,
            launch,
            &arguments,
            &buffers,
        )?;
        tracing::debug!(
            back_end = %BackEnd::Cuda(device.ordinal().into()),
            kernel = kernel.entry_point().name,
            count = shape.count,
            width = shape.width,
            steps = self.steps.len(),
            elapsed = ?started.elapsed(),
            "launched"
        );
        Ok(Made::of(shape, made))
    }

    /// Runs it on the CPU, a block of rows at a time, over all cores.
    pub fn run_on_host(&self, engine: &Arc<Inner>, inputs: Operands<'_>) -> Result<Node, Error> {
        let started = Instant::now();
        let mut rows = Vec::with_capacity(inputs.len());
        for input in inputs {
            let limbs = input.limbs()?;
            rows.push(match input.shape.layout {
                Layout::Contiguous => std::borrow::Cow::Borrowed(limbs),
                Layout::Interleaved => {
                    let copy = limbs::copy(limbs)?;
                    limbs::to_layout(&engine.pool, copy, input.shape, Layout::Contiguous)?.into()
                }
            });
        }
        let widths = inputs
            .iter()
            .map(|input| (input.shape.width, input.shape.count));
        let inputs: Vec<Rows<'_>> = rows
            .iter()
            .zip(widths)
            .map(|(limbs, (width, count))| Rows {
                limbs,
                width,
                count,
            })
            .collect();
        let shape = self.shape();
        let mut made = engine.pool.take(shape.limbs())?;
        let block = (BLOCK_LIMBS / self.widest()).max(1);
        let cut =
            Cpu::current()
                .tuning()
                .sharing
                .cut(self.count, self.work(&inputs), usize::MAX, block);
        let failed = Mutex::new(None);
        let parts = made.chunks_mut((cut.size * shape.width).max(1)).enumerate();
        share(parts, cut.threads, |(part, limbs)| {
            let mut values = [Vec::new(), Vec::new()];
            for (at, limbs) in limbs.chunks_mut(block * shape.width).enumerate() {
                let first = part * cut.size + at * block;
                if let Err(error) = self.block(&inputs, first, limbs, &mut values) {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return;
                }
            }
        });
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        tracing::debug!(
            back_end = %BackEnd::Cpu,
            count = self.count,
            width = shape.width,
            steps = self.steps.len(),
            elapsed = ?started.elapsed(),
            "computed block by block"
        );
        Ok(Node::on_host(engine, shape, made))
    }

    /// The work of a row, in the unit of [`LIMB_WORK`].
    fn work(&self, inputs: &[Rows<'_>]) -> usize {
        let mut value = 0;
        let mut work = 0_usize;
        for step in &self.steps {
            let by = match step.kind {
                StepKind::Add | StepKind::Sub => LIMB_WORK,
                StepKind::Mul => inputs[step.input].width,
                StepKind::Square => value,
            };
            work = work.saturating_add(by.saturating_mul(step.width));
            value = step.width;
        }
        work
    }

    /// The rows from `first` on, as many as `result` has.
    fn block(
        &self,
        inputs: &[Rows<'_>],
        first: usize,
        result: &mut [Limb],
        values: &mut [Vec<Limb>; 2],
    ) -> Result<(), Error> {
        let count = result.len() / self.shape().width;
        let (start, steps) = self.steps.split_first().expect("a program has steps");
        let start = inputs[start.input].block(first, count)?;
        let [value, next] = values;
        let last = steps.len() - 1;
        for (at, step) in steps.iter().enumerate() {
            let shape = Shape::new(count, step.width, Layout::Contiguous);
            let operand = match at {
                0 => start,
                _ => Numbers::new(value, shape.with_width(self.steps[at].width))?,
            };
            let (operation, operands) = match step.kind {
                StepKind::Square => (Operation::Square, vec![operand]),
                kind => {
                    let operation = match kind {
                        StepKind::Add => Operation::Add,
                        StepKind::Sub => Operation::Sub,
                        _ => Operation::Mul,
                    };
                    let input = inputs[step.input].block(first, count)?;
                    (operation, vec![operand, input])
                }
            };
            let r = if at == last {
                NumbersMut::new(result, shape)?
            } else {
                if next.capacity() < shape.limbs() {
                    *next = bigint_cpu::zeroed(shape.limbs())?;
                }
                next.resize(shape.limbs(), 0);
                NumbersMut::new(next, shape)?
            };
            let results = Results {
                r,
                s: None,
                flags: None,
            };
            let algorithm = match operation.has(self.algorithm) {
                true => self.algorithm,
                false => Algorithm::Auto,
            };
            bigint_cpu::compute(operation, results, &operands, algorithm)?;
            std::mem::swap(value, next);
        }
        Ok(())
    }
}

/// The rows of an input, one after the other.
struct Rows<'a> {
    limbs: &'a [Limb],
    width: usize,
    count: usize,
}

impl<'a> Rows<'a> {
    fn block(&self, first: usize, count: usize) -> Result<Numbers<'a>, Error> {
        let (first, count) = if self.count == 1 {
            (0, 1)
        } else {
            (first, count)
        };
        let limbs = &self.limbs[first * self.width..][..count * self.width];
        let shape = Shape::new(count, self.width, Layout::Contiguous);
        Ok(Numbers::new(limbs, shape)?)
    }
}
