//! The operations of the kernel of `kernels/src/registers.rs`, as its programs write them, and where a program leaves the
//! table of `kernels/src/edwards.rs`: host and device both compile this file. What each operation does stands at its
//! name; `r a b` are places.

/// `r = a b`.
pub const MUL: u32 = 0;
/// `product = product (held - b)`.
pub const PAIR: u32 = 1;
/// `r = a + b`.
pub const ADD: u32 = 2;
/// `r = a - b`.
pub const SUB: u32 = 3;
/// `r = a`.
pub const COPY: u32 = 4;
/// `held = a`.
pub const HOLD: u32 = 5;
/// `product = a`.
pub const BEGIN: u32 = 6;
/// `r = product`.
pub const END: u32 = 7;

/// The bits of a place that are the limb's number; those above say in which row.
pub const ROW: u32 = 30;

/// The register at which the table of a point on an Edwards curve begins.
pub const TABLE: u32 = 13;
/// Registers of an entry of the table.
pub const CACHED: u32 = 4;
