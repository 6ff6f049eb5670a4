//! Integers as text: what the library reads, and how results are written.

mod format;

pub use bigint_host::advanced::{Number, Unread};
pub use format::{Format, Formatter};

use bigint_core::{LIMB_BITS, MAX_WIDTH};

/// The longest line that is read as one number, in bytes: any number of
/// [`MAX_WIDTH`] limbs fits, with room for leading zeros.
pub const MAX_TEXT: usize = 1 << 32;

const _: () = assert!(MAX_TEXT > MAX_WIDTH * LIMB_BITS * 31 / 100 && MAX_TEXT > MAX_WIDTH * 8 + 3);
