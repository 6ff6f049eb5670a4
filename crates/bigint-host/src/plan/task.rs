//! Tasks: the work that devices and the CPU are given.

use crate::Error;
use crate::common::device::{Device, Kind};
use crate::common::job::{Job, Wanted};
use crate::common::limbs;
use crate::common::program::Program;
use crate::device;
use crate::device::gather::Gather;
use crate::device::middle::Middle;
use crate::device::newton::Newton;
use crate::device::pairs::Pair;
use crate::device::rns::chain::Chain;
use crate::device::sum_of_products::SumOfProducts;
use crate::engine::inner::Inner;
use crate::host;
use crate::plan::choose::{self, Chosen, Inputs};
use crate::tuning::gpu::CoreTuning;
use crate::values::made::{Computed, Made};
use crate::values::node::{Node, Operands, Recipe};
use bigint_core::Shape;
use bigint_core::fused::FusedKernel;
use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::Specialization;
use std::ops::Range;
use std::sync::Arc;

/// A computation on operands.
#[derive(Clone)]
pub(crate) enum Task {
    Job(Job),
    Program(Arc<Program>, Option<FusedKernel>),
    Gather(Arc<Gather>),
    Middle(Middle),
    SumOfProducts(SumOfProducts),
    Pair(Pair),
    Newton(Arc<Newton>),
    Chain(Arc<Chain>),
}

impl Task {
    /// The number of numbers in each result.
    pub fn count(&self) -> usize {
        match self {
            Task::Job(job) => job.count(),
            Task::Program(program, _) => program.count,
            Task::Gather(gather) => gather.shape.count,
            Task::Middle(middle) => middle.job.count(),
            Task::SumOfProducts(sum) => sum.product.count(),
            Task::Pair(pair) => pair.shapes()[0].count,
            Task::Newton(newton) => newton.count,
            Task::Chain(chain) => chain.count,
        }
    }

    /// The shapes of all results and flags.
    pub fn shapes(&self) -> Vec<Shape> {
        match self {
            Task::Job(job) => {
                let flags = (job.wanted == Wanted::Flags).then(|| job.flags_shape());
                job.shapes().iter().copied().chain(flags).collect()
            }
            Task::Program(program, _) => vec![program.shape()],
            Task::Gather(gather) => vec![gather.shape],
            Task::Middle(middle) => vec![middle.shape()],
            Task::SumOfProducts(sum) => vec![sum.shape()],
            Task::Pair(pair) => pair.shapes().to_vec(),
            Task::Newton(newton) => vec![newton.shape()],
            Task::Chain(chain) => vec![chain.shape(); chain.outputs.len()],
        }
    }

    /// About how many picoseconds a device or core of these costs takes for the task.
    pub fn work(&self, costs: &CoreTuning, operands: Operands<'_>) -> f64 {
        let of_number = match self {
            Task::Job(job) => {
                let widths: Vec<usize> = operands.iter().map(|node| node.shape.width).collect();
                let results = job.shapes().iter().map(|shape| shape.width).sum();
                costs.of_number(job.operation, &widths, results)
            }
            // A value between the steps is moved nowhere, but each step reads an input.
            Task::Program(program, _) => {
                let steps = program.steps.iter().map(|step| 2 * step.width);
                costs.moved(steps.sum())
            }
            Task::Gather(gather) => costs.moved(2 * gather.shape.width),
            Task::Middle(middle) => {
                let widths: Vec<usize> = operands.iter().map(|node| node.shape.width).collect();
                costs.of_number(middle.job.operation, &widths, middle.shape().width)
            }
            Task::SumOfProducts(sum) => {
                let widths = [0, 3].map(|index: usize| operands[index].shape.width);
                2.0 * costs.of_number(sum.product.operation, &widths, sum.shape().width)
            }
            Task::Pair(pair) => {
                let widths =
                    [0, operands.len() - 1].map(|index: usize| operands[index].shape.width);
                let [first, second] = pair.shapes().map(|shape| shape.width);
                2.0 * costs.of_number(pair.operation(), &widths, first.max(second))
            }
            Task::Newton(newton) => {
                let k = newton.shape().width;
                costs.of_number(newton.by.quotient, &[2 * k, k], k)
            }
            Task::Chain(chain) => chain.products() as f64 * costs.of_residue(chain.width),
        };
        self.count() as f64 * of_number
    }

    /// The modules of the kernels by which a device would compute `count` of the numbers; none where
    /// they would not be waited for.
    pub fn modules(
        &self,
        engine: &Inner,
        device: Kind,
        operands: Operands<'_>,
        count: usize,
    ) -> Vec<(EntryPoint, Specialization)> {
        match self {
            Task::Job(job) => match chosen(engine, device, *job, operands, count) {
                Ok(chosen) => device::job::modules(*job, operands, count, &chosen.launches),
                Err(_) => Vec::new(),
            },
            Task::Program(_, kernel) => kernel
                .iter()
                .map(|kernel| (kernel.entry_point(), Specialization::None))
                .collect(),
            Task::Chain(chain) => chain.modules(device.abilities),
            Task::Gather(_)
            | Task::Middle(_)
            | Task::SumOfProducts(_)
            | Task::Pair(_)
            | Task::Newton(_) => Vec::new(),
        }
    }

    /// Whether the task waits for a device: it does where the first flag is wanted.
    pub fn waits(&self) -> bool {
        matches!(self, Task::Job(job) if job.wanted != Wanted::Nothing)
    }

    /// The recipe of one of the batches: a result in declared order, or the flags after them.
    pub fn recipe(&self, index: usize, operands: Operands<'_>) -> Recipe {
        let (task, own) = (self.clone(), operands.to_vec());
        Recipe::new(operands, move |engine, numbers| {
            let made = task.on_host(engine, &own, numbers)?;
            let node = made.into_nodes().nth(index);
            Ok(node.expect("a task makes again what it made"))
        })
    }

    /// Computes a range of the numbers on a device; none where the CPU must find out which number
    /// has no value.
    pub fn on_device(
        &self,
        engine: &Inner,
        device: &Arc<dyn Device>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Option<Made>, Error> {
        match self {
            Task::Job(job) => {
                let choose = |job: Job, operands: Operands<'_>| {
                    let chosen = chosen(engine, device.kind(), job, operands, job.count())?;
                    Ok(chosen.launches)
                };
                let launches = choose(job.with_count(numbers.len()), operands)?;
                device::job::compute(device, *job, operands, numbers, &launches, &choose)
            }
            Task::Program(program, kernel) => {
                let kernel = kernel.expect("a program on a device has a kernel");
                let made = program.run_on_device(device, kernel, operands, numbers)?;
                Ok(Some(made))
            }
            Task::Gather(gather) => gather.on_device(device, operands, numbers),
            Task::Middle(middle) => {
                let shape = Shape {
                    count: numbers.len(),
                    ..middle.shape()
                };
                middle.on_device(device, shape, operands, numbers).map(Some)
            }
            Task::SumOfProducts(sum) => sum.on_device(device, operands, numbers).map(Some),
            Task::Pair(pair) => pair.on_device(device, operands, numbers).map(Some),
            Task::Newton(newton) => {
                let kind = device.kind();
                let tuning = engine.tuning_on(kind.facts);
                let m = operands[1].shape.width;
                let steps = newton.steps(&tuning, kind.abilities, numbers.len(), m)?;
                let made = newton.on_device(device, operands, numbers, &steps)?;
                Ok(Some(made))
            }
            Task::Chain(chain) => chain.on_device(device, operands, numbers),
        }
    }

    /// Computes a range of the numbers on the CPU.
    pub fn on_host(
        &self,
        engine: &Arc<Inner>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Computed, Error> {
        engine.is_worth_rehearsing(self, operands)?;
        let count = numbers.len();
        if let Task::Gather(gather) = self {
            let shape = Shape {
                count,
                ..gather.shape
            };
            let limbs = gather.limbs(engine, operands, numbers)?;
            return Ok(Computed::of(Node::on_host(engine, shape, limbs)));
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
        let of_limbs = |shape: Shape, limbs| {
            Computed::of(Node::on_host(engine, Shape { count, ..shape }, limbs))
        };
        let mut computed = match self {
            Task::Gather(_) => unreachable!("it is done by now"),
            Task::Job(job) => host::job::compute(engine, job.with_count(count), operands)?,
            Task::Middle(middle) => {
                of_limbs(middle.shape(), middle.limbs(engine, operands, count)?)
            }
            Task::SumOfProducts(sum) => of_limbs(sum.shape(), sum.limbs(engine, operands, count)?),
            Task::Pair(pair) => pair.on_host(engine, operands, count)?,
            Task::Newton(newton) => {
                of_limbs(newton.shape(), newton.limbs(engine, operands, count)?)
            }
            Task::Chain(chain) => {
                let shape = Shape {
                    count,
                    ..chain.shape()
                };
                let results = chain.limbs(operands, count)?.into_iter();
                Computed {
                    results: results
                        .map(|limbs| Node::on_host(engine, shape, limbs))
                        .collect(),
                    flags: None,
                    first: None,
                }
            }
            Task::Program(program, _) => {
                Computed::of(program.with_count(count).run_on_host(engine, operands)?)
            }
        };
        computed.first = computed.first.map(|index| numbers.start + index);
        Ok(computed)
    }

    /// Sorts all that was made into results and flags.
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

/// The launches by which a device computes `count` of a job's numbers.
pub(crate) fn chosen(
    engine: &Inner,
    device: Kind,
    job: Job,
    operands: Operands<'_>,
    count: usize,
) -> Result<Chosen, Error> {
    let (job, inputs) = (job.with_count(count), Inputs::of(operands));
    let tuning = engine.tuning_on(device.facts);
    choose::launches(&tuning, device.abilities, job, &inputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::inner::Resort;
    use crate::engine::members::Members;
    use crate::engine::start::Devices;
    use crate::{Options, Tuning};
    use bigint_core::{Layout, Operation};

    #[test]
    fn a_result_that_the_host_has_lets_its_operands_go() {
        let devices = Devices::open(Members::NOBODY);
        let engine = Arc::new(Inner::new(devices, Resort::Always, Tuning::default()));
        let shape = Shape::new(1, 1, Layout::Contiguous);
        let a = Arc::new(Node::on_host(&engine, shape, vec![3]));
        let options = Options::default();
        let job = Job::new(Operation::Add, &[shape; 2], &[1], options, Wanted::Nothing).unwrap();
        let recipe = Task::Job(job).recipe(0, &[Arc::clone(&a), Arc::clone(&a)]);
        let sum = Node::on_devices(&engine, shape, Vec::new(), Some(recipe));
        assert_eq!((sum.depth(), Arc::strong_count(&a)), (1, 3));
        assert_eq!(sum.limbs().unwrap(), [6]);
        assert_eq!((sum.depth(), Arc::strong_count(&a)), (0, 1));
    }
}
