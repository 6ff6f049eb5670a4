//! The chip's own rate of multiply-adds, to which the benchmarks compare products.
//!
//! Chains of `s = x y + s` with the carry handed on, every link one instruction,
//! `IMAD.WIDE.U32.X`: a product of two limbs added to two limbs. A link waits for the
//! one before; the other threads of the multiprocessor keep the multiplier busy.
//!
//! Cost: [`CEILING_MULTIPLY_ADDS`] multiply-adds and one store. Nothing is loaded.

use crate::gpu::carry;
use bigint_core::Limb;
use bigint_core::kernel::CEILING_MULTIPLY_ADDS;

/// Multiply-adds of one turn of the loop.
const TURN: u64 = 8;

/// Runs the chains; their last sum, folded into one limb, so that none is left out.
#[inline(always)]
pub fn multiply_adds(seed: Limb) -> Limb {
    let y: [Limb; 8] = [1, 3, 5, 7, 9, 11, 13, 15].map(
        #[inline(always)]
        |odd: Limb| seed.wrapping_mul(0x9e37_79b9).wrapping_mul(odd),
    );
    let [low, high] = [[y[0], y[1], y[2], y[3]], [y[4], y[5], y[6], y[7]]];
    let mut sum = [0; 8];
    let mut x = seed;
    let mut turns = CEILING_MULTIPLY_ADDS / TURN;
    while turns > 0 {
        sum = carry::multiply_add(carry::multiply_add(sum, x, low), x, high);
        // Else the products would be the same in every turn.
        x ^= sum[0];
        turns -= 1;
    }
    let [a, b, c, d, e, f, g, h] = sum;
    a ^ b ^ c ^ d ^ e ^ f ^ g ^ h
}
