//! The ring in safe Rust, which computes with one 64-bit integer at a time.
//!
//! A constant `w` is stored as the pair `(w, w')` with `w' = ceil(2^64 w / p)`, a quotient computed
//! in advance, as in Shoup's method. For any `a`, the quotient `q = floor(a w' / 2^64)` satisfies
//!
//! ```text
//! a w / p - 1 < q <= a w / p + a / 2^64   so   -a p / 2^64 <= T = a w - q p < p
//! ```
//!
//! A product takes one high half, two low halves and no comparison. For `a < 10 p < 2^52` the
//! result is within `-p < T < p`, as `field` requires.

use super::super::limbs::inverse;
use super::field::{PRIMES, Ring, Row, Stored};

/// Arithmetic on residues modulo one prime, which are `u64`s.
#[derive(Clone, Copy)]
pub(super) struct PortableRing {
    pub(super) p: u64,
    pub(super) p_inverse: u64,
}

/// The pair `(w, ceil(2^64 w / p))`.
pub(super) fn stored(w: u64, prime: usize) -> Stored {
    let quotient = (u128::from(w) << 64).div_ceil(PRIMES[prime].into());
    [w, quotient as u64]
}

/// Pieces `2 i` and `2 i + 1`, of `h` bits each, of a number, which is continued by zeros.
#[inline(always)]
pub(super) fn coefficient(limbs: &[u64], i: usize, h: u32) -> [u64; 2] {
    [2 * i, 2 * i + 1].map(|piece| {
        let bit = piece * h as usize;
        let low = limbs.get(bit / 64).copied().unwrap_or(0);
        let high = limbs.get(bit / 64 + 1).copied().unwrap_or(0);
        let two = u128::from(low) | u128::from(high) << 64;
        (two >> (bit % 64)) as u64 & ((1 << h) - 1)
    })
}

impl PortableRing {
    pub(super) const fn new(prime: usize) -> Self {
        let p = PRIMES[prime];
        PortableRing {
            p,
            p_inverse: inverse(p),
        }
    }

    /// The product `T`, modulo `2^64`.
    #[inline(always)]
    fn product(self, a: u64, [w, quotient]: Stored) -> u64 {
        let q = (u128::from(a) * u128::from(quotient)) >> 64;
        a.wrapping_mul(w)
            .wrapping_sub((q as u64).wrapping_mul(self.p))
    }
}

/// Brings a value from `[0, 2 bound)` to `[0, bound)`.
#[inline(always)]
pub(super) fn fold(x: u64, bound: u64) -> u64 {
    x.min(x.wrapping_sub(bound))
}

impl Ring for PortableRing {
    const PARTS: usize = 8;
    type Residues = u64;
    type Integers = u64;
    type Factor = Stored;

    #[inline(always)]
    fn load(self, part: usize, row: &Row) -> u64 {
        row.0[part]
    }
    #[inline(always)]
    fn store(self, part: usize, row: &mut Row, x: u64) {
        row.0[part] = x;
    }
    #[inline(always)]
    fn factor(self, stored: &Stored) -> Stored {
        *stored
    }
    #[inline(always)]
    fn butterfly(self, x: u64, a: u64, w: Stored) -> [u64; 2] {
        let t = self.product(a, w);
        [x.wrapping_add(t), x.wrapping_sub(t)]
    }
    #[inline(always)]
    fn mul(self, a: u64, w: Stored) -> u64 {
        self.product(a, w).wrapping_add(self.p)
    }
    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        a + b
    }
    #[inline(always)]
    fn sub2(self, a: u64, b: u64) -> u64 {
        a + 2 * self.p - b
    }
    #[inline(always)]
    fn sub4(self, a: u64, b: u64) -> u64 {
        a + 4 * self.p - b
    }
    #[inline(always)]
    fn raise(self, x: u64) -> u64 {
        x + self.p
    }
    #[inline(always)]
    fn lift(self, x: u64) -> u64 {
        fold(x, 4 * self.p) + 2 * self.p
    }
    #[inline(always)]
    fn fold8(self, x: u64) -> u64 {
        fold(x, 4 * self.p)
    }
    #[inline(always)]
    fn fold4(self, x: u64) -> u64 {
        fold(x, 2 * self.p)
    }
    #[inline(always)]
    fn residues(self, x: u64) -> u64 {
        x
    }
    #[inline(always)]
    fn canonical(self, x: u64) -> u64 {
        fold(x, self.p)
    }
    #[inline(always)]
    fn pieces(self, part: usize, limbs: &[u64], row: usize, h: u32) -> [u64; 2] {
        coefficient(limbs, 8 * row + part, h)
    }
    #[inline(always)]
    fn integers(self, part: usize, row: &Row) -> u64 {
        row.0[part]
    }
    #[inline(always)]
    fn store_integers(self, part: usize, row: &mut Row, x: u64) {
        row.0[part] = x;
    }
}
