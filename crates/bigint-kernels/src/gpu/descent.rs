//! The limbs of a number two by two from the top down, by an address that moves with them.

// Loads.
#![allow(unsafe_code)]

use super::access::load_below;
use super::memory::{Number, Stride};
use bigint_core::Limb;

/// On its way down a number.
pub struct Descent {
    /// Of the lower of the next two limbs.
    address: u64,
    stride: u64,
    /// The limb above the next two, which wraps around below limb 0.
    at: u32,
    reach: u32,
}

impl Descent {
    /// From below limb `at`.
    #[inline(always)]
    pub fn new(number: Number<impl Stride>, at: u32) -> Self {
        let (address, stride, reach) = number.parts();
        let below = i64::from(at as i32) - 2;
        Descent {
            address: address.wrapping_add(stride.wrapping_mul(below as u64)),
            stride,
            at,
            reach,
        }
    }

    /// The next two limbs, the lower one first; zero where there are none.
    #[inline(always)]
    pub fn two(&mut self) -> [Limb; 2] {
        let (lower, upper) = (self.at.wrapping_sub(2), self.at.wrapping_sub(1));
        let above = self.address.wrapping_add(self.stride);
        // SAFETY: where the limbs are inside the number, they are allocated, and stand here:
        // the address has moved as far as they are apart.
        let two = unsafe {
            [
                load_below(lower, self.reach, self.address),
                load_below(upper, self.reach, above),
            ]
        };
        self.at = lower;
        self.address = self.address.wrapping_sub(2 * self.stride);
        two
    }
}
