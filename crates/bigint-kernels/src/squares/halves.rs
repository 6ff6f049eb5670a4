//! Squares by two or four lanes that share a number, with each product of two limbs computed once.
//! [`super::ring`] is for more lanes.
//!
//! A pair of lanes squares the number `a = a0 + a1 B^X` that it has, with `a0` in its first lane:
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
//! Each lane computes the square of its own limbs ([`triangle`]), and half of the rows of `a0 a1`:
//! both get `a0`; the first lane multiplies it by the lower half of `a1`, the second by the upper
//! half. Then they exchange the parts that belong to the other lane. By hand, with `B` = 10, two
//! limbs to a lane and `a` = 1234: 34^2 is 1156 and 12^2 is 144. The first lane computes 34 times
//! 2, the second 34 times 1, so twice the middle is 2 (68 + 340) = 816, and 1156 + 81600 + 1440000
//! = 1522756.
//!
//! Four lanes do the same with pairs in place of lanes: each pair squares its own number. Of the
//! product of both numbers each lane computes a quarter, its own digit times a digit of the other
//! pair:
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
//! So the digits of the lower half of the square are in the lanes from the lowest up, as those of a
//! number are, and so are the digits of the upper half.
//!
//! Control flow depends on widths alone.
//!
//! Cost: in each lane `X (X + 1) / 2 + X^2 / 2` multiply-adds and `3.5 X` shuffles for two lanes,
//! and `X (X + 1) / 2 + 1.5 X^2` multiply-adds and `8.5 X` shuffles for four, where a product takes
//! `2 X^2` and `4 X^2` multiply-adds. No scratch.

use super::{each, mask, twice};
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use bigint_core::Limb;

/// Twice the product of the digits of a pair's lanes: its lower digit in the second lane, its upper
/// digit in the first, and the limb above the calling lane's digit.
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
    // The second lane gets the lower digit of the product, of weight `B^X`, and the first lane the
    // upper one, of weight `B^2X`.
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

/// The square of each pair's number, from the squares of its lanes' digits and the result of
/// [`cross_of_pair`]. Returns the lane's digit of the lower half, and that of the upper half.
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
    // The lower digit of the middle is in the second lane, the upper one in the first.
    let below = group.shuffle(over, second) & is_first;
    let (middle, carry) = Window::<X>::add(middle, below);
    let below = group.shuffle(over + carry, first);
    let (high, _) = Window::<X>::add(high, below);
    let lower = Window::<X>::select(is_first, low, middle);
    let upper = Window::<X>::select(is_first, middle, high);
    [lower, upper]
}

/// The first and the second lane of the calling lane's pair, and the lane of the two that is not
/// the calling one.
#[inline(always)]
fn pair<const LANES: u32>(group: Group<LANES>) -> [u32; 3] {
    let lane = group.lane();
    [lane & !1, lane | 1, lane ^ 1]
}

/// The lane whose digit each of four lanes multiplies by its own. Lane 0 computes `a0 a3`, lane 1
/// `a1 a2`, lane 2 `a2 a0` and lane 3 `a3 a1`.
#[inline(always)]
pub(super) fn partner(lane: u32) -> u32 {
    0b01_00_10_11 >> (2 * lane) & 3
}

/// Twice the lower half of a number times its upper half, from the products with [`partner`]s.
/// Returns the lane's digit, and its carry to the next digit. From the lowest on, the digits are in
/// lanes 2, 3, 0 and 1.
#[inline(always)]
pub(super) fn cross_of_four<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    [low, high]: [[Limb; X]; 2],
) -> ([Limb; X], Limb)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let lane = group.lane();
    // Lane 2 keeps the lower half of its product, lane 0 the upper one.
    let kept = each(|i| low[i] & mask(lane == 2) | high[i] & mask(lane == 0));
    // The upper half of lane 2 goes to lane 3, that of lane 1 to lane 0, and that of lane 3 to lane
    // 1.
    let from = 0b10_00_11_01 >> (2 * lane) & 3;
    let got = each(|i| group.shuffle(high[i], from) & mask(lane != 2));
    let (sum, first) = Window::<X>::add_digits(kept, got);
    // The lower halves of lanes 0 and 1 go to lane 3, that of lane 3 to lane 0.
    let is_end = mask(lane == 0 || lane == 3);
    let got = each(|i| group.shuffle(low[i], lane ^ 3) & is_end);
    let (sum, second) = Window::<X>::add_digits(sum, got);
    let got = each(|i| group.shuffle(low[i], 1) & mask(lane == 3));
    let (sum, third) = Window::<X>::add_digits(sum, got);
    twice(sum, first + second + third)
}

/// The square of four lanes' number, from the squares of its pairs' numbers and the result of
/// [`cross_of_four`]. Returns the lane's digit of the lower half, that of the upper half, and the
/// carry of the latter to the next lane.
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
    // The lower part of the middle is in the upper lanes, its upper part in the lower lanes.
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
