//! Division by rows (School; algorithm D of [Knuth 1997]), for [`div_rem`](super::div_rem), whose
//! kernels also serve `div` and `rem`.
//!
//! Let `B` = 2^32. The divisor is shifted to the left until its top bit is set, which makes it `v`,
//! and the dividend is shifted by as many bits. The quotient is found limb by limb from the top.
//! Each step has what is left of the dividend, `u < v`, and appends its next limb `x`:
//!
//! ```text
//! q = floor((u B + x) / v),     u' = u B + x - q v.
//! ```
//!
//! `q` is estimated from the top two limbs of `u B + x` and a reciprocal, also of two limbs, of the
//! top two of `v` ([`Top`]; [Möller and Granlund 2011]). The estimate is right or one too large.
//! Divisors in registers take two limbs of the quotient at a time, as if `B` were 2^64
//! ([`LongTop`]). In place of `- q v`, `q w` is added, where `w = B^N - v`. The limb above the `N`
//! limbs is then `q` if the estimate was right, and `q - 1` if it was too large.
//!
//! By hand, 123 by 7 with `B` = 10 and `N` = 2: multiplied by 10, the divisor is `v` = 70, `w` is
//! 30, and the dividend is 1230. At first `u` = 12 and `x` = 3: `q` is 1, and 123 + 1 * 30 = 153.
//! The limb above is 1 = `q`, so `u` = 53. Then `x` = 0: `q` is 7, and 530 + 7 * 30 = 740. The limb
//! above is 7 = `q`, so `u` = 40. The quotient is 17, and 40 / 10 = 4 is left.
//!
//! A divisor of up to `DIVISOR_IN_REGISTERS` limbs stands in registers, as does what is left of the
//! dividend, in arrays of 4, 8, 16 or 32 limbs ([`divisor_class`]). If it is shorter than the
//! array, it is also shifted by whole limbs. A longer divisor stands in scratch.
//!
//! Cost: `(n - m + 1) N` multiply-adds, half as many additions, and some 25 instructions for each
//! two limbs of the quotient. Scratch: none, or `n + m + 1` limbs. Results overlap no operand.

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

/// The way in which the threads of a warp take limbs of dividends and give limbs of quotients, from
/// the top down. They pass through pieces; if divisors differ in length, each thread takes limbs by
/// itself.
struct Flow<S> {
    pieces: Pieces<S>,
    a: Number<S>,
    together: bool,
}

impl<S: Stride> Flow<S> {
    /// Whether `is_so` holds in all threads of the warp.
    #[inline(always)]
    fn all(&self, is_so: bool) -> bool {
        self.pieces.all(is_so)
    }

    /// Begins to take limbs, limb `at` first, and to give `quotient` limbs of the quotient, with
    /// zeros above. `together` says whether all threads take the same limbs.
    #[inline(always)]
    fn begin(&mut self, at: u32, together: bool, quotient: u32) {
        self.together = together;
        if together {
            self.pieces.begin(at);
        }
        self.pieces.begin_to_give(quotient);
    }

    /// Takes limb `at`, the one below the last taken. It is zero above and below the dividend.
    #[inline(always)]
    fn next(&mut self, at: u32) -> Limb {
        match self.together {
            true => self.pieces.next(at),
            false => self.a.limb(at),
        }
    }

    /// Takes limbs `at - 1` and `at`, the two below the last taken.
    #[inline(always)]
    fn next_two(&mut self, at: u32) -> [Limb; 2] {
        match self.together {
            true => self.pieces.next_two(at),
            false => [self.a.limb(at.wrapping_sub(1)), self.a.limb(at)],
        }
    }

    /// Gives limbs `at` and `at + 1` of the quotient, the two below the last given; `at` is even.
    #[inline(always)]
    fn give(&mut self, at: u32, limbs: [Limb; 2]) {
        self.pieces.give(at, limbs);
    }

    /// Gives the remainder if it can be given in whole groups of eight limbs, and returns whether
    /// it did. All threads do this together.
    #[inline(always)]
    fn give_remainder<const N: usize>(&mut self, limbs: [Limb; N]) -> bool {
        if !self.together || N % PIECE as usize != 0 {
            return false;
        }
        for piece in 0..N / PIECE as usize {
            // Indexing by a variable would put the limbs in memory.
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

/// Computes the quotients and remainders of a tile, cut or extended to their widths. If a divisor
/// is zero, the flag is 1 and both results are zero.
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

/// The number of limbs without zeros on top.
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

/// The higher limb after shifting both to the left by `bits`, which is below 32.
#[inline(always)]
pub fn left(high: Limb, low: Limb, bits: u32) -> Limb {
    (word(high, low) << bits >> LIMB_BITS) as Limb
}

/// The lower limb after shifting both to the right by `bits`, which is below 32.
#[inline(always)]
pub fn right(high: Limb, low: Limb, bits: u32) -> Limb {
    (word(high, low) >> bits) as Limb
}

/// `x` shifted to the left by fewer than 32 bits, with bits of `below` coming in.
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

/// Divides by `b` in arrays of `N` limbs, which hold it. Returns 1 if `b` is zero, else 0.
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
    // The significant limbs of the divisor, and the whole limbs by which it is shifted.
    let mut m = b.width();
    let mut limbs = N as u32 - m;
    // The limbs of the longest quotient of all threads.
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

    // The quotient is computed two limbs at a time. The window holds the dividend's limbs from `at`
    // on.
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
            // The limbs above are the digit, or one less if the digit is too large.
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
    // A turn has two steps, as limbs move between registers at its end.
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
        // Places below limb 0 hold zeros, which the number does not store.
        r.set_registers(0_u32.wrapping_sub(limbs), remainder);
    }
    clear(r, m);
    Limb::from(is_zero)
}

/// Divides by `b`, with all numbers in scratch. Returns 1 if `b` is zero, else 0.
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
            // The sum is at most (B - 1)^2 + 2 (B - 1) = B^2 - 1.
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
