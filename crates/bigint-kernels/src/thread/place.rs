//! A number of bits, taken apart into limbs and what is left of one.

use bigint_core::{LIMB_BITS, Limb};

/// `limbs * 32 + bits` bits.
#[derive(Clone, Copy)]
pub struct Place {
    /// Whole limbs.
    pub limbs: u32,
    /// Bits beyond them, below 32.
    pub bits: u32,
}

impl Place {
    /// So many bits. No number has `2^32 - 1`, so that this stands for all that are more.
    #[inline(always)]
    pub fn of(bits: Limb) -> Self {
        Place {
            limbs: bits / LIMB_BITS as u32,
            bits: bits % LIMB_BITS as u32,
        }
    }
}

/// Two neighbouring limbs as one word.
#[inline(always)]
pub fn word(high: Limb, low: Limb) -> u64 {
    u64::from(high) << LIMB_BITS | u64::from(low)
}
