//! High halves of products, and products with a sum, of wide operands: rows and transforms
//! give the whole product, from which the rest is a pass over memory.

use crate::Error;
use crate::common::job::{Job, Wanted};
use crate::engine::inner::Inner;
use crate::plan::spread;
use crate::plan::task::Task;
use crate::values::made::Computed;
use crate::values::node::{Node, Operands};
use bigint_core::{LIMB_BITS, Limb, Operation, Shape};
use std::sync::Arc;

/// Computes the high half of a product, or a product with a sum, by the operands' whole product.
pub(crate) fn compute(
    engine: &Arc<Inner>,
    job: Job,
    operands: Operands<'_>,
) -> Result<Computed, Error> {
    let ([a, b], rest) = match operands {
        [a, b, rest @ ..] => ([a, b], rest.first()),
        _ => unreachable!("a product has two operands"),
    };
    let (n, m) = (a.shape.width, b.shape.width);
    let run = |operation, operands: &[Arc<Node>], width| {
        let shapes: Vec<_> = operands.iter().map(|operand| operand.shape).collect();
        let job = Job::new(operation, &shapes, &[width], job.options, Wanted::Nothing)?;
        let mut computed = spread::compute(engine, &Task::Job(job), operands)?;
        Ok::<_, Error>(computed.results.swap_remove(0))
    };
    let width = job.shapes()[0].width;
    let product_width = match rest {
        Some(_) => width.min(n + m),
        None => n + m,
    };
    let product = run(Operation::Mul, &[a, b].map(Arc::clone), product_width)?;
    let product = Arc::new(product);
    let result = match rest {
        Some(c) => run(Operation::Add, &[product, Arc::clone(c)], width)?,
        None => {
            let one = Shape {
                count: 1,
                width: 1,
                ..product.shape
            };
            let mut bits = vec![0; one.limbs()];
            bits[0] = (LIMB_BITS * n.max(m)) as Limb;
            let bits = Arc::new(Node::on_host(engine, one, bits));
            run(Operation::Shr, &[product, bits], width)?
        }
    };
    let shares = result.take_shares();
    let result = match shares.is_empty() {
        // On the host.
        true => result,
        // It remembers the job, not the product, whose memory is free again.
        false => {
            let recipe = engine.falls_back();
            let recipe = recipe.then(|| Task::Job(job).recipe(0, operands));
            Node::on_devices(engine, result.shape, shares, recipe)
        }
    };
    Ok(Computed::of(result))
}
