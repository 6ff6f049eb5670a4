//! `+ - *` and unary minus, and shifts, on references to batches and on expressions.

use super::{Expression, Function};
use crate::batch::Batch;
use crate::{Operation, SignedBatch};
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
    ($($of:ty),*) => {$(
        impl Neg for $of {
            type Output = Expression<SignedBatch>;

            fn neg(self) -> Expression<SignedBatch> {
                let operand = Expression::<SignedBatch>::from(self);
                Expression::function(Function::Negate, vec![Arc::clone(&operand.node)])
            }
        }
    )*};
}

negation! { &SignedBatch, Expression<SignedBatch>, &Expression<SignedBatch> }
