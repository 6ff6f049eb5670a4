//! The rows of a chain in 64-bit words, one after another, for any machine.
//!
//! With `B` = 2^64 and `R = B^n > 64 m`, a product is Montgomery's by rows, without the subtraction
//! at its end ([`super`] has the bound): `t = (t + a[i] b + q m) / B`, where `q` makes the lowest
//! word zero. `t` stays below `b + m`, which `n` words hold.
//!
//! **Cost**: `2 n^2 + n` multiply-adds for a product, and `2 n + 1` for a scale.

use bigint_core::Limb;

use super::{Rows, Step, power_of_two, spare_bits};
use crate::fast::number::limbs::{add_row, inverse, is_less, pack, sub_assign, unpack};
use crate::{Error, memory};

/// One row.
struct Words {
    /// The limbs of the longest modulus.
    width: usize,
    m: Vec<u64>,
    twice: Vec<u64>,
    /// The word `-1/m mod B`.
    inverse: u64,
    square_of_radix: Vec<u64>,
    registers: Vec<u64>,
    /// The scale for which `a s / 2^32` is `a scale / B`.
    scale: u64,
    key: Vec<Limb>,
    /// A sum, one word longer than the modulus.
    t: Vec<u64>,
}

/// The registers of a row, with room for the longest modulus of all rows.
pub(super) fn group(
    modulus: &[Limb],
    longest: &[Limb],
    registers: usize,
) -> Result<Box<dyn Rows>, Error> {
    let n = spare_bits(longest).div_ceil(64);
    let mut m = memory::zeroed(n)?;
    pack(&mut m, modulus);
    let twice = m.iter().scan(0, |below, &word| {
        let doubled = word << 1 | *below;
        *below = word >> 63;
        Some(doubled)
    });
    Ok(Box::new(Words {
        width: longest.len(),
        twice: twice.collect(),
        inverse: inverse(m[0]).wrapping_neg(),
        square_of_radix: power_of_two(&m, 128 * n),
        registers: memory::zeroed(registers * n)?,
        scale: 0,
        key: Vec::new(),
        t: memory::zeroed(n + 1)?,
        m,
    }))
}

impl Words {
    /// The words of a register.
    fn of(&self, register: impl Into<usize>) -> &[u64] {
        &self.registers[register.into() * self.m.len()..][..self.m.len()]
    }

    /// A bit of the key.
    fn bit(&self, bit: u32) -> u32 {
        let limb = self.key.get((bit / Limb::BITS) as usize);
        limb.map_or(0, |limb| limb >> (bit % Limb::BITS) & 1)
    }

    fn put(&mut self, register: impl Into<usize>) {
        let n = self.m.len();
        self.registers[register.into() * n..][..n].copy_from_slice(&self.t[..n]);
    }

    /// Leaves `a b / B^len(a)` in `t`.
    fn product(&self, t: &mut [u64], a: &[u64], b: &[u64]) {
        let n = self.m.len();
        let (t, m, b) = (&mut t[..n + 1], &self.m[..n], &b[..n]);
        t.fill(0);
        for &x in a {
            // The sum is below B^(n+1), as each sum is less than (B - 1) (b + m) + t.
            t[n] = add_row(&mut t[..n], b, x);
            let q = t[0].wrapping_mul(self.inverse);
            let carry = add_row(&mut t[..n], m, q);
            t[n] += carry;
            t.copy_within(1.., 0);
        }
    }

    fn step(&mut self, step: Step) {
        let mut t = std::mem::take(&mut self.t);
        let r = match step {
            Step::Mul { r, a, b } => {
                self.product(&mut t, self.of(a), self.of(b));
                r
            }
            Step::Scale { r, a } => {
                self.product(&mut t, &[self.scale], self.of(a));
                r
            }
            Step::Copy { r, a } => {
                t[..self.m.len()].copy_from_slice(self.of(a));
                r
            }
            Step::Add { r, a, b } => {
                let mut carry = false;
                for ((t, a), b) in t.iter_mut().zip(self.of(a)).zip(self.of(b)) {
                    (*t, carry) = a.carrying_add(*b, carry);
                }
                r
            }
            Step::Sub { r, a, b } => {
                let (mut carry, mut borrow) = (false, false);
                let terms = self.of(a).iter().zip(&self.twice).zip(self.of(b));
                for (t, ((a, twice), b)) in t.iter_mut().zip(terms) {
                    (*t, carry) = a.carrying_add(*twice, carry);
                    (*t, borrow) = t.borrowing_sub(*b, borrow);
                }
                r
            }
            Step::Choose { r, a, b, bit } => {
                let chosen = if self.bit(bit) == 1 { b } else { a };
                t[..self.m.len()].copy_from_slice(self.of(chosen));
                r
            }
            Step::Shift { r, a, bit } => {
                let by = self.bit(bit) + 2 * self.bit(bit + 1);
                let mut below = 0;
                for (t, a) in t.iter_mut().zip(self.of(a)) {
                    *t = a << by | below;
                    below = a.unbounded_shr(u64::BITS - by);
                }
                r
            }
        };
        self.t = t;
        self.put(r);
    }
}

impl Rows for Words {
    fn set(&mut self, register: usize, numbers: &[&[Limb]]) {
        let mut words = vec![0; self.m.len()];
        pack(&mut words, numbers[0]);
        let mut t = std::mem::take(&mut self.t);
        self.product(&mut t, &words, &self.square_of_radix);
        self.t = t;
        self.put(register);
    }

    fn get(&self, register: usize) -> Vec<Vec<Limb>> {
        let n = self.m.len();
        let mut one = vec![0; n];
        one[0] = 1;
        let mut t = vec![0; n + 1];
        // The result is at most `m`: (64 m + (R - 1) m) / R is below 2 m, and a multiple of m above
        // 0 is m.
        self.product(&mut t, &one, self.of(register));
        if !is_less(&t[..n], &self.m) {
            sub_assign(&mut t[..n], &self.m);
        }
        let mut limbs = vec![0; self.width];
        unpack(&mut limbs, &t[..n]);
        vec![limbs]
    }

    fn set_scales(&mut self, scales: &[u32]) {
        self.scale = u64::from(scales[0]) << 32;
    }

    fn set_keys(&mut self, keys: &[&[Limb]]) {
        self.key = keys[0].to_vec();
    }

    fn run(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(*step);
        }
    }
}
