//! The cutting of numbers into columns of bytes, which a warp multiplies by Toeplitz matrices, and the
//! layout of both in shared memory.

/// The limbs of a block: the 32 bytes of a column that a step of the tensor cores multiplies.
const BLOCK: u32 = 8;

/// The columns that a step of the tensor cores multiplies at once.
const COLUMNS: u32 = 8;

/// The widest number, in limbs, that is multiplied whole.
pub const WIDEST_TOEPLITZ: u32 = 512;

/// The columns into which the wider of two numbers is cut. The matrices are made of the other number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toeplitz {
    /// The blocks of a column, 1 to 4.
    pub blocks: u32,
    /// The passes, of eight columns each.
    pub passes: u32,
}

impl Toeplitz {
    /// The cut for the product of numbers of `n` and `m` limbs: the least that holds the wider one, or a
    /// piece of it where it has more than [`WIDEST_TOEPLITZ`] limbs.
    #[inline(always)]
    pub const fn of(n: u32, m: u32) -> Self {
        let wider = if n > m { n } else { m };
        let passes = if wider > 4 * BLOCK * COLUMNS { 2 } else { 1 };
        let mut blocks = wider.div_ceil(passes * BLOCK * COLUMNS);
        blocks = if blocks < 1 { 1 } else { blocks };
        blocks = if blocks > 4 { 4 } else { blocks };
        Toeplitz { blocks, passes }
    }

    /// The limbs of all columns together.
    #[inline(always)]
    pub const fn limbs(self) -> u32 {
        BLOCK * self.blocks * COLUMNS * self.passes
    }

    /// The limbs of shared memory for the number that the matrices are made of: a block of zeros, as many
    /// limbs as all columns have, and the zeros above them that are read by the last step, and by the step
    /// that is fetched ahead of it.
    #[inline(always)]
    pub const fn matrix_limbs(self) -> u32 {
        BLOCK + self.limbs() + BLOCK * self.blocks + BLOCK
    }

    /// The distance from a column to the next, in limbs. It is an odd number of blocks, so that the limbs
    /// of four columns that lanes load at once lie in different banks.
    #[inline(always)]
    pub const fn column_limbs(self) -> u32 {
        BLOCK * (self.blocks | 1)
    }

    /// The offset of the columns in a warp's shared memory, in limbs.
    #[inline(always)]
    pub const fn columns_at(self) -> u32 {
        self.matrix_limbs()
    }

    /// The offset of the sums in a warp's shared memory, in words of 64 bits; there is one sum for each
    /// limb of the product.
    #[inline(always)]
    pub const fn sums_at(self) -> u32 {
        (self.columns_at() + COLUMNS * self.passes * self.column_limbs()) / 2
    }

    /// The number of sums that a lane turns into limbs at a time.
    #[inline(always)]
    pub const fn chunk(self) -> u32 {
        4 * self.blocks
    }

    /// The offset of sum `i`, in words of 64 bits. A word is left free behind the sums of each lane, so
    /// that lanes meet in no bank.
    #[inline(always)]
    pub const fn sum(self, i: u32) -> u32 {
        self.sums_at() + i + i / self.chunk()
    }

    /// The bytes of a warp's shared memory: a multiple of 128, so that each of the 32 lanes accounts for
    /// the same number of limbs.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        (8 * self.sum(2 * self.limbs())).next_multiple_of(128)
    }
}

/// The blocks of threads that a multiprocessor should have room for when columns have `blocks` blocks of
/// limbs. (On an H100 fewer or more took up to a tenth longer.)
pub const fn toeplitz_blocks(blocks: u32) -> u32 {
    match blocks {
        1 => 9,
        2 => 7,
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
            // The numbers of a block of 32 threads fit the shared memory that every device gives a block.
            assert!(of.bytes() <= 48 << 10);
        }
        assert_eq!(Toeplitz::of(1000, 1000).limbs(), WIDEST_TOEPLITZ);
    }
}
