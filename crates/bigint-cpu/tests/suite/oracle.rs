//! What all files of tests share: numbers worth testing, batches of them in any layout, and
//! num-bigint's results.

use bigint_core::{Layout, Limb, Operation, Shape};
use num_bigint::BigUint;

/// The generator splitmix64, which is small and the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound as u64) as usize
    }

    /// A number of `width` limbs of one of the kinds that arithmetic gets wrong:
    /// 0, 1, all ones, 2^k, 2^k - 1, long runs of ones and zeros, random.
    pub fn number(&mut self, width: usize) -> Vec<Limb> {
        let mut limbs = vec![0; width];
        if width == 0 {
            return limbs;
        }
        let bit = self.below(32 * width);
        match self.below(9) {
            0 => {}
            1 => limbs[0] = 1,
            2 | 3 => limbs.fill(Limb::MAX),
            4 => limbs[bit / 32] = 1 << (bit % 32),
            5 => {
                limbs[..bit / 32].fill(Limb::MAX);
                limbs[bit / 32] = (1 << (bit % 32)) - 1;
            }
            6 => {
                for limb in &mut limbs {
                    *limb = [0, Limb::MAX, 1 << 31, 1][self.below(4)];
                }
            }
            _ => {
                for limb in &mut limbs {
                    *limb = self.word() as Limb;
                }
            }
        }
        limbs
    }
}

/// `count` numbers of `width` limbs laid out in memory; padding is not zero.
pub fn batch(random: &mut Random, shape: Shape) -> Vec<Limb> {
    let mut limbs = vec![0xdead_beef; shape.limbs()];
    for i in 0..shape.count {
        for (j, limb) in random.number(shape.width).into_iter().enumerate() {
            limbs[shape.index(i, j)] = limb;
        }
    }
    limbs
}

/// Number `i` of a batch, or the only number of a batch of one.
pub fn number(limbs: &[Limb], shape: Shape, i: usize) -> BigUint {
    let i = if shape.count == 1 { 0 } else { i };
    BigUint::new((0..shape.width).map(|j| limbs[shape.index(i, j)]).collect())
}

/// The value `(a op b) mod 2^(32 w)`, and its carry or borrow out.
pub fn expected(operation: Operation, a: &BigUint, b: &BigUint, w: usize) -> (BigUint, Limb) {
    let modulus = BigUint::from(1_u32) << (32 * w);
    let (a_low, b_low) = (a % &modulus, b % &modulus);
    match operation {
        Operation::Add => {
            let sum = a_low + b_low;
            let carry = Limb::from(sum >= modulus);
            (sum % modulus, carry)
        }
        Operation::Sub => {
            let borrow = Limb::from(a_low < b_low);
            ((a_low + &modulus - b_low) % modulus, borrow)
        }
        Operation::Mul => ((a_low * b_low) % modulus, 0),
        _ => unreachable!("the conformance suite has the others"),
    }
}

/// The shapes of one case: its result and its operands.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub r: Shape,
    pub a: Shape,
    pub b: Shape,
}

impl Case {
    /// A case of `count` numbers, or of one for an operand that is `broadcast`, in layouts drawn at
    /// random.
    pub fn new(
        random: &mut Random,
        count: usize,
        widths: (usize, usize, usize),
        broadcast: (bool, bool),
    ) -> Self {
        let mut shape = |count, width| {
            let layout = Layout::ALL[random.below(2)];
            Shape::new(count, width, layout)
        };
        Case {
            r: shape(count, widths.0),
            a: shape(if broadcast.0 { 1 } else { count }, widths.1),
            b: shape(if broadcast.1 { 1 } else { count }, widths.2),
        }
    }

    /// Computes the case on random numbers by `compute(r, a, b, carry)`, and compares every number,
    /// carry and limb of padding. `same` passes `a` twice.
    pub fn check(
        self,
        random: &mut Random,
        operation: Operation,
        same: bool,
        compute: impl Fn(&mut [Limb], &[Limb], &[Limb], &mut [Limb]),
    ) {
        let a = batch(random, self.a);
        let b = batch(random, self.b);
        let b = if same { &a } else { &b };
        let b_shape = if same { self.a } else { self.b };
        let mut r = vec![0xdead_beef; self.r.limbs()];
        let mut carry = vec![7; self.r.count];
        compute(&mut r, &a, b, &mut carry);
        let mut written = vec![false; r.len()];
        for i in 0..self.r.count {
            let (a, b) = (number(&a, self.a, i), number(b, b_shape, i));
            let (value, out) = expected(operation, &a, &b, self.r.width);
            assert_eq!(
                number_of_result(&r, self.r, i),
                value,
                "{operation:?} {self:?}, number {i}: {a:#x}, {b:#x}"
            );
            if operation != Operation::Mul {
                assert_eq!(
                    carry[i], out,
                    "carry of {self:?}, number {i}: {a:#x}, {b:#x}"
                );
            }
            for j in 0..self.r.width {
                written[self.r.index(i, j)] = true;
            }
        }
        for (limb, written) in r.iter().zip(written) {
            assert!(written || *limb == 0xdead_beef, "padding of {self:?}");
        }
    }
}

fn number_of_result(limbs: &[Limb], shape: Shape, i: usize) -> BigUint {
    BigUint::new((0..shape.width).map(|j| limbs[shape.index(i, j)]).collect())
}

/// The sizes of batches around those of vectors, rows and pieces.
pub const COUNTS: [usize; 9] = [0, 1, 7, 8, 9, 31, 32, 33, 100];
