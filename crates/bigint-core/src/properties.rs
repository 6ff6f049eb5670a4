//! What follows from an operation's declaration.

use crate::algorithm::{Algorithm, Level};
use crate::operation::{Operation, Width};

impl Operation {
    /// The operation's name: of its files, kernels, tests and benches.
    pub const fn name(self) -> &'static str {
        self.declaration().name
    }

    /// Limbs that hold every value of the first result, of operands of these widths.
    pub fn exact_width(self, widths: &[usize]) -> usize {
        self.declaration().exact[0].limbs(widths)
    }

    /// Limbs of the wrapping form's result: as wide as the widest operand.
    pub fn wrapping_width(self, widths: &[usize]) -> usize {
        Width::Widest(0).limbs(widths)
    }

    /// Whether its cost is that of a product.
    pub const fn multiplies(self) -> bool {
        use Operation::{Mul, MulAdd, MulHigh, Square};
        matches!(self, Mul | Square | MulHigh | MulAdd)
    }

    /// Whether it takes or tells places of bits, which one limb counts: none of its numbers is
    /// wider than [`WIDEST_COUNTED`](crate::WIDEST_COUNTED).
    pub const fn counts_bits(self) -> bool {
        use Operation::{BitLength, CountOnes, SetBit, Shl, Shr, TestBit, TrailingZeros};
        matches!(
            self,
            BitLength | CountOnes | SetBit | Shl | Shr | TestBit | TrailingZeros
        )
    }

    /// Whether it tells of numbers, in a limb for each, what a thread finds in one pass.
    pub const fn tells_of_numbers(self) -> bool {
        use Operation::{BitLength, Compare, CountOnes, Equal, TrailingZeros};
        matches!(
            self,
            Compare | Equal | BitLength | TrailingZeros | CountOnes
        )
    }

    /// Whether its cost is that of a division.
    pub const fn divides(self) -> bool {
        matches!(self, Operation::DivRem | Operation::Div | Operation::Rem)
    }

    /// Whether its cost is that of Montgomery products modulo the last operand, whose width
    /// decides who computes.
    pub const fn multiplies_modulo(self) -> bool {
        matches!(self, Operation::MontMul) || self.is_power()
    }

    /// Whether it is a power modulo the last operand.
    pub const fn is_power(self) -> bool {
        use Operation::{PowFixed, PowMod, PowPair};
        matches!(self, PowMod | PowPair | PowFixed)
    }

    /// Whether `algorithm` computes this operation at some level.
    pub fn has(self, algorithm: Algorithm) -> bool {
        let mut rows = self.declaration().rows.iter();
        rows.any(|row| row.algorithm == algorithm)
    }

    /// The algorithms that compute this operation at `level`.
    pub fn algorithms(self, level: Level) -> impl Iterator<Item = Algorithm> {
        let rows = self.declaration().rows.iter();
        rows.filter(move |row| row.level == level)
            .map(|row| row.algorithm)
    }

    /// The numbers of lanes that its kernels at `level` come in, fewest first; of the
    /// algorithm that its declaration names first where there are several. Additions
    /// and subtractions at warp level take whole warps: their lanes share a stretch of
    /// limbs, whether that is of one number or of many.
    pub fn lanes(self, level: Level) -> &'static [u32] {
        let first = self.algorithms(level).next();
        first.map_or(&[], |algorithm| self.lanes_by(algorithm, level))
    }

    /// The numbers of lanes that its kernels by `algorithm` at `level` come in, fewest first.
    pub fn lanes_by(self, algorithm: Algorithm, level: Level) -> &'static [u32] {
        let mut rows = self.declaration().rows.iter();
        rows.find(|row| (row.algorithm, row.level) == (algorithm, level))
            .map_or(&[], |row| row.lanes)
    }
}
