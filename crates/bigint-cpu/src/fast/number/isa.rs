//! Proof, as a value, that the machine has the instructions a leaf uses.
//!
//! A [`Path`] can be named by anyone on any machine; an [`Isa`] can only be
//! made here, after looking. Leaves take the token inside it, so that calling
//! one without the instructions does not type-check.

use std::sync::OnceLock;

use crate::fast::Path;

/// The machine has AVX2, FMA, BMI2 and ADX.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

/// The machine has AVX-512 F, VL, DQ, BW and IFMA, besides all of [`Avx2`].
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

/// The instructions a product may use.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "other machines have the portable path")
)]
pub(super) enum Isa {
    /// No instructions beyond those that Rust assumes.
    Portable,
    /// The instructions of [`Path::Avx2`].
    Avx2(Avx2),
    /// The instructions of [`Path::Avx512Ifma`].
    Avx512(Avx512, Avx2),
}

impl Isa {
    /// The instructions of `path`, or the best below it that the machine has.
    #[inline]
    pub(super) fn of(path: Path) -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        match (path, *BEST.get_or_init(Self::detect)) {
            (Path::Portable, _) | (_, Isa::Portable) => Isa::Portable,
            (Path::Avx2, Isa::Avx2(token) | Isa::Avx512(_, token)) => Isa::Avx2(token),
            (_, best) => best,
        }
    }

    fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if Path::Avx2.is_supported() {
            return if Path::Avx512Ifma.is_supported() {
                Isa::Avx512(Avx512(()), Avx2(()))
            } else {
                Isa::Avx2(Avx2(()))
            };
        }
        Isa::Portable
    }
}
