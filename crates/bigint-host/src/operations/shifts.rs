//! Shifts of numbers that have more bits than a limb counts, on a device: its kernels shift by as many as a limb counts, and by
//! more in steps of so many.
//!
//! The host looks at the bits that each number is shifted by. **Cost**: a pass over the numbers for each 2^32 bits, three at most.

use crate::common::job::Job;
use crate::operations::forms::Form;
use crate::{Batch, Engine, Error, Outcome};
use bigint_core::{LIMB_BITS, Limb, Operation, WIDEST_COUNTED};

/// The most bits that a kernel shifts by: one more stands for all that are more than a limb counts.
const MOST: u64 = Limb::MAX as u64 - 1;

impl Engine {
    /// The results of a shift of such numbers, where it takes several steps.
    pub(super) fn by_shorter_shifts(
        &self,
        job: Job,
        operands: &[&Batch],
    ) -> Result<Option<Outcome>, Error> {
        let (operation, [a, bits]) = match (job.operation, operands) {
            (Operation::Shl | Operation::Shr, &[a, bits]) => (job.operation, [a, bits]),
            _ => return Ok(None),
        };
        let width = job.shapes()[0].width;
        if self.inner.device().is_none() || width.max(a.width()) <= WIDEST_COUNTED {
            return Ok(None);
        }
        if self.is_for_secrets() {
            return Err(Error::TooManyBits { operation, width });
        }
        let shifted = self.shifted_in_steps(operation, width, [a, bits], MOST)?;
        Ok(shifted.map(|shifted| Outcome {
            results: vec![shifted],
            flags: None,
        }))
    }

    /// Numbers shifted by `most` bits at a time, if some are shifted by more.
    fn shifted_in_steps(
        &self,
        operation: Operation,
        width: usize,
        [a, bits]: [&Batch; 2],
        most: u64,
    ) -> Result<Option<Batch>, Error> {
        let widest = width.max(a.width());
        // By so many nothing is left.
        let all = (LIMB_BITS * widest) as u64;
        let rows = bits.rows()?;
        let mut left: Vec<u64> = rows
            .chunks(bits.width())
            .map(|limbs| {
                let (low, above) = limbs.split_at(limbs.len().min(2));
                let of_low = low.iter().rev();
                match above.iter().all(|&limb| limb == 0) {
                    true => all.min(of_low.fold(0, |x, &limb| x << LIMB_BITS | u64::from(limb))),
                    false => all,
                }
            })
            .collect();
        if left.iter().all(|&bits| bits <= most) {
            return Ok(None);
        }
        let mut made = a.clone();
        while left.iter().any(|&bits| bits > 0) {
            let step: Vec<u64> = left.iter().map(|&bits| bits.min(most)).collect();
            for (left, step) in left.iter_mut().zip(&step) {
                *left -= step;
            }
            // What a step to the right leaves above the result may still come down into it.
            let is_last = left.iter().all(|&bits| bits == 0);
            let form = Form::Modulo(if is_last { width } else { widest });
            let step = self.of_limbs(&step)?;
            let operands = [&made, &step];
            let job = self.job(operation, form, &operands)?;
            made = self.run_whole(job, &operands)?.results.swap_remove(0);
        }
        Ok(Some(made))
    }
}

#[cfg(test)]
mod tests {
    use super::super::newton::tests::{engine, numbers};
    use super::*;
    use bigint_core::Layout;
    use num_bigint::BigUint;

    #[test]
    fn steps_shift_as_one_shift_does() {
        let engine = engine();
        let a = numbers(5);
        let batch = |of: &[BigUint], width| {
            let batch = engine.batch_from_biguints_in(of, width, Layout::Contiguous);
            batch.expect("memory")
        };
        let of_a = batch(&a, 5);
        for most in [1, 31, 32, 40, 95] {
            for by in [
                1,
                most,
                most + 1,
                2 * most,
                97,
                3 * most + 1,
                160,
                1 << 33,
                1 << 62,
            ] {
                // One for all, and others for each; a limb above those that count.
                let each: Vec<u64> = (0..a.len() as u64).map(|i| by >> i).collect();
                for (by, width) in [(vec![by], 2), (each, 3)] {
                    let counts: Vec<BigUint> = by.iter().map(|&by| by.into()).collect();
                    let counts = batch(&counts, width);
                    for (operation, width) in [
                        (Operation::Shl, 5),
                        (Operation::Shl, 9),
                        (Operation::Shl, 3),
                        (Operation::Shr, 5),
                        (Operation::Shr, 2),
                    ] {
                        let found =
                            engine.shifted_in_steps(operation, width, [&of_a, &counts], most);
                        let found = found.expect("memory");
                        assert_eq!(
                            found.is_some(),
                            by.iter().any(|&by| by.min(32 * width.max(5) as u64) > most)
                        );
                        let Some(found) = found else { continue };
                        let below = BigUint::from(1u8) << (32 * width);
                        for (i, (found, a)) in found
                            .to_biguints()
                            .expect("memory")
                            .iter()
                            .zip(&a)
                            .enumerate()
                        {
                            let by = by[if by.len() == 1 { 0 } else { i }].min(1000);
                            let expected = match operation {
                                Operation::Shl => (a << by) % &below,
                                _ => (a >> by) % &below,
                            };
                            assert_eq!(
                                found, &expected,
                                "{operation:?} {a:x} by {by} to {width} limbs"
                            );
                        }
                    }
                }
            }
        }
        // More limbs than two.
        let far = [BigUint::from(1u8) << 64u32];
        let shifted = engine.shifted_in_steps(Operation::Shr, 5, [&of_a, &batch(&far, 3)], 40);
        let shifted = shifted.expect("memory").expect("it is more");
        assert!(
            shifted
                .to_biguints()
                .expect("memory")
                .iter()
                .all(|x| *x == BigUint::ZERO)
        );
    }
}
