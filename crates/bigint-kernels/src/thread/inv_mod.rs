//! Modular inverses (Lehmer): `r a = 1` modulo `m`, `0 <= r < m`. [`lehmer`](super::lehmer)
//! says how divisors are found; of `m` and `a` each is a sum of multiples of both, and what
//! it has of `a`, its cofactor, goes through the same rounds: where the divisor is 1 or -1,
//! the inverse is that cofactor, or what is left of 0 without it.
//!
//! Cofactors grow as the numbers shrink, up to some `m`: a few additions of `m` bring the
//! last one to where it belongs.
//!
//! Cost: twice that of a divisor. Scratch: two columns of digits.

use super::lehmer::{Column, Pair};
use super::{Batches, Work, division};
use crate::gpu::memory::{Number, Stride};
use bigint_core::Limb;
use bigint_core::kernel::gcd_digits;

/// The inverses that fall to the calling thread.
#[inline(always)]
pub fn lehmer<S: Stride>(batches: Batches<'_, S>) {
    for work in batches.numbers() {
        let Work {
            r,
            a,
            b: m,
            scratch,
            ..
        } = work;
        let limbs = 2 * gcd_digits(a.width() as usize, m.width() as usize) as u32;
        let cofactors = scratch.part(limbs, scratch.width());
        let flag = number(r, a, m, scratch.part(0, limbs), cofactors);
        work.carry.set(flag);
    }
}

/// `r` is the inverse of `a`, cut or extended to its width; answers 1, and zero, where there
/// is none.
#[inline(always)]
fn number<C: Column>(
    r: Number<impl Stride>,
    a: Number<impl Stride>,
    m: Number<impl Stride>,
    numbers: C,
    cofactors: C,
) -> Limb {
    let mut pair = Pair::new(numbers, m, a);
    let mut cofactors = Pair::zero_and_one(cofactors);
    while let Some(step) = pair.step() {
        pair.reduce(step);
        cofactors.grow(step);
    }
    let (second, top) = pair.rest();
    if pair.length() != 1 || (top != 1 && top != -1) || division::significant(m) == 0 {
        division::clear(r, 0);
        return 1;
    }
    let (inverse, width) = (Limbs(pair.into_column()), m.width());
    let mut above = cofactors.each_limb(second, top, width, |i, limb| inverse.set(i, limb));
    while above < 0 {
        above += i64::from(inverse.add(m));
    }
    while above > 0 || !inverse.is_less(m) {
        above -= i64::from(inverse.sub(m));
    }
    let mut i = 0;
    while i < r.width() {
        r.set(i, if i < width { inverse.limb(i) } else { 0 });
        i += 1;
    }
    0
}

/// A number in the first places of a column's pairs.
#[derive(Clone, Copy)]
struct Limbs<C>(C);

impl<C: Column> Limbs<C> {
    #[inline(always)]
    fn limb(self, i: u32) -> Limb {
        self.0.pair(i)[0] as Limb
    }

    #[inline(always)]
    fn set(self, i: u32, limb: Limb) {
        self.0.set_pair(i, [limb as i32, 0]);
    }

    /// Adds `m`; answers what is carried out.
    #[inline(always)]
    fn add(self, m: Number<impl Stride>) -> bool {
        let (mut i, mut carry) = (0, false);
        while i < m.width() {
            let sum;
            (sum, carry) = self.limb(i).carrying_add(m.limb(i), carry);
            self.set(i, sum);
            i += 1;
        }
        carry
    }

    /// Subtracts `m`; answers what is borrowed.
    #[inline(always)]
    fn sub(self, m: Number<impl Stride>) -> bool {
        let (mut i, mut borrow) = (0, false);
        while i < m.width() {
            let difference;
            (difference, borrow) = self.limb(i).borrowing_sub(m.limb(i), borrow);
            self.set(i, difference);
            i += 1;
        }
        borrow
    }

    #[inline(always)]
    fn is_less(self, m: Number<impl Stride>) -> bool {
        let mut i = m.width();
        while i > 0 {
            i -= 1;
            let (x, y) = (self.limb(i), m.limb(i));
            if x != y {
                return x < y;
            }
        }
        false
    }
}
