//! Where one algorithm takes over from another for one number, as data.

use super::isa::Isa;
use crate::fast::Path;

/// Lengths at which one algorithm takes over from another for one product, in
/// limbs of 64 bits of the shorter operand.
///
/// The defaults were measured on an Emerald Rapids Xeon (family 6, model 207),
/// 2026-11-20, one thread, both algorithms on either side of each length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// From here on Karatsuba splits what schoolbook multiplied; at least 2.
    pub karatsuba: usize,
    /// From here on Toom and Cook's three parts do, where Karatsuba's two did.
    pub toom3: usize,
    /// From here on the number-theoretic transform multiplies; from five eighths
    /// of it where the other operand is four times as long.
    pub transform: usize,
}

impl Thresholds {
    /// The defaults for a path; those of the best path below it, where this
    /// machine lacks its instructions.
    pub fn of(path: Path) -> Self {
        Self::of_isa(Isa::of(path))
    }

    pub(super) const fn of_isa(isa: Isa) -> Self {
        match isa {
            Isa::Portable => Thresholds {
                karatsuba: 29,
                toom3: 300,
                transform: 2500,
            },
            Isa::Avx2(_) => Thresholds {
                karatsuba: 36,
                toom3: 450,
                transform: 660,
            },
            // IFMA makes schoolbook and the transform so much faster that
            // three parts win nowhere between them.
            Isa::Avx512(..) => Thresholds {
                karatsuba: 129,
                toom3: usize::MAX,
                transform: 360,
            },
        }
    }
}
