//! Specialisation: the host writes what it knows of a launch into a kernel's PTX before the driver
//! compiles it.
//!
//! A kernel's PTX serves every launch: operands of any widths, in any number of lanes, at any
//! address. Its text is therefore unrolled for several cases. A launch takes only one of them, but
//! the driver would compile them all. So the host writes what it knows into the PTX before it loads
//! it, and the driver's compiler drops the cases that cannot occur.
//!
//! 1. Each row of an operation's declaration names a [`Family`]. A family is a struct of typed
//!    fields, each with its place in a word of 32 bits: the facts to which its kernels can be
//!    specialised. [`ProductByRows`], for example, says in bits 0 and 1 how limbs are moved, and in
//!    bits 2 and 3 how many rows there are.
//! 2. [`Kernel::specialization`](crate::Kernel::specialization) fills the family's struct in from
//!    the arguments of a launch, and [`Specialization::word`] encodes it.
//! 3. The host's `bigint_host::specialize` replaces [`UNKNOWN`] by that word wherever it stands in
//!    the kernel's PTX.
//! 4. The kernel reads one field at a time through the same declaration, such as
//!    `ProductByRows::MOVES`, and also finds the value out by itself. A code of 0 says that nothing
//!    is known, and then the kernel takes the value that it found. So a kernel computes the same
//!    whether it is specialised or not.
//!
//! Every field of a family is declared once, below, so host and device cannot disagree on its
//! place. This crate does not compile if two fields of a family overlap. A kernel is specialised to
//! its own family alone, as the same bits mean something else in another.
//!
//! By hand: 8 lanes multiply 64 by 64 limbs in one short row, and move four limbs at a time.
//! `moves` is 1, `rows` is 1 and `log_lanes` is 3, so the word is `1 | 1 << 2 | 3 << 4 = 53`, and
//! `mov.b32 fact, 0 /*told*/;` becomes `mov.b32 fact, 53;` in `mul_school_warp_contiguous`.

mod known;
mod values;

pub use known::*;
pub use values::*;

use core::marker::PhantomData;

/// The word of a specialisation as it stands in the committed PTX, where nothing is known.
pub const UNKNOWN: &str = "0 /*told*/";

/// The directive by which PTX bounds the threads of a block, without their number. The registers of
/// a thread depend on it.
pub const THREADS: &str = ".maxntid ";

/// The directive by which PTX says how many blocks a multiprocessor should have room for, without
/// their number.
pub const BLOCKS: &str = ".minnctapersm ";

/// The place of a value of type `V` in the word of a family.
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

    /// The word that has `code` in this field, and zeros elsewhere.
    const fn place(self, code: u32) -> u32 {
        debug_assert!(self.holds(code as u64));
        code << self.at
    }
}

/// Declares families. Each one becomes a struct with its fields' places and its word, and a variant
/// of [`Family`] and of [`Specialization`].
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

                /// The fields' places: the lowest bit of each, and its number of bits.
                pub const PLACES: &'static [(u32, u32)] = &[$(($at, $bits)),*];

                /// The codes of all fields, in one word.
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

        /// The names of the families. A row of kernels has one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Family {
            /// Nothing.
            None,
            $($(#[$doc])* $family,)*
        }

        impl Family {
            /// The places of the family's fields: the lowest bit of each, and its number of bits.
            pub const fn places(self) -> &'static [(u32, u32)] {
                match self {
                    Family::None => &[],
                    $(Family::$family => $family::PLACES,)*
                }
            }
        }

        /// The facts known of a launch: a value for each field of the kernel's family.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Specialization {
            /// Nothing.
            #[default]
            None,
            $($(#[$doc])* $family($family),)*
        }

        impl Specialization {
            /// The word that takes the place of [`UNKNOWN`] in the PTX.
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
        /// The way in which limbs are moved.
        moves: Moves = MOVES(0, 2),
        /// The number of rows, and their length.
        rows: Rows = ROWS(2, 2),
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// The limbs of the first operand; 0 for a kernel of any widths.
        first_width: u32 = FIRST_WIDTH(7, 8),
        /// The limbs of the second operand; 0 for a kernel of any widths.
        second_width: u32 = SECOND_WIDTH(15, 8),
        /// The limbs of the product that are wanted; 0 for a kernel of any widths.
        product_width: u32 = PRODUCT_WIDTH(23, 9),
    }
    /// Products by rows, by threads whose numbers pass through [places in shared
    /// memory](crate::kernel::placed_width).
    ProductInPlaces {
        /// The width to which operands are extended, in units of eight limbs.
        room: u32 = ROOM(0, 4),
        /// Whether [numbers are dense](are_dense).
        is_dense: bool = DENSE(4, 2),
        /// The limbs of the first operand; 0 for a kernel of any widths.
        first_width: u32 = FIRST_WIDTH(7, 8),
        /// The limbs of the second operand; 0 for a kernel of any widths.
        second_width: u32 = SECOND_WIDTH(15, 8),
        /// The limbs of the product that are wanted; 0 for a kernel of any widths.
        product_width: u32 = PRODUCT_WIDTH(23, 9),
    }
    /// Products of threads whose numbers fill [slots of shared memory](crate::kernel::slot_fours).
    ProductInSlots {
        /// The limbs of each operand, or [`NO_SLOTS`].
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
        /// The groups of eight [columns](crate::kernel::Toeplitz).
        groups: u32 = GROUPS(0, 4),
        /// Whether four limbs are moved at a time.
        by_fours: bool = BY_FOURS(4, 2),
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
        /// Whether the first number is the wider one.
        swaps: bool = SWAPS(14, 2),
        /// Whether the wider number has limbs above its columns.
        has_above: bool = HAS_ABOVE(16, 2),
        /// Whether no warp has two numbers.
        once: bool = ONCE(18, 2),
        /// The steps along columns that the narrower number's limbs make, if there is one piece.
        steps: u32 = STEPS(20, 7),
    }
    /// Montgomery products.
    Montgomery {
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// The registers that each lane has for the modulus, in units of four.
        fours: u32 = FOURS(7, 4),
    }
    /// Powers modulo a number.
    Power {
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// The registers that each lane has for the modulus, in units of four.
        fours: u32 = FOURS(7, 4),
        /// The form of the base: one base, two bases, or a table of the powers of one.
        bases: Bases = BASES(12, 2),
        /// Whether an entry of the table is picked by reading the whole table, in constant time.
        scans: bool = SCANS(18, 2),
    }
    /// Powers in [residue number systems](crate::rns).
    PowerInResidues {
        /// The powers of which a product is computed.
        bases: u32 = BASES(12, 3),
        /// Whether the whole table is read for each window, in constant time.
        scans: bool = SCANS(18, 2),
    }
    /// Quotients and remainders, by a thread.
    Division {
        /// The registers that the thread has for the divisor, as a [`divisor_class`].
        class: u32 = CLASS(7, 3),
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
    }
    /// Quotients and remainders, by the lanes of a warp.
    DivisionByLanes {
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// The registers that each lane has for the divisor, in units of four.
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
        /// Whether columns stand in shared memory and not in scratch.
        is_shared: bool = SHARED(14, 2),
    }
    /// Division steps, by the lanes of a warp.
    DivstepsByLanes {
        /// The binary logarithm of the lanes that share a number.
        log_lanes: u32 = LOG_LANES(4, 3),
        /// Whether the limbs of every number are neighbours.
        are_neighbours: bool = NEIGHBOURS(12, 2),
    }
    /// Operations limb by limb, by a warp on a stretch of limbs.
    Limbwise {
        /// Whether four limbs of operands are moved at a time.
        by_fours: bool = BY_FOURS(0, 2),
        /// Whether numbers are [so wide](reads_guide_once) that a warp reads the guide of each
        /// number once.
        reads_guide_once: bool = GUIDE_ONCE(16, 2),
    }
    /// Passes over numbers, by the lanes of a warp.
    ScanByLanes {
        /// Whether four limbs are moved at a time.
        by_fours: bool = BY_FOURS(0, 2),
        /// The registers in which each lane [holds](crate::kernel::chunks_held) its limbs of a number; 0 where none does.
        chunks: u32 = CHUNKS(2, 4),
    }
    /// Passes over numbers, by a thread each.
    ScanByThread {
        /// The place in which the thread holds its numbers.
        home: Home = HOME(2, 2),
    }
    /// Products by [transforms on the whole device](crate::transform::grid). Their kernels do not read the word: the host writes the
    /// facts [in place of the parameter's words](LongProduct::parameters), of which they read them.
    LongProduct {
        /// The radix of a column's first pass.
        radix: u32 = RADIX(0, 4),
        /// The levels of a column below the first pass.
        log_part: u32 = LOG_PART(4, 3),
        /// The binary logarithm of a row's length.
        log_row: u32 = LOG_ROW(7, 4),
        /// The bits of a digit.
        digit_bits: u32 = DIGIT_BITS(11, 5),
        /// The number of operands: 2, or 1 if a number is multiplied by itself.
        operands: u32 = OPERANDS(16, 2),
        /// Whether products wrap.
        wraps: bool = WRAPS(18, 2),
        /// Whether the plan is [daring](crate::transform::grid::GridPlan::daring).
        is_daring: bool = DARING(20, 2),
    }
    /// Squares modulo `2^p - 1` and other numbers by [long transforms](crate::weighted::long).
    LongTransform {
        /// Whether the transform is negacyclic.
        is_negacyclic: bool = NEGACYCLIC(2, 2),
        /// The points that a carry reaches over; 0 for a launch of rows.
        reach: u32 = REACH(4, 3),
        /// The factor `m` of the columns' length; 0 for a launch of rows.
        factor: u32 = FACTOR(13, 4),
        /// The [`Stage`](crate::weighted::long::Stage) of a launch of columns; 0 for a launch of
        /// rows.
        stage: u32 = STAGE(17, 2),
        /// The points of a row, in units of [`POINTS`](crate::weighted::long::POINTS).
        row: u32 = ROW(19, 2),
        /// The number of warps that share a multiprocessor's registers, for which the host rewrites
        /// the PTX's [bound of threads](THREADS); 0 leaves the bound as it is.
        warps: u32 = WARPS(21, 5),
        /// One less than the radix of a column's first pass.
        radix_below: u32 = RADIX_BELOW(26, 4),
        /// Whether the launch [begins early](crate::weighted::long::WAITS), for which the host also
        /// rewrites instructions of the PTX.
        is_early: bool = EARLY(30, 2),
    }
}

/// Declares fields that several families have at the same place. The parts of kernels that these
/// families share read them.
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
    LOG_LANES: u32 = ProductByRows Montgomery Power DivisionByLanes Square Root DivstepsByLanes;
    /// Whether the limbs of every number are neighbours.
    NEIGHBOURS: bool = BlockTransform Toeplitz Division DivisionByLanes Square Root Column DivstepsByLanes;
}

#[cfg(test)]
mod tests;
