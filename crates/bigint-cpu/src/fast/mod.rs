//! The fast engine, which uses SIMD lanes across a batch, or computes one number at a time.
//!
//! The code that runs is decided once, by what the machine can do: see [`Path`].

mod add_signed;
pub mod chain;
mod cpu;
pub(crate) mod crew;
mod decimal;
mod div_rem;
mod euclid;
mod fractions;
// Without vectors of the machine nothing calls the lanes.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused))]
mod lanes;
mod limbwise;
mod linear;
#[cfg(target_arch = "x86_64")]
mod lookahead;
mod montgomery;
mod mul;
mod mul_add;
mod mul_high;
pub mod number;
mod packed;
pub(crate) mod pages;
mod path;
mod prefetch;
mod root;
mod shift;
mod stream;
pub mod trial;
mod tune;
mod tuning;
mod words;
mod wordwise;

pub use add_signed::signed_sum;
pub use cpu::Cpu;
pub use div_rem::divide;
pub use euclid::Reduced;
pub use path::Path;
pub use tune::tune;
use tuning::NEVER;
pub use tuning::{LaneTuning, Tuning};
