//! Quotients and remainders by rows (School; Knuth), by the lanes that share the numbers:
//! [`crate::thread::division`] has the maths.
//!
//! The divisor, shifted to the left until the top bit of the top lane is set, stands in the
//! registers of the lanes as `w`, `X` limbs in each, and so does what is left of the dividend:
//!
//! ```text
//! lane        0          1          2          3
//! u, w     0 .. X    X .. 2X   2X .. 3X   3X .. 4X
//! ```
//!
//! For a limb of the quotient, `u` moves up by a limb from lane to lane, and the next limb of
//! the dividend comes into lane 0. Its top three limbs are the top lane's, which finds `q` and
//! hands it round; all lanes add `q w`, and what each has above its `X` limbs goes to the lane
//! above, into its three lowest. Only where that still carries, once in 2^32 by chance, or
//! where `q` was too large, are carries found as in [`lookahead`].
//!
//! Numbers of a warp go together: quotients have as many limbs as the longest of them.
//!
//! Cost: `(n - m + 1) X LANES` multiply-adds, and for each limb of the quotient in every lane
//! some 50 instructions, four shuffles and a vote. No scratch. Results are no operands.

use super::{Batches, Work, lookahead};
use crate::gpu::facts::montgomery_digit;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::row::Row;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::thread::division::{Top, left, right};
use bigint_core::{LIMB_BITS, Limb};

/// The quotients and remainders that fall to the calling lane's group.
#[inline(always)]
pub fn school<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        match montgomery_digit(work.b.width(), work.group.lanes()) {
            8 => number::<LANES, 8, S>(work),
            _ => number::<LANES, 16, S>(work),
        }
    }
}

/// A divisor, as a lane sees it.
#[derive(Clone, Copy)]
struct Divisor<const LANES: u32, const X: usize> {
    group: Group<LANES>,
    /// Its limbs that are significant; all of them where it is zero.
    width: u32,
    /// By how many limbs and bits it is shifted to the left.
    limbs: u32,
    bits: u32,
    /// The lane's limbs of `B^N - v`.
    complement: [Limb; X],
    /// Of the top lane that of the divisor; elsewhere of no use.
    top: Top,
}

impl<const LANES: u32, const X: usize> Divisor<LANES, X>
where
    Window<X>: Slide<Digit = [Limb; X]>,
    [Limb; X]: Row,
{
    /// Divides by `b`; the other one says whether it is zero.
    #[inline(always)]
    fn new(group: Group<LANES>, b: Number<impl Stride>) -> (Self, bool) {
        let own = X as u32 * group.lane();
        let mut significant = 0;
        for i in 0..X as u32 {
            significant = if b.limb(own + i) == 0 {
                significant
            } else {
                own + i + 1
            };
        }
        let holders = group.ballot(significant != 0) as u32;
        let is_zero = holders == 0;
        let width = group.shuffle(significant, 31 - (holders | 1).leading_zeros());
        let width = if is_zero { b.width() } else { width };
        let bits = b.limb(width.wrapping_sub(1)).leading_zeros() % LIMB_BITS as u32;
        let limbs = X as u32 * group.lanes() - width;
        let mut v: [Limb; X] = shifted(b, own, limbs, bits);
        if is_zero {
            v[X - 1] |= 1 << (LIMB_BITS - 1);
        }
        // Two's complement: one more in the lowest lane, and on from where all is zero.
        let zeros = lookahead::carries(0, group.ballot(Window::<X>::are_zero(v)), 1);
        let one = (zeros >> group.lane()) as Limb & 1;
        let (complement, _) = Window::<X>::add(v.map(|limb| !limb), one);
        let divisor = Divisor {
            group,
            width,
            limbs,
            bits,
            complement,
            top: Top::new(v[X - 1], v[X - 2]),
        };
        (divisor, is_zero)
    }

    /// `u B + x - q v` and `q`, where `u < v`.
    #[inline(always)]
    fn step(self, u: [Limb; X], x: Limb) -> ([Limb; X], Limb) {
        let group = self.group;
        let last = group.lanes() - 1;
        let high = u[X - 1];
        let mut q = group.shuffle(self.top.quotient([u[X - 3], u[X - 2], high]), last);
        let below = group.rotate_up(high, 1);
        let below = if group.lane() == 0 { x } else { below };
        let window: [Limb; X] = core::array::from_fn(|i| if i == 0 { below } else { u[i - 1] });
        let (sum, over) = window.multiply_add(q, self.complement, 0);
        let below = group.rotate_up(over, 1);
        let below = if group.lane() == 0 { 0 } else { below };
        let (low, carry) = add_to_three([sum[0], sum[1], sum[2]], below);
        let mut next = sum;
        next[..3].copy_from_slice(&low);
        let is_top = group.lane() == last;
        let is_done = carry == 0 && (!is_top || high.wrapping_add(over) == q);
        if !group.all(is_done) {
            let (limbs, carry) = Window::<X>::add(sum, below);
            let carries = lookahead::carries(
                group.ballot(carry != 0),
                group.ballot(Window::<X>::are_all_ones(limbs)),
                0,
            );
            let bit = |carries: u64, place: u32| (carries >> place) as Limb & 1;
            let (limbs, _) = Window::<X>::add(limbs, bit(carries, group.lane()));
            let above = high.wrapping_add(over).wrapping_add(bit(carries, last + 1));
            // It was too large by one.
            let less = Limb::from(group.ballot(is_top && above != q) != 0);
            let w = self.complement.map(|limb| limb & less.wrapping_neg());
            let (limbs, borrow) = Window::<X>::subtract(limbs, w, 0);
            let borrows = lookahead::carries(
                group.ballot(borrow != 0),
                group.ballot(Window::<X>::are_zero(limbs)),
                0,
            );
            let borrow = bit(borrows, group.lane());
            (next, _) = Window::<X>::subtract(limbs, [0; X], borrow);
            q -= less;
        }
        (next, q)
    }
}

/// `X` limbs of a number shifted to the left by so many limbs and bits, from limb `at` on.
#[inline(always)]
fn shifted<const X: usize>(
    number: Number<impl Stride>,
    at: u32,
    limbs: u32,
    bits: u32,
) -> [Limb; X] {
    // Below the number as above it: an index past its end.
    let mut below = number.limb(at.wrapping_sub(limbs + 1));
    core::array::from_fn(|i| {
        let limb = number.limb((at + i as u32).wrapping_sub(limbs));
        let shifted = left(limb, below, bits);
        below = limb;
        shifted
    })
}

/// The sum, and the carry out.
#[inline(always)]
fn add_to_three([a, b, c]: [Limb; 3], limb: Limb) -> ([Limb; 3], Limb) {
    let ([a, b, c, carry], _) = crate::gpu::carry::add([a, b, c, 0], [limb, 0, 0, 0], 0);
    ([a, b, c], carry)
}

#[inline(always)]
fn number<const LANES: u32, const X: usize, S: Stride>(work: Work<LANES, S>)
where
    Window<X>: Slide<Digit = [Limb; X]>,
    [Limb; X]: Row,
{
    let Work {
        group,
        r: q,
        s: r,
        a,
        b,
        ..
    } = work;
    let (lane, lanes) = (group.lane(), group.lanes());
    let (divisor, is_zero) = Divisor::<LANES, X>::new(group, b);
    let keep = Limb::from(is_zero).wrapping_sub(1);
    let Divisor { limbs, bits, .. } = divisor;

    // Limbs of the longest quotient of the warp.
    let of = |m: u32| (a.width() + 1).saturating_sub(m);
    let mut j = of(b.width());
    while !group.all(of(divisor.width) <= j) {
        j += 1;
    }
    let mut at = j + lane;
    while at - lane < q.width() {
        q.set(at, 0);
        at += lanes;
    }
    let mut u: [Limb; X] = shifted(a, j + X as u32 * lane, limbs, bits);
    let mut own = 0;
    // The next limbs of the dividend, one in each lane.
    let mut chunk = 0;
    let mut is_first = true;
    while j > 0 {
        j -= 1;
        let place = j & (lanes - 1);
        if is_first || place == lanes - 1 {
            [chunk] = shifted(a, j - place + lane, limbs, bits);
            is_first = false;
        }
        let quotient;
        (u, quotient) = divisor.step(u, group.shuffle(chunk, place));
        own = if lane == place { quotient } else { own };
        if place == 0 {
            q.set(j + lane, own & keep);
            own = 0;
        }
    }

    let above = group.rotate_down(u[0]);
    let above = if lane == lanes - 1 { 0 } else { above };
    for i in 0..X {
        let high = if i + 1 < X { u[i + 1] } else { above };
        // Below limb 0 there are zeros, and no place for them.
        let at = (X as u32 * lane + i as u32).wrapping_sub(limbs);
        r.set(at, right(high, u[i], bits) & keep);
    }
    let mut at = divisor.width + lane;
    while at < r.width() {
        r.set(at, 0);
        at += lanes;
    }
    work.carry.set(Limb::from(is_zero));
}
