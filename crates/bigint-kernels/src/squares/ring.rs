//! Squares by eight lanes and more that share a number, each two digits multiplied once.
//!
//! Lane `l` of `n` has digit `a[l]`, of `X` limbs. In round `k` each lane multiplies its digit by that
//! of the lane `k` places above, around the ring, so that `n / 2` rounds make all products of two
//! digits, the last round each of them twice:
//!
//! ```text
//! a^2 = sum a[l]^2 C^2l + 2 sum over k < n/2 of a[l] a[l + k] C^(l + l + k) + round n/2,   C = B^X
//!
//! n = 4       k = 1                      k = 2
//! lane 0      a0 a1  C^1                 a0 a2  C^2
//! lane 1      a1 a2  C^3                 a1 a3  C^4
//! lane 2      a2 a3  C^5                 a2 a0  C^2
//! lane 3      a3 a0  C^3                 a3 a1  C^4
//! ```
//!
//! So nothing is doubled in the last round. A product has two digits, of weights `d` and `d + 1`. Digit
//! `t` of the square is lane `t`'s, `lower`, and so is digit `t + n`, `upper`. Modulo `n` the products of
//! lanes `s` and `s + n/2` have the same weight, `2 s + k`: lane `t = 2 s + k` gets the lower digits
//! of both, and lane `t + 1` the upper ones. That takes two exchanges: in the first, lanes below `n/2`
//! give their lower digits and the others their upper ones, in the second the other way round.
//! Squares of digits go as a round 0 does. By hand, with `C` = 10, `n` = 4 and `a` = 1234, of which
//! lane 0 has 4: round 1 makes 12, 6, 2 and 4 of weights 1, 3, 5 and 3, twice 210120; round 2 makes
//! 8, 3, 8 and 3 of weights 2, 4, 2 and 4, 61600; the squares are 1040916; and 1234^2 = 1522756.
//!
//! What lanes do depends on widths alone.
//!
//! Cost: multiply-adds in each lane `X (X + 1) / 2 + (n / 2) X^2`, where the product takes `n X^2`; for
//! each round but the squares `3 X` shuffles. No scratch.

use super::{carried, each, mask, twice};
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use bigint_core::Limb;

/// Digits of a square that a lane has: below `C^n` and from there on, each with what it sends to
/// the next digit.
pub(super) struct Sums<const X: usize> {
    lower: ([Limb; X], Limb),
    upper: ([Limb; X], Limb),
}

impl<const X: usize> Sums<X>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// Nothing so far.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Sums {
            lower: ([0; X], 0),
            upper: ([0; X], 0),
        }
    }

    /// Adds round `k`, from 1 on, of products with digits that many places above.
    #[inline(always)]
    pub(super) fn add_round<const LANES: u32>(
        &mut self,
        group: Group<LANES>,
        k: u32,
        product: [[Limb; X]; 2],
    ) {
        if k == group.lanes() / 2 {
            self.lower = twice(self.lower.0, self.lower.1);
            self.upper = twice(self.upper.0, self.upper.1);
        }
        self.add(group, k, product);
    }

    /// The square, of all rounds and the squares of what each lane has: its lower half, its upper,
    /// and what each lane's limbs of that send to the next one's.
    #[inline(always)]
    pub(super) fn square<const LANES: u32>(
        mut self,
        group: Group<LANES>,
        squares: [[Limb; X]; 2],
    ) -> ([Limb; X], [Limb; X], Limb) {
        self.add(group, 0, squares);
        let (lower, above) = carried(group, self.lower.0, self.lower.1);
        let above = above & mask(group.lane() == 0);
        let (upper, carry) = Window::<X>::add(self.upper.0, above);
        (lower, upper, self.upper.1 + carry)
    }

    /// Adds round `k`, of which each lane has a lower and an upper digit.
    #[inline(always)]
    fn add<const LANES: u32>(&mut self, group: Group<LANES>, k: u32, [low, high]: [[Limb; X]; 2]) {
        let (lane, lanes) = (group.lane(), group.lanes());
        // Whether the calling lane gets upper digits, and the weight of their products modulo n.
        let gets_upper = (lane ^ k) & 1;
        let weight = lane.wrapping_sub(gets_upper) & (lanes - 1);
        let source = weight.wrapping_sub(k) / 2;
        let gives_lower = mask(lane < lanes / 2);
        for exchange in 0..2 {
            let gives_lower = if exchange == 0 {
                gives_lower
            } else {
                !gives_lower
            };
            let given = Window::<X>::select(gives_lower, low, high);
            // Lane s of this exchange, less than n/2 or not.
            let below = source & (lanes / 2 - 1);
            let from = below + lanes / 2 * (gets_upper ^ exchange);
            let got: [Limb; X] = each(|i| group.shuffle(given[i], from));
            // The digits of lane `from` have weight `2 from + k`, less n where the ring has closed.
            let closed = if from + k >= lanes { lanes } else { 0 };
            let place = 2 * from + k - closed + gets_upper;
            let is_lower = mask(place < lanes);
            let lower = each(|i| got[i] & is_lower);
            let upper = each(|i| got[i] & !is_lower);
            let carry;
            (self.lower.0, carry) = Window::<X>::add_digits(self.lower.0, lower);
            self.lower.1 += carry;
            let carry;
            (self.upper.0, carry) = Window::<X>::add_digits(self.upper.0, upper);
            self.upper.1 += carry;
        }
    }
}
