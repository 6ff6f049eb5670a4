//! The checks, before a computation, of what operations modulo numbers require of their operands.
//!
//! A kernel, or a loop of the CPU, computes with whatever it is given: of a modulus that is zero, or
//! even in Montgomery's form, or of operands that are not below it, something that means nothing, and
//! something else on each back end. So the engine looks first, by operations that all of them have:
//! the lowest bits of moduli, and the borrows of `(m - 1) - a`. No branch and no address depends on
//! operands then, but for the first number that is refused. What was found is remembered of a batch,
//! and results are known to be below their moduli: a chain of operations looks at nothing twice.
//!
//! [`Residues`](crate::Residues) are below odd moduli by how they are made, and are not looked at.

use crate::operations::forms::Form;
use crate::{Batch, Engine, Error, Options};
use bigint_core::Operation;
use bigint_core::operation::Property;
use std::sync::Arc;

impl Engine {
    /// Refuses operands that an operation is not of.
    pub(crate) fn check(&self, operation: Operation, operands: &[&Batch]) -> Result<(), Error> {
        let &[a, b, m] = operands else {
            return Ok(());
        };
        if operation.is(Property::OddModulus) {
            self.check_odd(m)?;
        }
        if operation.is(Property::BelowModulus) {
            self.check_below(operation, [a, b], m)?;
        }
        Ok(())
    }

    /// Remembers that results are below the moduli that come last.
    pub(crate) fn know_results(
        &self,
        operation: Operation,
        operands: &[&Batch],
        results: &[Batch],
    ) {
        if operation.is(Property::BelowModulus)
            && let ([.., m], [r]) = (operands, results)
            && let Some(bound) = m.node().known.bound.get()
        {
            r.node().known.below.get_or_init(|| Arc::clone(bound));
        }
    }

    fn check_odd(&self, moduli: &Batch) -> Result<(), Error> {
        let known = &moduli.node().known;
        if known.odd.get().is_some() {
            return Ok(());
        }
        let one = self.mask(&[true])?;
        let lowest = self.first_of(Operation::And, Form::Modulo(1), &[moduli, &one])?;
        let even = lowest.rows()?.iter().position(|&bit| bit == 0);
        let Some(index) = even else {
            known.odd.get_or_init(|| ());
            return Ok(());
        };
        let modulus = self.gather(moduli, &[index])?;
        Err(match modulus.rows()?.iter().all(|&limb| limb == 0) {
            true => Error::ZeroDivisor { index },
            false => Error::EvenModulus { index },
        })
    }

    fn check_below(
        &self,
        operation: Operation,
        operands: [&Batch; 2],
        moduli: &Batch,
    ) -> Result<(), Error> {
        let bound = moduli.node().known.bound.get();
        let is_below = |operand: &Batch| {
            let below = operand.node().known.below.get();
            below.zip(bound).is_some_and(|(x, y)| Arc::ptr_eq(x, y))
        };
        if operands.iter().all(|operand| is_below(operand)) {
            return Ok(());
        }
        // Nothing that is named binds these.
        let engine = self.using(Options::default());
        let one = engine.mask(&[true])?;
        let greatest = engine.sub(moduli, &one).map_err(|error| match error {
            Error::Underflow { index } => Error::ZeroDivisor { index },
            error => error,
        })?;
        let bound = moduli.node().known.bound.get_or_init(Arc::default);
        for (operand, name) in operands.into_iter().zip(operation.declaration().operands) {
            if !is_below(operand) {
                engine
                    .sub(&greatest, operand)
                    .map_err(|error| match error {
                        Error::Underflow { index } => Error::NotReduced {
                            operation,
                            operand: name,
                            index,
                        },
                        error => error,
                    })?;
                operand.node().known.below.get_or_init(|| Arc::clone(bound));
            }
        }
        Ok(())
    }
}
