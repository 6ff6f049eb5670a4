//! What one device does: the launches of one task, on numbers of which it has its share.
//!
//! [`on_device`] launches a single kernel for an operation. Products that all of the device takes go
//! by [`grid`] (complex numbers), [`ntt`] (residues modulo primes) or [`pieces`] (several of those);
//! [`gather`] moves numbers, [`trial`] and [`weighted`] serve Mersenne numbers. Buffers are allocated
//! and kernels launched here; nothing here looks at another device or at the CPU.

pub(crate) mod gather;
pub(crate) mod grid;
pub(crate) mod ntt;
pub(crate) mod on_device;
pub(crate) mod pieces;
pub(crate) mod transform;
pub(crate) mod trial;
pub(crate) mod weighted;
