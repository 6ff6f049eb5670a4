//! Series of rational terms, summed as a fraction by binary splitting [Haible and Papanikolaou 1998].
//!
//! For terms `t(n) = a(n) p(0) .. p(n) / (q(0) .. q(n))` let, of the terms `l <= n < r`,
//!
//! ```text
//! P = product of p(n),    Q = product of q(n),    T / Q = sum of a(n) p(l) .. p(n) / (q(l) .. q(n))
//! ```
//!
//! Then two neighbours make `P = P_l P_r`, `Q = Q_l Q_r`, `T = T_l Q_r + P_l T_r`, and the sum of all
//! terms is `T / Q`. By hand, for `e` with `p` = `a` = 1, `q(n)` = `n` (1 for 0): terms 0, 1 have
//! `Q` = 1, `T` = 2, terms 2, 3 have `Q` = 6, `T` = 4 and together `Q` = 6, `T` = 2 6 + 4 = 16: 16/6.
//!
//! **Signs.** Where terms alternate, the sign of a block's first term is left out of its `T`. Blocks
//! have an even number of terms, so that the first terms of two neighbours have one sign and the sum
//! above is one of numbers that are not negative: terms become smaller, so `T` has its first term's
//! sign.
//!
//! **Cuts.** Where `Q` of every block is longer than the sum is wanted, all blocks lose as many of their lowest limbs:
//! with `P`, `Q` and `T` over the same power of 2^32, `T / Q` is the same. What is cut off is less than 1 of each, and
//! `Q` keeps [`MORE`] limbs more than are wanted, so that the sum is off by some `2^-32` of its last limb. Chudnovsky's
//! series has a `Q` of 1.8 to 2.7 times as many bits as digits have.
//!
//! **The shape.** All blocks of a level are one batch, and halves of it are multiplied. Block `i` of the
//! lowest level is in the place whose bits are those of `i` in reverse, which makes numbers that are half
//! a batch apart neighbours, at every level.
//!
//! **Cost**: `log2(n / 32)` levels of four products each, of all limbs of `P`, `Q` and `T`.

use crate::operations::forms::Form;
use crate::{Batch, BigUint, Engine, Error};
use bigint_core::{LIMB_BITS, Layout, Operation, Shape};

/// Terms of the blocks that are summed term by term, at most; half as many at least.
const BLOCK: usize = 32;

/// Limbs that cuts leave of `Q` beyond those that are wanted.
const MORE: usize = 4;

/// A series of positive terms, or of terms whose sign alternates.
pub(crate) struct Series {
    /// Factors of `p(n)` and of `q(n)`, for `n` > 0; both are 1 for 0.
    pub ratio: fn(u64) -> [[u64; 4]; 2],
    /// `a(n)`.
    pub factor: fn(u64) -> u128,
    pub alternates: bool,
}

/// `P`, `Q` and `T` of blocks.
struct Level {
    batches: [Batch; 3],
    /// Upper bounds of their lengths in bits.
    bits: [Vec<u64>; 3],
}

impl Series {
    /// `[T, Q]` of the first terms, `terms` of them or a few more, for so many bits of `T / Q`; without the lowest limbs
    /// of both.
    pub fn sum(&self, engine: &Engine, terms: usize, bits: usize) -> Result<[Batch; 2], Error> {
        let wanted = bits.div_ceil(LIMB_BITS) + MORE;
        let blocks = terms.div_ceil(BLOCK).next_power_of_two();
        let length = terms.div_ceil(blocks).next_multiple_of(2).max(2);
        let mut level = self.blocks(engine, blocks, length)?;
        let mut of_each = 1;
        while level.bits[0].len() > 1 {
            level = level.halved(engine)?;
            of_each *= 2;
            level.cut(engine, wanted, of_each)?;
        }
        let [_, q, t] = level.batches;
        Ok([t, q])
    }

    fn blocks(&self, engine: &Engine, count: usize, length: usize) -> Result<Level, Error> {
        let reversed = |i: usize| match count {
            1 => 0,
            _ => i.reverse_bits() >> (usize::BITS - count.ilog2()),
        };
        let indices: Vec<usize> = (0..count).collect();
        let made = bigint_cpu::map(indices, usize::MAX, |i| {
            self.block(reversed(i) * length, length)
        });
        let batch = |which: usize| engine.batch_of(count, |i| &made[i][which]);
        let bits = |which: usize| made.iter().map(|block| block[which].bits()).collect();
        Ok(Level {
            batches: [batch(0)?, batch(1)?, batch(2)?],
            bits: [bits(0), bits(1), bits(2)],
        })
    }

    /// `P`, `Q` and `T` of some terms, from the last one on.
    fn block(&self, first: usize, length: usize) -> [BigUint; 3] {
        let [mut p, mut q, mut t] = [1u8, 1, 0].map(BigUint::from);
        for n in (first..first + length).rev().map(|n| n as u64) {
            let [p_n, q_n] = match n {
                0 => [[1; 4]; 2],
                n => (self.ratio)(n),
            };
            let times = |number: &mut BigUint, factors: [u64; 4]| {
                let factors = factors.into_iter().filter(|&factor| factor != 1);
                factors.for_each(|factor| *number *= factor);
            };
            // T = a(n) p(n) Q + p(n) T, whose signs may differ.
            let term = &q * (self.factor)(n);
            t = match self.alternates {
                true => term - t,
                false => term + t,
            };
            times(&mut t, p_n);
            times(&mut p, p_n);
            times(&mut q, q_n);
        }
        [p, q, t]
    }
}

impl Level {
    /// Leaves about so many limbs of each `Q`, which is the product of those of `of_each` blocks.
    fn cut(&mut self, engine: &Engine, wanted: usize, of_each: u64) -> Result<(), Error> {
        // A product may have a bit less than its factors together.
        let least = self.bits[1].iter().map(|bits| bits.saturating_sub(of_each));
        let least = least.min().unwrap_or(0) as usize / LIMB_BITS;
        let cut = least.saturating_sub(wanted);
        if cut == 0 {
            return Ok(());
        }
        for (batch, bits) in self.batches.iter_mut().zip(&mut self.bits) {
            *batch = match batch.width() > cut {
                true => engine.limbs_from(batch, cut, batch.width() - cut)?,
                false => zeros(engine, batch.len())?,
            };
            for bits in bits {
                *bits = bits.saturating_sub((cut * LIMB_BITS) as u64);
            }
        }
        Ok(())
    }

    /// Blocks of twice as many terms.
    fn halved(&self, engine: &Engine) -> Result<Level, Error> {
        let half = self.bits[0].len() / 2;
        let low = |which: usize| engine.slice(&self.batches[which], 0..half);
        let high = |which: usize| engine.slice(&self.batches[which], half..2 * half);
        let sums =
            |a: &[u64], b: &[u64]| -> Vec<u64> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
        let ([p_l, q_l, t_l], [p_r, q_r, t_r]) = {
            let halves = |bits: &'_ Vec<u64>| (bits[..half].to_vec(), bits[half..].to_vec());
            let [(a, x), (b, y), (c, z)] = [0, 1, 2].map(|which| halves(&self.bits[which]));
            ([a, b, c], [x, y, z])
        };
        let longer = sums(&t_l, &q_r).into_iter().zip(sums(&p_l, &t_r));
        let bits = [
            sums(&p_l, &p_r),
            sums(&q_l, &q_r),
            longer.map(|(a, b)| a.max(b) + 1).collect(),
        ];
        let [p_width, q_width, t_width] = [0, 1, 2].map(|which| {
            let longest = bits[which].iter().max().copied().unwrap_or(0);
            (longest.div_ceil(LIMB_BITS as u64) as usize).max(1)
        });
        let mul = |a: &Batch, b: &Batch, width: usize| {
            let width = width.min(a.width() + b.width());
            engine.first_of(Operation::Mul, Form::Modulo(width), &[a, b])
        };
        let (p, q_high) = (low(0)?, high(1)?);
        let t = [
            mul(&low(2)?, &q_high, t_width)?,
            mul(&p, &high(2)?, t_width)?,
        ];
        let t = engine.first_of(Operation::Add, Form::Modulo(t_width), &[&t[0], &t[1]])?;
        let q = mul(&low(1)?, &q_high, q_width)?;
        // Nobody asks for that of all terms.
        let p = match half {
            1 => zeros(engine, 1)?,
            _ => mul(&p, &high(0)?, p_width)?,
        };
        Ok(Level {
            batches: [p, q, t],
            bits,
        })
    }
}

/// So many zeros.
fn zeros(engine: &Engine, count: usize) -> Result<Batch, Error> {
    engine.batch_from_limbs(vec![0; count], Shape::new(count, 1, Layout::Contiguous))
}
