#![doc = include_str!("../README.md")]
#![allow(dead_code, reason = "the executor that uses the rest is laid next")]

mod arch;
mod check;
pub mod count;
mod device;
mod memory;
pub mod ptx;

pub use arch::Arch;
pub use check::{Checks, Fault, FaultKind};
pub use count::{Class, Counts, Issued};
pub use device::{Device, DeviceConfig, Grid, LoadError, LoadedModule, Report};
pub use memory::OutOfMemory;
