//! The lengths at which one algorithm takes over from another, as data.

use serde::{Deserialize, Serialize};

use super::number::NumberTuning;
use crate::share::Sharing;

/// A threshold that no size reaches. It is the largest that a file of thresholds can hold, as
/// integers in files are signed.
pub(super) const NEVER: usize = isize::MAX as usize;

/// The thresholds of the engine in lanes on one path, in digits of 52 bits unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneTuning {
    /// The digits of the shorter operand from which on a product is split by Karatsuba's method.
    pub karatsuba: usize,
    /// The digits of a number from which on its square is split by Karatsuba's method.
    pub karatsuba_square: usize,
    /// The numbers in a batch from which on lanes are worth filling.
    pub fewest: usize,
    /// The least number of 32-bit limbs of the shorter operand for which lanes are faster than one
    /// number at a time.
    pub narrowest: usize,
    /// The greatest such number.
    pub widest: usize,
}

/// Every threshold of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Tuning {
    /// The thresholds for lanes of AVX-512 IFMA.
    pub avx512ifma: LaneTuning,
    /// The thresholds for lanes of AVX2.
    pub avx2: LaneTuning,
    /// The thresholds for one number at a time, or the defaults if a file has none.
    #[serde(default)]
    pub number: NumberTuning,
    /// The sizes from which on a batch is shared out among threads, or the default if a file does
    /// not say.
    #[serde(default)]
    pub sharing: Sharing,
    /// The size in bytes from which on a sum or difference is written past the caches.
    pub stream_bytes: usize,
    /// The size in bytes from which on stores go past the caches without AVX-512, where a batch is
    /// written word by word.
    #[serde(default = "stream_words_bytes")]
    pub stream_words_bytes: usize,
    /// The size in bytes from which on stores go past the caches for an interleaved batch, which is
    /// written row by row.
    pub stream_rows_bytes: usize,
}

fn stream_words_bytes() -> usize {
    64 << 20
}

impl Default for Tuning {
    /// The default was measured on an Intel Xeon of the Emerald Rapids family (family 6, model 207,
    /// AVX-512 IFMA at 3.1 to 3.5 GHz), 2026-11-20, on one thread, by comparing the two sides of
    /// each threshold as [`tune`](super::tune()) does.
    fn default() -> Self {
        Tuning {
            avx512ifma: LaneTuning {
                karatsuba: 36,
                karatsuba_square: 64,
                fewest: 6,
                narrowest: 1,
                widest: 1536,
            },
            avx2: LaneTuning {
                karatsuba: 30,
                karatsuba_square: 52,
                fewest: 4,
                narrowest: 8,
                widest: 4096,
            },
            number: NumberTuning::default(),
            sharing: Sharing::default(),
            stream_bytes: 2 << 20,
            stream_words_bytes: stream_words_bytes(),
            stream_rows_bytes: 2 << 20,
        }
    }
}
