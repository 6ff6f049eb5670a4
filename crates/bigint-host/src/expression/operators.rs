//! `+ - * / %`, shifts, `& | ^` and unary minus, on columns and on expressions; machine integers may
//! stand on either side.
//!
//! Operators on columns and on references to them build expressions: a clone of a column is free.
//! Operators in place extend an expression; on a column they compute at once.

use super::{Expression, Function, Value};
use crate::values::batch::Batch;
use crate::{BigInt, BigUint, Engine, Integers, Operation, Options, SignedBatch};
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};
use std::sync::{Arc, LazyLock};

/// For `&Batch`, that is
///
/// ```text
/// impl<R: Into<Expression<Batch>>> Add<R> for &Batch {
///     type Output = Expression<Batch>;
///     fn add(self, other: R) -> Expression<Batch>;
/// }
/// ```
macro_rules! operators {
    ($($trait:ident $method:ident $operation:ident $assign:ident $assigned:ident)*) => {$(
        operators! { @ $trait $method $operation [] &Batch => Batch }
        operators! { @ $trait $method $operation [] Batch => Batch }
        operators! { @ $trait $method $operation [] &SignedBatch => SignedBatch }
        operators! { @ $trait $method $operation [] SignedBatch => SignedBatch }
        operators! { @ $trait $method $operation [] &Integers => Integers }
        operators! { @ $trait $method $operation [] Integers => Integers }
        operators! { @ $trait $method $operation [V,] Expression<V> => V }
        operators! { @ $trait $method $operation [V,] &Expression<V> => V }

        impl<V, R: Into<Expression<V>>> $assign<R> for Expression<V> {
            fn $assigned(&mut self, other: R) {
                *self = $trait::$method(&*self, other);
            }
        }

        operators! { = $trait $method $assign $assigned Batch }
        operators! { = $trait $method $assign $assigned SignedBatch }
        operators! { = $trait $method $assign $assigned Integers }
    )*};
    (@ $trait:ident $method:ident $operation:ident [$($parameter:ident,)?] $left:ty => $value:ident) => {
        impl<$($parameter,)? R: Into<Expression<$value>>> $trait<R> for $left {
            type Output = Expression<$value>;

            fn $method(self, other: R) -> Expression<$value> {
                Expression::apply(Operation::$operation, [self.into(), other.into()])
            }
        }
    };
    (= $trait:ident $method:ident $assign:ident $assigned:ident $value:ident) => {
        /// Computed at once, by [`Engine::eval`].
        ///
        /// # Panics
        /// If it answers an error.
        impl<R: Into<Expression<$value>>> $assign<R> for $value {
            fn $assigned(&mut self, other: R) {
                *self = in_place(self.own_engine(), $trait::$method(&*self, other));
            }
        }
    };
}

operators! {
    Add add Add AddAssign add_assign
    Sub sub Sub SubAssign sub_assign
    Mul mul Mul MulAssign mul_assign
    Div div Div DivAssign div_assign
    Rem rem Rem RemAssign rem_assign
    Shl shl Shl ShlAssign shl_assign
    Shr shr Shr ShrAssign shr_assign
    BitAnd bitand And BitAndAssign bitand_assign
    BitOr bitor Or BitOrAssign bitor_assign
    BitXor bitxor Xor BitXorAssign bitxor_assign
}

fn in_place<V: Value>(engine: Engine, expression: Expression<V>) -> V {
    let value = engine.eval(&expression);
    value.unwrap_or_else(|error| panic!("an operator in place: {error}"))
}

impl Batch {
    /// The engine that made it.
    fn own_engine(&self) -> Engine {
        Engine {
            inner: Arc::clone(&self.node().engine),
            options: Options::default(),
        }
    }
}

impl SignedBatch {
    fn own_engine(&self) -> Engine {
        self.magnitude().own_engine()
    }
}

impl Integers {
    /// Integers are no engine's: the CPU computes them in place.
    fn own_engine(&self) -> Engine {
        static CPU: LazyLock<Engine> = LazyLock::new(Engine::cpu);
        CPU.clone()
    }
}

macro_rules! negation {
    ($($of:ty => $value:ty),*) => {$(
        impl Neg for $of {
            type Output = Expression<$value>;

            fn neg(self) -> Expression<$value> {
                let operand = Expression::<$value>::from(self);
                Expression::function(Function::Negate, vec![Arc::clone(&operand.node)])
            }
        }
    )*};
}

negation! {
    &SignedBatch => SignedBatch,
    SignedBatch => SignedBatch,
    Expression<SignedBatch> => SignedBatch,
    &Expression<SignedBatch> => SignedBatch,
    &Integers => Integers,
    Integers => Integers,
    Expression<Integers> => Integers,
    &Expression<Integers> => Integers
}

/// Numbers for all rows. They may be negative also among batches, where only results must not be.
macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl<V> From<$number> for Expression<V> {
            fn from(number: $number) -> Self {
                Expression::number(number.into())
            }
        }

        numbers! { @ $number [V] Expression<V> => V }
        numbers! { @ $number [] &Batch => Batch }
        numbers! { @ $number [] &SignedBatch => SignedBatch }
        numbers! { @ $number [] &Integers => Integers }
    )*};
    (@ $number:ident $parameter:tt $right:ty => $value:ident) => {
        numbers! { = $number $parameter $right => $value: Add add }
        numbers! { = $number $parameter $right => $value: Sub sub }
        numbers! { = $number $parameter $right => $value: Mul mul }
        numbers! { = $number $parameter $right => $value: Div div }
        numbers! { = $number $parameter $right => $value: Rem rem }
    };
    (= $number:ident [$($parameter:ident)?] $right:ty => $value:ident: $trait:ident $method:ident) => {
        impl$(<$parameter>)? $trait<$right> for $number {
            type Output = Expression<$value>;

            fn $method(self, other: $right) -> Expression<$value> {
                $trait::$method(Expression::<$value>::from(self), other)
            }
        }
    };
}

numbers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize BigInt BigUint }
