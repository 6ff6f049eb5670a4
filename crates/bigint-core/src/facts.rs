//! What the host tells a kernel of its launch when it has it compiled.
//!
//! A kernel is unrolled for several cases, of which a launch takes one, and the driver
//! takes as long for each. The host therefore writes what it knows of the arguments into
//! the PTX ([`UNTOLD`]), and the compiler drops the cases that do not occur. Where nothing
//! is told the kernel finds out for itself, by the same functions.

use crate::algorithm::{Algorithm, Level};
use crate::kernel::{Arguments, Kernel};
use crate::operation::Operation;
use crate::shape::Layout;

/// How the word of facts stands in the PTX: one that says nothing.
pub const UNTOLD: &str = "0 /*told*/";

/// What is told of a launch.
///
/// ```text
/// bits 0 to 1   limbs can be moved four at a time: 1 yes, 2 no
/// bits 2 to 3   the rows of a product by rows, whose numbers lanes share: 1 + Rows
/// ```
///
/// Zero in a field says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Facts(pub u32);

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
            whole * cut.next_multiple_of(digit * lanes) as u64
        }
        products(m, n, lanes) < products(n, m, lanes)
    }
}

impl Facts {
    /// What `kernel` makes use of, of a launch with these arguments.
    pub const fn of(kernel: &Kernel, arguments: &Arguments) -> Facts {
        let Arguments { r, a, b, .. } = arguments;
        match (kernel.operation, kernel.algorithm, kernel.level) {
            (Operation::Mul, Algorithm::School, Level::Warp) => {}
            _ => return Facts(0),
        }
        let is_contiguous = matches!(kernel.layout, Layout::Contiguous);
        let in_fours = is_contiguous && a.in_fours() && b.in_fours() && r.in_fours();
        let (n, m) = (a.width as u32, b.width as u32);
        let cut = match Rows::are_of_first(n, m, kernel.lanes) {
            true => n,
            false => m,
        };
        let fours = if in_fours { 1 } else { 2 };
        Facts(fours | (1 + Rows::of(cut, kernel.lanes) as u32) << 2)
    }

    /// Whether limbs can be moved four at a time, where that is told.
    #[inline(always)]
    pub const fn in_fours(self) -> Option<bool> {
        match self.0 & 3 {
            0 => None,
            fours => Some(fours == 1),
        }
    }

    /// The rows of a product whose numbers lanes share, where they are told.
    #[inline(always)]
    pub const fn rows(self) -> Option<Rows> {
        match self.0 >> 2 & 3 {
            0 => None,
            1 => Some(Rows::Short),
            2 => Some(Rows::One),
            _ => Some(Rows::Several),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::MatrixArgument;
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
        let warp = |lanes, widths| {
            let facts = facts(Level::Warp, lanes, Layout::Contiguous, widths);
            (facts.in_fours().unwrap(), facts.rows().unwrap())
        };
        assert_eq!(warp(8, [128, 64, 64]), (true, Rows::Short));
        assert_eq!(warp(8, [129, 65, 64]), (false, Rows::Short));
        assert_eq!(warp(8, [256, 128, 128]), (true, Rows::One));
        assert_eq!(warp(4, [256, 128, 128]), (true, Rows::Several));
        // 68 limbs in short rows of 8 lanes, times 256, beside 256 in long rows, times 68.
        assert_eq!(warp(8, [324, 68, 256]), (true, Rows::Several));
        assert_eq!(warp(32, [324, 68, 256]), (true, Rows::Short));
        let interleaved = |level, lanes| facts(level, lanes, Layout::Interleaved, [64, 32, 32]);
        let warp = interleaved(Level::Warp, 8);
        assert_eq!(
            (warp.in_fours(), warp.rows()),
            (Some(false), Some(Rows::Short))
        );
        let nothing = interleaved(Level::Thread, 1);
        assert_eq!((nothing.in_fours(), nothing.rows()), (None, None));
    }
}
