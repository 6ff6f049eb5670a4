//! A job on the CPU.

use crate::common::job::{Job, Wanted};
use crate::engine::inner::Inner;
use crate::values::made::Computed;
use crate::values::node::{Node, Operands};
use crate::{BackEnd, Error, Options};
use bigint_core::{Limb, Operation, Shape};
use std::sync::Arc;
use std::time::Instant;

/// The index of the first number whose flag is 1. It tells about secrets, on purpose: the test
/// `constant_time` knows the function by its name.
#[inline(never)]
fn first_flagged(flags: &[Limb]) -> Option<usize> {
    flags.iter().position(|&flag| flag != 0)
}

/// The first result of an operation, of so many limbs.
pub(crate) fn first(
    engine: &Arc<Inner>,
    (operation, options): (Operation, Options),
    operands: Operands<'_>,
    width: usize,
) -> Result<Arc<Node>, Error> {
    let shapes: Vec<Shape> = operands.iter().map(|node| node.shape).collect();
    let job = Job::new(operation, &shapes, &[width], options, Wanted::Nothing)?;
    let mut computed = compute(engine, job, operands)?;
    Ok(Arc::new(computed.results.swap_remove(0)))
}

/// Computes a job.
pub(crate) fn compute(
    engine: &Arc<Inner>,
    job: Job,
    operands: Operands<'_>,
) -> Result<Computed, Error> {
    let limbs = operands
        .iter()
        .map(|operand| operand.limbs())
        .collect::<Result<Vec<_>, _>>()?;
    let started = Instant::now();
    let mut made = engine.memory(job.shapes())?;
    let mut flags = match job.wanted {
        Wanted::Nothing => Vec::new(),
        Wanted::Flags | Wanted::First => engine.pool.take(job.count())?,
    };
    let algorithm = job.options.algorithm_for(job.operation);
    {
        let numbers = limbs.iter().zip(operands);
        let numbers = numbers
            .map(|(limbs, operand)| bigint_cpu::Numbers::new(limbs, operand.shape))
            .collect::<Result<Vec<_>, _>>()?;
        let mut results = made.iter_mut().zip(job.shapes());
        let mut next = || {
            let result = results.next();
            result
                .map(|(limbs, shape)| bigint_cpu::NumbersMut::new(limbs, *shape))
                .transpose()
        };
        let results = bigint_cpu::Results {
            r: next()?.expect("every operation has a result"),
            s: next()?,
            flags: (job.wanted != Wanted::Nothing).then_some(flags.as_mut_slice()),
        };
        bigint_cpu::compute(job.operation, results, &numbers, algorithm)?;
    }
    tracing::debug!(
        back_end = %BackEnd::Cpu,
        operation = job.operation.name(),
        algorithm = algorithm.name(),
        count = job.count(),
        width = job.shapes()[0].width,
        elapsed = ?started.elapsed(),
        "computed"
    );
    let mut first = None;
    if job.wanted == Wanted::First {
        first = first_flagged(&flags);
        engine.pool.give(std::mem::take(&mut flags));
    }
    let nodes = job.shapes().iter().zip(made);
    Ok(Computed {
        results: nodes
            .map(|(shape, limbs)| Node::on_host(engine, *shape, limbs))
            .collect(),
        flags: (job.wanted == Wanted::Flags)
            .then(|| Node::on_host(engine, job.flags_shape(), flags)),
        first,
    })
}
