//! The fast engine: SIMD lanes across a batch, and one number at a time.
//!
//! Which code runs is decided once, by what the machine can do: see [`Path`].

mod path;

pub use path::Path;
