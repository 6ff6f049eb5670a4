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
//! For two limbs of the quotient, `u` moves up by two limbs from lane to lane, and the next two of
//! the dividend come into lane 0. Its top limbs are the top lane's, which finds `q` and
//! hands it round; all lanes add `q w`, and what each has above its `X` limbs goes to the lane
//! above, into its four lowest. Only where that still carries, once in 2^32 by chance, or
//! where `q` was too large, are carries found as in [`lookahead`].
//!
//! Numbers of a warp go together: quotients have as many limbs as the longest of them.
//!
//! Cost: `(n - m + 1) X LANES` multiply-adds, and for each two limbs of the quotient in every lane
//! some 70 instructions, six shuffles and a vote. No scratch. Results are no operands.

use super::{Batches, Work, lookahead};
use crate::gpu::carry;
use crate::gpu::descent::Descent;
use crate::gpu::facts::divisor_digit;
use crate::gpu::memory::Stride;
use crate::gpu::row::Row;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::thread::division::{left, right};
use crate::thread::place::word;
use crate::thread::reciprocal::LongTop;
use bigint_core::{LIMB_BITS, Limb};

/// The quotients and remainders that fall to the calling lane's group.
#[inline(always)]
pub fn school<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        match divisor_digit(work.b.width(), work.group.lanes()) {
            16 => number::<LANES, 16, S>(work),
            _ => number::<LANES, 32, S>(work),
        }
    }
}

/// A divisor, as a lane sees it.
#[derive(Clone, Copy)]
struct Divisor<const LANES: u32, const X: usize> {
    group: Group<LANES>,
    is_top: bool,
    /// The lane's limbs of `B^N - v`.
    complement: [Limb; X],
    /// Of the top lane that of the divisor; elsewhere of no use.
    top: LongTop,
}

impl<const LANES: u32, const X: usize> Divisor<LANES, X>
where
    Window<X>: Slide<Digit = [Limb; X]>,
    [Limb; X]: Row,
{
    /// Divides by `v`, whose top bit is set.
    #[inline(always)]
    fn new(group: Group<LANES>, v: [Limb; X]) -> Self {
        // Two's complement: one more in the lowest lane, and on from where all is zero.
        let zeros = lookahead::carries(0, group.ballot(Window::<X>::are_zero(v)), 1);
        let one = (zeros >> group.lane()) as Limb & 1;
        let (complement, _) = Window::<X>::add(Row::of(|i| !v[i as usize]), one);
        Divisor {
            group,
            is_top: group.lane() == group.lanes() - 1,
            complement,
            top: LongTop::new([v[X - 4], v[X - 3], v[X - 2], v[X - 1]]),
        }
    }

    /// What a digit of the quotient leaves of the lane's limbs, in the top lane with `high` above.
    #[inline(always)]
    fn step(self, limbs: [Limb; X], high: [Limb; 2]) -> Step<X> {
        let group = self.group;
        let q = self.top.quotient([limbs[X - 1], high[0], high[1]]);
        let q = q.map(|limb| group.shuffle(limb, group.lanes() - 1));
        let (mut left, over) = limbs.multiply_add(q, self.complement);
        let below = over.map(|limb| {
            let below = group.rotate_up(limb, 1);
            if group.lane() == 0 { 0 } else { below }
        });
        let low = [left[0], left[1], left[2], left[3]];
        let (low, carry) = carry::add(low, [below[0], below[1], 0, 0], 0);
        left[..4].copy_from_slice(&low);
        let above = both(high).wrapping_add(both(over));
        Step {
            left,
            q,
            above,
            carry,
            is_done: group.all(carry == 0 && (!self.is_top || above == both(q))),
        }
    }

    /// The same, with carries that have gone further, and of a digit that was right.
    #[inline(always)]
    fn correct(self, step: Step<X>) -> Step<X> {
        let group = self.group;
        let bit = |carries: u64, place: u32| (carries >> place) as Limb & 1;
        let carry = Row::of(|i| if i == 4 { step.carry } else { 0 });
        let (limbs, carry) = Window::<X>::add_digits(step.left, carry);
        let carries = lookahead::carries(
            group.ballot(carry != 0),
            group.ballot(Window::<X>::are_all_ones(limbs)),
            0,
        );
        let (limbs, _) = Window::<X>::add(limbs, bit(carries, group.lane()));
        let out = u64::from(bit(carries, group.lanes()));
        // It was too large by one.
        let is_less = self.is_top && step.above.wrapping_add(out) != both(step.q);
        let less = Limb::from(group.ballot(is_less) != 0);
        let w = Row::of(|i| self.complement[i as usize] & less.wrapping_neg());
        let (limbs, borrow) = Window::<X>::subtract(limbs, w, 0);
        let borrows = lookahead::carries(
            group.ballot(borrow != 0),
            group.ballot(Window::<X>::are_zero(limbs)),
            0,
        );
        let (left, _) = Window::<X>::subtract(limbs, [0; X], bit(borrows, group.lane()));
        let right = both(step.q) - u64::from(less);
        let q = [right as Limb, (right >> LIMB_BITS) as Limb];
        Step { left, q, ..step }
    }
}

/// What a step has found: a digit of the quotient, two limbs, and what it leaves.
#[derive(Clone, Copy)]
struct Step<const X: usize> {
    left: [Limb; X],
    q: [Limb; 2],
    /// In the top lane what is above, which is the digit where that was right.
    above: u64,
    /// Out of the lane's four lowest limbs.
    carry: Limb,
    /// Whether all is right in all lanes of the warp.
    is_done: bool,
}

#[inline(always)]
fn both([low, high]: [Limb; 2]) -> u64 {
    word(high, low)
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
    let own = X as u32 * lane;
    // Limbs of the divisor that are significant, and by how many it is shifted.
    let mut m = b.width();
    let mut limbs = X as u32 * lanes - m;
    // Limbs of the longest quotient of the warp.
    let quotients = |m: u32| (a.width() + 1).saturating_sub(m).max(1);
    let mut j = quotients(m);
    let mut v: [Limb; X] = b.registers(own.wrapping_sub(limbs));
    let mut is_zero = false;
    let is_top = lane == lanes - 1;
    if !group.all(!is_top || v[X - 1] != 0) {
        let mut significant = 0;
        v.each(|i, limb| significant = if limb == 0 { significant } else { i + 1 });
        let holders = group.ballot(significant != 0) as u32;
        is_zero = holders == 0;
        let highest = 31 - (holders | 1).leading_zeros();
        let width = group.shuffle(significant, highest) + X as u32 * highest - limbs;
        m = if is_zero { m } else { width };
        limbs = X as u32 * lanes - m;
        while !group.all(quotients(m) <= j) {
            j += 1;
        }
        v = Row::of(|i| b.limb((own + i).wrapping_sub(limbs)));
        v[X - 1] |= if is_zero { 1 << (LIMB_BITS - 1) } else { 0 };
    }
    let bits = group.shuffle(v[X - 1], lanes - 1).leading_zeros();
    let keep = Limb::from(is_zero).wrapping_sub(1);
    let shifted = |limbs: [Limb; X], lowest: Limb| {
        let below = group.rotate_up(limbs[X - 1], 1);
        let below = if lane == 0 { lowest } else { below };
        Row::of(|i| {
            let low = if i == 0 { below } else { limbs[i as usize - 1] };
            left(limbs[i as usize], low, bits)
        })
    };

    // Two limbs at a time. The dividend's limbs from here on are known.
    j = j.next_multiple_of(2);
    let at = (j - 2).wrapping_sub(limbs);
    let window: [Limb; X] = a.registers(at.wrapping_add(own));
    let [lower, upper] = [0, 1].map(|i| a.limb(at.wrapping_add(X as u32 * lanes + i)));
    let mut above = a.limb(at.wrapping_sub(1));
    let mut below = Descent::new(a, at.wrapping_sub(1));
    let mut come = below.two();
    let mut high = [left(lower, window[X - 1], bits), left(upper, lower, bits)];
    let mut window = shifted(window, above);
    let divisor = Divisor::<LANES, X>::new(group, shifted(v, 0));

    let mut end = j + lane;
    while end - lane < q.width() {
        q.set(end, 0);
        end += lanes;
    }
    let mut quotients = 0;
    let mut give = |step: Step<X>| {
        j -= 2;
        let place = j & (lanes - 1);
        quotients = if lane == place { step.q[0] } else { quotients };
        quotients = if lane == place + 1 {
            step.q[1]
        } else {
            quotients
        };
        if place == 0 {
            q.set(j + lane, quotients & keep);
            quotients = 0;
        }
        j == 0
    };
    // The top lane sends the lowest one what comes new into the window.
    let mut slide = |u: [Limb; X]| {
        let new = [left(come[1], come[0], bits), left(above, come[1], bits)];
        above = come[0];
        come = below.two();
        let high = [u[X - 2], u[X - 1]];
        let lowest: [Limb; 2] =
            [0, 1].map(|i| group.rotate_up(if is_top { new[i] } else { high[i] }, 1));
        let window = Row::of(|i| {
            if i < 2 {
                lowest[i as usize]
            } else {
                u[i as usize - 2]
            }
        });
        (window, high)
    };
    // Corrections stand outside of the loop of steps, and two steps in one turn of it: more limbs
    // keep their registers.
    let u = 'all: loop {
        let step = loop {
            let step = divisor.step(window, high);
            if !step.is_done {
                break step;
            }
            if give(step) {
                break 'all step.left;
            }
            (window, high) = slide(step.left);
            let step = divisor.step(window, high);
            if !step.is_done {
                break step;
            }
            if give(step) {
                break 'all step.left;
            }
            (window, high) = slide(step.left);
        };
        let step = divisor.correct(step);
        if give(step) {
            break step.left;
        }
        (window, high) = slide(step.left);
    };

    let above = group.rotate_down(u[0]);
    let above = if is_top { 0 } else { above };
    let remainder: [Limb; X] = Row::of(|i| {
        let high = if i as usize + 1 < X {
            u[i as usize + 1]
        } else {
            above
        };
        right(high, u[i as usize], bits) & keep
    });
    // Below limb 0 there are zeros, and no place for them.
    r.set_registers(own.wrapping_sub(limbs), remainder);
    let mut end = m + lane;
    while end < r.width() {
        r.set(end, 0);
        end += lanes;
    }
    work.carry.set(Limb::from(is_zero));
}
