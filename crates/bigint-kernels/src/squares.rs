//! Squares by lanes that share a number. Each product of two limbs is computed once: by a thread by
//! itself ([`triangle`]), by two or four lanes (`halves`), or by more lanes (`ring`).

pub mod digits;
mod halves;
mod ring;

use crate::gpu::memory::Stride;
use crate::gpu::triangle;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::warp::lookahead::{self, bit};
use bigint_core::Limb;
use digits::Tiles;

/// Squares the numbers of all tiles of a group's warp.
#[inline(always)]
pub fn of_tiles<const LANES: u32, S: Stride>(group: Group<LANES>, tiles: Tiles<'_, LANES>) {
    let lanes = group.lanes();
    for first in tiles {
        let tile = tiles.tile::<S>(first);
        let (lower, upper, over) = square(group, tile.bring_in());
        tile.bring_out(0, lower);
        let (upper, _) = carried(group, upper, over);
        tile.bring_out(lanes, upper);
        tile.clear(2 * lanes);
    }
}

/// The square of `a`, of which each lane has `X` limbs. Returns the lane's `X` limbs of the lower
/// half, its `X` limbs of the upper half, and the carry from the latter to the next lane.
#[inline(always)]
pub fn square<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    a: [Limb; X],
) -> ([Limb; X], [Limb; X], Limb)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    if LANES == 1 {
        let [lower, upper] = triangle::square(a);
        return (lower, upper, 0);
    }
    let (lane, lanes) = (group.lane(), group.lanes());
    // The products of digits of different lanes. One text serves all numbers of lanes.
    let mut of_four = ([0; X], 0);
    let mut of_ring = ring::Sums::new();
    let rounds = if lanes > 4 { lanes / 2 } else { lanes / 4 };
    let mut k = 1;
    while k <= rounds {
        let source = if lanes == 4 {
            halves::partner(lane)
        } else {
            lane + k
        };
        let product = product(group, a, source);
        if lanes == 4 {
            of_four = halves::cross_of_four(group, product);
        } else {
            of_ring.add_round(group, k, product);
        }
        k += 1;
    }
    let of_pair = match lanes > 4 {
        true => ([0; X], 0),
        false => halves::cross_of_pair(group, a),
    };
    let squares = triangle::square(a);
    if lanes > 4 {
        return of_ring.square(group, squares);
    }
    let squares = halves::of_pair(group, squares, of_pair);
    if lanes == 4 {
        return halves::of_four(group, squares, of_four);
    }
    let [lower, upper] = squares;
    (lower, upper, 0)
}

/// The product of the calling lane's digit and that of lane `source`, as its two digits.
#[inline(always)]
fn product<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    a: [Limb; X],
    source: u32,
) -> [[Limb; X]; 2]
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let mut window = Window::<X>::new([0; X]);
    let low = each(|i| {
        let (lowest, carry) = window.multiply(group.shuffle(a[i], source), a);
        window.slide([carry, 0]);
        lowest
    });
    [low, window.sum().0]
}

/// Adds each lane's `over` to the lane above, where at most a carry results from it. Returns the
/// lane's limbs, and the amount that leaves the top lane.
#[inline(always)]
pub fn carried<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    limbs: [Limb; X],
    over: Limb,
) -> ([Limb; X], Limb)
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    if LANES == 1 {
        return (limbs, over);
    }
    let below = group.rotate_up(over, 1);
    let below = if group.lane() == 0 { 0 } else { below };
    let (limbs, carry) = Window::<X>::add(limbs, below);
    if LANES == 2 {
        // The first lane was given nothing, so that carries end here.
        return (limbs, group.shuffle(over + carry, 1));
    }
    let generate = group.ballot(carry != 0);
    let propagate = group.ballot(Window::<X>::are_all_ones(limbs));
    let carries = lookahead::carries(generate, propagate, 0);
    let (limbs, _) = Window::<X>::add(limbs, bit(carries, group.lane()));
    let top = group.shuffle(over, group.lanes() - 1);
    (limbs, top + bit(carries, group.lanes()))
}

/// Twice a digit and the limb above it, as a digit and the limb above it.
#[inline(always)]
fn twice<const X: usize>(limbs: [Limb; X], above: Limb) -> ([Limb; X], Limb) {
    let twice = each(|i| match i {
        0 => limbs[0] << 1,
        _ => limbs[i] << 1 | limbs[i - 1] >> 31,
    });
    (twice, above << 1 | limbs[X - 1] >> 31)
}

/// All ones if `is_so`, else zero.
#[inline(always)]
pub fn mask(is_so: bool) -> Limb {
    Limb::from(is_so).wrapping_neg()
}

/// The digit whose limb `i` is `limb(i)`. (It is written out, as in a loop the limbs would have to
/// be in memory.)
#[inline(always)]
pub fn each<const X: usize>(mut limb: impl FnMut(usize) -> Limb) -> [Limb; X] {
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
