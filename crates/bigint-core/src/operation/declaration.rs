//! The parts of an operation's declaration: widths, flags, signs, cost, syntax and kernels.

use crate::algorithm::{Algorithm, Level};
use crate::shape::Layout;
use crate::specialization::Family;

/// The most operands of an operation.
pub const MOST_OPERANDS: usize = 3;

/// The most results of an operation.
pub const MOST_RESULTS: usize = 2;

/// The rule for the width, in limbs, of a result that holds every value, from the operands' widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The width of the widest operand, and so many limbs more.
    Widest(usize),
    /// The width of the narrowest operand, and so many limbs more.
    Narrowest(usize),
    /// The sum of all operands' widths, and so many limbs more.
    Total(usize),
    /// Twice the width of the widest operand, and so many limbs more.
    Twice(usize),
    /// The width of the product of the first two operands plus the third, and so many limbs more.
    /// With `B` = 2^32 and operands of `n`, `m` and `k` limbs, the value is at most
    /// `B^(n+m) - B^n - B^m + B^k`. It fits the product's `n + m` limbs if `k` is at most
    /// `max(n, m)`; else it may need one limb more than the wider of product and third operand.
    ProductPlus(usize),
    /// The width of the first operand, and so many limbs more.
    First(usize),
    /// The width of the last operand, and so many limbs more.
    Last(usize),
    /// Half the width of the first operand, rounded up, and so many limbs more.
    Half(usize),
    /// The digits to base `10^9` of the first operand, and so many limbs more. A limb is 1.0704 digits.
    Billions(usize),
    /// So many limbs, whatever the operands' widths.
    Limbs(usize),
    /// The width of the first operand, and so many limbs more. Limbs above are cut off, even in the
    /// form that is exact for other operations.
    Cut(usize),
}

impl Width {
    /// The limbs of a result, for operands of these widths.
    ///
    /// ```
    /// use bigint_core::operation::Width;
    /// assert_eq!(Width::Widest(1).limbs(&[3, 5]), 6);
    /// assert_eq!(Width::Total(0).limbs(&[3, 5]), 8);
    /// assert_eq!(Width::ProductPlus(0).limbs(&[3, 5, 5]), 8);
    /// assert_eq!(Width::ProductPlus(0).limbs(&[3, 5, 6]), 9);
    /// ```
    pub fn limbs(self, widths: &[usize]) -> usize {
        let widest = |widths: &[usize]| widths.iter().copied().max().unwrap_or(0);
        match self {
            Width::Widest(more) => widest(widths) + more,
            Width::Narrowest(more) => widths.iter().copied().min().unwrap_or(0) + more,
            Width::Total(more) => widths.iter().sum::<usize>() + more,
            Width::Twice(more) => 2 * widest(widths) + more,
            Width::ProductPlus(more) => {
                let (factors, added) = widths.split_at(widths.len().min(2));
                let (product, added) = (factors.iter().sum::<usize>(), widest(added));
                let carries = usize::from(added > widest(factors));
                product.max(added) + carries + more
            }
            Width::Last(more) => widths.last().map_or(0, |last| last + more),
            Width::Half(more) => widths.first().map_or(0, |first| first.div_ceil(2) + more),
            Width::Billions(more) => widths
                .first()
                .map_or(0, |first| first + first / 14 + 1 + more),
            Width::Limbs(limbs) => limbs,
            Width::First(more) | Width::Cut(more) => widths.first().map_or(0, |first| first + more),
        }
    }
}

/// The flag of an operation: a word, 0 or 1, that it returns for each number beside the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// The operation has no flag.
    None,
    /// The flag is 1 if the value is at least `2^(32 w)`, where `w` is the result's width.
    Carry,
    /// The flag is 1 if the value is negative.
    Borrow,
    /// The flag is 1 if the divisor or modulus is zero. There is no value then, and every result is
    /// zero.
    ZeroDivisor,
    /// The flag is 1 if there is no inverse. The result is zero then.
    NotInvertible,
    /// The flag is 1 if a modulus that must be odd is even. The result is zero then.
    EvenModulus,
}

impl Flag {
    /// Whether a flag of 1 marks a number that has no value, not one whose value is cut.
    pub const fn is_of_no_value(self) -> bool {
        matches!(
            self,
            Flag::ZeroDivisor | Flag::NotInvertible | Flag::EvenModulus
        )
    }
}

/// The form in which the command's expressions write an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// By an operator between the operands.
    Infix(&'static str),
    /// By a name before the operands, which stand in parentheses.
    Function(&'static str),
    /// Expressions cannot name the operation.
    Unwritten,
}

/// The meaning of an operation on signed numbers, in terms of the operation on their magnitudes. It
/// is stated nowhere else. Back ends compute with magnitudes, and add signed numbers;
/// `Engine::signed_compute` builds the other signed operations from these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// The operation is not defined for signed numbers: a negative operand is an error.
    Natural,
    /// The result is that of the magnitudes. The operands' signs are ignored, and the result has
    /// none.
    Magnitudes,
    /// The result is that of the magnitudes, negative if an odd number of operands is negative.
    Product,
    /// The result is the sum: magnitudes are added if signs agree, and subtracted if not, as
    /// `AddSigned` does.
    Sum,
    /// The result is the sum of the first operand and the negated second.
    Difference,
    /// The result is the signed product of the first two operands plus the third.
    ProductPlus,
    /// The result is the lesser operand.
    Least,
    /// The result is the greater operand.
    Greatest,
    /// The result is -1, 0 or 1 as the first operand is less than, equal to or greater than the
    /// second.
    Order,
    /// The result is that of the magnitudes, with the first operand's sign; the second operand must
    /// not be negative.
    Shifted,
    /// The result is rounded down, as a quotient by a power of two. The second operand is a number
    /// of bits and must not be negative.
    ShiftedFloor,
    /// The result is a quotient rounded down (`-7 / 2` is -4). The quotient of magnitudes is
    /// rounded towards zero; where signs differ, `floor(-x / y) = -(floor((x - 1) / y) + 1)` for
    /// `x >= 1`.
    Quotient,
    /// The result is a power modulo a number. The base may be negative, and its residue, which is
    /// not, takes its place. Exponent and modulus must not be negative.
    Power,
    /// The result is a residue modulo the second operand, which must not be negative. If the first
    /// operand is negative, the result of the magnitudes is subtracted from the modulus.
    Residue,
    /// The result is a symbol, -1, 0 or 1 where the result of the magnitudes is 0, 1 or 2. It is
    /// negated if the first operand is negative and the second is 3 modulo 4. The second operand
    /// must not be negative.
    Symbol,
    /// The result is the remainder that a [`Quotient`](Signs::Quotient) leaves, and has the sign of
    /// the second operand (`-7 % 2` is 1). Where signs differ, `(-x) mod y = y - 1 - (x - 1) mod y`
    /// for `x >= 1`.
    Remainder,
}

/// The quantity with which the time of an operation grows. Plans estimate times by it, and it
/// decides who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// The time grows with the limbs of operands and results.
    Linear,
    /// The time grows with the product of the first two widths.
    Product,
    /// The time grows with the square of the width.
    Square,
    /// The time grows with the width of the divisor times that of the dividend.
    Quotient,
    /// The time is that of Euclid's algorithm, and grows with the square of the wider width.
    Euclid,
    /// The time is that of division steps, and does not depend on the numbers.
    Divsteps,
    /// The time is that of a root, and grows with the square of the width.
    Root,
    /// The time is that of a change of base, and grows with the square of the width.
    Radix,
    /// The time is that of a Montgomery product, and grows with the square of the modulus's width.
    Residue,
    /// The time is that of a product modulo a number for each bit of the exponent.
    Power,
    /// The time is that of one power with two bases, whose exponents are the halves of one number.
    PairOfPowers,
    /// The time is that of a product modulo a number for each window of the exponent, as the base's
    /// powers are in a table.
    PowerByTable,
}

/// A property that an operation may have beside the rest of its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The value depends on the operands' widths, not on the numbers alone. The operation therefore
    /// has no meaning for integers, which have no widths of their own.
    OfWidths,
    /// The operation takes or returns counts of bits, each in one limb. None of its numbers may be
    /// wider than [`WIDEST_COUNTED`](crate::WIDEST_COUNTED).
    CountsBits,
    /// The last operand is a guide: a value for each number, such as the bits of a shift, that
    /// applies to all of the result's limbs.
    Guided,
    /// The last operand is a modulus. The two others must be below it, and the result is below it.
    BelowModulus,
    /// The last operand is a modulus, and must be odd.
    OddModulus,
    /// On a device the flag may also be set for numbers that do have a value but that no kernel
    /// computes. The CPU computes these, and reports the error of the others.
    FlagsMore,
}

/// A row of a declaration: kernels of one operation that differ in lanes and layout only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The algorithm by which they compute.
    pub algorithm: Algorithm,
    /// The level: who works on one number.
    pub level: Level,
    /// The numbers of lanes that may share a number.
    pub lanes: &'static [u32],
    /// Whether one text serves all numbers of lanes, and is specialised to one of them.
    pub is_one_text: bool,
    /// The layouts of their batches.
    pub layouts: &'static [Layout],
    /// The family of specialisations that the kernels have.
    pub family: Family,
    /// The number of blocks that a multiprocessor must be able to hold at once, where it is
    /// bounded. It bounds the registers of a thread. Without a bound the code for a kernel's widest
    /// numbers takes so many registers that too few warps fit to hide one another's waiting.
    pub blocks: Option<u32>,
    /// The operation and the algorithm of the row whose text these kernels share, if it is not
    /// their own.
    pub text: Option<(&'static str, Algorithm)>,
}

/// The declaration of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The operation's name, which its files, kernels, tests and benches bear.
    pub name: &'static str,
    /// The names of the operands, one to [`MOST_OPERANDS`].
    pub operands: &'static [&'static str],
    /// The names of the results, one to [`MOST_RESULTS`].
    pub results: &'static [&'static str],
    /// The rule for the width of each result that holds every value.
    pub exact: &'static [Width],
    /// The flag that the operation returns beside the results.
    pub flag: Flag,
    /// Whether the operation has a wrapping form, which computes modulo `2^(32 w)` for a result of
    /// `w` limbs.
    pub wraps: bool,
    /// The form in which the command's expressions write the operation.
    pub syntax: Syntax,
    /// The meaning of the operation on signed numbers.
    pub signs: Signs,
    /// The quantity with which the operation's time grows.
    pub cost: Cost,
    /// The operation's further properties.
    pub properties: &'static [Property],
    /// The rows of the operation's kernels.
    pub rows: &'static [Row],
}
