//! The instructions that the machine has, found when the program runs.

/// A set of instructions that the engine is written for, the slowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Path {
    /// 64-bit words and no vector instructions: any machine.
    Portable,
    /// x86-64 with AVX2, FMA, BMI2 and ADX (Broadwell, Zen and later).
    Avx2,
    /// x86-64 with AVX-512 F, VL, DQ, BW, IFMA and VBMI2 (Ice Lake, Zen 4 and
    /// later), besides all of [`Path::Avx2`].
    Avx512Ifma,
}

impl Path {
    /// Every path, the slowest first.
    pub const ALL: [Path; 3] = [Path::Portable, Path::Avx2, Path::Avx512Ifma];

    /// The path's name, as `BIGINT_CPU_PATH` takes it.
    ///
    /// ```
    /// assert_eq!(bigint_cpu::Path::Avx512Ifma.name(), "avx512ifma");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Path::Portable => "portable",
            Path::Avx2 => "avx2",
            Path::Avx512Ifma => "avx512ifma",
        }
    }

    /// The path with this name.
    pub fn named(name: &str) -> Option<Path> {
        Path::ALL.into_iter().find(|path| path.name() == name)
    }

    /// Whether this machine can run the path.
    pub fn is_supported(self) -> bool {
        match self {
            Path::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("adx")
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx512Ifma => {
                Path::Avx2.is_supported()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512ifma")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Path::Avx2 | Path::Avx512Ifma => false,
        }
    }

    /// The fastest path that this machine can run.
    pub fn best() -> Path {
        Path::ALL
            .into_iter()
            .rev()
            .find(|path| path.is_supported())
            .unwrap_or(Path::Portable)
    }
}
