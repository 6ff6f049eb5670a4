//! The facts that follow from a launch's arguments. Host and kernel find them out by the same functions: the
//! host to specialise the PTX, a kernel that is not specialised for itself.

use super::*;
use crate::algorithm::Algorithm;
use crate::kernel::{
    self, Arguments, DIVISOR_IN_REGISTERS, Kernel, MatrixArgument, Scanned, divisor_digit,
    montgomery_digit, placed_width, power_digit, slot_fours, staged_fours,
};
use crate::operation::{Cost, Operation};
use crate::shape::Layout;
use crate::transform::Plan;

/// The value of [`ProductInSlots::width`] where threads read and write their limbs in device memory, not in
/// slots.
pub const NO_SLOTS: u32 = 63;

/// The value of [`ProductInSlots::width`]: the width of both operands if the numbers are dense and pass
/// through [slots](slot_fours), else [`NO_SLOTS`].
#[inline(always)]
pub const fn slot_width(algorithm: Algorithm, arguments: &Arguments) -> u32 {
    let Arguments { r, a, b, .. } = arguments;
    let (n, m, width) = (a.width as usize, b.width as usize, r.width as usize);
    match are_dense(arguments) && slot_fours(algorithm, n, m, width) > 0 {
        true => n as u32,
        false => NO_SLOTS,
    }
}

/// Whether columns of digits stand in shared memory, in a launch with `scratch` limbs of scratch for each
/// worker. They do if it has none.
#[inline(always)]
pub const fn columns_are_shared(scratch: u64) -> bool {
    scratch == 0
}

/// Whether a block that multiplies numbers of up to `limbs` limbs at a time takes these operands whole.
#[inline(always)]
pub const fn is_one_piece(a: &MatrixArgument, b: &MatrixArgument, limbs: u32) -> bool {
    a.width <= limbs as u64 && b.width <= limbs as u64
}

/// Whether a block that multiplies numbers of up to `limbs` limbs at a time squares: both operands are then
/// the same batch, and each number is transformed once.
#[inline(always)]
pub const fn is_square(a: &MatrixArgument, b: &MatrixArgument, limbs: u32) -> bool {
    a.limbs == b.limbs
        && a.number_stride == b.number_stride
        && a.limb_stride == b.limb_stride
        && a.width == b.width
        && a.width <= limbs as u64
}

/// Whether lanes that pass over numbers hold them. Whole warps do so too; no others do.
const fn is_held(operation: Operation) -> bool {
    let (rows, mut i) = (operation.declaration().rows, 0);
    while i < rows.len() {
        if matches!(rows[i].family, Family::ScanByLanes) && rows[i].lanes.len() > 1 {
            return true;
        }
        i += 1;
    }
    false
}

/// The limbs of the widest operand or result.
const fn widest(arguments: &Arguments) -> usize {
    let Arguments { r, a, b, c, .. } = arguments;
    let widths = [r.width, a.width, b.width, c.width];
    let (mut widest, mut i) = (0, 0);
    while i < widths.len() {
        widest = if widths[i] > widest {
            widths[i]
        } else {
            widest
        };
        i += 1;
    }
    widest as usize
}

/// Whether four limbs of operands and result are moved at a time. The operand of index `guide` does not count,
/// as one limb of it is read for each number.
#[inline(always)]
pub const fn in_fours(arguments: &Arguments, guide: Option<usize>) -> bool {
    let Arguments { r, a, b, c, .. } = arguments;
    let (is_a, is_b, is_c) = match guide {
        Some(0) => (false, true, true),
        Some(1) => (true, false, true),
        Some(2) => (true, true, false),
        _ => (true, true, true),
    };
    r.in_fours() && (!is_a || a.in_fours()) && (!is_b || b.in_fours()) && (!is_c || c.in_fours())
}

/// The narrowest contiguous results, in limbs, for which a warp reads the guide of each number once. The
/// results that it computes at once then belong to no more numbers than it has lanes.
pub const NARROWEST_ONCE: u64 = 5;

/// Whether a warp reads the guide of each number once, for contiguous results of `width` limbs.
#[inline(always)]
pub const fn reads_guide_once(width: u64) -> bool {
    width >= NARROWEST_ONCE
}

/// The place in which a thread that scans holds its numbers, for a kernel of this layout with these arguments.
#[inline(always)]
pub const fn home(operation: Operation, layout: Layout, arguments: &Arguments) -> Home {
    /// Whether numbers follow one another without gaps.
    #[inline(always)]
    const fn is_run(batch: &MatrixArgument) -> bool {
        batch.number_stride == batch.width || batch.width == 0
    }
    let Arguments { r, s, a, b, c, .. } = arguments;
    let operands = [a.width as u32, b.width as u32, c.width as u32];
    let results = [r.width as u32, s.width as u32];
    let are_runs = is_run(r) && is_run(s) && is_run(a) && is_run(b) && is_run(c);
    match kernel::scanned(operation, layout, operands, results) {
        Scanned::InRegisters => Home::Registers,
        Scanned::InStrips(_) if are_runs => Home::Strips,
        _ => Home::Memory,
    }
}

/// The class of a divisor of `width` limbs: it is held in `2^class` registers, or in none for class 6.
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

/// Whether the numbers of operands and result are dense: they follow one another without a gap, and begin at
/// an address from which four limbs can be moved at once.
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

/// Whether the limbs of each number are neighbours in all operands and results, and [four of them](in_fours)
/// are moved at a time.
#[inline(always)]
pub const fn moves_fours(arguments: &Arguments) -> bool {
    are_neighbours(arguments) && in_fours(arguments, None)
}

/// Whether the limbs of each number are neighbours in all operands and results.
#[inline(always)]
const fn are_neighbours(arguments: &Arguments) -> bool {
    /// An operand or result of width 0 is absent, and counts as one whose limbs are neighbours.
    #[inline(always)]
    const fn are_neighbours(batch: &MatrixArgument) -> bool {
        batch.limb_stride == 1 || batch.width == 0
    }
    let Arguments { r, s, a, b, .. } = arguments;
    are_neighbours(r) && are_neighbours(s) && are_neighbours(a) && are_neighbours(b)
}

impl Moves {
    /// The way in which limbs of contiguous operands and results are moved.
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
}

impl Kernel {
    /// The facts known of a launch of this kernel with these arguments.
    pub const fn specialization(&self, arguments: &Arguments) -> Specialization {
        let Arguments { a, b, c, .. } = arguments;
        let log_lanes = self.lanes.ilog2();
        let are_neighbours = are_neighbours(arguments);
        let is_contiguous = matches!(self.layout, Layout::Contiguous);
        match self.family {
            Family::ProductByRows => Specialization::ProductByRows(self.product_by_rows(arguments)),
            Family::ProductInPlaces => product_in_places(arguments),
            Family::ProductInSlots => Specialization::ProductInSlots(ProductInSlots {
                width: slot_width(self.algorithm, arguments),
            }),
            Family::BlockTransform => {
                let limbs = Plan::of(self.lanes).limbs();
                Specialization::BlockTransform(BlockTransform {
                    are_neighbours,
                    is_square: is_square(a, b, limbs),
                    is_one_piece: is_one_piece(a, b, limbs),
                })
            }
            Family::Toeplitz => {
                let (n, m) = (a.width as u32, b.width as u32);
                let plan = kernel::Toeplitz::of(n, m);
                Specialization::Toeplitz(Toeplitz {
                    groups: plan.groups,
                    by_fours: moves_fours(arguments),
                    steps: plan.steps(n, m),
                    are_neighbours,
                    has_above: plan.above > 0,
                    once: arguments.workers >= arguments.count,
                    swaps: n > m,
                })
            }
            Family::Montgomery => Specialization::Montgomery(Montgomery {
                log_lanes,
                fours: montgomery_digit(c.width as usize, self.lanes) as u32 / 4,
            }),
            Family::Power => Specialization::Power(Power {
                log_lanes,
                fours: power_digit(c.width as usize, self.lanes) as u32 / 4,
                bases: match self.operation.cost() {
                    Cost::PairOfPowers => Bases::Two,
                    Cost::PowerByTable => Bases::Table,
                    _ => Bases::One,
                },
                scans: !matches!(self.algorithm, Algorithm::WindowVartime),
            }),
            Family::Division => Specialization::Division(Division {
                class: divisor_class(b.width as u32),
                are_neighbours,
            }),
            Family::DivisionByLanes => Specialization::DivisionByLanes(DivisionByLanes {
                log_lanes,
                fours: divisor_digit(b.width as usize, self.lanes) as u32 / 4,
                are_neighbours,
            }),
            Family::Square => Specialization::Square(Square {
                by_fours: in_fours(arguments, None),
                log_lanes,
                are_neighbours,
            }),
            Family::Root => Specialization::Root(Root {
                log_lanes,
                are_neighbours,
            }),
            Family::DivstepsByLanes => Specialization::DivstepsByLanes(DivstepsByLanes {
                log_lanes,
                are_neighbours,
            }),
            Family::Column => Specialization::Column(Column {
                are_neighbours,
                is_shared: columns_are_shared(arguments.scratch.width),
            }),
            Family::Limbwise if is_contiguous => {
                let guide = self.operation.guide();
                Specialization::Limbwise(Limbwise {
                    by_fours: in_fours(arguments, guide),
                    // Without a guide the field is the same for all widths.
                    reads_guide_once: guide.is_none() || reads_guide_once(arguments.r.width),
                })
            }
            Family::ScanByLanes if is_contiguous => Specialization::ScanByLanes(ScanByLanes {
                by_fours: a.in_fours() && b.in_fours(),
                chunks: match is_held(self.operation) {
                    true => kernel::chunks_held(widest(arguments), self.lanes),
                    false => 0,
                },
            }),
            Family::ScanByThread => Specialization::ScanByThread(ScanByThread {
                home: home(self.operation, self.layout, arguments),
            }),
            Family::Limbwise | Family::ScanByLanes => Specialization::None,
            Family::LongProduct
            | Family::LongTransform
            | Family::PowerInResidues
            | Family::None => Specialization::None,
        }
    }

    const fn product_by_rows(&self, arguments: &Arguments) -> ProductByRows {
        let moves = match self.layout {
            Layout::Contiguous => Moves::of(arguments, self.lanes),
            Layout::Interleaved => Moves::Single,
        };
        let (n, m) = (arguments.a.width as u32, arguments.b.width as u32);
        let cut = match Rows::are_of_first(n, m, self.lanes) {
            true => n,
            false => m,
        };
        let [first_width, second_width, product_width] = match moves {
            Moves::Staged => widths(arguments),
            Moves::Fours | Moves::Single => [0; 3],
        };
        ProductByRows {
            moves,
            rows: Rows::of(cut, self.lanes),
            log_lanes: self.lanes.ilog2(),
            first_width,
            second_width,
            product_width,
        }
    }
}

const fn product_in_places(arguments: &Arguments) -> Specialization {
    let Arguments { r, a, b, .. } = arguments;
    let room = placed_width(a.width as usize, b.width as usize, r.width as usize);
    if room == 0 {
        return Specialization::None;
    }
    let [first_width, second_width, product_width] = widths(arguments);
    Specialization::ProductInPlaces(ProductInPlaces {
        room: room as u32 / 8,
        is_dense: are_dense(arguments),
        first_width,
        second_width,
        product_width,
    })
}

/// The widths of operands and product if the fields have room for them, else zeros, which say that they are
/// not known.
const fn widths(arguments: &Arguments) -> [u32; 3] {
    let Arguments { r, a, b, .. } = arguments;
    let are_held = ProductByRows::FIRST_WIDTH.holds(a.width)
        && ProductByRows::SECOND_WIDTH.holds(b.width)
        && ProductByRows::PRODUCT_WIDTH.holds(r.width);
    match are_held {
        true => [a.width as u32, b.width as u32, r.width as u32],
        false => [0; 3],
    }
}

impl Specialization {
    /// The specialization without the widths of operands and product, which products by rows may have. It
    /// serves launches of all widths that are alike in everything else.
    pub const fn of_any_widths(self) -> Self {
        match self {
            Specialization::ProductByRows(known) => Specialization::ProductByRows(ProductByRows {
                first_width: 0,
                second_width: 0,
                product_width: 0,
                ..known
            }),
            Specialization::ProductInPlaces(known) => {
                Specialization::ProductInPlaces(ProductInPlaces {
                    first_width: 0,
                    second_width: 0,
                    product_width: 0,
                    ..known
                })
            }
            Specialization::Toeplitz(known) => {
                Specialization::Toeplitz(Toeplitz { steps: 0, ..known })
            }
            known => known,
        }
    }
}
