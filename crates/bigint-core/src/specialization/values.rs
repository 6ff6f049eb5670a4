//! What the fields of specialisations hold, and the codes by which they stand there. A code of 0
//! says that nothing is known.

use super::Field;

/// How lanes that multiply by rows move limbs between device memory and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moves {
    /// Four at a time.
    Fours,
    /// Limbs move one by one.
    Single,
    /// By way of shared memory, and there four at a time.
    Staged,
}

/// How many rows a product by rows has, and how long they are: lanes share each, a digit
/// of [`SHORT`] or [`LONG`] limbs to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// One, of short digits.
    Short,
    /// One, of long digits.
    One,
    /// Several, of long digits.
    Several,
}

/// Limbs in a digit of a short row.
pub const SHORT: u32 = 8;

/// Limbs in any other digit.
pub const LONG: u32 = 16;

/// Limbs of the other operand that are multiplied together.
pub const STEP: u32 = 4;

impl Rows {
    /// The rows of an operand of so many limbs.
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
    /// second: it is where it fills digits better, which takes fewer products.
    #[inline(always)]
    pub const fn are_of_first(n: u32, m: u32, lanes: u32) -> bool {
        #[inline(always)]
        const fn products(whole: u32, cut: u32, lanes: u32) -> u64 {
            let digit = match Rows::of(cut, lanes) {
                Rows::Short => SHORT,
                Rows::One | Rows::Several => LONG,
            };
            let whole = whole.next_multiple_of(STEP) as u64;
            // A power of two.
            let row = digit * lanes;
            whole * ((cut + row - 1) & !(row - 1)) as u64
        }
        products(m, n, lanes) < products(n, m, lanes)
    }
}

/// What is raised to powers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bases {
    /// A base.
    One,
    /// Two bases, each with an exponent of its own.
    Two,
    /// A base of which a table of powers is the operand.
    Table,
}

/// Where a thread that scans has its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Home {
    /// In strips of shared memory.
    Strips,
    /// In device memory.
    Memory,
    /// In registers.
    Registers,
}

/// For each type of values the code of a value, and the value of a code.
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
