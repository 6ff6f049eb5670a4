//! Square roots by rows (School). The root is found limb by limb from the top, as division by rows
//! finds a quotient.
//!
//! With `B` = 2^32, the number is shifted to the left by an even number of bits until it has an
//! even number of limbs, `2 k`, and one of its two top bits is set. So the root has `k` limbs, and
//! its top bit is set. Let `s` be the root of the upper limbs, and `u`, at most `2 s`, what it
//! leaves of them. The next limb `q` of the root, and what is left then, follow from the next two
//! limbs `x` of the number:
//!
//! ```text
//! q = floor(floor(u B / 2) / s) or less,     u' = (u B^2 + x) - q (2 s B + q),     s' = s B + q.
//! ```
//!
//! The number subtracted is `q` times `2 s B + q`, which is `2 s B` with `q` in its lowest limb.
//! `q` is estimated from the top limbs (see [`division`]), and lessened by 1 while `u'` is
//! negative. Each time `2 s B + 2 q + 1` is added back, with the lessened `q`.
//!
//! By hand, 1234 with `B` = 10: the root of 12 is `s` = 3, and `u` = 3 is left. `u B^2 + x` is 334,
//! and 33 / 6 gives `q` = 5. As 334 - 5 * 65 = 9 is not negative, the root is 35.
//!
//! The remainder is the number minus the root's square.
//!
//! Cost: `n^2 / 8` multiply-adds for the root of a number of `n` limbs, and as many for the square.
//! Scratch: `1.5 n + 2` limbs, or none if the launch has shared memory for them and for the number,
//! which the warp then moves there. Results overlap no operand.

use super::division;
use super::own::{self, Own};
use super::place::word;
use super::reciprocal::{Top, root_of_word};
use super::{Batches, CHUNK, Work, mul};
use crate::gpu::carry;
use crate::gpu::memory::{Any, Number, Stride};
use crate::gpu::shared::{Fours, SharedNumber};
use crate::gpu::thread;
use bigint_core::{LIMB_BITS, Limb};

/// The threads of a warp.
const WARP: u32 = 32;

/// The memory in which a root grows.
trait Room: Own {
    /// Limbs `from .. to`.
    fn part(self, from: u32, to: u32) -> Self;
}

impl Room for Number<Any> {
    #[inline(always)]
    fn part(self, from: u32, to: u32) -> Self {
        Number::part(self, from, to)
    }
}

impl Room for SharedNumber {
    #[inline(always)]
    fn part(self, from: u32, to: u32) -> Self {
        SharedNumber::part(self, from, to)
    }
}

/// Computes the roots that fall to the calling thread.
#[inline(always)]
pub fn school<S: Stride>(batches: Batches<'_, S>) {
    for tile in batches.tiles_of_one() {
        let Work {
            r, s, a, scratch, ..
        } = tile.work();
        match tile.root_places() {
            Some((places, room)) => {
                let (lane, run) = (thread::here(tile.lane()), tile.a());
                let own = places.of_lane(lane);
                let is_run = tile.is_run() && tile.numbers() == WARP;
                if is_run {
                    let mut at = lane;
                    while at < places.fours() {
                        places.set_four(at, run.fours::<4, true>(4 * at));
                        at += WARP;
                    }
                } else {
                    own::copy(own, a);
                }
                tile.sync();
                number(r, s, own, room);
                tile.sync();
            }
            None => number(r, s, a, scratch),
        }
    }
}

/// Computes the root of `a` and the remainder, cut or extended to their widths.
#[inline(always)]
fn number(r: Number<impl Stride>, s: Number<impl Stride>, a: impl Own, room: impl Room) {
    let half = a.width().div_ceil(2);
    let square = room.part(0, 2 * half);
    let root = room.part(2 * half, 3 * half + 1);
    find(root, a, square);
    own::copy(r, root);
    let widths = [half; 2];
    mul::comba::product_of(square, widths, |i| root.four(i), |i| root.four(i));
    let (mut borrow, mut at) = (0, 0);
    while at < s.width() {
        let rest;
        (rest, borrow) = carry::sub(a.four(at), square.four(at), borrow);
        s.set_four(at, rest);
        at += CHUNK;
    }
}

/// Sets `twice` to the root of `a`. `twice` has a limb more than the root, and `rest` twice as many
/// as the root.
#[inline(always)]
fn find<L: Room>(twice: L, a: impl Own, rest: L) {
    let n = division::significant(a);
    division::clear(twice, 0);
    if n == 0 {
        return;
    }
    let k = n.div_ceil(2);
    let (odd, bits) = (2 * k - n, a.limb(n - 1).leading_zeros() & !1);
    let u = rest.part(0, 2 * k);
    // `twice` holds twice the root: its upper limbs, from limb `at` on.
    let mut i = 0;
    while i < 2 * k {
        let limb = |i: u32| a.limb(i.wrapping_sub(odd));
        let both = word(limb(i), limb(i.wrapping_sub(1)));
        u.set(i, (both << bits >> LIMB_BITS) as Limb);
        i += 1;
    }

    let top = word(u.limb(2 * k - 1), u.limb(2 * k - 2));
    let first = root_of_word(top);
    let rest = top - first * first;
    u.set(2 * k - 1, (rest >> LIMB_BITS) as Limb);
    u.set(2 * k - 2, rest as Limb);
    twice.set(k - 1, (2 * first) as Limb);
    twice.set(k, (2 * first >> LIMB_BITS) as Limb);
    let mut at = k - 1;
    let half =
        |number: L, i: u32| (word(number.limb(i), number.limb(i.wrapping_sub(1))) >> 1) as Limb;
    let divisor = || Top::new(half(twice, k), half(twice, k - 1));
    let mut reciprocal = divisor();
    while at > 0 {
        // This limb of `u` must become zero.
        let high = k + at;
        let mut q = reciprocal.quotient([half(u, high - 1), half(u, high)]);
        at -= 1;
        twice.set(at, q);
        let mut negative = subtract(u.part(2 * at, 2 * k), twice.part(at, k + 1), q);
        while negative {
            q -= 1;
            // This is 2 s B + 2 q + 1, with the lessened q.
            let limb = u64::from(q) * 2 + 1;
            let carried = limb >> LIMB_BITS != 0;
            twice.set(at, limb as Limb);
            negative = !add(u.part(2 * at, 2 * k), twice.part(at, k + 1), carried);
        }
        twice.set(at, q << 1);
        if q >> (LIMB_BITS - 1) != 0 {
            // Twice the upper limbs is even, so its lowest bit is free.
            twice.set(at + 1, twice.limb(at + 1) | 1);
        }
        if at == k - 2 {
            reciprocal = divisor();
        }
    }
    let back = (odd * LIMB_BITS as u32 + bits) / 2 + 1;
    let mut i = 0;
    while i < k {
        let both = word(twice.limb(i + 1), twice.limb(i));
        twice.set(i, (both >> back) as Limb);
        i += 1;
    }
    division::clear(twice, k);
}

/// Subtracts `q d` from `u`, which has one limb more than `d`. Returns whether the result is
/// negative.
#[inline(always)]
fn subtract(u: impl Own, d: impl Own, q: Limb) -> bool {
    let (mut i, mut carry) = (0, 0);
    while i < d.width() {
        let product = u64::from(q) * u64::from(d.limb(i)) + u64::from(carry);
        let (limb, borrow) = u.limb(i).overflowing_sub(product as Limb);
        u.set(i, limb);
        // The sum fits a limb: if the high half is B - 1, the low half is 0, and nothing is
        // borrowed.
        carry = (product >> LIMB_BITS) as Limb + Limb::from(borrow);
        i += 1;
    }
    let (limb, borrow) = u.limb(i).overflowing_sub(carry);
    u.set(i, limb);
    borrow
}

/// Adds `d` to `u`, and `B` if `carried`. Returns the carry out of the limb above those of `d`.
#[inline(always)]
fn add(u: impl Own, d: impl Own, carried: bool) -> bool {
    let (mut i, mut carry) = (0, false);
    while i <= d.width() {
        let limb = if i < d.width() { d.limb(i) } else { 0 };
        let more = if i == 1 { Limb::from(carried) } else { 0 };
        // Limb 1 of `d` belongs to twice a number, or is the 0 or 1 above it: its lowest bit is
        // free for the carry.
        let sum;
        (sum, carry) = u.limb(i).carrying_add(limb | more, carry);
        u.set(i, sum);
        i += 1;
    }
    carry
}
