//! The ring in safe Rust: eight lanes of 64-bit integers, one at a time.

use super::field::{PRIMES, Ring, Row, Stored, inverse_mod_radix};

/// Residues modulo one prime, in `u64`s.
#[derive(Clone, Copy)]
pub(super) struct PortableRing {
    pub(super) p: u64,
    pub(super) p_inverse: u64,
}

pub(super) const MASK: u64 = (1 << 52) - 1;

/// `floor(a b / 2^52)` for factors below `2^52`.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 52) as u64
}

impl PortableRing {
    pub(super) const fn new(prime: usize) -> Self {
        let p = PRIMES[prime];
        PortableRing {
            p,
            p_inverse: inverse_mod_radix(p),
        }
    }

    /// `T + p`: see the header of `field`.
    #[inline(always)]
    pub(super) fn mul_one(self, a: u64, w: Stored) -> u64 {
        let u = a.wrapping_mul(w[1]) & MASK;
        high(a, w[0]) + self.p - high(u, self.p)
    }
}

/// From `[0, 2 bound)` to `[0, bound)`.
#[inline(always)]
pub(super) fn fold(x: u64, bound: u64) -> u64 {
    x.min(x.wrapping_sub(bound))
}

#[inline(always)]
fn map(x: [u64; 8], f: impl Fn(u64) -> u64) -> [u64; 8] {
    let mut r = [0; 8];
    for i in 0..8 {
        r[i] = f(x[i]);
    }
    r
}

#[inline(always)]
fn zip(a: [u64; 8], b: [u64; 8], f: impl Fn(u64, u64) -> u64) -> [u64; 8] {
    let mut r = [0; 8];
    for i in 0..8 {
        r[i] = f(a[i], b[i]);
    }
    r
}

impl Ring for PortableRing {
    type Residues = [u64; 8];
    type Integers = [u64; 8];
    type Factor = Stored;

    #[inline(always)]
    fn load(self, row: &Row) -> [u64; 8] {
        row.0
    }
    #[inline(always)]
    fn store(self, row: &mut Row, x: [u64; 8]) {
        row.0 = x;
    }
    #[inline(always)]
    fn factor(self, stored: &Stored) -> Stored {
        *stored
    }
    #[inline(always)]
    fn butterfly(self, x: [u64; 8], a: [u64; 8], w: Stored) -> [[u64; 8]; 2] {
        let t = map(a, |a| self.mul_one(a, w));
        // T = t - p; the sums below are x + T and x - T.
        [
            zip(x, t, |x, t| x + t - self.p),
            zip(x, t, |x, t| x + self.p - t),
        ]
    }
    #[inline(always)]
    fn mul(self, a: [u64; 8], w: Stored) -> [u64; 8] {
        map(a, |a| self.mul_one(a, w))
    }
    #[inline(always)]
    fn add(self, a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        zip(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub2(self, a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        zip(a, b, |a, b| a + 2 * self.p - b)
    }
    #[inline(always)]
    fn sub4(self, a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        zip(a, b, |a, b| a + 4 * self.p - b)
    }
    #[inline(always)]
    fn raise(self, x: [u64; 8]) -> [u64; 8] {
        map(x, |x| x + self.p)
    }
    #[inline(always)]
    fn lift(self, x: [u64; 8]) -> [u64; 8] {
        map(x, |x| fold(x, 4 * self.p) + 2 * self.p)
    }
    #[inline(always)]
    fn fold8(self, x: [u64; 8]) -> [u64; 8] {
        map(x, |x| fold(x, 4 * self.p))
    }
    #[inline(always)]
    fn fold4(self, x: [u64; 8]) -> [u64; 8] {
        map(x, |x| fold(x, 2 * self.p))
    }
    #[inline(always)]
    fn residues(self, x: [u64; 8]) -> [u64; 8] {
        x
    }
    #[inline(always)]
    fn canonical(self, x: [u64; 8]) -> [u64; 8] {
        map(x, |x| fold(x, self.p))
    }
    #[inline(always)]
    fn pieces(self, limbs: &[u64], row: usize, h: u32) -> [[u64; 8]; 2] {
        let mut pieces = [[0; 8]; 2];
        let first = 16 * row * h as usize;
        let mask = (1 << h) - 1;
        for lane in 0..8 {
            for (odd, pieces) in pieces.iter_mut().enumerate() {
                let bit = first + (2 * lane + odd) * h as usize;
                let low = limbs.get(bit / 64).copied().unwrap_or(0);
                let high = limbs.get(bit / 64 + 1).copied().unwrap_or(0);
                let two = u128::from(low) | u128::from(high) << 64;
                pieces[lane] = (two >> (bit % 64)) as u64 & mask;
            }
        }
        pieces
    }
    #[inline(always)]
    fn integers(self, row: &Row) -> [u64; 8] {
        row.0
    }
    #[inline(always)]
    fn store_integers(self, row: &mut Row, x: [u64; 8]) {
        row.0 = x;
    }
}
