//! The building blocks of transforms over the complex numbers in FP64, for blocks and for the
//! whole device. [`bigint_core::transform`] explains the ring, the tree and the proof.
//! Arithmetic modulo [primes] is that of the whole device's other transform.

pub mod butterflies;
pub mod carries;
pub mod complex;
pub mod digits;
pub mod exchange;
pub mod odd;
pub mod primes;
