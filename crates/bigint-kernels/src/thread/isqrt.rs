//! Square roots by rows (School): the root limb by limb from the top, as division by rows
//! gives a quotient.
//!
//! With `B` = 2^32, the number is shifted to the left by an even number of bits until it has
//! an even number of limbs, `2 k`, and one of its two top bits is set: so the root has `k`
//! limbs and its top bit set. Of the root `s` of the upper limbs and what they leave, `u`
//! (at most `2 s`), the next limb `q` and what is left follow from two more limbs `x`:
//!
//! ```text
//! q = floor(floor(u B / 2) / s) or less,     u' = (u B^2 + x) - q (2 s B + q),     s' = s B + q.
//! ```
//!
//! What is subtracted is `q` times one number, `2 s B` with `q` in its lowest limb. `q` is
//! estimated by the top limbs (see [`division`]) and lessened while `u'` is negative: each
//! unit gives `2 s B + 2 q + 1` back, which is that number again.
//!
//! For 1234 in tens: `s` = 3 of 12 and `u` = 3; `u B^2 + x` = 334, 33 / 6 gives `q` = 5,
//! 334 - 5 * 65 = 9, and the root is 35.
//!
//! The remainder is the number less the root's square.
//!
//! Cost: `n^2 / 8` multiply-adds for the root of `n` limbs, and as many for the square.
//! Scratch: `1.5 n + 2` limbs, or none where the launch has shared memory for them, and for the number,
//! which the warp brings in. Results are no operands.

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

/// Threads in a warp.
const WARP: u32 = 32;

/// Limbs in which a root grows.
trait Room: Own {
    /// Limbs `from` up to, not including, `to`.
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

/// The roots that fall to the calling thread.
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

/// The root of `a` and what it leaves, cut or extended to their widths.
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

/// `twice` comes to be the root of `a`; it has a limb more, and `rest` twice as many.
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
    // Twice the root: its upper limbs are there from limb `at` on.
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
        // The limb of `u` that must become zero.
        let high = k + at;
        let mut q = reciprocal.quotient([half(u, high - 1), half(u, high)]);
        at -= 1;
        twice.set(at, q);
        let mut negative = subtract(u.part(2 * at, 2 * k), twice.part(at, k + 1), q);
        while negative {
            q -= 1;
            // 2 s B + 2 q + 1, of the lessened q.
            let limb = u64::from(q) * 2 + 1;
            let carried = limb >> LIMB_BITS != 0;
            twice.set(at, limb as Limb);
            negative = !add(u.part(2 * at, 2 * k), twice.part(at, k + 1), carried);
        }
        twice.set(at, q << 1);
        if q >> (LIMB_BITS - 1) != 0 {
            // Twice the upper limbs is even.
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

/// `u -= q d`, with one limb of `u` above those of `d`; answers whether that is negative.
#[inline(always)]
fn subtract(u: impl Own, d: impl Own, q: Limb) -> bool {
    let (mut i, mut carry) = (0, 0);
    while i < d.width() {
        let product = u64::from(q) * u64::from(d.limb(i)) + u64::from(carry);
        let (limb, borrow) = u.limb(i).overflowing_sub(product as Limb);
        u.set(i, limb);
        // A high half of B - 1 comes with a low half of 0, which borrows nothing.
        carry = (product >> LIMB_BITS) as Limb + Limb::from(borrow);
        i += 1;
    }
    let (limb, borrow) = u.limb(i).overflowing_sub(carry);
    u.set(i, limb);
    borrow
}

/// `u += d`, and `B` where `carried`; answers whether that carries out of the limb above.
#[inline(always)]
fn add(u: impl Own, d: impl Own, carried: bool) -> bool {
    let (mut i, mut carry) = (0, false);
    while i <= d.width() {
        let limb = if i < d.width() { d.limb(i) } else { 0 };
        let more = if i == 1 { Limb::from(carried) } else { 0 };
        // Above the lowest, limbs of `d` are even numbers' or 0 and 1: one more fits.
        let sum;
        (sum, carry) = u.limb(i).carrying_add(limb | more, carry);
        u.set(i, sum);
        i += 1;
    }
    carry
}
