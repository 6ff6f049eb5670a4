//! The values of the fields of specialisations, and their codes. A code of 0 says that nothing
//! is known.

use super::Field;

/// The way in which lanes that multiply by rows move limbs between device memory and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moves {
    /// Four limbs are moved at a time.
    Fours,
    /// Limbs are moved one by one.
    Single,
    /// Limbs pass through shared memory, and are moved four at a time there.
    Staged,
}

/// The number of rows of a product by rows, and their length. Lanes share a row, each with a
/// digit of [`SHORT`] or [`LONG`] limbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// One row, of short digits.
    Short,
    /// One row, of long digits.
    One,
    /// Several rows, of long digits.
    Several,
}

/// The limbs of a digit of a short row.
pub const SHORT: u32 = 8;

/// The limbs of a digit of other rows.
pub const LONG: u32 = 16;

/// The limbs of the other operand by which a row is multiplied at a time.
pub const STEP: u32 = 4;

impl Rows {
    /// The rows into which `lanes` lanes cut an operand of `width` limbs.
    #[inline(always)]
    pub const fn of(width: u32, lanes: u32) -> Rows {
        if width <= SHORT * lanes {
            Rows::Short
        } else if width <= LONG * lanes {
            Rows::One
        } else {
            Rows::Several
        }
    }

    /// Whether the first of two operands, of `n` and `m` limbs, is cut into rows, and not the
    /// second. The one is cut that fills its digits better, as that takes fewer products.
    #[inline(always)]
    pub const fn are_of_first(n: u32, m: u32, lanes: u32) -> bool {
        #[inline(always)]
        const fn products(whole: u32, cut: u32, lanes: u32) -> u64 {
            let digit = match Rows::of(cut, lanes) {
                Rows::Short => SHORT,
                Rows::One | Rows::Several => LONG,
            };
            let whole = whole.next_multiple_of(STEP) as u64;
            // The limbs of a row are a power of two.
            let row = digit * lanes;
            whole * ((cut + row - 1) & !(row - 1)) as u64
        }
        products(m, n, lanes) < products(n, m, lanes)
    }
}

/// The form of the base of a power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bases {
    /// One base.
    One,
    /// Two bases, each with an exponent of its own.
    Two,
    /// One base, of which the operand is a table of powers.
    Table,
}

/// The place in which a thread that scans holds its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Home {
    /// In strips of shared memory.
    Strips,
    /// In device memory.
    Memory,
    /// In registers.
    Registers,
}

/// Defines, for each type of values, the code of a value and the value of a code.
macro_rules! codes {
    ($($value:ty {
        $known:ident => $code:expr,
        $read:ident => $of_code:expr,
    })*) => {$(
        impl Field<$value> {
            /// The code of a value.
            #[inline(always)]
            pub const fn code($known: $value) -> u32 {
                $code
            }

            /// The value of a code.
            #[inline(always)]
            pub const fn value($read: u32) -> $value {
                $of_code
            }
        }
    )*};
}

codes! {
    u32 {
        number => number,
        code => code,
    }
    bool {
        is_so => if is_so { 1 } else { 2 },
        code => code == 1,
    }
    Moves {
        moves => 1 + moves as u32,
        code => match code {
            1 => Moves::Fours,
            3 => Moves::Staged,
            _ => Moves::Single,
        },
    }
    Rows {
        rows => 1 + rows as u32,
        code => match code {
            1 => Rows::Short,
            2 => Rows::One,
            _ => Rows::Several,
        },
    }
    Bases {
        bases => 1 + bases as u32,
        code => match code {
            2 => Bases::Two,
            3 => Bases::Table,
            _ => Bases::One,
        },
    }
    Home {
        home => 1 + home as u32,
        code => match code {
            1 => Home::Strips,
            3 => Home::Registers,
            _ => Home::Memory,
        },
    }
}
