//! The columns that users hold, and the places of their limbs.
//!
//! A [`Batch`](batch::Batch) is many numbers of one width: a handle on a [`Node`](node::Node), which
//! knows whether the host, a device or several devices have the limbs, and how to make them again.
//! [`Integers`](integers::Integers) are numbers of any lengths, which the host always has, in a
//! [`Column`](column::Column). Reading and comparing values is here; computing with them is not.

pub(crate) mod batch;
pub(crate) mod collection;
pub(crate) mod column;
mod exchange;
pub(crate) mod foreign;
pub(crate) mod integers;
pub(crate) mod lent;
pub(crate) mod made;
pub(crate) mod making;
pub(crate) mod node;
pub(crate) mod number;
pub(crate) mod shown;
pub(crate) mod signed;
