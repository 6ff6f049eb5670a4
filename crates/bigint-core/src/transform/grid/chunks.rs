//! Places of chunks and carries, and how they are cut into limbs.

use super::GridPlan;
use crate::kernel::Arguments;

/// The one parameter of [`SUMS`](super::SUMS), passed by value.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SumArguments {
    /// The arguments of a sum, with chunks and carries as operands.
    pub sum: Arguments,
    /// How chunks are cut into limbs, and how those of marked numbers are.
    pub cuts: [ChunkCut; 2],
    /// The address of [`Norms::marks`](super::Norms::marks); it is not read by [`SUMS`](super::SUMS).
    pub marks: u64,
    /// The limb of the products from which on results have them.
    pub from: u32,
}

impl SumArguments {
    /// The arguments in the order in which a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [of_all, of_marked] = self.cuts;
        let rest = [
            pair(of_all.bits, of_all.log_limbs),
            pair(of_all.chunks_in_limb, of_marked.bits),
            pair(of_marked.log_limbs, of_marked.chunks_in_limb),
            self.marks,
            pair(self.from, 0),
        ];
        self.sum.words().chain(rest)
    }
}

/// The sizes by which chunks are cut into limbs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChunkCut {
    /// The bits of a chunk: a multiple of 8, from 96 to 256.
    bits: u32,
    /// The binary logarithm of the limbs that it stands in: 2 or 3.
    log_limbs: u32,
    /// The chunks in a limb, a fraction in units of `2^-32`, rounded up.
    chunks_in_limb: u32,
}

/// Where a limb of a product begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The chunk.
    pub chunk: u32,
    /// Which of the limbs that the chunk stands in it is.
    pub limb: u32,
    /// Whether the chunk ends within it.
    pub ends: bool,
}

impl ChunkCut {
    /// Where limb `limb` of a product, which is below `2^21`, begins: `limb` times the rounding of the fraction is less than `2^-11` of a chunk, and
    /// it is a multiple of 8 bits above the chunk's begin.
    #[inline(always)]
    pub const fn start(self, limb: u32) -> Start {
        let chunk = ((limb as u64 * self.chunks_in_limb as u64) >> 32) as u32;
        let begin = chunk * self.bits;
        Start {
            chunk,
            limb: limb - begin / 32,
            ends: 32 * limb + 32 > begin + self.bits,
        }
    }

    /// The bits of a chunk.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// The limbs that a chunk stands in.
    #[inline(always)]
    pub const fn limbs(self) -> u32 {
        1 << self.log_limbs
    }
}

impl GridPlan {
    /// How the chunks of a product are cut into limbs.
    pub const fn cut(&self) -> ChunkCut {
        let bits = self.digit_bits << self.log_chunk();
        ChunkCut {
            bits,
            log_limbs: self.log_chunk() - 1,
            chunks_in_limb: (1_u64 << 37).div_ceil(bits as u64) as u32,
        }
    }

    /// The chunks of a product.
    #[inline(always)]
    pub const fn product_chunks(&self) -> u32 {
        (2 * self.length()) >> self.log_chunk()
    }

    /// The limbs that the chunks of a product stand in.
    pub const fn chunk_limbs(&self) -> usize {
        (self.product_chunks() * self.cut().limbs()) as usize
    }

    /// The limbs that the carries of a product stand in.
    pub const fn carry_limbs(&self) -> usize {
        2 * (self.product_chunks() as usize + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limbs_begin_in_the_chunks_that_have_their_lowest_bits() {
        for plan in GridPlan::all().chain(GridPlan::all_of_pairs()) {
            let cut = plan.cut();
            assert!(cut.bits % 8 == 0 && (96..=32 * cut.limbs()).contains(&cut.bits));
            assert!(plan.product_limbs() <= 1 << 21);
            // A carry is less than the chunk above: one limb has bits of one carry at most.
            for limb in 0..plan.product_limbs() as u32 {
                let bit = 32 * u64::from(limb);
                let bits = u64::from(cut.bits);
                let Start { chunk, limb, ends } = cut.start(limb);
                let begin = u64::from(chunk) * bits;
                assert!((begin..begin + bits).contains(&bit));
                assert_eq!(begin / 32 + u64::from(limb), bit / 32);
                assert_eq!(ends, bit + 32 > begin + bits);
                assert!(limb < cut.limbs());
            }
        }
    }
}
