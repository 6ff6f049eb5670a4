//! The arguments of the leaves of addition and subtraction: the operation, and numbers that lie one
//! after another.

use bigint_core::Limb;

/// Addition with a carry from below, or subtraction with a borrow.
pub(super) trait Linear {
    /// Whether this is subtraction.
    const SUB: bool;

    /// Returns `x + y + carry` or `x - y - carry` of 64-bit words, and the carry out.
    #[inline(always)]
    fn words(x: u64, y: u64, carry: bool) -> (u64, bool) {
        if Self::SUB {
            x.borrowing_sub(y, carry)
        } else {
            x.carrying_add(y, carry)
        }
    }

    /// Adds or subtracts limbs with a carry.
    #[inline(always)]
    fn limbs(x: Limb, y: Limb, carry: bool) -> (Limb, bool) {
        if Self::SUB {
            x.borrowing_sub(y, carry)
        } else {
            x.carrying_add(y, carry)
        }
    }

    /// Adds or subtracts limbs with a carry of 0 or 1, without branches: for whole vectors.
    #[inline(always)]
    fn lanes(x: Limb, y: Limb, carry: Limb) -> (Limb, Limb) {
        if Self::SUB {
            let difference = x.wrapping_sub(y);
            let r = difference.wrapping_sub(carry);
            (r, Limb::from(x < y) | Limb::from(difference < carry))
        } else {
            let sum = x.wrapping_add(y);
            let r = sum.wrapping_add(carry);
            (r, Limb::from(sum < x) | Limb::from(r < sum))
        }
    }
}

/// Addition.
pub(super) struct Add;

impl Linear for Add {
    const SUB: bool = false;
}

/// Subtraction.
pub(super) struct Sub;

impl Linear for Sub {
    const SUB: bool = true;
}

/// Numbers that lie one after another.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    pub limbs: &'a [Limb],
    pub width: usize,
}

impl<'a> Packed<'a> {
    /// The `count` numbers from number `first` on.
    #[inline(always)]
    pub fn numbers(&self, first: usize, count: usize) -> Packed<'a> {
        Packed {
            limbs: &self.limbs[first * self.width..][..count * self.width],
            width: self.width,
        }
    }

    /// The number at index `i`.
    #[inline(always)]
    pub fn number(&self, i: usize) -> &'a [Limb] {
        self.numbers(i, 1).limbs
    }
}

/// The numbers to compute, which lie one after another, and their operands. Operands have as many
/// numbers, and no wider ones. The width is not 0.
pub(super) struct Stretch<'a> {
    pub r: &'a mut [Limb],
    pub width: usize,
    pub operands: [Packed<'a>; 2],
    pub carries: Option<&'a mut [Limb]>,
}
