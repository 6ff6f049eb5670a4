//! The cutting of numbers into columns of bytes, which a warp multiplies by Toeplitz matrices, and the
//! layout of both in shared memory.

/// The limbs of a block: the 32 bytes of a column that a step of the tensor cores multiplies.
const BLOCK: u32 = 8;

/// The columns that a step of the tensor cores multiplies at once.
const COLUMNS: u32 = 8;

/// The widest number, in limbs, that is multiplied whole.
pub const WIDEST_TOEPLITZ: u32 = 512;

/// The most limbs of an operand above its columns.
pub const MOST_ABOVE: u32 = 8;

/// The most of them where there could be a block more.
const FEW_ABOVE: u32 = 3;

/// The columns into which the wider of two numbers is cut. The matrices are made of the other number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toeplitz {
    /// The blocks of a column, 1 to 4.
    pub blocks: u32,
    /// The passes, of eight columns each.
    pub passes: u32,
    /// The limbs of the wider number above its columns.
    pub above: u32,
}

impl Toeplitz {
    /// The cut for the product of numbers of `n` and `m` limbs: the least that holds the wider one, or a
    /// piece of it where it has more than [`WIDEST_TOEPLITZ`] limbs.
    #[inline(always)]
    pub const fn of(n: u32, m: u32) -> Self {
        let wider = if n > m { n } else { m };
        let passes = if wider > 4 * BLOCK * COLUMNS + MOST_ABOVE {
            2
        } else {
            1
        };
        let pass = passes * BLOCK * COLUMNS;
        let mut blocks = wider.div_ceil(pass);
        blocks = if blocks < 1 { 1 } else { blocks };
        blocks = if blocks > 4 { 4 } else { blocks };
        // (On an H200 more limbs above fewer blocks take longer than one block more.)
        if passes == 1 && blocks > 1 && wider - (blocks - 1) * pass <= FEW_ABOVE {
            blocks -= 1;
        }
        let above = match passes {
            1 => wider.saturating_sub(blocks * pass),
            _ => 0,
        };
        Toeplitz {
            blocks,
            passes,
            above,
        }
    }

    /// The turns of steps along columns that the narrower of two numbers of `n` and `m` limbs makes; 0 if they are
    /// cut into pieces.
    #[inline(always)]
    pub const fn turns(self, n: u32, m: u32) -> u32 {
        let (narrower, wider) = if n < m { (n, m) } else { (m, n) };
        match wider > WIDEST_TOEPLITZ {
            true => 0,
            false => {
                let limbs = self.limbs();
                let narrower = if narrower < limbs { narrower } else { limbs };
                narrower.div_ceil(BLOCK * self.blocks) + 1
            }
        }
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

    /// The offset of the columns in a warp's shared memory, in limbs. All columns stand there twice, as they are
    /// cyclic.
    #[inline(always)]
    pub const fn columns_at(self) -> u32 {
        self.matrix_limbs()
    }

    /// The offset of the sums in a warp's shared memory, in words of 64 bits; there is one sum for each
    /// limb of the product.
    #[inline(always)]
    pub const fn sums_at(self) -> u32 {
        (self.columns_at() + 2 * COLUMNS * self.passes * self.column_limbs()) / 2
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

    /// The offset of a copy of the wider number, in limbs, if it has limbs above its columns. A block of zeros stands
    /// below it, and zeros for a limb of each lane above it.
    #[inline(always)]
    pub const fn copy_at(self) -> u32 {
        (2 * self.sum(2 * self.limbs() + 4 * MOST_ABOVE)).next_multiple_of(4)
    }

    /// The offset of the narrower number's limbs above the columns, in limbs.
    #[inline(always)]
    pub const fn top_at(self) -> u32 {
        self.copy_at() + BLOCK + self.limbs() + MOST_ABOVE + 32
    }

    /// The bytes of a warp's shared memory: a multiple of 128, so that each of the 32 lanes accounts for
    /// the same number of limbs.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        let bytes = match self.above {
            0 => 8 * self.sum(2 * self.limbs()),
            _ => 4 * (self.top_at() + MOST_ABOVE),
        };
        bytes.next_multiple_of(128)
    }
}

/// The blocks of threads that a multiprocessor should have room for when columns have `blocks` blocks of
/// limbs. (On an H100 fewer or more took up to a tenth longer.)
pub const fn toeplitz_blocks(blocks: u32) -> u32 {
    match blocks {
        1 => 12,
        2 => 9,
        _ => 5,
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
            assert!(of.limbs() + of.above >= wider && of.above <= MOST_ABOVE);
            assert_eq!(of.columns_at() % 8, 0);
            assert_eq!(of.sums_at() % 2, 0);
            // The numbers of a block of 32 threads fit the shared memory that every device gives a block.
            assert!(of.bytes() <= 48 << 10);
        }
        assert_eq!(Toeplitz::of(1000, 1000).limbs(), WIDEST_TOEPLITZ);
    }
}
