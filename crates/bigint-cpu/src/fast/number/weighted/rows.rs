//! The pass over rows: twiddles, transforms along the fast index, squares or products, and back.
//!
//! A group takes `LANES` rows of the slow index's frequencies `s`, and as many of `slow - s`, which
//! hold the mirrored frequencies of a packed real transform. It works on them in lanes.
//!
//! **Squares.** Let `z = x[2 j] + i x[2 j + 1]`, let `Z` be its transform, and `W` the conjugate of
//! `Z` at the mirrored frequency `M - k`. The even and the odd words have the transforms
//! `(Z + W) / 2` and `(Z - W) / (2 i)`. The square has
//!
//! ```text
//! 4 Z' = S^2 - y D^2 + 2 S D,   4 W' = S^2 - y D^2 - 2 S D
//! S = Z + W,  D = Z - W,  y = exp(-2 pi i k / M)
//! ```
//!
//! **Products.** Let `T` and `E` be the same sum and difference of the factor. `S T`, `D E` and
//! `S E + D T` take the places of `S^2`, `D^2` and `2 S D`. A factor is kept as the lanes of each
//! group after their transforms.
//!
//! **Negacyclic** transforms have frequencies `k + 1/2`, so `s + 1/2` in place of `s` and of the `k` in `y`. The
//! mirror of `k` is `M - 1 - k`, and that of row `s` is row `slow - 1 - s`, always by `f -> -1 - f`.
#![expect(
    clippy::needless_range_loop,
    reason = "indices count lanes and halves of several arrays at once"
)]

use super::Operand;
use super::fft::{Pair, Plan, product, root};
use super::machine::{Job, Machine};

/// The distance of the twiddles of which those of a row are products of two.
const NEAR: usize = 64;

/// The rows and the mirrored rows of a group, `LANES` of each.
pub(super) struct Group<V> {
    /// The positions of the rows and of their mirrors, lane by lane.
    rows: [Vec<usize>; 2],
    /// The lanes of each that are stored. The others only fill up the vectors.
    stored: [usize; 2],
    /// The powers `w^(c s)`, `w = exp(-2 pi i / M)`, for `c = 0 .. NEAR` and for the multiples of
    /// `NEAR`; `w^(c (s + 1/2))` if they are negacyclic.
    near: Vec<Pair<V>>,
    far: Vec<Pair<V>>,
    /// The powers for `c = 1`.
    first: [V; 2],
}

/// The power of `w` at a position of a row, and the positions of its mirrors.
pub(super) struct Leaf {
    root: [f64; 2],
    mirror: u32,
}

/// The leaves of a row of `plan`'s length.
pub(super) fn leaves(plan: &Plan) -> Vec<Leaf> {
    let positions = plan.positions();
    let n = plan.order.len();
    let leaf = |&k: &u32| Leaf {
        root: root(k.into(), n as u64),
        mirror: positions[n - 1 - k as usize],
    };
    plan.order.iter().map(leaf).collect()
}

/// All groups of a transform of `slow` rows of `fast` points. Exactly one lane of one group stores
/// a row.
pub(super) fn groups<M: Machine>(
    m: M,
    slow: &Plan,
    fast: usize,
    is_negacyclic: bool,
) -> Vec<Group<M::V>> {
    let positions = slow.positions();
    let n = positions.len();
    let half = usize::from(is_negacyclic);
    // Row 0 of a cyclic transform has row `n` for its mirror: the same points, whose twiddles move frequency `f` to the
    // place of `f - 1`, where that of other mirrored rows is.
    let mirror = |k: usize| n - half - k;
    // Rows next to each other in memory have frequencies that are this far apart, if the last step
    // has radix 8.
    let apart = if n.is_multiple_of(8) { n / 8 } else { n };
    // The row that comes first in this order stands for itself and its mirror. Rows that are their
    // own mirrors come last.
    let key = |k: usize| (k % apart, k);
    let is_own = |k: usize| mirror(k) % n == k;
    let mut pairs: Vec<usize> = (0..n)
        .filter(|&k| !is_own(k) && key(k) < key(mirror(k)))
        .collect();
    pairs.sort_by_key(|&k| key(k));
    pairs.extend((0..n).filter(|&k| is_own(k)));

    let group = |rows: &[usize]| {
        let lane = |i: usize| rows[i.min(rows.len() - 1)];
        let both = |i: usize| [lane(i), mirror(lane(i))];
        let twiddle = |c: usize| {
            let [a, b] = [0, 1].map(|side| {
                let twice = |i| 2 * both(i)[side] + half;
                complex(m, |i| root((c * twice(i)) as u64, (2 * n * fast) as u64))
            });
            Pair {
                re: [a[0], b[0]],
                im: [a[1], b[1]],
            }
        };
        let near: Vec<_> = (0..NEAR).map(twiddle).collect();
        Group {
            rows: [0, 1].map(|side| {
                let row = |i| positions[both(i)[side] % n] as usize;
                (0..M::LANES).map(row).collect()
            }),
            stored: [rows.len(), rows.iter().filter(|&&k| !is_own(k)).count()],
            first: [near[1].re[0], near[1].im[0]],
            near,
            far: (0..fast.div_ceil(NEAR))
                .map(|c| twiddle(c * NEAR))
                .collect(),
        }
    };
    pairs.chunks(M::LANES).map(group).collect()
}

/// A vector of complex numbers, as real and imaginary parts.
type Complex<M> = [<M as Machine>::V; 2];

/// A vector of complex numbers, made lane by lane.
fn complex<M: Machine>(_: M, lane: impl Fn(usize) -> [f64; 2]) -> [M::V; 2] {
    let mut z = [bytemuck::Zeroable::zeroed(); 2];
    for i in 0..M::LANES {
        for (part, value) in z.iter_mut().zip(lane(i)) {
            bytemuck::cast_slice_mut::<M::V, f64>(std::slice::from_mut(part))[i] = value;
        }
    }
    z
}

/// A matrix whose rows several threads work on.
#[derive(Clone, Copy)]
pub(super) struct Matrix<V> {
    points: *mut Pair<V>,
    /// The points of a block.
    slow: usize,
    blocks: usize,
}

// SAFETY: the pointer leads to values that may be sent, and the caller of `new` promised that no
// two threads work on the same row.
#[allow(unsafe_code)]
unsafe impl<V: Send> Send for Matrix<V> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<V: Send> Sync for Matrix<V> {}

impl<V: Copy> Matrix<V> {
    /// The matrix of blocks of `slow` points, one after another.
    ///
    /// # Safety While any copy of the matrix is used, the slice lives and is used through nothing
    /// else. No two threads work on the same row: there is at most one on each group.
    #[allow(unsafe_code)]
    pub(super) unsafe fn new(points: &mut [Pair<V>], slow: usize) -> Self {
        Matrix {
            blocks: points.len() / slow,
            points: points.as_mut_ptr(),
            slow,
        }
    }

    #[inline(always)]
    fn place(&self, block: usize, row: usize) -> *mut Pair<V> {
        assert!(block < self.blocks && row < self.slow);
        self.points.wrapping_add(block * self.slow + row)
    }

    #[inline(always)]
    fn read(&self, block: usize, row: usize) -> Pair<V> {
        // SAFETY: the place is inside the slice, and the caller of `new` promised the rest.
        #[allow(unsafe_code)]
        unsafe {
            *self.place(block, row)
        }
    }

    #[inline(always)]
    fn write(&self, block: usize, row: usize, h: usize, [re, im]: [V; 2]) {
        let place = self.place(block, row);
        // SAFETY: as in `read`.
        #[allow(unsafe_code)]
        unsafe {
            ((*place).re[h], (*place).im[h]) = (re, im);
        }
    }
}

/// The job that squares the points of one group.
pub(super) struct Square<'a, M: Machine> {
    pub(super) plan: &'a Plan,
    pub(super) leaves: &'a [Leaf],
    pub(super) group: &'a Group<M::V>,
    pub(super) matrix: Matrix<M::V>,
    /// Memory for `fast` points.
    pub(super) scratch: &'a mut [Pair<M::V>],
}

impl<M: Machine> Job<M> for Square<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(mut self, m: M) {
        self.load(m);
        self.plan.forward(m, self.scratch);
        self.square(m);
        self.plan.inverse(m, self.scratch);
        self.store(m);
    }
}

/// The job that multiplies the points of one group by a factor, or by the difference of two.
pub(super) struct Multiply<'a, M: Machine> {
    pub(super) rows: Square<'a, M>,
    /// The group's points of the factors, as [`Keep`] makes them.
    pub(super) factor: &'a [Pair<M::V>],
    pub(super) less: Option<&'a [Pair<M::V>]>,
}

impl<M: Machine> Job<M> for Multiply<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self, m: M) {
        let Multiply {
            mut rows,
            factor,
            less,
        } = self;
        rows.load(m);
        rows.plan.forward(m, rows.scratch);
        match less {
            None => rows.pointwise(m, |position, side| {
                let point = &factor[position];
                [point.re[side], point.im[side]]
            }),
            Some(less) => rows.pointwise(m, |position, side| {
                let (point, less) = (&factor[position], &less[position]);
                let [re, im] = [point.re[side], point.im[side]];
                [m.sub(re, less.re[side]), m.sub(im, less.im[side])]
            }),
        }
        rows.plan.inverse(m, rows.scratch);
        rows.store(m);
    }
}

/// The job that multiplies one group's points of factors, or of sums or differences of factors, in place of
/// the points that it has.
pub(super) struct Product<'a, M: Machine> {
    pub(super) rows: Square<'a, M>,
    /// Both sides, as [`Keep`] makes them.
    pub(super) operands: [Operand<&'a [Pair<M::V>]>; 2],
}

impl<M: Machine> Job<M> for Product<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self, m: M) {
        let Product { mut rows, operands } = self;
        let [left, right] = operands;
        let (first, other) = left.parts();
        rows.scratch.copy_from_slice(first);
        if let Some((sign, other)) = other {
            let sign = m.splat(sign);
            for (point, other) in rows.scratch.iter_mut().zip(other) {
                for side in 0..2 {
                    point.re[side] = m.mul_add(sign, other.re[side], point.re[side]);
                    point.im[side] = m.mul_add(sign, other.im[side], point.im[side]);
                }
            }
        }
        match right.parts() {
            (first, None) => rows.pointwise(m, |position, side| {
                let point = &first[position];
                [point.re[side], point.im[side]]
            }),
            (first, Some((sign, other))) => {
                let sign = m.splat(sign);
                rows.pointwise(m, |position, side| {
                    let (point, other) = (&first[position], &other[position]);
                    [
                        m.mul_add(sign, other.re[side], point.re[side]),
                        m.mul_add(sign, other.im[side], point.im[side]),
                    ]
                });
            }
        }
        rows.plan.inverse(m, rows.scratch);
        rows.store(m);
    }
}

/// The job that makes one group's points of a factor.
pub(super) struct Keep<'a, M: Machine> {
    pub(super) rows: Square<'a, M>,
    pub(super) points: &'a mut [Pair<M::V>],
}

impl<M: Machine> Job<M> for Keep<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self, m: M) {
        let Keep { mut rows, points } = self;
        rows.load(m);
        rows.plan.forward(m, rows.scratch);
        points.copy_from_slice(rows.scratch);
    }
}

impl<M: Machine> Square<'_, M> {
    /// Loads rows into lanes, with twiddles.
    #[inline(always)]
    fn load(&mut self, m: M) {
        let width = self.scratch.len() / M::LANES;
        let zero = m.splat(0.0);
        for block in 0..width / 2 {
            for side in 0..2 {
                let rows = &self.group.rows[side][..M::LANES];
                for h in 0..2 {
                    let mut t = [[zero; 8]; 2];
                    for i in 0..M::LANES {
                        let point = self.matrix.read(block, rows[i]);
                        (t[0][i], t[1][i]) = (point.re[h], point.im[h]);
                    }
                    for part in &mut t {
                        m.transpose(&mut part[..M::LANES]);
                    }
                    for l in 0..M::LANES {
                        let c = l * width + 2 * block + h;
                        let w = self.group.twiddle(m, c, side);
                        let z = product(m, [t[0][l], t[1][l]], w);
                        let point = &mut self.scratch[c];
                        (point.re[side], point.im[side]) = (z[0], z[1]);
                    }
                }
            }
        }
    }

    /// Stores lanes in rows, with the conjugates of the twiddles.
    #[inline(always)]
    fn store(&mut self, m: M) {
        let width = self.scratch.len() / M::LANES;
        let zero = m.splat(0.0);
        for block in 0..width / 2 {
            for side in 0..2 {
                let stored = self.group.stored[side].min(M::LANES);
                let rows = &self.group.rows[side][..M::LANES];
                for h in 0..2 {
                    let mut t = [[zero; 8]; 2];
                    for l in 0..M::LANES {
                        let c = l * width + 2 * block + h;
                        let [re, im] = self.group.twiddle(m, c, side);
                        let z = self.scratch[c];
                        let (a, b) = (z.re[side], z.im[side]);
                        t[0][l] = m.mul_add(b, im, m.mul(a, re));
                        t[1][l] = m.neg_mul_add(a, im, m.mul(b, re));
                    }
                    for part in &mut t {
                        m.transpose(&mut part[..M::LANES]);
                    }
                    for i in 0..M::LANES {
                        if i < stored {
                            self.matrix.write(block, rows[i], h, [t[0][i], t[1][i]]);
                        }
                    }
                }
            }
        }
    }

    /// Multiplies every frequency and its mirror by those of the factor, which `factor` returns for a
    /// position and a side.
    #[inline(always)]
    fn pointwise(&mut self, m: M, factor: impl Fn(usize, usize) -> [M::V; 2]) {
        for (position, leaf) in self.leaves.iter().enumerate() {
            let (mirror, y, [s, d]) = self.pair(m, position, leaf);
            let [t, e] = sum_and_difference(m, factor(position, 0), factor(mirror, 1));
            let (st, yde) = (product(m, s, t), product(m, y, product(m, d, e)));
            let (se, dt) = (product(m, s, e), product(m, d, t));
            let p = [m.sub(st[0], yde[0]), m.sub(st[1], yde[1])];
            let g = [m.add(se[0], dt[0]), m.add(se[1], dt[1])];
            self.set_pair(m, [position, mirror], p, g);
        }
    }

    /// Squares every frequency and its mirror.
    #[inline(always)]
    fn square(&mut self, m: M) {
        for (position, leaf) in self.leaves.iter().enumerate() {
            let (mirror, y, [s, d]) = self.pair(m, position, leaf);
            let s2 = [m.add(s[0], s[0]), m.add(s[1], s[1])];
            let (ss, dd) = (squared(m, s), squared(m, d));
            let p = [
                m.mul_add(y[1], dd[1], m.neg_mul_add(y[0], dd[0], ss[0])),
                m.neg_mul_add(y[1], dd[0], m.neg_mul_add(y[0], dd[1], ss[1])),
            ];
            self.set_pair(m, [position, mirror], p, product(m, s2, d));
        }
    }

    /// The position of the mirror of a frequency, their `y`, and their sum and difference.
    #[inline(always)]
    fn pair(&self, m: M, position: usize, leaf: &Leaf) -> (usize, Complex<M>, [Complex<M>; 2]) {
        let mirror = leaf.mirror as usize;
        let root = [m.splat(leaf.root[0]), m.splat(leaf.root[1])];
        let y = product(m, self.group.first, root);
        let (z, w) = (&self.scratch[position], &self.scratch[mirror]);
        let halves = sum_and_difference(m, [z.re[0], z.im[0]], [w.re[1], w.im[1]]);
        (mirror, y, halves)
    }

    /// Sets a frequency to `p + g` and its mirror to `p - g`, conjugated.
    #[inline(always)]
    fn set_pair(&mut self, m: M, [position, mirror]: [usize; 2], p: Complex<M>, g: Complex<M>) {
        let point = &mut self.scratch[position];
        (point.re[0], point.im[0]) = (m.add(p[0], g[0]), m.add(p[1], g[1]));
        let point = &mut self.scratch[mirror];
        (point.re[1], point.im[1]) = (m.sub(p[0], g[0]), m.sub(g[1], p[1]));
    }
}

/// Returns `Z + W` and `Z - W`, where `W` is the conjugate of the mirror `w`.
#[inline(always)]
fn sum_and_difference<M: Machine>(m: M, z: [M::V; 2], w: [M::V; 2]) -> [[M::V; 2]; 2] {
    [
        [m.add(z[0], w[0]), m.sub(z[1], w[1])],
        [m.sub(z[0], w[0]), m.add(z[1], w[1])],
    ]
}

#[inline(always)]
fn squared<M: Machine>(m: M, a: [M::V; 2]) -> [M::V; 2] {
    let cross = m.mul(a[0], a[1]);
    [
        m.mul_sub(a[0], a[0], m.mul(a[1], a[1])),
        m.add(cross, cross),
    ]
}

impl<V: Copy> Group<V> {
    /// The power `w^(c s)` for the rows of one side.
    #[inline(always)]
    fn twiddle<M: Machine<V = V>>(&self, m: M, c: usize, side: usize) -> [V; 2] {
        let near = &self.near[c % NEAR];
        let near = [near.re[side], near.im[side]];
        if self.far.len() == 1 {
            return near;
        }
        let far = &self.far[c / NEAR];
        product(m, near, [far.re[side], far.im[side]])
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine::Portable;
    use super::*;

    #[test]
    fn every_row_is_stored_by_one_lane() {
        for n in [2, 3, 8, 15, 16, 24, 40, 42, 64, 120] {
            for is_negacyclic in [false, true] {
                let mut stored = vec![0; n];
                for group in groups(Portable, &Plan::new(n), 16, is_negacyclic) {
                    for side in 0..2 {
                        for &row in &group.rows[side][..group.stored[side]] {
                            stored[row] += 1;
                        }
                    }
                }
                assert_eq!(stored, vec![1; n]);
            }
        }
    }
}
