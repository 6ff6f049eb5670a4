//! Lists of computations beside num-bigint, on the CPU and on the simulated GPU.

use bigint_host::{BigInt, Computation, Engine, Integers, Operation};
use num_integer::Integer;

/// The same numbers in every run, by xorshift.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 16) % bound as u64) as usize
    }

    /// About normal, by the sum of eight.
    fn normal(&mut self, mean: usize) -> usize {
        (0..8).map(|_| self.below(mean / 4 + 1)).sum()
    }

    /// A number of at most so many bits: random, all ones, a power of two, or near one.
    fn number(&mut self, bits: usize) -> BigInt {
        let limbs = (0..bits.div_ceil(32)).map(|_| self.next() as u32).collect();
        let random =
            BigInt::from(num_bigint::BigUint::new(limbs)) >> (bits.next_multiple_of(32) - bits);
        let power = BigInt::from(1) << bits.saturating_sub(1);
        let magnitude = match self.below(8) {
            0 => power,
            1 => power - 1,
            _ => random,
        };
        if self.below(2) == 0 {
            magnitude
        } else {
            -magnitude
        }
    }
}

/// How long the numbers of a list are.
#[derive(Clone, Copy, Debug)]
pub enum Lengths {
    /// All of so many bits.
    Equal(usize),
    /// About so many bits.
    Normal(usize),
    /// Anything up to so many bits, short ones as often as long ones.
    Any(usize),
    /// One of so many bits among short ones.
    Giant(usize),
}

impl Lengths {
    fn bits(self, random: &mut Random, index: usize) -> usize {
        match self {
            Lengths::Equal(bits) => bits,
            Lengths::Normal(mean) => random.normal(mean),
            Lengths::Any(most) => {
                let bits = 1 << random.below(most.ilog2() as usize + 1);
                random.below(bits + 1)
            }
            Lengths::Giant(bits) if index == 7 => bits,
            Lengths::Giant(_) => random.below(100),
        }
    }
}

/// The result; none where there is no value.
fn value(operation: Operation, a: &BigInt, b: &BigInt) -> Option<BigInt> {
    let is_zero = *b == BigInt::ZERO;
    Some(match operation {
        Operation::Add => a + b,
        Operation::Sub => a - b,
        Operation::Mul => a * b,
        Operation::Div if !is_zero => a.div_floor(b),
        Operation::Rem if !is_zero => a.mod_floor(b),
        Operation::Gcd => a.gcd(b),
        Operation::Lcm => a.lcm(b),
        Operation::Min => a.min(b).clone(),
        Operation::Max => a.max(b).clone(),
        Operation::Compare => BigInt::from(a.cmp(b) as i8),
        // Of a negative number modulo 1 num-bigint says 1.
        Operation::InvMod if *b > BigInt::ZERO => a.mod_floor(b).modinv(b)?,
        Operation::Shr if *b >= BigInt::ZERO => a >> u64::try_from(b).unwrap_or(1 << 40),
        _ => return None,
    })
}

/// So many numbers of these lengths.
pub fn numbers(lengths: Lengths, count: usize, random: &mut Random) -> Vec<BigInt> {
    let number = |index| {
        let bits = lengths.bits(random, index);
        random.number(bits)
    };
    (0..count).map(number).collect()
}

/// Compares a list of about `count` computations on `numbers` numbers of these lengths; those
/// that num-bigint takes long for are of short operands.
pub fn check_list(
    engine: &Engine,
    operations: &[Operation],
    lengths: Lengths,
    (count_of_numbers, count): (usize, usize),
    random: &mut Random,
) {
    let numbers = numbers(lengths, count_of_numbers, random);
    let integers = Integers::from_bigints(&numbers).unwrap();
    let mut list = Vec::new();
    let mut expected = Vec::new();
    for i in 0..count {
        let a = random.below(numbers.len());
        // Some are of one number, and one number is of many.
        let b = match i % 8 {
            0 => a,
            1 => 7 % numbers.len(),
            _ => random.below(numbers.len()),
        };
        let operation = operations[random.below(operations.len())];
        let is_slow = matches!(
            operation,
            Operation::Gcd | Operation::Lcm | Operation::InvMod
        );
        if is_slow && numbers[a].bits().max(numbers[b].bits()) > 3000 {
            continue;
        }
        if let Some(value) = value(operation, &numbers[a], &numbers[b]) {
            list.push(Computation { operation, a, b });
            expected.push(value);
        }
    }
    let found = engine.run(&integers, &list).unwrap();
    assert_eq!(found.len(), expected.len());
    for ((found, expected), computation) in found.iter().zip(&expected).zip(&list) {
        let [a, b] = [computation.a, computation.b].map(|i| &numbers[i]);
        let operation = computation.operation;
        assert!(
            found == *expected,
            "{lengths:?} {operation:?} of {a:#x} and {b:#x}: {found:#x}"
        );
    }
    // Compact, and written in the one way there is.
    assert!(found == Integers::from_bigints(&expected).unwrap());
}
