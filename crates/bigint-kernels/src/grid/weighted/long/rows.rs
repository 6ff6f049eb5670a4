//! Rows of a frequency `k` and its mirror `-k`, or `-1 - k` in a negacyclic transform, which are transformed, squared or multiplied, and transformed back.
//!
//! Row `-k` is conjugated. Then it has the same roots as row `k`, and two points that are squared
//! together are in one thread, at the same place of both rows.
//!
//! In the first and the second pass, a warp has points of both rows, as a piece of memory has. In the
//! last pass, a thread has the same node of both rows, of 8 points each; or, if nodes have 16 points,
//! neighbouring threads have the same node, one of row `k` and the other of row `-k`, and give each other
//! half of the points to square.
//!
//! A thread has eight points with their mirrors. What is kept of them to multiply by stands in the order of threads.

use super::{Block, eighth_on, sixteen, turned};
use crate::gpu::float::multiply_add;
use crate::gpu::registers::afresh;
use crate::gpu::thread;
use crate::transform::butterflies::{down, up};
use crate::transform::complex::{Complex, complex, multiply_mirrored, square_mirrored};
use bigint_core::weighted::long::{
    KEPT_POINTS, POINTS, ROW_BACK, ROW_HALVES, ROW_MIDDLE_BACK, ROW_ROOTS, Tables, log_width,
    row_places,
};

/// The root `e(1 / 16)`.
const SIXTEENTH: Complex = Complex::new(0.9238795325112867, 0.38268343236508984);

/// The order of the points of a node's second half, if they are computed from the angle that is greater
/// by one. It exchanges the halves of every level below.
const OTHER_WAY_ROUND: [u32; 8] = [4, 5, 6, 7, 2, 3, 1, 0];

/// What becomes of a point and the conjugate of its mirror.
trait Frequencies {
    /// Whether the rows are read and transformed.
    const READS: bool = true;
    /// Whether the results are transformed back and written.
    const WRITES: bool = true;
    /// What becomes of pair `i` of the calling thread. `y` is the root of [`square_mirrored`].
    fn of(block: Block<'_>, i: u32, pair: [Complex; 2], y: Complex) -> (Complex, Complex);
}

/// The square.
struct Square;

/// The product by the factor, or by what it is above another.
struct Multiply;

/// The product of two factors, or of sums or differences of factors.
struct Product;

/// The points themselves, which are kept as a factor.
struct Keep;

impl Frequencies for Square {
    #[inline(always)]
    fn of(_: Block<'_>, _: u32, [z, w]: [Complex; 2], y: Complex) -> (Complex, Complex) {
        square_mirrored(z, w, y)
    }
}

impl Frequencies for Multiply {
    #[inline(always)]
    fn of(block: Block<'_>, i: u32, pair: [Complex; 2], y: Complex) -> (Complex, Complex) {
        multiply_mirrored(pair, block.side(1, i), y)
    }
}

impl Frequencies for Product {
    const READS: bool = false;

    #[inline(always)]
    fn of(block: Block<'_>, i: u32, _: [Complex; 2], y: Complex) -> (Complex, Complex) {
        multiply_mirrored(block.side(0, i), block.side(1, i), y)
    }
}

impl Frequencies for Keep {
    const WRITES: bool = false;

    #[inline(always)]
    fn of(block: Block<'_>, i: u32, [z, w]: [Complex; 2], _: Complex) -> (Complex, Complex) {
        let kept = block.pairs(block.arguments.sides[1][0]);
        let [at, of_mirror] = block.kept_places(i);
        kept.set_pair(at, [z.re, z.im]);
        kept.set_pair(of_mirror, [w.re, w.im]);
        (z, w)
    }
}

/// The places in shared memory of a block's rows and roots.
#[derive(Clone, Copy)]
struct Places {
    /// The distance from one row to the other.
    row: u32,
    /// The place of the middle pass's roots for the way down,
    middle: u32,
    /// the place of those for the way back,
    middle_back: u32,
    /// and the place of the rows' own roots.
    own: u32,
}

impl Places {
    /// The places for rows whose last pass has radix `2^log`, which is 8 or 16.
    #[inline(always)]
    fn of(log: u32) -> Places {
        let row = row_places(1 << log);
        let middle = 2 * row;
        let middle_back = middle + 8 * 16;
        Places {
            row,
            middle,
            middle_back,
            own: middle_back + 15 * 16,
        }
    }
}

impl Block<'_> {
    /// Squares the rows of the calling block.
    #[inline(always)]
    pub fn rows(self) {
        self.transform_rows::<Square>();
    }

    /// Multiplies them by the factor, or by what it is above another.
    #[inline(always)]
    pub fn multiply(self) {
        self.transform_rows::<Multiply>();
    }

    /// Computes them as the product of two factors, or of sums or differences of factors.
    #[inline(always)]
    pub fn product(self) {
        self.transform_rows::<Product>();
    }

    /// Keeps them as a factor. The points stay.
    #[inline(always)]
    pub fn keep(self) {
        self.transform_rows::<Keep>();
    }

    #[inline(always)]
    fn transform_rows<F: Frequencies>(self) {
        let (radix, factor) = (self.radix(), self.arguments.factor);
        let (k, t) = (thread::block_index(), self.team.thread());
        let log = 2 + self.row();
        let places = Places::of(log);
        // The distance from one point of a thread to the next, in points and in places.
        let (apart, places_apart) = (16 << log, (16 << log) + 16);
        // The points of both rows alternate, in groups of as many as a block has columns.
        let width = log_width(factor);
        let side = t >> width & 1;
        let s = (t >> (width + 1) << width) + (t & ((1 << width) - 1));
        let nodes = self.nodes();
        let mirror = nodes.mirror(k, 16 * radix * factor);
        let row = if side == 0 { k } else { mirror };
        let points = self.pairs(self.arguments.points);
        let (pair, place) = nodes.row(row, factor);
        let at = (pair << (9 + log)) + 2 * s - (s & ((1 << width) - 1)) + (place << width);
        // Places are computed while the launch before ends.
        let (at, mirror) = (afresh(at), afresh(mirror));
        thread::waits_here();
        // Roots are loaded before the points, as they would wait behind them.
        self.fetch_roots(k, places);
        let mut v = [Complex::ZERO; 16];
        let mut w = [Complex::ZERO; 8];
        let first = side * places.row + s + (s >> log);
        if F::READS {
            sixteen!(i => {
                v[i] = mirrored(complex(points.pair(at + 2 * apart * i as u32)), side);
            });
            let own = self.roots(self.arguments.row_roots);
            sixteen!(j => {
                if j < 8 {
                    w[j] = complex(own.at(k * ROW_ROOTS + j as u32));
                }
            });
            down(&mut v, &w);
            sixteen!(i => {
                self.set(first + places_apart * i as u32, v[turned::<16>(i)]);
            });
        }
        self.team.sync();

        // A warp has one node of each row, or two.
        let h = (t >> 5 << (4 - log)) + ((t & 15) >> log);
        let places_apart_in_node = (1 << log) + 1;
        let of_node = t & ((1 << log) - 1);
        let middle = (t >> 4 & 1) * places.row + h * places_apart + of_node;
        if F::READS {
            sixteen!(i => {
                v[i] = self.get(middle + places_apart_in_node * i as u32);
            });
            sixteen!(j => {
                if j < 8 {
                    w[j] = self.get(places.middle + 16 * j as u32 + h);
                }
            });
            down(&mut v, &w);
            sixteen!(i => {
                self.set(middle + places_apart_in_node * i as u32, v[turned::<16>(i)]);
            });
            self.team.warp().sync();
        }

        if log == 3 {
            self.last_pass::<F>(t, places);
        } else {
            self.last_pass_by_halves::<F>(t, places);
        }
        if !F::WRITES {
            return;
        }
        self.team.warp().sync();

        sixteen!(i => {
            v[turned::<16>(i)] = self.get(middle + places_apart_in_node * i as u32);
        });
        up(&mut v);
        sixteen!(i => {
            if i > 0 {
                v[i] = v[i].times(self.get(places.middle_back + 16 * (i as u32 - 1) + h));
            }
            self.set(middle + places_apart_in_node * i as u32, v[i]);
        });
        self.team.sync();

        sixteen!(i => {
            v[turned::<16>(i)] = self.get(first + places_apart * i as u32);
        });
        up(&mut v);
        // A row that is its own mirror is stored once.
        if side == 0 || mirror != k {
            sixteen!(i => {
                if i > 0 {
                    v[i] = v[i].times(self.get(places.own + ROW_BACK + i as u32 - 1));
                }
                let z = mirrored(v[i], side);
                points.set_pair(at + 2 * apart * i as u32, [z.re, z.im]);
            });
        }
    }

    /// Moves the roots of the middle pass, and the rows' own roots, to shared memory.
    #[inline(always)]
    fn fetch_roots(self, k: u32, places: Places) {
        let t = self.team.thread();
        let (own, shared) = (
            self.roots(self.arguments.row_roots),
            self.roots(self.arguments.roots),
        );
        let own = |j: u32| complex(own.at(k * ROW_ROOTS + j));
        // As no branch leads to these loads, they are issued before those of the points. Node root 0 is
        // of t / 2, node root 1 of t / 4, 2 and 3 of t / 8, and 4 to 7 of t / 16.
        let level = u32::BITS - (t >> 4 & 7).leading_zeros();
        let table = Tables::of(16, 1).row_middle_back;
        let back = if t < 15 * 16 { t } else { 0 };
        let [half, middle] = [own(ROW_HALVES + level), complex(shared.at(t & 127))];
        let [quarter, middle_back] = [
            own(ROW_MIDDLE_BACK + (back >> 4)),
            complex(shared.at(table + back)),
        ];
        let one = own(if t < ROW_ROOTS { t } else { 0 });
        if t < 8 * 16 {
            self.set(places.middle + t, half.times(middle));
        }
        if t < 15 * 16 {
            self.set(places.middle_back + t, quarter.times(middle_back));
        }
        if t < ROW_ROOTS {
            self.set(places.own + t, one);
        }
    }

    /// What side `k` of a product has of the calling thread's pair `i`.
    #[inline(always)]
    fn side(self, k: usize, i: u32) -> [Complex; 2] {
        let (addresses, sign) = (self.arguments.sides[k], self.arguments.signs[k]);
        let [of_first, of_second] = addresses.map(|address| self.pairs(address));
        self.kept_places(i).map(|at| {
            let x = complex(of_first.pair(at));
            if addresses[1] == 0 {
                return x;
            }
            let y = complex(of_second.pair(at));
            Complex::new(
                multiply_add(sign, y.re, x.re),
                multiply_add(sign, y.im, x.im),
            )
        })
    }

    /// Where a factor has the point and the mirror of the calling thread's pair `i`.
    #[inline(always)]
    fn kept_places(self, i: u32) -> [u32; 2] {
        let threads = POINTS / 8 * self.row();
        let first = thread::block_index() * KEPT_POINTS + 2 * i;
        [first, first + 1].map(|slot| slot * threads + self.team.thread())
    }

    /// Goes the last pass down, does what `F` does, and goes the first pass back, for node `t` of both rows.
    #[inline(always)]
    fn last_pass<F: Frequencies>(self, t: u32, places: Places) {
        let shared = self.roots(self.arguments.roots);
        let mut w = [Complex::ZERO; 8];
        sixteen!(j => {
            if j < 3 {
                let root = shared.at(Tables::of(16, 1).row_last + 256 * j as u32 + t);
                w[j] = self.get(places.own + ROW_HALVES + 4 + j as u32).times(complex(root));
            }
        });
        w[3] = eighth_on(w[2]);
        let (mut a, mut b) = ([Complex::ZERO; 8], [Complex::ZERO; 8]);
        if F::READS {
            sixteen!(i => {
                if i < 8 {
                    a[i] = self.get(9 * t + i as u32);
                    b[i] = self.get(places.row + 9 * t + i as u32);
                }
            });
            down(&mut a, &w);
            down(&mut b, &w);
        }
        sixteen!(i => {
            if i < 8 {
                let y = w[2 + i / 4];
                let y = if i & 2 == 0 { y } else { y.turned() };
                let y = if i & 1 == 0 { y } else { y.negated() };
                (a[i], b[i]) = F::of(self, i as u32, [a[i], b[i]], y);
            }
        });
        if !F::WRITES {
            return;
        }
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
                self.set(places.row + 9 * t + i as u32, b[i]);
            }
        });
    }

    /// The same as [`last_pass`](Self::last_pass), for nodes of 16 points that two neighbouring threads share.
    /// The second thread computes with the angle that is greater by one, which gives the same points in
    /// another order: its first half has the points of the second half. So each thread keeps its own
    /// first half to square, and gives the other half away.
    #[inline(always)]
    fn last_pass_by_halves<F: Frequencies>(self, t: u32, places: Places) {
        let (node, side) = (t >> 1, t & 1);
        let shared = self.roots(self.arguments.roots);
        let mut w = [Complex::ZERO; 8];
        sixteen!(j => {
            if j < 4 {
                let root = shared.at(Tables::of(16, 1).longer_row_last + 512 * j as u32 + t);
                let half = self.get(places.own + ROW_HALVES + 4 + j as u32);
                w[if j < 3 { j } else { 4 }] = half.times(complex(root));
            }
        });
        w[3] = eighth_on(w[2]);
        w[5] = eighth_on(w[4]);
        w[6] = w[4].times(SIXTEENTH);
        w[7] = eighth_on(w[6]);
        let mine = side * places.row + 17 * node;
        let other = (1 - side) * places.row + 17 * node;
        let given = |i: usize| {
            mine + if side == 0 {
                i as u32
            } else {
                OTHER_WAY_ROUND[i]
            }
        };
        let mut a = [Complex::ZERO; 16];
        if F::READS {
            sixteen!(i => {
                a[i] = self.get(mine + i as u32);
            });
            down(&mut a, &w);
            sixteen!(i => {
                if i < 8 {
                    self.set(given(i), a[8 + i]);
                }
            });
            self.team.warp().sync();
        }
        sixteen!(i => {
            if i < 8 {
                let y = w[4 + i / 4];
                let y = if i & 2 == 0 { y } else { y.turned() };
                let y = if i & 1 == 0 { y } else { y.negated() };
                let mirror = match F::READS {
                    true => self.get(other + i as u32),
                    false => Complex::ZERO,
                };
                let (own, back) = F::of(self, i as u32, [a[i], mirror], y);
                if F::WRITES {
                    a[i] = own;
                    self.set(other + i as u32, back);
                }
            }
        });
        if !F::WRITES {
            return;
        }
        self.team.warp().sync();
        sixteen!(i => {
            if i < 8 {
                a[8 + i] = self.get(given(i));
            }
        });
        up(&mut a);
        let [u8, u4, u2, u1] = [w[0], w[1], w[2], w[4]].map(Complex::conjugate);
        sixteen!(i => {
            if i > 0 {
                let bits = [(1, u1), (2, u2), (4, u4), (8, u8)];
                let mut u = None;
                let mut j = 0;
                while j < 4 {
                    let (bit, root) = bits[j];
                    if i & bit != 0 {
                        u = Some(match u {
                            None => root,
                            Some(u) => root.times(u),
                        });
                    }
                    j += 1;
                }
                if let Some(u) = u {
                    a[i] = a[i].times(u);
                }
            }
            self.set(mine + i as u32, a[i]);
        });
    }
}

/// `z`, conjugated if `side` is 1.
#[inline(always)]
fn mirrored(z: Complex, side: u32) -> Complex {
    let sign = u64::from(side) << 63;
    Complex::new(z.re, f64::from_bits(z.im.to_bits() ^ sign))
}
