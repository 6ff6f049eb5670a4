//! One number by which several are divided, one after the other: its reciprocal is made once, as long as it is, and the transforms of
//! both are kept.
//!
//! Dividends are multiplied by the power of two that sets the divisor's top bit, and remainders stay so: the product
//! of one of them with a number is a dividend again, and the fraction that one is of the divisor has no such power.
//!
//! **Cost**, in products of the divisor's limbs: 3 for the reciprocal, and 1 for a remainder of twice as many limbs, where
//! transforms of half the length of a product's wrap.

use crate::common::job::{Job, Wanted};
use crate::engine::inner::Resort;
use crate::plan::choose;
use crate::{Batch, Engine, Error, Options};
use bigint_core::{LIMB_BITS, Layout, Operation, Shape};

/// Limbs that a reciprocal has beside those of the divisor: factors may be so much longer.
const LONGER: usize = 64;

/// Limbs that fractions have at most beside those of the divisor.
const GUARD: usize = 2;

/// One divisor, of which quotients are [composed of products](choose::by_newton).
pub(crate) struct Prepared {
    engine: Engine,
    /// Times the power of two.
    divisor: Batch,
    reciprocal: Batch,
    /// The power's logarithm.
    shift: u64,
}

impl Engine {
    /// This number, which is not zero and has so many bits, where quotients by it are composed of products.
    pub(crate) fn prepared(&self, d: &Batch, bits: Option<u64>) -> Result<Option<Prepared>, Error> {
        let shapes =
            [2 * d.width(), d.width()].map(|width| Shape::new(1, width, Layout::Contiguous));
        let options = Options::default();
        let limbs = [shapes[1].width + 1];
        let job = Job::new(Operation::Div, &shapes, &limbs, options, Wanted::First)?;
        let may_use_cpu = self.inner.resort == Resort::Always;
        let is_open = self.inner.device().is_some() && !self.is_for_secrets();
        let why = choose::by_newton(self.tuning(), may_use_cpu, job, &shapes);
        if !is_open || !why.holds() {
            return Ok(None);
        }
        let engine = self.using(options);
        let prepare = || engine.prepared_by_steps(d, bits);
        self.inner.choices.as_steps(prepare).map(Some)
    }

    fn prepared_by_steps(&self, d: &Batch, bits: Option<u64>) -> Result<Prepared, Error> {
        let bits = match bits {
            Some(bits) => bits,
            None => self.lengths(d)?[0],
        };
        let m = bits.div_ceil(LIMB_BITS as u64) as usize;
        let shift = (LIMB_BITS * m) as u64 - bits;
        let mut divisor = self.limbs_from(d, 0, m)?;
        if shift > 0 {
            divisor = self.shl_in(m, &divisor, &self.of_limbs(&[shift])?)?;
        }
        let reciprocal = self.reciprocal_below(&divisor, m + LONGER, false)?;
        self.keep_transform(&divisor);
        self.keep_transform(&reciprocal);
        Ok(Prepared {
            engine: self.clone(),
            divisor,
            reciprocal,
            shift,
        })
    }
}

impl Prepared {
    /// A number less than the divisor, times the power of two.
    pub fn shifted(&self, a: &Batch) -> Result<Batch, Error> {
        let (engine, m) = (&self.engine, self.divisor.width());
        let a = engine.limbs_from(a, 0, m)?;
        match self.shift {
            0 => Ok(a),
            shift => engine.shl_in(m, &a, &engine.of_limbs(&[shift])?),
        }
    }

    /// What the divisor leaves of the product of `a` and `b`, of any length, both times the power of two, as `a` is.
    pub fn product_modulo(&self, a: &Batch, b: &Batch) -> Result<Batch, Error> {
        let engine = &self.engine;
        engine.inner.choices.as_steps(|| {
            // It is no longer than reciprocals serve, or is reduced first.
            let product = match b.width() >= self.divisor.width() + LONGER {
                true => engine.mul(a, &self.modulo(b)?)?,
                false => engine.mul(a, b)?,
            };
            let width = product.width().max(self.divisor.width());
            let product = engine.limbs_from(&product, 0, width)?;
            let [_, rest] = engine.divided(&product, &self.divisor, Some(&self.reciprocal))?;
            Ok(rest)
        })
    }

    /// What the divisor leaves of a number of any length, neither of which is times the power of two for this.
    fn modulo(&self, a: &Batch) -> Result<Batch, Error> {
        let (engine, m) = (&self.engine, self.divisor.width());
        let part = |from: usize| engine.limbs_from(a, from, m.min(a.width() - from));
        let mut parts = (0..a.width()).step_by(m).rev().map(part);
        let mut rest = parts.next().expect("a number has limbs")?;
        for part in parts {
            let width = m + rest.width().max(m);
            let above = engine.lifted(&rest, m, width)?;
            let rest_and_part = engine.or_in(width, &above, &part?)?;
            let known = Some(&self.reciprocal);
            [_, rest] = engine.divided(&rest_and_part, &self.divisor, known)?;
        }
        Ok(rest)
    }

    /// The highest `limbs` limbs of the fraction of a number less than the divisor by it, both times the power of two: it is off by less than
    /// 2 of the last place that is made, [two limbs](GUARD) below those of `1 / d`, and below it there are zeros.
    pub fn fraction(&self, a: &Batch, limbs: usize) -> Result<Batch, Error> {
        let (engine, m) = (&self.engine, self.divisor.width());
        engine.inner.choices.as_steps(|| {
            let made = limbs.min(m + GUARD);
            let a = engine.lifted(a, made, m + made)?;
            let known = (&self.divisor, Some(&self.reciprocal));
            let (q, _) = engine.digits(&a, known, made, false)?;
            let fraction = engine.limbs_from(&q, 0, made)?;
            engine.lifted(&fraction, limbs - made, limbs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{by_primes, engine, numbers};
    use super::*;
    use crate::{BigUint, Engine};
    use bigint_testing::simulator::on_simulator;

    /// By whole transforms, and by pieces.
    #[test]
    fn products_are_reduced_and_fractions_made_by_one_reciprocal() {
        let name = "operations::newton::prepared::tests::products_are_reduced_and_fractions_made_by_one_reciprocal";
        if on_simulator(name, &[]) {
            let mut tuning = by_primes().tuning().clone();
            tuning.mul.ntt.longest = 512;
            let pieces = Engine::cuda(0).expect("a device").with_tuning(tuning);
            check(&by_primes(), 300);
            check(&pieces, 400);
        }
        check_refused();
    }

    fn check_refused() {
        let d = [BigUint::from(7u8)];
        let d = engine().batch_from_biguints(&d).expect("memory");
        assert!(engine().prepared(&d, None).expect("memory").is_none());
    }

    fn check(engine: &Engine, m: usize) {
        let batch = |x: &BigUint, width: usize| {
            let numbers = std::slice::from_ref(x);
            let batch = engine.batch_from_biguints_in(numbers, width, Layout::Contiguous);
            batch.expect("memory")
        };
        let one = |batch: Batch| batch.to_biguints().expect("memory").swap_remove(0);
        let factors = numbers(m);
        for (i, d) in numbers(m).into_iter().enumerate() {
            let bits = (i % 2 == 0).then(|| d.bits());
            let prepared = engine.prepared(&batch(&d, m), bits).expect("memory");
            let prepared = prepared.expect("it is for devices");
            for (limbs, of) in [(m, 0), (m + 1, 4), (m + LONGER, 1), (3 * m + 7, i)] {
                let long = numbers(limbs).swap_remove(of);
                let rest = prepared.modulo(&batch(&long, limbs)).expect("memory");
                assert_eq!((one(rest) + &long) % &d, &long * 2u8 % &d, "{long:x} {d:x}");
            }
            for (a, b) in [(&d - 1u8, &factors[0]), (&factors[i] % &d, &factors[4])] {
                let rest = prepared.shifted(&batch(&a, m)).expect("memory");
                let rest = prepared
                    .product_modulo(&rest, &batch(b, m))
                    .expect("memory");
                let exact = &a * b % &d;
                assert_eq!(
                    one(rest.clone()),
                    &exact << prepared.shift,
                    "{a:x} {b:x} {d:x}"
                );
                for limbs in [m, m + 1, 2 * m] {
                    let found = one(prepared.fraction(&rest, limbs).expect("memory"));
                    let made = limbs.min(d.bits().div_ceil(32) as usize + GUARD);
                    let below = 32 * (limbs - made);
                    assert_eq!((&found >> below) << below, found);
                    let whole = BigUint::from(1u8) << (32 * made);
                    let off =
                        ((found >> below) + &whole + 2u8 - (&exact << (32 * made)) / &d) % whole;
                    assert!(off <= 4u8.into(), "{a:x} {b:x} / {d:x} to {limbs} limbs");
                }
            }
        }
    }
}
