//! The arithmetic of curves, one source for both sides: the library compiles it for the processor, the
//! crate in `kernels/` for the device.
//!
//! [`field`] says what a prime field must do, [`combination`] computes `u G + v Q` in any group, and
//! [`weierstrass`] and [`edwards`] are the groups. All of this is for public numbers: branches depend on
//! them.

pub mod combination;
pub mod curves;
pub mod edwards;
pub mod field;
#[allow(dead_code)] // The host writes rows in order, and uses no places.
pub mod rows;
pub mod split;
pub mod weierstrass;
