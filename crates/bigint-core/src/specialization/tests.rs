//! What is known of launches, and how it stands in a word.

use super::*;
use crate::algorithm::{Algorithm, Level};
use crate::kernel::{Arguments, Kernel, MatrixArgument};
use crate::operation::Operation;
use crate::shape::{Layout, Shape};

/// A school-book product's launch with results and operands of these widths.
fn product(level: Level, lanes: u32, layout: Layout, widths: [usize; 3]) -> Specialization {
    let kernel = Kernel::find(Operation::Mul, Algorithm::School, level, lanes, layout).unwrap();
    let [r, a, b] = widths.map(|width| {
        let strides = Shape::new(100, width, layout).strides();
        MatrixArgument::new(0x1000, width, strides)
    });
    kernel.specialization(&Arguments::of(&[r], &[a, b]))
}

/// A launch of the first kernel of an operation at a level, all of whose operands are so wide.
fn of_width(operation: Operation, level: Level, lanes: u32, width: u64) -> Specialization {
    let is_it = |kernel: &&Kernel| {
        (kernel.operation, kernel.level, kernel.lanes) == (operation, level, lanes)
    };
    let kernel = Kernel::ALL.iter().find(is_it).unwrap();
    let matrix = MatrixArgument {
        width,
        ..MatrixArgument::default()
    };
    kernel.specialization(&Arguments::of(&[matrix], &[matrix; 3]))
}

#[test]
fn products_by_rows_are_known_by_their_widths() {
    use Moves::{Fours, Single, Staged};
    let rows = |lanes, layout, widths| match product(Level::Warp, lanes, layout, widths) {
        Specialization::ProductByRows(known) => {
            assert_eq!(1 << known.log_lanes, lanes);
            (known.moves, known.rows)
        }
        other => panic!("{other:?}"),
    };
    let warp = |lanes, widths| rows(lanes, Layout::Contiguous, widths);
    assert_eq!(warp(8, [128, 64, 64]), (Fours, Rows::Short));
    assert_eq!(warp(8, [129, 65, 64]), (Staged, Rows::Short));
    assert_eq!(warp(8, [130, 65, 64]), (Single, Rows::Short));
    assert_eq!(warp(4, [1001, 1000, 1]).0, Single);
    assert_eq!(warp(8, [256, 128, 128]), (Fours, Rows::One));
    assert_eq!(warp(4, [256, 128, 128]), (Fours, Rows::Several));
    // 68 limbs in short rows of 8 lanes, times 256, beside 256 in long rows, times 68.
    assert_eq!(warp(8, [324, 68, 256]), (Fours, Rows::Several));
    assert_eq!(warp(32, [324, 68, 256]), (Fours, Rows::Short));
    let interleaved = rows(8, Layout::Interleaved, [64, 32, 32]);
    assert_eq!(interleaved, (Single, Rows::Short));
    for lanes in [4, 8, 16, 32] {
        for layout in Layout::ALL {
            rows(lanes, layout, [64, 32, 32]);
        }
    }
}

#[test]
fn products_of_threads_are_known_by_their_places_and_slots() {
    let thread = product(Level::Thread, 1, Layout::Interleaved, [64, 32, 32]);
    let known = ProductInPlaces {
        room: 4,
        is_dense: false,
        first_width: 32,
        second_width: 32,
        product_width: 64,
    };
    assert_eq!(thread, Specialization::ProductInPlaces(known));
    let slot = |widths| product(Level::Thread, 1, Layout::Contiguous, widths);
    let of = |width| Specialization::ProductInSlots(ProductInSlots { width });
    assert_eq!(slot([64, 32, 32]), of(32));
    assert_eq!(slot([63, 32, 32]), of(NO_SLOTS));
}

#[test]
fn divisors_moduli_and_guides_are_known_by_their_widths() {
    use Specialization as S;
    let class = |operation, width| match of_width(operation, Level::Thread, 1, width) {
        S::Division(known) => known.class,
        other => panic!("{other:?}"),
    };
    assert_eq!(class(Operation::Rem, 9), 4);
    assert_eq!(class(Operation::DivRem, 33), 6);
    let S::DivisionByLanes(lanes) = of_width(Operation::Div, Level::Warp, 8, 65) else {
        panic!("lanes divide");
    };
    assert_eq!((lanes.log_lanes, lanes.fours), (3, 4));
    for (operation, bases) in [
        (Operation::PowMod, Bases::One),
        (Operation::PowPair, Bases::Two),
        (Operation::PowFixed, Bases::Table),
    ] {
        let S::Power(power) = of_width(operation, Level::Thread, 1, 9) else {
            panic!("a power");
        };
        assert_eq!((power.fours, power.scans, power.bases), (3, true, bases));
    }
    for (operation, width, once, by_fours) in [
        (Operation::Shl, 4, false, true),
        (Operation::Select, 5, true, false),
        (Operation::Not, 8, true, true),
    ] {
        let S::Limbwise(known) = of_width(operation, Level::Warp, 32, width) else {
            panic!("{operation:?}");
        };
        assert_eq!((known.reads_guide_once, known.by_fours), (once, by_fours));
    }
}

#[test]
fn widths_are_known_of_numbers_that_do_not_fill_fours() {
    let widths = |level, lanes, layout, [r, a, b]: [usize; 3]| {
        let matrix = |width| MatrixArgument {
            limbs: 0x1000,
            number_stride: width as u64,
            limb_stride: 1,
            width: width as u64,
        };
        let arguments = Arguments::of(&[matrix(r)], &[matrix(a), matrix(b)]);
        let mul = Operation::Mul;
        let kernel = Kernel::find(mul, Algorithm::School, level, lanes, layout).unwrap();
        let known = kernel.specialization(&arguments);
        assert_eq!(
            known.of_any_widths().word() >> ProductByRows::PLACES[3].0,
            0
        );
        match known {
            Specialization::ProductByRows(known) => {
                [known.first_width, known.second_width, known.product_width]
            }
            Specialization::ProductInPlaces(known) => {
                [known.first_width, known.second_width, known.product_width]
            }
            Specialization::None => [0; 3],
            other => panic!("{other:?}"),
        }
    };
    let thread = |of| widths(Level::Thread, 1, Layout::Interleaved, of);
    assert_eq!(thread([11, 6, 5]), [6, 5, 11]);
    assert_eq!(thread([8, 4, 4]), [0; 3]);
    let warp = |of| widths(Level::Warp, 4, Layout::Contiguous, of);
    assert_eq!(warp([66, 33, 33]), [33, 33, 66]);
    assert_eq!(warp([72, 36, 36]), [0; 3]);
    assert_eq!(warp([289, 256, 33]), [0; 3]);
}

/// The examples by hand at this module's head, and beside it.
#[test]
fn a_word_holds_the_code_of_each_field_at_its_place() {
    let rows = ProductByRows {
        moves: Moves::Fours,
        rows: Rows::Short,
        log_lanes: 3,
        first_width: 0,
        second_width: 0,
        product_width: 0,
    };
    assert_eq!(Specialization::ProductByRows(rows).word(), 53);
    let power = Power {
        log_lanes: 2,
        fours: 4,
        bases: Bases::Table,
        scans: false,
    };
    assert_eq!(power.word(), 2 << 4 | 4 << 7 | 3 << 12 | 2 << 18);
    assert_eq!(Specialization::default().word(), 0);
}

#[test]
fn codes_are_of_one_value_each_and_none_is_zero() {
    for moves in [Moves::Fours, Moves::Single, Moves::Staged] {
        let code = Field::<Moves>::code(moves);
        assert_eq!((Field::<Moves>::value(code), code > 0), (moves, true));
    }
    for rows in [Rows::Short, Rows::One, Rows::Several] {
        let code = Field::<Rows>::code(rows);
        assert_eq!((Field::<Rows>::value(code), code > 0), (rows, true));
    }
    for bases in [Bases::One, Bases::Two, Bases::Table] {
        let code = Field::<Bases>::code(bases);
        assert_eq!((Field::<Bases>::value(code), code > 0), (bases, true));
    }
    for home in [Home::Strips, Home::Memory, Home::Registers] {
        let code = Field::<Home>::code(home);
        assert_eq!((Field::<Home>::value(code), code > 0), (home, true));
    }
    for is_so in [false, true] {
        let code = Field::<bool>::code(is_so);
        assert_eq!((Field::<bool>::value(code), code > 0), (is_so, true));
    }
}
