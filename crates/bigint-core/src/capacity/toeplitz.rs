//! How a warp cuts numbers into columns of bytes that it multiplies by Toeplitz matrices, and where
//! they stand in shared memory.

/// Limbs of a block: the 32 bytes that a step of the tensor cores multiplies.
const BLOCK: u32 = 8;

/// Columns that a step multiplies at once.
const COLUMNS: u32 = 8;

/// Limbs of the widest numbers that are multiplied whole.
pub const WIDEST_TOEPLITZ: u32 = 512;

/// The columns of the wider of two numbers, and the matrices of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toeplitz {
    /// Blocks of a column, 1 to 4.
    pub blocks: u32,
    /// Passes, of eight columns each.
    pub passes: u32,
}

impl Toeplitz {
    /// For the product of numbers of `n` and `m` limbs: the fewest columns that hold the wider one, or
    /// a piece of it.
    #[inline(always)]
    pub const fn of(n: u32, m: u32) -> Self {
        let wider = if n > m { n } else { m };
        let passes = if wider > 4 * BLOCK * COLUMNS { 2 } else { 1 };
        let mut blocks = wider.div_ceil(passes * BLOCK * COLUMNS);
        blocks = if blocks < 1 { 1 } else { blocks };
        blocks = if blocks > 4 { 4 } else { blocks };
        Toeplitz { blocks, passes }
    }

    /// Limbs of all columns.
    #[inline(always)]
    pub const fn limbs(self) -> u32 {
        BLOCK * self.blocks * COLUMNS * self.passes
    }

    /// Limbs of the matrices' operand: zeros below it, a block of them, what the columns may have, and as
    /// many zeros above as the last step and the one that is fetched ahead of its time reach.
    #[inline(always)]
    pub const fn matrix_limbs(self) -> u32 {
        BLOCK + self.limbs() + BLOCK * self.blocks + BLOCK
    }

    /// Limbs from a column to the next, an odd number of blocks: what the lanes load at once of four
    /// columns lies in different banks.
    #[inline(always)]
    pub const fn column_limbs(self) -> u32 {
        BLOCK * (self.blocks | 1)
    }

    /// Where columns begin in a warp's shared memory, in limbs.
    #[inline(always)]
    pub const fn columns_at(self) -> u32 {
        self.matrix_limbs()
    }

    /// Where the sums begin, a word of 64 bits for each limb of the product, in words.
    #[inline(always)]
    pub const fn sums_at(self) -> u32 {
        (self.columns_at() + COLUMNS * self.passes * self.column_limbs()) / 2
    }

    /// Sums that a lane makes limbs of at a time.
    #[inline(always)]
    pub const fn chunk(self) -> u32 {
        4 * self.blocks
    }

    /// The word of sum `i`: a word is left free behind those of each lane, so that lanes meet in no bank.
    #[inline(always)]
    pub const fn sum(self, i: u32) -> u32 {
        self.sums_at() + i + i / self.chunk()
    }

    /// Bytes of a warp's shared memory, as many for each lane.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        (8 * self.sum(2 * self.limbs())).next_multiple_of(128)
    }
}

/// Blocks of threads that a multiprocessor should have room for, of warps whose columns have so many blocks
/// of limbs. (On an H100 fewer or more took up to a tenth longer.)
pub const fn toeplitz_blocks(blocks: u32) -> u32 {
    match blocks {
        1 => 9,
        2 => 8,
        3 => 5,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_the_wider_number_and_parts_do_not_overlap() {
        for wider in 1..=WIDEST_TOEPLITZ {
            let of = Toeplitz::of(1, wider);
            assert_eq!(of, Toeplitz::of(wider, wider));
            assert!(of.limbs() >= wider);
            assert_eq!(of.columns_at() % 8, 0);
            assert_eq!(of.sums_at() % 2, 0);
            // A block of 32 threads has its numbers in what every device gives it.
            assert!(of.bytes() <= 48 << 10);
        }
        assert_eq!(Toeplitz::of(1000, 1000).limbs(), WIDEST_TOEPLITZ);
    }
}
