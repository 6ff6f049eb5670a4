//! Products modulo `2^n - 1` and `2^n + 1`, `n` whole limbs.
//!
//! With `x = h 2^n + l` the product, it is `l + h` modulo the first and `l - h` modulo the
//! second. Of `l + h = t 2^n + s`, `t` is 0 or 1, and `s + t` fits `n` bits: where it is all
//! ones it is 0. For 7 times 6 modulo `10^1 - 1` and `10^1 + 1`: `4 + 2 = 6`, `2 - 4 = 9`.

use crate::{Batch, Engine, Error, Form, Layout};
use bigint_core::{Limb, Operation, Shape};
use std::sync::Arc;

impl Engine {
    /// `a b` modulo the Mersenne number `2^(32 width) - 1`, of any operands; below it.
    ///
    /// `width` limbs wide. Cost: a product and six passes over memory, or on a device, for powers of two, a transform of half
    /// its length in place of the product; operands of more than `width` limbs are divided first.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let engine = Engine::auto();
    /// let a = engine.batch_from_biguints(&[BigUint::from(1u32) << 63])?;
    /// assert_eq!(engine.mul_mod_mersenne(&a, &a, 2)?.to_biguints()?, [BigUint::from(1u32) << 62]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::mul`], and [`Error::Width`] of a width of 0.
    pub fn mul_mod_mersenne(&self, a: &Batch, b: &Batch, width: usize) -> Result<Batch, Error> {
        let modulus = || self.one_number(&vec![Limb::MAX; width]);
        let [a, b] = self.reduced([a, b], width, width, modulus)?;
        let sum = match self.cyclic_product([&a, &b], width)? {
            Some(wrapped) => wrapped,
            None => {
                let (low, high) = self.halves_of_product([&a, &b], width, width)?;
                self.first_of(Operation::Add, Form::Modulo(width + 1), &[&low, &high])?
            }
        };
        let top = self.limbs_from(&sum, width, 1)?;
        let sum = self.first_of(Operation::Add, Form::Modulo(width), &[&sum, &top])?;
        let zero = self.one_number(&[0])?;
        self.select(&sum, &zero, &self.not(&sum)?)
    }

    /// `a b` modulo `2^(32 width) + 1`, of any operands; below it.
    ///
    /// `width + 1` limbs wide. Cost: a product and four passes over memory; operands of more
    /// than `width` limbs are divided first.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let engine = Engine::auto();
    /// let a = engine.batch_from_biguints(&[BigUint::from(1u32) << 16])?;
    /// // 2^32 is -1.
    /// assert_eq!(engine.mul_mod_fermat(&a, &a, 1)?.to_biguints()?, [BigUint::from(1u32) << 32]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::mul_mod_mersenne`].
    pub fn mul_mod_fermat(&self, a: &Batch, b: &Batch, width: usize) -> Result<Batch, Error> {
        let mut limbs = vec![0; width + 1];
        (limbs[0], limbs[width]) = (1, 1);
        let modulus = || self.one_number(&limbs);
        let factors = self.reduced([a, b], width, width + 1, modulus)?;
        let (low, high) = self.halves_of_product(factors.each_ref(), width, width + 1)?;
        self.of_residues(Operation::ModSub, &[&low, &high, &modulus()?])
    }

    /// Operands, of which those wider than `width` limbs are reduced modulo a number of `most` limbs.
    fn reduced(
        &self,
        operands: [&Batch; 2],
        width: usize,
        most: usize,
        modulus: impl Fn() -> Result<Batch, Error>,
    ) -> Result<[Batch; 2], Error> {
        if width == 0 {
            return Err(Error::Width { width });
        }
        let fitting = |x: &Batch| match x.width() > width {
            true => self.first_of(Operation::Rem, Form::Modulo(most), &[x, &modulus()?]),
            false => Ok(x.clone()),
        };
        let a = fitting(operands[0])?;
        let b = match std::ptr::eq(operands[0], operands[1]) {
            true => a.clone(),
            false => fitting(operands[1])?,
        };
        Ok([a, b])
    }

    /// The parts of the product of two factors below and above `2^(32 width)`, the upper one of `most` limbs.
    fn halves_of_product(
        &self,
        [a, b]: [&Batch; 2],
        width: usize,
        most: usize,
    ) -> Result<(Batch, Batch), Error> {
        let x = match Arc::ptr_eq(a.node(), b.node()) {
            true => self.square(a)?,
            false => self.mul(a, b)?,
        };
        // Below the modulus, as what was multiplied is.
        let high = self.limbs_from(&x, width, most)?;
        Ok((self.limbs_from(&x, 0, width)?, high))
    }

    /// One number that stands for all.
    fn one_number(&self, limbs: &[Limb]) -> Result<Batch, Error> {
        let shape = Shape::new(1, limbs.len(), Layout::Contiguous);
        self.batch_from_limbs(limbs.to_vec(), shape)
    }
}

#[cfg(test)]
mod tests {
    use super::super::newton::tests::{by_primes, numbers};
    use crate::{BigUint, Layout};
    use bigint_testing::simulator::on_simulator;

    #[test]
    fn products_modulo_a_power_less_one_are_transforms_that_wrap() {
        let name =
            "operations::cyclic::tests::products_modulo_a_power_less_one_are_transforms_that_wrap";
        if !on_simulator(name, &[]) {
            return;
        }
        let (engine, width) = (by_primes(), 512);
        let modulus = (BigUint::from(1u8) << (32 * width)) - 1u8;
        let (mut a, mut b) = (numbers(width), numbers(width));
        b.reverse();
        // Products that are all ones, or nothing but a carry from it.
        a.extend([modulus.clone(), &modulus - 1u8, BigUint::from(1u8)]);
        b.extend([BigUint::from(1u8), &modulus - 1u8, BigUint::ZERO]);
        let batch = |numbers: &[BigUint]| {
            let batch = engine.batch_from_biguints_in(numbers, width, Layout::Contiguous);
            batch.expect("memory")
        };
        let (x, y) = (batch(&a), batch(&b));
        let wrapped = engine.cyclic_product([&x, &y], width).expect("a device");
        assert!(wrapped.is_some_and(|wrapped| wrapped.width() == width + 1));
        let found = engine.mul_mod_mersenne(&x, &y, width).expect("a device");
        let squares = engine.mul_mod_mersenne(&x, &x, width).expect("a device");
        let [found, squares] = [found, squares].map(|x| x.to_biguints().expect("memory"));
        for (i, (a, b)) in a.iter().zip(&b).enumerate() {
            assert_eq!(found[i], a * b % &modulus, "{a:x} {b:x}");
            assert_eq!(squares[i], a * a % &modulus, "{a:x}");
        }
    }
}
