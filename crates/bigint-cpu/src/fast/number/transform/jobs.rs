//! The stages of a product, as jobs for an engine.

use super::Plan;
use super::engine::{Engine, Job};
use super::field::{MIN_H, PRIMES, Ring, Row, Stored};
use super::recombine::Overflow;
use super::stages::Stages;
use super::{passes, top};

/// The columns that are split and transformed together. With eight blocks and four primes they take
/// 32 KiB.
pub(super) const TILE: usize = 16;

/// The job that splits the operand and runs the first three levels on a range of columns.
pub(super) struct SplitTop<'a, 'b> {
    pub(super) limbs: &'a [u64],
    pub(super) plan: Plan,
    /// The first column of the range.
    pub(super) first: usize,
    /// The range's part of each block, prime by prime.
    pub(super) blocks: Vec<&'b mut [Row]>,
}

impl Job for SplitTop<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(mut self, engine: E) {
        let constants = engine.tables().constants();
        let rings = engine.rings();
        let h = self.plan.h;
        let columns = self.blocks[0].len();
        for from in (0..columns).step_by(TILE) {
            let to = (from + TILE).min(columns);
            for block in 0..self.plan.blocks {
                for column in from..to {
                    let row = block * self.plan.block() + self.first + column;
                    // Half of the rows of a balanced operand lie beyond its end.
                    if 16 * row * h as usize >= 64 * self.limbs.len() {
                        for prime in 0..PRIMES.len() {
                            let to = prime * self.plan.blocks + block;
                            self.blocks[to][column] = Row::ZERO;
                        }
                        continue;
                    }
                    for part in 0..E::Ring::PARTS {
                        let [low, high] = rings[0].pieces(part, self.limbs, row, h);
                        for (prime, ring) in rings.into_iter().enumerate() {
                            let radix = ring.factor(&constants.radix[prime][(h - MIN_H) as usize]);
                            let high = ring.mul(ring.residues(high), radix);
                            let residues = ring.fold4(ring.add(high, ring.residues(low)));
                            let to = &mut self.blocks[prime * self.plan.blocks + block][column];
                            ring.store(part, to, residues);
                        }
                    }
                }
            }
            for (prime, ring) in rings.into_iter().enumerate() {
                let blocks = &mut self.blocks[prime * self.plan.blocks..][..self.plan.blocks];
                let constants = &constants.top[prime];
                match self.plan.blocks {
                    5 => top::forward::<_, 5>(ring, tile(blocks, from, to), constants),
                    6 => top::forward::<_, 6>(ring, tile(blocks, from, to), constants),
                    7 => top::forward::<_, 7>(ring, tile(blocks, from, to), constants),
                    _ => top::forward::<_, 8>(ring, tile(blocks, from, to), constants),
                }
            }
        }
    }
}

#[inline(always)]
fn tile<'a, const K: usize>(
    blocks: &'a mut [&mut [Row]],
    from: usize,
    to: usize,
) -> [&'a mut [Row]; K] {
    let mut blocks = blocks.iter_mut();
    std::array::from_fn(|_| match blocks.next() {
        Some(block) => &mut block[from..to],
        None => &mut [],
    })
}

/// The job that takes one block of an operand modulo one prime through its levels.
pub(super) struct Values<'a> {
    pub(super) prime: usize,
    /// The number of the block, which is the number of its node.
    pub(super) index: usize,
    pub(super) x: &'a mut [Row],
    pub(super) roots: &'a [Stored],
}

impl Job for Values<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) {
        passes::forward(engine.ring(self.prime), self.x, self.index, self.roots);
    }
}

/// The factor that a block is multiplied by.
pub(super) enum Times<'a> {
    /// The block's own values, which make the product a square.
    Itself,
    /// The block of another operand, whose levels have still to be computed.
    Coefficients(&'a mut [Row]),
    /// The block of another operand, whose levels have been computed.
    Values(&'a [Row]),
}

/// The job that takes one block modulo one prime through its levels, multiplies it by the other
/// operand, and goes back through the levels.
pub(super) struct Blocks<'a> {
    pub(super) plan: Plan,
    pub(super) prime: usize,
    /// The number of the block, which is the number of its node.
    pub(super) index: usize,
    pub(super) x: &'a mut [Row],
    pub(super) y: Times<'a>,
    pub(super) roots: &'a [Stored],
}

impl Job for Blocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) {
        let Blocks {
            plan,
            prime,
            index,
            x,
            y,
            roots,
        } = self;
        let constants = engine.tables().constants();
        let ring = engine.ring(prime);
        let y = match y {
            Times::Itself => None,
            Times::Coefficients(y) => {
                passes::forward(ring, y, index, roots);
                Some(&*y)
            }
            Times::Values(y) => Some(y),
        };
        passes::forward(ring, x, index, roots);
        let scale = &constants.scale[prime][plan.log_block as usize];
        let below = &roots[index * x.len() / 2..];
        ring.pointwise(prime, x, y, below, scale);
        passes::inverse(ring, x, index, roots, &constants.minus_one[prime]);
    }
}

/// The job that goes back through the first three levels on a range of columns.
pub(super) struct InverseTop<'a> {
    pub(super) plan: Plan,
    /// The range's part of each block, prime by prime.
    pub(super) blocks: Vec<&'a mut [Row]>,
}

impl Job for InverseTop<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(mut self, engine: E) {
        let constants = engine.tables().constants();
        let columns = self.blocks[0].len();
        for (prime, blocks) in self.blocks.chunks_exact_mut(self.plan.blocks).enumerate() {
            let (ring, constants) = (engine.ring(prime), &constants.top[prime]);
            match self.plan.blocks {
                5 => top::inverse::<_, 5>(ring, tile(blocks, 0, columns), constants),
                6 => top::inverse::<_, 6>(ring, tile(blocks, 0, columns), constants),
                7 => top::inverse::<_, 7>(ring, tile(blocks, 0, columns), constants),
                _ => top::inverse::<_, 8>(ring, tile(blocks, 0, columns), constants),
            }
        }
    }
}

/// The job that makes limbs of residues, on a range of coefficients.
pub(super) struct Recombine<'a, 'b> {
    pub(super) plan: Plan,
    pub(super) residues: [&'a [Row]; 4],
    pub(super) out: &'b mut [u64],
}

impl Job for Recombine<'_, '_> {
    type Output = Overflow;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> Overflow {
        let inverses = &engine.tables().constants().inverses;
        E::Ring::recombine(
            engine.rings(),
            self.residues,
            inverses,
            self.plan.h,
            self.out,
        )
    }
}
