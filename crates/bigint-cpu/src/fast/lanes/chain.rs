//! The rows of a chain in lanes. Registers have 52-bit digits, and each lane has one row. [`Odd`]
//! has the product, and [`crate::chain`] the bounds.
//!
//! Sums and differences are computed digit by digit, and digits may be negative until the carries
//! are propagated, once. A scale is one digit: `a s / 2^32` is `a (2^20 s) / 2^52`, a single step
//! of a product. A shift by `k` multiplies each digit by `2^k`: the low half has `k` zeros below, which the
//! high half of the digit below fills, so that no carry comes of it.
//!
//! Cost: `4 D^2` multiply-adds for a product, `4 D` for a scale and `2 D` for a shift, for a row in each lane.

use bigint_core::Limb;

use super::digits::normalise;
use super::montgomery::{Odd, length};
use super::vector::{DIGIT_BITS, Vector};
use crate::chain::{Rows, Step, spare_bits};
use crate::fast::Path;
use crate::fast::number::limbs::{pack, unpack};
use crate::{Error, memory};

const BITS: usize = DIGIT_BITS as usize;

/// The most digits for which columns stay within a word, as in powers.
const MOST_DIGITS: usize = 500;

/// The number of rows that the lanes of a path compute together, if they can compute with this
/// modulus.
pub(in crate::fast) fn lanes(path: Path, modulus: &[Limb]) -> Option<usize> {
    let is_short = spare_bits(modulus).div_ceil(BITS) <= MOST_DIGITS;
    #[cfg(target_arch = "x86_64")]
    if is_short && path == Path::Avx512Ifma && super::Avx512::detect().is_some() {
        return Some(super::Avx512::LANES);
    }
    let _ = (is_short, path);
    None
}

/// The registers of a group of [`lanes`] rows, with a modulus for each row, none longer than `longest`.
pub(in crate::fast) fn group(
    moduli: &[&[Limb]],
    longest: &[Limb],
    registers: usize,
) -> Result<Box<dyn Rows>, Error> {
    #[cfg(target_arch = "x86_64")]
    if let Some(isa) = super::Avx512::detect() {
        return Ok(Box::new(Group::new(isa, moduli, longest, registers)?));
    }
    let _ = (moduli, longest, registers);
    unreachable!("only where there are lanes")
}

struct Group<I: Vector> {
    isa: I,
    /// The limbs of the longest modulus.
    width: usize,
    m: Vec<I::V>,
    square_of_radix: Vec<I::V>,
    registers: Vec<I::V>,
    scale: I::V,
    /// The rows' keys: 64 bits of each in a vector.
    keys: Vec<I::V>,
    /// A result before it is stored in its register. It is one digit longer than the modulus.
    t: Vec<I::V>,
}

impl<I: Vector> Group<I> {
    fn new(isa: I, moduli: &[&[Limb]], longest: &[Limb], registers: usize) -> Result<Self, Error> {
        let d = spare_bits(longest).div_ceil(BITS);
        let vectors = |length| memory::zeroed::<I::V>(length);
        let mut group = Group {
            isa,
            width: longest.len(),
            m: vectors(d)?,
            square_of_radix: vectors(d)?,
            registers: vectors(d * registers)?,
            scale: isa.splat(0),
            keys: Vec::new(),
            t: vectors(d + 1)?,
        };
        let lanes: &mut [u64] = bytemuck::cast_slice_mut(&mut group.m);
        for (lane, &modulus) in moduli.iter().enumerate() {
            let mut words = vec![0; modulus.len().div_ceil(2)];
            pack(&mut words, modulus);
            for i in 0..d {
                lanes[i * I::LANES + lane] = digit(&words, i);
            }
        }
        let bits: Vec<usize> = moduli.iter().map(|modulus| length(modulus)).collect();
        let Group {
            m,
            square_of_radix,
            t,
            ..
        } = &mut group;
        isa.vectorize(
            #[inline(always)]
            || {
                let odd = Odd::new(isa, m);
                odd.one(square_of_radix, t, &bits);
                odd.square_of_radix(square_of_radix, t);
            },
        );
        Ok(group)
    }

    fn of(&self, register: impl Into<usize>) -> std::ops::Range<usize> {
        let first = register.into() * self.m.len();
        first..first + self.m.len()
    }

    /// A bit of each row's key.
    #[inline(always)]
    fn bits(&self, bit: u32) -> I::V {
        let word = self.keys.get((bit / u64::BITS) as usize);
        let word = word.copied().unwrap_or(self.isa.splat(0));
        let bits = self.isa.shift_right(word, bit % u64::BITS);
        self.isa.and(bits, self.isa.splat(1))
    }

    #[inline(always)]
    fn step(&mut self, odd: &Odd<'_, I>, step: Step) {
        let (isa, d) = (self.isa, odd.digits());
        let r = match step {
            Step::Mul { r, a, b } => {
                let (a, b) = (self.of(a), self.of(b));
                odd.product(&mut self.t, &self.registers[a], &self.registers[b]);
                r
            }
            Step::Scale { r, a } => {
                let a = self.of(a);
                odd.product(&mut self.t, &[self.scale], &self.registers[a]);
                r
            }
            Step::Copy { r, a } => {
                let (from, to) = (self.of(a), self.of(r));
                return self.registers.copy_within(from, to.start);
            }
            Step::Add { r, a, b } => {
                let (a, b) = (&self.registers[self.of(a)], &self.registers[self.of(b)]);
                for ((t, a), b) in self.t.iter_mut().zip(a).zip(b) {
                    *t = isa.add(*a, *b);
                }
                normalise(isa, &mut self.t[..d]);
                r
            }
            Step::Sub { r, a, b } => {
                let (a, b) = (&self.registers[self.of(a)], &self.registers[self.of(b)]);
                for (((t, a), b), m) in self.t.iter_mut().zip(a).zip(b).zip(&self.m) {
                    *t = isa.sub(isa.add(*a, isa.add(*m, *m)), *b);
                }
                normalise(isa, &mut self.t[..d]);
                r
            }
            Step::Choose { r, a, b, bit } => {
                let bits = self.bits(bit);
                let others = isa.sub(bits, isa.splat(1));
                let chosen = isa.sub(isa.splat(0), bits);
                let (a, b) = (&self.registers[self.of(a)], &self.registers[self.of(b)]);
                for ((t, a), b) in self.t.iter_mut().zip(a).zip(b) {
                    *t = isa.or(isa.and(*a, others), isa.and(*b, chosen));
                }
                r
            }
            Step::Shift { r, a, bit } => {
                let [low, high] = [bit, bit + 1].map(|bit| self.bits(bit));
                let power = isa.add(low, isa.splat(1));
                let thrice = isa.add(power, isa.add(power, power));
                let power = isa.add(power, isa.and(thrice, isa.sub(isa.splat(0), high)));
                let mut below = isa.splat(0);
                let a = &self.registers[self.of(a)];
                for (t, a) in self.t.iter_mut().zip(a) {
                    let product = isa.product(*a, power);
                    *t = isa.add_low(below, product);
                    below = isa.add_high(isa.splat(0), product);
                }
                r
            }
        };
        let r = self.of(r);
        self.registers[r].copy_from_slice(&self.t[..d]);
    }
}

impl<I: Vector> Rows for Group<I> {
    fn set(&mut self, register: usize, numbers: &[&[Limb]]) {
        let d = self.m.len();
        let mut plain = vec![self.isa.splat(0); d];
        for (lane, number) in numbers.iter().enumerate() {
            let mut words = vec![0; number.len().div_ceil(2)];
            pack(&mut words, number);
            let lanes: &mut [u64] = bytemuck::cast_slice_mut(&mut plain);
            for i in 0..d {
                lanes[i * I::LANES + lane] = digit(&words, i);
            }
        }
        let r = self.of(register);
        let (isa, m, t, registers) = (self.isa, &self.m, &mut self.t, &mut self.registers);
        isa.vectorize(|| Odd::new(isa, m).product(t, &plain, &self.square_of_radix));
        registers[r].copy_from_slice(&t[..d]);
    }

    fn get(&self, register: usize) -> Vec<Vec<Limb>> {
        let (isa, d) = (self.isa, self.m.len());
        let mut one = vec![isa.splat(0); d];
        one[0] = isa.splat(1);
        let (mut t, mut u) = (vec![isa.splat(0); d + 1], vec![isa.splat(0); d]);
        isa.vectorize(|| {
            let odd = Odd::new(isa, &self.m);
            odd.product(&mut t, &one, &self.registers[self.of(register)]);
            odd.reduce(&mut t[..d], &mut u);
        });
        let digits: &[u64] = bytemuck::cast_slice(&t);
        let row = |lane: usize| {
            let mut words = vec![0; self.width.div_ceil(2) + 1];
            for i in 0..d {
                let (at, shift) = (BITS * i / 64, BITS * i % 64);
                let digit = digits[i * I::LANES + lane];
                // Digits above the modulus are zero.
                if let Some(word) = words.get_mut(at) {
                    *word |= digit << shift;
                }
                if shift > 64 - BITS
                    && let Some(word) = words.get_mut(at + 1)
                {
                    *word |= digit >> (64 - shift);
                }
            }
            let mut limbs = vec![0; self.width];
            unpack(&mut limbs, &words);
            limbs
        };
        (0..I::LANES).map(row).collect()
    }

    fn set_scales(&mut self, scales: &[u32]) {
        let lanes: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut self.scale));
        for (lane, scale) in lanes.iter_mut().zip(scales) {
            *lane = u64::from(*scale) << (DIGIT_BITS - 32);
        }
    }

    fn set_keys(&mut self, keys: &[&[Limb]]) {
        let longest = keys.iter().map(|key| key.len().div_ceil(2)).max();
        self.keys = vec![self.isa.splat(0); longest.unwrap_or(0)];
        let lanes: &mut [u64] = bytemuck::cast_slice_mut(&mut self.keys);
        for (lane, key) in keys.iter().enumerate() {
            let mut words = vec![0; key.len().div_ceil(2)];
            pack(&mut words, key);
            for (i, word) in words.into_iter().enumerate() {
                lanes[i * I::LANES + lane] = word;
            }
        }
    }

    fn run(&mut self, steps: &[Step]) {
        let (isa, m) = (self.isa, std::mem::take(&mut self.m));
        self.m.clone_from(&m);
        isa.vectorize(
            #[inline(always)]
            || {
                let odd = Odd::new(isa, &m);
                for step in steps {
                    self.step(&odd, *step);
                }
            },
        );
        self.m = m;
    }
}

/// Digit `i` of a number in words.
fn digit(words: &[u64], i: usize) -> u64 {
    let (at, shift) = (BITS * i / 64, BITS * i % 64);
    let of = |at: usize| words.get(at).copied().unwrap_or(0);
    let above = match shift {
        0 => 0,
        _ => of(at + 1) << (64 - shift),
    };
    (of(at) >> shift | above) & ((1 << DIGIT_BITS) - 1)
}
