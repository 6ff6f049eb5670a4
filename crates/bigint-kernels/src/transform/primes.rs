//! Arithmetic modulo the primes of [`bigint_core::transform::ntt`]: butterflies, and the Chinese
//! remainder theorem. As `p < 2^31`, a word holds a residue below `2 p`.

use crate::gpu::residues::{Factors, upper_half};
use bigint_core::Limb;
use bigint_core::transform::ntt::{Factor, LOG_TABLE, PRIMES, Prime, TABLES};

/// Arithmetic modulo one of the primes.
#[derive(Clone, Copy)]
pub struct Field {
    /// The prime.
    pub p: u32,
    /// The inverse `1 / p` modulo `2^32`.
    inverse: u32,
    /// The factor `2^32 mod p`.
    radix: Factor,
    /// The factor 1.
    pub one: Factor,
    /// The address of the prime's four tables.
    tables: u64,
}

/// Element `at` of three, chosen without putting them in memory.
#[inline(always)]
pub fn one_of<T: Copy>(at: u32, [first, second, third]: [T; 3]) -> T {
    match at {
        0 => first,
        1 => second,
        _ => third,
    }
}

impl Field {
    /// The field modulo prime `at`, which is 0 to 2.
    ///
    /// # Safety
    /// The tables of all primes are at `tables` as long as the kernel runs.
    #[allow(unsafe_code)] // The tables are taken on trust.
    #[inline(always)]
    pub unsafe fn new(at: u32, tables: u64) -> Self {
        const fn radix(prime: Prime) -> Factor {
            prime.factor(prime.power(2, 32))
        }
        const RADICES: [Factor; 3] = [radix(PRIMES[0]), radix(PRIMES[1]), radix(PRIMES[2])];
        let factor = |of: [Factor; 3]| Factor {
            w: one_of(at, [of[0].w, of[1].w, of[2].w]),
            quotient: one_of(at, [of[0].quotient, of[1].quotient, of[2].quotient]),
        };
        Field {
            p: one_of(at, PRIMES.map(|prime| prime.p)),
            inverse: one_of(at, PRIMES.map(|prime| prime.inverse)),
            radix: factor(RADICES),
            one: factor(PRIMES.map(|prime| prime.factor(1))),
            tables: tables + u64::from(at) * u64::from(TABLES * 8 << LOG_TABLE),
        }
    }

    /// The residue below `p` of a number below `2 p`.
    #[inline(always)]
    pub fn reduced(self, x: u32) -> u32 {
        x.min(x.wrapping_sub(self.p))
    }

    /// `y w` modulo `p`, below `2 p`, for any word `y`.
    #[inline(always)]
    pub fn times(self, y: u32, w: Factor) -> u32 {
        times(y, w, self.p)
    }

    /// `a b / 2^32` modulo `p` by Montgomery's method. Residues and result are below `p`.
    #[inline(always)]
    pub fn product(self, a: u32, b: u32) -> u32 {
        let multiple = a.wrapping_mul(b).wrapping_mul(self.inverse);
        let (less, borrow) = upper_half(a, b).overflowing_sub(upper_half(multiple, self.p));
        less.wrapping_add(if borrow { self.p } else { 0 })
    }

    /// The factor `w`, which is below `p`. Its quotient follows from `2^32 w = quotient p + r`,
    /// where `r` is the product of `w` and `2^32` modulo `p`.
    #[inline(always)]
    pub fn factor(self, w: u32) -> Factor {
        let rest = self.reduced(self.times(w, self.radix));
        Factor {
            w,
            quotient: rest.wrapping_neg().wrapping_mul(self.inverse),
        }
    }

    /// `x / 2` modulo `p`, for a residue below `p`.
    #[inline(always)]
    pub fn half(self, x: u32) -> u32 {
        (x + (x & 1) * self.p) >> 1
    }

    /// `x - y` modulo `p`, for residues below `p`.
    #[inline(always)]
    pub fn minus(self, x: u32, y: u32) -> u32 {
        self.reduced(x.wrapping_sub(y).wrapping_add(self.p))
    }

    /// `x + y` modulo `p`, for residues below `p`.
    #[inline(always)]
    pub fn plus(self, x: u32, y: u32) -> u32 {
        self.reduced(x + y)
    }

    /// Table `which` of the prime.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn table(self, which: u32) -> Factors {
        // SAFETY: by the contract of `new`.
        unsafe { Factors::new(self.tables + u64::from(which * 8 << LOG_TABLE)) }
    }

    /// The factors of `log2 R` levels below a node, for the way down or up.
    #[inline(always)]
    pub fn roots<const R: usize, const UP: bool>(self, node: u32) -> [Factor; 7] {
        let table = self.table(UP as u32);
        let mut roots = [Factor::default(); 7];
        roots[0] = table.at(node);
        if R >= 4 {
            [roots[1], roots[2]] = table.two(2 * node);
        }
        if R >= 8 {
            [roots[3], roots[4]] = table.two(4 * node);
            [roots[5], roots[6]] = table.two(4 * node + 2);
        }
        roots
    }

    /// Goes from residues of a node, below `2 p`, to those of the nodes `log2 R` levels below,
    /// which are below `2 p` too.
    #[inline(always)]
    pub fn down<const R: usize>(self, v: &mut [u32; R], roots: &[Factor; 7]) {
        each_level::<R, false>(|i, j, at| {
            let x = self.reduced(v[i]);
            let y = self.reduced(self.times(v[j], roots[at]));
            v[i] = x + y;
            v[j] = x.wrapping_sub(y).wrapping_add(self.p);
        });
    }

    /// Goes the way of [`down`](Self::down) back, with residues below `p`. The results are `R`
    /// times too great.
    #[inline(always)]
    pub fn up<const R: usize>(self, v: &mut [u32; R], roots: &[Factor; 7]) {
        each_level::<R, true>(|i, j, at| {
            let (x, y) = (v[i], v[j]);
            v[i] = self.reduced(x + y);
            let less = x.wrapping_sub(y).wrapping_add(self.p);
            v[j] = self.reduced(self.times(less, roots[at]));
        });
    }

    /// The root of unity `e(k / 2^26)`, below `2 p`.
    #[inline(always)]
    pub fn power(self, k: u32) -> u32 {
        let mask = (1 << LOG_TABLE) - 1;
        let near = self.table(2).at(k & mask);
        self.times(near.w, self.table(3).at(k >> LOG_TABLE & mask))
    }
}

/// Calls `pair` with the places of both values and of the root of every butterfly of `log2 R`
/// levels. All places are constants, so that values stay in registers.
#[inline(always)]
fn each_level<const R: usize, const UP: bool>(mut pair: impl FnMut(usize, usize, usize)) {
    let mut widest = |half: usize| {
        if R >= 2 * half {
            let at = R / 2 / half - 1;
            pair(0, half, at);
            if half == 4 {
                pair(1, 5, at);
                pair(2, 6, at);
                pair(3, 7, at);
            }
            if half == 2 {
                pair(1, 3, at);
                if R == 8 {
                    pair(4, 6, at + 1);
                    pair(5, 7, at + 1);
                }
            }
            if half == 1 && R >= 4 {
                pair(2, 3, at + 1);
                if R == 8 {
                    pair(4, 5, at + 2);
                    pair(6, 7, at + 3);
                }
            }
        }
    };
    if UP {
        widest(1);
        widest(2);
        widest(4);
    } else {
        widest(4);
        widest(2);
        widest(1);
    }
}

/// `y w` modulo `p`, below `2 p`, for any word `y`.
#[inline(always)]
fn times(y: u32, w: Factor, p: u32) -> u32 {
    let multiple = upper_half(y, w.quotient).wrapping_mul(p);
    y.wrapping_mul(w.w).wrapping_sub(multiple)
}

/// The coefficient, below the product of the primes, that has these residues (Garner's method).
#[inline(always)]
pub fn coefficient([x0, x1, x2]: [u32; 3]) -> [Limb; 3] {
    const P: [u32; 3] = [PRIMES[0].p, PRIMES[1].p, PRIMES[2].p];
    const INVERSE_0: Factor = PRIMES[1].factor(PRIMES[1].invert(P[0] % P[1]));
    const INVERSE_0_1: Factor = {
        let both = PRIMES[2].times(P[0] % P[2], P[1] % P[2]);
        PRIMES[2].factor(PRIMES[2].invert(both))
    };
    const P_0: Factor = PRIMES[2].factor(P[0] % P[2]);
    const ONE: Factor = PRIMES[2].factor(1);
    const BOTH: u64 = P[0] as u64 * P[1] as u64;
    let reduced = |x: u32, p: u32| x.min(x.wrapping_sub(p));
    // `x0 + p0 y` has the first two residues. Note that `x0 < p0 < 2 p1`.
    let y = reduced(x0, P[1]);
    let y = reduced(x1.wrapping_sub(y).wrapping_add(P[1]), P[1]);
    let y = reduced(times(y, INVERSE_0, P[1]), P[1]);
    // `x0 + p0 y + p0 p1 z` has all three residues.
    let in_third = reduced(times(x0, ONE, P[2]), P[2]) + reduced(times(y, P_0, P[2]), P[2]);
    let in_third = reduced(in_third, P[2]);
    let z = reduced(x2.wrapping_sub(in_third).wrapping_add(P[2]), P[2]);
    let z = reduced(times(z, INVERSE_0_1, P[2]), P[2]);
    let low = u64::from(x0) + u64::from(P[0]) * u64::from(y);
    let part = u64::from(z) * (BOTH & 0xffff_ffff);
    let above = u64::from(z) * (BOTH >> 32);
    let (low, carry) = low.overflowing_add(part);
    let (low, carry_too) = low.overflowing_add(above << 32);
    let high = (above >> 32) as u32 + carry as u32 + carry_too as u32;
    [low as Limb, (low >> 32) as Limb, high]
}
