#![doc = include_str!("../README.md")]

mod bytes;
mod column;
mod error;
mod extension;
#[cfg(feature = "files")]
pub mod files;
mod read;
mod write;

pub use column::Column;
pub use error::Error;
pub use extension::{Any, Fixed, Order, Sign};
pub use read::{batch, read, read_for};
pub use write::{any, fixed, text, text_field};

// Limbs are Arrow's bytes as they lie.
const _: () = assert!(cfg!(target_endian = "little"));
