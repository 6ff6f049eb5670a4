//! Square roots by rows (School), computed by lanes that share the numbers. A root is found two limbs at
//! a time, as a quotient is ([`div_rem`](super::div_rem)), by a divisor that grows.
//!
//! With `B` = 2^64, the number is shifted to the left by an even number of bits until it has an even
//! number `2 k` of digits, and one of its two top bits is set. So the root has `k` digits, and its top
//! bit is set. Let `s` be the root of the upper `2 j` digits, and `u`, at most `2 s`, what it leaves of
//! them. The next digit `q` of the root, and what is left then, follow from the next two digits `x` of
//! the number:
//!
//! ```text
//! q = floor(u B / (2 s)) or less,     u' = (u B^2 + x) - q (2 s B + q),     s' = s B + q.
//! ```
//!
//! `2 s B + q` and what is left stand in the lanes' registers, `X` limbs in each, from the top down. The
//! leading 1 of `2 s` is not stored. Digits of the root are put in as they are found. What is left is
//! kept as its complement `v = -1 - u`, to which `q (2 s B + q)` is added. Before each step `v` moves up
//! by a digit, and a digit of the number comes in at the bottom; the other digit of `x` is there already.
//! `q` is estimated from the top limbs and a [reciprocal](LongTop) of those of `s`, and lessened by 1
//! while `u'` is negative. Each time `2 s B + 2 q - 1` is added back, with the `q` before. That happens
//! often for the second digit, as only the first digit of `s` is known then, and for later ones in 17 of
//! 2^32 cases.
//!
//! If the number was shifted by `2 h` bits, `h` below 64, the root is `s` without its `h` lowest bits
//! `t`. `(s - t)^2` leaves `u + t (2 s - t)` of the shifted number, which is the shifted remainder.
//!
//! By hand, 1234 with `B` = 10: the root of 12 is `s` = 3, and `u` = 3 is left, or 33 with the next
//! digit. 33 / 6 gives `q` = 5. As 334 - 5 * 65 = 9 is not negative, the root is 35.
//!
//! The roots of a warp are found together; numbers with shorter roots wait at the end.
//!
//! Cost: `k - 1` steps, each of `4 X LANES` multiply-adds and, in every lane, some 150 instructions, six
//! shuffles and a vote. No scratch. Results overlap no operand.

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

/// The limbs of a lane.
const X: usize = ROOT_DIGIT;

/// A lane's limbs of a number.
type Limbs = [Limb; X];

/// Computes the roots that fall to the calling lane's group.
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

/// `limbs` with digit `place` replaced by `digit`, and `carry` put into the lowest bit of the next digit,
/// as far as the lane has these.
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

/// The state of a root, as a lane sees it.
struct Root<const LANES: u32> {
    group: Group<LANES>,
    is_top: bool,
    /// The lane's limbs of `2 s`.
    twice: Limbs,
    /// The lane's limbs of `-1 - u`.
    rest: Limbs,
    /// In the top lane, the bit of `u` above all limbs.
    above: u64,
}

impl<const LANES: u32> Root<LANES> {
    /// Adds `below`, the limbs from the lane below, to each lane's `sum`, with all carries. Returns the
    /// lane's limbs, and the carry out of all lanes.
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

    /// Hands each lane's limbs `over` its own to the lane above, and returns those received.
    #[inline(always)]
    fn from_below(&self, over: [Limb; 2]) -> [Limb; 2] {
        over.map(|limb| {
            let below = self.group.rotate_up(limb, 1);
            if self.group.lane() == 0 { 0 } else { below }
        })
    }

    /// Moves what is left up by a digit, with digit `new` coming into the lowest lane; not if it is not
    /// `on`. Returns, in the top lane, the limbs that are then above the lanes' limbs.
    #[inline(always)]
    fn move_up(&mut self, new: [Limb; 2], on: bool) -> [Limb; 2] {
        let rest = self.rest;
        let highest = [rest[X - 2], rest[X - 1]];
        // The top lane sends to the lowest one the limbs that come in.
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

    /// Finds the next digit of the root, whose index in the lane is `place`. What is left has been moved
    /// up, and the top lane has `high` above it. If the root is not `on`, nothing changes.
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

    /// Stores the root and the remainder, without the bits by which the number was shifted.
    #[inline(always)]
    fn give<S: Stride>(self, radicand: &Radicand<S>, root: Number<S>, remainder: Number<S>) {
        let Radicand {
            n, bits, keep, k, ..
        } = *radicand;
        let Root { group, twice, .. } = self;
        // The limbs of root and remainder stand at the top of the lanes' registers, with `empty` limbs
        // below.
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

/// The root, of two limbs, of the highest four limbs, and what it leaves.
#[inline(always)]
fn first(x: [Limb; 4]) -> (u64, u128) {
    let high = word(x[3], x[2]);
    let upper = root_of_word(high);
    let left = high - upper * upper;
    // The highest bit of `upper` is set, which `|` tells the compiler.
    let lower = ((left << 31) + u64::from(x[1] >> 1)) / (upper | 1 << 31);
    let mut lower = lower.min(u64::from(Limb::MAX));
    let left = u128::from(left) << 64 | u128::from(word(x[1], x[0]));
    loop {
        // This is `lower` times `2 upper B + lower`, with `B` = 2^32.
        let taken = u128::from(lower) * (u128::from(upper) << 33 | u128::from(lower));
        if taken <= left {
            return (upper << LIMB_BITS | lower, left - taken);
        }
        lower -= 1;
    }
}

/// The number of limbs, without zeros on top, of a number that a group of lanes shares.
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

/// A number whose root is computed, and the bits by which it is shifted.
struct Radicand<S> {
    a: Number<S>,
    /// The number of limbs without zeros on top; one if the number is 0.
    n: u32,
    /// The highest of these limbs; 1 if the number is 0.
    top: Limb,
    bits: u32,
    /// All ones, or zero if the number is 0.
    keep: Limb,
    /// The digits of the root.
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

    /// The root of the highest two digits, as the lanes' state, and the number's digits that follow the
    /// lanes' limbs.
    #[inline(always)]
    fn begin<const LANES: u32>(&self, group: Group<LANES>) -> (Root<LANES>, Digits<S>) {
        let Radicand { a, n, bits, .. } = *self;
        let (digit_of_root, left_over) = first([4, 3, 2, 1].map(|i| self.limb(n.wrapping_sub(i))));
        let is_top = group.lane() == group.lanes() - 1;
        let own = X as u32 * group.lane();
        // The window holds the number's limbs from `at` on.
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

/// The index in the lane of digit `of` of the root, which counts from 1 at the top. It is out of range if
/// another lane has the digit.
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
    // The digits of the longest root of the warp.
    let mut longest = a.width().div_ceil(4);
    while longest > 1 && group.all(k < longest) {
        longest -= 1;
    }
    let together = group.all(k == longest);
    let (mut now, mut digits) = radicand.begin(group);
    let mut top = LongTop::new([0; 4]);
    let mut j = 1;
    while j < longest {
        // The reciprocal is that of one digit of the root, and then that of two.
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

/// Stores the lanes' limbs, with the two limbs `over` above them, shifted to the right by `limbs` limbs
/// and `bits` bits.
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
    // Places below limb 0 hold zeros, which the number does not store.
    to.set_registers((X as u32 * lane).wrapping_sub(limbs), given);
    // These are the limbs above the lanes' limbs. For a root of one limb they begin below limb 0, where
    // nothing is stored.
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
