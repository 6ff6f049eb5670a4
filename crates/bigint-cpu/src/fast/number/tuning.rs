//! Where one algorithm overtakes the next, per instruction set.
//!
//! All values are limbs of 64 bits of the shorter operand. Measured on an
//! Emerald Rapids Xeon (family 6, model 207), 2026-11-20, one thread.

use super::isa::Isa;

/// Lengths at which the dispatcher changes algorithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// From here on Karatsuba splits what schoolbook multiplied.
    pub(super) karatsuba: usize,
    /// From here on the number-theoretic transform multiplies.
    pub(super) transform: usize,
}

impl Tuning {
    pub(super) const fn of(isa: Isa) -> Self {
        match isa {
            Isa::Portable => Tuning {
                karatsuba: 20,
                transform: 1500,
            },
            Isa::Avx2(_) => Tuning {
                karatsuba: 36,
                transform: 640,
            },
            Isa::Avx512(..) => Tuning {
                karatsuba: 129,
                transform: 440,
            },
        }
    }
}
