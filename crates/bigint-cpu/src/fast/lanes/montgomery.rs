//! Powers modulo odd numbers, a lane for each: Montgomery's form in 52-bit digits.
//!
//! With `B` = 2^52 and `R` = `B^D`, `R > 4 m`, a product `a b / R` of `a, b < 2 m` is again
//! below `2 m`: `(4 m^2 + R m) / R`. So no product in a chain ends with a subtraction. A step
//! goes through the digits once,
//!
//! ```text
//! t[j-1] = t[j] + low(a[i] b[j]) + low(q m[j]) + high(a[i] b[j-1]) + high(q m[j-1])
//! ```
//!
//! where `q` makes the lowest digit of `t + a[i] b + q m` zero. Columns are carried at the
//! end.
//!
//! A base wider than the modulus is `D` digits at a time, `x` from the top: the form of what has
//! come is `x R` and more, so that it becomes `(form R^2 + digits R^2) / R`.
//!
//! Bound: a column gets four halves below 2^52 in each of `D` steps, and a carry: less than
//! 2^63 for `D` up to [`MOST_DIGITS`].
//!
//! No branch and no address depends on bases or exponents; how often a power of two is
//! doubled depends on the moduli.
//!
//! Cost: `4 D^2` multiply-adds for as many products as there are lanes. Scratch: the table,
//! `2^w` numbers, the base, and nine more.

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

/// Digits of a modulus of `width` limbs, with two bits to spare.
pub(super) const fn digits(width: usize) -> usize {
    digits_of_bits(LIMB_BITS * width + 2)
}

/// Whether lanes take moduli of `width` limbs.
pub(in crate::fast) fn suits(width: usize) -> bool {
    width > 0 && digits(width) <= MOST_DIGITS
}

/// The powers of a piece modulo odd numbers; what is computed modulo even ones means
/// nothing. Returns whether the machine has the instructions.
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

/// The numbers from `i` on that lanes take at once.
fn group<I: Vector>(isa: I, piece: &mut Piece<'_>, i: usize, [a, e, m]: [Numbers<'_>; 3]) {
    let (width, first) = (m.shape().width, piece.first + i);
    let d = digits(width);
    let blocks = width.max(piece.width).div_ceil(BLOCK);
    // As long as loading and storing take it.
    let long = digits_of_blocks(blocks).max(d) + 1;
    // As many digits at a time as the modulus has; loading may take more of them.
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
        // By hand: from an array of parts the kernels below take a tenth longer.
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
                load_digits(isa, m, first, modulus, words);
                let odd = Odd::new(isa, &modulus[..d]);
                odd.one(x, t, &bits);
                table[..d].copy_from_slice(&x[..d]);
                // The form of 2, squared and doubled by the bits of the exponent of `R`.
                odd.double(x, t);
                for bit in (0..(BITS * d).ilog2()).rev() {
                    odd.product(t, &x[..d], &x[..d]);
                    x[..d].copy_from_slice(&t[..d]);
                    odd.reduce(x, t);
                    if (BITS * d) >> bit & 1 == 1 {
                        odd.double(x, t);
                    }
                }
                square_of_radix[..d].copy_from_slice(&x[..d]);
                load_digits(isa, a, first, wide, words);
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

/// Brings numbers into the lanes, with nothing above the bits of a digit.
#[inline(always)]
fn load_digits<I: Vector>(
    isa: I,
    numbers: Numbers<'_>,
    first: usize,
    digits: &mut [I::V],
    words: &mut [I::V],
) {
    load(isa, numbers, numbers.shape().width, first, digits, words);
    for digit in digits {
        *digit = isa.digit(*digit);
    }
}

/// The length of a number in bits; 1 for zero.
fn length(number: &[Limb]) -> usize {
    let top = number.iter().rposition(|&limb| limb != 0);
    top.map_or(1, |top| {
        LIMB_BITS * (top + 1) - number[top].leading_zeros() as usize
    })
}

/// The entry of each lane's index; all entries are read.
#[inline(always)]
fn entry<I: Vector>(isa: I, chosen: &mut [I::V], table: &[I::V], long: usize, indices: I::V) {
    chosen.fill(isa.splat(0));
    for (k, entry) in table.chunks(long).enumerate() {
        let apart = isa.sub(indices, isa.splat(k as u64));
        let either = isa.or(apart, isa.sub(isa.splat(0), apart));
        // All ones where they are equal: of any other number or its negative the top bit is 1.
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

    /// Digits of the moduli.
    #[inline(always)]
    pub fn digits(&self) -> usize {
        self.m.len()
    }

    /// `t = a b / R`, below `2 m` where both are; digits.
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

    /// `x` less `m` where it is not below `m`; `x < 2 m`.
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

    /// `x = x + y mod m` of both below `m`.
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

    /// `2 x mod m` of `x` below `m`.
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

    /// `x = R mod m`, the form of 1 (but 1 where `m` is 1), for moduli of so many bits: the
    /// highest power of two below `m`, doubled.
    #[inline(always)]
    fn one(&self, x: &mut [I::V], t: &mut [I::V], bits: &[usize]) {
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
                // Twice the digit, or the digit itself in lanes that have ended.
                let twice = isa.add(isa.add(*x, isa.and(*x, goes_on)), below);
                below = isa.shift_right(twice, DIGIT_BITS);
                *x = isa.and(twice, isa.splat(MASK));
            }
            self.reduce(x, t);
        }
    }
}
