//! Columns of products, four at a time, for the algorithms by columns (Comba's method; [Honda
//! 2015]) of threads and of warps.
//!
//! Column `k` of `a b` is the sum of `a[i] b[k-i]` over all `i`, in 96 bits. Limbs are taken in
//! groups of four. Group `I` of `a` and group `J` of `b` have products in columns `4(I+J)` to
//! `4(I+J) + 6`. When all pairs of groups with `I + J = K` are summed, columns `4K` to `4K+3` are
//! complete, and columns `4K+4` to `4K+6` are begun.
//!
//! # Squares
//!
//! The products `a[i] a[j]` and `a[j] a[i]` are equal. With `B` = 2^32 and `X` the sum of
//! `a[i] a[j] B^(i+j)` over all `i < j`,
//!
//! ```text
//! a a = 2 X + sum of a[i]^2 B^2i
//! ```
//!
//! and the squares of limbs, of two limbs each, lie side by side. For 123 and `B` = 10, `X` is
//! `1*2*1000 + 1*3*100 + 2*3*10` = 2360, the squares are 010409, and `2 X` + 10409 = 15129. A pair
//! of groups `I < J` has 16 products, a group with itself has 6, and each limb has its square:
//! `n (n + 1) / 2` products if the number `n` of limbs is a multiple of four.
//!
//! Bound: a column has at most 2^28 products below 2^64, and gets at most 2^64 - 1 from the column
//! below, so it is less than 2^93. Four complete columns and the three that are begun, as one
//! number, are below `B^9`, even when doubled.

use crate::gpu::carry::{self, Accumulator};
use crate::gpu::memory::{Number, Stride};
use bigint_core::{LIMB_BITS, Limb};

/// The limbs of each operand that are loaded together.
pub const STEP: usize = 4;

/// Columns `4K` to `4K+6`.
#[derive(Default)]
pub struct Columns([Accumulator; 2 * STEP - 1]);

impl Columns {
    /// Adds the products of two groups of four limbs.
    #[inline(always)]
    pub fn add(&mut self, x: [Limb; STEP], y: [Limb; STEP]) {
        for s in 0..STEP {
            for t in 0..STEP {
                self.0[s + t].add_product(x[s], y[t]);
            }
        }
    }

    /// Adds the products of all pairs of groups of `a` and `b` whose lowest column is `4k`, the
    /// first of these columns.
    #[inline(always)]
    pub fn add_products(&mut self, k: u32, a: Number<impl Stride>, b: Number<impl Stride>) {
        let (n, m) = (fours(a), fours(b));
        let mut i = (k + 1).saturating_sub(m);
        let mut a = a.part(4 * i, a.width());
        let mut b = b.part(4 * (k - i), b.width());
        while i <= k && i < n {
            self.add(a.limbs(0), b.limbs(0));
            (a, b, i) = (a.four_up(), b.four_down(), i + 1);
        }
    }

    /// Adds the part of `a a` that is doubled: the products of two different limbs of `a`, each
    /// once.
    #[inline(always)]
    pub fn add_pairs(&mut self, k: u32, a: Number<impl Stride>) {
        let mut i = (k + 1).saturating_sub(fours(a));
        let mut lower = a.part(4 * i, a.width());
        let mut upper = a.part(4 * (k - i), a.width());
        while 2 * i < k {
            self.add(lower.limbs(0), upper.limbs(0));
            (lower, upper, i) = (lower.four_up(), upper.four_down(), i + 1);
        }
        if k % 2 == 0 {
            let x: [Limb; STEP] = a.limbs(2 * k);
            for s in 0..STEP {
                for t in s + 1..STEP {
                    self.0[s + t].add_product(x[s], x[t]);
                }
            }
        }
    }

    /// Adds a limb to each of the four lowest columns.
    #[inline(always)]
    pub fn add_limbs(&mut self, limbs: [Limb; STEP]) {
        for t in 0..STEP {
            self.0[t].add(u64::from(limbs[t]));
        }
    }

    /// Takes out the limbs of the four lowest columns, which are complete, and goes on to the next
    /// four.
    #[inline(always)]
    pub fn next(&mut self) -> [Limb; STEP] {
        let columns = &mut self.0;
        let mut limbs = [0; STEP];
        for (t, limb) in limbs.iter_mut().enumerate() {
            let [low, middle, high] = columns[t].limbs();
            *limb = low;
            let carry = u64::from(high) << LIMB_BITS | u64::from(middle);
            columns[t + 1].add(carry);
        }
        columns.copy_within(STEP.., 0);
        columns[STEP - 1..].fill(Accumulator::default());
        limbs
    }

    /// All columns as one number.
    #[inline(always)]
    pub fn sum(mut self) -> Sum {
        let (low, high) = (self.next(), self.next());
        let [top, _, _] = self.0[0].limbs();
        Sum { low, high, top }
    }
}

/// The sum of columns `4K` to `4K+6` as a number of nine limbs.
#[derive(Clone, Copy)]
pub struct Sum {
    /// The limbs of columns `4K` to `4K+3`.
    pub low: [Limb; STEP],
    /// The limbs of the four columns above.
    pub high: [Limb; STEP],
    /// The limb above those.
    pub top: Limb,
}

impl Sum {
    /// Twice the sum, plus `limbs`.
    #[inline(always)]
    pub fn doubled_plus(self, limbs: [Limb; STEP]) -> Sum {
        let [.., of_low] = self.low;
        let [.., of_high] = self.high;
        let (low, carry) = carry::add(doubled(self.low, 0), limbs, 0);
        let (high, carry) = carry::add(doubled(self.high, of_low), [0; STEP], carry);
        let top = (self.top << 1 | of_high >> (LIMB_BITS - 1)).wrapping_add(carry);
        Sum { low, high, top }
    }
}

/// Twice `limbs` plus the top bit of `below`, cut to four limbs.
#[inline(always)]
pub fn doubled([a, b, c, d]: [Limb; STEP], below: Limb) -> [Limb; STEP] {
    let up = |limb: Limb, below: Limb| limb << 1 | below >> (LIMB_BITS - 1);
    [up(a, below), up(b, a), up(c, b), up(d, c)]
}

/// The limbs, in columns `4k` to `4k+3` of `a a`, of the squares of limbs.
#[inline(always)]
pub fn squares(k: u32, a: Number<impl Stride>) -> [Limb; STEP] {
    let square = |limb: Limb| u64::from(limb) * u64::from(limb);
    let roots = a.part(2 * k, 2 * k + 2);
    let (x, y) = (square(roots.limb(0)), square(roots.limb(1)));
    let high = |x: u64| (x >> LIMB_BITS) as Limb;
    [x as Limb, high(x), y as Limb, high(y)]
}

/// The number of groups of four limbs of a number.
#[inline(always)]
fn fours(a: Number<impl Stride>) -> u32 {
    a.width().div_ceil(STEP as u32)
}
