//! The weights and the bases of words in any base, and how points are rounded to them.

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
pub struct BaseWords {
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

impl BaseWords {
    /// The steps of the words of the thread's point `k`.
    #[inline(always)]
    pub fn steps(self, block: Block<'_>, k: usize) -> [Step; 2] {
        let arguments = block.arguments;
        let [weight, inverse] = arguments.steps[k];
        self.g.map(|g| {
            let (wraps, g) = block.wrapped(g + arguments.step_g[k]);
            Step {
                weight: block.divided(weight, wraps),
                inverse: block.multiplied(inverse, wraps),
                places: arguments.short + u32::from(g < arguments.long),
            }
        })
    }

    /// The same, whose steps the compiler computes again.
    #[inline(always)]
    pub fn afresh(self) -> Self {
        let g = self.g.map(afresh);
        BaseWords { g, ..self }
    }

    /// Multiplies the words of a point by their weights.
    #[inline(always)]
    pub fn weigh(self, z: &mut Complex, [even, odd]: [Step; 2]) {
        z.re *= self.weight[0] * even.weight;
        z.im *= self.weight[1] * odd.weight;
    }
}

impl Step {
    /// The base to the places, and its inverse.
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
    /// The weights of the words of the thread's first row.
    #[inline(always)]
    pub fn base_words(self, row: u32, column: u32) -> BaseWords {
        let (rows, columns) = (
            self.roots(self.arguments.row_weights),
            self.roots(self.arguments.column_weights),
        );
        let ([row_weight, row_inverse], [row_g, _]) = (rows.at(2 * row), rows.at(2 * row + 1));
        let word = |part: u32| {
            let column = 2 * column + part;
            let ([weight, inverse], [g, _]) = (columns.at(2 * column), columns.at(2 * column + 1));
            let (wraps, g) = self.wrapped(g.to_bits() as u32 + row_g.to_bits() as u32);
            (
                self.divided(row_weight * weight, wraps),
                self.multiplied(row_inverse * inverse, wraps),
                g,
            )
        };
        let ((w0, i0, g0), (w1, i1, g1)) = (word(0), word(1));
        BaseWords {
            weight: [w0, w1],
            inverse: [i0, i1],
            g: [g0, g1],
        }
    }

    /// Turns a point into its two words, rounded and multiplied, without the carry into them. Returns the carry out of them,
    /// to which `ROUND` is added, and the upper half of the greater distance from an integer.
    #[inline(always)]
    pub fn to_words(self, z: &mut Complex, words: BaseWords, [even, odd]: [Step; 2]) -> (f64, u32) {
        let by = self.arguments.by;
        let (x, of_even) = rounded(z.re * words.inverse[0], even.inverse);
        let (re, sum) = self.split(even, x * by);
        z.re = computed(re);
        let (x, of_odd) = rounded(z.im * words.inverse[1], odd.inverse);
        let (im, sum) = self.split(odd, multiply_add(x, by, sum - ROUND));
        z.im = computed(im);
        (sum, of_even.max(of_odd))
    }

    /// Adds to the words of a point. Returns what is beyond them, unless the odd word `takes` that.
    #[inline(always)]
    pub fn add(self, z: &mut Complex, x: f64, [even, odd]: [Step; 2], takes: bool) -> f64 {
        let (re, sum) = self.split(even, z.re + x);
        let of_odd = z.im + (sum - ROUND);
        let (im, sum) = self.split(odd, of_odd);
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
    fn split(self, step: Step, x: f64) -> (f64, f64) {
        let [base, inverse] = step.power(self);
        let sum = multiply_add(x, inverse, ROUND);
        let digit = multiply_add(sum - ROUND, -base, x);
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
    pub fn divided(self, x: f64, wraps: u32) -> f64 {
        if wraps == 1 {
            x * self.arguments.base[1]
        } else {
            x
        }
    }

    /// `x`, multiplied by the base if it `wraps`.
    #[inline(always)]
    pub fn multiplied(self, x: f64, wraps: u32) -> f64 {
        if wraps == 1 {
            x * self.arguments.base[0]
        } else {
            x
        }
    }
}

#[inline(always)]
pub const fn f64_upper(x: f64) -> u32 {
    (x.to_bits() >> 32) as u32
}

/// The integer nearest to `x scale`, and the upper half of their distance.
#[inline(always)]
fn rounded(x: f64, scale: f64) -> (f64, u32) {
    let whole = multiply_add(x, scale, ROUND) - ROUND;
    (whole, upper(multiply_add(x, scale, -whole)))
}
