//! Where one algorithm takes over from another, as data.

/// Thresholds of the lanes engine on one path, in digits of that path unless said
/// otherwise (52 bits with AVX-512 IFMA, 28 with AVX2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneTuning {
    /// Digits of the shorter operand from which a product is split by Karatsuba.
    pub karatsuba: usize,
    /// The same for a square.
    pub karatsuba_square: usize,
}

/// Every threshold of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tuning {
    /// Lanes of AVX-512 IFMA.
    pub avx512ifma: LaneTuning,
    /// Lanes of AVX2.
    pub avx2: LaneTuning,
    /// Bytes of a sum or difference from which it is written past the caches.
    pub stream_bytes: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            avx512ifma: LaneTuning {
                karatsuba: 48,
                karatsuba_square: 64,
            },
            avx2: LaneTuning {
                karatsuba: 48,
                karatsuba_square: 64,
            },
            stream_bytes: 64 << 20,
        }
    }
}
