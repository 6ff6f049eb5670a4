//! The numbers from which rows of a product load limbs and to which they store them, four at a
//! time, at places that are multiples of 4.

use crate::gpu::memory::{Number, Stride};
use crate::gpu::staged::Staged;
use bigint_core::Limb;

/// A number whose limbs are moved four at a time. Above its width it reads as zero, and stores
/// do nothing.
pub trait Operand: Copy {
    /// The limbs of the number.
    fn width(self) -> u32;

    /// The limbs below `end`, a multiple of 4.
    fn below(self, end: u32) -> Self;

    /// The operand, switched off if `on` is false: it then reads as zero, and stores do
    /// nothing.
    fn switched(self, on: bool) -> Self;

    /// Limbs `at .. at + N`; both are multiples of 4.
    fn fours<const N: usize>(self, at: u32) -> [Limb; N];

    /// Sets limbs `at .. at + N`; both are multiples of 4.
    fn set_fours<const N: usize>(self, at: u32, limbs: [Limb; N]);
}

/// A number in device memory. `FOURS` says that [`in_fours`](Number::in_fours) holds; otherwise
/// limbs are moved one by one.
#[derive(Clone, Copy)]
pub struct InMemory<S, const FOURS: bool>(pub Number<S>);

impl<S: Stride, const FOURS: bool> Operand for InMemory<S, FOURS> {
    #[inline(always)]
    fn width(self) -> u32 {
        self.0.width()
    }

    #[inline(always)]
    fn below(self, end: u32) -> Self {
        InMemory(self.0.part(0, end))
    }

    #[inline(always)]
    fn switched(self, on: bool) -> Self {
        InMemory(self.0.switched(on))
    }

    #[inline(always)]
    fn fours<const N: usize>(self, at: u32) -> [Limb; N] {
        self.0.fours::<N, FOURS>(at)
    }

    #[inline(always)]
    fn set_fours<const N: usize>(self, at: u32, limbs: [Limb; N]) {
        self.0.set_fours::<N, FOURS>(at, limbs);
    }
}

impl Operand for Staged {
    #[inline(always)]
    fn width(self) -> u32 {
        self.width()
    }

    #[inline(always)]
    fn below(self, end: u32) -> Self {
        self.below(end)
    }

    #[inline(always)]
    fn switched(self, on: bool) -> Self {
        self.switched(on)
    }

    #[inline(always)]
    fn fours<const N: usize>(self, at: u32) -> [Limb; N] {
        self.fours(at)
    }

    #[inline(always)]
    fn set_fours<const N: usize>(self, at: u32, limbs: [Limb; N]) {
        self.set_fours(at, limbs);
    }
}
