//! The cutting of numbers into columns of bytes, which a warp multiplies by Toeplitz matrices, and the
//! layout of both in shared memory.

/// The limbs of a block: the 32 bytes of a column that a step of the tensor cores multiplies.
const BLOCK: u32 = 8;

/// The columns that a step of the tensor cores multiplies at once.
const COLUMNS: u32 = 8;

/// The widest number, in limbs, that is multiplied whole.
pub const WIDEST_TOEPLITZ: u32 = 512;

/// The most limbs of an operand above its columns. (On an H200 more take longer than a group more.)
pub const MOST_ABOVE: u32 = 1;

/// The columns into which the wider of two numbers is cut, of one block each. The matrices are made of the other number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toeplitz {
    /// The groups of eight columns, 1 to 8: column `s` is in group `s` modulo so many.
    pub groups: u32,
    /// The limbs of the wider number above its columns.
    pub above: u32,
}

impl Toeplitz {
    /// The cut for the product of numbers of `n` and `m` limbs: the least that holds the wider one, or a
    /// piece of it where it has more than [`WIDEST_TOEPLITZ`] limbs.
    #[inline(always)]
    pub const fn of(n: u32, m: u32) -> Self {
        const GROUP: u32 = BLOCK * COLUMNS;
        let wider = if n > m { n } else { m };
        if wider > WIDEST_TOEPLITZ || wider <= GROUP {
            let groups = if wider <= GROUP { 1 } else { 8 };
            return Toeplitz { groups, above: 0 };
        }
        match (wider / GROUP, wider % GROUP) {
            (groups, above) if above <= MOST_ABOVE => Toeplitz { groups, above },
            (groups, _) => Toeplitz {
                groups: groups + 1,
                above: 0,
            },
        }
    }

    /// The steps along the columns that the narrower of two numbers of `n` and `m` limbs makes; 0 if they are
    /// cut into pieces.
    #[inline(always)]
    pub const fn steps(self, n: u32, m: u32) -> u32 {
        let (narrower, wider) = if n < m { (n, m) } else { (m, n) };
        match wider > WIDEST_TOEPLITZ {
            true => 0,
            false => {
                let limbs = self.limbs();
                let narrower = if narrower < limbs { narrower } else { limbs };
                narrower.div_ceil(BLOCK) + 1
            }
        }
    }

    /// The limbs of all columns together.
    #[inline(always)]
    pub const fn limbs(self) -> u32 {
        BLOCK * COLUMNS * self.groups
    }

    /// The limbs of shared memory for the number that the matrices are made of: a block of zeros, as many
    /// limbs as all columns have, and the zeros above them that are read by the last step, and by the step
    /// that is fetched ahead of it.
    #[inline(always)]
    pub const fn matrix_limbs(self) -> u32 {
        BLOCK + self.limbs() + 2 * BLOCK
    }

    /// The distance from a column to the next of its group, in limbs. It is an odd number of blocks, so that the limbs
    /// of four columns that lanes load at once lie in different banks.
    #[inline(always)]
    pub const fn apart(self) -> u32 {
        BLOCK * (self.groups | 1)
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
        (self.columns_at() + 2 * COLUMNS * self.apart()) / 2
    }

    /// The number of sums that a lane turns into limbs.
    #[inline(always)]
    pub const fn chunk(self) -> u32 {
        4 * self.groups
    }

    /// The sums from one free word to the next. The chunk of a lane has an odd number of them, so that lanes meet in no bank.
    #[inline(always)]
    pub const fn unit(self) -> u32 {
        4 * (self.groups & self.groups.wrapping_neg())
    }

    /// The offset of sum `i`, in words of 64 bits.
    #[inline(always)]
    pub const fn sum(self, i: u32) -> u32 {
        self.sums_at() + i + i / self.unit()
    }

    /// The offset of the limbs above the columns, in limbs: there are 16 places for both numbers'.
    #[inline(always)]
    pub const fn top_at(self) -> u32 {
        2 * self.sum(2 * self.limbs() + 2 * MOST_ABOVE)
    }

    /// The bytes of a warp's shared memory: a multiple of 128, so that each of the 32 lanes accounts for
    /// the same number of limbs.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        let bytes = match self.above {
            0 => 8 * self.sum(2 * self.limbs()),
            _ => 4 * (self.top_at() + 16),
        };
        bytes.next_multiple_of(128)
    }
}

/// The blocks of threads that a multiprocessor should have room for when there are so many groups of columns.
pub const fn toeplitz_blocks(groups: u32) -> u32 {
    match groups {
        1 => 12,
        2 => 9,
        3 => 8,
        4 => 6,
        5 => 5,
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
            assert!(of.limbs() + of.above >= wider && of.above <= MOST_ABOVE);
            assert_eq!(of.columns_at() % 8, 0);
            assert_eq!(of.sums_at() % 2, 0);
            // The numbers of a block of 32 threads fit the shared memory that every device gives a block.
            assert!(of.bytes() <= 48 << 10);
        }
        assert_eq!(Toeplitz::of(1000, 1000).limbs(), WIDEST_TOEPLITZ);
    }
}
