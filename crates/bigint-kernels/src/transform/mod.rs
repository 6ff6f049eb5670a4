//! Transforms over the complex numbers in FP64: what they are made of at every level. The
//! ring, the tree and the proof are in [`bigint_core::transform`]. And arithmetic modulo the
//! [primes] of those of the whole device.

pub mod butterflies;
pub mod carries;
pub mod complex;
pub mod digits;
pub mod exchange;
pub mod primes;
