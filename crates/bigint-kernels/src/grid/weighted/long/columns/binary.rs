//! Words of `2^p - 1`, as integers.
//!
//! A point's word `x`, rounded, stays in the lower half of a double to which `3 2^51` is added. A word of `w` places has
//! the digit of its lower `w` bits, which are signed, and hands on what is above: with `w = 4`, 90 = 5 16 + 10 has the
//! digit 10 - 16 = -6 and the carry 6. Shifts do both, of 32 or 64 bits. The double of the odd word takes the carry out
//! of the even one with the `3 2^51`.
//!
//! A carry from another column has up to 31 bits. It goes to the even digit, which is split once more, and the odd
//! one takes what is left: it may have 2^14 more than its places hold.

use super::super::words::{ROUND, ROUND_UPPER, f64_upper};
use super::super::{Block, sixteen};
use super::{ThreadPlace, Words};
use crate::gpu::float::{multiply_add, signed, upper};
use crate::gpu::halves::{divided, double, lower, raised, where_set, without_lower};
use crate::gpu::registers::afresh;
use crate::transform::complex::Complex;
use bigint_core::weighted::long::{WordBits, log_width};

/// A double's exponent, raised by one.
const ONE: u32 = 1 << 20;

/// Carries are below this in size, so that a digit can be added.
const ROOM: u32 = (1 << 31) - (1 << 20);

/// The even and the odd words of a thread.
#[derive(Clone, Copy)]
pub struct BinaryWords {
    /// Half the weights of the words in a thread's first row.
    half_weight: [f64; 2],
    inverse: [f64; 2],
    /// The [`WordBits`].
    pub bits: [u32; 2],
}

impl BinaryWords {
    /// The same, of which the compiler computes the places again.
    #[inline(always)]
    pub fn afresh(self) -> Self {
        let bits = self.bits.map(afresh);
        BinaryWords { bits, ..self }
    }

    /// Half the weight is added back unless exponents wrap.
    #[inline(always)]
    pub fn weight(self, block: Block<'_>, side: usize, k: usize) -> f64 {
        let half = self.half_weight[side] * block.arguments.steps[k][0];
        match WordBits::wraps(k) {
            0 => raised(half, 1, ONE),
            bit => raised(half, !self.bits[side] & bit, ONE / bit),
        }
    }

    #[inline(always)]
    pub fn inverse(self, block: Block<'_>, side: usize, k: usize) -> f64 {
        let inverse = self.inverse[side] * block.arguments.steps[k][1];
        match WordBits::wraps(k) {
            0 => inverse,
            bit => raised(inverse, self.bits[side] & bit, ONE / bit),
        }
    }

    /// The bits of 32 that a digit does not have.
    #[inline(always)]
    fn above(self, block: Block<'_>, side: usize, k: usize) -> u32 {
        let above = 32 - block.arguments.short;
        where_set(self.bits[side] & WordBits::is_long(k), above - 1, above)
    }
}

impl Words for BinaryWords {
    const IS_CYCLIC: bool = true;

    #[inline(always)]
    fn of(block: Block<'_>, place: ThreadPlace) -> Self {
        let threads = (16 * place.factor) << log_width(place.factor);
        let at = place.group * threads + block.team.thread();
        let both = block.pairs(block.arguments.word_bits).double(at).to_bits();
        let bits = [both as u32, (both >> 32) as u32];
        let rows = block.roots(block.arguments.row_weights);
        let columns = block.roots(block.arguments.column_weights);
        let [of_row, inverse_of_row] = rows.at(2 * place.row);
        let [even, odd] = [0, 1].map(|side| {
            let [weight, inverse] = columns.at(2 * (2 * place.column + side));
            let wraps = bits[side as usize] & WordBits::FIRST;
            [
                raised(of_row * weight, 1 + wraps, ONE.wrapping_neg()),
                raised(inverse_of_row * inverse, wraps, ONE),
            ]
        });
        BinaryWords {
            half_weight: [even[0], odd[0]],
            inverse: [even[1], odd[1]],
            bits,
        }
    }

    #[inline(always)]
    fn weigh(self, block: Block<'_>, z: &mut Complex, k: usize) {
        z.re *= self.weight(block, 0, k);
        z.im *= self.weight(block, 1, k);
    }

    #[inline(always)]
    fn carry(
        self,
        block: Block<'_>,
        place: ThreadPlace,
        number: u32,
        ends: bool,
        v: &mut [Complex; 16],
    ) -> bool {
        let by = block.arguments.by;
        let (mut error, mut excess, mut farthest) = (0, 0, 0);
        let mut digits = [[0; 2]; 16];
        let mut carries = [0; 16];
        sixteen!(k => {
            if (k as u32) < place.radix {
                let mut to_digit = |x: f64, side: usize, carry: i32| {
                    let inverse = self.inverse(block, side, k);
                    let whole = multiply_add(x, inverse, ROUND) - ROUND;
                    error = error.max(upper(multiply_add(x, inverse, -whole)));
                    let carry = double(ROUND_UPPER.wrapping_add((carry >> 31) as u32), carry as u32);
                    let x = multiply_add(whole, by, carry).to_bits();
                    let above = self.above(block, side, k);
                    let (upper, x) = (((x >> 32) as u32).wrapping_sub(ROUND_UPPER), x as u32);
                    let carry = divided(upper, x, above);
                    excess |= without_lower(carry, above) as u32 ^ upper;
                    let digit = lower(x, above);
                    // A negative digit is one base less than its bits.
                    (digit, carry.wrapping_add((digit as u32 >> 31) as i32))
                };
                let (even, carry) = to_digit(v[k].re, 0, 0);
                let (odd, carry) = to_digit(v[k].im, 1, carry);
                digits[k] = [even, odd];
                carries[k] = carry as u32;
                farthest = farthest.max(carries[k].wrapping_add(ROOM));
            }
        });
        if !block.hand_on::<false>(place, number, &mut carries)
            || excess != 0
            || farthest >= 2 * ROOM
        {
            error = f64_upper(f64::INFINITY);
        }
        block.note(number, error);
        if number == 0 {
            return false;
        }
        block.subtract(place, &mut digits);
        sixteen!(k => {
            if (k as u32) < place.radix {
                let [even, odd] = digits[k];
                let sum = even + carries[k] as i32;
                let above = self.above(block, 0, k);
                let even = lower(sum as u32, above);
                let less = sum - even;
                let odd = odd + divided((less >> 31) as u32, less as u32, above);
                v[k] = Complex::new(signed(even), signed(odd));
                if !ends {
                    self.weigh(block, &mut v[k], k);
                }
            }
        });
        true
    }
}

impl Block<'_> {
    /// Subtracts from a digit of one thread, which may become three times as great as others.
    #[inline(always)]
    fn subtract(self, place: ThreadPlace, digits: &mut [[i32; 2]; 16]) {
        let less = self.arguments.less;
        if place.column != less.column || place.row != less.first {
            return;
        }
        let amount = (less.amount + ROUND).to_bits() as i32;
        sixteen!(k => {
            if (k as u32) < place.radix {
                if less.word == 2 * k as u32 {
                    digits[k][0] -= amount;
                }
                if less.word == 2 * k as u32 + 1 {
                    digits[k][1] -= amount;
                }
            }
        });
    }
}
