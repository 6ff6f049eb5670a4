//! Square roots by rows (School), by the lanes that share the numbers: a root comes as a quotient does
//! ([`div_rem`](super::div_rem)), two limbs at a time, of a divisor that grows.
//!
//! With `B` = 2^64, the number is shifted to the left by an even number of bits until it has an even
//! number `2 k` of digits, and one of its two top bits is set: so the root has `k` digits and its top
//! bit set. Of the root `s` of the upper `2 j` digits and what they leave, `u` (at most `2 s`), the next
//! digit `q` and what is left follow from two more digits `x`:
//!
//! ```text
//! q = floor(u B / (2 s)) or less,     u' = (u B^2 + x) - q (2 s B + q),     s' = s B + q.
//! ```
//!
//! `2 s B + q` and what is left stand in the registers of the lanes, `X` limbs in each, from the top
//! down; the leading one of `2 s` stands nowhere. Its digits are put in as they come, and of what is
//! left the complement `v = -1 - u` is kept, to which `q (2 s B + q)` is added. It moves up by a digit
//! before each step, and a digit of the number comes in below: the rest of `x` is there already.
//! `q` comes from the top limbs and a [reciprocal](LongTop) of those of `s`, and is lessened while `u'`
//! is negative: each unit gives `2 s B + 2 q - 1` back. That is so of the second digit often, as the
//! first one is all that is known of `s`, and of later ones in 17 cases of 2^32.
//!
//! Where the number was shifted by `2 h` bits, `h` below 64, the root is `s` without its `h` lowest bits
//! `t`, and `(s - t)^2` leaves `u + t (2 s - t)` of the shifted number, which is the remainder shifted.
//!
//! For 1234 with digits in tens: `s` = 3 of 12 and `u` = 3, with the next digit 33; 33 / 6 gives `q` = 5,
//! 334 - 5 * 65 = 9, and the root is 35.
//!
//! Numbers of a warp go together; those that are shorter wait in the end.
//!
//! Cost: `k - 1` steps of `4 X LANES` multiply-adds, and in every lane some 150 instructions, six
//! shuffles and a vote each. No scratch. Results are no operands.

use super::shifts::{Digits, lowered, raised};
use super::{Batches, Work, lookahead};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::row::Row;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::thread::division::{left, right};
use crate::thread::place::word;
use crate::thread::reciprocal::{LongTop, root_of_word};
use bigint_core::kernel::ROOT_DIGIT;
use bigint_core::{LIMB_BITS, Limb};

/// Limbs of a lane.
const X: usize = ROOT_DIGIT;

/// The lane's limbs of a number.
type Limbs = [Limb; X];

/// The roots that fall to the calling lane's group.
#[inline(always)]
pub fn school<const LANES: u32, S: Stride>(batches: Batches<'_, LANES, S>) {
    for work in batches.numbers() {
        number(work);
    }
}

/// A digit of two limbs.
#[inline(always)]
fn digit([low, high]: [Limb; 2]) -> u64 {
    word(high, low)
}

/// The limbs of a digit.
#[inline(always)]
fn limbs(digit: u64) -> [Limb; 2] {
    [digit as Limb, (digit >> LIMB_BITS) as Limb]
}

/// `limbs` with digit `place` put in, and `carry` in the lowest bit of the next one, where they
/// are there.
#[inline(always)]
fn put(limbs: Limbs, place: u32, digit: [Limb; 2], carry: Limb) -> Limbs {
    Row::of(|i| {
        let (limb, at) = (limbs[i as usize], i / 2);
        if at == place {
            digit[i as usize % 2]
        } else if i % 2 == 0 && at == place.wrapping_add(1) {
            limb | carry
        } else {
            limb
        }
    })
}

/// A root on its way, as a lane sees it.
struct Root<const LANES: u32> {
    group: Group<LANES>,
    is_top: bool,
    /// The lane's limbs of `2 s`.
    twice: Limbs,
    /// Of `-1 - u`.
    rest: Limbs,
    /// In the top lane the bit of `u` above.
    above: u64,
}

impl<const LANES: u32> Root<LANES> {
    /// The sum of what all lanes have, with what each has `over` its limbs; and the carry out.
    #[inline(always)]
    fn resolve(&self, sum: Limbs, below: [Limb; 2]) -> (Limbs, u64) {
        let group = self.group;
        let below = Row::of(|i| if i < 2 { below[i as usize] } else { 0 });
        let (limbs, carry) = Window::<X>::add_digits(sum, below);
        let carries = lookahead::carries(
            group.ballot(carry != 0),
            group.ballot(Window::<X>::are_all_ones(limbs)),
            0,
        );
        let carry = (carries >> group.lane()) as Limb & 1;
        let (limbs, _) = Window::<X>::add(limbs, carry);
        (limbs, carries >> group.lanes() & 1)
    }

    /// The limbs that the lane below has above its own.
    #[inline(always)]
    fn from_below(&self, over: [Limb; 2]) -> [Limb; 2] {
        over.map(|limb| {
            let below = self.group.rotate_up(limb, 1);
            if self.group.lane() == 0 { 0 } else { below }
        })
    }

    /// Moves what is left up by a digit, of which the lowest lane's is `new`; none where it is not `on`.
    /// Gives what is above the lanes' limbs then, in the top lane.
    #[inline(always)]
    fn move_up(&mut self, new: [Limb; 2], on: bool) -> [Limb; 2] {
        let rest = self.rest;
        let highest = [rest[X - 2], rest[X - 1]];
        // The top lane sends the lowest one what comes new into the window.
        let lowest: [Limb; 2] = [0, 1].map(|i| {
            let sent = if self.is_top { !new[i] } else { highest[i] };
            self.group.rotate_up(sent, 1)
        });
        self.rest = Row::of(|i| {
            if i < 2 {
                lowest[i as usize]
            } else {
                rest[i as usize - 2]
            }
        });
        if on {
            return highest.map(|limb| !limb);
        }
        self.rest = rest;
        let high = limbs(self.above);
        self.above = 0;
        high
    }

    /// The next digit, which the lane has at `place`, with what is left moved up, in the top lane by
    /// `high`; none, and nothing changed, where it is not `on`.
    #[inline(always)]
    fn step(&mut self, top: LongTop, place: u32, high: [Limb; 2], on: bool) {
        let group = self.group;
        let highest = !self.rest[X - 1];
        let half = [
            left(high[0], highest, 31),
            left(high[1], high[0], 31),
            left(self.above as Limb, high[1], 31),
        ];
        let mask = Limb::from(on).wrapping_neg();
        let mut q = top
            .quotient(half)
            .map(|limb| group.shuffle(limb, group.lanes() - 1) & mask);
        let place = if on { place } else { X as Limb };
        let row = put(self.twice, place, q, 0);
        let (sum, over) = self.rest.multiply_add(q, row);
        let below = self.from_below(over);
        let low = [sum[0], sum[1], sum[2], sum[3]];
        let (low, carry) = carry::add(low, [below[0], below[1], 0, 0], 0);
        self.rest = sum;
        self.rest[..4].copy_from_slice(&low);
        let mut above = digit(high).wrapping_sub(digit(over)).wrapping_sub(digit(q));
        let is_done = carry == 0 && (!self.is_top || above <= 1);
        if !group.all(is_done) {
            let (mut rest, carry) = self.resolve(sum, below);
            above = above.wrapping_sub(carry);
            loop {
                let is_less = group.ballot(self.is_top && above > 1) != 0;
                if group.all(!is_less) {
                    break;
                }
                let less = Limb::from(is_less);
                let right = digit(q).wrapping_sub(u64::from(less));
                let back = put(row, place, limbs(right << 1 | 1), (right >> 63) as Limb);
                let back = Row::of(|i| back[i as usize] & less.wrapping_neg());
                let (limbs_left, borrow) = Window::<X>::subtract(rest, back, 0);
                let borrows = lookahead::carries(
                    group.ballot(borrow != 0),
                    group.ballot(Window::<X>::are_zero(limbs_left)),
                    0,
                );
                let borrow = (borrows >> group.lane()) as Limb & 1;
                (rest, _) = Window::<X>::subtract(limbs_left, [0; X], borrow);
                above = above.wrapping_add(u64::from(less) + (borrows >> group.lanes() & 1));
                q = limbs(right);
            }
            self.rest = rest;
        }
        self.above = above;
        self.twice = put(row, place, limbs(digit(q) << 1), q[1] >> 31);
    }

    /// Gives the root and the remainder, without the bits by which the number was shifted.
    #[inline(always)]
    fn give<S: Stride>(self, radicand: &Radicand<S>, root: Number<S>, remainder: Number<S>) {
        let Radicand {
            n, bits, keep, k, ..
        } = *radicand;
        let Root { group, twice, .. } = self;
        // The limbs of both stand in the upper registers.
        let empty = X as u32 * group.lanes() - 2 * k;
        let h = (16 * (4 * k - n) + bits / 2) as u64;
        let lowest = place(group, k);
        let mut pair = [0; 2];
        twice.each(|i, limb| pair[i as usize % 2] |= if i / 2 == lowest { limb } else { 0 });
        let holder = empty / X as u32;
        let pair = digit(pair.map(|limb| group.shuffle(limb, holder)));
        let t = pair >> 1 & ((1 << h) - 1);
        let u: Limbs = Row::of(|i| !self.rest[i as usize]);
        let (sum, over) = u.multiply_add(limbs(t), put(twice, lowest, limbs(pair - t), 0));
        let below = self.from_below(over);
        let (u, carry) = self.resolve(sum, below);
        let over = self.above.wrapping_add(digit(over)).wrapping_add(t);
        let over = limbs(over.wrapping_add(carry));
        let over = over.map(|limb| group.shuffle(limb, group.lanes() - 1));
        give(group, remainder, u, over, (empty + 4 * k - n, bits), keep);
        let h = h as u32 + 1;
        let shift = (empty + h / LIMB_BITS as u32, h % LIMB_BITS as u32);
        give(group, root, twice, [1, 0], shift, keep);
    }
}

/// The root of the highest four limbs, two, and what it leaves.
#[inline(always)]
fn first(x: [Limb; 4]) -> (u64, u128) {
    let high = word(x[3], x[2]);
    let upper = root_of_word(high);
    let left = high - upper * upper;
    // The highest bit of `upper` is set.
    let lower = ((left << 31) + u64::from(x[1] >> 1)) / (upper | 1 << 31);
    let mut lower = lower.min(u64::from(Limb::MAX));
    let left = u128::from(left) << 64 | u128::from(word(x[1], x[0]));
    loop {
        // At most B^2 - 1 of `2 upper B + lower`.
        let taken = u128::from(lower) * (u128::from(upper) << 33 | u128::from(lower));
        if taken <= left {
            return (upper << LIMB_BITS | lower, left - taken);
        }
        lower -= 1;
    }
}

/// Limbs without the zeros on top, of a number that a group of lanes has.
#[inline(always)]
fn significant<const LANES: u32>(group: Group<LANES>, a: Number<impl Stride>) -> u32 {
    let (mut limbs, mut at) = (0, 0);
    while at < a.width() {
        let holders = group.ballot(a.limb(at + group.lane()) != 0) as u32;
        limbs = match holders {
            0 => limbs,
            _ => at + LIMB_BITS as u32 - holders.leading_zeros(),
        };
        at += group.lanes();
    }
    limbs
}

/// A number and by how much it is shifted.
struct Radicand<S> {
    a: Number<S>,
    /// The number's limbs without the zeros on top; of 0, one.
    n: u32,
    /// The highest of them; of 0, 1.
    top: Limb,
    bits: u32,
    /// All ones, or zero of 0.
    keep: Limb,
    /// Digits of the root.
    k: u32,
}

impl<S: Stride> Radicand<S> {
    #[inline(always)]
    fn new<const LANES: u32>(group: Group<LANES>, a: Number<S>) -> Self {
        let mut n = a.width();
        let mut is_zero = false;
        if !group.all(a.limb(n - 1) != 0) {
            n = significant(group, a);
            is_zero = n == 0;
            n = if is_zero { 1 } else { n };
        }
        let keep = Limb::from(is_zero).wrapping_sub(1);
        let top = a.limb(n - 1) | (!keep & 1);
        Radicand {
            a,
            n,
            top,
            bits: top.leading_zeros() & !1,
            keep,
            k: n.div_ceil(4),
        }
    }

    /// Limb `i` of the shifted number.
    #[inline(always)]
    fn limb(&self, i: u32) -> Limb {
        let high = if i == self.n - 1 {
            self.top
        } else {
            self.a.limb(i)
        };
        left(high, self.a.limb(i.wrapping_sub(1)), self.bits)
    }

    /// The root of the highest two digits, what it leaves, and the digits that follow the lanes' limbs.
    #[inline(always)]
    fn begin<const LANES: u32>(&self, group: Group<LANES>) -> (Root<LANES>, Digits<S>) {
        let Radicand { a, n, bits, .. } = *self;
        let (digit_of_root, left_over) = first([4, 3, 2, 1].map(|i| self.limb(n.wrapping_sub(i))));
        let is_top = group.lane() == group.lanes() - 1;
        let own = X as u32 * group.lane();
        // The number's limbs from here on are known.
        let at = n.wrapping_sub(2).wrapping_sub(X as u32 * group.lanes());
        let window: Limbs = a.registers(at.wrapping_add(own));
        let digits = Digits::below(a, at, bits);
        let window = raised(group, window, digits.above(), bits);
        let [low, high] = limbs(left_over as u64);
        let rest = Row::of(|i| {
            let limb = match i as usize {
                i if is_top && i == X - 2 => low,
                i if is_top && i == X - 1 => high,
                i => window[i],
            };
            !limb
        });
        let root = Root {
            group,
            is_top,
            twice: put([0; X], place(group, 1), limbs(digit_of_root << 1), 0),
            rest,
            above: (left_over >> 64) as u64,
        };
        (root, digits)
    }
}

/// The lane's digit that digit `of` of the root, counted from the top and 1, stands in.
#[inline(always)]
fn place<const LANES: u32>(group: Group<LANES>, of: u32) -> u32 {
    let digits = X as u32 / 2;
    (digits * group.lanes() - of).wrapping_sub(digits * group.lane())
}

#[inline(always)]
fn number<const LANES: u32, S: Stride>(work: Work<LANES, S>) {
    let Work {
        group,
        r: root,
        s: remainder,
        a,
        ..
    } = work;
    let radicand = Radicand::new(group, a);
    let k = radicand.k;
    // That of the longest root of the warp.
    let mut longest = a.width().div_ceil(4);
    while longest > 1 && group.all(k < longest) {
        longest -= 1;
    }
    let together = group.all(k == longest);
    let (mut now, mut digits) = radicand.begin(group);
    let mut top = LongTop::new([0; 4]);
    let mut j = 1;
    while j < longest {
        // Of one digit, and of two.
        if j < 3 {
            let t = &now.twice;
            top = LongTop::new([
                left(t[X - 3], t[X - 4], 31),
                left(t[X - 2], t[X - 3], 31),
                left(t[X - 1], t[X - 2], 31),
                left(1, t[X - 1], 31),
            ]);
        }
        j += 1;
        let high = now.move_up(digits.next(), together || j <= k);
        now.step(top, place(group, j), high, together || j <= k);
    }
    now.give(&radicand, root, remainder);
}

/// Gives the lanes' limbs, with two more above all, without the lowest `limbs` and `bits` more.
#[inline(always)]
fn give<const LANES: u32>(
    group: Group<LANES>,
    to: Number<impl Stride>,
    from: Limbs,
    over: [Limb; 2],
    (limbs, bits): (u32, u32),
    keep: Limb,
) {
    let (lane, lanes) = (group.lane(), group.lanes());
    let lowered = lowered(group, from, over[0], bits);
    let given: Limbs = Row::of(|i| lowered[i as usize] & keep);
    // Below limb 0 there are zeros, and no place for them.
    to.set_registers((X as u32 * lane).wrapping_sub(limbs), given);
    // What follows the window; of a one-limb root it begins below limb 0, where nothing is set.
    let mut end = (X as u32 * lanes + lane) as i32 - limbs as i32;
    let mut limb = match lane {
        0 => right(over[1], over[0], bits),
        1 => over[1] >> bits,
        _ => 0,
    };
    while end < to.width() as i32 {
        to.set(end as u32, limb & keep);
        end += lanes as i32;
        limb = 0;
    }
}
