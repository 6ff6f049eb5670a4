//! What the host gives the device of each signature, a row of limbs.

/// Bits of a window of the device's digits.
pub const WINDOW_BITS: u32 = 4;

/// Bits of a place of `u` and `S` on the device, and points in the generator's table for each.
pub const PLACE_BITS: u32 = 16;

/// Points in the generator's table for each place.
pub const PLACE_ENTRIES: usize = 1 << (PLACE_BITS - 1);

/// Places of a number below `2^255`.
pub const PLACES: u32 = 16;

/// Limbs of a row of ECDSA: `x` and `y` of the key, `r`, `s` and the digest's number.
pub const ECDSA: u32 = 40;

/// Where `y` is. Of a key of 33 bytes it is no coordinate: `-1`, or `-2` if `y` is odd.
pub const Y: u32 = 8;

/// Where `r` is.
pub const R: u32 = 16;

/// Where `s` is.
pub const S: u32 = 24;

/// Where the digest's number is.
pub const DIGEST: u32 = 32;

/// Limbs of a row of Ed25519: the key, `R`, `S` and `k`.
pub const ED25519: u32 = 32;

/// Where `R` of Ed25519 is.
pub const ENCODING: u32 = 8;

/// Where `S` of Ed25519 is.
pub const FACTOR: u32 = 16;

/// Where `k` is.
pub const K: u32 = 24;
