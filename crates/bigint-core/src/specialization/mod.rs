//! Specialisation: what the host knows of a launch when it has the driver compile a kernel.
//!
//! A kernel's PTX serves every launch: operands of any widths, in any number of lanes, at any
//! address. Its text is therefore unrolled for several cases, of which one launch takes one, and
//! the driver would compile them all. So the host writes what it knows into the PTX before it
//! loads it, and the driver's compiler drops the cases that cannot occur.
//!
//! 1. Each row of an operation's declaration names a [`Family`]: what its kernels can be
//!    specialised to. A family is a struct of typed fields, each of which has its place in a word of
//!    32 bits. [`ProductByRows`], say, holds how limbs are moved in bits 0 and 1, and how many rows
//!    there are in bits 2 and 3.
//! 2. [`Kernel::specialization`](crate::Kernel::specialization) fills the family's struct in from
//!    the arguments of a launch, and [`Specialization::word`] encodes it.
//! 3. The host's `bigint_host::specialize` replaces [`UNKNOWN`] by that word wherever it stands in
//!    the kernel's PTX.
//! 4. The kernel reads one field at a time through the same declaration, `ProductByRows::MOVES`,
//!    beside what it has found out by itself. A code of 0 says that nothing is known, and then the
//!    kernel goes by what it found. So a kernel computes the same whether it is specialised or not.
//!
//! Every field of a family is declared once, below, so host and device cannot disagree on its place;
//! that no two fields of a family overlap is checked when this crate is compiled. A kernel is
//! specialised to its own family alone: the same bits mean something else in another.
//!
//! By hand: a product of 64 by 64 limbs by 8 lanes that move four limbs at a time, in one short row,
//! has `moves` 1, `rows` 1 and `log_lanes` 3, so its word is `1 | 1 << 2 | 3 << 4 = 53`, and
//! `mov.b32 fact, 0 /*told*/;` becomes `mov.b32 fact, 53;` in `mul_school_warp_contiguous`.

mod known;
mod values;

pub use known::*;
pub use values::*;

use core::marker::PhantomData;

/// The word of a specialisation as it stands in the committed PTX, where nothing is known.
pub const UNKNOWN: &str = "0 /*told*/";

/// How the PTX says for how many threads a block leaves registers, up to their number.
pub const THREADS: &str = ".maxntid ";

/// How the PTX says how many blocks a multiprocessor should have room for, up to their number.
pub const BLOCKS: &str = ".minnctapersm ";

/// Where a value of type `V` stands in the word of a family.
#[derive(Debug)]
pub struct Field<V> {
    /// The lowest bit of the field.
    pub at: u32,
    /// The number of its bits.
    pub bits: u32,
    value: PhantomData<V>,
}

impl<V> Clone for Field<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Field<V> {}

impl<V> Field<V> {
    const fn new(at: u32, bits: u32) -> Self {
        Field {
            at,
            bits,
            value: PhantomData,
        }
    }

    /// The field's bits.
    const fn mask(self) -> u32 {
        (u32::MAX >> (32 - self.bits)) << self.at
    }

    /// Whether the field has room for a code.
    pub const fn holds(self, code: u64) -> bool {
        code >> self.bits == 0
    }

    /// The word with this code in this field, and zero elsewhere.
    const fn place(self, code: u32) -> u32 {
        debug_assert!(self.holds(code as u64));
        code << self.at
    }
}

/// Declares families: for each a struct, its fields' places, its word, and its variants of
/// [`Family`] and [`Specialization`].
macro_rules! families {
    ($(
        $(#[$doc:meta])*
        $family:ident {$(
            $(#[$about:meta])*
            $field:ident: $value:ty = $place:ident($at:literal, $bits:literal),
        )*}
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $family {
                $($(#[$about])* pub $field: $value,)*
            }

            impl $family {
                $($(#[$about])* pub const $place: Field<$value> = Field::new($at, $bits);)*

                /// The fields' places: the lowest bit of each, and how many it has.
                pub const PLACES: &'static [(u32, u32)] = &[$(($at, $bits)),*];

                /// The fields in one word.
                pub const fn word(self) -> u32 {
                    0 $(| Self::$place.place(Field::<$value>::code(self.$field)))*
                }
            }

            const _: () = {
                let mut taken = 0;
                $(
                    let mask = $family::$place.mask();
                    assert!(taken & mask == 0, "two fields of a family overlap");
                    taken |= mask;
                )*
                assert!(taken != 0);
            };
        )*

        /// The names of the families: what a row of kernels can be specialised to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Family {
            /// Nothing.
            None,
            $($(#[$doc])* $family,)*
        }

        impl Family {
            /// The places of its fields: the lowest bit of each, and how many it has.
            pub const fn places(self) -> &'static [(u32, u32)] {
                match self {
                    Family::None => &[],
                    $(Family::$family => $family::PLACES,)*
                }
            }
        }

        /// What is known of a launch: a value for each field of the kernel's family.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Specialization {
            /// Nothing.
            #[default]
            None,
            $($(#[$doc])* $family($family),)*
        }

        impl Specialization {
            /// What the PTX has in the place of [`UNKNOWN`].
            pub const fn word(self) -> u32 {
                match self {
                    Specialization::None => 0,
                    $(Specialization::$family(known) => known.word(),)*
                }
            }
        }
    };
}

families! {
    /// Products by rows, by the lanes of a warp.
    ProductByRows {
        /// How limbs are moved.
        moves: Moves = MOVES(0, 2),
        /// How many rows there are, and how long.
        rows: Rows = ROWS(2, 2),
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// Limbs of the first operand; 0 for a kernel of any widths.
        first_width: u32 = FIRST_WIDTH(7, 8),
        /// Limbs of the second, likewise.
        second_width: u32 = SECOND_WIDTH(15, 8),
        /// Limbs of the product that are wanted, likewise.
        product_width: u32 = PRODUCT_WIDTH(23, 9),
    }
    /// Products by rows, by threads whose numbers go by way of [places in shared
    /// memory](crate::kernel::placed_width).
    ProductInPlaces {
        /// The room that operands are extended to, in eights of limbs.
        room: u32 = ROOM(0, 4),
        /// Whether [numbers are dense](are_dense).
        is_dense: bool = DENSE(4, 2),
        /// Limbs of the first operand; 0 for a kernel of any widths.
        first_width: u32 = FIRST_WIDTH(7, 8),
        /// Limbs of the second, likewise.
        second_width: u32 = SECOND_WIDTH(15, 8),
        /// Limbs of the product that are wanted, likewise.
        product_width: u32 = PRODUCT_WIDTH(23, 9),
    }
    /// Products of threads whose numbers fill [slots of shared memory](crate::kernel::slot_fours).
    ProductInSlots {
        /// Limbs of each operand, or [`NO_SLOTS`].
        width: u32 = WIDTH(0, 6),
    }
    /// Products and squares of a block, by a transform.
    BlockTransform {
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
        /// Whether a number is [multiplied by itself](is_square).
        is_square: bool = SQUARE(14, 2),
        /// Whether both operands are [transformed whole](is_one_piece).
        is_one_piece: bool = ONE_PIECE(16, 2),
    }
    /// Products by Toeplitz matrices.
    Toeplitz {
        /// Blocks of a [column](crate::kernel::Toeplitz).
        blocks: u32 = BLOCKS(0, 3),
        /// Whether four limbs are moved at a time.
        by_fours: bool = BY_FOURS(4, 2),
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
    }
    /// Montgomery products.
    Montgomery {
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// Registers that each lane has for the modulus, in fours.
        fours: u32 = FOURS(7, 4),
    }
    /// Powers modulo a number.
    Power {
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// Registers that each lane has for the modulus, in fours.
        fours: u32 = FOURS(7, 4),
        /// What is raised to powers: a base, two, or a table of one's powers.
        bases: Bases = BASES(12, 2),
        /// Whether each entry of the table is picked by reading all of it, in constant time.
        scans: bool = SCANS(18, 2),
    }
    /// Quotients and remainders, by a thread.
    Division {
        /// Registers that the thread has for the divisor: [`divisor_class`].
        class: u32 = CLASS(7, 3),
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
    }
    /// Quotients and remainders, by the lanes of a warp.
    DivisionByLanes {
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// Registers that each lane has for the divisor, in fours.
        fours: u32 = FOURS(7, 4),
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
    }
    /// Squares by rows, by a thread or by lanes.
    Square {
        /// Whether four limbs are moved at a time.
        by_fours: bool = BY_FOURS(0, 2),
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
    }
    /// Square roots, by a thread or by lanes.
    Root {
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
    }
    /// Euclid's algorithm and division steps, by a thread whose digits stand in a column.
    Column {
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
        /// Whether columns stand in shared memory, not in scratch.
        is_shared: bool = SHARED(14, 2),
    }
    /// Operations limb by limb, by a warp on a stretch of limbs.
    Limbwise {
        /// Whether four limbs of operands are moved at a time.
        by_fours: bool = BY_FOURS(0, 2),
        /// Whether numbers are [so wide](reads_guide_once) that what their guide says is found out
        /// once for each.
        reads_guide_once: bool = GUIDE_ONCE(16, 2),
    }
    /// Passes over numbers, by the lanes of a warp.
    ScanByLanes {
        /// Whether four limbs are moved at a time.
        by_fours: bool = BY_FOURS(0, 2),
    }
    /// Passes over numbers, by a thread each.
    ScanByThread {
        /// Where the thread has its numbers.
        home: Home = HOME(2, 2),
    }
    /// Squares modulo `2^p - 1` by [long transforms](crate::weighted::long).
    LongTransform {
        /// The factor `m` of the columns; 0 for a launch of rows.
        factor: u32 = FACTOR(13, 4),
        /// A [`Stage`](crate::weighted::long::Stage) of the columns; 0 for a launch of rows.
        stage: u32 = STAGE(17, 2),
        /// A row's points, in [`POINTS`](crate::weighted::long::POINTS).
        row: u32 = ROW(19, 2),
        /// Warps that share a multiprocessor's registers, for which the host writes what the PTX says
        /// of [threads](THREADS); 0 leaves it as it is.
        warps: u32 = WARPS(21, 5),
        /// One less than the radix of a column's first pass.
        radix_below: u32 = RADIX_BELOW(26, 4),
        /// Whether the launch [begins early](crate::weighted::long::WAITS), for which the host writes
        /// other instructions into the PTX.
        is_early: bool = EARLY(30, 2),
    }
}

/// Fields that several families have at the same place, for the parts of kernels that they share.
macro_rules! shared {
    ($($(#[$doc:meta])* $place:ident: $value:ty = $first:ident $($family:ident)*;)*) => {$(
        $(#[$doc])*
        pub const $place: Field<$value> = $first::$place;

        const _: () = {
            $(assert!($family::$place.mask() == $place.mask());)*
        };
    )*};
}

shared! {
    /// The binary logarithm of the lanes that share a number.
    LOG_LANES: u32 = ProductByRows Montgomery Power DivisionByLanes Square Root;
    /// Whether the limbs of every number are neighbours.
    NEIGHBOURS: bool = BlockTransform Toeplitz Division DivisionByLanes Square Root Column;
}

#[cfg(test)]
mod tests;
