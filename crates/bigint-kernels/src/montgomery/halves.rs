//! Squares by lanes that share a number, each two limbs multiplied once: of two and four lanes here, of
//! more in [`super::ring`].
//!
//! A pair of lanes squares what it has, `a = a0 + a1 B^X`, `a0` in its first lane:
//!
//! ```text
//! a^2 = a0^2 + 2 a0 a1 B^X + a1^2 B^2X
//!
//! limbs        0 .. X   X .. 2X   2X .. 3X   3X .. 4X
//! a0^2        [  low  |  high  ]                          by the first lane
//! a1^2                          [   low    |  high  ]     by the second
//! 2 a0 a1              [       the middle  ]              by both
//! then in      first    second      first      second
//! ```
//!
//! Lanes make the squares of their own limbs ([`triangle`]), and half of the rows of `a0 a1`
//! each: both have `a0`, the first multiplies it by the lower half of `a1`, the second by the
//! upper. Then they give one another what is not theirs. By hand, with `B` = 10, two limbs to a
//! lane and `a` = 1234: 34^2 is 1156 and 12^2 is 144; the first lane makes 34 times 2, the second
//! 34 times 1, so 2 (68 + 340) = 816, and 1156 + 81600 + 1440000 = 1522756.
//!
//! Four lanes do the same with pairs in place of lanes: each pair squares its own, and of the
//! product of both each lane makes a quarter, its own digit times one of the other pair's:
//!
//! ```text
//! in digits     2        3        4        5
//! a0 a2      [ low  |  high ]                       by lane 2
//! a0 a3               [ low  |  high ]              by lane 0
//! a1 a2               [ low  |  high ]              by lane 1
//! a1 a3                        [ low  |  high ]     by lane 3
//! then in    lane 2   lane 3   lane 0   lane 1
//! ```
//!
//! So the lower half of the square is in the lanes that have such limbs of a number, and the upper
//! half likewise. The lower half is taken away as multiples of `m`, as a thread does, a limb at
//! a time as in a product, and the upper half added.
//!
//! What lanes do depends on widths alone.
//!
//! Cost: multiply-adds in each lane `X (X + 1) / 2 + X^2 / 2 + 2 X^2` of two, where the product takes
//! `4 X^2`, and `X (X + 1) / 2 + 1.5 X^2 + 4 X^2` of four, where it takes `8 X^2`; besides two shuffles
//! for each limb of `R`, `3.5 X` and `8.5 X`. No scratch.

use super::Modulus;
use crate::gpu::triangle;
use crate::gpu::window::{self, Slide, Window};
use bigint_core::Limb;

impl<const LANES: u32, const X: usize> Modulus<LANES, X>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// Whether lanes [square](Self::square_by_lanes): those with the widest digits.
    #[inline(always)]
    pub fn lanes_square(self) -> bool {
        LANES != 1 && X == 32
    }

    /// `a^2 / R mod m`, where `a < m` and [lanes square](Self::lanes_square).
    #[inline(always)]
    pub fn square_by_lanes(self, a: [Limb; X]) -> [Limb; X] {
        let (lower, upper, over) = match self.group.lanes() {
            2 => {
                let [lower, upper] = self.square_of_pair(a);
                (lower, upper, 0)
            }
            4 => self.square_of_four(a),
            _ => self.square_of_ring(a),
        };
        let mut window = Window::<X>::new(lower);
        let mut lane = 0;
        loop {
            let _: [Limb; X] = each(|_| {
                self.reduce_shared(&mut window);
                0
            });
            lane += 1;
            if lane >= self.digits {
                break;
            }
        }
        let (mut upper, mut over) = (upper, over);
        // What lanes have of the square stands as many lanes higher as have nothing of `R`.
        let missing = self.group.lanes() - self.digits;
        if missing > 0 {
            let (lane, group) = (self.group.lane(), self.group);
            let moved =
                |limb| group.shuffle(limb, lane.wrapping_sub(missing)) & mask(lane >= missing);
            upper = each(|i| moved(upper[i]));
            over = moved(over);
        }
        let (limbs, above) = window.sum();
        let (limbs, carry) = Window::<X>::add_digits(limbs, upper);
        let (limbs, above) = self.carried(limbs, above + carry + over);
        self.subtracted(limbs, above)
    }

    /// The square of what each pair of lanes has of `a`: its lower half in the pair, and its upper.
    #[inline(always)]
    fn square_of_pair(self, a: [Limb; X]) -> [[Limb; X]; 2] {
        let group = self.group;
        let (first, second) = (group.lane() & !1, group.lane() | 1);
        let other = group.lane() ^ 1;
        let is_first = mask(group.lane() == first);
        let half = X / 2;

        let digit = each(|i| group.shuffle(a[i], first));
        let mut window = Window::<X>::new([0; X]);
        let low: [Limb; X] = each(|i| {
            if i >= half {
                return 0;
            }
            let factor = group.shuffle(a[i], second);
            let factor = factor & is_first | a[half + i] & !is_first;
            let (lowest, carry) = window.multiply(factor, digit);
            window.slide([carry, 0]);
            lowest
        });
        let (high, _) = window.sum();
        // Of what weighs `B^X` and `B^2X` the second lane wants the lower part.
        let lower = each(|i| if i < half { low[i] } else { high[i - half] });
        let given = Window::<X>::select(is_first, lower, high);
        let own = each(|i| match i < half {
            true => high[i + half] & is_first,
            false => low[i - half] & !is_first,
        });
        let got = each(|i| group.shuffle(given[i], other));
        let (cross, carry) = Window::<X>::add_digits(got, own);
        let (twice, over) = twice(cross, carry);

        let [low, high] = triangle::square(a);
        let given = Window::<X>::select(is_first, high, low);
        let got = each(|i| group.shuffle(given[i], other));
        let (middle, carry) = Window::<X>::add_digits(got, twice);
        let over = over + carry;
        // The lower part of the middle is in the second lane, the upper in the first.
        let below = group.shuffle(over, second) & is_first;
        let (middle, carry) = Window::<X>::add(middle, below);
        let below = group.shuffle(over + carry, first);
        let (high, _) = Window::<X>::add(high, below);
        let lower = Window::<X>::select(is_first, low, middle);
        let upper = Window::<X>::select(is_first, middle, high);
        [lower, upper]
    }

    /// The square of `a`, which four lanes share: its lower half, its upper, and what each lane's
    /// limbs of that send to the next one's.
    #[inline(always)]
    fn square_of_four(self, a: [Limb; X]) -> ([Limb; X], [Limb; X], Limb) {
        let group = self.group;
        let lane = group.lane();
        let (twice, over) = self.cross_of_four(a);
        let [lower, upper] = self.square_of_pair(a);
        // The middle's lower part is in the upper lanes, its upper part in the lower ones.
        let is_lower = mask(lane < 2);
        let given = Window::<X>::select(is_lower, upper, lower);
        let got = each(|i| group.shuffle(given[i], lane ^ 2));
        let (middle, carry) = Window::<X>::add_digits(got, twice);
        let lower = Window::<X>::select(is_lower, lower, middle);
        let upper = Window::<X>::select(is_lower, middle, upper);
        let over = over + carry;
        let is_top = mask(lane == 3);
        let below = group.shuffle(over, 2) & is_top;
        let (lower, carry) = Window::<X>::add(lower, below);
        let below = group.shuffle(over + carry, (lane + 3) % 4) & !is_top;
        let (upper, over) = Window::<X>::add(upper, below);
        (lower, upper, over)
    }

    /// Twice the lower half of `a` times its upper half, and what each lane's limbs send to the
    /// next one's: from the lowest on they are in lanes 2, 3, 0 and 1.
    #[inline(always)]
    fn cross_of_four(self, a: [Limb; X]) -> ([Limb; X], Limb) {
        let group = self.group;
        let lane = group.lane();
        // Lane 0 makes `a0 a3`, lane 1 `a1 a2`, lane 2 `a2 a0` and lane 3 `a3 a1`.
        let source = 0b01_00_10_11 >> (2 * lane) & 3;
        let mut window = Window::<X>::new([0; X]);
        let low: [Limb; X] = each(|i| {
            let (lowest, carry) = window.multiply(group.shuffle(a[i], source), a);
            window.slide([carry, 0]);
            lowest
        });
        let (high, _) = window.sum();
        // Lane 2 keeps its lower half, lane 0 its upper one.
        let kept = each(|i| low[i] & mask(lane == 2) | high[i] & mask(lane == 0));
        // Upper halves: that of lane 2 goes to 3, of 1 to 0, of 3 to 1.
        let from = 0b10_00_11_01 >> (2 * lane) & 3;
        let got = each(|i| group.shuffle(high[i], from) & mask(lane != 2));
        let (sum, first) = Window::<X>::add_digits(kept, got);
        // Lower halves: those of lanes 0 and 1 go to 3, that of 3 to 0.
        let is_end = mask(lane == 0 || lane == 3);
        let got = each(|i| group.shuffle(low[i], lane ^ 3) & is_end);
        let (sum, second) = Window::<X>::add_digits(sum, got);
        let got = each(|i| group.shuffle(low[i], 1) & mask(lane == 3));
        let (sum, third) = Window::<X>::add_digits(sum, got);
        twice(sum, first + second + third)
    }

    /// Takes the lowest limb of the windows of all lanes away, by a multiple of `m`.
    #[inline(always)]
    fn reduce_shared(self, window: &mut Window<X>) {
        let q = window.lowest().wrapping_mul(self.inverse);
        let (lowest, carry) = window.multiply(self.group.shuffle(q, 0), self.limbs);
        window.slide(window::top(self.group.rotate_down(lowest), carry));
    }
}

/// Twice a digit and what is above it, as a digit and what is above.
#[inline(always)]
pub(super) fn twice<const X: usize>(limbs: [Limb; X], above: Limb) -> ([Limb; X], Limb) {
    let twice = each(|i| match i {
        0 => limbs[0] << 1,
        _ => limbs[i] << 1 | limbs[i - 1] >> 31,
    });
    (twice, above << 1 | limbs[X - 1] >> 31)
}

/// All ones where it is so, else zero.
#[inline(always)]
pub(super) fn mask(is_so: bool) -> Limb {
    Limb::from(is_so).wrapping_neg()
}

/// The digit of these limbs. (Written out: in a loop they would have to be in memory.)
#[inline(always)]
pub(super) fn each<const X: usize>(mut limb: impl FnMut(usize) -> Limb) -> [Limb; X] {
    let mut limbs = [0; X];
    macro_rules! limbs {
        ($($i:literal)*) => {$(
            if $i < X {
                limbs[$i] = limb($i);
            }
        )*};
    }
    limbs! {
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    }
    limbs
}
