//! The machine: everything that Rust has no word for. The only place with
//! `asm!` and LLVM intrinsics; what stands above it is safe code.
//!
//! Names follow `cuda_std` where it has them.

mod access;
pub mod block;
pub mod carry;
pub mod flat;
pub mod float;
pub mod fours;
pub mod handed;
pub mod known;
pub mod local;
pub mod matrix;
pub mod memory;
pub mod registers;
pub mod residues;
pub mod row;
pub mod shared;
pub mod sieve;
pub mod staged;
pub mod stretch;
pub mod strip;
pub mod thread;
pub mod three;
pub mod triangle;
pub mod warp;
pub mod window;
