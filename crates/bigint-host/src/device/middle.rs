//! Middle products: limbs of products of which neither what is below nor what is above is wanted.
//!
//! A transform of `n` limbs makes a product modulo `B^n - 1` where it is modulo primes, and modulo `B^n + 1` where it is over
//! the complex numbers, for `B` = 2^32: what is above limb `n`
//! comes back at the bottom. Where that is limbs that nobody wants, it does no harm but a carry, and
//! the transform is half as long as that of the product, or less. 23 times 67 modulo `10^3 - 1` is
//! 542, for 1541, and its middle digits are 54.
//!
//! **The error.** With `a b = h B^n + l`, `h < B^from`, the limbs are those of `(l + h - j) / B^from`, or of
//! `(l - h + j) / B^from`, `j` at most 2, less what two numbers' limbs below `from` would carry: above `l / B^from` by less
//! than 1, or below it by less than 3, modulo `B^width`. From limb 0 on they are the product modulo
//! `B^n + 1` or `B^n - 1`, or some times as much more or less, without what is above the last limb that is wanted: limb `n` has a carry.

use crate::Error;
use crate::common::device::Device;
use crate::common::job::Job;
use crate::device::gather::{Gather, Window};
use crate::device::ntt::Limbs;
use crate::device::transform::Transform;
use crate::device::{grid, ntt};
use crate::engine::inner::Inner;
use crate::host;
use crate::values::made::Made;
use crate::values::node::{Node, Operands};
use bigint_core::{Limb, Operation, Shape};
use std::ops::Range;
use std::sync::Arc;

/// Limbs `from ..` of the products of two operands. What products have above limb `n` of the plan is below `B^from`, or `from` is 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Middle {
    /// The product's, up to the last limb that is wanted.
    pub job: Job,
    pub from: usize,
    /// One that wraps.
    pub plan: Transform,
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

    /// The limbs of numbers `numbers` on a device.
    pub fn on_device(
        self,
        device: &Arc<dyn Device>,
        shape: Shape,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Made, Error> {
        let from = self.from;
        match self.plan {
            Transform::Fft(plan) => grid::middle(device, shape, operands, numbers, plan, from),
            Transform::Ntt(plan) => {
                let limbs = Limbs::Middle { from };
                ntt::compute(device, shape, operands, numbers, plan, limbs)
            }
            Transform::Pieces(_) => unreachable!("products in pieces do not wrap"),
        }
    }

    /// The limbs of so many numbers by the CPU, exactly but for what [wraps](self) from limb 0 on.
    pub fn limbs(
        self,
        engine: &Arc<Inner>,
        operands: Operands<'_>,
        count: usize,
    ) -> Result<Vec<Limb>, Error> {
        let job = self.job.with_count(count);
        let shape = Middle { job, ..self }.shape();
        let compute = |operation, width, operands: &[Arc<Node>]| {
            host::job::first(engine, (operation, job.options), operands, width)
        };
        let limbs_from = |node: &Arc<Node>, from, shape| {
            let gather = Gather::all(shape, Window { from, to: 0 });
            gather.limbs(engine, &[Arc::clone(node)], 0..count)
        };
        let whole = operands.iter().map(|node| node.shape.width).sum();
        let (from, length) = (self.from, self.length());
        if from > 0 || whole <= length {
            let product = compute(job.operation, job.shapes()[0].width, operands)?;
            return limbs_from(&product, from, shape);
        }
        let product = compute(job.operation, whole, operands)?;
        let of_above = Shape {
            width: whole - length,
            ..shape
        };
        let above = limbs_from(&product, length, of_above)?;
        let above = Arc::new(Node::on_host(engine, of_above, above));
        let of_below = Shape {
            width: length,
            ..shape
        };
        let below = limbs_from(&product, 0, of_below)?;
        let below = Arc::new(Node::on_host(engine, of_below, below));
        let rest = compute(self.sign_of_above(), shape.width, &[below, above])?;
        limbs_from(&rest, 0, shape)
    }

    /// What is done with limbs from `n` on to wrap a number: `B^n` is -1 or 1.
    pub fn sign_of_above(self) -> Operation {
        match self.plan {
            Transform::Fft(_) => Operation::Sub,
            Transform::Ntt(_) | Transform::Pieces(_) => Operation::Add,
        }
    }

    /// `n`.
    pub fn length(self) -> usize {
        match self.plan {
            Transform::Fft(plan) => plan.product_limbs(),
            Transform::Ntt(plan) => plan.length() as usize,
            Transform::Pieces(_) => unreachable!("products in pieces do not wrap"),
        }
    }
}
