//! The engine's operations, one method for each form of each declaration.

use crate::common::job::{Job, Wanted};
use crate::operations::column::Column;
use crate::plan::explain::Explanation;
use crate::plan::task::Task;
use crate::values::batch::Batch;
use crate::{BigUint, Engine, Error};
use bigint_core::operation::{Flag, Width};
use bigint_core::{Operation, for_each_operation};

/// A declaration becomes, for subtraction,
///
/// ```text
/// pub fn sub<C: Column>(&self, a: &C, b: &C) -> Result<C, Error>;
/// pub fn wrapping_sub(&self, a: &Batch, b: &Batch) -> Result<Batch, Error>;
/// pub fn overflowing_sub(&self, a: &Batch, b: &Batch) -> Result<(Batch, Vec<bool>), Error>;
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
        impl Engine {$(
            exact! { [$(#[$doc])*] [$($properties)?] $variant $method $operands $results }
            wrapping! { $variant $method $wrapping $operands $results }
            overflowing! { $flag $variant $method $overflowing $operands $results }
        )*}
    };
}

macro_rules! exact {
    (
        @ [$(#[$doc:meta])*] $column:ident [$($bound:tt)*]
        $variant:ident $method:ident ($($operand:ident),*) $results:tt
    ) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// [`Error::CountMismatch`], [`Error::Width`], [`Error::TooLarge`],
        /// [`Error::TooManyBits`], [`Error::Algorithm`]; [`Error::Underflow`] names the first number
        /// of a [`Batch`] that would be negative, [`Error::Negative`] the first that must not be and
        /// is, [`Error::ZeroDivisor`], [`Error::NotInvertible`] or
        /// [`Error::EvenModulus`] the first that has no value, [`Error::NotReduced`] the first that
        /// is not below its modulus where it must be; [`Error::Device`] on a device.
        pub fn $method<$($bound)*>(
            &self,
            $($operand: &$column),*
        ) -> Result<made!($column, $results), Error> {
            let made = self.apply(Operation::$variant, &[$($operand),*])?;
            Ok(results!(made, $results))
        }
    };
    // What depends on how wide numbers are is of batches alone, as what is exact by another name.
    ($doc:tt [[OfWidths $($more:tt)*]] $($rest:tt)*) => {
        exact! { @ $doc Batch [] $($rest)* }
    };
    ($doc:tt $properties:tt Shl $($rest:tt)*) => {
        exact! { @ $doc Batch [] Shl $($rest)* }
    };
    ($doc:tt $properties:tt $($rest:tt)*) => {
        exact! { @ $doc C [C: Column] $($rest)* }
    };
}

macro_rules! wrapping {
    ($variant:ident $method:ident [] $operands:tt $results:tt) => {};
    ($variant:ident $method:ident [$wrapping:ident] ($($operand:ident),*) $results:tt) => {
        #[doc = concat!("[`Engine::", stringify!($method), "`] modulo `2^(32 w)`, with `w`")]
        /// the widest operand's width.
        ///
        /// # Errors
        #[doc = concat!("As [`Engine::", stringify!($method), "`], but for underflow.")]
        pub fn $wrapping(
            &self,
            $($operand: &Batch),*
        ) -> Result<made!(Batch, $results), Error> {
            let outcome = self.compute(Operation::$variant, Form::Wrapping, &[$($operand),*])?;
            Ok(results!(outcome.results, $results))
        }
    };
}

macro_rules! overflowing {
    ($flag:ident $variant:ident $method:ident [] $operands:tt $results:tt) => {};
    (ZeroDivisor $($rest:tt)*) => {
        masked! { "its divisor is zero" $($rest)* }
    };
    (NotInvertible $($rest:tt)*) => {
        masked! { "it has no inverse" $($rest)* }
    };
    (EvenModulus $($rest:tt)*) => {
        masked! { "its modulus is even" $($rest)* }
    };
    (
        $flag:ident $variant:ident $method:ident [$overflowing:ident] ($($operand:ident),*)
        $results:tt
    ) => {
        #[doc = concat!("[`Engine::", stringify!($method), "`] modulo `2^(32 w)`, with `w`")]
        /// the widest operand's width, and for each number whether the exact value is
        /// another. Waits for the device.
        ///
        /// # Errors
        #[doc = concat!("As [`Engine::", stringify!($method), "`], but for underflow.")]
        pub fn $overflowing(
            &self,
            $($operand: &Batch),*
        ) -> Result<(made!(Batch, $results), Vec<bool>), Error> {
            let operands = [$($operand),*];
            let outcome = self.compute(Operation::$variant, Form::Overflowing, &operands)?;
            let flags = outcome.flags()?;
            Ok((results!(outcome.results, $results), flags))
        }
    };
}

macro_rules! masked {
    (
        $no_value:literal
        $variant:ident $method:ident [$masked:ident] ($($operand:ident),*) $results:tt
    ) => {
        #[doc = concat!("[`Engine::", stringify!($method), "`], and for each number")]
        #[doc = concat!("whether ", $no_value, ": its results then are zero.")]
        /// Waits for the device.
        ///
        /// # Errors
        #[doc = concat!("As [`Engine::", stringify!($method), "`], but for these.")]
        pub fn $masked<C: Column>(
            &self,
            $($operand: &C),*
        ) -> Result<(made!(C, $results), Vec<bool>), Error> {
            let (made, flags) = self.masked_apply(Operation::$variant, &[$($operand),*])?;
            Ok((results!(made, $results), flags))
        }
    };
}

/// The type of a method's results.
macro_rules! made {
    ($column:ident, ($r:ident)) => {
        $column
    };
    ($column:ident, ($r:ident, $s:ident)) => {
        ($column, $column)
    };
}

/// The results in the form in which a method returns them.
macro_rules! results {
    ($made:expr, ($r:ident)) => {
        only($made)
    };
    ($made:expr, ($r:ident, $s:ident)) => {
        both($made)
    };
}

for_each_operation!(methods);

/// The result of an operation that has one.
pub(crate) fn only<C>(made: Vec<C>) -> C {
    let mut made = made.into_iter();
    made.next().expect("the declaration has a result")
}

/// The results of an operation that has two.
pub(crate) fn both<C>(made: Vec<C>) -> (C, C) {
    let mut made = made.into_iter();
    let mut next = || made.next().expect("the declaration has two results");
    (next(), next())
}

/// How wide results are, and what becomes of values that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Wide enough for every value; a negative one is an error.
    Exact,
    /// The value modulo `2^(32 w)`, as wide as the widest operand.
    Wrapping,
    /// The same, with the flag of each number; as wide as the exact form where the flag
    /// tells of numbers that have no value, an error in all other forms.
    Overflowing,
    /// The value modulo `2^(32 w)` for this `w`, in limbs.
    Modulo(usize),
}

/// The results of [`Engine::compute`].
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The results, in declared order.
    pub results: Vec<Batch>,
    /// For each number one limb, 0 or 1, in the form that asks for flags.
    pub flags: Option<Batch>,
}

impl Outcome {
    /// The flags, brought to the host; none where none were asked for.
    pub(crate) fn flags(&self) -> Result<Vec<bool>, Error> {
        match &self.flags {
            Some(flags) => Ok(bigint_cpu::collect(
                flags.rows()?.iter().map(|&flag| flag != 0),
            )?),
            None => Ok(Vec::new()),
        }
    }
}

impl Engine {
    /// [`pow_mod`](Engine::pow_mod) by the name that it has in the command, in SQL and in Python.
    ///
    /// # Errors
    /// As for [`Engine::pow_mod`].
    pub fn powmod<C: Column>(&self, a: &C, e: &C, m: &C) -> Result<C, Error> {
        self.pow_mod(a, e, m)
    }

    /// [`inv_mod`](Engine::inv_mod) by the name that it has in the command, in SQL and in Python.
    ///
    /// # Errors
    /// As for [`Engine::inv_mod`].
    pub fn invmod<C: Column>(&self, a: &C, m: &C) -> Result<C, Error> {
        self.inv_mod(a, m)
    }

    /// Any operation on columns of any kind, exact: its results in declared order. The methods of
    /// the operations' names are this.
    ///
    /// ```
    /// use bigint_host::{Engine, Integers, Operation};
    /// let a = Integers::from([17u32, 1]);
    /// let made = Engine::auto().apply(Operation::DivRem, &[&a, &Integers::from([5])])?;
    /// assert_eq!(made, [Integers::from([3, 0]), Integers::from([2, 1])]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Operands`] where there are more or fewer operands than declared;
    /// [`Error::NeedsWidth`] of [`Integers`](crate::Integers), where an operation depends on
    /// widths; otherwise as the operation's own methods.
    pub fn apply<C: Column>(&self, operation: Operation, operands: &[&C]) -> Result<Vec<C>, Error> {
        C::apply(self, operation, operands)
    }

    /// [`Engine::apply`], and for each row whether it has no value: its results then are zero.
    /// If an operation has a value for all numbers, no row is without one.
    ///
    /// # Errors
    /// As for [`Engine::apply`], except for numbers that have no value.
    pub fn masked_apply<C: Column>(
        &self,
        operation: Operation,
        operands: &[&C],
    ) -> Result<(Vec<C>, Vec<bool>), Error> {
        C::masked_apply(self, operation, operands)
    }

    /// Any operation on batches in any form.
    ///
    /// ```
    /// use bigint_host::{Engine, Form, Operation};
    /// let engine = Engine::auto();
    /// let a = engine.batch_from_biguints(&[3u32.into()])?;
    /// let b = engine.batch_from_biguints(&[5u32.into()])?;
    /// let outcome = engine.compute(Operation::Sub, Form::Overflowing, &[&a, &b])?;
    /// assert_eq!(outcome.results[0].to_biguints()?, [u32::MAX - 1].map(Into::into));
    /// assert_eq!(outcome.flags.unwrap().to_biguints()?, [1u32.into()]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Operands`] where there are more or fewer operands than declared;
    /// otherwise as the operation's own methods.
    pub fn compute(
        &self,
        operation: Operation,
        form: Form,
        operands: &[&Batch],
    ) -> Result<Outcome, Error> {
        let job = self.job(operation, form, operands)?;
        self.check(operation, operands)?;
        let outcome = self.run_job(job, operands)?;
        self.know_results(operation, operands, &outcome.results);
        Ok(outcome)
    }

    /// How the exact form of an operation on these operands is computed, and why: by the CPU or
    /// by devices, by which algorithm and launches, and which thresholds say so. Nothing is
    /// computed, and no device is opened.
    ///
    /// ```
    /// use bigint_host::{BackEnd, Engine, Operation};
    /// let engine = Engine::cpu();
    /// let a = engine.batch_from_biguints(&[3u32.into(), 5u32.into()])?;
    /// let explanation = engine.explain(Operation::Mul, &[&a, &a])?;
    /// assert_eq!(explanation.parts[0].back_end, BackEnd::Cpu);
    /// assert!(explanation.to_string().starts_with("mul of 1 x 1 limbs, 2 numbers\n  cpu: 2 by auto"));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Engine::compute`], except for what depends on the numbers.
    pub fn explain(&self, operation: Operation, operands: &[&Batch]) -> Result<Explanation, Error> {
        let job = self.job(operation, Form::Exact, operands)?;
        let nodes: Vec<_> = operands.iter().map(|batch| batch.node().clone()).collect();
        self.inner.explain(&Task::Job(job), &nodes)
    }

    /// [`Engine::compute`], for the first result alone.
    pub(crate) fn first_of(
        &self,
        operation: Operation,
        form: Form,
        operands: &[&Batch],
    ) -> Result<Batch, Error> {
        let mut results = self.compute(operation, form, operands)?.results;
        Ok(results.swap_remove(0))
    }

    /// The result of an operation on residues that are known to be what it is of.
    pub(crate) fn of_residues(
        &self,
        operation: Operation,
        operands: &[&Batch],
    ) -> Result<Batch, Error> {
        let job = self.job(operation, Form::Exact, operands)?;
        Ok(self.run_job(job, operands)?.results.swap_remove(0))
    }

    /// The first result of an operation that is known to have one for all numbers: the host does not wait to hear of it.
    pub(crate) fn of_values(
        &self,
        operation: Operation,
        operands: &[&Batch],
    ) -> Result<Batch, Error> {
        let job = self.job(operation, Form::Exact, operands)?;
        Ok(self
            .run_job(job.without_flags(), operands)?
            .results
            .swap_remove(0))
    }

    /// The job of an operation on these operands, or an error if they do not go together.
    pub(super) fn job(
        &self,
        operation: Operation,
        form: Form,
        operands: &[&Batch],
    ) -> Result<Job, Error> {
        let declared = operation.declaration();
        if operands.len() != declared.operands.len() {
            return Err(Error::Operands {
                operation,
                found: operands.len(),
            });
        }
        let widths: Vec<usize> = operands.iter().map(|operand| operand.width()).collect();
        let of_results = |(result, rule): (usize, &Width)| match form {
            // What stands beside the first result is as wide in every form if it always is.
            _ if result > 0 && matches!(rule, Width::Limbs(_)) => rule.limbs(&widths),
            Form::Exact => rule.limbs(&widths),
            Form::Overflowing if declared.flag.is_of_no_value() => rule.limbs(&widths),
            Form::Wrapping | Form::Overflowing => operation.wrapping_width(&widths),
            Form::Modulo(width) => width,
        };
        let made: Vec<usize> = declared.exact.iter().enumerate().map(of_results).collect();
        let wanted = match (form, declared.flag) {
            (Form::Overflowing, flag) if flag.is_of_no_value() => Wanted::Flags,
            (_, flag) if flag.is_of_no_value() => Wanted::First,
            (_, Flag::None) | (Form::Wrapping | Form::Modulo(_), _) => Wanted::Nothing,
            (Form::Exact, Flag::Borrow) => Wanted::First,
            (Form::Exact, _) => Wanted::Nothing,
            (Form::Overflowing, _) => Wanted::Flags,
        };
        let shapes: Vec<_> = operands.iter().map(|operand| operand.shape()).collect();
        Job::new(operation, &shapes, &made, self.options, wanted)
    }

    /// The results of the exact form of numbers that all have values, by the operation's own kernels or the CPU: the host does
    /// not wait to hear of them.
    pub(crate) fn by_kernels(
        &self,
        operation: Operation,
        operands: &[&Batch],
    ) -> Result<Vec<Batch>, Error> {
        let job = self.job(operation, Form::Exact, operands)?;
        Ok(self.run_whole(job.without_flags(), operands)?.results)
    }

    fn run_job(&self, job: Job, operands: &[&Batch]) -> Result<Outcome, Error> {
        if let Some(outcome) = self.by_newton(job, operands)? {
            return Ok(outcome);
        }
        if let Some(outcome) = self.by_half_gcd(job, operands)? {
            return Ok(outcome);
        }
        if let Some(outcome) = self.by_shorter_shifts(job, operands)? {
            return Ok(outcome);
        }
        match self.by_odd_part(job, operands)? {
            Some(outcome) => Ok(outcome),
            None => self.run_whole(job, operands),
        }
    }

    pub(super) fn run_whole(&self, job: Job, operands: &[&Batch]) -> Result<Outcome, Error> {
        let adopted = operands.iter().map(|operand| self.adopt(operand));
        let adopted = adopted.collect::<Result<Vec<_>, _>>()?;
        let nodes: Vec<_> = adopted.iter().map(|batch| batch.node().clone()).collect();
        let computed = self.inner.compute(&Task::Job(job), &nodes)?;
        match computed.first {
            Some(index) if job.wanted == Wanted::First => {
                Err(no_value(job.operation, operands, index)?)
            }
            _ => Ok(Outcome {
                results: computed.results.into_iter().map(Batch::new).collect(),
                flags: computed.flags.map(Batch::new),
            }),
        }
    }
}

/// The error of the first number that has no value.
pub(crate) fn no_value(
    operation: Operation,
    operands: &[&Batch],
    index: usize,
) -> Result<Error, Error> {
    let is_zero = |modulus: &&Batch| {
        let index = index.min(modulus.len().saturating_sub(1));
        Ok::<_, Error>(modulus.get(index)? == Some(BigUint::ZERO))
    };
    Ok(match operation.declaration().flag {
        Flag::ZeroDivisor => Error::ZeroDivisor { index },
        Flag::NotInvertible if operands.last().map_or(Ok(false), is_zero)? => {
            Error::ZeroDivisor { index }
        }
        Flag::NotInvertible => Error::NotInvertible { index },
        Flag::EvenModulus => Error::EvenModulus { index },
        Flag::None | Flag::Carry | Flag::Borrow => Error::Underflow { index },
    })
}
