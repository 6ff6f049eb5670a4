//! One call of the CPU engine, described by a fuzzer's bytes, and its check.

use arbitrary::Arbitrary;
use bigint_core::{Algorithm, Layout, Limb, Operation, Shape};
use bigint_cpu::fast::number::{self, Thresholds};
use bigint_cpu::{Cpu, Numbers, NumbersMut, Path, Tuning};
use num_bigint::{BigInt, BigUint};

/// Limbs that all operands and results of one input may have together.
const MOST_LIMBS: usize = 1 << 14;

/// A call: shapes, values, path, thresholds and algorithm.
#[derive(Arbitrary, Debug)]
pub struct Input {
    a: Operand,
    b: Operand,
    square: bool,
    count: u8,
    result: ResultWidth,
    result_interleaved: bool,
    wants_carry: bool,
    path: u8,
    algorithm: u8,
    karatsuba: u8,
    alone: Option<Alone>,
}

/// Thresholds for products one number at a time, below the engine's own.
#[derive(Arbitrary, Debug)]
struct Alone {
    karatsuba: u8,
    toom3: u8,
    transform: u8,
    parallel: bool,
}

#[derive(Arbitrary, Debug)]
struct Operand {
    width: Width,
    interleaved: bool,
    broadcast: bool,
    runs: Vec<Run>,
}

/// Short widths are likelier than the long ones that reach the transform.
#[derive(Arbitrary, Debug)]
enum Width {
    Short(u8),
    Medium(u16),
    Long(u16),
}

#[derive(Arbitrary, Debug)]
enum ResultWidth {
    Exact,
    Wrapping,
    Other(u16),
}

/// Limbs of one kind in a row: carries run far through long rows of ones.
#[derive(Arbitrary, Debug)]
enum Run {
    Zeros(u8),
    Ones(u8),
    Limb(Limb),
}

impl Width {
    fn limbs(&self) -> usize {
        match *self {
            Width::Short(n) => usize::from(n) % 40 + 1,
            Width::Medium(n) => usize::from(n) % 300 + 1,
            Width::Long(n) => usize::from(n) % 3000 + 1,
        }
    }
}

impl Alone {
    /// Multiplies `a` by `b`, or squares it, and compares with num-bigint.
    fn check(&self, path: Path, a: &[Limb], b: Option<&Vec<Limb>>) {
        let words = |limbs: &[Limb]| -> Vec<u64> {
            let word = |pair: &[Limb]| {
                pair.iter()
                    .rev()
                    .fold(0, |word, &limb| word << 32 | u64::from(limb))
            };
            limbs.chunks(2).map(word).collect()
        };
        let thresholds = Thresholds {
            karatsuba: usize::from(self.karatsuba),
            toom3: usize::from(self.toom3),
            // Not a field: inputs in the corpus go on meaning what they did.
            toom4: usize::from(self.toom3.rotate_left(4)),
            transform: match self.transform {
                u8::MAX => usize::MAX,
                low => usize::from(low) + 1,
            },
        };
        let x = words(a);
        let other = b.map(|b| words(b));
        let y = other.as_ref().unwrap_or(&x);
        let mut product = vec![0; x.len() + y.len()];
        number::mul_with(&mut product, &x, y, path, thresholds, self.parallel);
        let (a, b) = (
            BigUint::from_slice(a),
            BigUint::from_slice(b.map_or(a, |b| b)),
        );
        let mut expected = (a * b).to_u64_digits();
        expected.resize(product.len(), 0);
        assert_eq!(product, expected, "{path:?} with {thresholds:?}");
    }
}

fn layout(interleaved: bool) -> Layout {
    if interleaved {
        Layout::Interleaved
    } else {
        Layout::Contiguous
    }
}

impl Operand {
    /// The runs, over and over, through all numbers.
    fn fill(&self, count: usize, width: usize) -> (Shape, Vec<Limb>) {
        let count = if self.broadcast { 1 } else { count };
        let shape = Shape::new(count, width, layout(self.interleaved));
        let mut limbs = vec![0xaaaa_aaaa; shape.limbs()];
        let mut values = self
            .runs
            .iter()
            .flat_map(|run| match *run {
                Run::Zeros(n) => std::iter::repeat_n(0, usize::from(n) + 1),
                Run::Ones(n) => std::iter::repeat_n(Limb::MAX, usize::from(n) + 1),
                Run::Limb(limb) => std::iter::repeat_n(limb, 1),
            })
            .cycle();
        for number in 0..count {
            for limb in 0..width {
                limbs[shape.index(number, limb)] = values.next().unwrap_or(Limb::MAX);
            }
        }
        (shape, limbs)
    }
}

fn number(limbs: &[Limb], shape: Shape, i: usize) -> Vec<Limb> {
    let i = if shape.count == 1 { 0 } else { i };
    (0..shape.width).map(|j| limbs[shape.index(i, j)]).collect()
}

impl Input {
    /// Computes `operation` as described and compares every number with num-bigint.
    ///
    /// # Panics
    ///
    /// Where the engine refuses shapes that fit, or its result is another.
    pub fn check(&self, operation: Operation) {
        let (n, m) = (self.a.width.limbs(), self.b.width.limbs());
        let m = if self.square { n } else { m };
        let exact = operation.exact_width(&[n, m]);
        let width = match self.result {
            ResultWidth::Exact => exact,
            ResultWidth::Wrapping => operation.wrapping_width(&[n, m]),
            ResultWidth::Other(w) => usize::from(w) % (exact + 3) + 1,
        };
        let most = (MOST_LIMBS / (n + m + width)).max(1);
        let count = (usize::from(self.count) % 70).min(most);
        let (a_shape, a) = self.a.fill(count, n);
        let (b_shape, b) = if self.square {
            (a_shape, a.clone())
        } else {
            self.b.fill(count, m)
        };
        let r_shape = Shape::new(count, width, layout(self.result_interleaved));
        let mut r = vec![0x5555_5555; r_shape.limbs()];
        let mut carries = vec![9; count];

        let left = Numbers::new(&a, a_shape).expect("as long as its shape");
        // The same memory twice is what the engine takes for a square.
        let right = if self.square {
            left
        } else {
            Numbers::new(&b, b_shape).expect("as long as its shape")
        };
        let out = NumbersMut::new(&mut r, r_shape).expect("as long as its shape");
        let carry = self.wants_carry.then_some(&mut carries[..]);
        let (cpu, algorithm) = (self.cpu(), self.algorithm(operation, n.max(m)));
        match operation {
            Operation::Add => cpu.add(out, left, right, carry, algorithm),
            Operation::Sub => cpu.sub(out, left, right, carry, algorithm),
            _ => cpu.mul(out, left, right, algorithm),
        }
        .expect("the shapes fit");

        if let (Operation::Mul, Some(alone)) = (operation, &self.alone) {
            for i in 0..count {
                let (a, b) = (number(&a, a_shape, i), number(&b, b_shape, i));
                alone.check(cpu.path(), &a, (!self.square).then_some(&b));
            }
        }
        for i in 0..count {
            let expected = exact_value(
                operation,
                &number(&a, a_shape, i),
                &number(&b, b_shape, i),
                width,
            );
            let modulus = BigInt::from(1) << (32 * width);
            if self.wants_carry && operation != Operation::Mul {
                let out_of_range = expected < BigInt::ZERO || expected >= modulus;
                assert_eq!(carries[i], Limb::from(out_of_range), "carry of number {i}");
            }
            let wrapped = if expected < BigInt::ZERO {
                expected + modulus
            } else {
                expected
            };
            let mut limbs = wrapped.magnitude().to_u32_digits();
            limbs.resize(width, 0);
            assert_eq!(number(&r, r_shape, i), limbs, "number {i}");
        }
    }

    fn cpu(&self) -> Cpu {
        let path = Path::ALL[usize::from(self.path) % Path::ALL.len()];
        let cpu = Cpu::new(path).unwrap_or_else(|_| Cpu::detect());
        // Low thresholds take short operands through every level of recursion, high
        // ones take long operands to the base case.
        let mut tuning = Tuning::default();
        if self.karatsuba > 0 {
            let digits = 8 * usize::from(self.karatsuba);
            tuning.avx512ifma.karatsuba = digits;
            tuning.avx512ifma.karatsuba_square = digits;
            tuning.avx2.karatsuba = digits;
            tuning.avx2.karatsuba_square = digits;
        }
        cpu.with_tuning(tuning)
    }

    /// The named algorithms, written to be read, only where they are quick.
    fn algorithm(&self, operation: Operation, width: usize) -> Algorithm {
        let named = match operation {
            Operation::Add | Operation::Sub => &[Algorithm::Ripple, Algorithm::CarryLookahead][..],
            _ => &[Algorithm::School, Algorithm::Comba, Algorithm::Karatsuba],
        };
        let choice = usize::from(self.algorithm) % 16;
        match named.get(choice) {
            Some(&algorithm) if width <= 300 => algorithm,
            _ => Algorithm::Auto,
        }
    }
}

/// The result before it is wrapped to `width` limbs. What is above `width` limbs
/// of an operand changes neither the wrapped result nor the carry out of it.
fn exact_value(operation: Operation, a: &[Limb], b: &[Limb], width: usize) -> BigInt {
    let cut = |limbs: &[Limb]| BigInt::from(BigUint::from_slice(&limbs[..limbs.len().min(width)]));
    let (a, b) = (cut(a), cut(b));
    match operation {
        Operation::Add => a + b,
        Operation::Sub => a - b,
        _ => a * b,
    }
}
