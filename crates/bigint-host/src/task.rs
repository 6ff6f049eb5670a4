//! What is computed: a job or a program, as devices and the CPU are given it.

use crate::batch::Node;
use crate::compute::Inner;
use crate::cuda::{Buffer, Device};
use crate::gather::Gather;
use crate::job::{Computed, How, Job, Operands, Part, Recipe, Wanted};
use crate::plan::{Program, work};
use crate::{Error, limbs};
use bigint_core::Shape;
use bigint_core::fused::FusedKernel;
use std::ops::Range;
use std::sync::Arc;

/// What is computed of operands.
#[derive(Clone, Copy)]
pub(crate) enum Task<'a> {
    Job(Job),
    Program(&'a Program, Option<FusedKernel>),
    Gather(&'a Gather),
}

/// What a device made of some numbers.
pub(crate) struct Made {
    /// The results in declared order, and flags where they were wanted.
    pub buffers: Vec<(Shape, Buffer)>,
    /// The first number whose flag is 1, counted from the task's first.
    pub first: Option<usize>,
}

impl Made {
    /// One batch.
    pub fn of(shape: Shape, buffer: Buffer) -> Self {
        Made {
            buffers: vec![(shape, buffer)],
            first: None,
        }
    }
}

impl How {
    /// The task, and which of the batches that it makes is meant.
    pub fn task(&self) -> (Task<'_>, Part) {
        match self {
            How::Job(job, part) => (Task::Job(*job), *part),
            How::Program(program) => (Task::Program(program, None), Part::Result(0)),
            How::Gather(gather) => (Task::Gather(gather), Part::Result(0)),
        }
    }
}

impl Task<'_> {
    /// Numbers in each result.
    pub fn count(&self) -> usize {
        match self {
            Task::Job(job) => job.count(),
            Task::Program(program, _) => program.count,
            Task::Gather(gather) => gather.shape.count,
        }
    }

    /// The shapes of all that is made.
    pub fn shapes(&self) -> Vec<Shape> {
        match self {
            Task::Job(job) => {
                let flags = (job.wanted == Wanted::Flags).then(|| job.flags_shape());
                job.shapes().iter().copied().chain(flags).collect()
            }
            Task::Program(program, _) => vec![program.shape()],
            Task::Gather(gather) => vec![gather.shape],
        }
    }

    /// About how long one device takes for all of it, in picoseconds.
    pub fn work(&self, operands: Operands<'_>) -> f64 {
        let widths: Vec<usize> = operands.iter().map(|node| node.shape.width).collect();
        let of_number = match self {
            Task::Job(job) => {
                let results = job.shapes().iter().map(|shape| shape.width).sum();
                work::of_number(job.operation, &widths, results)
            }
            // A value between the steps is moved nowhere, but each step reads an input.
            Task::Program(program, _) => {
                let steps = program.steps.iter().map(|step| 2 * step.width);
                work::moved(steps.sum::<usize>())
            }
            Task::Gather(gather) => work::moved(2 * gather.shape.width),
        };
        self.count() as f64 * of_number
    }

    /// Whether a device is waited for: its first flag is.
    pub fn waits(&self) -> bool {
        matches!(self, Task::Job(job) if job.wanted != Wanted::Nothing)
    }

    /// How one of the batches was made.
    pub fn recipe(&self, index: usize, operands: Operands<'_>) -> Recipe {
        match self {
            Task::Job(job) if index < job.shapes().len() => {
                job.recipe(operands, Part::Result(index))
            }
            Task::Job(job) => job.recipe(operands, Part::Flags),
            Task::Program(program, _) => {
                Recipe::new(How::Program(Arc::new((*program).clone())), operands)
            }
            Task::Gather(gather) => Recipe::new(How::Gather(Arc::new((*gather).clone())), operands),
        }
    }

    /// What a device makes of some of the numbers; none where it is for the CPU to say.
    pub fn on_device(
        &self,
        engine: &Inner,
        device: &Arc<Device>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Option<Made>, Error> {
        match self {
            Task::Job(job) => engine.compute_on_device(device, *job, operands, numbers),
            Task::Program(program, kernel) => {
                let kernel = kernel.expect("a program on a device has a kernel");
                let made = program.run_on_device(device, kernel, operands, numbers)?;
                Ok(Some(made))
            }
            Task::Gather(gather) => gather.on_device(device, operands, numbers),
        }
    }

    /// What the CPU makes of some of the numbers.
    pub fn on_host(
        &self,
        engine: &Arc<Inner>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Computed, Error> {
        let count = numbers.len();
        if let Task::Gather(gather) = self {
            let shape = Shape {
                count,
                ..gather.shape
            };
            let limbs = gather.limbs(engine, operands, numbers)?;
            return Ok(Computed {
                results: vec![Node::on_host(engine, shape, limbs)],
                flags: None,
                first: None,
            });
        }
        let sliced;
        let operands = match count == self.count() {
            true => operands,
            false => {
                let slices = operands.iter().map(|operand| {
                    let (limbs, of) = (operand.limbs()?, operand.shape);
                    if of.count == 1 {
                        return Ok(Arc::clone(operand));
                    }
                    let limbs = limbs::slice(limbs, of, numbers.clone())?;
                    Ok(Arc::new(Node::on_host(
                        engine,
                        Shape { count, ..of },
                        limbs,
                    )))
                });
                sliced = slices.collect::<Result<Vec<_>, Error>>()?;
                &sliced[..]
            }
        };
        let mut computed = match self {
            Task::Gather(_) => unreachable!("it is done by now"),
            Task::Job(job) => engine.compute_on_host(job.with_count(count), operands)?,
            Task::Program(program, _) => Computed {
                results: vec![program.with_count(count).run_on_host(engine, operands)?],
                flags: None,
                first: None,
            },
        };
        computed.first = computed.first.map(|index| numbers.start + index);
        Ok(computed)
    }

    /// All that was made, sorted into results and flags.
    pub fn computed(&self, mut nodes: Vec<Node>, first: Option<usize>) -> Computed {
        let flags = match self {
            Task::Job(job) if job.wanted == Wanted::Flags => nodes.pop(),
            _ => None,
        };
        Computed {
            results: nodes,
            flags,
            first,
        }
    }
}
