//! Series of rational terms, summed as a fraction by binary splitting [Haible and Papanikolaou 1998].
//!
//! For terms `t(n) = a(n) p(1) .. p(n) / (q(1) .. q(n))` let, of the terms `l <= n < r`, `l > 0`,
//!
//! ```text
//! P = product of p(n),    Q = product of q(n),    T / Q = sum of a(n) p(l) .. p(n) / (q(l) .. q(n))
//! ```
//!
//! Then two neighbours make `P = P_l P_r`, `Q = Q_l Q_r`, `T = T_l Q_r + P_l T_r`, and the sum of all
//! terms is `a(0) + T / Q`. By hand, for `e` with `p` = `a` = 1, `q(n)` = `n`: terms 1, 2 have
//! `Q` = 2, `T` = 3, terms 3, 4 have `Q` = 12, `T` = 5 and together `Q` = 24, `T` = 3 12 + 5 = 41: 1 + 41/24.
//!
//! **Signs.** Where terms alternate, the sign of a block's first term is left out of its `T`. Blocks
//! have an even number of terms, so that the first terms of two neighbours have one sign and the sum
//! above is one of numbers that are not negative: terms become smaller, so `T` has its first term's
//! sign. Only of two single terms, and of `a(0)` and all others, it is a difference.
//!
//! **Cuts.** Where `Q` of every block is longer than the sum is wanted, all blocks lose as many of their lowest limbs:
//! with `P`, `Q` and `T` over the same power of 2^32, `T / Q` is the same. What is cut off is less than 1 of each, and
//! `Q` keeps [`MORE`] limbs more than are wanted, so that the sum is off by some `2^-32` of its last limb. Chudnovsky's
//! series has a `Q` of 1.8 to 2.7 times as many bits as digits have.
//!
//! **The shape.** All blocks are summed at once, each by its halves: the terms with the same place in their blocks are one
//! batch, then the pairs with the same place, and at last whole blocks. From there on halves of the one batch are joined.
//! Block `i` is in the place whose bits are those of `i` in reverse, which makes numbers that are half a batch apart
//! neighbours, at every level.
//!
//! **Cost**: `log2(n)` levels of four products each, of all limbs of `P`, `Q` and `T`.

use crate::expression::Expression;
use crate::operations::forms::Form;
use crate::trees::slack::logarithm;
use crate::values::column::trimmed;
use crate::{Batch, Engine, Error};
use bigint_core::{LIMB_BITS, Operation};
use std::ops::Range;

/// Terms of the blocks whose batch is halved, at least, and less than twice as many.
const BLOCK: usize = 32;

/// Limbs that cuts leave of `Q` beyond those that are wanted.
const MORE: usize = 4;

/// `p(n)`, `q(n)` and `a(n)`.
pub(crate) type Term = [Expression<Batch>; 3];

/// A series of positive terms, or of terms whose sign alternates, that become smaller.
pub(crate) struct Series {
    /// The term `n` = `k + 1`, of `k`. All three of it do not decrease.
    pub after: fn(&Expression<Batch>) -> Term,
    /// `a(0)`.
    pub first: u32,
    pub alternates: bool,
}

/// `P`, `Q` and `T` of blocks.
struct Level {
    batches: [Batch; 3],
    /// Upper bounds of their lengths in bits, one for all or one each.
    bits: [Vec<u64>; 3],
}

impl Series {
    /// `[T, Q]` of the first terms, `terms` of them or a few more, for so many bits of `T / Q`; without the lowest limbs
    /// of both.
    pub fn sum(&self, engine: &Engine, terms: usize, bits: usize) -> Result<[Batch; 2], Error> {
        let wanted = bits.div_ceil(LIMB_BITS) + MORE;
        let count = 1 << (terms / BLOCK).max(1).ilog2();
        let length = terms.div_ceil(count).next_multiple_of(2).max(2);
        let mut level = self.blocks(engine, count, length)?;
        let mut of_each = 1;
        while level.count() > 1 {
            let [low, high] = level.halves(engine)?;
            level = low.joined(engine, &high, false)?;
            of_each *= 2;
            level.cut(engine, wanted, of_each)?;
        }
        let [_, q, t] = level.batches;
        let first = engine.times(&q, self.first)?;
        let t = match self.alternates {
            true => engine.sub(&first, &t)?,
            false => engine.add(&first, &t)?,
        };
        Ok([t, q])
    }

    /// So many blocks of as many terms, which are more than one.
    fn blocks(&self, engine: &Engine, count: usize, length: usize) -> Result<Level, Error> {
        let reversed = |i: usize| match count {
            1 => 0,
            _ => i.reverse_bits() >> (usize::BITS - count.ilog2()),
        };
        let starts_of_all: Vec<u64> = (0..count).map(|i| (reversed(i) * length) as u64).collect();
        let starts = engine.of_limbs(&starts_of_all)?;
        let last = Engine::cpu().of_limbs(&[(count * length) as u64 - 1])?;
        let longest = self.parts(&(&last + 0u32)).map(|part| {
            let part = Engine::cpu().eval(&part)?;
            Ok::<_, Error>(part.to_biguints()?[0].bits())
        });
        let [p, q, t] = longest;
        let longest = [p?, q?, t?];
        let mut level = self.terms(engine, &starts, longest, 0..length)?;
        if engine.is_rehearsing() {
            for batch in &level.batches {
                engine.bit_length(batch)?;
            }
            level.bits = self.estimated(&starts_of_all, longest, length)?;
            return Ok(level);
        }
        for (batch, bits) in level.batches.iter().zip(&mut level.bits) {
            *bits = engine.lengths(batch)?;
        }
        Ok(level)
    }

    /// The lengths of `P`, `Q` and `T` of blocks, by those of the last one and of the logarithms of terms in their middles.
    fn estimated(
        &self,
        starts: &[u64],
        longest: [u64; 3],
        length: usize,
    ) -> Result<[Vec<u64>; 3], Error> {
        let cpu = Engine::cpu();
        let last = starts.iter().max().copied().unwrap_or(0);
        let block = self.terms(&cpu, &cpu.of_limbs(&[last])?, longest, 0..length)?;
        let middles: Vec<u64> = starts.iter().map(|&at| at + length as u64 / 2).collect();
        let middles = cpu.of_limbs(&middles)?;
        let [p, q, _] = self.parts(&(&middles + 0u32)).map(|part| cpu.eval(&part));
        let logarithms = |batch: Batch| -> Result<Vec<f64>, Error> {
            let rows = batch.rows()?;
            let logarithms = rows.chunks(batch.width()).map(|limbs| {
                let (top, below) = logarithm(trimmed(limbs));
                top + (LIMB_BITS * below) as f64
            });
            Ok(logarithms.collect())
        };
        let [p, q] = [logarithms(p?)?, logarithms(q?)?];
        let of = |which: usize, logarithms: &[f64]| -> Result<Vec<u64>, Error> {
            let bits = cpu.lengths(&block.batches[which])?[0] as f64;
            let most = logarithms.iter().copied().fold(0.0, f64::max);
            let less = logarithms.iter().map(|log| (most - log) * length as f64);
            Ok(less.map(|less| (bits - less).max(1.0) as u64).collect())
        };
        Ok([of(0, &p)?, of(1, &q)?, of(2, &q)?])
    }

    /// These terms of each block.
    fn terms(
        &self,
        engine: &Engine,
        starts: &Batch,
        longest: [u64; 3],
        terms: Range<usize>,
    ) -> Result<Level, Error> {
        let half = match terms.len() {
            1 => {
                let parts = self.parts(&(starts + terms.start as u64));
                let part =
                    |which: usize| engine.eval_wrapping(&parts[which], limbs(&[longest[which]]));
                return Ok(Level {
                    batches: [part(0)?, part(1)?, part(2)?],
                    bits: longest.map(|bits| vec![bits]),
                });
            }
            2 => 1,
            length => (length / 2).next_multiple_of(2),
        };
        let middle = terms.start + half;
        let low = self.terms(engine, starts, longest, terms.start..middle)?;
        let high = self.terms(engine, starts, longest, middle..terms.end)?;
        low.joined(engine, &high, self.alternates && terms.len() == 2)
    }

    /// `P`, `Q` and `T` of one term.
    fn parts(&self, k: &Expression<Batch>) -> Term {
        let [p, q, a] = (self.after)(k);
        [p.clone(), q, a * p]
    }
}

impl Level {
    fn count(&self) -> usize {
        self.batches[0].len()
    }

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
                false => engine.wrapping_sub(batch, batch)?,
            };
            for bits in bits {
                *bits = bits.saturating_sub((cut * LIMB_BITS) as u64);
            }
        }
        Ok(())
    }

    /// The lower blocks of pairs of neighbours, and the higher ones.
    fn halves(&self, engine: &Engine) -> Result<[Level; 2], Error> {
        let half = |range: Range<usize>| {
            let batch = |which: usize| engine.slice(&self.batches[which], range.clone());
            let bits = |which: usize| self.bits[which][range.clone()].to_vec();
            Ok::<_, Error>(Level {
                batches: [batch(0)?, batch(1)?, batch(2)?],
                bits: [bits(0), bits(1), bits(2)],
            })
        };
        let middle = self.count() / 2;
        Ok([half(0..middle)?, half(middle..2 * middle)?])
    }

    /// Blocks of the terms of these and of their neighbours.
    fn joined(&self, engine: &Engine, next: &Level, is_difference: bool) -> Result<Level, Error> {
        let ([p_l, q_l, t_l], [p_r, q_r, t_r]) = (&self.batches, &next.batches);
        let bits = |of: usize, of_next: usize| sums(&self.bits[of], &next.bits[of_next]);
        let (p_bits, q_bits) = (bits(0, 0), bits(1, 1));
        let longer = bits(2, 1).into_iter().zip(bits(0, 2));
        let t_bits: Vec<u64> = longer.map(|(a, b)| a.max(b) + 1).collect();
        let terms = [
            product(engine, t_l, q_r, &t_bits)?,
            product(engine, p_l, t_r, &t_bits)?,
        ];
        let operation = match is_difference {
            true => Operation::Sub,
            false => Operation::Add,
        };
        let form = Form::Modulo(limbs(&t_bits));
        let t = engine.first_of(operation, form, &[&terms[0], &terms[1]])?;
        drop(terms);
        Ok(Level {
            batches: [
                product(engine, p_l, p_r, &p_bits)?,
                product(engine, q_l, q_r, &q_bits)?,
                t,
            ],
            bits: [p_bits, q_bits, t_bits],
        })
    }
}

/// Products of no more than so many bits.
fn product(engine: &Engine, a: &Batch, b: &Batch, bits: &[u64]) -> Result<Batch, Error> {
    let width = limbs(bits).min(a.width() + b.width());
    engine.first_of(Operation::Mul, Form::Modulo(width), &[a, b])
}

fn sums(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// The limbs of the longest of numbers of so many bits.
fn limbs(bits: &[u64]) -> usize {
    let longest = bits.iter().max().copied().unwrap_or(0);
    (longest.div_ceil(LIMB_BITS as u64) as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BigUint;

    /// `1 - 1/2 + 1/4 - ..`, in blocks of many lengths.
    #[test]
    fn alternating_terms_are_summed_in_blocks_of_any_length() {
        let halves = Series {
            after: |k| {
                let one = (k + 1u32).min(1u32);
                [one.clone(), &one * 2u32, one]
            },
            first: 1,
            alternates: true,
        };
        let engine = Engine::cpu();
        for terms in [
            1, 2, 3, 31, 32, 33, 63, 64, 65, 66, 129, 130, 150, 255, 256, 1000,
        ] {
            let [t, q] = halves.sum(&engine, terms, 4096).expect("memory");
            let [t, q] = [t, q].map(|x| x.to_biguints().expect("memory").swap_remove(0));
            // 2/3 but for the first term that is left out.
            let (twice, bits) = (BigUint::from(2u8) * &q, q.bits());
            let thrice = BigUint::from(3u8) * t;
            let difference = if thrice > twice {
                thrice - twice
            } else {
                twice - thrice
            };
            assert!(bits >= terms as u64 && difference <= 4u8.into(), "{terms}");
        }
    }
}
