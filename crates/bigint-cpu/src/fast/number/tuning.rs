//! The lengths at which one algorithm takes over from another for one number, as data.

use serde::de::{Deserializer, Error, Unexpected};
use serde::{Deserialize, Serialize};

use super::isa::Isa;
use super::{karatsuba, toom3, toom4};
use crate::fast::{NEVER, Path};

/// The lengths at which one algorithm takes over from another for one product, in limbs of 64 bits
/// of the shorter operand.
///
/// The defaults were measured on an Emerald Rapids Xeon (family 6, model 207), 2026-11-20, on one
/// thread, with both algorithms on either side of each length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// The length from which on Karatsuba's method splits what schoolbook multiplies below it, at
    /// least 2.
    #[serde(deserialize_with = "at_least_two")]
    pub karatsuba: usize,
    /// The length from which on Toom and Cook's three parts replace Karatsuba's two.
    pub toom3: usize,
    /// The length from which on four parts replace three.
    pub toom4: usize,
    /// The length from which on the number-theoretic transform multiplies, or five eighths of it if
    /// the other operand is four times as long.
    pub transform: usize,
}

/// The [`Thresholds`] on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathThresholds {
    /// The thresholds for a product of two numbers.
    pub product: Thresholds,
    /// The thresholds for a square.
    pub square: Thresholds,
}

/// The [`Thresholds`] on every path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NumberTuning {
    /// The thresholds with AVX-512 IFMA.
    pub avx512ifma: PathThresholds,
    /// The thresholds with AVX2, BMI2 and ADX.
    pub avx2: PathThresholds,
    /// The thresholds with 64-bit words and no vector instructions.
    pub portable: PathThresholds,
}

impl PathThresholds {
    /// The thresholds for `a b`, which are those of a square if both are the same slice.
    #[inline]
    pub(super) fn of(&self, a: &[u64], b: &[u64]) -> &Thresholds {
        if std::ptr::eq(a, b) {
            &self.square
        } else {
            &self.product
        }
    }
}

impl NumberTuning {
    /// The thresholds of one path.
    #[inline]
    pub fn of(&self, path: Path) -> &PathThresholds {
        match path {
            Path::Portable => &self.portable,
            Path::Avx2 => &self.avx2,
            Path::Avx512Ifma => &self.avx512ifma,
        }
    }

    /// The thresholds of one path, to change them.
    pub fn of_mut(&mut self, path: Path) -> &mut PathThresholds {
        match path {
            Path::Portable => &mut self.portable,
            Path::Avx2 => &mut self.avx2,
            Path::Avx512Ifma => &mut self.avx512ifma,
        }
    }
}

impl Default for NumberTuning {
    fn default() -> Self {
        let of = |path| PathThresholds {
            product: Thresholds::of_path(path, false),
            square: Thresholds::of_path(path, true),
        };
        NumberTuning {
            avx512ifma: of(Path::Avx512Ifma),
            avx2: of(Path::Avx2),
            portable: of(Path::Portable),
        }
    }
}

impl Thresholds {
    /// The defaults for the products of a path, or those of the best path below it if this machine
    /// lacks its instructions.
    pub fn of(path: Path) -> Self {
        Self::of_isa(Isa::of(path), false)
    }

    /// [`Thresholds::karatsuba`], or the shortest operands it can split.
    #[inline]
    pub(super) fn karatsuba(&self) -> usize {
        self.karatsuba.max(karatsuba::MIN_LIMBS)
    }

    /// [`Thresholds::toom3`], or the shortest operands that can be cut into three.
    #[inline]
    pub(super) fn toom3(&self) -> usize {
        self.toom3.max(toom3::MIN_LIMBS)
    }

    /// [`Thresholds::toom4`], or the shortest operands that can be cut into four.
    #[inline]
    pub(super) fn toom4(&self) -> usize {
        self.toom4.max(toom4::MIN_LIMBS)
    }

    pub(super) const fn of_isa(isa: Isa, is_square: bool) -> Self {
        let path = match isa {
            Isa::Portable => Path::Portable,
            Isa::Avx2(_) => Path::Avx2,
            Isa::Avx512(..) => Path::Avx512Ifma,
        };
        Self::of_path(path, is_square)
    }

    const fn of_path(path: Path, is_square: bool) -> Self {
        let (karatsuba, toom3, toom4, transform) = match (path, is_square) {
            (Path::Portable, false) => (26, 132, 220, 2070),
            (Path::Portable, true) => (32, 240, 240, 2340),
            (Path::Avx2, false) => (30, 186, 310, 1530),
            (Path::Avx2, true) => (44, 294, 500, 2400),
            // IFMA makes schoolbook and the transform so much faster that no more parts than two
            // win between them.
            (Path::Avx512Ifma, false) => (129, NEVER, NEVER, 416),
            (Path::Avx512Ifma, true) => (129, NEVER, NEVER, 500),
        };
        Thresholds {
            karatsuba,
            toom3,
            toom4,
            transform,
        }
    }
}

/// Refuses a threshold below which there is nothing to split.
fn at_least_two<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let limbs = usize::deserialize(deserializer)?;
    if limbs < 2 {
        let found = Unexpected::Unsigned(limbs as u64);
        return Err(D::Error::invalid_value(found, &"2 limbs or more"));
    }
    Ok(limbs)
}
