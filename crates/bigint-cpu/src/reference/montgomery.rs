//! Montgomery's form of one number at a time, which products and powers modulo odd numbers share.
//!
//! With `B` = 2^32, an odd `m` of `n` limbs and `R` = `B^n`, a residue `x` is stored as
//! `x R mod m`, and the product of two stored numbers is `a b / R mod m`. An example with `B` = 10,
//! `m` = 7 and `m'` = 7 (7 * 7 = 49, which is -1 mod 10): the product of 5 and 6 is 30, so `q` = 0,
//! and 30 / 10 = 3.

use bigint_core::{LIMB_BITS, Limb};

use super::{limb, mod_add, sub};
use crate::fast::number::limbs;
use crate::{mask, memory};

/// An odd modulus of `n` limbs.
pub struct Odd<'a> {
    m: &'a [Limb],
    /// The word `-1/m mod B`.
    inverse: Limb,
}

impl<'a> Odd<'a> {
    /// The modulus `m`, with its inverse.
    pub fn new(m: &'a [Limb]) -> Self {
        let inverse = inverse(limb(m, 0)).wrapping_neg();
        Odd { m, inverse }
    }

    /// The product `a b / R mod m`, by rows (coarsely integrated operand scanning, [Koç 1996]).
    ///
    /// `a b < R m`, and `a` is cut to `n` limbs. Under these conditions the sum stays below `2 m`,
    /// and one subtraction ends it, without a branch. **Cost**: `2 n^2 + n` products.
    pub fn product(&self, a: &[Limb], b: &[Limb]) -> Vec<Limb> {
        let n = self.m.len();
        let b = &b[..n.min(b.len())];
        let mut t = memory::scratch(n + 2);
        for i in 0..n {
            add_row(&mut t, limb(a, i), b);
            let q = t[0].wrapping_mul(self.inverse);
            add_row(&mut t, q, self.m);
            t.copy_within(1.., 0);
            t[n + 1] = 0;
        }
        let mut less = memory::scratch(n + 2);
        let is_less = sub::ripple(&mut less, &t, self.m);
        let mask = mask::of_bit(is_less.into()) as Limb;
        t.truncate(n);
        for (limb, less) in t.iter_mut().zip(less) {
            *limb = *limb & mask | less & !mask;
        }
        t
    }

    /// The residue `R mod m`, the form of 1.
    pub fn one(&self) -> Vec<Limb> {
        // This is 1 modulo `m`, which may itself be 1.
        let mut one = memory::scratch(self.m.len());
        mod_add::scan(&mut one, &self.plain_one(), &[], self.m);
        self.doubled(&one, LIMB_BITS * self.m.len())
    }

    /// The residue `R^2 mod m`, the form of `R`, computed from the form of 1.
    pub fn square_of_radix(&self, one: &[Limb]) -> Vec<Limb> {
        self.doubled(one, LIMB_BITS * self.m.len())
    }

    /// The number whose form is `x`.
    pub fn retrieve(&self, x: &[Limb]) -> Vec<Limb> {
        self.product(x, &self.plain_one())
    }

    fn plain_one(&self) -> Vec<Limb> {
        let mut one = memory::scratch(self.m.len());
        one[0] = 1;
        one
    }

    /// The residue `x 2^bits mod m`, computed by doubling, for `x` below `m`.
    pub fn doubled(&self, x: &[Limb], bits: usize) -> Vec<Limb> {
        let mut x = x.to_vec();
        for _ in 0..bits {
            let mut twice = memory::scratch(self.m.len());
            mod_add::scan(&mut twice, &x, &x, self.m);
            x = twice;
        }
        x
    }
}

/// Computes `t += x b`, for which `t` has room.
fn add_row(t: &mut [Limb], x: Limb, b: &[Limb]) {
    let mut carry = 0;
    let (lower, upper) = t.split_at_mut(b.len());
    for (t, y) in lower.iter_mut().zip(b) {
        let sum = u64::from(*t) + u64::from(x) * u64::from(*y) + carry;
        *t = sum as Limb;
        carry = sum >> LIMB_BITS;
    }
    for t in upper {
        let sum = u64::from(*t) + carry;
        *t = sum as Limb;
        carry = sum >> LIMB_BITS;
    }
}

/// The inverse `1/m mod B` of an odd `m`.
pub fn inverse(m: Limb) -> Limb {
    limbs::inverse(m.into()) as Limb
}
