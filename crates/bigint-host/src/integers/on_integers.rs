//! The engine's operations on integers of any lengths.
//!
//! Each has the name that it has of batches, and is computed as batches are: rows of alike
//! lengths together ([`Engine::by_rows`]).

use crate::expression::{Expression, Function};
use crate::integers::short::Rounding;
use crate::integers::{narrow, orders, passing, total};
use crate::operations::column::Methods;
use crate::operations::decimals;
use crate::operations::forms::{both, only};
use crate::plan::choose::Converter;
use crate::values::integers::Integers;
use crate::{BigUint, Engine, Error, SignedBatch};
use bigint_core::Operation;
use bigint_cpu::{collect, signed_sum};
use std::cmp::Ordering;
use std::ops::Range;

/// An engine's operations on [`Integers`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnIntegers<'a> {
    engine: &'a Engine,
}

impl Methods for Integers {
    fn apply(engine: &Engine, operation: Operation, x: &[&Self]) -> Result<Vec<Self>, Error> {
        OnIntegers { engine }.compute(operation, x)
    }

    fn masked_apply(
        engine: &Engine,
        operation: Operation,
        x: &[&Self],
    ) -> Result<(Vec<Self>, Vec<bool>), Error> {
        OnIntegers { engine }.masked_compute(operation, x)
    }

    fn neg(_: &Engine, a: &Self) -> Result<Self, Error> {
        signed_by(a, |_, is_negative| !is_negative)
    }

    fn abs(_: &Engine, a: &Self) -> Result<Self, Error> {
        signed_by(a, |_, _| false)
    }

    fn compare(engine: &Engine, a: &Self, b: &Self) -> Result<Vec<Ordering>, Error> {
        OnIntegers { engine }.compare(a, b)
    }

    fn sum(engine: &Engine, a: &Self) -> Result<Self, Error> {
        if engine.passes() {
            return total::sum(a);
        }
        engine.eval(&Expression::from(a).sum())
    }

    fn product(engine: &Engine, a: &Self) -> Result<Self, Error> {
        engine.eval(&Expression::from(a).product())
    }

    /// Computed in one pass on the host: each number is read once, which costs no more than
    /// bringing it to a device.
    fn prefix_sum(_: &Engine, a: &Self) -> Result<Self, Error> {
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

    fn gather(_: &Engine, a: &Self, indices: &[usize]) -> Result<Self, Error> {
        a.gather(indices)
    }

    fn slice(_: &Engine, a: &Self, range: Range<usize>) -> Result<Self, Error> {
        a.slice(range)
    }

    fn concatenate(_: &Engine, columns: &[&Self]) -> Result<Self, Error> {
        Integers::concatenate(columns)
    }

    fn pow(engine: &Engine, a: &Self, e: &Self) -> Result<Self, Error> {
        OnIntegers { engine }.each(Function::Power, &[a, e], |engine, x| {
            engine.signed_pow(x[0], x[1])
        })
    }

    fn is_prime(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error> {
        OnIntegers { engine }.verdicts(a, |engine, x| engine.is_prime(x))
    }

    fn next_prime(engine: &Engine, a: &Self) -> Result<Self, Error> {
        OnIntegers { engine }.each(Function::NextPrime, &[a], |engine, x| {
            engine.signed_next_prime(x[0])
        })
    }

    fn prev_prime(engine: &Engine, a: &Self) -> Result<Self, Error> {
        OnIntegers { engine }.each(Function::PrevPrime, &[a], |engine, x| {
            engine.signed_prev_prime(x[0])
        })
    }

    fn is_safe_prime(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error> {
        OnIntegers { engine }.verdicts(a, |engine, x| engine.is_safe_prime(x))
    }

    fn is_strong_probable_prime(
        engine: &Engine,
        a: &Self,
        bases: &[BigUint],
    ) -> Result<Vec<bool>, Error> {
        OnIntegers { engine }.verdicts(a, |engine, x| engine.is_strong_probable_prime(x, bases))
    }

    fn is_perfect_power(engine: &Engine, a: &Self) -> Result<Vec<bool>, Error> {
        OnIntegers { engine }.verdicts(a, |engine, x| engine.is_perfect_power(x))
    }

    fn div_rem_floor(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error> {
        OnIntegers { engine }.divided(a, b, Rounding::Floor)
    }

    fn div_rem_truncated(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error> {
        OnIntegers { engine }.divided(a, b, Rounding::Truncated)
    }

    fn div_rem_euclid(engine: &Engine, a: &Self, b: &Self) -> Result<(Self, Self), Error> {
        OnIntegers { engine }.divided(a, b, Rounding::Euclid)
    }

    fn div_exact(engine: &Engine, a: &Self, b: &Self) -> Result<Self, Error> {
        let function = Function::Operation(Operation::DivRem);
        OnIntegers { engine }.each(function, &[a, b], |engine, x| {
            engine.signed_div_exact(x[0], x[1])
        })
    }

    fn decimals(engine: &Engine, a: &Self) -> Result<Vec<String>, Error> {
        // Numbers of about one length are a batch.
        let height = |&i: &usize| decimals::height(a.length(i));
        let mut order: Vec<usize> = (0..a.len()).collect();
        order.sort_by_key(height);
        let (mut done, mut texts) = (vec![false; a.len()], vec![String::new(); a.len()]);
        for class in order.chunk_by(|i, j| height(i) == height(j)) {
            let width = class.iter().map(|&i| a.length(i)).max().unwrap_or(1);
            let converter = engine.converter(width, class.len());
            if converter == Converter::Cpu {
                continue;
            }
            let batch = engine.magnitudes_of(a, class.len(), width, |at| class[at])?;
            let is_negative = |at: usize| a.is_negative(class[at]);
            let found = match converter {
                Converter::Products => engine.decimals_by_products(&batch, is_negative)?,
                _ => engine.decimals_by_threads(&batch, is_negative)?,
            };
            for (&i, text) in class.iter().zip(found) {
                (done[i], texts[i]) = (true, text);
            }
        }
        let others: Vec<usize> = (0..a.len()).filter(|&i| !done[i]).collect();
        let number = |at: usize| (a.is_negative(others[at]), a.magnitude(others[at]));
        for (&i, text) in others.iter().zip(decimals::written(others.len(), number)?) {
            texts[i] = text;
        }
        Ok(texts)
    }
}

/// Whether each number is not zero.
fn verdicts(told: &Integers) -> Result<Vec<bool>, Error> {
    let is_set = |index| !told.magnitude(index).is_empty();
    Ok(collect((0..told.len()).map(is_set))?)
}

/// The magnitudes of a column with new signs.
fn signed_by(a: &Integers, is_negative: impl Fn(usize, bool) -> bool) -> Result<Integers, Error> {
    let mut signed = a.column().slice(0..a.len())?;
    signed.sign_by(is_negative);
    Ok(signed.into())
}

impl OnIntegers<'_> {
    /// [`Engine::apply`], row by row. Numbers are counted in rows.
    fn compute(
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
            self.engine.signed_apply(operation, operands)
        })
    }

    /// [`Engine::masked_apply`], row by row.
    fn masked_compute(
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
            let (mut made, flags) = self.engine.signed_masked(operation, operands)?;
            made.push(SignedBatch::natural(flags));
            Ok(made)
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

    /// The order of each number of `a` and that of `b`.
    fn compare(&self, a: &Integers, b: &Integers) -> Result<Vec<Ordering>, Error> {
        if self.engine.passes() {
            return orders::orders(a, b);
        }
        let order = self.engine.order(a, b)?;
        let told = (0..order.len()).map(|i| match order.magnitude(i) {
            [] => Ordering::Equal,
            _ if order.is_negative(i) => Ordering::Less,
            _ => Ordering::Greater,
        });
        Ok(collect(told)?)
    }

    /// The verdict of a function about each number, as a truth value.
    fn verdicts(
        &self,
        a: &Integers,
        judge: impl Fn(&Engine, &SignedBatch) -> Result<Vec<bool>, Error>,
    ) -> Result<Vec<bool>, Error> {
        let told = self.each(Function::IsPrime, &[a], |engine, x| {
            Ok(SignedBatch::natural(engine.mask(&judge(engine, x[0])?)?))
        });
        verdicts(&told?)
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

    /// Quotients and remainders, row by row.
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
