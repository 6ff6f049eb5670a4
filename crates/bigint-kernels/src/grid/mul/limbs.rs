//! The digits of operands, as columns take them from limbs.

use crate::gpu::float::signed;
use crate::gpu::memory::{Any, Number};
use bigint_core::LIMB_BITS;
use bigint_core::transform::grid::GridPlan;

/// Digits of an operand that are whole limbs apart.
#[derive(Clone, Copy)]
pub struct Digits {
    bits: u32,
    /// The limb that has the bit below the first of them, and that bit's place there.
    limb: u32,
    shift: u32,
    /// The limbs from one of these digits to the next.
    step: u32,
    /// Whether the last of them is the number's last.
    has_top: bool,
}

impl Digits {
    #[inline(always)]
    pub fn from(plan: GridPlan, first: u32) -> Self {
        let bits = plan.digit_bits;
        let apart = plan.log_part + plan.log_row;
        // The bit below the digit, which says what the digit below has left, is read with it. Below the lowest digit is
        // limb -1, which reads as zero.
        let from = (first * bits).wrapping_sub(1);
        Digits {
            bits,
            limb: (from as i32 >> 5) as u32,
            shift: from % LIMB_BITS as u32,
            step: (1 << (apart - LIMB_BITS.trailing_zeros())) * bits,
            has_top: first == (1 << apart) - 1,
        }
    }

    /// Digit `k`, balanced unless it is the number's top one, which it may be where it is the last.
    #[inline(always)]
    pub fn at(self, a: Number<Any>, k: u32, is_last: bool) -> f64 {
        let bits = self.bits;
        let [low, high] = a.two(self.limb.wrapping_add(k * self.step));
        let both = ((u64::from(high) << LIMB_BITS | u64::from(low)) >> self.shift) as u32;
        // A digit whose top bit is set counts `2^bits` less, and the digit above it 1 more.
        let mut digit = (both << (31 - bits)) as i32 >> (32 - bits);
        if is_last && self.has_top && digit < 0 {
            digit += 1 << bits;
        }
        signed(digit + (both & 1) as i32)
    }
}
