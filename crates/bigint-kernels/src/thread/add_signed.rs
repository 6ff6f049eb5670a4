//! The sum of two signed numbers, as its absolute value and sign (Scan).
//!
//! If the signs differ, the lesser magnitude `y` is subtracted from the greater one `x`, and
//! the result has the sign of `x`. The difference is `x + !y + 1` modulo `B^w`, so sums and
//! differences are the same chain of carries, which a difference begins with a carry of 1. The
//! only branch that may divide a warp is the one around the comparison. In base 10, with three
//! digits:
//!
//! ```text
//! 205 and -317    x = 317, y = 205, negative    317 + 794 + 1 = 1 112    -112
//! ```
//!
//! Cost: one instruction of a carry chain and one complement for each limb. If signs differ,
//! also a [comparison](super::compare), which mostly ends at the highest limbs. No scratch.

use super::compare::{Compare, EQUAL, GREATER, LESS};
use super::own::{self, Leaf, Numbers, Own};
use super::scan;
use super::{Batches, CHUNK};
use crate::gpu::carry;
use crate::gpu::memory::Stride;
use bigint_core::{Limb, Operation};

/// The signs of two numbers.
#[derive(Clone, Copy)]
pub struct Signs {
    first: Limb,
    second: Limb,
}

impl Signs {
    /// Takes the signs from the word that holds both.
    #[inline(always)]
    pub fn new(word: Limb) -> Self {
        Signs {
            first: word & 1,
            second: word >> 1 & 1,
        }
    }

    /// Whether the sum is a difference of magnitudes.
    #[inline(always)]
    pub fn differ(self) -> bool {
        self.first != self.second
    }

    /// The sign of the sum, if the magnitudes compare as `order` says.
    #[inline(always)]
    pub fn of_sum(self, order: Limb) -> Limb {
        match order {
            EQUAL => self.first & self.second,
            LESS => self.second,
            _ => self.first,
        }
    }
}

struct AddSigned;

impl Leaf for AddSigned {
    const OPERATION: Operation = Operation::AddSigned;

    #[inline(always)]
    fn number<R: Own, N: Own>(Numbers { r, s, a, b, c }: Numbers<R, N>) {
        let signs = Signs::new(c.limb(0));
        let order = match signs.differ() {
            true => scan::number::<Compare>(a, b),
            false => GREATER,
        };
        let mut carry = Limb::from(signs.differ());
        let complement = carry.wrapping_neg();
        let mut at = 0;
        while at < r.width() {
            let (x, y) = own::swapped(order == LESS, a.four(at), b.four(at));
            let sum;
            (sum, carry) = carry::add(x, y.map(|limb| limb ^ complement), carry);
            r.set_four(at, sum);
            at += CHUNK;
        }
        s.set(0, signs.of_sum(order));
    }
}

/// Computes the numbers that fall to the calling thread.
#[inline(always)]
pub fn scan<S: Stride>(batches: Batches<'_, S>) {
    own::numbers::<AddSigned, S>(batches);
}
