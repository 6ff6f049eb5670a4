//! Algorithms that the whole device works on, in several launches.

pub mod mul;
pub mod ntt;
pub mod trial;
pub mod weighted;

/// The columns of a matrix that a block has, in launches that have such of every operand.
#[derive(Clone, Copy)]
struct Columns {
    /// The first point of the first column.
    first: u32,
    number: u32,
    operand: u32,
    /// The binary logarithm of how many they are.
    log: u32,
    /// That of a row's points.
    log_row: u32,
}

impl Columns {
    /// Those of block `block` of a launch, `2^log` of them.
    #[inline(always)]
    fn of(block: u32, log: u32, log_row: u32, operands: u32) -> Self {
        let groups = log_row - log;
        let which = block >> groups;
        Columns {
            first: (block & ((1 << groups) - 1)) << log,
            number: which >> (operands - 1),
            operand: which & (operands - 1),
            log,
            log_row,
        }
    }

    /// Where in the matrix point `i` of the columns is.
    #[inline(always)]
    fn place(self, i: u32) -> u32 {
        let column = i & ((1 << self.log) - 1);
        (i >> self.log << self.log_row) + self.first + column
    }
}
