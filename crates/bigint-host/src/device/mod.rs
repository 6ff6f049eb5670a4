//! The work of one device: the launches of one task, on its share of the numbers.
//!
//! [`job`] carries out the [`launches`] that were chosen for an operation: a single kernel, or,
//! for products that all of the device takes, [`grid`] (complex numbers), [`ntt`] (residues modulo primes) or [`pieces`] (several of those);
//! [`montgomery`] has powers modulo numbers that no kernel holds, made of such products;
//! [`newton`] has reciprocals of such;
//! [`middle`] is what of a product is wanted where a transform wraps, [`sum_of_products`] what has one way back for two, [`pairs`] two of the same points, [`gather`] moves numbers, [`module`] launches users' kernels, [`trial`] and [`weighted`] serve Mersenne numbers. Buffers are allocated
//! and kernels launched here; nothing here looks at another device or at the CPU.

pub(crate) mod gather;
pub(crate) mod grid;
pub(crate) mod job;
pub(crate) mod launches;
pub(crate) mod middle;
pub(crate) mod module;
pub(crate) mod montgomery;
pub(crate) mod newton;
pub(crate) mod ntt;
pub(crate) mod pairs;
mod part;
pub(crate) mod pieces;
mod program;
pub(crate) mod rns;
pub(crate) mod sum_of_products;
mod sums;
pub(crate) mod transform;
pub(crate) mod trial;
pub(crate) mod weighted;
