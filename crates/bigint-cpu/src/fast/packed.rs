//! What the leaves of addition and subtraction are given: the operation, and numbers
//! that stand one after another.

use bigint_core::Limb;

/// Addition or subtraction with the carry or borrow from below.
pub(super) trait Linear {
    /// Whether this is subtraction.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    const SUB: bool;
    /// On 64-bit words.
    fn words(x: u64, y: u64, carry: bool) -> (u64, bool);
    /// On limbs.
    fn limbs(x: Limb, y: Limb, carry: bool) -> (Limb, bool);
    /// On limbs, the carry as 0 or 1: without branches, for whole vectors.
    fn lanes(x: Limb, y: Limb, carry: Limb) -> (Limb, Limb);
}

/// Numbers that stand one after another.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    pub limbs: &'a [Limb],
    pub width: usize,
}

impl<'a> Packed<'a> {
    /// `count` numbers from number `first`.
    #[inline(always)]
    pub fn numbers(&self, first: usize, count: usize) -> Packed<'a> {
        Packed {
            limbs: &self.limbs[first * self.width..][..count * self.width],
            width: self.width,
        }
    }

    /// Number `i`.
    #[inline(always)]
    pub fn number(&self, i: usize) -> &'a [Limb] {
        self.numbers(i, 1).limbs
    }
}

/// Numbers to compute that stand one after another, as their operands do: as many, and
/// no wider. The width is not 0.
pub(super) struct Stretch<'a> {
    pub r: &'a mut [Limb],
    pub width: usize,
    pub operands: [Packed<'a>; 2],
    pub carries: Option<&'a mut [Limb]>,
}
