//! Signed numbers: a batch of magnitudes, and a sign for each.

use crate::operations::Form;
use crate::{Batch, BigInt, Engine, Error};
use bigint_core::operation::Signs;
use bigint_core::{LIMB_BITS, Layout, Limb, Operation, Shape};
use bigint_cpu::collect;
use num_bigint::Sign;
use std::cmp::Ordering;
use std::sync::OnceLock;

/// A batch of signed integers: magnitudes, and which of them are negative.
///
/// The sign of a zero means nothing.
///
/// ```
/// use bigint_host::Engine;
/// let engine = Engine::auto();
/// let a = engine.signed_from_bigints(&[(-7).into(), 7.into()])?;
/// let b = engine.signed_from_bigints(&[5.into()])?;
/// assert_eq!(engine.signed_add(&a, &b)?.to_bigints()?, [(-2).into(), 12.into()]);
/// assert_eq!(engine.signed_mul(&a, &b)?.to_bigints()?, [(-35).into(), 35.into()]);
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SignedBatch {
    magnitude: Batch,
    /// Empty while nobody has asked for the signs of numbers that have none.
    negative: OnceLock<Vec<bool>>,
}

impl SignedBatch {
    /// Signs put before magnitudes.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where there are not as many signs as numbers.
    pub fn new(magnitude: Batch, negative: Vec<bool>) -> Result<Self, Error> {
        if magnitude.len() != negative.len() {
            return Err(Error::CountMismatch {
                a: magnitude.len(),
                b: negative.len(),
            });
        }
        Ok(SignedBatch {
            magnitude,
            negative: negative.into(),
        })
    }

    /// Numbers in the batch.
    pub fn len(&self) -> usize {
        self.magnitude.len()
    }

    /// Whether the batch holds no number.
    pub fn is_empty(&self) -> bool {
        self.magnitude.is_empty()
    }

    /// The absolute values.
    pub fn magnitude(&self) -> &Batch {
        &self.magnitude
    }

    /// Which numbers are negative; for zeros it means nothing.
    pub fn negative(&self) -> &[bool] {
        self.negative.get_or_init(|| vec![false; self.len()])
    }

    /// The numbers with the other sign.
    #[must_use]
    pub fn negated(mut self) -> Self {
        let turned = self.negative().iter().map(|sign| !sign).collect::<Vec<_>>();
        self.negative = turned.into();
        self
    }

    /// The numbers.
    ///
    /// # Errors
    /// [`Error::Device`] where they are on a device that fails.
    pub fn to_bigints(&self) -> Result<Vec<BigInt>, Error> {
        let magnitudes = self.magnitude.to_biguints()?.into_iter();
        let signed = magnitudes
            .zip(self.negative())
            .map(|(magnitude, &negative)| {
                let sign = if negative { Sign::Minus } else { Sign::Plus };
                BigInt::from_biguint(sign, magnitude)
            });
        Ok(collect(signed)?)
    }

    /// Numbers without signs.
    pub(crate) fn natural(magnitude: Batch) -> Result<Self, Error> {
        Ok(SignedBatch::unsigned(magnitude))
    }

    /// The same.
    pub(crate) fn unsigned(magnitude: Batch) -> Self {
        SignedBatch {
            magnitude,
            negative: OnceLock::new(),
        }
    }

    /// [`SignedBatch::negated`], beside these.
    pub(crate) fn minus(&self) -> Result<Self, Error> {
        let negative = collect(self.negative().iter().map(|sign| !sign))?;
        SignedBatch::new(self.magnitude.clone(), negative)
    }

    pub(crate) fn sign(&self, index: usize) -> bool {
        let index = if self.len() == 1 { 0 } else { index };
        self.negative.get().is_some_and(|signs| signs[index])
    }

    /// Whether a number has a sign; a zero that has one too.
    pub(crate) fn has_signs(&self) -> bool {
        self.negative
            .get()
            .is_some_and(|signs| signs.contains(&true))
    }

    /// Whether number `index`, or the only one, is zero. Brings the numbers to the host.
    fn is_zero(&self, index: usize) -> Result<bool, Error> {
        let (rows, width) = (self.magnitude.rows()?, self.magnitude.width());
        let index = if self.len() == 1 { 0 } else { index };
        Ok(rows[index * width..][..width].iter().all(|&limb| limb == 0))
    }

    /// The first negative number, if there is one.
    pub(crate) fn first_negative(&self) -> Result<Option<usize>, Error> {
        for index in (0..self.len()).filter(|&index| self.sign(index)) {
            if !self.is_zero(index)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

impl Engine {
    /// A contiguous signed batch as wide as its widest number.
    ///
    /// # Errors
    /// [`Error::Device`] on a device.
    pub fn signed_from_bigints(&self, numbers: &[BigInt]) -> Result<SignedBatch, Error> {
        let negative = collect(numbers.iter().map(|n| n.sign() == Sign::Minus))?;
        let magnitude = self.batch_of(numbers.len(), |i| numbers[i].magnitude())?;
        SignedBatch::new(magnitude, negative)
    }

    /// `a * b`, exact.
    ///
    /// # Errors
    /// As [`Engine::mul`].
    pub fn signed_mul(&self, a: &SignedBatch, b: &SignedBatch) -> Result<SignedBatch, Error> {
        self.signed_compute(Operation::Mul, &[a, b])
    }

    /// `a - b`, exact.
    ///
    /// # Errors
    /// As [`Engine::signed_add`].
    pub fn signed_sub(&self, a: &SignedBatch, b: &SignedBatch) -> Result<SignedBatch, Error> {
        self.signed_compute(Operation::Sub, &[a, b])
    }

    /// `a + b`, exact.
    ///
    /// Where all pairs have equal signs this is one addition, where none has and
    /// all differences have one sign, one or two subtractions. A mixture is put
    /// together on the host.
    ///
    /// # Errors
    /// As [`Engine::add`].
    pub fn signed_add(&self, a: &SignedBatch, b: &SignedBatch) -> Result<SignedBatch, Error> {
        self.signed_compute(Operation::Add, &[a, b])
    }

    /// The sum of all numbers, as a batch of one; zero for none. Cost: as
    /// [`Engine::sum`]'s of those that are negative, and of the others.
    ///
    /// # Errors
    /// As [`Engine::sum`].
    pub fn signed_sum(&self, a: &SignedBatch) -> Result<SignedBatch, Error> {
        if !a.has_signs() {
            return SignedBatch::natural(self.sum(&a.magnitude)?);
        }
        let (mask, zero) = (self.mask(a.negative())?, self.mask(&[false])?);
        let of_sign = |x, y| {
            let numbers = self.select(x, y, &mask)?;
            SignedBatch::natural(self.sum(&numbers)?)
        };
        self.signed_sub(
            &of_sign(&zero, &a.magnitude)?,
            &of_sign(&a.magnitude, &zero)?,
        )
    }

    /// The product of all numbers, as a batch of one; one for none.
    ///
    /// # Errors
    /// As [`Engine::product`].
    pub fn signed_product(&self, a: &SignedBatch) -> Result<SignedBatch, Error> {
        let odd = a.negative().iter().filter(|sign| **sign).count() % 2 == 1;
        SignedBatch::new(self.product(&a.magnitude)?, vec![odd])
    }

    /// Any operation on signed numbers, exact: what it is of them, its declaration's
    /// [`Signs`] say.
    ///
    /// ```
    /// use bigint_host::{Engine, Operation};
    /// let engine = Engine::auto();
    /// let a = engine.signed_from_bigints(&[(-7).into(), 7.into()])?;
    /// let bits = engine.signed_from_bigints(&[1.into()])?;
    /// let shifted = engine.signed_compute(Operation::Shr, &[&a, &bits])?;
    /// assert_eq!(shifted.to_bigints()?, [(-4).into(), 3.into()]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Negative`] where an operand must not be negative and is; otherwise as
    /// [`Engine::compute`].
    pub fn signed_compute(
        &self,
        operation: Operation,
        operands: &[&SignedBatch],
    ) -> Result<SignedBatch, Error> {
        self.signed_in(operation, Form::Exact, operands)
    }

    /// [`Engine::signed_compute`] with results as wide as `form` says, who knows that they
    /// fit.
    pub(crate) fn signed_in(
        &self,
        operation: Operation,
        form: Form,
        operands: &[&SignedBatch],
    ) -> Result<SignedBatch, Error> {
        let magnitudes: Vec<&Batch> = operands.iter().map(|operand| &operand.magnitude).collect();
        let of_magnitudes = || self.first_of(operation, form, &magnitudes);
        let have_signs = operands.iter().any(|operand| operand.has_signs());
        let sign = |operand: usize, i: usize| operands[operand].sign(i);
        match (operation.declaration().signs, operands) {
            (Signs::Natural, _) => {
                for operand in 0..operands.len() {
                    self.refuse_negatives(operation, operands, operand)?;
                }
                SignedBatch::natural(of_magnitudes()?)
            }
            (Signs::Magnitudes, _) => SignedBatch::natural(of_magnitudes()?),
            (Signs::Product | Signs::Sum, _) if !have_signs => {
                SignedBatch::natural(of_magnitudes()?)
            }
            (Signs::Product, _) => {
                let magnitude = of_magnitudes()?;
                let is_odd = |i| (0..operands.len()).fold(false, |odd, k| odd != sign(k, i));
                let negative = collect((0..magnitude.len()).map(is_odd))?;
                SignedBatch::new(magnitude, negative)
            }
            (Signs::Sum, [a, b]) => self.sum_in(form, a, b),
            (Signs::Difference, [a, b]) => self.sum_in(form, a, &b.minus()?),
            (Signs::ProductPlus, [a, b, c]) if have_signs => {
                self.sum_in(form, &self.signed_mul(a, b)?, c)
            }
            (Signs::Least | Signs::Greatest, [a, b]) if have_signs => {
                let is_least = operation.declaration().signs == Signs::Least;
                let first = match is_least {
                    true => Ordering::Less,
                    false => Ordering::Greater,
                };
                let order = self.signed_order(a, b)?;
                let takes_a = collect(order.iter().map(|&order| order == first))?;
                let pair = [&a.magnitude, &b.magnitude, &self.mask(&takes_a)?];
                let magnitude = self.first_of(Operation::Select, form, &pair)?;
                let negative = takes_a.iter().enumerate();
                let negative = negative.map(|(i, &of_a)| if of_a { a.sign(i) } else { b.sign(i) });
                SignedBatch::new(magnitude, collect(negative)?)
            }
            (Signs::Order, [a, b]) => {
                let order = self.signed_order(a, b)?;
                let differ = collect(order.iter().map(|&order| order.is_ne()))?;
                let negative = collect(order.iter().map(|&order| order.is_lt()))?;
                SignedBatch::new(self.mask(&differ)?, negative)
            }
            (Signs::Shifted, [a, bits]) => {
                self.refuse_negatives(operation, operands, 1)?;
                let magnitude = self.shl(&a.magnitude, &bits.magnitude)?;
                let negative = collect((0..magnitude.len()).map(|i| a.sign(i)))?;
                SignedBatch::new(magnitude, negative)
            }
            (Signs::ShiftedFloor, [a, bits]) => {
                self.refuse_negatives(operation, operands, 1)?;
                let divisor = SignedBatch::natural(bits.magnitude.clone())?;
                self.floor(operation, a, &divisor)
            }
            (Signs::Quotient | Signs::Remainder, [a, b]) => self.floor(operation, a, b),
            (Signs::Power, [a, e, m]) => {
                self.refuse_negatives(operation, operands, 1)?;
                self.refuse_negatives(operation, operands, 2)?;
                let power = of_magnitudes()?;
                if !a.has_signs() {
                    return SignedBatch::natural(power);
                }
                // Of an odd exponent the residue is that of the magnitude's negative.
                let (rows, width) = (e.magnitude.rows()?, e.magnitude.width());
                let is_odd = |i: usize| rows[if e.len() == 1 { 0 } else { i * width }] % 2 == 1;
                let turned = (0..power.len()).map(|i| a.sign(i) && is_odd(i));
                let mask = self.mask(&collect(turned)?)?;
                let zero = self.batch_from_biguints(&[0u32.into()])?;
                let negative = self.mod_sub(&zero, &power, &m.magnitude)?;
                SignedBatch::natural(self.select(&negative, &power, &mask)?)
            }
            (Signs::Residue, [a, modulus]) => {
                self.refuse_negatives(operation, operands, 1)?;
                let residue = of_magnitudes()?;
                if !a.has_signs() {
                    return SignedBatch::natural(residue);
                }
                let signs: Vec<bool> = (0..residue.len()).map(|i| a.sign(i)).collect();
                // 1 where the sign is, and the residue is not 0.
                let signs = [&residue, &self.mask(&signs)?];
                let one = self.first_of(Operation::Min, Form::Modulo(1), &signs)?;
                let other = self.wrapping_sub(&modulus.magnitude, &residue)?;
                SignedBatch::natural(self.select(&other, &residue, &one)?)
            }
            (Signs::Symbol, [a, n]) => {
                self.refuse_negatives(operation, operands, 1)?;
                let (told, moduli) = (of_magnitudes()?, n.magnitude.rows()?);
                let lowest = |i: usize| match n.len() {
                    1 => moduli[0],
                    _ => moduli[i * n.magnitude.width()],
                };
                let told = told.rows()?;
                let symbols = told.iter().enumerate();
                let symbols = symbols.map(|(i, &told)| match a.sign(i) && lowest(i) % 4 == 3 {
                    true => 1 - told as i32,
                    false => told as i32 - 1,
                });
                let symbols: Vec<i32> = symbols.collect();
                let magnitudes: Vec<bool> = symbols.iter().map(|&symbol| symbol != 0).collect();
                let negative = symbols.iter().map(|&symbol| symbol < 0).collect();
                SignedBatch::new(self.mask(&magnitudes)?, negative)
            }
            // Without signs they are what they are of magnitudes.
            _ => SignedBatch::natural(of_magnitudes()?),
        }
    }

    /// How each number of `a` compares with that of `b`. Waits for the device.
    ///
    /// # Errors
    /// As [`Engine::compare`].
    pub fn signed_order(&self, a: &SignedBatch, b: &SignedBatch) -> Result<Vec<Ordering>, Error> {
        let mut order = self.compare(&a.magnitude, &b.magnitude)?;
        for (i, order) in order.iter_mut().enumerate() {
            *order = match (a.sign(i), b.sign(i)) {
                (false, false) => *order,
                (true, true) => order.reverse(),
                _ if order.is_eq() && a.is_zero(i)? => Ordering::Equal,
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
            };
        }
        Ok(order)
    }

    /// Numbers whose top bit is their sign, as magnitudes and signs.
    pub(crate) fn of_two_complement(&self, x: Batch) -> Result<SignedBatch, Error> {
        let top = (x.width() * LIMB_BITS - 1) as Limb;
        let shape = Shape::new(1, 1, Layout::Contiguous);
        let top = self.batch_from_limbs(vec![top], shape)?;
        let mask = self.test_bit(&x, &top)?;
        let signs = mask.rows()?;
        if signs.iter().all(|&sign| sign == 0) {
            return SignedBatch::natural(x);
        }
        let negative = signs.iter().map(|&sign| sign != 0).collect();
        let zero = self.mask(&[false])?;
        let turned = self.wrapping_sub(&zero, &x)?;
        SignedBatch::new(self.select(&turned, &x, &mask)?, negative)
    }

    /// One limb for each flag: 1 where it is set.
    pub(crate) fn mask(&self, flags: &[bool]) -> Result<Batch, Error> {
        let shape = Shape::new(flags.len(), 1, Layout::Contiguous);
        let limbs = collect(flags.iter().map(|&flag| Limb::from(flag)))?;
        self.batch_from_limbs(limbs, shape)
    }

    fn refuse_negatives(
        &self,
        operation: Operation,
        operands: &[&SignedBatch],
        operand: usize,
    ) -> Result<(), Error> {
        match operands[operand].first_negative()? {
            None => Ok(()),
            Some(index) => Err(Error::Negative {
                operation,
                operand: operation.declaration().operands[operand],
                index,
            }),
        }
    }

    /// A quotient rounded down, or what it leaves: see [`Signs::Quotient`] and
    /// [`Signs::Remainder`].
    fn floor(
        &self,
        operation: Operation,
        a: &SignedBatch,
        b: &SignedBatch,
    ) -> Result<SignedBatch, Error> {
        let (x, y) = (&a.magnitude, &b.magnitude);
        let count = if a.len() == 1 { b.len() } else { a.len() };
        let differ = collect((0..count).map(|i| a.sign(i) != b.sign(i)))?;
        let is_remainder = operation.declaration().signs == Signs::Remainder;
        let of_b = || collect((0..count).map(|i| b.sign(i)));
        if !differ.contains(&true) {
            let negative = if is_remainder { of_b()? } else { differ };
            let magnitude = self.first_of(operation, Form::Exact, &[x, y])?;
            return SignedBatch::new(magnitude, negative);
        }
        // 1 where signs differ and `x` is not 0.
        let one = self.first_of(Operation::Min, Form::Modulo(1), &[x, &self.mask(&differ)?])?;
        let less = self.wrapping_sub(x, &one)?;
        let of_less = self.first_of(operation, Form::Exact, &[&less, y])?;
        if is_remainder {
            let most = self.wrapping_sub(y, &one)?;
            let flipped = self.wrapping_sub(&most, &of_less)?;
            return SignedBatch::new(self.select(&flipped, &of_less, &one)?, of_b()?);
        }
        let magnitude = self.wrapping_add(&of_less, &one)?;
        SignedBatch::new(magnitude, differ)
    }

    /// `a + b`; `form` says how wide, where it is not exact.
    fn sum_in(&self, form: Form, a: &SignedBatch, b: &SignedBatch) -> Result<SignedBatch, Error> {
        let (x, y) = (&a.magnitude, &b.magnitude);
        let count = match (x.len(), y.len()) {
            (n, m) if n == m || m == 1 => n,
            (1, m) => m,
            (a, b) => return Err(Error::CountMismatch { a, b }),
        };
        let differ = collect((0..count).map(|i| a.sign(i) != b.sign(i)))?;
        let signs = |of: &SignedBatch| collect((0..count).map(|i| of.sign(i)));
        let add = || self.first_of(Operation::Add, form, &[x, y]);
        if !differ.contains(&true) {
            return SignedBatch::new(add()?, signs(a)?);
        }
        let (difference, borrow) = self.overflowing_sub(x, y)?;
        let none_equal = !differ.contains(&false);
        if none_equal && !borrow.contains(&true) {
            return SignedBatch::new(difference, signs(a)?);
        }
        let reverse = self.wrapping_sub(y, x)?;
        if none_equal && !borrow.contains(&false) {
            return SignedBatch::new(reverse, signs(b)?);
        }
        let sum = add()?;
        let (sums, differences, reverses) = (sum.rows()?, difference.rows()?, reverse.rows()?);
        let (width, narrow) = (sum.width(), difference.width());
        let shape = Shape::new(count, width, Layout::Contiguous);
        let mut limbs = bigint_cpu::zeroed(shape.limbs())?;
        let mut negative = signs(a)?;
        for (i, row) in limbs.chunks_mut(width).enumerate() {
            let mut copy = |rows: &[Limb], of: usize| {
                let limbs = of.min(width);
                row[..limbs].copy_from_slice(&rows[i * of..][..limbs]);
            };
            match (differ[i], borrow[i]) {
                (false, _) => copy(&sums, width),
                (true, false) => copy(&differences, narrow),
                (true, true) => {
                    copy(&reverses, narrow);
                    negative[i] = b.sign(i);
                }
            }
        }
        let magnitude = self.batch_from_limbs(limbs, shape)?;
        SignedBatch::new(self.to_layout(&magnitude, x.shape().layout)?, negative)
    }
}
