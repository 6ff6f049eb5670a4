//! The weights and the bits of words, and how points are rounded to them.

use super::Block;
use crate::gpu::float::{multiply_add, upper};
use crate::gpu::registers::{afresh, computed};
use crate::transform::complex::Complex;
use bigint_core::weighted::long::LongArguments;

/// The number `3 2^51`. Adding and subtracting it rounds doubles below 2^51 to integers. Before
/// it is subtracted, the lower half of the sum is the integer, if that has 32 bits.
pub const ROUND: f64 = 6755399441055744.0;

/// The upper half of such a sum before [`ROUND`] is subtracted. It is one less if the integer is
/// negative.
pub const ROUND_UPPER: u32 = 0x4338_0000;

/// The weights of the two words of a point in a thread's first row.
#[derive(Clone, Copy)]
pub struct Words {
    pub weight: [f64; 2],
    pub inverse: [f64; 2],
    /// The exponents `g` of the weights `b^(g / unit)`.
    pub g: [u32; 2],
}

/// The further weight of one word of a point, and the word's places.
#[derive(Clone, Copy)]
pub struct Step {
    pub weight: f64,
    pub inverse: f64,
    places: u32,
}

impl Words {
    /// The steps of the words of the thread's point `k`.
    #[inline(always)]
    pub fn steps<const MERSENNE: bool>(self, block: Block<'_>, k: usize) -> [Step; 2] {
        let arguments = block.arguments;
        let [weight, inverse] = arguments.steps[k];
        self.g.map(|g| {
            let (wraps, g) = block.wrapped(g + arguments.step_g[k]);
            Step {
                weight: block.divided::<MERSENNE>(weight, wraps),
                inverse: block.multiplied::<MERSENNE>(inverse, wraps),
                places: arguments.short + u32::from(g < arguments.long),
            }
        })
    }

    /// The same, whose steps the compiler computes again.
    #[inline(always)]
    pub fn afresh(self) -> Words {
        let g = self.g.map(afresh);
        Words { g, ..self }
    }

    /// Multiplies the words of a point by their weights.
    #[inline(always)]
    pub fn weigh(self, z: &mut Complex, [even, odd]: [Step; 2]) {
        z.re *= self.weight[0] * even.weight;
        z.im *= self.weight[1] * odd.weight;
    }
}

impl Step {
    #[inline(always)]
    fn base<const MERSENNE: bool>(self, block: Block<'_>) -> f64 {
        match MERSENNE {
            true => power_of_two(1023 + self.places),
            false => self.power(block)[0],
        }
    }

    #[inline(always)]
    fn base_inverse<const MERSENNE: bool>(self, block: Block<'_>) -> f64 {
        match MERSENNE {
            true => power_of_two(1023 - self.places),
            false => self.power(block)[1],
        }
    }

    #[inline(always)]
    fn power(self, block: Block<'_>) -> [f64; 2] {
        let LongArguments { powers, short, .. } = *block.arguments;
        if self.places > short {
            powers[1]
        } else {
            powers[0]
        }
    }
}

impl Block<'_> {
    /// Turns a point into its two words, rounded and multiplied, without the carry into them. Returns the carry out of them,
    /// to which `ROUND` is added, and the upper half of the greater distance from an integer.
    #[inline(always)]
    pub fn to_words<const MERSENNE: bool>(
        self,
        z: &mut Complex,
        words: Words,
        [even, odd]: [Step; 2],
    ) -> (f64, u32) {
        let by = self.arguments.by;
        let (x, of_even) = rounded(z.re * words.inverse[0], even.inverse);
        let (re, sum) = self.split::<MERSENNE>(even, x * by);
        z.re = computed(re);
        let (x, of_odd) = rounded(z.im * words.inverse[1], odd.inverse);
        let (im, sum) = self.split::<MERSENNE>(odd, multiply_add(x, by, sum - ROUND));
        z.im = computed(im);
        (sum, of_even.max(of_odd))
    }

    /// Adds to the words of a point. Returns what is beyond them, unless the odd word `takes` that.
    #[inline(always)]
    pub fn add<const MERSENNE: bool>(
        self,
        z: &mut Complex,
        x: f64,
        [even, odd]: [Step; 2],
        takes: bool,
    ) -> f64 {
        let (re, sum) = self.split::<MERSENNE>(even, z.re + x);
        let of_odd = z.im + (sum - ROUND);
        let (im, sum) = self.split::<MERSENNE>(odd, of_odd);
        let (im, beyond) = if takes {
            (of_odd, 0.0)
        } else {
            (im, sum - ROUND)
        };
        *z = Complex::new(re, im);
        beyond
    }

    /// A word's digit, and its carry, to which [`ROUND`] is added.
    #[inline(always)]
    fn split<const MERSENNE: bool>(self, step: Step, x: f64) -> (f64, f64) {
        let sum = multiply_add(x, step.base_inverse::<MERSENNE>(self), ROUND);
        let digit = multiply_add(sum - ROUND, -step.base::<MERSENNE>(self), x);
        (digit, sum)
    }

    /// Whether a sum of two exponents is one of a base too many, and the exponent without it.
    #[inline(always)]
    pub fn wrapped(self, sum: u32) -> (u32, u32) {
        let unit = self.arguments.unit;
        let wraps = u32::from(sum >= unit);
        (wraps, if wraps == 1 { sum - unit } else { sum })
    }

    /// `x`, divided by the base if it `wraps`.
    #[inline(always)]
    pub fn divided<const MERSENNE: bool>(self, x: f64, wraps: u32) -> f64 {
        match MERSENNE {
            true => halved(x, wraps),
            false if wraps == 1 => x * self.arguments.base[1],
            false => x,
        }
    }

    /// `x`, multiplied by the base if it `wraps`.
    #[inline(always)]
    pub fn multiplied<const MERSENNE: bool>(self, x: f64, wraps: u32) -> f64 {
        match MERSENNE {
            true => doubled(x, wraps),
            false if wraps == 1 => x * self.arguments.base[0],
            false => x,
        }
    }
}

#[inline(always)]
fn power_of_two(exponent: u32) -> f64 {
    f64::from_bits(u64::from(exponent << 20) << 32)
}

/// `x`, or half of it if it `wraps`, computed on the exponent.
#[inline(always)]
fn halved(x: f64, wraps: u32) -> f64 {
    with_upper(x, f64_upper(x).wrapping_sub(wraps << 20))
}

/// `x`, or twice `x` if it `wraps`, computed on the exponent.
#[inline(always)]
fn doubled(x: f64, wraps: u32) -> f64 {
    with_upper(x, f64_upper(x).wrapping_add(wraps << 20))
}

#[inline(always)]
pub const fn f64_upper(x: f64) -> u32 {
    (x.to_bits() >> 32) as u32
}

#[inline(always)]
fn with_upper(x: f64, upper: u32) -> f64 {
    f64::from_bits(u64::from(upper) << 32 | x.to_bits() & 0xffff_ffff)
}

/// The integer nearest to `x scale`, and the upper half of their distance.
#[inline(always)]
fn rounded(x: f64, scale: f64) -> (f64, u32) {
    let whole = multiply_add(x, scale, ROUND) - ROUND;
    (whole, upper(multiply_add(x, scale, -whole)))
}
