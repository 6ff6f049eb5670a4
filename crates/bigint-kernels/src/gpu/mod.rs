//! The machine: everything for which Rust has no word. This is the only folder with `asm!` and
//! LLVM intrinsics; the code above it is safe.
//!
//! Names are those of `cuda_std` where it has one.

mod access;
pub mod arrivals;
pub mod block;
pub mod carry;
pub mod flat;
pub mod float;
pub mod folding;
pub mod fours;
pub mod halves;
pub mod handed;
pub mod known;
pub mod local;
pub mod matrix;
pub mod memory;
pub mod quads;
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
pub mod warpgroup;
pub mod wide;
pub mod window;
