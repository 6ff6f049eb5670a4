//! Quotients and remainders by rows (School; [Knuth 1997]), computed by lanes that share the
//! numbers. [`crate::thread::division`] explains the maths.
//!
//! The divisor is shifted to the left until the top bit of the top lane is set. Its complement `w`
//! stands in the lanes' registers, `X` limbs in each, and so does what is left of the dividend,
//! `u`:
//!
//! ```text
//! lane        0          1          2          3
//! u, w     0 .. X    X .. 2X   2X .. 3X   3X .. 4X
//! ```
//!
//! For each two limbs of the quotient, `u` moves up by two limbs from lane to lane, and the next
//! two limbs of the dividend come into lane 0. The top lane has the top limbs of `u`, finds `q`,
//! and hands it to the others. All lanes add `q w`. The limbs that a lane then has above its `X`
//! limbs are added to the lane above, with carries inside its four lowest limbs. Only if that
//! carries further, by chance once in 2^32, or if `q` was too large, are carries found as in
//! [`lookahead`].
//!
//! The limbs that go to the lane above do not change the top limbs of the top lane. So while they
//! are on their way, the top lane finds the next `q`, and all lanes send the limbs that move up.
//! Both are done again if carries go further.
//!
//! The numbers of a warp are divided together: all quotients take as many steps as the longest of
//! them.
//!
//! Cost: `(n - m + 1) X LANES` multiply-adds; for each two limbs of the quotient, in every lane,
//! `X` additions, some 80 instructions, six shuffles and a vote. No scratch. Results overlap no
//! operand.

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

/// Computes the quotients and remainders that fall to the calling lane's group.
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
    /// In the top lane, the reciprocal of the divisor's highest limbs. Other lanes do not use it.
    top: LongTop,
}

impl<const LANES: u32, const X: usize> Divisor<LANES, X>
where
    Window<X>: Slide<Digit = [Limb; X]>,
    [Limb; X]: Row,
{
    /// The divisor `v`, whose top bit is set.
    #[inline(always)]
    fn new(group: Group<LANES>, v: [Limb; X]) -> Self {
        // The two's complement adds 1 to the complement of the lowest lane, and to that of a lane
        // below which all limbs are zero.
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

    /// A step with digit `q`, which the top lane has found. `limbs` are the lane's limbs, above
    /// which the top lane has `high`. The next digit is found as if no carry went further; `new`
    /// are the limbs that come in for it.
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

    /// Whether the step is right in all lanes of the warp.
    #[inline(always)]
    fn is_done(self, step: Step<X>) -> bool {
        let of_top = Limb::from(self.is_top).wrapping_neg();
        self.group
            .all((step.above ^ step.q[0]) & of_top | step.carry == 0)
    }

    /// The beginning of the next step, from the limbs that a step leaves, `left`, and the limbs
    /// `new` that come in.
    #[inline(always)]
    fn next(self, left: <[Limb; X] as Row>::Pairs, new: [Limb; 2]) -> Next {
        let group = self.group;
        let highest = <[Limb; X]>::highest(left);
        let [_, low, high] = highest;
        // The top lane sends to the lowest one the limbs that come in.
        let up = [
            if self.is_top { new[0] } else { low },
            if self.is_top { new[1] } else { high },
        ];
        Next {
            lowest: up.map(|limb| group.rotate_up(limb, 1)),
            // This is computed now, while limbs are on their way, and not behind the branch.
            q: self.top.quotient(highest).map(afresh),
        }
    }

    /// The step with all carries, and with the right digit.
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
        // The digit was too large by one.
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

/// The result of a step: a digit of the quotient, of two limbs, and what it leaves of the dividend.
#[derive(Clone, Copy)]
struct Step<const X: usize>
where
    [Limb; X]: Row,
{
    left: <[Limb; X] as Row>::Pairs,
    q: [Limb; 2],
    /// In the top lane, the lower of the two limbs above. It is the lower limb of the digit if that
    /// was right, and one less if not.
    above: Limb,
    /// The carry out of the lane's four lowest limbs.
    carry: Limb,
    /// The beginning of the next step, if this one was right.
    next: Next,
}

/// The values with which a lane begins a step.
#[derive(Clone, Copy)]
struct Next {
    /// The limbs that come from the lane below, or that come in.
    lowest: [Limb; 2],
    /// In the top lane, the digit of the quotient.
    q: [Limb; 2],
}

/// A divisor that is moved up by whole limbs until its highest limb is the top lane's highest.
struct Aligned<const X: usize> {
    /// The lane's limbs. If the divisor is 0, a bit of the top limb is set.
    v: [Limb; X],
    is_zero: bool,
    /// The number of limbs without zeros on top; of all limbs if the divisor is 0.
    width: u32,
    /// The limbs by which it has been moved up.
    limbs: u32,
    /// The bits by which it is to be shifted further.
    bits: u32,
    /// The limbs of the longest quotient of the warp.
    quotients: u32,
}

impl<const X: usize> Aligned<X>
where
    [Limb; X]: Row,
{
    /// Moves the divisor `b` of dividends of `n` limbs up.
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

/// Sets the limbs of the quotient from `j` on to zero; `j` is even.
#[inline(always)]
fn clear_above<const LANES: u32>(group: Group<LANES>, q: Number<impl Stride>, j: u32) {
    let (lane, lanes) = (group.lane(), group.lanes());
    let mut end = j;
    if group.all(q.is_in_fours()) {
        // Up to the next multiple of 4 there are two limbs or none, and there are at least two
        // lanes.
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

/// The limb of the quotient that the lane stores next. If its place is among limbs `j` and `j + 1`,
/// it is a limb of `digit`, else it stays the one that the lane `has`.
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

    // The quotient is computed two limbs at a time. The window holds the dividend's limbs from `at`
    // on.
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
    // A step to be corrected is moved to other registers. Otherwise all steps would move their
    // limbs to the registers in which any of them can be corrected.
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
    // Corrections stand outside of the loop of steps, and a turn of the loop has several steps:
    // limbs keep their registers from one step to the next, and move only at the end of a turn.
    let u = 'all: loop {
        let (step, new) = loop {
            step!('all);
            step!('all);
            step!('all);
            step!('all);
            // With 32 limbs, more steps in a turn are no faster.
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
    // Places below limb 0 hold zeros, which the number does not store.
    r.set_registers(own.wrapping_sub(limbs), remainder);
    let mut end = aligned.width + lane;
    while end < r.width() {
        r.set(end, 0);
        end += lanes;
    }
    work.carry.set(Limb::from(aligned.is_zero));
}
