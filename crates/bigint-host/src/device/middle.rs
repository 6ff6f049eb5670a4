//! Middle products: limbs of products of which neither what is below nor what is above is wanted.
//!
//! A transform of `n` limbs makes a product modulo `B^n - 1`, for `B` = 2^32: what is above limb `n`
//! comes back at the bottom. Where that is limbs that nobody wants, it does no harm but a carry, and
//! the transform is half as long as that of the product, or less. 23 times 67 modulo `10^3 - 1` is
//! 542, for 1541, and its middle digits are 54.
//!
//! **The error.** With `a b = h B^n + l`, `h < B^from`, the limbs are those of `(l + h - j) / B^from`,
//! `j` small, less what two numbers' limbs below `from` would carry: above `l / B^from` by less
//! than 1, or below it by less than 3, modulo `B^width`.

use crate::Error;
use crate::common::job::Job;
use crate::device::gather::{Gather, Order, Run, Window};
use crate::engine::inner::Inner;
use crate::host;
use crate::values::node::{Node, Operands};
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{Limb, Shape};
use std::sync::Arc;

/// Limbs `from ..` of the products of two operands, up to limb `n` of the plan; the first operand
/// has as many. What products have above limb `n` is below `B^from`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Middle {
    /// The product's, up to limb `n`.
    pub job: Job,
    pub from: usize,
    pub plan: NttPlan,
}

impl Middle {
    /// The shape of the result.
    pub fn shape(self) -> Shape {
        let product = self.job.shapes()[0];
        Shape {
            width: product.width - self.from,
            ..product
        }
    }

    /// The limbs of so many numbers, exactly, by the CPU.
    pub fn limbs(
        self,
        engine: &Arc<Inner>,
        operands: Operands<'_>,
        count: usize,
    ) -> Result<Vec<Limb>, Error> {
        let Middle { job, from, .. } = self;
        let job = job.with_count(count);
        let shape = Middle { job, ..self }.shape();
        let mut computed = host::job::compute(engine, job, operands)?;
        let product: Arc<Node> = Arc::new(computed.results.swap_remove(0));
        let numbers = 0..count;
        let gather = Gather {
            shape,
            order: Order::Runs(vec![Run {
                operand: 0,
                numbers: numbers.clone(),
            }]),
            window: Window { from, to: 0 },
        };
        gather.limbs(engine, &[product], numbers)
    }
}
