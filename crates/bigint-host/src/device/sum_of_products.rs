//! Sums of two products, `a d + b c`, as [trees](crate::trees) have them: transforms are linear, so both products are added
//! before the one way back. `c` and `d` are in other products, too, and their transforms are kept.
//!
//! A coefficient is a sum of at most `2^26` products of limbs, for which the [primes](bigint_core::transform::ntt) have room.

use crate::Error;
use crate::common::device::Device;
use crate::common::job::{Job, Wanted};
use crate::device::ntt;
use crate::engine::inner::Inner;
use crate::host;
use crate::values::made::{Computed, Made};
use crate::values::node::{Node, Operands};
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{Operation, Shape};
use std::ops::Range;
use std::sync::Arc;

/// Sums `a d + b c` of operands `a`, `c`, `b` and `d`, by a plan that holds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SumOfProducts {
    pub shape: Shape,
    pub plan: NttPlan,
}

impl SumOfProducts {
    /// The sums of numbers `numbers` on a device.
    pub fn on_device(
        self,
        device: &Arc<dyn Device>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Made, Error> {
        let count = numbers.len();
        let shape = Shape {
            count,
            ..self.shape
        };
        ntt::sum_of_products(device, shape, operands, numbers, self.plan)
    }

    /// The sums of so many numbers by the CPU.
    pub fn on_host(
        self,
        engine: &Arc<Inner>,
        operands: Operands<'_>,
        count: usize,
    ) -> Result<Computed, Error> {
        let compute = |operation, operands: [&Arc<Node>; 2]| {
            let operands = operands.map(Arc::clone);
            let shapes = [0, 1].map(|index: usize| operands[index].shape);
            let width = [self.shape.width];
            let job = Job::new(
                operation,
                &shapes,
                &width,
                Default::default(),
                Wanted::Nothing,
            )?;
            let job = job.with_count(count);
            host::job::compute(engine, job, &operands)
        };
        let [a, c, b, d] = [0, 1, 2, 3].map(|index: usize| &operands[index]);
        let product = |factors| {
            let mut made = compute(Operation::Mul, factors)?;
            Ok::<_, Error>(Arc::new(made.results.swap_remove(0)))
        };
        compute(Operation::Add, [&product([a, d])?, &product([b, c])?])
    }
}
