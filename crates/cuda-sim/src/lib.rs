#![doc = include_str!("../README.md")]
// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

mod arch;
mod check;
pub mod count;
mod decode;
mod device;
pub mod driver;
mod exec;
mod grid;
mod ir;
mod lanes;
mod memory;
pub mod occupancy;
pub mod ptx;
mod syntax;

pub use arch::Arch;
pub use check::{Checks, Fault, FaultKind, SourceLine};
pub use count::{Class, Counts, Issued};
pub use device::{Device, DeviceConfig, LoadError, LoadedModule, Report};
pub use exec::Schedule;
pub use grid::{Grid, LaunchOptions};
pub use memory::OutOfMemory;
