//! Powers modulo odd numbers, one power in each lane: Montgomery's form in 52-bit digits.
//!
//! Let `B` = 2^52 and `R` = `B^D > 4 m`. A product `a b / R` of `a, b < 2 m` is below
//! `(4 m^2 + R m) / R < 2 m` again, so no product in a chain ends with a subtraction. A step goes
//! through the digits once,
//!
//! ```text
//! t[j-1] = t[j] + low(a[i] b[j]) + low(q m[j]) + high(a[i] b[j-1]) + high(q m[j-1])
//! ```
//!
//! where `q` makes the lowest digit of `t + a[i] b + q m` zero. Carries are propagated at the end.
//!
//! A base wider than the modulus is reduced `D` digits at a time, from the top. Let `f = x R mod m`
//! be the Montgomery form of the digits `x` so far. With the next `D` digits `y` it becomes that of
//! `x R + y`, which is `(f R^2 + y R^2) / R mod m`.
//!
//! Bound: a column gets four halves below 2^52 in each of `D` steps, and a carry, which is less
//! than 2^63 for `D` up to [`MOST_DIGITS`].
//!
//! A product by itself is `a b / 2^(32 n)` for numbers of `n` limbs. With `R` = 2^(32 n + s), `a`
//! is shifted up by `s` bits, so that the product is `a 2^s b / R`. For any `a` below `2^(32 n)`
//! and any `b` below `m` this is below `(R m + R m) / R = 2 m`. By hand, with `B` = 10, `D` = 2 and
//! numbers of one digit: 3 * 4 / 10 mod 7 is 30 * 4 / 100 = 4, since 4 * 10 = 12 = 5 (mod 7).
//!
//! No branch and no address depends on bases or exponents. How often a power of two is doubled
//! depends on the moduli.
//!
//! Cost: `4 D^2` multiply-adds for a product in each lane. Scratch: the table of `2^w` numbers, the
//! base, and nine more numbers.

use bigint_core::kernel::power_window;
use bigint_core::{LIMB_BITS, Limb};

use super::digits::{digits_of_bits, digits_of_blocks, normalise};
use super::transfer::{load, store};
use super::vector::{BLOCK, BLOCK_WORDS, DIGIT_BITS, Vector};
use crate::Numbers;
use crate::fast::number::limbs::inverse;
use crate::piece::Piece;
use crate::reference::pow_mod::{WIDEST_WINDOW, digit};

const BITS: usize = DIGIT_BITS as usize;
const MASK: u64 = (1 << DIGIT_BITS) - 1;

/// The most digits whose columns stay within a signed word.
const MOST_DIGITS: usize = 500;

/// The digits of a modulus of `width` limbs, with two bits to spare.
pub(super) const fn digits(width: usize) -> usize {
    digits_of_bits(LIMB_BITS * width + 2)
}

/// Whether moduli of `width` limbs can be computed with in lanes.
pub(in crate::fast) fn suits(width: usize) -> bool {
    width > 0 && digits(width) <= MOST_DIGITS
}

/// Computes the powers of a piece modulo odd numbers. Results modulo even numbers have no meaning.
/// Returns whether the machine has the instructions.
pub(in crate::fast) fn pow_mod(piece: &mut Piece<'_>, operands: [Numbers<'_>; 3]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(isa) = super::Avx512::detect() {
        for i in (0..piece.count).step_by(super::Avx512::LANES) {
            group(isa, piece, i, operands);
        }
        return true;
    }
    let _ = (piece, operands);
    false
}

/// Computes the Montgomery products of a piece modulo odd numbers, `a b / 2^(32 n)` for `n` limbs.
/// Otherwise it is like [`pow_mod`].
pub(in crate::fast) fn mont_mul(piece: &mut Piece<'_>, operands: [Numbers<'_>; 3]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(isa) = super::Avx512::detect() {
        for i in (0..piece.count).step_by(super::Avx512::LANES) {
            products(isa, piece, i, operands);
        }
        return true;
    }
    let _ = (piece, operands);
    false
}

/// Computes the products of the group from number `i` on.
fn products<I: Vector>(isa: I, piece: &mut Piece<'_>, i: usize, [a, b, m]: [Numbers<'_>; 3]) {
    let (width, first) = (m.shape().width, piece.first + i);
    let d = digits(width);
    let blocks = width.max(piece.width).div_ceil(BLOCK);
    let long = digits_of_blocks(blocks).max(d) + 1;
    isa.with_scratch(4 * long + BLOCK_WORDS * blocks, |memory| {
        memory.fill(isa.splat(0));
        let (modulus, memory) = memory.split_at_mut(long);
        let (x, memory) = memory.split_at_mut(long);
        let (y, memory) = memory.split_at_mut(long);
        let (t, words) = memory.split_at_mut(long);
        isa.vectorize(
            #[inline(always)]
            || {
                for (numbers, digits) in [(m, &mut *modulus), (a, &mut *x), (b, &mut *y)] {
                    load_digits(isa, numbers, width, first, digits, words);
                }
                let odd = Odd::new(isa, &modulus[..d]);
                raise(isa, &mut x[..d], BITS * d - LIMB_BITS * width);
                odd.product(t, &x[..d], &y[..d]);
                x.fill(isa.splat(0));
                x[..d].copy_from_slice(&t[..d]);
                odd.reduce(x, t);
                store(isa, x, piece, i, words);
            },
        );
    });
}

/// Shifts `x` up by `bits` bits, for which its digits have room.
#[inline(always)]
fn raise<I: Vector>(isa: I, x: &mut [I::V], bits: usize) {
    let (whole, bits) = (bits / BITS, (bits % BITS) as u32);
    for j in (0..x.len()).rev() {
        let [above, below] = [whole, whole + 1].map(|by| match j.checked_sub(by) {
            Some(j) => x[j],
            None => isa.splat(0),
        });
        let below = isa.shift_right(below, DIGIT_BITS - bits);
        x[j] = isa.and(isa.or(isa.shift_left(above, bits), below), isa.splat(MASK));
    }
}

/// Computes the powers of the group from number `i` on.
fn group<I: Vector>(isa: I, piece: &mut Piece<'_>, i: usize, [a, e, m]: [Numbers<'_>; 3]) {
    let (width, first) = (m.shape().width, piece.first + i);
    let d = digits(width);
    let blocks = width.max(piece.width).div_ceil(BLOCK);
    // Loading and storing need whole blocks of digits.
    let long = digits_of_blocks(blocks).max(d) + 1;
    // The base is taken in parts with as many digits as the modulus. Loading may need more digits.
    let blocks_of_base = a.shape().width.div_ceil(BLOCK);
    let of_base = digits_of_bits(LIMB_BITS * a.shape().width)
        .max(1)
        .next_multiple_of(d);
    let wide = digits_of_blocks(blocks_of_base).max(of_base);
    let window = power_window(e.shape().width, WIDEST_WINDOW);
    let entries = 1 << window;
    let total = (entries + 6) * long + wide + BLOCK_WORDS * blocks.max(blocks_of_base);
    let last = |numbers: Numbers<'_>| numbers.shape().count - 1;
    let mut buffer = Vec::new();
    let exponents: Vec<Vec<Limb>> = (0..I::LANES)
        .map(|l| e.gather((first + l).min(last(e)), &mut buffer).to_vec())
        .collect();
    let bits: Vec<usize> = (0..I::LANES)
        .map(|l| length(m.gather((first + l).min(last(m)), &mut buffer)))
        .collect();
    isa.with_scratch(total, |memory| {
        memory.fill(isa.splat(0));
        let (table, memory) = memory.split_at_mut(entries * long);
        // The memory is split by hand, as with an array of parts the kernels below take a tenth
        // longer.
        let (modulus, memory) = memory.split_at_mut(long);
        let (x, memory) = memory.split_at_mut(long);
        let (y, memory) = memory.split_at_mut(long);
        let (t, memory) = memory.split_at_mut(long);
        let (square_of_radix, memory) = memory.split_at_mut(long);
        let (base, memory) = memory.split_at_mut(long);
        let (wide, words) = memory.split_at_mut(wide);
        isa.vectorize(
            #[inline(always)]
            || {
                load_digits(isa, m, width, first, modulus, words);
                let odd = Odd::new(isa, &modulus[..d]);
                odd.one(x, t, &bits);
                table[..d].copy_from_slice(&x[..d]);
                odd.square_of_radix(x, t);
                square_of_radix[..d].copy_from_slice(&x[..d]);
                load_digits(isa, a, a.shape().width, first, wide, words);
                for (k, digits) in wide[..of_base].chunks(d).rev().enumerate() {
                    odd.product(t, digits, &square_of_radix[..d]);
                    x[..d].copy_from_slice(&t[..d]);
                    if k > 0 {
                        odd.product(t, &base[..d], &square_of_radix[..d]);
                        base[..d].copy_from_slice(&t[..d]);
                        odd.reduce(base, t);
                        odd.reduce(x, t);
                        odd.add(x, base, t);
                    }
                    base[..d].copy_from_slice(&x[..d]);
                }
                for k in 1..entries {
                    let (lower, upper) = table.split_at_mut(k * long);
                    odd.product(t, &lower[(k - 1) * long..][..d], &base[..d]);
                    upper[..d].copy_from_slice(&t[..d]);
                }
                x[..d].copy_from_slice(&table[..d]);
                for k in (0..(LIMB_BITS * e.shape().width).div_ceil(window)).rev() {
                    for _ in 0..window {
                        odd.product(t, &x[..d], &x[..d]);
                        x[..d].copy_from_slice(&t[..d]);
                    }
                    let mut indices = isa.splat(0);
                    let lanes: &mut [u64] =
                        bytemuck::cast_slice_mut(std::slice::from_mut(&mut indices));
                    for (index, e) in lanes.iter_mut().zip(&exponents) {
                        *index = digit(e, k * window, window) as u64;
                    }
                    entry(isa, &mut y[..d], table, long, indices);
                    odd.product(t, &x[..d], &y[..d]);
                    x[..d].copy_from_slice(&t[..d]);
                }
                y.fill(isa.splat(0));
                y[0] = isa.splat(1);
                odd.product(t, &x[..d], &y[..d]);
                x.fill(isa.splat(0));
                x[..d].copy_from_slice(&t[..d]);
                odd.reduce(x, t);
                store(isa, x, piece, i, words);
            },
        );
    });
}

/// Loads the lowest limbs of numbers, at most `width` of each, into the lanes, with zeros above the
/// 52 bits of a digit.
#[inline(always)]
fn load_digits<I: Vector>(
    isa: I,
    numbers: Numbers<'_>,
    width: usize,
    first: usize,
    digits: &mut [I::V],
    words: &mut [I::V],
) {
    let width = width.min(numbers.shape().width);
    load(isa, numbers, width, first, digits, words);
    for digit in digits {
        *digit = isa.digit(*digit);
    }
}

/// The length of a number in bits. It is 1 for zero.
pub(super) fn length(number: &[Limb]) -> usize {
    let top = number.iter().rposition(|&limb| limb != 0);
    top.map_or(1, |top| {
        LIMB_BITS * (top + 1) - number[top].leading_zeros() as usize
    })
}

/// Sets `chosen` to the table's entry at each lane's index. All entries are read.
#[inline(always)]
fn entry<I: Vector>(isa: I, chosen: &mut [I::V], table: &[I::V], long: usize, indices: I::V) {
    chosen.fill(isa.splat(0));
    for (k, entry) in table.chunks(long).enumerate() {
        let apart = isa.sub(indices, isa.splat(k as u64));
        let either = isa.or(apart, isa.sub(isa.splat(0), apart));
        // The mask is all ones if both are equal. Of any number but zero, it or its negative has
        // the top bit set.
        let mask = isa.sub(isa.shift_right(either, 63), isa.splat(1));
        for (chosen, digit) in chosen.iter_mut().zip(entry) {
            *chosen = isa.or(*chosen, isa.and(*digit, mask));
        }
    }
}

/// Odd moduli.
pub(super) struct Odd<'a, I: Vector> {
    isa: I,
    m: &'a [I::V],
    /// `-1/m mod B`.
    inverse: I::V,
}

impl<'a, I: Vector> Odd<'a, I> {
    #[inline(always)]
    pub fn new(isa: I, m: &'a [I::V]) -> Self {
        let mut inverses = isa.splat(0);
        let lanes: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut inverses));
        let lowest: &[u64] = bytemuck::cast_slice(std::slice::from_ref(&m[0]));
        for (x, m) in lanes.iter_mut().zip(lowest) {
            *x = inverse(*m).wrapping_neg() & MASK;
        }
        Odd {
            isa,
            m,
            inverse: inverses,
        }
    }

    /// The digits of the moduli.
    #[inline(always)]
    pub fn digits(&self) -> usize {
        self.m.len()
    }

    /// `t = a b / R`, which is below `2 m` if both factors are. All are digits.
    #[inline(always)]
    pub fn product(&self, t: &mut [I::V], a: &[I::V], b: &[I::V]) {
        let (isa, d) = (self.isa, self.m.len());
        let (m, b, t) = (&self.m[..d], &b[..d], &mut t[..d + 1]);
        let zero = isa.splat(0);
        t.fill(zero);
        for &x in a {
            let lowest = isa.add_low(t[0], isa.product(x, b[0]));
            let q = isa.add_low(zero, isa.product(lowest, self.inverse));
            let lowest = isa.add_low(lowest, isa.product(q, m[0]));
            t[1] = isa.add(t[1], isa.shift_right(lowest, DIGIT_BITS));
            for j in 1..d {
                let sum = isa.add_low(t[j], isa.product(x, b[j]));
                let other = isa.add_low(zero, isa.product(q, m[j]));
                let sum = isa.add_high(sum, isa.product(x, b[j - 1]));
                let other = isa.add_high(other, isa.product(q, m[j - 1]));
                t[j - 1] = isa.add(sum, other);
            }
            let sum = isa.add_high(t[d], isa.product(x, b[d - 1]));
            t[d - 1] = isa.add_high(sum, isa.product(q, m[d - 1]));
            t[d] = zero;
        }
        normalise(isa, &mut t[..d]);
    }

    /// Subtracts `m` from `x` if `x` is not below `m`. `x` is below `2 m`.
    #[inline(always)]
    pub fn reduce(&self, x: &mut [I::V], t: &mut [I::V]) {
        let isa = self.isa;
        let mut borrow = isa.splat(0);
        for ((t, x), m) in t.iter_mut().zip(&*x).zip(self.m) {
            let difference = isa.sub(isa.sub(*x, *m), borrow);
            borrow = isa.shift_right(difference, 63);
            *t = isa.and(difference, isa.splat(MASK));
        }
        let less = isa.sub(isa.splat(0), borrow);
        let not_less = isa.sub(borrow, isa.splat(1));
        for (x, t) in x.iter_mut().zip(t).take(self.m.len()) {
            *x = isa.or(isa.and(*x, less), isa.and(*t, not_less));
        }
    }

    /// `x = x + y mod m`, for `x` and `y` below `m`.
    #[inline(always)]
    fn add(&self, x: &mut [I::V], y: &[I::V], t: &mut [I::V]) {
        let isa = self.isa;
        let mut below = isa.splat(0);
        for (x, y) in x.iter_mut().zip(y).take(self.m.len()) {
            let sum = isa.add(isa.add(*x, *y), below);
            below = isa.shift_right(sum, DIGIT_BITS);
            *x = isa.and(sum, isa.splat(MASK));
        }
        self.reduce(x, t);
    }

    /// `x = 2 x mod m`, for `x` below `m`.
    #[inline(always)]
    fn double(&self, x: &mut [I::V], t: &mut [I::V]) {
        let isa = self.isa;
        let mut below = isa.splat(0);
        for x in &mut x[..self.m.len()] {
            let twice = isa.add(isa.add(*x, *x), below);
            below = isa.shift_right(twice, DIGIT_BITS);
            *x = isa.and(twice, isa.splat(MASK));
        }
        self.reduce(x, t);
    }

    /// `x = R^2 mod m`, the form of `R`, where it was the form of 1: that of 2 by squaring and doubling, by the bits of
    /// the exponent of `R`.
    #[inline(always)]
    pub fn square_of_radix(&self, x: &mut [I::V], t: &mut [I::V]) {
        let d = self.m.len();
        self.double(x, t);
        for bit in (0..(BITS * d).ilog2()).rev() {
            self.product(t, &x[..d], &x[..d]);
            x[..d].copy_from_slice(&t[..d]);
            self.reduce(x, t);
            if (BITS * d) >> bit & 1 == 1 {
                self.double(x, t);
            }
        }
    }

    /// `x = R mod m`, the form of 1 (but 1 if `m` is 1), for moduli of `bits` bits. It is computed
    /// by doubling from the highest power of two below `m`.
    #[inline(always)]
    pub fn one(&self, x: &mut [I::V], t: &mut [I::V], bits: &[usize]) {
        let (isa, d) = (self.isa, self.m.len());
        x.fill(isa.splat(0));
        let words: &mut [u64] = bytemuck::cast_slice_mut(x);
        for (l, bits) in bits.iter().enumerate() {
            words[(bits - 1) / BITS * I::LANES + l] = 1 << ((bits - 1) % BITS);
        }
        let times = bits.iter().map(|bits| BITS * d + 1 - bits);
        let most = times.clone().max().unwrap_or(0);
        for step in 0..most {
            let mut ended = isa.splat(0);
            let lanes: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut ended));
            for (ended, times) in lanes.iter_mut().zip(times.clone()) {
                *ended = u64::from(step >= times).wrapping_neg();
            }
            let goes_on = isa.sub(isa.sub(isa.splat(0), ended), isa.splat(1));
            let mut below = isa.splat(0);
            for x in &mut x[..d] {
                // The digit is doubled, except in lanes that have ended.
                let twice = isa.add(isa.add(*x, isa.and(*x, goes_on)), below);
                below = isa.shift_right(twice, DIGIT_BITS);
                *x = isa.and(twice, isa.splat(MASK));
            }
            self.reduce(x, t);
        }
    }
}
