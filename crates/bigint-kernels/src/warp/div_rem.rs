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
//! What goes to the lane above changes nothing in the top lane's top limbs. So while it is on its
//! way, the top lane finds the next `q`, and all send up what moves: both are done again where
//! carries go further.
//!
//! Numbers of a warp go together: quotients have as many limbs as the longest of them.
//!
//! Cost: `(n - m + 1) X LANES` multiply-adds, and for each two limbs of the quotient in every lane
//! `X` additions, some 80 instructions, six shuffles and a vote. No scratch. Results are no operands.

use super::shifts::{Digits, lowered, raised};
use super::{Batches, Work, lookahead};
use crate::gpu::known::divisor_digit;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::registers::{afresh, moved};
use crate::gpu::row::{Row, halves, pair};
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::thread::division::left;
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
    /// In the top lane the highest limbs of the divisor; elsewhere of no use.
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

    /// What digit `q`, as the top lane has found it, leaves of the lane's limbs, in the top lane with
    /// `high` above; and the next digit, when limbs `new` have come.
    #[inline(always)]
    fn step(
        self,
        limbs: <[Limb; X] as Row>::Pairs,
        high: Limb,
        q: [Limb; 2],
        new: [Limb; 2],
    ) -> Step<X> {
        let group = self.group;
        let q = q.map(|limb| group.shuffle(limb, group.lanes() - 1));
        let (left, over) = <[Limb; X]>::add_rows(limbs, q, self.complement);
        let below = over.map(|limb| {
            let below = group.rotate_up(limb, 1);
            if group.lane() == 0 { 0 } else { below }
        });
        let (left, carry) = <[Limb; X]>::add_below(left, below);
        Step {
            left,
            q,
            above: high.wrapping_add(over[0]),
            carry,
            next: self.next(left, new),
        }
    }

    /// Whether all is right in all lanes of the warp.
    #[inline(always)]
    fn is_done(self, step: Step<X>) -> bool {
        let of_top = Limb::from(self.is_top).wrapping_neg();
        self.group
            .all((step.above ^ step.q[0]) & of_top | step.carry == 0)
    }

    /// How the lanes begin the next step, of what a step leaves and limbs that come.
    #[inline(always)]
    fn next(self, left: <[Limb; X] as Row>::Pairs, new: [Limb; 2]) -> Next {
        let group = self.group;
        let highest = <[Limb; X]>::highest(left);
        let [_, low, high] = highest;
        // The top lane sends the lowest one what comes new into the window.
        let up = [
            if self.is_top { new[0] } else { low },
            if self.is_top { new[1] } else { high },
        ];
        Next {
            lowest: up.map(|limb| group.rotate_up(limb, 1)),
            // Now, while limbs are on their way, and not behind the branch.
            q: self.top.quotient(highest).map(afresh),
        }
    }

    /// The step with carries that have gone further, and with a digit that is right.
    #[inline(always)]
    fn correct(self, step: Step<X>, new: [Limb; 2]) -> Step<X> {
        let group = self.group;
        let bit = |carries: u64, place: u32| (carries >> place) as Limb & 1;
        let carry = Row::of(|i| if i == 4 { step.carry } else { 0 });
        let (limbs, carry) = Window::<X>::add_digits(<[Limb; X]>::of_pairs(step.left), carry);
        let carries = lookahead::carries(
            group.ballot(carry != 0),
            group.ballot(Window::<X>::are_all_ones(limbs)),
            0,
        );
        let (limbs, _) = Window::<X>::add(limbs, bit(carries, group.lane()));
        let out = bit(carries, group.lanes());
        // It was too large by one.
        let is_less = self.is_top && step.above.wrapping_add(out) != step.q[0];
        let less = Limb::from(group.ballot(is_less) != 0);
        let w = Row::of(|i| self.complement[i as usize] & less.wrapping_neg());
        let (limbs, borrow) = Window::<X>::subtract(limbs, w, 0);
        let borrows = lookahead::carries(
            group.ballot(borrow != 0),
            group.ballot(Window::<X>::are_zero(limbs)),
            0,
        );
        let (limbs, _) = Window::<X>::subtract(limbs, [0; X], bit(borrows, group.lane()));
        let left = limbs.pairs();
        Step {
            left,
            q: halves(pair(step.q) - u64::from(less)),
            next: self.next(left, new),
            ..step
        }
    }
}

/// What a step has found: a digit of the quotient, two limbs, and what it leaves.
#[derive(Clone, Copy)]
struct Step<const X: usize>
where
    [Limb; X]: Row,
{
    left: <[Limb; X] as Row>::Pairs,
    q: [Limb; 2],
    /// In the top lane the lower limb of what is above, which is the digit where that was right, and
    /// else one less.
    above: Limb,
    /// Out of the lane's four lowest limbs.
    carry: Limb,
    /// The next step, if all was right.
    next: Next,
}

/// How a lane begins a step.
#[derive(Clone, Copy)]
struct Next {
    /// The limbs that come up from the lane below, or are new.
    lowest: [Limb; 2],
    /// In the top lane the digit.
    q: [Limb; 2],
}

/// A divisor moved up by whole limbs, until its highest one is the top lane's highest.
struct Aligned<const X: usize> {
    /// The lane's limbs; of 0, with a bit set in the top one.
    v: [Limb; X],
    is_zero: bool,
    /// Limbs without the zeros on top; of 0, all.
    width: u32,
    /// The limbs by which it has been moved up.
    limbs: u32,
    /// The bits by which it is to be shifted further.
    bits: u32,
    /// Limbs of the longest quotient of the warp.
    quotients: u32,
}

impl<const X: usize> Aligned<X>
where
    [Limb; X]: Row,
{
    /// The divisor of dividends of `n` limbs.
    #[inline(always)]
    fn new<const LANES: u32>(group: Group<LANES>, b: Number<impl Stride>, n: u32) -> Self {
        let (lane, lanes) = (group.lane(), group.lanes());
        let own = X as u32 * lane;
        let mut width = b.width();
        let mut limbs = X as u32 * lanes - width;
        let quotients_by = |width: u32| (n + 1).saturating_sub(width).max(1);
        let mut quotients = quotients_by(width);
        let mut v: [Limb; X] = b.registers(own.wrapping_sub(limbs));
        let mut is_zero = false;
        let is_top = lane == lanes - 1;
        if !group.all(!is_top || v[X - 1] != 0) {
            let mut significant = 0;
            v.each(|i, limb| significant = if limb == 0 { significant } else { i + 1 });
            let holders = group.ballot(significant != 0) as u32;
            is_zero = holders == 0;
            let highest = 31 - (holders | 1).leading_zeros();
            let found = group.shuffle(significant, highest) + X as u32 * highest - limbs;
            width = if is_zero { width } else { found };
            limbs = X as u32 * lanes - width;
            while !group.all(quotients_by(width) <= quotients) {
                quotients += 1;
            }
            v = <[Limb; X]>::of(|i| b.limb((own + i).wrapping_sub(limbs)));
            v[X - 1] |= if is_zero { 1 << (LIMB_BITS - 1) } else { 0 };
        }
        Aligned {
            v,
            is_zero,
            width,
            limbs,
            bits: group.shuffle(v[X - 1], lanes - 1).leading_zeros(),
            quotients,
        }
    }
}

/// Sets the limbs of the quotient from `j` on, `j` even, to zero.
#[inline(always)]
fn clear_above<const LANES: u32>(group: Group<LANES>, q: Number<impl Stride>, j: u32) {
    let (lane, lanes) = (group.lane(), group.lanes());
    let mut end = j;
    if group.all(q.is_in_fours()) {
        // Up to four there are two limbs or none, and lanes two at least.
        end = j.next_multiple_of(4);
        q.set(if j == end { Limb::MAX } else { j + (lane & 1) }, 0);
        while end < q.width() {
            q.set_registers(end + 4 * lane, [0; 4]);
            end += 4 * lanes;
        }
    }
    while end < q.width() {
        q.set(end + lane, 0);
        end += lanes;
    }
}

/// The limb of the quotient that the lane gives next: one of `digit`, which the quotient has at `j`, if
/// the lane's place is there, else the one that it `has`.
#[inline(always)]
fn with<const LANES: u32>(group: Group<LANES>, has: Limb, j: u32, digit: [Limb; 2]) -> Limb {
    let (lane, lanes) = (group.lane(), group.lanes());
    let own = digit[if lane & 1 == 0 { 0 } else { 1 }];
    if (j ^ lane) & (lanes - 2) == 0 {
        own
    } else {
        has
    }
}

#[inline(always)]
fn number<const LANES: u32, const X: usize, S: Stride>(work: Work<LANES, S>)
where
    Window<X>: Slide<Digit = [Limb; X]>,
    [Limb; X]: Row,
{
    let (group, a, q, r) = (work.group, work.a, work.r, work.s);
    let (lane, lanes) = (group.lane(), group.lanes());
    let own = X as u32 * lane;
    let aligned = Aligned::<X>::new(group, work.b, a.width());
    let (limbs, bits) = (aligned.limbs, aligned.bits);
    let keep = Limb::from(aligned.is_zero).wrapping_sub(1);

    // Two limbs at a time. The dividend's limbs from here on are known.
    let mut j = aligned.quotients.next_multiple_of(2);
    let at = (j - 2).wrapping_sub(limbs);
    let window: [Limb; X] = a.registers(at.wrapping_add(own));
    let [lower, upper] = [0, 1].map(|i| a.limb(at.wrapping_add(X as u32 * lanes + i)));
    let mut digits = Digits::below(a, at, bits);
    let mut high = left(lower, window[X - 1], bits);
    let highest = left(upper, lower, bits);
    let mut window = raised(group, window, digits.above(), bits).pairs();
    let divisor = Divisor::<LANES, X>::new(group, raised(group, aligned.v, 0, bits));

    clear_above(group, q, j);
    let mut quotients = 0;
    let mut digit = divisor
        .top
        .quotient([<[Limb; X]>::highest(window)[2], high, highest]);
    // What is corrected stands in registers of its own: the steps would else move theirs to
    // where all can be corrected.
    let zero = a.width() >> (LIMB_BITS - 1);
    let apart = |step: Step<X>| {
        let limbs = <[Limb; X]>::of_pairs(step.left);
        let left = <[Limb; X]>::of(|i| moved(limbs[i as usize], zero)).pairs();
        Step { left, ..step }
    };
    macro_rules! go_on {
        ($out:lifetime, $step:ident, $with:ident) => {
            j -= 2;
            quotients = $with;
            if j & (lanes - 1) == 0 {
                q.set(j + lane, quotients & keep);
            }
            if j == 0 {
                break $out $step.left;
            }
            high = <[Limb; X]>::highest($step.left)[1];
            window = <[Limb; X]>::slide($step.left, pair($step.next.lowest));
            digit = $step.next.q;
        };
    }
    macro_rules! step {
        ($out:lifetime) => {
            let new = digits.next();
            let step = divisor.step(window, high, digit, new);
            let with_step = afresh(with(group, quotients, j - 2, step.q));
            if !divisor.is_done(step) {
                break (apart(step), new.map(|limb| moved(limb, zero)));
            }
            go_on!($out, step, with_step);
        };
    }
    // Corrections stand outside of the loop of steps, and several steps in one turn of it: limbs keep
    // their registers from one to the next, and change them at the end of a turn.
    let u = 'all: loop {
        let (step, new) = loop {
            step!('all);
            step!('all);
            step!('all);
            step!('all);
            // Of 32 limbs more in a turn are no faster.
            if X == 16 {
                step!('all);
                step!('all);
                step!('all);
                step!('all);
            }
        };
        let step = divisor.correct(step, new);
        let with_step = with(group, quotients, j - 2, step.q);
        go_on!('all, step, with_step);
    };

    let remainder = lowered(group, <[Limb; X]>::of_pairs(u), 0, bits);
    let remainder: [Limb; X] = Row::of(|i| remainder[i as usize] & keep);
    // Below limb 0 there are zeros, and no place for them.
    r.set_registers(own.wrapping_sub(limbs), remainder);
    let mut end = aligned.width + lane;
    while end < r.width() {
        r.set(end, 0);
        end += lanes;
    }
    work.carry.set(Limb::from(aligned.is_zero));
}
