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
//! half likewise.
//!
//! What lanes do depends on widths alone.
//!
//! Cost: multiply-adds in each lane `X (X + 1) / 2 + X^2 / 2` of two and `X (X + 1) / 2 + 1.5 X^2` of
//! four, where the product takes `2 X^2` and `4 X^2`; besides `3.5 X` and `8.5 X` shuffles. No scratch.

use super::{each, mask, twice};
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use bigint_core::Limb;

/// Twice the product of what both lanes of a pair have, and what is above it: its lower part in the
/// second lane, its upper part in the first.
#[inline(always)]
pub(super) fn cross_of_pair<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    a: [Limb; X],
) -> ([Limb; X], Limb)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let [first, second, other] = pair(group);
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
    twice(cross, carry)
}

/// The square of what each pair of lanes has, its lower half in the pair and its upper, of the squares
/// of what each lane has and what [`cross_of_pair`] says.
#[inline(always)]
pub(super) fn of_pair<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    [low, high]: [[Limb; X]; 2],
    (twice, over): ([Limb; X], Limb),
) -> [[Limb; X]; 2]
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let [first, second, other] = pair(group);
    let is_first = mask(group.lane() == first);
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

/// The first and the second lane of the calling one's pair, and the other one.
#[inline(always)]
fn pair<const LANES: u32>(group: Group<LANES>) -> [u32; 3] {
    let lane = group.lane();
    [lane & !1, lane | 1, lane ^ 1]
}

/// The lane whose digit each of four lanes multiplies by its own: lane 0 makes `a0 a3`, lane 1 `a1
/// a2`, lane 2 `a2 a0` and lane 3 `a3 a1`.
#[inline(always)]
pub(super) fn partner(lane: u32) -> u32 {
    0b01_00_10_11 >> (2 * lane) & 3
}

/// Twice the lower half of a number times its upper half, of the products with [`partner`]s, and what
/// each lane's limbs send to the next one's: from the lowest on they are in lanes 2, 3, 0 and 1.
#[inline(always)]
pub(super) fn cross_of_four<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    [low, high]: [[Limb; X]; 2],
) -> ([Limb; X], Limb)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let lane = group.lane();
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

/// The square of what four lanes have, of the squares of what each pair has and what
/// [`cross_of_four`] says: its lower half, its upper, and what each lane's limbs of that send to the
/// next one's.
#[inline(always)]
pub(super) fn of_four<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    [lower, upper]: [[Limb; X]; 2],
    (twice, over): ([Limb; X], Limb),
) -> ([Limb; X], [Limb; X], Limb)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let lane = group.lane();
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
