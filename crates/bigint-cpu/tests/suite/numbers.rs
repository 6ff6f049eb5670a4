//! Numbers for divisions and for arithmetic modulo numbers, and their limbs.

use bigint_core::{Limb, Shape};
use num_bigint::BigUint;

/// A generator that gives the same numbers in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }

    /// A random number of at most `bits` bits.
    pub fn bits(&mut self, bits: usize) -> BigUint {
        let limbs = (0..bits.div_ceil(32)).map(|_| (self.next() << 16 ^ self.next()) as Limb);
        BigUint::new(limbs.collect()) & (power(bits) - 1u8)
    }

    /// A number of at most `width` limbs, of any kind.
    pub fn number(&mut self, width: usize) -> BigUint {
        let bits = 32 * width;
        let at = self.below(bits);
        match self.next() % 13 {
            0 => power(bits) - 1u8,
            1 => BigUint::ZERO,
            2 => BigUint::from(1u8),
            3 => power(at),
            4 => power(at) - 1u8,
            5 => (power(at) + 1u8) % power(bits),
            // These have a top limb of 1, a top limb of all ones, and the top bit alone.
            6 => power(bits - 32) + self.bits(bits - 32),
            7 => power(bits) - 1u8 - self.bits(bits - 32),
            8 => power(bits - 1) + self.bits(bits / 2),
            // This has zeros at its end.
            9 => self.bits(at),
            // This has long runs of ones and zeros.
            10 => (power(bits) - power(at)) ^ self.bits(at / 2),
            _ => self.bits(bits),
        }
    }
}

pub fn power(bits: usize) -> BigUint {
    BigUint::from(1u8) << bits
}

pub fn limbs(shape: Shape, numbers: &[BigUint]) -> Vec<Limb> {
    let mut limbs = vec![0; shape.limbs()];
    for (i, number) in numbers.iter().enumerate() {
        for (j, limb) in number.iter_u32_digits().enumerate() {
            limbs[shape.index(i, j)] = limb;
        }
    }
    limbs
}
