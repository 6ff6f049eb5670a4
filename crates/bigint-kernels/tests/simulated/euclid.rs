//! Euclid's algorithm by a thread: numbers whose quotients are chosen, at widths around which
//! columns of digits change their place.

use crate::bench::{Bench, Launch, PADDING, kernels};
use bigint_core::{Layout, Limb, Operation};
use num_bigint::BigUint;
use num_integer::Integer;

/// Bits of quotients: around 2^15, of which one and not two make a matrix, 2^29, where one is too
/// much for steps with others, 2^31, where it is for an entry of a matrix, 2^95, where it is for what
/// is free in a column, and whole digits.
const QUOTIENTS: [&[u32]; 28] = [
    &[1],
    &[2, 1],
    &[14, 15],
    &[28, 29, 30],
    &[29],
    &[25, 26, 27],
    &[26],
    &[27],
    &[31],
    &[32],
    &[33],
    &[32, 2],
    &[60],
    &[61],
    &[62],
    &[63, 64, 65],
    &[64, 1],
    &[70],
    &[93, 26],
    &[93],
    &[94],
    &[95],
    &[96],
    &[97, 98],
    &[127, 128],
    &[130, 1, 27],
    &[300],
    &[1000, 61, 5],
];

/// A simulated device with the kernels of one operation.
struct Euclid {
    bench: Bench,
    operation: Operation,
}

impl Euclid {
    fn new(operation: Operation) -> Self {
        Euclid {
            bench: Bench::large(operation.name()),
            operation,
        }
    }

    fn number(&mut self, bits: u32) -> BigUint {
        let limbs = (0..bits.div_ceil(32)).map(|_| self.bench.next()).collect();
        let one = BigUint::from(1u8);
        (BigUint::new(limbs) % (&one << bits)) | (one << (bits - 1))
    }

    /// Two numbers of up to `width` limbs with the quotients `q` of these bits in turn, or, where
    /// they are even, with `q - 1` and then what is left of 1: the greater one first, or last.
    fn pair(&mut self, divisor: BigUint, bits: &[u32], width: usize) -> [BigUint; 2] {
        let (mut x, mut y) = (divisor, BigUint::ZERO);
        for &bits in bits.iter().cycle() {
            let quotient = self.number(bits);
            let next = match y < x && bits > 1 && !quotient.bit(0) {
                true => &quotient * &x - &y,
                false => &quotient * &x + &y,
            };
            if next.bits() > 32 * width as u64 {
                break;
            }
            (x, y) = (next, x);
        }
        match self.bench.next() % 2 {
            0 => [x, y],
            _ => [y, x],
        }
    }

    /// Numbers of these widths: some of every kind of quotients, and any.
    fn pairs(&mut self, count: usize, [n, m]: [usize; 2]) -> Vec<[BigUint; 2]> {
        let narrower = n.min(m);
        let of_quotients = |i: usize, euclid: &mut Self| {
            let divisor = match euclid.operation {
                Operation::Gcd if i.is_multiple_of(3) => euclid.number(8 * narrower as u32),
                _ => BigUint::from(1u8),
            };
            euclid.pair(divisor, QUOTIENTS[i % QUOTIENTS.len()], narrower)
        };
        let pair = |i: usize| match i % 32 {
            i if i < QUOTIENTS.len() => of_quotients(i, self),
            28 => [self.number(32 * n as u32), self.number(32)],
            29 => [self.number(16), self.number(32 * m as u32)],
            _ => [self.number(32 * n as u32), self.number(32 * m as u32 - 1)],
        };
        (0..count).map(pair).collect()
    }

    /// Compares these pairs in both layouts, on a device that leaves a block so much shared
    /// memory.
    fn check(&self, pairs: &[[BigUint; 2]], [n, m]: [usize; 2], shared: u32) {
        let operand = |i: usize| pairs.iter().map(|pair| pair[i].clone()).collect();
        let operands = [(n, operand(0)), (m, operand(1))];
        let width = self.operation.exact_width(&[n, m]);
        for layout in Layout::ALL {
            let kernel = kernels(self.operation).next().unwrap();
            let made = self.bench.run(&Launch {
                most_shared: shared,
                flags: self.operation == Operation::InvMod,
                ..Launch::new(kernel, &operands, &[width]).of(layout)
            });
            for (i, [a, b]) in pairs.iter().enumerate() {
                let (value, flag) = self.expected(a, b);
                let what = format!("{} of {n} and {m} limbs, number {i}", kernel.name);
                assert_eq!(made.results[0][i], value, "{what}: {a:x} {b:x}");
                assert_eq!(made.flags[i], flag, "{what}: {a:x} {b:x}");
            }
        }
    }

    /// The divisor, or the inverse, and whether there is none.
    fn expected(&self, a: &BigUint, b: &BigUint) -> (BigUint, Limb) {
        match self.operation {
            Operation::Gcd => (a.gcd(b), PADDING),
            _ if *b == BigUint::ZERO => (BigUint::ZERO, 1),
            _ => a
                .modinv(b)
                .map_or((BigUint::ZERO, 1), |inverse| (inverse, 0)),
        }
    }
}

/// What every device that is supported leaves a block, and more than columns ever take.
const SHARED: u32 = 96 << 10;

#[test]
fn quotients_of_any_size_leave_the_divisor_and_the_inverse_exact() {
    for operation in [Operation::Gcd, Operation::InvMod] {
        let mut euclid = Euclid::new(operation);
        for width in [1, 2, 3, 4, 5, 8, 13, 32, 65] {
            let count = if width < 32 { 96 } else { 30 };
            let pairs = euclid.pairs(count, [width; 2]);
            euclid.check(&pairs, [width; 2], SHARED);
        }
        for widths in [[3, 17], [17, 3], [1, 40], [40, 1]] {
            let pairs = euclid.pairs(48, widths);
            euclid.check(&pairs, widths, SHARED);
        }
    }
}

#[test]
fn zeros_equal_numbers_multiples_and_powers_of_two_have_their_divisors_and_inverses() {
    for operation in [Operation::Gcd, Operation::InvMod] {
        let mut euclid = Euclid::new(operation);
        for width in [1, 2, 3, 4, 5, 8, 16, 17] {
            let bits = 32 * width as u32;
            let [zero, one, two] = [0_u8, 1, 2].map(BigUint::from);
            let most = (&one << bits) - 1_u8;
            let half = euclid.number(bits / 2);
            let any = euclid.number(bits);
            let even = euclid.number(bits) & (&most - 1_u8);
            let power = &one << (bits - 1);
            let mut named = vec![
                zero.clone(),
                one,
                two,
                &half * 3_u8 % &most,
                &half * &half,
                half,
                &any >> 7,
                any,
                even,
                &power - 1_u8,
                &power + 1_u8,
                power,
                &most - 1_u8,
                most,
            ];
            // Neighbours in Fibonacci's sequence, every other one, and the last two that fit.
            let [mut x, mut y] = [zero, BigUint::from(1_u8)];
            while (&x + &y).bits() <= bits.into() {
                (x, y) = (y.clone(), x + y);
            }
            named.extend([&y - &x, x, y]);
            let pairs: Vec<_> = named
                .iter()
                .flat_map(|a| named.iter().map(|b| [a.clone(), b.clone()]))
                .collect();
            euclid.check(&pairs, [width; 2], SHARED);
        }
    }
}

#[test]
fn columns_beyond_shared_memory_stand_in_scratch() {
    let shared_bytes = |operation, n: usize, shared| {
        let kernel = kernels(operation).next().unwrap();
        let launch = kernel.launch_within(64, &[n, n], n, shared);
        (launch.shared_bytes, launch.block, launch.scratch_width)
    };
    for (operation, widest) in [(Operation::Gcd, 376), (Operation::InvMod, 372)] {
        assert_eq!(shared_bytes(operation, widest, SHARED), (383 << 8, 32, 0));
        assert_eq!(shared_bytes(operation, widest + 1, SHARED).0, 0);
        // Of the oldest devices that have less.
        assert_eq!(shared_bytes(operation, widest, 64 << 10).0, 0);
        let mut euclid = Euclid::new(operation);
        for width in [widest, widest + 1] {
            let pairs: Vec<_> = [&[1000, 61, 5][..], &[700, 2000], &[26, 900]]
                .into_iter()
                .map(|bits| euclid.pair(BigUint::from(1u8), bits, width))
                .collect();
            euclid.check(&pairs, [width; 2], SHARED);
        }
        let pairs = euclid.pairs(24, [20; 2]);
        euclid.check(&pairs, [20; 2], 1 << 10);
    }
}
