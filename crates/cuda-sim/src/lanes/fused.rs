//! Multiply-add with one rounding on all lanes, in vector instructions where the
//! processor has them: what is compiled for every processor calls the C library for
//! each lane instead, at a fifth of the speed. The results are the same bits.
#![cfg_attr(target_arch = "x86_64", allow(unsafe_code))]

use super::lanes;
use super::words::{bits, d, s};
use crate::ir::{L3, W3};

macro_rules! single {
    () => {
        lanes!(|a, b, c| bits(s(a).mul_add(s(b), s(c))))
    };
}

macro_rules! double {
    () => {
        lanes!(|a, b, c| d(a).mul_add(d(b), d(c)).to_bits())
    };
}

#[cfg(target_arch = "x86_64")]
mod vector {
    use super::*;
    use crate::ir::{Longs, Words};

    #[target_feature(enable = "avx2,fma")]
    fn singles(a: &Words, b: &Words, c: &Words) -> Words {
        let mut out = [0; 32];
        for i in 0..32 {
            out[i] = bits(s(a[i]).mul_add(s(b[i]), s(c[i])));
        }
        out
    }

    #[target_feature(enable = "avx2,fma")]
    fn doubles(a: &Longs, b: &Longs, c: &Longs) -> Longs {
        let mut out = [0; 32];
        for i in 0..32 {
            out[i] = d(a[i]).mul_add(d(b[i]), d(c[i])).to_bits();
        }
        out
    }

    /// Functions that run on this processor, if it has what they need.
    pub fn both() -> Option<(W3, L3)> {
        if !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
            return None;
        }
        // SAFETY: the processor has both features, as was just asked; nobody else
        // gets hold of these functions.
        let single: W3 = |a, b, c| unsafe { singles(a, b, c) };
        // SAFETY: as above.
        let double: L3 = |a, b, c| unsafe { doubles(a, b, c) };
        Some((single, double))
    }
}

/// `fma.rn.f32`
pub(crate) fn nearest() -> W3 {
    #[cfg(target_arch = "x86_64")]
    if let Some((f, _)) = vector::both() {
        return f;
    }
    single!()
}

/// `fma.rn.f64`
pub(crate) fn long_nearest() -> L3 {
    #[cfg(target_arch = "x86_64")]
    if let Some((_, f)) = vector::both() {
        return f;
    }
    double!()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_give_the_bits_of_the_library() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(99);
            // Every fourth time an exponent near that of one.
            match state >> 62 {
                0 => state & 0x80ff_ffff_ffff_ffff | 0x3f00_0000_0000_0000,
                _ => state,
            }
        };
        let (plain, long_plain): (W3, L3) = (single!(), double!());
        for _ in 0..10_000 {
            let longs: [[u64; 32]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| next()));
            let [a, b, c] = &longs;
            let (got, want) = (long_nearest()(a, b, c), long_plain(a, b, c));
            for (got, want) in got.into_iter().zip(want) {
                assert!(got == want || d(got).is_nan() && d(want).is_nan());
            }
            let words = longs.map(|longs| longs.map(|long| (long >> 32) as u32));
            let [a, b, c] = &words;
            assert_eq!(nearest()(a, b, c), plain(a, b, c));
        }
    }
}
