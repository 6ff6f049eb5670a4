//! Products modulo `2^n - 1` and `2^n + 1`, `n` whole limbs.
//!
//! With `x = h 2^n + l` the product, it is `l + h` modulo the first and `l - h` modulo the
//! second. Of `l + h = t 2^n + s`, `t` is 0 or 1, and `s + t` fits `n` bits: where it is all
//! ones it is 0. For 7 times 6 modulo `10^1 - 1` and `10^1 + 1`: `4 + 2 = 6`, `2 - 4 = 9`.

use crate::{Batch, Engine, Error, Form, Layout};
use bigint_core::{LIMB_BITS, Limb, Operation, Shape};

impl Engine {
    /// `a b` modulo the Mersenne number `2^(32 width) - 1`, of any operands; below it.
    ///
    /// `width` limbs wide. Cost: a product and six passes over memory; operands of more than
    /// `width` limbs are divided first.
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
    /// As for [`Engine::mul`], and [`Error::Width`] of a width of 0; [`Error::TooManyBits`] where the
    /// product is wider than [`WIDEST_COUNTED`](crate::WIDEST_COUNTED).
    pub fn mul_mod_mersenne(&self, a: &Batch, b: &Batch, width: usize) -> Result<Batch, Error> {
        let modulus = || self.one_number(&vec![Limb::MAX; width]);
        let (low, high) = self.halves_of_product(a, b, width, width, modulus)?;
        let sum = self.first_of(Operation::Add, Form::Modulo(width + 1), &[&low, &high])?;
        let top = self.shifted(&sum, width, 1)?;
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
        let (low, high) = self.halves_of_product(a, b, width, width + 1, modulus)?;
        self.of_residues(Operation::ModSub, &[&low, &high, &modulus()?])
    }

    /// The parts of the product of `a` and `b` below and above `2^(32 width)`. Operands wider than `width`
    /// limbs are reduced modulo a number of `most` limbs.
    fn halves_of_product(
        &self,
        a: &Batch,
        b: &Batch,
        width: usize,
        most: usize,
        modulus: impl Fn() -> Result<Batch, Error>,
    ) -> Result<(Batch, Batch), Error> {
        if width == 0 {
            return Err(Error::Width { width });
        }
        let fitting = |x: &Batch| match x.width() > width {
            true => self.first_of(Operation::Rem, Form::Modulo(most), &[x, &modulus()?]),
            false => Ok(x.clone()),
        };
        let x = match std::ptr::eq(a, b) {
            true => self.square(&fitting(a)?)?,
            false => self.mul(&fitting(a)?, &fitting(b)?)?,
        };
        let zero = self.one_number(&[0])?;
        let low = self.first_of(Operation::Or, Form::Modulo(width), &[&x, &zero])?;
        // Below the modulus, as what was multiplied is.
        let high = self.shifted(&x, width, most)?;
        Ok((low, high))
    }

    /// `limbs` limbs of a number from limb `from` on.
    fn shifted(&self, x: &Batch, from: usize, limbs: usize) -> Result<Batch, Error> {
        let bits = (LIMB_BITS * from) as u64;
        let bits = self.one_number(&[bits as Limb, (bits >> LIMB_BITS) as Limb])?;
        self.first_of(Operation::Shr, Form::Modulo(limbs), &[x, &bits])
    }

    /// One number that stands for all.
    fn one_number(&self, limbs: &[Limb]) -> Result<Batch, Error> {
        let shape = Shape::new(1, limbs.len(), Layout::Contiguous);
        self.batch_from_limbs(limbs.to_vec(), shape)
    }
}
