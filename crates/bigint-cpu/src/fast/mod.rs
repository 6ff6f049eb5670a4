//! The fast engine: SIMD lanes across a batch, and one number at a time.
//!
//! Which code runs is decided once, by what the machine can do: see [`Path`].

mod cpu;
mod lanes;
mod mul;
pub mod number;
mod path;
mod tuning;

pub use cpu::Cpu;
pub use path::Path;
pub use tuning::{LaneTuning, Tuning};
