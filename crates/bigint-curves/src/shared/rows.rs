//! What the host gives the device of each signature: a row of limbs.

/// Bits of a window of the device's digits.
pub const WINDOW_BITS: u32 = 4;

/// Limbs of a row of ECDSA: `x` and `y` of the key, two candidates, [`KIND`], `u`, and terms of `v`.
pub const ECDSA: usize = 60;

/// Where the candidates are.
pub const CANDIDATES: u32 = 16;

/// Where the kind of `y` is, and above it the signs of terms.
pub const KIND: u32 = 32;

/// The kind of `y` where it is given; 0 and 1 are parities.
pub const IS_Y: u32 = 2;

/// The bit of the first term's sign.
pub const SIGNS: u32 = 2;

/// Where `u` is.
pub const U: u32 = 33;

/// Where the first term is.
pub const V: u32 = 42;

/// Limbs of `u` and of a term.
pub const NUMBER: u32 = 9;

/// Limbs of a row of Ed25519: the key, `R`, `s` and `k`.
pub const ED25519: usize = 32;

/// Where `R` is.
pub const R: u32 = 8;

/// Where `S` is.
pub const S: u32 = 16;

/// Where `k` is.
pub const K: u32 = 24;
