//! The operations that columns of every kind have, under one name.

use crate::operations::forms::Form;
use crate::{Batch, BigUint, Engine, Error, SignedBatch};
use bigint_core::Operation;
use bigint_cpu::collect;
use std::cmp::Ordering;
use std::ops::Range;

/// A column of numbers: [`Batch`], [`SignedBatch`] or [`Integers`](crate::Integers). The methods of
/// [`Engine`] take columns of any kind, all operands of a call of the same.
///
/// * Operands are columns of as many numbers each, or one number that stands for all rows.
/// * What an operation is of signed numbers, its declaration's
///   [`Signs`](crate::advanced::Signs) say: quotients are rounded down, and where nothing is said
///   negative numbers are refused.
/// * A result of a [`Batch`] that is negative is an error; comparisons and symbols, which may be,
///   are 0, 1 and 2 there for -1, 0 and 1.
/// * What depends on how wide numbers are has no meaning for `Integers`: the methods for it take
///   batches.
///
/// Expressions of several operations are cheaper whole: [`Engine::eval`].
///
/// ```
/// use bigint_host::{Engine, Integers};
/// let engine = Engine::auto();
/// let a = Integers::from_texts(["-12", "0", "0x300000000000000000"])?;
/// let b = Integers::from([18]);
/// assert_eq!(engine.gcd(&a, &b)?, Integers::from([6, 18, 6]));
/// let (quotients, are_of_zero) = engine.masked_div(&b, &a)?;
/// assert_eq!(quotients, Integers::from([-2, 0, 0]));
/// assert_eq!(are_of_zero, [false, true, false]);
/// # Ok::<(), bigint_host::Error>(())
/// ```
pub trait Column: Sized + private::Methods {}

impl<C: private::Methods> Column for C {}

pub(crate) use private::Methods;

mod private {
    use super::*;

    /// The engine's methods, each as it is of one kind of columns; [`Engine`]'s own say what they
    /// compute.
    pub trait Methods: Sized {
        fn apply(engine: &Engine, operation: Operation, x: &[&Self]) -> Result<Vec<Self>, Error>;
        fn masked_apply(
            engine: &Engine,
            operation: Operation,
            x: &[&Self],
        ) -> Result<(Vec<Self>, Vec<bool>), Error>;
        fn neg(engine: &Engine, a: &Self) -> Result<Self, Error>;
        fn abs(engine: &Engine, a: &Self) -> Result<Self, Error>;
        fn shl(engine: &Engine, a: &Self, bits: &Self) -> Result<Self, Error> {
            Ok(Self::apply(engine, Operation::Shl, &[a, bits])?.swap_remove(0))
        }
        fn compare(engine: &Engine, a: &Self, b: &Self) -> Result<Vec<Ordering>, Error>;
        fn sum(engine: &Engine, a: &Self) -> Result<Self, Error>;
        fn product(engine: &Engine, a: &Self) -> Result<Self, Error>;
        fn prefix_sum(engine: &Engine, a: &Self) -> Result<Self, Error>;
        fn gather(engine: &Engine, a: &Self, indices: &[usize]) -> Result<Self, Error>;
        fn slice(engine: &Engine, a: &Self, range: Range<usize>) -> Result<Self, Error>;
        fn concatenate(engine: &Engine, columns: &[&Self]) -> Result<Self, Error>;
        fn pow(engine: &Engine, a: &Self, e: &Self) -> Result<Self, Error>;
        fn is_prime(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error>;
        fn next_prime(engine: &Engine, a: &Self) -> Result<Self, Error>;
        fn prev_prime(engine: &Engine, a: &Self) -> Result<Self, Error>;
        fn is_safe_prime(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error>;
        fn is_strong_probable_prime(
            engine: &Engine,
            a: &Self,
            bases: &[BigUint],
        ) -> Result<Vec<bool>, Error>;
        fn is_perfect_power(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error>;
        fn div_rem_floor(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error>;
        fn div_rem_truncated(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error>;
        fn div_rem_euclid(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error>;
        fn div_exact(engine: &Engine, a: &Self, b: &Self) -> Result<Self, Error>;
        fn decimals(engine: &Engine, a: &Self) -> Result<Vec<String>, Error>;
    }
}

impl Methods for Batch {
    fn apply(engine: &Engine, operation: Operation, x: &[&Self]) -> Result<Vec<Self>, Error> {
        Ok(engine.compute(operation, Form::Exact, x)?.results)
    }

    fn masked_apply(
        engine: &Engine,
        operation: Operation,
        x: &[&Self],
    ) -> Result<(Vec<Self>, Vec<bool>), Error> {
        if !operation.declaration().flag.is_of_no_value() {
            let made = Self::apply(engine, operation, x)?;
            let count = made.first().map_or(0, Batch::len);
            return Ok((made, collect((0..count).map(|_| false))?));
        }
        let outcome = engine.compute(operation, Form::Overflowing, x)?;
        let flags = outcome.flags()?;
        Ok((outcome.results, flags))
    }

    fn neg(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.sub(&engine.mask(&[false])?, a)
    }

    fn abs(_: &Engine, a: &Self) -> Result<Self, Error> {
        Ok(a.clone())
    }

    fn shl(engine: &Engine, a: &Self, bits: &Self) -> Result<Self, Error> {
        engine.shl_batch(a, bits)
    }

    fn compare(engine: &Engine, a: &Self, b: &Self) -> Result<Vec<Ordering>, Error> {
        let order = engine.order(a, b)?;
        Ok(collect(order.rows()?.iter().map(|told| told.cmp(&1)))?)
    }

    fn sum(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.sum_of_batch(a)
    }

    fn product(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.product_of_batch(a)
    }

    fn prefix_sum(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.prefix_sum_of_batch(a)
    }

    fn gather(engine: &Engine, a: &Self, indices: &[usize]) -> Result<Self, Error> {
        engine.gather_batch(a, indices)
    }

    fn slice(engine: &Engine, a: &Self, range: Range<usize>) -> Result<Self, Error> {
        engine.slice_batch(a, range)
    }

    fn concatenate(engine: &Engine, columns: &[&Self]) -> Result<Self, Error> {
        engine.concatenate_batches(columns)
    }

    fn pow(engine: &Engine, a: &Self, e: &Self) -> Result<Self, Error> {
        engine.pow_batch(a, e)
    }

    fn is_prime(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error> {
        engine.are_primes(a)
    }

    fn next_prime(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.next_prime_of_batch(a)
    }

    fn prev_prime(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.prev_prime_of_batch(a)
    }

    fn is_safe_prime(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error> {
        engine.are_safe_primes(a)
    }

    fn is_strong_probable_prime(
        engine: &Engine,
        a: &Self,
        bases: &[BigUint],
    ) -> Result<Vec<bool>, Error> {
        engine.are_strong_probable_primes(a, bases)
    }

    fn is_perfect_power(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error> {
        engine.are_perfect_powers(a)
    }

    fn div_rem_floor(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error> {
        engine.div_rem(a, b)
    }

    fn div_rem_truncated(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error> {
        engine.div_rem(a, b)
    }

    fn div_rem_euclid(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error> {
        engine.div_rem(a, b)
    }

    fn div_exact(engine: &Engine, a: &Self, b: &Self) -> Result<Self, Error> {
        engine.div_exact_batch(a, b)
    }

    fn decimals(engine: &Engine, a: &Self) -> Result<Vec<String>, Error> {
        engine.decimals_of_batch(a, |_| false)
    }
}

impl Methods for SignedBatch {
    fn apply(engine: &Engine, operation: Operation, x: &[&Self]) -> Result<Vec<Self>, Error> {
        engine.signed_apply(operation, x)
    }

    fn masked_apply(
        engine: &Engine,
        operation: Operation,
        x: &[&Self],
    ) -> Result<(Vec<Self>, Vec<bool>), Error> {
        let (made, flags) = engine.signed_masked(operation, x)?;
        let flags = flags.rows()?;
        Ok((made, collect(flags.iter().map(|&flag| flag != 0))?))
    }

    fn neg(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.signed_neg(a)
    }

    fn abs(_: &Engine, a: &Self) -> Result<Self, Error> {
        Ok(SignedBatch::natural(a.magnitude().clone()))
    }

    fn compare(engine: &Engine, a: &Self, b: &Self) -> Result<Vec<Ordering>, Error> {
        engine.signed_order(a, b)
    }

    fn sum(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.signed_sum(a)
    }

    fn product(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.signed_product(a)
    }

    fn prefix_sum(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.by_sign(a, |engine, x| engine.prefix_sum(x))
    }

    fn gather(engine: &Engine, a: &Self, indices: &[usize]) -> Result<Self, Error> {
        let magnitude = engine.gather(a.magnitude(), indices)?;
        let signs = a.signs().filter(|signs| signs.len() == a.len());
        let signs = signs.map(|signs| engine.gather(signs, indices));
        let of_all = a.signs().cloned();
        Ok(SignedBatch::of(magnitude, signs.transpose()?.or(of_all)))
    }

    fn slice(engine: &Engine, a: &Self, range: Range<usize>) -> Result<Self, Error> {
        let magnitude = engine.slice(a.magnitude(), range.clone())?;
        let signs = a.signs().filter(|signs| signs.len() == a.len());
        let signs = signs.map(|signs| engine.slice(signs, range));
        let of_all = a.signs().cloned();
        Ok(SignedBatch::of(magnitude, signs.transpose()?.or(of_all)))
    }

    fn concatenate(engine: &Engine, columns: &[&Self]) -> Result<Self, Error> {
        let magnitudes: Vec<&Batch> = columns.iter().map(|a| a.magnitude()).collect();
        let magnitude = engine.concatenate(&magnitudes)?;
        if columns.iter().all(|a| a.signs().is_none()) {
            return Ok(SignedBatch::natural(magnitude));
        }
        let none = engine.mask(&[false])?;
        let signs = columns.iter().map(|a| match a.signs() {
            Some(signs) if signs.len() == a.len() => Ok(signs.clone()),
            signs => engine.gather(signs.unwrap_or(&none), &vec![0; a.len()]),
        });
        let signs = signs.collect::<Result<Vec<_>, Error>>()?;
        let signs = engine.concatenate(&signs.iter().collect::<Vec<_>>())?;
        Ok(SignedBatch::of(magnitude, Some(signs)))
    }

    fn pow(engine: &Engine, a: &Self, e: &Self) -> Result<Self, Error> {
        engine.signed_pow(a, e)
    }

    fn is_prime(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error> {
        engine.is_prime(&engine.or_zero(a)?)
    }

    fn next_prime(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.signed_next_prime(a)
    }

    fn prev_prime(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.signed_prev_prime(a)
    }

    fn is_safe_prime(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error> {
        engine.is_safe_prime(&engine.or_zero(a)?)
    }

    fn is_strong_probable_prime(
        engine: &Engine,
        a: &Self,
        bases: &[BigUint],
    ) -> Result<Vec<bool>, Error> {
        engine.is_strong_probable_prime(&engine.or_zero(a)?, bases)
    }

    fn is_perfect_power(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error> {
        engine.refuse_negatives(Operation::Iroot, &[a], 0)?;
        engine.is_perfect_power(a.magnitude())
    }

    fn div_rem_floor(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error> {
        engine.signed_div_rem_floor(a, b)
    }

    fn div_rem_truncated(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error> {
        engine.signed_div_rem_truncated(a, b)
    }

    fn div_rem_euclid(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error> {
        engine.signed_div_rem_euclid(a, b)
    }

    fn div_exact(engine: &Engine, a: &Self, b: &Self) -> Result<Self, Error> {
        engine.signed_div_exact(a, b)
    }

    fn decimals(engine: &Engine, a: &Self) -> Result<Vec<String>, Error> {
        let negative = a.negative()?;
        engine.decimals_of_batch(a.magnitude(), |i| negative[i])
    }
}
