//! Operations on signed numbers: on their magnitudes, and on their signs.

use crate::operations::column::Column;
use crate::operations::forms::Form;
use crate::{Batch, Engine, Error, SignedBatch};
use bigint_core::operation::Signs;
use bigint_core::{LIMB_BITS, Layout, Limb, Operation, Shape};
use bigint_cpu::collect;
use std::cmp::Ordering;

/// The form of results that are as wide as a sign.
const SIGN: Form = Form::Modulo(1);

impl Engine {
    /// The numbers with the other sign; of a [`Batch`] zeros alone have one.
    ///
    /// # Errors
    /// [`Error::Underflow`] names the first number of a [`Batch`] that is not zero;
    /// [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub fn neg<C: Column>(&self, a: &C) -> Result<C, Error> {
        C::neg(self, a)
    }

    /// The absolute values.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn abs<C: Column>(&self, a: &C) -> Result<C, Error> {
        C::abs(self, a)
    }

    /// [`Engine::neg`] of signed batches.
    pub(crate) fn signed_neg(&self, a: &SignedBatch) -> Result<SignedBatch, Error> {
        let one = self.mask(&[true])?;
        let signs = match &a.signs {
            Some(signs) => self.xor(signs, &one)?,
            None => one,
        };
        Ok(SignedBatch::of(a.magnitude.clone(), Some(signs)))
    }

    /// The sum of all numbers. Cost: as that of the magnitudes of those that are negative, and of
    /// the others.
    pub(crate) fn signed_sum(&self, a: &SignedBatch) -> Result<SignedBatch, Error> {
        self.by_sign(a, |engine, x| engine.sum(x))
    }

    /// The sum of signed numbers: the sum of those that are not negative, less the sum of the magnitudes of
    /// the others.
    pub(crate) fn by_sign(
        &self,
        a: &SignedBatch,
        sum: impl Fn(&Engine, &Batch) -> Result<Batch, Error>,
    ) -> Result<SignedBatch, Error> {
        let Some(signs) = &a.signs else {
            return Ok(SignedBatch::natural(sum(self, &a.magnitude)?));
        };
        let zero = self.mask(&[false])?;
        let of_sign = |x, y| sum(self, &self.select(x, y, signs)?);
        let positive = of_sign(&zero, &a.magnitude)?;
        let negative = of_sign(&a.magnitude, &zero)?;
        self.sub(
            &SignedBatch::natural(positive),
            &SignedBatch::natural(negative),
        )
    }

    /// The product of all numbers.
    pub(crate) fn signed_product(&self, a: &SignedBatch) -> Result<SignedBatch, Error> {
        let product = self.product(&a.magnitude)?;
        let Some(signs) = &a.signs else {
            return Ok(SignedBatch::natural(product));
        };
        // A sign for all counts as often as there are numbers.
        let odd = self.mask(&[signs.len() == a.len() || a.len() % 2 == 1])?;
        let signs = self.first_of(Operation::And, SIGN, &[&self.sum(signs)?, &odd])?;
        Ok(SignedBatch::of(product, Some(signs)))
    }

    /// All results of an operation on signed batches, exact: what it is of them, its declaration's
    /// [`Signs`] say.
    pub(crate) fn signed_apply(
        &self,
        operation: Operation,
        operands: &[&SignedBatch],
    ) -> Result<Vec<SignedBatch>, Error> {
        if operation.declaration().results.len() == 1 {
            return Ok(vec![self.signed_compute(operation, operands)?]);
        }
        // Those of several results are of numbers that are not negative.
        for operand in 0..operands.len() {
            self.refuse_negatives(operation, operands, operand)?;
        }
        let magnitudes: Vec<&Batch> = operands.iter().map(|x| x.magnitude()).collect();
        let made = self.compute(operation, Form::Exact, &magnitudes)?;
        let results = made.results.into_iter();
        Ok(results.map(SignedBatch::natural).collect())
    }

    /// The same, and 1 where there is no value, which the magnitudes tell: results then are zero.
    pub(crate) fn signed_masked(
        &self,
        operation: Operation,
        operands: &[&SignedBatch],
    ) -> Result<(Vec<SignedBatch>, Batch), Error> {
        let declared = operation.declaration();
        if !declared.flag.is_of_no_value() {
            let made = self.signed_apply(operation, operands)?;
            let count = made.first().map_or(0, SignedBatch::len);
            return Ok((made, self.mask(&vec![false; count])?));
        }
        let magnitudes: Vec<&Batch> = operands.iter().map(|x| x.magnitude()).collect();
        let made = self.compute(operation, Form::Overflowing, &magnitudes)?;
        let flags = made.flags.expect("flags were asked for");
        // A symbol is a number of its own.
        if declared.signs != Signs::Symbol && operands.iter().all(|x| x.signs().is_none()) {
            let results = made.results.into_iter().map(SignedBatch::natural);
            return Ok((results.collect(), flags));
        }
        // Of ones there is a value, which is put aside.
        let (zero, one) = (self.mask(&[false])?, self.mask(&[true])?);
        let valued = |x: &&SignedBatch| {
            let magnitude = self.select(&one, x.magnitude(), &flags)?;
            let signs = x.signs().map(|signs| self.select(&zero, signs, &flags));
            Ok::<_, Error>(SignedBatch::of(magnitude, signs.transpose()?))
        };
        let valued = operands.iter().map(valued).collect::<Result<Vec<_>, _>>()?;
        let results = self.signed_apply(operation, &valued.iter().collect::<Vec<_>>())?;
        let without = |x: SignedBatch| {
            let magnitude = self.select(&zero, x.magnitude(), &flags)?;
            Ok(SignedBatch::of(magnitude, x.signs().cloned()))
        };
        let results = results.into_iter().map(without);
        Ok((results.collect::<Result<_, Error>>()?, flags))
    }

    /// An operation of one result on signed batches, exact: what it is of them, its declaration's
    /// [`Signs`] say.
    pub(crate) fn signed_compute(
        &self,
        operation: Operation,
        operands: &[&SignedBatch],
    ) -> Result<SignedBatch, Error> {
        self.signed_in(operation, Form::Exact, operands)
    }

    /// [`Engine::signed_compute`] with results as wide as `form` says; the caller knows that they
    /// fit.
    pub(crate) fn signed_in(
        &self,
        operation: Operation,
        form: Form,
        operands: &[&SignedBatch],
    ) -> Result<SignedBatch, Error> {
        let magnitudes: Vec<&Batch> = operands.iter().map(|operand| &operand.magnitude).collect();
        let of_magnitudes = || self.first_of(operation, form, &magnitudes);
        let have_signs = operands.iter().any(|operand| operand.signs.is_some());
        let signs = operation.declaration().signs;
        match (signs, operands) {
            (Signs::Natural, _) => {
                for operand in 0..operands.len() {
                    self.refuse_negatives(operation, operands, operand)?;
                }
                Ok(SignedBatch::natural(of_magnitudes()?))
            }
            (Signs::Product, _) if have_signs => {
                let signs = self.odd(operands)?;
                Ok(SignedBatch::of(of_magnitudes()?, signs))
            }
            (Signs::Sum, [a, b]) if have_signs => {
                let signs = self.both_signs(a, b)?;
                self.sum_in(form, a, b, signs.as_ref())
            }
            (Signs::Difference, [a, b]) => {
                let widest = a.magnitude.width().max(b.magnitude.width());
                let form = match form {
                    // Of numbers that are not negative it is no longer than they are.
                    Form::Exact if !have_signs => Form::Modulo(widest),
                    form => form,
                };
                self.sum_in(form, a, b, Some(&self.signs_to_subtract(a, b)?))
            }
            (Signs::ProductPlus, [a, b, c]) if have_signs => {
                let product = self.mul(*a, *b)?;
                self.signed_in(Operation::Add, form, &[&product, c])
            }
            (Signs::Least | Signs::Greatest, [a, b]) if have_signs => {
                self.extreme(form, signs, a, b)
            }
            (Signs::Order, [a, b]) => {
                let difference = self.sub(*a, *b)?;
                let one = self.mask(&[true])?;
                let pair = [&difference.magnitude, &one];
                let magnitude = self.first_of(Operation::Min, SIGN, &pair)?;
                Ok(SignedBatch::of(magnitude, difference.signs))
            }
            (Signs::Shifted, [a, bits]) => {
                self.refuse_negatives(operation, operands, 1)?;
                let magnitude = self.shl(&a.magnitude, &bits.magnitude)?;
                Ok(SignedBatch::of(magnitude, a.signs.clone()))
            }
            (Signs::ShiftedFloor, [a, bits]) => {
                self.refuse_negatives(operation, operands, 1)?;
                let divisor = SignedBatch::natural(bits.magnitude.clone());
                self.floor(operation, a, &divisor)
            }
            (Signs::Quotient | Signs::Remainder, [a, b]) => self.floor(operation, a, b),
            (Signs::Power, [a, e, m]) => {
                self.refuse_negatives(operation, operands, 1)?;
                self.refuse_negatives(operation, operands, 2)?;
                self.power_of_sign(of_magnitudes()?, a, e, m)
            }
            (Signs::Residue, [a, modulus]) => {
                self.refuse_negatives(operation, operands, 1)?;
                self.residue_of_sign(of_magnitudes()?, a, modulus)
            }
            (Signs::Symbol, [a, n]) => {
                self.refuse_negatives(operation, operands, 1)?;
                self.symbol_of_sign(&of_magnitudes()?, a, n)
            }
            // Signs mean nothing, or there are none.
            _ => Ok(SignedBatch::natural(of_magnitudes()?)),
        }
    }

    /// The lesser or the greater of both.
    fn extreme(
        &self,
        form: Form,
        signs: Signs,
        a: &SignedBatch,
        b: &SignedBatch,
    ) -> Result<SignedBatch, Error> {
        let (x, y) = match signs {
            Signs::Least => (a, b),
            _ => (b, a),
        };
        let word = self.signs_to_subtract(x, y)?;
        // Of the difference nothing but its sign is wanted, and so it is cut.
        let pair = [&x.magnitude, &y.magnitude, &word];
        let difference = self.compute(Operation::AddSigned, SIGN, &pair)?;
        let takes_a = &difference.results[1];
        let pair = [&a.magnitude, &b.magnitude, takes_a];
        let magnitude = self.first_of(Operation::Select, form, &pair)?;
        let zero = self.mask(&[false])?;
        let [of_a, of_b] = [a, b].map(|x| x.signs.as_ref().unwrap_or(&zero));
        let signs = self.select(of_a, of_b, takes_a)?;
        Ok(SignedBatch::of(magnitude, Some(signs)))
    }

    /// The residues of powers of `a` modulo `m`, from those of the magnitudes.
    fn power_of_sign(
        &self,
        power: Batch,
        a: &SignedBatch,
        e: &SignedBatch,
        m: &SignedBatch,
    ) -> Result<SignedBatch, Error> {
        let Some(signs) = &a.signs else {
            return Ok(SignedBatch::natural(power));
        };
        // Of an odd exponent the residue is that of the magnitude's negative.
        let turned = self.first_of(Operation::And, SIGN, &[&e.magnitude, signs])?;
        let zero = self.mask(&[false])?;
        let residues = [&zero, &power, &m.magnitude];
        let negative = self.of_residues(Operation::ModSub, &residues)?;
        let power = self.select(&negative, &power, &turned)?;
        Ok(SignedBatch::natural(power))
    }

    /// The residues of `a`, from those of the magnitudes.
    fn residue_of_sign(
        &self,
        residue: Batch,
        a: &SignedBatch,
        modulus: &SignedBatch,
    ) -> Result<SignedBatch, Error> {
        let Some(signs) = &a.signs else {
            return Ok(SignedBatch::natural(residue));
        };
        // 1 where the sign is, and the residue is not 0.
        let one = self.first_of(Operation::Min, SIGN, &[&residue, signs])?;
        let other = self.wrapping_sub(&modulus.magnitude, &residue)?;
        let residue = self.select(&other, &residue, &one)?;
        Ok(SignedBatch::natural(residue))
    }

    /// The Jacobi symbols of `a` over `n`, from those of the magnitudes: `(-1 / n)` is -1 where `n` is
    /// 3 modulo 4. The CPU computes symbols, and so this is done there.
    fn symbol_of_sign(
        &self,
        symbols: &Batch,
        a: &SignedBatch,
        n: &SignedBatch,
    ) -> Result<SignedBatch, Error> {
        let (symbols, moduli, signs) = (symbols.rows()?, n.magnitude.rows()?, a.negative()?);
        let lowest = |i: usize| match n.len() {
            1 => moduli[0],
            _ => moduli[i * n.magnitude.width()],
        };
        let sign = |i: usize| signs[if signs.len() == 1 { 0 } else { i }];
        // Written as 0, 1 and 2 for -1, 0 and 1.
        let symbols = symbols.iter().enumerate();
        let symbols = symbols.map(|(i, &symbol)| match sign(i) && lowest(i) % 4 == 3 {
            true => 1 - symbol as i32,
            false => symbol as i32 - 1,
        });
        let symbols: Vec<i32> = symbols.collect();
        let magnitudes: Vec<bool> = symbols.iter().map(|&symbol| symbol != 0).collect();
        let negative: Vec<bool> = symbols.iter().map(|&symbol| symbol < 0).collect();
        SignedBatch::new(self.mask(&magnitudes)?, &negative)
    }

    /// How each number of `a` compares with that of `b`. Waits for the device.
    pub(crate) fn signed_order(
        &self,
        a: &SignedBatch,
        b: &SignedBatch,
    ) -> Result<Vec<Ordering>, Error> {
        let order = self.signed_compute(Operation::Compare, &[a, b])?;
        let (differ, less) = (order.magnitude.rows()?, order.negative()?);
        let told = differ.iter().zip(less).map(|told| match told {
            (0, _) => Ordering::Equal,
            (_, true) => Ordering::Less,
            (_, false) => Ordering::Greater,
        });
        Ok(collect(told)?)
    }

    /// Numbers whose top bit is their sign, as magnitudes and signs.
    pub(crate) fn of_two_complement(&self, x: Batch) -> Result<SignedBatch, Error> {
        let top = (x.width() * LIMB_BITS - 1) as Limb;
        let shape = Shape::new(1, 1, Layout::Contiguous);
        let top = self.batch_from_limbs(vec![top], shape)?;
        let signed = SignedBatch::of(x.clone(), Some(self.test_bit(&x, &top)?));
        let Some(signs) = &signed.signs else {
            return Ok(signed);
        };
        let zero = self.mask(&[false])?;
        let turned = self.wrapping_sub(&zero, &x)?;
        let magnitude = self.select(&turned, &x, signs)?;
        Ok(SignedBatch {
            magnitude,
            ..signed
        })
    }

    /// One limb for each flag: 1 where it is set.
    pub(crate) fn mask(&self, flags: &[bool]) -> Result<Batch, Error> {
        let shape = Shape::new(flags.len(), 1, Layout::Contiguous);
        let limbs = collect(flags.iter().map(|&flag| Limb::from(flag)))?;
        self.batch_from_limbs(limbs, shape)
    }

    /// Refuses negative numbers of an operand of an operation.
    pub(crate) fn refuse_negatives(
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
        let is_remainder = operation.declaration().signs == Signs::Remainder;
        let Some(differ) = self.odd(&[a, b])? else {
            let magnitude = self.first_of(operation, Form::Exact, &[x, y])?;
            return Ok(SignedBatch::natural(magnitude));
        };
        // 1 where signs differ and `x` is not 0.
        let one = self.first_of(Operation::Min, SIGN, &[x, &differ])?;
        let less = self.wrapping_sub(x, &one)?;
        let of_less = self.first_of(operation, Form::Exact, &[&less, y])?;
        if is_remainder {
            let most = self.wrapping_sub(y, &one)?;
            let flipped = self.wrapping_sub(&most, &of_less)?;
            let magnitude = self.select(&flipped, &of_less, &one)?;
            return Ok(SignedBatch::of(magnitude, b.signs.clone()));
        }
        let magnitude = self.wrapping_add(&of_less, &one)?;
        Ok(SignedBatch::of(magnitude, Some(differ)))
    }

    /// The signs of the product: whether an odd number of the operands is negative.
    pub(crate) fn odd(&self, operands: &[&SignedBatch]) -> Result<Option<Batch>, Error> {
        let mut odd: Option<Batch> = None;
        for signs in operands.iter().filter_map(|operand| operand.signs()) {
            odd = Some(match odd {
                Some(odd) => self.xor(&odd, signs)?,
                None => signs.clone(),
            });
        }
        Ok(odd)
    }

    /// The word of both signs that [`Operation::AddSigned`] takes; none where there are none.
    fn both_signs(&self, a: &SignedBatch, b: &SignedBatch) -> Result<Option<Batch>, Error> {
        let Some(of_b) = &b.signs else {
            return Ok(a.signs.clone());
        };
        let of_b = self.wrapping_add(of_b, of_b)?;
        Ok(Some(match &a.signs {
            Some(of_a) => self.wrapping_add(of_a, &of_b)?,
            None => of_b,
        }))
    }

    /// The same with the other sign for `b`.
    fn signs_to_subtract(&self, a: &SignedBatch, b: &SignedBatch) -> Result<Batch, Error> {
        let shape = Shape::new(1, 1, Layout::Contiguous);
        let second = self.batch_from_limbs(vec![0b10], shape)?;
        match self.both_signs(a, b)? {
            Some(signs) => self.xor(&signs, &second),
            None => Ok(second),
        }
    }

    /// The sum of numbers with these signs; `form` says how wide, where it is not exact.
    fn sum_in(
        &self,
        form: Form,
        a: &SignedBatch,
        b: &SignedBatch,
        signs: Option<&Batch>,
    ) -> Result<SignedBatch, Error> {
        let (x, y) = (&a.magnitude, &b.magnitude);
        let Some(signs) = signs else {
            return Ok(SignedBatch::natural(self.first_of(
                Operation::Add,
                form,
                &[x, y],
            )?));
        };
        let sum = self.compute(Operation::AddSigned, form, &[x, y, signs])?;
        let mut results = sum.results.into_iter();
        let mut next = || results.next().expect("a magnitude and its sign");
        Ok(SignedBatch::of(next(), Some(next())))
    }
}
