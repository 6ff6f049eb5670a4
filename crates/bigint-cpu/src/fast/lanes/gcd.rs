//! Greatest common divisors and inverses, one pair of numbers in each lane: the binary algorithm,
//! 30 steps at a time.
//!
//! ```text
//! a even: a <- a / 2;    else: (a, b) <- (max - min) / 2 and the min of both,    b odd throughout
//! ```
//!
//! As in [Pornin 2020], a round computes thirty steps from one word for each number. The word has
//! the lowest 30 bits, which decide what is odd, and above them the 34 bits that stand at the top
//! of the longer number, which decide what is less. The steps give four factors. Two factors are
//! kept as the halves of a word. `a` and `b` follow by multiply-adds:
//!
//! ```text
//! a <- (f_0 a + g_0 b) / 2^30,    b <- (f_1 a + g_1 b) / 2^30,    |f| + |g| <= 2^30
//! ```
//!
//! Factors are kept shifted up by 22 bits, so that the division by `2^30` drops one whole digit,
//! which is zero. If the top bits were not enough to decide, a number becomes negative. Then it and
//! its factors are negated. A number of 64 bits is its own word. Both numbers together lose at
//! least 30 bits in a round.
//!
//! For an inverse of `x`, `u` and `v` with `a = u x` and `b = v x` modulo `m` are combined by the
//! same factors. A multiple of `m`, of either sign, is added to make the sum divisible by `2^30`.
//! Its sign is the opposite of the sum's, so `u` and `v` stay about between `-m` and `m`. They are
//! in two's complement, a digit longer than `m`.
//!
//! A factor of `2^30`, shifted up, does not fit a digit. `g_1` is `2^30` where `b` stays as it is,
//! as in lanes that have ended; this is computed without a product. If another factor is `2^30`, or
//! the negative of it, the lane is left to the functions for single numbers. So are zeros and, of
//! inverses, even moduli, moduli shorter than the longest by a digit, and numbers that have no
//! inverse.
//!
//! Cost: some `2.5 n` rounds for numbers of `n` digits. A round has 30 steps of 10 instructions,
//! and `8 n` multiply-adds. Inverses need `12 n` multiply-adds more.

use core::arch::x86_64::{__m512d, __m512i};

use bigint_core::LIMB_BITS;

use super::avx512::Avx512;
use super::digits::{digits_of_bits, digits_of_blocks};
use super::reciprocal::{MASK, lanes, lengths, move_down, move_up, shift_down, shift_up};
use super::transfer::{load, store};
use super::vector::{BLOCK, BLOCK_WORDS, DIGIT_BITS, Vector};
use crate::Numbers;
use crate::fast::number::limbs::{inverse, parts};
use crate::piece::Piece;

/// The steps of a round.
const STEPS: u32 = 30;

/// The most limbs of an operand. Eight numbers of this length together stay in a core's cache, and
/// longer ones are faster one after another, by the half gcd.
const WIDEST: usize = 1024;

const SIGN: u64 = 1 << 63;

/// Computes the greatest common divisors of the numbers from `first` on, and stores them from `i`
/// on. Returns the lanes whose results are right.
pub(super) fn gcd(
    isa: Avx512,
    r: &mut Piece<'_>,
    i: usize,
    first: usize,
    operands: [Numbers<'_>; 2],
) -> u8 {
    with_digits(isa, r.width, operands, |room, memory, words| {
        let (a, b) = memory[..2 * room].split_at_mut(room);
        isa.vectorize(
            #[inline(always)]
            || {
                let n = load_both(isa, [a, b], operands, first, words);
                let zeros = [trailing_zeros(isa, &a[..n]), trailing_zeros(isa, &b[..n])];
                let good = not_zero(isa, &a[..n]) & not_zero(isa, &b[..n]);
                if good == 0 {
                    return 0;
                }
                let [digits, bits] = in_digits(zeros[1]);
                move_down(&mut b[..n], &digits);
                shift_down(isa, &mut b[..n], bytemuck::cast(bits));
                let mut run = Run { isa, a, b, n, good };
                run.finish(|_, _| {});
                let Run { b, good, .. } = run;
                let mut least = zeros[0];
                for (least, other) in least.iter_mut().zip(zeros[1]) {
                    *least = other.min(*least);
                }
                let [digits, bits] = in_digits(least);
                let powers: __m512i = bytemuck::cast(bits.map(|bits| 1_u64 << bits));
                shift_up(isa, &mut b[..n], powers);
                move_up(&mut b[..n], &digits);
                store(isa, b, r, i, words);
                good
            },
        )
    })
}

/// Computes the inverses of the numbers from `first` on, and stores them from `i` on. Returns the
/// lanes whose results are right.
pub(super) fn inv_mod(
    isa: Avx512,
    r: &mut Piece<'_>,
    i: usize,
    first: usize,
    operands: [Numbers<'_>; 2],
) -> u8 {
    with_digits(isa, r.width, operands, |room, memory, words| {
        let ([a, b, m, u, v], _) = parts(memory, room);
        isa.vectorize(
            #[inline(always)]
            || {
                let n = load_both(isa, [a, b], operands, first, words);
                let [length, _] = lengths(isa, &mut b[..n]);
                let of_m = lanes(length).into_iter().max().unwrap_or(0) as usize;
                if of_m == 0 {
                    return 0;
                }
                let is_long = isa.test(b[of_m - 1], MASK);
                let good = not_zero(isa, &a[..n]) & isa.test(b[0], 1) & is_long;
                if good == 0 {
                    return 0;
                }
                // The modulus has zeros above it, and the first of these is counted among its
                // digits.
                m.copy_from_slice(b);
                u.fill(isa.splat(0));
                v.fill(isa.splat(0));
                u[0] = isa.splat(1);
                let modulus = Modulus::new(isa, &m[..=of_m]);
                let mut run = Run { isa, a, b, n, good };
                run.finish(
                    #[inline(always)]
                    |factors, kept| modulus.follow(u, v, factors, kept),
                );
                let good = run.good & run.is_one();
                modulus.reduce(v, u);
                store(isa, v, r, i, words);
                good
            },
        )
    })
}

/// Lends `work` memory: how many digits an operand or the result has, and two more; five times as
/// many digits, which are zero; and words for loading and storing.
fn with_digits(
    isa: Avx512,
    width: usize,
    operands: [Numbers<'_>; 2],
    work: impl FnOnce(usize, &mut [__m512i], &mut [__m512i]) -> u8,
) -> u8 {
    let widths = operands.map(|x| x.shape().width);
    if widths.contains(&0) || widths.into_iter().any(|width| width > WIDEST) {
        return 0;
    }
    let blocks = widths[0].max(widths[1]).max(width).div_ceil(BLOCK);
    let room = digits_of_blocks(blocks) + 2;
    isa.with_scratch(5 * room + BLOCK_WORDS * blocks, |memory| {
        let (digits, words) = memory.split_at_mut(5 * room);
        digits.fill(isa.splat(0));
        work(room, digits, words)
    })
}

/// Loads two operands. Returns how many digits the longer one has, which is at least two.
#[inline(always)]
fn load_both(
    isa: Avx512,
    both: [&mut [__m512i]; 2],
    operands: [Numbers<'_>; 2],
    first: usize,
    words: &mut [__m512i],
) -> usize {
    let mut most = 2;
    for (digits, numbers) in both.into_iter().zip(operands) {
        let width = numbers.shape().width;
        load(isa, numbers, width, first, digits, words);
        let n = digits_of_bits(LIMB_BITS * width);
        digits[n..].fill(isa.splat(0));
        for digit in &mut digits[..n] {
            *digit = isa.digit(*digit);
        }
        most = most.max(n);
    }
    most
}

/// The lanes whose numbers are not zero.
#[inline(always)]
fn not_zero(isa: Avx512, x: &[__m512i]) -> u8 {
    let mut any = isa.splat(0);
    for digit in x {
        any = isa.or(any, *digit);
    }
    isa.test(any, !0)
}

/// The count of zero bits below the lowest 1 bit of each lane's number, or 0 if the number is zero.
#[inline(always)]
fn trailing_zeros(isa: Avx512, x: &[__m512i]) -> [u64; Avx512::LANES] {
    let (mut place, mut lowest) = (isa.splat(0), isa.splat(1));
    for (i, digit) in x.iter().enumerate().rev() {
        let is_there = isa.test(*digit, MASK);
        place = isa.select(is_there, isa.splat(i as u64), place);
        lowest = isa.select(is_there, *digit, lowest);
    }
    let mut zeros = lanes(place);
    for (zeros, lowest) in zeros.iter_mut().zip(lanes(lowest)) {
        *zeros = *zeros * u64::from(DIGIT_BITS) + u64::from(lowest.trailing_zeros());
    }
    zeros
}

/// Splits counts of bits into whole digits and the bits left.
fn in_digits(bits: [u64; Avx512::LANES]) -> [[u64; Avx512::LANES]; 2] {
    let digit = u64::from(DIGIT_BITS);
    [bits.map(|bits| bits / digit), bits.map(|bits| bits % digit)]
}

/// The factors `f_0`, `g_0`, `f_1`, `g_1` of a round, shifted up by 22 bits, and the lanes in which
/// they are negative.
#[derive(Clone, Copy)]
struct Factors {
    up: [__m512i; 4],
    negative: [u8; 4],
}

impl Factors {
    #[inline(always)]
    fn new(isa: Avx512, up: [__m512i; 4]) -> Self {
        let mut negative = [0; 4];
        for (negative, factor) in negative.iter_mut().zip(up) {
            *negative = isa.test(factor, SIGN);
        }
        Factors { up, negative }
    }
}

/// The state of the algorithm: both numbers, which have `n` digits, `b` odd, and the lanes that are
/// right so far.
struct Run<'a> {
    isa: Avx512,
    a: &'a mut [__m512i],
    b: &'a mut [__m512i],
    n: usize,
    good: u8,
}

impl Run<'_> {
    /// Computes rounds until `a` is zero in all lanes. Each round calls `follow` with its factors
    /// and the lanes in which `b` stays as it is.
    #[inline(always)]
    fn finish(&mut self, mut follow: impl FnMut(Factors, u8)) {
        let isa = self.isa;
        // Both numbers together lose at least STEPS bits in a round.
        let most = 2 * DIGIT_BITS as usize * self.n / STEPS as usize + 2;
        let mut left = self.good;
        for _ in 0..most {
            let [x, y] = self.words();
            let [of_a, of_b] = steps(isa, x, y);
            let ([f0, g0], [f1, g1]) = (halves(isa, of_a), halves(isa, of_b));
            let kept = too_large(isa, g1) & !isa.test(g1, SIGN);
            let wrong = too_large(isa, f0)
                | too_large(isa, g0)
                | too_large(isa, f1)
                | too_large(isa, g1) & !kept;
            self.good &= !wrong;
            let factors = Factors::new(isa, [f0, g0, f1, g1]);
            let negative = self.combine(factors, kept);
            let mut up = factors.up;
            if negative != [0; 2] {
                for (i, mask) in negative.into_iter().enumerate() {
                    let number = if i == 0 { &mut *self.a } else { &mut *self.b };
                    negate(isa, &mut number[..self.n], mask);
                    for factor in &mut up[2 * i..2 * i + 2] {
                        let negated = isa.sub(isa.splat(0), *factor);
                        *factor = isa.select(mask, negated, *factor);
                    }
                }
            }
            follow(Factors::new(isa, up), kept);
            left = not_zero(isa, &self.a[..self.n]);
            if left & self.good == 0 {
                return;
            }
            while self.n > 2 {
                let top = isa.or(self.a[self.n - 1], self.b[self.n - 1]);
                if isa.test(top, !0) != 0 {
                    break;
                }
                self.n -= 1;
            }
        }
        self.good &= !left;
    }

    /// The words from which a round's factors are computed, one for each number.
    #[inline(always)]
    fn words(&self) -> [__m512i; 2] {
        let isa = self.isa;
        let zero = isa.splat(0);
        let (mut a, mut b, mut place) = ([zero; 2], [zero; 2], zero);
        let mut found = 0;
        for i in (0..self.n).rev() {
            let here = isa.test(isa.or(self.a[i], self.b[i]), !0) & !found;
            if here == 0 {
                continue;
            }
            let (mut below_a, mut below_b) = (zero, zero);
            if i > 0 {
                (below_a, below_b) = (self.a[i - 1], self.b[i - 1]);
            }
            a = [
                isa.select(here, below_a, a[0]),
                isa.select(here, self.a[i], a[1]),
            ];
            b = [
                isa.select(here, below_b, b[0]),
                isa.select(here, self.b[i], b[1]),
            ];
            place = isa.select(here, isa.splat(i as u64), place);
            found |= here;
            if found == u8::MAX {
                break;
            }
        }
        let longer = isa.or(a[1], b[1]);
        let bits = isa.sub(isa.splat(1023 + 51), isa.exponent(longer));
        let power = isa.shift_left_each(isa.splat(1), bits);
        let is_long = isa.test(place, !1) | isa.test(place, 1) & isa.test(longer, !0xfff);
        [
            word(isa, self.a, a, power, is_long),
            word(isa, self.b, b, power, is_long),
        ]
    }

    /// Replaces `a` and `b` by their combinations with the factors, except `b` in the lanes where
    /// it is kept. Returns the lanes in which `a` is negative, and those in which `b` is.
    #[inline(always)]
    fn combine(&mut self, factors: Factors, kept: u8) -> [u8; 2] {
        let isa = self.isa;
        let zero = isa.splat(0);
        let mask = isa.splat(MASK);
        let n = self.n;
        let (a, b) = (&mut self.a[..n], &mut self.b[..n]);
        let (mut carries, mut below) = ([zero; 2], [zero; 2]);
        for i in 0..n {
            let here = [a[i], b[i]];
            let columns = column(isa, factors, carries, here, below);
            carries = [isa.carry(columns[0], zero).1, isa.carry(columns[1], zero).1];
            if i > 0 {
                a[i - 1] = isa.and(columns[0], mask);
                b[i - 1] = isa.select(kept, below[1], isa.and(columns[1], mask));
            }
            below = here;
        }
        let columns = column(isa, factors, carries, [zero; 2], below);
        a[n - 1] = columns[0];
        b[n - 1] = isa.select(kept, below[1], columns[1]);
        [isa.test(a[n - 1], SIGN), isa.test(b[n - 1], SIGN)]
    }

    /// The lanes in which `b` is 1.
    #[inline(always)]
    fn is_one(&self) -> u8 {
        let isa = self.isa;
        let other = isa.sub(self.b[0], isa.splat(1));
        !(isa.test(other, !0) | not_zero(isa, &self.b[1..self.n]))
    }
}

/// A column of both combinations: the sum of the low halves of the products of the digits `here`,
/// and the high halves of those of the digits `below`.
#[inline(always)]
fn column(
    isa: Avx512,
    factors: Factors,
    carries: [__m512i; 2],
    here: [__m512i; 2],
    below: [__m512i; 2],
) -> [__m512i; 2] {
    let Factors { up, negative } = factors;
    let mut columns = carries;
    for (i, column) in columns.iter_mut().enumerate() {
        let [f, g] = [up[2 * i], up[2 * i + 1]];
        let low = isa.add_low(isa.add_low(*column, [f, here[0]]), [g, here[1]]);
        let high = isa.add_high(isa.splat(0), [f, below[0]]);
        let high = isa.add_high(high, [g, below[1]]);
        // The digit that stands for a negative factor is greater than it by B.
        let high = isa.sub_in(negative[2 * i], high, below[0]);
        let high = isa.sub_in(negative[2 * i + 1], high, below[1]);
        *column = isa.add(low, high);
    }
    columns
}

/// The word that stands for a number. In the lanes of `is_long` it has the number's top digits,
/// shifted up by the multiplication by `power`, and its lowest bits; in other lanes it is the whole
/// number.
#[inline(always)]
fn word(
    isa: Avx512,
    x: &[__m512i],
    [below, top]: [__m512i; 2],
    power: __m512i,
    is_long: u8,
) -> __m512i {
    let top = isa.add_high(isa.add_low(isa.splat(0), [top, power]), [below, power]);
    // 34 bits.
    let top = isa.shift_left(isa.shift_right(top, DIGIT_BITS + STEPS - 64), STEPS);
    let low = isa.and(x[0], isa.splat((1 << STEPS) - 1));
    let whole = isa.or(x[0], isa.shift_left(x[1], DIGIT_BITS));
    isa.select(is_long, isa.or(top, low), whole)
}

/// The two factors in a word, each shifted up by 22 bits.
#[inline(always)]
fn halves(isa: Avx512, both: __m512i) -> [__m512i; 2] {
    let f = isa.shift_arithmetic::<32>(isa.shift_left(both, 32));
    let g = isa.shift_arithmetic::<32>(isa.sub(both, f));
    let up = DIGIT_BITS - STEPS;
    [isa.shift_left(f, up), isa.shift_left(g, up)]
}

/// The lanes in which a factor is `2^30` or `-2^30`.
#[inline(always)]
fn too_large(isa: Avx512, factor: __m512i) -> u8 {
    isa.test(factor, !0) & !isa.test(factor, MASK)
}

/// The factors of [`STEPS`] steps from two words: `f + g 2^32` of the first and of the second.
#[inline(always)]
fn steps(isa: Avx512, mut x: __m512i, mut y: __m512i) -> [__m512i; 2] {
    let (mut of_x, mut of_y) = (isa.splat(1), isa.splat(1 << 32));
    for _ in 0..STEPS {
        let is_odd = isa.test(x, 1);
        let turns = isa.less(x, y) & is_odd;
        (x, y) = (isa.select(turns, y, x), isa.select(turns, x, y));
        (of_x, of_y) = (isa.select(turns, of_y, of_x), isa.select(turns, of_x, of_y));
        x = isa.shift_right(isa.sub_in(is_odd, x, y), 1);
        of_x = isa.sub_in(is_odd, of_x, of_y);
        of_y = isa.add(of_y, of_y);
    }
    [of_x, of_y]
}

/// Negates the numbers in the lanes of a mask. Their top digits are signed.
#[inline(always)]
fn negate(isa: Avx512, x: &mut [__m512i], mask: u8) {
    let mut borrow = isa.splat(0);
    for x in x {
        let difference = isa.sub(isa.sub(isa.splat(0), *x), borrow);
        borrow = isa.shift_right(difference, 63);
        *x = isa.select(mask, isa.digit(difference), *x);
    }
}

/// Odd moduli, each with a digit of zero above it.
struct Modulus<'a> {
    isa: Avx512,
    m: &'a [__m512i],
    /// `-1/m mod B`.
    inverse: __m512i,
}

impl<'a> Modulus<'a> {
    fn new(isa: Avx512, m: &'a [__m512i]) -> Self {
        let inverses = lanes(m[0]).map(|m| inverse(m).wrapping_neg() & MASK);
        Modulus {
            isa,
            m,
            inverse: bytemuck::cast(inverses),
        }
    }

    /// Replaces `u` and `v` by their combinations with the factors modulo `m`, except `v` in the
    /// lanes where it is kept.
    #[inline(always)]
    fn follow(&self, u: &mut [__m512i], v: &mut [__m512i], factors: Factors, kept: u8) {
        let (isa, m) = (self.isa, self.m);
        let n = m.len();
        let (zero, mask) = (isa.splat(0), isa.splat(MASK));
        let (u, v) = (&mut u[..n], &mut v[..n]);
        let [of_u, of_v, of_m] = [self.double(u), self.double(v), self.double(m)];
        let lowest = column(isa, factors, [zero; 2], [u[0], v[0]], [zero; 2]);
        let q = [
            isa.add_low(zero, [lowest[0], self.inverse]),
            isa.add_low(zero, [lowest[1], self.inverse]),
        ];
        // Where the sum would be positive, `m` is subtracted once. The sign of an approximation is
        // enough for that.
        let mut falls = [0; 2];
        for (i, falls) in falls.iter_mut().enumerate() {
            let f = isa.double(factors.up[2 * i]);
            let g = isa.double(factors.up[2 * i + 1]);
            let sum = isa.fused(f, of_u, isa.times(g, of_v));
            *falls = isa.positive(isa.fused(isa.double(q[i]), of_m, sum));
        }
        let (mut carries, mut below, mut m_below) = ([zero; 2], [zero; 2], zero);
        for i in 0..=n {
            // In two's complement the top digit repeats above itself.
            let j = i.min(n - 1);
            let here = [u[j], v[j]];
            let m_here = if i < n { m[i] } else { zero };
            let mut columns = column(isa, factors, carries, here, below);
            for (k, column) in columns.iter_mut().enumerate() {
                let high = isa.add_high(isa.splat(0), [q[k], m_below]);
                let high = isa.sub_in(falls[k], high, m_below);
                *column = isa.add(isa.add_low(*column, [q[k], m_here]), high);
            }
            carries = [isa.carry(columns[0], zero).1, isa.carry(columns[1], zero).1];
            if i > 0 {
                u[i - 1] = isa.and(columns[0], mask);
                v[i - 1] = isa.select(kept, below[1], isa.and(columns[1], mask));
            }
            (below, m_below) = (here, m_here);
        }
    }

    /// The approximate value of a number's upper digits. The last digit is the sign.
    #[inline(always)]
    fn double(&self, x: &[__m512i]) -> __m512d {
        let (isa, n) = (self.isa, x.len());
        let sign = isa.shift_left(isa.and(x[n - 1], isa.splat(1)), DIGIT_BITS);
        let top = isa.double(isa.sub(x[n - 2], sign));
        let below = if n < 3 { isa.splat(0) } else { x[n - 3] };
        isa.fused(top, isa.splat_double((MASK + 1) as f64), isa.double(below))
    }

    /// Reduces `v`, which lies about between `-m` and `m`, to a number below `m`. `t` is scratch.
    #[inline(always)]
    fn reduce(&self, v: &mut [__m512i], t: &mut [__m512i]) {
        let (isa, m) = (self.isa, self.m);
        let mask = isa.splat(MASK);
        let v = &mut v[..m.len()];
        let top = m.len() - 1;
        for _ in 0..2 {
            let is_negative = isa.test(v[top], 1);
            let mut carry = isa.splat(0);
            for (v, m) in v.iter_mut().zip(m) {
                let more = isa.select(is_negative, *m, isa.splat(0));
                let sum = isa.add(isa.add(*v, more), carry);
                carry = isa.shift_right(sum, DIGIT_BITS);
                *v = isa.and(sum, mask);
            }
        }
        let mut borrow = isa.splat(0);
        for ((t, v), m) in t.iter_mut().zip(&*v).zip(m) {
            let difference = isa.sub(isa.sub(*v, *m), borrow);
            borrow = isa.shift_right(difference, 63);
            *t = isa.and(difference, mask);
        }
        let is_less = isa.test(borrow, 1);
        for (v, t) in v.iter_mut().zip(t) {
            *v = isa.select(is_less, *v, *t);
        }
    }
}
