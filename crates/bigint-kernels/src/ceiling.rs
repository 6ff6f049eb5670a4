//! The chip's own rate of multiply-adds, to which the benchmarks compare products.
//!
//! Each thread runs independent chains of `s = lo(s) hi(s) + s`. A link multiplies two limbs
//! and adds the product to two limbs, by one instruction, `IMAD.WIDE.U32`. It reads nothing but
//! its own sum: its factors are an even and an odd register, and its term is the pair of both,
//! so that no two operands wait for the same bank of registers. (With factors from other
//! registers half of the instructions wait, and the chip loses nearly a tenth of its rate.) A
//! link waits for the one before; the other chains, and the other threads of the
//! multiprocessor, keep the multiplier busy.
//!
//! Cost: [`CEILING_MULTIPLY_ADDS`] multiply-adds and one store. Nothing is loaded.

use crate::gpu::carry;
use bigint_core::Limb;
use bigint_core::modules::CEILING_MULTIPLY_ADDS;

/// The multiply-adds of one turn of the loop: 8 chains of 16 links.
const TURN: u64 = 128;

/// Runs the chains, and folds their last sums into one limb, so that the compiler leaves none
/// out.
#[inline(always)]
pub fn multiply_adds(seed: Limb) -> Limb {
    // No two chains begin alike.
    let mut sums = [1, 3, 5, 7, 9, 11, 13, 15].map(
        #[inline(always)]
        |odd: Limb| [(2 * seed + 1).wrapping_mul(odd), !seed],
    );
    let mut turns = (CEILING_MULTIPLY_ADDS / TURN) as u32;
    while turns > 0 {
        sums = four_links(four_links(four_links(four_links(sums))));
        turns -= 1;
    }
    let [a, b, c, d, e, f, g, h] = sums.map(|[low, high]| low ^ high);
    a ^ b ^ c ^ d ^ e ^ f ^ g ^ h
}

/// Four links of every chain. The chains take turns, so that none waits.
#[inline(always)]
fn four_links(sums: [[Limb; 2]; 8]) -> [[Limb; 2]; 8] {
    let link = |sums: [[Limb; 2]; 8]| sums.map(carry::multiply_halves);
    link(link(link(link(sums))))
}
