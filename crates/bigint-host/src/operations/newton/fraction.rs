//! Fractions of one number by another, as trees of remainders begin with: quotients that leave no remainder.

use crate::common::job::{Job, Wanted};
use crate::engine::inner::Resort;
use crate::plan::choose;
use crate::{Batch, Engine, Error, Options};
use bigint_core::{LIMB_BITS, Layout, Operation, Shape};

impl Engine {
    /// The highest `limbs` limbs of the fraction `x / d` of one number less than another, off by less than 2 of the last place, where
    /// that is how [a quotient](choose::by_newton) of as many limbs is computed. It costs no remainder, and no digits above the
    /// first of the fraction. The host waits for nothing where the `bits` of `d` are given.
    pub(crate) fn newton_fraction(
        &self,
        x: &Batch,
        d: &Batch,
        limbs: usize,
        bits: Option<u64>,
    ) -> Result<Option<Batch>, Error> {
        let shapes = [x.width() + limbs, d.width()];
        let shapes = shapes.map(|width| Shape::new(1, width, Layout::Contiguous));
        let options = Options::default();
        let job = Job::new(Operation::Div, &shapes, &[limbs], options, Wanted::First)?;
        let may_use_cpu = self.inner.resort == Resort::Always;
        let is_open = self.inner.device().is_some() && !self.is_for_secrets();
        let why = choose::by_newton(self.tuning(), may_use_cpu, job, &shapes);
        if !is_open || !why.holds() {
            return Ok(None);
        }
        let widths = shapes.map(|shape| shape.width);
        let how =
            format_args!("products, by Newton's reciprocals, without a remainder\n    who: {why}");
        self.inner.note_composed(job, &widths, how);
        let steps = || self.using(options).fraction_by_steps(x, d, limbs, bits);
        self.inner.choices.as_steps(steps).map(Some)
    }

    fn fraction_by_steps(
        &self,
        x: &Batch,
        d: &Batch,
        limbs: usize,
        bits: Option<u64>,
    ) -> Result<Batch, Error> {
        let width = |bits: u64| bits.div_ceil(LIMB_BITS as u64) as usize;
        let (of_x, of_d) = match bits {
            Some(bits) => (bits, bits),
            None => (self.lengths(x)?[0], self.lengths(d)?[0]),
        };
        let m = width(of_d);
        let shift = (LIMB_BITS * m) as u64 - of_d;
        let kept = width(of_x + shift);
        if of_x == 0 || kept + limbs <= m {
            return self.batch_from_limbs(vec![0; limbs], Shape::new(1, limbs, Layout::Contiguous));
        }
        let (mut x, mut d) = (self.limbs_from(x, 0, kept)?, self.limbs_from(d, 0, m)?);
        if shift > 0 {
            let shift = self.of_limbs(&[shift])?;
            (x, d) = (self.shl_in(kept, &x, &shift)?, self.shl_in(m, &d, &shift)?);
        }
        let x = self.lifted(&x, limbs, kept + limbs)?;
        let (q, _) = self.digits(&x, (&d, None), kept + limbs - m, false)?;
        self.limbs_from(&q, 0, limbs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{engine, numbers};
    use bigint_core::{Layout, Shape};
    use num_bigint::BigUint;

    #[test]
    fn fractions_are_off_by_less_than_two_of_their_last_place() {
        let engine = engine();
        let one = BigUint::from(1u8);
        for (n, limbs) in [(5, 5), (9, 9), (9, 21), (20, 7), (40, 40)] {
            for d in numbers(n) {
                let mut given = numbers(n);
                given.extend([BigUint::ZERO, one.clone(), &d - 1u8]);
                for x in given.into_iter().filter(|x| *x < d) {
                    let batch = |x: &BigUint| {
                        let numbers = std::slice::from_ref(x);
                        let batch = engine.batch_from_biguints_in(numbers, n, Layout::Contiguous);
                        batch.expect("memory")
                    };
                    for bits in [None, Some(d.bits())] {
                        let found = engine.fraction_by_steps(&batch(&x), &batch(&d), limbs, bits);
                        let found = found.expect("memory");
                        assert_eq!(found.shape(), Shape::new(1, limbs, Layout::Contiguous));
                        let found = &found.to_biguints().expect("memory")[0];
                        let exact = (&x << (32 * limbs)) / &d;
                        // Modulo 1.
                        let whole = &one << (32 * limbs);
                        let off = (found + &whole + 2u8 - exact) % whole;
                        assert!(off <= 4u8.into(), "{x:x} / {d:x} to {limbs} limbs");
                    }
                }
            }
        }
    }
}
