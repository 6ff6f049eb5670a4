//! Sums of two products, `a d + b c`, as [trees](crate::trees) have them: transforms are linear, so both products are added
//! before the one way back. `c` and `d` are in other products, too, and their transforms are kept.
//!
//! A coefficient is a sum of at most `2^26` products of limbs, for which the [primes](bigint_core::transform::ntt) have room.

use crate::Error;
use crate::common::device::Device;
use crate::common::job::Job;
use crate::common::limbs;
use crate::device::ntt;
use crate::engine::inner::Inner;
use crate::host;
use crate::values::made::Made;
use crate::values::node::Operands;
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{LIMB_BITS, Limb, Shape};
use std::ops::Range;
use std::sync::Arc;

/// Sums `a d + b c` of operands `a`, `c`, `b` and `d`, by a plan that holds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SumOfProducts {
    /// That of either product, as wide as the sum.
    pub product: Job,
    pub plan: NttPlan,
}

impl SumOfProducts {
    /// The shape of the result.
    pub fn shape(self) -> Shape {
        self.product.shapes()[0]
    }

    /// The sums of numbers `numbers` on a device.
    pub fn on_device(
        self,
        device: &Arc<dyn Device>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Made, Error> {
        let shape = self.product.with_count(numbers.len()).shapes()[0];
        ntt::sum_of_products(device, shape, operands, numbers, self.plan)
    }

    /// The sums of so many numbers by the CPU.
    pub fn limbs(
        self,
        engine: &Arc<Inner>,
        operands: Operands<'_>,
        count: usize,
    ) -> Result<Vec<Limb>, Error> {
        limbs_of_sums(engine, self.product, operands, count)
    }
}

/// So many sums `a d + b c` by the CPU, of which this is the job of either product.
pub(crate) fn limbs_of_sums(
    engine: &Arc<Inner>,
    job: Job,
    operands: Operands<'_>,
    count: usize,
) -> Result<Vec<Limb>, Error> {
    let job = job.with_count(count);
    let product = |factors: [usize; 2]| {
        let factors = factors.map(|index| Arc::clone(&operands[index]));
        let made = host::job::compute(engine, job, &factors)?;
        Ok::<_, Error>(made.results)
    };
    let (x, y) = (product([0, 3])?, product([2, 1])?);
    let (mut sum, y) = (limbs::copy(x[0].limbs()?)?, y[0].limbs()?);
    let width = job.shapes()[0].width;
    for (sum, y) in sum.chunks_mut(width).zip(y.chunks(width)) {
        let mut carry = 0;
        for (sum, y) in sum.iter_mut().zip(y) {
            carry += u64::from(*sum) + u64::from(*y);
            *sum = carry as Limb;
            carry >>= LIMB_BITS;
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BigUint, Engine, Layout};

    #[test]
    fn sums_by_the_cpu_are_those_of_num_bigint_modulo_their_width() {
        let engine = Engine::cpu();
        let one = BigUint::from(1u8);
        let ones: BigUint = (&one << 96usize) - 1u8;
        let numbers = |k: u32| [ones.clone(), &ones / k, BigUint::from(k)];
        let given = [3u32, 5, 7, 11].map(numbers);
        let batches = given.each_ref().map(|numbers| {
            let batch = engine.batch_from_biguints_in(numbers, 3, Layout::Contiguous);
            batch.expect("memory")
        });
        let operands = batches.each_ref().map(|batch| Arc::clone(batch.node()));
        let product = engine.job_of_product(6, &batches[0], &batches[3]);
        let sums = SumOfProducts {
            product: product.expect("they fit"),
            plan: NttPlan::new(1, 9),
        };
        let found = sums.limbs(&engine.inner, &operands, 3).expect("memory");
        let [a, c, b, d] = given;
        for (i, found) in found.chunks(6).enumerate() {
            let sum: BigUint = (&a[i] * &d[i] + &b[i] * &c[i]) % (&one << 192usize);
            assert_eq!(BigUint::from_slice(found), sum, "number {i}");
        }
    }
}
