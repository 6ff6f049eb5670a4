//! `+ - *` and unary minus, and shifts, on references to columns and on expressions.

use super::{Expression, Function};
use crate::values::batch::Batch;
use crate::{Integers, Operation, SignedBatch};
use std::ops::{Add, Mul, Neg, Shl, Shr, Sub};
use std::sync::Arc;

/// For `&Batch`, that is
///
/// ```text
/// impl<R: Into<Expression<Batch>>> Add<R> for &Batch {
///     type Output = Expression<Batch>;
///     fn add(self, other: R) -> Expression<Batch>;
/// }
/// ```
macro_rules! operators {
    ($($trait:ident $method:ident)*) => {$(
        operators! { @ $trait $method [] &Batch => Batch }
        operators! { @ $trait $method [] &SignedBatch => SignedBatch }
        operators! { @ $trait $method [] &Integers => Integers }
        operators! { @ $trait $method [V,] Expression<V> => V }
        operators! { @ $trait $method [V,] &Expression<V> => V }
    )*};
    (@ $trait:ident $method:ident [$($parameter:ident,)?] $left:ty => $value:ident) => {
        impl<$($parameter,)? R: Into<Expression<$value>>> $trait<R> for $left {
            type Output = Expression<$value>;

            fn $method(self, other: R) -> Expression<$value> {
                Expression::apply(Operation::$trait, [self.into(), other.into()])
            }
        }
    };
}

operators! { Add add Sub sub Mul mul Shl shl Shr shr }

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
    Expression<SignedBatch> => SignedBatch,
    &Expression<SignedBatch> => SignedBatch,
    &Integers => Integers,
    Expression<Integers> => Integers,
    &Expression<Integers> => Integers
}
