//! A program on the CPU: block by block of rows, over all cores.

use crate::common::program::Program;
use crate::engine::inner::Inner;
use crate::values::node::{Node, Operands};
use crate::{BackEnd, Error};
use bigint_core::fused::StepKind;
use bigint_core::{Algorithm, Layout, Limb, Operation, Shape};
use bigint_cpu::{Cpu, LIMB_WORK, Numbers, NumbersMut, Results, share};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The limbs of a value of all rows of a block, between steps: three values and a block of an input
/// stay in a core's second cache.
const BLOCK_LIMBS: usize = 1 << 13;

impl Program {
    /// Runs the program on the CPU, a block of rows at a time, over all cores.
    pub fn run_on_host(&self, engine: &Arc<Inner>, inputs: Operands<'_>) -> Result<Node, Error> {
        let started = Instant::now();
        let rows = inputs.iter().map(|input| input.rows());
        let rows = rows.collect::<Result<Vec<_>, Error>>()?;
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

    /// Computes the rows from `first` on, as many as `result` has.
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

/// The rows of an input, one after another.
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
