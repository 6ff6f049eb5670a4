//! Rows of frequencies `k` and `-k`: transformed, squared, transformed back.
//!
//! Row `-k` is conjugated: then it has the same roots as row `k`, and the two points of
//! which each needs the other are in one thread, in the same place of either row.
//!
//! Threads of the first half have row `k` in the first pass and threads of the second half
//! row `-k`; in the second pass both rows share each warp; in the last each thread has the
//! same node of both.

use super::{Block, complex, eighth_on, sixteen, turned};
use crate::gpu::thread;
use crate::transform::butterflies::{down, up};
use crate::transform::complex::Complex;
use bigint_core::weighted::long::{
    POINTS, ROW_BACK, ROW_HALVES, ROW_MIDDLE_BACK, ROW_PLACES, ROW_ROOTS, Tables, long_place,
};

/// Where in shared memory the middle pass's roots are: down,
const MIDDLE: u32 = 2 * ROW_PLACES;
/// back,
const MIDDLE_BACK: u32 = MIDDLE + 8 * 16;
/// and the rows' own roots.
const OWN: u32 = MIDDLE_BACK + 15 * 16;

impl Block<'_> {
    /// The rows of the calling block.
    #[inline(always)]
    pub fn rows(self) {
        let factor = self.arguments.factor;
        let (k, t) = (thread::block_index(), self.team.thread());
        let (side, s) = (t >> 7, t & 127);
        let mirror = if k == 0 { 0 } else { 256 * factor - k };
        let row = if side == 0 { k } else { mirror };
        let points = self.pairs(self.arguments.points);
        let at = long_place(row, factor) * POINTS + s;
        self.fetch_roots(k);

        let mut v = [Complex::ZERO; 16];
        sixteen!(i => {
            v[i] = mirrored(complex(points.pair(at + 128 * i as u32)), side);
        });
        let own = self.roots(self.arguments.row_roots);
        let mut w = [Complex::ZERO; 8];
        sixteen!(j => {
            if j < 8 {
                w[j] = complex(own.at(k * ROW_ROOTS + j as u32));
            }
        });
        down(&mut v, &w);
        let first = side * ROW_PLACES + s + (s >> 3);
        sixteen!(i => {
            self.set(first + 144 * i as u32, v[turned::<16>(i)]);
        });
        self.team.sync();

        let h = 2 * (t >> 5) + (t >> 3 & 1);
        let middle = (t >> 4 & 1) * ROW_PLACES + h * 144 + (t & 7);
        sixteen!(i => {
            v[i] = self.get(middle + 9 * i as u32);
        });
        sixteen!(j => {
            if j < 8 {
                w[j] = self.get(MIDDLE + 16 * j as u32 + h);
            }
        });
        down(&mut v, &w);
        sixteen!(i => {
            self.set(middle + 9 * i as u32, v[turned::<16>(i)]);
        });
        self.team.warp().sync();

        self.square(t);
        self.team.warp().sync();

        sixteen!(i => {
            v[turned::<16>(i)] = self.get(middle + 9 * i as u32);
        });
        up(&mut v);
        sixteen!(i => {
            if i > 0 {
                v[i] = v[i].times(self.get(MIDDLE_BACK + 16 * (i as u32 - 1) + h));
            }
            self.set(middle + 9 * i as u32, v[i]);
        });
        self.team.sync();

        sixteen!(i => {
            v[turned::<16>(i)] = self.get(first + 144 * i as u32);
        });
        up(&mut v);
        // A row that is its own mirror is written once.
        if side == 0 || mirror != k {
            sixteen!(i => {
                if i > 0 {
                    v[i] = v[i].times(self.get(OWN + ROW_BACK + i as u32 - 1));
                }
                let z = mirrored(v[i], side);
                points.set_pair(at + 128 * i as u32, [z.re, z.im]);
            });
        }
    }

    /// The roots of the middle pass and the rows' own, to shared memory.
    #[inline(always)]
    fn fetch_roots(self, k: u32) {
        let t = self.team.thread();
        let (own, shared) = (
            self.roots(self.arguments.row_roots),
            self.roots(self.arguments.roots),
        );
        let own = |j: u32| complex(own.at(k * ROW_ROOTS + j));
        if t < 8 * 16 {
            // Node roots 0, 1, 2 and 3, 4 to 7 are of t / 2, 4, 8 and 16.
            let level = u32::BITS - (t >> 4).leading_zeros();
            let root = own(ROW_HALVES + level).times(complex(shared.at(t)));
            self.set(MIDDLE + t, root);
        }
        if t < 15 * 16 {
            let table = Tables::of(1).row_middle_back;
            let root = own(ROW_MIDDLE_BACK + (t >> 4)).times(complex(shared.at(table + t)));
            self.set(MIDDLE_BACK + t, root);
        }
        if t < ROW_ROOTS {
            self.set(OWN + t, own(t));
        }
    }

    /// The last pass down, squares, and the first back, of node `t` of both rows.
    #[inline(always)]
    fn square(self, t: u32) {
        let shared = self.roots(self.arguments.roots);
        let mut w = [Complex::ZERO; 8];
        sixteen!(j => {
            if j < 3 {
                let root = shared.at(Tables::of(1).row_last + 256 * j as u32 + t);
                w[j] = self.get(OWN + ROW_HALVES + 4 + j as u32).times(complex(root));
            }
        });
        w[3] = eighth_on(w[2]);
        let (mut a, mut b) = ([Complex::ZERO; 8], [Complex::ZERO; 8]);
        sixteen!(i => {
            if i < 8 {
                a[i] = self.get(9 * t + i as u32);
                b[i] = self.get(ROW_PLACES + 9 * t + i as u32);
            }
        });
        down(&mut a, &w);
        down(&mut b, &w);
        sixteen!(i => {
            if i < 8 {
                let y = w[2 + i / 4];
                let y = if i & 2 == 0 { y } else { y.turned() };
                let y = if i & 1 == 0 { y } else { y.negated() };
                (a[i], b[i]) = squared(a[i], b[i], y);
            }
        });
        up(&mut a);
        up(&mut b);
        let u1 = w[2].conjugate();
        let (u2, u4) = (w[1].conjugate(), w[0].conjugate());
        let u3 = u1.times(u2);
        let u = [u1, u1, u2, u3, u4, u1.times(u4), u2.times(u4), u3.times(u4)];
        sixteen!(i => {
            if i < 8 {
                if i > 0 {
                    a[i] = a[i].times(u[i]);
                    b[i] = b[i].times(u[i]);
                }
                self.set(9 * t + i as u32, a[i]);
                self.set(ROW_PLACES + 9 * t + i as u32, b[i]);
            }
        });
    }
}

/// Conjugated on the second side.
#[inline(always)]
fn mirrored(z: Complex, side: u32) -> Complex {
    let sign = u64::from(side) << 63;
    Complex::new(z.re, f64::from_bits(z.im.to_bits() ^ sign))
}

/// Four times the squared transform at a frequency, and at its mirror conjugated: of words
/// in pairs `E + i O`, whose squares are `E^2 + y O^2` and `2 E O`.
#[inline(always)]
fn squared(z: Complex, w: Complex, y: Complex) -> (Complex, Complex) {
    let s = Complex::new(z.re + w.re, z.im + w.im);
    let d = Complex::new(z.re - w.re, z.im - w.im);
    let p = s.times(s).plus_product(y.negated(), d.times(d));
    let g = Complex::new(s.re + s.re, s.im + s.im).times(d);
    (
        Complex::new(p.re + g.re, p.im + g.im),
        Complex::new(p.re - g.re, p.im - g.im),
    )
}
