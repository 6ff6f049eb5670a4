//! The lengths at which one algorithm takes over from another, as data.

use serde::{Deserialize, Serialize};

use super::number::NumberTuning;
use crate::share::Sharing;

/// A threshold that no size reaches: the largest that a file of thresholds can hold,
/// whose integers are signed.
pub(super) const NEVER: usize = isize::MAX as usize;

/// Thresholds of the lanes engine on one path, in digits of 52 bits unless said
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneTuning {
    /// Digits of the shorter operand from which a product is split by Karatsuba.
    pub karatsuba: usize,
    /// Digits of a number from which its square is split by Karatsuba.
    pub karatsuba_square: usize,
    /// Numbers in a batch from which lanes are worth filling.
    pub fewest: usize,
    /// Limbs of 32 bits of the shortest shorter operand for which lanes are faster than one number
    /// at a time.
    pub narrowest: usize,
    /// Limbs of 32 bits of the longest one.
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
    /// The thresholds for one number at a time; the defaults where a file has none.
    #[serde(default)]
    pub number: NumberTuning,
    /// When a batch is shared out among threads; the default where a file does not say.
    #[serde(default)]
    pub sharing: Sharing,
    /// Bytes of a sum or difference from which it is written past the caches.
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
    /// Measured on an Intel Xeon of the Emerald Rapids family (family 6, model 207,
    /// AVX-512 IFMA at 3.1 to 3.5 GHz), 2026-11-20, one thread, by comparing the two
    /// sides of each threshold as [`tune`](super::tune()) does.
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
