//! Quotients of integers of any lengths (future work of [Langer 2015]): a thin layer of expressions.

use crate::expression::Expression;
use crate::values::column::Column;
use crate::{BigInt, Engine, Error, Integers};
use std::cmp::Ordering;

/// Rational numbers: a numerator and a denominator each, the denominator greater than zero.
///
/// They are reduced by [`Engine::rational_reduced`] alone: a common divisor costs more than a
/// product. Columns have equal lengths, or one number stands for all.
///
/// ```
/// use bigint_host::{Engine, Integers, Rationals};
/// let engine = Engine::auto();
/// let a = Rationals::new(Integers::from_texts(["1", "-3"])?, Integers::from_texts(["2", "4"])?)?;
/// let b = Rationals::new(Integers::from_texts(["5"])?, Integers::from_texts(["-6"])?)?;
/// let sum = engine.rational_reduced(&engine.rational_add(&a, &b)?)?;
/// assert_eq!(sum.numerators().decimals().collect::<Vec<_>>(), ["-1", "-19"]);
/// assert_eq!(sum.denominators().decimals().collect::<Vec<_>>(), ["3", "12"]);
/// let order = engine.rational_order(&a, &b)?;
/// assert!(order.iter().all(|order| order.is_gt()));
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rationals {
    numerators: Integers,
    denominators: Integers,
}

impl Rationals {
    /// Numerators over denominators, which may be negative: signs go to the numerators. One
    /// numerator or one denominator may stand for all.
    ///
    /// # Errors
    /// [`Error::ZeroDivisor`] names the first denominator that is zero;
    /// [`Error::CountMismatch`] where there are not as many as numerators, nor one;
    /// [`Error::OutOfMemory`].
    pub fn new(mut numerators: Integers, denominators: Integers) -> Result<Self, Error> {
        let (a, b) = (numerators.len(), denominators.len());
        match (a, b) {
            // Each takes the sign of its denominator.
            (1, _) if b != 1 => {
                let one = std::mem::take(&mut numerators);
                for _ in 0..b {
                    numerators.push(one.is_negative(0), one.magnitude(0))?;
                }
            }
            _ if a != b && b != 1 => return Err(Error::CountMismatch { a, b }),
            _ => {}
        }
        let is_zero = |&index: &usize| denominators.magnitude(index).is_empty();
        if let Some(index) = (0..b).find(is_zero) {
            return Err(Error::ZeroDivisor { index });
        }
        let of_all = |index| if b == 1 { 0 } else { index };
        let turns = |index| denominators.is_negative(of_all(index));
        let mut rationals = Rationals {
            numerators,
            denominators: denominators.clone(),
        };
        if denominators.signs().iter().any(|&byte| byte != 0) {
            let numerators: &mut Column = rationals.numerators.column_mut();
            numerators.sign_by(|index, negative| negative != turns(index));
            rationals.denominators.column_mut().sign_by(|_, _| false);
        }
        Ok(rationals)
    }

    /// The number of rationals.
    pub fn len(&self) -> usize {
        self.numerators.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numerators.is_empty()
    }

    /// The numerators, of either sign.
    pub fn numerators(&self) -> &Integers {
        &self.numerators
    }

    /// The denominators, each greater than zero: as many, or one for all.
    pub fn denominators(&self) -> &Integers {
        &self.denominators
    }

    /// Numerator and denominator of number `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<(BigInt, BigInt)> {
        let numerator = self.numerators.get(index)?;
        let of_all = self.denominators.len() == 1;
        let denominator = self.denominators.get(if of_all { 0 } else { index })?;
        Some((numerator, denominator))
    }
}

/// Whole numbers, each over 1.
impl From<Integers> for Rationals {
    fn from(numerators: Integers) -> Self {
        Rationals {
            numerators,
            denominators: [BigInt::from(1)].into_iter().collect(),
        }
    }
}

impl Engine {
    /// `a + b`, not reduced. Cost: three products and a sum.
    ///
    /// # Errors
    /// As for [`Engine::eval`].
    pub fn rational_add(&self, a: &Rationals, b: &Rationals) -> Result<Rationals, Error> {
        let sum = &a.numerators * &b.denominators + &b.numerators * &a.denominators;
        self.quotient(sum, &a.denominators * &b.denominators)
    }

    /// `a - b`, not reduced. Cost: as [`Engine::rational_add`].
    ///
    /// # Errors
    /// As for [`Engine::eval`].
    pub fn rational_sub(&self, a: &Rationals, b: &Rationals) -> Result<Rationals, Error> {
        let difference = &a.numerators * &b.denominators - &b.numerators * &a.denominators;
        self.quotient(difference, &a.denominators * &b.denominators)
    }

    /// `a b`, not reduced. Cost: two products.
    ///
    /// # Errors
    /// As for [`Engine::eval`].
    pub fn rational_mul(&self, a: &Rationals, b: &Rationals) -> Result<Rationals, Error> {
        let numerators = &a.numerators * &b.numerators;
        self.quotient(numerators, &a.denominators * &b.denominators)
    }

    /// `a / b`, not reduced. Cost: two products.
    ///
    /// # Errors
    /// [`Error::ZeroDivisor`] names the first number of `b` that is zero; otherwise as
    /// [`Engine::eval`].
    pub fn rational_div(&self, a: &Rationals, b: &Rationals) -> Result<Rationals, Error> {
        // Of none the quotients are none, whatever they are divided by.
        if let Some(index) = (0..b.len()).find(|&index| b.numerators.magnitude(index).is_empty()) {
            return Err(Error::ZeroDivisor { index });
        }
        let numerators = &a.numerators * &b.denominators;
        self.quotient(numerators, &a.denominators * &b.numerators)
    }

    /// The order of each number of `a` and that of `b`. Cost: two products.
    ///
    /// # Errors
    /// As for [`Engine::eval`].
    pub fn rational_order(&self, a: &Rationals, b: &Rationals) -> Result<Vec<Ordering>, Error> {
        let x = self.eval(&(&a.numerators * &b.denominators))?;
        let y = self.eval(&(&b.numerators * &a.denominators))?;
        self.compare(&x, &y)
    }

    /// The numbers with numerators and denominators that have no common divisor; zero over 1. Cost:
    /// a greatest common divisor and two divisions.
    ///
    /// # Errors
    /// As for [`Engine::eval`].
    pub fn rational_reduced(&self, a: &Rationals) -> Result<Rationals, Error> {
        let divisor = self.gcd(&a.numerators, &a.denominators)?;
        let over = |dividend: &Integers| self.div(dividend, &divisor);
        Rationals::new(over(&a.numerators)?, over(&a.denominators)?)
    }

    /// The rationals of two expressions, with denominators that are not zero. One denominator for
    /// many numerators stays one.
    fn quotient(
        &self,
        numerators: Expression<Integers>,
        denominators: Expression<Integers>,
    ) -> Result<Rationals, Error> {
        Rationals::new(self.eval(&numerators)?, self.eval(&denominators)?)
    }
}
