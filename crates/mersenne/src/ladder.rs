//! Powers with long exponents, from the exponent's top bit down.
//!
//! **Maths.** With the bits `e[0] = 1, e[1], ..., e[s]` of an exponent, the top one first,
//!
//! ```text
//! x[0] = a,   x[i] = x[i - 1]^2 a^e[i],   x[s] = a^e
//! ```
//!
//! As `a` is small, each step costs a square. **Check** (Gerbicz and Li). Where `E[t]` is the number whose
//! bits are those of block `t` of `b` steps, `x[(t + 1) b] = x[t b]^(2^b) a^E[t]`. So the product `d[t]` of
//! `x[0]`, `x[b]` to `x[t b]` satisfies
//!
//! ```text
//! d[t + 1] = x[0] d[t]^(2^b) a^(E[0] + ... + E[t])
//! ```
//!
//! and the right side takes `b` steps with the bits of the sum, from `d[t]` on.
//!
//! Example: `a^13`, bits 1 101, `b = 2`, with a zero behind the end: `x[2] = a^6`, `x[4] = a^26`; `E[0] = 10`
//! and `E[1] = 10` in binary; `d[1] = a^7`, and `a (a^7)^4 a^(2 + 2) = a^33 = a a^6 a^26`.

use std::sync::Arc;

use crate::Number;
use crate::division::{power, product};
use crate::residue::{add, subtract, trim};

/// An exponent. Copies share its bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ladder {
    bits: Arc<Vec<u64>>,
    steps: u32,
}

impl Ladder {
    /// The exponent with these limbs, which is not 0.
    fn of(mut bits: Vec<u64>) -> Self {
        trim(&mut bits);
        let top = bits.last().expect("the exponent is not 0");
        let length = 64 * bits.len() as u64 - u64::from(top.leading_zeros());
        Ladder {
            steps: u32::try_from(length - 1).expect("a number is below 2^(2^31)"),
            bits: Arc::new(bits),
        }
    }

    /// The number less one.
    pub(crate) fn fermat(number: Number) -> Self {
        let mut bits = crate::residue::modulus(number);
        subtract(&mut bits, &[1]);
        Ladder::of(bits)
    }

    /// `k b^(n - 1)` of a number `k b^n + c`.
    pub(crate) fn last_but_one(number: Number) -> Self {
        let power = power(number.base(), number.n() - 1);
        Ladder::of(product(&power, &[number.k().into()]))
    }

    /// The steps to the power.
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// The bit of step `i`, from 0 on; 0 behind the end.
    pub(crate) fn bit(&self, i: u32) -> bool {
        let place = self.steps.checked_sub(i + 1);
        place.is_some_and(|at| self.bits[at as usize / 64] >> (at % 64) & 1 == 1)
    }

    /// Steps from step `from` on, as [`Runner::square_by`](crate::Runner::square_by) has them.
    pub(crate) fn stretches(&self, from: u32, times: u32, a: u32) -> Vec<(u32, u32)> {
        stretches((from..from + times).map(|i| self.bit(i)), a)
    }

    /// The sum of the first blocks, each a number of `block` bits: its bits above the block, and the steps
    /// with those of the block.
    pub(crate) fn sum(&self, block: u32, blocks: u32, a: u32) -> (u64, Vec<(u32, u32)>) {
        let length = block as usize / 64 + 2;
        let mut sum = vec![0; length];
        for t in 0..blocks {
            add(&mut sum, &self.block(t * block, block));
        }
        let bit = |i: u32| sum[i as usize / 64] >> (i % 64) & 1 == 1;
        let above = (block..64 * length as u32).rev();
        let above = above.fold(0, |above, i| above << 1 | u64::from(bit(i)));
        (above, stretches((0..block).rev().map(bit), a))
    }

    /// The number whose bits are those of so many steps.
    pub(crate) fn block(&self, from: u32, length: u32) -> Vec<u64> {
        let mut limbs = vec![0; length as usize / 64 + 1];
        for (i, step) in (from..from + length).rev().enumerate() {
            limbs[i / 64] |= u64::from(self.bit(step)) << (i % 64);
        }
        limbs
    }
}

/// Neighbouring steps with the same bit are one stretch.
fn stretches(bits: impl Iterator<Item = bool>, a: u32) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for bit in bits {
        let by = if bit { a } else { 1 };
        match all.last_mut().filter(|(_, last)| *last == by) {
            Some((times, _)) => *times += 1,
            None => all.push((1, by)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_blocks_are_those_of_their_bits() {
        let ladder = Ladder::of(vec![0x1234_5678_9abc_def1, 0xffff_ffff_ffff_ffff, 5]);
        assert_eq!(ladder.steps(), 130);
        for block in [1, 7, 63, 64, 65, 100] {
            let blocks = 130u32.div_ceil(block);
            let (above, low) = ladder.sum(block, blocks, 3);
            let mut bits = low
                .iter()
                .flat_map(|&(times, by)| vec![by == 3; times as usize]);
            let of = |bits: &mut dyn Iterator<Item = bool>| {
                bits.fold((0u128, 0), |(x, i), bit| (x << 1 | u128::from(bit), i + 1))
            };
            let (low, length) = of(&mut bits);
            assert_eq!(length, block);
            let expected: u128 = (0..blocks)
                .map(|t| of(&mut (t * block..(t + 1) * block).map(|i| ladder.bit(i))).0)
                .sum();
            assert_eq!((u128::from(above) << block) + low, expected, "{block}");
        }
    }
}
