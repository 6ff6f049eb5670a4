//! Places of bits, as a number of limbs and of bits within one.

use crate::gpu::memory::{Number, Stride};
use bigint_core::{LIMB_BITS, Limb};

/// The place of bit `32 limbs + bits`.
#[derive(Clone, Copy)]
pub struct BitPlace {
    /// The number of whole limbs.
    pub limbs: u32,
    /// The number of bits beyond them, below 32.
    pub bits: u32,
}

impl BitPlace {
    /// The place of bit `bits`. No number has bit `2^32 - 1`, so this value stands for all
    /// higher places too.
    #[inline(always)]
    pub fn of(bits: Limb) -> Self {
        BitPlace {
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

/// Limbs `from .. from + 5` of a number [in fours](Number::in_fours), picked from the eight
/// limbs around them. Places below limb 0 wrap around to places above every number, and read as
/// zero.
#[inline(always)]
pub fn five<S: Stride>(number: Number<S>, from: u32) -> [Limb; 5] {
    let lower = from & !3;
    let [a, b, c, d] = number.fours::<4, true>(lower);
    let [e, f, g, h] = number.fours::<4, true>(lower.wrapping_add(4));
    let choose = |is_second, first, second| if is_second { second } else { first };
    let (two, one) = (from & 2 != 0, from & 1 != 0);
    let by_two = |first, second| choose(two, first, second);
    let limbs = [
        by_two(a, c),
        by_two(b, d),
        by_two(c, e),
        by_two(d, f),
        by_two(e, g),
        by_two(f, h),
    ];
    [0, 1, 2, 3, 4].map(|i| choose(one, limbs[i], limbs[i + 1]))
}
