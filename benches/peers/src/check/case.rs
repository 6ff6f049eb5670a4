//! Cases: shapes and operands that are likely to show a mistake.

use anyhow::Result;
use bigint_core::{Algorithm, Layout, Limb, Shape};
use bigint_cpu::fast::number::{self, Thresholds};
use bigint_cpu::{Cpu, Numbers, NumbersMut, Path};
use rand::rngs::SmallRng;
use rand::{Rng, RngCore, SeedableRng};

use crate::operands::{Op, words};

/// Up to here every length is tried: past the transform's threshold with
/// AVX-512 IFMA and every threshold of lanes.
const EVERY_LENGTH: usize = 1200;

/// Limbs from which the transform's coefficients hold two bits less: `2^18.7`
/// coefficients of 88 bits.
const FEWER_BITS: usize = 1_153_432;

/// Limbs of a sum whose operands and result take 64 MiB, from which it is written
/// past the caches.
const STREAMED: usize = (64 << 20) / 12;

/// A batch as it is handed to the engine.
struct Batch {
    limbs: Vec<Limb>,
    shape: Shape,
}

/// One call: operands, result shape and algorithm.
pub struct Case {
    /// The operation. A square hands the same memory over twice.
    pub op: Op,
    a: Batch,
    b: Batch,
    r: Shape,
    algorithm: Algorithm,
    wants_carry: bool,
    /// Thresholds that take short operands where otherwise only long ones go, or the
    /// other way round.
    given: Option<Given>,
}

/// Other thresholds, where the engine can be given such.
#[derive(Clone, Copy, Debug)]
enum Given {
    /// Lanes split from so many digits; sums are written past the caches.
    Batch(usize),
    /// One number at a time, by [`number::mul_with`].
    Number(Thresholds),
}

/// Ends of the ranges that thresholds of lanes are taken from; those of the proofs
/// are 127 and 1023 digits.
const DIGITS: [usize; 3] = [64, 256, 2048];

impl Given {
    fn random(rng: &mut SmallRng) -> Option<Given> {
        let transform = match rng.random_range(0..3) {
            0 => usize::MAX,
            _ => rng.random_range(1..40),
        };
        match rng.random_range(0..8) {
            0 | 1 => {
                let end = DIGITS[rng.random_range(0..DIGITS.len())];
                Some(Given::Batch(rng.random_range(8..end)))
            }
            2 => Some(Given::Number(Thresholds {
                karatsuba: rng.random_range(2..24),
                toom3: rng.random_range(2..120),
                toom4: rng.random_range(2..160),
                transform,
            })),
            _ => None,
        }
    }
}

/// One number of a result: its limbs and, where asked for, its carry or borrow.
#[derive(PartialEq)]
pub struct Outcome {
    /// Exactly as many as the result is wide.
    pub limbs: Vec<Limb>,
    /// 0 or 1; 0 where it was not asked for.
    pub carry: Limb,
}

impl Batch {
    fn new(shape: Shape, mut limb: impl FnMut(usize) -> Vec<Limb>) -> Self {
        // Padding is not zero: nobody may count on that.
        let mut limbs = vec![0xdead_beef; shape.limbs()];
        for i in 0..shape.count {
            for (j, limb) in limb(i).into_iter().enumerate() {
                limbs[shape.index(i, j)] = limb;
            }
        }
        Batch { limbs, shape }
    }

    fn number(&self, i: usize) -> Vec<Limb> {
        let i = if self.shape.count == 1 { 0 } else { i };
        gather(&self.limbs, self.shape, i)
    }

    fn numbers(&self) -> Result<Numbers<'_>, bigint_cpu::Error> {
        Numbers::new(&self.limbs, self.shape)
    }
}

fn gather(limbs: &[Limb], shape: Shape, i: usize) -> Vec<Limb> {
    (0..shape.width).map(|j| limbs[shape.index(i, j)]).collect()
}

impl Case {
    /// Case `index` of the sequence that `seed` names.
    pub fn random(op: Op, seed: u64, index: u64) -> Case {
        let mut rng = SmallRng::seed_from_u64(seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let n = width(&mut rng);
        let m = match rng.random_range(0..4) {
            0 | 1 => n,
            2 => near(&mut rng, n),
            _ => width(&mut rng),
        };
        let m = if op == Op::Sqr { n } else { m };
        let count = count(&mut rng, n.max(m));
        let layout = |rng: &mut SmallRng| Layout::ALL[rng.random_range(0..Layout::ALL.len())];
        let operand = |rng: &mut SmallRng, width| {
            let numbers = if rng.random_range(0..8) == 0 {
                1
            } else {
                count
            };
            let shape = Shape::new(numbers, width, layout(rng));
            Batch::new(shape, |_| pattern(rng, width))
        };
        let a = operand(&mut rng, n);
        let b = operand(&mut rng, m);
        let exact = exact_width(op, n, m);
        let width = match rng.random_range(0..10) {
            0..6 => exact,
            6 | 7 => n.max(m),
            8 => rng.random_range(1..=exact),
            _ => exact + rng.random_range(1..4),
        };
        let named = match op {
            Op::Mul | Op::Sqr => &[Algorithm::School, Algorithm::Comba, Algorithm::Karatsuba][..],
            _ => &[Algorithm::Ripple, Algorithm::CarryLookahead][..],
        };
        // The named algorithms are for reading: slow where numbers are long.
        let by_name = n.max(m) <= 64 && rng.random_range(0..8) == 0;
        Case {
            op,
            r: Shape::new(count, width, layout(&mut rng)),
            algorithm: if by_name {
                named[rng.random_range(0..named.len())]
            } else {
                Algorithm::Auto
            },
            wants_carry: op.is_linear() && rng.random_range(0..2) == 0,
            given: Given::random(&mut rng),
            a,
            b,
        }
    }

    /// All-ones operands at every length around every threshold of every path:
    /// the largest digits, and the longest carries, that can meet in any sum.
    pub fn edges(op: Op, cpus: &[Cpu]) -> Vec<Case> {
        let thresholds: Vec<usize> = cpus
            .iter()
            .map(|cpu| Thresholds::of(cpu.path()))
            .flat_map(|of| [of.karatsuba, of.toom3, of.toom4, of.transform])
            .filter(|&words| words < 1 << 20)
            .map(|words| 2 * words)
            .collect();
        let mut lengths: Vec<usize> = (1..=EVERY_LENGTH).collect();
        for &edge in &thresholds {
            lengths.extend((edge - 24..=edge + 24).filter(|&length| length > EVERY_LENGTH));
        }
        // Lengths of transforms: 5 to 8 times a power of two.
        for power in 9..=15 {
            for factor in 5..=8 {
                let edge = factor << power;
                lengths.extend(edge - 3..=edge + 3);
            }
        }
        let far = if op.is_linear() { STREAMED } else { FEWER_BITS };
        lengths.extend(far - 3..=far + 3);
        let mut pairs: Vec<_> = lengths.into_iter().map(|n| (n, n)).collect();
        if op != Op::Sqr {
            for n in thresholds.iter().flat_map(|&edge| [edge, 4 * edge + 1]) {
                let edges = thresholds
                    .iter()
                    .flat_map(|&edge| [edge - 1, edge, edge + 1]);
                let shares = [n / 9, n / 3, n / 2 - 1, n / 2, n / 2 + 1, n - 2, n - 1];
                let shorter = [1, 2, 3, 7, 63, 64, 65]
                    .into_iter()
                    .chain(shares)
                    .chain(edges);
                for m in shorter.filter(|&m| m < n) {
                    pairs.extend([(n, m), (m, n)]);
                }
            }
        }
        pairs
            .into_iter()
            .map(|(n, m)| Case::ones(op, n, m))
            .collect()
    }

    /// Operands of `n` and `m` limbs of nothing but ones.
    fn ones(op: Op, n: usize, m: usize) -> Case {
        let ones = |width| {
            let shape = Shape::new(1, width, Layout::Contiguous);
            Batch::new(shape, |_| vec![Limb::MAX; width])
        };
        Case {
            op,
            a: ones(n),
            b: ones(m),
            r: Shape::new(1, exact_width(op, n, m), Layout::Contiguous),
            algorithm: Algorithm::Auto,
            wants_carry: op.is_linear(),
            given: None,
        }
    }

    /// Numbers in the batch.
    pub fn count(&self) -> usize {
        self.r.count
    }

    /// Width of the result in limbs.
    pub fn width(&self) -> usize {
        self.r.width
    }

    /// Whether the carry or borrow is part of the result.
    pub fn wants_carry(&self) -> bool {
        self.wants_carry
    }

    /// The operands of number `i`.
    pub fn operands(&self, i: usize) -> (Vec<Limb>, Vec<Limb>) {
        let b = if self.op == Op::Sqr { &self.a } else { &self.b };
        (self.a.number(i), b.number(i))
    }

    /// The result by the engine.
    pub fn compute(&self, cpu: &Cpu) -> Result<Vec<Outcome>> {
        let mut tuning = *cpu.tuning();
        match self.given {
            Some(Given::Batch(digits)) => {
                for lanes in [&mut tuning.avx512ifma, &mut tuning.avx2] {
                    lanes.karatsuba = digits;
                    lanes.karatsuba_square = digits;
                    lanes.fewest = 1;
                }
                tuning.stream_bytes = 0;
                tuning.stream_words_bytes = 0;
            }
            Some(Given::Number(thresholds)) if !self.op.is_linear() => {
                return Ok(self.compute_alone(cpu.path(), thresholds));
            }
            _ => {}
        }
        let cpu = cpu.with_tuning(tuning);
        let mut limbs = vec![0x5555_5555; self.r.limbs()];
        let mut carries = vec![7; self.r.count];
        let r = NumbersMut::new(&mut limbs, self.r)?;
        let a = self.a.numbers()?;
        let carry = self.wants_carry.then_some(&mut carries[..]);
        match self.op {
            Op::Mul => cpu.mul(r, a, self.b.numbers()?, self.algorithm)?,
            Op::Sqr => cpu.mul(r, a, a, self.algorithm)?,
            Op::Add => cpu.add(r, a, self.b.numbers()?, carry, self.algorithm)?,
            Op::Sub => cpu.sub(r, a, self.b.numbers()?, carry, self.algorithm)?,
        }
        let outcome = |i| Outcome {
            limbs: gather(&limbs, self.r, i),
            carry: if self.wants_carry { carries[i] } else { 0 },
        };
        Ok((0..self.r.count).map(outcome).collect())
    }

    /// The products one number at a time, with these thresholds.
    fn compute_alone(&self, path: Path, thresholds: Thresholds) -> Vec<Outcome> {
        let product = |i| {
            let (a, b) = self.operands(i);
            let (a, b) = (words(&a), words(&b));
            let mut product = vec![0; a.len() + b.len()];
            // The same slice twice is what is taken for a square.
            let b = if self.op == Op::Sqr { &a } else { &b };
            number::mul_with(&mut product, &a, b, path, thresholds, i % 2 == 0);
            let mut limbs: Vec<Limb> = product
                .iter()
                .flat_map(|&word| [word as Limb, (word >> 32) as Limb])
                .collect();
            limbs.resize(self.r.width, 0);
            Outcome { limbs, carry: 0 }
        };
        (0..self.count()).map(product).collect()
    }

    /// Everything but the operands.
    pub fn describe(&self) -> String {
        format!(
            "{} ({}, {:?}) of {:?} and {:?} to {:?}",
            self.op.name(),
            self.algorithm.name(),
            self.given,
            self.a.shape,
            self.b.shape,
            self.r
        )
    }
}

/// Limbs of the result that is always exact.
fn exact_width(op: Op, n: usize, m: usize) -> usize {
    match op {
        Op::Mul | Op::Sqr => n + m,
        _ => op.result_width(n).max(op.result_width(m)),
    }
}

/// Limbs in an operand: mostly few, now and then as many as the transform takes.
fn width(rng: &mut SmallRng) -> usize {
    let most = match rng.random_range(0..1000) {
        0..700 => 16,
        700..950 => 130,
        950..990 => 600,
        990..999 => 4200,
        _ => 33_000,
    };
    rng.random_range(1..=most)
}

/// A width a little off `n`.
fn near(rng: &mut SmallRng, n: usize) -> usize {
    (n + rng.random_range(0..4))
        .saturating_sub(rng.random_range(0..4))
        .max(1)
}

/// Numbers in a batch: around a vector's lanes and an interleaved row, fewer of
/// the long ones.
fn count(rng: &mut SmallRng, width: usize) -> usize {
    const EDGES: [usize; 16] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65];
    let most = (4000 / width).clamp(1, 130);
    let count = if rng.random_range(0..2) == 0 {
        EDGES[rng.random_range(0..EDGES.len())]
    } else {
        rng.random_range(1..=most)
    };
    count.min(most)
}

/// A number of `width` limbs: random, or one whose carries run far.
fn pattern(rng: &mut SmallRng, width: usize) -> Vec<Limb> {
    let mut limbs = vec![0; width];
    let bits = 32 * width;
    let set = |limbs: &mut Vec<Limb>, bit: usize| limbs[bit / 32] |= 1 << (bit % 32);
    match rng.random_range(0..12) {
        0 => {}
        1 => limbs[0] = 1,
        2 => limbs.fill(Limb::MAX),
        3 => set(&mut limbs, rng.random_range(0..bits)),
        4 => {
            // 2^k - 1
            let ones = rng.random_range(0..=bits);
            limbs[..ones / 32].fill(Limb::MAX);
            if ones % 32 > 0 {
                limbs[ones / 32] = (1 << (ones % 32)) - 1;
            }
        }
        5 => {
            // 2^k + 1
            set(&mut limbs, rng.random_range(0..bits));
            limbs[0] |= 1;
        }
        6 | 7 => {
            // Runs of zeros and ones, of any length.
            let mut bit = 0;
            let mut ones = rng.random_range(0..2) == 0;
            let longest = rng.random_range(1..=bits.min(4096));
            while bit < bits {
                let end = (bit + rng.random_range(1..=longest)).min(bits);
                if ones {
                    (bit..end).for_each(|bit| set(&mut limbs, bit));
                }
                (bit, ones) = (end, !ones);
            }
        }
        8 => {
            // All ones but one limb, or but one bit.
            limbs.fill(Limb::MAX);
            let limb = rng.random_range(0..width);
            limbs[limb] = if rng.random_range(0..2) == 0 {
                0
            } else {
                !(1 << rng.random_range(0..32))
            };
        }
        _ => limbs.iter_mut().for_each(|limb| *limb = rng.next_u32()),
    }
    limbs
}
