//! Division by rows (School; Knuth's algorithm D), what [`div_rem`](super::div_rem),
//! whose kernels are those of `div` and `rem` too, and [`lcm`](super::lcm) share.
//!
//! With `B` = 2^32 and the divisor shifted to the left until its top bit is set, `v`, the
//! dividend alike, the quotient comes limb by limb from the top. What is left of the
//! dividend is `u < v`; the next limb `x` is put below it, and
//!
//! ```text
//! q = floor((u B + x) / v),     u' = u B + x - q v.
//! ```
//!
//! `q` is the quotient of the top three limbs of `u B + x` by the top two of `v`, by their
//! reciprocal (Moller and Granlund, *Improved division by invariant integers*, 2011,
//! algorithms 4 and 6), or one less. In place of `- q v` stands `+ q w`, `w = B^N - v`: the
//! limb above `N` then is `q` where `q` was right, and `q - 1` where it was too large.
//!
//! For 123 by 7 in tens: shifted by 10, `v` = 70 and `w` = 30 with `N` = 2; `u` = 12,
//! `x` = 3: `q` = 1, 23 + 1 * 30 = 053 and 1 + 0 = `q`, so `u` = 53; `x` = 0: `q` = 7,
//! 30 + 7 * 30 = 240 and 5 + 2 = `q`, so `u` = 40: 17, and 4 is left.
//!
//! Divisors up to `DIVISOR_IN_REGISTERS` limbs stand in registers, with what is left of the
//! dividend, in arrays of 2, 4, 8, ... limbs ([`divisor_class`]): shorter ones are shifted by
//! whole limbs as well. Longer divisors stand in scratch.
//!
//! Cost: `(n - m + 1) N` multiply-adds, as many additions, and some 25 instructions for
//! each limb of the quotient. Scratch: none, or `n + m + 1` limbs. Results are no operands.

use super::{CHUNK, pick, place::word, scan};
use crate::gpu::facts;
use crate::gpu::memory::{Any, Number, Stride};
use crate::gpu::row::Row;
use bigint_core::facts::{DIVISOR, divisor_class};
use bigint_core::{LIMB_BITS, Limb};

/// `q` and `r` are quotient and remainder of `a` by `b`, cut or extended to their widths;
/// answers 1, and zeros in both, where `b` is zero.
#[inline(always)]
pub fn number(
    q: Number<impl Stride>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
    scratch: Number<Any>,
) -> Limb {
    let m = significant(b);
    if m == 0 {
        clear(q, 0);
        clear(r, 0);
        return 1;
    }
    match facts::told_or(DIVISOR, divisor_class(b.width())) {
        1 => in_registers::<2>(q, r, a, b, m),
        2 => in_registers::<4>(q, r, a, b, m),
        3 => in_registers::<8>(q, r, a, b, m),
        4 => in_registers::<16>(q, r, a, b, m),
        5 => in_registers::<32>(q, r, a, b, m),
        _ => in_scratch(q, r, a, b, m, scratch),
    }
    0
}

/// Limbs without the zeros on top.
#[inline(always)]
pub fn significant(x: Number<impl Stride>) -> u32 {
    let mut limbs = x.width();
    while limbs > 0 && x.limb(limbs - 1) == 0 {
        limbs -= 1;
    }
    limbs
}

/// Clears limbs from `at` on.
#[inline(always)]
pub fn clear(x: Number<impl Stride>, at: u32) {
    let mut at = at;
    while at < x.width() {
        x.set(at, 0);
        at += 1;
    }
}

/// The higher limb of both shifted to the left, `bits` below 32.
#[inline(always)]
pub fn left(high: Limb, low: Limb, bits: u32) -> Limb {
    (word(high, low) << bits >> LIMB_BITS) as Limb
}

/// The lower limb of both shifted to the right, `bits` below 32.
#[inline(always)]
pub fn right(high: Limb, low: Limb, bits: u32) -> Limb {
    (word(high, low) >> bits) as Limb
}

/// The top of a divisor whose highest bit is set.
#[derive(Clone, Copy)]
pub struct Top {
    /// Its two highest limbs.
    limbs: u64,
    /// `floor((B^3 - 1) / limbs) - B`.
    reciprocal: Limb,
}

impl Top {
    /// Of these limbs.
    #[inline(always)]
    pub fn new(high: Limb, low: Limb) -> Top {
        // A check for zero would be a trap.
        let mut v = u64::MAX.checked_div(u64::from(high)).unwrap_or(0) as Limb;
        let mut p = high.wrapping_mul(v).wrapping_add(low);
        if p < low {
            v = v.wrapping_sub(1);
            if p >= high {
                v = v.wrapping_sub(1);
                p = p.wrapping_sub(high);
            }
            p = p.wrapping_sub(high);
        }
        let t = u64::from(v) * u64::from(low);
        let (p, over) = p.overflowing_add((t >> LIMB_BITS) as Limb);
        let limbs = word(high, low);
        if over {
            v = v.wrapping_sub(1);
            if word(p, t as Limb) >= limbs {
                v = v.wrapping_sub(1);
            }
        }
        Top {
            limbs,
            reciprocal: v,
        }
    }

    /// The quotient of three limbs by the divisor's two, or `B - 1` where it is `B`.
    #[inline(always)]
    pub fn quotient(self, [low, middle, high]: [Limb; 3]) -> Limb {
        let upper = word(high, middle);
        let estimate = (u64::from(self.reciprocal) * u64::from(high)).wrapping_add(upper);
        let mut q = (estimate >> LIMB_BITS) as Limb;
        let top = (self.limbs >> LIMB_BITS) as Limb;
        let rest = word(middle.wrapping_sub(q.wrapping_mul(top)), low)
            .wrapping_sub(u64::from(self.limbs as Limb) * u64::from(q));
        let mut less = rest.wrapping_sub(self.limbs);
        q = q.wrapping_add(1);
        if (less >> LIMB_BITS) as Limb >= estimate as Limb {
            q = q.wrapping_sub(1);
            less = rest;
        }
        if less >= self.limbs {
            q = q.wrapping_add(1);
        }
        if upper >= self.limbs { Limb::MAX } else { q }
    }
}

/// The limbs of a number, from some place downwards, and zeros below it.
struct Downwards<S> {
    number: Number<S>,
    at: u32,
    four: [Limb; CHUNK as usize],
}

impl<S: Stride> Downwards<S> {
    /// The limbs below `at`, which may have wrapped around below zero.
    #[inline(always)]
    fn new(number: Number<S>, at: u32) -> Self {
        let mut limbs = Downwards {
            number,
            at,
            four: [0; CHUNK as usize],
        };
        if at % CHUNK != 0 {
            limbs.fetch(at - at % CHUNK);
        }
        limbs
    }

    #[inline(always)]
    fn fetch(&mut self, at: u32) {
        self.four = if at < self.number.width() {
            self.number.limbs(at)
        } else {
            [0; CHUNK as usize]
        };
    }

    #[inline(always)]
    fn next(&mut self) -> Limb {
        if self.at % CHUNK == 0 {
            self.fetch(self.at.wrapping_sub(CHUNK));
        }
        self.at = self.at.wrapping_sub(1);
        pick(self.four, self.at % CHUNK)
    }
}

/// `N` limbs of `x` from limb `at - by` on; what is not there is zero.
#[inline(always)]
fn load<const N: usize>(x: Number<impl Stride>, at: u32, by: u32) -> [Limb; N] {
    let mut limbs = [0; N];
    let (fours, rest) = limbs.as_chunks_mut::<4>();
    if at >= by && rest.is_empty() {
        for (i, four) in fours.iter_mut().enumerate() {
            *four = x.limbs(at - by + 4 * i as u32);
        }
    } else {
        for (i, limb) in limbs.iter_mut().enumerate() {
            *limb = x.limb((at + i as u32).wrapping_sub(by));
        }
    }
    limbs
}

/// `x` shifted to the left by fewer than 32 bits, those of `below` coming in.
#[inline(always)]
fn shifted<const N: usize>(x: [Limb; N], below: Limb, bits: u32) -> [Limb; N] {
    core::array::from_fn(|i| left(x[i], if i == 0 { below } else { x[i - 1] }, bits))
}

/// Division by `b` of `m` limbs that are significant, `m <= N`.
#[inline(always)]
fn in_registers<const N: usize>(
    q: Number<impl Stride>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
    m: u32,
) where
    [Limb; N]: Row,
{
    let bits = b.limb(m - 1).leading_zeros();
    let limbs = N as u32 - m;
    let mut w: [Limb; N] = shifted(load(b, 0, limbs), 0, bits);
    let top = Top::new(w[N - 1], w[N - 2]);
    let mut carry = true;
    for limb in &mut w {
        (*limb, carry) = (!*limb).overflowing_add(Limb::from(carry));
    }
    // Limbs of the quotient; those of the dividend from there on are less than `v`.
    let mut j = (a.width() + 1).saturating_sub(m);
    clear(q, j);
    let mut next = Downwards::new(a, j.wrapping_sub(limbs));
    let mut above = next.next();
    let mut u: [Limb; N] = shifted(load(a, j, limbs), above, bits);
    let mut quotients = [0; CHUNK as usize];
    while j > 0 {
        j -= 1;
        let below = next.next();
        let x = left(above, below, bits);
        above = below;
        let third = if N > 2 { u[N - 3] } else { x };
        let mut quotient = top.quotient([third, u[N - 2], u[N - 1]]);
        let window: [Limb; N] = core::array::from_fn(|i| if i == 0 { x } else { u[i - 1] });
        let (rest, over) = window.multiply_add(quotient, w, 0);
        if u[N - 1].wrapping_add(over) == quotient {
            u = rest;
        } else {
            quotient -= 1;
            (u, _) = window.multiply_add(quotient, w, 0);
        }
        let [q0, q1, q2, _] = quotients;
        quotients = [quotient, q0, q1, q2];
        if j % CHUNK == 0 {
            q.set_limbs(j, quotients);
        }
    }
    let remainder: [Limb; N] =
        core::array::from_fn(|i| right(if i + 1 < N { u[i + 1] } else { 0 }, u[i], bits));
    let (fours, rest) = remainder.as_chunks::<4>();
    if limbs == 0 && rest.is_empty() {
        for (i, four) in fours.iter().enumerate() {
            r.set_limbs(4 * i as u32, *four);
        }
    } else {
        for (i, limb) in remainder.iter().enumerate() {
            // Below limb 0 there are zeros, and no place for them.
            r.set((i as u32).wrapping_sub(limbs), *limb);
        }
    }
    clear(r, m);
}

/// Division by `b` of `m` limbs that are significant, all in scratch.
#[inline(always)]
fn in_scratch(
    q: Number<impl Stride>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
    m: u32,
    scratch: Number<Any>,
) {
    let n = a.width();
    if n < m {
        clear(q, 0);
        return scan::copy(r, a);
    }
    let bits = b.limb(m - 1).leading_zeros();
    let u = scratch.part(0, n + 1);
    let w = scratch.part(n + 1, n + 1 + m);
    let (mut i, mut below) = (0, 0);
    while i <= n {
        let limb = a.limb(i);
        u.set(i, left(limb, below, bits));
        (below, i) = (limb, i + 1);
    }
    let at = |i: u32| left(b.limb(i), b.limb(i.wrapping_sub(1)), bits);
    let top = Top::new(at(m - 1), if m > 1 { at(m - 2) } else { 0 });
    let (mut i, mut carry) = (0, true);
    while i < m {
        let limb;
        (limb, carry) = (!at(i)).overflowing_add(Limb::from(carry));
        w.set(i, limb);
        i += 1;
    }
    let mut j = n - m + 1;
    clear(q, j);
    while j > 0 {
        j -= 1;
        let high = u.limb(j + m);
        let third = u.limb((j + m).wrapping_sub(2));
        let mut quotient = top.quotient([third, u.limb(j + m - 1), high]);
        let (mut i, mut carry) = (0, 0);
        while i < m {
            // At most (B - 1)^2 + 2 (B - 1) = B^2 - 1.
            let sum = u64::from(quotient) * u64::from(w.limb(i))
                + u64::from(u.limb(j + i))
                + u64::from(carry);
            u.set(j + i, sum as Limb);
            (carry, i) = ((sum >> LIMB_BITS) as Limb, i + 1);
        }
        if high.wrapping_add(carry) != quotient {
            quotient -= 1;
            let (mut i, mut borrow) = (0, false);
            while i < m {
                let limb;
                (limb, borrow) = u.limb(j + i).borrowing_sub(w.limb(i), borrow);
                u.set(j + i, limb);
                i += 1;
            }
        }
        q.set(j, quotient);
    }
    let mut i = 0;
    while i < m {
        let high = if i + 1 < m { u.limb(i + 1) } else { 0 };
        r.set(i, right(high, u.limb(i), bits));
        i += 1;
    }
    clear(r, m);
}
