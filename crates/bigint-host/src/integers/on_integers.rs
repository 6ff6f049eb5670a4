//! The engine's operations on integers of any lengths.
//!
//! Each has the name that it has of batches, and is computed as batches are: rows of alike
//! lengths together ([`Engine::by_rows`]). What it is of signed numbers is what
//! [`Engine::signed_compute`] says.

use crate::expression::{Expression, Function};
use crate::integers::short::Rounding;
use crate::integers::{narrow, passing, total};
use crate::operations::forms::Form;
use crate::values::integers::Integers;
use crate::{Batch, BigUint, Engine, Error, SignedBatch};
use bigint_core::operation::Signs;
use bigint_core::{Operation, for_each_operation};
use bigint_cpu::{collect, signed_sum};
use std::cmp::Ordering;

/// An engine's operations on [`Integers`]: [`Engine::integers`] is the way to them.
///
/// Operands are columns of as many numbers each, or one number that stands for all rows.
/// What an operation is of signed numbers is what it is in [`Engine::signed_compute`]:
/// quotients are rounded down, and where nothing is said negative numbers are refused.
/// Expressions of several operations are cheaper whole: [`Engine::eval`].
///
/// What depends on how wide numbers are has no meaning here: `mul_high`, `not`, `set_bit`,
/// `trailing_zeros`, `mont_mul`, `pow_pair`, `pow_fixed`, `add_segments`, and every wrapping and
/// overflowing form.
///
/// ```
/// use bigint_host::{Engine, Integers};
/// let engine = Engine::auto();
/// let a = Integers::from_texts(["-12", "0", "0x300000000000000000"])?;
/// let b = Integers::from_texts(["18"])?;
/// let gcd = engine.integers().gcd(&a, &b)?;
/// assert_eq!(gcd.decimals().collect::<Vec<_>>(), ["6", "18", "6"]);
/// let (quotients, are_of_zero) = engine.integers().masked_div(&b, &a)?;
/// assert_eq!(quotients.decimals().collect::<Vec<_>>(), ["-2", "0", "0"]);
/// assert_eq!(are_of_zero, [false, true, false]);
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OnIntegers<'a> {
    engine: &'a Engine,
}

impl Engine {
    /// The engine's operations on integers of any lengths.
    pub fn integers(&self) -> OnIntegers<'_> {
        OnIntegers { engine: self }
    }
}

/// A declaration becomes, for division,
///
/// ```text
/// pub fn div(&self, a: &Integers, b: &Integers) -> Result<Integers, Error>;
/// pub fn masked_div(&self, a: &Integers, b: &Integers) -> Result<(Integers, Vec<bool>), Error>;
/// ```
macro_rules! methods {
    ($(
        $(#[$doc:meta])*
        $variant:ident $operation:ident $operands:tt -> $results:tt {
            exact: $exact:tt,
            flag: $flag:ident,
            methods: $method:ident $wrapping:tt $overflowing:tt,
            syntax: $syntax:ident$(($symbol:literal))?,
            $(signs: $signs:ident,)?
            $(cost: $cost:ident,)?
            $(properties: $properties:tt,)?
            kernels: $kernels:tt
        }
    )*) => {
        impl OnIntegers<'_> {$(
            exact! { $variant $method $operands $results }
            masked! { $flag $variant $method $overflowing $operands $results }
        )*}
    };
}

macro_rules! exact {
    // Of a width.
    (AddSegments $($rest:tt)*) => {};
    (MontMul $($rest:tt)*) => {};
    (MulHigh $($rest:tt)*) => {};
    (Not $($rest:tt)*) => {};
    (PowFixed $($rest:tt)*) => {};
    (PowPair $($rest:tt)*) => {};
    (SetBit $($rest:tt)*) => {};
    (TrailingZeros $($rest:tt)*) => {};
    // Exact here, and so of another name.
    (Shl $($rest:tt)*) => {};
    ($variant:ident $method:ident ($($operand:ident),*) $results:tt) => {
        #[doc = concat!("[`Engine::", stringify!($method), "`], row by row.")]
        ///
        /// # Errors
        /// As [`OnIntegers::compute`].
        pub fn $method(&self, $($operand: &Integers),*) -> Result<columns!($results), Error> {
            let made = self.compute(Operation::$variant, &[$($operand),*])?;
            Ok(results!(made, $results))
        }
    };
}

macro_rules! masked {
    (Carry $($rest:tt)*) => {};
    (Borrow $($rest:tt)*) => {};
    ($flag:ident $variant:ident $method:ident [] $($rest:tt)*) => {};
    (
        $flag:ident $variant:ident $method:ident [$masked:ident] ($($operand:ident),*)
        $results:tt
    ) => {
        #[doc = concat!("[`Engine::", stringify!($masked), "`], row by row.")]
        ///
        /// # Errors
        /// As [`OnIntegers::compute`], but for numbers that have no value.
        pub fn $masked(
            &self,
            $($operand: &Integers),*
        ) -> Result<(columns!($results), Vec<bool>), Error> {
            let (made, flags) = self.masked_compute(Operation::$variant, &[$($operand),*])?;
            Ok((results!(made, $results), flags))
        }
    };
}

/// The type of a method's results.
macro_rules! columns {
    (($r:ident)) => {
        Integers
    };
    (($r:ident, $s:ident)) => {
        (Integers, Integers)
    };
}

/// What was made, as a method returns it.
macro_rules! results {
    ($made:ident, ($r:ident)) => {
        only($made)
    };
    ($made:ident, ($r:ident, $s:ident)) => {
        both($made)
    };
}

for_each_operation!(methods);

fn only(made: Vec<Integers>) -> Integers {
    let mut made = made.into_iter();
    made.next().expect("there is a result")
}

fn both(made: Vec<Integers>) -> (Integers, Integers) {
    let mut made = made.into_iter();
    let mut next = || made.next().expect("there are two results");
    (next(), next())
}

/// Which numbers are not zero.
fn verdicts(told: &Integers) -> Result<Vec<bool>, Error> {
    let is_set = |index| !told.magnitude(index).is_empty();
    Ok(collect((0..told.len()).map(is_set))?)
}

/// The magnitudes with other signs.
fn signed_by(a: &Integers, is_negative: impl Fn(usize, bool) -> bool) -> Integers {
    let mut signed = a.clone();
    signed.column_mut().sign_by(is_negative);
    signed
}

impl OnIntegers<'_> {
    /// Any operation, row by row: its results in declared order.
    ///
    /// # Errors
    /// [`Error::Operands`] where there are more or fewer operands than declared;
    /// [`Error::NeedsWidth`] of what depends on widths; [`Error::CountMismatch`] where columns
    /// are of different lengths; [`Error::Negative`] names the first number that must not be
    /// negative and is; otherwise as the operation's method of [`Engine`]. Numbers are counted
    /// in rows; where rows of several lengths have no value, one of the first of them is named.
    pub fn compute(
        &self,
        operation: Operation,
        operands: &[&Integers],
    ) -> Result<Vec<Integers>, Error> {
        let declared = operation.declaration();
        if self.engine.passes()
            && declared.operands.len() == operands.len()
            && passing::takes(operation, operands)
        {
            let pool = &self.engine.inner.pool;
            return Ok(vec![passing::operated(operation, operands, pool)?]);
        }
        let results = declared.results.len();
        self.by_rows(operation, operands, results, |operands| {
            self.all_of(operation, operands)
        })
    }

    /// [`OnIntegers::compute`], and for each row whether it has no value: its results then are
    /// zero. Of operations that have a value of all numbers no row is told.
    ///
    /// # Errors
    /// As [`OnIntegers::compute`], but for numbers that have no value.
    pub fn masked_compute(
        &self,
        operation: Operation,
        operands: &[&Integers],
    ) -> Result<(Vec<Integers>, Vec<bool>), Error> {
        let declared = operation.declaration();
        let results = declared.results.len();
        if !declared.flag.is_of_no_value() {
            let made = self.compute(operation, operands)?;
            let count = made.first().map_or(0, Integers::len);
            return Ok((made, vec![false; count]));
        }
        let mut made = self.by_rows(operation, operands, results + 1, |operands| {
            self.masked_of(operation, operands)
        })?;
        let flags = made
            .pop()
            .map_or(Ok(Vec::new()), |flags| verdicts(&flags))?;
        Ok((made, flags))
    }

    /// Checks what does not depend on the numbers, then computes by rows.
    fn by_rows(
        &self,
        operation: Operation,
        operands: &[&Integers],
        results: usize,
        compute: impl FnMut(&[&SignedBatch]) -> Result<Vec<SignedBatch>, Error>,
    ) -> Result<Vec<Integers>, Error> {
        if operands.len() != operation.declaration().operands.len() {
            return Err(Error::Operands {
                operation,
                found: operands.len(),
            });
        }
        let function = Function::Operation(operation);
        self.engine.by_rows(function, operands, results, compute)
    }

    /// All results of an operation on batches.
    fn all_of(
        &self,
        operation: Operation,
        operands: &[&SignedBatch],
    ) -> Result<Vec<SignedBatch>, Error> {
        let engine = self.engine;
        if operation.declaration().results.len() == 1 {
            return Ok(vec![engine.signed_compute(operation, operands)?]);
        }
        // Those of several results are of numbers that are not negative.
        for operand in 0..operands.len() {
            engine.refuse_negatives(operation, operands, operand)?;
        }
        let magnitudes: Vec<&Batch> = operands.iter().map(|x| x.magnitude()).collect();
        let made = engine.compute(operation, Form::Exact, &magnitudes)?;
        let results = made.results.into_iter();
        Ok(results.map(SignedBatch::natural).collect())
    }

    /// The same, and 1 where there is no value, which the magnitudes tell.
    fn masked_of(
        &self,
        operation: Operation,
        operands: &[&SignedBatch],
    ) -> Result<Vec<SignedBatch>, Error> {
        let engine = self.engine;
        let magnitudes: Vec<&Batch> = operands.iter().map(|x| x.magnitude()).collect();
        let made = engine.compute(operation, Form::Overflowing, &magnitudes)?;
        let flags = made.flags.expect("flags were asked for");
        // A symbol is a number of its own.
        let is_of_magnitudes = operation.declaration().signs != Signs::Symbol
            && operands.iter().all(|x| x.signs().is_none());
        let mut results: Vec<SignedBatch> = match is_of_magnitudes {
            true => made.results.into_iter().map(SignedBatch::natural).collect(),
            false => {
                // Of ones there is a value, which is put aside.
                let (zero, one) = (engine.mask(&[false])?, engine.mask(&[true])?);
                let valued = |x: &&SignedBatch| {
                    let magnitude = engine.select(&one, x.magnitude(), &flags)?;
                    let signs = x.signs().map(|signs| engine.select(&zero, signs, &flags));
                    Ok::<_, Error>(SignedBatch::of(magnitude, signs.transpose()?))
                };
                let valued = operands.iter().map(valued).collect::<Result<Vec<_>, _>>()?;
                let results = self.all_of(operation, &valued.iter().collect::<Vec<_>>())?;
                let without = |x: SignedBatch| {
                    let magnitude = engine.select(&zero, x.magnitude(), &flags)?;
                    Ok(SignedBatch::of(magnitude, x.signs().cloned()))
                };
                let results = results.into_iter().map(without);
                results.collect::<Result<_, Error>>()?
            }
        };
        results.push(SignedBatch::natural(flags));
        Ok(results)
    }

    /// `a 2^bits`, exact.
    ///
    /// # Errors
    /// As [`OnIntegers::compute`].
    pub fn shl(&self, a: &Integers, bits: &Integers) -> Result<Integers, Error> {
        Ok(only(self.compute(Operation::Shl, &[a, bits])?))
    }

    /// The numbers with the other sign, on the host.
    ///
    /// # Panics
    /// Where memory ends, as collections do.
    pub fn neg(&self, a: &Integers) -> Integers {
        signed_by(a, |_, is_negative| !is_negative)
    }

    /// The absolute values, on the host.
    ///
    /// # Panics
    /// Where memory ends, as collections do.
    pub fn abs(&self, a: &Integers) -> Integers {
        signed_by(a, |_, _| false)
    }

    /// How each number of `a` compares with that of `b`.
    ///
    /// # Errors
    /// As [`OnIntegers::compute`].
    pub fn compare(&self, a: &Integers, b: &Integers) -> Result<Vec<Ordering>, Error> {
        if self.engine.passes() {
            return passing::orders(a, b);
        }
        let order = self.order(a, b)?;
        let told = (0..order.len()).map(|i| match order.magnitude(i) {
            [] => Ordering::Equal,
            _ if order.is_negative(i) => Ordering::Less,
            _ => Ordering::Greater,
        });
        Ok(collect(told)?)
    }

    /// The sum of all numbers, a column of one; zero for none.
    ///
    /// # Errors
    /// As [`Engine::sum`].
    pub fn sum(&self, a: &Integers) -> Result<Integers, Error> {
        if self.engine.passes() {
            return total::sum(a);
        }
        self.engine.eval(&Expression::from(a).sum())
    }

    /// The product of all numbers, a column of one; one for none.
    ///
    /// # Errors
    /// As [`Engine::product`].
    pub fn product(&self, a: &Integers) -> Result<Integers, Error> {
        self.engine.eval(&Expression::from(a).product())
    }

    /// Number `i` is the sum of numbers `0 ..= i`. One pass, on the host: each sum is read
    /// once, which costs no more than bringing it there would.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn prefix_sum(&self, a: &Integers) -> Result<Integers, Error> {
        let mut sums = Integers::new();
        let mut sum = Vec::new();
        for i in 0..a.len() {
            let (before, minus) = match i {
                0 => (&[][..], false),
                i => (sums.magnitude(i - 1), sums.is_negative(i - 1)),
            };
            let number = a.magnitude(i);
            let width = before.len().max(number.len()) + 1;
            sum.clear();
            bigint_cpu::reserve(&mut sum, width)?;
            sum.resize(width, 0);
            let negative = signed_sum(&mut sum, before, number, [minus, a.is_negative(i)]);
            sums.push(negative, &sum)?;
        }
        Ok(sums)
    }

    /// `a^e`, exact.
    ///
    /// # Errors
    /// [`Error::NegativeExponent`] names the first exponent below zero; otherwise as
    /// [`Engine::pow`].
    pub fn pow(&self, a: &Integers, e: &Integers) -> Result<Integers, Error> {
        self.each(Function::Power, &[a, e], |engine, x| {
            engine.signed_pow(x[0], x[1])
        })
    }

    /// Whether each number is a prime, as [`Engine::is_prime`] tells; negative ones are none.
    ///
    /// # Errors
    /// As [`Engine::is_prime`].
    pub fn is_prime(&self, a: &Integers) -> Result<Vec<bool>, Error> {
        let told = self.each(Function::IsPrime, &[a], |engine, x| {
            engine.signed_is_prime(x[0])
        });
        verdicts(&told?)
    }

    /// The least prime above each number.
    ///
    /// # Errors
    /// As [`Engine::next_prime`].
    pub fn next_prime(&self, a: &Integers) -> Result<Integers, Error> {
        self.each(Function::NextPrime, &[a], |engine, x| {
            engine.signed_next_prime(x[0])
        })
    }

    /// [`Engine::is_strong_probable_prime`], row by row; of negative numbers none is.
    ///
    /// # Errors
    /// As [`Engine::is_strong_probable_prime`].
    pub fn is_strong_probable_prime(
        &self,
        a: &Integers,
        bases: &[BigUint],
    ) -> Result<Vec<bool>, Error> {
        let told = self.each(Function::IsPrime, &[a], |engine, x| {
            let numbers = engine.or_zero(x[0])?;
            let told = engine.is_strong_probable_prime(&numbers, bases)?;
            Ok(SignedBatch::natural(engine.mask(&told)?))
        });
        verdicts(&told?)
    }

    /// [`Engine::is_perfect_power`], row by row.
    ///
    /// # Errors
    /// [`Error::Negative`] names the first negative number; otherwise as
    /// [`Engine::is_perfect_power`].
    pub fn is_perfect_power(&self, a: &Integers) -> Result<Vec<bool>, Error> {
        let told = self.each(Function::IsPrime, &[a], |engine, x| {
            engine.refuse_negatives(Operation::Iroot, x, 0)?;
            let told = engine.is_perfect_power(x[0].magnitude())?;
            Ok(SignedBatch::natural(engine.mask(&told)?))
        });
        verdicts(&told?)
    }

    /// Quotients rounded down and what they leave: [`Engine::signed_div_rem_floor`].
    ///
    /// # Errors
    /// [`Error::ZeroDivisor`] names a row divided by zero; otherwise as
    /// [`OnIntegers::compute`].
    pub fn div_rem_floor(&self, a: &Integers, b: &Integers) -> Result<(Integers, Integers), Error> {
        self.divided(a, b, Rounding::Floor)
    }

    /// Quotients rounded towards zero and what they leave: [`Engine::signed_div_rem_truncated`].
    ///
    /// # Errors
    /// As [`OnIntegers::div_rem_floor`].
    pub fn div_rem_truncated(
        &self,
        a: &Integers,
        b: &Integers,
    ) -> Result<(Integers, Integers), Error> {
        self.divided(a, b, Rounding::Truncated)
    }

    /// Quotients whose remainders are not negative: [`Engine::signed_div_rem_euclid`].
    ///
    /// # Errors
    /// As [`OnIntegers::div_rem_floor`].
    pub fn div_rem_euclid(
        &self,
        a: &Integers,
        b: &Integers,
    ) -> Result<(Integers, Integers), Error> {
        self.divided(a, b, Rounding::Euclid)
    }

    /// Quotients of multiples of their divisors.
    ///
    /// # Errors
    /// [`Error::NotDivisible`] names a row that is no multiple of its divisor; otherwise as
    /// [`OnIntegers::div_rem_floor`].
    pub fn div_exact(&self, a: &Integers, b: &Integers) -> Result<Integers, Error> {
        self.each(
            Function::Operation(Operation::DivRem),
            &[a, b],
            |engine, x| engine.signed_div_exact(x[0], x[1]),
        )
    }

    /// One result for each row.
    fn each(
        &self,
        function: Function,
        operands: &[&Integers],
        compute: impl Fn(&Engine, &[&SignedBatch]) -> Result<SignedBatch, Error>,
    ) -> Result<Integers, Error> {
        let made = self.engine.by_rows(function, operands, 1, |operands| {
            Ok(vec![compute(self.engine, operands)?])
        });
        Ok(only(made?))
    }

    /// Quotients and remainders.
    fn divided(
        &self,
        a: &Integers,
        b: &Integers,
        rounding: Rounding,
    ) -> Result<(Integers, Integers), Error> {
        if self.engine.passes() && narrow::divides_columns(a, b) {
            return Ok(narrow::divided(a, b, rounding)?.into());
        }
        let divide = match rounding {
            Rounding::Floor => Engine::signed_div_rem_floor,
            Rounding::Truncated => Engine::signed_div_rem_truncated,
            Rounding::Euclid => Engine::signed_div_rem_euclid,
        };
        let function = Function::Operation(Operation::DivRem);
        let made = self.engine.by_rows(function, &[a, b], 2, |x| {
            let (quotient, remainder) = divide(self.engine, x[0], x[1])?;
            Ok(vec![quotient, remainder])
        });
        Ok(both(made?))
    }
}
