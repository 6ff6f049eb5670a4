//! Squares by eight or more lanes that share a number. Each product of two different digits is computed
//! once, except in the last round.
//!
//! Lane `l` of `n` lanes has digit `a[l]`, of `X` limbs. In round `k` each lane multiplies its digit by
//! that of the lane `k` places above, around the ring. So `n / 2` rounds compute all products of two
//! different digits. The last round computes each of its products twice:
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
//! Products of all rounds but the last are doubled. A product has two digits, of weights `d` and `d + 1`.
//! Lane `t` has digits `t` (`lower`) and `t + n` (`upper`) of the square. Modulo `n` the products of
//! lanes `s` and `s + n/2` have the same weight `2 s + k`: lane `t = 2 s + k` gets the lower digits of
//! both, and lane `t + 1` the upper digits. That takes two exchanges. In the first, lanes below `n/2`
//! give their lower digits and the others their upper digits; in the second it is the other way round.
//! The squares of digits are added in the same way, as round 0. By hand, with `C` = 10, `n` = 4 and `a` =
//! 1234, whose digit 4 is in lane 0: round 1 computes 12, 6, 2 and 4 of weights 1, 3, 5 and 3, which sum
//! to 210120 and are doubled. Round 2 computes 8, 3, 8 and 3 of weights 2, 4, 2 and 4, which sum to
//! 61600. The squares sum to 1040916, and 420240 + 61600 + 1040916 = 1234^2 = 1522756.
//!
//! Control flow depends on widths alone.
//!
//! Cost: `X (X + 1) / 2 + (n / 2) X^2` multiply-adds in each lane, where a product takes `n X^2`; `3 X`
//! shuffles for each round except the squares. No scratch.

use super::{carried, each, mask, twice};
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use bigint_core::Limb;

/// The two digits of a square that a lane has, one in each half, each with its carry to the next digit.
pub(super) struct Sums<const X: usize> {
    lower: ([Limb; X], Limb),
    upper: ([Limb; X], Limb),
}

impl<const X: usize> Sums<X>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// The sums before the first round.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Sums {
            lower: ([0; X], 0),
            upper: ([0; X], 0),
        }
    }

    /// Adds round `k`, which is at least 1: the products with digits `k` places above.
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

    /// The square, from all rounds and the squares of the lanes' digits. Returns the lane's digit of the
    /// lower half, that of the upper half, and the carry of the latter to the next lane.
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

    /// Adds round `k`, whose products have a lower and an upper digit in each lane.
    #[inline(always)]
    fn add<const LANES: u32>(&mut self, group: Group<LANES>, k: u32, [low, high]: [[Limb; X]; 2]) {
        let (lane, lanes) = (group.lane(), group.lanes());
        // These are: whether the calling lane gets upper digits, and the weight modulo n of their
        // products.
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
            // The digits come from lane s or from lane s + n/2.
            let below = source & (lanes / 2 - 1);
            let from = below + lanes / 2 * (gets_upper ^ exchange);
            let got: [Limb; X] = each(|i| group.shuffle(given[i], from));
            // The product of lane `from` has weight `2 from + k`, minus n if its factor is around the
            // ring.
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
