//! What the host tells a kernel of its launch when it has it compiled.
//!
//! A kernel is unrolled for several cases, of which a launch takes one, and the driver
//! takes as long for each. The host therefore writes what it knows of the arguments into
//! the PTX ([`UNTOLD`]), and the compiler drops the cases that do not occur. Where nothing
//! is told the kernel finds out for itself, by the same functions.

use crate::algorithm::{Algorithm, Level};
use crate::kernel::{
    self, Arguments, DIVISOR_IN_REGISTERS, Kernel, MatrixArgument, Scanned, divisor_digit,
    lanes_are_told, montgomery_digit, placed_width, power_digit, slot_fours, staged_fours,
};
use crate::operation::Operation;
use crate::shape::Layout;
use crate::transform::Plan;

/// How the word of facts stands in the PTX: one that says nothing.
pub const UNTOLD: &str = "0 /*told*/";

/// What is told of a launch.
///
/// Zero in a field, [`MOVES`], [`ROWS`], [`LANES`], [`DIGIT`], [`DIVISOR`], [`SAME`],
/// [`PIECES`], [`ONCE`], [`FOURS`], [`SCANNED`], [`SCAN`], [`COLUMNS`], [`BASES`] or [`NEIGHBOURS`], says
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Facts(pub u32);

/// A field of [`Facts`].
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its lowest bit.
    pub at: u32,
    /// How many it has.
    pub bits: u32,
}

impl Field {
    /// Whether a value fits.
    const fn holds(self, value: u64) -> bool {
        value >> self.bits == 0
    }
}

/// How the limbs of a product and its operands are moved: [`Moves::code`].
pub const MOVES: Field = Field { at: 0, bits: 2 };

/// The rows of a product: [`Rows::code`].
pub const ROWS: Field = Field { at: 2, bits: 2 };

/// Lanes of a warp that share a number: their binary logarithm.
pub const LANES: Field = Field { at: 4, bits: 3 };

/// Registers that each lane has for a modulus or a divisor, in fours ([`montgomery_digit`]).
pub const DIGIT: Field = Field { at: 7, bits: 4 };

/// Registers that a thread has for a divisor: [`divisor_class`].
pub const DIVISOR: Field = Field { at: 7, bits: 3 };

/// Whether a power reads the whole table for each entry, in constant time: 1 yes, 2 no.
pub const SCAN: Field = Field { at: 18, bits: 2 };

/// What a power is made of: 1 a base, 2 two of them, 3 a table.
pub const BASES: Field = Field { at: 12, bits: 2 };

/// Warps that share a multiprocessor's registers, of long transforms: what the PTX says of a
/// block's threads ([`THREADS`]) is said anew.
pub const WARPS: Field = Field { at: 21, bits: 5 };

/// How the PTX says for how many threads a block leaves registers, up to their number.
pub const THREADS: &str = ".maxntid ";

/// How the PTX says how many blocks a multiprocessor should have room for, up to their number: of
/// transforms, [of products](crate::transform::squares) unless they are told to [square](SAME).
pub const BLOCKS: &str = ".minnctapersm ";

/// Limbs of the first operand of a product by rows whose limbs do not fill fours or slots:
/// told, as are the two fields below, where [limbs are many](MANY).
pub const FIRST_WIDTH: Field = Field { at: 7, bits: 8 };

/// Limbs of the second.
pub const SECOND_WIDTH: Field = Field { at: 15, bits: 8 };

/// Limbs of the product that are wanted.
pub const PRODUCT_WIDTH: Field = Field { at: 23, bits: 9 };

/// So many limbs of operands are worth a kernel compiled for their widths alone.
pub const MANY: u64 = 1 << 20;

/// Limbs of the operands that fill slots of the threads that multiply them, or [`NO_SLOTS`]:
/// [`slot_width`].
pub const SLOT: Field = Field { at: 0, bits: 6 };

/// How [`SLOT`] stands for a thread that goes to memory for its limbs.
pub const NO_SLOTS: u32 = 63;

/// How [`SLOT`] stands for these: numbers fill slots that are dense, with operands as wide as each
/// other, of which all of the product is wanted.
#[inline(always)]
pub const fn slot_width(algorithm: Algorithm, arguments: &Arguments) -> u32 {
    let Arguments { r, a, b, .. } = arguments;
    let (n, m, width) = (a.width as usize, b.width as usize, r.width as usize);
    match are_dense(arguments) && slot_fours(algorithm, n, m, width) > 0 {
        true => n as u32,
        false => NO_SLOTS,
    }
}

/// What a thread that multiplies by rows extends its operands to, in eights of limbs:
/// [`placed_width`].
pub const ROOM: Field = Field { at: 0, bits: 4 };

/// Whether that thread's [numbers are dense](are_dense): 1 yes, 2 no.
pub const DENSE: Field = Field { at: 4, bits: 2 };

/// Whether columns of digits, of Euclid's algorithm and of division steps, stand in shared
/// memory: 1 yes, 2 no ([`columns`]).
pub const COLUMNS: Field = Field { at: 14, bits: 2 };

/// How [`COLUMNS`] stands for so many limbs of scratch.
#[inline(always)]
pub const fn columns(scratch: u64) -> u32 {
    if scratch == 0 { 1 } else { 2 }
}

/// Whether a transform multiplies a number by itself: 1 yes, 2 no ([`is_square`]).
pub const SAME: Field = Field { at: 14, bits: 2 };

/// Whether a transform multiplies operands in one piece: 1 yes, 2 no ([`is_one_piece`]).
pub const PIECES: Field = Field { at: 16, bits: 2 };

/// Whether a block that multiplies numbers of so many limbs at a time takes these operands
/// whole.
#[inline(always)]
pub const fn is_one_piece(a: &MatrixArgument, b: &MatrixArgument, limbs: u32) -> bool {
    a.width <= limbs as u64 && b.width <= limbs as u64
}

/// Whether limbs are neighbours in all operands and results of a block, of what squares, or of a thread
/// that divides, finds roots or goes by Euclid's algorithm: 1 yes, 2 no.
pub const NEIGHBOURS: Field = Field { at: 12, bits: 2 };

/// How [`NEIGHBOURS`] stands for these.
const fn neighbours(arguments: &Arguments) -> u32 {
    /// Nobody asks for limbs of what is not there.
    const fn are_neighbours(batch: &MatrixArgument) -> bool {
        batch.limb_stride == 1 || batch.width == 0
    }
    let Arguments { r, s, a, b, .. } = arguments;
    match are_neighbours(r) && are_neighbours(s) && are_neighbours(a) && are_neighbours(b) {
        true => 1,
        false => 2,
    }
}

/// Whether a block that multiplies numbers of so many limbs at a time takes these operands
/// for one number, which is transformed once.
#[inline(always)]
pub const fn is_square(a: &MatrixArgument, b: &MatrixArgument, limbs: u32) -> bool {
    a.limbs == b.limbs
        && a.number_stride == b.number_stride
        && a.limb_stride == b.limb_stride
        && a.width == b.width
        && a.width <= limbs as u64
}

/// Whether a warp [finds out once](once) what an operand tells all limbs of a number: 1 yes,
/// 2 no.
pub const ONCE: Field = Field { at: 16, bits: 2 };

/// Whether a warp that computes limb by limb, scans or squares moves four limbs of operands at a time:
/// 1 yes, 2 no ([`in_fours`]).
pub const FOURS: Field = Field { at: 0, bits: 2 };

/// How [`FOURS`] stands for these arguments, of which operand `tells` may be moved otherwise.
#[inline(always)]
pub const fn in_fours(arguments: &Arguments, tells: Option<usize>) -> u32 {
    let Arguments { r, a, b, c, .. } = arguments;
    let (is_a, is_b, is_c) = match tells {
        Some(0) => (false, true, true),
        Some(1) => (true, false, true),
        Some(2) => (true, true, false),
        _ => (true, true, true),
    };
    let are_in_fours = r.in_fours()
        && (!is_a || a.in_fours())
        && (!is_b || b.in_fours())
        && (!is_c || c.in_fours());
    if are_in_fours { 1 } else { 2 }
}

/// Where a thread that scans has its numbers: 1 in strips, 2 in device memory, 3 in registers
/// ([`scanned`]).
pub const SCANNED: Field = Field { at: 2, bits: 2 };

/// How [`SCANNED`] stands for kernels of a layout with these arguments.
#[inline(always)]
pub const fn scanned(operation: Operation, layout: Layout, arguments: &Arguments) -> u32 {
    /// Whether there are no gaps.
    #[inline(always)]
    const fn is_run(batch: &MatrixArgument) -> bool {
        batch.number_stride == batch.width || batch.width == 0
    }
    let Arguments { r, s, a, b, c, .. } = arguments;
    let operands = [a.width as u32, b.width as u32, c.width as u32];
    let results = [r.width as u32, s.width as u32];
    let are_runs = is_run(r) && is_run(s) && is_run(a) && is_run(b) && is_run(c);
    match kernel::scanned(operation, layout, operands, results) {
        Scanned::InRegisters => 3,
        Scanned::InStrips(_) if are_runs => 1,
        _ => 2,
    }
}

/// The operand, if there is one, that tells all limbs of a number something: by how much it is
/// shifted, say.
pub const fn tells(operation: Operation) -> Option<usize> {
    match operation {
        Operation::Shl | Operation::Shr | Operation::SetBit | Operation::TestBit => Some(1),
        Operation::Select => Some(2),
        _ => None,
    }
}

/// How [`ONCE`] stands for contiguous results of `width` limbs: those that a warp loads at once
/// are to be of no more numbers than it has lanes.
#[inline(always)]
pub const fn once(width: u64) -> u32 {
    if width >= NARROWEST_ONCE { 1 } else { 2 }
}

/// The narrowest such result, in limbs.
pub const NARROWEST_ONCE: u64 = 5;

/// Which registers hold a divisor of `width` limbs: `2^class`, or none for class 6.
#[inline(always)]
pub const fn divisor_class(width: u32) -> u32 {
    const { assert!(DIVISOR_IN_REGISTERS == 1 << 5) };
    match width {
        0..=4 => 2,
        5..=8 => 3,
        9..=16 => 4,
        17..=32 => 5,
        _ => 6,
    }
}

/// Whether numbers of operands and result follow one another without a gap, and begin where
/// four limbs can be moved at once.
#[inline(always)]
pub const fn are_dense(arguments: &Arguments) -> bool {
    #[inline(always)]
    const fn is_dense(batch: &MatrixArgument) -> bool {
        batch.limb_stride == 1
            && batch.number_stride == batch.width
            && batch.limbs.is_multiple_of(16)
    }
    is_dense(&arguments.r) && is_dense(&arguments.a) && is_dense(&arguments.b)
}

/// How lanes that multiply by rows move limbs between device memory and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Four at a time.
    Fours,
    /// One by one.
    Single,
    /// By way of shared memory, and there four at a time.
    Staged,
}

impl Moves {
    /// Those of contiguous operands and result.
    #[inline(always)]
    pub const fn of(arguments: &Arguments, lanes: u32) -> Moves {
        #[inline(always)]
        const fn has_no_gaps(batch: &MatrixArgument) -> bool {
            batch.number_stride == batch.width
        }
        let Arguments { r, a, b, .. } = arguments;
        if a.in_fours() && b.in_fours() && r.in_fours() {
            Moves::Fours
        } else if has_no_gaps(a)
            && has_no_gaps(b)
            && has_no_gaps(r)
            && staged_fours([a.width, b.width, r.width], lanes) > 0
        {
            Moves::Staged
        } else {
            Moves::Single
        }
    }

    /// How they stand in [`MOVES`].
    #[inline(always)]
    pub const fn code(self) -> u32 {
        1 + self as u32
    }

    /// Those of a code.
    #[inline(always)]
    pub const fn of_code(code: u32) -> Moves {
        match code {
            1 => Moves::Fours,
            3 => Moves::Staged,
            _ => Moves::Single,
        }
    }
}

/// How many rows a product by rows has, and how long they are: lanes share each, a digit
/// of [`SHORT`] or [`LONG`] limbs to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// How they stand in [`ROWS`].
    #[inline(always)]
    pub const fn code(self) -> u32 {
        1 + self as u32
    }

    /// Those of a code.
    #[inline(always)]
    pub const fn of_code(code: u32) -> Rows {
        match code {
            1 => Rows::Short,
            2 => Rows::One,
            _ => Rows::Several,
        }
    }

    /// Whether it is the first of two operands, of `n` and `m` limbs, that is cut into
    /// rows, because it fills digits better: that takes fewer products.
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

impl Facts {
    /// What `kernel` makes use of, of a launch with these arguments.
    pub const fn of(kernel: &Kernel, arguments: &Arguments) -> Facts {
        let Arguments { a, b, c, .. } = arguments;
        let lanes = match lanes_are_told(kernel.operation, kernel.algorithm, kernel.level) {
            true => kernel.lanes.ilog2() << LANES.at,
            false => 0,
        };
        match (
            kernel.operation.kernels_by(kernel.algorithm),
            kernel.algorithm,
            kernel.level,
        ) {
            (Operation::Mul, Algorithm::School, Level::Warp) => {}
            (Operation::Mul, Algorithm::School, Level::Thread)
                if matches!(kernel.layout, Layout::Interleaved) =>
            {
                return Facts::of_places(arguments);
            }
            (Operation::Mul, algorithm @ (Algorithm::School | Algorithm::Comba), Level::Thread)
                if matches!(kernel.layout, Layout::Contiguous) =>
            {
                return Facts(slot_width(algorithm, arguments) << SLOT.at);
            }
            (Operation::Mul, Algorithm::Fft, Level::Block) => {
                let limbs = Plan::of(kernel.lanes).limbs();
                let same = if is_square(a, b, limbs) { 1 } else { 2 };
                let pieces = if is_one_piece(a, b, limbs) { 1 } else { 2 };
                let neighbours = neighbours(arguments);
                return Facts(same << SAME.at | pieces << PIECES.at | neighbours << NEIGHBOURS.at);
            }
            (Operation::MontMul, ..) => {
                let digit = montgomery_digit(c.width as usize, kernel.lanes) as u32;
                return Facts(lanes | (digit / 4) << DIGIT.at);
            }
            (Operation::PowMod, algorithm, _) => {
                let digit = power_digit(c.width as usize, kernel.lanes) as u32;
                let scan = match algorithm {
                    Algorithm::WindowVartime => 2,
                    _ => 1,
                };
                let bases = match kernel.operation {
                    Operation::PowPair => 2,
                    Operation::PowFixed => 3,
                    _ => 1,
                };
                let bases = bases << BASES.at;
                return Facts(lanes | (digit / 4) << DIGIT.at | scan << SCAN.at | bases);
            }
            (Operation::DivRem, _, Level::Warp) => {
                let digit = divisor_digit(b.width as usize, kernel.lanes) as u32;
                let neighbours = neighbours(arguments) << NEIGHBOURS.at;
                return Facts(lanes | (digit / 4) << DIGIT.at | neighbours);
            }
            (Operation::Square, Algorithm::School, _) => {
                let fours = in_fours(arguments, None) << FOURS.at;
                return Facts(lanes | neighbours(arguments) << NEIGHBOURS.at | fours);
            }
            (Operation::Isqrt, ..) => {
                return Facts(lanes | neighbours(arguments) << NEIGHBOURS.at);
            }
            (Operation::DivRem, ..) => {
                let neighbours = neighbours(arguments) << NEIGHBOURS.at;
                return Facts(divisor_class(b.width as u32) << DIVISOR.at | neighbours);
            }
            (_, Algorithm::Lehmer | Algorithm::Divsteps, _) => {
                let columns = columns(arguments.scratch.width) << COLUMNS.at;
                return Facts(columns | neighbours(arguments) << NEIGHBOURS.at);
            }
            (operation, Algorithm::Limbwise, Level::Warp)
                if matches!(kernel.layout, Layout::Contiguous) =>
            {
                let tells = tells(operation);
                let once = match tells {
                    Some(_) => once(arguments.r.width) << ONCE.at,
                    None => 0,
                };
                return Facts(once | in_fours(arguments, tells) << FOURS.at);
            }
            (_, Algorithm::Scan, Level::Warp) if matches!(kernel.layout, Layout::Contiguous) => {
                let fours = if a.in_fours() && b.in_fours() { 1 } else { 2 };
                return Facts(fours << FOURS.at);
            }
            (operation, Algorithm::Scan, Level::Thread) => {
                return Facts(scanned(operation, kernel.layout, arguments) << SCANNED.at);
            }
            _ => return Facts(lanes),
        }
        let moves = match kernel.layout {
            Layout::Contiguous => Moves::of(arguments, kernel.lanes),
            Layout::Interleaved => Moves::Single,
        };
        let (n, m) = (a.width as u32, b.width as u32);
        let cut = match Rows::are_of_first(n, m, kernel.lanes) {
            true => n,
            false => m,
        };
        let rows = Rows::of(cut, kernel.lanes).code();
        let widths = match moves {
            Moves::Staged => Facts::of_widths(arguments),
            Moves::Fours | Moves::Single => 0,
        };
        Facts(lanes | moves.code() << MOVES.at | rows << ROWS.at | widths)
    }

    /// What a product by rows of a thread makes use of.
    const fn of_places(arguments: &Arguments) -> Facts {
        let Arguments { r, a, b, .. } = arguments;
        let room = placed_width(a.width as usize, b.width as usize, r.width as usize);
        if room == 0 {
            return Facts(0);
        }
        let dense = if are_dense(arguments) { 1 } else { 2 };
        Facts((room as u32 / 8) << ROOM.at | dense << DENSE.at | Facts::of_widths(arguments))
    }

    /// The widths of a product, where they are worth to be told and there is room for them.
    const fn of_widths(arguments: &Arguments) -> u32 {
        let Arguments { r, a, b, count, .. } = arguments;
        let are_held = FIRST_WIDTH.holds(a.width)
            && SECOND_WIDTH.holds(b.width)
            && PRODUCT_WIDTH.holds(r.width);
        match are_held && *count * (a.width + b.width) >= MANY {
            true => {
                (a.width as u32) << FIRST_WIDTH.at
                    | (b.width as u32) << SECOND_WIDTH.at
                    | (r.width as u32) << PRODUCT_WIDTH.at
            }
            false => 0,
        }
    }

    /// What a field says; zero says nothing.
    #[inline(always)]
    pub const fn field(self, field: Field) -> u32 {
        self.0 >> field.at & ((1 << field.bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    fn facts(level: Level, lanes: u32, layout: Layout, [r, a, b]: [usize; 3]) -> Facts {
        let mul = Operation::Mul;
        let kernel = Kernel::find(mul, Algorithm::School, level, lanes, layout).unwrap();
        let [r, a, b] = [r, a, b].map(|width| {
            let strides = Shape::new(100, width, layout).strides();
            MatrixArgument::new(0x1000, width, strides)
        });
        Facts::of(kernel, &Arguments::of(&[r], &[a, b]))
    }

    #[test]
    fn what_is_told_of_a_launch_is_what_the_kernel_would_find() {
        use Moves::{Fours, Single, Staged};
        let warp = |lanes, widths| {
            let facts = facts(Level::Warp, lanes, Layout::Contiguous, widths);
            (
                Moves::of_code(facts.field(MOVES)),
                Rows::of_code(facts.field(ROWS)),
            )
        };
        assert_eq!(warp(8, [128, 64, 64]), (Fours, Rows::Short));
        assert_eq!(warp(8, [129, 65, 64]), (Staged, Rows::Short));
        assert_eq!(warp(8, [130, 65, 64]), (Single, Rows::Short));
        assert_eq!(warp(4, [1001, 1000, 1]).0, Single);
        assert_eq!(warp(8, [256, 128, 128]), (Fours, Rows::One));
        assert_eq!(warp(4, [256, 128, 128]), (Fours, Rows::Several));
        // 68 limbs in short rows of 8 lanes, times 256, beside 256 in long rows, times 68.
        assert_eq!(warp(8, [324, 68, 256]), (Fours, Rows::Several));
        assert_eq!(warp(32, [324, 68, 256]), (Fours, Rows::Short));
        let interleaved = |level, lanes| facts(level, lanes, Layout::Interleaved, [64, 32, 32]);
        let warp = interleaved(Level::Warp, 8);
        assert_eq!(Moves::of_code(warp.field(MOVES)), Single);
        assert_eq!(Rows::of_code(warp.field(ROWS)), Rows::Short);
        let thread = interleaved(Level::Thread, 1);
        assert_eq!([ROOM, DENSE].map(|field| thread.field(field)), [4, 2]);
        assert_eq!(thread.field(FIRST_WIDTH), 0);
        let slot = |widths| facts(Level::Thread, 1, Layout::Contiguous, widths).field(SLOT);
        assert_eq!(slot([64, 32, 32]), 32);
        assert_eq!(slot([63, 32, 32]), NO_SLOTS);
        let of = |operation, width| {
            let kernel = Kernel::ALL
                .iter()
                .find(|kernel| kernel.operation == operation);
            let matrix = MatrixArgument {
                width,
                ..MatrixArgument::default()
            };
            Facts::of(kernel.unwrap(), &Arguments::of(&[], &[matrix; 3]))
        };
        assert_eq!(of(Operation::Rem, 9).field(DIVISOR), 4);
        assert_eq!(of(Operation::DivRem, 33).field(DIVISOR), 6);
        let lanes = Kernel::find(
            Operation::Div,
            Algorithm::School,
            Level::Warp,
            8,
            Layout::Interleaved,
        );
        let divisor = MatrixArgument {
            width: 65,
            ..MatrixArgument::default()
        };
        let told = Facts::of(lanes.unwrap(), &Arguments::of(&[], &[divisor; 2]));
        assert_eq!((told.field(LANES), told.field(DIGIT)), (3, 4));
        assert_eq!(of(Operation::PowMod, 9).field(DIGIT), 3);
        assert_eq!(of(Operation::PowMod, 9).field(SCAN), 1);
        for (operation, width, told, in_fours) in [
            (Operation::Shl, 4, 2, 1),
            (Operation::Select, 5, 1, 2),
            (Operation::Not, 8, 0, 1),
        ] {
            let contiguous = Layout::Contiguous;
            let kernel =
                Kernel::find(operation, Algorithm::Limbwise, Level::Warp, 32, contiguous).unwrap();
            let r = MatrixArgument {
                width,
                ..MatrixArgument::default()
            };
            let facts = Facts::of(kernel, &Arguments::of(&[r], &[]));
            assert_eq!((facts.field(ONCE), facts.field(FOURS)), (told, in_fours));
        }
        for lanes in [4, 8, 16, 32] {
            for layout in Layout::ALL {
                let told = facts(Level::Warp, lanes, layout, [64, 32, 32]);
                assert_eq!(1 << told.field(LANES), lanes);
            }
        }
    }

    #[test]
    fn widths_are_told_of_many_numbers_that_do_not_fill_fours() {
        let told = |level, lanes, layout, count, [r, a, b]: [usize; 3]| {
            let matrix = |width| MatrixArgument {
                limbs: 0x1000,
                number_stride: width as u64,
                limb_stride: 1,
                width: width as u64,
            };
            let arguments = Arguments {
                count,
                ..Arguments::of(&[matrix(r)], &[matrix(a), matrix(b)])
            };
            let mul = Operation::Mul;
            let kernel = Kernel::find(mul, Algorithm::School, level, lanes, layout).unwrap();
            let facts = Facts::of(kernel, &arguments);
            [FIRST_WIDTH, SECOND_WIDTH, PRODUCT_WIDTH].map(|field| facts.field(field))
        };
        let thread = |count, widths| told(Level::Thread, 1, Layout::Interleaved, count, widths);
        let many = MANY.div_ceil(11);
        assert_eq!(thread(many, [11, 6, 5]), [6, 5, 11]);
        assert_eq!(thread(many - 1, [11, 6, 5]), [0; 3]);
        assert_eq!(thread(MANY, [8, 4, 4]), [0; 3]);
        let warp = |widths| told(Level::Warp, 4, Layout::Contiguous, MANY, widths);
        assert_eq!(warp([66, 33, 33]), [33, 33, 66]);
        assert_eq!(warp([72, 36, 36]), [0; 3]);
        assert_eq!(warp([289, 256, 33]), [0; 3]);
    }
}
