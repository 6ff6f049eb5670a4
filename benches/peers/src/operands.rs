//! Batches of random operands, in the engine's own form.

use bigint_core::{Layout, Limb, Shape};
use rand::rngs::SmallRng;
use rand::{RngCore, SeedableRng};

/// What is measured. A square is a product whose operands are one and the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Op {
    /// `a * b`
    Mul,
    /// `a * a`
    Sqr,
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
}

impl Op {
    /// Every operation.
    pub const ALL: [Op; 4] = [Op::Mul, Op::Sqr, Op::Add, Op::Sub];

    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Op::Mul => "mul",
            Op::Sqr => "sqr",
            Op::Add => "add",
            Op::Sub => "sub",
        }
    }

    /// Limbs of a result that is always exact, for operands of `width` limbs.
    pub fn result_width(self, width: usize) -> usize {
        match self {
            Op::Mul | Op::Sqr => 2 * width,
            Op::Add => width + 1,
            Op::Sub => width,
        }
    }

    /// Whether the time is the memory's: each limb is read once and written once.
    pub fn is_linear(self) -> bool {
        matches!(self, Op::Add | Op::Sub)
    }
}

/// `count` pairs of numbers `a[i] >= b[i]`, each of exactly `32 * width` bits.
pub struct Operands {
    /// Count and width, number after number.
    pub shape: Shape,
    /// The larger of each pair.
    pub a: Vec<Limb>,
    /// The smaller of each pair.
    pub b: Vec<Limb>,
}

impl Operands {
    /// Random pairs; the same for the same seed.
    pub fn random(count: usize, width: usize, seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let shape = Shape::new(count, width, Layout::Contiguous);
        let mut a = random_limbs(&mut rng, shape.limbs());
        let mut b = random_limbs(&mut rng, shape.limbs());
        for (a, b) in a.chunks_exact_mut(width).zip(b.chunks_exact_mut(width)) {
            a[width - 1] |= 1 << 31;
            b[width - 1] |= 1 << 31;
            // The unsigned types of the Rust libraries have no negative difference.
            if a.iter().rev().lt(b.iter().rev()) {
                a.swap_with_slice(b);
            }
        }
        Operands { shape, a, b }
    }
}

fn random_limbs(rng: &mut SmallRng, count: usize) -> Vec<Limb> {
    (0..count).map(|_| rng.next_u32()).collect()
}

/// A number as 64-bit words, the lowest first.
pub fn words(limbs: &[Limb]) -> Vec<u64> {
    limbs
        .chunks(2)
        .map(|pair| u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32)
        .collect()
}

/// Whether limbs and words are one number; zeros above either are ignored.
pub fn equal(limbs: &[Limb], words: &[u64]) -> bool {
    let limb_of = |i: usize| {
        let word = words.get(i / 2).copied().unwrap_or(0);
        (word >> (32 * (i % 2))) as Limb
    };
    let beyond = words.iter().skip(limbs.len().div_ceil(2));
    let top_half = limbs.len() % 2 == 1 && limb_of(limbs.len()) != 0;
    !top_half
        && beyond.into_iter().all(|&word| word == 0)
        && limbs
            .iter()
            .enumerate()
            .all(|(i, &limb)| limb == limb_of(i))
}
