//! Vectors of doubles on each machine.
//!
//! A value of an implementing type proves that the machine has the instructions, because it is only
//! made where they were detected. So the methods are safe. They are always inlined, and become
//! single instructions inside [`Machine::enter`].
#![expect(
    clippy::needless_range_loop,
    reason = "indices count lanes and halves of several arrays at once"
)]

use bytemuck::Pod;

/// A piece of work that is compiled for a machine's instructions.
///
/// `run` and all that it calls must be `#[inline(always)]` and contain no closures: only code that
/// is inlined into [`Machine::enter`] is compiled with the instructions.
pub(super) trait Job<M: Machine> {
    type Output;
    fn run(self, m: M) -> Self::Output;
}

/// Arithmetic on `LANES` doubles at a time.
pub(super) trait Machine: Copy + Send + Sync + 'static {
    /// A vector of `LANES` doubles, with lane 0 first in memory.
    type V: Pod + Send + Sync;
    const LANES: usize;

    fn enter<J: Job<Self>>(self, job: J) -> J::Output;
    fn splat(self, x: f64) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a b + c`, rounded once or twice.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Returns `a b - c`.
    fn mul_sub(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Returns `c - a b`.
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn abs(self, a: Self::V) -> Self::V;
    /// Selects `a` in the lanes where `x < y`, and `b` in the others.
    fn select_below(self, x: Self::V, y: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Transposes `LANES` vectors: lane `j` of vector `i` becomes lane `i` of vector `j`.
    fn transpose(self, v: &mut [Self::V]);
}

/// Methods on four lanes, each lane by the same expression. They are not made with closures, for
/// the reason that [`Job`] gives.
macro_rules! lanewise {
    ($($name:ident($($x:ident),+), $i:ident => $lane:expr;)+) => {$(
        #[inline(always)]
        fn $name(self, $($x: [f64; 4]),+) -> [f64; 4] {
            let mut lanes = [0.0; 4];
            let mut $i = 0;
            while $i < 4 {
                lanes[$i] = $lane;
                $i += 1;
            }
            lanes
        }
    )+};
}

/// The machine in safe Rust. The compiler finds what vectors there are.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Machine for Portable {
    type V = [f64; 4];
    const LANES: usize = 4;

    fn enter<J: Job<Self>>(self, job: J) -> J::Output {
        job.run(self)
    }
    #[inline(always)]
    fn splat(self, x: f64) -> [f64; 4] {
        [x; 4]
    }
    lanewise! {
        add(a, b), i => a[i] + b[i];
        sub(a, b), i => a[i] - b[i];
        mul(a, b), i => a[i] * b[i];
        mul_add(a, b, c), i => a[i] * b[i] + c[i];
        mul_sub(a, b, c), i => a[i] * b[i] - c[i];
        neg_mul_add(a, b, c), i => c[i] - a[i] * b[i];
        max(a, b), i => if a[i] > b[i] { a[i] } else { b[i] };
        abs(a), i => a[i].abs();
        select_below(x, y, a, b), i => if x[i] < y[i] { a[i] } else { b[i] };
    }
    #[inline(always)]
    fn transpose(self, v: &mut [[f64; 4]]) {
        for i in 0..4 {
            for j in 0..i {
                let (a, b) = (v[i][j], v[j][i]);
                (v[i][j], v[j][i]) = (b, a);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Fma256, Fma512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![allow(unsafe_code)]

    use std::arch::x86_64::*;

    use super::super::super::isa::{Avx2, Avx512};
    use super::{Job, Machine};

    /// Vectors of four doubles, with AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Fma256(pub(in super::super) Avx2);

    /// Vectors of eight doubles, with AVX-512.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Fma512(pub(in super::super) Avx512);

    /// Expands to one or a few instructions on registers.
    macro_rules! vector {
        ($e:expr) => {
            // SAFETY: the machine's token, which `self` holds, proves the instructions, and none of
            // them touches memory.
            unsafe { $e }
        };
    }

    /// Methods on vectors of doubles, each one or a few instructions on registers.
    macro_rules! registers {
        ($v:ty: $($name:ident($($x:ident),+) => $e:expr;)+) => {$(
            #[inline(always)]
            fn $name(self, $($x: $v),+) -> $v {
                vector!($e)
            }
        )+};
    }

    impl Machine for Fma256 {
        type V = __m256d;
        const LANES: usize = 4;

        fn enter<J: Job<Self>>(self, job: J) -> J::Output {
            #[target_feature(enable = "avx2,fma,bmi2,adx")]
            fn run<J: Job<Fma256>>(m: Fma256, job: J) -> J::Output {
                job.run(m)
            }
            // SAFETY: the token proves that the machine has the features.
            unsafe { run(self, job) }
        }
        #[inline(always)]
        fn splat(self, x: f64) -> __m256d {
            vector!(_mm256_set1_pd(x))
        }
        registers! { __m256d:
            add(a, b) => _mm256_add_pd(a, b);
            sub(a, b) => _mm256_sub_pd(a, b);
            mul(a, b) => _mm256_mul_pd(a, b);
            mul_add(a, b, c) => _mm256_fmadd_pd(a, b, c);
            mul_sub(a, b, c) => _mm256_fmsub_pd(a, b, c);
            neg_mul_add(a, b, c) => _mm256_fnmadd_pd(a, b, c);
            max(a, b) => _mm256_max_pd(a, b);
            abs(a) => _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
            select_below(x, y, a, b) => _mm256_blendv_pd(b, a, _mm256_cmp_pd::<_CMP_LT_OQ>(x, y));
        }
        #[inline(always)]
        fn transpose(self, v: &mut [__m256d]) {
            let v: &mut [__m256d; 4] = v.try_into().expect("four vectors");
            vector!({
                let (a, b) = (
                    _mm256_unpacklo_pd(v[0], v[1]),
                    _mm256_unpackhi_pd(v[0], v[1]),
                );
                let (c, d) = (
                    _mm256_unpacklo_pd(v[2], v[3]),
                    _mm256_unpackhi_pd(v[2], v[3]),
                );
                *v = [
                    _mm256_permute2f128_pd::<0x20>(a, c),
                    _mm256_permute2f128_pd::<0x20>(b, d),
                    _mm256_permute2f128_pd::<0x31>(a, c),
                    _mm256_permute2f128_pd::<0x31>(b, d),
                ];
            });
        }
    }

    impl Machine for Fma512 {
        type V = __m512d;
        const LANES: usize = 8;

        fn enter<J: Job<Self>>(self, job: J) -> J::Output {
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi2,adx")]
            fn run<J: Job<Fma512>>(m: Fma512, job: J) -> J::Output {
                job.run(m)
            }
            // SAFETY: the token proves that the machine has the features.
            unsafe { run(self, job) }
        }
        #[inline(always)]
        fn splat(self, x: f64) -> __m512d {
            vector!(_mm512_set1_pd(x))
        }
        registers! { __m512d:
            add(a, b) => _mm512_add_pd(a, b);
            sub(a, b) => _mm512_sub_pd(a, b);
            mul(a, b) => _mm512_mul_pd(a, b);
            mul_add(a, b, c) => _mm512_fmadd_pd(a, b, c);
            mul_sub(a, b, c) => _mm512_fmsub_pd(a, b, c);
            neg_mul_add(a, b, c) => _mm512_fnmadd_pd(a, b, c);
            max(a, b) => _mm512_max_pd(a, b);
            abs(a) => _mm512_abs_pd(a);
            select_below(x, y, a, b) => _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(x, y), b, a);
        }
        #[inline(always)]
        fn transpose(self, v: &mut [__m512d]) {
            let v: &mut [__m512d; 8] = v.try_into().expect("eight vectors");
            vector!({
                // Pairs of rows come first, then quarters: lanes 2 q and 2 q + 1 are quarter q.
                let mut t = [v[0]; 8];
                for i in 0..4 {
                    t[2 * i] = _mm512_unpacklo_pd(v[2 * i], v[2 * i + 1]);
                    t[2 * i + 1] = _mm512_unpackhi_pd(v[2 * i], v[2 * i + 1]);
                }
                for odd in 0..2 {
                    // These are rows 0 to 3 and 4 to 7, of quarters 0 and 1, and of 2 and 3.
                    let (a, b, c, d) = (t[odd], t[2 + odd], t[4 + odd], t[6 + odd]);
                    let low = _mm512_shuffle_f64x2::<0x44>(a, b);
                    let high = _mm512_shuffle_f64x2::<0xee>(a, b);
                    let low2 = _mm512_shuffle_f64x2::<0x44>(c, d);
                    let high2 = _mm512_shuffle_f64x2::<0xee>(c, d);
                    v[odd] = _mm512_shuffle_f64x2::<0x88>(low, low2);
                    v[2 + odd] = _mm512_shuffle_f64x2::<0xdd>(low, low2);
                    v[4 + odd] = _mm512_shuffle_f64x2::<0x88>(high, high2);
                    v[6 + odd] = _mm512_shuffle_f64x2::<0xdd>(high, high2);
                }
            });
        }
    }
}
