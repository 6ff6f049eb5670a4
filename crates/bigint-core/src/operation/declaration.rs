//! What the declaration of an operation says: widths, flags, signs, cost, syntax, kernels.

use crate::algorithm::{Algorithm, Level};
use crate::shape::Layout;
use crate::specialization::Family;

/// Operands that an operation may have at most.
pub const MOST_OPERANDS: usize = 3;

/// Results that an operation may have at most.
pub const MOST_RESULTS: usize = 2;

/// How wide a result must be to hold every value, from the operands' widths in limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The widest operand, and so many limbs more.
    Widest(usize),
    /// The narrowest operand, and so many limbs more.
    Narrowest(usize),
    /// All operands together, and so many limbs more.
    Total(usize),
    /// Twice the widest operand, and so many limbs more.
    Twice(usize),
    /// The product of the first two operands and the third added to it, and so many limbs
    /// more. With `B` = 2^32 and `B^n`, `B^m`, `B^k` above the operands, the value is at
    /// most `B^(n+m) - B^n - B^m + B^k`: it fits the product's limbs where `k` is at most
    /// `max(n, m)`; else it may need one limb more than the wider of product and `c`.
    ProductPlus(usize),
    /// The first operand, and so many limbs more.
    First(usize),
    /// The last operand, and so many limbs more.
    Last(usize),
    /// Half the first operand, rounded up, and so many limbs more.
    Half(usize),
    /// Results have so many limbs, whatever the operands.
    Limbs(usize),
    /// The first operand, and so many limbs more; what lies above is cut off, also in
    /// the form that is exact for other operations.
    Cut(usize),
}

impl Width {
    /// The limbs of a result of operands of these widths.
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
            Width::Limbs(limbs) => limbs,
            Width::First(more) | Width::Cut(more) => widths.first().map_or(0, |first| first + more),
        }
    }
}

/// What an operation says of each number beside its results: a word, 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// Nothing.
    None,
    /// Whether the value is at least `2^(32 w)`, `w` the result's width.
    Carry,
    /// Whether the value is negative.
    Borrow,
    /// Whether the divisor or modulus is zero: there is no value, and every result is zero.
    ZeroDivisor,
    /// Whether there is no inverse, and the result is zero.
    NotInvertible,
    /// Whether a modulus that must be odd is even, and the result is zero.
    EvenModulus,
}

impl Flag {
    /// Whether the flag marks numbers that have no value, and not values that are cut.
    pub const fn is_of_no_value(self) -> bool {
        matches!(
            self,
            Flag::ZeroDivisor | Flag::NotInvertible | Flag::EvenModulus
        )
    }
}

/// How the command's expressions write an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Between its operands.
    Infix(&'static str),
    /// By this name before its operands, which stand in parentheses.
    Function(&'static str),
    /// Not at all.
    Unwritten,
}

/// What an operation is of signed numbers, said by what it is of their magnitudes: the only
/// place that says so. Back ends know magnitudes, and sums of signed ones;
/// `Engine::signed_compute` puts the two together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// Nothing: a negative operand is an error.
    Natural,
    /// The result is that of the magnitudes: signs mean nothing, and the result has none.
    Magnitudes,
    /// The result is that of the magnitudes, negative where an odd number of operands is.
    Product,
    /// The sum: magnitudes are added where signs agree, and subtracted where not, as
    /// `AddSigned` does.
    Sum,
    /// The sum with the second operand's sign turned.
    Difference,
    /// A product of the first two operands, and a sum with the third.
    ProductPlus,
    /// The lesser operand.
    Least,
    /// The greater operand.
    Greatest,
    /// -1, 0 or 1 as the first operand is less than, equal to or greater than the second.
    Order,
    /// The result is that of the magnitudes, with the first operand's sign; the second operand must
    /// not be negative.
    Shifted,
    /// A quotient rounded down, by a second operand that must not be negative, as a number
    /// of bits is not.
    ShiftedFloor,
    /// A quotient rounded down (`-7 / 2` is -4). Of magnitudes it is rounded to zero; where
    /// signs differ, `floor(-x / y) = -(floor((x - 1) / y) + 1)` for `x >= 1`.
    Quotient,
    /// A power modulo a number: the base may be negative, and its residue is not; exponent
    /// and modulus must not be.
    Power,
    /// The result is that of the magnitudes modulo the second operand, which must not be negative;
    /// where the first operand is negative, the modulus less that.
    Residue,
    /// -1, 0 or 1 where it is 0, 1 or 2 of the magnitudes; turned where the first operand is
    /// negative and the second, which must not be, 3 modulo 4.
    Symbol,
    /// What a [`Quotient`](Signs::Quotient) leaves, which has the sign of the second
    /// operand (`-7 % 2` is 1): where signs differ, `(-x) mod y = y - 1 - (x - 1) mod y`
    /// for `x >= 1`.
    Remainder,
}

/// What the time of an operation grows with, by which plans reckon and which decides who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// The limbs of operands and results.
    Linear,
    /// The product of the first two widths.
    Product,
    /// The square of the width.
    Square,
    /// The width of the divisor, times that of the dividend.
    Quotient,
    /// The square of the wider width: Euclid's algorithm.
    Euclid,
    /// The time is that of division steps: it does not depend on the numbers.
    Divsteps,
    /// The square of the width: a root.
    Root,
    /// The square of the modulus' width: a Montgomery product.
    Residue,
    /// The time is that of a product modulo a number for each bit of the exponent.
    Power,
    /// The time is that of one power with two bases, whose exponents stand in one number.
    PairOfPowers,
    /// The time is that of a product modulo a number for each window of the exponent, by a table of
    /// the base's powers.
    PowerByTable,
}

/// What may hold of an operation beside the rest of its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The value depends on how wide operands are, not on the numbers alone: what has no width of
    /// its own cannot be computed.
    OfWidths,
    /// The operation takes or gives numbers of bits, which one limb counts: none of its numbers is
    /// wider than [`WIDEST_COUNTED`](crate::WIDEST_COUNTED).
    CountsBits,
    /// The last operand is a guide: of each number it says one thing, as by how much it is shifted,
    /// which holds for all of the result's limbs.
    Guided,
    /// The last operand is a modulus. The two others must be below it, and the result is.
    BelowModulus,
    /// The last operand is a modulus, and must be odd.
    OddModulus,
    /// On a device its flag may also be set for numbers that do have a value, which no kernel
    /// computes; the CPU computes these and says what is wrong with the others.
    FlagsMore,
}

/// Kernels of one operation that differ in lanes and layout only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// How they compute.
    pub algorithm: Algorithm,
    /// Who works on one number.
    pub level: Level,
    /// The numbers of lanes that may share a number.
    pub lanes: &'static [u32],
    /// Whether one text serves all these numbers, and is specialised to one of them.
    pub is_one_text: bool,
    /// The layouts.
    pub layouts: &'static [Layout],
    /// The family of what the kernels can be specialised to.
    pub family: Family,
    /// Blocks that a multiprocessor must be able to hold at once, which bounds the registers of a
    /// thread: without it, the widest numbers that a kernel has code for take so many that too few
    /// warps are left to wait for one another.
    pub blocks: Option<u32>,
    /// The operation and the algorithm of the row whose text it shares.
    pub text: Option<(&'static str, Algorithm)>,
}

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The operation's name: of its files, kernels, tests and benches.
    pub name: &'static str,
    /// The operands' names; one to [`MOST_OPERANDS`].
    pub operands: &'static [&'static str],
    /// The results' names; one to [`MOST_RESULTS`].
    pub results: &'static [&'static str],
    /// For each result, the limbs that hold every value.
    pub exact: &'static [Width],
    /// The flag that stands beside the results.
    pub flag: Flag,
    /// Whether there is a form that computes modulo `2^(32 w)`.
    pub wraps: bool,
    /// How the command writes it.
    pub syntax: Syntax,
    /// What the operation is of signed numbers.
    pub signs: Signs,
    /// What the operation's time grows with.
    pub cost: Cost,
    /// The operation's further properties.
    pub properties: &'static [Property],
    /// The rows of its kernels.
    pub rows: &'static [Row],
}
