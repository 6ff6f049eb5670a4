//! Division by rows (School; Knuth's algorithm D), for [`div_rem`](super::div_rem), whose kernels
//! are those of `div` and `rem` too.
//!
//! With `B` = 2^32 and the divisor shifted to the left until its top bit is set, `v`, the
//! dividend alike, the quotient comes limb by limb from the top. What is left of the
//! dividend is `u < v`; the next limb `x` is put below it, and
//!
//! ```text
//! q = floor((u B + x) / v),     u' = u B + x - q v.
//! ```
//!
//! `q` comes from the top two limbs of `u B + x` and the reciprocal of the top two of `v`, two limbs
//! as well ([`Top`]; [Möller and Granlund 2011]), right
//! or one too large. In registers two limbs come at a time, as if `B` were 2^64 ([`LongTop`]). In
//! place of `- q v` stands `+ q w`, `w = B^N - v`: the limb above `N` then is `q` where `q` was
//! right, and `q - 1` where it was too large.
//!
//! For 123 by 7 in tens: shifted by 10, `v` = 70 and `w` = 30 with `N` = 2; `u` = 12,
//! `x` = 3: `q` = 1, 23 + 1 * 30 = 053 and 1 + 0 = `q`, so `u` = 53; `x` = 0: `q` = 7,
//! 30 + 7 * 30 = 240 and 5 + 2 = `q`, so `u` = 40: 17, and 4 is left.
//!
//! Divisors up to `DIVISOR_IN_REGISTERS` limbs stand in registers, with what is left of the
//! dividend, in arrays of 4, 8, 16 or 32 limbs ([`divisor_class`]): shorter ones are shifted by
//! whole limbs as well. Longer divisors stand in scratch.
//!
//! Cost: `(n - m + 1) N` multiply-adds, half as many additions, and some 25 instructions for
//! each two limbs of the quotient. Scratch: none, or `n + m + 1` limbs. Results are no operands.

use super::own::{self, Own};
use super::pieces::Pieces;
use super::place::word;
use super::places::each_of_eight;
use super::reciprocal::{LongTop, Top};
use super::tile::Tile;
use crate::gpu::known::Known;
use crate::gpu::memory::{Any, Number, Stride};
use crate::gpu::row::{Row, halves, pair};
use crate::gpu::window::{Slide, Window};
use bigint_core::kernel::PIECE;
use bigint_core::specialization::{Division, divisor_class};
use bigint_core::{LIMB_BITS, Limb};

/// Where the limbs of a warp's dividends come from, and those of the quotients go, one by one from the
/// top down: by way of pieces, or each thread by itself where divisors differ in length.
struct Flow<S> {
    pieces: Pieces<S>,
    a: Number<S>,
    together: bool,
}

impl<S: Stride> Flow<S> {
    /// Whether `is_so` holds in all threads that take and give limbs together.
    #[inline(always)]
    fn all(&self, is_so: bool) -> bool {
        self.pieces.all(is_so)
    }

    /// Begins to take limbs, limb `at` first, which all threads `together` do or not; and to give
    /// so many limbs of the quotient, zeros above.
    #[inline(always)]
    fn begin(&mut self, at: u32, together: bool, quotient: u32) {
        self.together = together;
        if together {
            self.pieces.begin(at);
        }
        self.pieces.begin_to_give(quotient);
    }

    /// Takes limb `at`, the one below the last; zero above the dividend and below.
    #[inline(always)]
    fn next(&mut self, at: u32) -> Limb {
        match self.together {
            true => self.pieces.next(at),
            false => self.a.limb(at),
        }
    }

    /// Takes limbs `at - 1` and `at`, those below the last.
    #[inline(always)]
    fn next_two(&mut self, at: u32) -> [Limb; 2] {
        match self.together {
            true => self.pieces.next_two(at),
            false => [self.a.limb(at.wrapping_sub(1)), self.a.limb(at)],
        }
    }

    /// Gives limbs `at` and `at + 1`, those below the last; `at` is even.
    #[inline(always)]
    fn give(&mut self, at: u32, limbs: [Limb; 2]) {
        self.pieces.give(at, limbs);
    }

    /// Gives the remainder, if it can be given as whole eights of limbs; all threads together.
    #[inline(always)]
    fn give_remainder<const N: usize>(&mut self, limbs: [Limb; N]) -> bool {
        if !self.together || N % PIECE as usize != 0 {
            return false;
        }
        for piece in 0..N / PIECE as usize {
            // An index that the compiler does not know would put the limbs in memory.
            let limb = |i: u32| {
                let mut picked = 0;
                for (at, eight) in limbs.as_chunks::<{ PIECE as usize }>().0.iter().enumerate() {
                    picked = if at == piece {
                        eight[i as usize]
                    } else {
                        picked
                    };
                }
                picked
            };
            self.pieces
                .give_eight(PIECE * piece as u32, each_of_eight(limb));
        }
        true
    }
}

/// The quotients and remainders of a tile, cut or extended to their widths; flags 1, and zeros
/// in both, where a divisor is zero.
#[inline(always)]
pub fn numbers<S: Stride>(tile: Tile<S>) {
    let work = tile.work();
    let (q, r, a, b) = (work.r, work.s, work.a, work.b);
    let flow = Flow {
        pieces: tile.pieces(),
        a,
        together: false,
    };
    let flag = match Division::CLASS.or(divisor_class(b.width())) {
        2 => in_registers::<4>(r, a, b, flow),
        3 => in_registers::<8>(r, a, b, flow),
        4 => in_registers::<16>(r, a, b, flow),
        5 => in_registers::<32>(r, a, b, flow),
        _ => in_scratch(q, r, a, b, work.scratch),
    };
    work.carry.set(flag);
}

/// Limbs without the zeros on top.
#[inline(always)]
pub fn significant(x: impl Own) -> u32 {
    let mut limbs = x.width();
    while limbs > 0 && x.limb(limbs - 1) == 0 {
        limbs -= 1;
    }
    limbs
}

/// Clears limbs from `at` on.
#[inline(always)]
pub fn clear(x: impl Own, at: u32) {
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

/// `x` shifted to the left by fewer than 32 bits, those of `below` coming in.
#[inline(always)]
pub fn shifted<const N: usize>(x: [Limb; N], below: Limb, bits: u32) -> [Limb; N]
where
    [Limb; N]: Row,
{
    Row::of(|i| {
        let low = if i == 0 { below } else { x[i as usize - 1] };
        left(x[i as usize], low, bits)
    })
}

/// Division by `b` in arrays of `N` limbs, which hold it; answers whether it is zero.
#[inline(always)]
fn in_registers<const N: usize>(
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
    mut flow: Flow<impl Stride>,
) -> Limb
where
    [Limb; N]: Row,
    Window<N>: Slide<Digit = [Limb; N]>,
{
    // Limbs of the divisor that are significant, and by how many it is shifted.
    let mut m = b.width();
    let mut limbs = N as u32 - m;
    // Limbs of the longest quotient of all threads.
    let quotients = |m: u32| (a.width() + 1).saturating_sub(m).max(1);
    let mut j = quotients(m);
    let mut v: [Limb; N] = b.registers(0_u32.wrapping_sub(limbs));
    let mut is_zero = false;
    let together = flow.all(v[N - 1] != 0);
    if !together {
        m = significant(b);
        is_zero = m == 0;
        m = if is_zero { b.width() } else { m };
        limbs = N as u32 - m;
        while !flow.all(quotients(m) <= j) {
            j += 1;
        }
        v = <[Limb; N]>::of(|i| b.limb(i.wrapping_sub(limbs)));
        v[N - 1] |= if is_zero { 1 << (LIMB_BITS - 1) } else { 0 };
    }
    let bits = v[N - 1].leading_zeros();
    let keep = Limb::from(is_zero).wrapping_sub(1);

    // Two limbs at a time. The dividend's limbs from here on are known.
    j = j.next_multiple_of(2);
    let mut at = (j - 2).wrapping_sub(limbs);
    let window: [Limb; N] = a.registers(at);
    let [lower, upper] = [0, 1].map(|i| a.limb(at.wrapping_add(N as u32 + i)));
    at = at.wrapping_sub(1);
    flow.begin(at, together, j);
    let mut above = flow.next(at);
    let mut high = left(lower, window[N - 1], bits);
    let highest = left(upper, lower, bits);
    let mut window = shifted(window, above, bits).pairs();

    let v = shifted(v, 0, bits);
    let top = LongTop::new([v[N - 4], v[N - 3], v[N - 2], v[N - 1]]);
    let mut carry = true;
    let w: [Limb; N] = Row::of(|i| {
        let limb;
        (limb, carry) = (!v[i as usize]).overflowing_add(Limb::from(carry));
        limb
    });
    let mut digit = top.quotient([<[Limb; N]>::highest(window)[2], high, highest]);
    macro_rules! step {
        ($out:lifetime) => {
            j -= 2;
            let (mut u, [over, _]) = <[Limb; N]>::add_rows(window, digit, w);
            // What is above is the digit, or one less where that was too large.
            if high.wrapping_add(over) != digit[0] {
                digit = halves(pair(digit) - 1);
                u = Window::<N>::subtract(<[Limb; N]>::of_pairs(u), w, 0).0.pairs();
            }
            flow.give(j, digit.map(|limb| limb & keep));
            if j == 0 {
                break $out u;
            }
            let highest = <[Limb; N]>::highest(u);
            digit = top.quotient(highest);
            let [below, middle] = flow.next_two(at.wrapping_sub(1));
            at = at.wrapping_sub(2);
            high = highest[1];
            let come = [left(middle, below, bits), left(above, middle, bits)];
            window = <[Limb; N]>::slide(u, pair(come));
            above = below;
        };
    }
    // Two steps in a turn: at its end limbs change their registers.
    let u = 'all: loop {
        step!('all);
        step!('all);
    };

    let u = <[Limb; N]>::of_pairs(u);
    let remainder: [Limb; N] = Row::of(|i| {
        let high = if i as usize + 1 < N {
            u[i as usize + 1]
        } else {
            0
        };
        right(high, u[i as usize], bits) & keep
    });
    if limbs != 0 || !flow.give_remainder(remainder) {
        // Below limb 0 there are zeros, and no place for them.
        r.set_registers(0_u32.wrapping_sub(limbs), remainder);
    }
    clear(r, m);
    Limb::from(is_zero)
}

/// Division by `b`, all in scratch; answers whether it is zero.
#[inline(always)]
fn in_scratch(
    q: Number<impl Stride>,
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    b: Number<impl Stride>,
    scratch: Number<Any>,
) -> Limb {
    let (n, m) = (a.width(), significant(b));
    if m == 0 {
        clear(q, 0);
        clear(r, 0);
        return 1;
    }
    if n < m {
        clear(q, 0);
        own::copy(r, a);
        return 0;
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
        let mut quotient = top.quotient([u.limb(j + m - 1), high]);
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
    0
}
